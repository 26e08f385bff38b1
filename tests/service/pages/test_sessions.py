"""Signing in: what the cookie is, what forms must carry, when a session ends, and what it never opens."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.cookies import SimpleCookie

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.errors import NotFound
from service.pages.visitors import SESSION_COOKIE, THEME_COOKIE
from service.usecases import access
from service.usecases.access import FAILURES_ALLOWED, IDLE_SESSION, LONGEST_SESSION
from tests.contract.checking import CheckedClient
from tests.contract.shared_task import SharedTask
from tests.contract.stage import ADMIN, Stage, forget_failures
from tests.fixtures.contexts import later
from tests.fixtures.form_pages import browser
from tests.fixtures.requests import GOLD_CONLLU

HERE = "http://localhost"


@pytest.fixture(autouse=True)
def nobody_throttled(kept_stage: Stage) -> None:
    """Each test begins without failed attempts."""
    forget_failures(kept_stage.queue)


def signed_in(kept_stage: Stage, token: str = ADMIN) -> CheckedClient:
    """A browser that has signed in."""
    browser = kept_stage.client(None)
    assert sign_in(browser, token).status_code == 303
    return browser


def sign_in(browser: CheckedClient, token: str, **more: str) -> TestResponse:
    """What signing in answers."""
    return browser.post("/sign-in", data={"token": token, **more})


def csrf(browser: CheckedClient) -> str:
    """The value that the forms of this browser's pages carry."""
    found = re.search(r'name="csrf" value="([^"]+)"', browser.get("/").text)
    assert found is not None
    return found[1]


def is_signed_in(browser: CheckedClient) -> bool:
    """Whether the pages know who looks."""
    return "Sign out" in browser.get("/").text


@contextmanager
def when(kept_stage: Stage, **delta: float) -> Iterator[None]:
    """The service some time later."""
    extensions = kept_stage.app.extensions
    now = extensions["treescore"]
    extensions["treescore"] = later(now, **delta)
    try:
        yield
    finally:
        extensions["treescore"] = now


def test_the_cookie_is_for_the_browser_alone(kept_stage: Stage) -> None:
    browser = kept_stage.client(None)
    given = sign_in(browser, f"  {ADMIN}\n").headers["Set-Cookie"]
    cookie = SimpleCookie(given)[SESSION_COOKIE]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Strict"
    assert cookie["path"] == "/"
    assert not cookie["domain"]
    assert not cookie["secure"]
    assert int(cookie["max-age"]) == LONGEST_SESSION.total_seconds()
    assert ADMIN not in given
    assert len(cookie.value) >= 43


def test_behind_tls_the_cookie_is_sent_over_tls_only(kept_stage: Stage) -> None:
    answer = kept_stage.client(None).post("/sign-in", data={"token": ADMIN}, base_url="https://localhost")
    assert SimpleCookie(answer.headers["Set-Cookie"])[SESSION_COOKIE]["secure"]


def test_the_cookie_is_stored_nowhere(kept_stage: Stage) -> None:
    browser = signed_in(kept_stage)
    held = browser.get_cookie(SESSION_COOKIE)
    assert held is not None
    for path in (kept_stage.context.config.data_dir).rglob("*"):
        if path.is_file():
            assert held.value.encode() not in path.read_bytes(), path


def test_a_refused_token_is_asked_for_again_and_begins_no_session(kept_stage: Stage) -> None:
    browser = kept_stage.client(None)
    answer = sign_in(browser, "ts_wrong-token-of-nobody", next="/b/x")
    assert answer.status_code == 401
    assert 'role="alert"' in answer.text
    assert 'value="/b/x"' in answer.text
    assert "WWW-Authenticate" not in answer.headers
    assert "Set-Cookie" not in answer.headers
    assert "ts_wrong-token" not in answer.text


@pytest.mark.parametrize("token", ["", " ", "x" * 100_000, "\x00", "é", "ts_<script>"])
def test_strange_tokens_are_refused(kept_stage: Stage, token: str) -> None:
    assert sign_in(kept_stage.client(None), token).status_code in (401, 413)


def test_trying_out_tokens_is_slowed_down_but_a_valid_one_signs_in(kept_stage: Stage) -> None:
    browser = kept_stage.client(None)
    statuses = [sign_in(browser, f"ts_wrong-token-{number}").status_code for number in range(FAILURES_ALLOWED + 2)]
    assert statuses[:FAILURES_ALLOWED] == [401] * FAILURES_ALLOWED
    assert statuses[-1] == 429
    assert sign_in(browser, ADMIN).status_code == 303


@pytest.mark.parametrize("value", [None, "", "wrong", "é"])
def test_a_form_without_the_value_of_the_session_is_refused(kept_stage: Stage, value: str | None) -> None:
    browser = signed_in(kept_stage)
    answer = browser.post("/sign-out", data={} if value is None else {"csrf": value})
    assert answer.status_code == 403
    assert is_signed_in(browser)


def test_a_form_with_the_value_of_another_session_is_refused(kept_stage: Stage) -> None:
    browser, other = signed_in(kept_stage), signed_in(kept_stage)
    assert browser.post("/sign-out", data={"csrf": csrf(other)}).status_code == 403
    assert browser.post("/sign-out", data={"csrf": csrf(browser)}).status_code == 303
    assert not is_signed_in(browser)
    assert is_signed_in(other)


@pytest.mark.parametrize("path", ["/", "/docs/guide/http", "/jobs/new?next=/x", "/s/none?next=/x"])
def test_the_value_of_forms_differs_in_each_answer_and_all_are_accepted(kept_stage: Stage, path: str) -> None:
    browser = FlaskClient(kept_stage.app)
    assert browser.post("/sign-in", data={"token": ADMIN}).status_code == 303
    held = browser.get_cookie(SESSION_COOKIE)
    assert held is not None
    session = access.signed_in(kept_stage.context, held.value, "").session
    answers = [browser.get(path, headers={"Accept": "text/html", "Accept-Encoding": "gzip"}) for _ in range(2)]
    pages = [gzip.decompress(each.data) if each.content_encoding else each.data for each in answers]
    values = [re.findall(rb'name="csrf" value="([^"]+)"', page) for page in pages]
    assert values[0]
    assert not set(values[0]) & set(values[1])
    assert session.csrf.encode() not in b"".join(pages)
    if answers[0].status_code == 200:
        tag = answers[0].headers["ETag"]
        assert tag.startswith("W/")
        assert browser.get(path, headers={"Accept-Encoding": "gzip", "If-None-Match": tag}).status_code == 304
    for each in (b"", values[0][0][:-4], values[0][0][4:], session.csrf.encode()):
        assert browser.post("/sign-out", data={"csrf": each}).status_code == 403
    assert browser.post("/sign-out", data={"csrf": values[0][0]}).status_code == 303


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out", "/theme"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.elsewhere.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": HERE},
    ],
)
def test_forms_of_other_sites_are_refused(kept_stage: Stage, path: str, headers: dict[str, str]) -> None:
    browser = signed_in(kept_stage)
    sent = {"csrf": csrf(browser), "token": ADMIN, "theme": "dark"}
    answer = browser.post(path, data=sent, headers=headers)
    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers
    assert is_signed_in(browser)
    assert browser.post(path, data=sent, headers={"Origin": HERE}).status_code == 303


def test_signing_out_ends_the_session_on_the_server(kept_stage: Stage) -> None:
    browser, thief = signed_in(kept_stage), kept_stage.client(None)
    held = browser.get_cookie(SESSION_COOKIE)
    assert held is not None
    thief.set_cookie(SESSION_COOKIE, held.value)
    assert is_signed_in(thief)
    browser.post("/sign-out", data={"csrf": csrf(browser)})
    assert browser.get_cookie(SESSION_COOKIE) is None
    assert not is_signed_in(thief)


@pytest.mark.parametrize("delta", [IDLE_SESSION, LONGEST_SESSION])
def test_a_session_ends(kept_stage: Stage, delta: timedelta) -> None:
    browser = signed_in(kept_stage)
    sent = {"csrf": csrf(browser)}
    with when(kept_stage, seconds=delta.total_seconds() + 60):
        assert not is_signed_in(browser)
        answer = browser.post("/sign-out", data=sent)
        assert answer.status_code == 401
        assert "Your session has ended" in answer.text


def test_use_keeps_a_session_but_not_longer_than_the_longest(kept_stage: Stage) -> None:
    browser = signed_in(kept_stage)
    days = LONGEST_SESSION.days
    for half in range(1, 2 * days):
        with when(kept_stage, hours=12 * half):
            assert is_signed_in(browser)
    with when(kept_stage, days=days, minutes=1):
        assert not is_signed_in(browser)


def test_a_session_ends_with_its_token(kept_stage: Stage) -> None:
    made = kept_stage.client().post("/v1/tokens", json={"scopes": ["read"]})
    browser = signed_in(kept_stage, made.json["token"])
    assert is_signed_in(browser)
    assert kept_stage.client().delete(made.headers["Location"]).status_code == 204
    assert not is_signed_in(browser)


def test_the_api_does_not_know_the_cookie(kept_stage: Stage) -> None:
    task = SharedTask(kept_stage, leaderboard={"public": False})
    browser = signed_in(kept_stage)
    assert browser.get(f"/b/{task.slug}").status_code == 200
    assert browser.get(task.address).status_code == 404
    assert browser.get("/v1/tokens").status_code == 401
    assert browser.post("/v1/benchmarks", json={}).status_code == 401


@pytest.mark.parametrize(
    "asked",
    [
        "https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", "\\\\elsewhere.example",
        "javascript:alert(1)", "/\t/elsewhere.example", "/a\r\nSet-Cookie: x=1", " //elsewhere.example", "/é", "",
        "http:elsewhere.example", "/\n/elsewhere.example", "elsewhere",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/sign-in", "/theme"])
def test_nobody_is_sent_to_another_site(kept_stage: Stage, path: str, asked: str) -> None:
    answer = kept_stage.client(None).post(path, data={"token": ADMIN, "theme": "dark", "next": asked})
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/"
    if path == "/sign-in":
        form = kept_stage.client(None).get(path, query_string={"next": asked}).text
        assert 'name="next" value="/"' in form


def test_signing_in_leads_back_to_the_page(kept_stage: Stage) -> None:
    answer = sign_in(kept_stage.client(None), ADMIN, next="/b/x?part=a&sort=-b")
    assert answer.headers["Location"] == "/b/x?part=a&sort=-b"


def test_a_cookie_that_was_planted_begins_no_session(kept_stage: Stage) -> None:
    browser = kept_stage.client(None)
    browser.set_cookie(SESSION_COOKIE, "planted")
    assert not is_signed_in(browser)
    sign_in(browser, ADMIN)
    held = browser.get_cookie(SESSION_COOKIE)
    assert held is not None
    assert held.value != "planted"
    planted = kept_stage.client(None)
    planted.set_cookie(SESSION_COOKIE, "planted")
    assert not is_signed_in(planted)


def test_signing_in_again_gives_another_cookie(kept_stage: Stage) -> None:
    browser = signed_in(kept_stage)
    before = browser.get_cookie(SESSION_COOKIE)
    sign_in(browser, kept_stage.token("read"))
    after = browser.get_cookie(SESSION_COOKIE)
    assert before is not None
    assert after is not None
    assert before.value != after.value


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_are_kept_in_a_cookie_of_their_own(kept_stage: Stage, theme: str) -> None:
    browser = kept_stage.client(None)
    answer = browser.post("/theme", data={"theme": theme, "next": "/sign-in"})
    assert answer.headers["Location"] == "/sign-in"
    assert f'data-theme="{theme}"' in browser.get("/").text
    browser.post("/theme", data={"theme": ""})
    assert browser.get_cookie(THEME_COOKIE) is None
    assert "data-theme" not in browser.get("/").text


@pytest.mark.parametrize("theme", ["sepia", '"><script>', "x" * 3000])
def test_unknown_colours_are_those_of_the_device(kept_stage: Stage, theme: str) -> None:
    browser = kept_stage.client(None)
    browser.set_cookie(THEME_COOKIE, theme)
    assert "data-theme" not in browser.get("/").text
    browser.post("/theme", data={"theme": theme})
    assert "data-theme" not in browser.get("/").text


def test_an_organiser_sees_as_a_team_and_changes_nothing(kept_stage: Stage) -> None:
    task = SharedTask(kept_stage, feedback="none")
    task.two()
    browser = signed_in(kept_stage)
    held = browser.get_cookie(SESSION_COOKIE)
    assert held is not None
    assert "<table" in browser.get(f"/b/{task.slug}").text
    signed = access.signed_in(kept_stage.context, held.value, "127.0.0.1")
    access.see_as(kept_stage.context, signed, task.slug, "lyon")
    seen = browser.get(f"/b/{task.slug}").text
    assert "You see the pages as the team" in seen
    assert "<table" not in seen
    team = access.signed_in(kept_stage.context, held.value, "127.0.0.1")
    assert team.sees_as
    assert team.caller.scopes == {"read"}
    assert not team.caller.organiser
    for unknown in ("nobody", "a\0b"):
        with pytest.raises(NotFound):
            access.see_as(kept_stage.context, team, task.slug, unknown)
    access.see_as(kept_stage.context, team, None, None)
    assert "<table" in browser.get(f"/b/{task.slug}").text


def test_a_team_joins_and_a_taken_id_is_told_before(kept_stage: Stage) -> None:
    task = SharedTask(kept_stage)
    task.team("oslo")
    asked = {"expires_at": "2999-01-01T00:00:00Z", "teams_at_most": 1}
    address = task.organiser.post(f"{task.address}/invites", json=asked).json["address"]
    client = kept_stage.client(None)
    for typed, words in (
        ("oslo", "The team id &#39;oslo&#39; is taken"), ("os-lo", "looks like the name or id of another team"),
        ("admin", "is a name of organisers"), ("a b", "id"), ("metz", "This id is free."), ("", '"id-said"></span>'),
    ):  # fmt: skip
        assert words in client.get(f"{address}/live", query_string={"id": typed}).text
    assert client.get("/join/unknown/live?id=oslo").status_code == 403
    form = {"id": "oslo", "name": "Parsers of Metz", "contact": "m@example.org"}
    refused = client.post(address, data=form)
    assert refused.status_code == 409
    assert 'value="Parsers of Metz"' in refused.text
    made = client.post(address, data={**form, "id": "metz"})
    token = re.search(r'<code id="token">(ts_[^<]+)</code>', made.text)
    assert token is not None
    assert f'<a href="data:text/plain,{token[1]}" download=' in made.text
    assert f'href="/b/{task.slug}/about"' in made.text
    assert browser(kept_stage, token[1]).get("/submit").status_code == 200
    assert client.get(f"{address}/live?id=ulm").status_code == 410  # the invite is used up


def test_the_pages_of_a_board_have_new_tracks_and_scores_within_seconds(kept_stage: Stage) -> None:
    task = SharedTask(kept_stage, feedback="scores", parts={name: {"gold": GOLD_CONLLU} for name in ("en", "de")})
    task.submit(task.team())
    stranger = kept_stage.client(None)
    pages = {page: f"/b/{task.slug}{page}" for page in ("", "/matrix")}
    before = {page: stranger.get(address) for page, address in pages.items()}
    changed = {"tracks": {"nordic": ["en", "de"]}, "leaderboard": {"scores": ["attachment.las"]}}
    match = {"If-Match": task.organiser.get(task.address).headers["ETag"]}
    assert task.organiser.patch(task.address, json=changed, headers=match).status_code == 200
    with when(kept_stage, seconds=60):
        after = {page: stranger.get(address) for page, address in pages.items()}
    assert all(after[page].headers["ETag"] != before[page].headers["ETag"] for page in pages)
    assert ["nordic" in before[""].text, "nordic" in after[""].text] == [False, True]
    assert ["attachment.uas" in each["/matrix"].text for each in (before, after)] == [True, False]
