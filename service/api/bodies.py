"""Read request bodies: unpack them as they stream in, and read JSON strictly by RFC 8259.

The unpacked size is limited, not the size that was sent. JSON that two parsers could read differently is refused, with
its position if known.
"""

import hashlib
import json
import math
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from tempfile import SpooledTemporaryFile
from threading import Lock, Semaphore
from typing import IO, Any, NoReturn, cast

import orjson
import zstandard
from flask import Request
from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]

from service import errors
from service.config import Config
from service.process import uncollected
from service.requests import Request as Asked
from service.store.packing import PackedText
from treescore.core.params import Json
from treescore.core.text import place
from treescore.errors import Problem

LARGEST_INTEGER = 2**63 - 1
ALONE = 1_000_000
"""Size of a body, as sent, from which on one at a time is unpacked and parsed in a process; of packed ones any is."""
_ALONE = Lock()
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""A string, or what is left of the body after a quote that nothing closes; nothing is tried twice or remembered."""
_AT_ONCE = 1_000
_STRINGS = re.compile(rb'(?:[^"]*+"(?:[^"\\]++|\\.)*+"?){1,%d}+' % _AT_ONCE, re.DOTALL)
"""So many strings and what is before each: a list of all would take more memory than their values."""
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class _RefusalError(ValueError):
    """A value that the JSON grammar or this service does not accept."""

    def __init__(self, code: str, detail: str, *, placed: bool = False) -> None:
        super().__init__(detail)
        self.code, self.detail, self.placed = code, detail, placed


def parse_json(body: bytes, config: Config) -> Json:
    """Return the value of a JSON text.

    Raises:
        BadRequest: invalid UTF-8 or JSON, a repeated key, NaN or Infinity, a number beyond 64 bits or a double,
            half a surrogate pair, or more than a thousand levels of nesting.
        PayloadTooLarge: too many values: two bytes can be an object of sixty.
    """
    if not body.strip():
        raise _bad("json-empty", "The body is empty. Send a JSON object.")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = place(body, error.start)
        detail = f"Byte 0x{body[error.start]:02x} in line {line}, column {column} of the body is invalid UTF-8."
        raise _bad("json-invalid-utf8", detail, line, column) from error
    most = config.max_body_values
    # of the commas in strings the first count knows nothing
    if _begun(body) >= most and any(begun >= most for begun in accumulate(_begun_outside(body))):
        raise errors.PayloadTooLarge(
            f"The body has more than {most} values. Send fewer, or texts as files (`curl -F gold=@gold.conllu`)."
        )
    with uncollected():
        value = _read(body, text, config.max_body_members)
    if _SURROGATE_ESCAPE.search(body):  # which Python accepts by halves
        try:
            orjson.loads(body)
        except orjson.JSONDecodeError as error:
            where = f"(line {error.lineno}, column {error.colno})."
            detail = f"A \\u escape is half of a surrogate pair {where}"
            raise _bad("json-half-surrogate", detail, error.lineno, error.colno) from error
    return value


def _begun(body: bytes) -> int:
    """Return how many values a JSON text begins after the first, strings aside."""
    return body.count(b"[") + body.count(b"{") + body.count(b",")


def _begun_outside(body: bytes) -> Iterator[int]:
    """Yield how many values a JSON text begins outside of its strings, piece by piece; two strings are one at least."""
    at, begun = 0, _AT_ONCE
    while found := _STRINGS.match(body, at):
        yield max(0, _AT_ONCE // 2 - begun)  # the piece before had all its strings
        begun = _begun(_STRING.sub(b"", found[0]))
        yield begun
        at = found.end()
    yield _begun(body[at:])


@contextmanager
def alone(request: Request, places: Semaphore, config: Config, limit: int) -> Iterator[None]:
    """Hold back the other large bodies of this process while one is unpacked, parsed and checked.

    It is received before that, so that a slow sender holds back none.

    Args:
        request: whose body was not read yet.
        places: as many as there may be, this one and those that it holds back.
        config: how long a sender may be silent.
        limit: bytes of a body, beyond which it is not received.

    Raises:
        ServiceError: 400, 408, 503 or 507.
    """
    length = request.content_length
    if length is not None and length <= ALONE and "Content-Encoding" not in request.headers:
        with _heard(request, config.body_seconds):
            yield
        return
    if not places.acquire(blocking=False):
        raise errors.Unavailable("Too many large bodies are being read. Retry.")
    try:
        with SpooledTemporaryFile(MEMORY_BYTES) as file:
            if length is None or length <= limit:
                with _heard(request, config.body_seconds):
                    _receive(request, file, limit)
                request.stream = cast("IO[bytes]", file)
            with _ALONE:
                yield
    finally:
        places.release()


@contextmanager
def _heard(request: Request, seconds: int) -> Iterator[None]:
    """Let the sender of a body be silent for so many seconds at most."""
    set_timeout = getattr(request.environ.get("gunicorn.socket"), "settimeout", lambda _seconds: None)
    set_timeout(seconds)
    try:
        yield
    finally:
        set_timeout(None)


def _receive(request: Request, file: SpooledTemporaryFile[bytes], limit: int) -> None:
    """Receive a body into a file that has no name; of one that exceeds its limit a little more than that."""
    left = limit
    while left >= 0 and (chunk := _received(request)):
        left -= len(chunk)
        try:
            file.write(chunk)
        except OSError as error:
            raise errors.InsufficientStorage("The body cannot be stored now. Retry later.") from error
    file.seek(0)


def _received(request: Request) -> bytes:
    try:
        return request.stream.read(CHUNK)
    except TimeoutError as error:
        raise errors.RequestTimeout("The body arrives too slowly. Send the request again.") from error
    except (OSError, ParseException) as error:
        raise errors.BadRequest("The body is incomplete or badly chunked.") from error


def _read(body: bytes, text: str, members: int) -> Json:
    try:
        return json.loads(
            text,
            object_pairs_hook=partial(_object, members),
            parse_constant=_constant,
            parse_int=_integer,
            parse_float=_double,
        )
    except json.JSONDecodeError as error:
        detail = f"The body is not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        raise _bad("json-syntax", detail, error.lineno, error.colno) from error
    except _RefusalError as error:
        where = _place_of_refusal(body) if error.placed else None
        raise _bad(error.code, error.detail, *(where or (None, None))) from error
    except RecursionError as error:
        raise _bad("json-too-deep", "The arrays and objects of the body are nested too deeply.") from error


def _object(most: int, pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    if len(pairs) > most:
        raise _RefusalError("json-too-many-members", f"An object has {len(pairs)} members; {most} are allowed.")
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                detail = f"The key {_short(key)!r} is repeated in one object. Keep one."
                raise _RefusalError("json-duplicate-key", detail)
            seen.add(key)
    return members


def _constant(name: str) -> NoReturn:
    detail = f"{name} is not a JSON number. Use null, or leave the field out."
    raise _RefusalError("json-not-a-number", detail, placed=True)


def _integer(digits: str) -> int:
    # Python refuses to read thousands of digits, and other parsers round what exceeds 64 bits
    if len(digits) > 20 or abs(number := int(digits)) > LARGEST_INTEGER:
        raise _RefusalError("json-huge-number", f"The number {_short(digits)} exceeds 64 bits.")
    return number


def _double(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _RefusalError(
            "json-huge-number", f"The number {_short(digits)} exceeds the range of a double.", placed=True
        )
    return number


def _place_of_refusal(body: bytes) -> tuple[int, int] | None:
    """Return where orjson, which is as strict about numbers, stops in the same text."""
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError as error:
        return error.lineno, error.colno
    return None


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _bad(code: str, detail: str, line: int | None = None, column: int | None = None) -> errors.BadRequest:
    problem = Problem(code=code, detail=detail, line=line, column=column)
    return errors.BadRequest(detail, slug="malformed-body", problems=[problem])


CHUNK = 1 << 20
MEMORY_BYTES = 262_144
"""Size of a body above which what is received goes to a file."""
ZSTD_PIECE = 512
"""Bytes given to the decompressor at once: four bytes can unpack to 128 kB, and it takes no limit."""
GZIP_PIECE = 4_096
"""The same for gzip, where a byte is at most a thousand."""
ZSTD_WINDOW = 8 << 20
"""The largest window that RFC 9659 allows in the content coding."""
MAX_PACKED_MEMBERS = 10_000
DRAINED = 256 << 20
"""Bytes read past the limit, so that the sender reads the error instead of a broken pipe."""
JSON = "application/json"


class Body:
    """The pieces of a body, unpacked, which may not exceed its limit.

    Attributes:
        sent: bytes received so far.

    Iterating raises:
        PayloadTooLarge: more than `limit` bytes come out, or went in.
        BadRequest: the packed data are damaged or incomplete; the connection fails or stalls.
        UnsupportedMediaType: the coding is not supported.
    """

    def __init__(self, request: Request, config: Config, limit: int) -> None:
        self._request = request
        self._config = config
        self._limit = limit
        coding = request.headers.get("Content-Encoding", "").strip().lower()
        self._decoder = None if coding in ("", "identity") else _decoder(coding)
        self._count = self.sent = 0

    def __iter__(self) -> Iterator[bytes]:
        length = self._request.content_length
        if length is not None and length > self._limit:
            raise self._too_large()
        while chunk := _received(self._request):
            self.sent += len(chunk)
            if self.sent > self._limit:
                raise self._too_large()
            for piece in (chunk,) if self._decoder is None else self._decoder.feed(chunk):
                self._count += len(piece)
                if self._count > self._limit:
                    raise self._too_large()
                if self._count > self._config.room_of(self.sent):
                    raise self._too_large(
                        f"The data unpack to more than {self._config.free_unpacked_bytes} bytes and more than "
                        f"{self._config.max_unpacked_times} times their size. Send them plain, or less at once."
                    )
                yield piece
        if self._decoder is not None:
            self._decoder.finish()

    def _too_large(self, detail: str | None = None) -> errors.PayloadTooLarge:
        left = DRAINED
        while left > 0 and (chunk := _received(self._request)):
            left -= len(chunk)
        return errors.PayloadTooLarge(detail or f"The unpacked body exceeds {self._limit} bytes. Send less at once.")


class _Packed:
    """Decode RFC 1952 or RFC 8878: several members in a row, a piece of the data at once."""

    def __init__(self, coding: str, begin: Callable[[], Any], piece: int) -> None:
        self._coding = coding
        self._begin = begin
        self._piece = piece
        self._member = begin()
        self._members = 1

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), self._piece):
            rest = data[start : start + self._piece]
            while rest:
                if self._member.eof:
                    self._members += 1
                    if self._members > MAX_PACKED_MEMBERS:
                        detail = f"The packed body exceeds {MAX_PACKED_MEMBERS} members. Pack it as one member."
                        raise errors.BadRequest(detail, slug="malformed-body")
                    self._member = self._begin()
                try:
                    piece = self._member.decompress(rest)
                except (zlib.error, zstandard.ZstdError, MemoryError) as error:
                    raise _damaged(self._coding) from error
                if piece:
                    yield piece
                rest = self._member.unused_data if self._member.eof else b""

    def finish(self) -> None:
        if not self._member.eof:
            raise _damaged(self._coding)


def unpacked(data: bytes, coding: str, config: Config, room: int) -> bytes:
    """Return packed data unpacked, as those of a body.

    Raises:
        PayloadTooLarge: more than `room` bytes come out, which is what `config` leaves.
        BadRequest: the data are damaged or incomplete.
        UnsupportedMediaType: the coding is not supported.
    """
    decoder = _decoder(coding)
    pieces, count = list[bytes](), 0
    for piece in decoder.feed(data):
        count += len(piece)
        if count > room:
            raise errors.PayloadTooLarge(
                f"The unpacked files exceed {config.max_upload_bytes} bytes together, or {config.free_unpacked_bytes} "
                f"and {config.max_unpacked_times} times their size. Send less at once."
            )
        pieces.append(piece)
    decoder.finish()
    return b"".join(pieces)


def _decoder(coding: str) -> _Packed:
    if coding in ("gzip", "x-gzip"):
        return _Packed("gzip", partial(zlib.decompressobj, 31), GZIP_PIECE)
    if coding == "zstd":
        return _Packed("zstd", zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj, ZSTD_PIECE)
    detail = "Unsupported Content-Encoding. Use one of gzip, zstd and identity."
    raise errors.UnsupportedMediaType(detail, headers={"Accept-Encoding": "gzip, zstd"})


def _damaged(coding: str) -> errors.BadRequest:
    detail = f"The body is invalid or incomplete {coding} data. Pack it again, or leave Content-Encoding out."
    return errors.BadRequest(detail, slug="malformed-body")


def whole(request: Request, config: Config, limit: int) -> bytes:
    """Return a body of at most `limit` bytes, unpacked.

    Raises:
        ServiceError: 400, 413 or 415.
    """
    return b"".join(Body(request, config, limit))


def read_json(request: Request, config: Config, limit: int) -> object:
    """Return the value of a JSON body of at most `limit` bytes.

    Raises:
        ServiceError: 400, 413 or 415.
    """
    media_type(request, JSON)
    return parse_json(whole(request, config, limit), config)


def digest(request: Request, asked: object) -> str:
    """Return a digest of method, path and request, texts by their digests; two spellings of it have the same."""
    spelled = orjson.dumps(asked, default=_plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS)
    return hashlib.sha256(f"{request.method} {request.path}\n".encode() + spelled).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, PackedText):
        return value.digest
    return value.given() if isinstance(value, Asked) else str(value)


def media_type(request: Request, *accepted: str) -> str:
    """Return the body's media type, one of `accepted`.

    Raises:
        UnsupportedMediaType: it is not one of these, or not UTF-8.
    """
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    if request.mimetype in accepted and charset in ("utf-8", "utf8", "us-ascii"):
        return request.mimetype
    names = " or ".join(accepted)
    sent = request.headers.get("Content-Type", "none")[:80]
    detail = f"Unsupported Content-Type {sent}. Send {names} in UTF-8."
    raise errors.UnsupportedMediaType(detail, headers={"Accept": ", ".join(accepted)})
