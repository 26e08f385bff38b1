"""Semantic dependencies in columns: both years, what is refused and where, writing back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.text import DEFAULT_LIMITS
from treescore.core.treebank_bytes import flat_bytes, treebanks_of
from treescore.core.trees import SemanticTreebank, Sentences, Vocabulary
from treescore.errors import InputError, LimitError, Problem
from treescore.formats import sdp
from treescore.formats.sdp import Sdp, without_graph

WIDE = (
    "#SDP 2015\n#7\n"
    "1\tDogs\tdog\tN\t-\t-\t_\tARG1\t_\n"
    "2\tbark\tbark\tV\t+\t+\tv\t_\tARG1\n"
    "3\tnow\tnow\tR\t-\t+\tt\tloc\t_\n\n"
)
NARROW = "\n".join("\t".join(c for n, c in enumerate(row.split("\t")) if n != 6) for row in WIDE.split("\n")[1:])


def read(text: str) -> SemanticTreebank:
    treebank = Sdp().read(text.encode(), Vocabulary(), DEFAULT_LIMITS)
    assert isinstance(treebank, SemanticTreebank)
    return treebank


def edges(treebank: SemanticTreebank) -> list[tuple[int, int, str]]:
    columns = (treebank.edge_predicates.tolist(), treebank.edge_arguments.tolist(), treebank.edge_labels.tolist())
    return [(one, other, treebank.vocabulary.strings[label]) for one, other, label in zip(*columns, strict=True)]


def refused(text: str) -> list[Problem]:
    with pytest.raises(InputError) as raised:
        read(text)
    return raised.value.problems


@pytest.mark.parametrize("text", [WIDE, NARROW, WIDE.removeprefix("#SDP 2015\n"), "#SDP 2014\n" + NARROW])
def test_both_years_read_to_the_same_graph(text: str) -> None:
    treebank = read(text)
    assert edges(treebank) == [(1, 0, "ARG1"), (2, 1, "ARG1"), (1, 2, "loc")]
    assert (treebank.tops.tolist(), treebank.predicates.tolist()) == ([False, True, False], [False, True, True])
    assert list(treebank.sentences.sent_ids) == ["7"]
    frames = [treebank.vocabulary.strings[frame] for frame in treebank.frames.tolist()]
    assert frames == (["_"] * 3 if "v\t" not in text else ["_", "v", "t"])


def test_the_first_line_decides_where_both_readings_fit() -> None:
    """Without predicates, seven columns are one of 2015; a line that says 2014 makes the seventh one too many."""
    row = "1\tOh\toh\tI\t-\t-\t_\n\n"
    assert len(read(row)) == 1
    [problem] = refused("#SDP 2014\n" + row)
    assert (problem.code, problem.line, problem.column) == ("sdp-column-count", 2, 7)
    assert "7 columns, 1 surplus: SDP 2014 has 6 (id form lemma pos top pred)" in problem.detail
    assert "correct the line #SDP 2014" in problem.detail


@pytest.mark.parametrize(
    ("before", "after", "code", "line", "column"),
    [
        ("\tloc\t_\n", "\tloc\n", "sdp-column-count", 5, 9),
        ("\tloc\t_\n", "\tloc\t_\tX\n", "sdp-column-count", 5, 10),
        ("2\tbark", "4\tbark", "sdp-wrong-id", 4, 1),
        ("V\t+\t+", "V\tx\t+", "sdp-bad-flag", 4, 5),
        ("R\t-\t+", "R\t-\t?", "sdp-bad-flag", 5, 6),
        ("\tnow\tR", "\t\tR", "sdp-empty-field", 5, 3),
        ("3\tnow", "#3\tnow", "sdp-comment-inside-graph", 5, None),
        ("1\tDogs\tdog\tN\t-\t-\t_\tARG1\t_", "1 Dogs dog N - - _ ARG1 _", "sdp-column-count", 3, 2),
    ],
)
def test_faults_have_their_place(before: str, after: str, code: str, line: int, column: int | None) -> None:
    assert WIDE.count(before) == 1
    problem = refused(WIDE.replace(before, after))[0]
    assert (problem.code, problem.line, problem.column) == (code, line, column)


def test_a_wrong_flag_is_told_and_not_the_columns_that_follow_from_it() -> None:
    """Without the predicate, each line of the graph has a column too many."""
    assert [problem.code for problem in refused(WIDE.replace("R\t-\t+", "R\t-\tx"))] == ["sdp-bad-flag"]


def test_names_are_given_once() -> None:
    [problem] = refused(WIDE + WIDE)
    assert (problem.code, problem.sentence) == ("repeated-sentence-id", 2)
    assert list(read(WIDE + WIDE.replace("#7", "#8")).sentences.sent_ids) == ["7", "8"]


CELLS = st.lists(st.lists(st.sampled_from(["_", "_", "A", "B"]), min_size=3, max_size=3), min_size=3, max_size=3)
FLAGS = st.lists(st.booleans(), min_size=3, max_size=3)


@given(cells=CELLS, tops=FLAGS, predicates=FLAGS)
def test_writing_reads_back(cells: Any, tops: Any, predicates: Any) -> None:
    rows = [
        "\t".join([str(n + 1), "w", "l", "t", "-+"[tops[n]], "-+"[predicates[n]], "f"]
                  + [cell for cell, kept in zip(cells[n], predicates, strict=True) if kept])
        for n in range(3)
    ]  # fmt: skip
    text = "#SDP 2015\n#1\n" + "\n".join(rows) + "\n\n"
    treebank = read(text)
    assert Sdp().write(treebank) == text
    vocabulary, [again] = treebanks_of(flat_bytes(treebank.vocabulary, [treebank]))
    assert Sdp().write(again) == text
    assert vocabulary.strings == treebank.vocabulary.strings


def test_words_alone_have_nothing_of_the_graph() -> None:
    assert Sdp().write(without_graph(read(WIDE))) == (
        "#SDP 2015\n#7\n1\tDogs\t_\t_\t-\t-\t_\n2\tbark\t_\t_\t-\t-\t_\n3\tnow\t_\t_\t-\t-\t_\n\n"
    )


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (WIDE.replace("2015", "2016"), "sdp-bad-header", 1),
        (WIDE + "#SDP 2014\n" + NARROW.replace("#7", "#8"), "sdp-bad-header", 7),
        (WIDE.replace("#7\n", "#7\n#8\n"), "sdp-bad-id", 3),
        (WIDE.replace("#7\n", "#\n"), "sdp-bad-id", 2),
        (WIDE.replace("#7\n", "#7\n\n"), "sdp-no-words", 2),
        (WIDE + "#8\n", "sdp-no-words", 7),
        (WIDE + WIDE.replace("#7\n", ""), "sdp-no-id", 8),
        (NARROW.replace("\tV\t", "\tV\tx\t").replace("\tN\t", "\tN\tx\t"), "sdp-bad-flag", 2),
        (NARROW.replace("\tloc\t_", "\tloc"), "sdp-unknown-columns", 2),
        ("#SDP 2015\n\n", "no-sentence", None),
    ],
)
def test_lines_with_ids_and_years_are_checked(text: str, code: str, line: int | None) -> None:
    problem = refused(text)[0]
    assert (problem.code, problem.line) == (code, line)


def test_most_graphs_decide_where_no_line_states_the_year() -> None:
    graphs = WIDE.removeprefix("#SDP 2015\n")
    text = graphs + graphs.replace("#7", "#8") + NARROW.replace("#7", "#9")
    assert {(problem.code, problem.sentence) for problem in refused(text)} == {("sdp-column-count", 3)}


def test_ids_end_at_a_tab_and_unicode_stays() -> None:
    text = WIDE.replace("#7\n", "# 7\t\t\n").replace("Dogs", "Hün\N{COMBINING ACUTE ACCENT}\N{LINE SEPARATOR}e")
    treebank = read(text)
    assert list(treebank.sentences.sent_ids) == ["7"]
    assert treebank.vocabulary.strings[treebank.forms[0]] == "Hün\N{COMBINING ACUTE ACCENT}\N{LINE SEPARATOR}e"
    assert edges(read(Sdp().write(treebank))) == edges(treebank)


def test_too_many_edges_are_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdp, "MAX_EDGES", 1)
    with pytest.raises(LimitError) as raised:
        read(WIDE.replace("\t_\tARG1", "\tARG1\tARG1").replace("loc\t_", "loc\tloc"))
    assert raised.value.problems[0].code == "too-many-edges"


def test_what_the_columns_cannot_hold_is_not_written() -> None:
    treebank = read(WIDE)
    for changed in (
        replace(treebank, forms=treebank.forms * 0),
        replace(treebank, sentences=Sentences(sent_ids=["SDP 2015"])),
        replace(treebank, word_offsets=np.array([0, 3, 3]), sentences=Sentences()),
    ):
        with pytest.raises(InputError) as raised:
            Sdp().write(changed)
        assert raised.value.problems[0].code == "trees-unwritable"
