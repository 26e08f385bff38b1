"""Blind means blind: two worlds that differ only in what a level hides answer alike, to the byte, whatever is asked.

For each level there is a pair of gold standards that nobody at this level may tell apart. The same story is told in
both worlds, then everything in openapi.yaml is asked of both by everybody who is no organiser.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.policy import gate
from service.requests import EVENT_KINDS
from service.usecases.scoring.shares import draw
from tests.contract.stage import ADMIN, Stage
from tests.contract.twins import twin
from tests.contract.walking import Known, Request, requests
from tests.fixtures.requests import GOLD_CONLLU

STEPS = timedelta(milliseconds=3), timedelta(milliseconds=7)
"""Work takes longer in the other world."""
SLUG, SERIES = "demo", "demos"
HIDDEN = re.compile(rb"ts_[A-Za-z0-9_-]{43}|whsec_[A-Za-z0-9+/=]+")
"""Made at random for whoever reads it."""

TEN = "".join(GOLD_CONLLU.replace("s1", f"a{number}").replace("s2", f"b{number}") for number in range(10))
SHE, STARS = "1\tShe\tshe\tPRON\tPRP\t_\t2\tnsubj", "3\tstars\tstar\tNOUN\tNNS\t_\t2\tobj"


def first(text: str, old: str, new: str) -> str:
    """The text with the first such row changed."""
    assert old in text
    return text.replace(old, new, 1)


def row(of: str, head_and_relation: str) -> str:
    """A row with another analysis."""
    return "\t".join(of.split("\t")[:6]) + "\t" + head_and_relation


OUTPUT = first(TEN, STARS, row(STARS, "1\tnmod"))
"""What all outputs have in common: one word of the first sentence wrong in head and relation."""
OUTPUTS = {
    "lyon-1": OUTPUT,
    "lyon-2": OUTPUT.replace("1\tadvmod", "1\tobl", 3),
    "oslo-1": OUTPUT.replace("1\tadvmod", "1\tobj", 2),
    "lyon-3": OUTPUT.replace("1\tadvmod", "1\tnmod", 1),
}
RUN_OF = {"lyon-3": "lyon-1"}
"""Further training runs."""
ASKED = ("lyon-1", "oslo-1", "lyon-2", "lyon-3")
"""In this order: of the first ones each query is asked."""
PAIRS = {
    # the words differ: no output fits
    "none": (TEN, TEN.replace("stars\tstar", "moons\tmoon")),
    # scores differ
    "status": (TEN, TEN.replace("2\tnsubj", "2\tcsubj")),
    # scores differ by less than the step
    "rounded": (TEN, first(TEN, "1\tadvmod", "1\tdiscourse")),
    # another word of the same sentence is wrong
    "scores": (TEN, first(first(TEN, STARS, row(STARS, "1\tnmod")), SHE, row(SHE, "4\tobl"))),
    # the same word is wrong, gold has another analysis of it
    "items": (TEN, first(TEN, STARS, row(STARS, "4\tiobj"))),
}


def in_private_share(text: str, old: str, new: str) -> str:
    """The text with this changed in the sentences of the private share, as a store without randomness draws it."""
    sentences = [piece + "\n\n" for piece in text.split("\n\n") if piece]
    key = hmac.digest(bytes(32), f"benchmark {SLUG}".encode(), hashlib.sha256)
    drawn = draw(key, "en", [("sentence", at) for at in range(len(sentences))], HALF)
    return "".join(each.replace(old, new) if private else each for each, private in zip(sentences, drawn, strict=True))


HALF = 0.5
"""The private share of a split test set."""
WALKERS = ("nobody", "read", "lyon")
"""Who asks: `lyon` of its own and of a rival's. Who may do most comes last, since it may end things."""
EVERYBODY = ("nobody", "read", "score", "submit", "oslo", "lyon")
STRANGERS = ("read", "score", "submit")
"""Tokens of no team: they ask without queries that nobody needs to send, as `nobody` and the teams send all."""


@dataclass(frozen=True)
class World:
    """A service in which the story was told, and the tokens of those who were in it."""

    stage: Stage
    tokens: dict[str, str | None]
    known: Known

    def ask(self, who: str, request: Request) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an answer."""
        headers = {"Request-Id": "walk"}
        if self.tokens[who] is not None:
            headers["Authorization"] = f"Bearer {self.tokens[who]}"
        if request.accept is not None:
            headers["Accept"] = request.accept
        client = FlaskClient(self.stage.app)
        response = client.open(request.path, method=request.method, json=request.body, headers=headers)
        body = response.data
        told = dict(response.headers)
        if HIDDEN.search(body):
            body = HIDDEN.sub(b"hidden", body)
            del told["Content-Length"]
            told.pop("ETag", None)
        return response.status_code, told, body


@contextmanager
def world(
    folder: Path, url: str, gold: str, step: timedelta, settings: dict[str, Any], patch: pytest.MonkeyPatch
) -> Iterator[World]:
    """The story: a benchmark, two teams, three submissions, a validation, a comparison, a webhook."""
    with twin(folder, url, patch, step) as stage:
        yield tell(stage, gold, settings)


def tell(stage: Stage, gold: str, settings: dict[str, Any]) -> World:
    """Tell the story."""
    closing = settings.pop("closing", None)

    def send(method: str, path: str, body: Any, token: str = ADMIN, **headers: str) -> Any:
        headers["Authorization"] = f"Bearer {token}"
        response = stage.app.test_client().open(path, method=method, json=body, headers=headers)
        assert response.status_code < 300, response.text
        return response.json

    benchmark = {
        "id": SLUG,
        "title": "Demo",
        "series": SERIES,
        "format": "conllu",
        "metrics": ["attachment", "ud"],
        "rounding": 0.5,
    }
    benchmark |= {"leaderboard": {"margin": 0.05, **settings.pop("leaderboard", {})}}
    benchmark |= {"quota": {"scored_per_day": 50, "attempts_per_day": 80}, "parts": {"en": {"gold": gold}}}
    send("POST", "/v1/benchmarks", {**benchmark, **settings})
    at = f"/v1/benchmarks/{SLUG}"
    teams = {team: send("POST", f"{at}/teams", {"id": team, "name": team})["token"] for team in ("lyon", "oslo")}
    tokens: dict[str, str | None] = {"nobody": None, **teams}
    for scope in ("read", "score", "submit"):
        tokens[scope] = send("POST", "/v1/tokens", {"scopes": [scope]})["token"]
    send("POST", "/v1/webhooks", {"url": "https://example.org/hook"}, teams["lyon"])
    sent = {}
    for name, output in OUTPUTS.items():
        body = {"name": name, "outputs": {"en": output}, "run_of": RUN_OF.get(name)}
        sent[name] = send("POST", f"{at}/submissions", body, teams[name.partition("-")[0]])["id"]
    valid = {"outputs": {"en": OUTPUTS["lyon-1"]}}
    job = send("POST", f"{at}/submissions?validate_only=true", valid, teams["lyon"])["id"]
    if closing is not None:
        etag = stage.app.test_client().get(at, headers={"Authorization": f"Bearer {ADMIN}"}).headers["ETag"]
        send("PATCH", at, {"closes_at": closing}, **{"If-Match": etag})
    asked = {"score": "attachment.las", "submissions": [sent["lyon-1"], sent["lyon-2"]]}
    response = stage.app.test_client().post(
        f"{at}/comparisons", json=asked, headers={"Authorization": f"Bearer {teams['lyon']}"}
    )
    compared = [response.json["id"]] if response.status_code < 300 else []
    by = ["deprel", "upos", "word", "depth", "sentence_length", "Frame", "unknown"]
    known = Known(
        {
            "benchmark": [SLUG], "part": ["en"], "number": ["1"], "team": ["lyon"],
            "submission": [sent[name] for name in ASKED],
            "comparison": compared or ["cmp_unknown"], "job_id": [job], "name": ["attachment"],
            "series_id": [SERIES],
        },
        {
            "metric": ["attachment", "ud"], "by": by, "part": ["en", "macro", "pooled"], "score": ["ud.uas_f1"],
            "pick": ["last", "all"], "revision": ["1"], "state": ["succeeded", "failed"], "limit": ["2"],
            "benchmark": [SLUG], "a": ["lyon", sent["lyon-1"]], "b": ["oslo", sent["lyon-2"]], "system": ["A"],
            "style": ["eval07"], "series": [SERIES], "label": ["nmod", "advmod"], "q": ["stars"], "item": ["1", "11"],
        },
        {
            "submit": [valid, {**valid, "run_of": "lyon-2"}, {**valid, "run_of": "lyon-1"}],
            "ask_comparison": [asked, {"score": "ud.las_f1", "submissions": "leaderboard"}],
            "patch_submission": [{"chosen": True}, {"name": "other"}],
            "create_webhook": [{"url": "https://example.org/", "kinds": [EVENT_KINDS[0]]}],
        },
    )  # fmt: skip
    return World(stage, tokens, known)


def settings_of(level: str, phase: str) -> dict[str, Any]:
    """The level before closing, the highest after it; or the other way round, and closed."""
    if phase == "before":
        return {"feedback": level, "feedback_after_closing": "gold"}
    return {"feedback": "gold", "feedback_after_closing": level, "closing": "2026-11-20T11:00:00Z"}


QUICK = ("items", "before", WALKERS)
"""Where most is shown; the private share has `scores`. What each level shows is seen in tests/service/policy."""
WALKS = [QUICK, *((level, phase, EVERYBODY) for level in PAIRS for phase in ("before", "after"))]


@pytest.mark.parametrize(
    ("level", "phase", "walkers"),
    [pytest.param(*walk, id=" ".join(walk[:2]), marks=() if walk is QUICK else pytest.mark.slow) for walk in WALKS],
)
def test_nobody_can_tell_apart_what_a_level_hides(level, phase, walkers, tmp_path, valkey):
    require_alike(tmp_path, valkey.url, PAIRS[level], lambda: settings_of(level, phase), walkers)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["rounded", "scores"])
def test_nobody_can_tell_apart_what_is_in_the_private_share_before_closing(level, tmp_path, valkey):
    golds = (TEN, in_private_share(TEN, "2\tnsubj", "2\tcsubj"))
    assert golds[0] != golds[1]

    def settings() -> dict[str, Any]:
        closing = {"closes_at": "2026-11-21T12:00:00Z", "feedback_after_closing": "gold"}
        return {"feedback": level, **closing, "leaderboard": {"split": {"private": HALF}}}

    require_alike(tmp_path, valkey.url, golds, settings, ("nobody", "lyon"))


def require_alike(
    folder: Path, url: str, golds: Sequence[str], settings: Callable[[], dict[str, Any]], walkers: Sequence[str]
) -> None:
    """Two worlds with these golds answer each request of the walkers alike, and organisers not."""
    turns: list[tuple[str, Request]] = []
    answers: list[list[Any]] = []
    organisers: list[list[Any]] = []
    for gold, step in zip(golds, STEPS, strict=True):
        at = folder / str(step.microseconds)
        with pytest.MonkeyPatch.context() as patch, world(at, url, gold, step, settings(), patch) as place:
            asked = list(requests(place.known))
            place.tokens["organiser"] = ADMIN
            reading = [request for request in asked if request.method == "GET" and not request.varied]
            organisers.append([place.ask("organiser", request) for request in reading])
            turns = [(who, each) for who in walkers for each in asked if who not in STRANGERS or not each.varied]
            answers.append([place.ask(who, each) for who, each in turns])
    told = [request for _, request in turns]
    differing = [(request.name, one, other) for request, one, other in zip(told, *answers, strict=True) if one != other]
    assert not differing, differing[0]
    assert all(status < HTTPStatus.INTERNAL_SERVER_ERROR for status, _, _ in answers[0])
    assert organisers[0] != organisers[1]


def test_every_level_but_the_highest_has_its_pair():
    assert [*PAIRS, "gold"] == list(gate.LEVELS)
