"""Precision and recall of dependency relations (Lin 1998)."""

from treescore.metrics.dependency_relations import metric

__all__ = ["metric"]
