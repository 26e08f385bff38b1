"""The calls that README.md and the guides print work as printed."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from tests.contract.test_examples import covers
from tests.fixtures.contexts import deliver_due

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


GUIDE = ROOT / "docs" / "guide"
PRINTED = re.compile(r"printf '(id,name,contact[^']*)'")


@pytest.fixture
def task(stage: Stage) -> SharedTask:
    """A benchmark whose gold is checked."""
    return SharedTask(stage)


def body_after(page: Path, address: str) -> dict[str, object]:
    """The JSON body of the call of a page that goes to an address."""
    call = re.search(rf"{re.escape(address)}[^']*-d '(\{{.*?\}})'", page.read_text(encoding="utf-8"), re.DOTALL)
    assert call is not None, address
    body: dict[str, object] = json.loads(call[1])
    return body


def answer_with(page: Path, member: str) -> dict[str, object]:
    """The printed answer that has a member of this name."""
    answers = re.findall(r"^```json\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    found: dict[str, object] = json.loads(next(each for each in answers if f'"{member}"' in each))
    return found


def test_teams_come_from_the_printed_table(task: SharedTask) -> None:
    printed = PRINTED.search((GUIDE / "shared_tasks.md").read_text(encoding="utf-8"))
    assert printed is not None
    table = printed[1].replace("\\n", "\n")
    headers = {"Accept": "text/csv", "Content-Type": "text/csv"}
    made = task.organiser.post(f"{task.address}/teams", data=table, headers=headers)
    rows = list(csv.DictReader(io.StringIO(made.text)))
    assert [(row["id"], row["name"]) for row in rows] == [("oslo", "Parsers, Oslo"), ("metz", "Metz")]
    assert all(row["token"].startswith("ts_") for row in rows)


def test_an_invite_is_made_and_used_as_printed(task: SharedTask) -> None:
    page = GUIDE / "shared_tasks.md"
    made = task.organiser.post(f"{task.address}/invites", json=body_after(page, "/invites"))
    assert made.status_code == 201, made.text
    printed = answer_with(page, "teams_at_most")
    assert set(made.json) == set(printed)
    assert [made.json[name] for name in ("expires_at", "teams_at_most", "teams")] == [
        printed[name] for name in ("expires_at", "teams_at_most", "teams")
    ]
    body = {**body_after(page, "/v1/join"), "invite": made.json["secret"]}
    joined = task.stage.client(None).post("/v1/join", json=body)
    assert (joined.status_code, joined.json["id"]) == (201, "metz")


def test_a_webhook_is_tested_and_its_log_read_as_printed(task: SharedTask) -> None:
    organiser = task.stage.client(task.stage.token("organise"))
    hook = organiser.post("/v1/webhooks", json={"url": "https://93.184.215.14/hook", "kinds": ["webhook.test"]}).json[
        "id"
    ]
    assert organiser.post(f"/v1/webhooks/{hook}/test").status_code == 202
    while deliver_due(task.stage.context, lambda _url, _body, _headers: 204):
        continue
    log = organiser.get(f"/v1/webhooks/{hook}/deliveries?limit=20").json
    printed = answer_with(GUIDE / "feedback_and_events.md", "attempts")
    changing = {"id", "event", "at", "attempted_at"}
    (told,), (shown,) = printed["items"], log["items"]
    assert set(told) == set(shown)
    assert {name: told[name] for name in set(told) - changing} == {name: shown[name] for name in set(told) - changing}
