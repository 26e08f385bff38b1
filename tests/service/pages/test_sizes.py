"""Pages of large things stay small: boards with many viewers, matrices of many teams, long sentences, deep trees."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.pages import answers, board
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage, close_stage, open_stage
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.servers import Valkey

KB = 1000
LONG = "x" * 10_000


@pytest.fixture
def stage(tmp_path: Path, valkey: Valkey) -> Iterator[Stage]:
    """The service on an empty store."""
    opened = open_stage(tmp_path, valkey.url)
    yield opened
    close_stage(opened)


def live_address(page: str) -> str:
    found = re.search(r'hx-get="([^"]*/live[^"]*)"', page)
    assert found is not None
    return html.unescape(found[1])


def conllu(words: int, form: str = "w", *, deep: bool = False) -> str:
    rows = [
        f"{word}\t{form}\t_\t_\t_\t_\t{word - 1 if deep or word < 2 else 1}\t{'root' if word == 1 else 'dep'}\t_\t_"
        for word in range(1, words + 1)
    ]
    return "\n".join([f"# sent_id = {LONG}", *rows, "", ""])


def sentence_page(stage: Stage, gold: str, **changes: Any) -> str:
    task = SharedTask(stage, parts={"en": {"gold": gold}}, **changes)
    address = task.submit(text=gold).replace("/v1/submissions/", "/s/")
    page = stage.client().get(f"{address}/sentences")
    assert page.status_code == 200, page.text
    return page.text


def test_a_fragment_is_rendered_once_for_all_who_ask(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    task = SharedTask(stage)
    visitor = stage.client(None)
    task.submit(task.team("lyon"))
    address = live_address(visitor.get(f"/b/{task.slug}").text)
    assert visitor.get(address).status_code == 204
    task.submit(task.team("oslo"), GOLD_CONLLU)
    rendered = []
    usual = answers._rendered
    monkeypatch.setattr(answers, "_rendered", lambda name, **values: rendered.append(name) or usual(name, **values))
    one = visitor.get(address)
    two = visitor.get(re.sub("version=[0-9a-f]+", "version=older", address))
    assert one.status_code == two.status_code == 200
    assert one.data == two.data
    assert rendered == ["board_table.html"]
    assert "oslo Parsing Group" in one.text
    assert visitor.get(live_address(one.text)).status_code == 204


def test_what_one_visitor_sees_is_no_page_of_another(stage: Stage) -> None:
    task = SharedTask(stage)
    submission = task.submit(task.team("lyon")).rpartition("/")[2]
    address = f"/b/{task.slug}/live?version=older"
    link = f'href="/s/{submission}"'
    assert link in stage.client().get(address).text
    assert link not in stage.client(None).get(address).text


def test_a_matrix_shows_some_teams_and_where_the_others_are(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "MOST_TEAMS", 2)
    task = SharedTask(stage, feedback="scores")
    for name, text in (("lyon", GOLD_CONLLU), ("oslo", ONE_WRONG), ("paris", ONE_WRONG)):
        task.submit(task.team(name), text)
    address = f"/b/{task.slug}/matrix"
    first, last = (stage.client(None).get(f"{address}{query}").text for query in ("", "?cursor=2"))
    assert [sum(f"{name} Parsing" in page for name in ("lyon", "oslo", "paris")) for page in (first, last)] == [2, 1]
    assert "of 3 systems on 1 part" in last
    assert f'href="{address}?cursor=2">3–3</a>' in first
    assert ">1–2</a>" in last
    # the best of a row is that of all teams, also of those on other pages
    assert re.search(r'<td class="d0 best"', first)
    assert not re.search(r'<td class="[^"]*best"', last)
    assert "cursor" not in "".join(re.findall(r'href="(/v1/[^"]*)"', last))


def test_a_matrix_says_where_its_teams_end(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores")
    task.submit(task.team())
    page = stage.client(None).get(f"/b/{task.slug}/matrix?cursor=100")
    assert page.status_code == 200
    assert "There are no systems from number 101 on." in page.text
    assert stage.client(None).get(f"/b/{task.slug}/matrix?cursor=x").status_code == 422


def test_a_sentence_of_3000_words_is_shown_by_its_first(stage: Stage) -> None:
    page = sentence_page(stage, conllu(3_000))
    assert "… and 2,850 more words." in page
    assert len(page) < 250 * KB


def test_a_constituency_tree_of_depth_2000_is_shown_by_its_lowest_levels(stage: Stage) -> None:
    gold = f"{'(S ' * 2_000}(NN a) (NN b){')' * 2_000}\n"
    page = sentence_page(stage, gold, format="bracketed", metrics=["parseval"])
    assert re.search(r"… and 1,94\d more levels\.", page)
    assert len(page) < 100 * KB


def test_words_and_names_without_a_break_are_cut(stage: Stage) -> None:
    page = sentence_page(stage, conllu(10, form=LONG))
    assert "x" * 201 not in page
    assert len(page) < 100 * KB


def test_a_name_of_10000_characters_is_refused(stage: Stage) -> None:
    task = SharedTask(stage)
    made = stage.client().post(f"{task.address}/teams", json={"id": "long", "name": LONG})
    assert made.status_code == 422
    page = stage.client(None).get(f"/b/{task.slug}?score={LONG}")
    assert page.status_code in (403, 404, 422)
    assert len(page.data) < 50 * KB
