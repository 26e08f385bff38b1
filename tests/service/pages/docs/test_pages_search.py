"""The search finds operations, members, codes and headings; the script finds the same as the server."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from service.errors import CODES, TYPES
from service.pages import docs
from service.pages.answers import STATIC
from tests.contract.checking import contract, operations
from tests.contract.stage import Stage
from tests.service.pages.reading import BROWSER, read

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202egnp.exe", "{{7*7}}", "%00", "x" * 200,
           "' OR 1=1 --", "\N{PILE OF POO}", ".*", "\\", "a\tb\nc"]  # fmt: skip
QUERIES = ["", "  ", "job", "get_job", "GET /v1/jobs", "/v1/jobs", "JOBS get", "shuffles", "word-mismatch", "p",
           "state of", "Idempotency-Key", "webhooks guide", "nothing-has-this", *HOSTILE]  # fmt: skip
SCRIPT = """
const source = require("fs").readFileSync(process.argv[1], "utf8");
const part = (name) => {
  const start = source.indexOf(`const ${name} = `);
  return source.slice(start, source.indexOf("\\n  };", start) + 5);
};
const find = new Function(part("rank") + part("found") + "return found;")();
const { entries, queries } = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(queries.map((query) => find(entries, query).map((entry) => entry[3]))));
"""


def test_each_operation_is_found_first_by_path_and_by_id() -> None:
    for method, path, operation in operations():
        address = f"/docs/{operation['tags'][0]}#{operation['operationId']}"
        assert docs.found_entries(f"{method} {path}")[0].address == address
        assert address in {entry.address for entry in docs.found_entries(path)}
        assert address in {entry.address for entry in docs.found_entries(operation["operationId"].upper())}


def test_each_schema_its_first_member_and_each_parameter_is_found() -> None:
    for name, schema in contract()["components"]["schemas"].items():
        assert any(entry.kind == "schema" and entry.name == name for entry in docs.found_entries(name))
        for member in list(schema.get("properties", {}))[:1]:
            found = [
                entry for entry in docs.found_entries(member) if (entry.kind, entry.detail) == ("member", f"of {name}")
            ]
            assert any(entry.address.endswith(f"#{name}.{member}") for entry in found), (name, member)
    for name in {parameter["name"] for _, _, operation in operations() for parameter in operation["parameters"]}:
        assert any(entry.kind in ("parameter", "header") for entry in docs.found_entries(name))


def test_problems_are_found_by_name_and_by_title() -> None:
    for name, entry in [*{**TYPES, **CODES}.items()][::4]:  # each search reads all entries
        assert f"/problems/{name}" in {each.address for each in docs.found_entries(name)[:3]}
        assert f"/problems/{name}" in {each.address for each in docs.found_entries(entry.title)}


def test_headings_of_guides_are_found() -> None:
    assert docs.found_entries("Send files")[0].address == "/docs/guides/http#send-files"


def test_words_may_stand_in_any_order_and_the_name_itself_comes_first() -> None:
    assert {entry.address for entry in docs.found_entries("jobs get")} == {
        entry.address for entry in docs.found_entries("GET jobs")
    }
    assert [entry.name for entry in docs.found_entries("shuffles")[:2]] == ["shuffles", "shuffles"]


def test_the_page_shows_what_is_found_and_says_how_much(stage: Stage) -> None:
    client = stage.client(None)
    page = read(client, "/docs/search?q=get_job")
    assert "/docs/jobs#get_job" in page.anchors
    assert 'value="get_job"' in page.text
    many = read(client, "/docs/search?q=p")
    assert f"the best {docs.MOST_FOUND} are shown" in many.text
    assert "Nothing has all of these words" in read(client, "/docs/search?q=nothing-has-this").text
    assert "Search for an operation" in read(client, "/docs/search").text


@pytest.mark.parametrize("query", HOSTILE)
def test_hostile_queries_are_shown_as_text(stage: Stage, query: str) -> None:
    answer = stage.client(None).get("/docs/search", query_string={"q": query}, headers=BROWSER)
    assert answer.status_code == 200
    for loads in ("<script>", "<img", "\u202e", "49</b>"):
        assert loads not in answer.text


@pytest.mark.parametrize("query", ["q=" + "x" * 201, "q=a&q=b", "r=a"])
def test_wrong_queries_are_refused_with_a_page(stage: Stage, query: str) -> None:
    read(stage.client(None), f"/docs/search?{query}", 400)


def test_the_index_holds_every_entry_and_may_be_kept(stage: Stage) -> None:
    answer = stage.client(None).get("/docs/index.json")
    assert [row[3] for row in answer.json["entries"]] == [entry.address for entry in docs.search_entries()]
    assert answer.headers["Cache-Control"].startswith("public")
    assert len(answer.data) < 400_000


@pytest.mark.skipif(shutil.which("node") is None, reason="runs the script of the pages with node")
def test_the_script_finds_what_the_server_finds_in_the_same_order() -> None:
    given = {
        "entries": [[each.name, each.kind, each.detail, each.address] for each in docs.search_entries()],
        "queries": QUERIES,
    }
    done = subprocess.run(
        ["node", "-e", SCRIPT, str(STATIC / "docs.js")], input=json.dumps(given), capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == [[entry.address for entry in docs.found_entries(query)] for query in QUERIES]
