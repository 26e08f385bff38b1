"""Score enhanced dependencies edge by edge: ELAS and EULAS (Bouma et al. 2020).

The column DEPS is read as edges, with paths through empty nodes collapsed. Kinds of enhancement that are not scored are
left out as the switches of the IWPT 2020 script leave them out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import repeat
from typing import Any, ClassVar, NamedTuple

import numpy as np

from treescore.core import registry, structure
from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by
from treescore.core.columns import Column, Lists, Records, listed, nullable, places_of, ranges_of, strings_of
from treescore.core.params import Json, Param
from treescore.core.scores import ZERO, Score, ScoreTable, errors_param, matched_scores
from treescore.core.structure import plain_number
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.core.trees import DependencyTreebank
from treescore.core.wording import counted
from treescore.errors import LimitError, Problem, ProblemList
from treescore.formats.shared.lines import short
from treescore.metrics.shared import words
from treescore.metrics.shared.examples import conllu
from treescore.metrics.shared.heads import positions_of
from treescore.metrics.shared.segmentation import UNALIGNED, Alignment, aligned_fields, alignment_of

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


_COUNTS = ("correct", "gold", "system")
_UNDEFINED = ("no side has enhanced edges", "the output has none", "gold has none")
_ROWS = (
    ("elas", "Enhanced edges with the right head and relation"),
    ("eulas", "The same without subtypes of relations"),
)


def _table(high: float | None) -> ScoreTable:
    counts = _COUNTS if high is not None else (*_COUNTS, "aligned")
    names = tuple(f"{row}.{count}" for row, _ in _ROWS for count in counts)
    scores: list[Score] = []
    for row, doc in _ROWS:
        docs = (f"{doc}: F1.", f"{doc}: precision.", f"{doc}: recall.")
        parts = [f"{row}.{count}" for count in _COUNTS]
        scores += matched_scores(f"{row}_", docs, parts, _UNDEFINED, high=high, one_sided=(True, True))
    return ScoreTable(names, tuple(scores))


_TABLE, _UNBOUNDED_TABLE = _table(1.0), _table(None)


def _relations(row: Mapping[str, Json]) -> Iterator[str]:
    """Return the relations of the edges of both sides."""
    for side in ("gold_deps", "system_deps"):
        for edge in (row.get(side) or "").split("|"):
            _, _, relation = edge.partition(":")
            if relation:
                yield relation


@registry.register
class Enhanced(registry.Metric):
    """Enhanced edges of aligned words, as the IWPT 2020 shared task compares them.

    An edge is right where gold has the same relation (a path of relations where empty nodes are collapsed) from the
    aligned head. An edge that a word has twice is one, as after the treebank tools' collapsing. Edges that are equal
    only without their subtypes are matched one to one; the original program counts every pair of them
    (`cross-product`), so that EULAS can exceed 1. Words are
    aligned and counts assigned to gold's sentences as in `ud`; basic heads are ignored. After Bouma et al. 2020.
    """

    name: ClassVar[str] = "enhanced"
    doc: ClassVar[str] = "ELAS and EULAS: precision, recall and F1 of enhanced dependencies (DEPS)."
    source: ClassVar[str] = "Bouma, Seddah & Zeman 2020, https://aclanthology.org/2020.iwpt-1.16"
    params: ClassVar[dict[str, Param]] = {
        "counting": Param(
            {"enum": ["multiset", "cross-product"]},
            "multiset",
            "multiset: a gold edge matches one edge of the output. cross-product: as in the original program, every "
            "pair of edges that are equal without their subtypes counts, and scores may exceed 1.",
        ),
        "empty_nodes": Param(
            {"enum": ["collapse", "skip"]},
            "collapse",
            "collapse: edges from empty nodes become paths from words, relations joined by >. skip: they are left out.",
        ),
        "leave_out": Param(
            {"type": "array", "items": {"enum": list(KINDS)}, "uniqueItems": True},
            [],
            "Kinds of enhancement that are not scored, on both sides, after collapsing, in the order and with the "
            "peculiarities of the IWPT 2020 script: the edges of gapping become basic edges, and so on.",
        ),
        "errors": errors_param("Sentences of gold in which the output has no edge", "without effect on precision"),
    }
    reads: ClassVar[tuple[type[Any], ...]] = (DependencyTreebank,)
    examples: ClassVar[tuple[registry.Example, ...]] = (
        registry.Example(
            "conllu",
            (
                (conllu("1 a X 0 root 0:root", "2 b X 1 obj 1:obj|1:conj:et"),) * 2,
                (conllu("1 a X 0 root 0:root"),) * 2,
                (
                    conllu("1 a X 0 root 0:root", "1.1 _ _ _ _ 1:conj", "2 b X 1 obj 1.1:obj"),
                    conllu("1 a X 0 root 0:root", "2 b X 1 obj 1:obj"),
                ),
            ),
        ),
    )
    headline: ClassVar[Mapping[str, str]] = {"elas_f1": "ELAS", "eulas_f1": "EULAS"}
    error_filters: ClassVar[Mapping[str, registry.ErrorValues]] = {"deprel": _relations, "upos": words.UPOS}
    styles: ClassVar[tuple[str, ...]] = ("iwpt20",)
    disclosure: ClassVar[registry.Disclosure] = registry.Disclosure(
        fields={"words": aligned_fields("deps")}, output_sentences=True
    )
    own_segmentation: ClassVar[bool] = True
    compares_edges: ClassVar[bool] = True

    @property
    def table(self) -> ScoreTable:
        """Return F1, precision and recall of both rows."""
        return _TABLE if self.values["counting"] == "multiset" else _UNBOUNDED_TABLE

    def check_gold(self, gold: DependencyTreebank, items: registry.ItemInfo, limits: Limits) -> None:  # noqa: ARG002 - other metrics need it
        """Check that gold has DEPS that can be read. Raises InputError."""
        words.check_columns(gold, "DEPS", self.name)
        self._edges(gold, limits)

    def evaluate(
        self, gold: DependencyTreebank, system: DependencyTreebank, items: registry.ItemInfo, limits: Limits
    ) -> registry.Outcome:
        """Align the words and compare their edges.

        Raises:
            InputError: the texts differ, or DEPS is missing, or cannot be read and the format was not asked to go on.
            LimitError: too many paths through empty nodes.
        """
        del items
        words.check_columns(system, "DEPS", self.name)
        as_read = system
        system = words.with_words_of_gold(gold, system)
        lenient = system.sentences.lenient and len(gold) == len(system)
        edges = self._edges(gold, limits), _of_readable(system, self._edges(system, limits, lenient=lenient))
        alignment = alignment_of(gold, system)
        product = self.values["counting"] == "cross-product"
        gold_owners = owners_of(gold.word_offsets)
        golds = sums_by(gold_owners[edges[0].words], len(gold))
        systems = sums_by(alignment.owners[edges[1].words], len(gold))
        unanswered = np.asarray((systems == 0) & (golds > 0), np.bool_)
        status = registry.all_ok(len(gold))
        problems: dict[int, Problem] = {}
        if len(gold) == len(system):
            problems = dict(sorted({**edges[1].unreadable, **system.sentences.unreadable}.items()))
        status[list(problems)] = registry.ERROR
        if self.values["errors"] == ZERO:
            status[unanswered & (status == registry.OK)] = registry.SKIP
            systems = np.where(unanswered, golds, systems)
        columns: list[IntArray] = []
        right = {}
        for name, labels in (("elas", "labels"), ("eulas", "plain_labels")):
            right[name] = _right_edges(alignment, edges, labels, product=product)
            columns += [np.bincount(gold_owners, right[name], len(gold)).astype(np.int64), golds, systems]
            if product:
                columns.append(sums_by(gold_owners[alignment.gold_words], len(gold)))

        @cache
        def wrong() -> BoolArray:
            return _wrong(alignment, edges, right["elas"])

        return registry.Outcome(
            rows=np.stack(columns, axis=1),
            status=status,
            unanswered=unanswered,
            problems=problems,
            warnings=list(problems.values())[: limits.max_problems],
            details=lambda start, stop: Records({"words": _wrong_words(alignment, wrong(), start, stop)}),
            marks=lambda: _marks(alignment, edges, as_read),
        )

    def edges_in(self, treebank: DependencyTreebank) -> structure.Edges:
        """Return the edges as they are compared; the predicate is below ROOT where it is neither a word nor the root.

        Raises:
            LimitError: too many paths through empty nodes.
        """
        edges = _of_readable(treebank, self._edges(treebank, DEFAULT_LIMITS, lenient=True))
        return structure.Edges(edges.heads, edges.words, edges.labels)

    def errors_of(self, item: Mapping[str, Json], gold: DependencyTreebank) -> Iterator[dict[str, Json]]:
        """Return gold's words that are not aligned, or have an edge that the other side lacks."""
        named = [row for _, row in words.named_words(gold, item["item"])]
        for row in item["words"]:
            yield {"kind": ("not aligned" if row["system_word"] is None else "edges"), **named[row["word"] - 1], **row}

    def beside_gold(self, item: Mapping[str, Json], gold: DependencyTreebank) -> Iterator[dict[str, Json]]:
        """Return gold's words of the sentence with the edges of both sides."""
        wrong = {row["word"]: row for row in self.errors_of(item, gold)}
        for at, named in words.named_words(gold, item["item"]):
            error = wrong.get(named["word"], {"system_deps": words.AGREES, "kind": ""})
            edges = {"gold_deps": gold.vocabulary.strings[gold.deps[at]], "system_deps": error["system_deps"]}
            yield {**named, **edges, "error": error["kind"]}

    def report(self, style: str, outcome: registry.Outcome) -> str:
        """Print the rows ELAS and EULAS of the IWPT 2020 script's table.

        Their last column, right edges for each aligned word, is there where repeated edges count as in the script.
        """
        if style != "iwpt20":
            return super().report(style, outcome)
        counts = dict(zip(self.table.count_names, outcome.totals.tolist(), strict=True))
        return words.conll18_table({row: row.upper() for row, _ in _ROWS}, counts)

    def _edges(self, treebank: DependencyTreebank, limits: Limits, *, lenient: bool = False) -> Edges:
        collapse = self.values["empty_nodes"] == "collapse"
        leave_out = self.values["leave_out"]
        return edges_of(treebank, limits.max_problems, collapse=collapse, leave_out=leave_out, lenient=lenient)


def _of_readable(treebank: DependencyTreebank, edges: Edges) -> Edges:
    """Return the edges of the sentences that could be read."""
    return edges.kept(words.words_to_score(treebank)[edges.words])


def _right_edges(alignment: Alignment, edges: tuple[Edges, Edges], labels: str, *, product: bool) -> IntArray:
    """Count the right edges of each gold word: int64 (gold words,)."""
    gold, system = edges
    words = len(alignment.system_of)
    dependents_in_gold = alignment.gold_of[system.words]
    heads = np.where(system.heads == ROOT, ROOT, alignment.gold_of[np.maximum(system.heads, 0)])
    aligned = (dependents_in_gold != UNALIGNED) & (heads != UNALIGNED) & (system.heads != NOWHERE)
    somewhere = gold.heads != NOWHERE
    distinct, label_index = np.unique(
        np.concatenate([getattr(gold, labels)[somewhere], getattr(system, labels)[aligned]]), return_inverse=True
    )
    golds = gold.words[somewhere]
    dependents = np.concatenate([golds, dependents_in_gold[aligned]])
    arcs = dependents * (words + 1) + np.concatenate([gold.heads[somewhere], heads[aligned]]) + 1
    _, arcs = np.unique(arcs, return_inverse=True)
    _, first, same = np.unique(arcs * len(distinct) + label_index, return_index=True, return_inverse=True)
    in_gold = np.bincount(same[: len(golds)], minlength=len(first))
    in_system = np.bincount(same[len(golds) :], minlength=len(first))
    matched = in_gold * in_system if product else np.minimum(in_gold, in_system)
    return np.bincount(dependents[first], matched, words).astype(np.int64)


def _marks(alignment: Alignment, edges: tuple[Edges, Edges], as_read: DependencyTreebank) -> registry.Marks:
    """Return the marks of edges, and the partners of the output's words as it was read.

    The edges of a word without a partner stand alone.
    """
    gold, system = edges
    heads = np.where(system.heads < 0, system.heads, alignment.gold_of[np.maximum(system.heads, 0)])
    ends = (gold.words, gold.heads), (alignment.gold_of[system.words], heads)
    known = [np.asarray(each != UNALIGNED, np.bool_) for each in (alignment.system_of[gold.words], ends[1][0])]
    states = [np.where(each, int(registry.MarkState.LINK), int(registry.MarkState.ALONE)) for each in known]
    left = [np.flatnonzero(each & (above >= ROOT)) for each, (_, above) in zip(known, ends, strict=True)]
    sides = [(words, above - ROOT, side.labels) for (words, above), side in zip(ends, edges, strict=True)]
    registry.paired_states(sides, left, states)
    own = np.repeat(np.diff(as_read.word_offsets) > 0, np.diff(alignment.system.treebank.word_offsets))
    return registry.Marks(
        system=states[1],
        gold=states[0],
        partners=np.maximum(alignment.gold_of[own], registry.NO_PARTNER),
        firsts=offsets_of(sums_by(alignment.owners[own], len(alignment.gold.treebank))),
    )


def _wrong_words(alignment: Alignment, wrong: BoolArray, start: int, stop: int) -> Lists:
    """Return the words with wrong edges of each of gold's sentences from `start` to `stop`."""
    gold, system = alignment.gold.treebank, alignment.system.treebank
    offsets = gold.word_offsets[start : stop + 1]
    words = np.flatnonzero(wrong[offsets[0] : offsets[-1]]) + offsets[0]
    partners = alignment.system_of[words]
    known = partners != UNALIGNED
    sentence, word = places_of(partners[known], system)
    members: dict[str, Column] = {
        "word": places_of(words, gold)[1],
        "system_sentence": nullable(known, sentence),
        "system_word": nullable(known, word),
        "gold_deps": strings_of(gold.deps[words], gold.vocabulary),
        "system_deps": nullable(known, strings_of(system.deps[partners[known]], system.vocabulary)),
    }
    return listed(words, offsets, Records(members))


def _wrong(alignment: Alignment, edges: tuple[Edges, Edges], right: IntArray) -> BoolArray:
    """Return gold's words that are not aligned or have an edge that the other side lacks, bool (gold words,)."""
    golds, systems = (
        sums_by(side.words, len(treebank.forms))
        for side, treebank in zip(edges, (alignment.gold.treebank, alignment.system.treebank), strict=True)
    )
    aligned = alignment.system_of != UNALIGNED
    found = np.where(aligned, systems[alignment.system_of], 0)
    return np.asarray(~aligned | (golds != right) | (right != found), np.bool_)
