"""Transforms of words and of labels, and the deletions of words and nodes of which others are made.

`drop-traces` and `drop-punctuation` delete words, `drop-empty` the phrases left without any; `strip-functions` cuts
extensions of labels off, `rename-labels` renames, `delete-labels` deletes.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by
from treescore.core.params import BOOLEAN, STRINGS, Json, Param, escape
from treescore.core.registry import Transform, register
from treescore.core.structure import NONE, structure_of
from treescore.core.text import is_punctuation
from treescore.core.trees import NO_TAG, ConstituentTreebank, Sentences, Vocabulary
from treescore.core.word_check import paired_words
from treescore.errors import InputError, Problem
from treescore.formats.shared.bracket_reader import UnbalancedLine

NULL_TAGS = ("-NONE-",)


def null_elements(treebank: ConstituentTreebank, tags: Collection[str] = NULL_TAGS) -> BoolArray:
    """Find words that stand for nothing in the text: bool (w,)."""
    return numbered(treebank.vocabulary, treebank.tags, lambda tag: tag in tags)


def wordless(treebank: ConstituentTreebank, tags: Collection[str]) -> BoolArray:
    """Find null elements, and what holds the place of an emptied phrase: bool (w,)."""
    return null_elements(treebank, tags) | placeholders(treebank)


@register
class DropTraces(Transform):
    """Deletes traces and other null elements."""

    name = "drop-traces"
    doc = (
        "Deletes null elements (words tagged -NONE-). The emptied phrases stay, without words (drop-empty removes "
        'them), or with "emptied": "word" each as long as one word, as Kikas & Treumuth count them without -x.'
    )
    source = "Kikas & Treumuth 2007, option -c (words)"
    reads = (ConstituentTreebank,)
    params: ClassVar[Mapping[str, Param]] = {
        "tags": Param(STRINGS, list(NULL_TAGS), "Tags of null elements."),
        "emptied": Param(
            {"enum": ["keep", "word"]},
            "keep",
            "keep: a phrase of null elements only is left without words; word: it counts as one word long.",
        ),
    }

    guided = True

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:
        """Delete null elements."""
        tags = frozenset(self.values["tags"])
        deleted = decided_by(treebank, guide, lambda side: null_elements(side, tags))
        if self.values["emptied"] == "word":
            first_words = _first_words_of_emptied(treebank, deleted)
            deleted = deleted & ~first_words
            # What holds the place of an emptied phrase is a word without form and tag: no constituent of its own.
            words = np.where(first_words, 0, treebank.words)
            treebank = replace(treebank, words=words, tags=np.where(first_words, NO_TAG, treebank.tags))
        return without_words(treebank, deleted)


def placeholders(treebank: ConstituentTreebank) -> BoolArray:
    """Find words that hold the place of an emptied phrase: bool (w,)."""
    return np.asarray((treebank.words == 0) & (treebank.tags == NO_TAG), np.bool_)


def _first_words_of_emptied(treebank: ConstituentTreebank, deleted: BoolArray) -> BoolArray:
    """Find the first word of each phrase without phrases that loses all its words: bool (w,)."""
    parents = structure_of(treebank).parents
    childless = np.ones(len(parents), np.bool_)
    childless[parents[parents != NONE]] = False
    before = offsets_of(deleted.astype(np.int64))
    firsts = np.repeat(treebank.word_offsets[:-1], np.diff(treebank.node_offsets))
    starts, ends = firsts + treebank.starts, firsts + treebank.ends
    emptied = childless & (ends > starts) & (before[ends] - before[starts] == ends - starts)
    first_words = np.zeros(len(deleted), np.bool_)
    first_words[starts[emptied]] = True
    return first_words


PUNCTUATION_TAGS = (",", ".", ":", "``", "''", '"', "-LRB-", "-RRB-", "(", ")", "NFP", "PUNCT")
"""Tags of punctuation outside words. HYPH, a hyphen inside a word, is not among them."""


def punctuation(treebank: ConstituentTreebank, tags: Collection[str] | None = PUNCTUATION_TAGS) -> BoolArray:
    """Find punctuation by tag, bool (w,); words without tag, or all words if `tags` is None, by their characters."""
    by_form = numbered(treebank.vocabulary, treebank.words, is_punctuation)
    if tags is None:
        return by_form
    by_tag = numbered(treebank.vocabulary, treebank.tags, frozenset(tags).__contains__)
    return np.asarray(by_tag | (by_form & (treebank.tags == NO_TAG)), np.bool_)


@register
class DropPunctuation(Transform):
    """Deletes punctuation words."""

    name = "drop-punctuation"
    doc = (
        "Deletes words tagged as punctuation; words without a tag where all characters are punctuation. Gold's tags "
        "decide for both sides, by position, in sentences of equal length. Phrases left without words stay empty."
    )
    source = "Black et al. 1991; Unicode category P"
    reads = (ConstituentTreebank,)
    params: ClassVar[Mapping[str, Param]] = {
        "by": Param(
            {"enum": ["tags", "characters"]},
            "tags",
            "characters: a word is punctuation where all its characters are in Unicode category P, with any tag.",
        ),
        "tags": Param(STRINGS, list(PUNCTUATION_TAGS), "Tags of punctuation."),
    }

    @property
    def guided(self) -> bool:
        """See Transform."""
        return bool(self.values["by"] == "tags")

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:
        """Delete punctuation."""
        tags = self.values["tags"] if self.values["by"] == "tags" else None
        return without_words(treebank, decided_by(treebank, guide, lambda side: punctuation(side, tags)))


@register
class DropEmpty(Transform):
    """Deletes empty phrases, and phrases that become empty."""

    name = "drop-empty"
    doc = "Deletes phrases without words, recursively; those that drop-traces counts as one word long too."
    source = "Kikas & Treumuth 2007, option -x"
    reads = (ConstituentTreebank,)

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:  # noqa: ARG002 - emptiness is each side's own
        """Delete empty phrases."""
        treebank = without_words(treebank, placeholders(treebank))
        return without_nodes(treebank, empty_nodes(treebank))


CUT_AT = "-="


def base_label(label: str, cut_at: str = CUT_AT) -> str:
    """Cut a label at its first cut character (NP-SBJ-68 is NP), unless it begins with one (-LRB-, -NONE-)."""
    if not label or label[0] in cut_at:
        return label
    return label[: min((position for position in map(label.find, cut_at) if position > 0), default=len(label))]


def base_labels(vocabulary: Vocabulary, labels: IntArray, cut_at: str = CUT_AT) -> IntArray:
    """Cut the extensions of labels: the same shape; NO_TAG stays."""
    return rewritten(vocabulary, labels, lambda label: base_label(label, cut_at))


@register
class StripFunctions(Transform):
    """Cuts function tags and co-indexes off."""

    name = "strip-functions"
    doc = (
        "Cuts label extensions off: NP-SBJ-68 and NP=2 become NP; labels that begin with a cut character, like -LRB- "
        "and -NONE-, stay whole."
    )
    source = "Kikas & Treumuth 2007, option -c (labels); Marcus, Santorini & Marcinkiewicz 1993"
    reads = (ConstituentTreebank,)
    params: ClassVar[Mapping[str, Param]] = {
        "cut_at": Param({"type": "string", "minLength": 1}, CUT_AT, "A label ends before the first of these."),
        "tags": Param(BOOLEAN, True, "Cut the words' tags too."),
    }

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:  # noqa: ARG002 - labels are each side's own
        """Shorten the labels."""
        cut_at = self.values["cut_at"]
        tags = treebank.tags
        return replace(
            treebank,
            labels=base_labels(treebank.vocabulary, treebank.labels, cut_at),
            tags=base_labels(treebank.vocabulary, tags, cut_at) if self.values["tags"] else tags,
        )


MOST_NAMES = 10_000
"""Most labels that one transform renames."""

_SHOWN = 5
"""Most names of a circle that a message quotes."""

_NAMES: Mapping[str, Json] = {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": MOST_NAMES}


@register
class RenameLabels(Transform):
    """Renames labels, so that two count as one under every metric."""

    name = "rename-labels"
    doc = (
        "Gives labels other names, in constituents and in tags, so that labels count as equal under metrics without "
        "a list of equal ones. A new name that is renamed itself is followed to its end."
    )
    source = "EVALB's EQ_LABEL, as a step of its own and transitive"
    reads = (ConstituentTreebank,)
    example: ClassVar[Mapping[str, Json]] = {"labels": {"NP": "X", "NN": "DT"}}
    params: ClassVar[Mapping[str, Param]] = {
        "labels": Param(
            _NAMES,
            {},
            'Old name to new name, as in {"ADVP": "PRT"}; names as they stand in the tree, extensions included, "" '
            "for brackets without a label.",
        ),
        "apply_to": Param(
            {"enum": ["all", "constituents", "tags"]}, "all", "What is renamed: labels of constituents, tags, or both."
        ),
    }

    def __init__(self, **values: Json) -> None:
        """Follow the names to their ends. Raises InputError: `renaming-cycle`."""
        super().__init__(**values)
        self._names = _followed(values["labels"])

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:  # noqa: ARG002 - labels are each side's own
        """Rename the labels."""
        names, where = self._names, self.values["apply_to"]

        def renamed(label: str) -> str:
            return names.get(label, label)

        return replace(
            treebank,
            labels=treebank.labels if where == "tags" else rewritten(treebank.vocabulary, treebank.labels, renamed),
            tags=treebank.tags if where == "constituents" else rewritten(treebank.vocabulary, treebank.tags, renamed),
        )


def _followed(names: Mapping[str, str]) -> dict[str, str]:
    """Return the last name of every chain of names; a label that is its own new name ends there.

    Raises:
        InputError: `renaming-cycle`, a chain comes back to one of its names.
    """
    last: dict[str, str] = {old: new for old, new in names.items() if old == new}
    for first in names:
        chain: dict[str, None] = {}
        name = first
        while name in names and name not in last:
            if name in chain:
                raise InputError(_cycle([*chain][[*chain].index(name) :]))
            chain[name] = None
            name = names[name]
        last |= dict.fromkeys(chain, last.get(name, name))
    return last


def _cycle(names: list[str]) -> Problem:
    shown = [repr(name[:40]) for name in names[:_SHOWN]] + ["..."] * (len(names) > _SHOWN)
    detail = f"Labels are renamed in a circle: {' to '.join([*shown, repr(names[0][:40])])}. Remove one of these."
    return Problem("renaming-cycle", detail, pointer=f"/labels/{escape(names[0])}")


@register
class DeleteLabels(Transform):
    """Deletes brackets of chosen labels."""

    name = "delete-labels"
    doc = (
        'Deletes the brackets of these labels ("" for brackets without one) and raises their children; on demand '
        "also the words with these tags."
    )
    source = "EVALB's DELETE_LABEL, as a step of its own"
    reads = (ConstituentTreebank,)
    example: ClassVar[Mapping[str, Json]] = {"labels": ["NP", "DT"], "words": True}
    params: ClassVar[Mapping[str, Param]] = {
        "labels": Param(STRINGS, [], "Labels as they stand in the tree, extensions included."),
        "words": Param(BOOLEAN, False, "Delete the words whose tag is one of the labels, too; gold's tags decide."),
    }

    @property
    def guided(self) -> bool:
        """See Transform."""
        return bool(self.values["words"])

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:
        """Delete these labels."""
        labels = frozenset(self.values["labels"])
        strings = treebank.vocabulary
        deleted = numbered(strings, treebank.labels, lambda label: label in labels)
        if self.values["words"]:
            words = decided_by(treebank, guide, lambda side: numbered(strings, side.tags, lambda tag: tag in labels))
            treebank = without_words(treebank, words)
        return without_nodes(treebank, deleted)


def without_words(treebank: ConstituentTreebank, deleted: BoolArray) -> ConstituentTreebank:
    """Delete the words of `deleted`, bool (w,). Nodes stay, some of them without words."""
    if not deleted.any():
        return treebank
    before = offsets_of((~deleted).astype(np.int64))
    firsts = np.repeat(treebank.word_offsets[:-1], np.diff(treebank.node_offsets))
    return replace(
        treebank,
        starts=before[firsts + treebank.starts] - before[firsts],
        ends=before[firsts + treebank.ends] - before[firsts],
        words=treebank.words[~deleted],
        tags=treebank.tags[~deleted],
        word_offsets=before[treebank.word_offsets],
    )


def without_nodes(treebank: ConstituentTreebank, deleted: BoolArray) -> ConstituentTreebank:
    """Delete the nodes of `deleted`, bool (m,), and raise their children."""
    if not deleted.any():
        return treebank
    kept = ~deleted
    owners = owners_of(treebank.node_offsets)
    return replace(
        treebank,
        **{name: getattr(treebank, name)[kept] for name in ("labels", "starts", "ends")},
        node_offsets=offsets_of(sums_by(owners[kept], len(treebank))),
        sentences=_renumbered(treebank.sentences),
    )


def _renumbered(sentences: Sentences) -> Sentences:
    """Delete numbers of nodes from problems, since they no longer name the brackets that a line left open."""
    if not any(isinstance(problem, UnbalancedLine) for problem in sentences.unreadable.values()):
        return sentences
    unreadable = {
        sentence: replace(problem, unclosed=()) if isinstance(problem, UnbalancedLine) else problem
        for sentence, problem in sentences.unreadable.items()
    }
    return replace(sentences, unreadable=unreadable)


def decided_by(
    treebank: ConstituentTreebank, guide: ConstituentTreebank, decide: Callable[[ConstituentTreebank], BoolArray]
) -> BoolArray:
    """Find the words of the treebank that `decide` chooses, bool (w,).

    It looks at the guide, by position, in sentences with equally many words; at the treebank itself in others.
    """
    chosen = decide(treebank)
    if guide is treebank:
        return chosen
    sentences = min(len(treebank), len(guide))
    same = np.diff(treebank.word_offsets)[:sentences] == np.diff(guide.word_offsets)[:sentences]
    words, guide_words = paired_words(treebank, guide, same)
    chosen = chosen.copy()
    chosen[words] = decide(guide)[guide_words]
    return chosen


def empty_nodes(treebank: ConstituentTreebank) -> BoolArray:
    """Find nodes that dominate no word: bool (m,)."""
    return np.asarray(treebank.starts == treebank.ends, np.bool_)


def outer_brackets(treebank: ConstituentTreebank) -> BoolArray:
    """Find outermost brackets without a label: bool (m,)."""
    return np.asarray((structure_of(treebank).parents == NONE) & (treebank.labels == 0), np.bool_)


def numbered(vocabulary: Vocabulary, numbers: IntArray, accepts: Callable[[str], bool]) -> BoolArray:
    """Tell which numbers stand for a string that `accepts` accepts: the same shape; negative numbers never do."""
    table = np.append(vocabulary.table(numbers[numbers >= 0], accepts) > 0, [False])  # the last, for negative numbers
    return table[np.maximum(numbers, -1)]


def rewritten(vocabulary: Vocabulary, numbers: IntArray, rewrite: Callable[[str], str]) -> IntArray:
    """Return numbers of the rewritten strings: the same shape; negative numbers stay."""
    table = vocabulary.table(numbers[numbers >= 0], lambda string: vocabulary.number(rewrite(string)))
    return np.where(numbers >= 0, table[np.maximum(numbers, 0)], numbers)


def unary_nodes(treebank: ConstituentTreebank, *, keep: str = "top", over_words: bool = False) -> BoolArray:
    """Find nodes to drop so that no constituent has only one child: bool (m,).

    Of a chain of nodes over the same words the top one stays, or with `keep` "bottom" the lowest. With `over_words`
    phrases over a single word go as well, all but the topmost labelled node. An outermost bracket without label
    takes no part, nor do brackets without words: the columns do not say which of them stands in which.
    """
    links = structure_of(treebank)
    outer = (links.parents == NONE) & (treebank.labels == 0)
    # NONE picks the last place: a node at the top stands as if below an outer bracket.
    root = ~outer & np.append(outer, True)[links.parents]
    starts, ends = np.append(treebank.starts, -1)[links.parents], np.append(treebank.ends, -1)[links.parents]
    lower = ~outer & ~root & (starts == treebank.starts) & (ends == treebank.ends) & (starts < ends)
    deleted = lower
    if keep == "bottom":
        deleted = np.zeros(len(lower), np.bool_)
        deleted[links.parents[lower]] = True
    if over_words:
        deleted = np.where((treebank.ends - treebank.starts == 1) & ~outer, ~root, deleted)
    return np.asarray(deleted, np.bool_)
