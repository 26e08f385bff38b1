"""Bracketed trees are read and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from treescore.core.registry import make_format
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.core.trees import NO_TAG, ConstituentTreebank, Vocabulary
from treescore.errors import InputError, LimitError, Problem
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec


def read(text: str | bytes, limits: Limits = DEFAULT_LIMITS, **options: object) -> ConstituentTreebank:
    given_bytes = text.encode() if isinstance(text, str) else text
    treebank = make_format("bracketed", options).read(given_bytes, Vocabulary(), limits)
    assert isinstance(treebank, ConstituentTreebank)
    return treebank


def write(treebank: ConstituentTreebank) -> str:
    return make_format("bracketed", {}).write(treebank)


def nodes(treebank: ConstituentTreebank, sentence: int = 0) -> list[tuple[str, int, int]]:
    part = slice(*treebank.node_offsets[sentence : sentence + 2])
    columns = (treebank.labels[part], treebank.starts[part], treebank.ends[part])
    strings = treebank.vocabulary.strings
    return [(strings[label], start, end) for label, start, end in np.stack(columns, axis=1).tolist()]


def words(treebank: ConstituentTreebank, sentence: int = 0) -> list[tuple[str, str | None]]:
    part = slice(*treebank.word_offsets[sentence : sentence + 2])
    strings = treebank.vocabulary.strings
    return [
        (strings[form], None if tag == NO_TAG else strings[tag])
        for form, tag in zip(treebank.words[part].tolist(), treebank.tags[part].tolist(), strict=True)
    ]


def problems(text: str | bytes, **options: object) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        read(text, **options)
    return list(caught.value.problems)


def test_penn_brackets_give_constituents_in_pre_order_and_tagged_words() -> None:
    tree = read("(S (NP (DT the) (NN dog)) (VP (VBD ran)))\n")
    assert nodes(tree) == [("S", 0, 3), ("NP", 0, 2), ("VP", 2, 3)]
    assert words(tree) == [("the", "DT"), ("dog", "NN"), ("ran", "VBD")]


def test_square_brackets_hold_words_without_tags() -> None:
    tree = read("[S [N1 two [N1 tax revision ] bills ] were passed ]")
    assert nodes(tree) == [("S", 0, 6), ("N1", 0, 4), ("N1", 1, 3)]
    assert words(tree)[:2] == [("two", None), ("tax", None)]
    assert nodes(read("[S [N (it) ] ]")) == [("S", 0, 1), ("N", 0, 1)]


def test_an_outer_bracket_has_the_empty_label() -> None:
    for text in ("( (S (X x)) )", "((S (X x)))", "(\n(S (X x))\n)"):
        assert nodes(read(text, layout="free")) == [("", 0, 1), ("S", 0, 1)]


def test_labels_keep_function_tags_indices_and_any_unicode() -> None:
    tree = read("(S=2 (NP-SBJ-1|X (ÄÖ 上\u3000海) (-NONE- *T*-1)))")
    assert nodes(tree) == [("S=2", 0, 2), ("NP-SBJ-1|X", 0, 2)]
    assert words(tree) == [("上\u3000海", "ÄÖ"), ("*T*-1", "-NONE-")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(NN dog )", [("dog", "NN")]),
        ("( NN dog)", [("dog", "NN")]),
        ("( dog)", [("dog", "")]),
        ("(NN )", [("", "NN")]),
        ("( )", [("", "")]),
        ("(NN\x0bdog)", [("dog", "NN")]),
        ("(NP the man)", [("the", None), ("man", None)]),
        ("(NP the (NN man))", [("the", None), ("man", "NN")]),
        ("(NP (DT the) man)", [("the", "DT"), ("man", None)]),
    ],
)
def test_blanks_and_bare_words(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert words(read(text)) == expected


def test_brackets_without_words_are_constituents() -> None:
    assert nodes(read("()")) == [("", 0, 0)]
    assert nodes(read("(S (NP) (X x))")) == [("S", 0, 1), ("NP", 0, 0)]


def test_a_line_is_a_sentence_blank_or_a_forest() -> None:
    tree = read("(S (X x))\n\n(S (X x)) (T (Y y))\n", layout="lines")
    assert [len(nodes(tree, sentence)) for sentence in range(3)] == [1, 0, 2]
    assert tree.lines.tolist() == [1, 2, 3]


def test_trees_may_spread_over_lines() -> None:
    text = "\n(S\n  (NP (DT the)\n      (NN dog)))\n\n(S (X\n x))(T (Y y))"
    tree = read(text)
    assert [nodes(tree, sentence)[0][0] for sentence in range(3)] == ["S", "S", "T"]
    assert tree.lines.tolist() == [2, 6, 7]


def test_without_a_layout_the_margin_decides() -> None:
    assert len(read("\n(S (X x)) (S (X x))\n\n")) == 3
    assert len(read("(S\n(X x))\n\n\n(S (X x))")) == 2
    assert len(read("(S (X x))\n(S\n (X x))\n")) == 2


def test_bare_carriage_returns_are_one_line_and_a_warning() -> None:
    tree = read("(S (X x))\r(S (X x))\r")
    assert len(tree) == 1
    assert [problem.code for problem in tree.sentences.warnings] == ["bare-carriage-return"]


def test_what_cannot_be_read_names_its_place_and_the_mend() -> None:
    found = problems("(S (X x))\n(S (Ä x)(NP (X x)\n(S (Ä x)))\nNULL (X x)\n", layout="lines")
    assert [(p.code, p.sentence, p.line, p.column) for p in found] == [
        ("bracket-unclosed", 2, 2, 9),
        ("bracket-unopened", 3, 3, 10),
        ("text-outside-brackets", 4, 4, 1),
    ]
    assert "2 brackets are open, the last '(NP'" in found[0].detail
    assert "'NULL'" in found[2].detail


def test_problems_are_capped_and_counted() -> None:
    with pytest.raises(InputError) as caught:
        read("".join(f"x{n}\n" for n in range(100)), layout="lines")
    assert (len(caught.value.problems), caught.value.total) == (20, 100)


def test_in_spread_trees_a_lost_bracket_costs_its_own_sentence() -> None:
    text = "(S\n  (X x))\n(S\n  (X x)\n(S\n  (X x))\n"
    assert [(p.sentence, p.line) for p in problems(text)] == [(2, 3)]
    tree = read(text, unreadable="sentence")
    assert list(tree.sentences.unreadable) == [1]
    assert len(tree) == 3


def test_in_spread_trees_stray_text_is_a_sentence_and_a_stray_bracket_spoils_the_one_before() -> None:
    text = "(S\n (X x))\nNULL null\n(S (X x)))\n(S (X x))\n"
    tree = read(text, unreadable="sentence")
    assert {n: p.code for n, p in tree.sentences.unreadable.items()} == {
        1: "text-outside-brackets",
        2: "bracket-unopened",
    }
    assert len(tree) == 4


def test_an_unbalanced_sentence_keeps_its_words_and_one_with_stray_text_does_not() -> None:
    tree = read("(S (X x)\n(S (X x)) y\n", layout="lines", unreadable="sentence")
    assert words(tree, 0) == [("x", "X")]
    assert words(tree, 1) == []
    assert tree.sentences.unreadable[0].unclosed == (0,)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "empty-text"),
        (b"(S (X a\0b))", "nul-character"),
        (b"(S\n (X \xff))", "invalid-utf8"),
        (b"\xff", "invalid-utf8"),
    ],
)
def test_what_is_no_text_is_refused(text: bytes, code: str) -> None:
    assert [problem.code for problem in problems(text)] == [code]


def test_where_sentences_may_fail_a_nul_ends_a_word_as_it_does_for_evalb() -> None:
    assert words(read(b"(S (X a\0b))", unreadable="sentence")) == [("a", "X")]


def limit(text: str, limits: Limits = DEFAULT_LIMITS) -> Problem:
    with pytest.raises(LimitError) as caught:
        read(text, limits, layout="lines")
    return caught.value.problems[0]


def test_bounds_are_kept_and_named() -> None:
    small = Limits(max_sentences=2, max_words=3, max_depth=2)
    assert limit("(S (X x))\n" * 3, small).code == "too-many-sentences"
    problem = limit("(S (X x))\n(S (A (B (X x))))\n", small)
    assert (problem.code, problem.sentence, problem.line, problem.column) == ("too-deep", 2, 2, 7)
    assert limit("(S (X x)(X x)(X x)(X x))\n", small).code == "too-many-words"
    assert len(read("(S (A (X x)(X x)(X x)))\n" * 2, small)) == 2


@pytest.mark.slow
def test_absurd_sentences_are_refused_at_once() -> None:
    assert limit("(" * 100_000 + ")" * 100_000).code == "too-deep"
    assert limit("(S " + "(X x)" * 1_000_000 + ")").code == "too-many-words"


@pytest.mark.parametrize(
    "text",
    ["(X " * 5_000 + "(N n)" + ")" * 5_000, "(S " + "(A (N n))" * 5_000 + ")", "(S (N n)" * 5_000 + ")" * 5_000],
    ids=["deep", "long", "both"],
)
def test_a_huge_sentence_is_scored(text: str) -> None:
    spec = parse_spec({"format": "bracketed", "metrics": ["parseval"]})
    outcome = Evaluation(spec, text.encode()).score(text.encode())[0]["parseval"]
    assert outcome.totals[0] == outcome.totals[1] == outcome.totals[2] >= 5_000


@given(
    text=st.text(alphabet="()[] \n\r\tXé-", max_size=60),
    options=st.sampled_from([{}, {"layout": "free"}, {"layout": "lines"}]),
)
@example(text="\r", options={})
def test_any_text_is_read_or_refused_with_places(text: str, options: dict[str, Any]) -> None:
    if not text:
        return
    tree = read(text, unreadable="sentence", **options)
    assert (np.diff(tree.node_offsets) >= 0).all()
    assert (tree.ends >= tree.starts).all()
    for problem in tree.sentences.unreadable.values():
        assert problem.line is not None
        assert problem.column is not None
    if tree.sentences.unreadable:
        assert problems(text, **options)
    else:
        assert len(read(text, **options)) == len(tree)


def test_numbers_of_strings_are_shared_with_what_was_read_before() -> None:
    vocabulary = Vocabulary()
    bracketed = make_format("bracketed", {})
    first = bracketed.read(b"(S (X x))", vocabulary, DEFAULT_LIMITS)
    second = bracketed.read(b"(Y (X x))", vocabulary, DEFAULT_LIMITS)
    assert isinstance(first, ConstituentTreebank)
    assert isinstance(second, ConstituentTreebank)
    assert first.words.tolist() == second.words.tolist()
    assert vocabulary.strings[second.labels[0]] == "Y"


def test_many_distinct_strings() -> None:
    """More than the table of strings holds at first, in one sentence."""
    count = 5000
    tree = read("(S " + "".join(f"(T{n} w{n})" for n in range(count)) + ")")
    assert words(tree) == [(f"w{n}", f"T{n}") for n in range(count)]


@pytest.mark.slow
def test_real_files_read_back_as_written(real_data: Path) -> None:
    tree = read((real_data / "gum" / "gold.mrg").read_bytes())
    assert len(tree) == 1200
    assert write(read(write(tree))) == write(tree)


@pytest.mark.parametrize(
    ("text", "places", "said"),
    [
        ("(S (X x))\n(S (PRP (Dia)) (V v))\n", [(2, 2, 9)], "(Dia) is a bracket without words and is dropped"),
        ("(S\n  (NP (PRP (Dia)))\n  (V (pergi)) (X x))\n", [(1, 2, 12), (1, 3, 6)], "write (PRP Dia)."),
        ("(S (NP)(X x))\n((a) (X x))\n", [(1, 1, 4), (2, 2, 2)], "if it is a word, write (S NP)."),
        ("[S [NP] [VP ran ] ]\n", [(1, 1, 4)], "if it is a word, write NP."),
        ("(S (NP )(X x))\n()\n\n", [], ""),
    ],
)
def test_a_bracket_without_words_is_a_warning(text: str, places: list[tuple[int, int, int]], said: str) -> None:
    warnings = read(text).sentences.warnings
    assert [(each.sentence, each.line, each.column) for each in warnings] == places
    assert {each.code for each in warnings} <= {"bracket-without-words"}
    assert said in (warnings[0].detail if warnings else "")
