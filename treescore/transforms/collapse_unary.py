"""Unary structure taken out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from treescore.core.params import BOOLEAN, Param
from treescore.core.registry import Transform, register
from treescore.core.trees import ConstituentTreebank
from treescore.transforms.shared.tree_edit import unary_nodes, without_nodes


@register
class CollapseUnary(Transform):
    """Chains of phrases over the same words reduced to one."""

    name = "collapse-unary"
    doc = (
        "Of phrases that stand over the same words only one is left; on demand phrases over a single word go too. An "
        "outermost bracket without label takes no part."
    )
    source = "Black et al. 1991 (unary structure)"
    reads = (ConstituentTreebank,)
    params: ClassVar[Mapping[str, Param]] = {
        "keep": Param({"enum": ["top", "bottom"]}, "top", "Which phrase of a chain is left."),
        "words": Param(BOOLEAN, False, "Delete phrases over a single word, all but the root."),
    }

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:  # noqa: ARG002 - chains are each side's own
        """The treebank without unary chains."""
        gone = unary_nodes(treebank, keep=self.values["keep"], over_words=self.values["words"])
        return without_nodes(treebank, gone)
