"""The feedback levels: how much of what depends on gold is shown."""

from __future__ import annotations

from enum import IntEnum

from service.errors import Forbidden


class Level(IntEnum):
    """How much is shown; each level includes those before it."""

    NONE = 0
    STATUS = 1
    ROUNDED = 2
    SCORES = 3
    ITEMS = 4
    GOLD = 5


LEVELS = {level.name.lower(): level for level in Level}
"""The levels by the names that benchmarks give them."""


def require(level: Level, needed: Level, what: str) -> None:
    """Check that the level shows `what`, a plural noun for the message.

    Raises:
        Forbidden: the level is too low; the message names the level that is needed.
    """
    if level < needed:
        raise not_shown(
            f"The organisers show {what} from feedback level {needed.name.lower()} on; the current level is "
            f"{level.name.lower()}."
        )


def not_shown(detail: str) -> Forbidden:
    """Return the refusal of what a benchmark does not show; the detail names the rule, not what lies behind it."""
    return Forbidden(detail, slug="not-shown")
