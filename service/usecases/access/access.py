"""Find what a caller asks for, or refuse it, with the same messages everywhere, and recognise repeated requests.

An idempotency key marks a request, so that a retry creates nothing twice.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from service.caller import Caller
from service.errors import LONGEST_SHOWN, SOON, Conflict, Gone, NotFound, Unprocessable
from service.policy import gate
from service.store import benchmarks, revisions, submissions, teams, tokens
from service.store.benchmarks import Benchmark
from service.store.revisions import Revision
from service.store.submissions import Submission
from treescore.core.wording import did_you_mean

SUGGESTED_FROM = 1000
"""Names that are read to suggest one."""


def storable(text: str) -> bool:
    """Return whether a text can be looked up: databases refuse NUL and half surrogate pairs."""
    return text.isprintable()


def unknown_team(db: Connection, slug: str, team_id: str) -> str:
    """Return what to say to an organiser, who may know every team, of an id that no team of a benchmark has."""
    known = [team.id for team in teams.listing(db, slug, None, SUGGESTED_FROM)]
    return f"Unknown team {team_id[:LONGEST_SHOWN]!r} of benchmark {slug!r}.{did_you_mean(team_id, known)}"


def _unknown_benchmark(db: Connection, slug: str, caller: Caller | None) -> str:
    """Return what to say of an unknown benchmark; only organisers get a suggestion, which tells of other names."""
    listed = benchmarks.listing(db, None, SUGGESTED_FROM) if caller is not None and caller.organiser else ()
    return f"Unknown benchmark {slug!r}.{did_you_mean(slug, [each.id for each in listed])}"


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
        raise NotFound(_unknown_benchmark(db, slug, caller))
    if benchmark.deleted_at is not None:
        raise Gone(f"The benchmark {slug!r} was deleted.")
    return benchmark


def team_of(caller: Caller, slug: str) -> str | None:
    """Return the caller's team in a benchmark; None for tokens of no team or of another benchmark."""
    return caller.team if caller.benchmark == slug else None


def may_read(caller: Caller, submission: Submission) -> bool:
    """Return whether a caller may know of a submission: its team and organisers may."""
    if caller.organiser:
        return True
    team = team_of(caller, submission.benchmark_id)
    return team is not None and team == submission.team_id and caller.allowed("submit", "read")


def submission_of(db: Connection, caller: Caller, submission_id: str, *, lock: bool = False) -> Submission:
    """Return a submission that the caller may know of.

    Raises:
        NotFound: it does not exist, or belongs to another team.
        Gone: it was deleted.
    """
    submission = submissions.get(db, submission_id, lock=lock) if storable(submission_id) else None
    if submission is None or not may_read(caller, submission):
        raise NotFound(f"Unknown submission {submission_id}.")
    if submission.deleted_at is not None:
        raise Gone(f"The submission {submission_id} was deleted.")
    return submission


def locked_submission(db: Connection, caller: Caller, submission_id: str) -> tuple[Submission, Benchmark]:
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
        raise Unprocessable("Invalid cursor. Use the `next` value of the previous page.")
    return int(cursor)


def active_revision(db: Connection, benchmark: Benchmark) -> Revision:
    """Return the active revision.

    Raises:
        Conflict: no revision is active yet.
    """
    revision = revisions.active(db, benchmark)
    if revision is None:
        raise Conflict(
            f"The gold standard of {benchmark.id!r} has not passed its check. Retry once a revision is active.",
            slug="no-active-revision",
            headers=None if revisions.unfinished(db, benchmark.id) is None else SOON,
        )
    return revision


def require_open(benchmark: Benchmark, caller: Caller, now: datetime) -> None:
    """Refuse teams before a benchmark opens and after it closes.

    Raises:
        Conflict: it is not open.
    """
    if caller.organiser:
        return
    if not benchmark.opened(now):
        raise Conflict(
            f"The benchmark {benchmark.id!r} opens at {benchmark.settings['opens_at']}.",
            slug="not-open",
        )
    if benchmark.closed(now):
        raise Conflict(
            f"The benchmark {benchmark.id!r} closed at {benchmark.settings['closes_at']}.",
            slug="closed",
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
    owner = _anonymous_owner(caller, idempotency_key) if caller.anonymous else caller.owner
    stored = tokens.find_key(db, owner, idempotency_key.key)
    if stored is None:
        tokens.add_key(db, owner, idempotency_key.key, idempotency_key.digest, created, now)
        return None
    digest, resource = stored
    if digest != idempotency_key.digest:
        raise Unprocessable(
            "This Idempotency-Key was used for another request. Use a new key for each new request.",
            slug="idempotency-key-reused",
        )
    return resource


def _anonymous_owner(caller: Caller, idempotency_key: IdempotencyKey) -> str:
    return hashlib.sha256(f"{caller.address} {idempotency_key.digest}".encode()).hexdigest()
