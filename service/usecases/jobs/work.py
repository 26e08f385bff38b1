"""The worker's half of a job: load, score, compare, save everything at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from service.context import Context
from service.errors import failure_document
from service.store import artifacts, jobs, runs, texts
from service.store.packing import pack_array
from service.usecases.jobs.jobs import significance_of
from service.usecases.jobs.results import artifact_name
from service.usecases.runs.progress import Progress
from service.usecases.runs.views import etag_of, moment, state_document
from service.usecases.scoring.results import ITEMS_PER_PAGE
from treescore.core.registry import Outcome, Text
from treescore.errors import ScoringError
from treescore.evaluation.document import item_documents
from treescore.evaluation.report import Report, System, evaluate_systems
from treescore.evaluation.spec import parse_format, parse_items, parse_spec

Packed = dict[tuple[str, int], bytes]


def score_job(context: Context, run: runs.Run) -> None:
    """Score a claimed job and save its answer. A fault of the input is an answer too."""
    with context.store.read() as db:
        job = jobs.get(db, run.id)
        named = texts.read(db, run.id)
    if job is None or job.deleted_at is not None:
        return
    try:
        report = _evaluate(job.request, named, context, Progress(context, run.id))
    except ScoringError as error:
        fail_job(context, run, failure_document(error.kind, error.problems, error.total))
        return
    made = {} if report is None else _artifacts(report)
    if report is not None:
        _save(context, run, runs.SUCCEEDED, {"results": report.document, "warnings": report.warnings}, made)


def fail_job(context: Context, run: runs.Run, failure: Mapping[str, Any]) -> None:
    """Save a failure as the job's answer."""
    _save(context, run, runs.FAILED, {"failure": failure}, {})


def _evaluate(
    request: dict[str, Any], named: Mapping[str, tuple[str, bytes]], context: Context, progress: Progress
) -> Report | None:
    spec = parse_spec(request)
    systems = [
        System(
            name=system["name"],
            text=_text(named, f"systems/{index}"),
            digest=_digest(named, f"systems/{index}"),
            format=parse_format(system["format"]) if "format" in system else spec.format,
            pointer=f"/systems/{index}/output",
            run_of=system.get("run_of"),
        )
        for index, system in enumerate(request["systems"])
    ]
    return evaluate_systems(
        spec,
        _text(named, "gold"),
        _digest(named, "gold"),
        systems,
        significance=significance_of(request),
        agreement=request.get("agreement", ()),
        items=parse_items(request.get("items")),
        limits=context.config.limits,
        progress=progress.note,
    )


def _text(named: Mapping[str, tuple[str, bytes]], name: str) -> Text:
    if name in named:
        return named[name][1]
    below = name + "/"
    return {key.removeprefix(below): body for key, (_, body) in named.items() if key.startswith(below)}


def _digest(named: Mapping[str, tuple[str, bytes]], name: str) -> str:
    if name in named:
        return named[name][0]
    below = name + "/"
    return " ".join(f"{key.removeprefix(below)}={named[key][0]}" for key in sorted(named) if key.startswith(below))


def _artifacts(report: Report) -> Packed:
    made: Packed = {}
    for system, outcomes in enumerate(report.outcomes):
        for number, entry in enumerate(report.spec.entries):
            outcome = outcomes[entry.key]
            made[artifact_name("counts", number, system), 0] = pack_array(outcome.rows)
            made[artifact_name("slices", number, system), 0] = artifacts.pack_json(dict(outcome.slices()))
            reports = {style: entry.metric.report(style, outcome) for style in entry.metric.styles}
            made[artifact_name("reports", number, system), 0] = artifacts.pack_json(reports)
            for page, body in enumerate(item_pages(report, entry.metric.table, outcome)):
                made[artifact_name("items", number, system), page] = body
    return made


def item_pages(report: Report, table: Any, outcome: Outcome) -> list[bytes]:
    """The items of an outcome, packed page by page."""
    pages = []
    for start in range(0, len(outcome.rows), ITEMS_PER_PAGE):
        stop = min(start + ITEMS_PER_PAGE, len(outcome.rows))
        pages.append(artifacts.pack_json(item_documents(table, outcome, report.gold, start, stop)))
    return pages


def _save(context: Context, run: runs.Run, state: str, answer: Mapping[str, Any], made: Packed) -> None:
    now = context.now()
    document = orjson.dumps(
        {**state_document(run), "state": state, "finished_at": moment(now), "progress": None, **answer},
        option=orjson.OPT_NON_STR_KEYS,
    )
    with context.store.write() as db:
        # whoever comes second changes nothing: the work may have run twice
        if not runs.finish(db, run.id, state, now):
            return
        artifacts.put(db, run.id, made)
        jobs.save_answer(db, run.id, state, document, etag_of(document))
    context.queue.wake(run.id)
