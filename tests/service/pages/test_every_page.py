"""Every page for every principal: its status, its headers, and nothing in it that the policy forbids."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask import Flask
from werkzeug.exceptions import MethodNotAllowed, NotFound

from service.api.answers import SHARED
from service.api.middleware import IN_PAGE, UNSHARED
from service.pages.answers import BLUEPRINTS, FRAMED, POLICY, static_files
from tests.contract.stage import close_stage, open_stage
from tests.fixtures.servers import Valkey
from tests.fixtures.site import CROWD, CROWDED, HOSTILE, ORGANISER, TEAM, TROUBLED, Site, crowd
from tests.fixtures.site_pages import CASE_NAMES, CASES, CROWDED_PAGES, PAGES, Shown
from tests.service.pages.reading import Page

HTML = {"Accept": "text/html"}
FRAGMENTS = ("/live",)
INDEX = "/docs/index.json"
"""The same for everyone."""
DRAWN_WHOLE = '<link rel="expect" href="#foot" blocking="render">'
"""Tables that a browser draws before their last rows have come move when these come."""


def rule_of(app: Flask, path: str) -> str | None:
    """The rule of the URL map that answers at this path."""
    adapter = app.url_map.bind("localhost")
    try:
        found, _ = adapter.match(path, method="GET", return_rule=True)
    except (NotFound, MethodNotAllowed):
        return None
    return str(found.rule)


def test_the_table_of_pages_has_every_page(site: Site) -> None:
    app = site.stage.app
    there = {
        str(rule.rule)
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith(BLUEPRINTS) and "GET" in (rule.methods or ()) and "/static/" not in rule.rule
    }
    listed = {rule_of(app, urlsplit(shown.address(site)).path) for shown in PAGES}
    assert there - listed == set()


WHOLE = ("deps-scores", "deps-none", "hostile")
"""Benchmarks at whose pages everybody looks in `make test`; at the others only teams do."""


@pytest.mark.parametrize(
    ("shown", "principal"),
    [
        pytest.param(*case, id=name, marks=() if case[0].benchmark in WHOLE or case[1] == TEAM else pytest.mark.slow)
        for case, name in zip(CASES, CASE_NAMES, strict=True)
    ],
)
def test_a_page(site: Site, shown: Shown, principal: str) -> None:
    check_page(site, shown, principal)


def check_page(site: Site, shown: Shown, principal: str) -> None:
    """Check the status, the headers and the outline of a page."""
    address = shown.address(site)
    response = site.client(site.token(principal, shown.benchmark)).get(address, headers=HTML)
    assert response.status_code == shown.status(principal), response.text
    headers = response.headers
    framed = address.startswith("/embed/") and response.status_code == 200
    assert headers["Content-Security-Policy"] == (FRAMED if framed else POLICY)
    assert "X-Frame-Options" not in headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cache-Control"] in (UNSHARED, "no-store", *((SHARED,) if shown.path == INDEX else ()))
    assert "Set-Cookie" not in headers
    if response.mimetype != "text/html":
        return
    page = Page(response.text, address)
    assert page.forbidden == []
    assert page.unclosed == []
    assert [name for name, _ in page.rooted if not re.fullmatch(IN_PAGE.decode(), f'{name}="')] == []
    assert [name for name, times in Counter(page.ids).items() if times > 1] == []
    static = [link for link in page.links if link.startswith("/static/")]
    assert {link.split("/", 3)[3] for link in static} <= set(static_files())
    if not urlsplit(address).path.endswith(FRAGMENTS):
        assert page.headings[0] == 1
        assert page.headings.count(1) == 1
        assert all(after - before <= 1 for before, after in zip(page.headings, page.headings[1:], strict=False))
        assert {"main", "foot"} <= set(page.ids)
        assert DRAWN_WHOLE in response.text


@pytest.mark.slow
def test_each_page_of_thirty_teams(tmp_path: Path, valkey: Valkey) -> None:
    stage = open_stage(tmp_path, valkey.url)
    site = crowd(stage)
    for path in CROWDED_PAGES:
        check_page(site, Shown(path, benchmark=CROWD), ORGANISER)
    organiser = site.client(site.token(ORGANISER, CROWD))
    for tab, rows in (("/b/crowd", CROWDED), ("/b/crowd/compare", CROWDED), ("/admin/crowd", CROWDED)):
        named = [each for row in Page(organiser.get(tab).text).rows for each in row[:3] if each.startswith("Team ")]
        assert len({" ".join(each.split()[:2]) for each in named}) == rows, tab
    assert "30 teams" in organiser.get("/b/crowd/matrix").text
    close_stage(stage)


def test_what_is_under_way_is_said_to_be_so(site: Site) -> None:
    team = site.client(site.token(TEAM, TROUBLED))
    for state, words in (("running", "Being scored."), ("waiting", "Waiting.")):
        page = team.get(f"/s/{site.by_state[state]}").text
        assert words in page
        assert "Sentences as pictures" not in page  # there are none yet
        assert "is not scored yet" in team.get(f"/s/{site.by_state[state]}/sentences").text
    assert "ask again when it has finished" in site.client().get(f"/j/{site.by_state['running_job']}/sentences").text


@pytest.mark.parametrize(("slug", "table"), [("empty", False), (TROUBLED, False), ("alone", True)])
def test_a_board_without_rows_has_no_table_to_save(site: Site, slug: str, *, table: bool) -> None:
    assert ("This table as" in site.client().get(f"/b/{slug}").text) == table


def test_what_failed_is_said_with_its_code_and_line(site: Site) -> None:
    organiser = site.client(site.token(ORGANISER, TROUBLED))
    dry_run = " ".join(Page(organiser.get(f"/admin/{TROUBLED}/revisions/1000001").text).words)
    assert "Failed. A dry run" in dry_run
    assert "line 1" in dry_run
    assert "No rank" not in dry_run


def test_the_public_reason_of_a_revision_is_shown_to_those_who_read_the_other_too(site: Site) -> None:
    for slug, shown in (("deps-gold", True), ("deps-scores", False)):
        words = site.client().get(f"/b/{slug}/revisions").text
        assert "Corrected heads." in words
        assert ("<bdi>Lyon Parsing Group" in words) == shown  # who moves is shown with names
        assert ("a head was wrong" in words) == shown


@pytest.mark.parametrize("tab", ["", "/matrix", "/compare", "/revisions", "/about"])
def test_hostile_names_are_shown_as_they_are(site: Site, tab: str) -> None:
    response = site.client().get(f"/b/hostile{tab}")
    assert "<script>alert" not in response.text
    assert "<img src=x" not in response.text
    assert "<b onmouseover" not in response.text
    words = " ".join(Page(response.text).words)
    assert "<script>alert(2)</script>" in words
    if not tab:
        assert all(name in words for name in HOSTILE.values())
