"""Transforms that leave fewer brackets: `flatten`, to keys that any parser can conform to, and `collapse-unary`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from treescore.core.params import BOOLEAN, STRINGS, Json, Param
from treescore.core.registry import Transform, register
from treescore.core.trees import ConstituentTreebank
from treescore.errors import LimitError, Problem
from treescore.transforms.labels import base_labels
from treescore.transforms.shared import tree_edit
from treescore.transforms.shared.rules import RULES_SCHEMA, Rule, dropped_by, rules_of
from treescore.transforms.words import NULL_TAGS, null_elements, placeholders

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
            RULES_SCHEMA,
            "penn-flat",
            "A shipped set (penn-flat), a rule text, or a list of them: (X Y1 Y2^ Y3) drops the bracket of Y2, "
            "(X^ Y1 Y2) drops X over exactly these children, X^ drops X everywhere. Y1|Y2 are alternatives, Y* any "
            "number of Y, ... any number of children. The first rule that fits applies.",
        ),
        "null_tags": Param(STRINGS, list(NULL_TAGS), "Tags of null elements, dropped with the empty phrases."),
        "unary": Param(BOOLEAN, True, "Drop unary structure."),
        "empty": Param(BOOLEAN, True, "Drop null elements and empty phrases."),
    }

    def __init__(self, **values: Json) -> None:
        super().__init__(**values)
        self._rules: list[Rule] = rules_of(values["rules"])

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
        null = tree_edit.decided_by(treebank, guide, lambda side: null_elements(side, tags) | placeholders(side))
        treebank = replace(treebank, labels=base_labels(treebank.vocabulary, treebank.labels))
        visited = 0
        while True:
            before = len(treebank.labels)
            treebank = tree_edit.without_nodes(treebank, dropped_by(self._rules, treebank, strict=is_gold))
            if self.values["empty"]:
                treebank = tree_edit.without_words(treebank, null)
                null = null[~null] if null.any() else null
                treebank = tree_edit.without_nodes(
                    treebank, tree_edit.empty_nodes(treebank) & ~tree_edit.outer_brackets(treebank)
                )
            if self.values["unary"]:
                treebank = tree_edit.without_nodes(treebank, tree_edit.unary_nodes(treebank, over_words=True))
            visited += before
            if len(treebank.labels) == before or (visited > NODES_VISITED and not is_gold):
                return treebank
            _check_rounds(visited)


def _check_rounds(visited: int) -> None:
    if visited > NODES_VISITED:
        detail = f"The rules exceed {NODES_VISITED} node visits. Use fewer rules."
        raise LimitError(Problem("rule-limit", detail))


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
        deleted = tree_edit.unary_nodes(treebank, keep=self.values["keep"], over_words=self.values["words"])
        return tree_edit.without_nodes(treebank, deleted)
