"""Word alignment scores (Och & Ney 2003; Mihalcea & Pedersen 2003)."""

from treescore.metrics.alignment import metric

__all__ = ["metric"]
