"""Pictures of comparisons: whole, named, the same bytes, whatever the names and however many systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.fixtures.pictures import HOSTILE, check_golden, check_picture
from tests.fixtures.svg_boxes import SVG, parsed, words_of
from treescore.render.comparison_pictures import (
    MOST_PAIRS,
    Opponent,
    against_svg,
    intervals_svg,
    opponents,
    pairs_svg,
    picture,
    power_svg,
    verdict,
)
from treescore.render.crosstable import cross_table, notes
from treescore.render.heat_maps import MOST_WORDED

SCORE = "ud.las_f1"
SHARES = frozenset({SCORE})
Draw = Callable[[dict[str, Any]], str]
PICTURES: dict[str, Draw] = {
    "heat_map": lambda found: picture([found], SHARES).decode(),
    "pairs": lambda found: pairs_svg(found, None, SHARES),
    "intervals": lambda found: intervals_svg(found, SHARES),
    "power": lambda found: power_svg(found, SHARES),
    "against": lambda found: against_svg(found, found["systems"][-1]["name"], SHARES),
}
drawn_as = pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)


def comparison(*names: str, **more: Any) -> dict[str, Any]:
    """Systems that get worse by half a point each; those two or more apart differ significantly."""
    systems = [
        {
            "name": name, "rank": at + 1, "score": 0.9 - 0.005 * at, "cluster": at // 2 + 1,
            "rank_interval": [max(1, at), min(len(names), at + 2)],
            "ci": {"level": 0.95, "low": 0.893 - 0.005 * at, "high": 0.906 - 0.005 * at},
        }
        for at, name in enumerate(names)
    ]  # fmt: skip
    pairs = [
        pair(names[a], names[b], 0.005 * (b - a), (0.6, 0.2, 0.04, 0.009, 0.0004, 2e-9)[min(b - a, 5)])
        for a in range(len(names))
        for b in range(a + 1, len(names))
    ]
    return {
        "score": SCORE, "higher_is_better": True, "alpha": 0.05, "correction": "holm", "test": "permutation",
        "alternative": "two-sided", "units": "sentence", "unit_count": 447, "family": {"size": len(pairs)},
        "signature": {"metric": "ud"}, "systems": systems, "pairs": pairs, "untested": [], "warnings": [],
        "notes": ["Gold marks no documents, so its 447 sentences are taken as independent."], **more,
    }  # fmt: skip


def pair(a: str, b: str, difference: float, p: float, **more: Any) -> dict[str, Any]:
    """A pair whose first system is ahead."""
    return {
        "a": a, "b": b, "difference": difference, "p": p, "p_adjusted": p, "p_kind": "exact", "significant": p < 0.05,
        "better": "a", "test": "paired permutation", "ci_adjusted": {"level": 0.99,
        "low": difference - 0.004, "high": difference + 0.004},
        "detectable": {"difference": 0.012, "power": 0.8, "alpha": 0.01},
        "effect": {"units_won": 204, "units_tied": 169, "units_lost": 74}, **more,
    }  # fmt: skip


SIX = comparison("biaffine", "UDPipe-Future", "transition <b>", "graph & tree", "rules", "baseline")
SIX["warnings"] = ["Part en_pud has 4 sentences."]
SIX["pairs"][3].update(better="b", significant=True)
SIX["untested"] = [{"name": "late", "reason": "no output"}]


@drawn_as
def test_every_picture_is_whole_and_the_same_twice(draw: Draw) -> None:
    check_picture(draw(SIX))
    assert draw(SIX) == draw(SIX)


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_the_golden_ones(name: str) -> None:
    """They show figures, arrows, rules between clusters, warnings, and hatch what goes against the ranks."""
    check_golden(name, PICTURES[name](SIX))


@drawn_as
@pytest.mark.parametrize("count", [1, 2, 3, MOST_WORDED, MOST_WORDED + 1, pytest.param(200, marks=pytest.mark.slow)])
def test_nothing_is_clipped_from_one_to_two_hundred_systems(draw: Draw, count: int) -> None:
    check_picture(draw(comparison(*(f"System number {at}" for at in range(count)))))


@drawn_as
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_no_name_breaks_a_picture(draw: Draw, name: str) -> None:
    check_picture(draw(comparison(name, f"{name}b", "c", warnings=[name], notes=[name])))
    check_picture(draw(comparison("a", "b", name)))


@pytest.mark.parametrize("name", ["heat_map", "pairs", "intervals"])
def test_a_comparison_without_systems_is_drawn(name: str) -> None:
    check_picture(PICTURES[name](comparison()))
    check_picture(PICTURES["heat_map"](comparison()))


@drawn_as
def test_pairs_without_figures_are_drawn(draw: Draw) -> None:
    nothing = dict.fromkeys(("difference", "p", "p_adjusted", "p_kind", "significant", "better", "ci", "effect"))
    found = comparison("a", "b", "c")
    for each in found["pairs"]:
        each.update(nothing, detectable=None)
    for system in found["systems"]:
        system.update(ci=None, rank_interval=None, cluster=None)
    check_picture(draw(found))


@drawn_as
def test_extreme_figures_are_drawn(draw: Draw) -> None:
    found = comparison("a", "b", "c", score="other.count")
    for system, score in zip(found["systems"], (1e300, 0.0, -1e5), strict=True):
        system.update(score=score, ci={"level": 0.95, "low": score, "high": score})
    for each, difference in zip(found["pairs"], (1e300, 0.0, -1e-12), strict=True):
        each.update(difference=difference, ci={"level": 0.95, "low": difference, "high": difference})
    check_picture(draw(found), overlaps=True)


@drawn_as
def test_all_systems_equal_is_drawn(draw: Draw) -> None:
    found = comparison("a", "b", "c")
    for system in found["systems"]:
        system.update(score=0.5, ci={"level": 0.95, "low": 0.5, "high": 0.5})
    for each in found["pairs"]:
        each.update(difference=0.0, p_adjusted=1.0, significant=False, better=None, ci=None)
    check_picture(draw(found))


def test_many_systems_are_shaded_and_marked_in_few_bytes() -> None:
    svg = PICTURES["heat_map"](comparison(*(f"System number {at}" for at in range(200))))
    assert len(svg) < 1_200_000
    assert 'class="sig"' in svg
    assert {f'class="d{step}"' in svg for step in range(3, 7)} == {True}


def test_one_against_all_says_who_is_better_on_both_sides_of_the_ranks() -> None:
    table = cross_table(SIX, SHARES)
    every = opponents(table, "transition <b>")
    assert [round(each.difference or 0, 3) for each in every] == [-0.01, -0.005, 0.005, 0.01, 0.015]
    assert [each.better for each in every] == [False, False, True, True, True]
    assert (every[0].low, every[0].high) == pytest.approx((-0.014, -0.006))
    assert every[0].units == (74, 169, 204)
    assert every[-1].units == (204, 169, 74)
    assert (
        verdict(every)
        == "Better than 2 of 5 systems, worse than 1; no significant difference to 2: UDPipe-Future, graph & tree."
    )
    svg = against_svg(SIX, "transition <b>", SHARES)
    assert (svg.count('class="pt"'), svg.count('class="pt ho"')) == (3, 2)
    assert "transition <b> is worse" in " ".join(words_of(parsed(svg)))
    lower = against_svg({**SIX, "higher_is_better": False}, "transition <b>", SHARES)
    assert "transition <b> is better" in " ".join(words_of(parsed(lower)))
    with pytest.raises(KeyError):
        against_svg(SIX, "nobody")


def test_one_sentence_names_a_few_of_many_systems() -> None:
    names = [f"System {at}" for at in range(60)]
    many = {**comparison(*names), "pairs": [], "untested": [{"name": name, "reason": "gone"} for name in names[9:]]}
    assert notes(many)[-1] == f"not tested: {', '.join(names[9:19])} and 41 more (gone)"
    near = [Opponent(name, 0.5, 0.0, p=1.0) for name in names[:50]]
    apart = [Opponent(name, 0.5) for name in names[50:]]
    assert verdict([*near, *apart]) == (
        "Better than 0 of 60 systems, worse than 0; no significant difference to 50: System 0, System 1, System 2, "
        "System 3, System 4 and 45 more; not compared with 10."
    )


def test_one_against_all_claims_nothing_without_p() -> None:
    found = comparison("a", "b", "c", test="bootstrap")
    for each in found["pairs"]:
        each.update(p=None, p_adjusted=None, p_kind=None, significant=None)
    svg = against_svg(found, "b", SHARES)
    assert "Ahead of 1 of 2; which differences are significant is not known without p." in svg
    assert 'class="pt"' not in svg
    check_picture(svg)


def test_a_pair_without_figures_is_a_dash() -> None:
    found = comparison("a", "b", "c")
    found["pairs"][1]["difference"] = None
    assert words_of(parsed(PICTURES["heat_map"](found))).count("\u2013") == 1


def test_dots_grow_with_the_difference_and_say_what_they_show() -> None:
    root = parsed(pairs_svg(SIX, "rules", SHARES))
    circles = {circle.findtext(f"{SVG}title"): circle for circle in root.iter(f"{SVG}circle")}
    near, far = (
        circles["biaffine over UDPipe-Future: +0.50, p .20"],
        circles["biaffine over baseline: +2.50, p < .0001"],
    )
    assert float(near.attrib["r"]) < float(far.attrib["r"])
    assert (near.get("class"), far.get("class")) == ("pt ho", "pt")
    assert circles["biaffine over rules: +2.00, p .0004"].get("class") == "pt me"


def test_power_shows_neighbours_where_pairs_are_many() -> None:
    few, many = comparison(*"abcd"), comparison(*(f"s{at}" for at in range(30)))
    assert power_svg(few, SHARES).count('class="pt') == 6
    assert len(many["pairs"]) > MOST_PAIRS
    assert power_svg(many, SHARES).count('class="pt') == 29
    assert "Neighbours by rank only; the comparison has 435 pairs." in power_svg(many, SHARES)
    assert "would find with 80 % power" in power_svg(few, SHARES)
