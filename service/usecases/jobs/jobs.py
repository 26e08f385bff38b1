"""Scoring jobs: take, show, wait, list, cancel, delete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy.exc import IntegrityError

from service.caller import Caller
from service.context import Context
from service.errors import SOON, Conflict, Gone, NotFound, unprocessable
from service.ids import new_id
from service.queue import LIVE
from service.store import jobs, runs, texts
from service.usecases.access.idempotency import IdempotencyKey, claim_key
from service.usecases.runs.views import Page, View, etag_of, json_view, moment, state_document
from service.usecases.runs.waiting import wait_for
from service.usecases.scoring.part_texts import as_bytes
from treescore.core.params import escape
from treescore.errors import InputError, Problem, ScoringError
from treescore.evaluation.report import asked_scores, find_score
from treescore.evaluation.spec import FormatChoice, parse_format, parse_items, parse_spec
from treescore.significance import parse_settings

KIND = "job"


def submit_job(
    context: Context, caller: Caller, request: dict[str, Any], idempotency_key: IdempotencyKey | None = None
) -> tuple[str, bool]:
    """Store a job, then queue it: (id, whether it is new).

    Raises:
        Unprocessable: the request makes no sense, with pointers; or the key was used for another request.
    """
    caller.require("score")
    check_request(request)
    now = context.now()
    job_id = new_id(KIND, now)
    kept, named = split_texts(request)
    try:
        with context.store.write() as db:
            known = claim_key(db, caller, idempotency_key, job_id, now)
            if known is not None:
                return known, False
            runs.add(db, job_id, KIND, LIVE, now)
            jobs.add(db, job_id, caller.owner, kept)
            texts.put(db, job_id, named)
    except IntegrityError as error:
        detail = "A request with this Idempotency-Key is being taken at this moment. Try again."
        raise Conflict(detail, headers=SOON) from error
    context.queue.put(job_id, LIVE)
    return job_id, True


def check_request(request: Mapping[str, Any]) -> None:
    """Whether formats, metrics, transforms, significance and items of a job request make sense.

    Raises:
        Unprocessable: with a pointer for each fault.
    """
    problems: list[Problem] = []

    def collect(pointer: str, check: Any) -> None:
        try:
            check()
        except ScoringError as error:
            problems.extend(error.at(pointer).problems)

    collect("", lambda: check_scores(request))
    for index, system in enumerate(request["systems"]):
        if "format" in system:
            collect(f"/systems/{index}/format", lambda system=system: parse_format(system["format"]))
    collect("/significance", lambda: parse_settings(significance_of(request) or {}))
    collect("/items", lambda: parse_items(request.get("items")))
    problems.extend(_seconds_problems(request))
    if not problems:
        problems.extend(text_shape_problems(request))
    if problems:
        raise unprocessable(InputError(problems))


def check_scores(request: Mapping[str, Any]) -> None:
    """Whether formats and metrics make sense, and the scores to compare and to relate exist.

    Raises:
        ScoringError: with pointers into the request.
    """
    spec = parse_spec(request)
    asked_scores(spec, (significance_of(request) or {}).get("scores"))
    for index, pair in enumerate(request.get("agreement", ())):
        for side, address in enumerate(pair):
            try:
                find_score(spec, address)
            except InputError as error:
                raise error.at(f"/agreement/{index}/{side}") from error


def _seconds_problems(request: Mapping[str, Any]) -> list[Problem]:
    """Parse times of systems that there are not: they would be read by nobody."""
    names = {system["name"] for system in request["systems"]}
    return [
        Problem(
            code="unknown-system",
            pointer=f"/items/seconds/{escape(name)}",
            detail=f"There is no system {name!r} in this job.",
        )
        for name in (request.get("items") or {}).get("seconds", {})
        if name not in names
    ]


def text_shape_problems(request: Mapping[str, Any]) -> list[Problem]:
    """Texts that are objects where the format wants one text, and the other way round."""
    gold_format = parse_format(request["format"])
    found = []
    for name, value, choice in _texts_of(request, gold_format):
        fields = choice.format.fields
        given = tuple(value) if isinstance(value, Mapping) else ()
        if set(fields) != set(given):
            wanted = f"an object with {', '.join(fields)}" if fields else "one text"
            found.append(
                Problem(
                    code="wrong-text-shape",
                    pointer="/" + (name if name == "gold" else name + "/output"),
                    detail=f"The format {choice.name!r} takes {wanted} here.",
                )
            )
    return found


def split_texts(request: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A request without its texts, and the texts under their names (`gold`, `systems/0`, `gold/source`)."""
    named: dict[str, bytes] = {}
    for name, value, _ in _texts_of(request, parse_format(request["format"])):
        if isinstance(value, Mapping):
            named.update({f"{name}/{field}": as_bytes(text) for field, text in value.items()})
        else:
            named[name] = as_bytes(value)
    kept = {key: value for key, value in request.items() if key not in ("gold", "systems")}
    kept["systems"] = [
        {key: value for key, value in system.items() if key != "output"} for system in request["systems"]
    ]
    return kept, named


def significance_of(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The significance settings of a request; None where there is nothing to compare or it is switched off."""
    asked = request.get("significance", {})
    if asked is False or len(request["systems"]) < 2:
        return None
    return dict(asked) if isinstance(asked, Mapping) else {}


def view_job(context: Context, caller: Caller, job_id: str) -> View:
    """The job as it stands.

    Raises:
        NotFound: there is none, or it is somebody else's.
        Gone: it was deleted.
    """
    found = jobs.answer(context.store, job_id)
    if found is None or not may_see(caller, found.owner):
        raise NotFound(f"There is no job {job_id}.")
    if found.deleted:
        raise Gone(f"The job {job_id} was deleted.")
    if found.document is not None:
        return View(found.document, found.etag or etag_of(found.document), final=True, state=found.state or "")
    with context.store.read() as db:
        run = runs.get(db, job_id)
    if run is None:
        raise NotFound(f"There is no job {job_id}.")
    if run.final:  # it ended between the two looks
        return view_job(context, caller, job_id)
    return json_view(state_document(run), final=False, state=run.state)


def may_see(caller: Caller, owner: str) -> bool:
    """Jobs belong to the token that made them; organisers see all."""
    return caller.organiser or caller.owner == owner


def wait_for_job(context: Context, caller: Caller, job_id: str, seconds: float, etag: str | None = None) -> View:
    """The job once it is final, or has moved on from `etag`, or when time is over."""
    return wait_for(context, job_id, lambda: view_job(context, caller, job_id), seconds, etag)


def list_jobs(context: Context, caller: Caller, cursor: str | None, limit: int, state: str | None = None) -> Page:
    """The caller's jobs, newest first; an organiser sees everybody's."""
    caller.require("score", "read")
    owner = None if caller.organiser else caller.owner
    with context.store.read() as db:
        rows = jobs.of_owner(db, owner, cursor, limit + 1, state)
    items = [
        {
            "id": row["id"],
            "state": row["state"],
            "created_at": moment(row["created_at"]),
            "started_at": moment(row["started_at"]),
            "finished_at": moment(row["finished_at"]),
        }
        for row in rows[:limit]
    ]
    return Page(items, items[-1]["id"] if len(rows) > limit else None)


def cancel_job(context: Context, caller: Caller, job_id: str) -> View:
    """Stop a job that is not finished.

    Raises:
        Conflict: it has ended already.
    """
    view_job(context, caller, job_id)
    now = context.now()
    with context.store.write() as db:
        if not runs.finish(db, job_id, runs.CANCELLED, now):
            raise Conflict(f"The job {job_id} has ended already; a final state never changes.")
        run = runs.get(db, job_id)
        if run is None:
            raise NotFound(f"There is no job {job_id}.")
        document = orjson.dumps(state_document(run))
        jobs.save_answer(db, job_id, run.state, document, etag_of(document))
    context.queue.take_out(job_id)
    context.queue.wake(job_id)
    return View(document, etag_of(document), final=True, state=run.state)


def delete_job(context: Context, caller: Caller, job_id: str) -> None:
    """Erase a job's texts and results; a running one is stopped first. Afterwards it answers 410."""
    view_job(context, caller, job_id)
    now = context.now()
    with context.store.write() as db:
        runs.finish(db, job_id, runs.CANCELLED, now)
        jobs.erase(db, [job_id], now)
    context.queue.take_out(job_id)
    context.queue.wake(job_id)


def _texts_of(request: Mapping[str, Any], gold_format: FormatChoice) -> list[tuple[str, Any, FormatChoice]]:
    found = [("gold", request["gold"], gold_format)]
    for index, system in enumerate(request["systems"]):
        choice = parse_format(system["format"]) if "format" in system else gold_format
        found.append((f"systems/{index}", system["output"], choice))
    return found
