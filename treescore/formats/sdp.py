"""Semantic dependencies as in the SemEval tasks of 2014 and 2015: a word a line, a column for each predicate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, sums_by
from treescore.core.counting import counted
from treescore.core.limits import Limits
from treescore.core.registry import Format, Text, register
from treescore.core.signs import Head, Signs
from treescore.core.trees import SemanticTreebank, Sentences
from treescore.core.vocabulary import Vocabulary
from treescore.errors import InputError, Problem
from treescore.formats.shared.column_signs import sdp_signs
from treescore.formats.shared.fields import Fields, numbered_fields
from treescore.formats.shared.findings import Findings
from treescore.formats.shared.graph_lines import FIRST, HEADER, VERSIONS, Places, cut_at, outlined, places_of
from treescore.formats.shared.lines import Outline, short, unix_lines

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
        """See Format."""
        return sdp_signs(head)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> SemanticTreebank:
        """Read the treebank. Raises InputError and LimitError as promised by `Format`."""
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        findings = Findings()
        outline, stated = outlined(unix_lines(text), limits, findings)
        places = places_of(outline)
        _check_first_columns(outline, places, findings)
        findings.raise_if_any(limits.max_problems)
        cut = cut_at(outline.text, places.ends[PRED], places.ends[FRAME], places.cells.ends)
        words = _words(outline, places, cut, vocabulary, findings)
        findings.raise_if_any(limits.max_problems)  # how many columns there should be follows from them
        version = stated or _version_of(outline, places.counts, words.per_graph)
        _check_counts(outline, places.counts, words, version, findings)
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


def _check_first_columns(outline: Outline, places: Places, findings: Findings) -> None:
    """Add lines with fewer columns than every word has, and fields without a character."""

    def too_few(row: int) -> Problem:
        spaced = places.counts[row] == 1 and " " in outline.line_text(row).strip()
        fix = (
            "Separate the columns by tabs, not by spaces."
            if spaced
            else f"Write {' '.join(NAMES[:FIRST])}, and an ARG column for each word of the graph with pred {YES}."
        )
        found = f"The line has {counted(int(places.counts[row]), 'tab-separated column')}, at least {FIRST} are needed"
        return outline.problem(row, int(places.counts[row]) + 1, "sdp-column-count", f"{found}. {fix}")

    few = places.counts < FIRST
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

    def wrong_id(row: int) -> Problem:
        found = short(vocabulary.strings[ids[row]], 20)
        detail = f"The id is {found!r}, expected {int(positions[row])}. Number the words of each graph 1, 2, 3."
        return outline.problem(row, ID + 1, "sdp-wrong-id", f"{detail} Put a blank line between graphs.")

    findings.add(np.flatnonzero(vocabulary.table(ids, _position_of)[ids] != positions), wrong_id)
    flags = []
    for column in (TOP, PRED):
        values = columns[column]
        known = vocabulary.table(values, lambda value: _FLAGS.get(value, 0))[values]
        findings.add(np.flatnonzero(known < 1), _bad_flag(outline, column, values, vocabulary))
        flags.append(np.asarray(known == _FLAGS[YES], np.bool_))
    per_graph = sums_by(outline.sentences, len(outline.row_offsets) - 1, flags[1])
    return _Words(columns, flags[0], flags[1], per_graph)


def _position_of(string: str) -> int:
    """Return the position that an id names, 0 where it is none."""
    plain = string.isascii() and string.isdigit() and string[0] != "0" and len(string) <= _MOST_DIGITS
    return int(string) if plain else 0


def _bad_flag(outline: Outline, column: int, values: IntArray, vocabulary: Vocabulary) -> Callable[[int], Problem]:
    def problem(row: int) -> Problem:
        found = short(vocabulary.strings[values[row]], 20)
        what = "a top of the graph" if column == TOP else "a predicate, which has an ARG column"
        detail = f"{NAMES[column]} is {found!r}. Write {YES} where the word is {what}, else {NO}."
        return outline.problem(row, column + 1, "sdp-bad-flag", detail)

    return problem


def _version_of(outline: Outline, counts: IntArray, per_graph: IntArray) -> str | None:
    """Return the year whose columns more graphs have in all their lines; None where none has those of one."""
    wanted = per_graph[outline.sentences]
    whole = {
        version: int((sums_by(outline.sentences, len(per_graph), counts != wanted + fixed) == 0).sum())
        for version, fixed in VERSIONS.items()
    }
    most = max(whole, key=lambda version: (whole[version], version))
    return most if whole[most] else None


def _check_counts(outline: Outline, counts: IntArray, words: _Words, version: str | None, findings: Findings) -> None:
    """Add lines that have not one ARG column for each predicate of the graph."""
    wanted = words.per_graph[outline.sentences]
    if version is None:

        def unknown(row: int) -> Problem:
            arguments = int(wanted[row])
            years = ", ".join(f"{fixed + arguments} by SDP {year}" for year, fixed in VERSIONS.items())
            found = f"The line has {counted(int(counts[row]), 'column')}. Its graph has {counted(arguments, 'word')}"
            detail = (
                f"{found} with pred {YES}, so that it needs {years}; no graph of the text has the columns of one year. "
                "Begin the text with #SDP 2015 or #SDP 2014, and write one ARG column for each word with pred +."
            )
            return outline.problem(row, None, "sdp-unknown-columns", detail)

        findings.add(np.zeros(1, np.int64), unknown)
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
