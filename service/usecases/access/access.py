"""Finding what a caller asks for, or refusing it, in the same words everywhere."""

from __future__ import annotations

from sqlalchemy import Connection

from service.caller import Caller
from service.errors import SOON, Conflict, Gone, NotFound, Unprocessable
from service.store import benchmarks, revisions, submissions
from service.store.benchmarks import Benchmark
from service.store.revisions import Revision
from service.store.submissions import Submission


def storable(text: str) -> bool:
    """Whether a text may be looked up at all: databases choke on NUL and on halves of characters."""
    return text.isprintable()


def check_cursor(cursor: str | None) -> None:
    """Refuse what is no cursor of a list by ids.

    Raises:
        Unprocessable: it is none of ours.
    """
    if cursor is not None and not storable(cursor):
        raise Unprocessable("The cursor is none of ours. Take it from `next` of the page before.")


def benchmark_of(db: Connection, slug: str, *, lock: bool = False, alone: bool = False) -> Benchmark:
    """A benchmark that is there; for the locks see store.benchmarks.get.

    Raises:
        NotFound: there is none.
        Gone: it was deleted.
    """
    found = benchmarks.get(db, slug, lock=lock, alone=alone) if storable(slug) else None
    if found is None:
        raise NotFound(f"There is no benchmark {slug!r}.")
    if found.deleted_at is not None:
        raise Gone(f"The benchmark {slug!r} was deleted.")
    return found


def team_of(caller: Caller, slug: str) -> str | None:
    """The team for which a caller speaks in a benchmark; None for nobody's and for other benchmarks' tokens."""
    return caller.team if caller.benchmark == slug else None


def may_read(caller: Caller, submission: Submission) -> bool:
    """Whether a caller may know of a submission: its team, and organisers."""
    if caller.organiser:
        return True
    team = team_of(caller, submission.benchmark_id)
    return team is not None and team == submission.team_id and caller.allowed("submit", "read")


def submission_of(db: Connection, caller: Caller, submission_id: str, *, lock: bool = False) -> Submission:
    """A submission that is there and the caller's to know of.

    Raises:
        NotFound: there is none, or it is another team's.
        Gone: it was deleted.
    """
    found = submissions.get(db, submission_id, lock=lock) if storable(submission_id) else None
    if found is None or not may_read(caller, found):
        raise NotFound(f"There is no submission {submission_id}.")
    if found.deleted_at is not None:
        raise Gone(f"The submission {submission_id} was deleted.")
    return found


def locked_submission(db: Connection, caller: Caller, submission_id: str) -> tuple[Submission, Benchmark]:
    """A submission and its benchmark, which nobody else changes before the transaction ends.

    Raises:
        NotFound: there is none, or it is another team's.
        Gone: it was deleted.
    """
    slug = submission_of(db, caller, submission_id).benchmark_id
    benchmark = benchmark_of(db, slug, lock=True)
    return submission_of(db, caller, submission_id, lock=True), benchmark


def item_number(cursor: str | None) -> int:
    """The item after which a page begins.

    Raises:
        Unprocessable: the cursor is none of ours.
    """
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdecimal() or len(cursor) > 12:
        raise Unprocessable("The cursor is none of ours. Take it from `next` of the page before.")
    return int(cursor)


def active_revision(db: Connection, benchmark: Benchmark) -> Revision:
    """The revision that rules.

    Raises:
        Conflict: none does yet.
    """
    number = benchmark.active_revision
    found = None if number is None else revisions.get(db, benchmark.id, number)
    if found is None:
        raise Conflict(
            f"The gold standard of {benchmark.id!r} has not passed its check. Try again once a revision is active.",
            slug="no-active-revision",
            title="No revision is active yet",
            headers=None if revisions.unsettled(db, benchmark.id) is None else SOON,
        )
    return found
