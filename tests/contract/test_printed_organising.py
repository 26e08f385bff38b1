"""The calls of organisers that the guides print work as printed, in their order."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from service.usecases.events import deliver_due
from tests.conftest import ROOT
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage

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
