"""The likeness of a shared task, in small and from generated trees: what is drawn, and that gold and outputs agree."""

from __future__ import annotations

from functools import cache

import likeness
import pytest

from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

TEAMS, PARTS = 3, 5


@pytest.fixture
def whole(monkeypatch, tmp_path):
    """The sizes of the task, from generated trees."""
    monkeypatch.setattr(likeness, "EWT", tmp_path / "absent")
    for function in (likeness.base, likeness.teams_of):
        monkeypatch.setattr(likeness, function.__name__, cache(function.__wrapped__))


@pytest.fixture
def small(whole, monkeypatch):
    """The same with small parts."""
    monkeypatch.setattr(likeness, "SIZES", (200, 300, 400, 500, 600))


@pytest.fixture
def folder(small, tmp_path):
    """Three teams and five parts."""
    likeness.write(tmp_path / "task", TEAMS, PARTS)
    return tmp_path / "task"


def texts_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.conllu"))}


def test_the_same_texts_are_made_again(folder, tmp_path):
    likeness.write(tmp_path / "again", TEAMS, PARTS)
    made = texts_of(folder)
    assert texts_of(tmp_path / "again") == made
    assert len(set(made.values())) == len(made) == PARTS * (1 + TEAMS)


def test_every_output_is_of_golds_text_and_has_about_the_teams_score(folder):
    spec = parse_spec({"format": "conllu", "metrics": ["ud"]})
    table = spec.entries[0].metric.table
    found = {team.name: [] for team in likeness.teams_of(TEAMS, PARTS)}
    for gold in sorted((folder / "gold").iterdir()):
        evaluation = Evaluation(spec, gold.read_bytes())
        for team, scores in found.items():
            outcomes, _ = evaluation.score((folder / "outputs" / team / gold.name).read_bytes())
            scores.append(float(table.values(outcomes["ud"].totals)["las_f1"]))
    for team in likeness.teams_of(TEAMS, PARTS):
        assert sum(found[team.name]) / PARTS == pytest.approx(team.level, abs=0.12)


def test_parts_have_scripts_of_their_own_ranges_and_empty_nodes(folder):
    gold = {name: text.decode() for name, text in texts_of(folder / "gold").items()}
    assert {name.split("-")[0] for name in gold} == {"cyrillic", "latin"}
    assert sum(text.isascii() for text in gold.values()) == 0
    rows = [line.split("\t")[0] for text in gold.values() for line in text.splitlines() if line[:1].isdigit()]
    assert any("-" in row for row in rows)


def test_the_whole_task_has_the_sizes_and_scripts_of_the_real_one(whole):
    sizes = sorted(likeness._quantile(number / 77) for number in range(78))
    assert (sizes[0], sizes[-1]) == (3_500, 57_900)
    assert sum(sizes) * 26 * (1 - 106 / 2028) == pytest.approx(31_000_000, rel=0.05)
    scripts = [likeness._script(number, 78) for number in range(78)]
    assert {kind: scripts.count(kind) for kind in ("ascii", "latin")} == {"ascii": 7, "latin": 50}
    assert [team.level for team in likeness.teams_of(26, 78)][::25] == [0.75, pytest.approx(0.45)]
    assert sorted(len(team.parts) for team in likeness.teams_of(26, 78))[:4] == [4, 62, 62, 78]
    assert sum(team.commented for team in likeness.teams_of(26, 78)) == 16
