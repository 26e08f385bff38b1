"""Documents of trees: the half of each side from a stored page, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from service.usecases.trees.pages import ALIGNMENT, CONSTITUENTS, DEPENDENCIES, DISCONTINUOUS, GRAPH, NOT_FOUND
from service.usecases.trees.reading import StoredPage
from treescore.core.marks import State
from treescore.core.params import Json

Document = dict[str, Json]
WORDS = {
    State.HEAD: "head",
    State.LABEL: "label",
    State.BOTH: "both",
    State.ALONE: "word",
    State.SPAN: "span",
    State.LINK: "link",
}
_MARKS = {int(state): WORDS.get(state) for state in State}
CROSSING = "crossing"


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a half of a sentence lies in its text.

    Attributes:
        sentence: of the text, from 0.
        skipped: words of it before the half.
        units: words of the half; they may go on in the next sentences. None: the whole sentence.
    """

    sentence: int
    skipped: int = 0
    units: int | None = None


@dataclass(frozen=True, slots=True)
class Half:
    """One side of a sentence.

    Attributes:
        words: `{"id", "form"}`, and `tag` of constituents; None of an alignment without words.
        tree: what is drawn over them: arcs, spans, edges or links.
        rows: where each word without an empty node stands in `words`; of other kinds the rows of `tree`.
        more: further members.
    """

    words: Sequence[Document] | None
    tree: Sequence[Document]
    rows: Sequence[int]
    more: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Outline:
    """What a list of sentences shows of one.

    Attributes:
        item: its number, from 1.
        kind: of its trees.
        forms: words of the output; none of an alignment without words.
        units: words, constituents, edges or links of the output.
        marks: what is wrong with each; None where that is not shown.
    """

    item: int
    kind: str
    forms: Sequence[str | None]
    units: int
    marks: Sequence[str | None] | None

    @property
    def text(self) -> str:
        """Its words in a line."""
        return " ".join(form or "" for form in self.forms)

    @property
    def wrong(self) -> int | None:
        """How many units are marked as wrong; None where nothing is marked."""
        return None if self.marks is None else sum(mark is not None for mark in self.marks)


def half_of(page: StoredPage, sentence: int) -> Half:
    """Return one whole sentence as a half."""
    if page.kind == DEPENDENCIES:
        return _dependencies_half(page, sentence)
    if page.kind == DISCONTINUOUS:
        return _discontinuous_half(page, sentence)
    if page.kind == GRAPH:
        return _graph(page, sentence)
    return _constituents_half(page, sentence) if page.kind == CONSTITUENTS else _links_half(page, sentence)


def cut_half(forms: Sequence[str | None], heads: Sequence[int], deprels: Sequence[str | None]) -> Half:
    """Return words that are no whole sentence as a half, numbered from 1.

    Args:
        forms: of the words.
        heads: counted from the half's first word as 1; 0 the root, None where the head lies outside.
        deprels: their relations.
    """
    words = _numbered_words(forms)
    return Half(words, _arcs(heads, deprels), range(len(words)), {})


def _numbered_words(forms: Sequence[str | None]) -> list[Document]:
    return [{"id": str(number), "form": form} for number, form in enumerate(forms, 1)]


def _arcs(heads: Sequence[int], deprels: Sequence[str | None]) -> list[Document]:
    size = len(heads)
    return [
        {"head": str(head) if 0 <= head <= size else None, "deprel": deprel}
        for head, deprel in zip(heads, deprels, strict=True)
    ]


def _dependencies_half(page: StoredPage, sentence: int) -> Half:
    forms = page.strings("forms", "words", sentence)
    arcs = _arcs(page.values("heads", "words", sentence).tolist(), page.strings("deprels", "words", sentence))
    words = _numbered_words(forms)
    more = {"tokens": _tokens(page, sentence)}
    rows: Sequence[int] = range(len(words))
    if page.has("empty") and page.bounds("empty", sentence).stop > page.bounds("empty", sentence).start:
        words, arcs, rows = _with_empty(page, sentence, words, arcs)
    return Half(words, arcs, rows, more)


def _tokens(page: StoredPage, sentence: int) -> list[Document]:
    if not page.has("tokens"):
        return []
    columns = (
        page.values("token_starts", "tokens", sentence).tolist(),
        page.values("token_ends", "tokens", sentence).tolist(),
        page.strings("token_forms", "tokens", sentence),
    )
    return [
        {"first": str(start + 1), "last": str(end), "form": form} for start, end, form in zip(*columns, strict=True)
    ]


def _with_empty(
    page: StoredPage, sentence: int, words: list[Document], arcs: list[Document]
) -> tuple[list[Document], list[Document], list[int]]:
    """Put empty nodes between the words: they have a number and no arc; what they are called is not stored."""
    empty: dict[int, list[str | None]] = {}
    after = page.values("empty_after", "empty", sentence).tolist()
    for position, name in zip(after, page.strings("empty_ids", "empty", sentence), strict=True):
        empty.setdefault(position, []).append(name)
    all_words: list[Document] = []
    all_arcs: list[Document] = []
    rows = []
    for position in range(len(words) + 1):
        for name in empty.get(position, ()):
            all_words.append({"id": name, "form": None})
            all_arcs.append({"head": None, "deprel": None})
        if position < len(words):
            rows.append(len(all_words))
            all_words.append(words[position])
            all_arcs.append(arcs[position])
    return all_words, all_arcs, rows


def _constituents_half(page: StoredPage, sentence: int) -> Half:
    columns = zip(page.strings("forms", "words", sentence), page.strings("tags", "words", sentence), strict=True)
    words: list[Document] = [
        {"id": str(number), "form": form, "tag": tag} for number, (form, tag) in enumerate(columns, 1)
    ]
    rows = [page.values(name, "nodes", sentence).tolist() for name in ("starts", "ends", "depths")]
    spans = [
        {"label": label, "start": start, "end": end, "depth": depth}
        for label, start, end, depth in zip(page.strings("labels", "nodes", sentence), *rows, strict=True)
    ]
    return Half(words, spans, range(len(spans)), {})


def _discontinuous_half(page: StoredPage, sentence: int) -> Half:
    """Return constituents with what is directly below them: what is below that follows, and is as long as the tree."""
    columns = zip(page.strings("forms", "words", sentence), page.strings("tags", "words", sentence), strict=True)
    words: list[Document] = [
        {"id": str(number), "form": form, "tag": tag} for number, (form, tag) in enumerate(columns, 1)
    ]
    labels, functions = (page.strings(name, "nodes", sentence) for name in ("labels", "functions"))
    rows: list[Document] = []
    for label, function, parent in zip(
        labels, functions, page.values("parents", "nodes", sentence).tolist(), strict=True
    ):
        above = None if parent == NOT_FOUND else parent
        depth = 0 if above is None else rows[above]["depth"] + 1
        rows.append({"label": label, "function": function, "parent": above, "depth": depth, "words": []})
    functions = page.strings("word_functions", "words", sentence)
    anchors = page.values("anchors", "words", sentence).tolist()
    for number, (anchor, function) in enumerate(zip(anchors, functions, strict=True)):
        rows[anchor]["words"].append({"word": number, "function": function})
    return Half(words, rows, range(len(rows)), {})


def _graph(page: StoredPage, sentence: int) -> Half:
    columns = zip(page.strings("forms", "words", sentence), page.strings("tags", "words", sentence), strict=True)
    words: list[Document] = [
        {"id": str(number), "form": form, "tag": tag} for number, (form, tag) in enumerate(columns, 1)
    ]
    ends = [page.values(name, "edges", sentence).tolist() for name in ("predicates", "arguments")]
    edges = [
        {"predicate": str(predicate), "argument": str(argument), "label": label}
        for predicate, argument, label in zip(*ends, page.strings("roles", "edges", sentence), strict=True)
    ]
    return Half(words, edges, range(len(edges)), {})


def _links_half(page: StoredPage, sentence: int) -> Half:
    columns = [page.values(name, "links", sentence).tolist() for name in ("sources", "targets", "sure")]
    links = [
        {"source": source, "target": target, "sure": bool(sure)} for source, target, sure in zip(*columns, strict=True)
    ]
    if not page.has("forms"):
        return Half(None, links, range(len(links)), {"target_words": None})
    source = _numbered_words(page.strings("forms", "words", sentence))
    target = _numbered_words(page.strings("target_forms", "target_words", sentence))
    return Half(source, links, range(len(links)), {"target_words": target})


def own_document(kind: str, item: int, half: Half) -> Document:
    """Return the document of an output's sentence alone."""
    none: Document = {"gold_words": None, "gold": None, "wrong": None, "missed": None}
    if kind == DEPENDENCIES:
        none = {"tokens": [], **none, "pairs": None}
    elif kind == ALIGNMENT:
        none = {"target_words": None, "gold_target_words": None, **none}
    return {"item": item, "kind": kind, "words": half.words, "system": half.tree, **none, **half.more}


def marked(half: Half, states: Sequence[int]) -> list[str | None]:
    """Return what is wrong with each row of a half's tree."""
    wrong: list[str | None] = [None] * len(half.tree)
    for row, mark in zip(half.rows, marks_of(states), strict=True):
        wrong[row] = mark
    return wrong


def marks_of(states: Sequence[int]) -> list[str | None]:
    """Return what states say of their units; None where nothing is wrong."""
    return [_MARKS[state] for state in states]


def with_crossing(
    wrong: Sequence[str | None], spans: Sequence[Document], golds: Sequence[Document]
) -> list[str | None]:
    """Return the marks of spans, where one that gold lacks is a crossing one if it crosses one of gold's."""
    starts, ends = (np.array([span[name] for span in golds], np.int64) for name in ("start", "end"))

    def crosses(span: Document) -> bool:
        start, end = span["start"], span["end"]
        before = (starts < start) & (start < ends) & (ends < end)
        after = (start < starts) & (starts < end) & (end < ends)
        return bool((before | after).any())

    return [
        CROSSING if each == WORDS[State.SPAN] and crosses(span) else each
        for each, span in zip(wrong, spans, strict=True)
    ]
