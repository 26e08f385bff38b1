"""TALP alignments: `1-1 3p4`, one line a sentence pair, words counted from 1, 0 is NULL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from treescore.core.params import Param
from treescore.core.registry import register
from treescore.formats.shared.links import REVERSED, LineFormat, base_param


@register
class Talp(LineFormat):
    """The format of the AlignmentSet tools and of published gold alignments."""

    name = "talp"
    doc = "Word alignments, one line a sentence pair: 1-1 (sure), 3p4 (possible); words count from 1, 0 is NULL."
    source = "Lambert & Castell 2004 (AlignmentSet)"
    suffixes = (".talp",)
    usual_metric = "alignment"
    example = b"1-1 2-3 3p4\n\n0-2 11P3\n"
    usual_base = 1
    params: ClassVar[Mapping[str, Param]] = {"base": base_param(usual_base), "reversed": REVERSED}
