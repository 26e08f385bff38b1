"""Pharaoh (Moses) alignments: `0-0 1-2`, one line a sentence pair, words counted from 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from treescore.core.params import Param
from treescore.core.registry import register
from treescore.formats.shared.links import REVERSED, LineFormat, base_param


@register
class Pharaoh(LineFormat):
    """The output of fast_align, eflomal and awesome-align; `1p2` (or `1?2`) is a possible link."""

    name = "pharaoh"
    doc = "Word alignments, one line a sentence pair: 0-0 1-2 (sure), 1p2 (possible); words count from 0."
    source = "Koehn et al. 2007 (Moses); Dyer, Chahuneau & Smith 2013 (fast_align)"
    suffixes = (".pharaoh",)
    usual_metric = "alignment"
    example = b"0-0 1-2 2p1\n\n0-1 10?3\n"
    usual_base = 0
    params: ClassVar[Mapping[str, Param]] = {"base": base_param(usual_base), "reversed": REVERSED}
