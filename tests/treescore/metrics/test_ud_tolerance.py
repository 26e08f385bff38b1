"""What later programs forgive: several roots, words without head, and trees that are none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from treescore.core.registry import ERROR, OK, Outcome
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.ud import ALIGNED, ROWS

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


OURS = {
    # the program reads an empty sentence or stops; the line is ignored, with a warning
    ("double_blank_line_system", program): "a spare blank line"
    for program in ("conll18", "udtools", "udtools_multiple_roots_okay", "udpipe2", "udpipe2_no_single_root")
} | {
    ("cycle_beside_root_system", "udpipe2_broken_sentences_without_heads"): "the program fails on a functional word "
    "without head"
}


def cases(golden: Any) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    for name, case in golden("field_dependencies")["tolerance"].items():
        for program, reference in case["reference"].items():
            yield name, program, case, reference


def test_the_programs_counts_and_errors(golden: Any) -> None:
    checked, differ = 0, set()
    for name, program, case, reference in cases(golden):
        params = PROGRAMS[program]
        if (name, program) in OURS:
            differ.add((name, program))
        elif not reference["ok"]:
            with pytest.raises(InputError):
                scored(case["gold"], case["system"], **params)
        else:
            found = counts(scored(case["gold"], case["system"], **params))
            assert found == {row: reference["counts"][row][: len(found[row])] for row in ROWS}, (name, program)
            checked += 1
    assert checked > 10
    assert differ == set(OURS)


def test_what_fails_the_programs_is_scored(golden: Any) -> None:
    tolerance = golden("field_dependencies")["tolerance"]
    blank = tolerance["double_blank_line_system"]
    plain = blank["system"].replace("\n\n\n", "\n\n")
    found = scored(blank["gold"], blank["system"])
    assert counts(found) == counts(scored(blank["gold"], plain))
    cycle = tolerance["cycle_beside_root_system"]
    found = scored(cycle["gold"], cycle["system"], **PROGRAMS["udpipe2_broken_sentences_without_heads"])
    assert (counts(found)["uas"], counts(found)["upos"]) == ([0, 3, 3, 3], [3, 3, 3, 3])


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


@pytest.mark.parametrize("head", ["7", "99999999999999999999"])
def test_a_head_outside_is_forgiven_with_all_heads_of_its_sentence(head: str) -> None:
    good = sentence("1 a 2 dep", "2 b 0 root") + sentence("1 c 0 root")
    bad = sentence(f"1 a {head} dep", "2 b 0 root") + sentence("1 c 0 root")
    outcome = scored(good, bad, broken_trees="sentence")
    assert (counts(outcome)["uas"][0], counts(outcome)["upos"][0]) == (1, 3)
    assert outcome.status.tolist() == [ERROR, OK]
    assert [(warning.code, warning.line, warning.column) for warning in outcome.warnings] == [
        ("head-out-of-range", 1, 7)
    ]
    for metrics in (["ud"], ["attachment"], ["attachment", {"name": "ud", "params": {"broken_trees": "sentence"}}]):
        with pytest.raises(InputError) as caught:
            Evaluation(parse_spec({"format": "conllu", "metrics": metrics}), good.encode()).score(bad.encode())
        (problem,) = caught.value.problems
        assert (problem.code, problem.line, problem.column) == ("conllu-head-out-of-range", 1, 7)
    with pytest.raises(InputError, match="the sentence has 2 words"):
        scored(bad, good, **ALL)


@pytest.mark.parametrize("head", ["-2", "x", ""])
def test_a_head_that_is_no_number_is_forgiven_where_sentences_may_be_unreadable(head: str) -> None:
    good = sentence("1 a 2 dep", "2 b 0 root") + sentence("1 c 0 root")
    bad = good.replace("\t2\tdep", f"\t{head}\tdep")
    with pytest.raises(InputError, match="HEAD is"):
        scored(good, bad, **ALL)
    both: list[Any] = ["attachment", {"name": "ud", "params": {"broken_trees": "sentence"}}]
    tolerant = {"name": "conllu", "unreadable": "sentence"}
    outcomes = Evaluation(parse_spec({"format": tolerant, "metrics": both}), good.encode()).score(bad.encode())[0]
    assert (counts(outcomes["ud"])["uas"][0], counts(outcomes["ud"])["upos"][0]) == (1, 3)
    for outcome in outcomes.values():
        assert outcome.status.tolist() == [ERROR, OK]
        assert outcome.problems[0].code == "conllu-bad-head"
        assert [warning.code for warning in outcome.warnings] == ["conllu-bad-head"]
        marks = outcome.marks()
        assert marks is not None
        assert len(marks.system) == 3
    assert outcomes["attachment"].totals[:4].tolist() == [3, 1, 1, 1]
    with pytest.raises(InputError, match="HEAD is"):
        Evaluation(parse_spec({"format": tolerant, "metrics": ["ud"]}), good.encode()).score(bad.encode())
    with pytest.raises(InputError, match="HEAD is"):
        Evaluation(parse_spec({"format": tolerant, "metrics": both}), bad.encode())


def test_gold_may_have_several_roots_and_words_without_head() -> None:
    roots = sentence("1 a 0 root", "2 b 0 root")
    assert counts(scored(roots, roots, roots="any"))["uas"][0] == 2
    missing = sentence("1 a _ _", "2 b 0 root")
    assert counts(scored(missing, missing, missing_heads="wrong"))["clas"] == [1, 1, 1, 1]
    for gold, params in ((roots, {"missing_heads": "wrong"}), (missing, {"roots": "any", "broken_trees": "sentence"})):
        with pytest.raises(InputError):
            scored(gold, gold, **params)


def test_the_cause_is_told_and_not_what_follows() -> None:
    good = sentence("1 a 2 dep", "2 b 0 root")
    for bad, code, line, words in (
        (sentence("1 a 1 dep", "2 b 1 dep"), "cycle", 1, "Word 1 is its own head."),
        (sentence("1 a 2 dep", "2 b 1 dep"), "cycle", 1, "Word 1 is on a cycle of heads (1 -> 2 -> 1)."),
        (
            sentence("1 a 2 dep", "2 b 1 dep", "3 c 3 dep", "4 d 4 dep"),
            "cycle",
            1,
            "(1 -> 2 -> 1); the sentence has 2 further cycles.",
        ),
        (sentence(*(f"{n} a {n % 9 + 1} dep" for n in range(1, 10))), "cycle", 1, "(1 -> 2 -> 3 -> 4 -> 5 -> ...)"),
        (sentence("1 a 2 dep", "2 b 7 dep"), "conllu-head-out-of-range", 2, "HEAD is 7"),
        (sentence("1 a 0 root", "2 b 0 root"), "several-roots", 2, "words 1, 2"),
    ):
        with pytest.raises(InputError) as caught:
            scored(good, bad)
        (problem,) = caught.value.problems
        assert (problem.code, problem.line) == (code, line)
        assert words in problem.detail


def test_a_head_outside_and_a_cycle_are_two_causes() -> None:
    good = sentence("1 a 2 dep", "2 b 0 root", "3 c 1 dep")
    bad = "".join(f"{n}\ta\t_\tX\t_\t_\t{head}\tdep\t_\t_\n" for n, head in ((1, 2), (2, 1), (3, 9))) + "\n"
    spec = parse_spec({"format": "conllx", "metrics": ["ud"]})
    with pytest.raises(InputError) as caught:
        Evaluation(spec, good.encode()).score(bad.encode())
    assert [problem.code for problem in caught.value.problems] == ["cycle", "head-out-of-range"]
