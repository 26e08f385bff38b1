"""Marker words planted in gold are in no byte that a participant gets, in no log, and not in Redis."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx
import pytest
import redis

from service.commands.serve import socket_path
from tests.contract.walking import Known, requests
from tests.fixtures.service_process import PATIENCE, until
from tests.fixtures.tasks import UNLIMITED

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

MARKER = b"zqmarker"
"""Part of everything that is planted, and too long to come about by chance in an id or a signature."""

SYSTEM_CONLLU = (
    "1\tShe\tshe\tPRON\tPRP\t_\t2\tnsubj\t2:nsubj\t_\n2\tsaw\tsee\tVERB\tVBD\t_\t0\troot\t0:root\t_\n"
    "3\tstars\tstar\tNOUN\tNNS\t_\t1\tnmod\t1:nmod\t_\n\n"
)
GOLD_CONLLU = (
    "# newdoc id = zqmarkerdoc\n# sent_id = zqmarker-1\n# genre = zqmarkergenre\n# text = She saw stars\n"
    "1\tShe\tzqmarkerlemma\tZQMARKERPOS\tzqmarkertag\tCase=Zqmarker\t2\tzqmarkersubj\t2:zqmarkersubj\tZqmarker=1\n"
    "2\tsaw\tsee\tVERB\tVBD\t_\t0\troot\t0:root\t_\n3\tstars\tstar\tNOUN\tNNS\t_\t2\tzqmarkerobj\t2:zqmarkerobj\t_\n\n"
)
OTHER_WORD = GOLD_CONLLU.replace("stars\tstar", "zqmarkerword\tzqmarkerword").replace("saw stars", "saw zqmarkerword")
SYSTEM_TREE = "(TOP (S (NP (PRP She)) (VP (VBD saw)) (NP (NNS stars))))\n"
GOLD_TREE = "(TOP (S (ZQMARKERNP (ZQMARKERPRP She)) (VP (VBD saw) (ZQMARKERNP (NNS stars)))))\n"
DEPENDENCY = ["attachment", "ud", "dependency_relations", "leaf_ancestor", "enhanced"]
BENCHMARKS: dict[str, dict[str, Any]] = {
    "fits": {"format": "conllu", "metrics": DEPENDENCY, "parts": {"en": {"gold": GOLD_CONLLU}}},
    "other-words": {"format": "conllu", "metrics": DEPENDENCY, "parts": {"en": {"gold": OTHER_WORD}}},
    "trees": {
        "format": "bracketed",
        "metrics": ["parseval", "leaf_ancestor", "conformance"],
        "parts": {"en": {"gold": GOLD_TREE + GOLD_TREE.replace("stars", "zqmarkerword")}},
    },
    "blind": {"format": "conllu", "metrics": DEPENDENCY, "parts": {"en": {"gold": GOLD_CONLLU}}, "feedback": "none"},
}
OUTPUTS = {
    "fits": [SYSTEM_CONLLU, SYSTEM_CONLLU.replace("stars", "moons"), SYSTEM_CONLLU * 2, "1\tbroken\n\n", ""],
    "other-words": [SYSTEM_CONLLU, SYSTEM_CONLLU.replace("3\tstars\tstar\tNOUN\tNNS\t_\t1\tnmod\t1:nmod\t_\n", "")],
    "trees": [SYSTEM_TREE * 2, SYSTEM_TREE + "\n", SYSTEM_TREE.replace("stars", "a b") * 2, SYSTEM_TREE, "(S (broken"],
    "blind": [SYSTEM_CONLLU, SYSTEM_CONLLU * 2],
}


@dataclass
class Heard:
    """Every byte that participants got."""

    pieces: list[tuple[str, bytes]] = field(default_factory=list)

    def listen(self, response: httpx.Response) -> httpx.Response:
        """Keep an answer, headers included."""
        headers = b"\n".join(name + b": " + value for name, value in response.headers.raw)
        self.pieces.append((f"{response.request.method} {response.request.url}", headers + response.content))
        return response

    def told(self, marker: bytes) -> list[str]:
        """What had the marker."""
        return [name for name, piece in self.pieces if marker in piece.lower()]


@pytest.fixture(scope="module")
def heard() -> Heard:
    """What is heard in this module."""
    return Heard()


@pytest.fixture(scope="module")
def receiver(heard: Heard) -> Iterator[str]:
    """The URL of a webhook receiver."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            heard.pieces.append(("webhook", bytes(self.headers) + body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook"
    server.shutdown()
    thread.join()
    server.server_close()


def made(response: httpx.Response) -> Any:
    assert response.status_code < 300, response.text
    return response.json()


def tell(organiser: httpx.Client, team: httpx.Client, slug: str, heard: Heard, url: str) -> Known:
    """Make a benchmark, send outputs of all kinds to it, ask for a comparison, break a new revision."""
    wait = {"Prefer": "wait=30"}
    at = f"/v1/benchmarks/{slug}"
    asked = {"id": slug, "title": slug, "feedback": "items", "quota": UNLIMITED, **BENCHMARKS[slug]}
    assert made(organiser.post("/v1/benchmarks", json=asked, headers=wait))["state"] == "active"
    token = made(organiser.post(f"{at}/teams", json={"id": "lyon", "name": "Lyon"}))["token"]
    team.headers["Authorization"] = f"Bearer {token}"
    heard.listen(team.post("/v1/webhooks", json={"url": url}))
    sent = []
    for output in OUTPUTS[slug]:
        body = {"outputs": {"en": output}}
        heard.listen(team.post(f"{at}/submissions?validate_only=true", json=body, headers=wait))
        answer = heard.listen(team.post(f"{at}/submissions", json=body, headers=wait))
        if answer.status_code < 300:
            sent.append(answer.json()["id"])
    for submission in sent:
        path = f"/v1/submissions/{submission}"
        until(lambda path=path: organiser.get(path).json()["state"] in ("succeeded", "failed"), f"{path} has ended")
    compared = heard.listen(team.post(f"{at}/comparisons", json={"submissions": sent[:2]}, headers=wait))
    for broken in ("1\tzqmarkerbroken\n\n", "(zqmarkerbroken"):
        organiser.post(
            f"{at}/revisions",
            json={"reason": "zqmarker: it was wrong", "parts": {"en": {"gold": broken}}},
            headers=wait,
        )
    jobs = [job["id"] for job in team.get("/v1/jobs").json().get("items", [])]
    return Known(
        {
            "benchmark": [slug], "part": ["en"], "number": ["1", "2"], "team": ["lyon"], "submission": sent,
            "comparison": [compared.json().get("id", "cmp_unknown")], "job_id": jobs[:2] or ["job_unknown"],
            "name": ["attachment"],
        },
        {
            "metric": list(asked["metrics"]), "part": ["en"], "by": ["deprel", "label", "word", "genre", "tag"],
            "benchmark": [slug], "system": ["A"], "style": ["eval07"],
            "label": ["nmod"], "q": ["e"], "item": ["1"],
        },
        {},
    )  # fmt: skip


def test_no_participant_no_log_and_not_redis_gets_a_marker(served, heard, receiver):
    organisers = Heard()
    with served.client() as organiser, httpx.Client(base_url=served.address, timeout=PATIENCE) as team:
        for slug in BENCHMARKS:
            for request in requests(tell(organiser, team, slug, heard, receiver)):
                if request.method != "GET":
                    continue
                headers = {} if request.accept is None else {"Accept": request.accept}
                heard.listen(team.get(request.path, headers=headers))
                organisers.listen(organiser.get(request.path, headers=headers))
    scored = b"submission.scored"
    until(lambda: any(name == "webhook" and scored in piece for name, piece in heard.pieces), "a webhook came")
    assert heard.told(MARKER) == []
    assert organisers.told(MARKER)
    log = served.log.read_bytes().lower()
    assert b"submissions" in log
    assert MARKER not in log
    connection = redis.Redis(unix_socket_path=str(socket_path(served.folder / "data")))
    for key in connection.keys("*"):
        assert MARKER not in (key + (connection.dump(key) or b"")).lower()
    connection.close()
