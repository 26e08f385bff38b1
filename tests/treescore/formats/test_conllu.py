"""The CoNLL-U and CoNLL-X readers: what they take, what they refuse and where, and what they write."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from treescore.core.registry import make_format
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.core.trees import NO_HEAD, ODD_HEAD, DependencyTreebank, Vocabulary
from treescore.errors import InputError, LimitError

GOOD = (
    "# newdoc id = d1\n# sent_id = s1\n# text = He's in.\n"
    "1-2\tHe's\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "1\tHe\the\tPRON\tPRP\tCase=Nom\t3\tnsubj\t3:nsubj\t_\n"
    "2\t's\tbe\tAUX\tVBZ\t_\t3\tcop\t_\t_\n"
    "3\tin\tin\tADV\tRB\t_\t0\troot\t_\t_\n"
    "3.1\tx\tx\tX\t_\t_\t_\t_\t0:root\t_\n"
    "4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_\n"
    "\n"
    "# sent_id = s2\n# genre = news\n"
    "1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n"
    "2\t10 000\t_\tNUM\tCD\t_\t1\tnummod\t_\t_\n"
    "\n"
)


def read(text: str | bytes, name: str = "conllu", limits: Limits = DEFAULT_LIMITS) -> DependencyTreebank:
    data = text.encode() if isinstance(text, str) else text
    treebank = make_format(name, {}).read(data, Vocabulary(), limits)
    assert isinstance(treebank, DependencyTreebank)
    return treebank


def as_strings(treebank: DependencyTreebank) -> dict[str, Any]:
    """A treebank in terms that do not depend on its vocabulary."""
    strings = treebank.vocabulary.strings
    numbered = {"forms", "lemmas", "upos", "xpos", "feats", "deprels", "deps", "misc", "mwt_forms", "mwt_misc",
                "empty_ids", "empty_forms", "empty_deps"}  # fmt: skip
    found: dict[str, Any] = {}
    for field in dataclasses.fields(treebank):
        value = getattr(treebank, field.name)
        if field.name in numbered:
            found[field.name] = [strings[number] for number in value.tolist()]
        elif isinstance(value, np.ndarray) and "lines" not in field.name:
            found[field.name] = value.tolist()
    found["sent_ids"] = list(treebank.sentences.sent_ids)
    found["attributes"] = {key: list(values) for key, values in treebank.sentences.attributes.items()}
    return found


def test_columns_ranges_and_names() -> None:
    treebank = read(GOOD)
    assert treebank.word_offsets.tolist() == [0, 4, 6]
    assert treebank.heads.tolist() == [3, 3, 0, 3, 0, 1]
    assert treebank.lines.tolist() == [5, 6, 7, 9, 13, 14]
    assert (treebank.mwt_starts.tolist(), treebank.mwt_ends.tolist()) == ([0], [2])
    assert (treebank.empty_after.tolist(), treebank.empty_lines.tolist()) == ([3], [8])
    assert treebank.sentences.sent_ids == ["s1", "s2"]
    assert treebank.sentences.attributes == {"newdoc": ["d1", "d1"], "genre": [None, "news"]}
    assert not treebank.sentences.warnings


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.rstrip("\n") + "\n",
        lambda text: "\n\n" + text.replace("\n\n", "\n\n\n"),
        lambda text: text + "# bye\n\n",
    ],
)
def test_harmless_differences_read_alike(change: Any) -> None:
    assert as_strings(read(change(GOOD))) == as_strings(read(GOOD))


@pytest.mark.parametrize("name", ["conllu", "conllx"])
def test_what_is_written_reads_back(name: str) -> None:
    text = GOOD if name == "conllu" else "1\ta b\t_\tN\tNN\t_\t02\tx\t_\t_\n2\tc\tc\tV\tV\tf\t_\ty\t1\tz\n\n"
    treebank = read(text, name)
    written = make_format(name, {}).write(treebank)
    assert as_strings(read(written, name)) == as_strings(treebank)


def test_odd_heads_compare_as_written() -> None:
    treebank = read(
        "1\ta\t_\tN\tN\t_\t02\tx\n2\tb\t_\tN\tN\t_\t02\tx\n3\tc\t_\tN\tN\t_\t+2\tx\n4\td\t_\tN\tN\t_\t_\tx\n", "conllx"
    )
    first, second, third, fourth = treebank.heads.tolist()
    assert first == second <= ODD_HEAD
    assert third <= ODD_HEAD
    assert third != first
    assert fourth == NO_HEAD
    assert [warning.code for warning in treebank.sentences.warnings] == ["conllx-odd-head"] * 3


def word(number: object, head: object = 0, form: str = "a") -> str:
    return f"{number}\t{form}\t_\tX\t_\t_\t{head}\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("1\ta\tb\n\n", "conllu-column-count", 1, None),
        (word(1).rstrip("\n") + "\t\n\n", "conllu-column-count", 1, None),
        (word(1) + "   \n", "conllu-column-count", 2, None),
        (word(1).replace("\t", " "), "conllu-column-count", 1, None),
        (word(1) + "# x\n" + word(2, 1), "conllu-comment-inside-sentence", 2, None),
        (word(2), "conllu-wrong-id", 1, 1),
        (word(1) + word(1), "conllu-wrong-id", 2, 1),
        (word(1) + word(3), "conllu-wrong-id", 2, 1),
        (word(0), "conllu-wrong-id", 1, 1),
        (word(""), "conllu-bad-id", 1, 1),
        (word("-1"), "conllu-bad-id", 1, 1),
        (word("9" * 5000), "conllu-bad-id", 1, 1),
        (word("٢"), "conllu-bad-id", 1, 1),
        (word("1.x"), "conllu-bad-id", 1, 1),
        (word("1-x") + word(1), "conllu-bad-id", 1, 1),
        (word("2-1") + word(1) + word(2, 1), "conllu-bad-range", 1, 1),
        (word("2-3") + word(1) + word(2, 1) + word(3, 1), "conllu-bad-range", 1, 1),
        (word("1-2") + word("2-3") + word(1) + word(2, 1) + word(3, 1), "conllu-bad-range", 2, 1),
        (word("1-3") + word(1) + word(2, 1), "conllu-bad-range", 1, 1),
        (word(1) + word("1-1"), "conllu-bad-range", 2, 1),
        (word("1-2") + word(1) + word(1), "conllu-wrong-id", 3, 1),
        (word("1.1"), "conllu-no-words", 1, 1),
        (word(1, form=""), "conllu-empty-form", 1, 2),
        (word(1, form="\u00a0 "), "conllu-empty-form", 1, 2),
        (word(1, "x"), "conllu-bad-head", 1, 7),
        (word(1, "+0"), "conllu-bad-head", 1, 7),
        (word(1, "-1"), "conllu-bad-head", 1, 7),
        (word(1, "1.0"), "conllu-bad-head", 1, 7),
        (word(1, "٢"), "conllu-bad-head", 1, 7),
        (word(1, ""), "conllu-bad-head", 1, 7),
        (word(1, 9), "conllu-head-out-of-range", 1, 7),
        (word(1, "09"), "conllu-head-out-of-range", 1, 7),
        (word(1, "9" * 5000), "conllu-head-out-of-range", 1, 7),
        ("# only\n\n", "no-sentence", None, None),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, code: str, line: int | None, column: int | None) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    problem = caught.value.problems[0]
    assert (problem.code, problem.line, problem.column) == (code, line, column)
    assert len(problem.detail) < 300
    assert ("FORM holds only spaces" in problem.detail) == ("\u00a0" in text)


def test_problems_come_in_order_with_sentence_and_name_up_to_the_cap() -> None:
    text = "".join(f"# sent_id = s{n}\n" + word(1, 7 + n) + "\n" for n in range(100))
    with pytest.raises(InputError) as caught:
        read(text)
    assert caught.value.total == 100
    assert [problem.line for problem in caught.value.problems] == list(range(2, 62, 3))
    assert (caught.value.problems[1].sentence, caught.value.problems[1].sent_id) == (2, "s1")
    assert caught.value.problems[0].detail == "HEAD is 7, but the sentence has 1 word. Use 0 for the root or 1-1."


def test_what_is_odd_but_readable_is_a_warning() -> None:
    text = "\n" + word("1-2") + word(1, 0, "") + word(2, 1) + "1.7\tx\t_\t_\t_\t_\t_\t_\t_\t_\n"
    codes = [(warning.code, warning.line) for warning in read(text).sentences.warnings]
    assert codes == [("conllu-spare-blank-line", 1), ("conllu-empty-form", 3), ("conllu-empty-node-misplaced", 5)]


def test_lines_end_at_line_feeds_and_carriage_returns_only() -> None:
    treebank = read(word(1, form="a\u0085\u2028\v\fb"))
    assert treebank.vocabulary.strings[treebank.forms[0]] == "a\u0085\u2028\v\fb"


def test_bounds_are_limits() -> None:
    with pytest.raises(LimitError) as caught:
        read("".join(word(n + 1, n) for n in range(50)), limits=Limits(max_words=49))
    assert caught.value.problems[0].code == "too-many-words"
    with pytest.raises(LimitError) as caught:
        read(("" + word(1) + "\n") * 5, limits=Limits(max_sentences=4))
    assert caught.value.problems[0].code == "too-many-sentences"


def test_many_keys_of_comments_are_bounded() -> None:
    text = "".join(f"# k{n} = {n}\n" + word(1) + "\n" for n in range(200))
    assert len(read(text).sentences.attributes) == 32


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("1\ta\t_\tN\tN\t_\t0\n\n", "conllx-column-count", 1),
        ("1\ta\t_\tN\tN\t_\t0\tr\n# x\n2\tb\t_\tN\tN\t_\t1\tr\n", "conllx-comment-inside-sentence", 2),
        ("1\ta\t\tN\tN\t_\t0\tr\t_\t_\n\n", "conllx-empty-field", 1),
    ],
)
def test_what_is_wrong_in_conllx_is_named(text: str, code: str, line: int) -> None:
    with pytest.raises(InputError) as caught:
        read(text, "conllx")
    assert (caught.value.problems[0].code, caught.value.problems[0].line) == (code, line)


def test_conllx_reads_what_eval07_reads() -> None:
    plain = read("1\ta\tl\tN\tNN\tf\t0\tr\t_\t_\n2\tb\tl\tN\tNN\tf\t1\tx\t_\t_\n", "conllx")
    for text in (
        "1 a  l N NN f 0 r\n2 b l N NN f 1 x\n",
        "\t1\ta\tl\tN\tNN\tf\t0\tr\n2\tb\tl\tN\tNN\tf\t1\tx\t_\t_\tmore\n",
        "# c\n1\ta\tl\tN\tNN\tf\t0 \tr\t_\t_\n2\tb\tl\tN\tNN\tf\t1\tx\t_\t_\n   \n",
    ):
        assert as_strings(read(text, "conllx")) == as_strings(plain)


def test_conllx_counts_words_by_position() -> None:
    treebank = read("7\ta\tl\tN\tNN\tf\t0\tr\n7\tb\tl\tN\tNN\tf\t1\tx\n", "conllx")
    assert len(treebank.forms) == 2
    assert {warning.code for warning in treebank.sentences.warnings} == {"conllx-id-not-position"}
