"""Each kind of damage is found and named; nothing is changed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import text

from service.contract.jobs import JobRequest
from service.contract.submissions import SubmissionRequest
from service.store.packing import pack, pack_array, unpack_array
from service.usecases.checks import Level, check
from service.usecases.jobs import delete_job, submit_job
from service.usecases.submissions import validation
from tests.fixtures.contexts import SCORER, later, work_of
from tests.fixtures.requests import DEPENDENCIES, loaded
from tests.fixtures.tasks import RIGHT, SECOND_PART, SLUG, TWO_PARTS, WRONG, Task, once


def fill(task) -> None:
    """A bit of everything: parts, a missing part, a comparison, a board, jobs, a deleted job, a validation."""
    context = task.context
    task.make(TWO_PARTS)
    lyon = task.team("lyon")
    both = [task.submit(lyon, {"en": WRONG, "de": SECOND_PART}), task.submit(lyon, {"en": RIGHT})]
    task.settle()
    task.ask(submissions=both, part="en")
    ended = submit_job(context, SCORER, loaded(JobRequest, DEPENDENCIES))[0]
    submit_job(context, SCORER, loaded(JobRequest, {**DEPENDENCIES, "systems": [{"name": "b", "output": RIGHT}]}))
    validation.validate(context, lyon, SLUG, loaded(SubmissionRequest, {"name": "x", "outputs": {"en": WRONG}}))
    task.settle()
    delete_job(context, SCORER, ended)


def codes(context, *, every: bool = True) -> set[str]:
    """What a check says is wrong."""
    return {finding.code for finding in check(context, every=every) if finding.level is Level.WRONG}


def test_a_sound_store_has_no_finding(either_context):
    fill(Task(either_context, work_of(either_context)))
    wrong = [
        each for each in check(either_context, every=True) if each.level is Level.WRONG and "file" not in each.code
    ]
    assert wrong == []
    assert codes(either_context, every=False) <= {"file-mode"}


DAMAGES = {
    "text-damaged": "UPDATE texts SET size = size + 1 WHERE digest = (SELECT min(digest) FROM texts)",
    "text-without-owner": "DELETE FROM owned_texts WHERE name = 'outputs/en'",
    "output-missing": "DELETE FROM owned_texts WHERE name = 'outputs/en'",
    "gold-missing": "DELETE FROM owned_texts WHERE name = 'parts/en'",
    "scores-missing": "DELETE FROM records",
    "scores-damaged": "DELETE FROM artifacts WHERE name = 'r1/counts/0/0'",
    "answer-missing": "UPDATE jobs SET document = NULL",
    "answer-damaged": "UPDATE jobs SET etag = 'other'",
    "artifacts-without-owner": "UPDATE artifacts SET owner = 'job_lost' WHERE name = 'r1/tokens/1/0'",
    "texts-without-owner": "UPDATE submissions SET deleted_at = created_at",
    "reference-broken": "UPDATE submissions SET team_id = 'nowhere'",
    "run-without-resource": "INSERT INTO runs (id, kind, queue, state, attempts, created_at, principal, "
    "precedence, turn) VALUES ('job_x', 'job', 'live', 'queued', 0, '2026-11-02 12:00:00', '', 0, 0)",
    "state-differs": "UPDATE submissions SET state = 'queued'",
    "scores-left-over": "UPDATE revisions SET state = 'ready'",
    "document-unreadable": "UPDATE comparisons SET document = x'00'",
}


@once
def full(task):
    fill(task)


@pytest.fixture
def filled(full, context, tmp_path):
    """A context whose store holds a bit of everything."""
    context.store.close()
    tmp_path.chmod(0o700)
    (tmp_path / "treescore.db").chmod(0o600)
    assert context.store.alive()  # so that SQLite's own files are closed to others too
    return context


def spoil(context, statement: str, **values) -> None:
    """Change rows as a disk or a hand would: no constraint is asked."""
    with context.store.engine.connect() as db:
        db.exec_driver_sql("ROLLBACK")
        db.exec_driver_sql("PRAGMA foreign_keys=OFF")
        db.exec_driver_sql("BEGIN")
        assert db.execute(text(statement), values).rowcount
        db.commit()
    context.store.close()


@pytest.mark.parametrize("code", DAMAGES)
def test_damage_is_found_and_named(filled, code):
    assert codes(filled) == set()
    spoil(filled, DAMAGES[code])
    assert code in codes(filled)


@pytest.mark.parametrize(("table", "code"), [
    ("texts", "text-unreadable"), ("artifacts", "artifact-unreadable"), ("comparisons.document", "document-unreadable"),
])  # fmt: skip
def test_one_flipped_byte_is_found(filled, table, code):
    name, _, column = table.partition(".")
    column = column or "body"
    read = f"SELECT rowid, {column} FROM {name} WHERE {column} IS NOT NULL"  # noqa: S608
    write = f"UPDATE {name} SET {column} = :body WHERE rowid = :row"  # noqa: S608
    with filled.store.read() as db:
        row = db.execute(text(read)).first()
    for at in range(5, len(row[1]), max(1, len(row[1]) // 3)):
        body = bytearray(row[1])
        body[at] ^= 0x10
        spoil(filled, write, body=bytes(body), row=row[0])
        assert codes(filled) & {code, "text-damaged"}, at


def test_a_text_replaced_by_another_is_found(filled):
    spoil(filled, "UPDATE texts SET body = :body WHERE digest = (SELECT min(digest) FROM texts)", body=pack(b"other"))
    assert codes(filled) >= {"text-damaged"}


def test_a_changed_count_is_found_by_the_score_that_does_not_follow(filled):
    with filled.store.read() as db:
        owner, name, body = db.execute(
            text("SELECT owner, name, body FROM artifacts WHERE name LIKE 'r1/counts/%' LIMIT 1")
        ).one()
    rows = unpack_array(body)
    rows[0, 0] += 1
    where = "UPDATE artifacts SET body = :body WHERE owner = :owner AND name = :name"
    spoil(filled, where, body=pack_array(rows), owner=owner, name=name)
    assert codes(filled) == {"scores-damaged"}


def test_a_damaged_page_of_the_file_is_found(filled, tmp_path):
    filled.store.close()
    file = tmp_path / "treescore.db"
    body = bytearray(file.read_bytes())
    body[3 * 4096 : 4 * 4096] = bytes(4096)
    file.write_bytes(body)
    assert "database-damaged" in codes(filled)


def test_open_files_are_named_with_what_to_do(filled, tmp_path):
    (tmp_path / "treescore.db").chmod(0o644)
    tmp_path.chmod(0o755)
    found = [each for each in check(filled, every=False) if each.code == "file-mode"]
    assert {each.subject for each in found} == {str(tmp_path), str(tmp_path / "treescore.db")}
    assert found[0].advice == f"Run: chmod go-rwx {tmp_path}"


def test_a_link_to_a_closed_directory_is_no_open_file(filled, tmp_path, tmp_path_factory):
    link = tmp_path_factory.mktemp("elsewhere") / "data"
    link.symlink_to(tmp_path)
    linked = replace(filled, config=replace(filled.config, data_dir=link))
    assert codes(linked) == set()


def test_a_run_in_no_queue_is_named_and_no_error(filled):
    submit_job(filled, SCORER, loaded(JobRequest, DEPENDENCIES))
    filled.queue.redis.flushall()
    assert not [each for each in check(filled, every=False) if each.code == "run-not-queued"]  # it is young
    found = [each for each in check(later(filled, minutes=1), every=False) if each.code == "run-not-queued"]
    assert [each.level for each in found] == [Level.WARN]


def test_what_a_killed_backup_left_is_named(filled, tmp_path):
    (tmp_path / ".one.backup.1.partial").touch()
    found = [each for each in check(filled, every=False) if each.code == "partial-file"]
    assert [each.subject for each in found] == [str(tmp_path / ".one.backup.1.partial")]


def test_a_newer_schema_is_one_finding(filled):
    spoil(filled, "UPDATE alembic_version SET version_num = '0999'")
    (found,) = check(filled, every=True)
    assert (found.code, found.level) == ("schema", Level.WRONG)
    assert "0999" in found.detail


def test_a_check_changes_nothing(filled, tmp_path):
    filled.store.close()
    before = (tmp_path / "treescore.db").read_bytes()
    codes(filled)
    filled.store.close()
    assert (tmp_path / "treescore.db").read_bytes() == before
