"""The hosts that the service answers for: whole names, never parts of names."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
ANY_ADDRESS = ("0.0.0.0", "[::]", "")  # noqa: S104 - compared only
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]{2,45}\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?)(:(?P<port>[0-9]{1,5}))?")
REMEMBERED = 256
"""Host headers that are remembered: nearly all requests have one of a few."""
_DEFAULT_PORTS = {"http": "80", "https": "443"}

Host = tuple[str, str | None]
"""A name in lower case, and a port; None for any."""


@lru_cache(maxsize=REMEMBERED)
def parse_host(text: str) -> Host | None:
    """Return name and port of a Host header; None for what is none."""
    match = _HOST.fullmatch(text.lower())
    return None if match is None else (match["name"], match["port"])


def is_host(text: str) -> bool:
    """Return whether a text is the name of a host, with or without a port."""
    return parse_host(text) is not None


def listed(text: str) -> list[str]:
    """Return the names of a comma-separated list."""
    return [name for name in (part.strip() for part in text.split(",")) if name]


def is_public_url(text: str) -> bool:
    """Return whether a text is a URL of scheme and host alone."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    alone = parts.path in ("", "/") and not (parts.query or parts.fragment)
    return parts.scheme in _DEFAULT_PORTS and is_host(parts.netloc) and alone


@lru_cache(maxsize=REMEMBERED)
def is_loopback(text: str) -> bool:
    """Return whether a Host header names this machine."""
    host = parse_host(text)
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host[0].strip("[]")).is_loopback
    except ValueError:
        return host[0] in LOOPBACK_NAMES


def origin_of(scheme: str, host: str) -> str:
    """Return an origin as browsers write it, without the port that the scheme implies."""
    name, _, port = host.lower().rpartition(":") if is_host(host) and not host.endswith("]") else ("", "", "")
    return f"{scheme}://{name if name and port == _DEFAULT_PORTS.get(scheme) else host.lower()}"


def answered_hosts(bind: str, public_url: str, allowed_hosts: str) -> Sequence[str]:
    """Return the names that the service answers for: loopback, the address it is bound to, and those configured."""
    names = list(LOOPBACK_NAMES)
    if not bind.startswith("unix:") and (bound := bind.rpartition(":")[0].lower()) not in (*ANY_ADDRESS, *names):
        names.append(bound)
    if public_url:
        # a proxy may pass the name with the port or without it
        names.append(str(parse_host(urlsplit(public_url).netloc)[0]))  # type: ignore[index]
    return list(dict.fromkeys([*names, *(name.lower() for name in listed(allowed_hosts))]))


def answers_for(answered: Sequence[str], asked: Host) -> bool:
    """Return whether a host is among those answered; a name without a port stands for all its ports."""
    name, port = asked
    return name in answered or (port is not None and f"{name}:{port}" in answered)
