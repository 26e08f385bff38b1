"""A process of the API that has warmed up has the statements of a job, and has stored nothing."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import func, inspect, select

from service import logs
from service.contract.jobs import JobRequest
from service.store import tables
from service.store.database import Store
from service.usecases.jobs import prepare_statements, submit_job, view_job
from tests.fixtures.contexts import SCORER
from tests.fixtures.requests import DEPENDENCIES, loaded


def test_a_job_needs_no_other_statement_and_nothing_is_stored(context):
    prepare_statements(context)
    assert logs.bound() == {}
    with context.store.read() as db:
        stored = [
            db.scalar(select(func.count()).select_from(each)) for each in (tables.runs, tables.jobs, tables.texts)
        ]
    assert stored == [0, 0, 0]
    known, looked_up = set(context.store.engine._compiled_cache), set(context.store._queries)
    made = submit_job(context, SCORER, loaded(JobRequest, DEPENDENCIES))
    assert view_job(context, SCORER, made.id).state == "queued"
    assert set(context.store.engine._compiled_cache) == known
    assert set(context.store._queries) == looked_up


def test_without_a_store_nothing_is_done(context, tmp_path):
    store = Store(f"sqlite:///{tmp_path}/empty.db")
    prepare_statements(replace(context, store=store))
    assert inspect(store.engine).get_table_names() == []
