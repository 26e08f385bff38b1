"""Draw a leaderboard as SVG: the table, with a dot and its interval in each row, readable in black and white."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from service.render.documents import BoardDocument, RowDocument
from service.render.leaderboard_rows import board_headline, board_notes, board_rows
from service.render.units import shown_as
from treescore.core.figures import Figures
from treescore.core.one_line import clean
from treescore.render.chart_words import interval_words, p_words, ranks_words, value_words
from treescore.render.dot_table import DotColumn, DotRow, DotTable, dot_table
from treescore.render.drawing import Drawing
from treescore.render.marks import Mark
from treescore.render.scale import Scale, scale_of

PICTURE_COLUMNS = (
    DotColumn("#", right=True, soft=True),
    DotColumn("Could be", soft=True),
    DotColumn("Team"),
    DotColumn("Submission", soft=True, most=200),
    DotColumn("Score", right=True, bold=True),
    DotColumn("95 % interval", right=True, soft=True),
    DotColumn("p, next", right=True, soft=True),
    DotColumn("Sentences", right=True, warns=True),
    DotColumn("Parts", right=True, warns=True),
)
_DOTS_AFTER = 5
_AXIS = 260
_LISTED = 40
"""Rows that the description names; all are drawn."""
_UNRANKED = "Without a score"


def board_picture(document: BoardDocument) -> bytes:
    """Draw all rows, best first; equal documents give equal bytes in any thread."""
    figures = shown_as(document["score"], document["rounding"])
    scale = board_scale(document, figures)
    table = DotTable(
        title=clean(document["title"]), above=[_subtitle(document)], columns=PICTURE_COLUMNS,
        lines=list(_lines(document, figures)), scale=scale, dots_after=_DOTS_AFTER, below=_below(document),
    )  # fmt: skip
    return dot_table(Drawing("board", board_headline(document), _described(document, figures)), table).encode()


def board_scale(document: BoardDocument, figures: Figures, size: float = _AXIS) -> Scale:
    """Return the axis of a board: it spans the tested rows with their intervals, all rows where none was tested.

    Args:
        document: the board.
        figures: the unit of the axis.
        size: of the axis in pixels.
    """
    rows = [row for row in document["rows"] if row["tested"]] or document["rows"]
    shown = [each for row in rows for each in (row["score"], *_bounds(row))]
    return scale_of((None if each is None else figures.factor * each for each in shown), size)


def row_mark(row: RowDocument, figures: Figures) -> Mark:
    """Return what is drawn of a row, in the unit of the axis."""
    value, low, high = (
        None if each is None else figures.factor * each for each in (row["score"], *_bounds(row))
    )  # fmt: skip
    return Mark(value, low, high, diamond=row["role"] == "baseline")


def _bounds(row: RowDocument) -> tuple[float | None, float | None]:
    interval = row["ci95"]
    return (None, None) if interval is None else (interval["low"], interval["high"])


def _lines(document: BoardDocument, figures: Figures) -> Iterator[DotRow]:
    """Yield the tested rows, then the others under what is said of them."""
    every = list(zip(document["rows"], board_rows(document), strict=True))
    ordered = sorted(every, key=lambda each: _group(each[0])[0])
    for (_, words), rows in groupby(ordered, key=lambda each: _group(each[0])):
        if words:
            yield DotRow(heading=words)
        for row, cells in rows:
            yield DotRow(
                _cells(document, row, cells.cells), row_mark(row, figures), ruled=cells.begins_cluster and not words,
                italic=row["role"] == "baseline",
            )  # fmt: skip


def _group(row: RowDocument) -> tuple[int, str]:
    """Return where a row stands, and the words above its group; none above the first."""
    if row["score"] is None:
        return 2, _UNRANKED
    if row["tested"] is False:
        return 1, "Not tested" + (f": {clean(row['reason'])}" if row["reason"] else "")
    return 0, ""


def _cells(document: BoardDocument, row: RowDocument, cells: Sequence[str]) -> Sequence[str]:
    """Return the cells of COLUMNS; those of the other formats give rank, team and submission."""
    rank, _, _, team, name = cells[:5]
    figures = shown_as(document["score"], document["rounding"])
    ranks = row["rank_interval"]
    scored, _, total = (row["covered"] or "").partition("/")
    return (
        "" if rank == "-" else rank,
        ranks_words(None if ranks is None else (ranks[0], ranks[1])),
        team,
        name,
        value_words(row["score"], figures),
        interval_words(*_bounds(row), figures),
        p_words(row["p_next"]),
        f"{scored} of {total}" if scored != total else "",
        _parts_words(document, row),
    )


def _parts_words(document: Mapping[str, object], row: Mapping[str, object]) -> str:
    """Return how many parts a row has, of all, where it lacks some: `2 of 3`."""
    scored, parts = row.get("scored_parts"), document.get("parts")
    if scored is None or not isinstance(parts, Sequence) or scored == len(parts):
        return ""
    return f"{scored} of {len(parts)}"


def _subtitle(document: BoardDocument) -> str:
    """Return the headline without the title, which stands above it."""
    words = board_headline(document).removeprefix(f"{clean(document['title'])}: ")
    if not shown_as(document["score"]).in_percent:
        return words
    score = document["score"]
    return words.replace(f"{score} (", f"{score} (percent, ", 1)


def _below(document: BoardDocument) -> list[str]:
    """Return what the marks mean, then the notes of the board; a picture shows no detectable differences."""
    whiskers = any(row["ci95"] is not None for row in document["rows"])
    legend = ["Dot: score." + (" Whisker: 95 % interval." if whiskers else "")]
    if any(row["role"] == "baseline" for row in document["rows"]):
        legend.append("Diamond, slanted: baseline.")
    if any(row["tested"] is False for row in document["rows"]):
        legend.append("The axis spans the tested rows; an arrow points to what lies beyond.")
    return [" ".join(legend), *(each for each in board_notes(document) if not each.startswith("Detectable: "))]


def _described(document: BoardDocument, figures: Figures) -> str:
    """Return the ranking and the notes for people who cannot see the picture."""
    listed = [
        f"{cells.label} {value_words(row['score'], figures)}"
        + (f" ({interval_words(*_bounds(row), figures)})" if row["ci95"] else "")
        for row, cells in zip(document["rows"], board_rows(document), strict=True)
        if row["score"] is not None
    ]
    total = len(document["rows"])
    more = f" {total} rows in all." if total > min(len(listed), _LISTED) else ""
    return " ".join([f"Ranking: {'; '.join(listed[:_LISTED])}.{more}", *board_notes(document)])
