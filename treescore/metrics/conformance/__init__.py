"""Conformance scores of flat keys (Gaizauskas, Hepple & Huyck 1998)."""

from treescore.metrics.conformance import metric

__all__ = ["metric"]
