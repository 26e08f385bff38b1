"""Create, list and erase teams of a benchmark, and make their tokens."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import Conflict, NotFound, refuse
from service.ids import new_id, new_token, token_hash
from service.requests import PageQuery, TeamRequest, TeamsRequest
from service.store import runs, submissions, teams, tokens
from service.store.teams import Team
from service.store.tokens import Token
from service.usecases.access.access import benchmark_of, storable, unknown_team
from service.usecases.boards.work import board_changed
from service.usecases.events.record import record_event
from service.usecases.runs.ending import queue_runs
from service.usecases.runs.views import Page, moment, page_of
from treescore.errors import ProblemList

SHOWN = 20
"""Taken ids that the detail of an answer names."""


def create_team(context: Context, caller: Caller, slug: str, request: TeamRequest) -> dict[str, object]:
    """Create a team. Only this answer has its token.

    Raises:
        Conflict: the id is taken, perhaps by an erased team.
    """
    caller.require("organise")
    with context.store.write() as db:
        benchmark_of(db, slug, lock=True)
        return add_team(db, context, slug, request, caller.owner)


def create_teams(context: Context, caller: Caller, slug: str, request: TeamsRequest) -> list[dict[str, object]]:
    """Create all teams of a request, or none. Only this answer has their tokens.

    Raises:
        Unprocessable: an id stands there twice.
        Conflict: ids are taken, perhaps by erased teams.
    """
    caller.require("organise")
    _refuse_repeated(request)
    with context.store.write() as db:
        benchmark_of(db, slug, lock=True)
        known = teams.existing(db, slug, [team.id for team in request.teams])
        if known:
            raise _some_taken(request, known)
        return [add_team(db, context, slug, team, caller.owner) for team in request.teams]


def add_team(
    db: Connection,
    context: Context,
    slug: str,
    request: TeamRequest,
    actor: str | None,
    data: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Add a team to a locked benchmark, with a token that only this answer has.

    Args:
        db: the transaction.
        context: for the clock.
        slug: of the benchmark.
        request: the team.
        actor: of the event.
        data: of the event.

    Raises:
        Conflict: the id is taken, perhaps by an erased team.
    """
    team = Team(slug, request.id, request.name, request.contact, context.now(), None)
    if teams.get(db, slug, team.id) is not None:
        raise _team_taken(team.id)
    teams.add(db, team)
    token = _new_token(db, context, team)
    record_event(db, context, "team.created", slug, actor=actor, team_id=team.id, subject=team.id, data=data)
    return {**_team_document(team), "token": token}


def list_teams(context: Context, caller: Caller, slug: str, query: PageQuery) -> Page:
    """List the teams of a benchmark, by id."""
    caller.require("organise")
    with context.store.read() as db:
        benchmark_of(db, slug)
        rows = teams.listing(db, slug, query.cursor, query.limit + 1)
    return page_of(rows, query.limit, _team_document)


def rotate_token(context: Context, caller: Caller, slug: str, team_id: str) -> dict[str, object]:
    """Make a new token for a team and revoke its earlier ones."""
    caller.require("organise")
    with context.store.write() as db:
        benchmark_of(db, slug)
        team = _team_of(db, slug, team_id)
        tokens.revoke_all(db, slug, team_id, context.now())
        token = _new_token(db, context, team)
        record_event(db, context, "team.token_rotated", slug, actor=caller.owner, team_id=team_id, subject=team_id)
    return {**_team_document(team), "token": token}


def erase_team(context: Context, caller: Caller, slug: str, team_id: str) -> None:
    """Erase a team's name, outputs, items and tokens. Its scores stay as anonymous rows of the board."""
    caller.require("organise")
    now = context.now()
    with context.store.write() as db:
        benchmark_of(db, slug, lock=True)
        _team_of(db, slug, team_id)
        tokens.revoke_all(db, slug, team_id, now)
        teams.erase(db, slug, team_id, now)
        stopped = submissions.anonymise(db, slug, team_id, now)
        for run_id in stopped:
            runs.finish(db, run_id, runs.CANCELLED, now)
        scheduled = board_changed(db, context, slug)
        record_event(db, context, "team.erased", slug, actor=caller.owner, team_id=team_id, subject=team_id)
    queue_runs(context, scheduled, slug)
    for run_id in stopped:
        context.queue.stop(run_id)


def _team_of(db: Connection, slug: str, team_id: str) -> Team:
    team = teams.get(db, slug, team_id, lock=True) if storable(team_id) else None
    if team is None or team.erased_at is not None:
        raise NotFound(unknown_team(db, slug, team_id))
    return team


def _new_token(db: Connection, context: Context, team: Team) -> str:
    now = context.now()
    text = new_token()
    tokens.add(db, Token(new_id("tok", now), token_hash(text), "read submit", None, now, team.id, team.benchmark_id))
    return text


def _team_document(team: Team) -> dict[str, object]:
    return {"id": team.id, "name": team.name, "contact": team.contact, "created_at": moment(team.created_at)}


def _refuse_repeated(request: TeamsRequest) -> None:
    """Refuse a list in which an id stands twice.

    Raises:
        Unprocessable: with the place of each repetition.
    """
    first: dict[str, int] = {}
    problems = ProblemList()
    for number, team in enumerate(request.teams):
        before = first.setdefault(team.id, number)
        if before != number:
            where = f"team {before + 1}" if request.places is None else f"line {request.places[before][0]}"
            detail = f"The id {team.id!r} stands here a second time; the first is {where}. Give each team its own id."
            problems.add(request.id_fault(number, "repeated-id", detail))
    refuse(problems)


def _some_taken(request: TeamsRequest, known: set[str]) -> Conflict:
    problems = ProblemList()
    for number, team in enumerate(request.teams):
        if team.id in known:
            problems.add(request.id_fault(number, "taken-id", f"The team id {team.id!r} is taken. Use another id."))
    shown = ", ".join(sorted(known)[:SHOWN]) + (", ..." if len(known) > SHOWN else "")
    return Conflict(
        f"No team was made: these ids are taken: {shown}. Use other ids (ids of erased teams stay taken).",
        slug="id-taken",
        problems=problems.problems,
        total=problems.total,
    )


def _team_taken(team_id: str) -> Conflict:
    return Conflict(
        f"The team id {team_id!r} is taken (ids of erased teams stay taken). Use another id.",
        slug="id-taken",
    )
