"""Each metric as a job over HTTP tells what the library tells offline, and so does a comparison.

Figures of golden files are checked in the library, once.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from click.testing import CliRunner

from tests.fixtures.service_process import ServiceProcess
from treescore import api
from treescore.cli.main import main
from treescore.core.registry import METRICS, Example, Text
from treescore.core.scores import with_values
from treescore.evaluation import spec  # noqa: F401 - fills the registry

pytestmark = pytest.mark.e2e

CASES = [
    pytest.param(name, example, id=f"{name}-{number}")
    for name, metric in sorted(METRICS.items())
    for number, example in enumerate(metric.examples)
]


@pytest.fixture(scope="module")
def client(served: ServiceProcess) -> Iterator[httpx.Client]:
    with served.client() as client:
        yield client


def finished(client: httpx.Client, request: dict[str, Any]) -> dict[str, Any]:
    """A job that succeeded."""
    job = client.post("/v1/jobs", json=request, headers={"Prefer": "wait=60"}).json()
    while job["state"] in ("queued", "running"):
        job = client.get(f"/v1/jobs/{job['id']}", headers={"Prefer": "wait=60"}).json()
    assert job["state"] == "succeeded", json.dumps(job)[:2000]
    return dict(job)


def as_json(text: Text) -> Any:
    """A text as a member of a request, or the texts of several fields."""
    return text.decode() if isinstance(text, bytes) else {name: part.decode() for name, part in text.items()}


@pytest.mark.parametrize(("name", "example"), CASES)
def test_a_job_tells_what_the_library_tells(client: httpx.Client, name: str, example: Example) -> None:
    request = {**example.request(name), "significance": False}
    systems = [{"name": "A", "output": as_json(example.output())}]
    job = finished(client, {**request, "gold": as_json(example.gold()), "systems": systems})
    offline = api.evaluate({**request, "significance": None}, example.gold(), [api.Output("A", example.output())])
    assert job["results"] == orjson.loads(orjson.dumps(offline.document))
    scored = offline._scored("A", name)
    at, query = f"/v1/jobs/{job['id']}", {"system": "A", "metric": name}
    items = client.get(f"{at}/items", params={**query, "limit": "1000"}).json()["items"]
    metric, outcome = scored.entry.metric, scored.outcome
    documents = with_values(metric.table, outcome.rows, scored.items(0, len(outcome.rows)))
    assert items == orjson.loads(orjson.dumps(documents))
    for style in metric.own_styles:
        report = client.get(f"{at}/report", params={**query, "style": style})
        assert report.headers["Content-Type"].startswith("text/plain")
        assert report.text == metric.report(style, outcome)


def test_the_command_of_a_comparison_prints_the_same_bytes(client: httpx.Client, tmp_path: Path) -> None:
    """Typed with paths in the places of GOLD, OUTPUT and ITEMS.json: runs, two formats, blocks, a margin."""
    gold = "\n".join(["0-0 1-1 2-2"] * 12) + "\n"
    talp = "\n".join(["1-1 2-2 3-4", "1-1 2-3 3-3"] * 6) + "\n"
    outputs = {"A": gold.replace("2-2", "2-3", 5), "A again": gold.replace("1-1", "1-2", 4), "B": talp}
    items = {"blocks": [f"d{number // 2}" for number in range(12)]}
    request = {
        "format": "pharaoh", "gold": gold,
        "systems": [
            {"name": "A", "output": outputs["A"]},
            {"name": "A again", "run_of": "A", "output": outputs["A again"]},
            {"name": "B", "output": outputs["B"], "format": {"name": "talp"}},
        ],
        "metrics": [{"name": "alignment", "key": "links"}],
        "significance": {"scores": ["links.sure_f1", "links.aer"], "seed": 5, "margin": 0.1, "unit": "block"},
        "items": items,
    }  # fmt: skip
    job = finished(client, request)
    answer = client.get(f"/v1/jobs/{job['id']}/comparisons?score=links.aer").json()["items"]
    assert answer[0]["pairs"][0].keys() >= {"p", "ci", "difference"}
    paths = {"GOLD": gold, "A=OUTPUT": outputs["A"], "B=OUTPUT": outputs["B"], "ITEMS.json": json.dumps(items)}
    words, runs = [], iter([outputs["A again"]])
    for number, word in enumerate(shlex.split(answer[0]["command"])):
        run = word == "A=OUTPUT" and words[-1] == "--run"
        text = next(runs) if run else paths.get(word.removeprefix("@"))
        if text is not None:
            path = tmp_path / str(number)
            path.write_text(text)
            words.append(re.sub("OUTPUT|GOLD|ITEMS.json", str(path), word))
        else:
            words.append(word)
    printed = CliRunner().invoke(main, words[1:])
    assert printed.exit_code == 0, printed.stderr
    assert printed.stdout_bytes.rstrip(b"\n") == orjson.dumps(answer)
