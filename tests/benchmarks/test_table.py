"""The frame of `make bench`: what scripts report stands in the table; every script is in it or said to be apart."""

from __future__ import annotations

import all as bench
import pytest
import table
from reading import LONG_TEXTS
from table import Goal, Measure, at_least

from tests.conftest import ROOT
from treescore.core.registry import METRICS


@pytest.mark.parametrize(
    ("goal", "value", "met"),
    [(Goal(2.5), 2.5, True), (Goal(2.5), 2.51, False), (at_least(5), 5.0, True), (at_least(5), 4.9, False)],
)
def test_a_goal_is_met_on_its_side_of_the_bound(goal, value, met):
    assert goal.met(value) is met
    assert ("| yes |" in Measure("what", table.JOB, "peer", value, goal).row()) is met


def test_what_was_not_measured_says_why_and_is_no_goal_that_is_met():
    row = Measure("what", table.READ, "EVALB", None, Goal(1.0), "no program").row()
    assert row == "| what | read + compare | EVALB | not measured | ≤ 1 | - | no program |"


def test_measures_reach_the_table_through_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(table.INTO, str(tmp_path / "measures"))
    sent = [Measure("one", table.JOB, "peer", 1.5, Goal(2.0), "3 and 2 s"), Measure("two", table.PROCESS, "-", None)]
    for measure in sent:
        table.report(measure)
    assert table.measures_of(tmp_path / "measures") == sent
    assert capsys.readouterr().out == "".join(measure.row() + "\n" for measure in sent)


def test_the_page_has_every_line_and_counts_the_goals():
    met, missed = Measure("a", table.JOB, "b", 1.0, Goal(2.0)), Measure("c", table.JOB, "d", 3.0, Goal(2.0))
    absent = Measure("e", table.JOB, "f", None, Goal(2.0), "no peer")
    page = bench.page({"jobs": bench.section("jobs", [met, missed, absent])}, quick=False)
    assert "2 goals, 1 met." in page
    assert all(measure.row() in page for measure in (met, missed, absent))
    assert "benchmarks/reading.py`\n" not in page


def test_scripts_that_are_not_run_again_keep_their_tables(tmp_path, monkeypatch):
    page = tmp_path / "benchmarks.md"
    lines = {name: Measure(f"of {name}", table.JOB, "-", 1.0, Goal(2.0)) for name in bench.SCRIPTS}
    sections = {name: bench.section(name, [line]) for name, line in lines.items()}
    page.write_text(bench.page(sections, quick=False))
    assert bench.sections_of(page) == sections
    again = Measure("of jobs, again", table.JOB, "-", 3.0, Goal(2.0))
    monkeypatch.setattr(bench, "run", lambda *_: [again])
    monkeypatch.setattr("sys.argv", ["all.py", "--into", str(page), "--only", "jobs"])
    bench.main()
    found = bench.sections_of(page)
    assert again.row() in found["jobs"]
    assert lines["jobs"].row() not in found["jobs"]
    assert {**found, "jobs": ""} == {**sections, "jobs": ""}
    assert bench.sections_of(tmp_path / "none.md") == {}


def test_a_script_that_fails_is_a_line_of_the_table(tmp_path, monkeypatch):
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "broken.py").write_text("raise SystemExit(3)\n")
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    [found] = bench.run("broken", [], tmp_path)
    assert found.value is None
    assert found.figures == "the script ended with status 3"


def test_every_script_is_run_or_said_to_be_apart():
    helpers = {"all", "browser_pages", "likeness", "page_data", "services", "table", "texts"}
    scripts = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - helpers
    assert scripts == set(bench.SCRIPTS) | set(bench.APART)


def test_every_metric_has_a_long_sentence():
    assert {metric.examples[0].format for metric in METRICS.values()} <= set(LONG_TEXTS)
