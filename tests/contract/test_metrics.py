"""Each metric over HTTP, on its own examples, tells what the library tells; answers are held against openapi.yaml.

Figures of golden files are checked in the library, once.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from treescore import api
from treescore.cli.main import main
from treescore.core.registry import METRICS, Example, Text
from treescore.core.scores import with_values
from treescore.evaluation import spec  # noqa: F401 - fills the registry

USUAL = ("alignment-0", "attachment-0", "parseval-0")
"""Of each kind of treebank one; jobs have answers of all metrics."""
EXAMPLES = {
    f"{name}-{number}": (name, example)
    for name, metric in sorted(METRICS.items())
    for number, example in enumerate(metric.examples)
}


def text_of(given: Text) -> Any:
    """A text of an example as JSON has it."""
    return given.decode() if isinstance(given, bytes) else {name: text.decode() for name, text in given.items()}


@pytest.mark.parametrize(("metric", "example"), EXAMPLES.values(), ids=EXAMPLES)
def test_a_job_tells_what_the_library_tells(metric: str, example: Example, stage: Stage) -> None:
    request, gold, output = example.request(metric), example.gold(), example.output()
    systems = [{"name": "gold", "output": text_of(gold)}, {"name": "output", "output": text_of(output)}]
    at, client = stage.job(**request, gold=text_of(gold), systems=systems), stage.client()
    done = client.get(at).json
    assert done["state"] == "succeeded", done["failure"]
    offline = api.evaluate(request, gold, [api.Output("gold", gold), api.Output("output", output)])
    assert done["results"]["systems"] == orjson.loads(orjson.dumps(offline.document))["systems"]
    assert client.get(f"{at}/comparisons").json["items"]
    scored, one = offline._scored("output", metric), {"system": "output", "metric": metric}
    table, outcome = scored.entry.metric.table, scored.outcome
    documents = with_values(table, outcome.rows, scored.items(0, len(outcome.rows)))
    items = client.get(f"{at}/items", query_string={**one, "limit": 1000}).json["items"]
    assert items == orjson.loads(orjson.dumps(documents))
    for by in client.get(f"{at}/slices", query_string=one).json["groupings"]:
        assert client.get(f"{at}/slices", query_string={**one, "by": by}).json["slices"]
    for style in scored.entry.metric.own_styles:
        report = client.get(f"{at}/report", query_string={**one, "style": style})
        assert (report.mimetype, report.text) == ("text/plain", scored.entry.metric.report(style, outcome))


@pytest.mark.parametrize(
    ("metric", "example"),
    [
        pytest.param(*given, id=name, marks=() if name in USUAL else pytest.mark.slow)
        for name, given in EXAMPLES.items()
    ],
)
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


def test_the_command_of_a_comparison_prints_the_same_document(stage: Stage, tmp_path: Path) -> None:
    """Typed with paths in the places of GOLD, OUTPUT and ITEMS.json: runs, two formats, blocks, a margin."""
    gold = "\n".join(["0-0 1-1 2-2"] * 12) + "\n"
    talp = "\n".join(["1-1 2-2 3-4", "1-1 2-3 3-3"] * 6) + "\n"
    outputs = {"A": gold.replace("2-2", "2-3", 5), "A again": gold.replace("1-1", "1-2", 4), "B": talp}
    items = {"blocks": [f"d{number // 2}" for number in range(12)]}
    job = stage.job(
        format="pharaoh",
        gold=gold,
        systems=[
            {"name": "A", "output": outputs["A"]},
            {"name": "A again", "run_of": "A", "output": outputs["A again"]},
            {"name": "B", "output": outputs["B"], "format": {"name": "talp"}},
        ],
        metrics=[{"name": "alignment", "key": "links"}],
        significance={"scores": ["links.sure_f1", "links.aer"], "seed": 5, "margin": 0.1, "unit": "block"},
        items=items,
    )
    answer = stage.client().get(f"{job}/comparisons?score=links.aer").json["items"]
    assert answer[0]["pairs"][0].keys() >= {"p", "ci", "difference"}
    paths = {"GOLD": gold, "A=OUTPUT": outputs["A"], "B=OUTPUT": outputs["B"], "ITEMS.json": json.dumps(items)}
    words, runs = [], iter([outputs["A again"]])
    for number, word in enumerate(shlex.split(answer[0]["command"])):
        run = word == "A=OUTPUT" and words[-1] == "--run"
        text = next(runs) if run else paths.get(word.removeprefix("@"))
        if text is not None:
            path = tmp_path / str(number)
            path.write_text(text)
            word = re.sub("OUTPUT|GOLD|ITEMS.json", str(path), word)  # noqa: PLW2901
        words.append(word)
    printed = CliRunner().invoke(main, words[1:])
    assert printed.exit_code == 0, printed.stderr
    assert orjson.dumps(orjson.loads(printed.stdout_bytes)["results"]["comparisons"]) == orjson.dumps(answer)
