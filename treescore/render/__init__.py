"""Render comparisons and items in many formats, for people and programs."""

from treescore.render.forms import FORMATS, ITEM_FORMATS, VIEW_FORMS, Rendered, render_comparisons, render_items

__all__ = ["FORMATS", "ITEM_FORMATS", "VIEW_FORMS", "Rendered", "render_comparisons", "render_items"]
