"""Find out who sends a request: token, address, and whether it comes from this machine."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from service.api.around import note_of
from service.caller import Caller
from service.context import Context
from service.errors import Unauthorized
from service.hosts import is_loopback
from service.server.state import ServerState
from service.usecases.access.authentication import authenticate

FORWARDING = ("HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP")
"""Headers that proxies add, beside all that begin with `X-Forwarded-`."""
SOCKET = "unix"
"""What stands for the address of a client on a Unix socket."""
REMEMBERED = 1024
"""Addresses whose usual form is remembered: making it takes as long as looking up a token."""
_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/-]+=*)")


def caller_of(context: Context, state: ServerState, environ: dict[str, Any]) -> Caller:
    """Return the caller of a request, whose failures are not counted here.

    Raises:
        Unauthorized: the token is invalid.
    """
    note = note_of(environ)
    bearer = _bearer(environ)
    local = bearer is None and from_this_machine(environ)  # which tells something of those without a token only
    try:
        note.caller = authenticate(context, bearer, note.address, local=local)
    except Unauthorized:
        state.organisers.note(bearer or "", organiser=False)
        raise
    if bearer is not None and note.caller.organiser:
        state.organisers.note(bearer, organiser=True)
    return note.caller


def caller_without_token(context: Context, environ: dict[str, Any]) -> Caller:
    """Return who sends a request, as if it had no token."""
    return authenticate(context, None, note_of(environ).address, local=from_this_machine(environ))


def client_address(environ: Mapping[str, Any]) -> str:
    """Return the address of the client, for the log, for limits and for owners.

    It is that of the connection, or what as many proxies as are trusted say (see service.api.doors).
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
