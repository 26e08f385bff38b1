"""Render comparisons and items in many formats, for people and programs."""

from treescore.render.comparisons import FORMATS, VIEW_FORMS, Rendered, render_comparisons
from treescore.render.items import ITEM_FORMATS, render_items

__all__ = ["FORMATS", "ITEM_FORMATS", "VIEW_FORMS", "Rendered", "render_comparisons", "render_items"]
