"""What metrics of constituents share: what disco-dop leaves out, and a warning of outermost brackets of one side alone.

disco-dop's parameter file proper.prm says what is deleted and what counts as equal.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.discontinuity import divided
from treescore.core.structure import NONE
from treescore.core.trees import ConstituentTreebank, DiscontinuousTreebank, Vocabulary
from treescore.errors import Problem

DELETED_LABELS = (
    *("NOPARSE", "TOP", "ROOT", "VROOT", "$,", "$(", "$[", "$.", "PUNCT", "punct", "LET[]", "LET()", "LET"),
    *("let[]", "let()", "let", ",", ":", "``", "''", ".", "-NONE-"),
)
DELETED_FORMS = (
    *(".", ",", ":", ";", "'", "`", '"', "``", "''", "-", "(", ")", "/", "&", "$", "!", "!!!"),
    *("?", "??", "???", "..", "...", "«", "»"),
)
EQUAL_LABELS = (("ADVP", "PRT"),)
EQUAL_WORDS = (("-LRB-", "("), ("-RRB-", ")"))

Pairs = Sequence[Sequence[str]]
Trees = ConstituentTreebank | DiscontinuousTreebank


class Deletions(NamedTuple):
    """What is deleted from trees before they are compared, and what counts as equal.

    Attributes:
        labels: constituents with these labels are not compared; words with these tags in gold are deleted.
        forms: words with these forms in gold are deleted.
        equal_labels, equal_words: pairs that count as equal, transitively.
        root_words: whether words directly below the root in gold are deleted.
    """

    labels: Sequence[str] = DELETED_LABELS
    forms: Sequence[str] = DELETED_FORMS
    equal_labels: Pairs = EQUAL_LABELS
    equal_words: Pairs = EQUAL_WORDS
    root_words: bool = False

    def words_agree(self, gold: DiscontinuousTreebank, system: DiscontinuousTreebank) -> BoolArray:
        """Tell of each of n sentences whether both sides have the same words, bool (n,)."""
        fine = np.diff(gold.word_offsets) == np.diff(system.word_offsets)
        same = representatives(gold.vocabulary, self.equal_words)
        owners, others = owners_of(gold.word_offsets), owners_of(system.word_offsets)
        differ = same[gold.words[fine[owners]]] != same[system.words[fine[others]]]
        fine[owners[fine[owners]][differ]] = False
        return np.asarray(fine, np.bool_)

    def kept_words(self, gold: DiscontinuousTreebank) -> BoolArray:
        """Tell of each of gold's w words whether it is left, bool (w,)."""
        tags, forms = (listed(gold.vocabulary, names) for names in (self.labels, self.forms))
        deleted = (tags[gold.tags] & (gold.tags >= 0)) | forms[gold.words]
        if self.root_words:
            deleted |= gold.parents[gold.anchors] == NONE
        return np.asarray(~deleted, np.bool_)

    def kept_of_system(
        self, gold: DiscontinuousTreebank, system: DiscontinuousTreebank, kept: BoolArray, fine: BoolArray
    ) -> BoolArray:
        """Tell of each word of the output whether it is left: those where gold's is, in sentences that are `fine`.

        Args:
            gold: the gold treebank.
            system: the output.
            kept: which of gold's words are left, bool.
            fine: sentences with the same words on both sides, bool (n,).
        """
        left = fine[owners_of(system.word_offsets)]
        left[left] = kept[fine[owners_of(gold.word_offsets)]]
        return np.asarray(left, np.bool_)

    def applied(
        self, gold: DiscontinuousTreebank, system: DiscontinuousTreebank, fine: BoolArray
    ) -> tuple[DiscontinuousTreebank, DiscontinuousTreebank]:
        """Return both sides without the words that are deleted; of the output only sentences that are `fine`, (n,)."""
        kept = self.kept_words(gold)
        return without_words(gold, kept), without_words(system, self.kept_of_system(gold, system, kept, fine))


def without_words(tree: DiscontinuousTreebank, kept: BoolArray) -> DiscontinuousTreebank:
    """Return trees with some of their words, bool (w,); nodes that lose all of theirs stay."""
    before = np.append(0, np.cumsum(kept))
    return replace(
        tree,
        **{
            name: getattr(tree, name)[kept]
            for name in ("words", "tags", "word_functions", "lemmas", "morphs", "anchors")
        },
        word_offsets=before[tree.word_offsets],
    )


SHOWN_WORDS = 20
ELLIPSIS = "..."
"""Stands for the words of a constituent that are shown no more, after so many."""


def compared_words(gold: Trees, sentence: int, deleted: Collection[str] = ()) -> list[str]:
    """Return the words of a sentence, from 0, that are left where those with some tags are deleted."""
    here = slice(*gold.word_offsets[sentence : sentence + 2].tolist())
    strings = gold.vocabulary.strings
    pairs = zip(gold.words[here].tolist(), gold.tags[here].tolist(), strict=True)
    return [strings[word] for word, tag in pairs if tag < 0 or strings[tag] not in deleted]


def shown_words(words: Sequence[str]) -> str:
    """Return the words of a constituent, of many the first ones and an ellipsis."""
    return " ".join(words if len(words) <= SHOWN_WORDS else [*words[:SHOWN_WORDS], ELLIPSIS])


def listed(vocabulary: Vocabulary, names: Iterable[str]) -> BoolArray:
    """Tell of each of v strings whether it is one of these: bool (v,)."""
    flags = np.zeros(len(vocabulary), np.bool_)
    flags[[number for number in map(vocabulary.get, names) if number is not None]] = True
    return flags


def representatives(vocabulary: Vocabulary, pairs: Pairs) -> IntArray:
    """Return for each of v strings the one that stands for all that are equal to it, transitively: int64 (v,)."""
    table = np.arange(len(vocabulary))
    first: dict[str, int] = {}
    for name, class_ in _classes(pairs).items():
        number = vocabulary.get(name)
        if number is not None:
            table[number] = first.setdefault(class_, number)
    return table


def _classes(pairs: Pairs) -> dict[str, str]:
    """Return the class of each string, also of those that no text has, which may join two that texts have."""
    above: dict[str, str] = {}

    def root(name: str) -> str:
        while (parent := above.setdefault(name, name)) != name:
            above[name] = above[parent]
            name = parent
        return name

    for one, other in pairs:
        above[root(one)] = root(other)
    return {name: root(name) for name in tuple(above)}


_WRAPPERS = ("", "ROOT", "TOP", "S1", "VROOT", "PSROOT")
"""Usual labels around a tree; any other label is one if it stands around all trees, of this many or more."""
_ENOUGH = 5
_ONE_LABEL = "give the outermost brackets of both sides one label"
_EITHER = f"leave it out if it only wraps the tree, else {_ONE_LABEL}"
"""For those who may not read gold: whether it wraps the tree may follow from gold's labels."""


def root_warnings(
    gold: Trees,
    system: Trees,
    left_out: Collection[str],
    seen_as: Callable[[str], str] = str,
    setting_of: Callable[[str], str] | None = None,
) -> list[Problem]:
    """Warn where each tree of a side has an outermost bracket that is counted and that the other side never has.

    Args:
        gold: the trees as the metric gets them.
        system: likewise.
        left_out: labels that are not counted, or count as equal to others.
        seen_as: how the metric reads a label, as without its function.
        setting_of: what leaves out brackets of this label; by default the transform, where it reads such trees.
    """
    roots = [_roots(each) for each in (gold, system)]
    if not len(roots[0]) or not len(roots[1]):
        return []
    vocabulary = gold.vocabulary

    def seen_in(labels: IntArray) -> set[str]:
        return {seen_as(vocabulary.strings[number]) for number in vocabulary.distinct(labels).tolist()}

    found = []
    for at, (side, other) in enumerate((("gold", "the output"), ("the output", "gold"))):
        own, others, elsewhere = roots[at], roots[1 - at], (system, gold)[at].labels
        written, beside = (vocabulary.strings[labels[0]] for labels in (own, others))
        label = seen_as(written)
        known = label in _WRAPPERS
        wrapping = known or len(own) >= _ENOUGH
        if label in left_out or not wrapping or len(seen_in(own)) > 1 or label in seen_in(elsewhere):
            continue
        if not (known or seen_in(others) <= seen_in((gold, system)[at].labels)):
            setting = _ONE_LABEL
        elif setting_of is not None:
            setting = f"{setting_of(label)} to leave it out"
        elif isinstance(gold, ConstituentTreebank) and isinstance(system, ConstituentTreebank):
            setting = f"name {written!r} in `labels` of the transform delete-labels to leave it out"
        else:
            setting = _ONE_LABEL
        never = "It counts and is never right"
        plain = f"Every tree of {side} has the outermost bracket {_bracket(written)}, which no tree of {other} has"
        detail = f"{plain}. {never}: {setting if known else _EITHER}."
        if side == "gold":  # whose labels are not shown
            detail = f"Every tree of gold has an outermost bracket that no tree of the output has. {never}: {_EITHER}."
        quoted = f"{plain} (there it is {_bracket(beside)}). {never}: {setting}."
        found.append(Problem("root-label", detail, gold_detail=quoted))
    return found


def category_of(label: str) -> str:
    """Return a label without its function, as trees that may have gaps are compared by."""
    return divided(label)[0]


def _roots(side: Trees) -> IntArray:
    """Return the labels of the outermost brackets of trees with words."""
    return side.labels[side.node_offsets[:-1][(np.diff(side.node_offsets) > 0) & (np.diff(side.word_offsets) > 0)]]


def _bracket(label: str) -> str:
    return repr(label) if label else "without a label"
