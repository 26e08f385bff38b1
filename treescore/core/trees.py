"""Treebanks as columns: a few arrays instead of an object for each node.

Strings are numbers of one `Vocabulary`, shared by all texts of one evaluation, gold and systems: equal words are equal
numbers. Spans are half-open word ranges inside their sentence, from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import count, filterfalse, islice
from typing import Any, TypeVar

import numpy as np
import orjson

from treescore.core.arrays import BoolArray, Int32Array, IntArray
from treescore.core.wording import counted
from treescore.errors import Problem


class _Numbers(dict[str, int]):
    """Number of each string; a new string gets the next."""

    __slots__ = ("strings",)

    def __init__(self) -> None:
        super().__init__({"": 0})
        self.strings = [""]

    def __missing__(self, string: str) -> int:
        number = self[string] = len(self.strings)
        self.strings.append(string)
        return number


class Vocabulary:
    """Numbers strings in order of appearance. One is made for each evaluation and handed to every reader.

    `vocabulary.strings[i]` is the string numbered i. Number 0 is always the empty string.
    """

    __slots__ = ("_numbers", "strings")

    def __init__(self) -> None:
        self._numbers = _Numbers()
        self.strings: list[str] = self._numbers.strings

    @classmethod
    def of_strings(cls, strings: Iterable[str]) -> Vocabulary:
        """Make the vocabulary that has these strings, each once, the empty string first."""
        made = cls()
        made.strings[:] = strings
        made._numbers.update(zip(made.strings, range(len(made.strings)), strict=True))
        return made

    def copy(self) -> Vocabulary:
        """Return a vocabulary with the same numbers, which grows on its own."""
        made = Vocabulary()
        made.strings[:] = self.strings
        made._numbers.clear()  # an empty dictionary takes all strings at once, not one by one
        made._numbers.update(self._numbers)
        return made

    def __len__(self) -> int:
        return len(self.strings)

    def number(self, string: str) -> int:
        """Return the number of one string, new or known."""
        return self._numbers[string]

    def get(self, string: str) -> int | None:
        """Return the number of a string, or None if no text has it."""
        return self._numbers.get(string)

    def numbers(self, strings: Iterable[str]) -> IntArray:
        """Return the numbers of many strings: int64 (n,)."""
        strings = strings if isinstance(strings, (list, tuple)) else list(strings)
        return np.fromiter(map(self._numbers.__getitem__, strings), np.int64, len(strings))

    def numbers_of_distinct(self, strings: Sequence[str]) -> IntArray:
        """Return the numbers of many strings, each of which stands once: int64 (n,)."""
        known, size = self._numbers, len(self.strings)
        self.strings.extend(filterfalse(known.__contains__, strings))
        known.update(zip(islice(self.strings, size, None), count(size)))
        return np.fromiter(map(known.__getitem__, strings), np.int64, len(strings))

    def distinct(self, numbers: IntArray) -> IntArray:
        """Return the distinct numbers among `numbers`, sorted, without the sort of `np.unique`."""
        used = np.zeros(len(self.strings), bool)
        used[numbers] = True
        return np.flatnonzero(used)

    def table(self, numbers: IntArray, function: Callable[[str], int]) -> IntArray:
        """Tabulate `function` of each string that occurs in `numbers`: int64 (len(self),), by number.

        The table is as long as the vocabulary is when it is returned; strings that do not occur have 0.
        """
        distinct = self.distinct(numbers)
        values = list(map(function, map(self.strings.__getitem__, distinct.tolist())))
        table = np.zeros(len(self.strings), np.int64)
        table[distinct] = values
        return table

    def map(self, numbers: IntArray, function: dict[int, int]) -> IntArray:
        """Replace the numbers that are in `function`: int64, the same shape."""
        table = np.arange(len(self.strings), dtype=np.int64)
        for old, new in function.items():
            table[old] = new
        return table[numbers]


_SAME_SYNTAX = {("pharaoh", 1): "talp", ("talp", 0): "pharaoh"}
"""The format of the same lines whose words count from another base."""
IN_A_BENCHMARK = "In a benchmark, its organiser states the base in the benchmark's format."


@dataclass(frozen=True, slots=True)
class LinkForm:
    """The format of a text of links, with the options that decide what its numbers mean.

    Attributes:
        format: its name.
        base: number of a sentence's first word.
        reversed: whether the text writes the target word first.
        stated: whether the request states the base.
        options: further options of the format, as JSON without braces; empty for none.
        nested: whether it is the option `alignment` of the format `parallel`.
    """

    format: str
    base: int
    reversed: bool
    stated: bool
    options: str = ""
    nested: bool = False

    def with_base(self, base: int, *, turned: bool = False) -> LinkForm:
        """Return the form with a stated base, and the other direction if `turned`."""
        return replace(self, base=base, reversed=self.reversed != turned, stated=True)

    @property
    def value(self) -> str:
        """The format as a request writes it, with the base: `{"name": "pharaoh", "base": 1}`."""
        members = [f'"name": {_json(self.format)}', f'"base": {self.base}']
        members += ['"reversed": true'] * self.reversed + [self.options] * bool(self.options)
        return f"{{{', '.join(members)}}}"

    @property
    def words(self) -> str:
        """The format as a request writes it, or the short name of another that says the same."""
        short = None if self.reversed or self.options else _SAME_SYNTAX.get((self.format, self.base))
        named = f'"{short}" or {self.value}' if short else self.value
        return f'{{"name": "parallel", "alignment": {self.value}}}' if self.nested else named


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


NO_TAG = -1
"""Tag of a word without a preterminal."""


class Derived:
    """What is computed of a treebank alone and is written with it, so that gold's is computed once."""

    __slots__ = ()


D = TypeVar("D", bound=Derived)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """What every treebank knows about its sentences.

    Attributes:
        sent_ids: names of the sentences (None where unnamed), one a sentence; empty where the format has none.
        attributes: named sentence attributes (`newdoc`, `genre`), each one value a sentence.
        lenient: whether the format was asked to go on after a sentence that cannot be read.
        unreadable: sentence -> why it could not be read (only where `lenient`).
        warnings: what is unusual in the text though readable.
        advice: what the reader took for granted, for messages about the number of sentences.
        lacking: columns of CoNLL-U (`UPOS`) that the text has no place for; words have `_` there.
    """

    sent_ids: Sequence[str | None] = ()
    attributes: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    lenient: bool = False
    unreadable: Mapping[int, Problem] = field(default_factory=dict)
    warnings: Sequence[Problem] = ()
    advice: str = ""
    lacking: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstituentTreebank:
    """Sentences with constituent trees (or forests), n sentences, m nodes, w words.

    Nodes are the brackets that are no preterminals, in pre-order, sentence after sentence: label, start and end
    in this order determine the trees. A node with start == end dominates no word.

    Attributes:
        vocabulary: what the numbers mean.
        labels: label of each node, int64 (m,).
        starts, ends: its span, int64 (m,), counted inside its sentence.
        node_offsets: int64 (n + 1,), sentence i has nodes `node_offsets[i]:node_offsets[i + 1]`.
        words: word forms, int64 (w,).
        tags: labels of their preterminals, NO_TAG where a word has none, int64 (w,).
        word_offsets: int64 (n + 1,).
        lines: line on which each sentence begins, int64 (n,).
        sentences: names, attributes, what could not be read.
    """

    vocabulary: Vocabulary
    labels: IntArray
    starts: IntArray
    ends: IntArray
    node_offsets: IntArray
    words: IntArray
    tags: IntArray
    word_offsets: IntArray
    lines: IntArray
    sentences: Sentences = field(default_factory=Sentences)

    def __len__(self) -> int:
        return len(self.node_offsets) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GapTrees:
    """Constituent trees whose constituents may have gaps, n sentences, m nodes, w words; numbers of strings.

    Attributes:
        labels: category of each node, without function, int64 (m,).
        functions: function (edge label) of each node in its parent, 0 (the empty string) where it has none, (m,).
        parents: node above each node, counted over the whole file, `structure.NONE` for roots, int64 (m,).
        node_offsets: int64 (n + 1,).
        words: word forms, int64 (w,).
        tags: their parts of speech, NO_TAG where a word has none, int64 (w,).
        word_functions: function of each word in its parent, 0 where it has none, int64 (w,).
        lemmas, morphs: numbers of strings, 0 where the text has none, int64 (w,).
        anchors: node directly above each word, counted over the whole file, int64 (w,).
        word_offsets: int64 (n + 1,).
        lines: line on which each sentence begins, int64 (n,).
    """

    labels: IntArray
    functions: IntArray
    parents: IntArray
    node_offsets: IntArray
    words: IntArray
    tags: IntArray
    word_functions: IntArray
    lemmas: IntArray
    morphs: IntArray
    anchors: IntArray
    word_offsets: IntArray
    lines: IntArray

    def __len__(self) -> int:
        return len(self.node_offsets) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscontinuousTreebank(GapTrees):
    """Sentences with constituent trees whose constituents may have gaps, n sentences, m nodes, w words.

    Nodes are phrases, no preterminals. Each sentence has exactly one root, its first node, over all others; a node
    stands after its parent, and the nodes below one parent stand in the order of their first words. A node without
    words stands last. Which words a node dominates follows from `parents` and `anchors`.

    Attributes:
        vocabulary: what the numbers mean.
        sentences: names (`sent_ids`, by which sentences are matched where the format has them), what is unreadable.
    """

    vocabulary: Vocabulary
    sentences: Sentences = field(default_factory=Sentences)


NO_HEAD = -1
"""Head of a word whose HEAD field is `_`."""

ODD_HEAD = -2
"""Heads from here down are HEAD fields that are not plain decimal numbers (`02`, `+2`, `x`, absurdly large):
`ODD_HEAD - number of the string`, so that equal heads are equal as written, as eval07.pl compares them."""


WORD_COLUMNS = ("forms", "lemmas", "upos", "xpos", "feats", "heads", "deprels", "deps", "misc")
"""The columns of words of a `DependencyTreebank`, in the order of CoNLL-U."""
_OF_TOKENS = (
    *("mwt_starts", "mwt_ends", "mwt_forms", "mwt_misc"),
    *("empty_after", "empty_ids", "empty_forms", "empty_deps", "empty_lines", "empty_sentences"),
)
"""Those of multiword tokens and empty nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyTreebank:
    """Sentences with dependencies, n sentences, w syntactic words.

    Attributes:
        vocabulary: what the numbers mean.
        forms, lemmas, upos, xpos, feats, deprels, deps, misc: columns, numbers of strings, int64 (w,).
        heads: 0 the root, 1.. a word's position in its sentence (it may lie outside; each metric
            decides what a tree is), NO_HEAD none, ODD_HEAD or less not a plain number, int64 (w,).
        word_offsets: int64 (n + 1,).
        lines: line of each word in its text, 0 where it comes from none, int64 (w,).
        mwt_starts, mwt_ends: multiword tokens as ranges of words over the whole file, half-open, int64 (t,).
        mwt_forms, mwt_misc: their surface forms and MISC, int64 (t,).
        empty_after: sentence-crossing position (number of words before it in the file) of each empty node.
        empty_ids, empty_forms, empty_deps: ID, FORM and DEPS of the empty nodes, numbers of strings.
        empty_lines: their lines, int64.
        empty_sentences: their sentences, from 0, int64.
        sentences: names, attributes, what could not be read.
        kept: what was computed of the other attributes, so that what is known of gold serves all its uses.
    """

    vocabulary: Vocabulary
    forms: IntArray
    lemmas: IntArray
    upos: IntArray
    xpos: IntArray
    feats: IntArray
    heads: IntArray
    deprels: IntArray
    deps: IntArray
    misc: IntArray
    word_offsets: IntArray
    lines: IntArray
    mwt_starts: IntArray
    mwt_ends: IntArray
    mwt_forms: IntArray
    mwt_misc: IntArray
    empty_after: IntArray
    empty_ids: IntArray
    empty_forms: IntArray
    empty_deps: IntArray
    empty_lines: IntArray
    empty_sentences: IntArray
    sentences: Sentences = field(default_factory=Sentences)
    kept: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __reduce__(self) -> tuple[Callable[[], DependencyTreebank], tuple[()]]:
        """Pickle all but what is kept."""
        return partial(type(self), **{each.name: getattr(self, each.name) for each in fields(self) if each.init}), ()

    def __len__(self) -> int:
        return len(self.word_offsets) - 1

    def keeping(self, make: Callable[[DependencyTreebank], D]) -> D:
        """Return what a function makes of the treebank, which keeps it under the function's name."""
        if make.__name__ not in self.kept:
            self.kept[make.__name__] = make(self)
        found: D = self.kept[make.__name__]
        return found

    @classmethod
    def of_columns(
        cls,
        vocabulary: Vocabulary,
        word_offsets: IntArray,
        *,
        forms: IntArray,
        heads: IntArray,
        deprels: IntArray,
        lines: IntArray | None = None,
        sentences: Sentences | None = None,
        **columns: IntArray,
    ) -> DependencyTreebank:
        """Make a treebank without multiword tokens and empty nodes; missing columns hold `_`.

        Args:
            vocabulary: what the numbers mean.
            word_offsets: int64 (n + 1,).
            forms: int64 (w,), as are all columns.
            heads: as the attribute.
            deprels: relations.
            lines: line of each word; 0 where unknown.
            sentences: names and attributes.
            columns: further ones by name (`lemmas`, `upos`, ...).
        """
        blank = np.full(len(forms), vocabulary.number("_"), np.int64)
        return cls(
            vocabulary=vocabulary,
            word_offsets=word_offsets,
            lines=np.zeros(len(forms), np.int64) if lines is None else lines,
            sentences=sentences or Sentences(),
            **{**dict.fromkeys(WORD_COLUMNS, blank), **columns, "forms": forms, "heads": heads, "deprels": deprels},
            **dict.fromkeys(_OF_TOKENS, np.zeros(0, np.int64)),
        )


NO_CATEGORY = 0
"""Category of an expression that has none: the number of the empty string."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpressionTreebank(DependencyTreebank):
    """Dependency trees with multiword expressions, each a set of words of one sentence that may have gaps.

    Expressions may overlap, and several may have the same words. They stand in the order of their sentences, and there
    of their numbers. Each has a word.

    Attributes:
        expression_words: the words of k expressions, ascending in each, counted over the whole file, int64.
        expression_offsets: int64 (k + 1,), expression i has `expression_words[offsets[i]:offsets[i + 1]]`.
        expression_ids: number of each in its sentence, as written, int64 (k,).
        categories: category of each, NO_CATEGORY where it has none, number of a string, int64 (k,).
    """

    expression_words: IntArray
    expression_offsets: IntArray
    expression_ids: IntArray
    categories: IntArray

    def expression_sentences(self) -> IntArray:
        """Return the sentence of each expression, from 0, int64 (k,)."""
        return np.searchsorted(self.word_offsets, self.expression_words[self.expression_offsets[:-1]], "right") - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticTreebank:
    """Sentences with graphs of semantic dependencies, n sentences, w words, e edges.

    A word may be the argument of several predicates, or of none, and any number of words may be tops. No two edges lead
    from one predicate to one argument.

    Attributes:
        vocabulary: what the numbers mean.
        forms, lemmas, tags: columns (form, lemma, pos), numbers of strings, int64 (w,).
        frames: sense of each predicate, `_` where it has none, number of a string, int64 (w,).
        tops: whether each word is a top, bool (w,).
        predicates: whether each word is marked as a predicate; one may be without arguments, bool (w,).
        word_offsets: int64 (n + 1,).
        lines: line of each word in its text, int64 (w,).
        edge_predicates, edge_arguments: ends of each edge, words counted over the whole file, int64 (e,); edges stand
            in the order of their arguments, then of their predicates.
        edge_labels: role of each edge, number of a string, int64 (e,).
        sentences: ids of the graphs (`sent_ids`, by which they are matched), empty where the text has none.
    """

    vocabulary: Vocabulary
    forms: IntArray
    lemmas: IntArray
    tags: IntArray
    frames: IntArray
    tops: BoolArray
    predicates: BoolArray
    word_offsets: IntArray
    lines: IntArray
    edge_predicates: IntArray
    edge_arguments: IntArray
    edge_labels: IntArray
    sentences: Sentences = field(default_factory=Sentences)

    def __len__(self) -> int:
        return len(self.word_offsets) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignments:
    """Word alignments of n sentence pairs, l links. Position 0 is NULL, words count from 1.

    Attributes:
        source, target: positions of each link's ends, int32 (l,); no link stands twice in a pair.
        sure: whether a link is sure (else it is possible), bool (l,).
        offsets: int64 (n + 1,).
        pair_ids: identifier of each sentence pair, normalised (`0001` is `1`); the line numbers, from 1, where the
            format names no sentences.
        lines, columns: where each link stands in its text, int32 (l,); empty where it stands in none.
        sentences: names (empty where the format has none), what could not be read.
        form: how the numbers of the text were read; None if it was not read from a text.
    """

    source: Int32Array
    target: Int32Array
    sure: BoolArray
    offsets: IntArray
    pair_ids: Sequence[str]
    lines: Int32Array = field(default_factory=lambda: np.zeros(0, np.int32))
    columns: Int32Array = field(default_factory=lambda: np.zeros(0, np.int32))
    sentences: Sentences = field(default_factory=Sentences)
    form: LinkForm | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelTreebank:
    """Two treebanks of one length and the alignment between them."""

    source: DependencyTreebank
    target: DependencyTreebank
    alignment: Alignments

    @property
    def sentences(self) -> Sentences:
        """The sentences of the source side, which name the pairs."""
        return self.source.sentences

    def __len__(self) -> int:
        return len(self.source)


Treebank = (
    ConstituentTreebank | DiscontinuousTreebank | DependencyTreebank | SemanticTreebank | Alignments | ParallelTreebank
)


def without_blank_end(treebank: Any, gold: Treebank) -> Any:
    """Return an output without the blank lines at its end that are more than gold's sentences, with a warning.

    Others than lines of trees and links are returned as they are, and texts whose sentences have names.
    """
    lines = (ConstituentTreebank, DiscontinuousTreebank, Alignments)
    size, extra = len(gold), len(treebank) - len(gold)
    named = treebank.sentences.sent_ids or (isinstance(gold, Alignments) and gold.sentences.sent_ids)
    if (
        not isinstance(treebank, lines)
        or extra <= 0
        or named
        or any(at >= size for at in treebank.sentences.unreadable)
    ):
        return treebank
    changed: dict[str, Any] = {}
    if isinstance(treebank, Alignments):
        offsets, line = treebank.offsets, size + 1
        changed |= {"offsets": offsets[: size + 1], "pair_ids": treebank.pair_ids[:size]}
    else:
        offsets, line = treebank.word_offsets, int(treebank.lines[size])
        changed |= {name: getattr(treebank, name)[: size + 1] for name in ("word_offsets", "node_offsets")}
        changed["lines"] = treebank.lines[:size]
        nodes = int(treebank.node_offsets[size])
        if isinstance(treebank, DiscontinuousTreebank):  # a blank line has a root
            changed |= {name: getattr(treebank, name)[:nodes] for name in ("labels", "functions", "parents")}
        elif nodes < len(treebank.labels):
            return treebank
    if offsets[size] < offsets[-1]:
        return treebank
    which = "1 blank line stands" if extra == 1 else f"{extra} blank lines stand"
    detail = f"{which} after the last sentence, and {'is' if extra == 1 else 'are'} ignored. End the text before."
    warnings = [*treebank.sentences.warnings, Problem("blank-line-at-end", detail, line=line)]
    return replace(treebank, sentences=replace(treebank.sentences, warnings=warnings), **changed)


def said_of_blank_end(gold: ConstituentTreebank | DiscontinuousTreebank | Alignments, fewer: int) -> str:
    """Say to those who may read gold that all sentences that an output lacks are blank lines; `""` if not so."""
    offsets = gold.offsets if isinstance(gold, Alignments) else gold.word_offsets
    if fewer >= len(gold) or offsets[fewer] < offsets[-1]:
        return ""
    return f" Gold ends with {counted(len(gold) - fewer, 'blank line')}: remove what stands for no sentence."
