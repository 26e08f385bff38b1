"""Gold is read once on a machine; what is kept of it changes no score and is deleted with the revision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from service.context import Context
from service.contract.jobs import JobRequest
from service.store import benchmarks, revisions, submissions, texts
from service.store.archive import migrate
from service.store.database import Store
from service.store.gold_files import GoldFiles
from service.usecases import checks
from service.usecases.benchmarks.benchmarks import delete_benchmark
from service.usecases.jobs import submit_job
from service.usecases.retention import Scope, purge
from service.usecases.scoring import gold, part_scorer
from service.usecases.scoring.part_scorer import Scorer
from tests.fixtures.contexts import ORGANISER, SCORER
from tests.fixtures.processes import log_lines
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG, loaded
from tests.fixtures.tasks import SECOND_PART, SLUG, Task
from treescore.core.registry import ItemInfo
from workers.sweeper import Sweeper

ITEMS = {"attributes": {"genre": ["news", "blog"]}, "blocks": ["one", "two"]}
PARTS = {"en": {"gold": GOLD_CONLLU, "items": ITEMS}, "de": {"gold": SECOND_PART}}
OUTPUTS = {"en": ONE_WRONG, "de": SECOND_PART.replace("nsubj", "obj")}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The parts whose gold was read, one after the other."""
    parts: list[str] = []
    evaluation_of = gold.evaluation_of

    def counted(*given: Any) -> Any:
        parts.append(given[3])
        return evaluation_of(*given)

    monkeypatch.setattr(gold, "evaluation_of", counted)
    return parts


@pytest.fixture
def scored(task: Task, read: list[str]) -> str:
    """A submission with two parts, whose gold was kept when it was checked."""
    task.make(parts=PARTS, metrics=["attachment", "ud"])
    submission = task.scored(task.team(), OUTPUTS)
    assert read == []
    return submission


def active(context: Context) -> revisions.Revision:
    with context.store.read() as db:
        revision = revisions.active(db, benchmarks.get(db, SLUG))
    assert revision is not None
    return revision


def result(context: Context, submission: str) -> Any:
    """All that scoring a submission again gives, but for the time."""
    with context.store.read() as db:
        stored = submissions.get(db, submission)
    found = Scorer(context, active(context)).score(stored, lambda *_: None)
    shares = {
        share: (each.document, [getattr(each.scores, of.name).tobytes() for of in fields(each.scores)])
        for share, each in found.record.shares.items()
    }
    return shares, found.record.covered, found.packed, found.sizes, found.failures


def kept_files(context: Context) -> list[Path]:
    return sorted(context.config.gold_folder.glob("*/*/*"))


def kept_revisions(context: Context) -> list[str]:
    return sorted(path.name for path in context.config.gold_folder.glob("*/*"))


def test_another_process_loads_gold_and_finds_the_same(context: Context, scored: str, read: list[str]) -> None:
    loaded = result(context, scored)
    assert result(context, scored) == loaded
    assert read == []
    fresh = result(replace(context, config=replace(context.config, gold_cache_bytes=0)), scored)
    assert read == ["en", "de"]
    assert loaded == fresh


def test_the_documents_of_gold_are_numbered_once_by_a_scorer(
    context: Context, scored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbered: list[str] = []
    stored_documents = part_scorer.stored_documents

    def counted(db: Any, revision_id: str, parts: Sequence[revisions.Part]) -> Any:
        numbered.extend(part.name for part in parts)
        return stored_documents(db, revision_id, parts)

    monkeypatch.setattr(part_scorer, "stored_documents", counted)
    with context.store.read() as db:
        stored = submissions.get(db, scored)
    scorer = Scorer(context, active(context))
    assert stored is not None
    for _ in range(2):
        scorer.score(stored, lambda *_: None)
    assert numbered == ["en", "de"]


def test_a_damaged_file_is_made_again(context: Context, scored: str, read: list[str]) -> None:
    expected = result(context, scored)
    first, second = kept_files(context)
    whole = first.read_bytes()
    for damage in (b"", b"half", second.read_bytes()):  # a file of another part is of another text
        first.write_bytes(damage)
        assert result(context, scored) == expected
        assert first.read_bytes() == whole
    assert read == ["en"] * 3


@pytest.mark.parametrize("change", ["reader", "limits", "items", "metrics"])
def test_gold_is_read_again_where_anything_differs_that_reading_depends_on(
    context: Context, scored: str, read: list[str], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision = active(context)
    spec = Scorer(context, revision).scoring.spec
    with context.store.write() as db:
        [part, _] = revisions.parts_of(db, revision.id)
        if change == "items":
            texts.drop(db, [revision.id])
            texts.put(db, revision.id, {"parts/en": GOLD_CONLLU.encode()})
    if change == "reader":
        monkeypatch.setattr(gold, "reader_digest", lambda: "sha256:older")
    elif change == "limits":
        context = replace(context, config=replace(context.config, max_words=50))
    elif change == "metrics":
        revision = replace(revision, scoring={**revision.scoring, "metrics": ["attachment"]})
    with context.store.read() as db:
        digest = gold.stored_digests(db, revision, [part], spec)[part.name]
    known = gold.known_gold(context, revision, part, spec, digest)
    assert read == ["en"]
    assert (known.items == ItemInfo()) == (change == "items")


@pytest.mark.parametrize("outputs", [OUTPUTS, None], ids=["with submissions", "without"])
def test_deleting_a_benchmark_deletes_its_files(context: Context, task: Task, outputs: Any) -> None:
    task.make(parts=PARTS)
    assert len(kept_files(context)) == 2
    if outputs is None:
        delete_benchmark(context, ORGANISER, SLUG)
    else:
        task.scored(task.team(), outputs)
        purge(context, Scope(benchmark=SLUG))
    assert kept_files(context) == []


def test_files_of_gold_that_was_deleted_elsewhere_are_swept(context: Context, scored: str) -> None:
    elsewhere = replace(context, config=replace(context.config, gold_cache_dir="/nonexistent"))
    purge(elsewhere, Scope(benchmark=SLUG))
    assert len(kept_files(context)) == 2
    Sweeper(context).clean_up()
    assert kept_revisions(context) == []


def test_a_scorer_sweeps_before_its_first_use_of_gold(context: Context, scored: str) -> None:
    unknown = gold.gold_files_of(context).folder / "rev_unknown"
    unknown.mkdir()
    (unknown / "0.gold").touch()
    result(context, scored)
    assert kept_revisions(context) == [active(context).id]


def test_a_worker_that_cannot_write_says_so_once_for_the_processes_that_it_forks(
    context: Context, scored: str, read: list[str]
) -> None:
    context.config.data_dir.joinpath("file").touch()
    context = replace(context, config=replace(context.config, gold_cache_dir=str(context.config.data_dir / "file")))
    with log_lines() as lines:
        gold.prepare_gold(context)
        for _ in range(2):
            result(context, scored)
    assert [line["event"] for line in lines] == ["gold-not-kept"]
    assert read == ["en", "de"] * 2


def test_files_of_a_superseded_revision_are_swept(context: Context, task: Task, scored: str) -> None:
    before = active(context).id
    task.revise({"en": {"gold": GOLD_CONLLU}, "de": {"gold": SECOND_PART}})
    after = active(context).id
    gold.sweep_gold_files(context)
    assert before != after
    assert kept_revisions(context) == [after]
    gold.sweep_gold_files(replace(context, config=replace(context.config, gold_cache_bytes=0)))
    assert kept_files(context) == []  # as where files are no longer kept


def test_two_stores_with_one_folder_leave_each_others_files_alone(
    context: Context, scored: str, tmp_path: Path
) -> None:
    config = replace(context.config, data_dir=tmp_path / "other", gold_cache_dir=str(context.config.data_dir))
    store = Store(f"sqlite:///{tmp_path / 'other.db'}")
    migrate(store)
    other = replace(context, config=config, store=store)
    before = kept_files(context)
    assert other.config.gold_folder == context.config.gold_folder
    gold.prepare_gold(other)
    files, revision = gold.gold_files_of(other), active(context).id
    files.write(revision, 0, "sha256:key", b"gold of the other")
    GoldFiles(files.folder, 1).write(revision, 1, "sha256:key", b"beyond the limit")
    gold.drop_gold(other, [revision])
    gold.sweep_gold_files(replace(other, config=replace(other.config, gold_cache_bytes=0)))
    store.close()
    assert kept_files(context) == before != []


def test_a_file_that_is_written_after_its_gold_was_deleted_does_not_stay(
    context: Context, scored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision = active(context)
    scorer = Scorer(context, revision)
    gold.drop_gold(context, [revision.id])
    flat_bytes = gold.flat_bytes

    def deleted(*given: Any) -> bytes:
        purge(context, Scope(benchmark=SLUG))
        return flat_bytes(*given)

    monkeypatch.setattr(gold, "flat_bytes", deleted)
    scorer._evaluation(scorer.parts[0])
    assert kept_files(context) == []


def test_gold_of_jobs_is_not_kept(context: Context, work: Callable[[], int]) -> None:
    request = {"format": "conllu", "gold": GOLD_CONLLU, "metrics": ["attachment"]}
    submit_job(context, SCORER, loaded(JobRequest, {**request, "systems": [{"name": "a", "output": ONE_WRONG}]}))
    work()
    assert kept_files(context) == []


def test_a_folder_that_others_can_use_is_found_and_not_used(context: Context, scored: str, read: list[str]) -> None:
    for folder in (context.config.gold_folder, gold.gold_files_of(context).folder):
        folder.chmod(0o755)
    [finding] = [each for each in checks.file_mode_findings(context) if each.subject == str(context.config.gold_folder)]
    assert finding.code == "file-mode"
    result(context, scored)
    assert read == ["en", "de"]
