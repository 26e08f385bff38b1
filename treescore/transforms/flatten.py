"""Transforms that leave fewer brackets: `flatten`, to keys that any parser can conform to, `collapse-unary`, `black`.

`black` deletes what grammars treat too differently to be scored, after Black et al.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.params import BOOLEAN, STRINGS, Json, Param
from treescore.core.registry import Transform, register
from treescore.core.structure import NONE, structure_of
from treescore.core.trees import NO_TAG, ConstituentTreebank
from treescore.errors import LimitError, Problem
from treescore.transforms import edits, rules

NODES_VISITED = 2_000_000_000
"""Limit of nodes times rounds."""


@register
class Flatten(Transform):
    """Flattening after Gaizauskas, Hepple & Huyck."""

    name = "flatten"
    doc = (
        "Flattens trees: cuts label extensions, drops brackets by rules, bottom-up until none fits, then null elements "
        "and empty phrases, then unary structure (phrases over a single word, and all but the top one of phrases over "
        "the same words); all of it until nothing changes. Outermost brackets without label take no part, and the "
        "topmost labelled phrase always stays."
    )
    source = "Gaizauskas, Hepple & Huyck 1998, Modifying Existing Annotated Corpora for General Comparative Evaluation"
    reads = (ConstituentTreebank,)
    default_on = "gold"
    params: ClassVar[Mapping[str, Param]] = {
        "rules": Param(
            rules.RULES_SCHEMA,
            "penn-flat",
            "A shipped set (penn-flat), a rule text, or a list of them: (X Y1 Y2^ Y3) drops the bracket of Y2, "
            "(X^ Y1 Y2) drops X over exactly these children, X^ drops X everywhere. Y1|Y2 are alternatives, Y* any "
            "number of Y, ... any number of children. The first rule that fits applies.",
        ),
        "null_tags": Param(STRINGS, list(edits.NULL_TAGS), "Tags of null elements, dropped with the empty phrases."),
        "unary": Param(BOOLEAN, True, "Drop unary structure."),
        "empty": Param(BOOLEAN, True, "Drop null elements and empty phrases."),
    }

    def __init__(self, **values: Json) -> None:
        super().__init__(**values)
        self._rules: list[rules.Rule] = rules.rules_of(values["rules"])

    @property
    def guided(self) -> bool:
        """See Transform."""
        return bool(self.values["empty"])

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:
        """Flatten the treebank.

        Raises:
            LimitError: `rule-limit`, the rules would take too long.
        """
        tags, is_gold = frozenset(self.values["null_tags"]), guide is treebank
        null = edits.decided_by(treebank, guide, lambda side: edits.wordless(side, tags))
        treebank = replace(treebank, labels=edits.base_labels(treebank.vocabulary, treebank.labels))
        visited = 0
        while True:
            before = len(treebank.labels)
            treebank = edits.without_nodes(treebank, rules.dropped_by(self._rules, treebank, strict=is_gold))
            if self.values["empty"]:
                treebank = edits.without_words(treebank, null)
                null = null[~null] if null.any() else null
                treebank = edits.without_nodes(treebank, edits.empty_nodes(treebank) & ~edits.outer_brackets(treebank))
            if self.values["unary"]:
                treebank = edits.without_nodes(treebank, edits.unary_nodes(treebank, over_words=True))
            visited += before
            if len(treebank.labels) == before or (visited > NODES_VISITED and not is_gold):
                return treebank
            if visited > NODES_VISITED:
                raise LimitError(
                    Problem("rule-limit", f"The rules exceed {NODES_VISITED} node visits. Use fewer rules.")
                )


@register
class CollapseUnary(Transform):
    """Reduces chains of phrases over the same words to one."""

    name = "collapse-unary"
    doc = (
        "Keeps one of several phrases over the same words; on demand deletes phrases over a single word too. An "
        "outermost bracket without label takes no part."
    )
    source = "Black et al. 1991 (unary structure)"
    reads = (ConstituentTreebank,)
    params: ClassVar[Mapping[str, Param]] = {
        "keep": Param({"enum": ["top", "bottom"]}, "top", "Which phrase of a chain is left."),
        "words": Param(BOOLEAN, False, "Delete phrases over a single word, all but the root."),
    }

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:  # noqa: ARG002 - chains are each side's own
        """Delete unary chains."""
        deleted = edits.unary_nodes(treebank, keep=self.values["keep"], over_words=self.values["words"])
        return edits.without_nodes(treebank, deleted)


AUXILIARIES = (
    *("be", "am", "is", "are", "was", "were", "been", "being", "have", "has", "had", "having", "do", "does", "did"),
    *("can", "could", "may", "might", "must", "shall", "should", "will", "would", "ca", "wo", "sha", "dare", "need"),
    *("'s", "'re", "'m", "'ve", "'d", "'ll", "\N{RIGHT SINGLE QUOTATION MARK}s", "\N{RIGHT SINGLE QUOTATION MARK}re"),
    *("\N{RIGHT SINGLE QUOTATION MARK}m", "\N{RIGHT SINGLE QUOTATION MARK}ve", "\N{RIGHT SINGLE QUOTATION MARK}d"),
    *("\N{RIGHT SINGLE QUOTATION MARK}ll", "ai"),
)
"""Forms that are auxiliaries where a verb follows in the same phrase."""

_NOT = ("not", "n't", "n\N{RIGHT SINGLE QUOTATION MARK}t")
_POSSESSIVES = ("'s", "'", "\N{RIGHT SINGLE QUOTATION MARK}s", "\N{RIGHT SINGLE QUOTATION MARK}")

WORD_LISTS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "auxiliary_words": (AUXILIARIES, "Forms that are auxiliaries where a verb follows in their phrase."),
    "auxiliary_tags": (("MD", "AUX"), "Tags that are auxiliaries where a verb follows in their phrase."),
    "verb_tags": (("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "VERB"), "Tags of verbs."),
    "verb_phrases": (("VP",), "Labels of verb phrases."),
    "negation_words": (_NOT, "Forms of negation."),
    "infinitive_words": (("to",), 'Forms of "to", deleted where a verb follows in their phrase.'),
    "possessive_tags": (("POS",), "Tags of possessive endings."),
    "possessive_words": (_POSSESSIVES, "Forms of possessive endings, for words without a tag."),
    "punctuation_tags": (edits.PUNCTUATION_TAGS, "Tags of punctuation; words without a tag go by their characters."),
    "null_tags": (edits.NULL_TAGS, "Tags of null elements."),
}
STEPS: Mapping[str, str] = {
    "null_elements": "Delete null elements.",
    "auxiliaries": "Delete auxiliaries.",
    "negation": 'Delete "not".',
    "infinitive": 'Delete "to" before an infinitive.',
    "possessives": "Delete possessive endings.",
    "punctuation": "Delete punctuation outside words.",
    "nullary": "Delete brackets without words.",
    "unary": "Delete brackets over a single word or a single bracket; the root stays.",
}
_STEP: Mapping[str, Json] = {"anyOf": [BOOLEAN, {"type": "null"}]}
PRESETS: Mapping[str, frozenset[str]] = {
    "black": frozenset(STEPS),
    "kikas-treumuth": frozenset({"auxiliaries", "negation", "infinitive", "punctuation"}),
}
"""The steps that are on."""


@register
class Black(Transform):
    """Deletions of the first PARSEVAL procedure."""

    name = "black"
    doc = (
        "Deletes null elements, auxiliaries, negation, pre-infinitival to, possessive endings and punctuation, drops "
        "brackets by rules if any are given, then brackets without words, then brackets over a single word or bracket. "
        "Gold decides for both sides, by position, in sentences of equal length (null elements left aside). Each step "
        "can be switched off, and the preset kikas-treumuth has four of them; the lists are English unless given."
    )
    source = (
        "Black et al. 1991, A procedure for quantitatively comparing the syntactic coverage of English grammars; "
        "Kikas & Treumuth 2007, option -b"
    )
    reads = (ConstituentTreebank,)
    params: ClassVar[Mapping[str, Param]] = {
        "preset": Param(
            {"enum": list(PRESETS)},
            "black",
            "Steps that are on unless given: black, all; kikas-treumuth, those of that program's -b (auxiliaries, "
            "negation, infinitive, punctuation), so that brackets, null elements and possessive endings stay.",
        ),
        **{name: Param(_STEP, None, f"{doc} null: as the preset has it.") for name, doc in STEPS.items()},
        **{name: Param(STRINGS, list(words), doc) for name, (words, doc) in WORD_LISTS.items()},
        "rules": Param(
            rules.RULES_SCHEMA,
            [],
            "Rewriting rules for disputed constructions, as flatten takes them: a shipped set (extraposition), a rule "
            "text, or a list of them. None by default.",
        ),
    }

    def __init__(self, **values: Json) -> None:
        on = PRESETS[values["preset"]]
        steps = {name: name in on if values[name] is None else values[name] for name in STEPS}
        super().__init__(**{**values, **steps})
        self._rules = rules.rules_of(values["rules"])

    guided = True

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:
        """Apply the steps that are on.

        Raises:
            LimitError: `rule-limit`, the rules would take too long.
        """
        values, is_gold = self.values, guide is treebank
        if values["null_elements"]:
            # Gold usually has null elements and systems have none: positions agree after they are deleted.
            tags = frozenset(values["null_tags"])
            treebank = edits.without_words(treebank, edits.wordless(treebank, tags))
            guide = treebank if is_gold else edits.without_words(guide, edits.wordless(guide, tags))
        treebank = edits.without_words(treebank, edits.decided_by(treebank, guide, self._deleted))
        treebank = edits.without_nodes(treebank, rules.dropped_by(self._rules, treebank, strict=is_gold))
        if values["nullary"]:
            treebank = edits.without_nodes(treebank, edits.empty_nodes(treebank))
        if values["unary"]:
            treebank = edits.without_nodes(treebank, edits.unary_nodes(treebank, over_words=True))
        return treebank

    def _deleted(self, side: ConstituentTreebank) -> BoolArray:
        """Return the words that are deleted: bool (w,)."""
        values = self.values
        deleted = np.zeros(len(side.words), np.bool_)
        if values["auxiliaries"]:
            tags = frozenset(values["auxiliary_tags"])
            listed = (self._verbs(side) | (side.tags == NO_TAG)) & _words_in(side, values["auxiliary_words"])
            modal = edits.numbered(side.vocabulary, side.tags, tags.__contains__)
            deleted |= (listed | modal) & self._before_verb(side)
        if values["negation"]:
            deleted |= _words_in(side, values["negation_words"])
        if values["infinitive"]:
            deleted |= _words_in(side, values["infinitive_words"]) & self._before_verb(side)
        if values["possessives"]:
            deleted |= edits.numbered(side.vocabulary, side.tags, frozenset(values["possessive_tags"]).__contains__)
            deleted |= _words_in(side, values["possessive_words"]) & (side.tags == NO_TAG)
        if values["punctuation"]:
            deleted |= edits.punctuation(side, values["punctuation_tags"])
        return deleted

    def _verbs(self, side: ConstituentTreebank) -> BoolArray:
        return edits.numbered(side.vocabulary, side.tags, frozenset(self.values["verb_tags"]).__contains__)

    def _before_verb(self, side: ConstituentTreebank) -> BoolArray:
        """Find words after which a verb or a verb phrase follows among the children of the same phrase: bool (w,)."""
        labels = frozenset(self.values["verb_phrases"])
        links = structure_of(side)
        phrases = edits.numbered(side.vocabulary, side.labels, lambda label: edits.base_label(label) in labels)
        phrases &= side.starts < side.ends
        positions = np.arange(len(side.words), dtype=np.int64) - np.repeat(
            side.word_offsets[:-1], np.diff(side.word_offsets)
        )
        word_groups = _groups(links.anchors, side.word_offsets, len(side.labels))
        node_groups = _groups(links.parents, side.node_offsets, len(side.labels))
        last = np.full(len(side.labels) + len(side), NONE, np.int64)
        verbs = self._verbs(side)
        np.maximum.at(last, word_groups[verbs], positions[verbs])
        np.maximum.at(last, node_groups[phrases], side.starts[phrases])
        return np.asarray(last[word_groups] > positions, np.bool_)


def _groups(parents: IntArray, offsets: IntArray, nodes: int) -> IntArray:
    """Return the parent of each child; at the top of a tree the sentence replaces it."""
    return np.where(parents == NONE, nodes + owners_of(offsets), parents)


def _words_in(side: ConstituentTreebank, words: Collection[str]) -> BoolArray:
    listed = {word.casefold() for word in words}
    return edits.numbered(side.vocabulary, side.words, lambda word: word.casefold() in listed)
