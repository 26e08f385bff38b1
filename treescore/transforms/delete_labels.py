"""Deletion of chosen labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from treescore.core.params import BOOLEAN, STRINGS, Json, Param
from treescore.core.registry import Transform, register
from treescore.core.trees import ConstituentTreebank
from treescore.transforms.shared.tree_edit import decided_by, numbered, without_nodes, without_words


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
