"""What a revision changes and who moves: also for a dry run, and before it is active, to organisers."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from service.caller import Caller
from service.contract.benchmarks import RevisionRequest
from service.errors import NotFound
from service.store.revisions import DRY_RUNS
from service.usecases.benchmarks.revisions import create_revision, difference
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import ANYONE, LONG, ONE_SENTENCE, RIGHT, SLUG, WRONG, Task, once, spoilt

FIXED = {"parts": {"en": {"gold": WRONG}}, "main_score": "attachment.uas"}


@once
def board(task: Task) -> Task:
    """Two parts and two teams: lyon is right in the first one, oslo would be with another gold."""
    task.make(parts={"en": {"gold": RIGHT}, "de": {"gold": LONG}})
    task.scored(task.team("lyon"), {"en": RIGHT, "de": spoilt(1)})
    task.scored(task.team("oslo"), {"en": WRONG, "de": spoilt(1)})
    return task


def revise(task: Task, **changes: Any) -> None:
    create_revision(task.context, ORGANISER, SLUG, loaded(RevisionRequest, changes))


def shown(task: Task, number: int = 2, caller: Caller = ORGANISER) -> Any:
    return orjson.loads(difference(task.context, caller, SLUG, number).body)


@pytest.mark.parametrize("dry_run", [True, False])
def test_it_says_what_changes_and_who_moves(board, dry_run):
    revise(board, **FIXED, dry_run=dry_run)
    number = DRY_RUNS + 1 if dry_run else 2
    found = shown(board, number)
    assert (found["state"], found["moved"]) == ("checking", None)
    assert found["parts"][0]["sentences_after"] is found["parts"][0]["sentences_changed"] is None
    board.work()
    found = shown(board, number)
    assert (found["revision"], found["against"], found["dry_run"]) == (number, 1, dry_run)
    assert found["state"] == ("ready" if dry_run else "active")
    assert found["settings"] == [{"name": "main_score", "before": "attachment.las", "after": "attachment.uas"}]
    assert found["parts"] == [
        {"name": "en", "change": "changed", "sentences_before": 2, "sentences_after": 2, "sentences_changed": 1}
    ]
    moved = {each["team"]: (each["rank_before"], each["rank_after"]) for each in found["moved"]}
    assert moved == {"lyon": (1, 2), "oslo": (2, 1)}
    assert all(each["score_before"] is not None and each["score_after"] is not None for each in found["moved"])


def test_parts_that_are_removed_or_of_another_length_are_counted(board):
    revise(board, parts={"de": None, "en": {"gold": ONE_SENTENCE}}, dry_run=True)
    board.work()
    assert {part.pop("name"): tuple(part.values()) for part in shown(board, DRY_RUNS + 1)["parts"]} == {
        "en": ("changed", 2, 1, 1), "de": ("removed", 24, None, 24),
    }  # fmt: skip


def test_it_is_against_the_revision_that_was_active_before_and_others_see_active_ones_alone_and_no_sizes(board):
    revise(board, **FIXED, dry_run=True)
    board.work()
    revise(board, **FIXED)
    for number in (2, DRY_RUNS + 1):
        with pytest.raises(NotFound):
            shown(board, number, ANYONE)
    board.work()
    assert shown(board, 2)["against"] == 1
    found = shown(board, 2, ANYONE)
    assert [tuple(part.values()) for part in found["parts"]] == [("en", "changed", None, None, None)]
    # gold differs in one sentence: scores before and after would tell of it
    assert found["moved"] is None
    revise(board, main_score="attachment.las")
    board.work()
    found = shown(board, 3)
    assert (found["against"], found["parts"]) == (2, [])


def test_the_first_revision_and_unknown_ones_have_none(board):
    for number in (1, 2):
        with pytest.raises(NotFound):
            shown(board, number)
