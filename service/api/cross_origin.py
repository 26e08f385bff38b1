"""Which answers pages of other sites may read: what everyone may see, asked for without a token.

No answer allows credentials, so that a page reads nothing that its visitor could not read without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
        "/v1/benchmarks/<benchmark>/comparisons",
        "/v1/comparisons/<comparison>",
        "/v1/series/<series_id>/comparison",
        "/v1/scorers",
        "/v1/scorers/<name>",
        "/openapi.yaml",
        "/openapi.json",
        "/problems",
        "/problems/<problem>",
    }
)
"""Rules of the addresses that need no token and belong to no one: no jobs, submissions or events."""
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
