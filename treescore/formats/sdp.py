"""Semantic dependency graphs in columns, as in the SDP tasks of SemEval 2014 and 2015."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.counting import counted
from treescore.core.limits import Limits
from treescore.core.registry import Format, Text, register
from treescore.core.signs import Head, Signs
from treescore.core.trees import SemanticTreebank, Sentences
from treescore.core.vocabulary import Vocabulary
from treescore.errors import Problem
from treescore.formats.shared.column_signs import sdp_signs
from treescore.formats.shared.findings import Findings
from treescore.formats.shared.graph_cells import FIXED, Cells, cells_of
from treescore.formats.shared.lines import Outline, outline_of, short, unix_lines

ID, FORM, LEMMA, POS, TOP, PRED, FRAME = range(7)
_YES, _NO, _NONE = "+", "-", "_"
_NAMES = ("id", "form", "lemma", "pos", "top", "pred", "frame")
_HEADER = "#SDP 2015"


@register
class Sdp(Format):
    """A word a line: id, form, lemma, pos, top, pred, frame, and a column for each predicate of the sentence.

    The columns behind `frame` hold the role that the word has for the first, second, ... word whose `pred` is +, or _.
    A line `#NUMBER` before a graph names it. Texts of 2014 have no column `frame`; the first line (`#SDP 2015`) decides
    which a text has, else the number of columns of most lines.
    """

    name: ClassVar[str] = "sdp"
    doc: ClassVar[str] = "Semantic dependencies (SemEval 2014, 2015): id form lemma pos top pred [frame] [arg ...]."
    source: ClassVar[str] = "Oepen et al. 2015, https://aclanthology.org/S15-2153"
    yields: ClassVar[type[SemanticTreebank]] = SemanticTreebank
    suffixes = (".sdp",)
    blank_line_between = True
    usual_metric = "semantic_dependencies"
    example = (
        "#SDP 2015\n"
        "#20001\n"
        "1\tLe\tle\tD\t-\t+\tq:i-h-h\t_\t_\n"
        "2\tcafé\tcafé\tN\t-\t-\t_\tBV\tARG1\n"
        "3\tferme\tfermer\tV\t+\t+\tv:e-i\t_\t_\n\n"
        "#20002\n"
        "1\tOui\toui\tI\t-\t-\t_\n\n"
    ).encode()

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """See Format."""
        return sdp_signs(head)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> SemanticTreebank:
        """Read the graphs.

        Raises:
            InputError: `sdp-...`, `repeated-sentence-id`, those of core.text.
            LimitError: `too-many-words`, `too-many-sentences`.
        """
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        outline = outline_of(unix_lines(text), limits)
        outline = replace(outline, sent_ids=_names_of(outline))
        cells = cells_of(outline, vocabulary)
        _check(outline, cells, vocabulary, limits.max_problems)
        return _treebank(outline, cells, vocabulary)

    def write(self, treebank: SemanticTreebank) -> str:
        """Write the columns of 2015."""
        return write_sdp(treebank)


def write_sdp(treebank: SemanticTreebank) -> str:
    """Write graphs in the columns of 2015."""
    strings = treebank.vocabulary.strings
    columns = [column.tolist() for column in (treebank.forms, treebank.lemmas, treebank.tags, treebank.frames)]
    tops, predicates = treebank.tops.tolist(), treebank.predicates.tolist()
    names = treebank.sentences.sent_ids
    bounds = np.searchsorted(treebank.edge_arguments, treebank.word_offsets)
    edges = list(
        zip(
            treebank.edge_predicates.tolist(),
            treebank.edge_arguments.tolist(),
            treebank.edge_labels.tolist(),
            strict=True,
        )
    )
    lines = [_HEADER]
    for sentence, (begin, end) in enumerate(pairwise(treebank.word_offsets.tolist())):
        if names and names[sentence] is not None:
            lines.append(f"#{names[sentence]}")
        place = {word: number for number, word in enumerate(filter(predicates.__getitem__, range(begin, end)))}
        rows = [[_NONE] * len(place) for _ in range(begin, end)]
        for predicate, argument, label in edges[bounds[sentence] : bounds[sentence + 1]]:
            rows[argument - begin][place[predicate]] = strings[label]
        for word, row in enumerate(rows, begin):
            form, lemma, tag, frame = (strings[column[word]] for column in columns)
            flags = (_YES if flag else _NO for flag in (tops[word], predicates[word]))
            lines.append("\t".join([str(word - begin + 1), form, lemma, tag, *flags, frame, *row]))
        lines.append("")
    return "\n".join(lines) + "\n"


def without_graph(treebank: SemanticTreebank) -> SemanticTreebank:
    """Return the words alone: no lemmas, parts of speech, frames, tops and edges."""
    blank = np.full(len(treebank.forms), treebank.vocabulary.number(_NONE), np.int64)
    none, nothing = np.zeros(len(blank), np.bool_), np.zeros(0, np.int64)
    return replace(
        treebank, lemmas=blank, tags=blank, frames=blank, tops=none, predicates=none,
        edge_predicates=nothing, edge_arguments=nothing, edge_labels=nothing,
    )  # fmt: skip


def _names_of(outline: Outline) -> list[str | None]:
    """Return what stands behind # in the line before each graph, None where that line names none."""
    ends = np.flatnonzero(np.frombuffer(outline.text, np.uint8) == ord("\n"))
    before = outline.lines[outline.row_offsets[:-1]] - 2  # lines count from 1
    names: list[str | None] = []
    for line in before.tolist():
        start = int(ends[line - 1]) + 1 if line > 0 else 0
        content = outline.text[start : int(ends[line])].decode() if line >= 0 else ""
        named = content.startswith("#") and not content.startswith("#SDP ")
        names.append(content[1:].strip() or None if named else None)
    return names


def _check(outline: Outline, cells: Cells, vocabulary: Vocabulary, cap: int) -> None:
    """Check the form of all lines, then the number of columns, then what they hold.

    Raises:
        InputError: what is wrong, the cause alone where one thing follows from another.
    """
    findings = Findings()
    findings.add(outline.misplaced, _comment_inside)
    findings.add(np.flatnonzero(cells.counts < cells.fixed), lambda row: _too_few(outline, cells, row))
    findings.raise_if_any(cap)
    _check_fields(outline, cells, vocabulary, findings)
    findings.raise_if_any(cap)
    wanted = cells.fixed + cells.predicates_of_row
    findings.add(np.flatnonzero(cells.counts != wanted), lambda row: _other_count(outline, cells, row))
    findings.add(_repeated(outline), lambda row: _repeated_name(outline, row))
    findings.raise_if_any(cap)


def _check_fields(outline: Outline, cells: Cells, vocabulary: Vocabulary, findings: Findings) -> None:
    """Add fields that are empty, numbers that are not the word's position, and flags that are neither + nor -."""
    strings = vocabulary.strings
    findings.add(cells.empty, lambda cell: _empty(outline, cells, cell))
    positions = np.arange(len(outline.lines)) - outline.row_offsets[outline.sentences] + 1
    numbers = vocabulary.table(cells.columns[ID], _number)[cells.columns[ID]]
    wrong = np.flatnonzero(numbers != positions)
    # A missing line shifts all numbers after it: only the first of a graph is reported.
    _, firsts = np.unique(outline.sentences[wrong], return_index=True)
    findings.add(
        wrong[firsts],
        lambda row: outline.problem(
            row, ID + 1, "sdp-wrong-id",
            f"The id is {short(strings[cells.columns[ID][row]], 20)!r}, expected {positions[row]}. Number the words of "
            "a graph 1, 2, 3, ... and end each graph with a blank line.",
        ),
    )  # fmt: skip
    for column in (TOP, PRED):
        flags = vocabulary.table(cells.columns[column], lambda flag: flag in (_YES, _NO))[cells.columns[column]]
        findings.add(np.flatnonzero(flags == 0), _bad_flag(outline, cells, column, strings))


def _empty(outline: Outline, cells: Cells, cell: int) -> Problem:
    row = int(cells.rows[cell])
    column = cell - int(cells.offsets[row]) + 1
    detail = f"Column {column} is empty. Write _ where it has no value."
    return outline.problem(row, column, "sdp-empty-field", detail)


def _bad_flag(outline: Outline, cells: Cells, column: int, strings: list[str]) -> Callable[[int], Problem]:
    def problem(row: int) -> Problem:
        found = short(strings[cells.columns[column][row]], 20)
        detail = f"Column {column + 1} ({_NAMES[column]}) is {found!r}. Write + for yes or - for no."
        return outline.problem(row, column + 1, "sdp-bad-flag", detail)

    return problem


def _number(string: str) -> int:
    return int(string) if string.isascii() and string.isdigit() and len(string) < 10 and string[0] != "0" else -1


def _comment_inside(line: int) -> Problem:
    detail = "A line that begins with # stands between the words of a graph. End the graph before it with a blank line."
    return Problem("sdp-comment-inside-graph", detail, line=line)


def _too_few(outline: Outline, cells: Cells, row: int) -> Problem:
    found = int(cells.counts[row])
    names = " ".join(_NAMES[: cells.fixed])
    fix = "Separate the columns by tabs, not by spaces." if found == 1 and " " in outline.line_text(row) else (
        "Write _ where one has no value."
    )  # fmt: skip
    detail = f"The line has {counted(found, 'tab-separated column')}; at least {cells.fixed} are needed: {names}. {fix}"
    return outline.problem(row, None, "sdp-column-count", detail)


def _other_count(outline: Outline, cells: Cells, row: int) -> Problem:
    found, predicates = int(cells.counts[row]), int(cells.predicates_of_row[row])
    wanted = cells.fixed + predicates
    fix = (
        f"Remove {counted(found - wanted, 'column')} from column {wanted + 1} on"
        if found > wanted
        else f"Add {counted(wanted - found, 'column')} with _"
    )
    detail = (
        f"The line has {counted(found, 'column')}, not {wanted}: {cells.fixed}, and one for each of the "
        f"{counted(predicates, 'word')} of the graph whose pred is +. {fix}, or correct pred (column {PRED + 1})."
    )
    return outline.problem(row, min(found, wanted) + 1, "sdp-column-count", detail)


def _repeated(outline: Outline) -> IntArray:
    """Return the first line of each graph whose name another before it has."""
    known: set[str] = set()
    again = []
    for sentence, name in enumerate(outline.sent_ids):
        if name is not None and name in known:
            again.append(int(outline.row_offsets[sentence]))
        elif name is not None:
            known.add(name)
    return np.array(again, np.int64)


def _repeated_name(outline: Outline, row: int) -> Problem:
    name = short(outline.sent_ids[outline.sentences[row]] or "", 30)
    detail = f"Another graph before this one has the name {name!r}. Give each graph a name of its own."
    return outline.problem(row, None, "repeated-sentence-id", detail)


def _treebank(outline: Outline, cells: Cells, vocabulary: Vocabulary) -> SemanticTreebank:
    yes = vocabulary.number(_YES)
    predicates = cells.columns[PRED] == yes
    words = np.flatnonzero(predicates)
    firsts = np.searchsorted(words, outline.row_offsets[:-1])
    rows, places = cells.arguments
    frames = (
        cells.columns[FRAME] if cells.fixed == FIXED else np.full(len(predicates), vocabulary.number(_NONE), np.int64)
    )
    names = outline.sent_ids
    return SemanticTreebank(
        vocabulary=vocabulary,
        forms=cells.columns[FORM],
        lemmas=cells.columns[LEMMA],
        tags=cells.columns[POS],
        frames=frames,
        tops=cells.columns[TOP] == yes,
        predicates=predicates,
        edge_predicates=words[firsts[outline.sentences[rows]] + places],
        edge_arguments=rows,
        edge_labels=cells.labels,
        word_offsets=outline.row_offsets,
        lines=outline.lines,
        sentences=Sentences(
            sent_ids=names if any(name is not None for name in names) else (), attributes=outline.attributes
        ),
    )
