"""All pages of the documentation: each link leads somewhere, anchors too, and nothing comes from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from urllib.parse import unquote, urlsplit

import pytest

from service.errors import CODES, TYPES
from tests.contract.checking import contract, operations
from tests.contract.stage import Stage
from tests.service.pages.reading import Page, read

OTHERS = {"/", "/openapi.yaml", "/openapi.json", "/sign-in", "/submit", "/jobs/new"}
"""Addresses of the frame and of the contract: they are not pages of the documentation."""
Pages = dict[str, Page]


@pytest.fixture(scope="module")
def pages(stage: Stage) -> Pages:
    """Every page that can be reached from the first."""
    client = stage.client(None)
    known: Pages = {}
    waiting = ["/docs"]
    while waiting:
        address = waiting.pop()
        if address not in known:
            known[address] = read(client, address)
            waiting += [path for path, _ in targets(address, known[address]) if path not in OTHERS]
    return known


def targets(address: str, page: Page) -> Iterator[tuple[str, str]]:
    """The paths and anchors of this service to which a page links."""
    for link in page.anchors:
        parts = urlsplit(link)
        if not parts.netloc and parts.scheme != "mailto":
            yield parts.path or address, unquote(parts.fragment)


@cache
def members(schema_name: str) -> set[str]:
    """The names of the members of a schema, at any depth down to other named schemas."""

    def below(schema: object) -> Iterator[str]:
        if isinstance(schema, dict):
            yield from schema.get("properties", {})
            for part in (schema.get("properties", {}), schema):
                for name, value in part.items():
                    if part is not schema or name in ("items", "additionalProperties"):
                        yield from below(value)
            for word in ("oneOf", "anyOf", "allOf"):
                for choice in schema.get(word, ()):
                    yield from below(choice)

    return set(below(contract()["components"]["schemas"][schema_name]))


def test_every_link_leads_to_a_page_and_to_a_place_on_it(pages: Pages) -> None:
    for address, page in pages.items():
        for path, anchor in targets(address, page):
            if path not in OTHERS:
                assert not anchor or anchor in pages[path].ids, (address, path, anchor)


def test_pages_load_only_files_of_the_service_and_hold_no_style_or_handler(pages: Pages) -> None:
    for address, page in pages.items():
        assert page.loads, address
        assert all(load[0] in "/#" and not load.startswith("//") for load in page.loads), (address, page.loads)
        assert not page.forbidden, (address, page.forbidden)
        assert not page.unclosed, address


def test_pages_are_well_formed_for_programs_that_read_them_aloud(pages: Pages) -> None:
    for address, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), address
        assert not page.nested, (address, page.nested)
        assert page.headings.count(1) == 1, address
        assert all(b <= a + 1 for a, b in zip(page.headings, page.headings[1:], strict=False)), address


def test_every_tag_operation_parameter_and_schema_member_has_a_place(pages: Pages) -> None:
    for _, path, operation in operations():
        page = pages[f"/docs/{operation['tags'][0]}"]
        assert operation["operationId"] in page.ids, path
        for parameter in operation["parameters"]:
            header = f"request-{parameter['name']}" in pages["/docs/schemas"].ids
            assert header or f"{operation['operationId']}.{parameter['name']}" in page.ids, (path, parameter["name"])
    places = {anchor for address, page in pages.items() if address.startswith("/docs/") for anchor in page.ids}
    for name in contract()["components"]["schemas"]:
        assert f"schema-{name}" in places
        shown = {part for place in places if place.startswith(f"{name}.") for part in place.split("~")[0].split(".")}
        assert members(name) <= shown, (name, members(name) - shown)


def test_guides_show_neither_comments_nor_directives(pages: Pages) -> None:
    for address, page in pages.items():
        if address.startswith("/docs/guides/"):
            for mark in ("&lt;!--", "{toctree}", "{eval-rst}", "{include}"):
                assert mark not in page.text, (address, mark)


def test_operations_lead_to_the_guides_that_call_them(pages: Pages) -> None:
    assert "/docs/guides/http#post-a-job" in pages["/docs/jobs"].links
    assert "/docs/guides/tutorials/organiser#invite-the-teams" in pages["/docs/teams"].links


def test_every_problem_has_a_page(pages: Pages) -> None:
    for name, entry in {**TYPES, **CODES}.items():
        page = pages[f"/problems/{name}"]
        assert "/problems" in page.anchors
        assert name in pages["/problems"].ids
        assert entry.title.split("`")[0].split("'")[0] in page.text


def test_the_contents_mark_the_page_that_is_shown(pages: Pages) -> None:
    for address, page in pages.items():
        if address.startswith("/docs") and address != "/docs/guides":
            assert address in page.current, address


def test_pages_are_rendered_once_and_known_by_their_validators(stage: Stage, pages: Pages) -> None:
    client = stage.client(None)
    for address in list(pages)[::10]:
        first = client.get(address, headers={"Accept": "text/html"})
        again = client.get(address, headers={"Accept": "text/html", "If-None-Match": first.headers["ETag"]})
        assert again.status_code == 304, address


@pytest.mark.parametrize(
    "address", ["/docs/nowhere", "/docs/guides/nowhere", "/docs/guides/../../README", "/docs/jobs?x=1"]
)
def test_what_is_unknown_is_a_page_that_says_so(stage: Stage, address: str) -> None:
    answer = stage.client(None).get(address)
    assert answer.status_code in (400, 404)
    assert "Unknown" in answer.text
