"""`treescore submit --not-worse-than`: the benchmark's margin, what is established, and the exit status."""

from __future__ import annotations

import json
import re

import pytest

from tests.treescore.cli.test_submit import BENCHMARK, EXAMPLES, POST, SUBMISSION, Task, files, to_stand_in
from treescore.cli.verdicts import require_margin

__all__ = ["files"]
MARGIN = 0.05
OTHER = "sub_2"
WITH_MARGIN = {**BENCHMARK, "leaderboard": {"margin": MARGIN}}
SCORES = {"metrics": {"attachment": {"scores": {"las": 0.8}, "ci95": {"las": None}}}}
SCORED = {**SUBMISSION, "state": "succeeded", "scores": SCORES}
ROW = {"rank": 1, "rank_interval": None, "cluster": None, "p_next": None, "submission": "sub_1", "team": "t"}
BOARD = {"rows": [ROW, {**ROW, "submission": OTHER, "rank": 2}], "next": None, "significance": {"pending": False}}
ASK = ("POST", "/v1/benchmarks/x/comparisons")
PAIR = {"a": OTHER, "b": "sub_1", "difference": 0.01, "better": "a", "p_adjusted": 0.3, "significant": False}


def answered(test):
    """A service that has compared both, with this test of the margin."""
    comparison = {"id": "cmp_1", "state": "succeeded", "pairs": [{**PAIR, "noninferiority": test}]}
    return {
        ("GET", "/v1/benchmarks/x"): [(200, {}, WITH_MARGIN)],
        ("GET", "/v1/benchmarks/x/leaderboard"): [(200, {}, BOARD)],
        POST: [(201, {}, SCORED)],
        ASK: [(201, {}, comparison)],
        ("GET", "/v1/comparisons/cmp_1"): [(200, {}, comparison)],
        ("GET", "/v1/submissions/sub_1"): [(200, {}, SCORED)],
    }


def noninferiority(*, established, p=0.001):
    sides = {"sub_1": (p, established), OTHER: (0.9, not established)}
    return {"margin": MARGIN} | {
        name: {"p": p, "p_adjusted": p, "established": shown} for name, (p, shown) in sides.items()
    }


def test_it_passes_where_it_is_shown_of_this_submission(files):
    done, _ = to_stand_in(
        answered(noninferiority(established=True)), files / "right.conllu", "--not-worse-than", OTHER, status=0
    )
    line = f"compared with {OTHER}: -0.0100, p .30: no significant difference; "
    assert line + f"not worse than {OTHER} by more than 0.05: p .0010: shown\n" in done.stdout
    assert done.stderr == ""


def test_it_fails_where_it_is_not_shown_though_nothing_is_significant(files):
    script = answered(noninferiority(established=False, p=0.2))
    arguments = (files / "right.conllu", "--not-worse-than", OTHER, "--fail-if-worse-than", OTHER)
    done, seen = to_stand_in(script, *arguments, status=1)
    assert done.stderr == f"It is not shown that it is not worse than {OTHER} by more than 0.05: p .20.\n"
    assert seen.count(ASK) == 1


def test_the_document_has_margin_p_and_verdict(files):
    script = answered(noninferiority(established=True))
    done, _ = to_stand_in(script, files / "right.conllu", "--not-worse-than", "best", "--json", status=0)
    (found,) = json.loads(done.stdout)["comparisons"]
    assert (found["with"], found["noninferiority"]) == (OTHER, {"margin": MARGIN, "p": 0.001, "established": True})


def test_nothing_is_shown_where_the_two_are_scored_on_different_sentences(files):
    script = answered(noninferiority(established=True))
    warning = "The outputs are scored on different sentences: sub_1 covers 59/60."
    script[ASK][0][2]["warnings"] = [warning]
    for option in ("--not-worse-than", "--fail-if-worse-than"):
        done, _ = to_stand_in(script, files / "right.conllu", option, OTHER, status=1)
        assert done.stderr == f"{warning}\n"


def test_no_threshold_is_kept_by_leaving_sentences_out(files):
    scorer = {"scores": [{"name": "las", "higher_is_better": True, "range": [0.0, 1.0]}]}
    scored = {**SCORED, "scores": {**SCORES, "covered": "59/60"}}
    for errors, status in (("exclude", 1), ("zero", 0)):
        script = answered(None) | {
            ("GET", "/v1/benchmarks/x"): [(200, {}, {**WITH_MARGIN, "errors": errors})],
            ("GET", "/v1/scorers/attachment"): [(200, {}, scorer)],
            POST: [(201, {}, scored)],
        }
        done, _ = to_stand_in(script, files / "right.conllu", "--fail-below", "attachment.las=0.5", status=status)
        assert ("59 of 60 are covered" in done.stderr) is bool(status)


def test_a_comparison_without_a_test_of_the_margin_is_status_3(files):
    done, _ = to_stand_in(answered(None), files / "right.conllu", "--not-worse-than", OTHER, status=3)
    assert done.stderr == f"The comparison with {OTHER} has no test of the benchmark's margin.\n"


def test_a_refused_comparison_is_status_3_with_the_reason(files):
    script = answered(None) | {ASK: [(403, {}, {"detail": "A team compares rows of the leaderboard."})]}
    done, _ = to_stand_in(script, files / "right.conllu", "--not-worse-than", OTHER, status=3)
    assert done.stderr == f"The comparison with {OTHER} is not available: A team compares rows of the leaderboard.\n"


def test_the_same_submission_is_not_worse_than_itself(files):
    to_stand_in(answered(None), files / "right.conllu", "--not-worse-than", "sub_1", status=0)


def test_without_another_submission_there_is_nothing_to_be_worse_than(files):
    alone = {**BOARD, "rows": [ROW]}
    script = answered(None) | {("GET", "/v1/benchmarks/x/leaderboard"): [(200, {}, alone)]}
    done, _ = to_stand_in(script, files / "right.conllu", "--not-worse-than", "best", status=0)
    assert "the board shows no other submission." in done.stdout


@pytest.mark.parametrize("leaderboard", [{"margin": None}, {}])
def test_a_benchmark_without_a_margin_is_refused_before_anything_is_sent(files, leaderboard):
    script = {("GET", "/v1/benchmarks/x"): [(200, {}, {**BENCHMARK, "leaderboard": leaderboard})]}
    done, seen = to_stand_in(script, files / "right.conllu", "--not-worse-than", OTHER, status=2)
    assert "the benchmark x has no margin. Ask its organisers to set `leaderboard.margin`" in done.stderr
    assert POST not in seen
    require_margin(WITH_MARGIN)


@pytest.mark.e2e
def test_a_version_is_not_worse_than_the_one_before(served):
    """Gold without documents, of which there would be too few to show anything."""
    gold = re.sub(r"^# newdoc.*\n", "", (EXAMPLES / "gold.conllu").read_text(encoding="utf-8"), flags=re.MULTILINE)
    task = Task(served, gold, leaderboard={"margin": 0.1})
    before = task.scored(EXAMPLES / "systems" / "neural-b.conllu")
    done = task.run(EXAMPLES / "systems" / "neural-a.conllu", "--not-worse-than", before)
    assert f"not worse than {before} by more than 0.1: p " in done.stdout
    worse = task.run(EXAMPLES / "systems" / "rules.conllu", "--not-worse-than", before, status=1)
    assert "It is not shown that it is not worse than" in worse.stderr
