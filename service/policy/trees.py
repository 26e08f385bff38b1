"""Decide what of trees a caller may see: below `items` the output alone, at `items` what of it is wrong, at `gold` all.

At `items` a wrong head looks like a wrong relation, and a word that gold does not have is not marked: a mark tells one
bit of each word, span or link of the output, and nothing of gold's words.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.policy import items
from service.policy.items import Document, chosen
from service.policy.levels import Level, not_shown, require

WRONG = "wrong"
"""The only mark below `gold`."""
_OWN = ("item", "kind", "sent_id", "line", "words", "tokens", "target_words", "system")
_OF_GOLD = ("gold", "gold_words", "gold_target_words", "pairs", "missed")
_TELLING = ("word",)
"""Marks that would tell of gold's words."""


def marks_shown(level: Level, metric: str | None) -> bool:
    """Return whether a caller may see which units of the own output are wrong.

    Args:
        level: of the caller.
        metric: the name in the catalogue of the metric that made the marks, "" where its items show only their
            status, None for a plain comparison.
    """
    if level is Level.GOLD:
        return True
    disclosure = items.disclosure_of(metric or "")
    return level >= Level.ITEMS and bool(disclosure.fields or disclosure.members)


def require_marks(level: Level, *, shown: bool) -> None:
    """Check that sentences may be chosen by their errors.

    Raises:
        Forbidden: the level does not show errors, or no metric shows them at this level.
    """
    require(level, Level.ITEMS, "errors of single sentences")
    if not shown:
        raise not_shown("No metric of the benchmark shows the errors of single sentences at feedback level items.")


def require_kind(level: Level, kind: str) -> None:
    """Check that sentences may be chosen by a kind of error.

    Raises:
        Forbidden: the level shows only that something is wrong.
    """
    if kind != "any":
        require(level, Level.GOLD, f"which errors are of kind {kind}")


def tree_view(level: Level, document: Document, *, marks: bool) -> dict[str, object]:
    """Return one sentence's trees.

    Args:
        level: of the caller.
        document: with everything that is known.
        marks: what `marks_shown` says.
    """
    if level is Level.GOLD:
        return dict(document)
    shown = chosen(document, _OWN) | {name: None for name in _OF_GOLD if name in document}
    shown["wrong"] = None
    found = document.get("wrong")
    if marks and isinstance(found, list):
        shown["wrong"] = marks_view(level, found)
    return shown


def marks_view(level: Level, marks: Sequence[str | None]) -> list[str | None]:
    """Return what a caller who may see that units are wrong sees of each."""
    if level is Level.GOLD:
        return list(marks)
    return [None if each is None or each in _TELLING else WRONG for each in marks]
