"""Documents of trees: the trees of one output, alone or beside gold's, sentence by sentence.

The half of each side comes from a stored page, with what is wrong in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from sqlalchemy import Connection

from service.store import artifacts
from service.store.packing import NamedArrays, unpack_named
from service.usecases.trees import stored
from treescore.core.arrays import offsets_of
from treescore.core.params import Json
from treescore.core.registry import MarkState
from treescore.core.structure import crossing_spans

Document = dict[str, Json]
WORDS = {
    MarkState.HEAD: "head",
    MarkState.LABEL: "label",
    MarkState.BOTH: "both",
    MarkState.ALONE: "word",
    MarkState.SPAN: "span",
    MarkState.LINK: "link",
}
_MARKS = {int(state): WORDS.get(state) for state in MarkState}
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


LISTED = 60
"""Words that are listed of a sentence, at most."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a list of sentences shows of one.

    Attributes:
        item: its number, from 1.
        kind: of its trees.
        forms: the first words of the output; none of an alignment without words.
        units: words, constituents, edges or links of the output.
        marks: what is wrong with each; None where that is not shown.
        errors: how many are wrong, or missed beside gold: the order of sentences goes by it; None without marks.
    """

    item: int
    kind: str
    forms: Sequence[str | None]
    units: int
    marks: Sequence[str | None] | None
    errors: int | None = None

    @property
    def text(self) -> str:
        """Its first words in a line."""
        return " ".join(form or "" for form in self.forms)


def half_of(page: stored.StoredPage, sentence: int) -> Half:
    """Return one whole sentence as a half."""
    if page.kind == stored.DEPENDENCIES:
        return _dependencies_half(page, sentence)
    if page.kind == stored.DISCONTINUOUS:
        return _discontinuous_half(page, sentence)
    if page.kind == stored.GRAPH:
        return _graph(page, sentence)
    return _constituents_half(page, sentence) if page.kind == stored.CONSTITUENTS else _links_half(page, sentence)


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


def _dependencies_half(page: stored.StoredPage, sentence: int) -> Half:
    forms = page.strings("forms", "words", sentence)
    arcs = _arcs(page.values("heads", "words", sentence).tolist(), page.strings("deprels", "words", sentence))
    words = _numbered_words(forms)
    more = {"tokens": _tokens(page, sentence)}
    if page.has("expressions") and _size(page.bounds("members", sentence)) <= MOST_MEMBERS:
        more["expressions"] = _expressions(page, sentence)
    rows: Sequence[int] = range(len(words))
    if page.has("empty") and page.bounds("empty", sentence).stop > page.bounds("empty", sentence).start:
        words, arcs, rows = _with_empty(page, sentence, words, arcs)
    return Half(words, arcs, rows, more)


def _tokens(page: stored.StoredPage, sentence: int) -> list[Document]:
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


MOST_MEMBERS = 100_000
"""Words of the expressions of a sentence, each counted as often as it is in one; of more none is shown."""


def _size(bounds: slice) -> int:
    return int(bounds.stop) - int(bounds.start)


def _expressions(page: stored.StoredPage, sentence: int) -> list[Document]:
    members = [str(place + 1) for place in page.values("members", "members", sentence).tolist()]
    bounds = offsets_of(page.values("sizes", "expressions", sentence)).tolist()
    categories = page.strings("categories", "expressions", sentence)
    return [
        {"words": members[start:stop], "category": category}
        for (start, stop), category in zip(pairwise(bounds), categories, strict=True)
    ]


def _with_empty(
    page: stored.StoredPage, sentence: int, words: list[Document], arcs: list[Document]
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


def _constituents_half(page: stored.StoredPage, sentence: int) -> Half:
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


def _discontinuous_half(page: stored.StoredPage, sentence: int) -> Half:
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
        above = None if parent == stored.NOT_FOUND else parent
        depth = 0 if above is None else rows[above]["depth"] + 1
        rows.append({"label": label, "function": function, "parent": above, "depth": depth, "words": []})
    functions = page.strings("word_functions", "words", sentence)
    anchors = page.values("anchors", "words", sentence).tolist()
    for number, (anchor, function) in enumerate(zip(anchors, functions, strict=True)):
        rows[anchor]["words"].append({"word": number, "function": function})
    return Half(words, rows, range(len(rows)), {})


def _graph(page: stored.StoredPage, sentence: int) -> Half:
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


def _links_half(page: stored.StoredPage, sentence: int) -> Half:
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
    if kind == stored.DEPENDENCIES:
        none = {"tokens": [], **none, "pairs": None}
    elif kind == stored.ALIGNMENT:
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
    starts, ends, *others = (
        np.array([span[name] for span in side], np.int64) for side in (spans, golds) for name in ("start", "end")
    )
    crosses = crossing_spans(starts, ends, np.stack(others, axis=1)).tolist()
    return [
        CROSSING if each == WORDS[MarkState.SPAN] and crossing else each
        for each, crossing in zip(wrong, crosses, strict=True)
    ]


_MAIN = {
    stored.DEPENDENCIES: "words",
    stored.CONSTITUENTS: "nodes",
    stored.DISCONTINUOUS: "nodes",
    stored.GRAPH: "edges",
    stored.ALIGNMENT: "links",
}
_PARTNERS = "partners"
_TARGETS = "target_words"


class OutputTrees:
    """The stored trees of one output.

    They hold gold, and how the output fits it: trees of submissions leave the service through
    `service.policy.documents` only. `own` reads nothing but the output.
    """

    def __init__(self, db: Connection, owner: str, key: stored.TreesKey, gold: tuple[str, stored.TreesKey]) -> None:
        self._db, self._owner, self._key = db, owner, key
        self.text = stored.StoredText(db, owner, key.name(stored.TREES))
        self.marks = stored.StoredText(db, owner, key.name(stored.MARKS))
        self.missed = stored.StoredText(db, owner, key.name(stored.MISSED))
        self.gold = stored.StoredText(db, gold[0], gold[1].name(stored.TREES))

    @cached_property
    def errors(self) -> NamedArrays | None:
        """The number of errors of each sentence; None where the output was not compared with gold."""
        return self._one(stored.ERRORS)

    @cached_property
    def fit(self) -> NamedArrays | None:
        """Where the output's half of each of gold's sentences lies; None where it is the sentence of its number."""
        return self._one(stored.FIT)

    @cached_property
    def beside_gold(self) -> bool:
        """Whether gold and the marks are stored."""
        return self.errors is not None and len(self.gold) == len(self.errors.arrays["item_any"])

    def own(self, sentence: int, *, marks: bool) -> Document:
        """Return one sentence of the output alone.

        Args:
            sentence: from 0.
            marks: whether to say what is wrong with it.
        """
        page = self.text.page(sentence)
        half = half_of(page, sentence)
        document = own_document(page.kind, sentence + 1, half) | _named(page, sentence)
        if marks:
            document["wrong"] = marked(half, self.states(page, sentence))
        return document

    def beside_expressions(self, sentence: int, *, marks: bool = False) -> Document:
        """Return one sentence of the output alone, and gold's expressions where the texts have such."""
        document = self.own(sentence, marks=marks)
        if "expressions" in document and len(self.gold) == len(self.text):
            gold = half_of(self.gold.page(sentence), sentence)
            document |= _gold_expressions(gold)
            document["gold_words"] = None if gold.words == document["words"] else gold.words
        return document

    def both(self, item: int) -> Document:
        """Return the trees of both sides of one of gold's sentences, from 0."""
        gold_page = self.gold.page(item)
        gold = half_of(gold_page, item)
        missed = marked(gold, self._of_gold(gold_page, item))
        cut = self._cut(item)
        if cut is None:
            empty = Half([] if gold.words is not None else None, [], [], {})
            document = own_document(gold_page.kind, item + 1, empty) | {"line": None, "wrong": []}
        else:
            document = self._half(cut, item, gold_page, gold)
        document |= {"gold": gold.tree, "missed": missed, "sent_id": gold_page.sent_id(item)}
        document |= _gold_expressions(gold)
        if gold_page.kind == stored.ALIGNMENT and not document["words"]:
            document |= {"words": gold.words, _TARGETS: gold.more[_TARGETS]}
        if gold_page.kind == stored.CONSTITUENTS and document["gold_words"] is None:
            document["wrong"] = with_crossing(document["wrong"], document["system"], gold.tree)
        return document

    def outline(self, sentence: int, *, beside_gold: bool, marks: bool) -> Outline:
        """Return what a list shows of a sentence.

        Args:
            sentence: from 0; one of gold's, or of the output's own.
            beside_gold: which of them it is.
            marks: whether to say what is wrong with it.
        """
        cut = self._cut(sentence) if beside_gold else Cut(sentence)
        if cut is None:
            return Outline(sentence + 1, self.gold.page(sentence).kind, (), 0, () if marks else None)
        page = self.text.page(cut.sentence)
        if _is_whole(cut, page):
            forms = _first_words(page, cut.sentence)
            if beside_gold and not page.has("forms"):
                forms = _first_words(self.gold.page(sentence), sentence)
            bounds = page.bounds(_MAIN[page.kind], cut.sentence)
            units = bounds.stop - bounds.start
            states = self.states(page, cut.sentence) if marks else []
        else:
            half, states, _ = self._part(cut)
            forms = [word["form"] for word in half.words or ()]
            units = len(forms)
        return Outline(sentence + 1, page.kind, forms, units, marks_of(states) if marks else None)

    def states(self, page: stored.StoredPage, sentence: int) -> list[int]:
        """Return the state of each unit of a sentence of the output."""
        return self._of_units("states", page, sentence)

    def items_of(self, sentence: int) -> range:
        """Return gold's sentences, from 0, in which one of the output's lies."""
        arrays = {} if self.fit is None else self.fit.arrays
        if "units" in arrays:
            page = self.text.page(sentence)
            bounds = page.bounds("words", sentence)
            shift = int(page.named.about["first"])
            firsts = offsets_of(arrays["units"])
            start, last = np.searchsorted(firsts, [shift + bounds.start, shift + bounds.stop - 1], "right").tolist()
            return range(max(start - 1, 0), last)
        if arrays:
            found = np.flatnonzero(arrays["sentences"] == sentence).tolist()
            return range(found[0], found[0] + 1) if found else range(0)
        return range(sentence, sentence + 1)

    def _half(self, cut: Cut, item: int, gold_page: stored.StoredPage, gold: Half) -> Document:
        page = self.text.page(cut.sentence)
        if _is_whole(cut, page):
            half, states = half_of(page, cut.sentence), self.states(page, cut.sentence)
            partners = self._of_units(_PARTNERS, page, cut.sentence)
        else:
            half, states, partners = self._part(cut)
        document = own_document(page.kind, item + 1, half) | _named(page, cut.sentence)
        document["wrong"] = marked(half, states)
        if half.words is not None and (gold.words, gold.more.get(_TARGETS)) != (half.words, half.more.get(_TARGETS)):
            document["gold_words"] = gold.words
            if page.kind == stored.ALIGNMENT:
                document["gold_target_words"] = gold.more[_TARGETS]
            if page.kind == stored.DEPENDENCIES:
                first = int(gold_page.named.about["first"]) + gold_page.bounds("words", item).start
                document["pairs"] = _pairs(half, gold, partners, first)
        return document

    def _part(self, cut: Cut) -> tuple[Half, list[int], list[int]]:
        """Return words from the middle of a sentence on, maybe into the next ones; with states and partners."""
        forms: list[str | None] = []
        deprels: list[str | None] = []
        heads: list[int] = []
        states: list[int] = []
        partners: list[int] = []
        sentence, skipped, left = cut.sentence, cut.skipped, cut.units or 0
        while left > 0 and sentence < len(self.text):
            page = self.text.page(sentence)
            here = slice(skipped, skipped + left)
            shift = len(forms) - skipped
            found = page.strings("forms", "words", sentence)[here]
            of_words = page.values("heads", "words", sentence).tolist()[here]
            heads += [_shifted(head, shift, skipped, len(found)) for head in of_words]
            deprels += page.strings("deprels", "words", sentence)[here]
            states += self.states(page, sentence)[here]
            partners += self._of_units(_PARTNERS, page, sentence)[here]
            forms += found
            left -= len(found)
            sentence, skipped = sentence + 1, 0
        return cut_half(forms, heads, deprels), states, partners

    def _cut(self, item: int) -> Cut | None:
        if self.fit is None:
            return Cut(item) if item < len(self.text) else None
        arrays = self.fit.arrays
        sentence = int(arrays["sentences"][item])
        if sentence < 0 or sentence >= len(self.text):
            return None
        if "units" not in arrays:
            return Cut(sentence)
        return Cut(sentence, int(arrays["skipped"][item]), int(arrays["units"][item]))

    def _of_units(self, name: str, page: stored.StoredPage, sentence: int) -> list[int]:
        named = self.marks.page(page.start).named
        if name not in named.arrays:
            return []
        return list(named.arrays[name][page.bounds(_MAIN[page.kind], sentence)].tolist())

    def _of_gold(self, page: stored.StoredPage, item: int) -> list[int]:
        named = self.missed.page(page.start).named
        return list(named.arrays["states"][page.bounds(_MAIN[page.kind], item)].tolist())

    def _one(self, kind: str) -> NamedArrays | None:
        body = artifacts.get(self._db, self._owner, self._key.name(kind))
        return None if body is None else unpack_named(body)


def _gold_expressions(gold: Half) -> Document:
    return {"gold_expressions": gold.more["expressions"]} if "expressions" in gold.more else {}


def _first_words(page: stored.StoredPage, sentence: int) -> list[str | None]:
    return page.strings("forms", "words", sentence, LISTED) if page.has("forms") else []


def _is_whole(cut: Cut, page: stored.StoredPage) -> bool:
    """Return whether a half is one whole sentence of its text."""
    bounds = page.bounds(_MAIN[page.kind], cut.sentence)
    return cut.units is None or (not cut.skipped and cut.units == bounds.stop - bounds.start)


def _named(page: stored.StoredPage, sentence: int) -> Document:
    line = int(page.named.arrays["lines"][sentence - page.start])
    return {"sent_id": page.sent_id(sentence), "line": line or None}


def _shifted(head: int, shift: int, skipped: int, size: int) -> int:
    """Return a head counted in a half, -1 where it lies outside; the root stays."""
    if head == 0:
        return 0
    return head + shift if skipped < head <= skipped + size else -1


def _pairs(half: Half, gold: Half, partners: Sequence[int], first: int) -> list[list[int]]:
    """Return the rows of aligned words in the words of both sides."""
    if not partners:
        return [list(pair) for pair in zip(half.rows, gold.rows, strict=False)]
    size = len(gold.rows)
    return [
        [row, gold.rows[partner - first]]
        for row, partner in zip(half.rows, partners, strict=True)
        if first <= partner < first + size
    ]
