"""Create, show, await, list, cancel and delete scoring jobs; the worker's half: load, score, compare, save at once.

What the first job of an API process would wait for is done before: SQL is written once and kept.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from functools import partial
from typing import NamedTuple

from sqlalchemy.exc import DBAPIError, IntegrityError

from service.caller import Caller, new_id, new_job_key, token_hash
from service.context import Context
from service.errors import SOON, Conflict, Forbidden, Gone, NotFound, Unauthorized, refuse, unprocessable
from service.monitoring import at_work
from service.queue import LIVE
from service.requests import JobRequest, JobsQuery
from service.store import jobs, runs, texts
from service.store.database import RollbackStore
from service.store.jobs import Job
from service.store.packing import is_packed
from service.usecases.access.access import IdempotencyKey, claim_key
from service.usecases.runs.ending import Ending, Failure, Progress, add_run, job_answer
from service.usecases.runs.views import Page, View, json_view, page_of, run_summary, state_document, wait_for
from service.usecases.scoring.gold import Stored, named_texts
from service.usecases.scoring.results import ArtifactKey, pack_outcome
from service.usecases.trees.stored import JOB_GOLD, Packed, TreesKey, pack_marks, pack_trees
from treescore.core.params import Json, escape
from treescore.core.registry import Text
from treescore.core.wording import did_you_mean
from treescore.errors import InputError, Problem, ProblemList, ScoringError, placed
from treescore.evaluation.report import (
    Report,
    System,
    asked_scores,
    evaluate_systems,
    find_score,
    problems_of_runs,
    runs_by_system,
)
from treescore.evaluation.spec import parse_format, parse_items, parse_spec
from treescore.evaluation.tree_marks import marks_of
from treescore.significance import parse_settings
from treescore.significance.training_runs import FEWEST_FOR_SPREAD, no_runs
from treescore.significance.units import require_parts

KIND = "job"
MAKERS = ("score", "submit")
"""Scopes that make jobs: `submit` makes validations. Lists of other tokens would always be empty."""


class Submitted(NamedTuple):
    """What a request for a job came to.

    Attributes:
        id: of the job.
        new: whether this request made it; an earlier one with the same Idempotency-Key may have.
        key: the secret that changes a new job of an anonymous caller; nothing else shows it.
    """

    id: str
    new: bool
    key: str | None = None


def submit_job(
    context: Context, caller: Caller, request: JobRequest, idempotency_key: IdempotencyKey | None = None
) -> Submitted:
    """Store a job, then queue it.

    Raises:
        Unprocessable: the request is invalid, with pointers; or the key was used for another request.
        TooManyRequests: too many runs of the caller are queued.
    """
    caller.require("score")
    _check(request)
    packed = texts.pack_texts(_texts(request))
    now = context.now()
    job_id = new_id(KIND, now)
    key = new_job_key() if caller.anonymous else None
    try:
        with context.store.write() as db:
            earlier = claim_key(db, caller, idempotency_key, job_id, now)
            if earlier is not None:
                return Submitted(earlier, new=False)
            add_run(db, context, caller, job_id, KIND, LIVE, now)
            jobs.add(db, job_id, caller.owner, request.without_texts(), key_hash=key and token_hash(key))
            texts.put_packed(db, job_id, packed)
    except IntegrityError as error:
        detail = "Another request with this Idempotency-Key is in progress. Retry."
        raise Conflict(detail, headers=SOON) from error
    context.queue.put(job_id, LIVE)
    return Submitted(job_id, new=True, key=key)


def significance_of(request: JobRequest) -> dict[str, Json] | None:
    """Return the significance settings of a request; None if they are off or there is one system."""
    settings = request.significance
    if settings is False or len(request.systems) < 2:
        return None
    return dict(settings) if isinstance(settings, Mapping) else {}


def view_job(context: Context, caller: Caller, job_id: str) -> View:
    """Show a job to the token that created it, and to organisers; one made without a token to all who have its id.

    Raises:
        NotFound: it does not exist, or belongs to another token.
        Gone: it was deleted.
    """
    known = jobs.answer(context.store, job_id)
    if known is None or not (caller.organiser or caller.owner == known.owner):
        raise NotFound(f"Unknown job {job_id}.")
    if known.deleted:
        raise Gone(f"The job {job_id} was deleted.")
    if known.document is not None:
        return View(known.document, known.etag or "", state=known.state or "", packed=is_packed(known.document))
    run = runs.look(context.store, job_id)
    if run is None:
        raise NotFound(f"Unknown job {job_id}.")
    if run.final:  # it ended between the two reads
        return view_job(context, caller, job_id)
    return json_view(state_document(run), final=False, state=run.state)


def wait_for_job(context: Context, caller: Caller, job_id: str, seconds: float, etag: str | None = None) -> View:
    """Show a job once it is final, or differs from `etag`, or the time is over."""
    return wait_for(context, job_id, lambda: view_job(context, caller, job_id), seconds, etag)


def list_jobs(context: Context, caller: Caller, query: JobsQuery) -> Page:
    """List the caller's jobs, newest first; organisers see all jobs.

    Raises:
        Unauthorized: the caller has no token: nothing tells which jobs are its own.
        Forbidden: the token cannot have made a job or a validation: its list would always be empty.
    """
    caller.require(*MAKERS)
    if caller.anonymous:
        raise Unauthorized("A list of jobs needs a token. Without one, ask for each job by its id.")
    owner = None if caller.organiser else caller.owner
    with context.store.read() as db:
        rows = jobs.of_owner(db, owner, query.cursor, query.limit + 1, query.state)
    return page_of(rows, query.limit, run_summary)


def cancel_job(context: Context, caller: Caller, job_id: str, key: str | None = None) -> View:
    """Cancel an unfinished job.

    Raises:
        Forbidden: the job was made without a token, and `key` is not the job's.
        Conflict: it has finished.
    """
    _require_change(context, caller, job_id, key)
    now = context.now()
    with context.store.write() as db:
        if not runs.finish(db, job_id, runs.CANCELLED, now):
            raise Conflict(f"The job {job_id} has finished. Only unfinished jobs can be cancelled.")
        run = runs.get(db, job_id)
        if run is None:
            raise NotFound(f"Unknown job {job_id}.")
        view = json_view(state_document(run), state=run.state)
        jobs.save_answer(db, job_id, run.state, view.body, view.etag)
    context.queue.stop(job_id)
    return view


def delete_job(context: Context, caller: Caller, job_id: str, key: str | None = None) -> None:
    """Delete a job's texts and results; a running job is stopped first. Afterwards it answers 410.

    Raises:
        Forbidden: the job was made without a token, and `key` is not the job's.
    """
    _require_change(context, caller, job_id, key)
    now = context.now()
    with context.store.write() as db:
        runs.finish(db, job_id, runs.CANCELLED, now)
        jobs.erase(db, [job_id], now)
    context.queue.stop(job_id)


def _require_change(context: Context, caller: Caller, job_id: str, key: str | None) -> None:
    """Let the owner of a job change it, and organisers; an anonymous owner is who has the job's key."""
    view_job(context, caller, job_id)
    if not caller.anonymous:
        return
    known = jobs.answer(context.store, job_id)
    stored = (known and known.key_hash) or ""
    if not (stored and hmac.compare_digest(stored, token_hash(key or ""))):
        raise Forbidden(
            "This job was made without a token. Send its key, which the answer to its request had, as `Job-Key`.",
            slug="job-key",
        )


def _check(request: JobRequest) -> None:
    """Check formats, metrics, transforms and significance of a request; it reads no text.

    Raises:
        Unprocessable: with a pointer for each problem.
    """
    problems: list[Problem] = []

    def collect(pointer: str, check: Callable[[], object]) -> None:
        try:
            check()
        except ScoringError as error:
            problems.extend(error.at(pointer).problems)

    collect("", lambda: _check_scores(request))
    for index, system in enumerate(request.systems):
        if system.format is not None:
            collect(f"/systems/{index}/format", partial(parse_format, system.format))
    collect("/significance", lambda: _check_significance(request))
    problems += problems_of_runs(request.systems, "/systems")
    # parse times of unknown systems would never be read
    names = {system.name for system in request.systems}
    for name in (request.items or {}).get("seconds", {}):
        if name not in names:
            pointer = f"/items/seconds/{escape(name)}"
            detail = f"Unknown system {name!r} in this job.{did_you_mean(name, names)}"
            problems.append(Problem(code="unknown-system", pointer=pointer, detail=detail))
    if problems:
        raise unprocessable(InputError(problems))


def _check_significance(request: JobRequest) -> None:
    settings = parse_settings(significance_of(request) or {})
    if settings.runs_required and max(map(len, runs_by_system(request.systems).values())) < FEWEST_FOR_SPREAD:
        raise InputError(no_runs())
    if settings.unit == "part":
        require_parts(1)  # a job has one text


def _check_scores(request: JobRequest) -> None:
    spec = parse_spec(request.scoring)
    asked_scores(spec, (significance_of(request) or {}).get("scores"))
    for index, pair in enumerate(request.agreement):
        for side, address in enumerate(pair):
            with placed(f"/agreement/{index}/{side}"):
                find_score(spec, address)


def _texts(request: JobRequest) -> dict[str, bytes]:
    """Return the texts under their names (`gold`, `systems/0`, `gold/source`).

    Raises:
        Unprocessable: a text does not have the shape of its format.
    """
    problems = ProblemList()
    gold_format = parse_format(request.format)
    named = named_texts(problems, "gold", request.gold, gold_format, "/gold")
    for index, system in enumerate(request.systems):
        choice = gold_format if system.format is None else parse_format(system.format)
        named |= named_texts(problems, f"systems/{index}", system.output, choice, f"/systems/{index}/output")
    refuse(problems)
    return named


NO_RUN = "job_warm_up"
_TEXTS = {"gold": b"a", "systems/0": b"b"}


def prepare_statements(context: Context) -> None:
    """Store a job in a transaction that is never committed, and look for it. Without the store nothing is done."""
    with at_work(NO_RUN, None), suppress(DBAPIError):
        with closing(RollbackStore(context.store)) as store, store.write() as db:
            runs.queued_of(db, KIND)
            runs.add(db, NO_RUN, KIND, LIVE, context.now(), KIND)
            jobs.add(db, NO_RUN, KIND, {})
            texts.put(db, NO_RUN, _TEXTS)
        jobs.answer(context.store, NO_RUN)
        runs.look(context.store, NO_RUN)


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
