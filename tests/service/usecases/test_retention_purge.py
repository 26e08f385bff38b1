"""A purge lists first; afterwards nothing of it is in the database's file."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from service.contract.jobs import JobRequest
from service.contract.submissions import SubmissionRequest
from service.errors import Gone, NotFound
from service.store import comparisons, jobs, runs, score_records, submissions
from service.store.database import Store
from service.usecases.checks import Level, check
from service.usecases.jobs import submit_job
from service.usecases.retention import Scope, listed, purge
from service.usecases.submissions.validation import validate
from tests.fixtures.contexts import SCORER, later, work_of
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG, loaded
from tests.fixtures.tasks import LONG, SLUG, Task, column, once, spoilt

MARKERS = (b"zweimarker", b"Zweiname", b"Zweinote", b"Zweititel", b"Zweilink", b"Zweirules")
OF_BENCHMARK = {b"Zweititel", b"Zweirules"}
LINKS = {"code": "https://example.org/Zweilink"}
OLD = datetime(2026, 11, 3, tzinfo=UTC)


def marked(output: str) -> str:
    """An output that says a word which is nowhere else, in a column that is not compared."""
    return output.replace("\t_\t_\n", "\t_\tzweimarker=1\n")


class Filled:
    """Two teams and a comparison between them; the second team's texts and names carry markers."""

    def __init__(self, task) -> None:
        self.context = task.context
        self.task = task
        self.task.make(parts={"en": {"gold": LONG}}, title="Zweititel", about={"rules": "Zweirules"})
        lyon, prague = (self.task.team(name) for name in ("lyon", "prague"))
        self.kept = self.task.submit(lyon, spoilt(9))
        self.gone = self.task.submit(prague, marked(spoilt(2)), name="Zweiname", notes="Zweinote", links=LINKS)
        self.bad = self.task.submit(prague, marked(spoilt(2)).replace("stars", "zweimarker"), name="Zweiname")
        self.task.settle()
        self.comparison = self.task.ask(submissions=[self.kept, self.gone])
        self.task.settle()


@partial(once, either=True)
def filled(task):
    return Filled(task)


def found(context) -> set[bytes]:
    """Markers in the files of a SQLite store as they are, or in any row of a server."""
    if context.store.sqlite:
        name = Path(context.store.url.database)
        body = b"".join(path.read_bytes() for path in name.parent.glob(name.name + "*"))
        return {marker for marker in MARKERS if marker in body}
    with context.store.read() as db:
        rows = db.execute(text("SELECT CAST(query_to_xml('SELECT * FROM submissions', true, false, '') AS TEXT)"))
        body = rows.scalar_one().encode()
        return {marker for marker in MARKERS if marker in body}


def wrong(context) -> list:
    return [each for each in check(context, every=True) if each.level is Level.WRONG and "file" not in each.code]


def test_a_purge_lists_and_changes_nothing(filled):
    before = filled.task.leaderboard()
    numbers = listed(filled.context, Scope(team=(SLUG, "prague")))
    assert (numbers["submissions"], numbers["comparisons"], numbers["texts"]) == (2, 1, 2)
    assert numbers["artifact_bytes"] > 0
    assert filled.task.leaderboard() == before


def test_a_purged_team_leaves_scores_and_no_word(filled):
    assert found(filled.context) >= {b"Zweiname", b"Zweinote"}
    main = column(filled.task.leaderboard(), "score")
    numbers, clean = purge(filled.context, Scope(team=(SLUG, "prague")))
    assert (numbers["comparisons"], clean) == (1, True)
    assert found(filled.context) <= OF_BENCHMARK
    filled.task.settle()
    assert column(filled.task.leaderboard(), "score") == main
    with filled.context.store.read() as db:
        assert comparisons.get(db, filled.comparison) is None
    assert wrong(filled.context) == []
    with pytest.raises(NotFound):
        listed(filled.context, Scope(team=(SLUG, "prague")))


@pytest.mark.parametrize("scope", [Scope(team=(SLUG, "oslo")), Scope(benchmark=SLUG)])
def test_validations_go_with_their_team_and_benchmark_also_unfinished_ones(filled, scope):
    context, oslo = filled.context, filled.task.team("oslo")
    outputs = marked(spoilt(2)).replace("stars", "zweimarker")
    ids = []
    for settle in (True, False):
        sent = loaded(SubmissionRequest, {"name": "x", "outputs": {"en": outputs}})
        ids.append(validate(context, oslo, SLUG, sent)[0])
        if settle:
            filled.task.settle()
    assert listed(context, scope)["jobs"] == 2
    purge(context, scope)
    filled.task.settle()
    with context.store.read() as db:
        assert all(jobs.answer(context.store, each).document is None for each in ids)
        assert runs.get(db, ids[1]).state == runs.CANCELLED
    assert wrong(context) == []


def test_a_purged_comparison_can_be_asked_again(filled):
    purge(filled.context, Scope(before=datetime(2027, 1, 1, tzinfo=UTC)))
    assert filled.task.ask(submissions=[filled.kept, filled.gone]) == filled.comparison
    filled.task.settle()
    assert wrong(filled.context) == []


def test_a_purged_benchmark_is_gone_with_every_word(filled):
    filled.task.submit(filled.task.team("oslo"), spoilt(3))  # unfinished
    numbers, clean = purge(filled.context, Scope(benchmark=SLUG))
    assert (numbers["submissions"], numbers["teams"], clean) == (4, 3, True)
    assert found(filled.context) == set()
    filled.task.settle()
    assert wrong(filled.context) == []
    with pytest.raises(Gone):
        filled.task.benchmark()
    with filled.context.store.read() as db:
        assert not db.scalar(text("SELECT count(*) FROM texts"))
        assert not db.scalar(text("SELECT count(*) FROM artifacts"))


def test_a_purge_by_time_keeps_scores_and_what_is_younger(filled):
    job = {"format": "conllu", "gold": GOLD_CONLLU, "metrics": ["attachment"],
           "systems": [{"name": "a", "output": ONE_WRONG}]}  # fmt: skip
    submit_job(filled.context, SCORER, loaded(JobRequest, job))
    filled.task.settle()
    young = later(filled.context, days=3)
    task = Task(young, work_of(young))
    fresh = task.scored(task.team("oslo"), spoilt(4))
    rows = column(task.leaderboard(), "score")
    numbers, _ = purge(filled.context, Scope(before=OLD))
    assert (numbers["jobs"], numbers["submissions"], numbers["comparisons"]) == (1, 3, 1)
    assert column(task.leaderboard(), "score") == rows
    with filled.context.store.read() as db:
        assert submissions.get(db, fresh).output_deleted_at is None
        assert submissions.get(db, filled.gone).output_deleted_at is not None
        assert score_records.counts(db, filled.gone, 1, [0], 0)[0] is not None
    assert wrong(filled.context) == []
    assert purge(filled.context, Scope(before=OLD))[0]["submissions"] == 0


def test_a_reader_of_an_older_state_is_waited_for_and_named(task, context, monkeypatch):
    monkeypatch.setattr("service.store.upkeep.PATIENCE_MS", 1)
    filled = Filled(task)
    other = Store(context.config.database_url)
    with other.read() as db:
        db.execute(text("SELECT count(*) FROM texts"))
        assert purge(context, Scope(team=(SLUG, "prague")))[1] is False
    assert purge(context, Scope(before=datetime(1970, 1, 1, tzinfo=UTC)))[1] is True
    other.close()
    assert found(filled.context) <= OF_BENCHMARK


def test_what_is_unknown_is_refused(context):
    for scope in (Scope(benchmark="nowhere"), Scope(team=(SLUG, "nowhere")), Scope(team=("x", "y"))):
        with pytest.raises(NotFound):
            purge(context, scope)
