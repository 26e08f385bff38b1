"""Transforms of labels: `strip-functions` cuts extensions off, `rename-labels` renames, `delete-labels` deletes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from treescore.core.arrays import IntArray
from treescore.core.params import BOOLEAN, STRINGS, Json, Param, escape
from treescore.core.registry import Transform, register
from treescore.core.trees import ConstituentTreebank, Vocabulary
from treescore.errors import InputError, Problem
from treescore.transforms.shared.tree_edit import decided_by, numbered, rewritten, without_nodes, without_words

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
