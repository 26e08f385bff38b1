"""Refuse requests before anything reads them: for other hosts, by other sites' pages, to paths that hide something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from werkzeug.middleware.proxy_fix import ProxyFix

from service.api.around import Environ, Wsgi
from service.config import Config
from service.errors import BadRequest, Forbidden, Misdirected, NotFound
from service.hosts import Host, answered_hosts, answers_for, origin_of, parse_host
from service.server.state import PROBES

SAFE = ("GET", "HEAD", "OPTIONS")
SAME_SITE = ("same-origin", "none")
"""Values of Sec-Fetch-Site of a page of this service, and of what the user began."""
_HIDDEN = re.compile(r"%2f|%5c|(?:^|/)(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)
"""Slashes and dot segments in a form that a proxy and we might read differently."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def forwarded(app: Wsgi, config: Config) -> Wsgi:
    """Return the application behind the proxies that are trusted: their forwarding headers count."""
    hops = config.trusted_proxies
    # X-Forwarded-Host is not read: the last proxy passes the host in Host
    return ProxyFix(app, x_for=hops, x_proto=hops, x_host=0) if hops else app


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
