"""Which figures of a revision a caller sees, and with how many digits: in documents, boards, exports and pictures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from service.errors import Forbidden
from service.policy import cells
from service.policy.levels import Level, not_shown, require
from service.policy.rounding import rounded_bound, rounded_difference, rounded_p, rounded_score, rounded_to_step
from service.store.benchmarks import Benchmark

DEFAULT_STEP = 0.01
"""The step to which scores are rounded where the benchmark sets none."""
NO_TRACKS: Mapping[str, Collection[str]] = {}


@dataclass(frozen=True, slots=True)
class Release:
    """What a caller sees of the figures of one revision.

    Attributes:
        level: of the caller.
        step: to which scores are rounded at level `rounded`.
        listed: addresses of the scores that are shown.
        hidden: parts, tracks, and POOLED, whose figures are not shown.
    """

    level: Level
    step: float
    listed: Collection[str]
    hidden: Collection[str] = frozenset()

    def on_board(self) -> Release:
        """Return what is shown on boards, which are exact at `gold` only: they have rows of other teams."""
        return self if self.level is Level.GOLD else replace(self, level=min(self.level, Level.SCORES))

    def require(self, score: str, part: str | None) -> None:
        """Check that a score of a part (macro, pooled; None for the only part) is shown.

        Raises:
            Forbidden: it is not. The message names the rule.
        """
        require(self.level, Level.ROUNDED, "scores")
        if score not in self.listed:
            raise _not_listed(f"score {score}")
        if part in self.hidden:
            raise not_shown(
                f"Figures over fewer than {cells.LEAST} sentences are shown from feedback level items on, and so are "
                f"those from which they could be computed: {part!r} is among them."
            )

    def lists(self, key: str) -> bool:
        """Return whether a score of the metric is listed."""
        return any(address.partition(".")[0] == key for address in self.listed)

    def require_metric(self, key: str) -> None:
        """Check that a score of the metric is listed.

        Raises:
            Forbidden: none is.
        """
        if not self.lists(key):
            raise _not_listed(f"metric {key}")

    def score(self, value: object) -> float | None:
        """Return a score (a number or None) as the level shows it, None below `rounded`."""
        if self.level is Level.ROUNDED and isinstance(value, int | float):
            return rounded_score(rounded_to_step(value, self.step))
        return None if self.level < Level.ROUNDED else self._shown(value, rounded_score)

    def interval(self, value: object) -> dict[str, float | None] | None:
        """Return an interval (`low` and `high`, or None) as the level shows it, None below `scores`."""
        if self.level < Level.SCORES or not isinstance(value, Mapping):
            return None
        return {name: self._shown(bound, rounded_bound) for name, bound in value.items()}

    def runs(self, value: object) -> dict[str, object] | None:
        """Return a row's training runs (`count` and `sd`, or None) as the level shows them, None below `scores`."""
        if self.level < Level.SCORES or not isinstance(value, Mapping):
            return None
        return {"count": value["count"], "sd": self._shown(value["sd"], rounded_score)}

    def p(self, value: object) -> float | None:
        """Return a p (a number or None) as the level shows it, None below `scores`."""
        return None if self.level < Level.SCORES else self._shown(value, rounded_p)

    def difference(self, value: object) -> float | None:
        """Return the difference of two scores (a number or None) as the level shows it, None below `scores`."""
        return None if self.level < Level.SCORES else self._shown(value, rounded_difference)

    def detectable(self, value: object) -> dict[str, object] | None:
        """Return a detectable difference (`difference`, `power`, `alpha`, or None) as the level shows it."""
        if self.level < Level.SCORES or not isinstance(value, Mapping):
            return None
        shown: dict[str, object] = {name: value[name] for name in ("power", "alpha") if name in value}
        return {"difference": self.difference(value.get("difference")), **shown}

    def ranking(self, value: float | None) -> float | None:
        """Return the value by which a board picks and ranks: as it is shown, and never with more digits."""
        return self.score(value) if self.level is Level.ROUNDED else rank_value(value)

    def of_metric(self, key: str, values: object, show: Callable[[object], object]) -> dict[str, object]:
        """Return what is shown of a metric's values by score, which nest where the names of scores have dots.

        Args:
            key: of the metric; below it, of the first members of a score's name.
            values: by score.
            show: a value -> what is shown of it, where the score is listed.
        """
        shown: dict[str, object] = {}
        for name, value in values.items() if isinstance(values, Mapping) else ():
            address = f"{key}.{name}"
            if address in self.listed:
                shown[name] = show(value)
            elif isinstance(value, Mapping):
                below = self.of_metric(address, value, show)
                shown |= {name: below} if below else {}
        return shown

    def of_items(
        self, key: str, known: Collection[str], documents: Iterable[Mapping[str, object]]
    ) -> list[dict[str, object]]:
        """Return items or slices with the listed ones of their scores.

        Args:
            key: of the metric.
            known: names of the metric's scores, to the first dot. Scores that only slices have are not listed.
            documents: as the level shows them.
        """
        shown = []
        for each in documents:
            values = each.get("scores")
            if isinstance(values, Mapping):
                kept = self.of_metric(key, values, lambda value: value)
                listed = {name: kept.get(name, values[name]) for name in values if name in kept or name not in known}
                shown.append({**each, "scores": listed})
            else:
                shown.append(dict(each))
        return shown

    def _shown(self, value: object, digits: Callable[[float], float]) -> float | None:
        if not isinstance(value, int | float):
            return None
        return value if self.level > Level.SCORES else digits(value)


def release_of(
    benchmark: Benchmark,
    level: Level,
    addresses: Collection[str],
    main_score: str,
    sizes: Mapping[str, int | None],
    tracks: Mapping[str, Collection[str]] = NO_TRACKS,
) -> Release:
    """Return what a level shows of the figures of a revision.

    Args:
        benchmark: whose settings list scores and say how to round.
        level: of the caller.
        addresses: of all scores of the revision.
        main_score: of the revision; it ranks, so it is listed.
        sizes: part -> its number of sentences.
        tracks: named groups of these parts.
    """
    chosen = benchmark.leaderboard["scores"]
    if level is Level.GOLD:
        listed = frozenset(addresses)
    elif level < Level.ROUNDED:
        listed = frozenset()
    elif chosen is not None:
        listed = frozenset(addresses) & {main_score, *chosen}
    else:
        listed = frozenset([main_score] if level is Level.ROUNDED else addresses)
    hidden = cells.hidden_parts(sizes) if level < Level.ITEMS else frozenset()
    return Release(level, step_of(benchmark), listed, hidden | cells.hidden_tracks(hidden, tracks))


def _not_listed(what: str) -> Forbidden:
    return not_shown(f"The organisers do not list the {what}; `leaderboard.scores` of the benchmark says which scores.")


def rank_value(value: float | None) -> float | None:
    """Return a score with the digits by which boards pick and rank at most."""
    return None if value is None else rounded_score(value)


def step_of(benchmark: Benchmark) -> float:
    """Return the step to which a benchmark's scores are rounded at level `rounded`."""
    return float(benchmark.settings["rounding"] or DEFAULT_STEP)
