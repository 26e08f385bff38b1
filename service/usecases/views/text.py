"""The trees of one text as columns of units, sentence by sentence; how an output fits gold, and its errors."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treescore.core import structure, trees
from treescore.core.arrays import BoolArray, IntArray, offsets_of
from treescore.core.registry import Marks, MarkState

DEPENDENCIES, CONSTITUENTS, DISCONTINUOUS, ALIGNMENT = "dependencies", "constituents", "discontinuous", "alignment"
GRAPH = "graph"
NOT_FOUND = -1


OF_ERRORS = ("any", "head", "label", "span")
"""Kinds of errors that are counted in each sentence."""
_STATES_OF = {
    "head": (MarkState.HEAD, MarkState.BOTH),
    "label": (MarkState.LABEL, MarkState.BOTH),
    "span": (MarkState.SPAN,),
}


class _Columns(NamedTuple):
    """Columns of a whole text, one list of them by sentence.

    Attributes:
        kind: of the trees.
        offsets: name of a list -> int64 (n + 1,).
        columns: name -> the list that it goes with, and its values.
        main: name of the list of the units that marks are of.
    """

    kind: str
    offsets: Mapping[str, IntArray]
    columns: Mapping[str, tuple[str, IntArray]]
    main: str


Words = Sequence[tuple[str, str]] | None
"""Source and target sentence of each pair of an alignment, where these are stated beside it."""


class Text:
    """The trees of one text. Sentences count from 0.

    Args:
        treebank: as it was read.
        words: stated beside an alignment.
        annotation: the columns of words beside heads and relations.
        edges: enhanced ones, in place of the heads and relations of dependencies.
    """

    def __init__(
        self, treebank: trees.Treebank, words: Words = None, annotation: Collection[str] = (),
        edges: structure.Edges | None = None,
    ) -> None:  # fmt: skip
        columns, vocabulary = _columns_of(treebank, words, annotation)
        if edges is not None:
            columns = _with_edges(columns, edges)
        self.kind, self.main, self.strings = columns.kind, columns.main, vocabulary.strings
        self._offsets, self._columns = columns.offsets, columns.columns
        self._lines, self._names = _lines_of(treebank), treebank.sentences.sent_ids

    def __len__(self) -> int:
        return len(self._lines)

    def has(self, name: str) -> bool:
        """Return whether there is a column, or a list."""
        return name in self._columns or name in self._offsets

    @property
    def units(self) -> IntArray:
        """Where the units that marks are of begin in each sentence, int64 (n + 1,)."""
        return self._offsets[self.main]

    def units_from(self, words: IntArray) -> IntArray:
        """Return where the units of words begin that begin stretches of words, int64, the same shape."""
        return np.searchsorted(self.numbers("arguments"), words) if self.main == "edges" else words

    def numbers(self, name: str) -> IntArray:
        """Return a column of all sentences."""
        return self._columns[name][1]

    def offsets(self, name: str) -> IntArray:
        """Return where a list begins in each sentence, int64 (n + 1,)."""
        return self._offsets[name]

    def bounds(self, name: str, sentence: int) -> slice:
        """Return the rows of a list that belong to a sentence."""
        return slice(*self._offsets[name][sentence : sentence + 2].tolist())

    def values(self, name: str, sentence: int) -> list[int]:
        """Return a column's values in a sentence."""
        of, values = self._columns[name]
        return list(values[self.bounds(of, sentence)].tolist())

    def named(self, name: str, sentence: int, most: int | None = None) -> list[str | None]:
        """Return the strings that a column numbers in a sentence, the first ones of many; None where there is none."""
        return [self.strings[number] if number >= 0 else None for number in self.values(name, sentence)[:most]]

    def place(self, sentence: int) -> dict[str, str | int | None]:
        """Return the name of a sentence and the line on which it begins, None where they are not known."""
        name = self._names[sentence] if len(self._names) else None
        return {"sent_id": name, "line": int(self._lines[sentence]) or None}


def _columns_of(
    treebank: trees.Treebank, words: Words, annotation: Collection[str]
) -> tuple[_Columns, trees.Vocabulary]:
    if isinstance(treebank, trees.DependencyTreebank):
        return _dependency_columns(treebank, annotation), treebank.vocabulary
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


def _dependency_columns(treebank: trees.DependencyTreebank, annotation: Collection[str]) -> _Columns:
    words = treebank.word_offsets
    columns = {
        "forms": ("words", treebank.forms),
        "heads": ("words", np.clip(structure.resolved_heads(treebank), NOT_FOUND, 1 << 31)),
        "deprels": ("words", treebank.deprels),
        **{name: ("words", getattr(treebank, name)) for name in annotation},
    }
    offsets = {"words": words}
    if len(treebank.mwt_starts):
        owners = np.searchsorted(words, treebank.mwt_starts, "right") - 1
        offsets["tokens"] = offsets_of(np.bincount(owners, minlength=len(treebank)))
        columns["token_starts"] = "tokens", treebank.mwt_starts - words[owners]
        columns["token_ends"] = "tokens", treebank.mwt_ends - words[owners]
        columns["token_forms"] = "tokens", treebank.mwt_forms
    if len(treebank.empty_after):
        owners = treebank.empty_sentences
        offsets["empty"] = offsets_of(np.bincount(owners, minlength=len(treebank)))
        columns["empty_after"] = "empty", treebank.empty_after - words[owners]
        columns["empty_ids"] = "empty", treebank.empty_ids
        columns["empty_forms"] = "empty", treebank.empty_forms
    if isinstance(treebank, trees.ExpressionTreebank):
        owners = treebank.expression_sentences()
        offsets["expressions"] = offsets_of(np.bincount(owners, minlength=len(treebank)))
        offsets["members"] = treebank.expression_offsets[offsets["expressions"]]
        sizes = np.diff(treebank.expression_offsets)
        columns["sizes"] = "expressions", sizes
        columns["categories"] = "expressions", treebank.categories
        columns["members"] = "members", treebank.expression_words - np.repeat(words[owners], sizes)
    return _Columns(DEPENDENCIES, offsets, columns, "words")


def _constituent_columns(treebank: trees.ConstituentTreebank) -> _Columns:
    columns = {
        "labels": ("nodes", treebank.labels),
        "starts": ("nodes", treebank.starts),
        "ends": ("nodes", treebank.ends),
        "depths": ("nodes", structure.structure_of(treebank).depths - 1),
        "forms": ("words", treebank.words),
        "tags": ("words", treebank.tags),
    }
    offsets = {"nodes": treebank.node_offsets, "words": treebank.word_offsets}
    return _Columns(CONSTITUENTS, offsets, columns, "nodes")


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
    return _Columns(DISCONTINUOUS, offsets, columns, "nodes")


def _graphs(treebank: trees.SemanticTreebank) -> _Columns:
    columns = {"forms": ("words", treebank.forms), "tags": ("words", treebank.tags)}
    words = _Columns(GRAPH, {"words": treebank.word_offsets}, columns, "words")
    return _with_edges(words, structure.edges_of(treebank))


def _with_edges(words: _Columns, edges: structure.Edges) -> _Columns:
    """Return columns of words with those of the edges between them, whose words are counted over the whole text."""
    named = zip(("predicates", "arguments", "roles"), edges, strict=True)
    columns = {**words.columns, **{name: ("edges", column) for name, column in named}}
    offsets = {**words.offsets, "edges": np.searchsorted(edges.arguments, words.offsets["words"])}
    return _Columns(GRAPH, offsets, columns, "edges")


_Side = tuple[IntArray, IntArray]
"""Where the words of each sentence begin, and their numbers."""


def _numbered(sentences: Sequence[Sequence[str]], vocabulary: trees.Vocabulary) -> _Side:
    forms = np.array([vocabulary.number(word) for words in sentences for word in words], np.int64)
    return offsets_of(np.array([len(words) for words in sentences], np.int64)), forms


def _link_columns(links: trees.Alignments, sides: tuple[_Side, _Side] | None) -> _Columns:
    offsets = {"links": links.offsets}
    columns: dict[str, tuple[str, IntArray]] = {
        "sources": ("links", links.source.astype(np.int64)),
        "targets": ("links", links.target.astype(np.int64)),
        "sure": ("links", links.sure.astype(np.int64)),
    }
    if sides is not None:
        (offsets["words"], source), (offsets["target_words"], target) = sides
        columns["forms"] = "words", source
        columns["target_forms"] = "target_words", target
    return _Columns(ALIGNMENT, offsets, columns, "links")


def _lines_of(treebank: trees.Treebank) -> IntArray:
    """Return the line on which each sentence begins, 0 where it is not known, int64 (n,)."""
    if isinstance(treebank, trees.ConstituentTreebank | trees.DiscontinuousTreebank):
        return treebank.lines
    if isinstance(treebank, trees.ParallelTreebank):
        treebank = treebank.source
    offsets = treebank.offsets if isinstance(treebank, trees.Alignments) else treebank.word_offsets
    lines, firsts = np.zeros(len(treebank), np.int64), offsets[:-1]
    known = np.flatnonzero((np.diff(offsets) > 0) & (len(treebank.lines) > 0))
    lines[known] = treebank.lines[firsts[known]]
    return lines


@dataclass(frozen=True, slots=True)
class Fit:
    """Where the output's half of each of gold's n sentences lies, int64 (n,).

    Attributes:
        sentences: of the output, from 0; below 0: none.
        skipped: words of that sentence before the half; None where halves are whole sentences.
        sizes: words of the half; they may go on in the next sentences.
    """

    sentences: IntArray
    skipped: IntArray | None = None
    sizes: IntArray | None = None


def fit_of(marks: Marks, text: Text) -> Fit | None:
    """Return where halves lie in the output's text; None where each is the sentence of its number."""
    if marks.firsts is not None:
        firsts, systems = marks.firsts[:-1], text.offsets("words")
        sentences = np.maximum(np.searchsorted(systems, firsts, "right") - 1, 0)
        sentences = np.minimum(sentences, max(len(systems) - 2, 0))
        return Fit(sentences, firsts - systems[sentences], np.diff(marks.firsts))
    return None if marks.sentences is None else Fit(marks.sentences)


def errors_of(marks: Marks, gold: Text, system: Text) -> dict[str, IntArray]:
    """Count the errors of each sentence: `own` of the output's sentences, `item` of gold's with what the output lacks.

    A word without a partner is none of the output's own errors: it would tell of gold's words.
    """
    counts = {}
    for kind in OF_ERRORS:
        wrong = wrong_units(marks.system, kind)
        own = wrong & (marks.system != MarkState.ALONE)
        counts[f"own_{kind}"] = _sums(own, system.units)
        lacking = wrong_units(marks.gold, kind) & (
            (marks.gold >= MarkState.ALONE) if kind == "any" else (marks.gold == MarkState.SPAN)
        )
        counts[f"item_{kind}"] = _wrong_by_item(marks, wrong, system) + _sums(lacking, gold.units)
    return counts


def wrong_units(states: IntArray, kind: str) -> BoolArray:
    """Return which units of these states have an error of a kind, one of `OF_ERRORS`."""
    if kind == "any":
        return np.asarray(states != MarkState.RIGHT, np.bool_)
    return np.isin(states, [int(state) for state in _STATES_OF[kind]])


def _wrong_by_item(marks: Marks, wrong: BoolArray, system: Text) -> IntArray:
    if marks.firsts is not None:
        return _sums(wrong, system.units_from(marks.firsts))
    own = _sums(wrong, system.units)
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
