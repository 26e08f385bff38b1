"""Leaf-ancestor scores (Sampson 2000; Sampson & Babarczy 2003)."""

from treescore.metrics.leaf_ancestor import metric

__all__ = ["metric"]
