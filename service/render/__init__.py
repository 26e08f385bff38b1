"""Leaderboards in the formats for people and programs."""

from service.render.leaderboard import SHEET_FORMATS, render_leaderboard, render_matrix

__all__ = ["SHEET_FORMATS", "render_leaderboard", "render_matrix"]
