"""Keep the answer that a thread writes until the client has taken it."""

from __future__ import annotations

import socket
from collections import deque
from itertools import islice

import orjson
from ulid import ULID

from service.errors import ServiceError

PIECES = 64
"""Pieces given to the system at once; it takes 1024."""
REASONS = {
    400: "Bad Request",
    408: "Request Timeout",
    413: "Content Too Large",
    429: "Too Many Requests",
    503: "Service Unavailable",
    507: "Insufficient Storage",
}


class Answer:
    """Stands where gunicorn expects a socket: writing never waits.

    Attributes:
        left: bytes that are not sent yet.
        failed: whether the connection failed.
    """

    def __init__(self) -> None:
        self.left = 0
        self.failed = False
        self._pieces: deque[memoryview] = deque()

    def sendall(self, data: bytes) -> None:
        """Keep these bytes."""
        if data:
            self._pieces.append(memoryview(data))
            self.left += len(data)

    def gettimeout(self) -> float:
        """Return 0: writing never waits."""
        return 0.0

    def send_to(self, sock: socket.socket) -> int:
        """Send as much as the connection takes now; return the number of bytes."""
        before = self.left
        while self._pieces:
            try:
                sent = sock.sendmsg(islice(self._pieces, PIECES))
            except BlockingIOError:
                break
            except OSError:
                self.failed = True
                break
            self.left -= sent
            while self._pieces and sent >= len(self._pieces[0]):
                sent -= len(self._pieces.popleft())
            if sent:
                self._pieces[0] = self._pieces[0][sent:]
        return before - self.left


def problem(status: int, reason: str, slug: str, title: str, detail: str, headers: str = "") -> bytes:
    """Return an answer with a problem document, after which the connection is closed.

    Args:
        status: HTTP status.
        reason: the words of the status line.
        slug: the last part of the problem's type.
        title: of the problem.
        detail: what is wrong, and what to do.
        headers: more header lines, each with its line end.
    """
    document = {
        "type": f"/problems/{slug}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": f"urn:request:req_{ULID()}",
    }
    body = orjson.dumps(document)
    head = (
        f"HTTP/1.1 {status} {reason}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/problem+json\r\n"
        "Cache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        f"{headers}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode("latin-1") + body


def refusal(error: ServiceError) -> bytes:
    """Return the answer to a request that is refused before the application sees it."""
    headers = "".join(f"{name}: {value}\r\n" for name, value in error.headers.items())
    return problem(error.status, REASONS[error.status], error.type_slug, error.type_title, error.detail, headers)
