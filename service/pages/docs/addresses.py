"""The addresses of what texts name: operations, problems, the contract."""

from __future__ import annotations

import re

from service.pages.docs.contract_reading import METHODS, Operation, operations
from service.problem_catalogue import CODES, TYPES

CALL = re.compile(rf"(?:({'|'.join(METHODS).upper()}) )?(/[^\s?`]+)(?:\?\S*)?")


def of_code(quoted: str) -> str | None:
    """Return the address of what a piece of code names; None where it names nothing that has a page.

    Names of problems are followed only if they have a hyphen: `closed` is a word of other things too.
    """
    if quoted in ("openapi.yaml", "/openapi.yaml", "/openapi.json"):
        return f"/{quoted.removeprefix('/')}"
    if "-" in quoted and (quoted in TYPES or quoted in CODES):
        return f"/problems/{quoted}"
    named = operation_of(quoted)
    return None if named is None else named.address


def operation_of(quoted: str) -> Operation | None:
    """Return the operation that a piece of code names, by its id, or by a path, with a method or that of reading.

    An id is followed only if it is of several words: `submit` is a scope too.
    """
    for operation in operations():
        if operation.id == quoted and "_" in quoted:
            return operation
    call = CALL.fullmatch(quoted)
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
