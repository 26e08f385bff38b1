"""Authenticate callers by tokens or sessions of browsers, and find what they ask for, or refuse it.

A token pasted once becomes a cookie, until it expires, is signed out, or the token ends. Those who try out tokens are
slowed down: failed authentications are counted by address and minute. What is refused has the same messages everywhere.
An idempotency key marks a request, so that a retry creates nothing twice.
"""

import hashlib
import hmac
import secrets
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

import redis
from sqlalchemy import Connection

from service import errors
from service.caller import ADMIN, Caller, network_of, token_hash
from service.context import Context
from service.policy import gate
from service.store import benchmarks, revisions, submissions, tokens
from service.store.benchmarks import Benchmark
from service.usecases.runs import moment
from treescore.core.wording import did_you_mean

# what a caller asks for, and repeated requests

SUGGESTED_FROM = 1000
"""Names that are read to suggest one."""


def storable(text: str) -> bool:
    """Return whether a text can be looked up: databases refuse NUL and half surrogate pairs."""
    return text.isprintable()


def unknown_team(db: Connection, slug: str, team_id: str) -> str:
    """Return what to say to an organiser, who may know every team, of an id that no team of a benchmark has."""
    known = [team.id for team in benchmarks.teams_of(db, slug, None, SUGGESTED_FROM)]
    return f"Unknown team {team_id[: errors.LONGEST_SHOWN]!r} of benchmark {slug!r}.{did_you_mean(team_id, known)}"


def team_in(db: Connection, slug: str, team_id: str, *, lock: bool = False) -> benchmarks.Team:
    """Return a team that is not erased, for an organiser; `lock` as in store.benchmarks.get_team.

    Raises:
        NotFound: there is none.
    """
    team = benchmarks.get_team(db, slug, team_id, lock=lock) if storable(team_id) else None
    if team is None or team.erased_at is not None:
        raise errors.NotFound(unknown_team(db, slug, team_id))
    return team


def benchmark_of(
    db: Connection, slug: str, caller: Caller | None = None, *, lock: bool = False, exclusive: bool = False
) -> Benchmark:
    """Return a benchmark; for the locks see store.benchmarks.get.

    Args:
        db: the transaction.
        slug: of the benchmark.
        caller: who asks; to one who may not know of it, it does not exist. None where that is known already.
        lock: as there.
        exclusive: as there.

    Raises:
        NotFound: it does not exist.
        Gone: it was deleted.
    """
    benchmark = benchmarks.get(db, slug, lock=lock, exclusive=exclusive) if storable(slug) else None
    if benchmark is None or (caller is not None and not gate.knows(benchmark, caller)):
        # only organisers get a suggestion, which tells of other names
        listed = benchmarks.listing(db, None, SUGGESTED_FROM) if caller is not None and caller.organiser else ()
        raise errors.NotFound(f"Unknown benchmark {slug!r}.{did_you_mean(slug, [each.id for each in listed])}")
    if benchmark.deleted_at is not None:
        raise errors.Gone(f"The benchmark {slug!r} was deleted.")
    return benchmark


def team_of(caller: Caller, slug: str) -> str | None:
    """Return the caller's team in a benchmark; None for tokens of no team or of another benchmark."""
    return caller.team if caller.benchmark == slug else None


def may_read(caller: Caller, submission: submissions.Submission) -> bool:
    """Return whether a caller may know of a submission: its team and organisers may."""
    if caller.organises(submission.benchmark_id):
        return True
    team = team_of(caller, submission.benchmark_id)
    return team is not None and team == submission.team_id and caller.allowed("submit", "read")


def submission_of(db: Connection, caller: Caller, submission_id: str, *, lock: bool = False) -> submissions.Submission:
    """Return a submission that the caller may know of.

    Raises:
        NotFound: it does not exist, or belongs to another team.
        Gone: it was deleted.
    """
    submission = submissions.get(db, submission_id, lock=lock) if storable(submission_id) else None
    if submission is None or not may_read(caller, submission):
        raise errors.NotFound(f"Unknown submission {submission_id}.")
    if submission.deleted_at is not None:
        raise errors.Gone(f"The submission {submission_id} was deleted.")
    return submission


def locked_submission(db: Connection, caller: Caller, submission_id: str) -> tuple[submissions.Submission, Benchmark]:
    """Return a submission and its benchmark, both locked until the transaction ends.

    Raises:
        NotFound: it does not exist, or belongs to another team.
        Gone: it was deleted.
    """
    slug = submission_of(db, caller, submission_id).benchmark_id
    benchmark = benchmark_of(db, slug, lock=True)
    return submission_of(db, caller, submission_id, lock=True), benchmark


def item_number(cursor: str | None) -> int:
    """Return the number of the item after which a page begins.

    Raises:
        Unprocessable: the cursor is invalid.
    """
    return 0 if cursor is None else cursor_number(cursor, 12)


def cursor_number(cursor: str, digits: int) -> int:
    """Return the number that a cursor is, of at most so many digits.

    Raises:
        Unprocessable: the cursor is invalid.
    """
    if not cursor.isascii() or not cursor.isdecimal() or len(cursor) > digits:
        raise errors.Unprocessable("Invalid cursor. Use the `next` value of the previous page.")
    return int(cursor)


def active_revision(db: Connection, benchmark: Benchmark) -> revisions.Revision:
    """Return the active revision.

    Raises:
        Conflict: no revision is active yet.
    """
    revision = revisions.active(db, benchmark)
    if revision is None:
        raise errors.Conflict(
            f"The gold standard of {benchmark.id!r} has not passed its check. Retry once a revision is active.",
            slug="no-active-revision",
            headers=None if revisions.unfinished(db, benchmark.id) is None else errors.SOON,
        )
    return revision


def require_open(benchmark: Benchmark, caller: Caller, now: datetime) -> None:
    """Refuse teams before a benchmark opens and after it closes.

    Raises:
        Conflict: it is not open.
    """
    if caller.organises(benchmark.id):
        return
    if not benchmark.opened(now):
        raise errors.Conflict(
            f"The benchmark {benchmark.id!r} opens at {benchmark.settings['opens_at']}.", slug="not-open"
        )
    if benchmark.closed(now):
        raise errors.Conflict(
            f"The benchmark {benchmark.id!r} closed at {benchmark.settings['closes_at']}.", slug="closed"
        )


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A client's key for one request, and the digest of that request."""

    key: str
    digest: str


def claim_key(
    db: Connection, caller: Caller, idempotency_key: IdempotencyKey | None, created: str, now: datetime
) -> str | None:
    """Return what an earlier request with this key created; None for a first request, which now stands for `created`.

    A key is its owner's. Callers without a token share none: their keys count together with address and request, so
    that a caller learns of another's request only by sending the same one.

    Raises:
        Unprocessable: the key was used for another request.
        IntegrityError: another first request with this key is in progress.
    """
    if idempotency_key is None:
        return None
    owner = caller.owner
    if caller.anonymous:
        owner = hashlib.sha256(f"{caller.address} {idempotency_key.digest}".encode()).hexdigest()
    stored = tokens.find_key(db, owner, idempotency_key.key)
    if stored is None:
        tokens.add_key(db, owner, idempotency_key.key, idempotency_key.digest, created, now)
        return None
    digest, resource = stored
    if digest != idempotency_key.digest:
        raise errors.Unprocessable(
            "This Idempotency-Key was used for another request. Use a new key for each new request.",
            slug="idempotency-key-reused",
        )
    return resource


# who calls: tokens, and sessions of browsers

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
        raise errors.Unauthorized("The token is unknown or was revoked.")
    if row.expires_at is not None and row.expires_at <= now:
        raise errors.Unauthorized(f"The token expired at {moment(row.expires_at)}.")
    if row.last_used_at is None or now - row.last_used_at > USE_RESOLUTION:
        with context.store.write() as db:
            tokens.note_use(db, row.id, now)
    return Caller(row.id, frozenset(row.scopes.split()), row.team_id, row.benchmark_id, address)


FAILURES_ALLOWED = 20
"""Failed authentications of one address in one minute that are answered as such."""
FAILURE_WINDOW = 60
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
                pipe.expire(key, 2 * FAILURE_WINDOW)
                return int(pipe.execute()[0])
        except redis.RedisError:
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
    window, passed = divmod(int(context.now().timestamp()), FAILURE_WINDOW)
    if _COUNTS.add(context, network_of(address), window) <= FAILURES_ALLOWED:
        return
    raise errors.TooManyRequests(
        f"More than {FAILURES_ALLOWED} failed authentications within a minute came from your address. "
        "Retry with a valid token.",
        slug="too-many-failures",
        headers={"Retry-After": str(FAILURE_WINDOW - passed)},
    )


LONGEST_SESSION = timedelta(days=7)
"""A session ends so long after it began."""
IDLE_SESSION = timedelta(hours=24)
"""A session that is not used ends after so long."""
SESSION_RESOLUTION = timedelta(minutes=1)
"""Precision of `seen_at`, so that not every page writes."""
SESSION_ENDED = "Your session has ended. Sign in again; what you had not sent yet must be sent again."
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
    session: tokens.Session
    sees_as: bool = False


def sign_in(context: Context, token: str, address: str) -> tuple[str, SignedIn]:
    """Begin a session; return the value of its cookie, which is stored nowhere, and who is signed in.

    Raises:
        Unauthorized: the token is unknown, expired or revoked.
    """
    hashed = token_hash(token)
    caller = caller_by_hash(context, hashed, address)
    if caller.token_id is None:
        raise errors.Unauthorized("Paste a token.")
    cookie = secrets.token_urlsafe(32)
    now = context.now()
    session = tokens.Session(
        token_hash(cookie), hashed, caller.token_id, secrets.token_urlsafe(32), now, now, now + LONGEST_SESSION
    )
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
    if session is None or session.expires_at <= now or session.seen_at + IDLE_SESSION <= now:
        raise errors.Unauthorized(SESSION_ENDED)
    caller = caller_by_hash(context, session.token_hash, address)
    if now - session.seen_at > SESSION_RESOLUTION:
        with context.store.write(durable=False) as db:
            tokens.note_session_use(db, session.hash, now)
    if session.as_team is None or not caller.organises(session.as_benchmark):
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
    if not own.organises(benchmark if benchmark is not None else own.benchmark):
        raise errors.Forbidden("Only organisers can see the pages as a team.")
    with context.store.write() as db:
        if benchmark is not None and team is not None:
            benchmark_of(db, benchmark, own)
            team_in(db, benchmark, team)
        tokens.look_as(db, signed.session.hash, benchmark, team)
