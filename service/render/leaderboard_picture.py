"""Draw a leaderboard as SVG: bars with intervals, lines between clusters, readable in black and white."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from service.render.documents import BoardDocument
from service.render.leaderboard_rows import Row, board_rows, headline, notes, stepped
from treescore.render.svg import accessible, drawn

MOST_BARS = 100
"""Maximum number of drawn rows. The other formats have all rows."""
_INCHES = 0.28
_LINE_INCHES = 0.16
"""Height of a line of the small letters below the bars."""
_LINE_LETTERS = 120
"""What is written below the bars is broken into lines of so many letters."""


def board_picture(document: BoardDocument) -> bytes:
    """Draw horizontal bars, best first; equal documents give equal bytes in any thread."""
    every = board_rows(document)
    rows = [row for row in every if row.value is not None][:MOST_BARS]
    below = _below(document)
    height = 1.4 + _INCHES * max(1, len(rows)) + _LINE_INCHES * (len(below) - 1)

    def draw(figure: Figure) -> None:
        _draw(figure.subplots(), rows, document, below)

    title, words = _described(document, rows, len(every))
    return accessible(drawn((8.0, height), draw), title, words).encode()


def _below(document: BoardDocument) -> list[str]:
    """Return the lines below the bars: what is drawn, and what the claims are about."""
    legend = "bar: score; whisker: 95 % interval; line: between clusters; hatched: baseline"
    return [legend, *wrap(document["significance"]["assumed"] or "", _LINE_LETTERS)]


def _draw(axis: Axes, rows: Sequence[Row], document: BoardDocument, below: Sequence[str]) -> None:
    for index, row in enumerate(rows):
        value = row.value or 0.0
        axis.barh(
            index, value, height=0.7, color="0.93" if row.baseline else "0.75",
            edgecolor="black", linewidth=0.5, hatch="////" if row.baseline else None,
        )  # fmt: skip
        if row.low is not None and row.high is not None:
            axis.plot([row.low, row.high], [index, index], color="black", linewidth=1.2)
            for bound in (row.low, row.high):
                axis.plot([bound, bound], [index - 0.2, index + 0.2], color="black", linewidth=1.2)
        if row.begins_cluster:
            axis.axhline(index - 0.5, color="black", linewidth=1.6)
        end = (max(value, row.high or value, 0.0), index)
        axis.annotate(
            stepped(row.value, document["rounding"]), end, (3, 0), textcoords="offset points", va="center",
            ha="left", fontsize=8, parse_math=False,
        )  # fmt: skip
    axis.set_ylim(max(len(rows), 1) - 0.4, -0.6)
    axis.set_yticks(range(len(rows)), [row.label for row in rows], fontsize=8, parse_math=False)
    axis.tick_params(length=0)
    low, high = axis.get_xlim()
    axis.set_xlim(min(low, 0.0), high + 0.1 * (high - min(low, 0.0)))
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.set_title(headline(document), fontsize=9, loc="left", parse_math=False, wrap=True)
    axis.set_xlabel("\n".join(below), fontsize=8, parse_math=False)


def _described(document: BoardDocument, rows: Sequence[Row], total: int) -> tuple[str, str]:
    """Return title and description for people who cannot see the picture."""
    listed = "; ".join(f"{row.label} {stepped(row.value, document['rounding'])}" for row in rows[:40])
    more = f" {total} rows in all." if total > min(len(rows), 40) else ""
    return headline(document), " ".join([f"Ranking: {listed}.{more}", *notes(document)])
