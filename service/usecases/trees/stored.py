"""Trees of one text as arrays, in pages: what is stored of gold once, and of each output once; written and read.

A worker stores for the trees of an output its own, and apart from them how they fit gold. Gold's trees are stored once
for each part of a revision, and once for each job. Stored trees are read page by page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
import orjson
from sqlalchemy import Connection

from service.store import artifacts
from service.store.packing import Array, NamedArrays, pack_named, unpack_named, with_own_strings
from service.store.revisions import Part
from treescore.core import trees
from treescore.core.arrays import BoolArray, IntArray, offsets_of
from treescore.core.registry import Marks, MarkState
from treescore.core.structure import edge_offsets, edges_of, places_in_sentences, resolved_heads, structure_of
from treescore.evaluation.tree_marks import MarkedBy

DEPENDENCIES, CONSTITUENTS, DISCONTINUOUS, ALIGNMENT = "dependencies", "constituents", "discontinuous", "alignment"
GRAPH = "graph"
SENTENCES_PER_PAGE = 500
"""Sentences in one stored page, whose number is that of its first: what a request for one sentence reads."""
UNITS_PER_PAGE = 20_000
"""Words, or links, of one page at most, where one sentence alone has not more."""
NOT_FOUND = -1


class _Columns(NamedTuple):
    """Columns of a whole text, one list of them by sentence.

    Attributes:
        kind: of the trees.
        offsets: name of a list -> int64 (n + 1,).
        columns: name -> the list that it goes with, and its values.
        numbered: names of columns whose values are numbers of strings.
        main: name of the list of the units that marks are of.
    """

    kind: str
    offsets: Mapping[str, IntArray]
    columns: Mapping[str, tuple[str, Array]]
    numbered: tuple[str, ...]
    main: str


Words = Sequence[tuple[str, str]] | None
"""Source and target sentence of each pair of an alignment, where these are stated beside it."""


def pages_of(treebank: trees.Treebank, words: Words = None) -> Iterator[tuple[int, NamedArrays]]:
    """Yield the pages of a text: number of the first sentence, and the arrays.

    Each list of a sentence (`words`, `nodes`, `links`, ...) has an array `of_LIST` of its lengths.
    """
    columns, vocabulary = _columns_of(treebank, words)
    lines, names = _lines_of(treebank), treebank.sentences.sent_ids
    for start, stop in page_bounds(columns.offsets[columns.main]):
        arrays = {"lines": lines[start:stop]}
        bounds = {}
        for name, offsets in columns.offsets.items():
            arrays[f"of_{name}"] = np.diff(offsets[start : stop + 1])
            bounds[name] = slice(int(offsets[start]), int(offsets[stop]))
        arrays |= {name: values[bounds[of]] for name, (of, values) in columns.columns.items()}
        page = with_own_strings(arrays, columns.numbered, vocabulary.strings)
        about = {"kind": columns.kind, "first": bounds[columns.main].start}
        if len(names):
            about["sent_ids"] = list(names[start:stop])
        yield start, NamedArrays(page.arrays, page.strings, about)


def page_bounds(offsets: IntArray) -> Iterator[tuple[int, int]]:
    """Divide sentences into pages by their units, int64 (n + 1,): (first, the one after the last)."""
    size, start = len(offsets) - 1, 0
    while start < size:
        room = int(np.searchsorted(offsets, offsets[start] + UNITS_PER_PAGE, "right")) - 1
        stop = max(start + 1, min(room, start + SENTENCES_PER_PAGE, size))
        yield start, stop
        start = stop


def unit_offsets(treebank: trees.Treebank) -> IntArray:
    """Return where the words, constituents, edges or links of each sentence begin, int64 (n + 1,)."""
    if isinstance(treebank, trees.DependencyTreebank):
        return treebank.word_offsets
    if isinstance(treebank, trees.ConstituentTreebank | trees.DiscontinuousTreebank):
        return treebank.node_offsets
    if isinstance(treebank, trees.SemanticTreebank):
        return edge_offsets(treebank)
    return treebank.alignment.offsets if isinstance(treebank, trees.ParallelTreebank) else treebank.offsets


def _columns_of(treebank: trees.Treebank, words: Words) -> tuple[_Columns, trees.Vocabulary]:
    if isinstance(treebank, trees.DependencyTreebank):
        return _dependency_columns(treebank), treebank.vocabulary
    if isinstance(treebank, trees.ConstituentTreebank):
        return _constituent_columns(treebank), treebank.vocabulary
    if isinstance(treebank, trees.DiscontinuousTreebank):
        return _discontinuous_columns(treebank), treebank.vocabulary
    if isinstance(treebank, trees.SemanticTreebank):
        return _graphs(treebank), treebank.vocabulary
    if isinstance(treebank, trees.ParallelTreebank):
        source, target = ((side.word_offsets, side.forms) for side in (treebank.source, treebank.target))
        return _link_columns(treebank.alignment, (source, target)), treebank.source.vocabulary
    vocabulary = trees.Vocabulary()
    if not words:
        return _link_columns(treebank, None), vocabulary
    sides = [[sentence.split() for sentence in side] for side in zip(*words, strict=True)]
    stated = (_numbered(sides[0], vocabulary), _numbered(sides[1], vocabulary))
    return _link_columns(treebank, stated), vocabulary


def _dependency_columns(treebank: trees.DependencyTreebank) -> _Columns:
    words = treebank.word_offsets
    columns = {
        "forms": ("words", treebank.forms),
        "heads": ("words", np.clip(resolved_heads(treebank), NOT_FOUND, 1 << 31)),
        "deprels": ("words", treebank.deprels),
    }
    numbered: tuple[str, ...] = ("forms", "deprels")
    offsets = {"words": words}
    if len(treebank.mwt_starts):
        owners = np.searchsorted(words, treebank.mwt_starts, "right") - 1
        offsets["tokens"] = offsets_of(np.bincount(owners, minlength=len(treebank)))
        columns["token_starts"] = "tokens", treebank.mwt_starts - words[owners]
        columns["token_ends"] = "tokens", treebank.mwt_ends - words[owners]
        columns["token_forms"] = "tokens", treebank.mwt_forms
        numbered += ("token_forms",)
    if len(treebank.empty_after):
        owners = treebank.empty_sentences
        offsets["empty"] = offsets_of(np.bincount(owners, minlength=len(treebank)))
        columns["empty_after"] = "empty", treebank.empty_after - words[owners]
        columns["empty_ids"] = "empty", treebank.empty_ids
        numbered += ("empty_ids",)
    if isinstance(treebank, trees.ExpressionTreebank):
        owners = treebank.expression_sentences()
        offsets["expressions"] = offsets_of(np.bincount(owners, minlength=len(treebank)))
        offsets["members"] = treebank.expression_offsets[offsets["expressions"]]
        sizes = np.diff(treebank.expression_offsets)
        columns["sizes"] = "expressions", sizes
        columns["categories"] = "expressions", treebank.categories
        columns["members"] = "members", treebank.expression_words - np.repeat(words[owners], sizes)
        numbered += ("categories",)
    return _Columns(DEPENDENCIES, offsets, columns, numbered, "words")


def _constituent_columns(treebank: trees.ConstituentTreebank) -> _Columns:
    columns = {
        "labels": ("nodes", treebank.labels),
        "starts": ("nodes", treebank.starts),
        "ends": ("nodes", treebank.ends),
        "depths": ("nodes", structure_of(treebank).depths - 1),
        "forms": ("words", treebank.words),
        "tags": ("words", treebank.tags),
    }
    offsets = {"nodes": treebank.node_offsets, "words": treebank.word_offsets}
    return _Columns(CONSTITUENTS, offsets, columns, ("labels", "forms", "tags"), "nodes")


def _discontinuous_columns(treebank: trees.DiscontinuousTreebank) -> _Columns:
    """Return nodes and words with the number of what is above them in their sentence, NOT_FOUND above the root."""
    firsts = treebank.node_offsets[:-1]
    parents = treebank.parents - np.repeat(firsts, np.diff(treebank.node_offsets))
    parents[firsts] = NOT_FOUND
    columns = {
        "labels": ("nodes", treebank.labels),
        "functions": ("nodes", treebank.functions),
        "parents": ("nodes", parents),
        "forms": ("words", treebank.words),
        "tags": ("words", treebank.tags),
        "word_functions": ("words", treebank.word_functions),
        "anchors": ("words", treebank.anchors - np.repeat(firsts, np.diff(treebank.word_offsets))),
    }
    offsets = {"nodes": treebank.node_offsets, "words": treebank.word_offsets}
    numbered = ("labels", "functions", "forms", "tags", "word_functions")
    return _Columns(DISCONTINUOUS, offsets, columns, numbered, "nodes")


def _graphs(treebank: trees.SemanticTreebank) -> _Columns:
    """Return words, and edges with the positions of their words from 1; the predicate of a top is 0."""
    edges = edges_of(treebank)
    predicates, arguments = places_in_sentences(edges, treebank.word_offsets)
    columns = {
        "roles": ("edges", edges.labels),
        "predicates": ("edges", predicates),
        "arguments": ("edges", arguments),
        "forms": ("words", treebank.forms),
        "tags": ("words", treebank.tags),
    }
    offsets = {"edges": edge_offsets(treebank), "words": treebank.word_offsets}
    return _Columns(GRAPH, offsets, columns, ("roles", "forms", "tags"), "edges")


_Side = tuple[IntArray, IntArray]
"""Where the words of each sentence begin, and their numbers."""


def _numbered(sentences: Sequence[Sequence[str]], vocabulary: trees.Vocabulary) -> _Side:
    forms = np.array([vocabulary.number(word) for words in sentences for word in words], np.int64)
    return offsets_of(np.array([len(words) for words in sentences], np.int64)), forms


def _link_columns(links: trees.Alignments, sides: tuple[_Side, _Side] | None) -> _Columns:
    offsets = {"links": links.offsets}
    columns: dict[str, tuple[str, Array]] = {
        "sources": ("links", links.source),
        "targets": ("links", links.target),
        "sure": ("links", links.sure.astype(np.int64)),
    }
    numbered: tuple[str, ...] = ()
    if sides is not None:
        (offsets["words"], source), (offsets["target_words"], target) = sides
        columns["forms"] = "words", source
        columns["target_forms"] = "target_words", target
        numbered = ("forms", "target_forms")
    return _Columns(ALIGNMENT, offsets, columns, numbered, "links")


def _lines_of(treebank: trees.Treebank) -> IntArray:
    """Return the line on which each sentence begins, 0 where it is not known, int64 (n,)."""
    if isinstance(treebank, trees.ConstituentTreebank | trees.DiscontinuousTreebank):
        return treebank.lines
    if isinstance(treebank, trees.ParallelTreebank):
        treebank = treebank.source
    offsets = treebank.word_offsets if isinstance(treebank, trees.SemanticTreebank) else unit_offsets(treebank)
    lines, firsts = np.zeros(len(treebank), np.int64), offsets[:-1]
    known = np.flatnonzero((np.diff(offsets) > 0) & (len(treebank.lines) > 0))
    lines[known] = treebank.lines[firsts[known]]
    return lines


_STRINGS = (
    *("forms", "lemmas", "upos", "xpos", "feats", "deprels", "deps", "mwt_forms", "empty_ids", "empty_deps"),
    *("categories", "labels", "words", "tags", "functions", "word_functions", "morphs", "frames", "edge_labels"),
    "odd_heads",
)
"""Attributes of treebanks that are numbers of strings, and heads that are (`trees.ODD_HEAD`)."""
_BESIDE = ("lines", "columns", "empty_lines", "misc", "mwt_misc", "expression_ids")
"""Attributes in which equal annotation may differ."""


def annotation_digest(treebank: trees.Treebank) -> str:
    """Return a digest of the annotation of a text as it was read, without blanks, comments and MISC.

    Strings are numbered in the order in which they appear, so that it depends on no other text.
    """
    if isinstance(treebank, trees.ParallelTreebank):
        sides: tuple[trees.Treebank, ...] = (treebank.source, treebank.target, treebank.alignment)
        return hashlib.sha256(" ".join(map(annotation_digest, sides)).encode()).hexdigest()
    whole = {each.name: getattr(treebank, each.name) for each in fields(treebank) if each.name not in _BESIDE}
    arrays = {name: value for name, value in whole.items() if isinstance(value, np.ndarray)}
    vocabulary = whole.get("vocabulary", trees.Vocabulary())
    if isinstance(treebank, trees.DependencyTreebank):
        arrays["odd_heads"] = np.where(treebank.heads <= trees.ODD_HEAD, trees.ODD_HEAD - treebank.heads, NOT_FOUND)
        arrays["heads"] = np.maximum(treebank.heads, trees.ODD_HEAD)
    own = with_own_strings(arrays, [name for name in arrays if name in _STRINGS], vocabulary.strings)
    digest = hashlib.sha256(orjson.dumps([*own.strings]))
    for name, values in own.arrays.items():
        digest.update(f"{name} {values.shape}".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()


Packed = dict[tuple[str, int], bytes]
TREES, MARKS, MISSED, FIT, ERRORS = "trees", "treemarks", "treemissed", "treefit", "treeerrors"
OF_ERRORS = ("any", "head", "label", "span")
"""Kinds of errors that are counted in each sentence."""
_STATES_OF = {
    "head": (MarkState.HEAD, MarkState.BOTH),
    "label": (MarkState.LABEL, MarkState.BOTH),
    "span": (MarkState.SPAN,),
}


@dataclass(frozen=True, slots=True)
class TreesKey:
    """Names of what is stored of the trees of one output.

    Attributes:
        output: part of a submission or system of a job, by position; `gold` for gold of a job.
        revision: under which a submission was scored; None for a job, and for gold of a revision.
    """

    output: int | str
    revision: int | None = None

    def name(self, kind: str) -> str:
        """Return the name of one kind of artifact."""
        return f"{kind}/{self.output}" if self.revision is None else f"r{self.revision}/{kind}/{self.output}"


def pack_trees(key: TreesKey, treebank: trees.Treebank, words: Words = None) -> Packed:
    """Return what is stored of a text alone, with the words that are stated beside it."""
    return {(key.name(TREES), start): pack_named(page) for start, page in pages_of(treebank, words)}


def pack_marks(key: TreesKey, found: MarkedBy | None, gold: trees.Treebank, system: trees.Treebank) -> Packed:
    """Return what is stored of how an output fits gold; nothing where it was not compared."""
    if found is None:
        return {}
    marks, by = found
    golds, systems = unit_offsets(gold), unit_offsets(system)
    packed: Packed = {}
    for start, stop in page_bounds(systems):
        own = slice(int(systems[start]), int(systems[stop]))
        arrays = {"states": marks.system[own]}
        if marks.partners is not None:
            arrays["partners"] = marks.partners[own]
        packed[key.name(MARKS), start] = pack_named(NamedArrays(arrays))
    for start, stop in page_bounds(golds):
        states = marks.gold[int(golds[start]) : int(golds[stop])]
        packed[key.name(MISSED), start] = pack_named(NamedArrays({"states": states}))
    fit = _fit(marks, systems)
    if fit is not None:
        packed[key.name(FIT), 0] = pack_named(fit)
    packed[key.name(ERRORS), 0] = pack_named(_errors(marks, by, golds, systems))
    return packed


def _fit(marks: Marks, systems: IntArray) -> NamedArrays | None:
    """Return where the output's half of each sentence of gold lies; None where it is the sentence of its number."""
    if marks.firsts is not None:
        firsts = marks.firsts[:-1]
        sentences = np.maximum(np.searchsorted(systems, firsts, "right") - 1, 0)
        sentences = np.minimum(sentences, max(len(systems) - 2, 0))
        skipped = firsts - systems[sentences]
        return NamedArrays({"sentences": sentences, "skipped": skipped, "units": np.diff(marks.firsts)})
    return None if marks.sentences is None else NamedArrays({"sentences": marks.sentences})


def _errors(marks: Marks, by: str | None, golds: IntArray, systems: IntArray) -> NamedArrays:
    """Count the errors of each sentence: `own` of the output's sentences, `item` of gold's with what the output lacks.

    A word without a partner is none of the output's own errors: it would tell of gold's words.
    """
    arrays = {}
    for kind in OF_ERRORS:
        wrong = wrong_units(marks.system, kind)
        own = wrong & (marks.system != MarkState.ALONE)
        arrays[f"own_{kind}"] = _sums(own, systems)
        lacking = wrong_units(marks.gold, kind) & (
            (marks.gold >= MarkState.ALONE) if kind == "any" else (marks.gold == MarkState.SPAN)
        )
        arrays[f"item_{kind}"] = _wrong_by_item(marks, wrong, systems) + _sums(lacking, golds)
    return NamedArrays(arrays, about={"metric": by})


def wrong_units(states: IntArray, kind: str) -> BoolArray:
    """Return which units of these states have an error of a kind, one of `OF_ERRORS`."""
    if kind == "any":
        return np.asarray(states != MarkState.RIGHT, np.bool_)
    return np.isin(states, [int(state) for state in _STATES_OF[kind]])


def _wrong_by_item(marks: Marks, wrong: BoolArray, systems: IntArray) -> IntArray:
    if marks.firsts is not None:
        return _sums(wrong, marks.firsts)
    own = _sums(wrong, systems)
    if marks.sentences is None:
        return own
    return (
        np.where(marks.sentences >= 0, own[marks.sentences], 0)
        if len(own)
        else np.zeros(len(marks.sentences), np.int64)
    )


def _sums(values: BoolArray, offsets: IntArray) -> IntArray:
    before = np.concatenate([[0], np.cumsum(values)]).astype(np.int64)
    return np.diff(before[offsets])


JOB_GOLD = TreesKey("gold")


def gold_key(position: int) -> TreesKey:
    """Return the names of the gold trees of a part."""
    return TreesKey(f"{position}/gold")


def pack_gold_trees(part: Part, gold: trees.Treebank, words: Words) -> Packed:
    """Return what is stored of the gold trees of a part, with the words that are stated beside it."""
    return pack_trees(gold_key(part.position), gold, words)


_KEPT = 16
"""Pages that are kept of a text: the sentences of an order by errors lie in many."""
_LAST = 1 << 31
"""Above the number of every page."""


class StoredPage:
    """One page: some sentences of a text. Where it has only marks of them, it is found by the first alone."""

    def __init__(self, start: int, named: NamedArrays) -> None:
        self.start = start
        self.named = named
        self._offsets: dict[str, IntArray] = {}

    def __len__(self) -> int:
        lines = self.named.arrays.get("lines")
        return 1 if lines is None else len(lines)

    @property
    def kind(self) -> str:
        """The kind of its trees."""
        return str(self.named.about["kind"])

    def has(self, name: str) -> bool:
        """Return whether the page has an array, or a list."""
        return name in self.named.arrays or f"of_{name}" in self.named.arrays

    def offsets(self, name: str) -> IntArray:
        """Return where a list begins in each sentence, int64 (n + 1,)."""
        if name not in self._offsets:
            self._offsets[name] = offsets_of(self.named.arrays[f"of_{name}"])
        return self._offsets[name]

    def bounds(self, name: str, sentence: int) -> slice:
        """Return the rows of a list that belong to a sentence of the whole text."""
        offsets, at = self.offsets(name), sentence - self.start
        return slice(int(offsets[at]), int(offsets[at + 1]))

    def values(self, name: str, of: str, sentence: int) -> Array:
        """Return the values of an array that goes with the list `of` in a sentence."""
        return self.named.arrays[name][self.bounds(of, sentence)]

    def strings(self, name: str, of: str, sentence: int, most: int | None = None) -> list[str | None]:
        """Return the strings of an array of numbers in a sentence, the first ones of many; None where there is none."""
        strings, numbers = self.named.strings, self.values(name, of, sentence)[:most].tolist()
        return [strings[number] if number >= 0 else None for number in numbers]

    def sent_id(self, sentence: int) -> str | None:
        """Return the name of a sentence."""
        names = self.named.about.get("sent_ids")
        return None if names is None else names[sentence - self.start]


class StoredText:
    """The pages of one text, or of what belongs to it; those that were read last are kept."""

    def __init__(self, db: Connection, owner: str, name: str) -> None:
        self._db, self._owner, self._name = db, owner, name
        self._kept: dict[int, StoredPage] = {}

    @cached_property
    def last(self) -> StoredPage | None:
        """The last page; None where nothing is stored."""
        pages = [StoredPage(start, unpack_named(body)) for start, body in self._read(_LAST, _LAST + 1)]
        self._kept |= {page.start: page for page in pages}
        return pages[-1] if pages else None

    def __len__(self) -> int:
        return 0 if self.last is None else self.last.start + len(self.last)

    def page(self, sentence: int) -> StoredPage:
        """Return the page of a sentence, from 0. Raises LookupError where there is none."""
        for page in self._kept.values():
            if page.start == sentence or page.start < sentence < page.start + len(page):
                return page
        found = [StoredPage(start, unpack_named(body)) for start, body in self._read(sentence, sentence + 1)]
        while len(self._kept) >= _KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[found[0].start] = found[0]
        return found[0]

    def pages(self) -> Iterator[StoredPage]:
        """Yield all pages in order."""
        for start, body in self._read(0, _LAST):
            yield StoredPage(start, unpack_named(body))

    def _read(self, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
        return artifacts.get_pages(self._db, self._owner, self._name, start, stop)


def joined(pages: Iterator[StoredPage], name: str) -> IntArray:
    """Return an array of all pages, one after the other."""
    found = [page.named.arrays[name] for page in pages]
    return np.concatenate(found) if found else np.zeros(0, np.int64)
