"""The calls that README.md and the guide print work as printed."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.contract.stage import Stage
from tests.contract.test_examples import covers

CALL = re.compile(r"curl -s [^\n]*/v1/jobs[^\n]* -d '(\{.*?\})'", re.DOTALL)
ANSWER = re.compile(r"^```json\n(.*?)^```", re.MULTILINE | re.DOTALL)


def printed_job(page: str) -> Any:
    """The body of the page's first call that posts a job."""
    call = CALL.search((ROOT / page).read_text(encoding="utf-8"))
    assert call is not None, page
    return json.loads(call[1])


@pytest.mark.parametrize("page", ["README.md", "docs/guide/http.md"])
def test_a_printed_job_is_scored(stage: Stage, page: str) -> None:
    answer = stage.client().post("/v1/jobs", json=printed_job(page), headers={"Prefer": "wait=20"})
    assert (answer.status_code, answer.json["state"]) == (201, "succeeded")


def test_the_readme_prints_what_the_service_answers(stage: Stage) -> None:
    answer = ANSWER.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert answer is not None
    covers(json.loads(answer[1]), stage.client().post("/v1/jobs", json=printed_job("README.md")).json)


def test_the_requests_that_the_readme_lists_are_answered(stage: Stage) -> None:
    job = stage.client().post("/v1/jobs", json=printed_job("README.md")).json["id"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    addresses = re.findall(r"`GET (/v1/jobs/\{id\}/[^`]+)`", text)
    assert len(addresses) == 4
    for address in addresses:
        assert stage.client().get(address.replace("{id}", job)).status_code == 200, address
