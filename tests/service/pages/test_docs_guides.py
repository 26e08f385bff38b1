"""Guides by their addresses: what they link to, what tells of an operation, and a service without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.pages import contract_reading, docs, markdown
from service.pages.markdown import Links
from tests.conftest import ROOT
from tests.contract.stage import Stage
from tests.service.pages.reading import read


def shown(text: str) -> str:
    links = Links(lambda target: docs.target_address("guide/http.md", target), docs.code_address)
    return str(markdown.render(markdown.parse(text), links))


@pytest.fixture
def no_guides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that has no folder of guides beside it."""
    monkeypatch.setattr(docs, "FOLDER", tmp_path / "docs")
    monkeypatch.setattr(docs, "guides", docs.guides.__wrapped__)
    monkeypatch.setattr("service.pages.docs.content_version", lambda: "without guides")


def test_every_page_of_the_folders_that_the_service_shows_has_an_address() -> None:
    listed = {guide.path for guide in docs.guides().values()}
    for folder in ("guide", "tutorials", "metrics", "operate"):
        assert {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs" / folder).glob("*.md")} <= listed
    assert {"GLOSSARY.md", "significance.md", "security.md"} <= listed


@pytest.mark.parametrize(
    ("target", "address"),
    [
        ("client.md#errors", "/docs/guides/client#errors"),
        ("../GLOSSARY.md", "/docs/guides/glossary"),
        ("../reference/operations.md#get_leaderboard", "/docs/leaderboards#get_leaderboard"),
        ("../reference/problems.md#word-mismatch", "/problems/word-mismatch"),
        ("../reference/problems.md", "/problems"),
        ("../../openapi.yaml", "/openapi.yaml"),
        ("https://example.org/x", "https://example.org/x"),
        ("#send-files", "#send-files"),
        ("../../treescore/api.py", None),
        ("../decisions/0003-queue.md", None),
    ],
)
def test_links_between_guides_lead_to_pages_of_the_service(target: str, address: str | None) -> None:
    assert docs.target_address("guide/http.md", target) == address


def test_a_file_of_the_repository_is_named_and_not_linked() -> None:
    html = shown("See [the code](../../treescore/api.py).")
    assert "<a" not in html
    assert "<code>treescore/api.py</code> in the repository" in html


def test_html_is_text_aligned_columns_have_no_style_and_links_hold_no_links() -> None:
    assert "<b>" not in shown("a <b>c</b>")
    html = shown("| a | b |\n|--:|---|\n| 1 | 2 |")
    assert "style" not in html
    assert '<td class="num">1</td>' in html
    assert shown("[`GET /v1/jobs`](client.md)").count("<a") == 1
    assert shown("```\n<script>\n```").count("&lt;script&gt;") == 1


def test_equal_headings_have_anchors_of_their_own() -> None:
    headings = markdown.headings(markdown.parse("# A b\n\n## `A` b!\n\n## A b"))
    assert [heading.anchor for heading in headings] == ["a-b", "a-b-1", "a-b-2"]


@pytest.mark.parametrize(
    ("example", "operation"),
    [
        ("curl $URL/v1/benchmarks/x/leaderboard", "get_leaderboard"),
        ("curl -X PATCH $URL/v1/benchmarks/x -d '{}'", "patch_benchmark"),
        ("curl -F a=@b http://127.0.0.1:8000/v1/jobs", "submit_job"),
        ("job = client.get_job(address)", "get_job"),
        ("curl https://example.org/else", None),
    ],
)
def test_calls_in_examples_are_understood(example: str, operation: str | None) -> None:
    assert [each.id for each in docs.calls_in(example)] == ([] if operation is None else [operation])


def test_words_that_are_not_only_names_of_operations_or_problems_are_not_linked() -> None:
    assert contract_reading.of_code("submit") is None  # a scope too
    assert contract_reading.of_code("closed") is None  # a state too
    assert contract_reading.of_code("get_job") == "/docs/jobs#get_job"
    assert contract_reading.of_code("POST …/retry") is None


@pytest.mark.usefixtures("no_guides")
def test_a_service_without_guides_says_so(stage: Stage) -> None:
    client = stage.client(None)
    assert "This installation has no guides" in read(client, "/docs").text
    assert "This installation has no guides" in read(client, "/docs/guides").text
    assert "This installation has no guides" in read(client, "/docs/guides/http", 404).text
