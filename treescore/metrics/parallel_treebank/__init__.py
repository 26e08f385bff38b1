"""Scores of parallel treebanks."""

from treescore.metrics.parallel_treebank import metric

__all__ = ["metric"]
