"""attachment beyond the golden cases: refusals, warnings, exact match, the script's lines, slices."""

from __future__ import annotations

from typing import Any

import pytest

from treescore.core.registry import Outcome
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec


def evaluate(gold: str, system: str, format_name: str = "conllu", **params: Any) -> Outcome:
    spec = parse_spec({"format": format_name, "metrics": [{"name": "attachment", "params": params}]})
    return Evaluation(spec, gold.encode()).score(system.encode())[0]["attachment"]


METRIC = parse_spec({"format": "conllu", "metrics": ["attachment"]}).entries[0].metric
NAMES = METRIC.table.count_names


def tree(*words: tuple[str, int, str]) -> str:
    rows = [f"{n}\t{form}\t_\tX\t_\t_\t{head}\t{deprel}\t_\t_\n" for n, (form, head, deprel) in enumerate(words, 1)]
    return "".join(rows) + "\n"


GOLD = tree(("He", 2, "nsubj"), ("sleeps", 0, "root"), (".", 2, "punct")) + tree(("!", 0, "root"))
WRONG_PUNCTUATION = tree(("He", 2, "nsubj"), ("sleeps", 0, "root"), (".", 1, "punct")) + tree(("!", 0, "root"))


def test_exact_match_is_of_sentences_with_scoring_words() -> None:
    assert evaluate(GOLD, WRONG_PUNCTUATION).rows.tolist() == [[3, 2, 3, 2, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]]
    without = evaluate(GOLD, WRONG_PUNCTUATION, punctuation=False)
    assert without.rows.tolist() == [[2, 2, 2, 2, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0]]
    assert without.tokens["las"].bits.tolist() == [True, True]
    assert without.tokens["las"].offsets.tolist() == [0, 2, 2]


def test_exact_match_unlabelled_asks_for_heads_only() -> None:
    system = GOLD.replace("nsubj", "obj")
    values = METRIC.table.values(evaluate(GOLD, system).totals)
    assert (float(values["exact_match"]), float(values["exact_match_unlabelled"])) == (0.5, 1.0)


def test_no_scoring_word_leaves_the_scores_undefined() -> None:
    gold = tree(("!", 0, "root"))
    values = METRIC.table.values(evaluate(gold, gold, punctuation=False).totals)
    assert all(value != value for value in values.values())  # noqa: PLR0124 - NaN


def test_other_words_are_refused_without_quoting_gold() -> None:
    with pytest.raises(InputError) as caught:
        evaluate(GOLD, GOLD.replace("sleeps", "dreams"))
    problem = caught.value.problems[0]
    assert (problem.code, problem.line, problem.column, problem.sentence) == ("word-mismatch", 2, 2, 1)
    assert "dreams" in problem.detail
    assert "sleeps" not in problem.detail
    assert "sleeps" in (problem.gold_detail or "")


def test_what_is_no_tree_is_scored_with_a_warning() -> None:
    gold = tree(("a", 0, "root"), ("b", 1, "dep"), ("c", 1, "dep"), ("d", 1, "dep"))
    system = tree(("a", 2, "root"), ("b", 1, "dep"), ("c", 9, "dep"), ("d", 4, "dep"))
    outcome = evaluate(gold, system, "conllx")
    assert outcome.totals.tolist()[:4] == [4, 1, 4, 1]
    assert [(warning.code, warning.line) for warning in outcome.warnings] == [("cycle", 1), ("head-out-of-range", 3)]


def test_multiword_tokens_empty_nodes_and_comments_are_no_words() -> None:
    extra = "# c\n1-2\tHesleeps\t_\t_\t_\t_\t_\t_\t_\t_\n" + GOLD.replace(
        "\n\n", "\n3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n", 1
    )
    assert evaluate(GOLD, extra).totals.tolist() == evaluate(GOLD, GOLD).totals.tolist()


def test_wrong_words_show_both_sides() -> None:
    assert evaluate(GOLD, WRONG_PUNCTUATION).item(0) == {
        "words": [
            {
                "word": 3,
                "form": ".",
                "gold_head": "2",
                "system_head": "1",
                "gold_deprel": "punct",
                "system_deprel": "punct",
            }
        ]
    }


def rows_of(outcome: Outcome, name: str) -> dict[Any, list[int]]:
    """Gold, system, correct, correct with head by value."""
    names = ("gold", "system", "correct", "correct_with_head")
    return {row["value"]: [row["counts"][one] for one in names] for row in outcome.slices()[name]}


# Word 2's arc from 5 passes over 3 and 4; 4 hangs on 1, outside it: not projective, and no arc of 1 is.
CROSSED = tree(("a", 0, "root"), ("b", 5, "x"), ("c", 2, "y"), ("d", 1, "x"), ("e", 1, "y"), ("f", 5, "y"))
STRAIGHT = tree(("a", 0, "root"), ("b", 1, "x"), ("c", 2, "y"), ("d", 1, "y"), ("e", 4, "y"), ("f", 6, "y"))


def test_slices_count_on_both_sides() -> None:
    outcome = evaluate(CROSSED, STRAIGHT)
    assert rows_of(outcome, "deprel") == {"y": [3, 4, 3, 1], "x": [2, 1, 1, 0], "root": [1, 1, 1, 1]}
    assert rows_of(outcome, "direction") == {
        "to_root": [1, 1, 1, 1],
        "left": [4, 4, 3, 2],
        "right": [1, 0, 0, 0],
        "self": [0, 1, 0, 0],
    }
    assert rows_of(outcome, "distance") == {"to_root": [1, 1, 1, 1], "1": [2, 4, 2, 1], "3-6": [3, 1, 1, 1]}
    assert rows_of(outcome, "projectivity") == {"projective": [5, 5, 4, 3], "non-projective": [1, 1, 0, 0]}
    assert rows_of(outcome, "depth") == {
        -1: [0, 1, 0, 0],
        1: [1, 1, 1, 1],
        2: [2, 2, 1, 1],
        3: [2, 2, 0, 0],
        4: [1, 0, 0, 0],
    }
    assert rows_of(outcome, "BranchingFactor")[2] == [2, 1, 1, 1]
    assert rows_of(outcome, "Frame")["*x* y"] == [1, 1, 1, 0]
    assert rows_of(outcome, "sentence_length") == {"1-10": [6, 6, 6, 3]}
    scores = outcome.slices()["deprel"][0]["scores"]
    assert (scores["precision"], scores["recall"], scores["recall_with_head"]) == (3 / 4, 3 / 3, 1 / 3)


def test_slices_read_heads_as_numbers_though_they_are_compared_as_written() -> None:
    plain = tree(("a", 2, "x"), ("b", 0, "root"))
    outcome = evaluate(plain, plain.replace("\t2\tx", "\t02\tx"), "conllx")
    assert outcome.totals.tolist()[:4] == [2, 1, 2, 1]
    rows = {row["value"]: row["counts"] for row in outcome.slices()["direction"]}
    assert {name: (counts["gold"], counts["system"], counts["correct"]) for name, counts in rows.items()} == {
        "to_root": (1, 1, 1),
        "right": (1, 1, 1),
    }


def test_a_word_left_of_its_dependent_is_tested_too() -> None:
    # MaltEval leaves out the word just before the dependent of a left-headed arc: 1 -> 3 over 2, which hangs on 4.
    gold = tree(("a", 4, "x"), ("b", 4, "x"), ("c", 1, "x"), ("d", 0, "root"))
    assert rows_of(evaluate(gold, gold), "ArcProjectivity")[1] == [1, 1, 1, 1]


def test_the_rarest_rows_of_a_long_grouping_are_summed() -> None:
    gold = "".join(tree((f"w{n}", 0, "root")) for n in range(2100))
    rows = evaluate(gold, gold).slices()["word"]
    assert len(rows) == 2001
    assert (rows[-1]["value"], rows[-1]["counts"]["gold"]) == (None, 100)


@pytest.mark.real
def test_non_projective_arcs_of_english_ewt(real_data: Any) -> None:
    gold = (real_data / "ud_en_ewt" / "gold_tokens" / "gold.conllu").read_text(encoding="utf-8")
    assert rows_of(evaluate(gold, gold), "projectivity")["non-projective"] == [100, 100, 100, 100]
