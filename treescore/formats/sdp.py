"""Semantic dependencies as in the SemEval tasks of 2014 and 2015: a word a line, a column for each predicate.

Comments name graphs and columns.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, Bytes, IntArray, offsets_of, sums_by
from treescore.core.registry import Format, Text, register
from treescore.core.text import CERTAIN, LIKELY, Head, Limits, Signs, found_in_lines, share_of_lines
from treescore.core.trees import SemanticTreebank, Sentences, Vocabulary
from treescore.core.wording import counted
from treescore.errors import InputError, LimitError, Problem
from treescore.formats.conllu import LEAST
from treescore.formats.shared.findings import Findings, only_blanks
from treescore.formats.shared.lines import Fields, Outline, numbered_fields, outline_of, short, unix_lines

VERSIONS = {"2014": 6, "2015": 7}
"""Columns before the arguments: 2015 has the frame as its seventh."""
FIRST, MOST = min(VERSIONS.values()), max(VERSIONS.values())
HEADER = re.compile(r"#\s*SDP\s+(\S+)\s*")

MAX_EDGES = 5_000_000
"""Limit of a text, some times the edges of the largest treebanks: an edge takes two bytes of a text, but 100 here."""
_TAB, _LINE_FEED, _HASH, _BLANK = 9, 10, 35, 95
_PIECE = 1 << 20
"""Bytes that are looked at together: the places of all tabs of a text would take several times its size."""


class Cells(NamedTuple):
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


class Places(NamedTuple):
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


def outlined(text: bytes, limits: Limits) -> tuple[Findings, str | None]:
    """Find lines, graphs and their ids.

    Args:
        text: as `unix_lines` makes it.
        limits: on it.

    Returns:
        The outline, with comments that cannot be read; the version that a comment states, None where none does.

    Raises:
        InputError, LimitError: as `outline_of`.
    """
    outline = outline_of(text, limits)
    ids, version, problems = _headings(outline)
    outline = replace(outline, sent_ids=ids, attributes={})
    findings = Findings(outline)
    findings.add(np.array(list(problems), np.int64), problems.__getitem__)
    _check_ids(findings)

    def inside(number: int) -> Problem:
        detail = (
            f"Line {number} begins with # but stands between the words of a graph. Put a blank line before it if a "
            "graph begins there; else remove it."
        )
        return Problem("sdp-comment-inside-graph", detail, line=number)

    before = np.searchsorted(outline.lines, outline.misplaced) - 1
    findings.add(outline.misplaced[~outline.hollow[before]], inside)
    return findings, version if version in VERSIONS else None


def _headings(outline: Outline) -> tuple[list[str | None], str | None, dict[int, Problem]]:
    """Return what the comments before graphs say: ids, the first year that one names, problems by line from 0."""
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
    return ids, version, problems


def _check_ids(findings: Findings) -> None:
    """Add graphs without an id where others have one, and ids that stand twice."""
    ids, firsts = findings.outline.sent_ids, findings.outline.row_offsets
    without = [graph for graph, name in enumerate(ids) if name is None]
    if without and len(without) < len(ids):

        def unnamed(graph: int) -> str:
            return f"Graph {graph + 1} has no id, but others have. Write a line with # and its id before its words."

        findings.add_at(np.array(without, np.int64), None, "sdp-no-id", unnamed, at=firsts)
    first: dict[str | None, int] = {}
    twice = [graph for graph, name in enumerate(ids) if first.setdefault(name, graph) != graph and name is not None]

    def repeated(graph: int) -> str:
        name = ids[graph]
        return f"Graphs {first[name] + 1} and {graph + 1} have the id {short(str(name), 40)}. Give each graph its own."

    findings.add_at(np.array(twice, np.int64), None, "repeated-sentence-id", repeated, at=firsts)


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
            detail = f"Up to this line the text has more than {MAX_EDGES:,} edges. Split it."
            raise LimitError(outline.problem(int(cells[0, -1]), None, "too-many-edges", detail))
        found.append(np.concatenate([cells, [tabs[filled] + 1, np.minimum(tabs[filled + 1], outline.ends[cells[0]])]]))
    return Places(counts, ends, np.concatenate(empty, axis=1), Cells(*np.concatenate(found, axis=1)))


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


NAMES = "id form lemma pos top pred frame".split()  # noqa: SIM905 - as the task's description has them
ID, FORM, LEMMA, POS, TOP, PRED, FRAME = range(7)
NONE = "_"
YES, NO = "+", "-"

_FLAGS = {NO: 1, YES: 2}
_MOST_DIGITS = 9


class _Words(NamedTuple):
    """The first six columns of a text, and what they say."""

    columns: Fields
    tops: BoolArray
    predicates: BoolArray
    per_graph: IntArray


@register
class Sdp(Format):
    """The format of the tasks on broad-coverage semantic dependency parsing (Oepen et al. 2014, 2015).

    Columns are id, form, lemma, pos, top, pred, frame, and one for each word of the graph whose pred is `+`, in their
    order, which holds the role of this line's word, or `_`. 2014's have no frame. Which year it is says the line
    `#SDP 2015` or `#SDP 2014`; without one, the number of columns of most graphs. Graphs are matched by id
    where both texts have ids. What is written are 2015's columns.
    """

    name: ClassVar[str] = "sdp"
    doc: ClassVar[str] = (
        "Semantic dependencies of SemEval 2014 and 2015: id form lemma pos top pred [frame] and an argument column for "
        "each predicate."
    )
    source: ClassVar[str] = (
        "Oepen et al. 2014, https://aclanthology.org/S14-2008; Oepen et al. 2015, https://aclanthology.org/S15-2153"
    )
    yields: ClassVar[type[SemanticTreebank]] = SemanticTreebank
    suffixes = (".sdp",)
    blank_line_between = True
    usual_metric = "semantic_dependencies"
    example = (
        "#SDP 2015\n"
        "#20000\n"
        "1\tElle\telle\tPRP\t-\t-\t_\tARG1\tARG1\n"
        "2\tveut\tvouloir\tV\t+\t+\tv:e-i-h\t_\t_\n"
        "3\tdîner\tdîner\tV\t-\t+\t_\tARG2\t_\n"
        "4\t.\t_\tPONCT\t-\t-\t_\t_\t_\n\n"
        "#20001\n"
        "1\tIci\tici\tADV\t-\t-\t_\n\n"
    ).encode()

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """Return the signs of semantic dependencies: the line `#SDP 2015`, else a number, + or - in two columns."""
        rows = [
            row for row in head.rows
            if len(row) >= FIRST and row[0].isdigit() and {row[4], row[5]} <= _FLAGS.keys()
        ]  # fmt: skip
        if share_of_lines(len(rows), len(head.rows)) < LEAST:
            return None
        why = [found_in_lines(len(rows), len(head.rows), "A number, and + or - in columns 5 and 6 (top, pred)")]
        if (header := HEADER.fullmatch(head.first)) and header[1] in VERSIONS:
            return Signs(CERTAIN, [f"The first line is {head.first}.", *why])
        return Signs(LIKELY, why)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> SemanticTreebank:
        """Read the treebank. Raises InputError and LimitError as promised by `Format`."""
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        findings, stated = outlined(unix_lines(text), limits)
        outline = findings.outline
        places = places_of(outline)
        _check_first_columns(places, findings)
        findings.raise_if_any(limits.max_problems)
        cut = cut_at(outline.text, places.ends[PRED], places.ends[FRAME], places.cells.ends)
        words = _words(outline, places, cut, vocabulary, findings)
        findings.raise_if_any(limits.max_problems)  # how many columns there should be follows from them
        version = stated or _version_of(outline, places.counts, words.per_graph)
        _check_counts(places.counts, words, version, findings)
        findings.raise_if_any(limits.max_problems)
        assert version is not None  # noqa: S101 - else no line has the right number of columns
        return _graph_treebank(outline, places, cut, words, version, vocabulary)

    def write(self, treebank: SemanticTreebank) -> str:
        """Write the text that reads back as `treebank`. Raises InputError for what the columns cannot hold."""
        return write_sdp(treebank)


def write_sdp(treebank: SemanticTreebank) -> str:
    """Write graphs with the columns of 2015. Raises InputError for what they cannot hold."""
    ids = treebank.sentences.sent_ids
    lines = ["#SDP 2015"]
    for graph, rows in enumerate(_graph_lines(treebank)):
        if len(ids):
            lines.append(f"#{_checked_id(ids[graph], graph)}")
        if not rows:
            raise _unwritable(graph, "An empty graph")
        lines += [*rows, ""]
    return "".join(f"{line}\n" for line in lines)


def without_graph(treebank: SemanticTreebank) -> SemanticTreebank:
    """Return the words alone: no lemmas, parts of speech, frames, tops and edges."""
    blank = np.full(len(treebank.forms), treebank.vocabulary.number(NONE), np.int64)
    none, nothing = np.zeros(len(blank), np.bool_), np.zeros(0, np.int64)
    return replace(
        treebank, lemmas=blank, tags=blank, frames=blank, tops=none, predicates=none,
        edge_predicates=nothing, edge_arguments=nothing, edge_labels=nothing,
    )  # fmt: skip


def _check_first_columns(places: Places, findings: Findings) -> None:
    """Add lines with fewer columns than every word has, and fields without a character."""
    outline = findings.outline

    def too_few(row: int) -> Problem:
        if outline.hollow[row]:
            return outline.problem(row, 1, "sdp-column-count", only_blanks(outline.line_text(row)))
        spaced = places.counts[row] == 1 and " " in outline.line_text(row).strip()
        fix = (
            "Separate the columns by tabs, not by spaces."
            if spaced
            else f"Write {' '.join(NAMES[:FIRST])}, and an ARG column for each word of the graph with pred {YES}."
        )
        found = f"The line has {counted(int(places.counts[row]), 'tab-separated column')}, at least {FIRST} are needed"
        return outline.problem(row, int(places.counts[row]) + 1, "sdp-column-count", f"{found}. {fix}")

    few = (places.counts < FIRST) | outline.hollow
    findings.add(np.flatnonzero(few), too_few)
    rows, fields = places.empty[:, ~few[places.empty[0]]]

    def empty(number: int) -> Problem:
        field = int(fields[number])
        name = NAMES[field] if field < FIRST else "frame or ARG"
        detail = f"Column {field + 1} ({name}) is empty. Write {NONE} where it has no value."
        return outline.problem(int(rows[number]), field + 1, "sdp-empty-field", detail)

    findings.add(np.arange(len(rows)), empty)


def _words(outline: Outline, places: Places, cut: bytes, vocabulary: Vocabulary, findings: Findings) -> _Words:
    """Read the first six columns; add ids out of order, and words whose top or pred is neither + nor -."""
    columns = numbered_fields(cut, outline.starts, places.ends[PRED], FIRST, vocabulary)
    assert columns is not None  # noqa: S101 - each line has these columns
    positions = np.arange(len(outline.starts)) - outline.row_offsets[:-1][outline.sentences] + 1
    ids = columns[ID]

    def wrong_id(row: int) -> str:
        found = f"The id is {short(vocabulary.strings[ids[row]], 20)!r}, expected {int(positions[row])}"
        return f"{found}. Number the words of each graph 1, 2, 3. Put a blank line between graphs."

    wrong = vocabulary.table(ids, _position_of)[ids] != positions
    findings.add_at(np.flatnonzero(wrong), ID + 1, "sdp-wrong-id", wrong_id)
    flags = []
    for column in (TOP, PRED):
        values = columns[column]
        known = vocabulary.table(values, lambda value: _FLAGS.get(value, 0))[values]
        _report_flags(np.flatnonzero(known < 1), column, values, vocabulary, findings)
        flags.append(np.asarray(known == _FLAGS[YES], np.bool_))
    return _Words(columns, flags[0], flags[1], sums_by(outline.sentences, len(outline.row_offsets) - 1, flags[1]))


def _position_of(string: str) -> int:
    """Return the position that an id names, 0 where it is none."""
    plain = string.isascii() and string.isdigit() and string[0] != "0" and len(string) <= _MOST_DIGITS
    return int(string) if plain else 0


def _report_flags(rows: IntArray, column: int, values: IntArray, vocabulary: Vocabulary, findings: Findings) -> None:
    what = "a top of the graph" if column == TOP else "a predicate, which has an ARG column"

    def detail(row: int) -> str:
        found = short(vocabulary.strings[values[row]], 20)
        return f"{NAMES[column]} is {found!r}. Write {YES} where the word is {what}, else {NO}."

    findings.add_at(rows, column + 1, "sdp-bad-flag", detail)


def _version_of(outline: Outline, counts: IntArray, per_graph: IntArray) -> str | None:
    """Return the year whose columns more graphs have in all their lines; None where none has those of one."""
    wanted = per_graph[outline.sentences]
    whole = {
        version: int((sums_by(outline.sentences, len(per_graph), counts != wanted + fixed) == 0).sum())
        for version, fixed in VERSIONS.items()
    }
    most = max(whole, key=lambda version: (whole[version], version))
    return most if whole[most] else None


def _check_counts(counts: IntArray, words: _Words, version: str | None, findings: Findings) -> None:
    """Add lines that have not one ARG column for each predicate of the graph."""
    outline = findings.outline
    wanted = words.per_graph[outline.sentences]
    if version is None:
        arguments = int(wanted[0])
        years = ", ".join(f"{fixed + arguments} by SDP {year}" for year, fixed in VERSIONS.items())
        detail = (
            f"The line has {counted(int(counts[0]), 'column')}. Its graph has {counted(arguments, 'word')} with pred "
            f"{YES}, so that it needs {years}; no graph of the text has the columns of one year. Begin the text with "
            "#SDP 2015 or #SDP 2014, and write one ARG column for each word with pred +."
        )
        findings.add_at(np.zeros(1, np.int64), None, "sdp-unknown-columns", detail)
        return
    fixed = VERSIONS[version]
    other = next(year for year in VERSIONS if year != version)
    mistaken = bool((counts == wanted + VERSIONS[other]).all())

    def problem(row: int) -> Problem:
        arguments, found = int(wanted[row]), int(counts[row])
        lacking = arguments + fixed - found
        what = f"{abs(lacking)} {'missing' if lacking > 0 else 'surplus'}"
        detail = (
            f"The line has {counted(found, 'column')}, {what}: SDP {version} has {fixed} ({' '.join(NAMES[:fixed])}), "
            f"and one ARG column for each word of the graph with pred {YES}, of which it has {arguments}. "
        )
        fix = (
            f"The columns are those of SDP {other}: correct the line #SDP {version}."
            if mistaken
            else f"Write {NONE} where the word has no role."
        )
        return outline.problem(row, min(found, arguments + fixed) + 1, "sdp-column-count", detail + fix)

    findings.add(np.flatnonzero(counts != wanted + fixed), problem)


def _graph_treebank(
    outline: Outline, places: Places, cut: bytes, words: _Words, version: str, vocabulary: Vocabulary
) -> SemanticTreebank:
    fixed, size = VERSIONS[version], len(outline.starts)
    cells = places.cells
    chosen = np.flatnonzero(cells.fields >= fixed)
    rows = cells.rows[chosen]
    labels = numbered_fields(cut, cells.starts[chosen], cells.ends[chosen], 1, vocabulary)
    frames = np.full(size, vocabulary.number(NONE), np.int64)
    if fixed > FRAME:
        named = numbered_fields(cut, places.ends[PRED] + 1, places.ends[FRAME], 1, vocabulary)
        assert named is not None  # noqa: S101 - one field
        frames = named[0]
    assert labels is not None  # noqa: S101 - one field
    sources = np.flatnonzero(words.predicates)
    firsts = offsets_of(words.per_graph)[outline.sentences[rows]]
    return SemanticTreebank(
        vocabulary=vocabulary,
        forms=words.columns[FORM],
        lemmas=words.columns[LEMMA],
        tags=words.columns[POS],
        frames=frames,
        tops=words.tops,
        predicates=words.predicates,
        word_offsets=outline.row_offsets,
        lines=outline.lines,
        edge_predicates=sources[firsts + cells.fields[chosen] - fixed],
        edge_arguments=rows,
        edge_labels=labels[0],
        sentences=Sentences(sent_ids=() if None in outline.sent_ids else outline.sent_ids),
    )


def _graph_lines(treebank: SemanticTreebank) -> Iterator[list[str]]:
    """Yield the lines of each graph. Raises InputError for strings that are no fields."""
    strings = treebank.vocabulary.strings
    number_of = np.cumsum(treebank.predicates) - 1
    flags = (NO, YES)
    columns = [
        [strings[number] for number in numbers.tolist()]
        for numbers in (treebank.forms, treebank.lemmas, treebank.tags, treebank.frames)
    ]
    tops, predicates = treebank.tops.tolist(), treebank.predicates.tolist()
    edges = np.searchsorted(treebank.edge_arguments, np.arange(len(tops) + 1)).tolist()
    places, labels = number_of[treebank.edge_predicates].tolist(), treebank.edge_labels.tolist()
    before = 0
    for graph, (start, stop) in enumerate(pairwise(treebank.word_offsets.tolist())):
        size = sum(predicates[start:stop])
        rows = []
        for word in range(start, stop):
            cells = [NONE] * size
            for edge in range(edges[word], edges[word + 1]):
                cells[places[edge] - before] = strings[labels[edge]]
            form, lemma, pos, frame = (column[word] for column in columns)
            marks = flags[tops[word]], flags[predicates[word]]
            fields = [str(word - start + 1), form, lemma, pos, *marks, frame, *cells]
            if not all(fields) or any(mark in field for field in fields for mark in "\t\n\r"):
                raise _unwritable(graph, f"Word {word - start + 1}")
            rows.append("\t".join(fields))
        before += size
        yield rows


def _checked_id(name: str | None, graph: int) -> str:
    """Return an id that reads back as itself. Raises InputError."""
    if not name or name != name.strip() or any(mark in name for mark in "\t\n\r") or HEADER.fullmatch(f"#{name}"):
        raise _unwritable(graph, f"The id {short(name or '', 40)!r}")
    return name


def _unwritable(graph: int, what: str) -> InputError:
    detail = (
        f"{what} of graph {graph + 1} cannot be written in the format sdp: a field is empty or has a tab or line end."
    )
    return InputError(Problem("trees-unwritable", detail, sentence=graph + 1))
