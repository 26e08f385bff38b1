"""Sentences of dependency formats that cannot be read: they score zero and cost no other sentence anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import ERROR, OK, Outcome
from treescore.core.text import DEFAULT_LIMITS
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import Spec, parse_spec

SIZE = 20
CUPT = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE\n"
FORGIVING: Any = {"name": "ud", "params": {"broken_trees": "sentence"}}
METRICS: dict[str, tuple[Any, ...]] = {
    "conllu": ("attachment", "enhanced", "dependency_relations", "leaf_ancestor"),
    "cupt": ("attachment", "mwe"),
    "conllx": ("attachment", "dependency_relations"),
    "conll08": ("attachment",),
    "conll09": ("attachment", "leaf_ancestor"),
}
WIDE = {"conll08": "{n} {f} _ _ _ {f} _ _ {h} {r} _", "conll09": "{n} {f} _ _ _ _ _ _ {h} {h} {r} {r} _ _"}


def row(name: str, number: int, length: int, relation: str) -> str:
    head = number - 1
    values = {"n": number, "f": f"w{number}of{length}", "h": head, "r": relation if head else "root"}
    if name in WIDE:
        return WIDE[name].format(**values).replace(" ", "\t") + "\n"
    deps = f"{head}:{values['r']}" if name == "conllu" else "_"
    line = "{n} {f} _ X _ _ {h} {r} {d} _".format(**values, d=deps).replace(" ", "\t")
    return line + ("" if name != "cupt" else "\t1:VID" if number == 1 else "\t1") + "\n"


def sentences(name: str, relation: str = "dep") -> list[list[str]]:
    return [[row(name, number + 1, 2 + i % 4, relation) for number in range(2 + i % 4)] for i in range(SIZE)]


def text(name: str, rows: list[list[str]]) -> str:
    first = "# sent_id = s" if name != "conllx" else "# n"
    made = "".join(f"{first}{i}\n" + "".join(lines) + "\n" for i, lines in enumerate(rows))
    return (CUPT if name == "cupt" else "") + made


def damages(name: str) -> dict[str, Any]:
    """What may happen to one line of a sentence."""
    few = {"few columns": lambda line: "\t".join(line.split("\t")[:3]) + "\n"}
    both = {"comment": lambda line: line + "# note\n" + line, "bytes": lambda line: line.replace("\tw", "\t\udcff")}
    empty = {"empty form": lambda line: "\t".join("" if "of" in field else field for field in line.split("\t"))}
    if name in ("conllx", "conll08", "conll09"):
        return both | empty | few
    own = {
        "surplus": lambda line: line.rstrip("\n") + "\tx\n",
        "bad id": lambda line: "x" + line,
        "wrong id": lambda line: "9" + line,
        "backwards": lambda line: "5-3\t" + line.partition("\t")[2] + line,
        "far": lambda line: "1-9\t" + line.partition("\t")[2] + line,
    }
    heads = {
        "bad head": lambda line: "\t".join([*line.split("\t")[:6], "-2", *line.split("\t")[7:]]),
        "head outside": lambda line: "\t".join([*line.split("\t")[:6], "77", *line.split("\t")[7:]]),
    }
    return both | empty | few | own | ({} if name == "cupt" else heads)  # mwe reads a sentence without heads


def spec_of(name: str, metrics: Any, mode: str = "sentence") -> Spec:
    return parse_spec({"format": {"name": name, "unreadable": mode}, "metrics": list(metrics)})


def scored(spec: Spec, gold: str, system: str) -> dict[str, Outcome]:
    return Evaluation(spec, gold.encode()).score(system.encode("utf-8", "surrogateescape"))[0]


CASES = [(name, damage) for name in METRICS for damage in damages(name)]


@given(st.sampled_from(CASES), st.integers(0, SIZE - 1), st.integers(0, 4))
def test_a_damaged_line_costs_its_sentence_alone(case: tuple[str, str], at: int, line: int) -> None:
    name, damage = case
    spec = spec_of(name, METRICS[name])
    gold, rows = text(name, sentences(name)), sentences(name, "other")
    whole = scored(spec, gold, text(name, rows))
    lines = rows[at]
    lines[line % len(lines)] = damages(name)[damage](lines[line % len(lines)])
    damaged = text(name, rows)
    with pytest.raises(InputError):
        scored(spec_of(name, METRICS[name], "job"), gold, damaged)
    for key, outcome in scored(spec, gold, damaged).items():
        others = np.arange(SIZE) != at
        assert np.array_equal(outcome.rows[others], whole[key].rows[others]), key
        assert (outcome.status == np.where(others, OK, ERROR)).all(), key
        assert outcome.unanswered is not None
        assert outcome.unanswered.tolist() == (~others).tolist(), key
        problem = outcome.problems[at]
        assert problem in outcome.warnings, key
        assert problem.line is not None
        assert problem.sentence == at + 1
        assert not spec.entry(key).metric.table.values(outcome.rows[at])[main(spec, key)] > 0
        outcome.item(at)
        outcome.slices()
        marks = outcome.marks()
        assert marks is None or len(marks.gold) == sum(map(len, sentences(name)))


def main(spec: Spec, key: str) -> str:
    name: str = spec.entry(key).metric.table.scores[0].name
    return name


@pytest.mark.parametrize("name", METRICS)
def test_an_output_without_any_sentence_that_can_be_read_scores_zero(name: str) -> None:
    spec = spec_of(name, METRICS[name])
    rows = [["x\n" for _ in lines] for lines in sentences(name)]
    for key, outcome in scored(spec, text(name, sentences(name)), text(name, rows)).items():
        assert (outcome.status == ERROR).all(), key
        assert not spec.entry(key).metric.table.values(outcome.totals)[main(spec, key)] > 0
        assert len(outcome.warnings) == min(SIZE, DEFAULT_LIMITS.max_problems), key
        outcome.slices()
        outcome.extra()
        outcome.item(0)


@pytest.mark.parametrize("name", METRICS)
def test_gold_must_be_readable(name: str) -> None:
    rows = sentences(name)
    rows[3][0] = "x\n"
    with pytest.raises(InputError) as caught:
        scored(spec_of(name, METRICS[name]), text(name, rows), text(name, sentences(name)))
    assert caught.value.total == 1
    assert caught.value.problems[0].sentence == 4


@pytest.mark.parametrize("name", METRICS)
def test_a_truncated_output_is_scored_or_refused(name: str) -> None:
    gold = text(name, sentences(name)[:3])
    spec = spec_of(name, METRICS[name])
    for end in range(0, len(gold), 3):
        try:
            outcomes = scored(spec, gold, gold[:end])
        except InputError:
            continue
        assert all(outcome.status.tolist()[:2] == [OK, OK] for outcome in outcomes.values())


@pytest.mark.parametrize("output", ["", "\n", "\n\n\n", "# only\n\n"])
def test_an_output_without_sentence_is_an_error(output: str) -> None:
    for name in ("conllu", "conllx", "conll09"):
        with pytest.raises(InputError):
            scored(spec_of(name, METRICS[name]), text(name, sentences(name)), output)


def test_a_missing_sentence_is_an_error_that_names_what_could_not_be_read() -> None:
    rows = sentences("conllu")
    joined = [*rows[:3], rows[3] + rows[4], *rows[5:]]
    for metric, code in (("attachment", "sentence-count-mismatch"), ("enhanced", "conllu-wrong-id")):
        with pytest.raises(InputError) as caught:
            scored(spec_of("conllu", [metric]), text("conllu", rows), text("conllu", joined))
        (problem,) = caught.value.problems
        assert problem.code == code
        assert "expected 6. Number the words" in problem.detail


def test_ud_keeps_what_has_wrong_heads_and_refuses_what_has_no_words() -> None:
    rows = sentences("conllu")
    gold = text("conllu", rows)
    spec = spec_of("conllu", [*METRICS["conllu"], FORGIVING])
    rows[2][1] = damages("conllu")["bad head"](rows[2][1])
    outcomes = scored(spec, gold, text("conllu", rows))
    assert {tuple(np.flatnonzero(outcome.status)) for outcome in outcomes.values()} == {(2,)}
    assert outcomes["ud"].totals[spec.entry("ud").metric.table.count_names.index("upos.correct")] == 70
    sizes = {len(marks.system) for outcome in outcomes.values() if (marks := outcome.marks()) is not None}
    assert sizes == {70}
    rows[4][1] = damages("conllu")["bad id"](rows[4][1])
    with pytest.raises(InputError) as caught:
        scored(spec, gold, text("conllu", rows))
    assert [(problem.code, problem.sentence) for problem in caught.value.problems] == [("conllu-bad-id", 5)]


BAD_DEPS = {"x": "bad-deps", "9:dep": "head-out-of-range", "1:a||2:b": "bad-deps", "1.1:dep": "unknown-empty-node"}


@given(
    st.sets(st.integers(0, SIZE - 1), min_size=1), st.sampled_from(sorted(BAD_DEPS)), st.sampled_from(["", "control"])
)
def test_deps_that_cannot_be_read_cost_the_edges_of_their_sentences(at: set[int], deps: str, kind: str) -> None:
    metrics = [{"name": "enhanced", "params": {"leave_out": [kind] if kind else []}}, "attachment"]
    spec = spec_of("conllu", metrics)
    gold, rows = text("conllu", sentences("conllu")), sentences("conllu", "other")
    whole = scored(spec, gold, text("conllu", rows))
    for number in at:
        rows[number][1] = "\t".join([*rows[number][1].split("\t")[:8], deps, "_\n"])
    damaged = text("conllu", rows)
    with pytest.raises(InputError) as caught:
        scored(spec_of("conllu", metrics, "job"), gold, damaged)
    assert 1 <= caught.value.total <= len(at)
    outcomes = scored(spec, gold, damaged)
    assert np.array_equal(outcomes["attachment"].rows, whole["attachment"].rows)
    assert (outcomes["attachment"].status == OK).all()
    outcome, lost = outcomes["enhanced"], np.isin(np.arange(SIZE), sorted(at))
    assert np.array_equal(outcome.rows[~lost], whole["enhanced"].rows[~lost])
    assert (outcome.status == np.where(lost, ERROR, OK)).all()
    names = spec.entry("enhanced").metric.table.count_names
    for name, column in zip(names, outcome.rows[lost].T, strict=True):
        assert np.array_equal(column, whole["enhanced"].rows[lost, names.index(name)]) == name.endswith("gold"), name
    assert {problem.code for problem in outcome.problems.values()} == {f"enhanced-{BAD_DEPS[deps]}"}
    assert [problem.sentence for problem in outcome.warnings] == [number + 1 for number in sorted(at)]


def test_deps_that_cannot_be_read_are_an_error_beside_other_sentences() -> None:
    rows = sentences("conllu")
    rows[3][1] = "\t".join([*rows[3][1].split("\t")[:8], "x", "_\n"])
    joined = [*rows[:-1], rows[-1][:1], ["1\t" + rows[-1][1].split("\t", 1)[1]]]
    with pytest.raises(InputError) as caught:
        scored(spec_of("conllu", ["enhanced"]), text("conllu", sentences("conllu")), text("conllu", joined))
    assert caught.value.problems[0].code == "enhanced-bad-deps"


def test_ranges_and_empty_nodes_of_other_sentences_stay() -> None:
    whole = (
        "1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\t_\tX\t_\t_\t0\troot\t0:root\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t1:dep\t_\n"
        "2.1\te\t_\tX\t_\t_\t_\t_\t1:obj\t_\n3\tc\t_\tX\t_\t_\t1\tdep\t2.1:dep\t_\n\n"
    )
    spec = spec_of("conllu", ["enhanced", "attachment", FORGIVING])
    for damage, code in (("\t-1\tdep", "conllu-bad-head"), ("\t9\tdep", "conllu-head-out-of-range")):
        system = whole + whole.replace("\t1\tdep", damage) + whole
        outcomes = scored(spec, whole * 3, system)
        for outcome in outcomes.values():
            assert outcome.status.tolist() == [OK, ERROR, OK]
            assert outcome.rows[0].tolist() == outcome.rows[2].tolist()
            assert outcome.problems[1].code in (code, "head-out-of-range")
    assert outcomes["enhanced"].rows[0].tolist() == [3, 3, 3, 3, 3, 3]
