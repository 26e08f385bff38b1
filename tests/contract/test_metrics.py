"""Answers about every registered metric, on its own examples; the client holds them against openapi.yaml."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from treescore.core.registry import METRICS, Example, Text
from treescore.evaluation import spec  # noqa: F401 - fills the registry

CASES = [
    pytest.param(name, example, id=f"{name}-{number}", marks=pytest.mark.slow if number else ())
    for name, metric in sorted(METRICS.items())
    for number, example in enumerate(metric.examples)
]
every_example = pytest.mark.parametrize(("metric", "example"), CASES)


def text_of(given: Text) -> Any:
    """A text of an example as JSON has it."""
    return given.decode() if isinstance(given, bytes) else {name: text.decode() for name, text in given.items()}


@every_example
def test_a_job(metric: str, example: Example, stage: Stage) -> None:
    gold, output = text_of(example.gold()), text_of(example.output())
    systems = [{"name": "gold", "output": gold}, {"name": "output", "output": output}]
    at, client = stage.job(**example.request(metric), gold=gold, systems=systems), stage.client()
    done = client.get(at).json
    assert done["state"] == "succeeded", done["failure"]
    assert client.get(f"{at}/comparisons").json["items"]
    one = {"system": "output", "metric": metric}
    assert client.get(f"{at}/items", query_string=one).json["items"]
    for by in client.get(f"{at}/slices", query_string=one).json["groupings"]:
        assert client.get(f"{at}/slices", query_string={**one, "by": by}).json["slices"]


@every_example
def test_a_submission(metric: str, example: Example, stage: Stage) -> None:
    request = example.request(metric)
    gold, output = text_of(example.gold()), text_of(example.output())
    task = SharedTask(stage, feedback="gold", parts={"en": {"gold": gold}}, **request)
    team = task.team()
    two = [task.submit(team, text).rpartition("/")[2] for text in (gold, output)]
    at = f"/v1/submissions/{two[1]}"
    assert team.get(at).json["state"] == "succeeded"
    assert team.get(f"{at}/items").json["items"]
    for by in team.get(f"{at}/slices").json["groupings"]:
        assert team.get(f"{at}/slices", query_string={"by": by}).json["slices"]
    assert team.get(f"{task.address}/leaderboard").json["rows"]
    asked = team.post(f"{task.address}/comparisons", json={"submissions": two})
    assert team.get(asked.headers["Location"]).json["pairs"]
    assert "items" in team.get(f"{asked.headers['Location']}/items").json
