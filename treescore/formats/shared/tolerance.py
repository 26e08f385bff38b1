"""Reading on where sentences cannot be read: a line that cannot be read costs its sentence, not the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of
from treescore.core.params import Param
from treescore.core.text import BOM, first_bad_byte, place
from treescore.core.trees import Sentences
from treescore.errors import InputError, Problem
from treescore.formats.shared.findings import Findings
from treescore.formats.shared.lines import Fields, Outline, unix_lines

SENTENCE = "sentence"
UNREADABLE = Param(
    {"enum": ["job", SENTENCE]},
    "job",
    "What fails if a sentence of the output cannot be read: the whole job, with the place, or the sentence (status "
    "error). What cannot be read of gold is always an error.",
)
"""The option of formats of lines that can go on after a sentence that cannot be read."""

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
    check: Callable[[Outline, Fields, Findings, Findings], _T]

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
            if not lenient:
                findings.raise_if_any(cap)
            found, lost = findings.by_sentence()
            unreadable |= found
            outline, _ = without_sentences(outline, lost.tolist())
            fields = self.fields_of(outline)
        assert fields is not None  # noqa: S101 - the lines of other lengths are gone
        findings, warnings = Findings(outline.sentences), Findings(outline.sentences)
        checked = self.check(outline, fields, findings, warnings)
        if findings.parts:
            if not lenient:
                findings.raise_if_any(cap)
            found, lost = findings.by_sentence()
            unreadable |= found
            if len(lost):
                outline, kept = without_sentences(outline, lost.tolist())
                fields, warnings = fields.of_lines(kept), Findings(outline.sentences)
                checked = self.check(outline, fields, Findings(outline.sentences), warnings)
        return Rows(outline, fields, checked, warnings, lenient, unreadable, comments)


def without_sentences(outline: Outline, lost: Iterable[int]) -> tuple[Outline, BoolArray]:
    """Return the outline without the rows of some sentences, and which rows it still has, bool (r,)."""
    gone = np.zeros(len(outline.sent_ids), np.bool_)
    gone[list(lost)] = True
    kept = ~gone[outline.sentences]
    rows = {name: getattr(outline, name)[kept] for name in ("starts", "ends", "lines", "sentences", "hollow")}
    offsets = offsets_of(np.where(gone, 0, np.diff(outline.row_offsets)))
    misplaced = outline.misplaced[~gone[_sentences_at(outline, outline.misplaced)]]
    return replace(outline, **rows, row_offsets=offsets, misplaced=misplaced), kept


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
            sent_id = outline.sent_ids[sentence]
            found.setdefault(sentence, replace(problem, sentence=sentence + 1, sent_id=sent_id))
        else:
            comments.append(problem)
    return found, comments
