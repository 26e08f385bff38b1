"""Figures of disco-dop with its parameter file: brackets with gaps, in three formats."""

from __future__ import annotations

import math
from typing import Any

import pytest

from treescore.core.registry import ERROR, Outcome
from treescore.core.scores import ScoreTable
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

FORMS = {"export": "export", "export3": "export", "discbracket": "discbracket", "tigerxml": "tigerxml"}
FIGURES = {
    "labeled recall": "recall",
    "labeled precision": "precision",
    "labeled f-measure": "f1",
    "exact match": "exact_match",
    "function tags": "function_tags_f1",
    "pos accuracy": "tagging_accuracy",
}


def scored(gold: str, system: str, name: str, **params: Any) -> tuple[ScoreTable, Outcome]:
    spec = parse_spec({"format": name, "metrics": [{"name": "parseval", "params": {"preset": "discodop", **params}}]})
    outcome = Evaluation(spec, gold.encode()).score(system.encode())[0]["parseval"]
    return spec.entries[0].metric.table, outcome


def cases(golden: Any) -> Any:
    document = golden("field_discontinuous")
    for name, case in document["cases"].items():
        for form, printed in case["reference"].items():
            base = form.split("_")[0]
            if base in FORMS and "error" not in printed:
                yield name, form, FORMS[base], case["gold"][base], case["system"][base], printed


def score_of(figure: str, form: str) -> str:
    name = FIGURES[figure]
    if form.endswith("_disconly"):
        return {"exact_match": "disc_exact_match"}.get(name, f"disc_{name}")
    return name if name.endswith(("match", "f1", "accuracy")) and name != "f1" else f"labelled_{name}"


@pytest.mark.parametrize("source", ["preset", "prm"])
def test_every_figure_that_disco_dop_prints(golden: Any, source: str) -> None:
    params = {"prm": golden("field_discontinuous")["prm"]} if source == "prm" else {}
    checked = 0
    for name, form, known, gold, system, printed in cases(golden):
        if name == "output_lacks_a_sentence":
            continue
        table, outcome = scored(gold, system, known, **params)
        values = {key: float(value) for key, value in table.values(outcome.totals).items()}
        counts = dict(zip(table.count_names, outcome.totals.tolist(), strict=True))
        for figure, (text, *_) in printed.items():
            if figure not in FIGURES or (form.endswith("_disconly") and figure in ("function tags", "pos accuracy")):
                continue
            value = values[score_of(figure, form)]
            checked += 1
            if text in ("nan", "0DIV!"):  # it divides by zero where precision and recall are 0
                assert math.isnan(value) or value == 0, (name, form, figure)
            else:
                assert f"{100 * value:.2f}" == text, (name, form, figure)
        for side in ("gold", "cand."):
            [*_, gaps] = printed.get(f"{side} brackets (disc.)", ["(0)"])
            assert counts["disc_gold" if side == "gold" else "disc_system"] == int(gaps.strip("()")), (name, form)
    assert checked > 200


def test_where_disco_dop_stops_the_first_sentence_is_an_error(golden: Any) -> None:
    stopped = [
        (name, form)
        for name, case in golden("field_discontinuous")["cases"].items()
        for form in FORMS
        if "error" in case["reference"][form] and name != "output_lacks_a_sentence"
    ]
    assert stopped
    for name, form in stopped:
        case = golden("field_discontinuous")["cases"][name]
        _, outcome = scored(case["gold"][form], case["system"][form], FORMS[form])
        assert outcome.status[0] == ERROR, (name, form)


def test_the_summary_is_printed_as_disco_dop_prints_it(golden: Any) -> None:
    for name, case in golden("field_discontinuous")["cases"].items():
        summary = case["reference"].get("summary")
        if summary is None or name == "output_lacks_a_sentence":
            continue
        spec = parse_spec({"format": "export", "metrics": [{"name": "parseval", "params": {"preset": "discodop"}}]})
        outcome = Evaluation(spec, case["gold"]["export"].encode()).score(case["system"]["export"].encode())[0]
        metric = spec.entries[0].metric
        assert metric.own_styles == ("discodop", "errors")
        # The first line was kept without the underscores before its words.
        own = [
            line for line in f"{10 * '_'}{summary}".splitlines() if not line.startswith(("leaf-ancestor", "tree-dist"))
        ]
        assert metric.report("discodop", outcome["parseval"]).splitlines() == own, name


def test_an_f_is_null_only_where_neither_side_has_brackets() -> None:
    gold = "(ROOT (S (VP 0=a 2=c) (X 1=b)))\n"
    table, outcome = scored(gold, "(ROOT (S (Y 0=a 2=c) (X 1=b)))\n", "discbracket")
    values = table.values(outcome.totals)
    assert (values["disc_precision"], values["disc_recall"], values["disc_f1"]) == (0, 0, 0)
    table, outcome = scored("(ROOT (S (A 0=a)))\n", "(ROOT (S (A 0=a)))\n", "discbracket")
    assert math.isnan(table.values(outcome.totals)["disc_f1"])


def test_an_output_alone_may_have_brackets_with_gaps() -> None:
    """disco-dop fails on such an output."""
    table, outcome = scored("(ROOT (S (A 0=a 1=b) 2=c))\n", "(ROOT (S (A 0=a 2=c) 1=b))\n", "discbracket")
    values = table.values(outcome.totals)
    assert (values["disc_precision"], values["disc_f1"], values["disc_exact_match"]) == (0, 0, 0)


def test_function_tags_are_null_where_the_output_has_none() -> None:
    gold = "(ROOT (S (NP-SB 0=a) (VP-OC 1=b)))\n"
    table, outcome = scored(gold, "(ROOT (S (NP 0=a) (VP 1=b)))\n", "discbracket")
    assert math.isnan(table.values(outcome.totals)["function_tags_f1"])
    table, outcome = scored("(ROOT (S (NP 0=a)))\n", "(ROOT (S (NP-SB 0=a)))\n", "discbracket")
    assert table.values(outcome.totals)["function_tags_f1"] == 0


def test_sentences_whose_words_differ_are_errors_that_may_be_charged() -> None:
    gold = "(ROOT (S (A-X 0=a 2=c) 1=b))\n(ROOT (S (A 0=a)))\n"
    system = "(ROOT (S (A-X 0=a 2=d) 1=b))\n(ROOT (S (A 0=a)))\n"
    table, outcome = scored(gold, system, "discbracket")
    assert outcome.problems[0].code == "word-mismatch"
    assert "Word 3 is 'd'" in outcome.problems[0].detail
    values = table.values(outcome.totals)
    assert (values["labelled_f1"], values["coverage"]) == (1, 0.5)
    table, outcome = scored(gold, system, "discbracket", errors="zero")
    counts = dict(zip(table.count_names, outcome.totals.tolist(), strict=True))
    assert [counts[name] for name in ("matched", "gold", "system", "disc_system", "function_gold", "words")] == [
        1, 3, 3, 1, 1, 4,
    ]  # fmt: skip
    assert table.values(outcome.totals)["exact_match"] == 0.5


def test_continuous_trees_can_be_compared_so_too() -> None:
    table, outcome = scored("(ROOT (S (NP-SB (N a)) (V b)))\n", "(ROOT (S (NP-OA (N a)) (V b)))\n", "bracketed")
    values = table.values(outcome.totals)
    assert (values["labelled_f1"], values["function_tags_f1"]) == (1, 0)


def test_other_presets_refuse_trees_that_may_have_gaps() -> None:
    spec = parse_spec({"format": "discbracket", "metrics": ["parseval"]})
    with pytest.raises(InputError) as caught:
        Evaluation(spec, b"(ROOT (S 0=a))\n")
    assert caught.value.problems[0].code == "parseval-needs-discodop"


@pytest.mark.parametrize(
    ("params", "pointer"),
    [
        ({"preterminals": True}, "/preterminals"),
        ({"unparsed": "miss"}, "/unparsed"),
        ({"preset": "evalb", "delete_forms": ["a"]}, "/delete_forms"),
        ({"preset": "evalb", "only_gaps": True}, "/only_gaps"),
    ],
)
def test_choices_without_effect_are_refused(params: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_spec(
            {"format": "bracketed", "metrics": [{"name": "parseval", "params": {"preset": "discodop", **params}}]}
        )
    assert caught.value.problems[0].pointer.endswith(pointer)


def test_sentences_are_matched_by_their_numbers(golden: Any) -> None:
    """disco-dop lets a sentence that the output lacks cost nothing."""
    case = golden("field_discontinuous")["cases"]["all_three"]
    gold, system = case["gold"]["export"], case["system"]["export"]
    head, *blocks = system.split("#BOS ")
    turned = "#BOS ".join([head, *blocks[::-1]])
    straight, back = (scored(gold, text, "export")[1] for text in (system, turned))
    assert straight.rows.tolist() == back.rows.tolist()
    fewer = "#BOS ".join([head, *blocks[1:]])
    with pytest.raises(InputError) as caught:
        scored(gold, fewer, "export")
    assert caught.value.problems[0].code == "sentence-missing"
    _, charged = scored(gold, fewer, "export", errors="zero")
    assert charged.problems[0].code == "sentence-missing"
    assert charged.rows[1:].tolist() == straight.rows[1:].tolist()
    assert charged.rows[0, 0] == 0
    assert charged.rows[0, 1] == straight.rows[0, 1]
    with pytest.raises(InputError) as caught:
        scored(fewer, system, "export")
    assert (caught.value.problems[0].code, caught.value.problems[0].sent_id) == ("sentence-not-in-gold", "1")


def test_gaps_everywhere_take_linear_time() -> None:
    """Each of 999 nodes has every second word of those below its parent."""
    size = 2000
    nodes = " ".join(f"(A{number % 3} {number}=w" for number in range(0, size, 2)) + ")" * (size // 2)
    text = f"(ROOT {nodes} {' '.join(f'{number}=w' for number in range(1, size, 2))})\n"
    _, outcome = scored(text, text, "discbracket")
    assert outcome.totals[0] == size // 2 - 1  # the innermost is the tag of its word


@pytest.mark.parametrize("pairs", [[["S", "VP"]], [["S", "NP"], ["NP", "VP"]], [["NP", "S"], ["NP", "VP"]]])
def test_labels_are_equal_through_one_that_no_text_has(pairs: list[list[str]]) -> None:
    gold = "#BOS 1\nbark\t--\tVV\t--\tHD\t500\n#500\t--\tS\t--\t--\t0\n#EOS 1\n"
    table, outcome = scored(gold, gold.replace("\tS\t", "\tVP\t"), "export", equal_labels=pairs)
    assert table.values(outcome.totals)["labelled_f1"] == 1


# What follows was observed by running disco-dop on these trees.

LONG = (
    "(ROOT (S (VP (NP 0=a 2=c) (VP (VP (V 4=e)))) (X 1=b) (X 3=d)))\n(ROOT (S (A 0=a)))\n",
    "(ROOT (S (VP (NP 0=a 2=c) (VP (VP (VP (V 4=e))))) (X 1=b) (X 3=d)))\n(ROOT (Q (A 0=a)))\n",
)


def figures(gold: str, system: str, name: str = "discbracket", **params: Any) -> dict[str, Any]:
    table, outcome = scored(gold, system, name, **params)
    values = {key: float(value) for key, value in table.values(outcome.totals).items()}
    return {**dict(zip(table.count_names, outcome.totals.tolist(), strict=True)), **values}


def report(gold: str, system: str, **params: Any) -> str:
    spec = parse_spec(
        {"format": "discbracket", "metrics": [{"name": "parseval", "params": {"preset": "discodop", **params}}]}
    )
    outcome = Evaluation(spec, gold.encode()).score(system.encode())[0]["parseval"]
    return spec.entries[0].metric.report("discodop", outcome)


def test_a_longer_sentence_than_the_cutoff_gives_the_summary_two_columns() -> None:
    assert report(*LONG, cutoff=4) == (
        "_________ Summary _________ <= 4 ______ ALL\n"
        "number of sentences:            1          2\n"
        "longest sentence:               1          5\n"
        "gold brackets:                  1          5\n"
        "cand. brackets:                 1          5\n"
        "disc. gold brackets:            0          2\n"
        "disc. cand. brackets:           0          2\n"
        "labeled recall:              0.00      83.33\n"
        "labeled precision:           0.00      71.43\n"
        "labeled f-measure:            nan      76.92\n"
        "exact match:                 0.00       0.00\n"
        "pos accuracy:              100.00     100.00\n"
    )


def test_the_summary_shows_what_cannot_be_divided() -> None:
    text = "(ROOT (S (A 0=a)))\n"
    lines = report(text, text, prm="CUTOFF_LEN 0\nDISC_ONLY 1\n").splitlines()
    assert [lines[place] for place in (1, 5, 8, 9)] == [
        "number of sentences:            0          0",
        "labeled recall:               nan        nan",
        "exact match:                0DIV!      0DIV!",
        "pos accuracy:               0DIV!     100.00",
    ]


def test_brackets_without_gaps_can_be_left_out() -> None:
    for params in ({"only_gaps": True}, {"prm": "DISC_ONLY 1\nDELETE_LABEL ROOT\n"}):
        found = figures(*LONG, **params)
        assert (found["matched"], found["gold"], found["system"]) == (2, 2, 2)
        assert (found["labelled_f1"], found["exact_match"], found["tagging_accuracy"]) == (1, 1, 1)
    assert figures(LONG[0], LONG[1], only_gaps=False)["exact_match"] == 0
    none = "(ROOT (S (A 0=a)))\n"
    assert math.isnan(figures(none, none, only_gaps=True)["exact_match"])


def test_words_below_golds_root_can_be_deleted() -> None:
    gold = "(ROOT (S (A 0=a) (B 2=c)) (X 1=b))\n"
    system = "(ROOT (S (A 0=a) (X 1=b)) (B 2=c))\n"
    assert [figures(gold, system)[name] for name in ("matched", "disc_gold", "words")] == [0, 1, 3]
    for params in ({"delete_root_words": True}, {"prm": "DELETE_ROOT_PRETERMS 1\nDELETE_LABEL ROOT\n"}):
        found = figures(gold, system, **params)
        assert [found[name] for name in ("matched", "gold", "system", "disc_gold", "words")] == [0, 1, 1, 0, 2]
    assert figures(gold, gold, delete_root_words=True)["matched"] == 1


def test_labels_can_be_ignored() -> None:
    gold, system = "(ROOT (S-X (NP-SB (A-Q 0=a)) (B 1=b)))\n", "(ROOT (T-X (NP-SB (A-Q 0=a)) (B 1=b)))\n"
    assert [figures(gold, system)[name] for name in ("matched", "function_matched")] == [1, 2]
    for params in ({"labelled": False}, {"prm": "LABELED 0\nDELETE_LABEL ROOT\n"}):
        found = figures(gold, system, **params)
        assert [found[name] for name in ("matched", "gold", "function_matched", "function_gold")] == [2, 2, 1, 1]


def test_keys_that_only_print_more_change_nothing() -> None:
    spec = {"preset": "discodop", "prm": "LA 1\nTED 1\nDEP 0\n"}
    found = parse_spec({"format": "discbracket", "metrics": [{"name": "parseval", "params": spec}]})
    assert not found.entries[0].metric.warnings


def test_a_function_has_the_tags_between_its_hyphens() -> None:
    gold = "(ROOT (S (NP-SBJ-TMP (A 0=a)) (VP-X (B 1=b))))\n"
    system = "(ROOT (S (NP-TMP (A 0=a)) (VP-X-Y (B 1=b))))\n"
    found = figures(gold, system)
    assert [found[f"function_{name}"] for name in ("matched", "gold", "system")] == [2, 3, 3]
    # The number of NP-SBJ-1 goes, its hyphen stays, and so does an empty tag behind it.
    found = figures("(ROOT (NP-SBJ-1 (A 0=a)))\n", "(ROOT (NP-SBJ-2 (A 0=a)))\n")
    assert [found[f"function_{name}"] for name in ("matched", "gold", "system")] == [2, 2, 2]


def test_a_tag_and_a_bracket_of_one_label_over_one_word_share_their_functions() -> None:
    found = figures("(ROOT (NP-SB (NN 0=a)))\n", "(ROOT (X (NP-SB 0=a)))\n")
    assert [found[f"function_{name}"] for name in ("matched", "gold", "system")] == [0, 0, 1]
    found = figures("(ROOT (NP-SB (NP-SB 0=a)))\n", "(ROOT (NP-SB (NP 0=a)))\n")
    assert [found[f"function_{name}"] for name in ("matched", "gold", "system")] == [1, 2, 1]


def test_the_problem_points_at_the_first_word_that_is_not_taken_as_equal() -> None:
    _, outcome = scored("(ROOT (S 0=-LRB- 1=a))\n", "(ROOT (S 0=#LRB# 1=b))\n", "discbracket")
    assert "Word 2 is 'b'" in outcome.problems[0].detail
