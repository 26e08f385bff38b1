"""Decide what a caller may see of data that depends on gold.

Every document for a caller who may not read gold is built here from lists of members that may be shown; a member on no
list is not shown. The levels are those of the benchmark, before and after closing.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
import orjson

from service.caller import Caller
from service.policy import documents as policy_documents
from service.policy import figures
from service.policy.documents import Document, chosen
from service.policy.release import Release
from service.requests import POOLED
from service.store.benchmarks import Benchmark
from service.store.score_records import finite
from treescore.core import arrays, params
from treescore.errors import Problem

Columns = Mapping[str, Sequence[Any]]
"""Members of rows, each of all rows."""
Level = figures.Level
LEVELS = figures.LEVELS
require = figures.require

RECEIVED = "received"
"""The state of a submission for callers who may know only that it was received."""
PUBLIC_STATES = ("cancelled",)
"""States that do not depend on gold."""

_SUBMISSION = (
    *("id", "benchmark", "team", "name", "run_of", "notes", "links", "role", "attempt", "created_at"),
    *("chosen", "withdrawn_at", "withdrawn_reason", "output_deleted_at", "quota"),
)
_SUBMISSION_STATUS = ("state", "started_at", "finished_at", "progress", "queue", "outputs", "failure", "failures")
_TIMES = ("started_at", "finished_at")
"""How long work takes depends on gold's trees."""
_FAILURE = ("type", "title", "status", "kind", "detail", "errors_total")
_ERROR = ("code", "pointer", "part", "sentence", "sent_id", "line", "column", "detail")
_ERROR_WITHOUT_PLACE = ("code", "pointer", "part", "detail")
_PLACELESS = ("other-words",)
"""Warnings of the first word or tag that differs from gold's: the place would tell that those before it are gold's."""
_TOGETHER = ("job-timeout", "job-memory")
_AT_LIMIT = Problem(
    "job-limit", "Scoring takes more time or memory than one job may have. Send fewer or shorter texts."
)
_SCORE_SIGNATURE = (
    *("metric", "params", "transforms", "format", "system_format", "version", "gold", "output", "command"),
    *("parts", "missing_parts", "split"),
)
_METRIC_ITEMS = ("counts", "sentences")
_ROW = ("team", "team_name", "submission", "name", "links", "role", "created_at")
_MATRIX_ROW = ("team", "team_name", "submission", "name", "role")
_ROW_ROUNDED = ("rank", "covered")
_ROW_SCORES = ("rank_interval", "cluster", "considered", "tested", "reason")
_MOVE = ("team", "submission", "submission_before", "rank_before", "rank_after")
_EVENT = ("id", "type", "at", "benchmark", "team", "subject")
_EVENT_DATA = ("members", "revision", "dry_run", "attempt")
_PUBLIC_EVENTS = ("benchmark", "revision")
"""Events of these resources that belong to no team are visible to all callers."""
_OUTCOME_EVENTS: Mapping[str, Level] = {
    "submission.scored": Level.STATUS,
    "submission.failed": Level.STATUS,
    "comparison.created": Level.SCORES,
    "comparison.done": Level.SCORES,
    "comparison.failed": Level.SCORES,
}
"""Events that depend on how an output fits gold, and the level from which they are shown."""


def knows(benchmark: Benchmark, caller: Caller) -> bool:
    """Return whether a caller may know that a benchmark exists.

    All may know of one whose board is public. Of another one know organisers, its teams, and tokens of no team that
    read: organisers make those.
    """
    if benchmark.leaderboard["public"] or caller.organises(benchmark.id):
        return True
    return caller.benchmark == benchmark.id or (caller.benchmark is None and caller.allowed("read"))


def submission_view(release: Release, document: Document) -> dict[str, Any]:
    """Return a submission's document, or its summary in a list; its scores where the release names a revision."""
    level = release.level
    if level is Level.GOLD:
        shown = dict(document)
    else:
        document = times_view(level, document)
        shown = chosen(document, _SUBMISSION)
        shown |= chosen(document, _SUBMISSION_STATUS) if _status_shown(level, document) else _received(document)
    if document.get("failure") is not None and shown.get("failure") is not None:
        shown["failure"] = failure_view(level, document["failure"])
    if "failures" in shown:
        shown["failures"] = [failure_view(level, failure) for failure in shown["failures"]]
    if "warnings" in document:
        shown["warnings"] = warnings_view(level, document["warnings"])
    if "released" in document:
        shown["released"] = document["released"] if level >= Level.ROUNDED else None
    if "scores" in document:
        scores = document["scores"]
        shown["scores"] = None if scores is None or not release.scored else _scores(release, scores)
    return shown


def times_view(level: Level, document: Document) -> dict[str, Any]:
    """Return a document of work on an output with its times in whole seconds; without them below `status`.

    Its progress is shown from `rounded` on.
    """
    shown = dict(document)
    if level is Level.GOLD:
        return shown
    for name in _TIMES:
        if shown.get(name) is not None:
            time = whole_second(datetime.fromisoformat(str(shown[name])))
            shown[name] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z") if level >= Level.STATUS else None
    if "progress" in shown and level < Level.ROUNDED:
        shown["progress"] = None
    return shown


def whole_second(time: datetime) -> datetime:
    """Return the next whole second: what ends is not shown to end before it began."""
    return time + timedelta(microseconds=-time.microsecond % 1_000_000)


def failure_view(level: Level, failure: Document) -> dict[str, Any]:
    """Return a failure record; details that quote gold are kept at level `gold` only.

    Which of the limits was reached that gold and output have together is shown from `items` on.
    """
    shown, errors = chosen(failure, _FAILURE), failure.get("errors", ())
    if level < Level.ITEMS and any(error.get("code") in _TOGETHER for error in errors):
        shown["detail"] = _AT_LIMIT.detail
        errors = [{"code": _AT_LIMIT.code, "detail": _AT_LIMIT.detail}]
    return {**shown, "errors": [_error(level, error) for error in errors]}


def warnings_view(level: Level, warnings: Iterable[Document]) -> list[dict[str, Any]]:
    """Return warnings: about the output's text from `status` on, about its comparison with gold from `scores` on."""
    if level < Level.STATUS:
        return []
    return [
        _error(level, warning) | chosen(warning, ("metric",))
        for warning in warnings
        if level >= Level.SCORES or "metric" not in warning
    ]


def validation_view(level: Level, results: Document) -> dict[str, Any]:
    """Return the results of `?validate_only=true`; whether the output fits gold's words is shown from `status` on."""
    if level < Level.STATUS:
        received = {name: {"state": RECEIVED} for name in results["parts"]}
        return {**chosen(results, ("benchmark", "revision")), "valid": None, "parts": received}
    parts: dict[str, dict[str, Any]] = {}
    for name, part in (results.get("parts") or {}).items():
        parts[name] = dict(part)
        if part.get("failure") is not None:
            parts[name]["failure"] = failure_view(level, part["failure"])
        if "warnings" in part:
            parts[name]["warnings"] = warnings_view(level, part["warnings"])
    return {**chosen(results, ("benchmark", "revision", "valid")), "parts": parts}


def rows_view(
    release: Release,
    columns: Columns,
    intervals: arrays.FloatArray,
    addresses: Sequence[str],
    scores: arrays.FloatArray,
) -> list[dict[str, Any]]:
    """Return leaderboard rows with the listed ones of their scores as JSON, none where nothing is scored.

    Their ranks must come from `Release.ranking`; below `rounded` they are None.

    Args:
        release: what the caller sees.
        columns: members of the rows, without intervals and the other scores.
        intervals: ends of those of the score that ranks, float64 (rows, 2); NaN where there is none.
        addresses: of the scores.
        scores: exact, float64 (rows, addresses); NaN where undefined.
    """
    listed = [at for at, address in enumerate(addresses) if address in release.listed]
    write, nothing = _written(tuple(addresses[at] for at in listed)), [None] * len(scores)
    known = (*_ROW, *(_ROW_ROUNDED if release.scored else ()), *(_ROW_SCORES if release.tested else ()))
    shown = {
        **chosen(columns, known),
        **{name: nothing for name in (*_ROW_ROUNDED, *_ROW_SCORES) if name not in known},
        **_scored(release, columns),
        "ci95": release.intervals(intervals),
        "p_next": [value if value is None else release.p(value) for value in columns["p_next"]],
        "detectable": [value if value is None else release.detectable(value) for value in columns["detectable"]],
        "scores": [
            {} if covered is None else write(of_row.tobytes())
            for covered, of_row in zip(columns["covered"], release.scores(scores[:, listed]), strict=True)
        ],
    }
    return _rows(shown)


MOST_WRITTEN = 400_000
"""Scores of rows that are kept written, some 60 bytes each, for each of two lists of names."""


@lru_cache(maxsize=2)
def _written(names: tuple[str, ...]) -> Callable[[bytes], orjson.Fragment]:
    """Return what writes the scores of a row, float64 by name, as JSON: most rows of a changed board are as before."""

    @lru_cache(maxsize=MOST_WRITTEN // max(1, len(names)))
    def write(values: bytes) -> orjson.Fragment:
        return orjson.Fragment(orjson.dumps(dict(zip(names, np.frombuffer(values).tolist(), strict=True))))

    return write


def matrix_rows_view(
    release: Release, columns: Columns, parts: Sequence[str], values: arrays.FloatArray
) -> list[dict[str, Any]]:
    """Return rows of a matrix; the score of a part that is hidden is NaN.

    Args:
        release: what the caller sees.
        columns: members of the rows, without values.
        parts: names.
        values: the exact scores of the parts, float64 (rows, parts); NaN where undefined.
    """
    hidden = [name in release.hidden for name in parts]
    shown = {
        **chosen(columns, _MATRIX_ROW),
        **_scored(release, columns),
        "rank": columns["rank"] if release.scored else [None] * len(values),
        "values": release.scores(np.where(hidden, np.nan, values)),
    }
    return _rows(shown)


def _scored(release: Release, columns: Columns) -> Columns:
    """Return the score that ranks, the training runs that it is the mean of, and which parts a row lacks.

    A hidden part is counted, not named: that it is missing tells its score.
    """
    missing, counts = columns["missing_parts"], columns["scored_parts"]
    if not release.scored:
        missing = counts = [None] * len(missing)
    elif release.hidden:
        missing = [names and [name for name in names if name not in release.hidden] for names in missing]
    ranking = np.array(columns["score"], np.float64).reshape(-1, 1)
    score = [*map(finite, release.scores(ranking)[:, 0].tolist())]
    runs = [value if value is None else release.runs(value) for value in columns["runs"]]
    return {"score": score, "runs": runs, "missing_parts": missing, "scored_parts": counts}


def _rows(columns: Columns) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def score_lines(release: Release, part: str, scores: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """Yield the listed scores of a part, a track, `macro` or `pooled`; nothing where it is hidden.

    Args:
        release: what the caller sees.
        part: whose scores they are.
        scores: exact, by address; NaN where undefined.
    """
    for address, value in scores.items() if part not in release.hidden else ():
        if address in release.listed:
            yield {"score": address, "value": release.score(value if math.isfinite(value) else None)}


def moves_view(release: Release, moves: Iterable[Document]) -> list[dict[str, Any]]:
    """Return the changes of ranks between two revisions, with main scores as the level shows them.

    Below `gold` those that change nothing that is shown are left out, and the order follows from what is shown.
    """
    if release.gold:
        return [dict(move) for move in moves]
    shown = [
        chosen(move, _MOVE)
        | {name: release.score(move[name]) for name in ("score_before", "score_after")}
        | {"difference": release.difference(move["difference"])}
        for move in moves
    ]
    pairs = [(name, name.replace("before", "after")) for name in ("rank_before", "score_before")]
    kept = [
        move
        for move in shown
        if move["submission"] != move["submission_before"] or any(move[one] != move[other] for one, other in pairs)
    ]
    return sorted(kept, key=_distance)


def _distance(move: Document) -> tuple[float, float, str]:
    """Return what orders changes of ranks: the larger one first."""
    before, after, difference = (move[name] for name in ("rank_before", "rank_after", "difference"))
    steps = abs(before - after) if isinstance(before, int) and isinstance(after, int) else 1
    size = abs(difference) if isinstance(difference, float) else 0.0
    return -steps, -size, str(move["submission"] or move["submission_before"])


def comparison_view(
    level: Level, document: Document, *, by_part: bool = True, counts: bool = False
) -> dict[str, params.Json]:  # fmt: skip
    """Return a comparison, the same for all formats: rounded and without counts where gold is secret.

    Args:
        level: of the caller.
        document: the whole comparison.
        by_part: whether the level shows figures of every part.
        counts: whether the number of units is shown.

    Raises:
        Forbidden: comparisons are not shown at this level.
    """
    require(level, Level.SCORES, "comparisons")
    if level is Level.GOLD:
        return dict(document)
    return policy_documents.shown_comparison(document, by_part=by_part, counts=counts)


def items_view(level: Level, metric: str, documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return a page of items of the caller's own output.

    Args:
        level: of the caller.
        metric: its name in the catalogue (not its key in the benchmark), or "" where items show only their status.
        documents: as the worker stored them.

    Raises:
        Forbidden: items are not shown at this level.
    """
    require(level, Level.ITEMS, "items")
    return (
        [dict(document) for document in documents]
        if level is Level.GOLD
        else policy_documents.shown_items(metric, documents)
    )


def groupings_view(level: Level, metric: str, names: Iterable[str]) -> list[str]:
    """Return the groupings whose slices a caller may see, in the order given."""
    if level is Level.GOLD:
        return list(names)
    allowed = policy_documents.shown_groupings(metric) if level is Level.ITEMS else ()
    return [name for name in names if name in allowed]


def slices_view(level: Level, metric: str, grouping: str, documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return the rows of one grouping; groupings by gold's properties are shown at level `gold` only.

    Raises:
        Forbidden: the rows are not shown at this level.
    """
    if level is Level.GOLD:
        return [dict(row) for row in documents]
    require(level, Level.ITEMS, "slices")
    if grouping not in policy_documents.shown_groupings(metric):
        require(level, Level.GOLD, f"slices by {grouping}")
    return policy_documents.shown_rows(metric, grouping, documents)


def event_view(level: Level | None, caller: Caller, event: Document) -> dict[str, Any] | None:
    """Return an event as the caller may see it; None where the caller may not see it at all.

    Args:
        level: of the caller in the event's benchmark; None where the event has no benchmark.
        caller: who reads.
        event: `id`, `type`, `at`, `benchmark`, `team`, `subject`, `actor`, `data`.
    """
    if caller.organises(event["benchmark"]):
        return dict(event)
    kind, data = str(event["type"]), event["data"]
    if data.get("dry_run"):
        # Dry runs of a revision are visible to organisers only.
        return None
    own = caller.team is not None and (caller.benchmark, caller.team) == (event["benchmark"], event["team"])
    public = event["team"] is None and kind.partition(".")[0] in _PUBLIC_EVENTS
    if level is None or not (own or public) or level < _OUTCOME_EVENTS.get(kind, Level.NONE):
        return None
    actor = event["actor"] if event["actor"] == caller.token_id else None
    return {**chosen(event, _EVENT), "actor": actor, "data": chosen(data, _EVENT_DATA)}


def test_view(event: Document) -> dict[str, Any]:
    """Return an event that tests a webhook as its receiver sees it: it tells of the webhook alone."""
    return chosen(event, _EVENT)


def _status_shown(level: Level, document: Document) -> bool:
    """Return whether the status may be shown: service failures and cancelled submissions do not depend on gold."""
    if level >= Level.STATUS or document["state"] in PUBLIC_STATES:
        return True
    kind = (document.get("failure") or {}).get("kind", document.get("failure_kind"))
    return document["state"] == "failed" and kind == "service"


def _received(document: Document) -> dict[str, Any]:
    """Return the members that replace the status, so that scoring leaves no trace."""
    shown = dict.fromkeys((name for name in _SUBMISSION_STATUS if name in document), None)
    shown["state"] = RECEIVED
    if "outputs" in document:
        outputs = document["outputs"]
        shown["outputs"] = {part: chosen(output, ("digest", "bytes")) for part, output in outputs.items()}
    if "failures" in document:
        shown["failures"] = []
    return shown


def _error(level: Level, error: Document) -> dict[str, Any]:
    placeless = level < Level.GOLD and error.get("code") in _PLACELESS
    shown = chosen(error, _ERROR_WITHOUT_PLACE if placeless else _ERROR)
    if level is Level.GOLD and error.get("gold_detail"):
        shown["detail"] = error["gold_detail"]
    return shown


def _scores(release: Release, scores: Document) -> dict[str, Any]:
    """Return the scores of a submission at level `rounded` or above."""
    level = release.level
    shown = dict(scores) if level is Level.GOLD else chosen(scores, ("revision", "covered", "split"))
    if "main" in scores:
        main = scores["main"]
        shown["main"] = {"score": main["score"], "value": release.score(main["value"])}
    metrics = scores["metrics"]
    shown["metrics"] = {
        key: _metric_scores(release, key, metric) for key, metric in metrics.items() if release.lists(key)
    }
    parts = {}
    for name, part in (scores.get("parts") or {}).items():
        failure = part.get("failure")
        seen = None if failure is None else failure_view(level, failure)
        parts[name] = {"state": part["state"], "failure": seen}
    shown["parts"] = parts
    return shown


def _metric_scores(release: Release, key: str, metric: Document) -> dict[str, Any]:
    if release.gold:
        return dict(metric)
    pooled: dict[str, Any] = {"scores": {}} if POOLED in release.hidden else _figures(release, key, metric)
    parts = {
        name: None if part is None or name in release.hidden else _figures(release, key, part)
        for name, part in (metric.get("parts") or {}).items()
    }
    signature = chosen((metric.get("signature") or {}), _SCORE_SIGNATURE)
    return {**pooled, **_mean(release, key, metric), "parts": parts, "signature": signature}


def _figures(release: Release, key: str, result: Document) -> dict[str, Any]:
    """Return the figures over one part or over all sentences; counts from `items` on: they are exact."""
    shown: dict[str, Any] = {"scores": release.of_metric(key, result["scores"], release.score)}
    if release.tested:
        if "undefined" in result:
            shown["undefined"] = release.of_metric(key, result["undefined"], lambda reason: reason)
        if "ci95" in result:
            shown["ci95"] = release.of_metric(key, result["ci95"], release.interval)
    return shown | (chosen(result, _METRIC_ITEMS) if release.figure_level >= Level.ITEMS else {})


def _mean(release: Release, key: str, metric: Document) -> dict[str, Any]:
    """Return the means of the parts."""
    shown: dict[str, Any] = {}
    if "macro" in metric:
        shown["macro"] = release.of_metric(key, metric["macro"], release.score)
    if "macro_ci95" in metric and release.tested:
        shown["macro_ci95"] = release.of_metric(key, metric["macro_ci95"], release.interval)
    return shown
