"""Compiled functions, called once before the first job waits for them."""

from __future__ import annotations

import numpy as np

from scoring.arrays import IntArray
from scoring.formats.fields import numbered_fields, tabs_of
from scoring.metrics.heads import shape_of
from scoring.vocabulary import Vocabulary


def warm() -> None:
    """Touch every compiled function with tiny arrays of the types it will see."""
    _warm_dependencies()


def _warm_dependencies() -> None:
    text = b"1\t2\n"
    starts, ends = _integers(0), _integers(3)
    tabs_of(np.frombuffer(text, np.uint8), starts, ends)
    numbered_fields(text, starts, ends, 2, Vocabulary())
    shape_of(_integers(0), _integers(0, 1))


def _integers(*values: int) -> IntArray:
    return np.array(values, np.int64)
