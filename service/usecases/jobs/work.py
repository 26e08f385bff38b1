"""The worker's half of a job: load, score, compare, save everything at once."""

from __future__ import annotations

from collections.abc import Mapping

from service.context import Context
from service.requests import JobRequest
from service.store import jobs, runs, texts
from service.store.jobs import Job
from service.usecases.jobs.jobs import significance_of
from service.usecases.runs.ending import Ending, Failure, job_answer
from service.usecases.runs.progress import Progress
from service.usecases.scoring.part_texts import Stored
from service.usecases.scoring.results import ArtifactKey, pack_outcome
from service.usecases.trees.gold import JOB_GOLD
from service.usecases.trees.writing import Packed, TreesKey, pack_marks, pack_trees
from treescore.core.registry import Text
from treescore.evaluation.report import Report, System, evaluate_systems
from treescore.evaluation.spec import parse_format, parse_items, parse_spec
from treescore.evaluation.tree_marks import marks_of


def work(context: Context, run: runs.Run, progress: Progress) -> Ending | None:
    """Score a claimed job.

    Raises:
        ScoringError: a text cannot be scored.
    """
    with context.store.read() as db:
        job = jobs.get(db, run.id)
        stored = texts.read_texts(db, run.id)
    if job is None or job.deleted_at is not None:
        return None
    report = _evaluate(context, job, stored, progress)
    answer = {"results": report.document, "warnings": report.warnings}
    return job_answer(run, runs.SUCCEEDED, answer, _packed(report) | _packed_trees(report))


def fail(_context: Context, run: runs.Run, failure: Failure) -> Ending:
    """Save a failure as the job's answer. It may quote gold, which is the caller's own text."""
    return job_answer(run, runs.FAILED, {"failure": failure.document(gold_visible=True)})


def _evaluate(context: Context, job: Job, stored: Stored, progress: Progress) -> Report:
    request = JobRequest.stored(job.request)
    spec = parse_spec(request.scoring)
    progress.measures(entry.metric.name for entry in spec.entries)
    systems = [
        System(
            name=system.name,
            text=_text(stored, f"systems/{index}"),
            digest=_digest(stored, f"systems/{index}"),
            format=spec.format if system.format is None else parse_format(system.format),
            pointer=f"/systems/{index}/output",
            run_of=system.run_of,
        )
        for index, system in enumerate(request.systems)
    ]
    return evaluate_systems(
        spec,
        _text(stored, "gold"),
        _digest(stored, "gold"),
        systems,
        significance=significance_of(request),
        agreement=request.agreement,
        items=parse_items(request.items),
        limits=context.config.limits,
        progress=progress.note,
    )


def _text(stored: Stored, name: str) -> Text:
    return stored[name][1] if name in stored else {field: body for field, (_, body) in _fields(stored, name).items()}


def _digest(stored: Stored, name: str) -> str:
    if name in stored:
        return stored[name][0]
    return " ".join(f"{field}={digest}" for field, (digest, _) in sorted(_fields(stored, name).items()))


def _fields(stored: Stored, name: str) -> Mapping[str, tuple[str, bytes]]:
    """Return the texts of a format of several texts: field -> (digest, body)."""
    below = name + "/"
    return {key.removeprefix(below): text for key, text in stored.items() if key.startswith(below)}


def _packed(report: Report) -> dict[tuple[str, int], bytes]:
    packed: dict[tuple[str, int], bytes] = {}
    for system, outcomes in enumerate(report.outcomes):
        for metric, entry in enumerate(report.spec.entries):
            packed |= pack_outcome(ArtifactKey(system, metric), entry, outcomes[entry.key], report.gold, reports=True)
    return packed


def _packed_trees(report: Report) -> Packed:
    """Return what is stored of trees: gold's once, those of each system, and how these fit."""
    packed = pack_trees(JOB_GOLD, report.gold)
    for number, (system, outcomes) in enumerate(zip(report.treebanks, report.outcomes, strict=True)):
        key = TreesKey(number)
        packed |= pack_trees(key, system)
        packed |= pack_marks(key, marks_of(report.spec.entries, outcomes, report.gold, system), report.gold, system)
    return packed
