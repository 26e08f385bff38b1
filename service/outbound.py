"""Requests from the service to addresses that users name: only to public hosts, no redirects, bounded in time."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

MAX_URL = 1000
TIMEOUT = 10.0
"""Seconds for everything from connecting to the answer's headers."""
LOCAL_NAMES = ("localhost", "local", "internal", "home.arpa")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


class BadAddress(ValueError):
    """The URL is none to which the service sends: says why."""


class NoAnswer(Exception):
    """Nobody answered: `reason` is a word for it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def check_url(url: str, *, private: bool) -> SplitResult:
    """The parts of a URL to which may be sent, as far as can be told without asking a name server.

    Raises:
        BadAddress: it cannot be read, or is not public (unless `private`).
    """
    if len(url) > MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise BadAddress(f"A URL has at most {MAX_URL} printable ASCII characters and no space.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadAddress("The URL cannot be read.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise BadAddress("The URL has the form https://host/path.")
    if "@" in parts.netloc or "#" in url:
        raise BadAddress("The URL has neither a user name nor a fragment.")
    if private:
        return parts
    name = parts.hostname.rstrip(".").lower()
    if any(name == local or name.endswith("." + local) for local in LOCAL_NAMES) or not {".", ":"}.intersection(name):
        # a number without dots is an address, too
        raise BadAddress("The host is a local name; only public addresses are sent to.")
    with suppress(OSError, UnicodeError):
        for found in _resolved(name, 0, socket.AI_NUMERICHOST):
            if not public(found):
                raise BadAddress("The host is a private, local or reserved address; only public ones are sent to.")
    return parts


def public(address: str) -> bool:
    """Whether an address is anybody's: not private, loopback, link-local, multicast or reserved, nor wrapping such."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    return all(each.is_global and not each.is_multicast and not each.is_reserved for each in (ip, *_inside(ip)))


def post(url: str, body: bytes, headers: Mapping[str, str], *, private: bool, timeout: float = TIMEOUT) -> int:
    """Send a body; the status of the answer, of which nothing else is read. Redirects are not followed.

    The name is resolved once: what was checked is what is connected to.

    Raises:
        BadAddress: the host is not public.
        NoAnswer: no connection, no answer in time, or none that is HTTP.
    """
    parts = check_url(url, private=private)
    host, port = str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80)
    try:
        addresses = _resolved(host, port, 0)
    except (OSError, UnicodeError) as error:
        raise NoAnswer("name-unknown") from error
    if not private and not all(public(address) for address in addresses):
        raise BadAddress("The host's name leads to a private, local or reserved address.")
    connection = _Pinned(host, port, addresses[0], tls=parts.scheme == "https", timeout=timeout)
    # a socket's own timeout begins anew with every byte
    deadline = threading.Timer(timeout, connection.break_off)
    deadline.daemon = True
    deadline.start()
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", path, body=body, headers=dict(headers))
        return connection.getresponse().status
    except TimeoutError as error:
        raise NoAnswer("timeout") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoAnswer("no-connection" if connection.sock is None else "no-answer") from error
    finally:
        deadline.cancel()
        connection.close()


class _Pinned(http.client.HTTPConnection):
    """A connection to an address that was looked up before; the name is for the Host header and the certificate."""

    def __init__(self, host: str, port: int, address: str, *, tls: bool, timeout: float) -> None:
        super().__init__(host, port, timeout=timeout)
        self.default_port = 443 if tls else 80
        self._address = address
        self._tls = tls

    def connect(self) -> None:
        """Connect to the address."""
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._tls:
            context = ssl.create_default_context()
            # the handshake after the assignment, so that `break_off` reaches it
            wrapped = context.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock = wrapped
            wrapped.do_handshake()

    def break_off(self) -> None:
        """End it from another thread."""
        sock = self.sock
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def _resolved(host: str, port: int, flags: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return [str(entry[4][0]) for entry in found]


def _inside(ip: IpAddress) -> list[IpAddress]:
    """IPv4 addresses that an IPv6 address stands for."""
    if isinstance(ip, ipaddress.IPv4Address):
        return []
    found: list[IpAddress | None] = [ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())]
    if ip in _NAT64 or ip.packed[:12] == bytes(12):
        found.append(ipaddress.IPv4Address(ip.packed[12:]))
    return [each for each in found if each is not None]
