"""Trees of one text as arrays, in pages: what is stored of gold once, and of each output once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from service.store.packed_named import NamedArrays, with_own_strings
from treescore.core.arrays import IntArray, offsets_of
from treescore.core.graph_edges import edge_offsets, edges_of, places_in_sentences
from treescore.core.heads import resolved_heads
from treescore.core.structure import structure_of
from treescore.core.trees import (
    Alignments,
    ConstituentTreebank,
    DependencyTreebank,
    DiscontinuousTreebank,
    ParallelTreebank,
    SemanticTreebank,
    Treebank,
)
from treescore.core.vocabulary import Vocabulary

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
    columns: Mapping[str, tuple[str, IntArray]]
    numbered: tuple[str, ...]
    main: str


def pages_of(treebank: Treebank) -> Iterator[tuple[int, NamedArrays]]:
    """Yield the pages of a text: number of the first sentence, and the arrays.

    Each list of a sentence (`words`, `nodes`, `links`, ...) has an array `of_LIST` of its lengths.
    """
    columns, vocabulary = _columns_of(treebank)
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


def unit_offsets(treebank: Treebank) -> IntArray:
    """Return where the words, constituents, edges or links of each sentence begin, int64 (n + 1,)."""
    if isinstance(treebank, DependencyTreebank):
        return treebank.word_offsets
    if isinstance(treebank, ConstituentTreebank | DiscontinuousTreebank):
        return treebank.node_offsets
    if isinstance(treebank, SemanticTreebank):
        return edge_offsets(treebank)
    return treebank.alignment.offsets if isinstance(treebank, ParallelTreebank) else treebank.offsets


def _columns_of(treebank: Treebank) -> tuple[_Columns, Vocabulary]:
    if isinstance(treebank, DependencyTreebank):
        return _dependency_columns(treebank), treebank.vocabulary
    if isinstance(treebank, ConstituentTreebank):
        return _constituent_columns(treebank), treebank.vocabulary
    if isinstance(treebank, DiscontinuousTreebank):
        return _discontinuous_columns(treebank), treebank.vocabulary
    if isinstance(treebank, SemanticTreebank):
        return _graphs(treebank), treebank.vocabulary
    if isinstance(treebank, ParallelTreebank):
        return _link_columns(treebank.alignment, treebank), treebank.source.vocabulary
    return _link_columns(treebank, None), Vocabulary()


def _dependency_columns(treebank: DependencyTreebank) -> _Columns:
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
    return _Columns(DEPENDENCIES, offsets, columns, numbered, "words")


def _constituent_columns(treebank: ConstituentTreebank) -> _Columns:
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


def _discontinuous_columns(treebank: DiscontinuousTreebank) -> _Columns:
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


def _graphs(treebank: SemanticTreebank) -> _Columns:
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


def _link_columns(links: Alignments, sides: ParallelTreebank | None) -> _Columns:
    offsets = {"links": links.offsets}
    columns = {
        "sources": ("links", links.source),
        "targets": ("links", links.target),
        "sure": ("links", links.sure.astype(np.int64)),
    }
    numbered: tuple[str, ...] = ()
    if sides is not None:
        offsets |= {"words": sides.source.word_offsets, "target_words": sides.target.word_offsets}
        columns["forms"] = "words", sides.source.forms
        columns["target_forms"] = "target_words", sides.target.forms
        numbered = ("forms", "target_forms")
    return _Columns(ALIGNMENT, offsets, columns, numbered, "links")


def _lines_of(treebank: Treebank) -> IntArray:
    """Return the line on which each sentence begins, 0 where it is not known, int64 (n,)."""
    if isinstance(treebank, ConstituentTreebank | DiscontinuousTreebank):
        return treebank.lines
    if isinstance(treebank, ParallelTreebank):
        treebank = treebank.source
    offsets = treebank.word_offsets if isinstance(treebank, SemanticTreebank) else unit_offsets(treebank)
    lines, firsts = np.zeros(len(treebank), np.int64), offsets[:-1]
    known = np.flatnonzero((np.diff(offsets) > 0) & (len(treebank.lines) > 0))
    lines[known] = treebank.lines[firsts[known]]
    return lines
