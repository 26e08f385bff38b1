"""What surrounds every request: its name, fixed headers, refusals, one line in the log, and the path before addresses.

Requests for other hosts, by other sites' pages and to paths that hide something are refused before anything reads
them. Pages of other sites may read what everyone may see, asked for without a token; no answer allows credentials,
so that a page reads nothing that its visitor could not read without them.

The line of JSON in the log never has the body, the query, the token or ids of the path. Where the request stores a
run, it has the run's id (see service.monitoring).

Where the service stands below a path of a host, as `https://scores.example.org/treescore`, addresses get it on their
way out. Inside, every address begins at the root: in routes, templates, redirects and stored documents. What leaves has
the path that users see before it: headers here, JSON in service.api.answers, pages in service.pages.answers. It is that
of TREESCORE_PUBLIC_URL, and requests may come with it or without it; else what a trusted proxy has taken off and names
in `X-Forwarded-Prefix`. A header takes nothing off: where a proxy closes a path, no other path would lead there.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from random import getrandbits
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from werkzeug.middleware.proxy_fix import ProxyFix

from service import context, logs
from service.caller import Caller
from service.config import Config, Host, answered_hosts, answers_for, origin_of, parse_host, path_of, public_path
from service.errors import BadRequest, Forbidden, Misdirected, NotFound
from service.monitoring import REQUESTS, Meters

PROBES = ("/livez", "/readyz")
"""Paths that answer for all hosts, because probes ask addresses."""
PUBLIC = frozenset(
    {
        "/v1/benchmarks",
        "/v1/benchmarks/<benchmark>",
        "/v1/benchmarks/<benchmark>/parts/<part>/input",
        "/v1/benchmarks/<benchmark>/revisions",
        "/v1/benchmarks/<benchmark>/revisions/<number>",
        "/v1/benchmarks/<benchmark>/revisions/<number>/difference",
        "/v1/benchmarks/<benchmark>/leaderboard",
        "/v1/benchmarks/<benchmark>/matrix",
        "/v1/benchmarks/<benchmark>/scores",
        "/v1/benchmarks/<benchmark>/badge.svg",
        "/v1/benchmarks/<benchmark>/history",
        "/v1/benchmarks/<benchmark>/comparisons",
        "/v1/comparisons/<comparison>",
        "/v1/events",
        "/v1/scorers",
        "/v1/scorers/<name>",
        "/openapi.yaml",
        "/openapi.json",
        "/problems",
        "/problems/<problem>",
    }
)
"""Rules of the addresses that need no token and belong to no one: no jobs and no submissions."""
READS = ("GET", "HEAD")
ALLOWED = ("Access-Control-Allow-Origin", "*")
EXPOSED = ("Access-Control-Expose-Headers", "ETag, Link, Preference-Applied, Request-Id, Retry-After")
PREFLIGHT = (
    ALLOWED,
    ("Access-Control-Allow-Methods", "GET, HEAD"),
    ("Access-Control-Allow-Headers", "If-None-Match, Prefer, Request-Id"),
    ("Access-Control-Max-Age", "86400"),
)
"""A page that sets `If-None-Match` or `Prefer` itself is asked for first (Fetch, 2.2.2): neither is among the headers
that need no preflight."""


def cross_origin(environ: Mapping[str, Any], route: str | None) -> tuple[tuple[str, str], ...]:
    """Return the headers that let pages of other sites read an answer; none where they may not."""
    if route not in PUBLIC or "HTTP_AUTHORIZATION" in environ:
        return ()
    method = environ["REQUEST_METHOD"]
    if method in READS:
        return (ALLOWED, EXPOSED)
    asked = environ.get("HTTP_ACCESS_CONTROL_REQUEST_METHOD")
    return PREFLIGHT if method == "OPTIONS" and asked in READS else ()


Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

NOTE = "treescore.note"
MAX_METHOD = 20
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""That are counted by name; clients may send any."""
UNKNOWN = "none"
"""The route of requests that matched none."""
UNSHARED = "private, no-cache"
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)

log = logs.Log("api")


@dataclass(slots=True)
class Note:
    """What is known of a request while it is answered.

    Attributes:
        id: of the request: the client's, or a new one.
        began: by `perf_counter`.
        address: of the client, as soon as it is known.
        caller: once authenticated.
        route: the rule that its path matched, None for an unknown address.
    """

    id: str
    began: float = field(default_factory=perf_counter)
    address: str = ""
    caller: Caller | None = None
    route: str | None = None


def note_of(environ: Environ) -> Note:
    """Return the note of a request."""
    note: Note = environ[NOTE]
    return note


class Around:
    """Names and times each request, adds the headers that every answer has, and calls `done` when its answer begins."""

    def __init__(self, app: Wsgi, address_of: Callable[[Environ], str], meters: Meters, load: Load) -> None:
        self._meters = meters
        self._load = load
        self._app = app
        self._address_of = address_of

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        note = environ[NOTE] = Note(_id_of(environ), address=self._address_of(environ))
        logs.begin(note.id)
        # no other protocol is spoken here, so the wish is ignored (RFC 9110, 7.8); Flask would look for WebSocket rules
        environ.pop("HTTP_UPGRADE", None)

        def begin(status: str, headers: list[tuple[str, str]], *failed: Any) -> Any:
            given = {name.lower(): value for name, value in headers}
            added = [("Request-Id", note.id), ("X-Content-Type-Options", "nosniff")]
            if "cache-control" not in given:
                added.append(("Cache-Control", UNSHARED))
            added.extend(cross_origin(environ, note.route))
            length = given.get("content-length")
            seconds = perf_counter() - note.began
            self._meters.observe(REQUESTS, seconds, note.route or UNKNOWN, _method(environ), f"{status[0]}xx")
            done(environ, note, int(status[:3]), None if length is None else int(length), seconds)
            return start_response(status, headers + added, *failed)

        with self._load.taken():
            return self._app(environ, begin)


def done(environ: Environ, note: Note, status: int, length: int | None, seconds: float) -> None:
    """Log what became of a request, of a finished read at `debug`. Every answer passes here once."""
    (log.debug if status < 400 and environ["REQUEST_METHOD"] in READS else log.info)(
        "request",
        client=note.address,
        token=note.caller and note.caller.token_id,
        team=note.caller and note.caller.team,
        method=environ["REQUEST_METHOD"][:MAX_METHOD],
        route=note.route,
        status=status,
        bytes=length,
        milliseconds=round(1000 * seconds, 1),
    )


def _method(environ: Environ) -> str:
    method: str = environ["REQUEST_METHOD"]
    return method if method in METHODS else "other"


def _id_of(environ: Environ) -> str:
    for name in ("HTTP_REQUEST_ID", "HTTP_X_REQUEST_ID"):
        given = environ.get(name)
        if given is not None and _ID.fullmatch(given):
            return str(given)
    return f"req_{getrandbits(96):024x}"


SAFE = ("GET", "HEAD", "OPTIONS")
SAME_SITE = ("same-origin", "none")
"""Values of Sec-Fetch-Site of a page of this service, and of what the user began."""
_HIDDEN = re.compile(r"%2f|%5c|(?:^|/)(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)
"""Slashes and dot segments in a form that a proxy and we might read differently."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Doors:
    """Lets requests pass, or refuses them."""

    def __init__(self, config: Config) -> None:
        self._answered = answered_hosts(config.bind, config.public_url, config.allowed_hosts)
        self._public_origin = _public_origin(config.public_url)

    def check(self, environ: Environ) -> None:
        """Let a request pass, or refuse it.

        Raises:
            ServiceError: 400, 403, 404 or 421.
        """
        _check_host(environ, self._answered)
        _check_path(environ)
        if environ["REQUEST_METHOD"] not in SAFE:
            _check_origin(environ, self._public_origin)


def _check_host(environ: Environ, answered: Sequence[str]) -> None:
    given = environ.get("HTTP_HOST", "")
    probe = environ.get("PATH_INFO") in PROBES
    if probe and not given and environ.get("SERVER_PROTOCOL") == "HTTP/1.0":
        return
    asked = parse_host(given)
    if asked is None:
        raise BadRequest("Send one Host header with the name of the service.", slug="invalid-host")
    target = _target_host(environ)
    if target is not None and target != asked:
        raise BadRequest("The address of the request and its Host header name different hosts.", slug="invalid-host")
    if not probe and not answers_for(answered, asked):
        raise Misdirected(
            "This service does not answer for the host of the request. Its operator lists hosts in "
            "TREESCORE_PUBLIC_URL and TREESCORE_ALLOWED_HOSTS."
        )


def _target_host(environ: Environ) -> Host | None:
    """Return the host of an absolute request target (`GET http://host/path`); None for a path.

    Raises:
        BadRequest: the target is neither.
    """
    target = environ.get("RAW_URI") or "/"
    if target.startswith("/") or target == "*":
        return None
    try:
        host = parse_host(urlsplit(target).netloc)
    except ValueError:
        host = None
    if host is None:
        raise BadRequest("The address of the request is invalid. Send a path.", slug="invalid-host")
    return host


def _check_path(environ: Environ) -> None:
    raw = str(environ.get("RAW_URI") or "").partition("?")[0]
    path = environ.get("PATH_INFO", "")  # request.path has one slash at its beginning
    if "//" in path or _CONTROL.search(path) or _HIDDEN.search(raw):
        raise NotFound("Unknown address. See /docs for the addresses.")


def _check_origin(environ: Environ, public_origin: str | None) -> None:
    """Refuse what a page of another site sends. A program sends neither header."""
    site, origin = environ.get("HTTP_SEC_FETCH_SITE"), environ.get("HTTP_ORIGIN")
    if site is not None:
        allowed = site in SAME_SITE
    else:
        here = origin_of(environ["wsgi.url_scheme"], environ.get("HTTP_HOST", ""))
        allowed = origin is None or origin in (here, public_origin)
    if not allowed:
        raise Forbidden(
            "A page of another site sent this request. Only pages of this service and programs may change anything.",
            slug="cross-site",
        )


def _public_origin(public_url: str) -> str | None:
    parts = urlsplit(public_url)
    return origin_of(parts.scheme, parts.netloc) if public_url else None


EXTENSION = "treescore.load"
"""Where the application keeps it: `app.extensions[EXTENSION]`."""
READING_SHARE = 2
"""One thread of so many may receive a large body, or wait to read it: they are read one after the other."""


class Load:
    """The numbers of one API process.

    Attributes:
        threads: that answer requests.
        waits: the long polls.
        large_bodies: places of requests whose large body is received and read.
    """

    def __init__(self, config: Config) -> None:
        self.threads = config.threads
        self.waits = context.waits_of(config)
        self.large_bodies = threading.BoundedSemaphore(max(1, config.threads // READING_SHARE))
        self._lock = threading.Lock()
        self._busy = 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Count a request that a thread has taken."""
        with self._lock:
            self._busy += 1
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1

    def document(self) -> dict[str, int]:
        """Return the load as `/readyz` shows it."""
        return {"threads": self.threads, "busy": self._busy, "waiting": self.waits.total}


CLOSED = "/metrics"
"""Proxies close it by this name, so that it has no other."""
HEADERS = frozenset({"location", "hx-redirect", "link", "set-cookie"})
IN_HEADER = rb"(?:^<?|; Path=)"
IN_JSON = rb'"(?:type|uri|url|address)":"'
IN_PAGE = rb'(?:href|src|action|data-index|hx-[a-z]+)="'
"""What stands before an address. Quotes in texts of users are escaped, so that none of these is found in them."""


def forwarded(app: Wsgi, config: Config) -> Wsgi:
    """Return the application below its path and behind the proxies that are trusted: their forwarding headers count."""
    hops, placed = config.trusted_proxies, Placed(app, public_path(config.public_url))
    # X-Forwarded-Host is not read: the last proxy passes the host in Host, and the path in X-Forwarded-Prefix
    return ProxyFix(placed, x_for=hops, x_proto=hops, x_host=0, x_prefix=1) if hops else placed


class Placed:
    """Takes the configured path off requests that have it, and puts it before the addresses in headers."""

    def __init__(self, app: Wsgi, path: str) -> None:
        self._app = app
        self._path = path

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        prefix = environ["SCRIPT_NAME"] = self._path or path_of(environ.get("SCRIPT_NAME", ""))
        if not prefix:
            return self._app(environ, start_response)
        rest = environ.get("PATH_INFO", "").removeprefix(self._path) or "/"
        if rest.startswith("/") and rest != CLOSED:
            environ["PATH_INFO"] = rest

        def begin(status: str, headers: list[tuple[str, str]], *failed: Any) -> Any:
            return start_response(status, [_placed_header(*header, prefix) for header in headers], *failed)

        return self._app(environ, begin)


def _placed_header(name: str, value: str, prefix: str) -> tuple[str, str]:
    if name.lower() not in HEADERS:
        return name, value
    return name, placed(IN_HEADER, value.encode("latin-1"), prefix).decode("latin-1")


def placed(before: bytes, body: bytes, prefix: str) -> bytes:
    """Return what is sent with the path before each address that lacks it.

    Args:
        before: the pattern of what stands before an address.
        body: all that is sent.
        prefix: the path; empty where the service is at the root of its host.
    """
    return _places(before, prefix).sub(rb"\g<0>" + prefix.encode(), body) if prefix else body


@lru_cache(maxsize=64)
def _places(before: bytes, prefix: str) -> re.Pattern[bytes]:
    return re.compile(before + rb'(?=/)(?!//|%b(?:[/?#">;]|$))' % re.escape(prefix).encode())
