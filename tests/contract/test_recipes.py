"""The published tasks as recipes: each document makes a benchmark whose board ranks by the task's score."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from treescore.core.registry import FORMATS

RECIPES = sorted((ROOT / "examples" / "recipes").glob("*.json"))
PAGE = ROOT / "docs" / "guide" / "recipes.md"


def gold_of(document: dict[str, Any]) -> str:
    """A small text in the format of a document."""
    name = document["format"] if isinstance(document["format"], str) else document["format"]["name"]
    example = FORMATS[name].example
    assert isinstance(example, bytes)
    return example.decode()


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_makes_a_benchmark_that_ranks(path: Path, stage: Stage) -> None:
    document = json.loads(path.read_bytes())
    gold = gold_of(document)
    names = sorted({name for names in document.get("tracks", {}).values() for name in names}) or ["en", "de"]
    task = SharedTask(stage, **document, parts={name: {"gold": gold} for name in names})
    made = task.organiser.get(task.address).json
    assert (made["state"], made["main_score"]) == ("active", document["main_score"]), made["failure"]
    body = {"name": "gold", "outputs": dict.fromkeys(names, gold), "role": "baseline"}
    submitted = task.organiser.post(f"{task.address}/submissions", json=body)
    assert submitted.status_code == 201, submitted.text
    scored = task.organiser.get(submitted.headers["Location"]).json
    best = 0.0 if document["main_score"].endswith(".aer") else 1.0
    assert scored["scores"]["main"]["value"] == best, scored["failure"]
    for track in document.get("tracks", {}):
        assert task.organiser.get(f"{task.address}/leaderboard?part={track}").status_code == 200


def test_the_page_names_every_recipe_and_every_recipe_stands_there() -> None:
    named = re.findall(r"examples/recipes/([a-z0-9-]+)\.json", PAGE.read_text(encoding="utf-8"))
    assert set(named) == {path.stem for path in RECIPES}
