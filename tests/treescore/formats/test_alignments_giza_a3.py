"""GIZA++ alignments: pairs in order of their numbers, links of NULL left out, problems with their places."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from treescore.core.registry import make_format
from treescore.core.text import Limits
from treescore.core.trees import Alignments, Vocabulary
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_format, parse_spec

ONE = "# Sentence pair (1) source length 2 target length 2 alignment score : 1\nx y\nNULL ({ }) a ({ 1 }) b ({ 2 })\n"


def read(text: str, **options: Any) -> Alignments:
    treebank = make_format("giza-a3", options).read(text.encode(), Vocabulary(), Limits())
    assert isinstance(treebank, Alignments)
    return treebank


def links_of(treebank: Alignments) -> list[list[str]]:
    links = [f"{a - 1}-{b - 1}" for a, b in zip(treebank.source.tolist(), treebank.target.tolist(), strict=True)]
    bounds = treebank.offsets.tolist()
    return [links[start:stop] for start, stop in pairwise(bounds)]


def test_the_links_that_the_script_reads(golden: Any) -> None:
    for name, case in golden("field_alignment")["giza_a3"].items():
        assert links_of(read(case["text"])) == case["links"], name


def test_a_repeated_number_is_warned_of(golden: Any) -> None:
    text = golden("field_alignment")["giza_a3"]["repeated_number"]["text"]
    (warning,) = read(text).sentences.warnings
    assert (warning.code, warning.line, warning.sent_id) == ("giza-repeated-pair", 4, "1")


def test_a_lost_pair_shifts_no_other() -> None:
    spec = parse_spec({"format": {"name": "pharaoh", "base": 0}, "metrics": ["alignment"]})
    text = ONE + ONE.replace("(1)", "(3)")
    evaluation = Evaluation(spec, b"0-0 1-1\n0-0\n0-0 1-1\n")
    outcome = evaluation.score(text.encode(), parse_format("giza-a3"))[0]["alignment"]
    assert outcome.rows[:, :5].tolist() == [[2, 2, 2, 2, 2], [0, 1, 1, 0, 0], [2, 2, 2, 2, 2]]


def test_the_other_direction() -> None:
    text = ONE.replace("a ({ 1 })", "a ({ 2 })")
    assert links_of(read(text)) == [["0-1", "1-1"]]
    assert links_of(read(text, reversed=True)) == [["1-0", "1-1"]]


def test_words_may_be_brackets_and_a_side_empty() -> None:
    assert links_of(read("# Sentence pair (7)\nx\nNULL ({ }) ({ ({ 1 }) }) ({ 1 })\n")) == [["0-0", "1-0"]]
    assert links_of(read("# Sentence pair (7)\n\nNULL ({ }) a ({ })\n")) == [[]]


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("0-0 1-1\n", "giza-bad-pair", 1, 1),
        (ONE + "# Sentence pair (2)\nx\n", "giza-bad-pair", 4, 1),
        (ONE.replace("(1)", f"({10**12})"), "giza-bad-pair", 1, 18),
        (ONE.replace("({ 2 })", "({ 3 })"), "alignment-index-out-of-range", 3, 27),
        (ONE.replace("({ 2 })", "({ 0 })"), "alignment-index-out-of-range", 3, 27),
        (ONE.replace("b ({ 2 })", "\u00e9 ({ q })"), "alignment-bad-link", 3, 27),
        (ONE.replace("({ 2 })", "2"), "giza-bad-pair", 3, 22),
        (ONE.replace(" 2 })", " 2"), "giza-bad-pair", 3, 28),
        (ONE.replace("NULL", "a"), "giza-bad-pair", 3, 1),
    ],
)
def test_what_cannot_be_read_is_located(text: str, code: str, line: int, column: int) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.column) == (code, line, column)


@pytest.mark.parametrize(
    ("text", "code"), [("0p0\n", "alignment-possible-unwritable"), ("0-1\n", "alignment-null-unwritable")]
)
def test_what_the_format_cannot_say_is_refused(text: str, code: str) -> None:
    treebank = make_format("talp", {"base": 1}).read(text.encode(), Vocabulary(), Limits())
    with pytest.raises(InputError) as caught:
        make_format("giza-a3", {}).write(treebank)
    assert caught.value.problems[0].code == code


@pytest.mark.parametrize("word", ["a" * 100, "\u00e9"])
def test_a_long_line_is_read_with_the_column_of_each_link(word: str) -> None:
    size = 5_000
    linked = " ".join(f"{word} ({{ {number} }})" for number in range(1, size + 1))
    treebank = read(f"# Sentence pair (1)\n{'x ' * size}\nNULL ({{ }}) {linked}\n")
    assert treebank.columns[:2].tolist() == [
        len("NULL ({ }) ") + len(word) + 5,
        len("NULL ({ }) ") + 2 * len(word) + 14,
    ]
    assert len(treebank.source) == size
