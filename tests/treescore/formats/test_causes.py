"""Problems of dependency formats: the cause is told, with the number of what follows from it, and the surplus named."""

from __future__ import annotations

from typing import Any

import pytest

from treescore.core.registry import make_format
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import DependencyTreebank, Vocabulary
from treescore.errors import InputError, Problem


def read(text: str, name: str = "conllu", **options: Any) -> DependencyTreebank:
    data = text.encode("utf-8", "surrogateescape")
    treebank = make_format(name, options).read(data, Vocabulary(), DEFAULT_LIMITS)
    assert isinstance(treebank, DependencyTreebank)
    return treebank


def refused(text: str, name: str = "conllu") -> tuple[list[Problem], int]:
    with pytest.raises(InputError) as caught:
        read(text, name)
    return list(caught.value.problems), caught.value.total


def word(number: object, head: object, form: str = "a") -> str:
    return f"{number}\t{form}\t_\tX\t_\t_\t{head}\tdep\t_\t_\n"


def words(count: int, head: object = 0) -> list[str]:
    return [word(number + 1, head if number else 0) for number in range(count)]


def test_a_bad_id_stands_for_the_ids_and_heads_that_follow() -> None:
    rows = words(6, 6)
    rows[2] = word("x", 1)
    (problem,), total = refused("".join(rows) + "\n" + "".join(words(2)) + "\n")
    assert (problem.code, problem.line, problem.column, problem.sentence, total) == ("conllu-bad-id", 3, 1, 1, 1)
    assert problem.detail.endswith("7 further problems of this sentence may follow from it.")


def test_a_missing_line_is_one_problem_though_a_head_before_it_lies_outside() -> None:
    rows = words(4, 4)
    del rows[2]
    (problem,), total = refused("".join(rows) + "\n")
    assert (problem.code, problem.line, total) == ("conllu-wrong-id", 3, 1)
    assert problem.detail.endswith("2 further problems of this sentence may follow from it.")


def test_a_range_that_ends_beyond_a_bad_id_follows_from_it() -> None:
    rows = [word("1-3", "_"), *words(3)]
    rows[3] = word("x", 1)
    (problem,), _ = refused("".join(rows) + "\n")
    assert (problem.code, problem.line) == ("conllu-bad-id", 4)
    assert problem.detail.endswith("1 further problem of this sentence may follow from it.")


def test_independent_faults_and_other_sentences_are_told_each() -> None:
    first = word(1, 0) + word(2, "x") + word(3, 1, "") + word("y", 1) + word(4, 9) + "\n"
    second = word(1, 7) + word(2, 8) + "\n"
    problems, total = refused(first + second)
    assert [(problem.code, problem.line) for problem in problems] == [
        ("conllu-bad-head", 2),
        ("conllu-empty-form", 3),
        ("conllu-bad-id", 4),
        ("conllu-head-out-of-range", 7),
        ("conllu-head-out-of-range", 8),
    ]
    assert total == 5
    assert "1 further problem" in problems[2].detail


def test_of_a_sentence_that_cannot_be_read_the_cause_is_kept_and_a_head_comes_last() -> None:
    text = word(1, "x") + word(2, 9) + word("y", 1) + "\n" + word(1, "x") + word(2, 9) + "\n" + word(1, 0) + "\n"
    treebank = read(text, unreadable="sentence")
    found = {sentence: (problem.code, problem.line) for sentence, problem in treebank.sentences.unreadable.items()}
    assert found == {0: ("conllu-bad-id", 3), 1: ("conllu-bad-head", 5)}
    assert treebank.word_offsets.tolist() == [0, 0, 2, 3]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            word(1, 0).rstrip("\n") + "\tmore\n",
            "has 11 tab-separated columns, not 10. The 11th column is 'more'. Remove it.",
        ),
        (word(1, 0).rstrip("\n") + "\ta\tb\tc\n", "The 11th column is 'a', and 2 more follow. Remove them."),
        (word(1, 0).rstrip("\n") + "\t\n", "The 11th column is empty, since the line ends with a tab. Remove it."),
        (word(1, 0).replace("_\tX", "_\t\tX"), "Column 4 is empty. Remove one of the tabs around it."),
        (word(1, 0).replace("\tX", " X"), "Column 3 is '_ X'. If it holds two columns, put a tab between them;"),
        (word(1, 0).replace("\tX", ""), "has 9 tab-separated columns, not 10. Write _ where a column has no value."),
        (word(1, 0).replace("\t", " "), "Separate the columns by tabs, not by spaces."),
        ("   \n", "It holds only spaces."),
        ("\t" * 9 + "\n# comment\n", "It holds only tabs. End a sentence with an empty line."),
        (" \t\t\n", "has 3 tab-separated columns, not 10. It holds only spaces."),
        (word(1, 0).rstrip("\n") + "\t" + "x" * 100_000 + "\n", "The 11th column is 'xxx"),
    ],
)
def test_other_columns_are_named(line: str, said: str) -> None:
    (problem,), _ = refused(line)
    assert (problem.code, problem.line) == ("conllu-column-count", 1)
    assert said in problem.detail
    assert len(problem.detail) < 250


def test_a_line_of_other_columns_hides_no_fault_of_other_lines() -> None:
    first = word(1, 0) + "2\ta\n" + word(3, "x") + word(4, 9) + word("y", 1) + "\n"
    second = word(1, 7) + word("x", 1) + word(3, "z") + "\n"
    problems, total = refused(first + second)
    assert [(problem.code, problem.line) for problem in problems] == [
        ("conllu-column-count", 2),
        ("conllu-bad-head", 3),
        ("conllu-bad-id", 8),
        ("conllu-bad-head", 9),
    ]
    assert total == 4
    cupt = "# global.columns = ID FORM HEAD DEPREL PARSEME:MWE\n1\ta\t0\troot\tx\n2\ta\t1\n3\ta\ty\tdep\t*\n\n"
    codes = ["cupt-bad-code", "cupt-column-count", "conllu-bad-head"]
    assert [problem.code for problem in refused(cupt, "cupt")[0]] == codes
    conllx = word(1, 0) + word(2, 1, "") + "3\ta\n" + word("#", "") + word(5, 1)
    codes = ["conllx-empty-field", "conllx-column-count", "conllx-comment-inside-sentence"]
    assert [problem.code for problem in refused(conllx, "conllx")[0]] == codes


@pytest.mark.parametrize(
    ("name", "line"),
    [("conllu", "1 a\n\n"), ("conllx", "a\tb\n\n"), ("bracketed", "(S (X a)\n"), ("discbracket", "(S\n")],
)
def test_one_fault_of_every_line_is_one_problem(name: str, line: str) -> None:
    with pytest.raises(InputError) as caught:
        make_format(name, {}).read(line.encode() * 30, Vocabulary(), DEFAULT_LIMITS)
    [problem] = caught.value.problems
    assert problem.line == caught.value.total == 1
    assert "(and 29 more lines like it)" in problem.detail


def test_a_block_of_comments_between_words_is_one_problem() -> None:
    text = word(1, 0) + "# a\n# b\n" + word(2, 1) + "# c\n" + word(3, 1) + "\n"
    problems, total = refused(text)
    assert [(problem.line, problem.sentence) for problem in problems] == [(2, 1), (5, 1)]
    assert total == 2
    assert problems[0].detail.startswith("2 lines of comments stand between the words")


def test_bytes_that_are_no_text_cost_their_sentence() -> None:
    text = "# caf\udcff\n" + word(1, 0) + "\n" + word(1, 0, "caf\udce9") + "\n" + word(1, 0, "\0") + "\n" + word(1, 0)
    for name in ("conllu", "conllx"):
        assert refused(text, name)[1] == 1
        treebank = read(text, name, unreadable="sentence")
        found = {sentence: (problem.code, problem.line) for sentence, problem in treebank.sentences.unreadable.items()}
        assert found == {1: ("invalid-utf8", 4), 2: ("nul-character", 6)}
        assert treebank.word_offsets.tolist() == [0, 1, 1, 1, 2]
        assert ("invalid-utf8", 1) in [(warning.code, warning.line) for warning in treebank.sentences.warnings]


def test_bytes_of_a_comment_of_many_columns_are_placed_by_character() -> None:
    text = f"# {'x' * 40}\udcff\n1\ta\t_\t_\tX\tX\t_\t_\t0\t0\troot\troot\t_\t_\n\n"
    warnings = read(text, "conll09", unreadable="sentence").sentences.warnings
    assert ("invalid-utf8", 1, 43) in [(each.code, each.line, each.column) for each in warnings]


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_text_in_another_coding_is_refused_as_a_whole(coding: str) -> None:
    data = (word(1, 0) + "\n" + word(1, 0) + "\n").encode(coding)
    with pytest.raises(InputError, match="UTF-16"):
        make_format("conllu", {"unreadable": "sentence"}).read(data, Vocabulary(), DEFAULT_LIMITS)
    with pytest.raises(InputError, match="gzip"):
        read("\x1f\udc8bgzip", unreadable="sentence")


def test_conllx_warns_once_of_lines_that_begin_with_a_hash() -> None:
    text = "\n# one\n# two\n" + word(1, 0) + "\n# three\n" + word(1, 0)
    for name in ("conllx", "conll09"):
        lines = text if name == "conllx" else text.replace("\t_\n", "\t_\t_\t_\t_\t_\n").replace("\t0\t", "\t_\t_\t0\t")
        warnings = [each for each in read(lines, name).sentences.warnings if each.code == "conllx-comments"]
        assert [(warning.line, warning.detail.partition(".")[0]) for warning in warnings] == [
            (2, "3 lines begin with #, the first is line 2")
        ]
    assert not read(word(1, 0), "conllx").sentences.warnings


def test_a_line_with_a_hash_between_words_is_no_comment_in_conllx_though_it_has_columns() -> None:
    problems, total = refused(word(1, 0) + word("#", 1) + word(3, 1), "conllx")
    assert (problems[0].code, problems[0].line, total) == ("conllx-comment-inside-sentence", 2, 1)


def test_sides_of_a_parallel_treebank_must_be_readable() -> None:
    with pytest.raises(InputError) as caught:
        make_format("parallel", {"trees": {"name": "conllu", "unreadable": "sentence"}})
    assert caught.value.problems[0].pointer == "/trees/unreadable"
