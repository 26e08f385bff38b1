"""Lines of the format sdp: the comments that name graphs and columns, and where the fields of each word are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from treescore.core.arrays import Bytes, IntArray
from treescore.core.limits import Limits
from treescore.errors import LimitError, Problem
from treescore.formats.shared.findings import Findings
from treescore.formats.shared.lines import Outline, outline_of, short

VERSIONS = {"2014": 6, "2015": 7}
"""Columns before the arguments: 2015 has the frame as its seventh."""
FIRST, MOST = min(VERSIONS.values()), max(VERSIONS.values())
HEADER = re.compile(r"#\s*SDP\s+(\S+)\s*")

MAX_EDGES = 5_000_000
"""Limit of a text, some times the edges of the largest treebanks: an edge takes two bytes of a text, but 100 here."""
_TAB, _LINE_FEED, _HASH, _BLANK = 9, 10, 35, 95
_PIECE = 1 << 20
"""Bytes that are looked at together: the places of all tabs of a text would take several times its size."""


@dataclass(frozen=True, slots=True)
class Headings:
    """What the comments of a text say.

    Attributes:
        ids: of each graph, None where it has none.
        version: the year that is stated; None where none is.
    """

    ids: list[str | None]
    version: str | None


@dataclass(frozen=True, slots=True)
class Cells:
    """Fields behind the first columns that are not `_`, c of them, in the order of the text.

    Attributes:
        rows: token line of each, int64 (c,).
        fields: its number in the line, from 0, int64 (c,).
        starts, ends: its bytes, half-open, int64 (c,).
    """

    rows: IntArray
    fields: IntArray
    starts: IntArray
    ends: IntArray


@dataclass(frozen=True, slots=True)
class Places:
    """Where the fields of r token lines are.

    Attributes:
        counts: fields of each line, int64 (r,).
        ends: byte after each of the first MOST fields, the end of the line where it has fewer, int64 (MOST, r).
        empty: lines and fields (from 0) without a character, int64 (2, k).
        cells: the fields behind the first columns that hold something.
    """

    counts: IntArray
    ends: IntArray
    empty: IntArray
    cells: Cells


def outlined(text: bytes, limits: Limits, findings: Findings) -> tuple[Outline, str | None]:
    """Find lines, graphs and their ids.

    Args:
        text: as `unix_lines` makes it.
        limits: on it.
        findings: to which comments are added that cannot be read.

    Returns:
        The outline; the version that a comment states, None where none does.

    Raises:
        InputError, LimitError: as `outline_of`.
    """
    outline = outline_of(text, limits)
    headings = _headings(outline, findings)
    outline = replace(outline, sent_ids=headings.ids, attributes={})
    _check_ids(outline, findings)

    def inside(number: int) -> Problem:
        detail = (
            f"Line {number} begins with # but stands between the words of a graph. Put a blank line before it if a "
            "graph begins there; else remove it."
        )
        return Problem("sdp-comment-inside-graph", detail, line=number)

    findings.add(outline.misplaced, inside)
    return outline, headings.version


def _headings(outline: Outline, findings: Findings) -> Headings:
    """Read the comments before graphs."""
    characters = np.frombuffer(outline.text, np.uint8)
    ends = np.flatnonzero(characters == _LINE_FEED)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    blanks = np.flatnonzero(starts == ends)
    firsts = outline.lines[outline.row_offsets[:-1]] - 1
    comments = np.setdiff1d(np.flatnonzero(characters[starts] == _HASH), outline.misplaced - 1)
    graphs = np.searchsorted(firsts, comments)
    following = np.append(firsts, len(starts))[graphs]
    apart = (graphs == len(firsts)) | (np.searchsorted(blanks, comments) != np.searchsorted(blanks, following))
    ids: list[str | None] = [None] * len(firsts)
    problems: dict[int, Problem] = {}
    version = None
    places = (each.tolist() for each in (comments, starts[comments], ends[comments], graphs, apart))
    for number, start, end, graph, alone in zip(*places, strict=True):
        line = outline.text[start:end].decode()
        header = HEADER.fullmatch(line)
        if header is not None:
            if header[1] not in VERSIONS or version not in (None, header[1]):
                problems[number] = _bad_header(number + 1, header[1], version)
            version = version or header[1]
            continue
        name = line.partition("\t")[0][1:].strip()
        if alone:
            problems[number] = _no_words(number + 1, name)
        elif not name or ids[graph] is not None:
            problems[number] = _bad_id(number + 1, graph + 1, name)
        else:
            ids[graph] = name
    findings.add(np.array(list(problems), np.int64), problems.__getitem__)
    return Headings(ids, version if version in VERSIONS else None)


def _check_ids(outline: Outline, findings: Findings) -> None:
    """Add graphs without an id where others have one, and ids that stand twice."""
    ids = outline.sent_ids
    without = [graph for graph, name in enumerate(ids) if name is None]
    if without and len(without) < len(ids):

        def unnamed(graph: int) -> Problem:
            detail = f"Graph {graph + 1} has no id, but others have. Write a line with # and its id before its words."
            return outline.problem(int(outline.row_offsets[graph]), None, "sdp-no-id", detail)

        findings.add(np.array(without, np.int64), unnamed)
    first: dict[str | None, int] = {}
    twice = [graph for graph, name in enumerate(ids) if first.setdefault(name, graph) != graph and name is not None]

    def repeated(graph: int) -> Problem:
        name = ids[graph]
        detail = (
            f"Graphs {first[name] + 1} and {graph + 1} have the id {short(str(name), 40)}. Give each graph its own."
        )
        return outline.problem(int(outline.row_offsets[graph]), None, "repeated-sentence-id", detail)

    findings.add(np.array(twice, np.int64), repeated)


def _bad_header(line: int, found: str, before: str | None) -> Problem:
    what = f"names SDP {short(found, 20)}" + (f", an earlier one SDP {before}" if before else "")
    detail = f"Line {line} {what}. Write #SDP 2015, or #SDP 2014 for columns without frame; one for the whole text."
    return Problem("sdp-bad-header", detail, line=line)


def _bad_id(line: int, graph: int, name: str) -> Problem:
    what = f"is a second one with # before graph {graph}" if name else "has # but no id"
    detail = f"Line {line} {what}. Write one line with # and an id before the words of each graph."
    return Problem("sdp-bad-id", detail, line=line, sentence=graph)


def _no_words(line: int, name: str) -> Problem:
    detail = (
        f"The graph {short(name, 40)} has no words: a blank line or the end of the text follows its id. Write a line "
        "for each word; a graph without edges has - in the columns top and pred."
    )
    return Problem("sdp-no-words", detail, line=line)


def places_of(outline: Outline) -> Places:
    """Find the fields of all token lines. Raises LimitError for too many that hold something."""
    characters = np.frombuffer(outline.text + b"\n\n", np.uint8)
    counts = np.empty(len(outline.starts), np.int64)
    ends = np.empty((MOST, len(outline.starts)), np.int64)
    size = 0
    empty, found = [np.zeros((2, 0), np.int64)], [np.zeros((4, 0), np.int64)]
    for rows in _pieces(outline):
        starts, stops = outline.starts[rows], outline.ends[rows]
        tabs = np.flatnonzero(characters[starts[0] : stops[-1]] == _TAB) + starts[0]
        first, last = np.searchsorted(tabs, starts), np.searchsorted(tabs, stops)
        if (last - first).sum() < len(tabs):  # some are in comments
            numbers = np.arange(len(tabs))
            tabs = tabs[numbers < last[np.searchsorted(first, numbers, "right") - 1]]
            first, last = np.searchsorted(tabs, starts), np.searchsorted(tabs, stops)
        counts[rows] = last - first + 1
        tabs = np.append(tabs, stops[-1])
        for field in range(MOST):
            at = first + field
            ends[field, rows] = np.where(at < last, tabs[np.minimum(at, len(tabs) - 1)], stops)
        after, second = characters[tabs[:-1] + 1], characters[tabs[:-1] + 2]
        nothing = (after == _TAB) | (after == _LINE_FEED)
        empty.append(_rows_and_fields(np.flatnonzero(nothing), first, rows.start))
        at_start = np.flatnonzero(characters[starts] == _TAB)
        empty.append(np.stack([at_start + rows.start, np.zeros_like(at_start)]))
        filled = np.flatnonzero(~nothing & ~((after == _BLANK) & ((second == _TAB) | (second == _LINE_FEED))))
        cells = _rows_and_fields(filled, first, rows.start)
        behind = cells[1] >= FIRST
        cells, filled = cells[:, behind], filled[behind]
        size += len(filled)
        if size > MAX_EDGES + len(outline.starts):  # the frames are among them
            raise _too_many_edges(outline, int(cells[0, -1]))
        row_ends = outline.ends[cells[0]]
        found.append(np.concatenate([cells, [tabs[filled] + 1, np.minimum(tabs[filled + 1], row_ends)]]))
    return Places(counts, ends, np.concatenate(empty, axis=1), Cells(*np.concatenate(found, axis=1)))


def _too_many_edges(outline: Outline, row: int) -> LimitError:
    detail = f"Up to this line the text has more than {MAX_EDGES:,} edges. Split it."
    return LimitError(outline.problem(row, None, "too-many-edges", detail))


def _pieces(outline: Outline) -> Iterator[slice]:
    """Divide the token lines into runs of about _PIECE bytes."""
    start, size = 0, len(outline.starts)
    while start < size:
        stop = max(start + 1, int(np.searchsorted(outline.starts, outline.starts[start] + _PIECE)))
        yield slice(start, stop)
        start = stop


def _rows_and_fields(tabs: IntArray, first: IntArray, before: int) -> IntArray:
    """Return the line and the field, from 0, that begins after each tab of a piece, int64 (2, k).

    Args:
        tabs: numbers of tabs of the piece.
        first: number of the first tab of each line, or that of a later one where it has none.
        before: lines before the piece.
    """
    rows = np.searchsorted(first, tabs, "right") - 1
    return np.stack([rows + before, tabs - first[rows] + 1])


def cut_at(text: bytes, *places: IntArray) -> bytes:
    """Return the text with line feeds at these places, so that what ends there can be numbered as a line."""
    characters: Bytes = np.frombuffer(text, np.uint8).copy()
    for each in places:
        characters[each] = _LINE_FEED
    return characters.tobytes()
