"""What later programs forgive: several roots, words without head, and trees that are none."""

from __future__ import annotations

from typing import Any

import pytest

from treescore.core.registry import ERROR, OK, Outcome
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.ud.table import ALIGNED, ROWS

PROGRAMS: dict[str, dict[str, str]] = {
    "conll18": {},
    "udtools": {},
    "udtools_multiple_roots_okay": {"roots": "any"},
    "udpipe2": {"missing_heads": "wrong"},
    "udpipe2_no_single_root": {"missing_heads": "wrong", "roots": "any"},
    "udpipe2_broken_sentences_without_heads": {"roots": "any", "broken_trees": "sentence"},
}
ALL = {"roots": "any", "missing_heads": "wrong", "broken_trees": "sentence"}


def scored(gold: str, system: str, **params: Any) -> Outcome:
    spec = parse_spec({"format": "conllu", "metrics": [{"name": "ud", "params": params}]})
    return Evaluation(spec, gold.encode()).score(system.encode())[0]["ud"]


def counts(outcome: Outcome) -> dict[str, list[int]]:
    values = iter(outcome.totals.tolist())
    return {row: [next(values) for _ in range(4 if row in ALIGNED else 3)] for row in ROWS}


def sentence(*rows: str) -> str:
    lines = (row.split() for row in rows)
    return "".join(f"{n}\t{form}\t_\tX\t_\t_\t{head}\t{rel}\t_\t_\n" for n, form, head, rel in lines) + "\n"


def test_the_programs_counts_and_errors(golden: Any) -> None:
    checked = 0
    for name, case in golden("field_dependencies")["tolerance"].items():
        for program, reference in case["reference"].items():
            if name == "double_blank_line_system" or "functional_children" in reference.get("message", ""):
                continue  # an empty sentence, which the reader refuses; a fault of the program
            params = PROGRAMS[program]
            if name == "head_outside_system" and "broken_trees" in params:
                continue  # the reader refuses it
            if not reference["ok"]:
                with pytest.raises(InputError):
                    scored(case["gold"], case["system"], **params)
                continue
            found = counts(scored(case["gold"], case["system"], **params))
            assert found == {row: reference["counts"][row][: len(found[row])] for row in ROWS}, (name, program)
            checked += 1
    assert checked > 10


def test_a_functional_word_without_head_is_scored() -> None:
    """udpipe2_eval.py fails on it."""
    gold = sentence("1 the 2 det", "2 dog 0 root")
    found = counts(scored(gold, sentence("1 the _ det", "2 dog 0 root"), missing_heads="wrong"))
    assert (found["las"][0], found["upos"][0], found["mlas"][0]) == (1, 2, 0)


def test_a_missing_head_is_wrong_where_gold_has_none_either() -> None:
    text = sentence("1 a 2 dep", "2 b 0 root", "3 c _ _")
    assert counts(scored(text, text, missing_heads="wrong"))["uas"] == [2, 3, 3, 3]


def test_a_broken_tree_costs_its_heads_and_no_other_sentence() -> None:
    gold = sentence("1 a 2 dep", "2 b 0 root") + sentence("1 c 0 root")
    system = sentence("1 a 2 dep", "2 b 1 dep") + sentence("1 c 0 root")
    outcome = scored(gold, system, broken_trees="sentence")
    assert outcome.status.tolist() == [ERROR, OK]
    assert (outcome.problems[0].code, outcome.problems[0].line) == ("cycle", 1)
    assert [warning.code for warning in outcome.warnings] == ["cycle"]
    found = counts(outcome)
    assert (found["uas"][0], found["upos"][0]) == (1, 3)
    wrong = outcome.item(0)["words"]
    assert [word["system_head"] for word in wrong] == ["2", "1"]


def test_other_faults_are_still_errors_and_gold_is_never_excused() -> None:
    good = sentence("1 a 2 dep", "2 b 0 root")
    for bad, params in (
        (sentence("1 a 0 root", "2 b 0 root"), {"broken_trees": "sentence"}),
        (sentence("1 a _ dep", "2 b 0 root"), {"broken_trees": "sentence"}),
        (sentence("1 a 5 dep", "2 b 0 root"), {"roots": "any", "missing_heads": "wrong"}),
    ):
        with pytest.raises(InputError):
            scored(good, bad, **params)
    with pytest.raises(InputError):
        scored(sentence("1 a 2 dep", "2 b 1 dep"), good, **ALL)
    assert counts(scored(sentence("1 a 0 root", "2 b 0 root"), good, **ALL))["uas"][0] == 1


def test_the_cause_is_told_and_not_what_follows() -> None:
    good = sentence("1 a 2 dep", "2 b 0 root")
    for bad, code, line in (
        (sentence("1 a 1 dep", "2 b 1 dep"), "cycle", 1),
        (sentence("1 a 2 dep", "2 b 7 dep"), "conllu-head-out-of-range", 2),
        (sentence("1 a 0 root", "2 b 0 root"), "several-roots", 2),
    ):
        with pytest.raises(InputError) as caught:
            scored(good, bad)
        (problem,) = caught.value.problems
        assert (problem.code, problem.line) == (code, line)
    assert "words 1, 2" in problem.detail
