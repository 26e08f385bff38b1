"""Deletion of phrases without words."""

from __future__ import annotations

from treescore.core.registry import Transform, register
from treescore.core.trees import ConstituentTreebank
from treescore.transforms.drop_traces import placeholders
from treescore.transforms.shared.tree_edit import empty_nodes, without_nodes, without_words


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
