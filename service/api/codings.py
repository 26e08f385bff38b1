"""Codings of answers: which one a client takes, its validators, and bodies compressed once."""

from __future__ import annotations

import gzip
import re
from functools import lru_cache

from werkzeug.http import parse_etags

from service.recent import LruCache
from service.store.packing import pack
from service.usecases.runs.views import View

PLAIN, GZIP, ZSTD = "", "gzip", "zstd"
ANSWER_CODINGS = (ZSTD, GZIP, PLAIN)
"""As the service prefers them where a client does not: stored bodies are zstd, and it takes a tenth of the time."""
SMALL = 1024
"""Bytes of a body below which compressing saves no packet worth its time."""
LARGE = 16 * 2**20
"""Bytes of a body above which only what is stored compressed is sent compressed: gzip takes 20 ms for each MB."""
MOST_BYTES = 32 * 2**20
"""Of compressed bodies that a process keeps."""
GZIP_LEVEL = 6
_WEIGHED = re.compile(
    r"([a-z0-9*.!#$%&'+^_`|~-]+)(?:\s*;\s*q\s*=\s*(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?", re.IGNORECASE
)
_CODED = re.compile(f'-(?:{GZIP}|{ZSTD})"')
_ALIASES = {"x-gzip": GZIP, "identity": PLAIN}


@lru_cache(maxsize=256)
def accepted_codings(header: str | None) -> tuple[str, ...]:
    """Return the codings of an `Accept-Encoding` (RFC 9110, 12.5.3) that the service has, the best first.

    Without the header only the plain body is accepted; with one it is, last, unless the header refuses it. Elements
    that are malformed do not count.
    """
    if header is None:
        return (PLAIN,)
    weights: dict[str, float] = {}
    for element in header.split(","):
        match = _WEIGHED.fullmatch(element.strip())
        if match is not None:
            name = match[1].lower()
            weights[_ALIASES.get(name, name)] = 1.0 if match[2] is None else float(match[2])
    other = weights.get("*")
    weighed = {coding: weights.get(coding, other or 0.0) for coding in (ZSTD, GZIP)}
    # where nothing is said of it, it is what is left
    weighed[PLAIN] = weights.get(PLAIN, 0.0001 if other is None else other)
    return tuple(
        sorted((coding for coding in ANSWER_CODINGS if weighed[coding] > 0), key=lambda coding: -weighed[coding])
    )


def tag_of(etag: str, coding: str) -> str:
    """Return the validator of a body in a coding: each coding has its own, as its bytes differ."""
    return f"{etag}-{coding}" if coding else etag


def plain_tags(header: str | None) -> str | None:
    """Return If-Match with the validators of plain bodies: who changes a resource may have read it in any coding."""
    return None if header is None else _CODED.sub('"', header)


def known_tag(header: str | None, codings: tuple[str, ...], etag: str) -> str | None:
    """Return which validator of a body a client names, in a coding that it accepts; None where it names none.

    A coding that it does not accept does not count: a shared cache would give it the body that it has.

    Args:
        header: If-None-Match.
        codings: that the client accepts, the best first.
        etag: validator of the plain body.
    """
    if header is None:
        return None
    tags = [tag_of(etag, coding) for coding in codings or (PLAIN,)]
    if header == f'"{tags[0]}"':  # as nearly always: the client sends back what it got
        return tags[0]
    named = parse_etags(header)
    return next((tag for tag in tags if named.contains_weak(tag)), None)


def only_known(header: str | None, codings: tuple[str, ...]) -> str | None:
    """Return the validator of the plain body that a client has a copy of, if it names just one that it accepts."""
    named = parse_etags(header).as_set(include_weak=True) if header is not None else set()
    tag = named.pop() if len(named) == 1 else None
    if tag is None:  # also of `""`, whose tag is None
        return None
    etag, _, coding = tag.partition("-")
    # a view without a body must be one that `known_tag` knows: `"etag-"` names no coding
    return etag if coding in (codings or (PLAIN,)) and tag == tag_of(etag, coding) else None


def _coded(body: bytes, coding: str) -> bytes:
    if coding == ZSTD:
        return pack(body)
    return gzip.compress(body, GZIP_LEVEL, mtime=0) if coding == GZIP else body


class CodedBodies:
    """Bodies in codings other than they are stored in, by validator."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._bodies = LruCache[bytes](most_bytes, len)

    def choose(self, view: View, codings: tuple[str, ...]) -> str:
        """Return the coding to send a view in, the best that is worth it. What only refuses gets the plain body."""
        for coding in codings:
            if coding == PLAIN or (coding == ZSTD and view.packed):
                return coding
            # a small body goes out plain, unless the client refuses that
            if (view.size >= SMALL or PLAIN not in codings) and view.size <= LARGE:
                return coding
        return PLAIN

    def body(self, view: View, coding: str) -> bytes:
        """Return the body of a view in a coding: as it is stored, as it was made before, or made now."""
        if (coding == ZSTD) == view.packed and coding != GZIP:
            return view.content
        if view.size > LARGE:
            return view.body
        tag = tag_of(view.etag, coding)
        body = self._bodies.get(tag)
        if body is None:
            body = _coded(view.body, coding)
            self._bodies.put(tag, body)
        return body
