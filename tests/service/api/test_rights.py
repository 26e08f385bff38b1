"""A token that organises one benchmark: everything there, and of others what any reader may."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.site import Site, conllu

MINE, OTHER = "deps-none", "members"
"""The benchmark of the token; one whose board is private."""
METHODS = ("GET", "POST", "PATCH", "DELETE")


@pytest.fixture(scope="module")
def token(site: Site) -> dict[str, Any]:
    made = site.stage.client().post("/v1/tokens", json={"scopes": ["organise"], "benchmark": MINE, "name": "host"})
    assert made.status_code == 201, made.text
    assert (made.json["benchmark"], made.json["team"], made.json["scopes"]) == (MINE, None, ["organise"])
    return dict(made.json)


@pytest.fixture
def host(site: Site, token: dict[str, Any]) -> FlaskClient:
    return site.client(token["token"])


def addresses(site: Site, benchmark: str) -> list[tuple[str, str]]:
    """Method and address of each operation about a benchmark, its submissions included."""
    submission = next(iter(site.submissions[benchmark].values()))
    given = {"benchmark": benchmark, "submission_id": submission, "team": "lyon", "number": "1", "part": "en_news"}
    found = []
    for rule in site.stage.app.url_map.iter_rules():
        path = str(rule.rule)
        about = ("/v1/benchmarks/<benchmark>", "/v1/submissions/<", "/admin/<benchmark>", "/s/<", "/b/<benchmark>")
        if not path.startswith(about):
            continue
        for name in rule.arguments:
            value = submission if name in ("submission", "submission_id") else given.get(name, "1")
            path = "".join(value if each.strip("<>").rpartition(":")[2] == name else each for each in pieces(path))
        found += [(method, path) for method in METHODS if method in (rule.methods or ())]
    return found


def pieces(path: str) -> list[str]:
    """A rule cut at its arguments."""
    return re.split("(<[^>]+>)", path)


def test_nothing_of_another_benchmark_is_open_to_it(site: Site, host: FlaskClient) -> None:
    asked = addresses(site, OTHER)
    assert len(asked) >= 60
    answers = {(method, path): host.open(path, method=method).status_code for method, path in asked}
    assert {each: status for each, status in answers.items() if status < 400} == {}
    # a body that is not read first decides nothing: what is asked with GET is refused for what it is
    assert {status for (method, _), status in answers.items() if method == "GET"} <= {400, 401, 403, 404}


def test_everything_of_its_own_is(site: Site, host: FlaskClient) -> None:
    answers = {path: host.get(path).status_code for method, path in addresses(site, MINE) if method == "GET"}
    assert {path: status for path, status in answers.items() if status in (401, 403)} == {}
    assert host.get(f"/v1/benchmarks/{MINE}/teams").json["items"]
    sent = host.get(f"/v1/benchmarks/{MINE}/submissions").json["items"]
    assert {each["team"] for each in sent} == {"lyon", "oslo", "ulm"}
    assert host.get(f"/v1/submissions/{sent[0]['id']}").json["scores"] is not None  # at level none


@pytest.mark.parametrize("path", ["/v1/benchmarks", "/v1/tokens"])
def test_it_makes_neither_benchmarks_nor_tokens(host: FlaskClient, path: str) -> None:
    document = {"id": "more", "title": "More", "format": "conllu", "metrics": ["attachment"], "scopes": ["organise"]}
    assert host.post(path, json={**document, "parts": {"en": {"gold": GOLD_CONLLU}}}).status_code == 403
    assert host.get("/v1/tokens").status_code == 403


def test_it_revokes_none(site: Site, host: FlaskClient, token: dict[str, Any]) -> None:
    assert host.delete(f"/v1/tokens/{token['id']}").status_code == 403


def test_it_lists_its_own_beside_the_public_ones(site: Site, host: FlaskClient) -> None:
    listed = {each["id"] for each in host.get("/v1/benchmarks?limit=100").json["items"]}
    assert {MINE, "deps-scores"} <= listed
    assert OTHER not in listed
    assert host.get("/v1/benchmarks/deps-scores").json["failure"] is None
    assert host.get("/v1/benchmarks/deps-scores/teams").status_code == 403
    other = next(iter(site.submissions["deps-gold"].values()))
    assert host.get(f"/v1/submissions/{other}").status_code == 404


def test_its_events_are_those_of_its_benchmark_and_public_ones(site: Site, host: FlaskClient) -> None:
    events = host.get("/v1/events?limit=1000").json["items"]
    assert {each["benchmark"] for each in events if each["team"] is not None} == {MINE}
    assert "token.created" not in {each["type"] for each in events if each["benchmark"] is None}
    assert {each["type"] for each in events if each["benchmark"] == OTHER} == set()


def test_it_submits_for_teams_and_sends_baselines_to_its_own_alone(host: FlaskClient) -> None:
    output = {"outputs": {"en_news": conllu(2)}, "role": "baseline"}
    assert host.post(f"/v1/benchmarks/{MINE}/submissions?validate_only=true", json=output).status_code < 300
    refused = host.post("/v1/benchmarks/deps-scores/submissions?validate_only=true", json=output)
    assert refused.status_code == 403


def test_its_webhooks_tell_of_its_benchmark_alone(site: Site, host: FlaskClient) -> None:
    made = host.post("/v1/webhooks", json={"url": "https://example.org/host"})
    assert made.json["benchmark"] == MINE
    assert [each["id"] for each in host.get("/v1/webhooks").json["items"]] == [made.json["id"]]
    assert host.delete(f"/v1/webhooks/{site.webhook}").status_code == 404
    assert host.delete(f"/v1/webhooks/{made.json['id']}").status_code == 204


def test_jobs_of_others_stay_theirs(site: Site, host: FlaskClient) -> None:
    assert host.get(f"/v1/jobs/{site.check}").status_code == 404
    assert host.post("/v1/jobs", json={"format": "conllu", "gold": ONE_WRONG}).status_code == 403


@pytest.mark.parametrize(
    ("changes", "status"),
    [({"scopes": ["organise", "score"]}, 422), ({"scopes": ["read"]}, 422), ({"benchmark": "unknown"}, 404)],
)
def test_one_benchmark_is_for_organising_alone_and_known(site: Site, changes: dict[str, Any], status: int) -> None:
    asked = {"scopes": ["organise"], "benchmark": MINE, **changes}
    assert site.stage.client().post("/v1/tokens", json=asked).status_code == status


def test_the_pages_of_organising_lead_to_its_benchmark(host: FlaskClient) -> None:
    assert host.get("/admin").headers["Location"] == f"/admin/{MINE}"
    assert host.get("/admin/webhooks").status_code == 200
    assert 'href="/admin"' in host.get("/").text
