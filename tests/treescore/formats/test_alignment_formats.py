"""Pharaoh, Talp and NAACL: what they read, what they write, what they refuse and where."""

from __future__ import annotations

import contextlib
import re
import tracemalloc
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import make_format
from treescore.core.text import Limits
from treescore.core.trees import Alignments, Vocabulary
from treescore.errors import InputError, LimitError, Problem
from treescore.evaluation.spec import suggestions
from treescore.formats import alignments
from treescore.formats.shared import links as shared
from treescore.problem_catalogue import CATALOGUE

LIMITS = Limits()


def read(name: str, text: str | bytes, limits: Limits = LIMITS, **options: Any) -> Alignments:
    data = text if isinstance(text, bytes) else text.encode()
    treebank = make_format(name, options).read(data, Vocabulary(), limits)
    assert isinstance(treebank, Alignments)
    return treebank


def problems(name: str, text: str | bytes, **options: Any) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        read(name, text, **options)
    return caught.value.problems


def links(treebank: Alignments) -> list[list[tuple[int, int, bool]]]:
    rows = list(zip(treebank.source.tolist(), treebank.target.tolist(), treebank.sure.tolist(), strict=True))
    bounds = treebank.offsets.tolist()
    return [rows[a:b] for a, b in pairwise(bounds)]


def test_pharaoh_counts_from_0_and_talp_from_1() -> None:
    assert links(read("pharaoh", "1-2 0-0 1p0\n\n0?1")) == [
        [(1, 1, True), (2, 1, False), (2, 3, True)],
        [],
        [(1, 2, False)],
    ]
    assert links(read("talp", "1-1 3P4 0-2\n")) == [[(0, 2, True), (1, 1, True), (3, 4, False)]]


def test_base_and_direction_are_options() -> None:
    assert links(read("pharaoh", "1-2\n", base=1)) == [[(1, 2, True)]]
    assert links(read("pharaoh", "0-1\n", reversed=True)) == [[(2, 1, True)]]
    assert links(read("naacl", "7 0 1\n", base=0, reversed=True)) == [[(2, 1, True)]]


@pytest.mark.parametrize("written", ["{} {}", "     {}\t{}"])
@pytest.mark.parametrize("rows", [["1 1 1", "1 2 4", "2 3 2"], ["0001 1 1 S", "0001 2 4 P", "2 3 2 S"]])
def test_links_whose_lines_are_numbered_are_refused(rows: list[str], written: str) -> None:
    text = "\n".join(written.format(number, row) for number, row in enumerate(rows, 1)) + "\n"
    [problem] = problems("naacl", text)
    assert (problem.code, problem.line, problem.column) == ("numbered-lines", 1, 1)


@pytest.mark.parametrize(
    "text",
    ["1 1 5 7\n2 1 1 9\n3 0 1 5\n", "1 1 5 1\n2 2 2 0\n", "1 1 1 0.5\n2 2 2 7\n", "1 1 1 7\n3 2 2 7\n", "1 1 5 7\n"],
)
def test_confidences_of_the_first_links_of_sentences_are_no_numbered_lines(text: str) -> None:
    assert len(read("naacl", text).source) == text.count("\n")


@pytest.mark.parametrize("row", ["{} 1 1 1", "1 1 1 {}"])
def test_a_very_long_number_is_read_or_refused(row: str) -> None:
    text = (row.format("9" * 5000) + "\n") * 3
    assert len(read("naacl", text).source) == 1


def test_a_link_given_twice_is_one_sure_if_either_is() -> None:
    assert links(read("pharaoh", "0p0 0-0 0p0 1p1 1p1\n")) == [[(1, 1, True), (2, 2, False)]]


@pytest.mark.parametrize(
    "text",
    [
        "0-0 1p1 ||| -12.5\n ||| -1\n0-0 ||| -inf",
        "0-0 1p1 |||\n ||| \n0-0 ||| ",
        "a b ||| c d ||| 0-0 1p1 ||| -12.5\na ||| b ||| ||| -1e-05\na ||| 1 |||0-0|||0",
        "0-0-0.93 1p1-.8\n\n0-0-1",
        "0-0:0.93 1?1:-2\n\n0-0--0.07 ||| 3",
    ],
)
def test_scores_and_confidences_of_aligners_are_passed_over(text: str) -> None:
    assert links(read("pharaoh", text)) == [[(1, 1, True), (2, 2, False)], [], [(1, 1, True)]]
    assert suggestions(text.encode())[0].name == "pharaoh"


def test_one_fault_in_every_line_is_one_problem() -> None:
    both = problems("pharaoh", "0-x y\n" * 30)
    assert [(each.line, each.column) for each in both] == [(1, 1), (1, 5)]
    assert all("(and 29 more lines like it)" in each.detail for each in both)


def test_aligners_own_prefixes_are_passed_over() -> None:
    assert links(read("pharaoh", "das haus ||| the house ||| 0-0 1-1\nça ||| it |||\n")) == [
        [(1, 1, True), (2, 2, True)],
        [],
    ]
    assert links(read("pharaoh", "0\t0-0 1p1\n1\t\n2\t0-0\n")) == [[(1, 1, True), (2, 2, False)], [], [(1, 1, True)]]
    (problem,) = problems("pharaoh", "0\t0-0\n2\t0-0\n")
    assert (problem.code, problem.line) == ("alignment-line-order", 2)
    assert problems("pharaoh", "é ||| e ||| 0-x\n")[0].column == 13


def test_naacl_names_flags_and_confidences() -> None:
    text = "0002 1 1\n0002 1 2 P\n  1\t2 2 s 0.5\n1 3 3 1e-3 p\n1 4 4 .7\n2 5 5 P 1\n"
    treebank = read("naacl", text)
    assert treebank.pair_ids == ["2", "1"]
    assert treebank.sentences.sent_ids == ["0002", "1"]
    assert links(treebank) == [
        [(1, 1, True), (1, 2, False), (5, 5, False)],
        [(2, 2, True), (3, 3, False), (4, 4, True)],
    ]
    assert treebank.lines.tolist() == [1, 2, 6, 3, 4, 5]


def test_naacl_can_be_told_how_many_pairs_there_are() -> None:
    assert links(read("naacl", "003 1 1\n", sentences=4)) == [[], [], [(1, 1, True)], []]
    (problem,) = problems("naacl", "1 1 1\n5 1 1\n", sentences=4)
    assert (problem.code, problem.line, problem.column) == ("alignment-unknown-sentence", 2, 1)
    assert problem.sent_id == "5"


@pytest.mark.parametrize(
    ("name", "text", "code", "line", "column"),
    [
        ("pharaoh", "0-0\n1-1 x\n", "alignment-bad-link", 2, 5),
        ("pharaoh", "0-0 1--1\n", "alignment-index-out-of-range", 1, 5),
        ("pharaoh", "-1-0\n", "alignment-index-out-of-range", 1, 1),
        ("pharaoh", "0-99999999999999999999999\n", "alignment-index-out-of-range", 1, 1),
        ("pharaoh", "0-\n", "alignment-bad-link", 1, 1),
        ("pharaoh", "-0\n", "alignment-bad-link", 1, 1),
        ("pharaoh", "0-1-2\n", "alignment-bad-link", 1, 1),
        ("pharaoh", "0-1.5\n", "alignment-bad-link", 1, 1),
        ("pharaoh", "0-0-0.9x 1-1:\n", "alignment-bad-link", 1, 1),
        ("pharaoh", "a ||| 5\n", "alignment-bad-link", 1, 1),
        ("talp", "1-1 ٣-٣\n", "alignment-bad-link", 1, 5),
        ("talp", "é 1-1\n", "alignment-bad-link", 1, 1),
        ("talp", "1-1 é é\n", "alignment-bad-link", 1, 5),
        ("naacl", "1 1\n", "alignment-wrong-field-count", 1, 1),
        ("naacl", "1 1 1\n1 1 1 S 1 1\n", "alignment-wrong-field-count", 2, 1),
        ("naacl", "1 1x 1\n", "alignment-bad-link", 1, 3),
        ("naacl", "1 1 -1\n", "alignment-index-out-of-range", 1, 5),
        ("naacl", "1 1 100001\n", "alignment-index-out-of-range", 1, 5),
        ("naacl", "1 1 1 X\n", "alignment-bad-flag", 1, 7),
        ("naacl", "1 1 1 S P\n", "alignment-bad-flag", 1, 9),
        ("naacl", "1 1 1 0.5 0.5\n", "alignment-bad-flag", 1, 11),
        ("pharaoh", "", "empty-text", None, None),
        ("pharaoh", b"\xef\xbb\xbf", "empty-text", None, None),
        ("pharaoh", b"0-0 \xff\n", "invalid-utf8", 1, 5),
        ("naacl", "1 1 1\n1 \0 1\n", "nul-character", 2, 3),
    ],
)
def test_what_is_refused_and_where(
    name: str, text: str | bytes, code: str, line: int | None, column: int | None
) -> None:
    problem = problems(name, text)[0]
    assert (problem.code, problem.line, problem.column) == (code, line, column)


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("pharaoh", "x\n", "as in 3-4 or 3p4"),
        ("talp", "x\n", "as in 3-4 or 3p4"),
        ("naacl", "1 x 1\n", "sentence, source word, target word"),
        ("giza-a3", "# Sentence pair (1)\na\nNULL ({ }) b ({ x })\n", "NULL ({ }) word ({ 1 2 })"),
    ],
)
def test_of_a_bad_link_the_message_alone_shows_how_its_format_writes_links(name: str, text: str, form: str) -> None:
    problem = problems(name, text)[0]
    assert (problem.code, form in problem.detail) == ("alignment-bad-link", True)
    assert not re.search("[0-9]", CATALOGUE[problem.code].fix)


def test_several_problems_at_once_up_to_the_cap() -> None:
    with pytest.raises(InputError) as caught:
        read("pharaoh", "".join(f"x{n} 0-0 y{n}\n" for n in range(30)))
    assert (len(caught.value.problems), caught.value.total) == (20, 60)
    assert [problem.sentence for problem in caught.value.problems[:3]] == [1, 1, 2]


ODD = "1-1 é 2-0 0-1 2-0\n\n  0-0 1-1 x 0p0 4-4 4-4 3-3\r\n0-0\x0b9-9-0.5\n"


def test_nothing_tells_into_which_pieces_a_text_was_split(monkeypatch: pytest.MonkeyPatch) -> None:
    good = ODD.replace("é", "").replace("x", "") * 3
    whole, faults = read("pharaoh", good), problems("pharaoh", ODD)
    monkeypatch.setattr(shared, "PIECE", 7)
    split = read("pharaoh", good)
    for column in ("source", "target", "sure", "offsets", "lines", "columns"):
        assert getattr(split, column).tolist() == getattr(whole, column).tolist()
    assert problems("pharaoh", ODD) == faults


_GRID = [(i, j) for i in range(1, 10) for j in range(1, 10)]
DENSE = {
    "pharaoh": "0-0 " + " ".join(f"{i}-{j}" for i, j in _GRID) + "\n",
    "talp": " ".join(["1-1"] * 100) + "\n",
    "naacl": "".join(f"@ {i} {j}\n" for i, j in _GRID),
    "giza-a3": "# Sentence pair (@)\n" + "a " * 9 + "\nNULL ({ }) " + "a ({ 1 2 3 4 5 6 7 8 9 }) " * 9 + "\n",
}
"""A pair of each format with many links in few bytes."""


@pytest.mark.parametrize(("name", "pair"), DENSE.items())
def test_a_byte_of_links_takes_less_than_ten_bytes_of_memory(
    name: str, pair: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "PIECE", 1 << 9)
    monkeypatch.setattr(alignments, "_AT_ONCE", 4)
    text = "".join(pair.replace("@", str(number)) for number in range(60)).encode()
    tracemalloc.start()
    read(name, text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * len(text)


def test_a_limit_on_sentence_pairs() -> None:
    few = replace(LIMITS, max_sentences=2)
    for name, text in (("pharaoh", "\n\n\n"), ("naacl", "1 1 1\n2 1 1\n3 1 1\n")):
        with pytest.raises(LimitError):
            read(name, text, few)
    with pytest.raises(LimitError, match="at most 100000"):
        read("naacl", "1 1 1\n", sentences=100_001)


def test_a_link_to_null_cannot_be_written_from_0() -> None:
    treebank = read("talp", "0-1\n")
    assert make_format("talp", {}).write(treebank) == "0-1\n"
    with pytest.raises(InputError) as caught:
        make_format("pharaoh", {}).write(treebank)
    assert caught.value.problems[0].code == "alignment-null-unwritable"


POSITION = st.integers(1, 300)
PAIRS = st.lists(st.dictionaries(st.tuples(POSITION, POSITION), st.booleans(), max_size=6), min_size=1, max_size=6)


@given(PAIRS, st.sampled_from(["pharaoh", "talp", "naacl"]), st.sampled_from([0, 1]), st.booleans())
def test_what_is_written_reads_back(pairs: list[Any], name: str, base: int, turned: bool) -> None:  # noqa: FBT001
    text = "".join(" ".join(f"{a}{'-' if sure else 'p'}{b}" for (a, b), sure in p.items()) + "\n" for p in pairs)
    treebank = read("talp", text)
    options: dict[str, Any] = {"base": base, "reversed": turned}
    if name == "naacl":
        options["sentences"] = len(pairs)
    written = make_format(name, options).write(treebank)
    again = read(name, written, **options)
    assert links(again) == links(treebank)
    assert make_format(name, options).write(again) == written


@given(st.sampled_from(["pharaoh", "talp", "naacl"]), st.text(alphabet="01289-pPS?|\t \n\r.é\0x", max_size=40))
def test_any_text_is_read_or_refused(name: str, text: str) -> None:
    with contextlib.suppress(InputError):
        treebank = read(name, text)
        assert len(treebank.source) == treebank.offsets[-1]


def test_of_several_names_that_two_files_share_the_first_in_the_text_is_reported():
    text = "".join(f"{name} 1 1\n" for name in ("ten", "nine", "eight", "7", "6", "5", "4", "3", "2", "1")).encode()
    with pytest.raises(InputError) as caught:
        make_format("naacl", {}).joinable({"/a": text, "/b": text})
    assert caught.value.problems[0].detail.startswith("Sentence 'ten' is in '/a' too.")
