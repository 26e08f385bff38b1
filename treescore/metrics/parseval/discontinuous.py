"""PARSEVAL over constituents that may have gaps, as disco-dop computes it (van Cranenburgh, Scha & Bod 2016).

Which brackets are compared and which match, function tags of brackets and words that both sides have, counts and items.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, joint_keys, offsets_of, owners_of, paired_rows, sums_by
from treescore.core.columns import Lists, Numbers, Records, Rows, ranges_of, strings_of
from treescore.core.discontinuity import Spans, extents_of, same_yields
from treescore.core.registry import ERROR, OK, SKIP, StatusArray
from treescore.core.trees import NO_TAG, DiscontinuousTreebank, Vocabulary
from treescore.metrics.parseval.choices import Choices
from treescore.metrics.parseval.details import BracketColumns, BracketTables
from treescore.metrics.parseval.scores import GAP_COUNTS, gap_score_table
from treescore.metrics.shared.constituents import listed, representatives, without_words

UNMATCHED = -1


class Brackets(NamedTuple):
    """The b brackets of one side that are compared: those over words that are left, not deleted.

    Attributes:
        sentences: of each, from 0, int64 (b,).
        yields: two columns that are equal where two brackets of a sentence are over the same words, int64 (b,) each.
        labels: int64 (b,).
        compared: the label by which each is compared; one for all where labels do not matter, int64 (b,).
        functions: int64 (b,).
        firsts, lasts: first and last word, counted in the sentence, int64 (b,).
        sizes: words, without deleted ones, int64 (b,).
        gaps: whether words that are not deleted lie between its own, bool (b,).
        distinct: whether it is the first of its side with these words and this label, bool (b,).
        partners: the bracket of the other side that each takes, UNMATCHED for none, int64 (b,).
    """

    sentences: IntArray
    yields: tuple[IntArray, IntArray]
    labels: IntArray
    compared: IntArray
    functions: IntArray
    firsts: IntArray
    lasts: IntArray
    sizes: IntArray
    gaps: BoolArray
    distinct: BoolArray
    partners: IntArray

    @property
    def key(self) -> Sequence[IntArray]:
        """The columns by which brackets are compared."""
        return [self.sentences, *self.yields, self.compared]


@dataclass(frozen=True)
class Comparison:
    """Two treebanks of n sentences that are compared.

    Attributes:
        gold, system: the treebanks.
        choices: of the metric.
    """

    gold: DiscontinuousTreebank
    system: DiscontinuousTreebank
    choices: Choices

    @cached_property
    def status(self) -> StatusArray:
        """ERROR where words differ or a side cannot be read, SKIP where the output has no words, uint8 (n,)."""
        gold, system = self.gold, self.system
        status = np.where(self.choices.deletions.words_agree(gold, system), OK, ERROR).astype(np.uint8)
        status[(np.diff(system.word_offsets) == 0) & (np.diff(gold.word_offsets) > 0)] = SKIP
        status[[*gold.sentences.unreadable, *system.sentences.unreadable]] = ERROR
        return status

    @cached_property
    def fine(self) -> BoolArray:
        """The sentences that can be compared, bool (n,); the others have no bracket of the output."""
        return np.asarray(self.status == OK, np.bool_)

    @cached_property
    def kept(self) -> tuple[BoolArray, BoolArray]:
        """The words of gold and of the output that are compared: gold's tag or form decides for both."""
        deletions = self.choices.deletions
        left = deletions.kept_words(self.gold)
        return left, deletions.kept_of_system(self.gold, self.system, left, self.fine)

    @cached_property
    def same(self) -> IntArray:
        """For each string the one that stands for all that are equal to it."""
        return representatives(self.gold.vocabulary, self.choices.equal_labels)

    @cached_property
    def sides(self) -> tuple[Brackets, Brackets]:
        """The brackets of gold and of the output, paired one to one."""
        trees = [without_words(tree, kept) for tree, kept in zip((self.gold, self.system), self.kept, strict=True)]
        # Yields of the output that gold does not have are all different there, also from each other.
        own_spans = same_yields(trees[1], trees[1])[0]
        of_gold, of_system = same_yields(trees[0], trees[1])
        gold = self._brackets(trees[0], self.gold, self.kept[0], of_gold, of_gold)
        system = self._brackets(trees[1], self.system, self.kept[1], of_system, own_spans)
        golds, systems = paired_rows(gold.key, system.key)
        gold.partners[golds], system.partners[systems] = systems, golds
        return gold, system

    def _brackets(
        self, tree: DiscontinuousTreebank, whole: DiscontinuousTreebank, kept: BoolArray, spans: Spans, own_spans: Spans
    ) -> Brackets:
        """Return the brackets of one side, of its tree without deleted words and as it was.

        Args:
            tree: without the words.
            whole: with them.
            kept: which words are left.
            spans: yields that can be compared with the other side's.
            own_spans: yields that can be compared with each other.
        """
        extents = extents_of(tree)
        chosen = (extents.sizes > 0) & ~listed(tree.vocabulary, self.choices.delete_labels)[tree.labels]
        if self.choices.only_gaps:
            chosen &= extents.lasts - extents.firsts + 1 != extents.sizes
        nodes = np.flatnonzero(chosen)
        sentences = owners_of(tree.node_offsets)[nodes]
        firsts, lasts, sizes = (column[nodes] for column in extents)
        places = np.flatnonzero(kept)
        begin = whole.word_offsets[sentences]
        labels = tree.labels[nodes]
        compared = self.same[labels] if self.choices.labelled else np.zeros(len(labels), np.int64)
        starts, ends = (column[nodes] for column in spans)
        return Brackets(
            sentences,
            (starts + 1, ends + len(self.gold.labels) + len(self.system.labels) + 1),
            labels,
            compared,
            tree.functions[nodes],
            places[firsts] - begin,
            places[lasts] - begin,
            sizes,
            lasts - firsts + 1 != sizes,
            _first_of_each([sentences, *(column[nodes] for column in own_spans), compared]),
            np.full(len(nodes), UNMATCHED, np.int64),
        )

    @cached_property
    def rows(self) -> IntArray:
        """Counts, columns as `gap_score_table` has them, int64 (n, k)."""
        counts = self._counts()
        if self.choices.zero and not self.fine.all():
            counts[~self.fine] = absent_rows(self.gold, self.choices)[~self.fine, : len(GAP_COUNTS)]
        _charge(counts, self.status, zero=self.choices.zero)
        tags = self.gold.tags
        uncounted = listed(self.gold.vocabulary, self.choices.delete_labels_for_length)[tags] & (tags >= 0)
        length = sums_by(owners_of(self.gold.word_offsets)[~uncounted], len(self.gold))
        short = counts * (length <= self.choices.cutoff)[:, None]
        return np.concatenate([counts, short, length[:, None]], axis=1)

    def _counts(self) -> IntArray:
        """Count brackets, words and tags of each sentence, columns as GAP_COUNTS; states are 0 yet. int64 (n, k)."""
        gold, system = self.sides
        matched = gold.partners != UNMATCHED
        spans = paired_rows([gold.sentences, *gold.yields], [system.sentences, *system.yields])[0]
        left, other = self.kept
        owners = owners_of(self.gold.word_offsets)
        both = left & self.fine[owners]
        right = self.gold.tags[both] == self.system.tags[other]
        counted = (
            *(gold.sentences[matched], gold.sentences, system.sentences, gold.sentences[spans]),
            *(gold.sentences[matched & gold.gaps], gold.sentences[gold.gaps], system.sentences[system.gaps]),
            *(gold.sentences[gold.distinct], system.sentences[system.distinct]),
            *(owners[left], owners[both][right], *function_tags(self)),
        )
        counts = np.zeros((len(self.gold), len(GAP_COUNTS)), np.int64)
        counts[:, : len(counted)] = np.stack([sums_by(column, len(counts)) for column in counted], axis=1)
        return counts

    def tables(self) -> BracketTables:
        """Slices, and tables of errors."""
        gold, system = self.sides
        matched_labels = np.append(system.labels, UNMATCHED)[gold.partners]  # UNMATCHED, the last, stays UNMATCHED
        golds = BracketColumns(gold.sentences, *gold.yields, gold.labels, matched_labels)
        taken = (system.partners != UNMATCHED).astype(np.int64)
        systems = BracketColumns(system.sentences, *system.yields, system.labels, taken)
        table = gap_score_table(zero=self.choices.zero, only_gaps=self.choices.only_gaps)
        golds = golds.rows(self.fine[gold.sentences])
        return BracketTables(self.gold.vocabulary, table, GAP_COUNTS, self.rows, golds, systems)

    def items(self, start: int, stop: int) -> Records:
        """Return the brackets of the sentences from `start` to `stop`, and which the other side has."""
        gold, system = self.sides
        members = {}
        for name, right, side in (
            ("gold_spans", "gold_spans_found", gold),
            ("system_spans", "system_spans_right", system),
        ):
            members[name], flags = self._spans(side, start, stop)
            members[right] = Lists(members[name].offsets, Numbers(flags))
        return Records(members)

    def _spans(self, side: Brackets, start: int, stop: int) -> tuple[Lists, BoolArray]:
        """Return brackets as lists of label, first word, the word after the last one, and number of words."""
        rows = slice(*np.searchsorted(side.sentences, [start, stop]).tolist())
        offsets = offsets_of(sums_by(side.sentences[rows] - start, stop - start))
        numbers = map(Numbers, (side.firsts[rows], side.lasts[rows] + 1, side.sizes[rows]))
        columns = Rows([strings_of(side.labels[rows], self.gold.vocabulary), *numbers])
        return Lists(offsets, columns), side.partners[rows] != UNMATCHED


def _first_of_each(columns: Sequence[IntArray]) -> BoolArray:
    """Tell of each row whether it is the first with its values, which are 0 or more: bool (b,)."""
    keys, _ = joint_keys(columns, [column[:0] for column in columns])
    first = np.zeros(len(keys), np.bool_)
    first[np.unique(keys, return_index=True)[1]] = True
    return first


_ONE_WORD = 0
"""Begin of what has one word, so that a bracket and a tag over the same word and with the same label are one."""


class _Units(NamedTuple):
    """Brackets, then words, that may have functions.

    Attributes:
        sentences: of each, int64 (u,).
        key: columns by which they are compared.
        functions: numbers of strings, int64 (u,).
    """

    sentences: IntArray
    key: Sequence[IntArray]
    functions: IntArray


def function_tags(compared: Comparison) -> tuple[IntArray, IntArray, IntArray]:
    """Return the sentences of function tags that match, of gold's and of the output's.

    A function has the tags between its hyphens. Those of brackets count that the other side has too, under the same
    label, and those of words whose tags agree.
    """
    sides = _units(compared, compared.gold, 0), _units(compared, compared.system, 1)
    agree = _agreeing(compared)
    keys = joint_keys(sides[0].key, sides[1].key)
    gold, system = (
        _divided(
            sides[number],
            keys[number],
            np.flatnonzero(_counted(compared, number, keys[number], keys[1 - number], agree)),
            compared.gold.vocabulary,
        )
        for number in range(2)
    )
    return gold[0][paired_rows(gold[1:], system[1:])[0]], gold[0], system[0]


def _counted(compared: Comparison, side: int, own: IntArray, others: IntArray, agree: BoolArray) -> BoolArray:
    """Tell of each unit of one side whether its function tags count.

    Args:
        compared: the treebanks.
        side: 0 for gold, 1 for the output.
        own: numbers of the keys of its units.
        others: those of the other side.
        agree: whether the tags of each word agree.
    """
    brackets, other = compared.sides[side], compared.sides[1 - side]
    size = len(brackets.labels)
    if not compared.choices.labelled:  # disco-dop then looks for labelled brackets among those without labels
        return np.append(np.zeros(size, np.bool_), agree)
    counted = np.append(brackets.partners != UNMATCHED, agree)
    # Of equal brackets all count that the other side has once.
    rest = np.flatnonzero(~counted[:size])
    counted[rest] = np.isin(own[rest], own[:size][counted[:size]])
    # A word counts also where the other side has a bracket with its tag as label over it alone.
    rest = size + np.flatnonzero(~agree)
    counted[rest] = np.isin(own[rest], others[np.flatnonzero(other.sizes == 1)])
    return np.asarray(counted, np.bool_)


def _units(compared: Comparison, tree: DiscontinuousTreebank, side: int) -> _Units:
    """Return the brackets of one side that are compared, and its words in sentences that can be compared."""
    brackets: Brackets = compared.sides[side]
    one_word = brackets.sizes == 1
    owners = owners_of(tree.word_offsets)
    words = np.flatnonzero(compared.kept[side] & compared.fine[owners])
    of_words = owners[words]
    same = np.append(compared.same, NO_TAG)
    sentences = np.concatenate([brackets.sentences, of_words])
    starts, ends = brackets.yields
    key = [
        sentences,
        np.concatenate([np.where(one_word, _ONE_WORD, starts + 1), np.full(len(words), _ONE_WORD)]),
        np.concatenate([np.where(one_word, brackets.firsts, ends), words - tree.word_offsets[of_words]]),
        np.concatenate([same[brackets.labels], same[tree.tags[words]]]) - NO_TAG,
    ]
    return _Units(sentences, key, np.concatenate([brackets.functions, tree.word_functions[words]]))


def _agreeing(compared: Comparison) -> BoolArray:
    """Tell of each word that both sides have whether its tags are equal, or taken as equal."""
    same = np.append(compared.same, NO_TAG)
    tags = []
    for tree, kept in zip((compared.gold, compared.system), compared.kept, strict=True):
        tags.append(same[tree.tags[kept & compared.fine[owners_of(tree.word_offsets)]]])
    return np.asarray(tags[0] == tags[1], np.bool_)


def _divided(side: _Units, keys: IntArray, chosen: IntArray, vocabulary: Vocabulary) -> Sequence[IntArray]:
    """Return the function tags of some units: the sentence of each, the number of its unit's key, and the tag.

    `keys` are the numbers of all units' keys.
    """
    functions = side.functions[chosen]
    distinct = vocabulary.distinct(functions)
    parts = [string.split("-") if string else [] for string in map(vocabulary.strings.__getitem__, distinct.tolist())]
    sizes = np.array([len(names) for names in parts], np.int64)
    places = np.searchsorted(distinct, functions)
    rows = np.repeat(chosen, sizes[places])
    found, _ = ranges_of(offsets_of(sizes)[places], sizes[places])
    tags = vocabulary.numbers([name for names in parts for name in names])
    return side.sentences[rows], keys[rows], tags[found]


def absent_rows(gold: DiscontinuousTreebank, choices: Choices) -> IntArray:
    """Count each sentence of gold as one that the output skips: int64 (n, k)."""
    compared = Comparison(gold, gold, replace(choices, zero=False))
    counts = compared.rows[:, : len(GAP_COUNTS)]
    _charge(counts, np.full(len(gold), SKIP, np.uint8), zero=True)
    length = compared.rows[:, -1:]
    return np.concatenate([counts, counts * (length <= choices.cutoff), length], axis=1)


def _charge(counts: IntArray, status: StatusArray, *, zero: bool) -> None:
    """Fill the states of the sentences, and leave out what is not valid; with `zero` count it as wrong: (n, k)."""
    column = {name: number for number, name in enumerate(GAP_COUNTS)}
    valid = status == OK
    if zero:
        for right in ("matched", "unlabelled_matched", "disc_matched", "correct_tags", "function_matched"):
            counts[~valid, column[right]] = 0
        for kind in ("", "disc_", "distinct_", "function_"):
            counts[~valid, column[f"{kind}system"]] = counts[~valid, column[f"{kind}gold"]]
    else:
        counts[~valid] = 0
    matched, golds, systems = (counts[:, column[name]] for name in ("matched", "gold", "system"))
    gaps = [counts[:, column[f"disc_{name}"]] for name in ("matched", "gold", "system")]
    counted = valid | zero
    for name, flags in (
        ("sentences", np.ones(len(status), np.bool_)),
        ("error", status == ERROR),
        ("skip", status == SKIP),
        ("valid", valid),
        ("complete", valid & (matched == golds) & (golds == systems)),
        ("disc_sentences", counted & (gaps[1] + gaps[2] > 0)),
        ("disc_complete", valid & (gaps[1] + gaps[2] > 0) & (gaps[0] == gaps[1]) & (gaps[1] == gaps[2])),
    ):
        counts[:, column[name]] = flags
