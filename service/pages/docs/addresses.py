"""The addresses of what texts name: operations, problems, the contract."""

from __future__ import annotations

import re

from service.pages.docs.contract_reading import METHODS, Operation, operations
from service.problem_catalogue import CODES, TYPES

CALL = re.compile(rf"(?:({'|'.join(METHODS).upper()}) )?(/[^\s?`]+)(?:\?\S*)?")


def of_code(code: str) -> str | None:
    """Return the address of what a piece of code names; None where it names nothing that has a page.

    Names of problems are followed only if they have a hyphen: `closed` is a word of other things too.
    """
    if code in ("openapi.yaml", "/openapi.yaml", "/openapi.json"):
        return f"/{code.removeprefix('/')}"
    if "-" in code and (code in TYPES or code in CODES):
        return f"/problems/{code}"
    named = operation_of(code)
    return None if named is None else named.address


def operation_of(code: str) -> Operation | None:
    """Return the operation that code names, by its id, or by a path, with a method or that of reading.

    An id is followed only if it is of several words: `submit` is a scope too.
    """
    for operation in operations():
        if operation.id == code and "_" in code:
            return operation
    call = CALL.fullmatch(code)
    return None if call is None else called(call[1] or "GET", call[2])


def called(method: str, path: str) -> Operation | None:
    """Return the operation that a call of a path is; where several fit, that with the fewest names in braces.

    Args:
        method: in capitals.
        path: whole, or its end after `…`.
    """
    if path.startswith("…"):
        ends = [each for each in operations() if each.method == method and each.path.endswith(path[1:])]
        return ends[0] if len(ends) == 1 else None
    fitting = [each for each in operations() if each.method == method and each.matches(path)]
    return min(fitting, key=lambda each: each.path.count("{"), default=None)


def in_reference(page: str, anchor: str) -> str:
    """Return the address of a part of the reference that Sphinx has on one page and the service on several."""
    if page == "/problems" and anchor:
        return f"/problems/{anchor}" if anchor in TYPES or anchor in CODES else page
    named = operation_of(anchor) if anchor else None
    return page if named is None else named.address
