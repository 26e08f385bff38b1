"""Authenticate callers by their tokens, or by sessions of browsers.

A token pasted once becomes a cookie, until it expires, is signed out, or the token ends. Those who try out tokens are
slowed down: failed authentications are counted by address and minute.
"""

from __future__ import annotations

import hmac
import secrets
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

import redis

from service.caller import ADMIN, Caller, network_of, token_hash
from service.context import Context
from service.errors import Forbidden, NotFound, TooManyRequests, Unauthorized
from service.store import teams, tokens
from service.store.tokens import Session
from service.usecases.access.access import benchmark_of
from service.usecases.runs.views import moment

USE_RESOLUTION = timedelta(minutes=5)
"""Precision of `last_used_at`, so that not every read writes."""


def authenticate(context: Context, bearer: str | None, address: str = "", *, local: bool = True) -> Caller:
    """Return the caller of a bearer token; without one, the anonymous caller of the client's address.

    Args:
        context: of the service.
        bearer: the token, if the caller sent one.
        address: of the caller.
        local: whether the caller is a program of this machine.

    Raises:
        Unauthorized: the token is unknown, expired or revoked.
    """
    if bearer is None:
        open_to_all = {"true": True, "false": False}.get(context.config.anonymous_jobs)
        may_score = context.config.on_loopback and local if open_to_all is None else open_to_all
        return Caller(None, frozenset({"score"} if may_score else ()), address=address)
    return caller_by_hash(context, token_hash(bearer), address)


def caller_by_hash(context: Context, hashed: str, address: str = "") -> Caller:
    """Return the caller of the token with this hash.

    Raises:
        Unauthorized: the token is unknown, expired or revoked.
    """
    admin = context.config.admin_token
    if admin and hmac.compare_digest(hashed, token_hash(admin)):
        return Caller(ADMIN, frozenset({"organise"}), address=address)
    now = context.now()
    row = tokens.by_hash(context.store, hashed)
    if row is None or row.revoked_at is not None:
        raise Unauthorized("The token is unknown or was revoked.")
    if row.expires_at is not None and row.expires_at <= now:
        raise Unauthorized(f"The token expired at {moment(row.expires_at)}.")
    if row.last_used_at is None or now - row.last_used_at > USE_RESOLUTION:
        with context.store.write() as db:
            tokens.note_use(db, row.id, now)
    return Caller(row.id, frozenset(row.scopes.split()), row.team_id, row.benchmark_id, address)


ALLOWED = 20
"""Failed authentications of one address in one minute that are answered as such."""
WINDOW = 60
"""Seconds."""
MAX_COUNTED = 10_000
"""Addresses that a process counts in memory, while Redis does not answer."""


class FailureCounts:
    """Failures by address in the current window, in Redis for all processes; in memory while Redis does not answer."""

    def __init__(self) -> None:
        self._window = 0
        self._counts: Counter[str] = Counter()

    def add(self, context: Context, network: str, window: int) -> int:
        """Count a failure; return how many this network has had in this window."""
        key = f"treescore:failed:{window}:{network}"
        try:
            with context.queue.redis.pipeline() as pipe:
                pipe.incr(key)
                pipe.expire(key, 2 * WINDOW)
                counted, _ = pipe.execute()
        except redis.RedisError:
            return self._count_here(network, window)
        return int(counted)

    def _count_here(self, network: str, window: int) -> int:
        if window != self._window or len(self._counts) >= MAX_COUNTED:
            self._window, self._counts = window, Counter()
        self._counts[network] += 1
        return self._counts[network]


_COUNTS = FailureCounts()


def count_failure(context: Context, address: str) -> None:
    """Count a failed authentication.

    Raises:
        TooManyRequests: it is one too many.
    """
    now: datetime = context.now()
    window, passed = divmod(int(now.timestamp()), WINDOW)
    if _COUNTS.add(context, network_of(address), window) <= ALLOWED:
        return
    raise TooManyRequests(
        f"More than {ALLOWED} failed authentications within a minute came from your address. Retry with a valid token.",
        slug="too-many-failures",
        headers={"Retry-After": str(WINDOW - passed)},
    )


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
        tokens.add_session(db, session)
    return cookie, SignedIn(caller, session)


def signed_in(context: Context, cookie: str, address: str) -> SignedIn:
    """Return who is signed in with a cookie.

    Raises:
        Unauthorized: the session is unknown or has ended, or its token has.
    """
    session = tokens.session_by_hash(context.store, token_hash(cookie))
    now = context.now()
    if session is None or session.expires_at <= now or session.seen_at + IDLE <= now:
        raise Unauthorized(EXPIRED)
    caller = caller_by_hash(context, session.token_hash, address)
    if now - session.seen_at > SEEN_RESOLUTION:
        with context.store.write(durable=False) as db:
            tokens.note_session_use(db, session.hash, now)
    if session.as_team is None or not caller.organiser:
        return SignedIn(caller, session)
    looking = f"{caller.token_id}:as:{session.as_team}"  # no id of a token: the organiser's own jobs are not the team's
    team = Caller(looking, frozenset({READER}), session.as_team, session.as_benchmark, address)
    return SignedIn(team, session, sees_as=True)


def sign_out(context: Context, cookie: str) -> None:
    """End a session; an unknown one has ended already."""
    with context.store.write() as db:
        tokens.drop_session(db, token_hash(cookie))


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
        tokens.look_as(db, signed.session.hash, benchmark, team)
