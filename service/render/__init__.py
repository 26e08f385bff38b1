"""Comparisons, leaderboards and items shown to people and programs: one document in, many forms out."""

from service.render.comparisons import FORMATS, Rendered, render_comparisons
from service.render.items import ITEM_FORMATS, render_items
from service.render.leaderboard import LEADERBOARD_FORMATS, render_leaderboard

__all__ = [
    "FORMATS",
    "ITEM_FORMATS",
    "LEADERBOARD_FORMATS",
    "Rendered",
    "render_comparisons",
    "render_items",
    "render_leaderboard",
]
