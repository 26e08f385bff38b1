"""Deletion of unary structure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from treescore.core.params import BOOLEAN, Param
from treescore.core.registry import Transform, register
from treescore.core.trees import ConstituentTreebank
from treescore.transforms.shared.tree_edit import unary_nodes, without_nodes


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
        deleted = unary_nodes(treebank, keep=self.values["keep"], over_words=self.values["words"])
        return without_nodes(treebank, deleted)
