"""Every status that the document names for an operation is provoked, and is as documented (the client checks it)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from zlib import crc32

import pytest
from werkzeug.test import TestResponse

from service.errors import Conflict
from tests.contract.checking import by_id, operations
from tests.contract.stage import ADMIN, JOB, Stage
from tests.contract.task_answers import TASK_ANSWERS

Ask = Callable[[Stage], TestResponse]
UNKNOWN = "job_00000000000000000000000000"
ONE = "system=A&metric=parseval"
QUERY = {
    "items": f"?{ONE}",
    "trees": "?system=A",
    "slices": f"?{ONE}",
    "report": "?system=A&metric=attachment&style=eval07",
    "comparisons": "",
    "agreement": "",
}
RESULTS = {
    "list_items": "items",
    "list_job_trees": "trees",
    "get_slices": "slices",
    "get_report": "report",
    "get_comparisons": "comparisons",
    "get_agreement": "agreement",
}
AGREEMENT = {"agreement": [["parseval.labelled_f1", "parseval.unlabelled_f1"]]}
WORDS = "1\tit\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\trains\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
DEPENDENCIES = {
    "format": "conllu",
    "gold": WORDS,
    "systems": [{"name": "A", "output": WORDS}],
    "metrics": ["attachment"],
}
CHANGES = {"get_report": DEPENDENCIES, "get_agreement": AGREEMENT}


def _post(document: Any, **headers: str) -> Ask:
    return lambda stage: stage.client().post("/v1/jobs", json=document, headers=headers)


def _accepted(stage: Stage) -> TestResponse:
    with stage.asleep():
        return stage.client().post("/v1/jobs", json=JOB)


def _being_taken(stage: Stage) -> TestResponse:
    """Another thread is storing a job under this key at this moment: the store's refusal is put in its place."""

    def busy(*_: object) -> None:
        raise Conflict("A request with this Idempotency-Key is being taken at this moment. Try again.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.usecases.jobs.submit_job", busy)
        return stage.client().post("/v1/jobs", json=JOB, headers={"Idempotency-Key": "busy"})


def _too_many_queued(stage: Stage) -> TestResponse:
    client = stage.client(None)
    with stage.asleep():
        for _ in range(stage.context.config.max_queued):
            client.post("/v1/jobs", json=JOB)
        return client.post("/v1/jobs", json=JOB)


def _store_away(stage: Stage) -> TestResponse:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.store.database.Store.alive", lambda _store: False)
        return stage.client().get("/readyz")


def _known(path: Callable[[Stage], str], token: str | None = ADMIN) -> Ask:
    def ask(stage: Stage) -> TestResponse:
        address, client = path(stage), stage.client(token)
        tag = client.get(address).headers["ETag"]
        return client.get(address, headers={"If-None-Match": tag})

    return ask


def _get(path: Callable[[Stage], str]) -> Ask:
    return lambda stage: stage.client().get(path(stage))


def _picture(path: str) -> Ask:
    return lambda stage: stage.client().get(path, headers={"Accept": "image/png"})


def _as(stage: Stage, method: str, path: str, *scopes: str) -> TestResponse:
    return stage.client(stage.token(*scopes)).open(path, method=method, json={} if method == "POST" else None)


def _with_bad_token(method: str, path: str) -> Ask:
    # each from an address of its own: many from one are answered with 429
    address = f"10.0.{crc32(f'{method} {path}'.encode()) % 256}.1"
    return lambda stage: stage.client("ts_unknown").open(
        path, method=method, environ_overrides={"REMOTE_ADDR": address}
    )


def _with_scope(method: str, path: str, scope: str) -> Ask:
    return lambda stage: _as(stage, method, path, scope)


PROVOKED: dict[tuple[str, str], Ask] = {
    **TASK_ANSWERS,
    ("submit_job", "201"): _post(JOB, Prefer="wait=20"),
    ("submit_job", "202"): _accepted,
    ("submit_job", "400"): lambda stage: stage.client().post("/v1/jobs", data=b"{", content_type="application/json"),
    ("submit_job", "409"): _being_taken,
    ("submit_job", "413"): _post({**JOB, "gold": "x" * 200_001}),
    ("submit_job", "415"): lambda stage: stage.client().post("/v1/jobs", data=b"{}", content_type="text/plain"),
    ("submit_job", "422"): _post({**JOB, "metrics": ["parsval"]}),
    ("submit_job", "429"): _too_many_queued,
    ("get_job", "200"): _get(Stage.job),
    ("get_job", "304"): _known(Stage.job),
    ("delete_job", "204"): lambda stage: stage.client().delete(stage.job()),
    ("cancel_job", "200"): lambda stage: stage.client().post(stage.waiting_job() + "/cancel"),
    ("cancel_job", "409"): lambda stage: stage.client().post(stage.job() + "/cancel"),
    ("create_token", "201"): lambda stage: stage.client().post("/v1/tokens", json={"scopes": ["read"]}),
    ("create_token", "400"): lambda stage: stage.client().post("/v1/tokens?x=1", json={"scopes": ["read"]}),
    ("create_token", "413"): lambda stage: stage.client().post("/v1/tokens", json={"name": "x" * 200_001}),
    ("create_token", "415"): lambda stage: stage.client().post("/v1/tokens", data=b"scopes=read"),
    ("create_token", "422"): lambda stage: stage.client().post("/v1/tokens", json={"scopes": ["rule"]}),
    ("revoke_token", "204"): lambda stage: stage.client().delete(
        stage.client().post("/v1/tokens", json={"scopes": ["read"]}).headers["Location"]
    ),
    ("revoke_token", "404"): lambda stage: stage.client().delete("/v1/tokens/tok_0"),
    ("get_scorer", "200"): _get(lambda _: "/v1/scorers/parseval"),
    ("get_scorer", "304"): _known(lambda _: "/v1/scorers/parseval"),
    ("get_scorer", "404"): _get(lambda _: "/v1/scorers/parsval"),
    ("list_problems", "400"): _get(lambda _: "/problems?odd=1"),
    ("list_problems", "406"): _picture("/problems"),
    ("get_problem", "200"): _get(lambda _: "/problems/word-mismatch"),
    ("get_problem", "304"): _known(lambda _: "/problems/word-mismatch"),
    ("get_problem", "400"): _get(lambda _: "/problems/conflict?odd=1"),
    ("get_problem", "404"): _get(lambda _: "/problems/word-mismatches"),
    ("get_problem", "406"): _picture("/problems/conflict"),
    ("get_readyz", "503"): _store_away,
    ("get_metrics", "200"): _get(lambda _: "/metrics"),
    ("get_metrics", "304"): _known(lambda _: "/metrics", token=None),
    ("list_items", "406"): lambda stage: stage.client().get(
        stage.job() + f"/items?{ONE}", headers={"Accept": "image/png"}
    ),
    ("list_job_trees", "422"): lambda stage: stage.client().get(stage.job() + "/trees?system=A&cursor=x"),
    ("list_items", "422"): lambda stage: stage.client().get(stage.job() + f"/items?{ONE}&cursor=x"),
}
for _operation, _name in RESULTS.items():
    _below = f"/{_name}{QUERY[_name]}"
    _changes: dict[str, Any] = CHANGES.get(_operation, {})
    PROVOKED |= {
        (_operation, "200"): _get(lambda stage, below=_below, of=_changes: stage.job(**of) + below),
        (_operation, "304"): _known(lambda stage, below=_below, of=_changes: stage.job(**of) + below),
        (_operation, "409"): _get(lambda stage, below=_below: stage.waiting_job() + below),
    }
for _method, _path, _op in operations():
    _name, _here = _op["operationId"], re.sub(r"\{\w+\}", "x", _path.replace("{job_id}", UNKNOWN))
    _here += QUERY.get(_path.rpartition("/")[2], "") if _path.startswith("/v1/jobs/") else ""
    if _method == "GET" and "{" not in _path and (_name, "200") not in PROVOKED:
        PROVOKED |= {(_name, "200"): _get(lambda _, at=_here: at), (_name, "304"): _known(lambda _, at=_here: at)}
    if _path.startswith("/v1/"):
        _odd = _here + ("&" if "?" in _here else "?") + "odd=1"
        PROVOKED.setdefault((_name, "400"), lambda stage, m=_method, at=_odd: stage.client().open(at, method=m))
    if _op.get("security") != []:
        PROVOKED[_name, "401"] = _with_bad_token(_method, _here)
        _scope = "read" if _name == "list_jobs" else "submit" if _path.startswith("/v1/jobs") else "score"
        if "403" in _op["responses"]:
            PROVOKED.setdefault((_name, "403"), _with_scope(_method, _here, _scope))
    if "{job_id}" in _path:
        PROVOKED[_name, "404"] = lambda stage, m=_method, at=_here: stage.client().open(at, method=m)
        PROVOKED[_name, "410"] = lambda stage, m=_method, at=_here: stage.client().open(
            at.replace(f"/v1/jobs/{UNKNOWN}", stage.deleted_job()), method=m
        )

DOCUMENTED = [(name, status) for name, operation in by_id().items() for status in operation["responses"]]


@pytest.mark.parametrize(("operation_id", "status"), DOCUMENTED)
def test_a_documented_status_is_met(operation_id: str, status: str, stage: Stage) -> None:
    assert str(PROVOKED[operation_id, status](stage).status_code) == status


def test_nothing_is_provoked_that_is_not_documented() -> None:
    assert set(PROVOKED) == set(DOCUMENTED)
