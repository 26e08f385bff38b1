"""Comparisons shown to people: one document in, JSON, text, Markdown, LaTeX, CSV or SVG out."""

from service.render.comparisons import FORMATS, Rendered, render_comparisons

__all__ = ["FORMATS", "Rendered", "render_comparisons"]
