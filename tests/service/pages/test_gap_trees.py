"""Trees with gaps over HTTP: a job reads them, stores them, shows them as a document and as a picture."""

from __future__ import annotations

import json

from tests.conftest import ROOT
from tests.contract.stage import Stage

CASE = json.loads((ROOT / "tests/golden/field_discontinuous.json").read_text(encoding="utf-8"))["cases"]["all_three"]


def test_a_job_of_export_shows_its_trees(stage: Stage, gap_metric: str) -> None:
    outputs = {"output": ("export", CASE["system"]["export"]), "plain": ("discbracket", CASE["system"]["discbracket"])}
    systems = [{"name": name, "format": form, "output": text} for name, (form, text) in outputs.items()]
    job = stage.job(format="export", metrics=[gap_metric], gold=CASE["gold"]["export"], systems=systems)
    client = stage.client()
    assert client.get(job).json["state"] == "succeeded"
    trees = client.get(f"{job}/trees?system=output").json["items"]
    assert [tree["kind"] for tree in trees] == ["discontinuous"] * 3
    assert [tree["sent_id"] for tree in trees] == ["1", "2", "3"]
    first = trees[0]
    assert first["gold"] == [
        {"label": "ROOT", "function": "", "parent": None, "depth": 0, "words": [{"word": 5, "function": ""}]},
        {
            "label": "S", "function": "", "parent": 0, "depth": 1,
            "words": [{"word": 2, "function": "HD"}, {"word": 3, "function": "SB"}],
        },
        {"label": "VP", "function": "OC", "parent": 1, "depth": 2, "words": [{"word": 4, "function": "HD"}]},
        {
            "label": "NP", "function": "OA", "parent": 2, "depth": 3,
            "words": [{"word": 0, "function": "NK"}, {"word": 1, "function": "NK"}],
        },
    ]  # fmt: skip
    assert (first["missed"], first["wrong"]) == ([None, None, "span", None], [None, None, None, "span"])
    assert first["words"][2] == {"id": "3", "form": "hat", "tag": "VAFIN"}
    # The sentences of discbracket have no names, so that they are compared in their order.
    assert client.get(f"{job}/trees?system=plain").json["items"][0]["wrong"] == first["wrong"]
    labelled = client.get(f"{job}/trees?system=output&label=VP&wrong=span").json["items"]
    assert [tree["item"] for tree in labelled] == [1, 3]
    page = client.get(job.replace("/v1/jobs/", "/j/") + "/sentences?system=output&item=1")
    assert page.status_code == 200
    assert 'class="bridge"' in page.text
    assert "VP-OC" in page.text
