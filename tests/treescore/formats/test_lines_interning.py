"""Readers that cut and number strings, in compiled code too, find what a plain definition finds."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.arrays import IntArray
from treescore.core.jit import forced
from treescore.core.registry import make_format
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import Vocabulary
from treescore.formats.shared import lines
from treescore.formats.shared.lines import _LINES_CUT, numbered_fields, tabs_of, without_spaces

COLUMNS = 3

# Lengths around eight and sixteen bytes, control characters that are no white space, two to four bytes a character.
STRINGS = st.text(st.sampled_from("ab_\x01\x1f\x7fé€𝄞"), max_size=18)


def lines_of(text: bytes) -> tuple[IntArray, IntArray]:
    """First byte and line feed of each line."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    return np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])[: len(ends)], ends


both_ways = pytest.mark.parametrize("setting", ["never", pytest.param("always", marks=pytest.mark.slow)])


def assert_fields(rows: list[list[str]], setting: str) -> None:
    text = "".join("\t".join(row) + "\n" for row in rows).encode()
    starts, ends = lines_of(text)
    vocabulary = Vocabulary()
    with forced(setting):
        fields = numbered_fields(text, starts, ends, COLUMNS, vocabulary)
    assert tabs_of(text, starts, ends).tolist() == [len(row) - 1 for row in rows]
    if any(len(row) != COLUMNS for row in rows):
        assert fields is None
        assert vocabulary.strings == [""]
        return
    assert fields is not None
    strings = vocabulary.strings
    assert [[strings[number] for number in fields[column]] for column in range(COLUMNS)] == [
        [row[column] for row in rows] for column in range(COLUMNS)
    ]
    assert strings == list(dict.fromkeys(["", *(field for row in rows for field in row)]))


@both_ways
@given(
    st.lists(st.lists(STRINGS, min_size=COLUMNS, max_size=COLUMNS), max_size=8)
    | st.lists(st.lists(STRINGS, min_size=COLUMNS - 1, max_size=COLUMNS + 1), max_size=4)
)
def test_fields_are_numbered_in_the_order_in_which_they_appear(setting: str, rows: list[list[str]]) -> None:
    """Lines of other lengths have no fields."""
    assert_fields(rows, setting)


@both_ways
def test_more_fields_than_the_first_table_and_the_first_cut_hold(setting: str) -> None:
    rows = [[f"{number:x}", f"long string {number % 7_000}", "_"] for number in range(40 * _LINES_CUT)]
    assert_fields(rows, setting)


TREES = st.recursive(
    st.tuples(STRINGS.filter(bool), STRINGS.filter(bool)),
    lambda children: st.tuples(STRINGS.filter(bool), st.lists(children, min_size=1, max_size=4)),
    max_leaves=8,
)
SPACES = st.sampled_from([" ", "  ", "\t ", " \x0b", "\x0c\r "])


@given(st.lists(TREES, max_size=5), SPACES)
def test_trees_are_read_as_they_were_built(trees: list[tuple[str, object]], space: str) -> None:
    rows: list[tuple[list[tuple[str, int, int]], list[tuple[str, str]]]] = []

    def written(tree: tuple[str, object]) -> str:
        label, below = tree
        nodes, words = rows[-1]
        if isinstance(below, str):
            words.append((label, below))
            return f"({label}{space}{below})"
        number = len(nodes)
        nodes.append((label, len(words), 0))
        assert isinstance(below, list)
        inside = space.join(written(child) for child in below)
        nodes[number] = (label, nodes[number][1], len(words))
        return f"({label}{space}{inside}{space})"

    text = ""
    for tree in trees:
        rows.append(([], []))
        text += written(tree) + "\n"
    reader = make_format("bracketed", {"layout": "lines"})
    treebank = reader.read(text.encode() or b"\n", Vocabulary(), DEFAULT_LIMITS)
    strings = treebank.vocabulary.strings
    found = []
    for sentence in range(len(trees)):
        nodes = slice(*treebank.node_offsets[sentence : sentence + 2])
        words = slice(*treebank.word_offsets[sentence : sentence + 2])
        spans = zip(treebank.labels[nodes], treebank.starts[nodes].tolist(), treebank.ends[nodes].tolist(), strict=True)
        leaves = zip(treebank.tags[words], treebank.words[words], strict=True)
        found.append(
            (
                [(strings[label], start, end) for label, start, end in spans],
                [(strings[tag], strings[word]) for tag, word in leaves],
            )
        )
    assert found == rows


@given(st.text(st.sampled_from("aé語ش\u0301\u200b\n\t \u00a0\u1680\u2009\u202f\u3000\u2028"), max_size=6))
def test_only_characters_of_the_category_zs_are_removed(form):
    assert without_spaces(form) == "".join(each for each in form if unicodedata.category(each) != "Zs")


def test_spaces_are_all_characters_of_the_category_zs():
    assert [*lines.SPACES] == [
        each for each in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(each) == "Zs"
    ]
