"""McNemar's test against binomial sums, and what it says of whole sentences, documents and tokens."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from treescore.core.registry import TokenBits
from treescore.core.scores import Score, ratio_score
from treescore.errors import InputError
from treescore.significance import Candidate, Settings, compare
from treescore.significance.other_tests import mcnemar

KINDS = ("exact", "mid-p", "chi2", "chi2-corrected")


def mass(right: int, total: int) -> float:
    return math.comb(total, right) / 2**total


def test_mid_p_agrees_with_binomial_sums(golden: Any) -> None:
    for case in golden("inference")["mcnemar"]["cases"]:
        b, c = case["b"], case["c"]
        for found in (mcnemar(b, c), mcnemar(c, b)):
            assert found["mid_p"] == pytest.approx(case["mid_p"], rel=1e-9)


NAMES = ("matched", "gold", "system")
RECALL = ratio_score("recall", "recall", "matched", "gold")
ERROR = ratio_score("error", "error", "matched", "gold", one_minus=True, higher_is_better=False)


def rows(matched: list[int]) -> np.ndarray:
    size = np.full(len(matched), 4)
    return np.array([matched, size, size]).T


# A has the better score, B more sentences that are wholly right
A, B = rows([3] * 10), rows([4] * 6 + [0] * 4)


def asked(score: Score, *systems: np.ndarray, **settings: Any) -> dict[str, Any]:
    candidates = [Candidate(chr(65 + place), (counts,)) for place, counts in enumerate(systems)]
    return compare("m.s", score, NAMES, candidates, Settings(resamples=200, **settings))


@pytest.mark.parametrize("score", [RECALL, ERROR])
def test_the_winner_has_more_sentences_right_whatever_the_score_says(score: Score) -> None:
    document = asked(score, A, B, test="mcnemar")
    pair = document["pairs"][0]
    assert (pair["score_a"] > pair["score_b"]) == score.higher_is_better
    assert pair["difference"] == pair["score_a"] - pair["score_b"]
    assert pair["difference_tested"] == -0.6
    assert pair["better"] == "b"
    assert pair["significant"] is True
    assert [(system["name"], system["rank"]) for system in document["systems"]] == [("B", 1), ("A", 2)]
    assert document["rank_ranges"] == [[1, 1], [2, 2]]
    assert document["clusters"]["cluster"] == [1, 2]
    other = asked(score, A, B)
    assert other["pairs"][0]["better"] == "a"
    assert other["pairs"][0]["difference_tested"] is None


def test_as_many_right_sentences_are_no_difference_whatever_the_score_says() -> None:
    a, b = rows([4, 4, 0, 3, 0, 0]), rows([0, 0, 4, 0, 4, 0])
    document = asked(RECALL, a, b, test="mcnemar")
    pair = document["pairs"][0]
    assert pair["difference"] > 0
    assert (pair["difference_tested"], pair["better"], pair["p"]) == (0.0, None, 1.0)
    assert [system["rank"] for system in document["systems"]] == [1, 1]


def test_tokens_right_decide_where_tokens_are_the_units() -> None:
    offsets = np.array([0, 10, 20])
    bits = [np.arange(20) < 12, np.arange(20) < 8]
    candidates = [
        Candidate(name, (counts[:2],), TokenBits(right, offsets))
        for name, counts, right in zip("AB", (B, A), bits, strict=True)
    ]
    document = compare("m.s", RECALL, NAMES, candidates, Settings(resamples=200, test="mcnemar", unit="token"))
    assert document["pairs"][0]["difference_tested"] == 0.2
    assert document["pairs"][0]["better"] == "a"


def test_tokens_of_several_runs_are_refused() -> None:
    bits = TokenBits(np.ones(4, np.bool_), np.array([0, 4]))
    candidates = [Candidate("A", (A, A)), Candidate("B", (B,), bits)]
    with pytest.raises(InputError, match="several training runs") as error:
        compare("m.s", RECALL, NAMES, candidates, Settings(test="mcnemar", unit="token"))
    assert error.value.problems[0].pointer == "/unit"


@pytest.mark.parametrize(
    "settings",
    [
        {"alternative": "greater"},
        {"alternative": "less"},
        {"alternative": "greater", "test": "mcnemar"},
        {"test": "compare_pl"},
        {"test": "bootstrap"},
    ],
)
def test_only_a_two_sided_question_ranks(settings: dict[str, Any]) -> None:
    document = asked(RECALL, A, B, **settings)
    assert (document["rank_ranges"], document["clusters"]) == (None, None)
    assert [(system["cluster"], system["rank_interval"]) for system in document["systems"]] == [(None, None)] * 2
    assert [system["rank"] for system in document["systems"]] == [1, 2]


@pytest.mark.parametrize("units", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_few_units(units: int, kind: str) -> None:
    document = asked(RECALL, A[:units], B[:units], test="mcnemar", mcnemar=kind)
    assert (document["pairs"][0]["p"] is None) == (units == 0)
