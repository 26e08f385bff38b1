"""Send requests to addresses that users name: only to public hosts, without redirects, with a time limit."""

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
"""Seconds from connecting to the headers of the answer."""
LOCAL_NAMES = ("localhost", "local", "internal", "home.arpa")
_OF_IPV4 = tuple(map(ipaddress.IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96")))
"""IPv6 networks whose last 32 bits are the IPv4 address that is reached: mapped ones, and NAT64 (RFC 6052)."""
_SPECIAL = tuple(
    ipaddress.ip_network(network)
    for network in (
        # IPv4: IANA's special-purpose registry, and multicast
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        # IPv6: all but global unicast (2000::/3), of it the special-purpose registry, and the 6bone of old
        "::/3", "4000::/2", "8000::/1", "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3ffe::/16",
        "3fff::/20",
    )
)  # fmt: skip
"""Networks that hold no host of the public internet; Python's own list varies by version and leaves some out."""


class BadAddress(ValueError):
    """The service does not send to this URL; the message says why."""


class NoAnswer(Exception):
    """The host did not answer."""


def check_url(url: str, *, private: bool) -> SplitResult:
    """Return the parts of a URL that the service may send to, as far as it is known without a name server.

    Raises:
        BadAddress: the URL is malformed, or not public (unless `private`).
    """
    if len(url) > MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise BadAddress(f"Invalid URL. Use at most {MAX_URL} printable ASCII characters without spaces.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadAddress("Invalid URL. Use the form https://host/path.") from error
    literal = "[" in parts.netloc and ":" not in parts.netloc[parts.netloc.find("[") : parts.netloc.find("]")]
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or "%" in parts.netloc or literal:
        raise BadAddress("Invalid URL. Use the form https://host/path.")
    if "@" in parts.netloc or "#" in url:
        raise BadAddress("The URL contains a user name or a fragment. Remove it.")
    if private:
        return parts
    name = parts.hostname.rstrip(".").lower()
    if any(name == local or name.endswith("." + local) for local in LOCAL_NAMES) or not {".", ":"}.intersection(name):
        # a number without dots is an address too
        raise BadAddress("The host is a local name. Use a public host.")
    with suppress(OSError, UnicodeError):
        for address in _resolved(name, 0, socket.AI_NUMERICHOST):
            if not public(address):
                raise BadAddress("The host is a private, local or reserved address. Use a public host.")
    return parts


def public(address: str) -> bool:
    """Return whether an address is one of the public internet."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if any(ip in network for network in _OF_IPV4):
        ip = ipaddress.IPv4Address(ip.packed[12:])
    return not any(ip in network for network in _SPECIAL)


def post(url: str, body: bytes, headers: Mapping[str, str], *, private: bool, timeout: float = TIMEOUT) -> int:
    """Send a body; return the status of the answer and read nothing else. Redirects are not followed.

    The name is resolved once: the address that was checked is the one connected to.

    Raises:
        BadAddress: the host is not public.
        NoAnswer: no connection, no answer in time, or an answer that is not HTTP.
    """
    parts = check_url(url, private=private)
    host, port = str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80)
    try:
        addresses = _resolved(host, port, 0)
    except (OSError, UnicodeError) as error:
        raise NoAnswer from error
    if not private and not all(public(address) for address in addresses):
        raise BadAddress("The host resolves to a private, local or reserved address. Use a public host.")
    connection = _Pinned(host, port, addresses[0], tls=parts.scheme == "https", timeout=timeout)
    # a socket's own timeout starts again with every byte
    deadline = threading.Timer(timeout, connection.break_off)
    deadline.daemon = True
    deadline.start()
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", path, body=body, headers=dict(headers))
        return connection.getresponse().status
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoAnswer from error
    finally:
        deadline.cancel()
        connection.close()


class _Pinned(http.client.HTTPConnection):
    """A connection to an address looked up before; the name serves the Host header and the certificate."""

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
        """Close it from another thread."""
        sock = self.sock
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def _resolved(host: str, port: int, flags: int) -> list[str]:
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return [str(entry[4][0]) for entry in entries]
