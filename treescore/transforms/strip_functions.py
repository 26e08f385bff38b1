"""Deletion of label extensions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from treescore.core.arrays import IntArray
from treescore.core.params import BOOLEAN, Param
from treescore.core.registry import Transform, register
from treescore.core.trees import ConstituentTreebank, Vocabulary
from treescore.transforms.shared.tree_edit import rewritten

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
