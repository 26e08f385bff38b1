"""Leaderboards in the formats for people and programs."""

from service.render.leaderboard import LEADERBOARD_FORMATS, render_leaderboard
from service.render.matrix import MATRIX_FORMATS, render_matrix

__all__ = ["LEADERBOARD_FORMATS", "MATRIX_FORMATS", "render_leaderboard", "render_matrix"]
