"""What a revision changes and who moves: also for a dry run, and before it is active, to organisers."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from service.caller import Caller
from service.errors import NotFound
from service.schemas.benchmarks import RevisionRequest
from service.usecases.benchmarks.revisions import create_revision, difference
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import ANYONE, LONG, ONE_SENTENCE, RIGHT, SLUG, WRONG, Task, spoilt

FIXED = {"parts": {"en": {"gold": WRONG}}, "main_score": "attachment.uas"}


@pytest.fixture
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
    board.settle()
    found = shown(board)
    assert (found["revision"], found["against"], found["dry_run"]) == (2, 1, dry_run)
    assert found["state"] == ("ready" if dry_run else "active")
    assert found["settings"] == [{"name": "main_score", "before": "attachment.las", "after": "attachment.uas"}]
    assert found["parts"] == [
        {"name": "en", "change": "changed", "sentences_before": 2, "sentences_after": 2, "sentences_changed": 1}
    ]
    moved = {each["team"]: (each["rank_before"], each["rank_after"]) for each in found["moved"]}
    assert moved == {"lyon": (1, 2), "oslo": (2, 1)}
    assert all(each["score_before"] is not None and each["score_after"] is not None for each in found["moved"])


def test_a_removed_part_is_named(board):
    revise(board, parts={"de": None}, dry_run=True)
    board.settle()
    assert shown(board)["parts"] == [
        {"name": "de", "change": "removed", "sentences_before": 24, "sentences_after": None, "sentences_changed": 24}
    ]


def test_a_part_of_another_length_is_counted(board):
    revise(board, parts={"en": {"gold": ONE_SENTENCE}}, dry_run=True)
    board.settle()
    part = shown(board)["parts"][0]
    assert (part["sentences_before"], part["sentences_after"], part["sentences_changed"]) == (2, 1, 1)


def test_it_is_shown_while_the_revision_is_checked_without_what_is_not_known(board):
    revise(board, **FIXED)
    found = shown(board)
    assert (found["state"], found["moved"]) == ("checking", None)
    assert found["parts"][0]["sentences_after"] is found["parts"][0]["sentences_changed"] is None


def test_it_is_against_the_revision_that_was_active_before(board):
    revise(board, **FIXED, dry_run=True)
    board.settle()
    revise(board, **FIXED)
    board.settle()
    assert shown(board, 3)["against"] == 1
    revise(board, main_score="attachment.las")
    board.settle()
    found = shown(board, 4)
    assert (found["against"], found["parts"]) == (3, [])


def test_others_see_active_revisions_alone_and_no_sizes(board):
    revise(board, **FIXED, dry_run=True)
    board.settle()
    with pytest.raises(NotFound):
        shown(board, 2, ANYONE)
    revise(board, **FIXED)
    with pytest.raises(NotFound):
        shown(board, 3, ANYONE)
    board.settle()
    found = shown(board, 3, ANYONE)
    assert found["parts"] == [
        {"name": "en", "change": "changed", "sentences_before": None, "sentences_after": None,
         "sentences_changed": None},
    ]  # fmt: skip
    # gold differs in one sentence: scores before and after would tell of it
    assert found["moved"] is None


def test_the_first_revision_and_unknown_ones_have_none(board):
    for number in (1, 2):
        with pytest.raises(NotFound):
            shown(board, number)
