"""Leaderboards in the formats for people and programs."""

from service.render.leaderboard import LEADERBOARD_FORMATS, render_leaderboard

__all__ = ["LEADERBOARD_FORMATS", "render_leaderboard"]
