"""Long polls hold threads, so only some are granted; the others are answered at once, and asked to poll less often."""

from __future__ import annotations

from typing import Any

import pytest

from service.server.connection import EXTENSION, ServerState, Waits
from tests.contract.stage import JOB, Stage


@pytest.fixture
def waits(stage: Stage) -> Waits:
    found: ServerState = stage.app.extensions[EXTENSION]
    return found.waits


@pytest.mark.parametrize("again", [False, True])
def test_a_wait_beyond_the_limit_is_answered_at_once_as_if_its_time_were_over(
    stage: Stage, waits: Waits, again: Any
) -> None:
    stage.queue.asleep = True
    client = stage.client(None)
    at = client.post("/v1/jobs", json=JOB).headers["Location"]
    assert all(waits.take("anonymous:127.0.0.1") for _ in range(4))
    prefer = {"Prefer": "wait=60"}
    answer = client.get(at, headers=prefer) if again else client.post("/v1/jobs", json=JOB, headers=prefer)
    assert answer.status_code == (200 if again else 202)
    assert answer.headers["Retry-After"] == "5"
    assert "Preference-Applied" not in answer.headers
    assert answer.json["state"] == "queued"


def test_a_caller_with_a_token_waits_beside_a_crowd_at_another_address(stage: Stage, waits: Waits) -> None:
    assert all(waits.take("anonymous:127.0.0.1") for _ in range(4))
    answer = stage.client().post("/v1/jobs", json=JOB, headers={"Prefer": "wait=9"})
    assert answer.headers["Preference-Applied"] == "wait=9"
    assert waits.total == 4


def test_the_place_is_given_back_by_a_request_that_fails(stage: Stage, waits: Waits) -> None:
    stage.client().post("/v1/jobs", json=JOB, headers={"Prefer": "wait=9"})
    stage.client().get("/v1/jobs/unknown", headers={"Prefer": "wait=9"})
    assert waits.total == 0


def test_a_used_organise_token_is_known_and_a_revoked_one_forgotten(stage: Stage) -> None:
    organisers = stage.app.extensions[EXTENSION].organisers
    made = stage.client().post("/v1/tokens", json={"scopes": ["organise"]}).json
    assert not organisers.knows(made["token"])
    stage.client(made["token"]).get("/v1/jobs")
    assert organisers.knows(made["token"])
    stage.client().delete(f"/v1/tokens/{made['id']}")
    stage.client(made["token"]).get("/v1/jobs")
    assert not organisers.knows(made["token"])
