"""The golden cases of significance, sent as texts: what an outside caller sees has the same p as the counts."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys

import httpx
import orjson
import pytest

from tests.fixtures.service_process import ROOT, ServiceProcess

pytestmark = pytest.mark.e2e

TREESCORE = [sys.executable, "-m", "treescore.cli.main"]
SIDES = {"two-sided": "p_two_sided", "greater": "p_greater", "less": "p_less"}
RIGHT = "1\tw\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
WRONG = RIGHT.replace("root", "dep")


@pytest.fixture(scope="module")
def client(served: ServiceProcess):
    with served.client() as client:
        yield client


def finished(client: httpx.Client, request: dict) -> dict:
    job = client.post("/v1/jobs", json=request, headers={"Prefer": "wait=60"}).json()
    while job["state"] in ("queued", "running"):
        job = client.get(f"/v1/jobs/{job['id']}", headers={"Prefer": "wait=60"}).json()
    assert job["state"] == "succeeded", json.dumps(job)[:2000]
    return job


def compared(client: httpx.Client, request: dict) -> dict:
    return finished(client, request)["results"]["comparisons"][0]


def links(right: int, total: int) -> str:
    """A sentence's alignment with so many of gold's links and the rest wrong."""
    return " ".join([f"{i}-{i}" for i in range(right)] + [f"{1000 + i}-{i}" for i in range(total - right)])


def texts(case: dict) -> tuple[str, dict[str, str], str]:
    """Gold, outputs and score of alignments whose counts are a golden case's."""
    if case["kind"] == "linear":
        gold, score = case["total"], "alignment.sure_recall"
        sides = {side: [links(right, right) for right in case[side]] for side in "ab"}
    else:
        gold, score = case["gold"], f"alignment.sure_{case['metric']}"
        sides = {
            side: [links(*counts) for counts in zip(case[f"match_{side}"], case[f"test_{side}"], strict=True)]
            for side in "ab"
        }
    lines = {"gold": [links(total, total) for total in gold], **sides}
    made = {name: "".join(line + "\n" for line in sentences) for name, sentences in lines.items()}
    return made["gold"], {side: made[side] for side in "ab"}, score


def alignment_request(case: dict, **significance) -> dict:
    gold, outputs, score = texts(case)
    return {
        "format": "pharaoh",
        "gold": gold,
        "systems": [{"name": name, "output": text} for name, text in outputs.items()],
        "metrics": ["alignment"],
        "significance": {"scores": [score], **significance},
    }


def test_permutation_has_the_exact_p_of_every_golden_case(client, golden):
    for case in golden("significance/permutation_bruteforce") + golden("significance/permutation_mid"):
        expected = {"p_two_sided": case["expected"].get("exact_p_two_sided"), **case["expected"]}
        for alternative, key in SIDES.items():
            if key not in expected:
                continue
            pair = compared(client, alignment_request(case, alternative=alternative))["pairs"][0]
            if expected.get("undefined"):
                assert (pair["p"], pair["score_a"]) == (None, None)
                continue
            assert pair["p"] == pytest.approx(expected[key], rel=1e-9), (case["name"], alternative)
            assert pair["p_kind"] == "exact"
            scores = (pair["score_a"], pair["score_b"])
            assert scores == pytest.approx((expected["score_a"], expected["score_b"]), rel=1e-12)


def test_intervals_lie_where_scipys_do(client, golden):
    for case in golden("significance/permutation_mid"):
        interval = compared(client, alignment_request(case))["pairs"][0]["ci"]
        error = 0.1 * case["expected"]["scipy_bootstrap_se"]
        assert (interval["low"], interval["high"]) == pytest.approx(
            tuple(case["expected"]["scipy_bootstrap_percentile"]), abs=error
        )


@pytest.mark.parametrize("unit", ["sentence", "token"])
def test_mcnemar_has_the_figures_of_statsmodels_and_malteval(client, golden, unit):
    for case in golden("significance/mcnemar"):
        (both, only_a), (only_b, neither) = case["table"]
        expected = case["expected"]
        request = {
            "format": "conllu",
            "gold": RIGHT * (both + only_a + only_b + neither),
            "systems": [
                {"name": "a", "output": RIGHT * (both + only_a) + WRONG * (only_b + neither)},
                {"name": "b", "output": RIGHT * both + WRONG * only_a + RIGHT * only_b + WRONG * neither},
            ],
            "metrics": ["attachment"],
            "significance": {"test": "mcnemar", "unit": unit},
        }
        pair = compared(client, request)["pairs"][0]
        table = pair["mcnemar"]
        assert pair["p"] == table["exact"] == pytest.approx(expected["exact_binomial"], rel=1e-9)
        if expected["b"] != expected["c"]:  # the file takes the whole middle off for equal systems, not half of it
            assert table["mid_p"] == pytest.approx(expected["mid_p"], rel=1e-9)
        assert table["malteval"]["z"] == pytest.approx(expected["malteval_z"], rel=1e-9)
        assert table["chi2"]["p"] == pytest.approx(float(expected["statsmodels_chi2_nocc"][1]), rel=1e-9)


@pytest.mark.real
def test_the_comparison_of_real_alignments_is_the_golden_one(client, golden, real_data):
    expected = golden("comparison_example")
    folder = real_data / "alignment_enfr"
    names = [system["name"] for system in expected["systems"]]
    outputs = {name: (folder / "systems" / f"{name}.pharaoh").read_text(encoding="utf-8") for name in names}
    found = compared(
        client,
        {
            "format": "talp",
            "gold": (folder / "gold.talp").read_text(encoding="utf-8"),
            "systems": [{"name": name, "format": "pharaoh", "output": text} for name, text in outputs.items()],
            "metrics": ["alignment"],
        },
    )
    assert found["clusters"]["cluster"] == expected["clusters"]["cluster"]
    assert found["rank_ranges"] == expected["rank_ranges"]
    for pair, wanted in zip(found["pairs"], expected["pairs"], strict=True):
        for key in ("p", "p_holm", "p_bh", "p_by", "p_adjusted"):
            assert pair[key] == pytest.approx(wanted[key], rel=1e-9)
        assert pair["difference"] == pytest.approx(-wanted["difference"], abs=1e-12)  # AER here, 1 - AER there
        assert (pair["significant"], pair["effect"]["units_won"]) == (
            wanted["significant"],
            wanted["effect"]["units_won"],
        )


def test_the_same_request_gives_the_same_bytes_online_twice_and_offline(client, golden, tmp_path):
    case = golden("significance/permutation_mid")[0]
    request = alignment_request(case, alternative="greater", seed=7)
    first, again = finished(client, request), finished(client, request)
    assert json.dumps(first["results"]) == json.dumps(again["results"])
    for name, text in (("gold", request["gold"]), *((each["name"], each["output"]) for each in request["systems"])):
        (tmp_path / f"{name}.pharaoh").write_text(text, encoding="utf-8")
    asked = ["--format", "pharaoh", "--metric", "alignment", "--significance", json.dumps(request["significance"])]
    command = [*TREESCORE, "compare", "--as", "json", *asked, "gold.pharaoh", "a.pharaoh", "b.pharaoh"]
    printed = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, check=True, env={"PYTHONPATH": str(ROOT)}
    )
    assert json.loads(printed.stdout) == first["results"]["comparisons"]


def test_the_command_of_a_comparison_prints_the_same_bytes(client, tmp_path):
    """Typed with paths in the places of GOLD, OUTPUT and ITEMS.json."""
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
    printed = subprocess.run([*TREESCORE, *words[1:]], cwd=ROOT, capture_output=True, check=True).stdout
    assert orjson.dumps(answer) == printed.rstrip(b"\n")


def test_no_significance_and_unknown_settings(client, golden):
    request = alignment_request(golden("significance/permutation_bruteforce")[0])
    assert finished(client, {**request, "significance": False})["results"]["comparisons"] == []
    for setting in ({"unit": "token"}, {"correction": "x"}, {"seed": -1}, {"alpha": 2}, {"scores": ["alignment.x"]}):
        response = client.post("/v1/jobs", json={**request, "significance": setting})
        assert response.status_code == 422
        assert response.json()["errors"][0]["pointer"].startswith("/significance/")
