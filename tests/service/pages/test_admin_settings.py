"""What organisers set in the browser, and where it is shown: settings, notice, dates."""

from __future__ import annotations

import pytest

from service.pages import figures
from tests.contract.shared_task import SharedTask
from tests.contract.stage import ADMIN, Stage
from tests.fixtures.form_pages import browser, words_of


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
