"""`treescore.testing.assert_not_worse` passes where the test set shows it, and else says what to look at."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.conftest import ROOT
from treescore import InputError
from treescore.errors import TreescoreWarning
from treescore.testing import assert_not_worse, not_worse

EXAMPLES = ROOT / "examples" / "dependencies"
GOLD = EXAMPLES / "gold.conllu"
GRAPH, NEURAL, RULES = (EXAMPLES / "systems" / f"{name}.conllu" for name in ("graph", "neural-a", "rules"))
BY_SENTENCE = {"unit": "sentence"}

RIGHT = "# sent_id = s{0}\n1\ta\t_\tX\t_\t_\t2\tdet\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
WRONG = RIGHT.replace("det", "obj")
WORDS = {"format": "conllu", "metric": "attachment", "score": "attachment.las"}


def text(sentences: int, *wrong: int) -> str:
    """A text in which one of two words is wrong in the sentences of these numbers."""
    return "".join((WRONG if number in wrong else RIGHT).format(number) for number in range(1, sentences + 1))


def test_a_better_output_passes_and_tells_what_the_claim_stands_on() -> None:
    found = assert_not_worse(GOLD, RULES, GRAPH, significance=BY_SENTENCE)
    assert found.established
    assert found.old == pytest.approx(0.7263, abs=1e-4)
    assert found.new == pytest.approx(0.8692, abs=1e-4)
    assert found.difference == found.new - found.old
    low, high = found.interval
    assert 0 < low < found.difference < high
    assert found.p < 1e-6
    assert "At the level 0.05, the test set rules out a loss of 0.2 points of percent." in str(found)


def test_a_worse_output_fails_with_scores_interval_p_assumption_and_sentences() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_not_worse(str(GOLD), NEURAL, GRAPH, "ud.las_f1", 0.002, significance=BY_SENTENCE)
    lines = str(caught.value).splitlines()
    assert lines[0] == "new is not shown not to be worse than old by more than 0.2 points of percent on ud.las_f1"
    assert lines[1] == "The new score is worse by 6.142 points of percent, which is more than the margin."
    assert lines[2:4] == ["  old         93.06", "  new         86.92"]
    assert lines[4].startswith("  difference  -6.14, 95% interval -")
    assert lines[5] == "  test        p 1.00, needed at most 0.05; one-sided, 60 sentences"
    assert lines[6].startswith("  note        Tested over 60 sentences: a marked difference holds for these documents")
    start = next(at for at, line in enumerate(lines) if not line.startswith("  note ") and at > 6)
    assert lines[start] == "sentences that got worse (31; the worst 5):"
    assert lines[start + 1] == "  sentence 51 (lantern-7): 100.00 -> 64.71"
    assert "6 errors of new under ud, sentence 51" in lines
    assert re.fullmatch(r" +51 +lantern-7 +relation +6 +stopped +VERB +0 +root +5 +xcomp", lines[-4])


@pytest.mark.parametrize(("wrong", "established"), [((), True), ((1,), True), ((1, 2, 3, 4, 5), False)])
def test_the_margin_decides_of_many_sentences(wrong: tuple[int, ...], established: bool) -> None:  # noqa: FBT001
    found = not_worse(text(100), text(100, 50), text(100, *wrong), margin=0.012, **WORDS)
    assert found.established is established
    assert [loss.number for loss in found.losses] == list(wrong)
    assert all((loss.old, loss.new, loss.sent_id) == (1.0, 0.5, f"s{loss.number}") for loss in found.losses)
    assert sum(loss.loss for loss in found.losses) == pytest.approx(len(wrong) / 200)


def test_no_difference_is_not_enough_where_the_test_set_is_small() -> None:
    found = not_worse(text(30), text(30, 1, 2, 3), text(30, 4, 5, 6), margin=0.002, **WORDS)
    assert found.difference == 0
    assert not found.established
    assert "not worse; 30 sentences are too few to rule out a loss of 0.2 points" in found.reason


def test_errors_are_shown_of_what_the_score_counts_alone() -> None:
    found = not_worse(GOLD, NEURAL, GRAPH, "ud.upos_f1", significance=BY_SENTENCE)
    assert found.losses
    assert "errors of new" not in str(found)
    assert len(found.result.errors("new", sentence=51).rows) == 6


def test_few_units_are_refused_with_what_can_be_done() -> None:
    found = not_worse(GOLD, RULES, GRAPH)
    assert not found.established
    assert found.reason.startswith("7 documents are too few: 20 are needed.")
    assert '{"unit": "sentence"}' in found.reason
    alone = not_worse(text(19), text(19, 1), text(19, 2), margin=0.2, **WORDS)
    assert alone.reason == "19 sentences are too few: 20 are needed. Use a larger test set."


def test_the_same_text_passes_whatever_the_size() -> None:
    found = assert_not_worse(text(2), text(2, 1), text(2, 1).encode(), **WORDS)
    assert found.reason == "Both outputs are the same text."
    assert found.losses == ()


def test_a_score_that_should_be_low_may_not_rise() -> None:
    links = ["0-0 1-1\n"] * 40
    worse = ["0-0 1-0\n"] * 4 + links[4:]
    arguments = {"format": "pharaoh", "score": "alignment.aer", "margin": 0.01}
    up = not_worse("".join(links), "".join(links), "".join(worse), **arguments)
    assert (up.established, up.difference > 0, up.losses_total) == (False, True, 4)
    down = assert_not_worse("".join(links), "".join(worse), "".join(links), **arguments)
    assert down.losses == ()


def test_an_undefined_score_is_no_success() -> None:
    nothing = "\n" * 30
    found = not_worse("0-0\n" * 30, nothing, "0-0\n" * 30, score="alignment.sure_precision", format="pharaoh")
    assert not found.established
    assert found.reason.startswith("It was not tested: ")
    assert "old         undefined" in str(found)


def test_training_runs_are_compared_together() -> None:
    old = [text(60, 1, 2), text(60, 3, 4)]
    new = [text(60, 1), text(60, 5)]
    found = not_worse(text(60), old, new, margin=0.05, **WORDS)
    assert found.old == pytest.approx(1 - 2 / 120)
    assert found.new == pytest.approx(1 - 1 / 120)
    assert [(loss.number, loss.old, loss.new) for loss in found.losses] == [(5, 1.0, 0.75)]


def test_the_metric_takes_its_parameters() -> None:
    gold, new = (each.replace("\tb\t", "\t.\t").replace("root", "punct") for each in (text(30), text(30, 1)))
    metric = {"name": "attachment", "key": "words", "params": {"punctuation": False}}
    found = not_worse(gold, gold, new, "words.las", format="conllu", metric=metric)
    assert found.new == pytest.approx(29 / 30)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"score": "attachment.lass"}, "unknown-score"),
        ({"score": "las", "metric": None}, "unknown-metric"),
        ({"margin": 0}, "bad-parameter"),
        ({"margin": "0.1"}, "bad-parameter"),
        ({"significance": {"units": "sentence"}}, "unknown-parameter"),
        ({"new": text(29)}, "sentence-count-mismatch"),
    ],
)
def test_wrong_arguments_are_errors_and_no_failed_claim(arguments: dict, code: str) -> None:
    given = {"gold": text(30), "old": text(30), "new": text(30, 1), **WORDS, **arguments}
    with pytest.raises(InputError) as caught:
        assert_not_worse(**given)
    assert caught.value.problems[0].code == code


def test_warnings_stand_in_the_message() -> None:
    crossed = text(30).replace("1\ta\t_\tX\t_\t_\t2\tdet", "1\ta\t_\tX\t_\t_\t0\troot")
    found = not_worse(text(30), crossed, text(30), format="conllu", metric="attachment", score="attachment.las")
    assert "several-roots" in found.warnings[0]
    assert f"  warning     {found.warnings[0]}" in str(found).splitlines()
    with pytest.warns(TreescoreWarning, match="several-roots") as caught:
        assert_not_worse(text(30), crossed, text(30), format="conllu", metric="attachment", score="attachment.las")
    assert {each.filename for each in caught} == {__file__}


@pytest.mark.parametrize("options", [{"score": None}, {"score": 1}, {"margin": None}, {"margin": "x"}])
def test_a_score_or_margin_of_another_type_is_an_error_with_an_example(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"Write score='ud\.las_f1', margin=0\.002\."):
        assert_not_worse("gold.conllu", "old.conllu", "new.conllu", **options)
