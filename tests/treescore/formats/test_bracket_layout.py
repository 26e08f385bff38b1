"""The layout of bracketed trees where none is given: what the rule tells, and how messages name it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from tests.treescore.building import tree_strings
from treescore.core.registry import make_format
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.core.trees import ConstituentTreebank, Vocabulary
from treescore.errors import InputError, LimitError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.formats.shared import bracket_reader
from treescore.formats.shared.bracket_reader import layout_of

CASES: dict[str, dict[str, Any]] = json.loads((GOLDEN / "field_layout.json").read_text(encoding="utf-8"))["cases"]


def read(text: str, limits: Limits = DEFAULT_LIMITS, **options: object) -> ConstituentTreebank:
    treebank = make_format("bracketed", options).read(text.encode(), Vocabulary(), limits)
    assert isinstance(treebank, ConstituentTreebank)
    return treebank


def by_the_definition(text: str) -> str:
    """The rule in plain Python, line by line."""
    opening, closing = "[]" if text.lstrip(" \t\n\v\f\r")[:1] == "[" else "()"
    lines = [line for line in text.split("\n") if line.strip(" \t\v\f\r")]
    if not lines:
        return "lines"
    columns = [len(line.expandtabs(8)) - len(line.expandtabs(8).lstrip(" ")) for line in lines]
    nets = [line.count(opening) - line.count(closing) for line in lines]
    groups: list[list[int]] = []
    for column, net in zip(columns, nets, strict=True):
        if column <= columns[0]:
            groups.append([])
        groups[-1].append(net)
    if any(len(group) > 1 and sum(group) == 0 and group[0] != 0 for group in groups):
        return "free"
    return "free" if nets[0] != 0 and sum(nets) == 0 else "lines"


@pytest.mark.parametrize("name", CASES)
def test_the_golden_cases(name: str) -> None:
    text = CASES[name]["text"]
    assert layout_of(text.encode()) == by_the_definition(text) == CASES[name]["layout"]


def read_or_refused(text: str, **options: object) -> str | list[str]:
    """The trees as the format writes them, or the codes of the errors."""
    try:
        return make_format("bracketed", {}).write(read(text, **options))
    except InputError as error:
        return [problem.code for problem in error.problems]


@pytest.mark.parametrize("name", CASES)
def test_the_golden_cases_are_read_as_with_their_layout(name: str) -> None:
    text = CASES[name]["text"]
    assert read_or_refused(text) == read_or_refused(text, layout=CASES[name]["layout"])


@given(st.text(alphabet="() \tx\n", max_size=80))
def test_one_pass_finds_what_the_definition_says(text: str) -> None:
    assert layout_of(text.encode()) == by_the_definition(text)


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("[S a ]\n[S\n [X b ]\n]\n", "lines"),  # the last bracket is at the margin, so no group is balanced
        ("[S a ]\n[S\n [X b ]]\n", "free"),
        ("[S\n [X (b ]\n]\n", "free"),
        ("  (S (A a))\n  (S\n    (B b))\n", "free"),
        ("  (S (A a))\n(S (B b)\n   (C c))\n", "free"),  # left of the margin
        ("\t(S\n        (A a)\n\t\t(B b))\n", "free"),  # eight blanks are at the margin, so the whole text tells
        ("(S (A a))\r\n(S\r\n (B b))\r\n\r\n", "free"),
        ("(S (A a))\r(S\r (B b))\r", "lines"),
        ("", "lines"),
        (" \n\t\n", "lines"),
        ("(S (A a))\n\n  \n(S (B b))", "lines"),
        ("(S (A a\n (B b))\n(S (C c))\n", "lines"),
    ],
)
def test_margins_tabs_and_line_ends(text: str, layout: str) -> None:
    assert layout_of(text.encode()) == layout


def spread(tree: str, indent: str, width: int) -> str:
    """Write a tree over lines as treebanks do: a bracket that does not fit begins a line, one step deeper."""
    depth, lines = 0, [""]
    for piece in tree.replace("(", "\0(").split("\0"):
        if lines[-1].strip() and len(lines[-1]) + len(piece) > width:
            lines.append(indent * depth)
        lines[-1] += piece
        depth += piece.count("(") - piece.count(")")
    return "\n".join(lines) + "\n"


@given(
    trees=st.lists(tree_strings(), min_size=1, max_size=6),
    indent=st.sampled_from([" ", "  ", "\t"]),
    width=st.integers(1, 40),
    between=st.sampled_from(["", "\n"]),
)
def test_spread_trees_are_read_as_their_lines_are(trees: list[str], indent: str, width: int, between: str) -> None:
    lines = "".join(tree.strip() + "\n" for tree in trees)
    text = between.join(spread(tree.strip(), indent, width) for tree in trees)
    tree, again = read(lines, layout="lines"), read(text, layout=None if text != lines else "lines")
    if between and text.replace("\n\n", "\n") == lines:
        return  # blank lines between trees on lines are sentences
    write = make_format("bracketed", {}).write
    assert write(again) == write(tree)


@given(st.lists(tree_strings(), min_size=1, max_size=6))
def test_what_the_format_writes_is_in_lines(trees: list[str]) -> None:
    text = make_format("bracketed", {}).write(read("\n".join(tree.strip() for tree in trees), layout="lines"))
    assert layout_of(text.encode()) == "lines"


@pytest.mark.slow
def test_few_broken_files_of_lines_are_taken_for_spread(real_data: Path) -> None:
    """Brackets lost or added at random: only where those of the first line and of the rest cancel out."""
    chance = np.random.default_rng(1)
    trees = (real_data / "gum" / "gold.mrg").read_text(encoding="utf-8").splitlines()
    taken = 0
    for _ in range(400):
        lines = [trees[number] for number in chance.integers(len(trees), size=20)]
        for number in chance.integers(20, size=chance.integers(1, 6)):
            at = int(chance.integers(len(lines[number])))
            lines[number] = lines[number][:at] + str(chance.choice(["", "(", ")"])) + lines[number][at + 1 :]
        text = "\n".join(lines) + "\n"
        if layout_of(text.encode()) == "free":
            taken += 1
            assert lines[0].count("(") != lines[0].count(")")
            assert text.count("(") == text.count(")")
    assert taken <= 12


def test_each_byte_is_counted_a_constant_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the margins and groups are."""
    counted = []
    left_open = bracket_reader._left_open

    def noted(part: Any, opening: int, closing: int) -> int:
        counted.append(len(part))
        return left_open(part, opening, closing)

    monkeypatch.setattr(bracket_reader, "_left_open", noted)
    for unit in ("(S\n", " (\n", "\n", "\t \n", "(S (A a))\n", " )\n(\n", "((((("):
        counted.clear()
        layout_of(unit.encode() * 500)
        assert sum(counted) <= 4 * len(unit) * 500


def messages(text: str, **options: object) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(text, **options)
    return [problem.detail for problem in caught.value.problems]


LINES = 'The layout was taken to be "lines"; if trees are spread over lines, set {"layout": "free"}.'
FREE = 'The layout was taken to be "free"; if every line is a sentence, set {"layout": "lines"}.'


def test_errors_name_a_layout_that_was_not_given() -> None:
    broken = "(S\n(A a)\n(S\n(A a))\n"
    assert [LINES in detail for detail in messages(broken)] == [True, False]  # the third is like the first
    assert not any("layout" in detail for detail in messages(broken, layout="lines"))
    assert FREE in messages("(S\n (A a))\n(S (A a)))\n")[0]
    assert LINES in messages("NULL\n")[0]
    tree = read(broken, unreadable="sentence")
    assert all(LINES in problem.detail for problem in tree.sentences.unreadable.values())


def test_limits_name_it_too() -> None:
    with pytest.raises(LimitError) as caught:
        read("(S (A a) (B b) (C c))\n", Limits(max_words=2))
    assert LINES in caught.value.problems[0].detail


def test_unequal_numbers_of_sentences_name_it() -> None:
    spec = parse_spec({"format": "bracketed", "metrics": ["parseval"]})
    with pytest.raises(InputError) as caught:
        Evaluation(spec, b"(S (A a))\n(S (A a))\n\n").score(b"(S\n (A a))\n(S\n (A a))\n")
    [problem] = caught.value.problems
    assert problem.code == "sentence-count-mismatch"
    assert FREE in problem.detail
    assert "Of gold:" not in problem.detail
    assert problem.gold_detail is not None
    ending = "Gold ends with 1 blank line: remove what stands for no sentence."
    assert problem.gold_detail.endswith(f"{ending} Of gold: {LINES}")
    assert "blank line" not in problem.detail


def test_files_of_one_text_are_told_one_by_one() -> None:
    bracketed = make_format("bracketed", {})
    with pytest.raises(InputError) as caught:
        bracketed.joinable({"/a": b"(S (A a))\n", "/b": b"(S (A a))\n(S\n (A a))\n"})
    assert caught.value.problems[0].code == "files-differ"
    assert 'this one was taken to be "free", the first "lines"' in caught.value.problems[0].detail
    with pytest.raises(InputError) as caught:
        bracketed.joinable({"/a": b"(S\n (A a))\n(S\n (A a)\n"})
    assert caught.value.problems[0].code == "bracket-unclosed"
    assert FREE in caught.value.problems[0].detail
    pieces = bracketed.joinable({"/a": b"(S (A a))\n(S\n (A a))", "/b": b"(S\n (A a))\n"})
    assert layout_of(b"".join(pieces)) == "free"
