"""Other names for labels and tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from treescore.core.params import Json, Param, escape
from treescore.core.registry import Transform, register
from treescore.core.trees import ConstituentTreebank
from treescore.errors import InputError, Problem
from treescore.transforms.shared.tree_edit import rewritten

MOST_NAMES = 10_000
"""Most labels that one transform renames."""

_SHOWN = 5
"""Most names of a circle that a message quotes."""

_NAMES: Mapping[str, Json] = {
    "type": "object",
    "additionalProperties": {"type": "string"},
    "maxProperties": MOST_NAMES,
}


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
