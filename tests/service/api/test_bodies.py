"""Bodies are bounded by what they unpack to; damage, and JSON that two may read in two ways, is the sender's fault."""

import gzip
import io
import sys
import tracemalloc
import zlib
from contextlib import AbstractContextManager
from dataclasses import replace
from threading import Semaphore
from typing import Any

import pytest
import zstandard
from flask import Request
from gunicorn.http.errors import InvalidChunkSize  # type: ignore[import-untyped]
from werkzeug.test import EnvironBuilder

from service.api import bodies
from service.api.bodies import MAX_PACKED_MEMBERS, Body, media_type, parse_json, read_json
from service.config import Config
from service.errors import BadRequest, PayloadTooLarge, ServiceError, Unavailable, UnsupportedMediaType
from treescore.errors import Problem

CONFIG = Config(database_url="", redis_url="")


def request_of(data: bytes, coding: str = "", media: str = "application/json", *, chunked: bool = False) -> Request:
    builder = EnvironBuilder(method="POST", data=data, content_type=media)
    if coding:
        builder.headers["Content-Encoding"] = coding
    environ = builder.get_environ()
    if chunked:
        del environ["CONTENT_LENGTH"]
        environ["wsgi.input_terminated"] = True
    return Request(environ)


def read(
    data: bytes, coding: str = "", limit: int = 1_000_000, *, chunked: bool = False, config: Config = CONFIG
) -> bytes:
    return b"".join(Body(request_of(data, coding, chunked=chunked), config, limit))


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data)


def zstded(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


TEXT = b"(TOP (S (NN dog)))\n" * 20_000
PACKERS = {"": bytes, "gzip": gzipped, "zstd": zstded}


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("coding", PACKERS)
def test_every_coding_reads_back(coding: Any, chunked: Any) -> None:
    assert read(PACKERS[coding](TEXT), coding, chunked=chunked) == TEXT


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_members_one_after_the_other_are_one_body(coding: Any) -> None:
    pack = PACKERS[coding]
    assert read(pack(TEXT) + pack(b"") + pack(b"tail"), coding) == TEXT + b"tail"


@pytest.mark.parametrize("fault", [BlockingIOError(), ConnectionResetError(), InvalidChunkSize(b"zz")])
def test_a_body_that_breaks_off_is_the_senders_fault(fault: Exception) -> None:
    class Broken(io.RawIOBase):
        def read(self, _size: int = -1) -> bytes:
            raise fault

    request = request_of(b"x", chunked=True)
    request.environ["wsgi.input"] = Broken()
    with pytest.raises(BadRequest):
        list(Body(request, CONFIG, 10))


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("coding", PACKERS)
def test_one_byte_past_the_bound_is_too_large(coding: Any, chunked: Any) -> None:
    data = b"x" * 1000
    assert read(PACKERS[coding](data), coding, limit=1000, chunked=chunked) == data
    with pytest.raises(PayloadTooLarge):
        read(PACKERS[coding](data + b"x"), coding, limit=1000, chunked=chunked)


def gzip_bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    return b"".join(packer.compress(block) for _ in range(size >> 20)) + packer.flush()


def test_a_gzip_bomb_is_refused_before_it_goes_off(bounded_memory: Any) -> None:
    bomb = gzip_bomb(1 << 26)
    assert len(bomb) < 300_000
    with bounded_memory(limit=20_000_000), pytest.raises(PayloadTooLarge):
        read(bomb, "gzip")


def test_a_zstd_bomb_of_a_gigabyte_is_refused_before_it_goes_off(bounded_memory: Any) -> None:
    packer = zstandard.ZstdCompressor(level=3).compressobj()
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(1 << 10)) + packer.flush()
    assert len(bomb) < 100_000
    with bounded_memory(limit=60_000_000), pytest.raises(PayloadTooLarge):
        read(bomb, "zstd")


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_packed_byte_stands_for_a_hundred_at_most_beyond_what_is_free(coding: Any) -> None:
    packed = PACKERS[coding](TEXT)
    assert 100 * len(packed) < len(TEXT)
    small, enough = (replace(CONFIG, free_unpacked_bytes=room) for room in (len(TEXT) - 1, len(TEXT)))
    with pytest.raises(PayloadTooLarge, match="100 times their size"):
        read(packed, coding, config=small)
    with pytest.raises(PayloadTooLarge, match="100 times their size"):
        bodies.unpacked(packed, coding, small, len(TEXT) - 1)
    assert read(packed, coding, config=enough) == TEXT


def test_large_bodies_wait_for_each_other_on_few_threads_and_small_ones_for_none() -> None:
    places = Semaphore(1)

    def read_alone(*sent: Any) -> AbstractContextManager[None]:
        return bodies.alone(request_of(*sent), places, CONFIG, 1_000_000)

    with read_alone(b"x", "gzip"):
        with pytest.raises(Unavailable), read_alone(b"x", "gzip"):
            pass
        with read_alone(b"x"):
            pass
    with read_alone(b"x", "gzip"):
        pass


def test_a_zstd_window_past_the_agreed_bound_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    with pytest.raises(BadRequest):
        read(packer.compress(TEXT) + packer.flush(), "zstd")


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize(
    "damage",
    [lambda d: d[:-3], lambda d: d[: len(d) // 2], lambda d: b"junk" + d, lambda d: d + b"junk!", lambda _: b""],
)
def test_damaged_data_are_a_bad_request(coding: Any, damage: Any) -> None:
    with pytest.raises(BadRequest) as caught:
        read(damage(PACKERS[coding](TEXT)), coding)
    assert coding in caught.value.detail


def test_a_flood_of_empty_members_is_refused() -> None:
    with pytest.raises(BadRequest):
        read(gzipped(b"") * (MAX_PACKED_MEMBERS + 1), "gzip")


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip, zstd", "gzip, gzip", "x"])
def test_other_codings_are_unsupported(coding: Any) -> None:
    with pytest.raises(UnsupportedMediaType) as caught:
        read(b"", coding)
    assert caught.value.headers["Accept-Encoding"] == "gzip, zstd"


@pytest.mark.parametrize(
    "media", ["text/plain", "", "application/x-www-form-urlencoded", "application/json; charset=latin-1"]
)
def test_other_media_types_are_unsupported(media: Any) -> None:
    with pytest.raises(UnsupportedMediaType) as caught:
        media_type(request_of(b"{}", media=media), "application/json")
    assert caught.value.headers["Accept"] == "application/json"


def test_json_with_parameters_is_json() -> None:
    assert read_json(request_of(b"[1]", media="Application/JSON; charset=UTF-8"), CONFIG, 100) == [1]


def test_a_body_without_a_length_is_not_cut_at_the_bound() -> None:
    """Werkzeug's own bound returns the first bytes of a chunked body as if they were all."""
    with pytest.raises(ServiceError) as caught:
        read_json(request_of(b"1" * 2000, chunked=True), CONFIG, 1000)
    assert caught.value.status == 413


FEW = replace(CONFIG, max_body_values=3)


def test_values_are_counted_before_any_is_made_and_commas_of_strings_are_none() -> None:
    assert parse_json(b'["a,b,{[", "\\\\\\",{"]', FEW) == ["a,b,{[", '\\",{']
    for body in (b"[[],[],[]]", b'["a","b",{}]', b"[1,2,3]"):
        with pytest.raises(PayloadTooLarge, match="more than 3 values"):
            parse_json(body, FEW)


def test_counting_values_takes_no_memory_for_the_characters_of_strings() -> None:
    text, strings = b'["' + b"a," * 100_000 + b'"]', b'["' + b"," * 10_000 + b'",' + b'"",' * 100_000 + b"1]"
    tracemalloc.start()
    try:
        assert parse_json(text, FEW) == [text[2:-2].decode()]
        with pytest.raises(PayloadTooLarge):
            parse_json(strings, replace(CONFIG, max_body_values=90_000))
        assert tracemalloc.get_traced_memory()[1] < 10 * len(text)
    finally:
        tracemalloc.stop()


def refusal(body: bytes) -> Problem:
    with pytest.raises(BadRequest) as caught:
        parse_json(body, CONFIG)
    assert caught.value.status == 400
    assert caught.value.type_slug == "malformed-body"
    [problem] = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("body", "code", "place"),
    [
        (b"", "json-empty", None),
        (b" \n", "json-empty", None),
        (b'{"a": 1,\n "b" 2}', "json-syntax", (2, 6)),
        (b'{"a": 1} x', "json-syntax", (1, 10)),
        (b'{"a": 1,}', "json-syntax", (1, 9) if sys.version_info < (3, 13) else (1, 8)),
        (b'\xef\xbb\xbf{"a": 1}', "json-syntax", (1, 1)),
        (b'{"a":\n "caf\xe9"}', "json-invalid-utf8", (2, 6)),
        (b'{"a": 1, "b": {"c": 2, "c": 3}}', "json-duplicate-key", None),
        (b"{" + b",".join(b'"%d":1' % at for at in range(10_001)) + b"}", "json-too-many-members", None),
        (b'{"a": NaN}', "json-not-a-number", (1, 7)),
        (b'{"a":\n -Infinity}', "json-not-a-number", (2, 3)),
        (b'{"a": 1e999}', "json-huge-number", (1, 7)),
        (b'{"a": ' + b"9" * 19 + b"}", "json-huge-number", None),
        (b'{"a": ' + b"9" * 100_000 + b"}", "json-huge-number", None),
        (b'{"a": "x\\ud800y"}', "json-half-surrogate", (1, 9)),
        (b'{"a": "\\udc00"}', "json-half-surrogate", (1, 8)),
        (b'["\\ud800", 1]', "json-half-surrogate", (1, 3)),
        (b"[" * 200_000 + b"]" * 200_000, "json-too-deep", None),
        (b'{"a":' * 100_000, "json-too-deep", None),
    ],
)
def test_refused_with_code_and_place(body: Any, code: Any, place: Any) -> None:
    problem = refusal(body)
    assert problem.code == code
    if place is not None:
        assert (problem.line, problem.column) == place
    assert len(problem.detail) < 300


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": [1, -2.5e3, true, null, ""]}', {"a": [1, -2500.0, True, None, ""]}),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\\\ud800"', "\\ud800"),
        (b"9223372036854775807", 2**63 - 1),
        (b'{"a": {"b": 1}, "c": {"b": 1}}', {"a": {"b": 1}, "c": {"b": 1}}),
        ('"\u00e9\u4e2d"'.encode(), "\u00e9\u4e2d"),
    ],
)
def test_read(body: Any, value: Any) -> None:
    assert parse_json(body, CONFIG) == value
