"""Trees of the API's documents as pictures and as tables with the same facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from service.pages.pictures import drawn
from treescore.render import alignment_facts, constituent_facts, dependency_facts
from treescore.render.alignment_picture import alignment_svg
from treescore.render.constituents_picture import constituents_svg
from treescore.render.dependencies_picture import dependencies_svg
from treescore.render.sentence_shapes import (
    AGREED,
    CROSSING,
    LABEL,
    MISSED,
    WRONG,
    AlignmentSentence,
    Arc,
    ArcMark,
    Branch,
    Constituents,
    ConstituentSentence,
    DependencyHalf,
    DependencySentence,
    Facts,
    Link,
    Span,
    SpanMark,
    Word,
)

Tree = Mapping[str, Any]
ROOT = "0"
NULL = 0
"""Number of the word that stands for none, in links."""
_ARC_MARKS: Mapping[str | None, ArcMark] = {None: AGREED, "label": LABEL}
_SPAN_MARKS: Mapping[str | None, SpanMark] = {None: AGREED, "label": LABEL, "crossing": CROSSING}


@dataclass(frozen=True, slots=True)
class Picture:
    """A sentence as it is shown.

    Attributes:
        svg: the picture.
        facts: what is wrong, as a table; without errors, every word or constituent.
        marked: whether it tells what is wrong.
        both: whether gold is beside the output.
    """

    svg: Markup
    facts: Facts
    marked: bool
    both: bool


def picture_of(tree: Tree, title: str, name: str = "tree") -> list[Picture]:
    """Return the pictures of one sentence: one with both trees; two where these share no words that both stand on.

    Args:
        tree: a document of the API.
        title: of the pictures.
        name: for their ids: pictures of one page have different ones.
    """
    return _DRAWN[tree["kind"]](tree, title, name)


def svg_of(tree: Tree, title: str) -> str:
    """Return the first picture of a sentence, as a file."""
    return str(picture_of(tree, title)[0].svg)


def errors_of(tree: Tree) -> int | None:
    """Return how many units of the output are marked as wrong; None where nothing is marked."""
    return None if tree["wrong"] is None else sum(mark is not None for mark in tree["wrong"])


def _dependencies(tree: Tree, title: str, name: str) -> list[Picture]:
    own = _half(tree["words"], tree["system"], tree["wrong"])
    gold = None
    if tree["gold"] is not None:
        gold = _half(tree["gold_words"] or tree["words"], tree["gold"], tree["missed"])
    pairs = tree.get("pairs")
    links = None if pairs is None else tuple((of_gold, of_own) for of_own, of_gold in pairs)
    sentence = DependencySentence(title, gold, own, links)
    marked = tree["wrong"] is not None
    facts = dependency_facts.dependency_facts(sentence, every_word=not marked)
    return [Picture(drawn(dependencies_svg(sentence, name=name)), facts, marked, gold is not None)]


def _half(words: Sequence[Tree], rows: Sequence[Tree], marks: Sequence[str | None] | None) -> DependencyHalf:
    index = {word["id"]: at for at, word in enumerate(words)}
    arcs = []
    for at, row in enumerate(rows):
        head = row["head"]
        if head is None or (head != ROOT and head not in index):
            continue
        mark = None if marks is None else marks[at]
        arcs.append(Arc(None if head == ROOT else index[head], at, row["deprel"] or "", _ARC_MARKS.get(mark, WRONG)))
    return DependencyHalf(tuple(Word(word["id"], word["form"] or "") for word in words), tuple(arcs))


def _graph(tree: Tree, title: str, name: str) -> list[Picture]:
    """Return the edges as arcs, several at a word or none; tops as roots."""
    own = _graph_half(tree["words"], tree["system"], tree["wrong"])
    gold = None
    if tree["gold"] is not None:
        gold = _graph_half(tree["gold_words"] or tree["words"], tree["gold"], tree["missed"])
    sentence = DependencySentence(title, gold, own)
    marked = tree["wrong"] is not None
    facts = dependency_facts.dependency_facts(sentence, every_word=not marked)
    return [Picture(drawn(dependencies_svg(sentence, name=name)), facts, marked, gold is not None)]


def _graph_half(words: Sequence[Tree], rows: Sequence[Tree], marks: Sequence[str | None] | None) -> DependencyHalf:
    given = [None] * len(rows) if marks is None else marks
    arcs = [
        Arc(
            None if row["predicate"] == ROOT else int(row["predicate"]) - 1,
            int(row["argument"]) - 1,
            "" if row["predicate"] == ROOT else row["label"],
            _ARC_MARKS.get(mark, WRONG),
        )
        for row, mark in zip(rows, given, strict=True)
    ]
    return DependencyHalf(tuple(Word(word["id"], word["form"] or "") for word in words), tuple(arcs))


def _constituents(tree: Tree, title: str, name: str) -> list[Picture]:
    words, spans = _forms(tree["words"]), _SIDES[tree["kind"]]
    own = spans(tree["system"], tree["wrong"])
    gold = None if tree["gold"] is None else spans(tree["gold"], tree["missed"])
    if gold is None or tree["gold_words"] is None:
        return [_constituent_picture(ConstituentSentence(title, words, gold, own), tree, name)]
    sides = (
        ConstituentSentence(f"{title}: gold", _forms(tree["gold_words"]), gold, None),
        ConstituentSentence(f"{title}: output", words, None, own),
    )
    return [_constituent_picture(side, tree, each) for side, each in zip(sides, (f"{name}-gold", name), strict=True)]


def _constituent_picture(sentence: ConstituentSentence, tree: Tree, name: str) -> Picture:
    marked = tree["wrong"] is not None
    facts = constituent_facts.constituent_facts(sentence, every_span=not marked)
    return Picture(drawn(constituents_svg(sentence, name=name)), facts, marked, sentence.gold is not None)


def _spans(rows: Sequence[Tree], marks: Sequence[str | None] | None) -> tuple[Span, ...]:
    given = [None] * len(rows) if marks is None else marks
    return tuple(
        Span(row["label"], row["start"], row["end"], _SPAN_MARKS.get(mark, WRONG))
        for row, mark in zip(rows, given, strict=True)
    )


def _branches(rows: Sequence[Tree], marks: Sequence[str | None] | None) -> tuple[Branch, ...]:
    given = [None] * len(rows) if marks is None else marks
    return tuple(
        Branch(
            "-".join(filter(None, (row["label"], row["function"]))),
            row["parent"],
            tuple(word["word"] for word in row["words"]),
            _SPAN_MARKS.get(mark, WRONG),
        )
        for row, mark in zip(rows, given, strict=True)
    )


_SIDES: Mapping[str, Callable[[Sequence[Tree], Sequence[str | None] | None], Constituents]] = {
    "constituents": _spans, "discontinuous": _branches,
}  # fmt: skip


def _alignment(tree: Tree, title: str, name: str) -> list[Picture]:
    links = [
        Link(*_ends(row), WRONG if mark is not None else AGREED)
        for row, mark in zip(tree["system"], tree["wrong"] or [None] * len(tree["system"]), strict=True)
    ]
    if tree["gold"] is not None:
        links = [link for link in links if link.mark == WRONG]
        links += [
            Link(*_ends(row), MISSED if mark is not None else AGREED, row["sure"])
            for row, mark in zip(tree["gold"], tree["missed"] or [None] * len(tree["gold"]), strict=True)
        ]
    rows = [*tree["system"], *(tree["gold"] or ())]
    sentence = AlignmentSentence(
        title,
        _forms(tree["words"]) or _numbers(rows, "source"),
        _forms(tree.get("target_words")) or _numbers(rows, "target"),
        tuple(links),
    )
    marked = tree["wrong"] is not None
    facts = alignment_facts.alignment_facts(sentence, every_link=not marked)
    return [Picture(drawn(alignment_svg(sentence, name=name)), facts, marked, tree["gold"] is not None)]


def _ends(row: Tree) -> tuple[int | None, int | None]:
    source, target = (None if row[side] == NULL else row[side] - 1 for side in ("source", "target"))
    return source, target


def _forms(words: Sequence[Tree] | None) -> tuple[str, ...]:
    return tuple(word["form"] or "" for word in words or ())


def _numbers(rows: Sequence[Tree], side: str) -> tuple[str, ...]:
    """Return numbers in place of words that are not known."""
    return tuple(str(number) for number in range(1, max((row[side] for row in rows), default=0) + 1))


_DRAWN: Mapping[str, Callable[[Tree, str, str], list[Picture]]] = {
    "dependencies": _dependencies, "constituents": _constituents, "discontinuous": _constituents,
    "graph": _graph, "alignment": _alignment,
}  # fmt: skip
