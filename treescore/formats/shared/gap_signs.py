"""Signs of the formats of trees whose constituents may have gaps."""

from __future__ import annotations

import re

from treescore.core.signs import CERTAIN, LIKELY, Head, Scored, Signs, found_in, share

_LEAST = 0.9
_LEAF = re.compile(r"[( ]([0-9]+)=[^\s()]+")
_METRICS = (
    Scored(
        {"name": "parseval", "params": {"preset": "discodop"}},
        "Constituents may have gaps; brackets are compared by their words.",
    ),
)


def export_signs(head: Head) -> Signs | None:
    """Return the signs of the export format of NeGra and TIGER."""
    begins = [line for line in head.filled if line.startswith("#BOS ")]
    if not begins:
        return None
    return Signs(CERTAIN, ["#BOS begins a sentence."], metrics=_METRICS)


def discbracket_signs(head: Head) -> Signs | None:
    """Return the signs of brackets whose leaves are numbered words."""
    if not has_numbered_leaves(head):
        return None
    found = _numbered(head)
    return Signs(CERTAIN, [found_in(found, len(head.filled), "A tree whose leaves are numbered, as 0=word")],
                 metrics=_METRICS)  # fmt: skip


def has_numbered_leaves(head: Head) -> bool:
    """Tell whether nearly every line is a tree with leaves as 0=word."""
    return share(_numbered(head), len(head.filled)) >= _LEAST


def _numbered(head: Head) -> int:
    return sum(line.startswith("(") and bool(_LEAF.search(line)) for line in head.filled)


def tigerxml_signs(head: Head) -> Signs | None:
    """Return the signs of TigerXML."""
    text = "\n".join(head.filled)
    elements = [name for name in ("<corpus", "<s ", "<graph", "<terminals", "<nt ") if name in text]
    if not text.startswith("<") or "<corpus" not in elements:
        return None
    why = [f"The elements {', '.join(name.strip('< ') for name in elements)} occur."]
    return Signs(CERTAIN if len(elements) > 2 else LIKELY, why, metrics=_METRICS)
