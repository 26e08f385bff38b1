"""MINIPAR tuples: each doubtful point of the published description, settled; what is written reads back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import make_format
from treescore.core.text import Limits
from treescore.core.trees import NO_HEAD, ODD_HEAD, DependencyTreebank, Vocabulary
from treescore.errors import InputError, LimitError, Problem

LIMITS = Limits()


def read(text: str, limits: Limits = LIMITS) -> DependencyTreebank:
    treebank = make_format("minipar", {}).read(text.encode(), Vocabulary(), limits)
    assert isinstance(treebank, DependencyTreebank)
    return treebank


def problem(text: str) -> Problem:
    with pytest.raises(InputError) as caught:
        read(text)
    return caught.value.problems[0]


def heads(*tuples: str) -> list[int]:
    return read("\n".join(tuples) + "\n").heads.tolist()


def strings(treebank: DependencyTreebank, column: Any) -> list[str]:
    return [treebank.vocabulary.strings[number] for number in column.tolist()]


def test_the_papers_example_of_a_repeated_head_word(golden: Any) -> None:
    """`<< is` of "book" is the second "is" to its right."""
    case = golden("dependency_relations")["head_position"]
    words = case["sentence"].split()
    tuples = [f"({word} X)" for word in words]
    tuples[words.index(case["modifier"])] = f"({case['modifier']} N {case['head_field']} subj)"
    assert heads(*tuples)[1] == words.index("is", words.index("is") + 1) + 1 == 6


def test_1_the_glyph_points_from_the_head_to_the_modifier() -> None:
    assert heads("(a X < b r)", "(b X)", "(c X > b r)") == [2, 0, 2]


def test_2_to_the_left_the_nearest_counts_first() -> None:
    assert heads("(w X)", "(w X > w r)", "(m X > w r)", "(n X >> w r)") == [0, 1, 2, 1]


def test_3_forms_are_compared_exactly_and_the_modifier_never_counts() -> None:
    assert heads("(It X < it r)", "(it X < it r)", "(it X)") == [2, 3, 0]


def test_4_the_head_field_names_a_word_form() -> None:
    treebank = read("(dogs N < barked subj)\n(barked V)\n")
    assert treebank.heads.tolist() == [2, 0]


def test_5_a_reference_to_nothing_stays_as_an_odd_head() -> None:
    treebank = read("(a X << b r)\n(b X)\n")
    assert treebank.heads[0] <= ODD_HEAD
    assert make_format("minipar", {}).write(treebank) == "(a X << b r)\n(b X)\n\n"


def test_8_the_category_is_kept_for_selection() -> None:
    treebank = read("(a Det < b spec)\n(b N)\n")
    assert strings(treebank, treebank.upos) == strings(treebank, treebank.xpos) == ["Det", "N"]


def test_13_several_roots_are_fragments() -> None:
    assert heads("(a X)", "(b X)", "(c X > b r)") == [0, 0, 2]


def test_14_a_relationship_without_a_head_is_refused() -> None:
    found = problem("(a X)\n\n (a X subj)\n")
    assert (found.code, found.line, found.column, found.sentence) == ("minipar-three-fields", 3, 2, 2)


def test_15_one_outer_pair_of_parentheses_and_no_space_in_a_word() -> None:
    treebank = read("(( Punct < b p)\n(b X)\n() Punct > b p)\n((x) X > b r)\n")
    assert strings(treebank, treebank.forms) == ["(", "b", ")", "(x)"]
    assert problem("(New York N < b r)\n(b X)\n").code == "minipar-field-count"
    assert problem("(a b c d e f)\n").code == "minipar-field-count"
    assert problem("(a)\n").code == "minipar-field-count"
    assert problem("a X\n").code == "minipar-no-parentheses"


def test_16_the_indicator_stands_apart() -> None:
    found = problem("(to Aux <bring aux)\n(bring V)\n")
    assert found.code == "minipar-bad-indicator"
    assert "'<bring'" in found.detail
    assert problem("(to Aux <> bring aux)\n").code == "minipar-bad-indicator"


def test_17_a_word_may_be_an_indicator() -> None:
    treebank = read("(< Sym < > r)\n(> Sym)\n(a X >> < r)\n")
    assert strings(treebank, treebank.forms) == ["<", ">", "a"]
    assert treebank.heads[:2].tolist() == [2, 0]
    assert treebank.heads[2] <= ODD_HEAD


def test_a_relationship_may_be_missing() -> None:
    treebank = read("(a X < b)\n(b X)\n")
    assert strings(treebank, treebank.deprels) == ["_", "_"]


def test_no_break_spaces_belong_to_words() -> None:
    treebank = read("(10\u00a0000 Num < b)\r\n(b X)\r\n")
    assert strings(treebank, treebank.forms) == ["10\u00a0000", "b"]


def test_several_problems_at_once() -> None:
    with pytest.raises(InputError) as caught:
        read("x\n" * 30)
    [problem] = caught.value.problems
    assert problem.detail.endswith("(and 29 more lines like it)")
    assert caught.value.total == 1


def test_limits() -> None:
    with pytest.raises(LimitError):
        read("(a X)\n" * 4, replace(LIMITS, max_words=3))
    with pytest.raises(LimitError):
        read("(a X)\n\n" * 4, replace(LIMITS, max_sentences=3))


def test_what_no_tuple_can_say_is_not_written() -> None:
    for columns in ("1\ta b\t_\tX\t_\t_\t0\troot\t_\t_\n", "1\ta\t_\tX\t_\t_\t7\troot\t_\t_\n"):
        treebank = make_format("conllx", {}).read((columns + "\n").encode(), Vocabulary(), LIMITS)
        with pytest.raises(InputError) as caught:
            make_format("minipar", {}).write(treebank)
        assert caught.value.problems[0].code == "minipar-unwritable"


WORD = st.sampled_from(["a", "b", "a", "<", ")", "é"])


@given(st.lists(st.lists(st.tuples(WORD, st.integers(0, 9)), min_size=1, max_size=9), min_size=1, max_size=4))
def test_what_is_written_reads_back(sentences: list[list[tuple[str, int]]]) -> None:
    """Heads are taken modulo the sentence, so that repeated forms and both directions occur."""
    rows = []
    for sentence in sentences:
        for n, (word, chosen) in enumerate(sentence, 1):
            head = chosen % (len(sentence) + 1)
            rows.append(f"{n}\t{word}\t_\tX\tX\t_\t{0 if head == n else head}\tr\t_\t_\n")
        rows.append("\n")
    text = "".join(rows)
    treebank = make_format("conllx", {}).read(text.encode(), Vocabulary(), LIMITS)
    written = make_format("minipar", {}).write(treebank)
    again = read(written)
    assert again.heads.tolist() == treebank.heads.tolist()
    assert again.word_offsets.tolist() == treebank.word_offsets.tolist()
    assert make_format("minipar", {}).write(again) == written
    assert NO_HEAD not in again.heads
