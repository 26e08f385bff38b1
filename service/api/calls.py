"""What the blueprints share: who calls, with which query and which preferences."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from flask import Response, current_app, request

from service.api import answers, bodies, forms
from service.caller import Caller
from service.context import Context
from service.errors import BadRequest, NotAcceptable, Unauthorized, Unprocessable
from service.schemas.base import Strict, load
from service.usecases.access.idempotency import IdempotencyKey
from service.usecases.access.tokens import authenticate
from service.usecases.runs.views import View

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/-]+=*)")
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_WAIT = re.compile(r"""\s*wait\s*=\s*"?([0-9]{1,9})"?\s*(?:;.*)?""", re.IGNORECASE)


def context() -> Context:
    """The parts this process works with."""
    found: Context = current_app.extensions["treescore"]
    return found


def caller(*scopes: str) -> Caller:
    """Whoever calls, having one of `scopes` (any caller where none is named).

    Raises:
        Unauthorized: no token, or none that is valid.
        Forbidden: the token has none of the scopes.
    """
    given = request.headers.get("Authorization")
    bearer = None
    if given is not None:
        match = _BEARER.fullmatch(given.strip())
        if match is None:
            raise Unauthorized("The Authorization header is not of the form `Bearer <token>`.")
        bearer = match[1]
    found = authenticate(context(), bearer)
    if scopes:
        found.require(*scopes)
    return found


def query(schema: Strict) -> dict[str, Any]:
    """The query string, if it fits.

    Raises:
        BadRequest: an unknown, repeated, missing or wrong parameter.
    """
    if not request.query_string and not schema.fields:
        return {}
    given = request.args.to_dict(flat=False)
    for name, values in given.items():
        if len(values) > 1:
            raise BadRequest(f"The query parameter {name[:80]!r} is given {len(values)} times.", slug="invalid-query")
    try:
        return load(schema, {name: values[0] for name, values in given.items()}, context().config.max_problems)
    except Unprocessable as error:
        title = "The query string is wrong"
        details = "; ".join(f"{problem.pointer[1:]}: {problem.detail}" for problem in error.problems)
        raise BadRequest(details, slug="invalid-query", title=title) from error


def _given_key() -> str | None:
    """The client's name for this request.

    Raises:
        BadRequest: it is no name.
    """
    given = request.headers.get("Idempotency-Key")
    if given is not None and not _KEY.fullmatch(given):
        raise BadRequest("The Idempotency-Key has 1 to 255 visible ASCII characters; a UUID will do.")
    return given


def polled(look: Callable[[], View], wait_for: Callable[[float, str | None], View]) -> Response:
    """What `look` shows; with a `Prefer: wait`, once it has moved on from what the client knows."""
    view = look()
    wait = wait_seconds()
    if wait and not view.final:
        known = view.etag if request.if_none_match else None
        if known is None or request.if_none_match.contains_weak(known):
            view = wait_for(wait, known)
    return answers.conditional(view, wait)


def body(schema: Strict) -> dict[str, Any]:
    """The JSON body, if it fits.

    Raises:
        ServiceError: 400, 413, 415 or 422.
    """
    config = context().config
    return load(schema, bodies.read_json(request, config.max_body_bytes), config.max_problems)


def parts_body(schema: Strict, folder: str, key: str | None = None) -> dict[str, Any]:
    """The body as JSON, or as a form with a file for each part (see service.api.forms.read_parts).

    Raises:
        ServiceError: 400, 413, 415 or 422.
    """
    config = context().config
    if bodies.media_type(request, bodies.JSON, forms.FORM) == forms.FORM:
        given: object = forms.read_parts(request, config, folder, key)
        return load(schema, given, config.max_problems)
    return body(schema)


def idempotency_key(document: Mapping[str, Any]) -> IdempotencyKey | None:
    """The client's name for this request beside what it asks, or None."""
    key = _given_key()
    return None if key is None else IdempotencyKey(key, bodies.digest(request, document))


def form(formats: Mapping[str, str], asked: str | None) -> str:
    """In which of `formats` (name -> media type) to answer: the one asked for by name, else what Accept likes best.

    Raises:
        NotAcceptable: Accept names nothing that there is.
    """
    if asked is not None:
        return asked
    if not request.accept_mimetypes:
        return next(iter(formats))
    names = {media.partition(";")[0]: name for name, media in formats.items()}
    best = request.accept_mimetypes.best_match(list(names))
    if best is None:
        raise NotAcceptable(f"There is: {', '.join(names)}. Name one in Accept, or by ?format={'|'.join(formats)}.")
    return names[best]


def wait_seconds() -> int | None:
    """The `wait` of RFC 7240, bounded; None where there is none. A preference that means nothing is ignored."""
    for preference in request.headers.get("Prefer", "").split(","):
        match = _WAIT.fullmatch(preference)
        if match is not None:
            return min(int(match[1]), context().config.max_wait_seconds)
    return None
