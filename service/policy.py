"""The one gate: what a caller may see of what comes from gold."""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum
from typing import Any

from service.store.benchmarks import Benchmark
from service.usecases.tokens import Caller


class Level(IntEnum):
    """How much is told, each level including those before it."""

    NONE = 0
    STATUS = 1
    ROUNDED = 2
    SCORES = 3
    ITEMS = 4
    GOLD = 5


LEVELS = {level.name.lower(): level for level in Level}
"""As benchmarks name them."""


def level_of(benchmark: Benchmark, caller: Caller, now: datetime) -> Level:
    """What a caller may see of a benchmark at a moment."""
    if caller.organiser:
        return Level.GOLD
    after = benchmark.settings["feedback_after_closing"]
    name = after if after is not None and benchmark.closed(now) else benchmark.settings["feedback"]
    return LEVELS[name]


def submission_view(level: Level, document: dict[str, Any], *, rounding: float | None) -> dict[str, Any]:
    """A submission's document as the level allows it."""
    del rounding
    shown = dict(document)
    if level < Level.SCORES:
        shown["scores"] = None
    if shown.get("failure") is not None:
        shown["failure"] = failure_view(level, shown["failure"])
    return shown


def failure_view(level: Level, failure: dict[str, Any]) -> dict[str, Any]:
    """A failure record as the level allows it: what quotes gold only where gold may be read."""
    errors = []
    for error in failure.get("errors", ()):
        shown = {name: value for name, value in error.items() if name != "gold_detail"}
        if level >= Level.GOLD and "gold_detail" in error:
            shown["detail"] = error["gold_detail"]
        errors.append(shown)
    return {**failure, "errors": errors}
