"""How each documented status of the resources of shared tasks is provoked."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from werkzeug.test import TestResponse

from service.store import events
from service.usecases.access import FAILURES_ALLOWED
from tests.contract.checking import operations
from tests.contract.shared_task import FIX, SharedTask
from tests.contract.stage import Stage

Ask = Callable[[Stage], TestResponse]
Address = Callable[[SharedTask], str]
TAGS = {"benchmarks", "teams", "submissions", "leaderboards", "comparisons", "events"}
OUTPUTS = {"outputs": {"en": ""}}
TEAM = {"id": "lyon", "name": "Lyon Parsing Group"}
INVITE = {"expires_at": "2099-10-01T00:00:00Z", "teams_at_most": 1}


def _benchmark(below: str = "") -> Address:
    return lambda task: task.address + below


def _submission(below: str = "") -> Address:
    return lambda task: task.submit(task.team()) + below


def _comparison(below: str = "") -> Address:
    return lambda task: task.comparison() + below


GOOD: dict[str, Address] = {
    "list_benchmarks": lambda _: "/v1/benchmarks",
    "get_benchmark": _benchmark(),
    "get_part_input": _benchmark("/parts/en/input"),
    "list_fitting": _benchmark("/fitting"),
    "list_revisions": _benchmark("/revisions"),
    "get_revision": _benchmark("/revisions/1"),
    "get_revision_difference": lambda task: task.revised() + "/difference",
    "list_teams": _benchmark("/teams"),
    "list_invites": _benchmark("/invites"),
    "list_submissions": _benchmark("/submissions"),
    "get_submission": _submission(),
    "list_submission_items": _submission("/items"),
    "list_submission_trees": _submission("/trees"),
    "get_submission_slices": _submission("/slices"),
    "get_output": _submission("/output"),
    "get_leaderboard": _benchmark("/leaderboard"),
    "get_matrix": _benchmark("/matrix"),
    "list_scores": _benchmark("/scores"),
    "get_badge": _benchmark("/badge.svg?team=lyon"),
    "get_history": _benchmark("/history?team=lyon"),
    "list_benchmark_comparisons": _benchmark("/comparisons"),
    "get_comparison": _comparison(),
    "list_webhooks": lambda _: "/v1/webhooks",
    "list_deliveries": lambda task: f"{_hook(task)}/deliveries",
    "list_events": lambda _: "/v1/events",
}
"""Where each GET finds something."""


def _hook(task: SharedTask) -> str:
    """The address of a webhook of an organiser."""
    client = task.stage.client(task.stage.token("organise"))
    return str(client.post("/v1/webhooks", json={"url": "https://93.184.215.14/hook"}).headers["Location"])


def _disabled(task: SharedTask) -> str:
    at = _hook(task)
    with task.stage.context.store.write() as db:
        events.disable_webhook(db, at.rpartition("/")[2], task.stage.context.now())
    return f"{at}/test"


def _get(address: Address, tail: str = "", **headers: str) -> Ask:
    return lambda stage: stage.client().get(address(SharedTask(stage)) + tail, headers=headers)


def _known(address: Address) -> Ask:
    def ask(stage: Stage) -> TestResponse:
        at = address(SharedTask(stage))
        return stage.client().get(at, headers={"If-None-Match": stage.client().get(at).headers["ETag"]})

    return ask


def _send(method: str, address: Address, body: Any = None, *, sleeping: bool = False, **headers: str) -> Ask:
    def ask(stage: Stage) -> TestResponse:
        at = address(SharedTask(stage))
        with stage.asleep() if sleeping else nullcontext():
            return stage.client().open(at, method=method, json=body, headers=headers)

    return ask


def _unchecked(method: str, below: str, body: Any) -> Ask:
    """To a benchmark whose gold nobody has checked yet."""

    def ask(stage: Stage) -> TestResponse:
        with stage.asleep():
            at = SharedTask(stage).address + below
        return stage.client().open(at, method=method, json=body)

    return ask


def _compared(*, sleeping: bool = False, feedback: str = "scores", tail: str | None = None) -> Ask:
    """A team asks how two submissions compare; with a tail, then gets the answer."""

    def ask(stage: Stage) -> TestResponse:
        task = SharedTask(stage, feedback=feedback)
        # the service compares the rows by the main score unasked
        question, client = {"submissions": task.two(), "score": "attachment.uas"}, task.team("metz")
        with stage.asleep() if sleeping else nullcontext():
            answer = client.post(f"{task.address}/comparisons", json=question)
        return answer if tail is None else client.get(answer.headers["Location"] + tail)

    return ask


def _hidden_later(stage: Stage) -> TestResponse:
    """A team reads what it asked, after the organisers have lowered the level."""
    task = SharedTask(stage, feedback="scores")
    question, client = {"submissions": task.two(), "score": "attachment.uas"}, task.team("metz")
    at = client.post(f"{task.address}/comparisons", json=question).headers["Location"]
    changed = task.organiser.patch(task.address, json={"feedback": "status"}, headers={"If-Match": "*"})
    assert changed.status_code == 200
    return client.get(at)


def _behind_a_board_only(stage: Stage) -> TestResponse:
    task = SharedTask(stage, feedback="scores")
    task.two()
    name = task.organiser.get(f"{task.address}/leaderboard").json["significance"]["comparison"]
    return task.organiser.delete(f"/v1/comparisons/{name}")


def _too_many_asked(stage: Stage) -> TestResponse:
    task = SharedTask(stage, feedback="scores")
    at, client = f"{task.address}/comparisons", task.team("metz")
    question = {"submissions": task.two(), "score": "attachment.uas"}
    with stage.asleep(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.usecases.comparisons.MOST_WAITING", 1)
        client.post(at, json=question)
        return client.post(at, json={**question, "score": "attachment.exact_match"})


def _unseen(address: Address, tail: str = "", **settings: Any) -> Ask:
    """Through somebody without a part in a benchmark that does not show it."""

    def ask(stage: Stage) -> TestResponse:
        at = address(SharedTask(stage, **settings))
        return stage.client(stage.token("score")).get(at + tail)

    return ask


def _used_up(stage: Stage) -> TestResponse:
    task = SharedTask(stage, quota={"scored_per_day": 0})
    return task.team().post(f"{task.address}/submissions", json=OUTPUTS)


def _retried_too_late(stage: Stage) -> TestResponse:
    task = SharedTask(stage, quota={"scored_per_day": 1})
    client = task.team()
    failed = task.faulty(client)
    task.submit(client)
    return client.post(f"{failed}/retry")


def _twice(address: Address, body: Any) -> Ask:
    def ask(stage: Stage) -> TestResponse:
        at = address(SharedTask(stage))
        stage.client().post(at, json=body)
        return stage.client().post(at, json=body)

    return ask


def _too_many_changes(method: str, tail: str = "", body: Any = None, *, of_webhook: bool = True) -> Ask:
    """A team has just made the last change that it may make in an hour."""

    def ask(stage: Stage) -> TestResponse:
        task = SharedTask(stage)
        client = task.team()
        made = client.post("/v1/webhooks", json=HOOK).headers["Location"] if of_webhook else task.submit(client)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(events, "nth_last_of", lambda *_: stage.context.now())
            at = "/v1/webhooks" if method == "POST" and not tail else made + tail
            return client.open(at, method=method, json=body)

    return ask


def _many_webhooks(stage: Stage) -> TestResponse:
    client = stage.client(stage.token("organise"))
    for _ in range(20):
        assert client.post("/v1/webhooks", json=HOOK).status_code == 201
    return client.post("/v1/webhooks", json=HOOK)


def _cancelled_chosen(stage: Stage) -> TestResponse:
    task = SharedTask(stage)
    client = task.team()
    at = task.waiting(client)
    client.post(f"{at}/cancel")
    return client.patch(at, json={"chosen": True})


def _changed(if_match: str | None) -> Ask:
    def ask(stage: Stage) -> TestResponse:
        at = SharedTask(stage).address
        tag = stage.client().get(at).headers["ETag"] if if_match == "seen" else if_match
        return stage.client().patch(at, json={"title": "x"}, headers={} if tag is None else {"If-Match": tag})

    return ask


def _of_a_deleted(address: Address, method: str, body: Any) -> Ask:
    def ask(stage: Stage) -> TestResponse:
        task = SharedTask(stage)
        at = address(task)
        task.delete()
        return stage.client().open(at, method=method, json=body)

    return ask


HOOK = {"url": "https://93.184.215.14/hook"}
BODIES: dict[str, Any] = {
    "create_benchmark": {"id": "x", "title": "x", "format": "conllu", "metrics": ["ud"], "parts": {}},
    "patch_benchmark": {"title": "x"},
    "create_revision": FIX,
    "create_team": TEAM,
    "create_invite": INVITE,
    "submit": OUTPUTS,
    "patch_submission": {"name": "x"},
    "ask_comparison": {"submissions": "leaderboard"},
    "create_webhook": HOOK,
}
SENT: dict[str, Address] = {
    "patch_benchmark": _benchmark(),
    "delete_benchmark": _benchmark(),
    "create_revision": _benchmark("/revisions"),
    "create_team": _benchmark("/teams"),
    "create_invite": _benchmark("/invites"),
    "delete_invite": _benchmark("/invites/inv_0"),
    "erase_team": _benchmark("/teams/lyon"),
    "rotate_token": _benchmark("/teams/lyon/token"),
    "submit": _benchmark("/submissions"),
    "patch_submission": _submission(),
    "delete_submission": _submission(),
    "cancel_submission": _submission("/cancel"),
    "retry_submission": _submission("/retry"),
    "ask_comparison": _benchmark("/comparisons"),
}
"""Where what changes something goes."""


def _team_first(below: str) -> Address:
    def address(task: SharedTask) -> str:
        task.team()
        return f"{task.address}/teams/lyon{below}"

    return address


def _two_first(below: str) -> Address:
    def address(task: SharedTask) -> str:
        task.two()
        return task.address + below

    return address


def _invited(task: SharedTask, **limits: Any) -> str:
    """The secret of an invite."""
    return str(task.organiser.post(f"{task.address}/invites", json={**INVITE, **limits}).json["secret"])


def _join(stage: Stage, secret: str, team: str = "metz", address: str = "10.8.0.1") -> TestResponse:
    """Somebody without a token makes a team."""
    body = {"invite": secret, "id": team, "name": "Metz", "contact": "metz@example.org"}
    return stage.client(None).post("/v1/join", json=body, environ_overrides={"REMOTE_ADDR": address})


def _withdrawn(stage: Stage) -> TestResponse:
    task = SharedTask(stage)
    made = task.organiser.post(f"{task.address}/invites", json=INVITE)
    return task.organiser.delete(made.headers["Location"])


def _joined_with_a_taken_id(stage: Stage) -> TestResponse:
    task = SharedTask(stage)
    task.team("metz")
    return _join(stage, _invited(task))


def _joined_once_too_often(stage: Stage) -> TestResponse:
    secret = _invited(SharedTask(stage))
    assert _join(stage, secret).status_code == 201
    return _join(stage, secret, "oslo")


def _joined_at_random(stage: Stage) -> TestResponse:
    for _ in range(FAILURES_ALLOWED):
        assert _join(stage, "guess", address="10.8.0.2").status_code == 403
    return _join(stage, "guess", address="10.8.0.2")


def _make_again(stage: Stage) -> TestResponse:
    task = SharedTask(stage)
    return stage.client().post("/v1/benchmarks", json={**VALID, "id": task.slug})


def _make(stage: Stage) -> TestResponse:
    slug = SharedTask(stage).slug
    return stage.client().post("/v1/benchmarks", json={**VALID, "id": f"{slug}-again"})


VALID = {**BODIES["create_benchmark"], "parts": FIX["parts"]}
TASK_ANSWERS: dict[tuple[str, str], Ask] = {
    ("create_benchmark", "201"): _make,
    ("create_benchmark", "409"): _make_again,
    ("patch_benchmark", "200"): _changed("seen"),
    ("patch_benchmark", "412"): _changed('"another"'),
    ("patch_benchmark", "428"): _changed(None),
    ("delete_benchmark", "204"): _send("DELETE", _benchmark()),
    ("delete_benchmark", "409"): _send("DELETE", _two_first("")),
    ("list_revisions", "422"): _get(GOOD["list_revisions"], "?cursor=x"),
    ("create_revision", "201"): _send("POST", SENT["create_revision"], FIX, Prefer="wait=20"),
    ("create_revision", "202"): _send("POST", SENT["create_revision"], FIX, sleeping=True),
    ("list_fitting", "409"): _unchecked("GET", "/fitting", None),
    ("list_fitting", "422"): _get(GOOD["list_fitting"], "?cursor=x"),
    ("create_revision", "409"): _unchecked("POST", "/revisions", FIX),
    ("create_team", "201"): _send("POST", SENT["create_team"], TEAM),
    ("create_team", "409"): _twice(SENT["create_team"], TEAM),
    ("create_invite", "201"): _send("POST", SENT["create_invite"], INVITE),
    ("delete_invite", "204"): _withdrawn,
    ("join", "201"): lambda stage: _join(stage, _invited(SharedTask(stage))),
    ("join", "403"): lambda stage: _join(stage, "unknown"),
    ("join", "409"): _joined_with_a_taken_id,
    ("join", "410"): _joined_once_too_often,
    ("join", "429"): _joined_at_random,
    ("erase_team", "204"): _send("DELETE", _team_first("")),
    ("rotate_token", "201"): _send("POST", _team_first("/token")),
    ("submit", "200"): _send("POST", _benchmark("/submissions?validate_only=true"), OUTPUTS, Prefer="wait=20"),
    ("submit", "201"): _send("POST", SENT["submit"], OUTPUTS, Prefer="wait=20"),
    ("submit", "202"): _send("POST", SENT["submit"], OUTPUTS, sleeping=True),
    ("submit", "409"): _unchecked("POST", "/submissions", OUTPUTS),
    ("submit", "429"): _used_up,
    ("patch_submission", "200"): _send("PATCH", SENT["patch_submission"], {"withdrawn": True}),
    ("patch_submission", "409"): _cancelled_chosen,
    ("patch_submission", "429"): _too_many_changes("PATCH", body={"notes": "x"}, of_webhook=False),
    ("delete_submission", "204"): _send("DELETE", SENT["delete_submission"]),
    ("cancel_submission", "200"): _send("POST", lambda task: task.waiting() + "/cancel"),
    ("cancel_submission", "409"): _send("POST", SENT["cancel_submission"]),
    ("retry_submission", "201"): _send("POST", lambda task: task.faulty() + "/retry", Prefer="wait=20"),
    ("retry_submission", "202"): _send("POST", lambda task: task.faulty() + "/retry", sleeping=True),
    ("retry_submission", "409"): _send("POST", SENT["retry_submission"]),
    ("retry_submission", "429"): _retried_too_late,
    ("list_submission_items", "409"): _get(lambda task: task.waiting() + "/items"),
    ("list_submission_items", "422"): _get(GOOD["list_submission_items"], "?cursor=x"),
    ("list_submission_trees", "409"): _get(lambda task: task.waiting() + "/trees"),
    ("list_submission_trees", "422"): _get(GOOD["list_submission_trees"], "?cursor=x"),
    ("get_submission_slices", "409"): _get(lambda task: task.waiting() + "/slices"),
    ("get_leaderboard", "403"): _unseen(
        GOOD["get_leaderboard"], "?score=attachment.uas", leaderboard={"scores": ["attachment.las"]}
    ),
    ("get_leaderboard", "422"): _get(GOOD["get_leaderboard"], "?score=attachment.lass"),
    ("get_matrix", "403"): _unseen(
        GOOD["get_matrix"], "?score=attachment.uas", leaderboard={"scores": ["attachment.las"]}
    ),
    ("list_scores", "403"): _unseen(
        GOOD["list_scores"], "?score=attachment.uas", leaderboard={"scores": ["attachment.las"]}
    ),
    ("get_badge", "403"): _unseen(GOOD["get_badge"], leaderboard={"anonymous": True}),
    ("get_history", "403"): _unseen(GOOD["get_history"], leaderboard={"anonymous": True}),
    ("get_history", "422"): _get(GOOD["get_history"], "&score=attachment.lass"),
    ("list_scores", "422"): _get(GOOD["list_scores"], "?score=attachment.lass"),
    ("get_matrix", "422"): _get(GOOD["get_matrix"], "?score=attachment.lass"),
    ("list_benchmark_comparisons", "403"): _unseen(GOOD["list_benchmark_comparisons"], feedback="status"),
    ("ask_comparison", "201"): _compared(),
    ("ask_comparison", "202"): _compared(sleeping=True),
    ("ask_comparison", "403"): _compared(feedback="status"),
    ("ask_comparison", "429"): _too_many_asked,
    ("get_comparison", "403"): _hidden_later,
    ("get_comparison", "422"): _compared(sleeping=True, tail="?format=csv"),
    ("delete_comparison", "204"): _send("DELETE", GOOD["get_comparison"]),
    ("delete_comparison", "410"): _of_a_deleted(GOOD["get_comparison"], "DELETE", None),
    ("delete_comparison", "409"): _behind_a_board_only,
    ("create_token", "404"): _send("POST", lambda _: "/v1/tokens", {"scopes": ["organise"], "benchmark": "nowhere"}),
    ("create_token", "410"): lambda stage: stage.client().post(
        "/v1/tokens", json={"scopes": ["organise"], "benchmark": SharedTask(stage).delete().rpartition("/")[2]}
    ),
    ("create_webhook", "201"): _send("POST", lambda _: "/v1/webhooks", HOOK),
    ("create_webhook", "404"): _send("POST", lambda _: "/v1/webhooks", {**HOOK, "benchmark": "nowhere"}),
    ("create_webhook", "409"): _many_webhooks,
    ("create_webhook", "429"): _too_many_changes("POST", body=HOOK),
    ("delete_webhook", "429"): _too_many_changes("DELETE"),
    ("create_webhook", "410"): lambda stage: stage.client().post(
        "/v1/webhooks", json={**HOOK, "benchmark": SharedTask(stage).delete().rpartition("/")[2]}
    ),
    ("delete_webhook", "204"): lambda stage: stage.client().delete(
        stage.client(stage.token("organise")).post("/v1/webhooks", json=HOOK).headers["Location"]
    ),
    ("test_webhook", "202"): _send("POST", lambda task: f"{_hook(task)}/test"),
    ("test_webhook", "409"): _send("POST", _disabled),
    ("list_events", "404"): _get(GOOD["list_events"], "?after=x"),
}


def _plain(method: str, at: str) -> Ask:
    return lambda stage: stage.client().open(at, method=method, data=b"x", content_type="text/plain")


def _json(method: str, at: str, body: Any) -> Ask:
    return lambda stage: stage.client().open(at, method=method, json=body)


for _method, _path, _op in operations():
    if not TAGS & set(_op["tags"]):
        continue
    _name, _here = _op["operationId"], re.sub(r"\{\w+\}", "x", _path)
    _statuses = set(_op["responses"])
    _address = GOOD.get(_name) or SENT.get(_name)
    if _method == "GET":
        TASK_ANSWERS |= {(_name, "200"): _get(GOOD[_name]), (_name, "304"): _known(GOOD[_name])}
    if "406" in _statuses:
        TASK_ANSWERS[_name, "406"] = _get(GOOD[_name], Accept="image/png")
    if "{" in _path:
        TASK_ANSWERS[_name, "404"] = _json(_method, _here, BODIES.get(_name))
    if "410" in _statuses and _address is not None:
        TASK_ANSWERS[_name, "410"] = _of_a_deleted(_address, _method, BODIES.get(_name))
    if "415" in _statuses:
        TASK_ANSWERS |= {
            (_name, "413"): _json(_method, _here, "x" * 200_001),
            (_name, "415"): _plain(_method, _here),
            (_name, "422"): _json(_method, _here, {"odd": 1}),
        }
TASK_ANSWERS["get_history", "404"] = _get(lambda _: "/v1/benchmarks/unknown/history?team=lyon")
TASK_ANSWERS["get_badge", "404"] = _get(lambda _: "/v1/benchmarks/unknown/badge.svg?team=lyon")
