"""Serve below a path of a host, as `https://scores.example.org/treescore`: addresses get it on their way out.

Inside, every address begins at the root: in routes, templates, redirects and stored documents. What leaves has the path
that users see before it: headers here, JSON in service.api.answers, pages in service.pages.answers. It is that of
TREESCORE_PUBLIC_URL, and requests may come with it or without it; else what a trusted proxy has taken off and names in
`X-Forwarded-Prefix`. A header takes nothing off: where a proxy closes a path, no other path would lead there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from werkzeug.middleware.proxy_fix import ProxyFix

from service.api.middleware import Environ, Wsgi
from service.config import Config, path_of, public_path

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
