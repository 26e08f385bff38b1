"""Problems as members of a document, for HTTP errors and for failures alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scoring.errors import Problem
from service.errors import counted

FAILURES = {
    "input": ("invalid-input", "The texts cannot be scored"),
    "limit": ("limit-exceeded", "A limit is passed"),
    "service": ("service-fault", "The service failed; the fault is not yours"),
}
FAILURE_STATUS = {"input": 422, "limit": 413, "service": 500}


def error_document(problem: Problem, *, gold_visible: bool) -> dict[str, Any]:
    """One member of `errors[]`; what quotes gold is in it only where the caller may read gold."""
    detail = problem.gold_detail if gold_visible and problem.gold_detail else problem.detail
    members = {
        "code": problem.code,
        "pointer": problem.pointer,
        "part": problem.part,
        "sentence": problem.sentence,
        "sent_id": problem.sent_id,
        "line": problem.line,
        "column": problem.column,
        "detail": detail,
    }
    return {name: value for name, value in members.items() if value not in (None, "")}


def failure_record(kind: str, problems: Sequence[Problem], total: int) -> dict[str, Any]:
    """A failure as the store keeps it where gold is not the caller's own: each error has `gold_detail` beside `detail`.

    Nobody sees it but through service.policy.
    """
    document = dict(failure_document(kind, problems, total, gold_visible=False))
    errors = [
        {**error, "gold_detail": problem.gold_detail} if problem.gold_detail else error
        for error, problem in zip(document["errors"], problems, strict=True)
    ]
    return {**document, "errors": errors}


def failure_document(
    kind: str, problems: Sequence[Problem], total: int, *, gold_visible: bool = True
) -> Mapping[str, Any]:
    """What stands under `failure` of something that a worker could not score.

    In a job gold is the caller's own text, so it may be quoted.
    """
    slug, title = FAILURES[kind]
    return {
        "type": f"/problems/{slug}",
        "title": title,
        "status": FAILURE_STATUS[kind],
        "kind": kind,
        "detail": counted(total) if len(problems) != 1 else problems[0].detail,
        "errors": [error_document(problem, gold_visible=gold_visible) for problem in problems],
        "errors_total": total,
    }
