"""A text that was taken apart is put together again, byte for byte, with and without the compiler."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.jit import forced
from treescore.formats.shared.ten_fields import Streams, joined_again, put_together, taken_apart

WORD = b"1\tDogs\tdogs\tNOUN\tNNS\t_\t2\tnsubj\t_\t_"
FIELDS = [
    *["", "a", "A", "Ab", "ab", "É", "é", "_", "1", "2", "01", "10", "3-4", "1.1", "\r", " "],
    "x" * 8,
    "É" * 4,
    "yz" * 9,
]

fields = st.lists(st.sampled_from(FIELDS), min_size=10, max_size=10).map("\t".join)
numbered = st.integers(1, 12).map(lambda number: f"{number}\tForm\tform\tX\tx\t_\t0\troot\t_\t_")
others = st.sampled_from(["", "# text = Dogs", "a\tb", "\t" * 10, "\t" * 9, "x" * 40])


machine_code = pytest.mark.slow
"""Texts are taken apart by machine code only, which takes seconds to compile."""
both_ways = pytest.mark.parametrize("setting", ["never", pytest.param("always", marks=machine_code)])
TEXT = b"# a\n" + WORD + b"\n" + WORD.replace(b"1\t", b"2\t", 1) + b"\n\n"
STREAMS = Streams(
    b"\1# a\n\n\n\1\n\1\n", b"2\n2\n", b"Dogs\t\2\n" * 2, b"_\t_\n" * 2, b"NOUN\tNNS\t_\tnsubj\n", np.zeros(2, np.int32)
)


@machine_code
@given(st.lists(fields | numbered | others, max_size=30), st.booleans())
def test_any_text_is_put_together_again(lines, ended):
    text = "\n".join(lines).encode() + b"\n" * ended
    with forced("always"):
        streams = taken_apart(text)
        if streams is not None:
            assert put_together(streams, len(text)) == text
            assert joined_again(streams) == text


@machine_code
def test_what_can_be_foreseen_is_not_written():
    with forced("always"):
        streams = taken_apart(TEXT)
    assert streams is not None
    assert streams[:-1] == STREAMS[:-1]
    assert streams.codes.tolist() == [0, 0]


@machine_code
@pytest.mark.parametrize(
    "text", [b"(S (NP dog))\n", b"a\tb\n" * 9, WORD + b"\1", WORD.replace(b"Dogs", b"\2"), b"# one\n" * 9]
)
def test_other_texts_are_left_alone(text):
    with forced("always"):
        assert taken_apart(text) is None


@both_ways
@pytest.mark.parametrize("stream", ["heads", "words", "rest"])
def test_a_stream_that_ends_too_early_is_an_error_or_a_shorter_text(stream, setting):
    with forced(setting):
        assert put_together(STREAMS, len(TEXT)) == TEXT
        for size in range(len(getattr(STREAMS, stream)) - 1):
            cut = STREAMS._replace(**{stream: getattr(STREAMS, stream)[:size]})
            if setting == "always":
                with pytest.raises(ValueError, match=r"too short|no text of"):
                    put_together(cut, len(TEXT))
            else:
                with suppress(ValueError):
                    assert len(put_together(cut, len(TEXT))) < len(TEXT)


@machine_code
def test_a_text_is_never_longer_than_its_room():
    for size in range(len(TEXT) - 1):
        with forced("always"), pytest.raises(ValueError, match=r"too short|no text of"):
            put_together(STREAMS, size)


@both_ways
@pytest.mark.parametrize("size", [-1, 1 << 40, 1 << 62])
def test_no_memory_is_taken_for_a_size_that_cannot_be(size, setting):
    with forced(setting), pytest.raises(ValueError, match="no text of"):
        put_together(STREAMS, size)
