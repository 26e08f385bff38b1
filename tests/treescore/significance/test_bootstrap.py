"""Intervals by the bootstrap, asked for by name: within a fixed room, units redrawn within their part; the Ladder."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import f1_score, ratio_score
from treescore.significance import Candidate, Settings, compare
from treescore.significance.contributions import beats_shown

NAMES = ("matched", "gold", "system")
F1 = f1_score("f1", "F1", "matched", "gold", "system", "nothing")


def compared(systems: int, parts: int, units: int, **asked: Any) -> dict[str, Any]:
    generator = np.random.default_rng(11)
    gold = generator.integers(0, 9, parts * units)
    candidates = []
    for number in range(systems):
        rows = [generator.binomial(gold, 0.8), gold, gold + generator.integers(0, 2, len(gold))]
        candidates.append(Candidate(str(number), (np.stack(rows, axis=1),)))
    strata = np.repeat(np.arange(parts), units) if parts > 1 else None
    return compare("m.f1", F1, NAMES, candidates, Settings(interval="percentile", **asked), parts=strata)


def test_resamples_redraw_units_within_their_part() -> None:
    """Parts in which every unit is alike have the same score in every resample."""
    counts = np.array([[1, 2, 2]] * 3 + [[3, 4, 4]] * 5)
    settings = Settings(interval="percentile", resamples=200)
    document = compare("m.f1", F1, NAMES, [Candidate("A", (counts,))], settings, parts=np.repeat([0, 1], [3, 5]))
    ci = document["systems"][0]["ci"]
    assert (ci["low"], ci["high"], ci["method"]) == (0.625, 0.625, "percentile bootstrap")
    assert (document["signature"]["resamples"], document["signature"]["seed"]) == (200, 1)


@pytest.mark.slow
def test_a_dozen_systems_on_82_parts_stay_within_the_room() -> None:
    compared(2, 2, 2, resamples=10)
    tracemalloc.start()
    document = compared(12, 82, 2, resamples=1_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
    assert len(document["pairs"]) == 66


RATIOS = {
    lower: ratio_score("accuracy", "", "right", "words", one_minus=lower, higher_is_better=not lower)
    for lower in (False, True)
}


def rows(right: Any, words: Any = None) -> np.ndarray:
    """Counts of sentences of one word each, or of so many."""
    right = np.asarray(right, np.int64)
    return np.stack([right, np.ones_like(right) if words is None else np.asarray(words, np.int64)], axis=1)


def beats(new: np.ndarray, shown: np.ndarray, *, lower: bool = False) -> bool:
    return beats_shown(RATIOS[lower], ("right", "words"), new, shown)


@pytest.mark.parametrize(
    ("gained", "lost", "moves"), [(3, 0, True), (4, 2, False), (9, 3, True), (2, 2, False), (0, 3, False)]
)
def test_the_ladder_moves_for_more_than_a_standard_error(gained: int, lost: int, moves: bool) -> None:  # noqa: FBT001
    shown = np.array([0] * gained + [1] * lost + [1] * 40)
    new = np.array([1] * gained + [0] * lost + [1] * 40)
    assert beats(rows(new), rows(shown)) is moves
    assert beats(rows(new), rows(shown), lower=True) is moves


def test_the_ladder_does_not_move_for_one_sentence_however_long() -> None:
    words = [1, 2, 3, 50]
    for at in range(4):
        right = [0, 1, 2, 10]
        better = list(right)
        better[at] = words[at]
        assert not beats(rows(better, words), rows(right, words))


def test_a_defined_score_beats_an_undefined_one() -> None:
    empty, some = rows([0, 0], [0, 0]), rows([0, 1], [1, 1])
    assert beats(some, empty)
    assert not beats(empty, some)


def test_random_outputs_move_it_rarely_and_their_vote_is_no_better_on_new_text() -> None:
    """Hardt's attack on a public board: send random outputs, and let those vote that the board shows to be better."""
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 2, 400)
    outputs = rng.integers(0, 2, (200, 400))
    right = outputs == gold
    exact = [number for number in range(200) if right[number].mean() > 0.5]
    shown = [0]
    for number in range(1, 200):
        if beats(rows(right[number]), rows(right[shown[-1]])):
            shown.append(number)
    votes = [((outputs[chosen].mean(axis=0) > 0.5) == gold).mean() for chosen in (exact, shown)]
    assert votes[0] > 0.6
    assert len(shown) <= 6
    assert votes[1] < 0.6
