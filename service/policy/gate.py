"""The one gate: what a caller may see of what comes from gold.

Every document on its way to somebody who may not read gold is put together here from lists of what may be shown; what
is on no list is not shown. The levels are those of the benchmark, before and after closing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import IntEnum
from typing import Any

from service.caller import Caller
from service.errors import Forbidden
from service.policy import items
from service.store.benchmarks import Benchmark


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
RECEIVED = "received"
"""The state of a submission for those who may know no more than that it was received."""
DEFAULT_STEP = 0.01
"""To which scores are rounded where the benchmark does not say."""
PUBLIC_STATES = ("cancelled",)
"""States that say nothing of gold."""

_SUBMISSION = (
    *("id", "benchmark", "team", "name", "notes", "role", "attempt", "created_at"),
    *("chosen", "withdrawn_at", "output_deleted_at", "quota"),
)
_SUBMISSION_STATUS = ("state", "started_at", "finished_at", "progress", "queue", "outputs", "failure", "failures")
_FAILURE = ("type", "title", "status", "kind", "detail", "errors_total")
_ERROR = ("code", "pointer", "part", "sentence", "sent_id", "line", "column", "detail")
_SIGNATURE = (
    *("metric", "params", "transforms", "format", "system_format", "version", "gold", "output", "command"),
    *("parts", "missing_parts"),
)
_METRIC_ROUNDED = ("scores", "macro")
_METRIC_SCORES = ("scores", "undefined", "counts", "sentences", "ci95", "macro", "macro_ci95")
_PART_SCORES = ("scores", "undefined", "counts", "sentences")
_ROW = ("team", "team_name", "submission", "name", "role", "created_at", "chosen")
_ROW_ROUNDED = ("rank",)
_ROW_NUMBERS = ("score", "scores")
_ROW_SCORES = ("rank_interval", "cluster", "ci95", "p_next", "tested", "reason")
_COMPARISON = (
    *("id", "benchmark", "revision", "question", "state", "created_at", "started_at", "finished_at", "progress"),
)
_EVENT = ("id", "type", "at", "benchmark", "team", "subject")
_EVENT_DATA = ("members", "revision", "dry_run", "attempt")
_PUBLIC_EVENTS = ("benchmark", "revision")
"""Events of these resources, belonging to no team, are anybody's."""
_TELLING_EVENTS: Mapping[str, Level] = {
    "submission.scored": Level.STATUS,
    "submission.failed": Level.STATUS,
    "comparison.created": Level.SCORES,
    "comparison.done": Level.SCORES,
    "comparison.failed": Level.SCORES,
}
"""Events that say how outputs fit gold, or that significance was tested, and from which level on."""


def level_of(benchmark: Benchmark, caller: Caller, now: datetime) -> Level:
    """What a caller may see of a benchmark at a moment."""
    if caller.organiser:
        return Level.GOLD
    after = benchmark.settings["feedback_after_closing"]
    name = after if after is not None and benchmark.closed(now) else benchmark.settings["feedback"]
    return LEVELS[name]


def lowest_level(benchmark: Benchmark, caller: Caller) -> Level:
    """What a caller may see both before and after closing: for what is put together once and read later."""
    if caller.organiser:
        return Level.GOLD
    settings = benchmark.settings
    return min(LEVELS[settings["feedback"]], LEVELS[settings["feedback_after_closing"] or settings["feedback"]])


def blind(benchmark: Benchmark, now: datetime) -> bool:
    """Whether teams may not even know whether their outputs could be scored."""
    return level_of(benchmark, Caller(None, frozenset()), now) is Level.NONE


def require(level: Level, needed: Level, what: str) -> None:
    """Refuse what the level does not show.

    Raises:
        Forbidden: naming the level from which on it is shown.
    """
    if level < needed:
        raise Forbidden(
            f"The organisers show {what} from the feedback level {needed.name.lower()} on; here it is "
            f"{level.name.lower()}.",
            slug="not-shown",
            title="The benchmark does not show this",
        )


def step_of(benchmark: Benchmark) -> float:
    """To which step a benchmark's scores are rounded at level `rounded`."""
    return float(benchmark.settings["rounding"] or DEFAULT_STEP)


def rounded(value: float | None, step: float | None) -> float | None:
    """A score to the nearest step, so that what is behind it cannot be told."""
    chosen = step or DEFAULT_STEP
    return None if value is None else round(round(value / chosen) * chosen, 12)


def visible(level: Level, value: float | None, step: float | None) -> float | None:
    """A score as the level shows it; whatever ranks rows must be this. None below `rounded`."""
    if level < Level.ROUNDED:
        return None
    return rounded(value, step) if level is Level.ROUNDED else value


def submission_view(level: Level, document: Mapping[str, Any], *, rounding: float | None) -> dict[str, Any]:
    """A submission's document, or its summary in a list."""
    if level is Level.GOLD:
        shown = dict(document)
    else:
        shown = _chosen(document, _SUBMISSION)
        shown |= _chosen(document, _SUBMISSION_STATUS) if _status_shown(level, document) else _received(document)
    if document.get("failure") is not None and shown.get("failure") is not None:
        shown["failure"] = failure_view(level, document["failure"])
    if "failures" in shown:
        shown["failures"] = [failure_view(level, failure) for failure in shown["failures"]]
    if "warnings" in document:
        shown["warnings"] = warnings_view(level, document["warnings"])
    if "scores" in document:
        shown["scores"] = _scores(level, document["scores"], rounding)
    return shown


def state_view(level: Level, document: Mapping[str, Any]) -> str:
    """The state of a submission as the level shows it."""
    return str(document["state"]) if _status_shown(level, document) else RECEIVED


def failure_view(level: Level, failure: Mapping[str, Any]) -> dict[str, Any]:
    """A failure record; what quotes gold only where gold may be read."""
    shown = dict(failure) if level is Level.GOLD else _chosen(failure, _FAILURE)
    return {**shown, "errors": [_error(level, error) for error in failure.get("errors", ())]}


def warnings_view(level: Level, warnings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Warnings: from `status` on those of the output's own text, from `scores` on those of its comparison with gold."""
    if level < Level.STATUS:
        return []
    return [
        _error(level, warning) | _chosen(warning, ("metric",))
        for warning in warnings
        if level >= Level.SCORES or "metric" not in warning
    ]


def validation_view(level: Level, results: Mapping[str, Any]) -> dict[str, Any]:
    """What `?validate_only=true` found: how the output fits gold's words is told from `status` on."""
    if level < Level.STATUS:
        received = {name: {"state": RECEIVED} for name in results["parts"]}
        return {**_chosen(results, ("benchmark", "revision")), "valid": None, "parts": received}
    parts: dict[str, dict[str, Any]] = {}
    for name, part in results["parts"].items():
        parts[name] = dict(part)
        if part.get("failure") is not None:
            parts[name]["failure"] = failure_view(level, part["failure"])
        if "warnings" in part:
            parts[name]["warnings"] = warnings_view(level, part["warnings"])
    return {**_chosen(results, ("benchmark", "revision", "valid")), "parts": parts}


def row_view(level: Level, row: Mapping[str, Any], *, rounding: float | None) -> dict[str, Any]:
    """A leaderboard's row: ranks must have been made of `visible` scores. Below `rounded` nobody has a rank."""
    if level is Level.GOLD:
        return dict(row)
    shown = _chosen(row, _ROW)
    shown |= {name: row[name] if level >= Level.ROUNDED else None for name in _ROW_ROUNDED if name in row}
    shown |= {name: row[name] if level >= Level.SCORES else None for name in _ROW_SCORES if name in row}
    return shown | {name: _visible_all(level, row[name], rounding) for name in _ROW_NUMBERS if name in row}


def comparison_view(level: Level, document: Mapping[str, Any]) -> dict[str, Any]:
    """A comparison: p, differences and intervals are told from `scores` on, before that only that it was asked."""
    if level >= Level.SCORES:
        return dict(document)
    return _chosen(document, _COMPARISON)


def items_view(level: Level, metric: str, documents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A page of items of one's own output.

    Args:
        level: of the caller.
        metric: its name in the catalogue (not its key in the benchmark), or "" where nothing may be told of items.
        documents: as the worker stored them.

    Raises:
        Forbidden: items are not shown at this level.
    """
    require(level, Level.ITEMS, "items")
    return [dict(document) for document in documents] if level is Level.GOLD else items.items(metric, documents)


def item_view(level: Level, metric: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """One item where items are told apart by their number alone (of a comparison); see `items_view`."""
    require(level, Level.ITEMS, "items")
    return dict(document) if level is Level.GOLD else items.item(metric, document)


def difference_view(level: Level, metric: str, score: str, value: float) -> float | None:
    """How far two outputs lie apart in one sentence; None where the sentence's score tells how much gold holds."""
    return value if level is Level.GOLD or score in items.scores(metric) else None


def groupings_view(level: Level, metric: str, names: Iterable[str]) -> list[str]:
    """The groupings whose slices a caller may see, in their order."""
    if level is Level.GOLD:
        return list(names)
    allowed = items.groupings(metric) if level is Level.ITEMS else ()
    return [name for name in names if name in allowed]


def slices_view(
    level: Level, metric: str, grouping: str, documents: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The rows of one grouping; those that go by gold's properties only where gold may be read.

    Raises:
        Forbidden: they are not shown at this level.
    """
    if level is Level.GOLD:
        return [dict(row) for row in documents]
    require(level, Level.ITEMS, "slices")
    if grouping not in items.groupings(metric):
        require(level, Level.GOLD, f"slices by {grouping}")
    return items.rows(metric, grouping, documents)


def event_view(level: Level | None, caller: Caller, event: Mapping[str, Any]) -> dict[str, Any] | None:
    """An event as its reader may see it; None where it is not theirs to know of.

    Args:
        level: the caller's in the event's benchmark; None where the event has none.
        caller: who reads.
        event: `id`, `type`, `at`, `benchmark`, `team`, `subject`, `actor`, `data`.
    """
    if caller.organiser:
        return dict(event)
    if event["data"].get("dry_run"):
        # a revision that is only tried is the organisers' own affair
        return None
    own = caller.team is not None and (caller.benchmark, caller.team) == (event["benchmark"], event["team"])
    everybodys = event["team"] is None and event["type"].partition(".")[0] in _PUBLIC_EVENTS
    if level is None or not (own or everybodys) or level < _TELLING_EVENTS.get(event["type"], Level.NONE):
        return None
    actor = event["actor"] if event["actor"] == caller.token_id else None
    return {**_chosen(event, _EVENT), "actor": actor, "data": _chosen(event["data"], _EVENT_DATA)}


def _chosen(document: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: document[name] for name in names if name in document}


def _status_shown(level: Level, document: Mapping[str, Any]) -> bool:
    """A fault of the service, which can be retried, and a cancelled submission say nothing of gold."""
    if level >= Level.STATUS or document["state"] in PUBLIC_STATES:
        return True
    kind = (document.get("failure") or {}).get("kind", document.get("failure_kind"))
    return bool(document["state"] == "failed" and kind == "service")


def _received(document: Mapping[str, Any]) -> dict[str, Any]:
    """What stands for everything that tells whether, when and how a submission was scored."""
    shown = dict.fromkeys((name for name in _SUBMISSION_STATUS if name in document), None)
    shown["state"] = RECEIVED
    if "outputs" in document:
        shown["outputs"] = {part: _chosen(output, ("digest", "bytes")) for part, output in document["outputs"].items()}
    if "failures" in document:
        shown["failures"] = []
    return shown


def _error(level: Level, error: Mapping[str, Any]) -> dict[str, Any]:
    shown = _chosen(error, _ERROR)
    if level is Level.GOLD and error.get("gold_detail"):
        shown["detail"] = error["gold_detail"]
    return shown


def _scores(level: Level, scores: Mapping[str, Any] | None, step: float | None) -> dict[str, Any] | None:
    if scores is None or level < Level.ROUNDED:
        return None
    shown = dict(scores) if level is Level.GOLD else _chosen(scores, ("revision",))
    if "main" in scores:
        main = scores["main"]
        shown["main"] = {"score": main["score"], "value": visible(level, main["value"], step)}
    shown["metrics"] = {key: _metric(level, metric, step) for key, metric in scores["metrics"].items()}
    parts = {}
    for name, part in (scores.get("parts") or {}).items():
        failure = part.get("failure")
        parts[name] = {"state": part["state"], "failure": None if failure is None else failure_view(level, failure)}
    shown["parts"] = parts
    return shown


def _metric(level: Level, metric: Mapping[str, Any], step: float | None) -> dict[str, Any]:
    if level is Level.GOLD:
        return dict(metric)
    if level >= Level.SCORES:
        shown = _chosen(metric, _METRIC_SCORES)
        names: tuple[str, ...] = _PART_SCORES
    else:
        shown = {name: _visible_all(level, metric[name], step) for name in _METRIC_ROUNDED if name in metric}
        names = ("scores",)
    parts = {}
    for name, part in (metric.get("parts") or {}).items():
        parts[name] = None if part is None else _visible_all(level, _chosen(part, names), step)
    return {**shown, "parts": parts, "signature": _chosen(metric.get("signature") or {}, _SIGNATURE)}


def _visible_all(level: Level, value: Any, step: float | None) -> Any:
    """Every number in a document of scores as the level shows it."""
    if isinstance(value, Mapping):
        return {name: _visible_all(level, member, step) for name, member in value.items()}
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return visible(level, value, step) if level < Level.SCORES else value
