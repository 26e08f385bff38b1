"""Say of scores that a ladder holds only that it holds them."""

from __future__ import annotations

from service.policy.items import Document, objects_of
from service.policy.levels import Level
from service.store.benchmarks import Benchmark


def holds(level: Level, benchmark: Benchmark) -> bool:
    """Return whether the benchmark's ladder decides what a caller of this level sees."""
    return benchmark.leaderboard["ladder"] and level < Level.ITEMS


def held_submission(document: Document) -> dict[str, object]:
    """Return a submission's document without its scores and without what a metric says of them."""
    return {**without_comparison(document), "scores": None}


def without_comparison(document: Document) -> dict[str, object]:
    """Return a submission's document without what metrics warn of: they compare all sentences with gold."""
    warnings = [warning for warning in objects_of(document["warnings"]) if "metric" not in warning]
    return {**document, "warnings": warnings}
