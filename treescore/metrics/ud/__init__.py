"""The CoNLL 2018 shared task's scores (Zeman et al. 2018)."""

from treescore.metrics.ud import metric

__all__ = ["metric"]
