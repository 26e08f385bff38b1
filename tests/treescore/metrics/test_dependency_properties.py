"""What must hold of attachment, ud and enhanced whatever the trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.treescore.metrics.dependencies import Sentence, pairs, resegmented, text_of
from treescore.core.jit import forced
from treescore.core.registry import Outcome
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.shared.segmentation import common_subsequence
from treescore.metrics.ud import ROWS

SPEC = parse_spec({"format": "conllu", "metrics": ["attachment", "ud", "enhanced"]})
UD = parse_spec({"format": "conllu", "metrics": ["ud", "enhanced"]})
TABLES = {entry.key: entry.metric.table for entry in SPEC.entries}


def evaluate(gold: list[Sentence], system: list[Sentence]) -> dict[str, Outcome]:
    return Evaluation(SPEC, text_of(gold)).score(text_of(system))[0]


def unsubtyped(sentences: list[Sentence]) -> list[Sentence]:
    return [
        Sentence(tuple((*row[:6], row[6].partition(":")[0], *row[7:]) for row in sentence.rows))
        for sentence in sentences
    ]


@given(st.lists(pairs(), min_size=1, max_size=3))
def test_ud_on_golds_words_is_attachment_without_subtypes(both: list[tuple[Sentence, Sentence]]) -> None:
    gold, system = (unsubtyped(list(side)) for side in zip(*both, strict=True))
    outcomes = evaluate(gold, system)
    plain = dict(zip(TABLES["attachment"].count_names, outcomes["attachment"].totals.tolist(), strict=True))
    ud = dict(zip(TABLES["ud"].count_names, outcomes["ud"].totals.tolist(), strict=True))
    assert (ud["las.correct"], ud["uas.correct"], ud["las.gold"], ud["las.system"]) == (
        plain["correct_both"],
        plain["correct_head"],
        plain["tokens"],
        plain["tokens"],
    )


@given(resegmented())
def test_counts_under_other_segmentation(both: tuple[list[Sentence], list[Sentence]]) -> None:
    gold, system = both
    forward = Evaluation(UD, text_of(gold)).score(text_of(system))[0]
    backward = Evaluation(UD, text_of(system)).score(text_of(gold))[0]
    names = TABLES["ud"].count_names
    counts = dict(zip(names, forward["ud"].totals.tolist(), strict=True))
    mirrored = dict(zip(names, backward["ud"].totals.tolist(), strict=True))
    assert len(forward["ud"].rows) == len(gold)
    assert (forward["ud"].rows >= 0).all()
    assert counts["words.gold"] == sum(len(sentence.rows) for sentence in gold)
    assert counts["words.system"] == sum(len(sentence.rows) for sentence in system)
    assert counts["sentences.system"] == len(system)
    for row in ROWS:
        assert counts[f"{row}.correct"] <= min(counts[f"{row}.gold"], counts[f"{row}.system"])
    for row in ("tokens", "sentences"):
        assert counts[f"{row}.correct"] == mirrored[f"{row}.correct"]
    assert counts["las.correct"] <= counts["uas.correct"] <= counts["words.correct"] == counts["uas.aligned"]
    assert (forward["enhanced"].rows >= 0).all()


@pytest.mark.slow
@given(resegmented())
def test_scores_are_the_same_with_and_without_the_compiler(both: tuple[list[Sentence], list[Sentence]]) -> None:
    gold, system = both
    found = []
    for setting in ("always", "never"):
        with forced(setting):
            outcomes = Evaluation(UD, text_of(gold)).score(text_of(system))[0]
        found.append({key: outcome.rows.tolist() for key, outcome in outcomes.items()})
    assert found[0] == found[1]


def plain_reading(first: list[int], second: list[int]) -> list[list[int]]:
    """The table of longest common subsequences, and the original's way through it."""
    table = np.zeros((len(first) + 1, len(second) + 1), int)
    for g in reversed(range(len(first))):
        for s in reversed(range(len(second))):
            here = table[g + 1, s + 1] + 1 if first[g] == second[s] else 0
            table[g, s] = max(here, table[g + 1, s], table[g, s + 1])
    found = []
    g = s = 0
    while g < len(first) and s < len(second):
        if first[g] == second[s]:
            found.append([g, s])
            g, s = g + 1, s + 1
        elif table[g, s] == table[g + 1, s]:
            g += 1
        else:
            s += 1
    return found


@given(
    st.integers(1, 4).flatmap(lambda most: st.tuples(*[st.lists(st.integers(0, most), min_size=1, max_size=90)] * 2))
)
def test_common_subsequences_are_read_as_from_the_table(lists: tuple[list[int], list[int]]) -> None:
    first, second = lists
    assert [*map(list, common_subsequence(first, second))] == plain_reading(first, second)
