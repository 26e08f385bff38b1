"""A form has the parts that Werkzeug's parser finds in it, wherever the pieces begin in which it comes."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from werkzeug.formparser import MultiPartParser

from service.api.multipart import FormPart, FormTooLargeError, parts_of_form

BOUNDARY = b"b-1"
BREAKS = (b"\r\n", b"\n", b"\r")
HEADS = (
    b'Content-Disposition: form-data; name="a"',
    b'content-disposition:form-data;%bname="a/b"; filename="x y.conllu"%bContent-Type: text/plain',
    b'Content-Type: text/plain; charset=ISO-8859-1%bContent-Disposition: form-data; name="\xc3\xa9"',
    b'Content-Disposition: form-data; filename=""; name=a',
    b"Content-Disposition: form-data",
    b"Content-Type: text/plain",
)
CONTENTS = (b"", b"--b-1", b"x", b"\xe9", b"\r", b"\n--b", b"--", b"\r\n--b-10\r\n", b"\t", b" " * 20)
TRAILS = (b"--", b"--\r\nafter", b"-- \n", b"-", b"")

breaks = st.sampled_from(BREAKS)
contents = st.lists(st.sampled_from(CONTENTS), max_size=4).map(b"".join)
parts = st.lists(st.tuples(st.sampled_from(HEADS), contents, st.sampled_from((b"", b" ", b"\t "))), max_size=4)


def form_of(given_parts: list[tuple[bytes, bytes, bytes]], end: bytes, before: bytes, trail: bytes) -> bytes:
    form = before
    for head, content, padding in given_parts:
        folded = head.replace(b";%b", b";" + end + b" ").replace(b"%b", end)
        form += b"--" + BOUNDARY + padding + end + folded + end * 2 + content + end
    return form + b"--" + BOUNDARY + trail


def cut(form: bytes, size: int) -> Iterator[bytes]:
    return (form[at : at + size] for at in range(0, len(form), size))


def by_name(part: FormPart) -> tuple[str, bool]:
    return part.name, part.is_file


def as_werkzeug(form: bytes) -> list[FormPart]:
    """The parts as Werkzeug's parser finds them in one piece, by name."""
    parser = MultiPartParser(stream_factory=lambda *_, **__: io.BytesIO(), buffer_size=1 << 30)
    fields, files = parser.parse(io.BytesIO(form), BOUNDARY, None)
    return [
        *(FormPart(name or "", False, value.encode()) for name, value in fields.items(multi=True)),
        *(FormPart(name or "", True, file.read()) for name, file in files.items(multi=True)),
    ]


@given(
    given_parts=parts,
    end=breaks,
    before=st.sampled_from((b"", b"\r\n", b"preamble\r\n", b"--b-10\n")),
    trail=st.sampled_from(TRAILS),
    size=st.integers(1, 60),
)
def test_the_parts_are_those_that_werkzeug_finds(
    given_parts: list[tuple[bytes, bytes, bytes]], end: bytes, before: bytes, trail: bytes, size: int
) -> None:
    # in one piece the line feed would belong to the line end
    assume(end != b"\r" or not any(content.startswith(b"\n") for _, content, _ in given_parts))
    form = form_of(given_parts, end, before, trail)
    try:
        expected = as_werkzeug(form)
    except ValueError:
        with pytest.raises(ValueError, match=r"form|part|decode"):
            list(parts_of_form(cut(form, size), BOUNDARY, 1000, 10))
        return
    found = list(parts_of_form(cut(form, size), BOUNDARY, 1000, 10))
    assert sorted(found, key=by_name) == sorted(expected, key=by_name)


@pytest.mark.parametrize(
    ("form", "limit", "most"),
    [
        (form_of([(HEADS[0], b"x" * 200, b"")], b"\n", b"", b"--"), 100, 5),
        (form_of([(HEADS[0], b"x", b"")] * 6, b"\n", b"", b"--"), 100, 5),
        (form_of([(HEADS[0] + b";x=" + b"y" * 200, b"x", b"")], b"\n", b"", b"--"), 100, 5),
        (b"p" * 300 + b"\n--" + BOUNDARY + b"--", 100, 5),
    ],
)
def test_all_but_files_is_limited(form: bytes, limit: int, most: int) -> None:
    with pytest.raises(FormTooLargeError):
        list(parts_of_form(cut(form, 50), BOUNDARY, limit, most))


def test_a_file_may_be_larger_than_the_limit_and_is_copied_once() -> None:
    text = b"\r\n--b-2\r\n".join([b"x" * 70_000] * 3)
    form = form_of([(HEADS[1], text, b"")], b"\r\n", b"", b"--\r\n")
    assert list(parts_of_form(cut(form, 65_536), BOUNDARY, 100, 1)) == [FormPart("a/b", True, text)]


def test_a_form_is_read_to_its_end() -> None:
    pieces = cut(b"--" + BOUNDARY + b"--" + b"\r\nlater" * 100, 16)
    assert list(parts_of_form(pieces, BOUNDARY, 100, 1)) == []
    assert next(pieces, None) is None
