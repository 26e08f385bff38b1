"""Read JSON strictly by RFC 8259: refuse what two parsers could read differently, with its position if known."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import NoReturn

import orjson

from service.errors import BadRequest
from treescore.core.params import Json
from treescore.core.text import place
from treescore.errors import Problem

LARGEST_INTEGER = 2**63 - 1
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class _RefusalError(ValueError):
    """A value that the JSON grammar or this service does not accept."""

    def __init__(self, code: str, detail: str, *, placed: bool = False) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.placed = placed


def parse(body: bytes) -> Json:
    """Return the value of a JSON text.

    Raises:
        BadRequest: invalid UTF-8 or JSON, a repeated key, NaN or Infinity, a number beyond 64 bits or a double,
            half a surrogate pair, or more than a thousand levels of nesting.
    """
    if not body.strip():
        raise _bad("json-empty", "The body is empty. Send a JSON object.")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = place(body, error.start)
        detail = f"Byte 0x{body[error.start]:02x} in line {line}, column {column} of the body is invalid UTF-8."
        raise _bad("json-invalid-utf8", detail, line, column) from error
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _explained(body, text, error) from error
    # orjson is strict about everything but repeated keys and integers beyond 64 bits
    return _read(body, text)


def _read(body: bytes, text: str, parse_float: Callable[[str], float] | None = None) -> Json:
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=parse_float
        )
    except json.JSONDecodeError as error:
        detail = f"The body is not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        raise _bad("json-syntax", detail, error.lineno, error.colno) from error
    except _RefusalError as error:
        where = _place_of_refusal(body) if error.placed else None
        raise _bad(error.code, error.detail, *(where or (None, None))) from error
    except RecursionError as error:
        raise _bad("json-too-deep", "The arrays and objects of the body are nested too deeply.") from error


def _explained(body: bytes, text: str, refusal: orjson.JSONDecodeError) -> BadRequest:
    """Explain what orjson refused: Python's reader says more, but accepts half surrogate pairs."""
    try:
        _read(body, text, _double)
    except BadRequest as error:
        return error
    if _SURROGATE_ESCAPE.search(body):
        detail = "A \\u escape is half of a surrogate pair"
        code = "json-half-surrogate"
    else:
        detail, code = f"The body is not valid JSON: {refusal.msg}", "json-syntax"
    where = f"(line {refusal.lineno}, column {refusal.colno})."
    return _bad(code, f"{detail} {where}", refusal.lineno, refusal.colno)


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                detail = f"The key {_short(key)!r} is repeated in one object. Keep one."
                raise _RefusalError("json-duplicate-key", detail)
            seen.add(key)
    return members


def _constant(name: str) -> NoReturn:
    detail = f"{name} is not a JSON number. Use null, or leave the field out."
    raise _RefusalError("json-not-a-number", detail, placed=True)


def _integer(digits: str) -> int:
    # Python refuses to read thousands of digits, and other parsers round what exceeds 64 bits
    if len(digits) > 20 or abs(number := int(digits)) > LARGEST_INTEGER:
        raise _RefusalError("json-huge-number", f"The number {_short(digits)} exceeds 64 bits.")
    return number


def _double(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _RefusalError(
            "json-huge-number", f"The number {_short(digits)} exceeds the range of a double.", placed=True
        )
    return number


def _place_of_refusal(body: bytes) -> tuple[int, int] | None:
    """Return where orjson, which is as strict about numbers, stops in the same text."""
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError as error:
        return error.lineno, error.colno
    return None


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _bad(code: str, detail: str, line: int | None = None, column: int | None = None) -> BadRequest:
    problem = Problem(code=code, detail=detail, line=line, column=column)
    return BadRequest(detail, slug="malformed-body", problems=[problem])
