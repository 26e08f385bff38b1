"""Malformed values of options: each is a usage error that names the option and shows an example."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.treescore.cli.test_options import GOLD, GRAPH, RULES, run
from treescore.cli.options import EndTime, Lengths

OBJECT = "Give an object, as '"
NAME = "Give a name, as "


@pytest.mark.parametrize(
    ("command", "option", "value", "expected"),
    [
        ("compare", "--significance", "unit=block", OBJECT),
        ("compare", "--significance", "", OBJECT),
        ("score", "--items", "{", OBJECT),
        ("score", "--items", "@/no/such/file", "/no/such/file cannot be read: No such file or directory"),
        ("score", "--format", "{", NAME),
        ("score", "--format", "@/no/such/file", "cannot be read"),
        ("score", "--metric", "{ud}", NAME),
        ("score", "--transform", "[", NAME),
        ("score", "--run", "x", "Write it as A=a-seed2.conllu."),
        ("score", "--run", "=x", "Write it as A=a-seed2.conllu."),
        ("score", "--runs", "x", "Write it as 'A=a/seed*.conllu'."),
        ("score", "--runs", "x=/no/such/*", "no file matches"),
        ("score", "--output-format", "x", "Write it as A=conllx."),
        ("score", "--output-format", "x=conllx", "x is not an output. Outputs: rules, graph."),
        ("score", "--output-format", "rule=conllx", "rule is not an output. Did you mean 'rules'?"),
        ("score", "--output-format", "rules={", NAME),
        ("score", "--unit", "percents", "'percent'"),
        ("score", "--style", "evalb", "Unknown style 'evalb' of ud. Styles: conll18."),
        ("score", "--style", "evalb", "The metric parseval prints it."),
        ("score", "--style", "conll", "Did you mean 'conll18'?"),
        ("compare", "--margin", "-1", "in units of the score, as 0.005, or in points of percent, as 0.5%."),
        ("compare", "--seed", "x", "Write it as 7."),
        ("compare", "--alpha", "2", "not a number from 1e-12 to 0.5. Write it as 0.01."),
        ("compare", "--test", "t-test", "'permutation'"),
        ("compare", "--correction", "hom", "Did you mean 'holm'?"),
        ("score", "--decimals", "16", "'16' is not a whole number from 0 to 15. Write it as 1."),
        ("score", "--fail-below", "LAS=much", "'LAS=much' is not a score with a number. Write it as ud.las_f1=0.85."),
        ("compare", "--test-unit", "documnt", "'document'"),
        ("compare", "--scores", "ud.las_f1,", "Write them as LAS,UAS or ud.las_f1,ud.uas_f1."),
        ("errors", "--length", "long", "Write a number of words, as 12, or a range, as 10-20."),
        ("errors", "--limit", "x", "not a whole number of 0 or more. Write it as 10."),
    ],
)
def test_a_malformed_value_is_a_usage_error_with_an_example(
    command: str, option: str, value: str, expected: str
) -> None:
    done = run(command, option, value, GOLD, RULES, GRAPH, status=2)
    said = " ".join(done.stderr.split())
    assert said.startswith(f"Usage: main {command} [OPTIONS]")
    assert option in said or option == "--style"
    assert expected in said
    assert "Traceback" not in said
    assert not done.stdout


@pytest.mark.parametrize("option", ["--significance", "--items"])
def test_a_file_stands_for_an_object(option: str, tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    path.write_text("\ufeff{}", encoding="utf-8")
    run("compare", option, f"@{path}", "--metric", "attachment", GOLD, RULES, GRAPH)
    path.write_bytes(b"\xff\xfe{")
    said = run("compare", option, f"@{path}", GOLD, RULES, GRAPH, status=2).stderr
    assert "it is not text in UTF-8" in " ".join(said.split())


def test_a_setting_is_given_once() -> None:
    done = run("compare", "--seed", "3", "--significance", '{"seed": 3}', GOLD, RULES, GRAPH, status=2)
    assert "--seed and --significance both give 'seed'. Leave it out of one of them." in " ".join(done.stderr.split())


@given(low=st.integers(0, 10**8), width=st.integers(0, 1000))
def test_lengths_are_kept_as_they_are_written(low: int, width: int) -> None:
    for written in (f"{low}", f"{low}-{low + width}", f"{low}-", f"-{low}"):
        assert Lengths().convert(written, None, None) == written


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2099-12-31", "2099-12-31T23:59:59+00:00"),
        ("2099-12-31T00:00:00", "2099-12-31T00:00:00+00:00"),
        ("2099-12-31T08:30:00Z", "2099-12-31T08:30:00+00:00"),
    ],
)
def test_what_ends_at_a_date_alone_ends_with_that_day(value: str, time: str) -> None:
    assert EndTime().convert(value, None, None).isoformat() == time
