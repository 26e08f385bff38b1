"""What organisers are warned of: scoring that does not charge what an output lacks, and figures over few sentences."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from service.errors import error_document
from service.policy import cells
from service.policy.split import shares_of
from service.store import revisions
from service.store.benchmarks import Benchmark
from service.store.revisions import Revision
from service.usecases.scoring.config import scoring_warnings
from service.usecases.scoring.shares import gold_of, golds_of, sizes_of
from treescore.core.params import escape
from treescore.errors import Problem


def revision_warnings(db: Connection, benchmark: Benchmark, revision: Revision) -> list[dict[str, object]]:
    """Return the warnings of a revision: of its scoring, and of its gold once that is checked."""
    shares = shares_of(benchmark)
    problems = [
        *scoring_warnings(revision.scoring),
        *(problem for share in shares for problem in _small(db, benchmark, revision, share)),
        *_without_parts(db, benchmark, revision),
        *_near({number: None for share in shares for number in near_revisions(db, benchmark, revision, share)}),
    ]
    return [error_document(problem, gold_visible=False) for problem in problems]


def near_revisions(db: Connection, benchmark: Benchmark, revision: Revision, share: str | None) -> list[int]:
    """Return the earlier revisions with boards that are too near to this one in a share (`cells.small_difference`).

    Revisions with equal gold are not among them.
    """
    golds = golds_of(db, benchmark, share)
    own = gold_of(db, benchmark, revision, share)
    return [
        number for number in sorted(golds) if number < revision.number and cells.small_difference(golds[number], own)
    ]


def moves_shown(db: Connection, benchmark: Benchmark, revision: Revision, share: str | None) -> bool:
    """Return whether the changes of ranks in a share tell of no difference between revisions that are too near.

    They name main scores under this revision and under an earlier one.
    """
    hidden = cells.hidden_revisions(benchmark.active_revision or 0, golds_of(db, benchmark, share))
    return not near_revisions(db, benchmark, revision, share) and all(number > revision.number for number in hidden)


def _small(db: Connection, benchmark: Benchmark, revision: Revision, share: str | None) -> list[Problem]:
    sizes = sizes_of(db, benchmark, revision.id, revisions.parts_of(db, revision.id), share)
    small = cells.small_parts(sizes)
    if len(sizes) == 1:
        return [_problem(name, share, "Each score tells much about single sentences.") for name in small]
    hidden = sorted(cells.hidden_parts(sizes) - {*small})
    with_them = f", nor {', '.join(hidden)}, from which they could be computed" if hidden else ""
    detail = f"At the levels rounded and scores its figures are not shown{with_them}. Join it with another part."
    return [_problem(name, share, detail) for name in small]


def _problem(part: str, share: str | None, consequence: str) -> Problem:
    which = f"The part {part!r}" if share is None else f"The {share} share of the part {part!r}"
    detail = f"{which} has fewer than {cells.LEAST} sentences. {consequence}"
    return Problem(code="small-part", pointer=f"/parts/{escape(part)}", part=part, detail=detail)


def _without_parts(db: Connection, benchmark: Benchmark, revision: Revision) -> list[Problem]:
    """Return which tracks name parts that a revision does not have; it shows their means over the others."""
    known = {part.name for part in revisions.parts_of(db, revision.id)}
    problems = []
    for name, members in benchmark.tracks.items():
        gone = [part for part in members if part not in known]
        if gone:
            rest = "The track is the mean of its other parts." if len(gone) < len(members) else "It has no other part."
            detail = f"The track {name!r} names parts that revision {revision.number} lacks: {', '.join(gone)}. {rest}"
            problems.append(Problem(code="track-lacks-part", pointer=f"/tracks/{escape(name)}", detail=detail))
    return problems


def _near(numbers: Iterable[int]) -> list[Problem]:
    return [
        Problem(
            code="small-difference",
            pointer="/parts",
            detail=(
                f"Gold is too near to that of revision {number}: it differs in fewer than {cells.LEAST} sentences or "
                "in an unknown number of them, or in its parts, some of which are small. Both scores of a submission "
                "together tell about these sentences. At the levels rounded and scores the figures of revision "
                f"{number} and the changes of ranks are no longer shown once this revision is active. Who has read "
                "them before can still compare; correct more at once."
            ),
        )
        for number in numbers
    ]
