"""Read what the blueprints share: caller, address, query, body and preferences; and show pages of items.

A caller is found by token and address, and by whether the request comes from this machine. Items are shown as JSON,
lines of JSON or CSV.

What an operation asks and answers is stated once (`asks`), checked before its function runs, and published in
openapi.yaml. The docstring of the function is the prose: its first line the summary, the rest the description.
"""

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import Any, NamedTuple, ParamSpec, TypeAlias, get_type_hints

from flask import Request as FlaskRequest
from flask import Response, current_app, g, request

from service.api import answers, bodies, forms
from service.api.answers import Kind, known_tag, nothing
from service.api.middleware import EXTENSION, Load, note_of
from service.caller import Caller
from service.config import Config, is_loopback
from service.context import Context
from service.contract.derive import schema_of
from service.contract.fields import Loaded, Strict, load
from service.errors import SOON, BadRequest, NotAcceptable, Unauthorized, Unprocessable
from service.requests import Query
from service.usecases.access import IdempotencyKey, authenticate, count_failure
from service.usecases.runs import JSON_TYPE, Page, Shown
from treescore.render.forms import ITEM_FORMATS, render_items

FORWARDING = ("HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP")
"""Headers that proxies add, beside all that begin with `X-Forwarded-`."""
SOCKET = "unix"
"""What stands for the address of a client on a Unix socket."""
REMEMBERED = 1024
"""Addresses whose usual form is remembered: making it takes as long as looking up a token."""
_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/-]+=*)")


def caller_without_token() -> Caller:
    """Return who sends the request, as if it had no token."""
    return authenticate(context(), None, note_of(request.environ).address, local=from_this_machine(request.environ))


def client_address(environ: Mapping[str, Any]) -> str:
    """Return the address of the client, for the log, for limits and for owners.

    It is that of the connection, or what as many proxies as are trusted say (see service.api.middleware).
    """
    direct = environ.get("werkzeug.proxy_fix.orig", environ).get("REMOTE_ADDR") or ""
    return _address(environ.get("REMOTE_ADDR") or "") or _address(direct) or SOCKET


def from_this_machine(environ: Mapping[str, Any]) -> bool:
    """Return whether a program of this machine sent the request, as far as it shows.

    A proxy on this machine has a loopback address too: what it forwards names another host, or has its headers.
    """
    peer = environ.get("werkzeug.proxy_fix.orig", environ).get("REMOTE_ADDR") or ""
    if (peer and not _is_loopback(peer)) or not is_loopback(environ.get("HTTP_HOST", "")):
        return False
    return not any(name in FORWARDING or name.startswith("HTTP_X_FORWARDED_") for name in environ)


def _bearer(environ: Mapping[str, Any]) -> str | None:
    given = environ.get("HTTP_AUTHORIZATION")
    if given is None:
        return None
    match = _BEARER.fullmatch(given.strip())
    if match is None:
        raise Unauthorized("Invalid Authorization header. Send `Bearer <token>`.")
    return match[1]


@lru_cache(maxsize=REMEMBERED)
def _is_loopback(peer: str) -> bool:
    address = _address(peer)
    return address is not None and ipaddress.ip_address(address).is_loopback


@lru_cache(maxsize=REMEMBERED)
def _address(text: str) -> str | None:
    """Return an IP address in its usual form; None for anything else, as a forged header."""
    try:
        parsed = ipaddress.ip_address(text.strip())
    except ValueError:
        return None
    if parsed.version == 4:
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.IPv6Address(int(parsed)))  # without a zone, which may be any text


LATER = 5
"""Seconds after which to ask again where too many requests wait."""
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_WAIT = re.compile(r"""\s*wait\s*=\s*"?([0-9]{1,9})"?\s*(?:;.*)?""", re.IGNORECASE)


def context() -> Context:
    """Return the context of this process."""
    opened: Context = current_app.extensions["treescore"]
    return opened


def load_of_process() -> Load:
    """Return what the threads of this process are doing."""
    found: Load = current_app.extensions[EXTENSION]
    return found


def caller(*scopes: str) -> Caller:
    """Return the caller, who has one of `scopes` (any caller if none is named).

    Raises:
        Unauthorized: no token, or an invalid one.
        TooManyRequests: an invalid one, after too many others from this address.
        Forbidden: the token has none of the scopes.
    """
    note = note_of(request.environ)
    try:
        bearer = _bearer(request.environ)
        local = bearer is None and from_this_machine(request.environ)  # which tells of those without a token only
        known = note.caller = g.caller = authenticate(context(), bearer, note.address, local=local)
    except Unauthorized:
        count_failure(context(), note.address)
        raise
    if scopes:
        known.require(*scopes, of=(request.view_args or {}).get("benchmark"))
    return known


def job_key() -> str | None:
    """Return the key of an anonymous job, if the client sent one."""
    return request.headers.get("Job-Key")


def query(kind: type[Loaded]) -> Loaded:
    """Return the query that the query string stands for.

    Raises:
        BadRequest: a parameter is unknown, repeated, missing or invalid.
    """
    return load_query(kind, request.args.to_dict(flat=False))


def load_query(kind: type[Loaded], given: Mapping[str, Sequence[str]]) -> Loaded:
    """Return the query that parameters stand for.

    Raises:
        BadRequest: a parameter is unknown, repeated, missing or invalid.
    """
    for name, values in given.items():
        if len(values) > 1:
            raise BadRequest(
                f"The query parameter {name[:80]!r} is given {len(values)} times. Give it once.", slug="invalid-query"
            )
    try:
        return loaded(kind, {name: values[0] for name, values in given.items()})
    except Unprocessable as error:
        details = "; ".join(f"{problem.pointer[1:]}: {problem.detail}" for problem in error.problems)
        raise BadRequest(details, slug="invalid-query") from error


def loaded(kind: type[Loaded] | Strict[Loaded], given: object) -> Loaded:
    """Return the request that members stand for; a schema may stand for its type.

    Raises:
        Unprocessable: with every fault.
    """
    return load(kind if isinstance(kind, Strict) else schema_of(kind), given, context().config.max_problems)


def given_key() -> str | None:
    """Return the client's key for its request, before the body is read; None without one.

    Raises:
        BadRequest: the key is invalid.
    """
    given = request.headers.get("Idempotency-Key")
    if given is not None and not _KEY.fullmatch(given):
        raise BadRequest("Invalid Idempotency-Key. Send 1 to 255 visible ASCII characters, as a UUID.")
    return given


Look: TypeAlias = Callable[..., Shown[object]]
"""Shows something, or waits for it: takes the context, the caller, what it is about, and how long to wait for what."""


def polled(
    look: Look, wait_for: Look, caller: Caller, *about: object, kind: Kind = Kind.OWN, ends: bool = True
) -> Response:
    """Return what `look` shows; with `Prefer: wait`, once it differs from what the client knows.

    Args:
        look: shows the resource to a caller.
        wait_for: waits so many seconds for another validator, or without one for the end.
        caller: who asks.
        about: what else both functions take.
        kind: of the answer.
        ends: whether what is final never changes again. A board that is final may.
    """
    view = look(context(), caller, *about)
    wait = _preferred_wait()
    if wait:
        asked = answers.asked_of(request.environ)
        same = bool(asked.known) and known_tag(asked.known or "", asked.codings, view.etag) is not None
        due = same if asked.known and not ends else not view.final and (same or not asked.known)
        if due:
            wait = wait_seconds()
            view = wait_for(context(), caller, *about, wait, view.etag if asked.known else None) if wait else view
    return answers.linked(answers.conditional(view, wait, kind), view.next)


def made(
    wait_for: Look, caller: Caller, *about: object, location: str, repeated: bool = False, status: int = 202
) -> Response:
    """Return what a request has made, once it is done or the wait that the client prefers is over.

    Args:
        wait_for: waits so many seconds for the end.
        caller: who asks.
        about: what else it takes.
        location: of what was made.
        repeated: whether an earlier request made it.
        status: of what is not done; 201 of what is.
    """
    wait = wait_seconds()
    view = wait_for(context(), caller, *about, wait or 0)
    response = answers.plain(view, 201 if view.final else status)
    response.headers["Location"] = location
    if repeated:
        response.headers["Idempotent-Replayed"] = "true"
    if wait is not None:
        response.headers["Preference-Applied"] = f"wait={wait}"
    if not view.final:
        response.headers.update(SOON)
    return response


def body(
    kind: type[Loaded] | Strict[Loaded], read_form: Callable[[FlaskRequest, Config], object] | None = None
) -> Loaded:
    """Return the request that the body stands for: JSON, or a form where `read_form` can read one.

    Only requests that can be forms hold whole texts: other bodies are small. Call it after `caller`.

    Raises:
        ServiceError: 400, 413, 415 or 422.
    """
    config, places = context().config, load_of_process().large_bodies
    if read_form is not None and bodies.media_type(request, bodies.JSON, forms.FORM) == forms.FORM:
        with bodies.alone(request, places, config, config.max_upload_bytes):
            return loaded(kind, read_form(request, config))
    own = config.max_small_body_bytes if read_form is None else config.max_body_bytes
    most = min(own, config.max_body_bytes)
    with bodies.alone(request, places, config, most):
        return loaded(kind, bodies.read_json(request, config, most))


def sent(
    kind: type[Loaded] | Strict[Loaded], read_form: Callable[[FlaskRequest, Config], object]
) -> tuple[Loaded, IdempotencyKey | None]:
    """Return the request that `body` returns, and the client's key for it with its digest; None without a key.

    Hand both on and keep neither: who then waits for an answer is not to hold the texts.

    Raises:
        ServiceError: 400, 413, 415 or 422.
    """
    asked = body(kind, read_form)
    key = given_key()
    return asked, None if key is None else IdempotencyKey(key, bodies.digest(request, asked))


def form_of(formats: Mapping[str, str], asked: str | None) -> str:
    """Return the name of the format to answer in, of `formats` (name -> media type): as asked, else by Accept.

    Raises:
        NotAcceptable: Accept names none of the formats.
    """
    if asked is not None:
        return asked
    if not request.accept_mimetypes:
        return next(iter(formats))
    names = {media.partition(";")[0]: name for name, media in formats.items()}
    best = request.accept_mimetypes.best_match(list(names))
    if best is None:
        raise NotAcceptable(f"Set Accept to one of: {', '.join(names)}; or use ?format={'|'.join(formats)}.")
    return names[best]


def wait_seconds() -> int | None:
    """Return the `wait` of RFC 7240, limited; None without one, and where too many requests wait already.

    The place among those that wait is the request's until `end_wait`. Call it once, after `caller`.
    """
    return granted_wait(_preferred_wait())


def granted_wait(wait: int | None) -> int | None:
    """Return how long a request may wait, as `wait_seconds` of a wait that the client did not name itself."""
    if not wait:
        return wait
    if not load_of_process().waits.take(g.caller.principal):
        g.later = True
        return None
    g.waits_as = g.caller.principal
    return wait


def defer_polls(response: Response) -> Response:
    """Ask a client whose wait was not granted to poll less often: it polls instead of waiting."""
    if "later" in g and "Retry-After" in response.headers:
        response.headers["Retry-After"] = str(LATER)
    return response


def end_wait(_error: BaseException | None = None) -> None:
    """Give back the place among the requests that wait, if this request has one."""
    principal = g.pop("waits_as", None)
    if principal is not None:
        load_of_process().waits.give(principal)


def _preferred_wait() -> int | None:
    """Return the limited `wait`; None without one. Unknown preferences are ignored."""
    for preference in request.headers.get("Prefer", "").split(","):
        match = _WAIT.fullmatch(preference)
        if match is not None:
            return min(int(match[1]), context().config.max_wait_seconds)
    return None


ITEM_FORMS = {"json": JSON_TYPE, **ITEM_FORMATS}


def item_page(page: Page, asked: str | None, kind: Kind = Kind.FORMS) -> Response:
    """Return a page in the format of the query or of Accept, with a link to the next page.

    Raises:
        NotAcceptable: Accept names none of the formats.
    """
    form = form_of(ITEM_FORMS, asked)
    if form == "json":
        return answers.page(page, kind=kind)
    shown = render_items(page.items, form)
    view = Shown[None](None, shown.content, content_type=shown.media_type)
    return answers.linked(answers.conditional(view, kind=kind), page.next)


Path = ParamSpec("Path")
Handler: TypeAlias = Callable[Path, Response]
Content: TypeAlias = Any
"""A type of service.contract, which is JSON; or a media type, whose body is text."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of an operation.

    Attributes:
        words: what it is.
        contents: the first is the default.
        status: of HTTP.
        headers: names of common headers beside those of the operation's words.
        examples: of its JSON: what they show -> name.
    """

    words: str
    contents: Sequence[Content]
    status: int = 200
    headers: Sequence[str] = ()
    examples: Mapping[str, str] = field(default_factory=dict)


def answer(
    words: str, *contents: Content, status: int = 200, headers: str = "", examples: Mapping[str, str] | None = None
) -> Answer:
    """Return an answer; headers are separated by spaces."""
    return Answer(words, contents, status, headers.split(), examples or {})


def texts(formats: Mapping[str, str]) -> list[str]:
    """Return the media types of formats (name -> media type) beside JSON."""
    media = [each.partition(";")[0] for each in formats.values()]
    return [each for each in media if each != "application/json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The body that an operation takes.

    Attributes:
        json: its type.
        form: name of the schema of the same as a form.
        texts: media types of the same as text.
        examples: of its JSON: what they show -> name.
    """

    json: Content
    form: str | None = None
    texts: Sequence[str] = ()
    examples: Mapping[str, str]


class Operation(NamedTuple):
    """What openapi.yaml says of an operation.

    Attributes:
        query: the type of its query string.
        answers: those of success.
        words: what else it takes and answers, as service.openapi.common calls it.
        body: that it takes.
        scopes: of which a token must have one; None where no token is read.
        anyone: whether callers without a token may be answered too.
    """

    query: type[Query] | None
    answers: Sequence[Answer]
    words: Sequence[str]
    body: Body | None
    scopes: Sequence[str] | None
    anyone: bool


OPERATIONS: dict[Callable[..., Response], Operation] = {}
"""What is published, by the function that Flask calls."""


def asks(
    *answers: Answer, scopes: Sequence[str] = (), anyone: bool = False, also: str = "", body: Body | None = None
) -> Callable[[Callable[..., Response | None]], Callable[..., Response]]:
    """Hand the caller to a function, and the `query` that it takes; of one that takes none any parameter is refused.

    What returns None is answered 204.

    Args:
        answers: those of success.
        scopes: of which the caller has one.
        anyone: whether a caller without a token may have them.
        also: words of service.openapi.common, separated by spaces.
        body: that the function reads.
    """

    def decorate(view: Callable[..., Response | None]) -> Callable[..., Response]:
        kind: type[Query] | None = get_type_hints(view).get("query")

        @wraps(view)
        def asked(**path: str) -> Response:
            known = caller(*scopes)
            given = load_query(kind or Query, request.args.to_dict(flat=False))
            made = view(known, **path) if kind is None else view(known, given, **path)
            return nothing() if made is None else made

        OPERATIONS[asked] = Operation(kind, answers, also.split(), body, scopes, anyone or not scopes)
        return asked

    return decorate


def publishes(
    *answers: Answer, query: type[Query] | None = None, also: str = "", body: Body | None = None
) -> Callable[[Handler[Path]], Handler[Path]]:
    """Publish an operation that asks for no token."""

    def decorate(view: Handler[Path]) -> Handler[Path]:
        OPERATIONS[view] = Operation(query, answers, also.split(), body, None, anyone=False)
        return view

    return decorate
