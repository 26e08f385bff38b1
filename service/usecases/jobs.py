"""Scoring jobs: create, show, await, list, cancel, delete; the worker's half: load, score, compare, save at once.

Beside the document of a finished job are items, slices, reports, comparisons, trees of one system and gold: all are the
caller's own. What the first job of an API process would wait for is done before: SQL is written once and kept.
"""

import hmac
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import NamedTuple, cast

from sqlalchemy.exc import DBAPIError, IntegrityError

from service import logs, queue, render
from service.caller import Caller, new_id, new_secret, token_hash
from service.context import Context
from service.contract import jobs as contract
from service.errors import SOON, Conflict, Forbidden, Gone, NotFound, Unauthorized, Unprocessable, refuse, unprocessable
from service.policy import gate
from service.policy.release import Release
from service.store import artifacts, benchmarks, database, jobs, packing, runs, texts
from service.usecases.access import IdempotencyKey, claim_key, item_number
from service.usecases.runs import (
    TEXT_TYPE,
    Ending,
    Failure,
    Page,
    Progress,
    Shown,
    add_run,
    items_page,
    job_answer,
    page_of,
    run_summary,
    state_document,
    wait_for,
)
from service.usecases.scoring import config, gold
from service.usecases.scoring.part_scorer import ArtifactKey, pack_outcome, slices_of
from service.usecases.views import asking, choosing
from treescore.core import params, wording
from treescore.errors import InputError, Problem, ProblemList, ScoringError, placed
from treescore.evaluation import report
from treescore.evaluation.spec import Entry, parse_format, parse_items, parse_spec
from treescore.render.forms import render_comparisons
from treescore.significance import parse_settings, units
from treescore.significance.question import FEWEST_FOR_SPREAD, no_runs

KIND = "job"
VALIDATION_KIND = "validation"
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
    context: Context, caller: Caller, request: contract.JobRequest, idempotency_key: IdempotencyKey | None = None
) -> Submitted:
    """Store a job, then queue it.

    Raises:
        Unprocessable: the request is invalid, with pointers; or the key was used for another request.
        TooManyRequests: too many runs of the caller are queued.
    """
    caller.require("score")
    _check(request)
    packed = _texts(request, context.config.max_run_bytes)
    now = context.now()
    job_id = new_id(KIND, now)
    key = new_secret() if caller.anonymous else None
    try:
        with context.store.write() as db:
            earlier = claim_key(db, caller, idempotency_key, job_id, now)
            if earlier is not None:
                return Submitted(earlier, new=False)
            add_run(db, context, caller, job_id, KIND, queue.LIVE, now)
            jobs.add(db, job_id, caller.owner, request.without_texts(), key_hash=key and token_hash(key))
            texts.put_packed(db, job_id, packed)
    except IntegrityError as error:
        detail = "Another request with this Idempotency-Key is in progress. Retry."
        raise Conflict(detail, headers=SOON) from error
    context.queue.put(job_id, queue.LIVE)
    return Submitted(job_id, new=True, key=key)


def significance_of(request: contract.JobRequest) -> dict[str, params.Json] | None:
    """Return the significance settings of a request; None if they are off or there is one system."""
    return None if request.significance is False or len(request.systems) < 2 else _settings(request)


def _settings(request: contract.JobRequest) -> dict[str, params.Json]:
    return dict(request.significance) if isinstance(request.significance, Mapping) else {}


def view_job(context: Context, caller: Caller, job_id: str) -> Shown[contract.Job]:
    """Show a job to the token that created it, and to organisers; one made without a token to all who have its id.

    Raises:
        NotFound: it does not exist, or belongs to another token.
        Gone: it was deleted.
    """
    known = jobs.answer(context.store, job_id)
    if known is None or not (caller.organiser or caller.owner == known.owner):
        raise NotFound(f"Unknown job {job_id}.")
    if known.deleted_at is not None:
        raise Gone(f"The job {job_id} was deleted.")
    if known.document is not None:
        packed = packing.is_packed(known.document)
        return Shown(None, known.document, known.etag, state=known.state or "", packed=packed)
    run = runs.look(context.store, job_id)
    if run is None:
        raise NotFound(f"Unknown job {job_id}.")
    if run.final:  # it ended between the two reads
        return view_job(context, caller, job_id)
    return Shown(cast("contract.Job", _timed(context, caller, run, state_document(run))), final=False, state=run.state)


def wait_for_job(
    context: Context, caller: Caller, job_id: str, seconds: float, etag: str | None = None
) -> Shown[contract.Job]:
    """Show a job once it is final, or differs from `etag`, or the time is over."""
    return wait_for(context, job_id, lambda: view_job(context, caller, job_id), seconds, etag)


def list_jobs(context: Context, caller: Caller, query: contract.JobsQuery) -> Page:
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
    return page_of(rows, query.limit, lambda run: _timed(context, caller, run, run_summary(run)))


def _timed(context: Context, caller: Caller, run: runs.Run, document: dict[str, object]) -> dict[str, object]:
    """Return what is known of a run; of one that compares with secret gold as the level of its benchmark shows it."""
    if run.kind != VALIDATION_KIND or caller.organiser:
        return document
    with context.store.read() as db:
        benchmark = None if caller.benchmark is None else benchmarks.get(db, caller.benchmark)
    return gate.times_view((Release() if benchmark is None else Release.of(benchmark, caller, None)).level, document)


def cancel_job(context: Context, caller: Caller, job_id: str, key: str | None = None) -> Shown[contract.Job]:
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
        view = Shown(cast("contract.Job", _timed(context, caller, run, state_document(run))), state=run.state)
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


def _check(request: contract.JobRequest) -> None:
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
    problems += report.problems_of_runs(request.systems, "/systems")
    # parse times of unknown systems would never be read
    names = {system.name for system in request.systems}
    for name in (request.items or {}).get("seconds", {}):
        if name not in names:
            pointer = f"/items/seconds/{params.escape(name)}"
            detail = f"Unknown system {name!r} in this job.{wording.did_you_mean(name, names)}"
            problems.append(Problem(code="unknown-system", pointer=pointer, detail=detail))
    if problems:
        raise unprocessable(InputError(problems))


def _check_significance(request: contract.JobRequest) -> None:
    settings = parse_settings(_settings(request))
    if settings.runs_required and max(map(len, report.runs_by_system(request.systems).values())) < FEWEST_FOR_SPREAD:
        raise InputError(no_runs())
    if settings.unit == "part":
        units.require_parts(1)  # a job has one text


def _check_scores(request: contract.JobRequest) -> None:
    spec = parse_spec(request.scoring)
    report.asked_scores(spec, _settings(request).get("scores"))
    for index, pair in enumerate(request.agreement):
        for side, address in enumerate(pair):
            with placed(f"/agreement/{index}/{side}"):
                report.find_score(spec, address)


def _texts(request: contract.JobRequest, memory: int) -> dict[str, packing.PackedText]:
    """Return the texts under their names (`gold`, `systems/0`, `gold/source`).

    Raises:
        Unprocessable: a text does not have the shape of its format, or is too large for the `memory` of a run.
    """
    problems = ProblemList()
    gold_format = parse_format(request.format)
    named = gold.named_texts(problems, "gold", request.gold, gold_format, "/gold", memory=memory)
    for index, system in enumerate(request.systems):
        choice = gold_format if system.format is None else parse_format(system.format)
        pointer = f"/systems/{index}/output"
        named |= gold.named_texts(problems, f"systems/{index}", system.output, choice, pointer, memory=memory)
    refuse(problems)
    return named


NO_RUN = "job_warm_up"
_TEXTS = {"gold": b"a", "systems/0": b"b"}


def prepare_statements(context: Context) -> None:
    """Store a job in a transaction that is never committed, and look for it. Without the store nothing is done."""
    with logs.at_work(NO_RUN, None), suppress(DBAPIError):
        with closing(database.RollbackStore(context.store)) as store, store.write() as db:
            runs.queued_of(db, KIND)
            runs.add(db, NO_RUN, KIND, queue.LIVE, context.now(), KIND)
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
    scored = _evaluate(context, job, stored, progress)
    packed: dict[str, bytes] = {}
    for system, outcomes in enumerate(scored.outcomes):
        for metric, entry in enumerate(scored.spec.entries):
            packed |= pack_outcome(ArtifactKey(system, metric), entry, outcomes[entry.key], reports=True)
    return job_answer(run, runs.SUCCEEDED, {"results": scored.document, "warnings": scored.warnings}, packed)


def fail(_context: Context, run: runs.Run, failure: Failure) -> Ending:
    """Save a failure as the job's answer. It may quote gold, which is the caller's own text."""
    return job_answer(run, runs.FAILED, {"failure": failure.document(gold_visible=True)})


def _evaluate(context: Context, job: jobs.Job, stored: gold.Stored, progress: Progress) -> report.Report:
    request = contract.JobRequest.stored(job.request)
    spec = parse_spec(request.scoring)
    progress.measures(entry.metric.name for entry in spec.entries)
    systems = [
        report.System(
            name=system.name,
            text=gold.sent_text(stored, f"systems/{index}"),
            digest=gold.sent_digest(stored, f"systems/{index}"),
            format=spec.format if system.format is None else parse_format(system.format),
            pointer=f"/systems/{index}/output",
            run_of=system.run_of,
        )
        for index, system in enumerate(request.systems)
    ]
    return report.evaluate_systems(
        spec,
        gold.sent_text(stored, "gold"),
        gold.sent_digest(stored, "gold"),
        systems,
        significance=significance_of(request),
        agreement=request.agreement,
        items=parse_items(request.items),
        limits=context.config.limits,
        progress=progress.note,
    )


# results of a finished job

RESULT_NOT_KEPT = "This result was not kept for this job."


def job_items(context: Context, caller: Caller, job_id: str, query: contract.ItemsQuery) -> Page:
    """Return the items of one system under one metric, from after the item numbered `cursor`.

    Raises:
        NotFound: items cannot be chosen by errors and words.
    """
    key, _ = _scored(context, caller, job_id, query)
    views, output = asking.Views(context, caller), asking.Output(job_id, key.output)
    if query.choice.everything:
        start = item_number(query.cursor)
        [found] = views.items([output], key.metric, [[(start, start + query.limit + 1)]])
        return items_page(found, start, query.limit)
    asked = choosing.Asked((job_id, str(key.output), str(key.metric)), query.choice, query.cursor, query.limit)
    chosen = views.chosen(output, key.metric, ALL_SEEN, asked)
    if not chosen.beside_gold:
        raise NotFound("The output was not compared with gold tree by tree. Its items cannot be chosen so.")
    return chosen.listed.page([item for (item,) in chosen.items])


def job_slices(context: Context, caller: Caller, job_id: str, query: contract.SlicesQuery) -> Shown[contract.Slices]:
    """Return scores by groups of sentences, words or brackets; without `by`, the names of the groupings.

    Raises:
        NotFound: unknown grouping.
    """
    key, _ = _scored(context, caller, job_id, query)
    names, rows = asking.Views(context, caller).slices(asking.Output(job_id, key.output), key.metric, query.by)
    found = {"system": query.system, "metric": query.metric, **slices_of(names, query.by, rows)}
    return Shown(cast("contract.Slices", found))


def job_report(context: Context, caller: Caller, job_id: str, query: contract.ReportQuery) -> Shown[None]:
    """Return the report in the original program's own layout, as text.

    Raises:
        NotFound: the metric has no report of this style.
    """
    key, _ = _scored(context, caller, job_id, query)
    with context.store.read() as db:
        packed = artifacts.get(db, job_id, key.name("reports"))
    if packed is None:
        raise NotFound(RESULT_NOT_KEPT)
    reports: dict[str, str] = artifacts.unpack_json(packed)
    if query.style not in reports:
        known = f"Its styles: {', '.join(sorted(reports)) or 'none'}.{wording.did_you_mean(query.style, reports)}"
        raise NotFound(f"The metric {query.metric!r} has no report style {query.style!r}. {known}")
    return Shown(None, reports[query.style].encode(), content_type=TEXT_TYPE)


def job_comparisons(
    context: Context, caller: Caller, job_id: str, query: contract.ComparisonsQuery
) -> Shown[contract.Comparisons]:
    """Return the significance documents of a job, or the one of a score, in one of `treescore.render.forms.FORMATS`.

    Raises:
        NotFound: the score was not compared.
    """
    results = _results(context, caller, job_id)
    chosen, across = results.get("comparisons", []), results.get("across")
    if query.score is not None:
        known = ", ".join(str(comparison["score"]) for comparison in chosen) or "none"
        chosen = [comparison for comparison in chosen if comparison["score"] == query.score]
        if not chosen:
            raise NotFound(f"The score {query.score!r} was not compared in this job. Compared scores: {known}.")
        across = None
    if query.format == "json":
        return Shown({"items": chosen} if across is None else {"items": chosen, "across": across})
    shares = render.percent_of((str(comparison["score"]) for comparison in chosen), query.format)
    shown = render_comparisons(chosen, query.format, across, shares)
    return Shown(None, shown.content, content_type=shown.media_type)


def job_agreement(context: Context, caller: Caller, job_id: str) -> Shown[contract.Agreements]:
    """Return the agreement between the metrics of a job, if the job asked for it.

    Raises:
        NotFound: it did not ask.
    """
    agreement = _results(context, caller, job_id).get("agreement")
    if agreement is None:
        raise NotFound('The job did not ask for agreement. Name pairs of scores under "agreement" in the job.')
    return Shown({"agreement": agreement})


def _results(context: Context, caller: Caller, job_id: str) -> contract.Results:
    """Return the results of a job; those of a validation have nothing of what is read of them."""
    return cast("contract.Results", _finished(context, caller, job_id).document["results"])


def _finished(context: Context, caller: Caller, job_id: str) -> Shown[contract.Job]:
    view = view_job(context, caller, job_id)
    if not view.final:
        raise Conflict(
            f"The job {job_id} is {view.state}; ask again when it has finished.", slug="not-finished", headers=SOON
        )
    if view.state != runs.SUCCEEDED:
        raise Conflict(f"The job {job_id} is {view.state} and has no results.", slug="no-results")
    return view


def _scored(context: Context, caller: Caller, job_id: str, query: contract.ResultQuery) -> tuple[ArtifactKey, Entry]:
    """Return the artifacts' key of one system under one metric, and the metric entry."""
    stored = _request(context, caller, job_id)
    entries = () if stored is None else config.stored_spec(stored.scoring).entries
    keys = [entry.key for entry in entries]
    if query.metric not in keys:
        advice = wording.did_you_mean(query.metric, keys)
        raise NotFound(f"The job has no metric {query.metric!r}. Its metrics: {', '.join(keys)}.{advice}")
    metric = keys.index(query.metric)
    return ArtifactKey(_position(stored, query.system), metric), entries[metric]


def _request(context: Context, caller: Caller, job_id: str) -> contract.JobRequest | None:
    """Return the request of a job that has results; None of a validation, which has neither metrics nor systems."""
    _finished(context, caller, job_id)
    with context.store.read() as db:
        job = jobs.get(db, job_id)
    return None if job is None or "metrics" not in job.request else contract.JobRequest.stored(job.request)


def _position(stored: contract.JobRequest | None, system: str) -> int:
    names = [] if stored is None else [each.name for each in stored.systems]
    if system not in names:
        known = f"Its systems: {', '.join(names[:20])}.{wording.did_you_mean(system, names)}"
        raise NotFound(f"The job has no system {system!r}. {known}")
    return names.index(system)


def job_trees(context: Context, caller: Caller, job_id: str, query: contract.JobTreesQuery) -> Page:
    """Return the trees of one system, from after `cursor`; or of one item.

    Raises:
        NotFound: unknown system or item; no trees are stored.
        Conflict: the job has not finished, or has no results.
        Unprocessable: the cursor is invalid, or the systems cannot be compared.
    """
    output, asked, other = _looked_at(context, caller, job_id, query)
    with _comparable():
        found = asking.Views(context, caller).trees(output, ALL_SEEN, asked, other)
    return Page(found.documents, found.next)


def job_window(context: Context, caller: Caller, job_id: str, query: contract.JobTreesQuery) -> choosing.Window:
    """Return the sentence `query.item` of one system, by default the first chosen one, among those around it.

    Raises:
        NotFound, Conflict, Unprocessable: as `job_trees`.
    """
    output, asked, other = _looked_at(context, caller, job_id, query)
    with _comparable():
        return asking.Views(context, caller).window(output, ALL_SEEN, asked, other)[1]


ALL_SEEN = asking.Sight(compared=True, gold=True)
"""How a job's trees are seen: all of it is the caller's own."""


def _looked_at(
    context: Context, caller: Caller, job_id: str, query: contract.JobTreesQuery
) -> tuple[asking.Output, choosing.Asked, asking.Output | None]:
    """Return the system whose trees are asked for, which of them, and the system that they are to differ from."""
    stored = _request(context, caller, job_id)
    number = _position(stored, query.system)
    other = None if query.differs_from is None else _position(stored, query.differs_from)
    owner = (job_id, str(number), *(() if other is None else (choosing.DIFFERS, str(other))))
    asked = choosing.Asked(owner, query.choice, query.cursor, query.limit, query.item)
    return asking.Output(job_id, number), asked, None if other is None else asking.Output(job_id, other)


@contextmanager
def _comparable() -> Iterator[None]:
    try:
        yield
    except asking.NotComparable as error:
        raise Unprocessable("The two systems were not compared with gold tree by tree.") from error
