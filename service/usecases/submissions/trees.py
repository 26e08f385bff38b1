"""The trees of a submission, by policy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import SOON, Conflict, Gone, NotFound
from service.policy import gate
from service.policy.gate import Level
from service.policy.levels import not_shown
from service.policy.split import shown_share
from service.requests import SubmissionTreesQuery
from service.store import artifacts, revisions
from service.store.revisions import Revision
from service.store.runs import UNFINISHED
from service.store.submissions import TREES, Submission
from service.usecases.access.access import active_revision, benchmark_of, submission_of
from service.usecases.boards.released import release_of_revision
from service.usecases.runs.views import Page
from service.usecases.submissions.results import part_of
from service.usecases.submissions.seen_trees import VisibleTrees, require_errors
from service.usecases.trees.choosing import differing
from service.usecases.trees.listing import NOT_KEPT, Asked, listed, tree_page
from service.usecases.trees.window import Window, window

_NAME = re.compile(r"r(\d+)/trees/\d+")


@dataclass(frozen=True)
class Heading:
    """What stands above the trees of a submission. Every caller that may know of the submission may know all this.

    Attributes:
        id: of the submission.
        team: that sent it; None for an organiser's.
        name: its own.
        parts: names of those that it has outputs of, in the order in which they were sent.
        benchmark: the id.
        title: of the benchmark.
        level: name of the feedback level at which the caller sees it now.
    """

    id: str
    team: str | None
    name: str
    parts: Sequence[str]
    benchmark: str
    title: str
    level: str


def heading_of(context: Context, caller: Caller, submission_id: str) -> Heading:
    """Return what stands above the trees of a submission.

    Raises:
        NotFound: it does not exist, or belongs to another team.
        Gone: it was deleted.
    """
    with context.store.read() as db:
        submission = submission_of(db, caller, submission_id)
        benchmark = benchmark_of(db, submission.benchmark_id)
    return Heading(
        submission.id, submission.team_id, submission.name, list(submission.outputs), benchmark.id, benchmark.title,
        gate.level_of(benchmark, caller, context.now()).name.lower(),
    )  # fmt: skip


def submission_trees(context: Context, caller: Caller, submission_id: str, query: SubmissionTreesQuery) -> Page:
    """Return the trees of one part, from after `cursor`; or of one item.

    Below level `gold` they are the output's own, numbered as its sentences are, also where it does not fit gold.

    Raises:
        NotFound: unknown submission, part or item; no trees are stored.
        Forbidden: the benchmark's feedback level does not show the errors that are asked.
        Conflict: the submission has not been scored yet, or no revision is active.
        Gone: the output was deleted, and its trees with it.
        Unprocessable: the cursor is invalid.
    """
    with context.store.read() as db:
        seen, asked = _seen(db, context, caller, submission_id, query)
        return tree_page(listed(seen.trees, asked, beside_gold=seen.beside_gold), seen.document)


def submission_window(
    context: Context, caller: Caller, submission_id: str, query: SubmissionTreesQuery, against: str | None = None
) -> Window:
    """Return the sentence `query.item` of one part, by default the first chosen one, among those around it.

    Args:
        context: store and clock.
        caller: who asks.
        submission_id: whose trees.
        query: which part, sentence and choice.
        against: another submission, which the caller may read: only sentences in which the two are not right and wrong
            alike are chosen. That tells of gold, so that it needs level `gold`.

    Raises:
        NotFound, Forbidden, Conflict, Gone: as `submission_trees`.
    """
    with context.store.read() as db:
        seen, asked = _seen(db, context, caller, submission_id, query)
        if against is not None:
            other, _ = _seen(db, context, caller, against, query)
            if not (seen.beside_gold and other.beside_gold):
                raise not_shown("Sentences in which two submissions differ are shown beside gold only.")
            asked = replace(asked, only=differing(seen.trees, other.trees))
        return window(seen.trees, asked, seen.document, seen.outline, beside_gold=seen.beside_gold)


def _seen(
    db: Connection, context: Context, caller: Caller, submission_id: str, query: SubmissionTreesQuery
) -> tuple[VisibleTrees, Asked]:
    """Return the trees of one part as the caller may see them, and what of them is asked."""
    submission = submission_of(db, caller, submission_id)
    benchmark = benchmark_of(db, submission.benchmark_id)
    level = gate.level_of(benchmark, caller, context.now())
    require_errors(level, query.choice)
    active = active_revision(db, benchmark)
    parts = revisions.parts_of(db, active.id)
    name = part_of(parts, query.part).name
    revision = _read_under(db, active, submission)
    if revision is not None and revision.id != active.id:
        parts = revisions.parts_of(db, revision.id)
    part = next((each for each in parts if each.name == name), None)
    if revision is None or part is None:
        raise _none_stored(submission, level)
    release = release_of_revision(db, benchmark, revision, level, shown_share(benchmark, context.now()))
    seen = VisibleTrees(db, submission, part, revision, level, release)
    if not len(seen.trees.text):
        raise _none_stored(submission, level)
    seen.require_choice(query.choice)
    # cursors of own trees do not depend on the revision under which the output was read: outputs that do not fit
    # are not read again under later ones
    owner = (submission_id, name, *((str(revision.number),) if seen.beside_gold else ()))
    return seen, Asked(owner, query.choice, query.cursor, query.limit, query.item)


def _read_under(db: Connection, active: Revision, submission: Submission) -> Revision | None:
    """Return the last revision, up to the active one, under which outputs of a submission were read."""
    names = artifacts.names_holding(db, submission.id, f"{TREES}s/")
    found = [int(match[1]) for match in map(_NAME.fullmatch, names) if match is not None]
    numbers = [number for number in found if number <= active.number]
    if active.number in numbers:
        return active
    return revisions.get(db, active.benchmark_id, max(numbers)) if numbers else None


def _none_stored(submission: Submission, level: Level) -> Conflict | Gone | NotFound:
    """Return why there are no trees; at level `none` it does not tell whether the submission was scored."""
    if submission.output_deleted_at is not None:
        return Gone(f"The output of {submission.id} was deleted, and its trees with it.")
    if level > Level.NONE and submission.state in UNFINISHED:
        detail = f"The submission {submission.id} is {submission.state} and has no trees yet."
        return Conflict(detail, slug="no-results", headers=SOON)
    return NotFound(NOT_KEPT)
