"""Read the column DEPS as edges, with paths through empty nodes collapsed, and leave kinds of enhancement out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of
from treescore.core.columns import ranges_of
from treescore.core.structure import plain_number
from treescore.core.trees import DependencyTreebank
from treescore.core.wording import counted
from treescore.errors import LimitError, Problem, ProblemList
from treescore.formats.shared.lines import short
from treescore.metrics.shared import words
from treescore.metrics.shared.heads import positions_of

_NO_HEAD = -(1 << 62)
"""Stands for the HEAD of the root and of NOWHERE."""
ROOT, NOWHERE = -1, -2
"""Heads that are no words: the root; and the head of a root's basic edge, which no other edge has."""

_CASE_RELATIONS = frozenset(("obl", "nmod", "conj", "advcl"))
_UNIVERSAL_SUBTYPES = frozenset(("pass", "relcl", "xsubj"))


class Arcs(NamedTuple):
    """The e enhanced edges of a text, those of a word together, by head and relation.

    Attributes:
        words: the dependent, over the whole text, int64 (e,).
        heads: the head, over the whole text, ROOT or NOWHERE, int64 (e,).
        labels: the relation or path of relations, numbers of strings, int64 (e,).
    """

    words: IntArray
    heads: IntArray
    labels: IntArray

    def kept(self, mask: BoolArray | IntArray) -> Arcs:
        """Return some of the edges: those of a mask, or of these numbers."""
        return Arcs(*(column[mask] for column in self))

    def with_basic(self, mask: BoolArray, basic: Arcs) -> Arcs:
        """Return the edges, some of them replaced by the basic edges of their words."""
        heads = np.where(mask, basic.heads[self.words], self.heads)
        return Arcs(self.words, heads, np.where(mask, basic.labels[self.words], self.labels))


class _Text(NamedTuple):
    """What the kinds look at beside the edges.

    Attributes:
        treebank: of the edges.
        basic: the basic edge of each word, without its subtype.
        positions: of each word in its sentence, from 0, int64 (w,).
    """

    treebank: DependencyTreebank
    basic: Arcs
    positions: IntArray

    def labels(self, arcs: Arcs, test: Callable[[str], bool]) -> BoolArray:
        """Return the edges whose label passes a test, bool (e,)."""
        return np.asarray(self.treebank.vocabulary.table(arcs.labels, test)[arcs.labels] > 0, np.bool_)

    def head_relation(self, arcs: Arcs, test: Callable[[str], bool]) -> BoolArray:
        """Return the edges from a word whose relation, without its subtype, passes a test, bool (e,)."""
        passes = self.treebank.vocabulary.table(self.basic.labels, test)[self.basic.labels] > 0
        return of_heads(passes, arcs, 0) > 0


def of_heads(column: IntArray | BoolArray, arcs: Arcs, root: int) -> IntArray:
    """Return what a column of words (w,) has for the head of each edge, `root` for edges from the root: int64 (e,)."""
    return np.where(arcs.heads >= 0, column[np.maximum(arcs.heads, 0)], root).astype(np.int64)


def left_out(treebank: DependencyTreebank, arcs: Arcs, kinds: Collection[str]) -> Arcs:
    """Return the edges without these kinds of enhancement.

    Args:
        treebank: of the edges.
        arcs: after collapsing, none twice.
        kinds: names in KINDS; they are applied in its order.
    """
    if not kinds:
        return arcs
    text = _Text(treebank, _basic(treebank), positions_of(treebank.word_offsets) - 1)
    for name, leave_out in KINDS.items():
        if name in kinds:
            arcs = leave_out(text, arcs)
    return arcs


def _basic(treebank: DependencyTreebank) -> Arcs:
    offsets, heads = treebank.word_offsets, treebank.heads
    owners = owners_of(offsets)
    inside = (heads > 0) & (heads <= np.diff(offsets)[owners])
    above = np.where(inside, offsets[owners] + heads - 1, NOWHERE)
    return Arcs(np.arange(len(heads), dtype=np.int64), above, words.without_subtypes(treebank).deprels)


def _gapping(text: _Text, arcs: Arcs) -> Arcs:
    """Replace each path by the basic edge, even where it is repeated; drop single edges that repeat one before them."""
    paths = text.labels(arcs, lambda label: ">" in label)
    places = np.arange(len(arcs.words))
    first = np.full(len(text.positions), len(places))
    np.minimum.at(first, arcs.words[paths], places[paths])
    basic = text.basic
    repeats = (arcs.heads == basic.heads[arcs.words]) & (arcs.labels == basic.labels[arcs.words])
    repeats &= ~paths & (first[arcs.words] < places)
    return arcs.with_basic(paths, basic).kept(~repeats)


def _shared_parents(text: _Text, arcs: Arcs) -> Arcs:
    """Keep of a conjunct the last edge of one step that begins with `conj`."""
    conjuncts = np.flatnonzero(text.labels(arcs, lambda label: label.startswith("conj") and ">" not in label))
    last = np.full(len(text.positions), -1)
    last[arcs.words[conjuncts]] = conjuncts
    own = last[arcs.words]
    return arcs.kept(np.asarray((own < 0) | (own == np.arange(len(own))), np.bool_))


def _control(text: _Text, arcs: Arcs) -> Arcs:
    """Drop subjects of words whose relation is `xcomp`."""
    subjects = text.labels(arcs, lambda label: any(step.startswith("nsubj") for step in label.split(">")))
    return arcs.kept(~(subjects & text.head_relation(arcs, "xcomp".__eq__)))


def _relative_clauses(text: _Text, arcs: Arcs) -> Arcs:
    """Replace `ref` by the basic edge; drop edges from a clause whose head is the word before this one.

    The script means the edge from a relative clause to its antecedent, but counts this word from 0 and the head of the
    clause from 1.
    """
    references = text.labels(arcs, lambda label: label.partition(">")[0] == "ref")
    above = of_heads(text.treebank.heads, arcs, _NO_HEAD)
    external = text.head_relation(arcs, lambda relation: relation.startswith("acl")) & ~references
    external &= above == text.positions[arcs.words]
    return arcs.with_basic(references, text.basic).kept(~external)


def _case_information(text: _Text, arcs: Arcs) -> Arcs:
    """Cut the only subtype of `obl`, `nmod`, `conj` and `advcl`, unless it is a universal one."""
    vocabulary = text.treebank.vocabulary

    def cut(label: str) -> int:
        return vocabulary.number(">".join(map(_without_case, label.split(">"))))

    return arcs._replace(labels=vocabulary.table(arcs.labels, cut)[arcs.labels])


def _without_case(step: str) -> str:
    relation, *subtypes = step.split(":")
    if relation in _CASE_RELATIONS and len(subtypes) == 1 and subtypes[0] not in _UNIVERSAL_SUBTYPES:
        return relation
    return step


KINDS: Mapping[str, Callable[[_Text, Arcs], Arcs]] = {
    "gapping": _gapping,
    "shared_parents": _shared_parents,
    "shared_dependents": lambda _, arcs: arcs,  # the script compares a word with a string, which are never equal
    "control": _control,
    "relative_clauses": _relative_clauses,
    "case_information": _case_information,
}
"""The kinds in the order of the script's switches 1 to 6, in which they are left out."""


MAX_STEPS = 20_000_000
"""Limit on the work for all paths through empty nodes; their number can double with every empty node."""

_NO_EDGES = ("_", "")
_NO_WORD = -1
"""Stands for a head that is not a plain number."""

_EMPTY_NODE = re.compile(r"[0-9]+\.[0-9]+")

_Edge = tuple[str, str]
"""Head and relation as written."""
_Node = int | str
"""A word or ROOT, or the ID of an empty node."""
_Path = tuple[_Node, ...]
"""A node, a relation, the next node, and so on."""


@dataclass(frozen=True, slots=True)
class Edges:
    """The e enhanced edges of a text.

    Attributes:
        words: the dependent, over the whole text, int64 (e,).
        heads: the head, over the whole text; ROOT for the root, NOWHERE for one that no other edge has, int64 (e,).
        labels: the relation or path of relations (`conj>nsubj`), numbers of strings, int64 (e,).
        plain_labels: the same, each step without its subtype, int64 (e,).
        unreadable: sentence -> why its DEPS cannot be read; none of its edges are there.
    """

    words: IntArray
    heads: IntArray
    labels: IntArray
    plain_labels: IntArray
    unreadable: Mapping[int, Problem] = field(default_factory=dict)

    def kept(self, mask: BoolArray) -> Edges:
        """Return some of the edges."""
        return Edges(self.words[mask], self.heads[mask], self.labels[mask], self.plain_labels[mask], self.unreadable)


def edges_of(
    treebank: DependencyTreebank, cap: int, *, collapse: bool, leave_out: Collection[str] = (), lenient: bool = False
) -> Edges:
    """Read the DEPS of all words; an edge that a word has twice is one.

    Args:
        treebank: the text.
        cap: the most problems to describe.
        collapse: whether edges from empty nodes are followed up to words, with relations joined by `>`, as the
            treebank tools collapse them: equal paths become one edge. Otherwise such edges are left out, as the
            evaluation of these tools does with uncollapsed files.
        leave_out: kinds of enhancement in KINDS.
        lenient: whether DEPS that cannot be read cost the edges of their sentence alone.

    Raises:
        InputError: DEPS cannot be read, or have heads that do not exist, and `lenient` is false.
        LimitError: too many paths through empty nodes.
    """
    reader = _Reader(treebank, cap, collapse=collapse, lenient=lenient)
    arcs = left_out(treebank, _distinct(reader.arcs(), treebank), leave_out)
    vocabulary = treebank.vocabulary
    plain = vocabulary.table(arcs.labels, lambda label: vocabulary.number(plain_path(label)))[arcs.labels]
    return Edges(*arcs, plain, reader.unreadable)


def _distinct(arcs: Arcs, treebank: DependencyTreebank) -> Arcs:
    """Return each edge once, those of a word by head, then by relation, as the treebank tools' collapsing has them."""
    strings = treebank.vocabulary.strings
    labels = sorted(treebank.vocabulary.distinct(arcs.labels).tolist(), key=strings.__getitem__)
    rank = np.zeros(len(strings), np.int64)
    rank[labels] = np.arange(len(labels))
    order = np.lexsort((rank[arcs.labels], arcs.heads, arcs.words))
    ordered = np.stack(arcs.kept(order))
    first = np.ones(len(order), np.bool_)
    first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    return Arcs(*ordered[:, first])


class _Reader:
    def __init__(self, treebank: DependencyTreebank, cap: int, *, collapse: bool, lenient: bool) -> None:
        self._treebank = treebank
        self._collapse = collapse
        self._lenient = lenient
        self.unreadable: dict[int, Problem] = {}
        self._strings = treebank.vocabulary.strings
        self._offsets = treebank.word_offsets.tolist()
        self._problems = ProblemList(cap)
        self._parsed: dict[int, list[_Edge] | None] = {}
        self._steps = 0
        self._empty: list[dict[str, int]] = [{} for _ in range(len(treebank))] if len(treebank.empty_ids) else []
        for node, sentence in enumerate(treebank.empty_sentences.tolist()):
            number = self._strings[treebank.empty_ids[node]]
            if self._empty[sentence].setdefault(number, node) != node:
                line = int(treebank.empty_lines[node])
                detail = f"Two empty nodes of the sentence have the ID {number}. Number them differently."
                self._add(line, sentence, "enhanced-duplicate-empty-node", detail, column=1)

    def arcs(self) -> Arcs:
        direct, left = self._direct()
        edges: list[tuple[int, int, str]] = []
        through: dict[int, list[_Path]] = {}
        owners = owners_of(self._treebank.word_offsets)[left].tolist()
        lines, deps = (column[left].tolist() for column in (self._treebank.lines, self._treebank.deps))
        for word, number, line, sentence in zip(left.tolist(), deps, lines, owners, strict=True):
            for head, label in self._read(number, line, sentence):
                source = self._head(head, line, sentence)
                if isinstance(source, int):
                    edges.append((word, source, label))
                elif source is not None:
                    through.setdefault(sentence, []).append((source, label, word))
        bank = self._treebank
        columns = bank.empty_ids, bank.empty_deps, bank.empty_lines, bank.empty_sentences
        for node, number, line, sentence in zip(*(column.tolist() for column in columns), strict=True):
            for head, label in self._read(number, line, sentence):
                if self._collapse and (source := self._head(head, line, sentence)) is not None:
                    through.setdefault(sentence, []).append((source, label, self._strings[node]))
        for sentence, found in through.items():
            edges += self._collapsed(found, self._offsets[sentence])
        self._problems.raise_if_any()
        vocabulary = self._treebank.vocabulary
        read = [(word, head, vocabulary.number(label)) for word, head, label in edges]
        arcs = Arcs(*np.concatenate([direct, np.array(read, np.int64).reshape(-1, 3).T], axis=1))
        if not self.unreadable:
            return arcs
        lost = np.zeros(len(self._treebank), np.bool_)
        lost[list(self.unreadable)] = True
        return arcs.kept(~lost[owners_of(self._treebank.word_offsets)[arcs.words]])

    def _direct(self) -> tuple[IntArray, IntArray]:
        """Read the words all of whose edges come from words of the sentence or the root, all at once.

        Returns:
            Word, head and label of each of their edges, int64 (3, e), and the other words, whose DEPS are read one by
            one, int64.
        """
        vocabulary, offsets = self._treebank.vocabulary, self._treebank.word_offsets
        numbers = [n for n in vocabulary.distinct(self._treebank.deps).tolist() if self._strings[n] not in _NO_EDGES]
        if not numbers:
            return np.zeros((3, 0), np.int64), np.zeros(0, np.int64)
        fields = [self._strings[number] for number in numbers]
        sizes = np.fromiter(map(str.count, fields, repeat("|")), np.int64, len(fields)) + 1
        heads, colons, names = zip(*map(str.partition, "|".join(fields).split("|"), repeat(":")), strict=True)
        value_of = {head: _NO_WORD if (value := plain_number(head)) is None else value for head in set(heads)}
        values = np.fromiter(map(value_of.__getitem__, heads), np.int64, len(heads))
        values[~np.fromiter(map(bool, colons), np.bool_, len(colons))] = _NO_WORD

        field_of = np.full(len(self._strings), -1)
        field_of[numbers] = np.arange(len(numbers))
        field_of_word = field_of[self._treebank.deps]
        words = np.flatnonzero(field_of_word >= 0)
        used = field_of_word[words]
        edges, _ = ranges_of(offsets_of(sizes)[used], sizes[used])
        words = np.repeat(words, sizes[used])
        owners, values = owners_of(offsets)[words], values[edges]
        left = np.zeros(len(field_of_word), np.bool_)
        left[words[(values == _NO_WORD) | (values > np.diff(offsets)[owners])]] = True
        sources = np.where(values > 0, offsets[owners] + values - 1, ROOT)
        return np.stack([words, sources, vocabulary.numbers(names)[edges]])[:, ~left[words]], np.flatnonzero(left)

    def _read(self, number: int, line: int, sentence: int) -> list[_Edge]:
        """Read the edges of one DEPS field; add a problem and return none where it is invalid."""
        if number not in self._parsed:
            self._parsed[number] = _parse(self._strings[number])
        edges = self._parsed[number]
        if edges is None:
            field = short(self._strings[number])
            detail = f"DEPS is {field!r}. Write head:relation pairs separated by |, as 4:nsubj|6:nsubj, or _."
            self._add(line, sentence, "enhanced-bad-deps", detail)
            return []
        return edges

    def _collapsed(self, edges: list[_Path], first_word: int) -> Iterator[tuple[int, int, str]]:
        """Return word, source and relations of each path through empty nodes that the treebank tools' collapsing finds.

        Two paths are joined at an empty node. What is joined passes no node twice, unless it leads from word to word:
        a circle of empty nodes is walked round once at most. Which such walks are found depends on the order.

        Args:
            edges: of the sentence that begin or end in an empty node.
            first_word: of the sentence.
        """

        def place(edge: _Path) -> tuple[int, int]:
            if isinstance(edge[-1], int):
                return edge[-1], 0
            before, _, number = edge[-1].partition(".")
            return first_word + int(before) - 1, int(number)

        edges = sorted(dict.fromkeys(edges), key=place)
        down = [edge for edge in edges if isinstance(edge[0], str)]
        known = set(down)
        up: dict[_Node, dict[_Path, None]] = {}
        for edge in edges:
            if isinstance(edge[-1], str):
                up.setdefault(edge[-1], {})[edge] = None
        for lower in down:  # grows as it is read
            for upper in list(up.get(lower[0], ())):
                path = upper + lower[1:]
                self._steps += 4 * len(path)
                if self._steps > MAX_STEPS:
                    detail = "The empty nodes of the text have too many paths through them to follow all."
                    raise LimitError(Problem("too-many-enhanced-paths", detail))
                first, last = path[0], path[-1]
                if isinstance(first, int) and isinstance(last, int):
                    yield last, first, ">".join(map(str, path[1::2]))
                elif len(set(path[::2])) == len(path) // 2 + 1:
                    if isinstance(first, str) and path not in known:
                        known.add(path)
                        down.append(path)
                    if isinstance(last, str):
                        up[last][path] = None

    def _head(self, head: str, line: int, sentence: int) -> _Node | None:
        """Return the word, ROOT or empty node that heads an edge; None, with a problem, if the sentence lacks it."""
        if "." in head:
            if not self._collapse:
                return None
            if self._empty and head in self._empty[sentence]:
                return head
            detail = f"DEPS names {head}, which is not an empty node of the sentence. Add its line, or name a word."
            self._add(line, sentence, "enhanced-unknown-empty-node", detail)
            return None
        number = plain_number(head)
        length = self._offsets[sentence + 1] - self._offsets[sentence]
        if number is None or number > length:
            self._add(
                line,
                sentence,
                "enhanced-head-out-of-range",
                f"DEPS names the head {short(head, 20)}, but the sentence has {counted(length, 'word')}. Use 0 for the "
                f"root or 1-{length}.",
            )
            return None
        return self._offsets[sentence] + number - 1 if number else ROOT

    def _add(self, line: int, sentence: int, code: str, detail: str, column: int = 9) -> None:
        problem = replace(words.problem_at(self._treebank, code, detail, sentence, None, column), line=line or None)
        if self._lenient:
            self.unreadable.setdefault(sentence, problem)
        else:
            self._problems.add(problem)


def plain_path(label: str) -> str:
    """Remove the subtype from every step of a path: `conj:and>nsubj:pass` becomes `conj>nsubj`."""
    return ">".join(step.partition(":")[0] for step in label.split(">"))


def _parse(deps: str) -> list[_Edge] | None:
    if deps in _NO_EDGES:
        return []
    edges = []
    for part in deps.split("|"):
        head, colon, label = part.partition(":")
        if not colon or (plain_number(head) is None and not _EMPTY_NODE.fullmatch(head)):
            return None
        edges.append((head, label))
    return edges
