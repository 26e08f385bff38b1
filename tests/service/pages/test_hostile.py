"""What hostile addresses and forms get: an answer below 500, and no header of their making."""

from __future__ import annotations

import pytest

from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from tests.fixtures.form_pages import browser, field_of
from tests.fixtures.requests import GOLD_TREE, OTHER_TREE


def test_scores_of_short_sentences_are_columns(stage: Stage) -> None:
    task = SharedTask(stage, format="bracketed", metrics=["parseval"], parts={"en": {"gold": GOLD_TREE}})
    address = task.submit(text=OTHER_TREE)
    page = browser(stage).get(address.replace("/v1/submissions/", "/s/"), query_string={"scores": "all"})
    assert page.status_code == 200
    assert "Cutoff labelled F1" in page.text
    assert "{&#39;" not in page.text
    systems = [{"name": "a", "output": OTHER_TREE}, {"name": "b", "output": GOLD_TREE}]
    job = stage.job(format="bracketed", metrics=["parseval"], gold=GOLD_TREE, systems=systems)
    for query in ({}, {"scores": "all"}):
        assert browser(stage).get(job.replace("/v1/jobs/", "/j/"), query_string=query).status_code == 200


@pytest.mark.parametrize("name", ["a\r\nX-Made: up", "\u20ac", "/elsewhere.example"])
def test_only_checked_names_become_addresses(stage: Stage, name: str) -> None:
    organiser = browser(stage)
    csrf = field_of(organiser.get("/"), "csrf")
    answer = organiser.post("/admin/see-as", data={"csrf": csrf, "benchmark": name})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")


def test_numbers_that_are_too_large(stage: Stage) -> None:
    slug = SharedTask(stage).slug
    organiser = browser(stage)
    csrf = field_of(organiser.get("/"), "csrf")
    assert organiser.get(f"/admin/{slug}/revisions/{10**30}").status_code == 404
    invite = {"csrf": csrf, "expires_at": "2999-01-01T00:00", "teams_at_most": "9" * 5000}
    assert organiser.post(f"/admin/{slug}/teams/invites", data=invite).status_code == 422


def test_who_sees_as_a_team_joins_nothing(stage: Stage) -> None:
    task = SharedTask(stage)
    task.team()
    organiser = browser(stage)
    csrf = field_of(organiser.get("/"), "csrf")
    organiser.post("/admin/see-as", data={"csrf": csrf, "benchmark": task.slug, "team": "lyon"})
    assert organiser.post("/join/secret", data={"csrf": csrf, "id": "new", "name": "New"}).status_code == 403
