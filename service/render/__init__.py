"""Comparisons and leaderboards shown to people: one document in, many forms out."""

from service.render.comparisons import FORMATS, Rendered, render_comparisons
from service.render.leaderboard import LEADERBOARD_FORMATS, render_leaderboard

__all__ = ["FORMATS", "LEADERBOARD_FORMATS", "Rendered", "render_comparisons", "render_leaderboard"]
