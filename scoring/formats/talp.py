"""TALP alignments: `1-1 3p4`, one line a sentence pair, words counted from 1, 0 is NULL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from scoring.formats.links import REVERSED, LineFormat, base_param
from scoring.params import Param
from scoring.registry import register


@register
class Talp(LineFormat):
    """The format of the AlignmentSet tools and of published gold alignments."""

    name = "talp"
    doc = "Word alignments, one line a sentence pair: 1-1 (sure), 3p4 (possible); words count from 1, 0 is NULL."
    source = "Lambert & Castell 2004 (AlignmentSet)"
    params: ClassVar[Mapping[str, Param]] = {"base": base_param(1), "reversed": REVERSED}
