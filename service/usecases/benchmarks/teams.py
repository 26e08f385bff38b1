"""Create, list and erase teams of a benchmark, and make their tokens."""

from __future__ import annotations

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from service.caller import Caller
from service.context import Context
from service.errors import Conflict, NotFound
from service.ids import new_id, new_token, token_hash
from service.requests import PageQuery, TeamRequest
from service.store import runs, submissions, teams, tokens
from service.store.teams import Team
from service.store.tokens import Token
from service.usecases.access.access import benchmark_of, storable, unknown_team
from service.usecases.boards.work import board_changed
from service.usecases.events.record import record_event
from service.usecases.runs.ending import queue_runs
from service.usecases.runs.views import Page, moment, page_of


def create_team(context: Context, caller: Caller, slug: str, request: TeamRequest) -> dict[str, object]:
    """Create a team. Only this answer has its token.

    Raises:
        Conflict: the id is taken, perhaps by an erased team.
    """
    caller.require("organise")
    team = Team(slug, request.id, request.name, context.now(), None)
    try:
        with context.store.write() as db:
            benchmark_of(db, slug, lock=True)
            if teams.get(db, slug, team.id) is not None:
                raise _taken(team.id)
            teams.add(db, team)
            token = _new_token(db, context, team)
            record_event(db, context, "team.created", slug, actor=caller.owner, team_id=team.id, subject=team.id)
    except IntegrityError as error:
        raise _taken(team.id) from error
    return {**_document(team), "token": token}


def list_teams(context: Context, caller: Caller, slug: str, query: PageQuery) -> Page:
    """List the teams of a benchmark, by id."""
    caller.require("organise")
    with context.store.read() as db:
        benchmark_of(db, slug)
        rows = teams.listing(db, slug, query.cursor, query.limit + 1)
    return page_of(rows, query.limit, _document)


def rotate_token(context: Context, caller: Caller, slug: str, team_id: str) -> dict[str, object]:
    """Make a new token for a team and revoke its earlier ones."""
    caller.require("organise")
    with context.store.write() as db:
        benchmark_of(db, slug)
        team = _team_of(db, slug, team_id)
        tokens.revoke_all(db, slug, team_id, context.now())
        token = _new_token(db, context, team)
        record_event(db, context, "team.token_rotated", slug, actor=caller.owner, team_id=team_id, subject=team_id)
    return {**_document(team), "token": token}


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


def _document(team: Team) -> dict[str, object]:
    return {"id": team.id, "name": team.name, "created_at": moment(team.created_at)}


def _taken(team_id: str) -> Conflict:
    return Conflict(
        f"The team id {team_id!r} is taken (ids of erased teams stay taken). Use another id.",
        slug="id-taken",
    )
