"""A store as the code before migration 0003 left it is upgraded, and answers as it did but for the new names."""

from __future__ import annotations

import re

import orjson
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text

from service.caller import Caller, principal_of
from service.context import Context
from service.requests import LeaderboardQuery
from service.schemas.comparisons import ComparisonRequest
from service.schemas.jobs import JobRequest
from service.store import benchmarks, boards, comparisons, jobs, runs, submissions
from service.store.boards import BoardComparison, BoardRun
from service.store.migrate import migrate
from service.store.packing import is_packed, pack, unpack
from service.store.tables import metadata
from service.usecases.boards.board import comparison_id
from service.usecases.boards.leaderboard import leaderboard
from service.usecases.boards.work import board_changed
from service.usecases.comparisons.ask import ask
from service.usecases.comparisons.show import view_comparison
from service.usecases.jobs.jobs import submit_job, view_job
from service.usecases.runs.views import etag_of
from service.usecases.submissions.changes import retry_submission
from service.usecases.submissions.submissions import view_submission
from tests.fixtures.contexts import ORGANISER, SCORER, work_of
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import LONG, SECOND_PART, SLUG, UNLIMITED, Task, spoilt
from workers.entry import do

ASKED = ({}, {"part": "en"}, {"part": "pooled", "pick": "all"}, {"score": "attachment.uas"}, {"format": "csv"})
SINCE_UNITS = (
    "DROP TABLE sessions",
    "DROP TABLE invites",
    "ALTER TABLE submissions DROP COLUMN links",
    "ALTER TABLE teams DROP COLUMN contact",
    "ALTER TABLE webhooks DROP COLUMN old_secret",
    "ALTER TABLE webhooks DROP COLUMN old_secret_until",
    "DROP TABLE deliveries",
    """CREATE TABLE deliveries (id VARCHAR(64) NOT NULL, webhook_id VARCHAR(64) NOT NULL, event_seq INTEGER NOT NULL,
    attempts INTEGER NOT NULL, next_at TIMESTAMP WITH TIME ZONE, state VARCHAR(10) NOT NULL, last_status INTEGER,
    CONSTRAINT pk_deliveries PRIMARY KEY (id), CONSTRAINT uq_deliveries_webhook_id UNIQUE (webhook_id, event_seq),
    CONSTRAINT fk_deliveries_webhook_id FOREIGN KEY(webhook_id) REFERENCES webhooks (id),
    CONSTRAINT fk_deliveries_event_seq FOREIGN KEY(event_seq) REFERENCES events (seq))""",
    "CREATE INDEX ix_deliveries_state_next_at ON deliveries (state, next_at)",
    "DROP TABLE pieces",
    "ALTER TABLE runs DROP COLUMN request_id",
    "ALTER TABLE runs DROP COLUMN trace",
    "ALTER TABLE runs DROP COLUMN not_before",
    "ALTER TABLE submissions DROP COLUMN run_of",
    *(f"ALTER TABLE scores DROP COLUMN private_{name}" for name in ("main", "figures", "metrics")),
)
"""Takes away what migrations after the one of units add."""
OLD_SHAPE = (
    "DROP TABLE turns",
    "DROP INDEX ix_runs_next",
    "DROP INDEX ix_runs_principal_state",
    "DROP INDEX ix_runs_started_at",
    "ALTER TABLE runs DROP COLUMN principal",
    "ALTER TABLE runs DROP COLUMN precedence",
    "ALTER TABLE runs DROP COLUMN turn",
    "DROP TABLE validations",
    "DROP TABLE ladders",
    "ALTER TABLE scores DROP COLUMN rung",
    "DROP TABLE comparison_asks",
    "ALTER TABLE comparisons DROP COLUMN deleted_at",
    "ALTER TABLE comparisons ADD COLUMN etag VARCHAR(64)",
    "DROP INDEX ix_board_comparisons_comparison_id",
    "ALTER TABLE board_comparisons DROP COLUMN comparison_id",
    "ALTER TABLE revisions RENAME COLUMN scoring TO ruler",
    "ALTER TABLE board_comparisons RENAME COLUMN key TO score",
    """INSERT INTO board_comparisons (benchmark_id, revision, score, run_id, board_version, created_at)
    SELECT benchmark_id, revision, '', run_id, 1, CURRENT_TIMESTAMP FROM board_runs""",
    "DROP TABLE board_runs",
    "ALTER TABLE jobs DROP COLUMN key_hash",
    "ALTER TABLE submissions DROP COLUMN attempt",
    "ALTER TABLE comparisons DROP COLUMN attempt",
    "ALTER TABLE scores DROP COLUMN covered",
    "ALTER TABLE parts DROP COLUMN sentence_keys",
    "ALTER TABLE revisions DROP COLUMN public_reason",
    *SINCE_UNITS,
    "UPDATE alembic_version SET version_num = '0002'",
)
KEYS = {"jobs": ("id",), "comparisons": ("id",), "board_comparisons": ("benchmark_id", "revision", "key")}


def old_names(body: bytes) -> bytes:
    """JSON with the names of before, in the same order."""
    body = re.sub(rb'"shuffles":([^,]+),"shuffles_asked"', rb'"trials":\1,"shuffles_asked"', body)
    return body.replace(b'"rank_interval":', b'"rank_range":')


def make_old(db: Connection) -> int:
    """Give a store the shape and the documents of migration 0002; answers how many documents it changed."""
    changed = 0
    for table, keys in KEYS.items():
        for row in db.execute(text(f"SELECT {', '.join(keys)}, document FROM {table}")).all():  # noqa: S608
            packed = table != "jobs"
            body = unpack(row.document) if is_packed(row.document) else row.document
            where = " AND ".join(f"{name} = :{name}" for name in keys)
            changed += old_names(body) != body
            values = {"body": pack(old_names(body)) if packed else old_names(body), "etag": etag_of(old_names(body))}
            etag = ", etag = :etag" if table == "jobs" else ""
            statement = text(f"UPDATE {table} SET document = :body{etag} WHERE {where}")  # noqa: S608
            db.execute(statement, {**{name: getattr(row, name) for name in keys}, **values})
    for statement in OLD_SHAPE:
        db.execute(text(statement))
    return changed


class Stored:
    """A benchmark with boards, comparisons, a submission in its second attempt, and a job."""

    def __init__(self, context: Context) -> None:
        self.context = context
        task = Task(context, work_of(context))
        task.make(parts={"en": {"gold": LONG}, "de": {"gold": SECOND_PART}})
        teams = [task.team(name) for name in ("lyon", "prague", "oslo")]
        outputs = [{"en": spoilt(wrong), "de": SECOND_PART} for wrong in (9, 1, 4)]
        outputs[2].pop("de")
        self.submissions = [task.submit(*each) for each in zip(teams, outputs, strict=True)]
        self.retry(teams[0])
        task.settle()
        self.comparisons = [
            ask(
                context, ORGANISER, SLUG, loaded(ComparisonRequest, {"submissions": self.submissions[:2], "part": "en"})
            ),
            ask(context, ORGANISER, SLUG, loaded(ComparisonRequest, {"submissions": "leaderboard", "part": "pooled"})),
        ]
        systems = [{"name": name, "output": spoilt(wrong)} for name, wrong in (("a", 7), ("b", 1), ("c", 3))]
        request = {"format": "conllu", "gold": LONG, "metrics": ["attachment"], "systems": systems,
                   "significance": {"scores": ["attachment.las"]}}  # fmt: skip
        self.job = submit_job(context, SCORER, loaded(JobRequest, request))[0]
        task.settle()

    def retry(self, team: Caller) -> None:
        """Let the first submission fail through a fault of the service, and try again."""
        with self.context.store.write() as db:
            runs.finish(db, self.submissions[0], runs.FAILED, self.context.now())
            failures = [{"kind": "service", "detail": "broken", "errors": []}]
            submissions.change(db, self.submissions[0], state=runs.FAILED, failure_kind="service", failures=failures)
        retry_submission(self.context, team, self.submissions[0])

    def answers(self) -> dict[str, bytes]:
        """What is sent of all of it."""
        views = {
            f"board {asked}": leaderboard(self.context, ORGANISER, SLUG, LeaderboardQuery(**asked)) for asked in ASKED
        }
        views |= {each: view_comparison(self.context, ORGANISER, each) for each in self.comparisons}
        views |= {each: view_submission(self.context, ORGANISER, each) for each in self.submissions}
        job = view_job(self.context, SCORER, self.job)
        assert job.etag == etag_of(job.body)
        return {name: view.body for name, view in (views | {"job": job}).items()}


@pytest.fixture
def stored(either_context):
    return Stored(either_context)


def test_an_old_store_is_upgraded_and_answers_the_same(stored):
    store = stored.context.store
    before = stored.answers()
    with store.write() as db:
        assert make_old(db) == 4  # a board, two comparisons, a job
    migrate(store)
    assert stored.answers() == before
    with store.read() as db:
        assert compare_metadata(MigrationContext.configure(db, opts={"compare_type": False}), metadata) == []
        attempts = [submissions.get(db, each).attempt for each in stored.submissions]
        assert attempts == [2, 1, 1]
        assert [comparisons.get(db, each).attempt for each in stored.comparisons] == [1, 1]
        keys = boards.keys(db, SLUG, 1)
        assert len(keys) == 2
        # the answers above may come from the cache of boards
        stored_boards = orjson.dumps([boards.get(db, SLUG, 1, key).body for key in keys])
        assert old_names(stored_boards) != stored_boards
        assert not [name for name in (b'"trials"', b'"rank_range"') if name in stored_boards]


def test_boards_of_an_old_store_are_compared_anew_and_its_quotas_have_one_for_questions(stored):
    with stored.context.store.write() as db:
        make_old(db)
        db.execute(text("""UPDATE benchmarks SET settings = replace(settings, ',"comparisons_per_day"\\:20', '')"""))
    migrate(stored.context.store)
    with stored.context.store.read() as db:
        assert runs.get(db, boards.unfinished_run(db, SLUG, 1)).kind == "board"
        assert benchmarks.get(db, SLUG).settings["quota"]["comparisons_per_day"] == 20


def test_boards_whose_units_were_sentences_are_compared_again(stored):
    with stored.context.store.write() as db:
        key = boards.keys(db, SLUG, 1)[0]
        before = boards.get(db, SLUG, 1, key).body
        question = {**before["question"], "settings": {**before["question"]["settings"], "unit": "sentence"}}
        old = BoardComparison(None, 1, {**before, "id": comparison_id(question), "question": question})
        boards.save(db, SLUG, 1, key, old, stored.context.now())
        for statement in (*SINCE_UNITS, "UPDATE alembic_version SET version_num = '0009'"):
            db.execute(text(statement))
    migrate(stored.context.store)
    with stored.context.store.read() as db:
        run = runs.get(db, boards.unfinished_run(db, SLUG, 1))
        assert (run.kind, run.principal) == ("board", principal_of(SLUG))
    do(stored.context, run.id)
    with stored.context.store.read() as db:
        assert boards.get(db, SLUG, 1, key).body == before


def test_a_run_of_an_old_board_is_still_under_way_after_the_upgrade(stored):
    with stored.context.store.write() as db:
        (scheduled,) = board_changed(db, stored.context, SLUG)
        make_old(db)
    migrate(stored.context.store)
    with stored.context.store.read() as db:
        assert boards.unfinished_run(db, SLUG, 1) == scheduled.id
        assert boards.of_run(db, scheduled.id) == BoardRun(SLUG, 1)


def test_a_benchmark_of_before_has_no_ladder_no_margin_and_no_tracks_and_keeps_its_quota(either_context):
    task = Task(either_context, work_of(either_context))
    task.make()
    before = task.benchmark()
    with either_context.store.write() as db:
        settings = orjson.loads(db.scalar(text("SELECT settings FROM benchmarks")))
        for name in ("ladder", "margin", "unit"):
            del settings["leaderboard"][name]
        del settings["tracks"]
        db.execute(text("UPDATE benchmarks SET settings = :body"), {"body": orjson.dumps(settings).decode()})
        make_old(db)
    migrate(either_context.store)
    assert task.benchmark() == before
    assert before["quota"] == {**UNLIMITED, "comparisons_per_day": 20}


def test_documents_without_a_comparison_stay_as_they_are(either_context):
    store = either_context.store
    now = either_context.now()
    with store.write() as db:
        for name in ("job_1", "job_2"):
            runs.add(db, name, "job", "live", now, "tok_a")
            jobs.add(db, name, "tok_a", {})
        # a text that only looks like an old name, and a comparison that already has the new ones
        jobs.save_answer(db, "job_1", "succeeded", b'{"results":{"metrics":{"a":"\\"trials\\"","trials":1}}}', "one")
        comparison = b'{"systems":[{"rank_interval":[1,1]}],"signature":{"shuffles":2}}'
        body = b'{"results":{"comparisons":[' + comparison + b'],"trials":3}}'
        jobs.save_answer(db, "job_2", "succeeded", body, "two")
        for statement in OLD_SHAPE:
            db.execute(text(statement))
    migrate(store)
    assert jobs.answer(store, "job_1").etag == "one"
    assert (jobs.answer(store, "job_2").document, jobs.answer(store, "job_2").etag) == (body, "two")
