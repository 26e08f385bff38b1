"""The operations of the service that the client knows: one row each, as in the published contract."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote

JSON = "application/json"
FORM = "multipart/form-data"
CSV = "text/csv"
KEY = "Idempotency-Key"
EITHER = (JSON, FORM)
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Operation:
    """A call of the service.

    Attributes:
        id: its `operationId`.
        method: of HTTP.
        path: with places for parameters, `/v1/jobs/{job_id}`.
        query: parameters of the query string.
        needed: those of them that must be given.
        headers: that change what the call does, beside the ETag of an answer that is known already.
        body: media types of the body; none without one.
        repeatable: whether the same call sent twice does what it does when sent once, without a key too.
    """

    id: str
    method: str
    path: str
    query: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    repeatable: bool = True

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The parameters of the path."""
        return tuple(_PLACE.findall(self.path))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What a path of this operation looks like."""
        return re.compile("[^/]+".join(re.escape(piece) for piece in _PLACE.sub("\0", self.path).split("\0")))

    @property
    def takes_key(self) -> bool:
        """Whether a key makes the service do a repeated request once."""
        return KEY in self.headers

    def address(self, values: Mapping[str, str]) -> str:
        """Return the path with these values, each quoted."""
        return _PLACE.sub(lambda match: quote(values[match[1]], safe=""), self.path)


def _get(name: str, path: str, query: str = "", *headers: str) -> Operation:
    """Return an operation that reads; a parameter with `!` must be given."""
    words = query.split()
    needed = tuple(word[:-1] for word in words if word.endswith("!"))
    return Operation(name, "GET", path, tuple(word.rstrip("!") for word in words), needed, headers)


def _post(
    name: str, path: str, *headers: str, body: tuple[str, ...] = (), query: tuple[str, ...] = (), again: bool = False
) -> Operation:
    """Return an operation that makes something; `again` tells that sending it twice does no more."""
    return Operation(name, "POST", path, query, (), headers, body, again)


def _delete(name: str, path: str, *headers: str) -> Operation:
    return Operation(name, "DELETE", path, headers=headers)


def _patch(name: str, path: str, *headers: str) -> Operation:
    return Operation(name, "PATCH", path, headers=headers, body=(JSON,))


_JOB = "/v1/jobs/{job_id}"
_BENCHMARK = "/v1/benchmarks/{benchmark}"
_SUBMISSION = "/v1/submissions/{submission}"
_COMPARISON = "/v1/comparisons/{comparison}"

_CHOICE = "wrong label q order"
"""Parameters that choose sentences."""

_ROWS: Iterable[Operation] = (
    _get("list_jobs", "/v1/jobs", "cursor limit state"),
    _post("submit_job", "/v1/jobs", "Prefer", KEY, body=EITHER),
    _get("get_job", _JOB, "", "Prefer"),
    _delete("delete_job", _JOB, "Job-Key"),
    _post("cancel_job", f"{_JOB}/cancel", "Job-Key", again=True),
    _get("list_items", f"{_JOB}/items", f"system! metric! cursor limit {_CHOICE} format"),
    _get("list_job_trees", f"{_JOB}/trees", f"system! cursor limit {_CHOICE} item differs_from"),
    _get("get_slices", f"{_JOB}/slices", "system! metric! by"),
    _get("get_report", f"{_JOB}/report", "system! metric! style!"),
    _get("get_comparisons", f"{_JOB}/comparisons", "score format"),
    _get("get_agreement", f"{_JOB}/agreement"),
    _get("list_benchmarks", "/v1/benchmarks", "cursor limit series"),
    _post("create_benchmark", "/v1/benchmarks", "Prefer", KEY, body=EITHER),
    _get("get_benchmark", _BENCHMARK, "", "Prefer"),
    _patch("patch_benchmark", _BENCHMARK, "If-Match"),
    _delete("delete_benchmark", _BENCHMARK),
    _get("get_part_input", f"{_BENCHMARK}/parts/{{part}}/input"),
    _get("list_revisions", f"{_BENCHMARK}/revisions", "cursor limit"),
    _post("create_revision", f"{_BENCHMARK}/revisions", "Prefer", KEY, body=EITHER),
    _get("get_revision", f"{_BENCHMARK}/revisions/{{number}}", "", "Prefer"),
    _get("get_revision_difference", f"{_BENCHMARK}/revisions/{{number}}/difference"),
    _get("get_analytics", f"{_BENCHMARK}/analytics", "days"),
    _get("list_fitting", f"{_BENCHMARK}/fitting", "cursor limit"),
    _get("list_teams", f"{_BENCHMARK}/teams", "cursor limit"),
    _post("create_team", f"{_BENCHMARK}/teams", body=(JSON, CSV)),
    _delete("erase_team", f"{_BENCHMARK}/teams/{{team}}"),
    _post("rotate_token", f"{_BENCHMARK}/teams/{{team}}/token"),
    _get("list_invites", f"{_BENCHMARK}/invites", "cursor limit"),
    _post("create_invite", f"{_BENCHMARK}/invites", body=(JSON,)),
    _delete("delete_invite", f"{_BENCHMARK}/invites/{{invite}}"),
    _post("join", "/v1/join", body=(JSON,)),
    _get("list_submissions", f"{_BENCHMARK}/submissions", "cursor limit team state"),
    _post("submit", f"{_BENCHMARK}/submissions", "Prefer", KEY, body=EITHER, query=("validate_only",)),
    _get("get_submission", _SUBMISSION, "", "Prefer"),
    _patch("patch_submission", _SUBMISSION),
    _delete("delete_submission", _SUBMISSION),
    _post("cancel_submission", f"{_SUBMISSION}/cancel", again=True),
    _post("retry_submission", f"{_SUBMISSION}/retry", "Prefer"),
    _get("list_submission_items", f"{_SUBMISSION}/items", f"cursor limit {_CHOICE} part metric format"),
    _get("list_submission_trees", f"{_SUBMISSION}/trees", f"cursor limit {_CHOICE} part item"),
    _get("get_submission_slices", f"{_SUBMISSION}/slices", "part metric by"),
    _get("get_output", f"{_SUBMISSION}/output", "part"),
    _get("get_leaderboard", f"{_BENCHMARK}/leaderboard", "score pick revision part split cursor format", "Prefer"),
    _get("get_matrix", f"{_BENCHMARK}/matrix", "score pick revision part split cursor format", "Prefer"),
    _get("list_scores", f"{_BENCHMARK}/scores", "score pick revision part split cursor format"),
    _get("list_benchmark_comparisons", f"{_BENCHMARK}/comparisons", "cursor limit"),
    # a comparison is found by its question: asked twice, it is answered once
    _post("ask_comparison", f"{_BENCHMARK}/comparisons", "Prefer", body=(JSON,), again=True),
    _get("get_comparison", _COMPARISON, "format", "Prefer"),
    _delete("delete_comparison", _COMPARISON),
    _get("list_differing_items", f"{_COMPARISON}/items", "cursor limit a b format"),
    _get("compare_in_series", "/v1/series/{series_id}/comparison", "a! b!"),
    _get("list_webhooks", "/v1/webhooks", "cursor limit"),
    _post("create_webhook", "/v1/webhooks", body=(JSON,)),
    _delete("delete_webhook", "/v1/webhooks/{webhook}"),
    _post("test_webhook", "/v1/webhooks/{webhook}/test"),
    _post("rotate_webhook", "/v1/webhooks/{webhook}/rotate"),
    _get("list_deliveries", "/v1/webhooks/{webhook}/deliveries", "cursor limit"),
    _post("replay_delivery", "/v1/webhooks/{webhook}/deliveries/{delivery}/replay"),
    _get("list_events", "/v1/events", "after limit benchmark"),
    _get("list_scorers", "/v1/scorers"),
    _post("suggest_scorers", "/v1/scorers/suggestions", body=(JSON,), again=True),
    _get("get_scorer", "/v1/scorers/{name}"),
    _get("list_tokens", "/v1/tokens", "cursor limit"),
    _post("create_token", "/v1/tokens", body=(JSON,)),
    _delete("revoke_token", "/v1/tokens/{token_id}"),
    _get("get_openapi_yaml", "/openapi.yaml"),
    _get("get_openapi_json", "/openapi.json"),
    _get("get_docs", "/docs"),
    _get("list_problems", "/problems", "format"),
    _get("get_problem", "/problems/{problem}", "format"),
    _get("get_livez", "/livez"),
    _get("get_readyz", "/readyz"),
    _get("get_metrics", "/metrics"),
)
OPERATIONS: Mapping[str, Operation] = {row.id: row for row in _ROWS}
"""Operations by their ids."""


def operation_of(method: str, path: str) -> Operation | None:
    """Return the operation that a method and a path name; None for one that this client does not know."""
    plain = path.partition("?")[0]
    for operation in OPERATIONS.values():
        if operation.method == method and operation.pattern.fullmatch(plain):
            return operation
    return None
