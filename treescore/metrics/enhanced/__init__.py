"""Enhanced dependency scores (Bouma et al. 2020)."""

from treescore.metrics.enhanced import metric

__all__ = ["metric"]
