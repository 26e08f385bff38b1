"""One connection of a client: the request that arrives, the answer that leaves, and how long it may take.

A request is collected until it is whole: its head in memory, its body in memory or in a temporary file. A chunked
body is decoded while it arrives (RFC 9112, section 7.1), because gunicorn's decoder must be able to wait for more.
The answer that a thread writes is kept until the client has taken it.

What the server and the application of one API process tell each other is here too: load, long polls, tokens of
organisers; and what gunicorn may log. Its log has no text of requests: a line, a header or a query may hold a token.
"""

from __future__ import annotations

import hashlib
import io
import logging
import re
import socket
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import Any

import orjson
import structlog
from gunicorn.http.body import CHUNK_EXT_RE, ChunkedReader  # type: ignore[import-untyped]
from gunicorn.http.errors import (  # type: ignore[import-untyped]
    ChunkMissingTerminator,
    InvalidChunkExtension,
    InvalidChunkSize,
    LimitRequestHeaders,
    NoMoreData,
)
from gunicorn.http.message import Request  # type: ignore[import-untyped]
from gunicorn.http.unreader import Unreader  # type: ignore[import-untyped]
from ulid import ULID

from service.caller import network_of
from service.config import Config
from service.errors import BadRequest, PayloadTooLarge, ServiceError
from service.monitoring import LIBRARIES, configure_logs, fault

# what server and application tell each other

EXTENSION = "treescore.server"
"""Where the application keeps the state: `app.extensions[EXTENSION]`."""
PROBES = ("/livez", "/readyz")
"""Paths that answer for all hosts, because probes ask addresses, and in threads of their own."""
WAITING_SHARE = 4
"""One thread of so many may be held by long polls."""
READING_SHARE = 2
"""One thread of so many may read a large body, or wait to: they are read one after the other."""
MAX_ORGANISERS = 1_000


class ServerState:
    """The numbers of one API process. The server writes them, `/readyz` reads them.

    Attributes:
        threads: request threads, without the reserved ones.
        requests: requests that hold or await one of these threads.
        unfinished: connections whose request is arriving, or whose answer is being sent.
        waits: the long polls.
        organisers: the tokens that may use the reserved threads.
        large_bodies: places of requests whose large body is read, or waits to be.
    """

    def __init__(self, config: Config) -> None:
        self.threads = config.threads
        self.requests = 0
        self.unfinished = 0
        self.waits = Waits(config.max_waits_each, max(1, config.threads // WAITING_SHARE))
        self.organisers = Organisers()
        self.large_bodies = threading.BoundedSemaphore(max(1, config.threads // READING_SHARE))
        if config.admin_token:
            self.organisers.note(config.admin_token, organiser=True)

    def document(self) -> dict[str, int]:
        """Return the load as `/readyz` shows it."""
        return {
            "threads": self.threads,
            "busy": min(self.requests, self.threads),
            "queued": max(0, self.requests - self.threads),
            "unfinished": self.unfinished,
            "waiting": self.waits.total,
        }


class Waits:
    """Long polls under way: each holds a thread, so they are limited by principal and in all.

    Args:
        each: long polls of one principal.
        most: long polls of all together.
    """

    def __init__(self, each: int, most: int) -> None:
        self._each = each
        self._most = most
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """How many there are."""
        with self._lock:
            return self._counts.total()

    def take(self, principal: str) -> bool:
        """Count one more and return True; False where a limit is reached."""
        with self._lock:
            if self._counts[principal] >= self._each or self._counts.total() >= self._most:
                return False
            self._counts[principal] += 1
            return True

    def give(self, principal: str) -> None:
        """Count one less."""
        with self._lock:
            self._counts[principal] -= 1
            self._counts += Counter()  # drops those at zero


class Organisers:
    """Tokens that were organise tokens when they were last used in this process, as digests.

    It decides only about a place in the queue: each request is authenticated.
    """

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def note(self, bearer: str, *, organiser: bool) -> None:
        """Remember whether this is an organise token."""
        digest = _digest(bearer)
        if not organiser:
            self._digests.discard(digest)
        elif len(self._digests) < MAX_ORGANISERS:
            self._digests.add(digest)

    def knows(self, bearer: str) -> bool:
        """Return whether this was an organise token."""
        return _digest(bearer) in self._digests


def _digest(bearer: str) -> bytes:
    return hashlib.sha256(bearer.encode()).digest()


# what gunicorn may log

GUNICORN = "gunicorn.error"
_REFUSED = re.compile(r"Invalid request from ip=(\S*): ")
_FAILED = "Error handling request"

log = structlog.get_logger("treescore.server")


def quotes_nothing(record: logging.LogRecord) -> bool:
    """Return whether gunicorn may log this; what quotes a request is logged here, by its kind.

    gunicorn logs both in the handler of the exception, so that it is known here.
    """
    text = str(record.msg)
    refused = _REFUSED.match(text)
    if refused is None and not text.startswith(_FAILED):
        return True
    kind, _, trace = sys.exc_info()
    if refused is None:
        fault(kind or Exception, trace)
    else:
        log.warning("invalid-request", client=refused[1], kind=None if kind is None else kind.__name__)
    return False


def gunicorn_log(config: Config) -> dict[str, object]:
    """Return gunicorn's setting `logconfig_dict`, with which its lines go to the service's log."""

    def service_log() -> logging.Handler:
        configure_logs(config)
        return LIBRARIES

    return {
        "filters": {"quotes-nothing": {"()": lambda: quotes_nothing}},
        "formatters": {},
        "handlers": {"service": {"()": service_log}},
        "loggers": {GUNICORN: {"level": "INFO", "filters": ["quotes-nothing"], "propagate": True}},
        "root": {"level": "WARNING", "handlers": ["service"]},
    }


# one connection

LINE_BYTES = 8_190
FEW_CHUNKS = 1_000
LEAST_CHUNK = 8
"""Bytes of a body that a chunk has on average, beyond so many chunks: each costs as much as a thousand bytes."""
TRAILER_BYTES = 65_536
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})(.*)\r\n", re.DOTALL)
_SIZE_LINE, _DATA_END, _TRAILER = range(3)


class Chunks:
    """The decoder of one body.

    Attributes:
        trailers: the lines after the last chunk, without the empty one.
    """

    def __init__(self) -> None:
        self.trailers = b""
        self._left = 0
        self._chunks = self._bytes = 0
        self._line = bytearray()
        self._expected = _SIZE_LINE

    def feed(self, data: bytes, write: Callable[[bytes], object]) -> int | None:
        """Decode the next bytes; return how many of them belong to the body if it ends here, else None.

        Args:
            data: received bytes.
            write: takes decoded bytes.

        Raises:
            ParseException: the coding is invalid.
            BadRequest: the chunks are too small.
        """
        at = 0
        while at < len(data):
            if self._left:
                piece = data[at : at + self._left]
                write(piece)
                self._left -= len(piece)
                at += len(piece)
                continue
            end = data.find(b"\n", at)
            stop = end + 1 if end >= 0 else len(data)
            self._line += data[at:stop]
            at = stop
            if len(self._line) > LINE_BYTES:
                raise InvalidChunkSize(bytes(self._line[:20]))
            if end >= 0 and self._take_line():
                return at
        return None

    def _take_line(self) -> bool:
        """Read a whole line; return whether it ends the body."""
        line = bytes(self._line)
        self._line.clear()
        if self._expected == _DATA_END:
            if line != b"\r\n":
                raise ChunkMissingTerminator(line[:2])
            self._expected = _SIZE_LINE
        elif self._expected == _TRAILER:
            if line == b"\r\n":
                return True
            if not line.endswith(b"\r\n") or len(self.trailers) + len(line) > TRAILER_BYTES:
                raise LimitRequestHeaders("limit request trailer section size")
            self.trailers += line
        else:
            self._left = _size(line)
            self._chunks += 1
            self._bytes += self._left
            if self._chunks > FEW_CHUNKS and self._bytes < LEAST_CHUNK * self._chunks:
                raise BadRequest("The body comes in chunks of a few bytes. Send larger chunks, or its length.")
            self._expected = _DATA_END if self._left else _TRAILER
        return False


def _size(line: bytes) -> int:
    match = _SIZE.fullmatch(line)
    if match is None:
        raise InvalidChunkSize(line[:20])
    if not CHUNK_EXT_RE.fullmatch(match[2]):
        raise InvalidChunkExtension("invalid chunk extension")
    return int(match[1], 16)


PIECES = 64
"""Pieces given to the system at once; it takes 1024."""
REASONS = {
    400: "Bad Request",
    408: "Request Timeout",
    413: "Content Too Large",
    429: "Too Many Requests",
    501: "Not Implemented",
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


HEAD_BYTES = 65_536
MEMORY_BYTES = 262_144
"""Size of a body above which it goes to a file: a file that has no name and that only this process can read."""
LARGE = 65_536
"""Size of a body above which the application is asked before it is received; of a chunked one, always."""
FORM = "multipart/form-data"
END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Sizes of bodies in bytes, as sent, and the folder of their files (None: the system's)."""

    body: int
    upload: int
    folder: str | None


class Arrival:
    """One request of a connection.

    Attributes:
        request: gunicorn's request once the head is parsed. Once all is there, its `body` can be read without waiting.
        received: bytes of the body so far, decoded.
        large: whether the application is asked, by the head alone, before the body is received.
        rest: what the client sent after this request.
        wants_continue: whether the client waits for `100 Continue` before it sends the body.
    """

    def __init__(self, cfg: Any, client: Any, number: int, bounds: Bounds) -> None:
        self.request: Any = None
        self.received = 0
        self.large = False
        self.rest = b""
        self.wants_continue = False
        self._cfg = cfg
        self._client = client
        self._number = number
        self._bounds = bounds
        self._head = bytearray()
        self._limit = 0
        self._length: int | None = None
        self._chunks: Chunks | None = None
        self._file: SpooledTemporaryFile[bytes] | None = None

    @property
    def silent(self) -> bool:
        """Whether nothing has come yet."""
        return self.request is None and not self._head

    def feed(self, data: bytes) -> bool:
        """Take received bytes; return whether the request is whole.

        Raises:
            ParseException: the HTTP is invalid, or a line or the head is too long.
            PayloadTooLarge: the body exceeds its limit.
            OSError: the temporary file cannot be written.
        """
        if self.request is None:
            after = self._feed_head(data)
            if after is None:
                return False
            self._expect_body()
            data = after
        whole = self._feed_chunks(data) if self._chunks is not None else self._feed_length(data)
        if whole and self._file is not None:
            self._file.seek(0)
            self.request.body = self._file
        self.wants_continue = self.wants_continue and not whole
        return whole

    @property
    def chunked(self) -> bool:
        """Whether the body comes in chunks."""
        return self._chunks is not None

    def admit(self, limit: int) -> None:
        """Let the body have at most so many bytes.

        Raises:
            PayloadTooLarge: it has more.
        """
        self._limit = min(limit, self._limit)
        if max(self._length or 0, self.received) > self._limit:
            raise self._too_large()

    def close(self) -> None:
        """Drop the body."""
        if self._file is not None:
            self._file.close()

    def _feed_head(self, data: bytes) -> bytes | None:
        """Return what follows the head; None while its end is missing."""
        old = len(self._head)
        self._head += data
        end = self._head.find(END, max(0, old + 1 - len(END)))
        whole = end >= 0 and end + len(END) <= HEAD_BYTES
        if not whole and len(self._head) <= HEAD_BYTES and not self._hopeless(old):
            return None
        head = bytes(self._head[: end + len(END)] if whole else self._head)
        try:
            self.request = _Request(self._cfg, _Bytes(head), self._client, self._number)
        except NoMoreData as error:
            raise LimitRequestHeaders(f"The head exceeds {HEAD_BYTES} bytes.") from error
        if not whole:
            raise LimitRequestHeaders(f"The head exceeds {HEAD_BYTES} bytes.")
        return bytes(self._head[len(head) :])

    def _hopeless(self, old: int) -> bool:
        """Whether the bytes from `old` on cannot belong to a valid head, so that its end need not be awaited."""
        new = self._head[old - 1 if self._head[old - 1 : old] == b"\r" else old :]
        if new.count(b"\n") != new.count(b"\r\n"):
            return True
        return len(self._head) > self._cfg.limit_request_line + len(END) and self._head.find(b"\n", 2) < 0

    def _expect_body(self) -> None:
        request = self.request
        if isinstance(request.body.reader, ChunkedReader):
            self._chunks = Chunks()
        else:
            self._length = int(request.body.reader.length)
        media = next((value for name, value in request.headers if name == "CONTENT-TYPE"), "")
        self._limit = self._bounds.upload if media.lower().startswith(FORM) else self._bounds.body
        self.admit(self._limit)
        self.large = self._length is None or self._length > LARGE
        self.wants_continue = request._expected_100_continue  # noqa: SLF001 - gunicorn has no other name for it
        request._expected_100_continue = False  # noqa: SLF001 - the server sends it before a thread is taken

    def _feed_length(self, data: bytes) -> bool:
        assert self._length is not None  # noqa: S101 - set with the head
        left = self._length - self.received
        self.rest = data[left:]
        if left:
            self._write(data[:left])
        return self.received == self._length

    def _feed_chunks(self, data: bytes) -> bool:
        assert self._chunks is not None  # noqa: S101 - set with the head
        used = self._chunks.feed(data, self._write)
        if used is None:
            return False
        self.rest = data[used:]
        if self._chunks.trailers:
            self.request.parse_headers(self._chunks.trailers.removesuffix(b"\r\n"), from_trailer=True)
        if self._file is None:
            self.request.body = io.BytesIO()
        return True

    def _write(self, piece: bytes) -> None:
        self.received += len(piece)
        if self.received > self._limit:
            raise self._too_large()
        if self._file is None:
            self._file = SpooledTemporaryFile(MEMORY_BYTES, dir=self._bounds.folder)  # noqa: SIM115 - see close
        self._file.write(piece)

    def _too_large(self) -> PayloadTooLarge:
        return PayloadTooLarge(f"The body exceeds {self._limit} bytes. Send less, or several requests.")


class BodyWantedError(BaseException):
    """The application has let a request in by its head, and reads the body. No handler of faults catches it."""


class AwaitedBody(io.RawIOBase):
    """Stands where a body will be."""

    def read(self, _size: int = -1) -> bytes:
        """Say that the body is wanted.

        Raises:
            BodyWantedError: always.
        """
        raise BodyWantedError

    readinto = readline = read  # type: ignore[assignment]


class _Request(Request):  # type: ignore[misc]
    """gunicorn's request, without looking whether its sender may name the scheme: service.api.middleware does."""

    def _peer_is_trusted_proxy(self) -> bool:
        return False


class _Bytes(Unreader):  # type: ignore[misc]
    """Bytes as a source of gunicorn's parser, which ends where they end."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Return all that is left."""
        del size_hint
        data, self._data = self._data, b""
        return data


RATE = 1_000.0
"""Bytes that give a body, or an answer, one more second."""


class Stage(Enum):
    """What a connection is doing."""

    HEAD = auto()
    BODY = auto()
    WORK = auto()
    ANSWER = auto()
    IDLE = auto()
    CLOSING = auto()


class Connection:
    """A connection; gunicorn's own functions use `sock`, `timeout` and `close`.

    Attributes:
        stage: what it is doing.
        since: when this stage began, in seconds of the monotonic clock.
        due: when it ends at the latest.
        timeout: when it ends at the latest while it is idle.
        watched: events of the socket that the loop watches for; 0 for none.
        react: takes them.
        answered: requests so far.
        keep: whether it stays open after the answer.
        discarded: bytes read and dropped while it closes.
        lane: the threads that have the request.
    """

    __slots__ = (
        "answer",
        "answered",
        "arrival",
        "client",
        "discarded",
        "due",
        "keep",
        "lane",
        "react",
        "server",
        "since",
        "sock",
        "stage",
        "timeout",
        "watched",
    )

    def __init__(self, sock: socket.socket, client: Any, server: Any) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.client = client
        self.server = server
        self.stage = Stage.IDLE
        self.since = self.due = self.timeout = 0.0
        self.watched = 0
        self.keep = False
        self.answered = self.discarded = 0
        self.arrival: Arrival | None = None
        self.answer = Answer()
        self.lane: Any = None
        self.react: Callable[[Connection], None]

    def take_event(self, _sock: socket.socket) -> None:
        """Take an event of the loop, unless one before it has ended the connection."""
        if self.watched:
            self.react(self)

    def enter(self, stage: Stage, now: float, seconds: float) -> None:
        """Begin a stage that may take so many seconds."""
        self.stage, self.since, self.due = stage, now, now + seconds

    def extend(self, moved: int, now: float, seconds: float) -> None:
        """Give more time for bytes that moved: `RATE`, and never more than `seconds` ahead."""
        self.due = min(self.due + moved / RATE, now + seconds)

    @property
    def address(self) -> str:
        """The address for limits by address; empty for a socket of the file system."""
        return network_of(str(self.client[0])) if isinstance(self.client, tuple) else ""

    def has_more(self) -> bool:
        """Return whether the client has sent something that is not read yet."""
        try:
            return bool(self.sock.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def close(self) -> None:
        """Close the socket and drop what was received."""
        if self.arrival is not None:
            self.arrival.close()
        self.sock.close()
