"""What organisers set in the browser, and where it is shown: settings, notice, dates."""

from __future__ import annotations

import re

import pytest
from werkzeug.test import TestResponse

from service.pages import admin, figures, settings
from service.pages.markdown import first_words
from tests.contract.checking import CheckedClient
from tests.contract.shared_task import SharedTask
from tests.contract.stage import ADMIN, Stage
from tests.fixtures.form_pages import browser, field_of, words_of


@pytest.fixture
def stage(kept_stage: Stage) -> Stage:
    """The tests leave each other alone: each has benchmarks of its own."""
    return kept_stage


def change(task: SharedTask, **changes: object) -> None:
    """Change a benchmark by the API."""
    tag = task.organiser.get(task.address).headers["ETag"]
    changed = task.organiser.patch(task.address, json=changes, headers={"If-Match": tag})
    assert changed.status_code == 200, changed.text


@pytest.mark.parametrize("feedback", ["none", "rounded", "scores"])
def test_a_notice_stands_above_the_board_and_above_submit(
    stage: Stage, feedback: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "MOST_OLD", 10**9)
    task = SharedTask(stage, feedback=feedback)
    reader = stage.client(None)
    before = reader.get(f"/b/{task.slug}")
    change(task, notice="The deadline **has moved** to <b>Monday</b>.")
    monkeypatch.setattr(figures, "MOST_OLD", 10**8)  # what is known belongs to another interval
    after = reader.get(f"/b/{task.slug}", headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert "<strong>has moved</strong> to &lt;b&gt;Monday&lt;/b&gt;." in after.text
    assert "The deadline has moved" in words_of(browser(stage, ADMIN).get(f"/submit?benchmark={task.slug}"))
    assert "Notice" not in before.text


def test_the_first_words_of_a_notice_stand_for_a_long_one() -> None:
    assert first_words("Gold of `press`\nis *mended*.") == ("Gold of press is mended.", True)
    assert first_words("# Mended\n\nIn two sentences.") == ("Mended", False)
    assert first_words("- one") == ("one", False)
    assert first_words("    code") == ("", False)


def test_dates_are_a_list_with_the_next_one_marked(stage: Stage) -> None:
    dates = [
        {"at": "2999-11-01T23:59:59-12:00", "what": "Results are due"},
        {"at": "2001-11-01T12:00:00Z", "what": "Training data"},
        {"at": "2999-12-01T12:00:00Z", "what": "Papers"},
    ]
    task = SharedTask(stage, about={"dates": dates, "rules": "| a |\n|---|\n| b |"})
    page = stage.client(None).get(f"/b/{task.slug}/about")
    words = words_of(page)
    assert (
        "Thursday 1 November 2001, 12:00 UTC Training data "
        "Friday 1 November 2999, 23:59 anywhere on earth (11:59 UTC the day after) next Results are due"
    ) in words
    assert page.text.count('aria-current="date"') == 1
    assert '<th scope="col">a</th>' in page.text


SET = {
    "title": "Phase 2", "series": "phases", "opens_at": "2001-01-01T00:00:00.000Z",
    "closes_at": "2999-01-02T11:59:59.000Z", "feedback": "rounded", "feedback_after_closing": "gold", "rounding": 0.005,
    "publish_input": True, "tracks": {"all": ["en"], "one": ["en"]},
    "quota": {"scored_per_day": None, "scored_total": 7, "attempts_per_day": 0, "comparisons_per_day": 20},
    "leaderboard": {
        "public": False, "anonymous": True, "pick": "last", "frozen_at": "2999-01-01T06:00:00.000Z", "ladder": False,
        "scores": ["attachment.uas", "attachment.las"], "margin": 0.5, "unit": "sentence", "split": {"private": 0.5},
        "accept_one_sided": True,
    },
    "about": {
        "description": "# A\n\n\n- b", "rules": "Be fair.", "citation": None, "licence": "CC BY", "contact": "a@b.c",
        "links": [{"label": "The call", "url": "https://example.org/call"}],
        "dates": [
            {"at": "2027-11-02T11:59:00.000Z", "what": "Results"}, {"at": "2027-12-01T15:00:00.000Z", "what": "Papers"},
        ],
    },
}  # fmt: skip
"""Another value for nearly every setting."""


def shown(document: dict) -> dict[str, str]:
    """What stands in the form of a benchmark."""
    return settings.texts_of(document, admin.FIELDS)


def save(organiser: CheckedClient, slug: str, texts: dict[str, str], **headers: str) -> TestResponse:
    """Send the form of a benchmark as it is shown now, with these texts."""
    page = organiser.get(f"/admin/{slug}")
    hidden = {name: field_of(page, name) for name in ("csrf", "seen")}
    return organiser.post(f"/admin/{slug}", data={**hidden, **texts}, headers=headers)


def test_every_setting_can_be_set_and_is_shown(stage: Stage) -> None:
    task = SharedTask(stage)
    organiser = browser(stage)
    answer = save(organiser, task.slug, shown({**SET, "notice": {"text": "Read **this**.", "at": ""}}))
    assert answer.status_code == 303, words_of(answer)
    document = task.organiser.get(task.address).json
    assert {name: document[name] for name in SET} == SET
    assert document["notice"]["text"] == "Read **this**."
    page = organiser.get(answer.headers["Location"])
    assert "Saved." in words_of(page)
    assert "Tuesday 1 January 2999, 23:59 anywhere on earth (11:59 UTC the day after)" in words_of(page)
    assert "Saved." not in words_of(organiser.get(f"/admin/{task.slug}"))
    assert '<option value="yes" selected>as tokens or text, whichever tells no annotation</option>' in page.text
    for text in shown(document).values():
        assert text in page.text.replace("&#34;", '"')


def test_what_did_not_change_is_not_sent(stage: Stage) -> None:
    task = SharedTask(stage)
    organiser = browser(stage)
    texts = shown(task.organiser.get(task.address).json)
    assert save(organiser, task.slug, texts).status_code == 303
    assert save(organiser, task.slug, {**texts, "title": "Another"}).status_code == 303
    changed = task.organiser.get("/v1/events", query_string={"benchmark": task.slug, "limit": 1000}).json["items"]
    assert [each["data"] for each in changed if each["type"] == "benchmark.changed"] == [{"members": ["title"]}]


@pytest.mark.parametrize(
    ("texts", "field", "said"),
    [
        ({"quota.scored_per_day": "many"}, "quota-scored-per-day", "whole number"),
        ({"quota.scored_total": "nan"}, "quota-scored-total", "whole number"),
        ({"leaderboard.margin": "-1"}, "leaderboard-margin", "above 0"),
        ({"leaderboard.split": "0.5"}, "closes-at", "Set “Closes”"),
        ({"leaderboard.scores:ud.no": "on"}, "leaderboard-scores", "ud.no"),
        ({"tracks": "all: de"}, "tracks", "Unknown part"),
        ({"tracks": "all: 2026-13-01T00:00:00Z"}, "tracks", "2026-13-01T00:00:00Z"),  # quoted as typed
        ({"about.links": "Call http://example.org"}, "about-links", "https://"),
        ({"about.dates.1.what": "No time"}, "about-dates-1-at", "Choose when it is."),
        ({"about.dates.0.at": "2027-01-01T00:00", "about.dates.0.what": " "}, "about-dates-0-what", "Say what happens"),
        ({"title": " "}, "title", "name"),
        (
            {"opens_at": "2027-01-01T00:00", "closes_at": "2026-01-01T00:00"},
            "closes-at",
            "(1 January 2026 00:00 UTC) must be",
        ),
        ({"closes_at": "never"}, "closes-at", "ISO 8601"),
        ({"feedback": "all"}, "feedback", "Unknown value"),
        ({"series": "a b"}, "series", "An id has"),
    ],
)
def test_a_fault_stands_beside_its_field_and_what_was_typed_is_kept(
    stage: Stage, texts: dict[str, str], field: str, said: str
) -> None:
    task = SharedTask(stage)
    before = task.organiser.get(task.address)
    typed = {**shown(before.json), "about.rules": "Typed <b>just</b> now.", **texts}
    answer = save(browser(stage), task.slug, typed)
    assert answer.status_code == 422
    assert said in answer.text.partition(f'id="fault-{field}"')[2].partition("</div>")[0]
    assert "Typed &lt;b&gt;just&lt;/b&gt; now." in answer.text
    assert "Nothing was saved." in words_of(answer)
    assert re.search(rf'aria-describedby="[^"]*fault-{field}" aria-invalid="true" autofocus', answer.text)
    assert task.organiser.get(task.address).headers["ETag"] == before.headers["ETag"]


def test_two_organisers_do_not_overwrite_each_other(stage: Stage) -> None:
    task = SharedTask(stage)
    organiser = browser(stage)
    texts = shown(task.organiser.get(task.address).json)
    page = organiser.get(f"/admin/{task.slug}")
    mine = {**texts, **{name: field_of(page, name) for name in ("csrf", "seen")}, "about.rules": "Mine."}
    changed = {"leaderboard": {"public": False}, "closes_at": "2999-01-01T11:59:00Z"}
    change(task, about={"rules": "Theirs."}, feedback="rounded", **changed)
    answer = organiser.post(f"/admin/{task.slug}", data=mine)
    assert answer.status_code == 412
    assert "Another organiser has changed the benchmark" in words_of(answer)
    beside = answer.text.partition('id="fault-about-rules"')[2].partition("</div>")[0]
    assert "Theirs." in beside
    for field, stored in (
        ("feedback", "rounded: rounded scores"), ("leaderboard-public", ">no<"), ("closes-at", "31 December 2998, "),
    ):  # fmt: skip
        assert stored in answer.text.partition(f'id="fault-{field}"')[2].partition("</div>")[0]
    assert "Mine." in answer.text
    assert task.organiser.get(task.address).json["about"]["rules"] == "Theirs."
    again = organiser.post(f"/admin/{task.slug}", data={**mine, "seen": field_of(answer, "seen")})
    assert again.status_code == 303
    assert task.organiser.get(task.address).json["about"]["rules"] == "Mine."


def test_a_warning_speaks_of_the_fields(stage: Stage) -> None:
    task = SharedTask(stage)
    change(task, closes_at="2020-01-01T00:00:00Z")
    assert "“Closes” (1 January 2020 00:00 UTC)" in words_of(browser(stage).get(f"/admin/{task.slug}"))


def test_a_check_of_gold_in_between_refuses_no_form(stage: Stage) -> None:
    task = SharedTask(stage)
    organiser = browser(stage)
    page = organiser.get(f"/admin/{task.slug}")
    sent = {**shown(task.organiser.get(task.address).json), "title": "Another"}
    task.revised()
    sent |= {name: field_of(page, name) for name in ("csrf", "seen")}
    assert organiser.post(f"/admin/{task.slug}", data=sent).status_code == 303


def test_with_a_script_saving_is_said_in_place(stage: Stage) -> None:
    task = SharedTask(stage)
    texts = shown(task.organiser.get(task.address).json)
    answer = save(browser(stage), task.slug, {**texts, "title": "Another"}, **{"HX-Request": "true"})
    assert answer.status_code == 200
    assert "Saved." in words_of(answer)
    assert answer.headers["Cache-Control"] == "no-store"
