"""Results as programs read them: pairs, scores that are numbers, scores by sentence, styles, what there is."""

import math
from pathlib import Path

import pytest

import treescore
from treescore.api import Output, evaluate
from treescore.cli.main import main
from treescore.core.registry import FORMATS, METRICS
from treescore.results import Comparison, Result

GOLD = b"(TOP (S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP it)))))\n"
WORSE = b"(TOP (S (NP (DT the)) (VP (NN dog) (VBD saw) (NP (PRP it)))))\n"


class Links(frozenset[tuple[int, int | None]]):
    """An `Alignment` of NLTK: a frozenset of pairs."""


@pytest.fixture(name="result", scope="module")
def _result() -> Result:
    return treescore.score(GOLD, {"A": GOLD, "B": WORSE}, format="bracketed", significance=True)


@pytest.fixture(name="table", scope="module")
def _table(result: Result) -> Comparison:
    assert result.comparison is not None
    return result.comparison


def test_a_pair_is_found_in_either_order(table: Comparison) -> None:
    pair = table["A", "B"]
    [document] = table.comparisons[0]["pairs"]
    assert (pair.difference, pair.p, pair.p_adjusted) == tuple(document[k] for k in ("difference", "p", "p_adjusted"))
    assert table.pairs == (pair,)
    assert (table["B", "A"].a, table["B", "A"].difference, table["B", "A"].p) == ("B", -pair.difference, pair.p)
    assert table["B", "A"].turned == pair
    assert list(table) == [pair]
    assert [("A", "B") in table, ("A", "C") in table, "A" in table] == [True, False, False]
    for names, why in (
        (("A", "C"), r"Unknown pair .*'A', 'B'"), (("A", "B", "f1"), "'f1' was not compared"),
        ("AB", "'AB' is not a pair"), (("A", "B", "C", "D"), "is not a pair"), (0, "0 is not a pair"),
    ):  # fmt: skip
        with pytest.raises(KeyError, match=why):
            table[names]


def test_a_pair_of_several_scores_names_its_score(result: Result) -> None:
    table = treescore.compare(result, scores=["parseval.labelled_f1", "parseval.exact_match"])
    assert table["A", "B", "parseval.exact_match"].difference == 1
    with pytest.raises(KeyError, match="Several scores"):
        table["A", "B"]


def test_a_one_sided_pair_is_not_turned(result: Result) -> None:
    table = treescore.compare(result, alternative="greater")
    assert table["A", "B"].p == table.comparisons[0]["pairs"][0]["p"]
    with pytest.raises(KeyError, match="one-sided"):
        table["B", "A"]


def test_intervals_alone_are_no_family_of_tests(result: Result) -> None:
    table = treescore.compare(result, test="bootstrap", scores=["parseval.labelled_f1", "parseval.exact_match"])
    assert math.isnan(table["A", "B", "parseval.exact_match"].p)
    assert not table.pairs[0].significant
    assert "0 tests" not in str(table)


def test_a_printed_comparison_keeps_to_the_terminal(table: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, str(table).splitlines())) <= 60


def test_an_undefined_score_is_nan() -> None:
    scores = treescore.score(b"(TOP (NN a))\n", {"A": b"(TOP (NN a))\n"}, format="bracketed")["A"]
    undefined = [address for address in scores if not scores.defined(address)]
    assert undefined
    assert all(math.isnan(scores[address]) for address in undefined)


def test_a_part_of_a_name_suggests_the_score(result: Result) -> None:
    with pytest.raises(AttributeError, match="Did you mean 'labelled_f1'"):
        _ = result["A"].f1
    assert result["B"].cutoff_labelled_f1 == result["B"]["parseval.cutoff.labelled_f1"]


@pytest.mark.parametrize("name", METRICS)
def test_sentences_sum_to_the_counts_of_the_text(name: str) -> None:
    example = METRICS[name].examples[0]
    result = evaluate(example.request(name), example.gold(), [Output("A", example.output())])
    view = result["A"].by_sentence()
    outcome, table = result.report.outcomes[0][name], result.report.spec.entries[0].metric.table
    assert len(view) == len(example.sentences)
    totals = table.shown(outcome.rows).sum(axis=0).tolist()
    assert [sum(row[f"counts.{each}"] for row in view) for each in table.count_names] == pytest.approx(totals)
    assert {f"scores.{score.name}" for score in table.scores} <= set(view.columns)
    assert len(result.sentences_csv().splitlines()) == 1 + len(view)


def test_the_command_prints_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path
    (folder / "gold.mrg").write_bytes(GOLD * 2)
    (folder / "a.mrg").write_bytes(GOLD + WORSE)
    main(["score", str(folder / "gold.mrg"), str(folder / "a.mrg"), "--sentence-level"], standalone_mode=False)
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("system,metric,sentence,sent_id,status,scores.labelled_f1")
    assert [row.split(",")[:3] for row in rows] == [["a", "parseval", "1"], ["a", "parseval", "2"]]


def test_a_style_is_printed_for_one_system(result: Result) -> None:
    own = result.to_text(style="evalb", system="B")
    assert result.to_text(style="evalb") == f"A:\n{result.to_text(style='evalb', system='A')}B:\n{own}"
    with pytest.raises(treescore.InputError, match="Unknown style 'evlb'"):
        result.to_text(style="evlb")


def test_what_there_is_is_data() -> None:
    assert [each["name"] for each in treescore.list_metrics()] == list(METRICS)
    assert [each["name"] for each in treescore.list_formats()] == list(FORMATS)


def test_generators_and_sets_of_pairs_are_taken() -> None:
    gold = [Links({(0, 0), (1, None)}), Links({(1, 0), (0, 1)})]
    scores = treescore.score(iter(gold), {"A": ({(0, 0)} for _ in gold)})["A"]
    text = treescore.score(b"0-0\n0-1 1-0\n", {"A": b"0-0\n0-0\n"}, format="pharaoh")["A"]
    assert dict(scores) == pytest.approx(dict(text), nan_ok=True)
    both = treescore.compare(iter(gold), {"A": iter(gold), "B": ({(0, 0)} for _ in gold)})
    assert both["A", "B"].score_a == 0


@pytest.mark.parametrize("source", [3, [object()]])
def test_what_is_no_text_is_named(source: object) -> None:
    with pytest.raises(treescore.InputError, match=r"of type (int|object|list .of object.); taken are a path"):
        treescore.score(source, {"A": GOLD})
    with pytest.raises(treescore.InputError, match=r"of type (int|object|list .of object.); taken are a path"):
        treescore.score(GOLD, {"A": source}, format="bracketed")
