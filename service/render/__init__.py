"""Leaderboards in the formats for people and programs."""

from service.render.leaderboard import render_leaderboard, render_matrix

__all__ = ["render_leaderboard", "render_matrix"]
