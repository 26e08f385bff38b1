"""Requested comparisons: the question, and the answer when it is computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import NotRequired, TypedDict

import orjson
from sqlalchemy import Connection, func, insert, select, update

from service.store import artifacts, tables
from service.store.runs import UNFINISHED
from treescore.core.params import Json


class Question(TypedDict):
    """What a comparison is about, complete and in its canonical form."""

    benchmark: str
    revision: int
    score: str
    part: str | None
    submissions: list[str]
    settings: dict[str, Json]
    runs: NotRequired[dict[str, list[str]]]
    """The training runs of a system, by the submission that stands for it; only for systems of several."""
    considered: NotRequired[dict[str, int]]
    """How many scored submissions of its team each row was picked from; only where p allows for picking."""
    parts: NotRequired[list[str]]
    """Of the track that `part` names; left out for other parts. A track may have other parts later."""
    share: NotRequired[str]
    """Of a split test set; left out where it is not split."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row.

    Attributes:
        id: `cmp_` and a digest of the question.
        benchmark_id, revision: what its submissions are scored by.
        question: what is compared.
        run_id: of the current attempt.
        document: the answer (`comparison` and `failure`); None while there is none.
        created_at: when it was first asked.
        attempt: number of the current attempt, from 1.
        deleted_at: when it was deleted; the question may be asked again.
    """

    id: str
    benchmark_id: str
    revision: int
    question: Question
    run_id: str
    document: dict[str, Json] | None
    created_at: datetime
    attempt: int = 1
    deleted_at: datetime | None = None


def add(db: Connection, comparison: Comparison) -> None:
    """Store a question. Its run is stored in the same transaction."""
    columns = tables.columns_of(comparison, question=tables.json_text(comparison.question), document=None)
    db.execute(insert(tables.comparisons).values(columns))


def get(db: Connection, comparison_id: str) -> Comparison | None:
    """Return one comparison, deleted or not, or None."""
    return tables.one(db, select(tables.comparisons).where(tables.comparisons.c.id == comparison_id), _comparison)


def of_run(db: Connection, run_id: str) -> Comparison | None:
    """Return the comparison whose current attempt a run is, or None."""
    return tables.one(db, select(tables.comparisons).where(tables.comparisons.c.run_id == run_id), _comparison)


def listing(db: Connection, benchmark_id: str, after: str | None, limit: int) -> Sequence[Comparison]:
    """List comparisons of a benchmark by id, after a given one, without their answers and without deleted ones."""
    c = tables.comparisons.c
    query = select(*(column for column in c if column is not c.document)).where(
        c.benchmark_id == benchmark_id, c.deleted_at.is_(None)
    )
    return [_comparison(row) for row in db.execute(tables.page_from(query, c.id, after, limit))]


def unanswered(db: Connection, benchmark_id: str) -> int:
    """Count the unanswered questions of a benchmark."""
    c, run = tables.comparisons.c, tables.runs.c
    query = select(func.count()).select_from(tables.comparisons).join(tables.runs, run.id == c.run_id)
    of_it = (c.benchmark_id == benchmark_id) & c.deleted_at.is_(None) & run.state.in_(UNFINISHED)
    return tables.count(db, query.where(of_it))


def save_answer(db: Connection, comparison_id: str, document: Mapping[str, object]) -> None:
    """Store the answer, unless the comparison was deleted before."""
    mine = (tables.comparisons.c.id == comparison_id) & tables.comparisons.c.deleted_at.is_(None)
    db.execute(update(tables.comparisons).where(mine).values(document=artifacts.pack_json(document)))


def begin_attempt(db: Connection, comparison_id: str, run_id: str, attempt: int) -> None:
    """Note the run of another attempt at a question that the service failed to answer, or whose answer was deleted."""
    begun = {"run_id": run_id, "attempt": attempt, "document": None, "deleted_at": None}
    db.execute(update(tables.comparisons).where(tables.comparisons.c.id == comparison_id).values(begun))


def note_ask(
    db: Connection,
    comparison_id: str,
    benchmark_id: str,
    team_id: str | None,
    utc_day: str,
    now: datetime,
    *,
    charged: bool,
) -> None:
    """Note that a team, or for None an organiser, has asked a question."""
    asked = {"comparison_id": comparison_id, "benchmark_id": benchmark_id, "team_id": team_id}
    db.execute(insert(tables.comparison_asks).values(**asked, utc_day=utc_day, charged=charged, asked_at=now))


def askers(db: Connection, comparison_id: str) -> set[str | None]:
    """Return the teams that asked a question and have not deleted it; None stands for organisers."""
    c = tables.comparison_asks.c
    query = select(c.team_id).where(c.comparison_id == comparison_id, c.dropped_at.is_(None))
    return set(db.scalars(query.distinct()))


def asked_by(db: Connection, comparison_ids: Sequence[str], team_id: str) -> set[str]:
    """Return which of these comparisons a team has asked and not deleted."""
    c = tables.comparison_asks.c
    query = select(c.comparison_id).where(
        c.comparison_id.in_(list(comparison_ids)), c.team_id == team_id, c.dropped_at.is_(None)
    )
    return set(db.scalars(query))


def charged_on(db: Connection, benchmark_id: str, team_id: str, utc_day: str) -> int:
    """Count the questions that are charged to a team on a day, deleted ones included."""
    c = tables.comparison_asks.c
    query = select(func.count()).where(
        c.benchmark_id == benchmark_id, c.team_id == team_id, c.utc_day == utc_day, c.charged.is_(True)
    )
    return tables.count(db, query)


def drop_ask(db: Connection, comparison_id: str, team_id: str, now: datetime) -> None:
    """Note that a team has deleted a comparison that it asked. What it cost stays counted."""
    c = tables.comparison_asks.c
    mine = (c.comparison_id == comparison_id) & (c.team_id == team_id) & c.dropped_at.is_(None)
    db.execute(update(tables.comparison_asks).where(mine).values(dropped_at=now))


def erase(db: Connection, comparison_ids: Sequence[str], now: datetime) -> None:
    """Delete answers, for all who asked. The rows stay: the questions may be asked again."""
    ids = list(comparison_ids)
    c = tables.comparison_asks.c
    db.execute(update(tables.comparisons).where(tables.comparisons.c.id.in_(ids)).values(document=None, deleted_at=now))
    asked = c.comparison_id.in_(ids) & c.dropped_at.is_(None)
    db.execute(update(tables.comparison_asks).where(asked).values(dropped_at=now))


def naming(db: Connection, benchmark_id: str, submission_id: str) -> Sequence[str]:
    """List the comparisons of a benchmark that compare a submission, by itself or as a training run."""
    c = tables.comparisons.c
    named = c.question.contains(f'"{submission_id}"', autoescape=True)
    query = select(c.id, c.question).where(c.benchmark_id == benchmark_id, c.deleted_at.is_(None), named)
    return [row.id for row in db.execute(query) if submission_id in _compared(orjson.loads(row.question))]


def _compared(question: Question) -> set[str]:
    """Return the submissions of a question with their training runs."""
    return {*question["submissions"], *chain.from_iterable(question.get("runs", {}).values())}


def finished_before(db: Connection, moment: datetime, limit: int) -> Sequence[str]:
    """List comparisons that were answered before a moment, without those that a board shows."""
    c, run, shown = tables.comparisons.c, tables.runs.c, tables.board_comparisons.c.comparison_id
    query = select(c.id).join(tables.runs, run.id == c.run_id).where(c.deleted_at.is_(None), run.finished_at < moment)
    return list(db.scalars(query.where(~select(shown).where(shown == c.id).exists()).limit(limit)))


def _comparison(row: tables.AnyRow) -> Comparison:
    packed = getattr(row, "document", None)
    document = None if packed is None else artifacts.unpack_json(packed)
    return tables.record_of(Comparison, row, question=orjson.loads(row.question), document=document)
