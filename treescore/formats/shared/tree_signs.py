"""Signs of the formats of constituent trees, with and without gaps, and of what can be scored with them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from treescore.core.text import CERTAIN, LIKELY, POSSIBLE, Head, Scored, Signs, found_in_lines, share_of_lines
from treescore.formats.shared.bracket_reader import FREE, layout_of

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
    return Signs(CERTAIN, [found_in_lines(found, len(head.filled), "A tree whose leaves are numbered, as 0=word")],
                 metrics=_METRICS)  # fmt: skip


def has_numbered_leaves(head: Head) -> bool:
    """Tell whether nearly every line is a tree with leaves as 0=word."""
    return share_of_lines(_numbered(head), len(head.filled)) >= _LEAST


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


_LEAST_DEPTH = 2
_PAIRS = {"(": ")", "[": "]"}
_PRETERMINAL = re.compile(r"\(([^\s()]+) ([^\s()]+)\)")
_EMPTY = "-NONE-"
_SQUARE = (
    Scored("leaf_ancestor", "Sampson's notation: the leaf-ancestor metric was published on it."),
    Scored({"name": "parseval", "params": {"preset": "plain"}}, "Every bracket counts."),
)


def bracket_signs(head: Head) -> Signs | None:
    """Return the signs of trees in round or square brackets."""
    opening = head.first[:1]
    if opening not in _PAIRS:
        return None
    closing = _PAIRS[opening]
    text = "\n".join(head.lines)
    opened, closed = text.count(opening), text.count(closing)
    if share_of_lines(min(opened, closed), max(opened, closed)) < _LEAST and head.whole:
        return None
    outside, deepest = _outside_and_deepest(text, opening, closing)
    if share_of_lines(outside, len(head.filled)) > 1 - _LEAST or has_numbered_leaves(head):
        return None
    balanced = sum(line.count(opening) == line.count(closing) for line in head.filled)
    why = [f"The text begins with {opening!r}; brackets are opened and closed."]
    spread = layout_of(text.encode()) == FREE
    why.append(
        "Trees are spread over lines." if spread else found_in_lines(balanced, len(head.filled), "A balanced tree")
    )
    if deepest < _LEAST_DEPTH:
        return Signs(POSSIBLE / 2, [*why, "But no bracket stands inside another."])
    if opening == "[":
        why.append("Square brackets: words have no tags.")
        return Signs(LIKELY, why, metrics=_SQUARE)
    words = _PRETERMINAL.findall(text)
    return Signs(LIKELY, why, metrics=list(_metrics({tag for tag, _ in words}, text)))


def _outside_and_deepest(text: str, opening: str, closing: str) -> tuple[int, int]:
    """Count the pieces of text outside brackets, and the brackets that are open where most are."""
    depth = outside = deepest = 0
    for piece in re.split(rf"([{re.escape(opening + closing)}])", text):
        if piece == opening:
            depth += 1
            deepest = max(deepest, depth)
        elif piece == closing:
            depth = max(depth - 1, 0)
        elif not depth and piece.strip():
            outside += 1
    return outside, deepest


def _metrics(tags: set[str], text: str) -> Iterator[Scored]:
    if any("##" in tag for tag in tags):
        yield Scored(
            {"name": "parseval", "params": {"preset": "spmrl", "unparsed": "miss"}},
            "Labels carry features between ##, as those of the SPMRL shared tasks, whose scorer cuts them.",
        )
    else:
        reason = "Penn-style trees: EVALB with COLLINS.prm is what parsers are compared by."
        if _EMPTY in tags:
            reason += f" It deletes the empty elements ({_EMPTY}) that are there."
        yield Scored("parseval", reason)
    yield Scored("leaf_ancestor", "Where a tree is wrong, word by word; it does not punish one wrong bracket twice.")
    if not text.isascii():
        return
    dependencies = {"name": "attachment", "transforms": ["heads"]}
    yield Scored(dependencies, "Dependencies made by English head rules, if trees are English.")
