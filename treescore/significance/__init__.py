"""Tests of differences between systems, from counts and scores, without texts."""

from treescore.significance.compare import compare
from treescore.significance.families import partial_conjunction
from treescore.significance.question import Candidate, PooledParts
from treescore.significance.settings import Settings, parse_settings

__all__ = ["Candidate", "PooledParts", "Settings", "compare", "parse_settings", "partial_conjunction"]
