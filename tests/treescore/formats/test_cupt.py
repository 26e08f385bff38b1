"""The reader and writer of cupt: expressions, where codes may stand, and what is refused or warned of, with places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treescore.core.registry import make_format
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.treebank_bytes import flat_bytes, treebanks_of
from treescore.core.trees import NO_HEAD, ExpressionTreebank, Vocabulary
from treescore.errors import InputError, LimitError
from treescore.evaluation.blind import blind_inputs
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.evaluation.tree_marks import marks_of
from treescore.formats import cupt as mwe_codes
from treescore.formats.cupt import HEADER, KEY

Expression = tuple[list[int], str]


def read(text: str, vocabulary: Vocabulary | None = None) -> ExpressionTreebank:
    treebank = make_format("cupt", {}).read(text.encode(), vocabulary or Vocabulary(), DEFAULT_LIMITS)
    assert isinstance(treebank, ExpressionTreebank)
    return treebank


def cupt(*sentences: str) -> str:
    """A text of sentences of words `form/code`; an ID that is not the next number stands before: `1-2=form/code`."""
    lines = [HEADER]
    for sentence in sentences:
        number = 0
        for token in sentence.split():
            name, _, rest = token.rpartition("=")
            number += not name
            form, _, code = rest.partition("/")
            lines.append(f"{name or number}\t{form}{chr(9)}{form}{chr(9).join(['', *'_______'])}\t{code or '*'}")
        lines.append("")
    return "\n".join(lines) + "\n"


def expressions(treebank: ExpressionTreebank) -> list[list[Expression]]:
    """The expressions of each sentence: positions from 1, category."""
    found: list[list[Expression]] = [[] for _ in range(len(treebank))]
    bounds = treebank.expression_offsets.tolist()
    owners = treebank.expression_sentences().tolist()
    for number, sentence in enumerate(owners):
        words = treebank.expression_words[bounds[number] : bounds[number + 1]] - treebank.word_offsets[sentence] + 1
        found[sentence].append((words.tolist(), treebank.vocabulary.strings[treebank.categories[number]]))
    return found


def warned(treebank: ExpressionTreebank) -> list[tuple[str, int | None, int | None]]:
    return [(each.code, each.line, each.column) for each in treebank.sentences.warnings]


def refused(text: str) -> list[tuple[str, int | None, int | None, int | None]]:
    with pytest.raises(InputError) as caught:
        read(text)
    return [(each.code, each.sentence, each.line, each.column) for each in caught.value.problems]


def test_expressions_may_overlap_and_have_gaps():
    treebank = read(cupt("He took/1:LVC.full a long walk/1", "gave/1:VPC.full;2:VID up/1;2 the/2 ghost/2", "rain/3:X"))
    assert expressions(treebank) == [
        [([2, 5], "LVC.full")],
        [([1, 2], "VPC.full"), ([1, 2, 3, 4], "VID")],
        [([1], "X")],
    ]
    assert treebank.expression_ids.tolist() == [1, 1, 2, 3]
    assert (treebank.heads == NO_HEAD).all()


def test_what_is_written_reads_back_with_numbers_and_categories():
    vocabulary = Vocabulary()
    text = cupt("a/12:B;7:A b/7;12 3-4=cd/* c/12 d", "e/1 f/1")
    treebank = read(text, vocabulary)
    written = make_format("cupt", {}).write(treebank)
    again = read(written, vocabulary)
    assert expressions(again) == expressions(treebank) == [[([1, 2], "A"), ([1, 2, 3], "B")], [([1, 2], "")]]
    assert "1\ta\ta\t_\t_\t_\t_\t_\t_\t_\t7:A;12:B\n" in written
    assert make_format("cupt", {}).write(again) == written


def test_columns_stand_in_any_order_and_may_be_missing():
    text = "# global.columns = PARSEME:MWE FORM ID X:Y HEAD\n1:VID\tgo\t1\tq\t0\n1\ton\t2\tq\t1\n"
    treebank = read(text)
    assert expressions(treebank) == [[([1, 2], "VID")]]
    assert treebank.heads.tolist() == [0, 1]
    assert {treebank.vocabulary.strings[number] for number in treebank.lemmas} == {"_"}
    assert refused(text.replace("\t1\n", "\t7\n")) == [("conllu-head-out-of-range", 1, 3, 5)]
    assert refused(text.replace("1:VID", "VID")) == [("cupt-bad-code", 1, 2, 1)]


def test_codes_at_a_range_belong_to_its_words_with_a_warning():
    treebank = read(cupt("1-2=dalla/1:VID da la parte/1"))
    assert expressions(treebank) == [[([1, 2, 3], "VID")]]
    assert warned(treebank) == [("cupt-code-at-range", 2, 11)]
    both = read(cupt("1-2=dalla/1:VID da/1 la/2:X parte/1;2"))
    assert expressions(both) == [[([1, 2, 3], "VID"), ([2, 3], "X")]]
    assert warned(both) == [("cupt-code-at-range", 2, 11)]


def test_the_category_is_that_of_the_first_word_and_its_first_code_as_a_string():
    assert expressions(read(cupt("a/1 b/1:VID"))) == [[([1, 2], "")]]
    assert warned(read(cupt("a/1 b/1:VID"))) == [("cupt-no-category", 2, 11)]
    assert warned(read(cupt("a/1 b/1"))) == [("cupt-no-category", 2, 11)]
    two = read(cupt("a/1:VID b/1:IRV"))
    assert (expressions(two), warned(two)) == ([[([1, 2], "VID")]], [("cupt-two-categories", 3, 11)])
    twice = read(cupt("a/1:VID;1:IRV b/1"))
    assert (expressions(twice), warned(twice)) == ([[([1, 2], "IRV")]], [("cupt-repeated-code", 2, 11)])
    assert expressions(read(cupt("a/1;1:VID"))) == [[([1], "")]]
    assert expressions(read(cupt("1-1=a/2:X a/1;1:VID"))) == [[([1], "VID"), ([1], "X")]]


def test_an_empty_node_is_no_word():
    treebank = read(cupt("a/1:VID 1.1=x/1 b/1 2.1=y/_"))
    assert expressions(treebank) == [[([1, 2], "VID")]]
    assert warned(treebank) == [("cupt-code-at-empty-node", 3, 11)]


@pytest.mark.parametrize(
    "code", ["_", "", "VID", "1:", "1;", ";1", "-1", "01", "1:A B", "x:VID", "1 ;2", "1234567890", "*;1"]
)
def test_bad_codes_are_errors_with_their_place(code):
    text = f"{HEADER}\n1\ta\t{chr(9).join('_' * 8)}\t*\n2\tb\t{chr(9).join('_' * 8)}\t{code}\n"
    assert refused(text) == [("cupt-bad-code", 1, 3, 11)]


def test_the_first_line_names_the_columns():
    body = cupt("a/1:VID").partition("\n")[2]
    for header in (
        "",
        "# sent_id = 1\n",
        "\n",
        "# global.columns = ID FORM\n",
        "# global.columns = ID ID FORM PARSEME:MWE\n",
    ):
        assert refused(header + body)[0][::2] == ("cupt-no-columns", 1)
    assert refused(HEADER + "\n") == [("no-sentence", None, None, None)]
    assert len(read(HEADER + "\n\n" + body)) == 1
    joined = cupt("a/1:VID") + cupt("b")
    assert len(read(joined)) == 2
    assert KEY not in read(joined).sentences.attributes
    assert refused(cupt("a/1:VID") + cupt("b").replace("MISC", "MORE"))[0][:3] == ("cupt-no-columns", 2, 5)


def test_lines_with_other_columns_are_errors():
    assert refused(cupt("a/1:VID b").replace("\t*\n", "\n")) == [("cupt-column-count", 1, 3, None)]
    assert refused(cupt("a b").replace("2\tb", "# note\n2\tb")) == [("conllu-comment-inside-sentence", 1, 3, None)]


def test_codes_at_ranges_cannot_stand_for_too_many(monkeypatch):
    monkeypatch.setattr(mwe_codes, "MAX_MEMBERS", 3)
    assert expressions(read(cupt("1-3=abc/1:X a b c"))) == [[([1, 2, 3], "X")]]
    with pytest.raises(LimitError) as caught:
        read(cupt("1-2=ab/1:X;2:X a b"))
    assert [(each.code, each.line) for each in caught.value.problems] == [("too-many-codes", 2)]


def test_ten_thousand_expressions_of_a_word_and_ten_thousand_words_of_an_expression_are_read():
    many = ";".join(f"{number}:X" for number in range(1, 10_001))
    long = " ".join(["w/1:X", *["w/1"] * 9_999])
    treebank = read(cupt(f"a/{many} b/{many}", long))
    assert len(treebank.expression_ids) == 10_001
    assert np.diff(treebank.expression_offsets).max() == 10_000


def test_metrics_of_dependencies_read_it_too():
    text = cupt("a/1:VID b/1").replace("\t_\t_\t_\t_\t1", "\t0\troot\t_\t_\t1", 1)
    spec = parse_spec({"format": "cupt", "metrics": ["attachment", "enhanced"]})
    outcomes = Evaluation(spec, text.encode()).score(text.encode())[0]
    assert outcomes["attachment"].rows.tolist()[0][:4] == [2, 2, 2, 2]
    with pytest.raises(InputError):
        parse_spec({"format": "cupt", "metrics": ["parseval"]})
    parallel = {"format": {"name": "parallel", "trees": "cupt", "alignment": {"name": "pharaoh", "base": 0}}}
    assert parse_spec({**parallel, "metrics": ["parallel_treebank"]})


def test_dependency_trees_without_expressions_are_not_enough(monkeypatch):
    vocabulary = Vocabulary()
    treebank = read(cupt("a/1:VID b/1"), vocabulary)
    assert make_format("conllu", {}).write(treebank).count("VID") == 0
    assert all("VID" not in text for text in blind_inputs(treebank).values())
    assert blind_inputs(treebank)["text"] == "a b\n"


def test_the_type_is_kept_where_treebanks_are_kept():
    vocabulary = Vocabulary()
    treebank = read(cupt("a/1:VID b/1", "c"), vocabulary)
    _, [kept] = treebanks_of(flat_bytes(vocabulary, [treebank]))
    assert expressions(kept) == expressions(treebank)
    marks: Any = marks_of((), {}, treebank, treebank)
    assert marks.marks.system.tolist() == [0, 0, 0]
    heads = parse_spec({"format": "cupt", "transforms": ["heads"], "metrics": ["attachment"]}).entries[0].steps[0]
    assert heads.transform.apply(treebank, treebank) is treebank
