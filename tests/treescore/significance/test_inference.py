"""Every figure that was computed by definition: contributions, laws, corrections, intervals, what could be found."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import Ratio, Score, harmonic
from treescore.significance import Candidate, Settings, compare
from treescore.significance.signs import TERMS

GOLDEN = Path(__file__).parents[2] / "golden"
NAMES = ("m", "n", "k")
LISTED = 20
PIECES = 8
"""Sentences into which a document of the golden file is cut, so that the systems differ in more than enough of them."""


def cases() -> list[Any]:
    found = []
    for case in json.loads((GOLDEN / "inference2.json").read_text())["cases"]:
        given, expected = case["input"], dict(case["expected"])
        if "pairs" in expected:
            pairs = expected.pop("pairs")
            expected |= {key: [pair[key] for pair in pairs] for key in pairs[0]}
        else:
            expected = {key: [value] for key, value in expected.items()}
        of_documents = max(given.get("differing_sentences", [0])) > len(next(iter(given["numerators"].values())))
        found.append((case["name"], given, {}, expected | {"law": case["law"], "cut": of_documents}))
    for case in json.loads((GOLDEN / "inference3.json").read_text())["cases"]:
        found += [(case["name"], case["input"], asked["settings"], asked["expected"]) for asked in case["asked"]]
    return [pytest.param(*each[1:], id=f"{each[0]} {each[2] or ''}") for each in found]


def cut(column: list[int], small: int) -> list[int]:
    """Cut documents into sentences: all but the first hold this much."""
    return [piece for whole in column for piece in (whole - small * (PIECES - 1), *[small] * (PIECES - 1))]


def document_of(given: dict[str, Any], asked: dict[str, Any], *, of_documents: bool) -> dict[str, Any]:
    score = Score(
        "s",
        "",
        (Ratio({"m": 1}, {"n": 1}, given.get("one_minus", False)),),
        higher_is_better=given.get("higher_is_better", True),
    )
    if "second_denominators" in given:
        score = Score("s", "", (*score.ratios, Ratio({"m": 1}, {"k": 1})), join=harmonic)
    settings = dict(asked)
    submissions = settings.pop("submissions", {})
    parts, blocks = given.get("parts", given.get("part_of_unit")), given.get("documents")
    units = len(next(iter(given["numerators"].values())))
    strata = np.repeat([0] * units if parts is None else parts, PIECES if of_documents else 1)
    candidates = []
    for place, (name, top) in enumerate(given["numerators"].items()):
        bottom = given["denominators"]
        bottom = bottom[name] if isinstance(bottom, dict) else bottom
        columns = [top, bottom, given.get("second_denominators", bottom)]
        if of_documents:
            columns = [cut(top, place), cut(bottom, 3), cut(bottom, 3)]
        lacking = given.get("missing", {}).get(name, [])
        rows = np.array(columns, np.int64).T
        rows[np.isin(strata, lacking)] = 0
        candidates.append(Candidate(name, (rows,), missing=frozenset(lacking), submissions=submissions.get(name, 1)))
    if of_documents:
        blocks = np.repeat(np.arange(units), PIECES).tolist()
    names = None if blocks is None else [f"d{number}" for number in blocks]
    parts = None if parts is None else strata
    return compare("m.s", score, NAMES, candidates, Settings(**settings), blocks=names, parts=parts)


@pytest.mark.parametrize(("given", "asked", "expected"), cases())
def test_figures_by_definition(given: dict[str, Any], asked: dict[str, Any], expected: dict[str, Any]) -> None:
    document = document_of(given, asked, of_documents=expected.get("cut", False))
    pairs = {(pair["a"], pair["b"]): pair for pair in document["pairs"]}
    names = list(given["numerators"])
    pairs = [pairs[names] for names in itertools.combinations(names, 2)]
    signs = expected["law"] == "signs"
    by_formula = signs and len(given["numerators"][names[0]]) > LISTED
    for key in ("difference", "se", "df", "p", "p_unselected", "p_adjusted", "divisor", "significant", "detectable"):
        for pair, value in zip(pairs, expected.get(key, []), strict=False):
            found = pair[key]["difference"] if key == "detectable" and pair[key] else pair[key]
            rel = 1e-6 if key == "detectable" else 1e-9
            if by_formula and key in ("p", "p_adjusted") and "second_denominators" not in given:
                rel = 0.02
            assert found == (None if value is None else pytest.approx(value, rel=rel, abs=1e-15)), key
    for key in ("ci", "ci_adjusted"):
        for pair, ends in zip(pairs, expected.get(key, []), strict=False):
            allowed = 2e-3 if by_formula else 1e-6 if signs else 1e-9
            assert [pair[key]["low"], pair[key]["high"]] == pytest.approx(ends, abs=allowed), key
            assert pair[key]["method"] == ("signs" if signs else "t")
    for pair, sides in zip(pairs, expected.get("not_worse", []), strict=False):
        found = pair["noninferiority"]
        assert {name: found[name]["p"] for name in sides} == pytest.approx(sides, rel=1e-9)
    rows = {row["name"]: row for row in document["systems"]}
    for name, ends in (expected.get("systems") or {}).items():
        if ends is not None:
            assert [rows[name]["ci"]["low"], rows[name]["ci"]["high"]] == pytest.approx(ends, abs=1e-9)
    for name, ranks in expected.get("rank_intervals", {}).items():
        assert rows[name]["rank_interval"] == ranks


@pytest.mark.parametrize("units", [TERMS, TERMS + 1, 3 * TERMS])
def test_an_interval_of_units_that_all_differ_alike_is_their_difference(units: int) -> None:
    score = Score("s", "", (Ratio({"m": 1}, {"n": 1}),))
    candidates = [Candidate(name, (np.tile([right, 3], (units, 1)),)) for name, right in (("a", 3), ("b", 2))]
    (pair,) = compare("s", score, NAMES[:2], candidates, Settings())["pairs"]
    assert pair["p"] < 1e-300
    assert pair["ci"]["low"] == pytest.approx(1 / 3, abs=1e-8)
    assert pair["ci"]["high"] == pytest.approx(1 / 3, abs=1e-8)
