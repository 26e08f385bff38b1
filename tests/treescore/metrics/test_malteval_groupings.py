"""attachment's slices under MaltEval's names: by errors nearby, by several attributes, by its metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import METRICS as SCORERS
from treescore.core.registry import Outcome
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.shared.attachment_slices import (
    ERROR_GROUPINGS,
    MAX_GROUPINGS,
    MAX_ROWS,
    METRICS,
    SPAN,
    clustering,
    clustering_2,
    pre_and_post,
)
from treescore.metrics.shared.groupings import GROUPINGS

MALTEVAL = [
    *("Token", "Wordform", "Lemma", "Cpostag", "Postag", "Feats", "Deprel", "Frame", "Sentence", "SentenceLength"),
    *("RelationLength", "GroupedRelationLength", "StartWordPosition", "EndWordPosition", "RelativeWordPosition"),
    *("ArcDirection", "ArcDepth", "ArcProjectivity", "BranchingFactor", "PreAndPost", "Clustering", "Clustering2"),
]


def evaluate(gold: str, system: str, **params: Any) -> Outcome:
    spec = parse_spec({"format": "conllu", "metrics": [{"name": "attachment", "params": params}]})
    return Evaluation(spec, gold.encode()).score(system.encode())[0]["attachment"]


def problems_of(**params: Any) -> list[tuple[str, str, str]]:
    with pytest.raises(InputError) as caught:
        parse_spec({"format": "conllu", "metrics": [{"name": "attachment", "params": params}]})
    return [(problem.code, problem.pointer, problem.detail) for problem in caught.value.problems]


def tree(*words: tuple[str, str, int, str]) -> str:
    rows = [
        f"{n}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t_\n"
        for n, (form, upos, head, deprel) in enumerate(words, 1)
    ]
    return "".join(rows) + "\n"


def counts_of(outcome: Outcome, grouping: str, *names: str) -> dict[Any, list[int]]:
    return {row["value"]: [row["counts"][name] for name in names] for row in outcome.slices()[grouping]}


# Under LAS right, wrong, right, wrong, wrong, wrong; under UAS the fourth word is right too; one relation is wrong.
GOLD = tree(*zip("abcdef", "DNVDNP", (0, 5, 2, 1, 1, 5), "rxyxyy", strict=True)) + tree(("a", "D", 0, "r"))
SYSTEM = tree(*zip("abcdef", "DNVDNP", (0, 1, 2, 1, 4, 6), "rxyyyy", strict=True)) + tree(("a", "D", 0, "r"))
RIGHT = ("gold", "gold_correct_both", "gold_correct_head", "gold_correct_label")


def test_every_name_of_malteval_is_offered() -> None:
    slices = evaluate(GOLD, SYSTEM).slices()
    assert set(MALTEVAL) <= set(slices)
    assert len(slices) == len(list(slices))
    params = SCORERS["attachment"].catalogue()["params"]["properties"]
    assert all(name in params["slice_metrics"]["description"] for name in METRICS)
    assert all(name in params["groupings"]["description"] for name in GROUPINGS)
    assert all(name in params["slice_metrics"]["description"] for name in ERROR_GROUPINGS)


def test_words_before_and_after_the_first_error_of_a_sentence() -> None:
    outcome = evaluate(GOLD, SYSTEM)
    assert counts_of(outcome, "PreAndPost", *RIGHT) == {"First": [3, 2, 2, 3], "Follow": [4, 1, 2, 3]}
    by_label = evaluate(GOLD, SYSTEM, slice_metrics="LA")
    assert counts_of(by_label, "PreAndPost", *RIGHT) == {"First": [5, 3, 4, 4], "Follow": [2, 0, 0, 2]}


def test_words_by_their_distance_from_the_last_right_one() -> None:
    outcome = evaluate(GOLD, SYSTEM)
    assert counts_of(outcome, "Clustering2", *RIGHT[:2]) == {1: [4, 2], 2: [2, 1], 3: [1, 0]}


def test_words_around_right_ones() -> None:
    outcome = evaluate(GOLD, SYSTEM)
    expected = {-2: [1, 1], -1: [1, 0], 1: [2, 0], 2: [2, 1], 3: [2, 0], 4: [1, 0], 5: [1, 0]}
    assert counts_of(outcome, "Clustering", *RIGHT[:2]) == expected
    assert list(counts_of(outcome, "Clustering")) == sorted(expected)
    row = outcome.slices()["Clustering"][3]
    assert (row["scores"]["las"], row["scores"]["label_accuracy"]) == (0.5, 1.0)


def test_words_that_do_not_score_are_as_if_they_were_not_there() -> None:
    gold = tree(("a", "D", 3, "x"), (",", "P", 1, "p"), ("c", "V", 0, "r"))
    system = tree(("a", "D", 3, "x"), (",", "P", 3, "p"), ("c", "V", 0, "r"))
    outcome = evaluate(gold, system, punctuation=False)
    assert counts_of(outcome, "Clustering", *RIGHT[:2]) == {-1: [1, 1], 1: [1, 1]}
    assert counts_of(outcome, "PreAndPost", *RIGHT[:2]) == {"First": [2, 2], "Follow": [0, 0]}
    # neighbours of a complex grouping are those of the text
    around = evaluate(gold, system, punctuation=False, groupings=["Cpostag@-1"])
    assert counts_of(around, "Cpostag@-1", "gold") == {"^@-1": [1], '"P"@-1': [1]}


@given(st.lists(st.lists(st.booleans(), max_size=25), max_size=6))
def test_groupings_by_errors_are_what_their_definitions_say(sentences: list[list[bool]]) -> None:
    right = np.array([bit for sentence in sentences for bit in sentence], bool)
    owners = np.array([number for number, sentence in enumerate(sentences) for _ in sentence], np.int64)
    follow, distances, pairs = [], [], {}
    for sentence in sentences:
        for place, bit in enumerate(sentence):
            follow.append(int(not all(sentence[:place])))
            distances.append(next((k for k in range(1, place + 1) if sentence[place - k]), place + 1))
            for other in range(len(sentence)) if bit else ():
                if 0 < abs(other - place) <= SPAN:
                    pairs.setdefault(other - place, []).append(sentence[other])
    assert pre_and_post(right, owners).gold.tolist() == follow
    found = clustering_2(right, owners)
    assert found.values(found.gold).documents(0, len(distances)) == distances
    assert clustering(right, owners, [right]).tolist() == [
        [distance, len(pairs[distance]), sum(pairs[distance])] for distance in sorted(pairs)
    ]


def test_groupings_by_several_attributes() -> None:
    gold = tree(("a", "D", 2, "x"), ("b", "N", 0, "r"), ("c", "D", 4, "x"), ("b", "N", 2, "y"))
    system = tree(("a", "D", 2, "x"), ("b", "N", 0, "r"), ("c", "D", 2, "x"), ("b", "N", 3, "x"))
    names = ["Cpostag@-1#Wordform@0", "Deprel#ArcDirection", "Cpostag,Deprel@+1", "Wordform@0"]
    outcome = evaluate(gold, system, groupings=names)
    columns = ("gold", "system", "correct", "gold_correct_both", "system_correct_both")
    assert counts_of(outcome, names[0], *columns) == {
        '"D"@-1;"b"@0': [2, 2, 2, 1, 1],
        '^@-1;"a"@0': [1, 1, 1, 1, 1],
        '"N"@-1;"c"@0': [1, 1, 1, 0, 0],
    }
    assert counts_of(outcome, names[1], *columns) == {
        '"x"@0;"right"@0': [2, 1, 1, 1, 1],
        '"r"@0;"to_root"@0': [1, 1, 1, 1, 1],
        '"x"@0;"left"@0': [0, 2, 0, 0, 0],
        '"y"@0;"left"@0': [1, 0, 0, 0, 0],
    }
    assert counts_of(outcome, names[2], "gold", "system") == {
        '"D","x"@1': [1, 1],
        "$,$@1": [1, 1],
        '"N","r"@1': [1, 1],
        '"N","x"@1': [0, 1],
        '"N","y"@1': [1, 0],
    }
    assert counts_of(outcome, names[3], "gold") == {'"b"@0': [2], '"a"@0': [1], '"c"@0': [1]}


def test_a_text_and_a_list_name_the_same_groupings() -> None:
    text = evaluate(GOLD, SYSTEM, groupings="Deprel;Cpostag@-1#Cpostag; Wordform@1").slices()
    several = evaluate(GOLD, SYSTEM, groupings=["Cpostag@-1#Cpostag", "Wordform@1;Deprel"]).slices()
    assert list(text)[-2:] == list(several)[-2:] == ["Cpostag@-1#Cpostag", "Wordform@1"]
    assert text["Wordform@1"] == several["Wordform@1"]


def test_a_place_far_outside_is_outside_for_every_word() -> None:
    outcome = evaluate(GOLD, SYSTEM, groupings="Wordform@-100#Wordform@100")
    assert counts_of(outcome, "Wordform@-100#Wordform@100", "gold") == {"^@-100;$@100": [7]}


@given(st.data())
def test_counts_of_every_grouping_sum_to_the_total(data: st.DataObject) -> None:
    def side(lengths: list[int]) -> str:
        return "".join(
            tree(*(("abc"[n % 3], "DN"[n % 2], data.draw(st.integers(0, size)), data.draw(st.sampled_from("xyz")))
                   for n in range(size)))
            for size in lengths
        )  # fmt: skip

    lengths = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    attribute = st.tuples(st.sampled_from(sorted(GROUPINGS)), st.integers(-3, 3))
    parts = st.lists(attribute.map(lambda one: f"{one[0]}@{one[1]}"), min_size=1, max_size=3).map("#".join)
    names = data.draw(st.lists(parts, max_size=3))
    outcome = evaluate(side(lengths), side(lengths), groupings=names, slice_metrics=list(METRICS))
    slices = outcome.slices()
    tokens, head, label, both = outcome.totals.tolist()[:4]
    for name in set(slices) - {"Clustering"}:
        rows = [row["counts"] for row in slices[name]]
        sums = {count: sum(row[count] for row in rows) for count in rows[0]}
        for one in ("gold", "system"):
            assert sums[one] == tokens, name
            expected = {
                "LAS": both, "BothRight": both, "UAS": head, "HeadRight": head, "LA": label, "LabelRight": label,
                "AnyRight": head + label - both, "BothWrong": tokens - head - label + both,
                "LabelWrong": tokens - label, "HeadWrong": tokens - head, "AnyWrong": tokens - both,
            }  # fmt: skip
            assert {metric: sums[f"{one}_correct_{metric}"] for metric in expected} == expected, name


def test_rows_by_malteval_metrics() -> None:
    names = ["AnyRight", "DirectionRight", "HeadToChildDistanceRight", "GroupedHeadToChildDistanceRight", "self"]
    outcome = evaluate(GOLD, SYSTEM, slice_metrics=names)
    (row,) = outcome.slices()["sentence_length"]
    # directions: 2 right -> left, 6 left -> self; distances: 3 -> 1 from 2, 4 -> 1 from 5, 1 -> 0 from 6
    assert [row["counts"][f"gold_correct_{name}"] for name in names] == [7, 5, 4, 5, 3]
    assert row["scores"]["DirectionRight"] == row["scores"]["system_DirectionRight"] == 5 / 7
    directions = counts_of(outcome, "ArcDirection", "correct", "gold_correct_self", "gold_correct_DirectionRight")
    assert all(len(set(found)) == 1 for found in directions.values())
    relations = counts_of(outcome, "Deprel", "gold_correct_self", "gold_correct_label")
    assert all(own == label for own, label in relations.values())


def test_rows_say_nothing_of_metrics_that_were_not_named() -> None:
    plain = evaluate(GOLD, SYSTEM).slices()["Deprel"][0]
    named = evaluate(GOLD, SYSTEM, slice_metrics=["UAS"]).slices()["Deprel"][0]
    assert set(named["counts"]) - set(plain["counts"]) == {"gold_correct_UAS", "system_correct_UAS"}
    assert set(named["scores"]) - set(plain["scores"]) == {"UAS", "system_UAS"}


def test_a_text_without_scoring_words_has_no_groups() -> None:
    gold = tree((".", "P", 0, "r"))
    slices = evaluate(gold, gold, punctuation=False, groupings="Deprel@-1", slice_metrics="self").slices()
    assert [slices[name] for name in ("Clustering", "Clustering2", "Deprel@-1")] == [[], [], []]
    assert [row["counts"]["gold"] for row in slices["PreAndPost"]] == [0, 0]


def test_the_rarest_rows_of_a_complex_grouping_are_summed() -> None:
    gold = "".join(tree((f"w{n}", "X", 0, "r")) for n in range(MAX_ROWS + 100))
    rows = evaluate(gold, gold, groupings=["Wordform@0#Cpostag@0"]).slices()["Wordform@0#Cpostag@0"]
    assert (len(rows), rows[-1]["value"], rows[-1]["counts"]["gold"]) == (MAX_ROWS + 1, None, 100)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Wordfrom", "unknown-grouping"),
        ("", "unknown-grouping"),
        ("Cpostag@-1#", "unknown-grouping"),
        ("Cpostag@-1#Wordfrom@0", "unknown-grouping"),
        ("Cpostag,@1", "unknown-grouping"),
        ("Cpostag @1", "unknown-grouping"),
        ("Cpostag@", "bad-grouping"),
        ("Cpostag@x", "bad-grouping"),
        ("Cpostag@1@2", "bad-grouping"),
        ("Cpostag@٣", "bad-grouping"),
        ("Cpostag@101", "bad-grouping"),
        ("Cpostag@99999999999999999999", "bad-grouping"),
        ("PreAndPost@-1", "bad-grouping"),
        ("Cpostag#Clustering", "bad-grouping"),
        ("#".join(["Cpostag"] * 9), "bad-grouping"),
    ],
)
def test_a_bad_grouping_is_an_error_of_the_request(name: str, code: str) -> None:
    assert [(found, pointer) for found, pointer, _ in problems_of(groupings=["Deprel", name])] == [
        (code, "/metrics/0/params/groupings/1")
    ]
    assert [(found, pointer) for found, pointer, _ in problems_of(groupings=f"Deprel;{name}")] == [
        (code, "/metrics/0/params/groupings")
    ]


def test_what_there_is_is_told() -> None:
    ((_, _, detail),) = problems_of(groupings="Wordfrom@0")
    assert all(name in detail for name in (*MALTEVAL, "upos", "Cpostag@-1#Wordform@0", "(in 'Wordfrom@0')"))
    ((code, pointer, detail),) = problems_of(slice_metrics=["LAS", "LAs"])
    assert (code, pointer) == ("unknown-slice-metric", "/metrics/0/params/slice_metrics/1")
    assert all(name in detail for name in METRICS)
    assert len(problems_of(groupings=["A", "B"], slice_metrics="C")) == 3


def test_groupings_of_one_request_are_bounded() -> None:
    many = [f"Cpostag@{offset}" for offset in range(MAX_GROUPINGS + 1)]
    for named in (many, ";".join(many)):
        assert [found[:2] for found in problems_of(groupings=named)] == [
            ("too-many-groupings", "/metrics/0/params/groupings")
        ]
    for named, below in ((["Deprel"] * 65, ""), ("x" * 20_000, ""), (["x" * 300], "/0"), ([3], "/0"), (3, "")):
        assert [found[:2] for found in problems_of(groupings=named)] == [
            ("bad-parameter", "/metrics/0/params/groupings" + below)
        ]


def test_simple_groupings_may_be_named_though_they_are_there() -> None:
    assert list(evaluate(GOLD, SYSTEM, groupings=MALTEVAL).slices()) == list(evaluate(GOLD, SYSTEM).slices())
