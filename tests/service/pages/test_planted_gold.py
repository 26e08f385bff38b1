"""Words planted in gold are in no byte below the level `gold`: every link of every page, followed as everybody."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes

import pytest
from flask.testing import FlaskClient

from tests.contract.stage import ADMIN
from tests.fixtures.site import BENCHMARKS, LEVELS, MARKER, Site
from tests.fixtures.site_pages import PAGES
from tests.service.pages.reading import Page

GOLD = tuple(slug for slug, settings in BENCHMARKS.items() if settings["feedback"] == "gold")
QUICK = ("deps-scores", "deps-items", "trees")
"""Where a team sees most below gold."""
OPEN = ("/openapi.json", "/openapi.yaml", "/docs", "/problems")
"""What tells of the service, not of a benchmark: the same for everybody."""
MOST = 2_000
"""Addresses of one crawl: a page that leads to ever new ones is a fault."""


def crawl(client: FlaskClient, first: list[str], *below: str) -> Mapping[str, bytes]:
    """Follow every link, poll and form from these addresses; all bytes of each answer, headers included.

    A page with a query leads nowhere else: sorting what is sorted has no end.
    """
    answers: dict[str, bytes] = {}
    waiting = deque(first)
    seen = set(first)
    while waiting:
        address = waiting.popleft()
        response = client.get(address, headers={"Accept": "text/html"})
        headers = "".join(f"{name}: {value}\n" for name, value in response.headers)
        assert response.status_code < 500, address
        answers[address] = headers.encode() + response.data
        if response.mimetype != "text/html" or "?" in address:
            continue
        for found in Page(response.text, address).addresses():
            if found not in seen and found.startswith((*(below or ("/",)), "/static/")) and not found.startswith(OPEN):
                seen.add(found)
                waiting.append(found)
        assert len(seen) < MOST
    return answers


def told(answers: Mapping[str, bytes]) -> list[str]:
    """The addresses whose answer has a planted word."""
    marker = MARKER.encode()
    return [address for address, data in answers.items() if marker in unquote_to_bytes(data).lower()]


def of_gold(address: str) -> bool:
    """Whether everybody may see gold there."""
    return any(f"/{slug}" in address for slug in GOLD)


def first_addresses(site: Site, slug: str | None = None) -> list[str]:
    """Where a crawl begins: pages that no link leads to are reached too."""
    return [
        shown.address(site)
        for shown in PAGES
        if slug is None
        or (shown.benchmark == slug and shown.path.startswith(("/s/", f"/b/{slug}", "/embed/", "/feeds/")))
    ]


@pytest.mark.parametrize(
    ("scope", "below"),
    [
        (None, ("/b/deps-items",)),
        *(pytest.param(scope, (), marks=pytest.mark.slow) for scope in (None, "read", "score")),
    ],
)
def test_nobody_without_a_team_is_told_gold(site: Site, scope: str | None, below: tuple[str, ...]) -> None:
    token = None if scope is None else site.stage.token(scope)
    answers = crawl(site.client(token), [*below, *first_addresses(site, None if not below else "deps-items")], *below)
    assert {address.partition("?")[0] for address in answers} >= {"/b/deps-items", "/b/deps-items/matrix"}
    assert [address for address in told(answers) if not of_gold(address)] == []


@pytest.mark.parametrize(
    "slug",
    [pytest.param(slug, marks=() if slug in QUICK else pytest.mark.slow) for slug in BENCHMARKS if slug not in GOLD],
)
def test_no_team_below_gold_is_told_gold(site: Site, slug: str) -> None:
    answers = crawl(site.client(site.token("team", slug)), ["/", *first_addresses(site, slug)], f"/b/{slug}", "/s/")
    assert len(answers) > 8
    assert told(answers) == []


def test_the_words_are_there_to_be_told(site: Site) -> None:
    assert told(crawl(site.client(ADMIN), ["/b/deps-gold/revisions"], "/b/deps-gold/revisions"))
    team = site.client(site.token("team", "deps-gold"))
    assert told(crawl(team, ["/b/deps-gold/revisions"], "/b/deps-gold/revisions"))


@pytest.mark.parametrize("level", LEVELS)
def test_what_a_level_hides_is_on_no_page(site: Site, level: str) -> None:
    text = site.client().get(f"/b/deps-{level}").text
    rows = [row for row in Page(text).rows if len(row) > 4]
    if level in ("none", "status"):
        assert rows == []
        assert "The organisers show no scores yet" in text
        own = [
            site.client(site.token(each, f"deps-{level}")).get(f"/b/deps-{level}").text
            for each in ("team", "anonymous")
        ]
        assert ["Your own submissions" in each for each in own] == [True, False]
    else:
        assert len(rows) == 4
        assert ("p to next" in text) == (level != "rounded")
        assert ("% interval" in text) == (level != "rounded")
