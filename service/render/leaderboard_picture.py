"""A leaderboard as an SVG: bars with their intervals, lines between clusters; to be read in black and white too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from service.render.leaderboard_rows import Row, board_rows, headline, notes, stepped
from treescore.render.svg import accessible, drawn

MOST_BARS = 100
"""Rows that are drawn; the rest is in the other formats."""
_INCHES = 0.28


def board_picture(document: Mapping[str, Any]) -> bytes:
    """Horizontal bars, best first; the same document gives the same bytes, whatever other threads do."""
    every = board_rows(document)
    rows = [row for row in every if row.value is not None][:MOST_BARS]
    height = 1.4 + _INCHES * max(1, len(rows))

    def draw(figure: Any) -> None:
        _draw(figure.subplots(), rows, document)

    title, words = _described(document, rows, len(every))
    return accessible(drawn((8.0, height), draw), title, words).encode()


def _draw(axis: Any, rows: Sequence[Row], document: Mapping[str, Any]) -> None:
    for place, row in enumerate(rows):
        value = row.value or 0.0
        axis.barh(
            place, value, height=0.7, color="0.93" if row.baseline else "0.75",
            edgecolor="black", linewidth=0.5, hatch="////" if row.baseline else None,
        )  # fmt: skip
        if row.low is not None and row.high is not None:
            axis.plot([row.low, row.high], [place, place], color="black", linewidth=1.2)
            for bound in (row.low, row.high):
                axis.plot([bound, bound], [place - 0.2, place + 0.2], color="black", linewidth=1.2)
        if row.begins_cluster:
            axis.axhline(place - 0.5, color="black", linewidth=1.6)
        end = (max(value, row.high or value, 0.0), place)
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
    legend = "bar: score; whisker: 95 % interval; line: between clusters; hatched: baseline"
    axis.set_xlabel(legend, fontsize=8, parse_math=False)


def _described(document: Mapping[str, Any], rows: Sequence[Row], total: int) -> tuple[str, str]:
    """Title and description for those who cannot see the picture."""
    listed = "; ".join(f"{row.label} {stepped(row.value, document['rounding'])}" for row in rows[:40])
    more = f" {total} rows in all." if total > min(len(rows), 40) else ""
    return headline(document), " ".join([f"Ranking: {listed}.{more}", *notes(document)])
