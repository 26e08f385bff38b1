"""Shared by tab-separated formats: lines, sentences, comments, and problems with their places."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, sums_by
from treescore.core.text import BOM, Limits, checked_bytes
from treescore.core.trees import Vocabulary
from treescore.errors import InputError, LimitError, Problem
from treescore.formats.shared.fields import Fields, numbered_fields, tabs_of

COLUMNS = 10
MAX_KEYS = 32
"""Distinct keys of `# key = value` comments that become sentence attributes; the first of them are kept."""

_HASH, _NEWLINE = 35, 10
_SENT_ID = "# sent_id = "
_SKIPPED_KEYS = ("# text", "#text")


@dataclass(frozen=True, slots=True)
class Outline:
    """Where the lines of a text are, and which sentence each belongs to; r token lines, n sentences.

    Attributes:
        text: valid UTF-8 with LF line ends.
        starts, ends: bytes of each token line, half-open, int64 (r,).
        lines: number of each token line, from 1, int64 (r,).
        sentences: sentence of each token line, from 0, int64 (r,).
        row_offsets: int64 (n + 1,), sentence i has the token lines `row_offsets[i]:row_offsets[i + 1]`.
        sent_ids: name of each sentence, None where it has none.
        attributes: `# key = value` comments, one value a sentence; `newdoc` holds until the next one.
        comments: lines of all comments.
        misplaced: lines of those inside sentences.
        spare: blank lines that end no sentence.
        places: column -> where it stands in the text, both from 1, for texts whose columns are in another order.
    """

    text: bytes
    starts: IntArray
    ends: IntArray
    lines: IntArray
    sentences: IntArray
    row_offsets: IntArray
    sent_ids: Sequence[str | None]
    attributes: Mapping[str, Sequence[str | None]]
    comments: IntArray
    misplaced: IntArray
    spare: IntArray
    places: Mapping[int, int] = field(default_factory=dict)

    def line_text(self, row: int) -> str:
        """Return the token line, shortened for a message."""
        return short(self.text[self.starts[row] : self.ends[row]].decode())

    def problem(self, row: int, column: int | None, code: str, detail: str) -> Problem:
        """Make a problem of one token line; `column` is the field, from 1."""
        sentence = int(self.sentences[row])
        return Problem(
            code,
            detail,
            line=int(self.lines[row]),
            column=None if column is None else self.places.get(column, column),
            sentence=sentence + 1,
            sent_id=self.sent_ids[sentence],
        )


def short(string: str, length: int = 60) -> str:
    """Shorten a string for a message."""
    return string if len(string) <= length else string[: length - 3] + "..."


def without_spaces(form: str) -> str:
    """Remove characters of Unicode category Zs from a form."""
    if form.isascii():
        return form.replace(" ", "")
    return "".join(character for character in form if unicodedata.category(character) != "Zs")


def is_blank(form: str) -> bool:
    """Tell whether a form is empty but for characters of Unicode category Zs, all of which are white space."""
    return (not form or form.isspace()) and not without_spaces(form)


def unix_lines(text: bytes) -> bytes:
    """Check UTF-8, remove a byte order mark, and end every line with LF, as Python's universal newlines do.

    Raises:
        InputError: as `treescore.core.text.checked_bytes`.
    """
    checked_bytes(text)
    text = text.removeprefix(BOM)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text if text.endswith(b"\n") else text + b"\n"


def outline_of(text: bytes, limits: Limits) -> Outline:
    """Find lines and sentences: a sentence is a run of token lines up to a blank line, comments before it are its own.

    Args:
        text: as `unix_lines` makes it.
        limits: bounds on sentences and words.

    Raises:
        InputError: no sentence at all.
        LimitError: too many sentences, or too many lines in one.
    """
    characters = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(characters == _NEWLINE)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    blank = starts == ends
    comment = characters[starts] == _HASH
    token = ~blank & ~comment
    block = np.cumsum(blank) - blank
    blocks = int(block[-1]) + 1
    has_token = np.zeros(blocks, bool)
    has_token[block[token]] = True
    sentence_of_block = np.cumsum(has_token) - 1
    rows = np.flatnonzero(token)
    sentences = sentence_of_block[block[rows]]
    count = int(has_token.sum())
    _check_size(sentences, count, rows, limits)
    row_offsets = offsets_of(sums_by(sentences, count))
    first_row = np.full(blocks, len(starts))
    first_row[has_token] = rows[row_offsets[:-1]]
    comments = np.flatnonzero(comment)
    inside = comments > first_row[block[comments]]
    own = comments[~inside & has_token[block[comments]]]
    sent_ids, attributes = _comments_of(text, starts[own], ends[own], sentence_of_block[block[own]], count)
    return Outline(
        text=text,
        starts=starts[rows],
        ends=ends[rows],
        lines=rows + 1,
        sentences=sentences,
        row_offsets=row_offsets,
        sent_ids=sent_ids,
        attributes=attributes,
        comments=comments + 1,
        misplaced=comments[inside] + 1,
        spare=np.flatnonzero(blank & ~has_token[block]) + 1,
    )


def columns_of(outline: Outline, vocabulary: Vocabulary) -> Fields | None:
    """Read all fields of the token lines, None where a line has not ten."""
    return numbered_fields(outline.text, outline.starts, outline.ends, COLUMNS, vocabulary)


def fields_per_line(outline: Outline) -> IntArray:
    """Count the fields of each token line: int64 (r,)."""
    return tabs_of(outline.text, outline.starts, outline.ends) + 1


def passes(numbers: IntArray, vocabulary: Vocabulary, test: Callable[[str], bool]) -> BoolArray:
    """Tell whether the strings of `numbers` pass a test, each distinct string tested once: bool, the same shape."""
    return vocabulary.table(numbers, test)[numbers] > 0


def _check_size(sentences: IntArray, count: int, rows: IntArray, limits: Limits) -> None:
    if not count:
        raise InputError(Problem("no-sentence", "The text has no sentence, only blank lines or comments. Add one."))
    if count > limits.max_sentences:
        detail = f"The text has {count} sentences; the limit is {limits.max_sentences}. Split it."
        raise LimitError(Problem("too-many-sentences", detail))
    lengths = sums_by(sentences, count)
    long = np.flatnonzero(lengths > limits.max_words)
    if len(long):
        first = int(long[0])
        detail = (
            f"Sentence {first + 1} has {int(lengths[first])} lines; the limit is "
            f"{limits.max_words}. End each sentence with a blank line."
        )
        raise LimitError(
            Problem("too-many-words", detail, sentence=first + 1, line=int(rows[np.searchsorted(sentences, first)]) + 1)
        )


def _comments_of(
    text: bytes, starts: IntArray, ends: IntArray, sentences: IntArray, count: int
) -> tuple[list[str | None], dict[str, Sequence[str | None]]]:
    sent_ids: list[str | None] = [None] * count
    attributes: dict[str, list[str | None]] = {}
    document = 0
    lines = b"\n".join([text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)])
    for line, sentence in zip(lines.decode().split("\n") if lines else (), sentences.tolist(), strict=True):
        if line.startswith(_SENT_ID):
            sent_ids[sentence] = line[len(_SENT_ID) :].strip()
            continue
        if line.startswith(_SKIPPED_KEYS):
            continue
        key, equals, value = map(str.strip, line[1:].partition("="))
        if key in ("newdoc", "newdoc id"):
            document += 1
            key, value = "newdoc", value or str(document)
        elif not equals:
            continue
        if key == "sent_id":
            sent_ids[sentence] = value
            continue
        if key not in attributes and len(attributes) < MAX_KEYS:
            attributes[key] = [None] * count
        if key in attributes:
            attributes[key][sentence] = value
    documents = attributes.get("newdoc", [])
    for sentence in range(1, len(documents)):
        if documents[sentence] is None:
            documents[sentence] = documents[sentence - 1]
    return sent_ids, dict(attributes)
