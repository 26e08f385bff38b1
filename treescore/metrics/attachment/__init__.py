"""Attachment scores (Buchholz & Marsi 2006; Nilsson & Nivre 2008)."""

from treescore.metrics.attachment import metric

__all__ = ["metric"]
