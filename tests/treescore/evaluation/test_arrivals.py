"""A board that grows, shrinks and picks anew: earlier answers are taken, and every figure is as from nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.params import Json
from treescore.evaluation.benchmark import RowDocument, Subject, still_answered
from treescore.evaluation.report import find_score
from treescore.evaluation.spec import parse_spec
from treescore.significance import Candidate, Seeds, Settings, compare
from treescore.significance.compare import _answers

SPEC = parse_spec({"format": "conllu", "metrics": ["ud"]})
ENTRY, SCORE = find_score(SPEC, "ud.las_f1")
SIZES = (12, 10)
TEAMS = 5
SUBMISSIONS = 3
MACRO = Subject(
    address="ud.las_f1",
    entry=ENTRY,
    score=SCORE,
    settings=Settings(shuffles=400, resamples=60),
    part="macro",
    parts=[("en", SIZES[0]), ("de", SIZES[1])],
    gold_digest="gold",
    picked=True,
    share=None,
)
ONE_PART = replace(MACRO, part=None, parts=[("en", sum(SIZES))])


def drawn() -> dict[str, np.ndarray]:
    """Counts of all submissions of all teams, by their names; of one team they are alike."""
    generator = np.random.default_rng(1)
    words = generator.integers(3, 30, sum(SIZES))
    found = {}
    for team in range(TEAMS):
        right = generator.binomial(words, 0.6 + 0.03 * team)
        for number in range(SUBMISSIONS):
            moved = np.clip(right - generator.integers(-1, 2, len(words)), 0, words)
            system = words + generator.integers(0, 2, len(words))
            # in the order of the columns of the score: correct, gold, system
            found[f"sub_{team}{number}"] = np.stack([moved, words, system], axis=1)
    return found


COUNTS = drawn()


def rows_of(sent: list[tuple[int, int]], withdrawn: set[int]) -> tuple[list[RowDocument], list[Candidate]]:
    """The board of the last submission of each team, picked from all that it has sent."""
    rows, candidates = [], []
    for team in sorted({team for team, _ in sent} - withdrawn):
        names = list(dict.fromkeys(f"sub_{team}{number}" for of, number in sent if of == team))
        others = names[:-1]
        known = [COUNTS[names[-1]], *(COUNTS[other] for other in others)] if others else []
        rows.append(RowDocument(name=names[-1], runs=[], considered=others or None, unknown=0))
        candidates.append(Candidate(names[-1], (COUNTS[names[-1]],), considered=tuple(known)))
    return rows, candidates


def answer(subject: Subject, rows: list[RowDocument], candidates: list[Candidate], *earlier: Any) -> dict[str, Json]:
    known = [still_answered(each, rows) for each in earlier]
    return subject.answer(candidates, None, Seeds(b"root"), [], {"systems": rows}, known)


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(0, TEAMS - 1), st.integers(0, SUBMISSIONS - 1)),
        st.tuples(st.just("withdraw"), st.integers(0, TEAMS - 1), st.just(0)),
        st.tuples(st.just("return"), st.integers(0, TEAMS - 1), st.just(0)),
    ),
    min_size=2,
    max_size=8,
)


@pytest.mark.parametrize("subject", [MACRO, ONE_PART], ids=["macro", "one part"])
@given(events=EVENTS)
def test_however_submissions_come_and_go_the_answer_is_that_of_all_at_once(subject, events):
    sent: list[tuple[int, int]] = []
    withdrawn: set[int] = set()
    earlier: list[dict[str, Json]] = []
    for what, team, number in events:
        if what == "send":
            sent.append((team, number))
        (withdrawn.add if what == "withdraw" else withdrawn.discard)(team)
        rows, candidates = rows_of(sent, withdrawn)
        earlier = [answer(subject, rows, candidates, *earlier)]
    assert earlier[0] == answer(subject, *rows_of(sent, withdrawn))


def computed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Record which pairs are tested."""
    found: list[tuple[str, ...]] = []

    def noted(question, intervals):
        found.append(tuple(candidate.name for candidate in question.candidates))
        return _answers(question, intervals)

    monkeypatch.setitem(compare.__globals__, "_answers", noted)
    return found


def test_of_one_more_submission_only_its_own_pairs_are_computed(monkeypatch):
    before = answer(ONE_PART, *rows_of([(0, 0), (1, 0), (2, 0)], set()))
    found = computed(monkeypatch)
    answer(ONE_PART, *rows_of([(0, 0), (1, 0), (2, 0), (3, 0)], set()), before)
    assert sorted(found) == [("sub_00", "sub_30"), ("sub_10", "sub_30"), ("sub_20", "sub_30")]


def test_of_a_row_that_is_picked_anew_only_p_of_those_behind_is_computed(monkeypatch):
    rows, candidates = rows_of([(0, 0), (1, 0), (2, 0)], set())
    before = answer(ONE_PART, rows, candidates)
    ahead = [pair["b"] if pair["difference"] < 0 else pair["a"] for pair in before["pairs"]]
    assert ahead == ["sub_10", "sub_20", "sub_20"]
    found = computed(monkeypatch)
    picked = {**rows[1], "considered": ["sub_11"]}
    from_two = replace(candidates[1], considered=(COUNTS["sub_10"], COUNTS["sub_11"]))
    answer(ONE_PART, [rows[0], picked, rows[2]], [candidates[0], from_two, candidates[2]], before)
    assert found == [("sub_00", "sub_10")]


def test_several_earlier_answers_are_joined(monkeypatch):
    pairs = [answer(ONE_PART, *rows_of([(first, 0), (second, 0)], set())) for first, second in ((0, 1), (0, 2), (1, 2))]
    whole = rows_of([(0, 0), (1, 0), (2, 0)], set())
    fresh = answer(ONE_PART, *whole)
    found = computed(monkeypatch)
    assert answer(ONE_PART, *whole, *pairs) == fresh
    assert found == []
