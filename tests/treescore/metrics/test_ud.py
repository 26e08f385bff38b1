"""ud beyond the golden cases: bad input, long chains and stretches, counts by sentence, the script's table."""

from __future__ import annotations

import pytest

from treescore import score
from treescore.core.registry import Outcome
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.shared import segmentation

SPEC = parse_spec({"format": "conllu", "metrics": ["ud"]})
METRIC = SPEC.entries[0].metric


def evaluate(gold: str, system: str) -> Outcome:
    return Evaluation(SPEC, gold.encode()).score(system.encode(), pointer="/systems/0/output")[0]["ud"]


def counts(outcome: Outcome, sentence: int | None = None) -> dict[str, int]:
    row = outcome.totals if sentence is None else outcome.rows[sentence]
    return dict(zip(METRIC.table.count_names, row.tolist(), strict=True))


def tree(*words: tuple[str, int]) -> str:
    rows = [
        f"{n}\t{form}\t_\tX\t_\t_\t{head}\t{'dep' if head else 'root'}\t_\t_\n"
        for n, (form, head) in enumerate(words, 1)
    ]
    return "".join(rows) + "\n"


@pytest.mark.parametrize(
    ("system", "code", "line", "way_out"),
    [
        (tree(("a", 2), ("b", 1), ("c", 0)), "cycle", 1, '{"broken_trees": "sentence"}'),
        (tree(("a", 0), ("b", 0), ("c", 1)), "several-roots", 2, '{"roots": "any"}'),
        (tree(("a", 2), ("b", 3), ("c", 1)), "cycle", 1, '{"broken_trees": "sentence"}'),
        (
            tree(("a", 0), ("b", 1), ("c", 1)).replace("\t1\tdep", "\t_\tdep", 1),
            "head-missing",
            2,
            '{"missing_heads": "wrong"}',
        ),
    ],
)
def test_what_is_no_tree_is_named(system: str, code: str, line: int, way_out: str) -> None:
    gold = tree(("a", 0), ("b", 1), ("c", 1))
    with pytest.raises(InputError) as caught:
        evaluate(gold, system)
    problem = next(problem for problem in caught.value.problems if problem.code == code)
    assert (problem.line, problem.column, problem.sentence) == (line, 7, 1)
    assert problem.pointer == "/systems/0/output"
    assert problem.detail.endswith(f'choose {{"name": "ud", "params": {way_out}}}.')
    with pytest.raises(InputError) as caught:
        evaluate(system, gold)
    assert caught.value.problems[0].pointer == "/gold"
    assert ("choose" in caught.value.problems[0].detail) == (code != "cycle")


def test_leading_zeros_are_read_as_numbers() -> None:
    gold = tree(("a", 0), ("b", 1))
    assert counts(evaluate(gold, gold.replace("\t1\tdep", "\t01\tdep")))["las.correct"] == 2


def test_other_text_is_shown_with_both_places_and_without_gold() -> None:
    gold = tree(("a", 0)) + tree(("secret", 0), ("word", 1))
    with pytest.raises(InputError) as caught:
        evaluate(gold, tree(("a", 0), ("sold", 1), ("word", 1)))
    problem = caught.value.problems[0]
    assert (problem.code, problem.line, problem.column, problem.sentence) == ("text-mismatch", 2, 2, 1)
    assert "character 3 " in problem.detail
    assert "sentence 1, line 2 of the output, which has 'oldword'" in problem.detail
    assert "of gold, which" not in problem.detail
    assert "sentence 2, line 3 of gold" in (problem.gold_detail or "")
    assert "ecret" not in problem.detail
    with pytest.raises(InputError) as caught:
        evaluate(tree(("caf\u00e9", 0)), tree(("cafe\u0301", 0)))
    assert "U+" not in caught.value.problems[0].detail
    assert "gold U+00E9" in (caught.value.problems[0].gold_detail or "")
    ranged = "1-3\tabc" + 8 * "\t_" + "\n0.1" + 9 * "\t_" + "\n" + tree(("a", 0), ("b", 1), ("c", 1))
    with pytest.raises(InputError) as caught:
        evaluate(ranged, tree(("ab", 0), ("x", 1)))
    assert "sentence 1, line 1 of gold" in (caught.value.problems[0].gold_detail or "")
    assert "'ecretword'" in (problem.gold_detail or "")


@pytest.mark.parametrize(("gold", "system"), [("ab", "abc"), ("abc", "ab")])
def test_a_text_that_ends_early_is_another_text(gold: str, system: str) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(tree((gold, 0)), tree((system, 0)))
    assert "character 3 " in caught.value.problems[0].detail


def test_a_chain_of_heads_as_long_as_a_sentence_may_be() -> None:
    chain = tree(*(("a", n) for n in range(20_000)))
    assert counts(evaluate(chain, chain))["mlas.correct"] == 20_000


def multiword(forms: list[str]) -> str:
    rows = tree(*((form, n) for n, form in enumerate(forms)))
    return f"1-{len(forms)}\tx\t_\t_\t_\t_\t_\t_\t_\t_\n" + rows


@pytest.mark.slow
def test_a_long_multiword_stretch_takes_neither_the_table_nor_its_time() -> None:
    # 10,000 by 10,000 cells; every second word is left out on the other side, so nothing but the first lines up.
    gold = multiword([f"w{n}" for n in range(10_000)])
    system = multiword([f"w{n}" for n in range(0, 10_000, 2)] + ["v"] * 5_000)
    found = counts(evaluate(gold, system))
    assert (found["words.correct"], found["words.gold"], found["tokens.correct"]) == (5_000, 10_000, 1)


def test_of_a_stretch_beyond_the_bound_only_the_beginning_is_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    # an error would tell how many words gold has there
    monkeypatch.setattr(segmentation, "MAX_STEPS", 10)
    found = counts(evaluate(multiword(["a"] * 100 + ["b"]), multiword(["a"] * 80 + ["b"])))
    assert (found["words.correct"], found["words.gold"], found["words.system"]) == (80, 101, 81)


def test_counts_belong_to_golds_sentences() -> None:
    # Gold: ab | cd e; system: a | bc d e: its second sentence begins in gold's first.
    gold = tree(("ab", 0)) + tree(("cd", 0), ("e", 1))
    system = tree(("a", 0)) + tree(("bc", 0), ("d", 1), ("e", 1))
    outcome = evaluate(gold, system)
    first, second = counts(outcome, 0), counts(outcome, 1)
    assert (first["sentences.gold"], first["sentences.system"], first["sentences.correct"]) == (1, 2, 0)
    assert (second["sentences.gold"], second["sentences.system"]) == (1, 0)
    assert (first["words.system"], second["words.system"]) == (2, 2)
    assert (first["words.correct"], second["words.correct"]) == (0, 1)
    assert (second["uas.correct"], second["uas.aligned"]) == (0, 1)


def test_wrong_words_show_both_sides() -> None:
    gold, system = tree(("ab", 0), ("c", 1), ("d", 1)), tree(("a", 0), ("b", 1), ("c", 2), ("d", 1))
    words = evaluate(gold, system).item(0)["words"]
    assert [entry["word"] for entry in words] == [1, 2, 3]
    assert words[0]["system_word"] is None
    assert (words[1]["gold_head"], words[1]["system_head"], words[1]["system_word"]) == ("1", "2", 3)


def test_slices_count_each_side_under_its_own_keys() -> None:
    gold, system = tree(("ab", 0), ("c", 1), ("d", 1)), tree(("a", 2), ("b", 0), ("c", 2), ("d", 2))
    slices = evaluate(gold, system).slices()
    for name in slices:
        assert sum(row["counts"]["gold"] for row in slices[name]) == 3, name
        assert sum(row["counts"]["system"] for row in slices[name]) == 4, name
    assert {row["value"]: row["counts"] for row in slices["deprel"]} == {
        "dep": {"gold": 2, "system": 3, "gold_correct": 0, "system_correct": 0},
        "root": {"gold": 1, "system": 1, "gold_correct": 0, "system_correct": 0},
    }
    same = evaluate(gold, gold).slices()["direction"]
    assert [(row["value"], row["scores"]) for row in same] == [
        ("to_root", {"las_f1": 1.0, "las_recall": 1.0, "las_precision": 1.0}),
        ("left", {"las_f1": 1.0, "las_recall": 1.0, "las_precision": 1.0}),
    ]


def test_tokens_have_no_aligned_accuracy() -> None:
    gold = tree(("a", 0))
    values = METRIC.table.values(evaluate(gold, gold).totals)
    assert [name for name, value in values.items() if value != value] == [  # noqa: PLR0124 - NaN
        "tokens_aligned_accuracy",
        "sentences_aligned_accuracy",
        "words_aligned_accuracy",
    ]
    assert next(iter(values)) == "las_f1"


@pytest.mark.parametrize("metric", ["ud", "enhanced", "dependency_relations"])
@pytest.mark.parametrize(("gold", "output"), [("\n", "(S (NN a))\n"), ("(S (NN a))\n(S (NN b))\n", "\n()\n")])
def test_trees_without_words_on_one_side_only_are_an_error(metric: str, gold: str, output: str) -> None:
    lines = {"name": "bracketed", "layout": "lines"}
    spec = parse_spec({"format": lines, "transforms": ["heads"], "metrics": [metric]})
    if metric == "dependency_relations" and output == "\n()\n":  # none of them was answered, which costs recall
        assert Evaluation(spec, gold.encode()).score(output.encode())[0][metric].totals[0] == 0
        return
    with pytest.raises(InputError) as caught:
        Evaluation(spec, gold.encode()).score(output.encode())
    assert caught.value.problems[0].code == "text-mismatch"


def test_what_is_said_where_subtypes_are_left_out() -> None:
    plain = tree(("a", 0), ("b", 1), ("c", 1))
    typed = plain.replace("\tdep", "\tdep:x", 1)
    assert evaluate(typed, plain).extra() == {"subtypes": {"gold": 1, "system": 0}}
    line = "Relations are compared without their subtypes"
    for gold, output, said in ((typed, plain, 1), (plain, typed, 1), (plain, plain, 0)):
        result = score(gold, {"A": output, "B": output}, "ud", format="conllu")
        assert result["A"].las_f1 == 1
        assert str(result).count(line) == said
