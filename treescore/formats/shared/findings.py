"""What is wrong with the rows of a text: the causes, with the number of what follows from each.

Among them: lines that have other columns than they must, and comments between words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import IntFlag
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.wording import counted
from treescore.errors import Problem, first_of
from treescore.formats.shared.lines import Outline, fields_per_line, short


class Role(IntFlag):
    """What a finding does to others of its sentence.

    `CAUSE`: it stands for all further causes and consequences after the first. `FOLLOWS`: it is a consequence where
    the sentence has a cause. `HEAD`: it leaves all but the head of a word readable.
    """

    ALONE = 0
    CAUSE = 1
    FOLLOWS = 2
    HEAD = 4


class Finding(NamedTuple):
    """Rows with one kind of problem."""

    rows: IntArray
    make: Callable[[int], Problem]
    role: Role


class BadSentences(NamedTuple):
    """Sentences with findings.

    Attributes:
        problems: the first cause of each; where one has others than heads, the first of these.
        lost: sentences of which more than heads cannot be read, int64, ascending.
    """

    problems: dict[int, Problem]
    lost: IntArray


@dataclass(slots=True)
class Findings:
    """Problems of one text by row; a Problem is made only for those that are shown.

    Attributes:
        sentences: sentence of each row, from 0, int64 (r,); may be left out where all rows stand alone.
        parts: what was found.
    """

    sentences: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    parts: list[Finding] = field(default_factory=list)

    def add(self, rows: IntArray, make: Callable[[int], Problem], role: Role = Role.ALONE) -> None:
        """Record that each row of `rows` has the problem that `make(row)` describes."""
        if len(rows):
            self.parts.append(Finding(rows, make, role))

    @property
    def beyond_heads(self) -> bool:
        """Whether something other than a head is wrong."""
        return any(not part.role & Role.HEAD for part in self.parts)

    def first(self, cap: int) -> tuple[list[Problem], int]:
        """Return the first `cap` problems in the order of the text, and how many there are; consequences are none."""
        causes = self._causes()
        total = sum(len(part.rows) for part in causes.parts)
        problems = [causes.described(part, row) for part in causes.parts for row in np.sort(part.rows)[:cap].tolist()]
        problems.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
        return problems[:cap], total

    def raise_if_any(self, cap: int) -> None:
        """Raise InputError where something was added; problems of one kind are one."""
        causes = self._causes()
        made = [[causes.described(part, row) for row in np.sort(part.rows)[:cap].tolist()] for part in causes.parts]
        first_of(zip(made, (len(part.rows) for part in causes.parts), strict=True), cap).raise_if_any()

    def by_sentence(self) -> BadSentences:
        """Return the sentences in which something was found."""
        causes = self._causes()
        sizes = [len(part.rows) for part in causes.parts]
        numbers = np.repeat(np.arange(len(sizes)), sizes)
        rows = np.concatenate([part.rows for part in causes.parts])
        heads = np.array([bool(part.role & Role.HEAD) for part in causes.parts])[numbers]
        sentences = self.sentences[rows]
        order = np.lexsort((numbers, rows, heads, sentences))
        found, first = np.unique(sentences[order], return_index=True)
        chosen = order[first]
        columns = found.tolist(), rows[chosen].tolist(), numbers[chosen].tolist()
        problems = {
            sentence: causes.described(causes.parts[number], row)
            for sentence, row, number in zip(*columns, strict=True)
        }
        return BadSentences(problems, found[~heads[chosen]])

    def _causes(self) -> _Causes:
        """Leave out what follows from causes, and count it by cause."""
        chained = [part for part in self.parts if part.role & (Role.CAUSE | Role.FOLLOWS)]
        causes = [part.rows for part in chained if part.role & Role.CAUSE]
        none = np.zeros(0, np.int64)
        if not causes:
            return _Causes(self.parts, none, none)
        rows = np.sort(np.concatenate(causes))
        sentences, first = np.unique(self.sentences[rows], return_index=True)
        rows = rows[first]
        owners = np.concatenate([self.sentences[part.rows] for part in chained])
        places = np.minimum(np.searchsorted(sentences, owners), len(sentences) - 1)
        sizes = np.bincount(places[sentences[places] == owners], minlength=len(sentences))
        parts = []
        for part in self.parts:
            if part.role & Role.CAUSE:
                kept = np.isin(part.rows, rows)
            elif part.role & Role.FOLLOWS:
                kept = ~np.isin(self.sentences[part.rows], sentences)
            else:
                kept = np.ones(len(part.rows), np.bool_)
            if kept.any():
                parts.append(part._replace(rows=part.rows[kept]))
        return _Causes(parts, rows, sizes - 1)


class _Causes(NamedTuple):
    """Findings without consequences; the rows of causes, ascending, and how many consequences each has."""

    parts: list[Finding]
    rows: IntArray
    followed: IntArray

    def described(self, part: Finding, row: int) -> Problem:
        """Make the problem of a row; a cause says how many follow."""
        problem = part.make(row)
        if not part.role & Role.CAUSE:
            return problem
        count = int(self.followed[np.searchsorted(self.rows, row)])
        if not count:
            return problem
        further = counted(count, "further problem")
        return replace(problem, detail=f"{problem.detail} {further} of this sentence may follow from it.")


SHOWN_OF_FIELD = 30
"""Characters of a field that a message shows."""
_LONGEST_LINE = 10_000
"""Bytes of a line that are looked at for a message."""


def check_layout(outline: Outline, columns: int, code: str, wanted: str) -> Findings:
    """Return the lines that have not so many columns as they must, or only blanks, and comments inside sentences."""
    findings = Findings(outline.sentences)
    found = fields_per_line(outline)

    def problem(row: int) -> Problem:
        what = f"The line has {counted(int(found[row]), 'tab-separated column')}, {wanted}. "
        detail = what * (int(found[row]) != columns) + _other_columns(outline, row, columns)
        return outline.problem(row, None, code, detail)

    findings.add(np.flatnonzero((found != columns) | outline.hollow), problem)
    _check_comments(outline, findings)
    return findings


def _other_columns(outline: Outline, row: int, columns: int) -> str:
    """Say how to fix a line that has not so many columns as it must, or only blanks."""
    start, end = int(outline.starts[row]), int(outline.ends[row])
    line = outline.text[start : min(end, start + _LONGEST_LINE)].decode("utf-8", "ignore")
    fields = line.split("\t")
    if not line.strip():
        return only_blanks(line)
    if len(fields) == 1 and " " in line:
        return "Separate the columns by tabs, not by spaces."
    if len(fields) > columns:
        return _surplus(fields, columns)
    spaced = [number for number, field in enumerate(fields, 1) if " " in field]
    if len(fields) < columns and len(spaced) == 1:
        shown = short(fields[spaced[0] - 1], SHOWN_OF_FIELD)
        return (
            f"Column {spaced[0]} is {shown!r}. If it holds two columns, put a tab between them; else write _ where a "
            "column has no value."
        )
    return "Write _ where a column has no value."


def only_blanks(line: str) -> str:
    """Say how to fix a line of white space."""
    return f"It holds only {'spaces' if line.strip(chr(9)) else 'tabs'}. End a sentence with an empty line."


def _surplus(fields: list[str], columns: int) -> str:
    more = len(fields) - columns
    nth = f"The {columns + 1}th column"
    blank = [number for number, field in enumerate(fields, 1) if not field]
    if more == 1 and not fields[-1]:
        return f"{nth} is empty, since the line ends with a tab. Remove it."
    if more == 1 and len(blank) == 1:
        return f"Column {blank[0]} is empty. Remove one of the tabs around it."
    shown = f"{nth} is {short(fields[columns], SHOWN_OF_FIELD)!r}"
    return f"{shown}. Remove it." if more == 1 else f"{shown}, and {more - 1} more follow. Remove them."


def _check_comments(outline: Outline, findings: Findings) -> None:
    """Add the comments that stand inside sentences; those that follow each other are one."""
    before = np.searchsorted(outline.lines, outline.misplaced) - 1
    kept = ~outline.hollow[before]  # such a line was meant to end the sentence
    before, misplaced = before[kept], outline.misplaced[kept]
    rows, first, counts = np.unique(before, return_index=True, return_counts=True)

    def problem(row: int) -> Problem:
        at = int(np.searchsorted(rows, row))
        count = int(counts[at])
        what = "A comment stands" if count == 1 else f"{counted(count, 'line')} of comments stand"
        move = "it" if count == 1 else "them"
        detail = (
            f"{what} between the words of a sentence. Move {move} before the first word, or end the sentence before "
            f"{move} with a blank line."
        )
        placed = outline.problem(row, None, "conllu-comment-inside-sentence", detail)
        return replace(placed, line=int(misplaced[first[at]]))

    findings.add(rows, problem)
