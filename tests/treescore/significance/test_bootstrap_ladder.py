"""The Ladder moves where a difference is more than its noise, in the right direction, and not for a search."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treescore.core.scores import ratio_score
from treescore.significance.bootstrap import beats_shown, paired_error
from treescore.significance.units import sample_of

NAMES = ("right", "words")
SCORE = ratio_score("accuracy", "Right words of all words.", "right", "words")
ERROR = ratio_score("error", "Wrong words of all words.", "right", "words", one_minus=True, higher_is_better=False)


def rows(right, words=None):
    """Counts of sentences of one word each, or of so many."""
    right = np.asarray(right, np.int64)
    return np.stack([right, np.ones_like(right) if words is None else np.asarray(words, np.int64)], axis=1)


def error_of(new, shown, parts=None):
    return paired_error(sample_of(SCORE, NAMES, [new, shown], None, parts))


def test_of_a_mean_it_is_the_standard_error_of_the_paired_differences():
    rng = np.random.default_rng(1)
    new, shown = rng.integers(0, 2, (2, 50))
    expected = (new - shown).std(ddof=1) / math.sqrt(50)
    assert error_of(rows(new), rows(shown)) == pytest.approx(expected, rel=1e-12)


def test_the_mean_of_parts_has_the_error_of_two_strata():
    rng = np.random.default_rng(2)
    new, shown = rng.integers(0, 2, (2, 50))
    parts = np.repeat([0, 1], [20, 30])
    each = [(new - shown)[parts == part] for part in (0, 1)]
    expected = math.sqrt(sum(part.var(ddof=1) / len(part) for part in each)) / 2
    assert error_of(rows(new), rows(shown), parts) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("gained", "lost", "moves"), [(3, 0, True), (4, 2, False), (9, 3, True), (2, 2, False), (0, 3, False)]
)
def test_it_moves_for_more_than_its_noise(gained, lost, moves):
    shown = np.array([0] * gained + [1] * lost + [1] * 40)
    new = np.array([1] * gained + [0] * lost + [1] * 40)
    assert beats_shown(SCORE, NAMES, rows(new), rows(shown)) is moves


def test_where_lower_is_better_it_moves_down():
    worse, better = rows([0] * 10 + [1] * 10), rows([1] * 18 + [0] * 2)
    assert beats_shown(ERROR, NAMES, better, worse)
    assert not beats_shown(ERROR, NAMES, worse, better)


def test_one_sentence_never_moves_it_however_long():
    words = [1, 2, 3, 50]
    for at in range(4):
        right = [0, 1, 2, 10]
        better = list(right)
        better[at] = words[at]
        assert not beats_shown(SCORE, NAMES, rows(better, words), rows(right, words))


def test_a_defined_score_beats_an_undefined_one():
    empty, some = rows([0, 0], [0, 0]), rows([0, 1], [1, 1])
    assert beats_shown(SCORE, NAMES, some, empty)
    assert not beats_shown(SCORE, NAMES, empty, some)


def test_climbing_by_single_sentences_does_not_move_the_shown_best():
    rng = np.random.default_rng(3)
    gold = rng.integers(0, 2, 300)
    shown = rng.integers(0, 2, 300)
    climbs = 0
    for at in rng.permutation(300)[:100]:
        mutant = shown.copy()
        mutant[at] = 1 - mutant[at]
        climbs += int((mutant == gold).mean() > (shown == gold).mean())
        assert not beats_shown(SCORE, NAMES, rows(mutant == gold), rows(shown == gold))
    assert climbs > 30


def test_random_outputs_move_it_rarely_and_their_vote_is_no_better_on_new_text():
    """Hardt's attack on a public board: send random outputs, and let those vote that the board shows to be better."""
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 2, 400)
    outputs = rng.integers(0, 2, (200, 400))
    right = outputs == gold
    exact = [number for number in range(200) if right[number].mean() > 0.5]
    shown = [0]
    for number in range(1, 200):
        if beats_shown(SCORE, NAMES, rows(right[number]), rows(right[shown[-1]])):
            shown.append(number)
    votes = [((outputs[chosen].mean(axis=0) > 0.5) == gold).mean() for chosen in (exact, shown)]
    assert votes[0] > 0.6
    assert len(shown) <= 6
    assert votes[1] < 0.6
