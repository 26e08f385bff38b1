"""Numbers that several tests share."""

from __future__ import annotations

import math

import numpy as np

LN2 = math.log(2.0)
LN10 = math.log(10.0)
SMALLEST = float(np.finfo(np.float64).tiny)
"""The smallest p that is shown, the smallest normal float (2.2e-308); smaller ones are shown by their logarithm."""
TOLERANCE = 1e-12
"""Relative tolerance within which a swap ties with the observed difference: a sum of thousands of terms, each rounded
to 1.1e-16 of it, is off by less."""
SLACK = 1e-13
"""The same of differences near 0, in score units: scores up to 1 are rounded to 1.1e-16, and the mean over hundreds of
parts is off by less."""
ROUNDING = 1e-12
"""What is smaller than this share of its terms (or of a score's range) is a rounding error, and counts as 0."""
