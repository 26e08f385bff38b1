"""Parallel treebanks: three texts that fit each other, PTS and its parts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from treescore.core.registry import Outcome
from treescore.errors import InputError, Problem
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_format, parse_spec


def conllu(*sentences: str) -> str:
    """Sentences as `form:head:relation` words."""
    rows = []
    for sentence in sentences:
        for number, word in enumerate(sentence.split(), 1):
            form, head, relation = word.rsplit(":", 2)
            rows.append(f"{number}\t{form}\t_\tX\t_\t_\t{head}\t{relation}\t_\t_\n")
        rows.append("\n")
    return "".join(rows)


SOURCE = conllu("the:2:det dog:3:nsubj ran:0:root .:3:punct", "yes:0:root")
TARGET = conllu("le:2:det chien:3:nsubj courait:0:root .:3:punct", "oui:0:root !:1:punct")
GOLD = {"source": SOURCE, "target": TARGET, "alignment": "1-1 2-2 3-3 4p4\n1-1\n"}
SYSTEM = {
    "source": SOURCE.replace("2\tdet", "3\tdet"),
    "target": TARGET.replace("3\tpunct", "2\tpunct"),
    "alignment": "1-1 2-2 3-4\n1-1\n",
}
FORMAT = {"name": "parallel", "trees": "conllu", "alignment": "talp"}


def encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {name: text.encode() for name, text in texts.items()}


def scored(gold: Mapping[str, str], system: Mapping[str, str], form: Any = FORMAT, **params: Any) -> Outcome:
    spec = parse_spec({"format": form, "metrics": [{"name": "parallel_treebank", "params": params}]})
    return Evaluation(spec, encoded(gold)).score(encoded(system), pointer="/systems/0/output")[0]["parallel_treebank"]


def scores(outcome: Outcome, **params: Any) -> dict[str, float]:
    spec = parse_spec({"format": FORMAT, "metrics": [{"name": "parallel_treebank", "params": params}]})
    table = spec.entries[0].metric.table
    return {name: float(value) for name, value in table.values(outcome.totals).items()}


def problems(gold: Mapping[str, str], system: Mapping[str, str], form: Any = FORMAT) -> list[tuple[str, str]]:
    with pytest.raises(InputError) as caught:
        scored(gold, system, form)
    return [(problem.code, problem.pointer) for problem in caught.value.problems]


def test_the_sum_by_hand() -> None:
    """Source: 3 of 4 words but for punctuation; target: 4 of 4; A=4, S=4, A&S=3, A&P=3, so that 1 - AER is 6/8."""
    found = scores(scored(GOLD, SYSTEM))
    assert (found["source_uas"], found["target_uas"], found["aer"]) == (0.75, 1.0, 0.25)
    assert found["pts"] == pytest.approx((0.75 + 1.0 + 0.75) / 3)
    assert next(iter(found)) == "pts"


def test_punctuation_and_relations_by_choice() -> None:
    with_punctuation = scores(scored(GOLD, SYSTEM, punctuation=True))
    assert (with_punctuation["source_uas"], with_punctuation["target_uas"]) == (4 / 5, 5 / 6)
    other = {**SYSTEM, "target": TARGET.replace("nsubj", "obj")}
    labelled = scored(GOLD, other, attachment="las")
    assert scores(labelled, attachment="las")["pts"] == pytest.approx((0.75 + 0.75 + 0.75) / 3)
    assert scores(labelled)["target_las"] == 0.75


def test_weights_need_not_sum_to_one() -> None:
    outcome = scored(GOLD, SYSTEM)
    assert scores(outcome, weights=[2, 0, 2])["pts"] == pytest.approx(0.75)
    assert scores(outcome, weights={"source": 1, "target": 3, "alignment": 0})["pts"] == pytest.approx(3.75 / 4)
    for weights in ([0, 0, 0], [1, -1, 1], [1, 1]):
        with pytest.raises(InputError) as caught:
            scores(outcome, weights=weights)
        assert caught.value.problems[0].pointer.startswith("/metrics/0/params/weights")


def test_rows_are_sentence_pairs_and_items_show_what_is_wrong() -> None:
    outcome = scored(GOLD, SYSTEM)
    assert len(outcome.rows) == 2
    shown = outcome.item(0)
    assert [word["form"] for word in shown["source"]] == ["the"]
    assert shown["alignment"] == {"wrong": [[3, 4, "S"]], "missed": [[3, 3, "S"], [4, 4, "P"]]}
    assert outcome.tokens["source_uas"].bits.tolist() == [False, True, True, True]


def test_an_empty_alignment_on_both_sides_has_no_score() -> None:
    gold = {**GOLD, "alignment": "\n\n"}
    assert math.isnan(scores(scored(gold, gold))["pts"])
    assert scores(scored(gold, gold), weights=[1, 1, 0])["pts"] == 1.0


def test_alignment_formats_by_option_and_by_sentence_name() -> None:
    naacl = "s2 1 1\ns1 1 1 S\ns1 2 2 S\ns1 3 3 S\ns1 4 4 P\n"
    named = {
        **GOLD,
        "source": "# sent_id = s1\n" + SOURCE.replace("\n\n1", "\n\n# sent_id = s2\n1"),
        "alignment": naacl,
    }
    form = {"name": "parallel", "alignment": "naacl"}
    assert scored(named, named, form).totals.tolist() == scored(GOLD, GOLD).totals.tolist()
    pharaoh = {**GOLD, "alignment": "0-0 1-1 2-2 3p3\n0-0\n"}
    assert scored(pharaoh, pharaoh, "parallel").totals.tolist() == scored(GOLD, GOLD).totals.tolist()
    based = {"name": "parallel", "alignment": {"name": "pharaoh", "base": 1}}
    assert scored(GOLD, GOLD, based).totals.tolist() == scored(GOLD, GOLD).totals.tolist()


def test_every_text_tells_its_own_problems() -> None:
    assert problems(GOLD, {"source": SOURCE, "target": TARGET}) == [
        ("parallel-missing-text", "/systems/0/output/alignment")
    ]
    assert problems(GOLD, {**GOLD, "target": "x\n"}) == [("conllu-column-count", "/systems/0/output/target")]
    assert problems(GOLD, {**GOLD, "alignment": "1-1 x\n1-1\n"}) == [
        ("alignment-bad-link", "/systems/0/output/alignment")
    ]
    assert problems(GOLD, {**GOLD, "alignment": "1-1\n"}) == [
        ("parallel-sentence-count", "/systems/0/output/alignment")
    ]
    assert problems(GOLD, {**GOLD, "target": conllu("oui:0:root")}) == [
        ("parallel-sentence-count", "/systems/0/output/target")
    ]
    assert problems(GOLD, {**GOLD, "source": SOURCE.replace("dog", "cat")}) == [
        ("word-mismatch", "/systems/0/output/source")
    ]
    assert problems(GOLD, {**GOLD, "alignment": "1-1 2-2 9-1\n1-1\n"}) == [
        ("alignment-link-out-of-range", "/systems/0/output/alignment")
    ]
    assert problems({**GOLD, "alignment": "1-1 2-2 9-1\n1-1\n"}, GOLD) == [
        ("alignment-link-out-of-range", "/gold/alignment")
    ]


def test_a_wrong_base_is_warned_of_though_links_point_beyond() -> None:
    outcome = scored(GOLD, {**GOLD, "alignment": "0-0 1-1 2-2 3p3\n0-0\n"})
    assert [(warning.code, warning.pointer) for warning in outcome.warnings] == [
        ("alignment-suspicious-indices", "/alignment")
    ]


def test_only_dependency_trees_and_alignments_fit() -> None:
    for option, name in (("trees", "pharaoh"), ("alignment", "conllu"), ("trees", "nothing")):
        with pytest.raises(InputError) as caught:
            parse_format({"name": "parallel", option: name})
        assert isinstance(caught.value.problems[0], Problem)
        assert caught.value.problems[0].pointer == f"/{option}"
