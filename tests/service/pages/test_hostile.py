"""What hostile addresses and forms get: an answer below 500, and no header of their making."""

from __future__ import annotations

import re

import pytest

from service.pages.answers import BLUEPRINTS
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from tests.fixtures.form_pages import browser, field_of
from tests.fixtures.requests import GOLD_TREE, OTHER_TREE

FREE = ("/sign-in", "/theme")
"""Forms of visitors without a session: they change nothing that belongs to anyone."""
ENDS_LOOKING = ("/admin/see-as", "/sign-out")


@pytest.fixture
def stage(kept_stage: Stage) -> Stage:
    """The tests leave each other alone: each has benchmarks of its own."""
    return kept_stage


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


def test_answers_with_secrets_are_stored_nowhere(stage: Stage) -> None:
    slug = SharedTask(stage).slug
    organiser = browser(stage)
    csrf = field_of(organiser.get("/"), "csrf")
    sent = [
        ("teams", {"table": "id,name,contact\nnovi,Novi,a@example.org\n"}, "ts_"),
        ("teams", {"table": "id,name,contact\ngent,Gent,a@example.org\n"}, "ts_"),
        ("teams/novi/token", {}, "ts_"),
        ("teams/invites", {"expires_at": "2999-01-01T00:00", "teams_at_most": "3"}, "/join/"),
    ]
    for address, data, secret in sent:
        answer = organiser.post(f"/admin/{slug}/{address}", data={"csrf": csrf, **data})
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
        assert secret in answer.text


def forms_of(stage: Stage) -> list[str]:
    """The addresses of all pages to which a form is sent, with names that nothing has."""
    rules = [rule for rule in stage.app.url_map.iter_rules() if rule.endpoint.startswith(BLUEPRINTS)]
    sent_to = [str(rule.rule) for rule in rules if "POST" in (rule.methods or ()) and rule.rule not in FREE]
    assert len(sent_to) > 15
    return [re.sub(r"<[^>]+>", "x", rule) for rule in sent_to]


def test_every_form_needs_the_value_of_the_session(stage: Stage) -> None:
    organiser = browser(stage)
    for address in forms_of(stage):
        for given in ({}, {"csrf": "of-another-session"}):
            answer = organiser.post(address, data=given, content_type="multipart/form-data")
            assert answer.status_code == 403, address
            assert "does not belong to your session" in answer.text, address


def test_who_sees_as_a_team_changes_nothing(stage: Stage) -> None:
    task = SharedTask(stage)
    task.team()
    organiser = browser(stage)
    csrf = field_of(organiser.get("/"), "csrf")
    organiser.post("/admin/see-as", data={"csrf": csrf, "benchmark": task.slug, "team": "lyon"})
    assert organiser.get("/jobs/new").status_code == browser(stage, None).get("/jobs/new").status_code
    for address in forms_of(stage):
        if address not in ENDS_LOOKING:
            answer = organiser.post(address, data={"csrf": csrf}, content_type="multipart/form-data")
            assert answer.status_code == 403, address
    assert organiser.post("/admin/see-as", data={"csrf": csrf}).status_code == 303
    assert "You see the pages as the team" not in organiser.get("/").text
