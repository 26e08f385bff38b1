"""`treescore errors`, `slices` and `diff`."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from tests.treescore.cli.test_options import GOLD, GRAPH, RULES, run

FILES = (GOLD, RULES, GRAPH)


def rows_of(*arguments: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(run(*arguments, "--csv").stdout)))


def documents(*arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(*arguments, "--json").stdout)
    return found


def test_filters_hold_together_and_one_repeated_holds_once() -> None:
    obl = rows_of("errors", *FILES, "--deprel", "obl")
    both = rows_of("errors", *FILES, "--deprel", "obl", "--deprel", "nmod")
    few = rows_of("errors", *FILES, "--deprel", "obl", "--upos", "NOUN", "--length", "11-20")
    assert 0 < len(few) < len(obl) < len(both)
    assert all("obl" in row["gold_deprel"] + row["system_deprel"] for row in obl)
    assert {row["upos"] for row in few} == {"NOUN"}


def test_sentences_are_named_by_number_or_name() -> None:
    by_number = rows_of("errors", *FILES, "--sentence", "3")
    assert by_number
    assert by_number == rows_of("errors", *FILES, "--sentence", "harbour-3")
    done = run("errors", *FILES, "--sentence", "nowhere", status=2)
    assert "Unknown sentence 'nowhere'" in done.stderr


def test_a_limit_is_of_each_report() -> None:
    found = documents("errors", *FILES, "--limit", "3")
    assert [(each["system"], each["metric"], len(each["rows"])) for each in found] == [
        ("rules", "ud", 3),
        ("graph", "ud", 3),
    ]
    assert all("--limit 0 shows all" in each["notes"][0] for each in found)


def test_several_metrics_are_reports_of_their_own() -> None:
    found = documents("errors", *FILES, "--metric", "ud", "--metric", "attachment", "--limit", "1")
    assert [each["metric"] for each in found] == ["ud", "ud", "attachment", "attachment"]


def test_groupings_are_listed_without_a_name() -> None:
    printed = run("slices", *FILES).stdout
    assert printed.startswith("ud: ")
    known = json.loads(run("slices", "--json", *FILES).stdout)["ud"]
    assert printed == f"ud: {', '.join(known)}\n"
    for name in known[:3]:
        assert documents("slices", *FILES, "--by", name)[0]["rows"]


def test_a_difference_is_of_sentences_that_one_has_right() -> None:
    one = rows_of("diff", *FILES)
    both = rows_of("diff", *FILES, "--both")
    assert both[: len(one)] == one
    assert {(row["right"], row["wrong"]) for row in one} == {("rules", "graph")}
    assert {(row["right"], row["wrong"]) for row in both} == {("rules", "graph"), ("graph", "rules")}
    of_rules = {row["item"] for row in rows_of("errors", GOLD, RULES)}
    of_graph = {row["item"] for row in rows_of("errors", GOLD, GRAPH)}
    assert {row["item"] for row in one} == of_graph - of_rules


@pytest.mark.parametrize("outputs", [(RULES,), (RULES, GRAPH, GOLD)])
def test_a_difference_needs_two_outputs(outputs: tuple[str, ...]) -> None:
    assert "Name two outputs after gold" in run("diff", GOLD, *outputs, status=2).stderr
