"""What the picture of a sentence's constituents shows, in words and as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from treescore.core.counting import counted
from treescore.render.branch_layout import branches_of, masks_of
from treescore.render.constituent_layout import MOST_LEVELS, AnyTree, tree_of
from treescore.render.sentence_shapes import (
    AGREED,
    CROSSING,
    LABEL,
    Branch,
    Constituents,
    ConstituentSentence,
    Facts,
    SpanMark,
)
from treescore.render.sentence_text import shown_form, shown_label

MOST_TREE_WORDS = 300
"""Words that are drawn; the picture says if there are more."""
_LISTED = 40
"""Constituents that the description names."""
_NAMED = 6
"""Words of a constituent that are written out."""
_RUNS = re.compile("1+")
_WHAT = {LABEL: "label", CROSSING: "crossing"}


def sides_of(sentence: ConstituentSentence) -> list[tuple[str, Constituents]]:
    """Return the sides that are given with their names, the upper one first."""
    sides = ((sentence.upper, sentence.gold), (sentence.lower, sentence.system))
    return [(name, spans) for name, spans in sides if spans is not None]


def constituent_facts(sentence: ConstituentSentence, *, every_span: bool = False) -> Facts:
    """Return the constituents that are not agreed: those of each side, in the order of their words.

    Args:
        sentence: what is drawn.
        every_span: list agreed ones too.
    """
    trees = [tree_of_side(spans, MOST_TREE_WORDS) for _, spans in sides_of(sentence)]
    rows = [
        (shown_label(each.label), _covered_words(sentence, each), _range(each), name, _constituent_fault(each))
        for name, spans in sides_of(sentence)
        for each in _drawn(spans)
        if every_span or each.mark != AGREED
    ]
    return Facts(("Label", "Words", "From-to", "Only in", "Wrong"), tuple(rows), constituents_left_out(sentence, trees))


def constituents_left_out(sentence: ConstituentSentence, trees: Sequence[AnyTree]) -> str:
    """Return the sentence that says how much of a large tree is drawn; empty if all is."""
    parts = []
    if len(sentence.words) > MOST_TREE_WORDS:
        parts.append(f"first {MOST_TREE_WORDS:,} of {len(sentence.words):,} words")
    height = max((tree.height for tree in trees), default=0)
    if height > MOST_LEVELS:
        parts.append(f"lowest {MOST_LEVELS:,} of {height:,} levels")
    empty = sum(tree.empty for tree in trees)
    if empty:
        parts.append(f"without {counted(empty, 'empty constituent')}")
    said = ", ".join(parts)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def constituents_described(sentence: ConstituentSentence, note: str, *, mirrored: bool) -> str:
    """Return the description of the picture for those who cannot see it.

    Args:
        sentence: what is drawn.
        note: what the picture says below.
        mirrored: the words run from right to left.
    """
    names = [f"{shown_label(name)} {at}" for (name, _), at in zip(sides_of(sentence), ("above", "below"), strict=False)]
    where = ", ".join(names) + (", read from right to left" if mirrored else "")
    return " ".join([f"{where[:1].upper()}{where[1:]}.", *_listed_spans(sentence), *([note] if note else [])])


def _listed_spans(sentence: ConstituentSentence) -> Iterator[str]:
    rows = constituent_facts(sentence).rows
    for name, _ in sides_of(sentence):
        own = [row for row in rows if row[3] == name]
        listed = [
            f"{label} {words}" + ("" if wrong in {"", "words"} else f" ({wrong})")
            for label, words, _, _, wrong in own[:_LISTED]
        ]
        more = [f"and {counted(len(own) - _LISTED, 'other')}"] if len(own) > _LISTED else []
        if listed:
            yield f"Only in {shown_label(name)}: {'; '.join([*listed, *more])}."
    if not rows:
        yield "No constituent is wrong."


def tree_of_side(constituents: Constituents, words: int) -> AnyTree:
    """Return what is drawn of one side; of so many words."""
    branches = [each for each in constituents if isinstance(each, Branch)]
    spans = [each for each in constituents if not isinstance(each, Branch)]
    return branches_of(branches, words) if branches else tree_of(spans, words)


class _Drawn(NamedTuple):
    """A constituent whose words are drawn: the ranges of its words, one unless it has gaps."""

    label: str
    mark: SpanMark
    blocks: Sequence[tuple[int, int]]


def _drawn(constituents: Constituents) -> Iterator[_Drawn]:
    """Yield the constituents of a side whose words are drawn, in the order of their first words."""
    branches = [each for each in constituents if isinstance(each, Branch)]
    found = [
        _Drawn(branch.label, branch.mark, _blocks(mask))
        for branch, mask in zip(branches, masks_of(branches, MOST_TREE_WORDS), strict=True)
        if mask
    ]
    found += [
        _Drawn(each.label, each.mark, [(each.start, each.end)])
        for each in constituents
        if not isinstance(each, Branch) and 0 <= each.start < min(each.end, MOST_TREE_WORDS)
    ]
    return iter(sorted(found, key=lambda each: (each.blocks[0][0], -each.blocks[-1][1])))


def _blocks(mask: int) -> list[tuple[int, int]]:
    """Return the ranges of the bits that are set."""
    return [match.span() for match in _RUNS.finditer(f"{mask:b}"[::-1])]


def _range(each: _Drawn) -> str:
    return ", ".join(f"{start + 1}-{end}" for start, end in each.blocks)


def _covered_words(sentence: ConstituentSentence, each: _Drawn) -> str:
    words = [word for start, end in each.blocks for word in sentence.words[start : min(end, MOST_TREE_WORDS)]]
    if len(words) <= _NAMED:
        return " ".join(map(shown_form, words))
    return " ".join([*map(shown_form, words[: _NAMED - 2]), "…", shown_form(words[-1])])


def _constituent_fault(each: _Drawn) -> str:
    return "" if each.mark == AGREED else _WHAT.get(each.mark, "words")
