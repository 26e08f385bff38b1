"""Real gold and real outputs through HTTP give the figures of the original programs."""

from __future__ import annotations

import json
import os

import pytest

from tests.conftest import ROOT
from tests.fixtures.tasks import UNLIMITED

pytestmark = [pytest.mark.e2e, pytest.mark.real, pytest.mark.slow]


def score(served, request):
    with served.client() as client:
        response = client.post("/v1/jobs", json=request, headers={"Prefer": "wait=60"})
        assert response.status_code in (201, 202), response.text[:2000]
        job = response.json()
        while job["state"] in ("queued", "running"):
            job = client.get(f"/v1/jobs/{job['id']}", headers={"Prefer": "wait=60"}).json()
    return job


def request_of(folder, metrics, systems=None):
    outputs = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.conllu"))}
    gold = outputs.pop("gold")
    return {
        "format": "conllu",
        "gold": gold,
        "systems": [{"name": name, "output": outputs[name]} for name in systems or outputs],
        "metrics": metrics,
    }


def test_english_ewt_on_gold_tokens_has_eval07s_figures(served, real_data, golden):
    folder = real_data / "ud_en_ewt" / "gold_tokens"
    metrics = ["attachment", {"name": "attachment", "key": "attachment_nopunct", "params": {"punctuation": False}}]
    job = score(served, request_of(folder, metrics))
    assert job["state"] == "succeeded", job["failure"]
    expected = golden("eval07_en_ewt")["systems"]
    for system in job["results"]["systems"]:
        figures = expected[system["name"]]
        for key, column in (("attachment", "default_with_punct"), ("attachment_nopunct", "p_without_punct")):
            counts = system["metrics"][key]["counts"]
            found = {"LAS": counts["correct_both"], "UAS": counts["correct_head"], "LA": counts["correct_label"]}
            assert found == {name: figures[column][name]["correct"] for name in found}
            assert counts["tokens"] == figures[column]["LAS"]["total"]
    pairs = job["results"]["comparisons"][0]["pairs"]
    assert len(pairs) == 6
    assert all(pair["p_kind"] == "exact" for pair in pairs)


def test_english_ewt_with_its_own_tokens_is_refused_by_attachment(served, real_data):
    folder = real_data / "ud_en_ewt" / "conll2018"
    metrics = ["attachment"]
    job = score(served, request_of(folder, metrics, ["HIT-SCIR-18"]))
    assert job["state"] == "failed"
    assert job["failure"]["kind"] == "input"
    assert job["failure"]["errors"][0]["pointer"] == "/systems/0/output"


def test_the_shared_tasks_outputs_have_the_shared_tasks_figures(served, real_data, golden):
    folder = real_data / "ud_en_ewt" / "conll2018"
    metrics = ["ud"]
    job = score(served, request_of(folder, metrics))
    assert job["state"] == "succeeded", json.dumps(job["failure"])[:2000]
    expected = golden("ud_en_ewt")["systems"]
    for system in job["results"]["systems"]:
        counts = system["metrics"]["ud"]["counts"]
        for row, figures in expected[system["name"]].items():
            found = counts[row.lower()]
            assert found["correct"] == figures["correct"], (system["name"], row)
            assert (found["gold"], found["system"]) == (figures["gold_total"], figures["system_total"])


def test_the_recipe_of_2018_ranks_real_outputs_by_the_programs_figures(served, real_data, golden):
    recipe = json.loads((ROOT / "examples" / "recipes" / "conll2018.json").read_bytes())
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (real_data / "ud_en_ewt" / "conll2018").iterdir()}
    gold = texts.pop("gold")
    slug = f"recipe-{os.getpid()}"
    recipe |= {"id": slug, "tracks": {}, "parts": {"en_ewt": {"gold": gold}}, "quota": UNLIMITED}
    scores = {}
    with served.client() as client:
        made = client.post("/v1/benchmarks", json=recipe, headers={"Prefer": "wait=60"})
        assert made.json()["state"] == "active", made.text
        for name, output in texts.items():
            body = {"name": name, "role": "baseline", "outputs": {"en_ewt": output}}
            sent = client.post(f"/v1/benchmarks/{slug}/submissions", json=body, headers={"Prefer": "wait=60"})
            scores[name] = sent.json()["scores"]["metrics"]["ud"]["scores"]
    assert len(scores) == len(texts) == 8
    expected = golden("ud_en_ewt")["systems"]
    for name, found in scores.items():
        for row in ("LAS", "MLAS", "BLEX"):
            assert found[f"{row.lower()}_f1"] == pytest.approx(expected[name][row]["f1"], abs=1e-12)
