"""Requests as the use-cases take them, and the constants that name their values."""

from __future__ import annotations

PICKS = ("best", "last", "chosen", "all")


MACRO, POOLED = "macro", "pooled"
"""What is asked for beside the parts: the mean of them, and all of them as one text."""
