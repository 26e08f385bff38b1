"""Tell organisers how a benchmark runs: submissions by day, failures by code, how long work waits and takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, timedelta

import numpy as np

from service.caller import Caller
from service.context import Context
from service.requests import AnalyticsQuery
from service.store import analytics
from service.store.analytics import Sent
from service.store.runs import CANCELLED, FAILED, QUEUED, RUNNING, SUCCEEDED
from service.usecases.access.access import benchmark_of
from service.usecases.runs.views import View, json_view, moment

_STATES = {SUCCEEDED: "scored", FAILED: "failed", CANCELLED: "cancelled", QUEUED: "queued", RUNNING: "running"}


def analytics_of(context: Context, caller: Caller, slug: str, query: AnalyticsQuery) -> View:
    """Return what has happened on a benchmark in the last days.

    Raises:
        Forbidden: the caller does not organise.
        NotFound, Gone: unknown or deleted benchmark.
    """
    caller.require("organise")
    today = context.now().astimezone(UTC).date()
    first = today - timedelta(days=query.days - 1)
    with context.store.read() as db:
        benchmark_of(db, slug)
        sent = analytics.sent_since(db, slug, first.isoformat())
        checked = analytics.validations_since(db, slug, first.isoformat())
    return json_view(
        {
            "benchmark": slug,
            "first_day": first.isoformat(),
            "last_day": today.isoformat(),
            "complete": len(sent) < analytics.MOST,
            "days": _days(sent, checked, first, query.days),
            "attempts": {
                "submissions": len(sent),
                "further": sum(each.attempt - 1 for each in sent),
                "validations": sum(checked.values()),
            },
            "failures": _failures(sent),
            "waiting_seconds": _spread((each.started_at - each.queued_at).total_seconds()
                                       for each in sent if each.started_at is not None),
            "scoring_seconds": _spread((each.finished_at - each.started_at).total_seconds()
                                       for each in sent if each.started_at is not None
                                       and each.finished_at is not None and each.run_state == SUCCEEDED),
            "queue": _queue(sent),
        }
    )  # fmt: skip


def _state(each: Sent) -> str:
    # the row of a submission says queued until its run has ended
    return _STATES[each.run_state if each.state == QUEUED else each.state]


def _days(sent: Sequence[Sent], checked: Mapping[str, int], first: date, number: int) -> list[dict[str, object]]:
    """Return every day, oldest first, also those without submissions."""
    counted = Counter((each.utc_day, _state(each)) for each in sent)
    days = [(first + timedelta(days=at)).isoformat() for at in range(number)]
    return [
        {
            "day": day,
            **{state: counted[day, state] for state in _STATES.values()},
            "validations": checked.get(day, 0),
        }
        for day in days
    ]


def _failures(sent: Iterable[Sent]) -> list[dict[str, object]]:
    """Return in how many failed attempts each code was given, the most frequent first."""
    counted: Counter[tuple[str, str]] = Counter()
    for each in sent:
        for failure in each.failures:
            kind = str(failure["kind"])
            codes = {str(error["code"]) for error in failure.get("errors", ())}
            counted.update((kind, code) for code in codes or {""})
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return [{"kind": kind, "code": code or None, "attempts": number} for (kind, code), number in ordered]


def _spread(seconds: Iterable[float]) -> dict[str, object]:
    """Return the median and the 90th percentile of times."""
    known = np.array([max(0.0, each) for each in seconds], np.float64)
    if not len(known):
        return {"number": 0, "median": None, "p90": None}
    median, p90 = np.percentile(known, [50, 90]).tolist()
    return {"number": len(known), "median": round(median, 3), "p90": round(p90, 3)}


def _queue(sent: Sequence[Sent]) -> dict[str, object]:
    """Return what is waiting and what is being scored now, of the same days."""
    waiting = [each.queued_at for each in sent if _state(each) == "queued"]
    return {
        "queued": len(waiting),
        "running": sum(_state(each) == "running" for each in sent),
        "oldest": moment(min(waiting, default=None)),
    }
