"""Word alignment: the published scorer's figures, sentence pairs of mixed formats, links to NULL, odd indices."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import Outcome
from treescore.errors import InputError, LimitError, Problem
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_format, parse_items, parse_spec
from treescore.metrics.alignment.comparison import COUNT_NAMES, LINK_COUNTS, table_of

TABLE = table_of(0.5)
GOLD = "0001 1 1 S\n0001 2 2 S\n0001 2 3 P\n0002 1 1 S\n0002 2 0 P\n0002 0 2 P\n"


def scored(
    gold: str,
    output: str,
    gold_format: Any = "naacl",
    system_format: Any = None,
    items: dict[str, Any] | None = None,
    **params: Any,
) -> Outcome:
    spec = parse_spec({"format": gold_format, "metrics": [{"name": "alignment", "params": params}]})
    evaluation = Evaluation(spec, gold.encode(), parse_items(items))
    choice = parse_format(system_format) if system_format is not None else None
    return evaluation.score(output.encode(), choice)[0]["alignment"]


def scores(outcome: Outcome) -> dict[str, float]:
    return {name: float(value) for name, value in TABLE.values(outcome.totals).items()}


def links_in(outcome: Outcome) -> list[int]:
    return outcome.totals[: len(LINK_COUNTS)].tolist()


def problems(*args: Any, **options: Any) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        scored(*args, **options)
    return caught.value.problems


def test_the_published_scorers_figures_on_every_case_on_which_it_is_right(golden: Any) -> None:
    names = {
        "sure_P": "sure_precision",
        "sure_R": "sure_recall",
        "sure_F": "sure_f1",
        "probable_P": "possible_precision",
        "probable_R": "possible_recall",
        "probable_F": "possible_f1",
        "AER": "aer",
    }
    for name, case in golden("alignment_cases")["cases"].items():
        if case["ours"] != "equal":
            continue
        found = scores(scored(case["gold"], case["submission"]))
        for theirs, ours in names.items():
            value = 0.0 if math.isnan(found[ours]) else found[ours]  # it prints 0 where there is nothing to divide by
            assert round(value, 4) == case["eval"][theirs], (name, ours)


def test_its_faults_are_not_repeated(golden: Any) -> None:
    cases = golden("alignment_cases")["cases"]

    def aer(name: str) -> float:
        return scores(scored(cases[name]["gold"], cases[name]["submission"]))["aer"]

    assert aer("scientific_notation_confidence") == 0.0
    assert aer("lowercase_flag") == 0.0
    assert aer("leading_zero_mismatch") == 0.0
    assert aer("blank_line") == pytest.approx(1 - 4 / 5)
    twice = scored(cases["duplicate_line"]["gold"], cases["duplicate_line"]["submission"])
    assert dict(zip(COUNT_NAMES, twice.totals.tolist(), strict=True))["links"] == 2
    both = scored(cases["same_link_S_and_P"]["gold"], cases["same_link_S_and_P"]["submission"])
    assert links_in(both) == [2, 3, 6, 2, 2, 2, 2]
    for name, code in (
        ("six_fields", "alignment-wrong-field-count"),
        ("trailing_garbage_number", "alignment-bad-link"),
    ):
        (problem,) = problems(cases[name]["gold"], cases[name]["submission"])
        assert (problem.code, problem.line) == (code, 1)


def test_an_empty_submission_has_an_error_rate_of_one(golden: Any) -> None:
    """It found none of the sure links. Only in NAACL, where each line is a link, may it have zero bytes."""
    case = golden("alignment_cases")["cases"]["empty_submission"]
    assert scores(scored(case["gold"], case["submission"]))["aer"] == 1.0
    assert scores(scored(GOLD, "\n"))["aer"] == 1.0
    assert scores(scored("0-0 1-1\n0-0\n", "\n\n", "pharaoh"))["aer"] == 1.0
    assert math.isnan(scores(scored("\n", "\n", "pharaoh"))["aer"])
    assert problems("0-0\n", "", "pharaoh")[0].code == "empty-text"
    assert (problems("", GOLD)[0].code, problems("", GOLD)[0].pointer) == ("alignment-gold-empty", "/gold")


def test_links_of_a_sentence_that_gold_lacks_count_as_wrong_and_are_warned_of() -> None:
    outcome = scored(GOLD, "0001 1 1\n0003 1 1\n0003 2 2\n")
    assert outcome.rows[:, : len(LINK_COUNTS)].tolist() == [[3, 2, 3, 1, 1, 3, 1], [0, 1, 3, 0, 0, 0, 0]]
    assert [warning.code for warning in outcome.warnings] == ["alignment-sentence-not-in-gold"]


def test_real_systems_counts_and_scores(golden: Any, real_data: Path) -> None:
    folder = real_data / "alignment_enfr"
    spec = parse_spec({"format": "talp", "metrics": ["alignment"]})
    evaluation = Evaluation(spec, (folder / "gold.talp").read_bytes())
    named = Evaluation(parse_spec({"format": "naacl", "metrics": ["alignment"]}), (folder / "gold.wa").read_bytes())
    for name, expected in golden("alignment_enfr")["enfr"]["systems"].items():
        text = (folder / "systems" / f"{name}.pharaoh").read_bytes()
        for side in (evaluation, named):
            outcome = side.score(text, parse_format("pharaoh"))[0]["alignment"]
            assert outcome.totals[:5].tolist() == list(expected["counts"].values()), name
            found = scores(outcome)
            assert {key: found[key] for key in expected["exact"]} == pytest.approx(expected["exact"], abs=1e-12)
            assert not outcome.warnings
            shown = spec.entries[0].metric.report("wa_eval", outcome)
            assert f"   AER       = {expected['wa_eval_align_pl']['AER']:.4f}\n" in shown


def test_the_real_systems_indices_read_wrongly_are_warned_of(real_data: Path) -> None:
    folder = real_data / "alignment_enfr"
    lengths = [
        [len(side.split()) for side in line.split("|||")]
        for line in (folder / "text.src-tgt").read_text(encoding="utf-8").splitlines()
    ]
    evaluation = Evaluation(
        parse_spec({"format": "talp", "metrics": ["alignment"]}), (folder / "gold.talp").read_bytes()
    )
    text = (folder / "systems" / "awesome-align.pharaoh").read_bytes()
    with pytest.raises(InputError, match="sentence pairs link NULL with NULL"):
        evaluation.score(text, parse_format("talp"))
    based = evaluation.score(text, parse_format({"name": "talp", "base": 1}))[0]["alignment"]
    assert scores(based)["aer"] == pytest.approx(0.437, abs=0.0005)
    assert '{"name": "talp", "base": 0}' in based.warnings[0].detail
    turned = evaluation.score(text, parse_format({"name": "pharaoh", "reversed": True}))[0]["alignment"]
    assert "other side's word first" in turned.warnings[0].detail
    assert 'the format of the output: {"name": "pharaoh", "base": 0}.' in turned.warnings[0].detail
    whole = parse_spec({"format": "talp", "metrics": [{"name": "alignment", "params": {"null_links": "complete"}}]})
    with_null = Evaluation(whole, (folder / "gold.talp").read_bytes(), parse_items({"lengths": lengths}))
    completed = with_null.score(text, parse_format("pharaoh"))[0]["alignment"]
    assert scores(completed)["aer"] == pytest.approx(0.218, abs=0.0005)


def test_formats_mix() -> None:
    pharaoh, talp, naacl = "0-0 1-1 1p2\n\n2-0\n", "1-1 2-2 2p3\n\n3-1\n", "1 1 1\n1 2 2\n1 2 3 P\n003 3 1\n"
    texts = {"pharaoh": pharaoh, "talp": talp, "naacl": naacl}
    for gold_format, gold in texts.items():
        for system_format, output in texts.items():
            outcome = scored(gold, output, gold_format, system_format)
            assert links_in(outcome) == [4, 3, 4, 3, 4, 3, 3], (gold_format, system_format)
            assert not outcome.warnings


def test_names_that_are_a_run_of_numbers_stand_for_the_lines_in_order() -> None:
    assert scores(scored("0101 1 1\n0102 2 2\n", "0-0\n1-1\n", "naacl", "pharaoh"))["aer"] == 0.0
    assert scores(scored("0-0\n1-1\n", "0102 2 2\n0101 1 1\n", "pharaoh", "naacl"))["aer"] == 0.0
    assert scores(scored("a 1 1\nb 2 2\n", "0-0\n1-1\n", "naacl", "pharaoh"))["aer"] == 0.0
    (problem,) = problems("a 1 1\nb 2 2\n", "0-0\n", "naacl", "pharaoh")
    assert problem.code == "alignment-unknown-sentence"
    (problem,) = problems("1 1 1\n3 2 2\n", "0-0\n", "naacl", "pharaoh")
    assert problem.code == "sentence-count-mismatch"
    (problem,) = problems("0-0\n\n", "0-0\n", "pharaoh")
    assert problem.code == "sentence-count-mismatch"


def test_null_links_kept_dropped_and_completed() -> None:
    """Gold links word 1 to word 1 of two a side; the output leaves word 2 of the source to NULL."""
    gold, output, items = "1 1 1 S\n1 2 2 S\n", "1 1 1\n1 2 0\n", {"lengths": [[2, 2]]}
    assert links_in(scored(gold, output)) == [2, 2, 2, 1, 1, 2, 1]
    assert links_in(scored(gold, output, null_links="drop")) == [1, 2, 2, 1, 1, 1, 1]
    # completed: target word 2 has no link in the output, so a possible link 0-2 joins 1-1 and 2-0
    assert links_in(scored(gold, output, items=items, null_links="complete")) == [3, 2, 2, 1, 1, 2, 1]
    # completed on gold's side too: 2-0 and 0-2 are then possible in gold
    assert links_in(scored("1 1 1 S\n", output, items=items, null_links="complete")) == [3, 1, 3, 1, 3, 2, 1]
    assert problems(gold, output, null_links="complete")[0].code == "alignment-lengths-needed"
    # a length is a few bytes, and may stand for 100,000 links
    with pytest.raises(LimitError, match="which exceeds 2000000"):
        scored("0-0\n" * 50, "0-0\n" * 50, "pharaoh", items={"lengths": [[100_000] * 2] * 50}, null_links="complete")


def test_links_beyond_the_sentence_are_named_with_their_places() -> None:
    output = "0-0 1-1\n0-0\n0-0  7-1 1-9\n"
    found = problems("0-0 1-1\n0-0\n0-0\n", output, "pharaoh", items={"lengths": [[2, 2], [1, 1], [3, 3]]})
    assert [(p.code, p.sentence, p.line, p.column) for p in found] == [
        ("alignment-link-out-of-range", 3, 3, 10),
        ("alignment-link-out-of-range", 3, 3, 6),
    ]
    assert "target word 10" in found[0].detail
    assert "source word 8" in found[1].detail
    in_gold = problems("0-0 5-1\n", "0-0\n", "pharaoh", items={"lengths": [[2, 2]]})
    assert (in_gold[0].code, in_gold[0].pointer) == ("alignment-link-out-of-range", "/gold")


LINKS, SHIFTED = "0-0 1-1 2-3 3-2\n0-1 1-2 2-0\n", "1-1 2-2 3-4 4-3\n1-2 2-3 3-1\n"
LENGTHS = {"lengths": [[4, 4], [3, 3]]}


@pytest.mark.parametrize("form", ["pharaoh", {"name": "pharaoh", "base": 0}])
@pytest.mark.parametrize("items", [None, LENGTHS])
def test_a_wrong_base_is_scored_with_a_warning_that_mends_it(form, items) -> None:
    shifted = scored(LINKS, SHIFTED, {"name": "pharaoh", "base": 0}, form, items)
    assert scores(shifted)["aer"] > 0.5
    (warning,) = shifted.warnings
    assert warning.code == "alignment-suspicious-indices"
    assert '"talp" or {"name": "pharaoh", "base": 1}' in warning.detail
    assert "AER" not in warning.detail  # that is gold's business
    for mended in ("talp", {"name": "pharaoh", "base": 1}):
        outcome = scored(LINKS, SHIFTED, {"name": "pharaoh", "base": 0}, mended, items)
        assert (scores(outcome)["aer"], list(outcome.warnings)) == (0.0, [])


def test_a_wrong_direction_is_warned_of_with_the_format_that_mends_it() -> None:
    turned = scored("0-1 1-2 2-0\n", "1-0 2-1 0-2\n", "pharaoh")
    mend = '{"name": "pharaoh", "base": 0, "reversed": true}'
    assert mend in turned.warnings[0].detail
    assert list(scored("0-1 1-2 2-0\n", "1-0 2-1 0-2\n", "pharaoh", json.loads(mend)).warnings) == []


def test_no_reading_is_advised_that_the_format_does_not_have() -> None:
    """Links that are one too high in a text that counts from 1 already would need a base of 2."""
    (high,) = scored("1-1 2-2 3-3\n", "2-2 3-3 4-4\n", "talp").warnings
    assert 'the format of gold: "pharaoh" or {"name": "talp", "base": 0}.' in high.detail


def test_links_beyond_the_sentence_are_an_error_with_the_base_to_state() -> None:
    many = {"lengths": LENGTHS["lengths"] * 10}
    (system,) = problems(LINKS * 10, SHIFTED * 10, "pharaoh", items=many)
    assert system.code == "alignment-base-not-stated"
    assert '"talp" or {"name": "pharaoh", "base": 1}' in system.detail
    (gold,) = problems(SHIFTED, LINKS, "pharaoh", items=LENGTHS)
    assert (gold.code, gold.pointer) == ("alignment-base-not-stated", "/gold")
    (turned,) = problems("0-0 1-3\n" * 20, "3-1 0-0\n" * 20, "pharaoh", items={"lengths": [[2, 4]] * 20})
    assert (turned.code, turned.sentence, turned.line) == ("alignment-base-not-stated", 1, 1)
    assert '{"name": "pharaoh", "base": 0, "reversed": true}' in turned.detail
    assert "other side's word first" in turned.detail
    stated = {"name": "pharaoh", "base": 0}
    assert {p.code for p in problems(SHIFTED, LINKS, stated, items=LENGTHS)} == {"alignment-link-out-of-range"}


def test_the_report_is_wa_evals_own_layout() -> None:
    outcome = scored(GOLD, "0001 1 1\n0001 2 2\n0001 2 3\n0002 1 1\n")
    spec = parse_spec({"format": "naacl", "metrics": ["alignment"]})
    assert spec.entries[0].metric.report("wa_eval", outcome) == (
        "\nThe following results assume correct file formats.\n"
        "Make sure you have previously checked the file format\n"
        "using wa_check_submission.pl\n\n"
        "\n    Word Alignment Evaluation   \n"
        "----------------------------------\n"
        "   Evaluation of SURE alignments \n"
        "   Precision = 0.7500  \n"
        "   Recall    = 1.0000\n"
        "   F-measure = 0.8571\n"
        "-----------------------------------\n"
        "   Evaluation of PROBABLE alignments\n"
        "   Precision = 1.0000\n"
        "   Recall    = 0.6667\n"
        "   F-measure = 0.8000\n"
        "-----------------------------------\n"
        "   AER       = 0.0000\n"
    )
    with pytest.raises(KeyError):
        spec.entries[0].metric.report("evalb", outcome)


def test_possible_links_of_an_output_alone_are_a_sign_of_swapped_texts() -> None:
    for gold, output, codes in (("0-0 1-1\n", "0-0 1?1\n", ["alignment-swapped"]), ("0-0 1?1\n", "0-0 1?1\n", []),
                                ("0-0 1?1\n", "0-0 1-1\n", [])):  # fmt: skip
        assert [problem.code for problem in scored(gold, output, "pharaoh").warnings] == codes


def test_items_show_the_wrong_and_the_missed_links() -> None:
    outcome = scored(GOLD, "0001 1 1\n0001 2 1\n0002 1 2 P\n")
    assert outcome.item(0) == {"wrong": [[2, 1, "S"]], "missed": [[2, 2, "S"], [2, 3, "P"]]}
    assert outcome.item(1) == {"wrong": [[1, 2, "P"]], "missed": [[0, 2, "P"], [1, 1, "S"], [2, 0, "P"]]}
    bits = outcome.tokens["sure_recall"]
    assert (bits.bits.tolist(), bits.offsets.tolist()) == ([True, False, False], [0, 2, 3])


def test_tables_by_attribute_and_length() -> None:
    items = {"attributes": {"genre": ["talk", "news"]}, "lengths": [[2, 3], [2, 2]]}
    slices = scored(GOLD, "0001 1 1\n0002 1 1\n", items=items).slices()
    assert [(row["value"], row["counts"]["links"], row["scores"]["aer"]) for row in slices["genre"]] == [
        ("news", 1, 0.0),
        ("talk", 1, pytest.approx(1 - 2 / 3)),
    ]
    assert [(row["value"], row["sentences"]) for row in slices["source_length"]] == [(2, 2)]


LINK = st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans())
PAIRS = st.lists(st.lists(LINK, max_size=8), min_size=1, max_size=5)


def text_of(pairs: list[list[tuple[int, int, bool]]]) -> str:
    return "".join(" ".join(f"{a}{'-' if sure else 'p'}{b}" for a, b, sure in pair) + "\n" for pair in pairs)


@given(PAIRS, PAIRS)
def test_one_more_right_link_lowers_no_recall(gold: list[Any], output: list[Any]) -> None:
    output = (output + [[] for _ in gold])[: len(gold)]
    outcome = scored(text_of(gold), text_of(output), "talp")
    for row, pair in enumerate(gold):
        for link in pair[:2]:
            more = [[*links, link] if i == row else links for i, links in enumerate(output)]
            better = scores(scored(text_of(gold), text_of(more), "talp"))
            for name in ("sure_recall", "possible_recall", "och_ney_recall"):
                before = scores(outcome)[name]
                assert math.isnan(before) or better[name] >= before


def test_gold_whose_base_is_stated_wrongly_is_warned_of_with_what_mends_it() -> None:
    gold, output = "1-1 2-2 3-3\n" * 25, "0-0 1-1 2-2\n" * 25
    (warning,) = scored(gold, output, {"name": "pharaoh", "base": 0}, {"name": "pharaoh", "base": 0}).warnings
    assert warning.code == "alignment-suspicious-indices"
    assert "because gold counts them from 1: under this reading" in warning.detail
    assert '"talp" or {"name": "pharaoh", "base": 1}' in warning.detail
    assert list(scored(gold, output, "talp", {"name": "pharaoh", "base": 0}).warnings) == []
