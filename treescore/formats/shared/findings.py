"""What is wrong with the rows of a text: the causes, with the number of what follows from each.

Among them: lines that have other columns than they must, and comments between words. Reading continues where sentences
cannot be read: a line that cannot be read costs its sentence, not the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntFlag
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, sums_by
from treescore.core.params import UNREADABLE, Param
from treescore.core.registry import Format
from treescore.core.text import BOM, first_bad_byte, place
from treescore.core.trees import Sentences
from treescore.core.wording import counted
from treescore.errors import InputError, Problem, first_of
from treescore.formats.shared.lines import Fields, Outline, fields_per_line, short, unix_lines


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
        outline: of the rows.
        parts: what was found.
    """

    outline: Outline
    parts: list[Finding] = field(default_factory=list)

    def add(self, rows: IntArray, make: Callable[[int], Problem], role: Role = Role.ALONE) -> None:
        """Record that each row of `rows` has the problem that `make(row)` describes."""
        if len(rows):
            self.parts.append(Finding(rows, make, role))

    def add_at(
        self,
        rows: IntArray,
        column: int | None,
        code: str,
        detail: str | Callable[[int], str],
        role: Role = Role.ALONE,
        *,
        at: IntArray | None = None,
    ) -> None:
        """Record that each row has a problem of this code.

        Args:
            rows: what `detail` is given.
            column: the field, from 1.
            code: of the problem.
            detail: what the problem says, or a function that returns it.
            role: as Role says.
            at: the row at which each thing stands that `detail` is given, where it is given no rows.
        """

        def make(row: int) -> Problem:
            words = detail if isinstance(detail, str) else detail(row)
            return self.outline.problem(row if at is None else int(at[row]), column, code, words)

        self.add(rows, make, role)

    @property
    def beyond_heads(self) -> bool:
        """Whether something other than a head is wrong."""
        return any(not part.role & Role.HEAD for part in self.parts)

    def first(self, cap: int) -> tuple[list[Problem], int]:
        """Return the first `cap` problems in the order of the text, and how many there are; consequences are none."""
        causes = self.causes()
        total = sum(len(part.rows) for part in causes.parts)
        problems = [causes.described(part, row) for part in causes.parts for row in np.sort(part.rows)[:cap].tolist()]
        problems.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
        return problems[:cap], total

    def raise_if_any(self, cap: int, *others: Findings) -> None:
        """Raise InputError where something was added, here or to others; problems of one kind are one."""
        groups = []
        for causes in (each.causes() for each in (self, *others)):
            for part in causes.parts:
                made = [causes.described(part, row) for row in np.sort(part.rows)[:cap].tolist()]
                groups.append((made, len(part.rows)))
        first_of(groups, cap).raise_if_any()

    def without_chains(self, sentences: IntArray) -> Findings:
        """Return what was found, of these sentences neither causes nor consequences."""
        left = Findings(self.outline)
        for rows, make, role in self.parts:
            chained = role & (Role.CAUSE | Role.FOLLOWS)
            left.add(rows[~np.isin(self.outline.sentences[rows], sentences)] if chained else rows, make, role)
        return left

    def by_sentence(self) -> BadSentences:
        """Return the sentences in which something was found."""
        causes = self.causes()
        sizes = [len(part.rows) for part in causes.parts]
        numbers = np.repeat(np.arange(len(sizes)), sizes)
        rows = np.concatenate([part.rows for part in causes.parts])
        heads = np.array([bool(part.role & Role.HEAD) for part in causes.parts])[numbers]
        sentences = self.outline.sentences[rows]
        order = np.lexsort((numbers, rows, heads, sentences))
        found, first = np.unique(sentences[order], return_index=True)
        chosen = order[first]
        columns = found.tolist(), rows[chosen].tolist(), numbers[chosen].tolist()
        problems = {
            sentence: causes.described(causes.parts[number], row)
            for sentence, row, number in zip(*columns, strict=True)
        }
        return BadSentences(problems, found[~heads[chosen]])

    def causes(self) -> _Causes:
        """Leave out what follows from causes, and count it by cause."""
        chained = [part for part in self.parts if part.role & (Role.CAUSE | Role.FOLLOWS)]
        causes = [part.rows for part in chained if part.role & Role.CAUSE]
        none = np.zeros(0, np.int64)
        if not causes:
            return _Causes(self.parts, none, none)
        rows = np.sort(np.concatenate(causes))
        sentences, first = np.unique(self.outline.sentences[rows], return_index=True)
        rows = rows[first]
        owners = np.concatenate([self.outline.sentences[part.rows] for part in chained])
        places = np.minimum(np.searchsorted(sentences, owners), len(sentences) - 1)
        sizes = np.bincount(places[sentences[places] == owners], minlength=len(sentences))
        parts = []
        for part in self.parts:
            if part.role & Role.CAUSE:
                kept = np.isin(part.rows, rows)
            elif part.role & Role.FOLLOWS:
                kept = ~np.isin(self.outline.sentences[part.rows], sentences)
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
    findings = Findings(outline)
    found = fields_per_line(outline)

    def detail(row: int) -> str:
        what = f"The line has {counted(int(found[row]), 'tab-separated column')}, {wanted}. "
        return what * (int(found[row]) != columns) + _other_columns(outline, row, columns)

    findings.add_at(np.flatnonzero((found != columns) | outline.hollow), None, code, detail)
    _check_comments(findings)
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


def _check_comments(findings: Findings) -> None:
    """Add the comments that stand inside sentences; those that follow each other are one."""
    outline = findings.outline
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


_WHAT = (
    "What fails if a sentence of the output cannot be read: the whole job, with the place, or the sentence (status "
    "error). What cannot be read of gold is always an error."
)


class RowsFormat(Format):
    """A format of a word a line and a blank line after each sentence, which can go on after one that cannot be read."""

    blank_line_between = True
    memory = 40
    params: ClassVar[Mapping[str, Param]] = {"unreadable": UNREADABLE._replace(doc=_WHAT)}


OF_BYTES = ("invalid-utf8", "nul-character")
"""Problems of bytes that may be the fault of single lines."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_T = TypeVar("_T")


class Lines(NamedTuple):
    """A text as `unix_lines` makes it.

    Attributes:
        text: with U+FFFD for bytes that are not text.
        faults: lines with such bytes.
    """

    text: bytes
    faults: Sequence[Problem]


def lines_of(text: bytes, *, lenient: bool) -> Lines:
    """Return the lines of a text.

    Raises:
        InputError: as `unix_lines`; if lenient, only for what is not the fault of single lines.
    """
    try:
        return Lines(unix_lines(text), ())
    except InputError as error:
        if not lenient or error.problems[0].code not in OF_BYTES or text.startswith(_UTF_16):
            raise
        lines = text.removeprefix(BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        faults = {number: fault for number, line in enumerate(lines, 1) if (fault := _fault(line, number))}
        if all(number in faults for number, line in enumerate(lines, 1) if line):
            raise
    for number in faults:
        lines[number - 1] = lines[number - 1].replace(b"\0", b"\xff").decode("utf-8", "replace").encode()
    return Lines(unix_lines(b"\n".join(lines)), list(faults.values()))


def _fault(line: bytes, number: int) -> Problem | None:
    """Return what is wrong with the bytes of a line."""
    nul = line.find(b"\0")
    bad = first_bad_byte(line)
    if nul < 0 and bad is None:
        return None
    at = nul if bad is None else bad
    column = place(line, at)[1]
    detail = (
        f"Byte 0x{line[at]:02x} in line {number}, column {column} is not text. Save the file as UTF-8, without NUL."
    )
    return Problem("nul-character" if bad is None else "invalid-utf8", detail, line=number, column=column)


@dataclass(frozen=True, slots=True)
class Rows(Generic[_T]):
    """The rows of a text that can be read.

    Attributes:
        outline: of these rows; sentences that cannot be read have none, unless only heads are wrong.
        fields: theirs.
        checked: what the format's check has made of them.
        warnings: what is unusual.
        lenient: whether what is wrong costs its sentence alone.
        unreadable: sentence -> why it cannot be read.
        comments: comments with bytes that are not text.
    """

    outline: Outline
    fields: Fields
    checked: _T
    warnings: Findings
    lenient: bool
    unreadable: Mapping[int, Problem]
    comments: Sequence[Problem]

    def sentences(self, cap: int) -> Sentences:
        """Return what is known of the sentences, with up to `cap` warnings."""
        return Sentences(
            sent_ids=self.outline.sent_ids,
            attributes=self.outline.attributes,
            lenient=self.lenient,
            unreadable=self.unreadable,
            warnings=[*self.warnings.first(cap)[0], *self.comments][:cap],
        )


@dataclass(frozen=True, slots=True)
class RowFormat(Generic[_T]):
    """How a format of lines makes rows.

    Attributes:
        fields_of: returns the fields of an outline, None where a line has too many or too few.
        layout: describes such lines, and comments inside sentences.
        check: checks rows; it is given what is wrong and what is unusual, to add to.
    """

    fields_of: Callable[[Outline], Fields | None]
    layout: Callable[[Outline], Findings]
    check: Callable[[Fields, Findings, Findings], _T]

    def read(
        self, outline: Outline, cap: int, *, lenient: bool, faults: Sequence[Problem] = (), fields: Fields | None = None
    ) -> Rows[_T]:
        """Read the rows.

        Args:
            outline: of the text.
            cap: the most problems to describe, where one fails the text.
            lenient: whether what is wrong costs its sentence alone.
            faults: problems of lines that were found before.
            fields: of the outline, if they are known.

        Raises:
            InputError: something is wrong, and `lenient` is false.
        """
        unreadable, comments = _by_sentence(outline, faults)
        if unreadable:
            outline, kept = without_sentences(outline, unreadable)
            fields = None if fields is None else fields.of_lines(kept)
        if fields is None and not len(outline.misplaced) and not outline.hollow.any():
            fields = self.fields_of(outline)
        if fields is None:
            findings = self.layout(outline)
            if not lenient and findings.parts:
                findings.raise_if_any(cap, self._of_other_lines(findings))
            found, lost = findings.by_sentence()
            unreadable |= found
            outline, _ = without_sentences(outline, lost.tolist())
            fields = self.fields_of(outline)
        assert fields is not None  # noqa: S101 - the lines of other lengths are gone
        findings, warnings = Findings(outline), Findings(outline)
        checked = self.check(fields, findings, warnings)
        if findings.parts:
            if not lenient:
                findings.raise_if_any(cap)
            found, lost = findings.by_sentence()
            unreadable |= found
            if len(lost):
                outline, kept = without_sentences(outline, lost.tolist())
                fields, warnings = fields.of_lines(kept), Findings(outline)
                checked = self.check(fields, Findings(outline), warnings)
        return Rows(outline, fields, checked, warnings, lenient, unreadable, comments)

    def _of_other_lines(self, layout: Findings) -> Findings:
        """Return what is wrong with the lines of the right layout, without what may follow from the others."""
        outline = layout.outline
        wrong = np.concatenate([part.rows for part in layout.parts])
        others = Findings(_of_rows(outline, ~np.isin(np.arange(len(outline.lines)), wrong)))
        fields = self.fields_of(others.outline)
        assert fields is not None  # noqa: S101 - the lines of other lengths are gone
        self.check(fields, others, Findings(others.outline))
        return others.without_chains(outline.sentences[wrong])


def without_sentences(outline: Outline, lost: Iterable[int]) -> tuple[Outline, BoolArray]:
    """Return the outline without the rows of some sentences, and which rows it still has, bool (r,)."""
    gone = np.zeros(len(outline.sent_ids), np.bool_)
    gone[list(lost)] = True
    kept = ~gone[outline.sentences]
    misplaced = outline.misplaced[~gone[_sentences_at(outline, outline.misplaced)]]
    return replace(_of_rows(outline, kept), misplaced=misplaced), kept


def _of_rows(outline: Outline, kept: BoolArray) -> Outline:
    rows = {name: getattr(outline, name)[kept] for name in ("starts", "ends", "lines", "sentences", "hollow")}
    return replace(outline, **rows, row_offsets=offsets_of(sums_by(rows["sentences"], len(outline.sent_ids))))


def _sentences_at(outline: Outline, lines: IntArray) -> IntArray:
    """Return the sentence in which each line stands, int64, the same shape."""
    at: IntArray = outline.sentences[np.searchsorted(outline.lines, lines, "right") - 1]
    return at


def _by_sentence(outline: Outline, faults: Sequence[Problem]) -> tuple[dict[int, Problem], list[Problem]]:
    """Return sentence -> the first of the faults in it, and the faults of comments before sentences."""
    found: dict[int, Problem] = {}
    comments = []
    inside = {*outline.misplaced.tolist(), *outline.lines.tolist()} if faults else set()
    for problem in sorted(faults, key=lambda problem: problem.line or 0):
        if problem.line in inside:
            sentence = int(_sentences_at(outline, np.array([problem.line]))[0])
            found.setdefault(sentence, replace(problem, sentence=sentence + 1, sent_id=outline.sent_ids[sentence]))
        else:
            comments.append(problem)
    return found, comments
