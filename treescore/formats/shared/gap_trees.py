"""Shared by the formats of trees with gaps: from columns as a text has them to a treebank, and back.

Reading says what is wrong with a sentence; writing goes sentence by sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import pairwise
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from treescore.core.arrays import BoolArray, Int32Array, IntArray, offsets_of, owners_of, sums_by
from treescore.core.discontinuity import Links, arranged, divided
from treescore.core.params import UNREADABLE, Json, Param
from treescore.core.registry import Format
from treescore.core.structure import NONE
from treescore.core.text import Limits, Scored
from treescore.core.trees import NO_TAG, DiscontinuousTreebank, GapTrees, Sentences, Vocabulary
from treescore.errors import InputError, LimitError, Problem, first_of

NOTHING = "--"
"""What stands for no lemma, no morphology and no function."""

METRICS = (
    Scored(
        {"name": "parseval", "params": {"preset": "discodop"}},
        "Constituents may have gaps; brackets are compared by their words.",
    ),
)
"""With which trees are scored whose constituents may have gaps."""


class GapFormat(Format):
    """A format of trees with gaps, which can go on after a sentence that cannot be read."""

    yields = DiscontinuousTreebank
    usual_metric = "parseval"
    usual_params: ClassVar[Mapping[str, Json]] = {"preset": "discodop"}
    params: ClassVar[Mapping[str, Param]] = {"unreadable": UNREADABLE}


@dataclass(slots=True)
class Faults:
    """What is wrong with sentences; a Problem is made only for those that are shown."""

    parts: list[tuple[IntArray, IntArray, IntArray, Callable[[int], Problem]]] = field(default_factory=list)

    def add(self, rows: IntArray, sentences: IntArray, lines: IntArray, make: Callable[[int], Problem]) -> None:
        """Record that rows have a problem.

        Args:
            rows: what `make` is given.
            sentences: the sentence of each, from 0.
            lines: the line of each, by which problems are ordered.
            make: returns the problem of a row.
        """
        if len(rows):
            self.parts.append((rows, sentences, lines, make))

    def bad(self, size: int) -> BoolArray:
        """Tell which of so many sentences have a problem."""
        found = np.zeros(size, np.bool_)
        for _, sentences, _, _ in self.parts:
            found[sentences] = True
        return found

    def raise_if_any(self, cap: int) -> None:
        """Raise InputError with the first problems in the order of the text."""
        groups = []
        for rows, _, lines, make in self.parts:
            first = rows[np.argsort(lines, kind="stable")[:cap]]
            groups.append(([make(row) for row in first.tolist()], len(rows)))
        first_of(groups, cap).raise_if_any()

    def by_sentence(self) -> dict[int, Problem]:
        """Return the first problem of each sentence that has one."""
        first: dict[int, tuple[int, int, Callable[[int], Problem]]] = {}
        for rows, sentences, lines, make in self.parts:
            for row, sentence, line in zip(rows.tolist(), sentences.tolist(), lines.tolist(), strict=True):
                if sentence not in first or line < first[sentence][0]:
                    first[sentence] = line, row, make
        return {sentence: make(row) for sentence, (_, row, make) in sorted(first.items())}


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTrees(GapTrees):
    """Trees as a text has them, m nodes without the roots, n sentences.

    The node above is NONE below the root, for nodes (`parents`) and words (`anchors`).

    Attributes:
        roots, root_functions: label and function of the roots, int64 (n,).
    """

    roots: IntArray
    root_functions: IntArray

    def without(self, bad: BoolArray, root: int) -> RawTrees:
        """Return the same with no words and no nodes in some sentences, bool (n,), and this label at their roots."""
        if not bad.any():
            return self
        nodes, words = (~bad[owners_of(offsets)] for offsets in (self.node_offsets, self.word_offsets))
        places = np.append(np.cumsum(nodes) - 1, NONE)
        kept = {
            each.name: getattr(self, each.name)[nodes if each.name in _OF_NODES else words]
            for each in fields(self)
            if each.name in _OF_NODES + _OF_WORDS
        }
        kept["parents"], kept["anchors"] = places[kept["parents"]], places[kept["anchors"]]
        return replace(
            self,
            **kept,
            node_offsets=np.append(0, np.cumsum(nodes))[self.node_offsets],
            word_offsets=np.append(0, np.cumsum(words))[self.word_offsets],
            roots=np.where(bad, root, self.roots),
            root_functions=np.where(bad, 0, self.root_functions),
        )


_OF_NODES = ("labels", "functions", "parents")
_OF_WORDS = ("words", "tags", "word_functions", "lemmas", "morphs", "anchors")


class NodeProblem(Protocol):
    """Returns the problem of a node, by its number in the file."""

    def __call__(self, node: int, /, *, cycle: bool) -> Problem:
        """Return that it is in a cycle, else that it has no words."""


class Reading(NamedTuple):
    """What is common to the readers of one text.

    Attributes:
        vocabulary: of the treebank.
        limits: of the text.
        lenient: whether sentences that cannot be read are left without words.
        root: number of the label of a root that no text names.
        node_problem: returns the problem of a node.
        node_lines: by which problems of nodes are ordered, int64 (m,).
    """

    vocabulary: Vocabulary
    limits: Limits
    lenient: bool
    root: int
    node_problem: NodeProblem
    node_lines: IntArray


def treebank_of(
    raw: RawTrees, reading: Reading, sent_ids: Sequence[str | None], faults: Faults
) -> DiscontinuousTreebank:
    """Make the treebank; sentences with faults have no words if that is allowed.

    Raises:
        InputError: faults, `node-in-cycle` and `node-without-words`, unless they cost only their sentences.
        LimitError: `too-deep`.
    """
    lengths = np.diff(raw.word_offsets)
    for long in np.flatnonzero(lengths > reading.limits.max_words)[:1].tolist():
        detail = f"The sentence has {lengths[long]:,} words; the limit is {reading.limits.max_words:,}. Split it."
        raise LimitError(Problem("too-many-words", detail, sentence=long + 1, line=int(raw.lines[long])))
    found = arranged(Links(raw.parents, raw.node_offsets, raw.anchors, raw.word_offsets))
    if not reading.lenient:
        faults.raise_if_any(reading.limits.max_problems)
    fine = ~faults.bad(len(raw.lines))
    for nodes, cycle in ((found.cycles, True), (found.empty, False)):
        bad = np.flatnonzero((nodes != NONE) & fine)
        rows = nodes[bad]
        faults.add(rows, bad, reading.node_lines[rows], partial(reading.node_problem, cycle=cycle))
    for deep in np.flatnonzero(found.depths > reading.limits.max_depth)[:1].tolist():
        detail = (
            f"The tree has {found.depths[deep]:,} nodes one below the other; the limit is "
            f"{reading.limits.max_depth:,}. Leave the sentence out, or have the limit raised."
        )
        raise LimitError(Problem("too-deep", detail, sentence=deep + 1, line=int(raw.lines[deep])))
    if not reading.lenient:
        faults.raise_if_any(reading.limits.max_problems)
    unreadable = faults.by_sentence()
    if unreadable:
        raw = raw.without(faults.bad(len(raw.lines)), reading.root)
        found = arranged(Links(raw.parents, raw.node_offsets, raw.anchors, raw.word_offsets))
    labels, functions = np.empty((2, len(found.parents)), np.int64)
    roots = found.node_offsets[:-1]
    labels[found.numbers], functions[found.numbers] = raw.labels, raw.functions
    labels[roots], functions[roots] = raw.roots, raw.root_functions
    return DiscontinuousTreebank(
        vocabulary=reading.vocabulary,
        labels=labels,
        functions=functions,
        parents=found.parents,
        node_offsets=found.node_offsets,
        **{name: getattr(raw, name) for name in ("words", "tags", "word_functions", "lemmas", "morphs")},
        anchors=found.anchors,
        word_offsets=raw.word_offsets,
        lines=raw.lines,
        sentences=Sentences(sent_ids=sent_ids, unreadable=unreadable),
    )


def check_sentences(count: int, limits: Limits) -> None:
    """Raise InputError where a text has no sentence, LimitError where there are too many."""
    if not count:
        raise InputError(Problem("no-sentence", "The text has no sentence. Send the whole file, in its own format."))
    if count > limits.max_sentences:
        detail = f"The text has {count:,} sentences; the limit is {limits.max_sentences:,}. Split it."
        raise LimitError(Problem("too-many-sentences", detail))


def numbers_of(
    codes: Int32Array | IntArray, strings: Sequence[str], vocabulary: Vocabulary, change: Callable[[str], str] = str
) -> IntArray:
    """Return the vocabulary's numbers of strings by their codes, each distinct one changed once: int64, as `codes`."""
    used = np.zeros(len(strings), np.bool_)
    used[codes] = True
    distinct = np.flatnonzero(used)
    table = np.zeros(len(strings), np.int64)
    table[distinct] = vocabulary.numbers([change(strings[code]) for code in distinct.tolist()])
    return table[codes]


def without_nothing(string: str) -> str:
    """Return a string, the empty one for `--`."""
    return "" if string == NOTHING else string


def offsets_by(owners: IntArray, size: int) -> IntArray:
    """Return the offsets of sorted owners: int64 (size + 1,)."""
    return offsets_of(sums_by(owners, size))


def category(label: str) -> str:
    """Return the category of a label whose function stands elsewhere; round brackets in it become square ones."""
    return divided(label.replace("(", "[").replace(")", "]"))[0]


class WrittenTree(NamedTuple):
    """One sentence.

    Attributes:
        number: from 0.
        name: its name, empty if it has none.
        root: its root, by its number in the file.
        nodes: the others.
        words: its words.
    """

    number: int
    name: str
    root: int
    nodes: range
    words: range

    def below_root(self, node: int) -> int:
        """Return a node counted from 0 among those without the root, -1 the root."""
        return int(node) - self.root - 1


class WrittenTrees:
    """The sentences of a treebank, with what a format can hold of them. Iterating gives each."""

    def __init__(self, treebank: DiscontinuousTreebank, name: str, *, with_spaces: bool = False) -> None:
        self._treebank = treebank
        self._name = name
        self._with_spaces = with_spaces  # in names of sentences
        self._strings = treebank.vocabulary.strings

    def __iter__(self) -> Iterator[WrittenTree]:
        names, seen = self._treebank.sentences.sent_ids, set()
        bounds = zip(
            pairwise(self._treebank.node_offsets.tolist()), pairwise(self._treebank.word_offsets.tolist()), strict=True
        )
        for number, ((root, stop), words) in enumerate(bounds):
            name = (names[number] if len(names) else None) or ""
            if name and (name in seen or (name.split() != [name] and not self._with_spaces)):
                raise unwritable(self._name, f"the name {name!r}", number)
            seen.add(name)
            yield WrittenTree(number, name, root, range(root + 1, stop), range(*words))

    def refuse_root(self, tree: WrittenTree, label: str) -> None:
        """Refuse a root of another label, or with a function. Raises InputError."""
        found = self._strings[self._treebank.labels[tree.root]]
        if found != label or self._treebank.functions[tree.root]:
            raise unwritable(self._name, f"a root called {found!r}, only {label!r},", tree.number)

    def label(self, node: int) -> str:
        """Return the label of a node. Raises InputError if it would be read as another one."""
        return self._category(self._strings[self._treebank.labels[node]], node, self._treebank.node_offsets)

    def tag(self, word: int) -> str:
        """Return the tag of a word. Raises InputError if it has none, or if it would be read as another one."""
        tag = self._treebank.tags[word]
        if tag == NO_TAG:
            raise unwritable(self._name, "a word without a tag", _owner(self._treebank.word_offsets, word))
        return self._category(self._strings[tag], word, self._treebank.word_offsets)

    def _category(self, label: str, unit: int, offsets: IntArray) -> str:
        if category(label) != label:
            raise unwritable(self._name, f"the label {label!r}", _owner(offsets, unit))
        return label


def unwritable(format_name: str, what: str, sentence: int) -> InputError:
    """Return the error of a treebank that a format cannot hold."""
    detail = f"The format {format_name} cannot hold {what} of sentence {sentence + 1}. Use another format."
    return InputError(Problem("trees-unwritable", detail, sentence=sentence + 1))


def _owner(offsets: IntArray, unit: int) -> int:
    return int(np.searchsorted(offsets, unit, "right")) - 1
