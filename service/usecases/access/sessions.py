"""Sessions of browsers: a token pasted once becomes a cookie, until it expires, is signed out, or the token ends."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta

from service.caller import Caller
from service.context import Context
from service.errors import Forbidden, NotFound, Unauthorized
from service.ids import token_hash
from service.store import sessions, teams
from service.store.sessions import Session
from service.usecases.access.access import benchmark_of
from service.usecases.access.authentication import caller_by_hash

LONGEST = timedelta(days=7)
"""A session ends so long after it began."""
IDLE = timedelta(hours=24)
"""A session that is not used ends after so long."""
SEEN_RESOLUTION = timedelta(minutes=1)
"""Precision of `seen_at`, so that not every page writes."""
EXPIRED = "Your session has ended. Sign in again; what you had not sent yet must be sent again."
READER = "read"
"""The scope of an organiser who looks through the eyes of a team."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A browser with a session.

    Attributes:
        caller: who is signed in, or the team through whose eyes an organiser looks.
        session: the stored session.
        sees_as: whether the caller is a team through whose eyes an organiser looks.
    """

    caller: Caller
    session: Session
    sees_as: bool = False


def sign_in(context: Context, token: str, address: str) -> tuple[str, SignedIn]:
    """Begin a session; return the value of its cookie, which is stored nowhere, and who is signed in.

    Raises:
        Unauthorized: the token is unknown, expired or revoked.
    """
    hashed = token_hash(token)
    caller = caller_by_hash(context, hashed, address)
    if caller.token_id is None:
        raise Unauthorized("Paste a token.")
    cookie = secrets.token_urlsafe(32)
    now = context.now()
    session = Session(token_hash(cookie), hashed, caller.token_id, secrets.token_urlsafe(32), now, now, now + LONGEST)
    with context.store.write() as db:
        sessions.add(db, session)
    return cookie, SignedIn(caller, session)


def signed_in(context: Context, cookie: str, address: str) -> SignedIn:
    """Return who is signed in with a cookie.

    Raises:
        Unauthorized: the session is unknown or has ended, or its token has.
    """
    session = sessions.by_hash(context.store, token_hash(cookie))
    now = context.now()
    if session is None or session.expires_at <= now or session.seen_at + IDLE <= now:
        raise Unauthorized(EXPIRED)
    caller = caller_by_hash(context, session.token_hash, address)
    if now - session.seen_at > SEEN_RESOLUTION:
        with context.store.write(durable=False) as db:
            sessions.note_use(db, session.hash, now)
    if session.as_team is None or not caller.organiser:
        return SignedIn(caller, session)
    looking = f"{caller.token_id}:as:{session.as_team}"  # no id of a token: the organiser's own jobs are not the team's
    team = Caller(looking, frozenset({READER}), session.as_team, session.as_benchmark, address)
    return SignedIn(team, session, sees_as=True)


def sign_out(context: Context, cookie: str) -> None:
    """End a session; an unknown one has ended already."""
    with context.store.write() as db:
        sessions.drop(db, token_hash(cookie))


def see_as(context: Context, signed: SignedIn, benchmark: str | None, team: str | None) -> None:
    """Let an organiser look through the eyes of a team, who can change nothing in that time; of none to end that.

    Raises:
        Forbidden: the session is not that of an organiser.
        NotFound: unknown benchmark or team.
    """
    own = caller_by_hash(context, signed.session.token_hash)
    if not own.organiser:
        raise Forbidden("Only organisers can see the pages as a team.")
    with context.store.write() as db:
        if benchmark is not None and team is not None:
            benchmark_of(db, benchmark, own)
            if teams.get(db, benchmark, team) is None:
                raise NotFound(f"Unknown team {team!r} of benchmark {benchmark!r}.")
        sessions.look_as(db, signed.session.hash, benchmark, team)
