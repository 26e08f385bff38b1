"""Long polls are counted by caller and in all; the tokens of organisers are known by their digests."""

from __future__ import annotations

from service.config import load_config
from service.server.connection import Organisers, ServerState, Waits


def test_a_caller_has_so_many_long_polls_and_all_together_a_quarter_of_the_threads() -> None:
    waits = Waits(4, 8)
    assert [waits.take("a") for _ in range(5)] == [True] * 4 + [False]
    assert [waits.take(name) for name in "bbcccd"] == [True] * 4 + [False] * 2
    waits.give("a")
    assert waits.total == 7
    assert waits.take("d")


def test_a_quarter_of_few_threads_is_one() -> None:
    state = ServerState(load_config({"TREESCORE_THREADS": "2"}))
    assert state.waits.take("a")
    assert not state.waits.take("b")


def test_an_organise_token_is_known_until_it_is_refused() -> None:
    organisers = Organisers()
    organisers.note("ts_one", organiser=True)
    assert organisers.knows("ts_one")
    organisers.note("ts_one", organiser=False)
    assert not organisers.knows("ts_one")
