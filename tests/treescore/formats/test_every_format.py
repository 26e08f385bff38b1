"""Properties that hold of every registered format, tried on its own example and on damaged copies of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import orjson
import pytest

import treescore.formats  # noqa: F401 - importing the package registers them
from treescore.core.params import Json
from treescore.core.registry import FORMATS, Format, Text, make_format
from treescore.core.text import BOM, DEFAULT_LIMITS
from treescore.core.trees import Sentences, Vocabulary
from treescore.errors import InputError, LimitError

PLACES = {"lines", "columns", "empty_lines", "vocabulary"}
"""Members that say where something stands in a text, which writing may change."""
WHOLE_TEXT = {"empty-text", "no-sentence"}
"""Codes of problems of a text as a whole: they have no line."""
CR_CRLF_LF = (b"\r", b"\r\n", b"\n")
"""In this order a CR never stands before an LF, which would be one line end instead of two."""


STRAYS = (b"\xff", b"\r", b"(", b"\t", "\N{NO-BREAK SPACE}".encode())
"""Two of them stray into each place of a text; NUL has its own test."""
QUICK = (*FORMATS, "conllu-unreadable-sentence", "bracketed-unreadable-sentence")
"""Variants whose example is damaged at every byte in quick tests."""


def variants() -> Iterator[Any]:
    """Each format with its defaults, and with each value of each option that lists its values."""
    for name, kind in sorted(FORMATS.items()):
        yield pytest.param(name, {}, id=name)
        for option, param in kind.params.items():
            schema = param.schema
            values = schema.get("enum", [True, False] if schema.get("type") == "boolean" else [])
            for value in values:
                if value != param.default:
                    yield pytest.param(name, {option: value}, id=f"{name}-{option}-{value}")


every_format = pytest.mark.parametrize("name", sorted(FORMATS))
every_variant = pytest.mark.parametrize(("name", "options"), list(variants()))
damaged_variant = pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param(*each.values, id=each.id, marks=pytest.mark.slow if each.id not in QUICK else ())
        for each in variants()
    ],
)


def texts_of(name: str) -> list[tuple[bytes, str | None]]:
    """The example as texts that can be damaged: itself, or each of its members, and all of them as one JSON text."""
    example = FORMATS[name].example
    if isinstance(example, bytes):
        return [(example, None)]
    whole = orjson.dumps({field: text.decode() for field, text in example.items()}, option=orjson.OPT_INDENT_2)
    return [*((text, field) for field, text in example.items()), (whole, None)]


def placed(name: str, text: bytes, field: str | None) -> Text:
    """The damaged text, where it is one of several together with the others."""
    example = FORMATS[name].example
    return text if field is None or isinstance(example, bytes) else {**example, field: text}


def content(value: Any) -> Any:
    """A treebank as plain data, without the places in its text."""
    if isinstance(value, Sentences):
        attributes = {key: list(values) for key, values in value.attributes.items()}
        return list(value.sent_ids), attributes, sorted(value.unreadable)
    if is_dataclass(value):
        return {each.name: content(getattr(value, each.name)) for each in fields(value) if each.name not in PLACES}
    return value.tolist() if isinstance(value, np.ndarray) else value


def read(form: Format, text: Text, vocabulary: Vocabulary | None = None) -> Any:
    return form.read(text, vocabulary or Vocabulary(), DEFAULT_LIMITS)


def read_or_refused(form: Format, text: Text, vocabulary: Vocabulary) -> Any:
    """The treebank, or None where the text is refused with a place; any other exception fails the test."""
    try:
        return read(form, text, vocabulary)
    except (InputError, LimitError) as refused:
        problems = refused.problems
    unplaced = [each for each in problems if not (each.line or each.pointer or each.code in WHOLE_TEXT)]
    assert problems, text
    assert not unplaced, text
    return None


def assert_reads_back(form: Format, treebank: Any, vocabulary: Vocabulary) -> None:
    """What is written reads back; a treebank that cannot be written is refused by InputError."""
    try:
        text = form.write(treebank)
    except InputError:
        return
    again = read(form, text.encode(), vocabulary)
    assert content(again) == content(treebank)
    assert form.write(again) == text


def damaged(text: bytes) -> Iterator[bytes]:
    """Each beginning of a text, and the text without each single byte."""
    for place in range(len(text)):
        yield text[:place]
        yield text[:place] + text[place + 1 :]


@every_variant
def test_an_example_reads_without_warnings_and_what_is_written_reads_back(
    name: str, options: Mapping[str, Json]
) -> None:
    form, vocabulary = make_format(name, options), Vocabulary()
    treebank = read(form, FORMATS[name].example, vocabulary)
    assert isinstance(treebank, FORMATS[name].yields)
    assert len(treebank) > 1
    assert not treebank.sentences.warnings
    written = form.write(treebank)
    again = read(form, written.encode(), vocabulary)
    assert content(again) == content(treebank)
    assert form.write(again) == written


@every_variant
@pytest.mark.parametrize("ends", [(b"\r\n",), (b"\r",), CR_CRLF_LF, CR_CRLF_LF[1:] + CR_CRLF_LF[:1]])
def test_line_ends_change_nothing_or_are_reported(
    name: str, options: Mapping[str, Json], ends: tuple[bytes, ...]
) -> None:
    form = make_format(name, options)
    expected = content(read(form, FORMATS[name].example))
    for text, field in texts_of(name):
        lines = text.removesuffix(b"\n").split(b"\n")
        changed = b"".join(line + ends[number % len(ends)] for number, line in enumerate(lines))
        found = read_or_refused(form, placed(name, changed, field), Vocabulary())
        reported = found is None or any(each.code == "bare-carriage-return" for each in found.sentences.warnings)
        assert reported or content(found) == expected


@every_variant
def test_a_byte_order_mark_and_a_missing_last_line_end_change_nothing(name: str, options: Mapping[str, Json]) -> None:
    form = make_format(name, options)
    expected = content(read(form, FORMATS[name].example))
    for text, field in texts_of(name):
        for changed in (BOM + text, text.rstrip(b"\n"), BOM + text.rstrip(b"\n")):
            assert content(read(form, placed(name, changed, field))) == expected


@damaged_variant
def test_a_cut_text_or_a_lost_byte_is_an_error_with_a_place_or_reads_back(
    name: str, options: Mapping[str, Json]
) -> None:
    form, vocabulary = make_format(name, options), Vocabulary()
    for text, field in texts_of(name):
        for changed in damaged(text):
            found = read_or_refused(form, placed(name, changed, field), vocabulary)
            if found is not None and not found.sentences.unreadable:
                assert_reads_back(form, found, vocabulary)


@damaged_variant
def test_a_stray_byte_is_an_error_with_a_place_or_reads_back(name: str, options: Mapping[str, Json]) -> None:
    form, vocabulary = make_format(name, options), Vocabulary()
    for text, field in texts_of(name):
        for place in range(len(text) + 1):
            for stray in (STRAYS[place % 5], STRAYS[(place + 2) % 5]):
                changed = text[:place] + stray + text[place:]
                found = read_or_refused(form, placed(name, changed, field), vocabulary)
                if found is not None and not found.sentences.unreadable:
                    assert_reads_back(form, found, vocabulary)


@every_format
def test_a_nul_byte_is_refused_with_its_place(name: str) -> None:
    form = make_format(name, {})
    for text, field in texts_of(name):
        for place in range(len(text) + 1):
            changed = text[:place] + b"\0" + text[place:]
            with pytest.raises(InputError) as caught:
                read(form, placed(name, changed, field))
            problem = caught.value.problems[0]
            assert problem.line == text[:place].count(b"\n") + 1
            assert problem.column
