"""The service below a path: nothing that it sends leads out of it, whoever sets the path, and no stranger does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.api.answers import PROBLEM_JSON
from service.pages.answers import STATIC
from service.store.packing import unpack
from tests.contract.stage import ADMIN, JOB, Stage, close_stage, open_stage
from tests.fixtures.servers import Valkey
from tests.fixtures.site import ANONYMOUS, ORGANISER, TEAM, TROUBLED, Site, served
from tests.fixtures.site_pages import PAGES, PROBLEMS, Shown
from tests.service.pages.reading import BROWSER, Page
from treescore.cli.main import main
from treescore.client import Client

PREFIX = "/treescore"
BELOW = {"base_url": f"http://localhost{PREFIX}"}
PLAIN = ("pointer", "example")
"""Members whose values are no addresses."""


def leads_out(address: str) -> bool:
    return address.startswith("/") and not re.match(rf"{PREFIX}(?:[/?#]|$)", address)


def outward_members(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Names and values of members of a document that lead out of the path."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from outward_members(member, key)
    elif isinstance(value, list):
        for member in value:
            yield from outward_members(member, name)
    elif isinstance(value, str) and name not in PLAIN and leads_out(value):
        yield name, value


def check(answer: TestResponse) -> int:
    """Nothing of an answer leads out of the path; how many addresses a page has."""
    for name in ("Location", "HX-Redirect"):
        assert not leads_out(answer.headers.get(name, "")), answer.headers
    assert answer.headers.get("Link", f"<{PREFIX}/").startswith(f"<{PREFIX}/")
    assert all(f"; Path={PREFIX}/" in cookie for cookie in answer.headers.getlist("Set-Cookie"))
    if answer.is_json:
        assert list(outward_members(answer.json)) == []
    if answer.mimetype != "text/html":
        return 0
    found = Page(answer.text).rooted
    assert [each for each in found if leads_out(each[1])] == []
    return len(found)


SLOW = [pytest.param(each, marks=pytest.mark.slow) for each in (ORGANISER, TEAM)]


@pytest.mark.parametrize("principal", [ANONYMOUS, *SLOW])
def test_no_page_leads_out_of_the_path(site: Site, principal: str) -> None:
    shown = [each for each in (*PAGES, *PROBLEMS) if each.benchmark in ("deps-scores", TROUBLED)]
    for each in (*shown, Shown("/docs"), Shown("/problems")):
        client = site.client(site.token(principal, each.benchmark))
        answer = client.get(each.address(site), headers=BROWSER, **BELOW)
        assert answer.status_code == each.status(principal), each.path
        assert check(answer) or answer.mimetype != "text/html" or each.path.endswith("/live"), each.path


def addresses(site: Site) -> list[str]:
    """Addresses of the API whose documents have addresses, or lists with a next page."""
    failed = site.by_state["failed"]
    benchmark = "/v1/benchmarks/deps-scores"
    lists = ("/v1/benchmarks", f"{benchmark}/submissions", f"{benchmark}/revisions", f"{benchmark}/teams", "/v1/tokens")
    return [
        *("/problems", "/problems/conflict", "/v1/nowhere", "/v1/benchmarks?limit=0", "/openapi.json"),
        *(f"/v1/submissions/{failed}", f"/v1/benchmarks/{TROUBLED}/revisions", f"/v1/jobs/{site.job}"),
        *(f"{each}?limit=1" for each in lists),
    ]


def test_no_document_of_the_api_leads_out_of_the_path(site: Site) -> None:
    client = site.client(ADMIN)
    for address in addresses(site):
        answer = client.get(address, **BELOW)
        if address == "/openapi.json":
            assert answer.json["servers"][0]["url"] == PREFIX
        else:
            check(answer)
    assert f"\n  - url: {PREFIX}\n" in client.get("/openapi.yaml", **BELOW).text
    assert "\n  - url: /\n" in client.get("/openapi.yaml").text
    pages = client.get("/v1/benchmarks?limit=1", **BELOW).headers["Link"]
    assert pages.startswith(f"<{PREFIX}/v1/benchmarks?")


@pytest.mark.parametrize("coding", ["zstd", "gzip", ""])
def test_answers_below_a_path_and_at_the_root_are_kept_apart(site: Site, coding: str) -> None:
    client, address = site.client(ADMIN), f"/v1/submissions/{site.by_state['failed']}"
    below, root = (client.get(address, headers={"Accept-Encoding": coding}, **more) for more in (BELOW, {}))
    assert below.headers["ETag"] == root.headers["ETag"]
    assert below.data != root.data
    plain = client.get("/docs", headers=BROWSER), client.get("/docs", headers=BROWSER, **BELOW)
    assert plain[0].headers["ETag"] != plain[1].headers["ETag"]
    known = {"If-None-Match": below.headers["ETag"], "Accept-Encoding": coding}
    assert client.get(address, headers=known, **BELOW).status_code == 304
    if coding == "zstd" and "Content-Encoding" in below.headers:
        assert f'"type":"{PREFIX}/problems/'.encode() in unpack(below.data)


def test_no_script_or_style_names_an_address_from_the_root() -> None:
    written = re.compile(r"""(?:["'`]|url\()/[a-z]""")
    for path in STATIC.iterdir():
        if path.suffix in (".js", ".css") and path.name != "htmx.min.js":
            assert written.findall(path.read_text()) == [], path.name


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[Stage]:
    """A service whose operator says that users see it below the path."""
    url = f"https://scores.example.org{PREFIX}/"
    stage = open_stage(tmp_path_factory.mktemp("placed"), valkey.url, TREESCORE_PUBLIC_URL=url)
    yield stage
    close_stage(stage)


def client_of(stage: Stage, token: str | None = None) -> FlaskClient:
    client = FlaskClient(stage.app, stage.app.response_class)
    if token is not None:
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    return client


@pytest.mark.parametrize("kept", [PREFIX, ""])
def test_a_proxy_may_pass_the_path_on_or_take_it_off(placed: Stage, kept: str) -> None:
    client = client_of(placed)
    for path in ("/", "", "/docs", "/livez", "/v1/nowhere"):
        answer = client.get(kept + path, headers=BROWSER)
        assert answer.status_code == (404 if "nowhere" in path else 200), path
        check(answer)
    assert client.get("/livez").status_code == client.get("/readyz").status_code == 200
    assert client.get(f"{PREFIX}/metrics").status_code == 404
    assert client.get(f"{PREFIX}{PREFIX}/docs").status_code == client.get("/treescores/docs").status_code == 404


def test_signing_in_stays_below_the_path(placed: Stage) -> None:
    client = client_of(placed)
    for back in (f"{PREFIX}/admin", "/admin"):
        page = {"Origin": "https://scores.example.org"}
        sent = client.post(f"{PREFIX}/sign-in", data={"token": ADMIN, "next": back}, headers=page)
        assert (sent.status_code, sent.headers["Location"]) == (303, f"{PREFIX}/admin")
        check(sent)
        assert client.get(f"{PREFIX}/admin").status_code == 200
    assert client.get("/theme", headers=BROWSER).status_code == 405
    assert client.post(f"{PREFIX}/theme", data={"next": "//evil.example"}).headers["Location"] == f"{PREFIX}/"
    foreign = client.post(f"{PREFIX}/theme", headers={"Origin": "https://evil.example"})
    assert (foreign.status_code, check(foreign) > 0) == (403, True)


def test_what_is_made_below_the_path_is_found_there_by_clients_and_commands(placed: Stage, tmp_path: Path) -> None:
    parts = {"en": {"gold": JOB["gold"]}}
    task = {"id": "one", "title": "One", "format": JOB["format"], "metrics": JOB["metrics"], "parts": parts}
    (tmp_path / "en").write_text(JOB["systems"][0]["output"])
    with served(placed) as address, Client(address + PREFIX, ADMIN) as client:
        made = client.call("submit_job", json=JOB)
        job = made.document()["id"]
        assert made.headers["Location"] == f"{PREFIX}/v1/jobs/{job}"
        assert client.job(job).get().id == job
        client.call("create_benchmark", json=task)
        invite = client.benchmark("one").invite("2100-01-01T00:00:00Z", 3)
        assert invite["address"].startswith(f"https://scores.example.org{PREFIX}/join/")
        team = client.benchmark("one").add_team("ulm", "Ulm")
        printed = CliRunner().invoke(
            main,
            ["submit", "--url", address + PREFIX, "--benchmark", "one", str(tmp_path / "en")],
            env={"TREESCORE_TOKEN": team.token},
        )
        assert (printed.exit_code, "rank " in printed.output) == (0, True), printed.output


FORGED = ("//evil.example", "/a/../b", "/..", "https://evil.example", '/a"onload=', "/a b", "a", "/")


def test_only_a_trusted_proxy_names_a_path_and_only_a_plain_one(stage: Stage, tmp_path: Path, valkey: Valkey) -> None:
    named = {"X-Forwarded-Prefix": PREFIX}
    assert client_of(stage).get("/v1/nowhere", headers=named).json["type"] == "/problems/not-found"
    assert f'"{PREFIX}' not in client_of(stage).get("/docs", headers=named).text
    behind = open_stage(tmp_path, valkey.url, TREESCORE_TRUSTED_PROXIES="2")
    client = client_of(behind)
    assert check(client.get("/docs", headers={**named, **BROWSER})) > 0
    assert client.get(f"{PREFIX}/docs", headers=named).status_code == 404
    found = client.get("/v1/nowhere", headers=named)
    assert (found.mimetype, found.json["type"]) == (PROBLEM_JSON, f"{PREFIX}/problems/not-found")
    for forged in FORGED:
        assert (
            client.get("/v1/nowhere", headers={"X-Forwarded-Prefix": forged}).json["type"] == "/problems/not-found"
        ), forged
    close_stage(behind)
