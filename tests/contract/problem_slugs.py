"""Slugs of the service's problems, with their statuses, as its code names them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from service import errors
from service.policy.questions import FIXED_QUESTION
from service.store.faults import Fault
from service.usecases.comparisons.rules import NOT_COMPARABLE
from tests.contract.checking import ROOT

NAMED = {"FIXED_QUESTION": [FIXED_QUESTION], "NOT_COMPARABLE": [NOT_COMPARABLE],
         "f'store-{ill}'": [f"store-{fault}" for fault in Fault if fault is not Fault.AWAY]}  # fmt: skip
"""What an expression that is no text stands for."""
OF_THE_SERVER = {"method-not-allowed": 405, "uri-too-long": 414, "expectation-failed": 417,
                 "request-header-fields-too-large": 431, "not-implemented": 501}  # fmt: skip
"""Slugs that the framework and the server make of the words of a status."""
PASSED_ON = {"slug"}
"""Expressions that hand on what another place names."""


@cache
def statuses() -> dict[str, int]:
    """Slug -> HTTP status."""
    classes = {each.__name__: each for each in _subclasses(errors.ServiceError)}
    found = {each.slug: each.status for each in classes.values()}
    found |= {slug: status for slug, _title, status in errors.FAILURES.values()}
    found["invalid-output"] = 422  # the failure of a submission
    found |= OF_THE_SERVER
    for path in sorted((ROOT / "service").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in classes:
                status = classes[call.func.id].status  # type: ignore[attr-defined]
                found |= dict.fromkeys(_slugs(call), status)
    return found


def _slugs(call: ast.Call) -> Iterator[str]:
    for keyword in call.keywords:
        if keyword.arg == "slug":
            value = keyword.value
            if isinstance(value, ast.Constant):
                yield str(value.value)
            elif ast.unparse(value) not in PASSED_ON:
                yield from NAMED[ast.unparse(value)]


def _subclasses(kind: type[errors.ServiceError]) -> Iterator[type[errors.ServiceError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _subclasses(each)
