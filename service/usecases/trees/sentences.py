"""The trees of one output, alone or beside gold's, sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from sqlalchemy import Connection

from service.store import artifacts
from service.store.packed_named import NamedArrays, unpack_named
from service.usecases.trees.documents import (
    Cut,
    Document,
    Half,
    Outline,
    cut_half,
    half_of,
    marked,
    marks_of,
    own_document,
    with_crossing,
)
from service.usecases.trees.pages import ALIGNMENT, CONSTITUENTS, DEPENDENCIES, DISCONTINUOUS, GRAPH
from service.usecases.trees.reading import StoredPage, StoredText
from service.usecases.trees.writing import ERRORS, FIT, MARKS, MISSED, TREES, TreesKey
from treescore.core.arrays import offsets_of

_MAIN = {DEPENDENCIES: "words", CONSTITUENTS: "nodes", DISCONTINUOUS: "nodes", GRAPH: "edges", ALIGNMENT: "links"}
_PARTNERS = "partners"
_TARGETS = "target_words"


class OutputTrees:
    """The stored trees of one output.

    They hold gold, and how the output fits it: trees of submissions leave the service through `service.policy.trees`
    only. `own` reads nothing but the output.
    """

    def __init__(self, db: Connection, owner: str, key: TreesKey, gold: tuple[str, TreesKey]) -> None:
        self._db, self._owner, self._key = db, owner, key
        self.text = StoredText(db, owner, key.name(TREES))
        self.marks = StoredText(db, owner, key.name(MARKS))
        self.missed = StoredText(db, owner, key.name(MISSED))
        self.gold = StoredText(db, gold[0], gold[1].name(TREES))

    @cached_property
    def errors(self) -> NamedArrays | None:
        """The number of errors of each sentence; None where the output was not compared with gold."""
        return self._one(ERRORS)

    @cached_property
    def fit(self) -> NamedArrays | None:
        """Where the output's half of each of gold's sentences lies; None where it is the sentence of its number."""
        return self._one(FIT)

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
        if gold_page.kind == CONSTITUENTS and document["gold_words"] is None:
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
            forms = page.strings("forms", "words", cut.sentence) if page.has("forms") else []
            bounds = page.bounds(_MAIN[page.kind], cut.sentence)
            units = bounds.stop - bounds.start
            states = self.states(page, cut.sentence) if marks else []
        else:
            half, states, _ = self._part(cut)
            forms = [word["form"] for word in half.words or ()]
            units = len(forms)
        return Outline(sentence + 1, page.kind, forms, units, marks_of(states) if marks else None)

    def states(self, page: StoredPage, sentence: int) -> list[int]:
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

    def _half(self, cut: Cut, item: int, gold_page: StoredPage, gold: Half) -> Document:
        page = self.text.page(cut.sentence)
        if _is_whole(cut, page):
            half, states = half_of(page, cut.sentence), self.states(page, cut.sentence)
            partners = self._of_units(_PARTNERS, page, cut.sentence)
        else:
            half, states, partners = self._part(cut)
        document = own_document(page.kind, item + 1, half) | _named(page, cut.sentence)
        document["wrong"] = marked(half, states)
        if gold.words != half.words or gold.more.get(_TARGETS) != half.more.get(_TARGETS):
            document["gold_words"] = gold.words
            if page.kind == ALIGNMENT:
                document["gold_target_words"] = gold.more[_TARGETS]
            if page.kind == DEPENDENCIES:
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

    def _of_units(self, name: str, page: StoredPage, sentence: int) -> list[int]:
        named = self.marks.page(page.start).named
        if name not in named.arrays:
            return []
        return list(named.arrays[name][page.bounds(_MAIN[page.kind], sentence)].tolist())

    def _of_gold(self, page: StoredPage, item: int) -> list[int]:
        named = self.missed.page(page.start).named
        return list(named.arrays["states"][page.bounds(_MAIN[page.kind], item)].tolist())

    def _one(self, kind: str) -> NamedArrays | None:
        body = artifacts.get(self._db, self._owner, self._key.name(kind))
        return None if body is None else unpack_named(body)


def _is_whole(cut: Cut, page: StoredPage) -> bool:
    """Return whether a half is one whole sentence of its text."""
    bounds = page.bounds(_MAIN[page.kind], cut.sentence)
    return cut.units is None or (not cut.skipped and cut.units == bounds.stop - bounds.start)


def _named(page: StoredPage, sentence: int) -> Document:
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
