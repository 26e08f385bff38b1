"""Unknown names get the known one that was probably meant, if the caller may know it."""

from __future__ import annotations

import pytest

from service.caller import Caller
from service.errors import NotFound, Unprocessable
from service.usecases.access import benchmark_of
from service.usecases.benchmarks.benchmarks import part_input
from service.usecases.benchmarks.teams import rotate_token
from service.usecases.boards.ranking import board_of
from service.usecases.status import scorer
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import BENCHMARK, RIGHT, SLUG

STRANGER = Caller(None, frozenset())
MISSPELT = SLUG + "x"


def refusal(context, caller, slug):
    with context.store.read() as db, pytest.raises(NotFound) as error:
        benchmark_of(db, slug, caller)
    return error.value.detail


def test_a_benchmark_is_suggested_to_organisers_only(task, context):
    task.make(leaderboard={"public": False})
    assert f"Did you mean {SLUG!r}?" in refusal(context, ORGANISER, MISSPELT)
    for caller in (STRANGER, task.team(), Caller("tok_x", frozenset({"submit"}), "lyon", "other")):
        assert refusal(context, caller, MISSPELT) == f"Unknown benchmark {MISSPELT!r}."


def test_a_team_is_suggested_to_organisers(task, context):
    task.make()
    task.team("lyon")
    with pytest.raises(NotFound, match=r"Did you mean 'lyon'\?"):
        rotate_token(context, ORGANISER, SLUG, "lion")
    with pytest.raises(Unprocessable) as error:
        task.submit(ORGANISER, team="lyn")
    assert "Did you mean 'lyon'?" in error.value.problems[0].detail


def test_a_part_is_suggested(task, context):
    gold = BENCHMARK["parts"]["en"]
    task.make(parts={"english": gold, "german": gold})
    with context.store.read() as db, pytest.raises(NotFound, match=r"Did you mean 'german'\?"):
        board_of(db, benchmark_of(db, SLUG), part="germn")
    with pytest.raises(NotFound, match=r"Did you mean 'english'\?"):
        part_input(context, ORGANISER, SLUG, "englsh")
    with pytest.raises(Unprocessable) as error:
        task.submit(task.team(), {"germann": RIGHT})
    assert "Did you mean 'german'?" in error.value.problems[0].detail


def test_a_scorer_is_suggested():
    with pytest.raises(NotFound, match=r"Did you mean 'parseval'\?"):
        scorer("parsval")
