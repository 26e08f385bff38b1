"""What a caller sees of a benchmark: the one answer that every door asks.

`Release.of` decides without the store: the level, the share, until when, whose names. `Release.under` adds what the
store knows of a revision; until then no figure is shown. Each member shows the least where nothing sets it.

Of a split test set a caller sees the public share until the benchmark closes, then the private one. A frozen board goes
on showing the share of the moment at which it was frozen, submissions show that of now.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from datetime import datetime
from functools import cached_property

import numpy as np

from service import errors, requests
from service.caller import Caller
from service.policy import figures
from service.policy.figures import LEVELS, Gold, Level, not_shown
from service.store.benchmarks import Benchmark
from treescore.core import wording
from treescore.core.arrays import FloatArray

DEFAULT_STEP = 0.01
"""The step to which scores are rounded where the benchmark sets none."""
ANYONE = Caller(None, frozenset())
"""Who sees what all may see: the level is that of the teams."""
NO_TRACKS: Mapping[str, Collection[str]] = {}


@dataclass(frozen=True)
class Release:
    """What a caller sees of a benchmark and, once a revision is named, of its figures. Equal ones show the same.

    Attributes:
        level: of the caller.
        step: to which scores are rounded at level `rounded`.
        addresses: of the scores that are shown; None before a revision is named, when no figure is.
        hidden: parts, tracks, and POOLED, whose figures are not shown.
        refused: why no figure under the revision is shown; None where they are.
        board: whether figures stand beside those of other teams.
        organiser: whether the caller is one, who may ask for each pick, each share and what a ladder holds.
        until: when the board was frozen for this caller; None where it is not, or no board is asked for.
        shown: the share that is shown without a choice; None where the test set is not split.
        share: whose figures are shown.
        named: whether the names of teams are shown.
        whole: whether names, ranks and scores of the board may be shown elsewhere too.
        fits: whether the caller may know where an output differs from gold's text.
        held: whether the scores that a ladder holds are kept from the caller.
    """

    level: Level = Level.NONE
    step: float = DEFAULT_STEP
    addresses: Collection[str] | None = None
    hidden: Collection[str] = frozenset()
    refused: str | None = None
    _: KW_ONLY
    board: bool = False
    organiser: bool = False
    until: datetime | None = None
    shown: str | None = requests.PUBLIC
    share: str | None = requests.PUBLIC
    named: bool = False
    whole: bool = False
    fits: bool = False
    held: bool = True

    @classmethod
    def of(
        cls,
        benchmark: Benchmark,
        caller: Caller,
        now: datetime | None,
        *,
        asked: str | None = None,
        pick: str | None = None,
        board: bool = False,
    ) -> Release:
        """Return what a caller sees of a benchmark at a moment.

        Args:
            benchmark: with its settings.
            caller: who asks.
            now: the moment; None for what may be read at any later one too, of which the least is shown.
            asked: the share that is asked for, PUBLIC or PRIVATE; None for the one that is shown.
            pick: the rule that is asked for; None for the board's.
            board: whether a board is asked for.

        Raises:
            Forbidden: the private share is not shown yet; or only organisers may choose the pick.
            Unprocessable: a share is asked for, and the test set is not split.
        """
        settings, leaderboard = benchmark.settings, benchmark.leaderboard
        before, after = LEVELS[settings["feedback"]], LEVELS[settings["feedback_after_closing"] or settings["feedback"]]
        level = min(before, after) if now is None else after if benchmark.closed(now) else before
        organiser = caller.organises(benchmark.id)
        level = Level.GOLD if organiser else level
        frozen = benchmark.frozen_at if board and not organiser else None
        until = frozen if frozen is not None and now is not None and now >= frozen else None
        share = figures.shown_share(benchmark, until or now)
        named = organiser or not leaderboard["anonymous"]
        release = cls(
            level, float(settings["rounding"] or DEFAULT_STEP), board=board, organiser=organiser, until=until,
            shown=share, share=share, named=named,
            whole=organiser or (board and named and leaderboard["public"] and until is None),
            fits=level is Level.GOLD or bool(settings["publish_input"]),
            held=leaderboard["ladder"] and level < Level.ITEMS,
        )  # fmt: skip
        release.require_pick(benchmark, pick)
        if asked is None:
            return release
        if benchmark.private_share is None:
            detail = "The test set of this benchmark is not split into shares. Leave `split` out."
            raise errors.invalid("no-split", "/split", detail)
        return release.about(asked)

    def about(self, share: str | None) -> Release:
        """Return what is shown of another share.

        Raises:
            Forbidden: it is the private one, and the public one is shown.
        """
        if share == requests.PRIVATE != self.shown and not self.organiser:
            raise not_shown(
                "Figures of the private share are shown when the benchmark has closed, and on a frozen leaderboard if "
                "it had closed before."
            )
        return replace(self, share=share)

    def under(
        self,
        benchmark: Benchmark,
        number: int,
        addresses: Collection[str],
        main_score: str,
        sizes: Mapping[str, int | None],
        tracks: Mapping[str, Collection[str]] = NO_TRACKS,
        golds: Callable[[], Mapping[int, Gold]] = dict,
    ) -> Release:
        """Return what is shown of the figures under a revision.

        Args:
            benchmark: whose settings list scores.
            number: of the revision.
            addresses: of all its scores.
            main_score: of the revision; it ranks, so it is listed.
            sizes: part -> its number of sentences in the share.
            tracks: named groups of these parts.
            golds: reads the gold of all revisions with boards in the share, by their numbers.
        """
        chosen, active = benchmark.leaderboard["scores"], benchmark.active_revision
        listed = frozenset(addresses)
        if self.level < Level.ROUNDED:
            listed = frozenset()
        elif not self.gold and (chosen is not None or self.level is Level.ROUNDED):
            listed &= {main_score, *(chosen or ())}
        hidden = figures.hidden_parts(sizes) if self.level < Level.ITEMS else frozenset()
        refused = None
        counted = Level.ROUNDED <= self.level < Level.ITEMS and active is not None and number != active
        if counted and number in figures.hidden_revisions(active or 0, golds()):
            refused = (
                f"Figures under revision {number} are shown from feedback level items on: its gold differs from that "
                f"of a later one in fewer than {figures.LEAST_SENTENCES} sentences, or it is not known in how many, or "
                "in its parts, some of which are small."
            )
        return replace(self, addresses=listed, hidden=hidden | figures.hidden_tracks(hidden, tracks), refused=refused)

    @property
    def tag(self) -> str:
        """All of it, for validators and keys of caches: what is shown is the same where it is equal."""
        known = (getattr(self, each.name) for each in fields(self))
        return repr([sorted(each) if isinstance(each, frozenset) else each for each in known])

    @property
    def early(self) -> bool:
        """Whether an organiser sees the private share while others see the public one: no cache keeps that."""
        return self.share == requests.PRIVATE != self.shown

    @property
    def gold(self) -> bool:
        """Whether gold is shown."""
        return self.level is Level.GOLD

    @property
    def blind(self) -> bool:
        """Whether the caller may not know if outputs could be scored."""
        return self.level is Level.NONE

    @property
    def compared(self) -> bool:
        """Whether it is shown what metrics warn of: they compare the sentences of both shares."""
        return self.gold or self.share != requests.PUBLIC

    @cached_property
    def figure_level(self) -> Level:
        """The level at which figures are shown: `none` before a revision is named; on boards no more than `scores`."""
        if self.addresses is None or self.refused is not None:
            return Level.NONE
        return Level.SCORES if self.board and self.level is Level.ITEMS else self.level

    @cached_property
    def scored(self) -> bool:
        """Whether scores and ranks are shown."""
        return self.figure_level >= Level.ROUNDED

    @cached_property
    def tested(self) -> bool:
        """Whether it is shown how certain scores and ranks are."""
        return self.figure_level >= Level.SCORES

    @property
    def rounding(self) -> float | None:
        """The step to which scores are rounded; None where they are not."""
        return self.step if self.figure_level is Level.ROUNDED else None

    @property
    def listed(self) -> Collection[str]:
        """Addresses of the scores that are shown."""
        return self.addresses or ()

    def shows(self, needed: Level) -> bool:
        """Return whether the level of the caller shows what is shown from another one on."""
        return self.level >= needed

    def require_level(self, needed: Level, what: str) -> None:
        """Check that the level shows `what`; see `figures.require`."""
        figures.require(self.level, needed, what)

    def require_pick(self, benchmark: Benchmark, pick: str | None) -> None:
        """Refuse another rule than the board's for which submissions are its rows: it would show attempts not picked.

        Raises:
            Forbidden: another caller than an organiser chooses another pick.
        """
        own = benchmark.leaderboard["pick"]
        if not self.organiser and pick not in (None, own):
            raise figures.fixed_question(f"Only organisers choose `pick`. The leaderboard shows `{own}`. Leave it out.")

    def require(self, score: str, part: str | None) -> None:
        """Check that a score of a part (macro, pooled; None for the only part) is shown.

        Raises:
            Forbidden: it is not. The message names the rule.
        """
        self.require_level(Level.ROUNDED, "scores")
        if score not in self.listed:
            raise _not_listed(f"score {score}")
        if part in self.hidden:
            raise not_shown(
                f"Figures over fewer than {figures.LEAST_SENTENCES} sentences are shown from feedback level items on, "
                f"and so are those from which they could be computed: {part!r} is among them."
            )
        if self.refused is not None:
            raise not_shown(self.refused)

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
        return self._shown(value, figures.rounded_score, Level.ROUNDED)

    def scores(self, values: FloatArray) -> FloatArray:
        """Return scores, (rows, n), as `score` shows each; NaN where they are undefined or not shown."""
        if self.tested:
            return figures.rounded_scores(values) if self.figure_level is Level.SCORES else values
        shown = [None if math.isnan(each) else self.score(each) for each in values.ravel().tolist()]
        return np.array(shown, np.float64).reshape(values.shape)

    def intervals(self, ends: FloatArray) -> list[dict[str, float] | None]:
        """Return intervals, (n, 2), as `interval` shows each; None where there is none, which is NaN."""
        if not self.tested:
            return [None] * len(ends)
        shown = figures.rounded_scores(ends, wording.BOUND_DIGITS) if self.figure_level is Level.SCORES else ends
        return [None if math.isnan(low) else {"low": low, "high": high} for low, high in shown.tolist()]

    def interval(self, value: object) -> dict[str, float | None] | None:
        """Return an interval (`low` and `high`, or None) as the level shows it, None below `scores`."""
        if not isinstance(value, dict) or not self.tested:
            return None
        return {name: self._shown(bound, figures.rounded_bound) for name, bound in value.items()}

    def runs(self, value: object) -> dict[str, object] | None:
        """Return a row's training runs (`count` and `sd`, or None) as the level shows them, None below `scores`."""
        if not isinstance(value, dict) or not self.tested:
            return None
        return {"count": value["count"], "sd": self._shown(value["sd"], figures.rounded_score)}

    def p(self, value: object) -> float | None:
        """Return a p (a number or None) as the level shows it, None below `scores`."""
        return self._shown(value, figures.rounded_p)

    def difference(self, value: object) -> float | None:
        """Return the difference of two scores (a number or None) as the level shows it, None below `scores`."""
        return self._shown(value, figures.rounded_difference)

    def detectable(self, value: object) -> dict[str, object] | None:
        """Return a detectable difference (`difference`, `power`, `alpha`, or None) as the level shows it."""
        if not isinstance(value, dict) or not self.tested:
            return None
        alpha = value.get("alpha") if self.gold else None  # the pair's place among the p follows from it
        return {"difference": self.difference(value.get("difference")), "power": value.get("power"), "alpha": alpha}

    def ranking(self, value: float | None) -> float | None:
        """Return the value by which a board picks and ranks: as it is shown, and never with more digits."""
        return figures.rank_value(value) if self.tested else self.score(value)

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

    def _shown(self, value: object, digits: Callable[[float], float], needed: Level = Level.SCORES) -> float | None:
        """Return a number with as many digits as the level shows, None below the needed one."""
        if not isinstance(value, (int, float)) or (level := self.figure_level) < needed:
            return None
        if level is Level.ROUNDED:
            value = figures.rounded_to_step(value, self.step)
        return value if level > Level.SCORES else digits(value)


def _not_listed(what: str) -> errors.Forbidden:
    return not_shown(f"The organisers do not list the {what}; `leaderboard.scores` of the benchmark says which scores.")
