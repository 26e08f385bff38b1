"""What other sites show of a board: the table in a frame has no form and no way out; the feed tells what is new."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, fromstring

import pytest

from service.pages import elsewhere
from service.pages.visitors import SESSION_COOKIE
from tests.conftest import ROOT
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from tests.fixtures.form_pages import browser
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.site import BENCHMARKS, LEVELS, ORGANISER, TEAM, Site
from tests.service.pages.reading import Page

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def stage(kept_stage: Stage) -> Stage:
    """The tests leave each other alone: each has benchmarks of its own."""
    return kept_stage


@pytest.mark.parametrize("slug", [slug for slug in BENCHMARKS if slug != "members"])
def test_a_frame_has_no_form_no_script_and_one_link(site: Site, slug: str) -> None:
    answer = site.client().get(f"/embed/b/{slug}")
    page = Page(answer.text)
    assert page.anchors == [f"/b/{slug}"]
    assert 'target="_blank" rel="noopener"' in answer.text
    assert not re.search(r"<form|<script|<button|<input|<select|hx-", answer.text)
    assert {name.split("/")[1] for name in page.loads if name != "#foot"} == {"static"}
    policy = answer.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "form-action 'none'", "base-uri 'none'", "frame-ancestors *"} <= set(policy)
    board = site.client().get(f"/v1/benchmarks/{slug}/leaderboard").json
    assert sum(len(row) > 3 for row in page.rows) == (len(board["rows"]) + 1 if board["rows"] else 0)


def test_a_frame_and_a_feed_show_everybody_the_same(site: Site, stage: Stage) -> None:
    for address in ("/embed/b/deps-scores", "/feeds/deps-scores.atom"):
        seen = {site.client(site.token(who, "deps-scores")).get(address).data for who in (None, TEAM, ORGANISER)}
        assert len(seen) == 1, address
    task = SharedTask(stage)
    own = browser(stage)  # an organiser with a session
    assert own.get_cookie(SESSION_COOKIE) is not None
    task.submit()
    assert "/s/sub_" in own.get(f"/b/{task.slug}").text
    assert own.get(f"/embed/b/{task.slug}").data == stage.client(None).get(f"/embed/b/{task.slug}").data
    for query in ("?pick=all", "?split=private", "?nothing=1"):
        assert own.get(f"/embed/b/{task.slug}{query}").status_code in (400, 403, 422), query


def test_a_frame_is_asked_for_again_at_no_cost(site: Site) -> None:
    client, board = site.client(), site.client().get("/b/deps-scores")
    first = client.get("/embed/b/deps-scores")
    assert {name: first.headers[name] for name in ("Vary", "Cache-Control")} == {
        name: board.headers[name] for name in ("Vary", "Cache-Control")
    }
    again = client.get("/embed/b/deps-scores", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert first.headers["Refresh"] == again.headers["Refresh"] == "60"
    assert "Refresh" not in board.headers


def feed(site: Site | Stage, slug: str) -> Element:
    """The feed, valid as RFC 4287 demands it."""
    client = site.client() if isinstance(site, Site) else browser(site)
    answer = client.get(f"/feeds/{slug}.atom")
    assert (answer.status_code, answer.mimetype) == (200, "application/atom+xml")
    found = fromstring(answer.data)  # noqa: S314 - our own
    assert found.tag == f"{ATOM}feed"
    assert found.findtext(f"{ATOM}author/{ATOM}name")
    assert {link.get("rel") for link in found.findall(f"{ATOM}link")} == {"self", "alternate"}
    for each in (found, *found.findall(f"{ATOM}entry")):
        assert all(each.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated"))
        assert str(each.find(f"{ATOM}link").get("href")).startswith("http://")  # type: ignore[union-attr]
    ids = [str(entry.findtext(f"{ATOM}id")) for entry in found.findall(f"{ATOM}entry")]
    assert len(set(ids)) == len(ids)
    return found


def change(task: SharedTask, **changes: object) -> None:
    """Change settings of the benchmark."""
    known = {"If-Match": task.organiser.get(task.address).headers["ETag"]}
    assert task.organiser.patch(task.address, json=changes, headers=known).status_code == 200


def titles(found: Element, name: str = "title") -> list[str]:
    """One member of each entry, newest first."""
    return [str(entry.findtext(f"{ATOM}{name}")) for entry in found.findall(f"{ATOM}entry")]


@pytest.mark.parametrize("level", LEVELS)
def test_a_feed_has_rows_from_the_level_on_at_which_everybody_sees_them(site: Site, level: str) -> None:
    found = feed(site, f"deps-{level}")
    rows = [title for title in titles(found) if not title.startswith("Revision")]
    shown = level not in ("none", "status")
    assert rows == (["Ulm: run 2", "Oslo: run 1", "Lyon Parsing Group: run 0"] if shown else [])
    assert any("LAS" in words for words in titles(found, "content")) == shown


def test_a_feed_names_nobody_on_an_anonymous_board_and_is_only_of_public_ones(site: Site) -> None:
    feed(site, "hostile")
    text = site.client().get("/feeds/unnamed.atom").text
    assert "anonymous" not in text
    assert all(f"Team {letter}" in text for letter in "ABC")
    assert not re.search("[Ll]yon|[Oo]slo|[Uu]lm|run [0-9]", text)
    assert 'href="/feeds/deps-scores.atom"' in site.client().get("/b/deps-scores/matrix").text
    own = site.client(site.token(TEAM, "members"))
    assert own.get("/b/members").status_code == 200
    assert "/feeds/" not in own.get("/b/members/about").text
    for address in ("/feeds/members.atom", "/embed/b/members"):
        assert own.get(address).status_code == 404


def test_a_feed_tells_of_what_is_picked_of_revisions_and_of_the_notice(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores", about={"contact": "Ada"}, leaderboard={"pick": "best"})
    lyon = task.team()
    best = task.submit(lyon, GOLD_CONLLU, name="best").rpartition("/")[2]
    before = stage.client(None).get(f"/feeds/{task.slug}.atom")
    ids = titles(feed(stage, task.slug), "id")
    task.submit(lyon, ONE_WRONG, name="unpicked")
    again = stage.client(None).get(f"/feeds/{task.slug}.atom", headers={"If-None-Match": before.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert ids[0].endswith((best, "revision-1"))
    late = stage.client(None).get(
        f"/feeds/{task.slug}.atom", headers={"If-Modified-Since": before.headers["Last-Modified"]}
    )
    assert (late.status_code, late.data) == (304, b"")
    corrected = GOLD_CONLLU.replace("2\tobj", "2\tiobj", 1)
    fix = {"parts": {"en": {"gold": corrected}}, "reason": "a wrong head", "public_reason": "Corrected."}
    assert task.organiser.post(f"{task.address}/revisions", json=fix).status_code < 300
    change(task, notice="The **deadline** has moved & <b>grown</b>.")
    found = feed(stage, task.slug)
    assert set(titles(found)) == {"Notice of the organisers", "Revision 2", "Revision 1", "lyon Parsing Group: best"}
    assert set(ids) < set(titles(found, "id"))
    assert found.findtext(f"{ATOM}author/{ATOM}name") == "Ada"
    notice = titles(found, "content")[titles(found).index("Notice of the organisers")]
    assert "<strong>deadline</strong>" in notice
    assert "<b>" not in notice
    assert "a wrong head" not in stage.client(None).get(f"/feeds/{task.slug}.atom").text


def test_a_feed_is_made_again_only_where_something_changed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    task = SharedTask(stage, feedback="scores")
    task.submit(task.team(), name="before")
    before = stage.client(None).get(f"/feeds/{task.slug}.atom").data
    with monkeypatch.context() as patched:
        patched.delattr(elsewhere, "_news")
        assert stage.client(None).get(f"/feeds/{task.slug}.atom").data == before
    change(task, title="Another title")
    assert "Another title" in stage.client(None).get(f"/feeds/{task.slug}.atom").text


def test_a_feed_of_a_frozen_board_has_nothing_newer(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores")
    task.submit(task.team(), name="before")
    frozen = stage.context.now().isoformat()
    change(task, leaderboard={"frozen_at": frozen})
    known = titles(feed(stage, task.slug))
    task.submit(task.team("oslo"), GOLD_CONLLU, name="after")
    task.revised()
    assert titles(feed(stage, task.slug)) == known
    assert "after" not in stage.client(None).get(f"/embed/b/{task.slug}").text


def test_about_has_the_line_that_shows_the_board_elsewhere(site: Site) -> None:
    words = "".join(Page(site.client().get("/b/hostile/about").text).words)
    (line,) = re.findall("<iframe .*</iframe>", words)
    assert 'src="http://localhost/embed/b/hostile"' in line
    assert "&lt;script&gt;" in line
    assert "<script>" not in line
    tutorial = (ROOT / "docs" / "tutorials" / "dashboard.md").read_text("utf-8")
    without = [re.sub('(src|title)="[^"]*"', "", each) for each in (line, *re.findall("<iframe .*</iframe>", tutorial))]
    assert without == without[:1] * 2


def test_the_notice_is_in_the_feed_of_a_frozen_board(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores", leaderboard={"frozen_at": "2020-01-01T00:00:00Z"}, notice="moved")
    task.submit()
    feed = stage.client(None).get(f"/feeds/{task.slug}.atom").text
    assert ["moved" in feed, "sub_" in feed] == [True, False]
