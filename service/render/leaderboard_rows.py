"""Cells, headline and notes of a leaderboard, shared by the formats for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from service.render.documents import BoardDocument, RowDocument, SignificanceDocument
from treescore.core.counting import counted
from treescore.core.figures import IN_FRACTIONS
from treescore.core.one_line import clean
from treescore.render.crosstable import p_text

HEADS = (
    *("rank", "ranks", "cluster", "team", "submission", "score", "covered", "parts", "95 % interval", "p to next"),
    "detectable",
)
UNITS = {"block": "documents"}
"""Names of units for people, where they are not plain plurals."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        cells: in the order of HEADS.
        baseline: whether it is a baseline.
        begins_cluster: whether a line is drawn above it.
        value, low, high: score and its interval.
    """

    cells: Sequence[str]
    baseline: bool
    begins_cluster: bool
    value: float | None
    low: float | None
    high: float | None

    @property
    def label(self) -> str:
        """Return rank, team and submission in one line, and what it covers where it lacks sentences."""
        rank, team, name, covered = (
            self.cells[HEADS.index(head)] for head in ("rank", "team", "submission", "covered")
        )
        system = ": ".join(part for part in (team, name) if part)
        scored, _, total = covered.partition("/")
        system += f" ({covered})" if scored != total else ""
        return f"{rank}. {system}" if rank != "-" else system


def board_rows(document: BoardDocument) -> list[Row]:
    """Return the rows as cells. A line is drawn where the cluster changes from one ranked row to the next."""
    rows = []
    cluster = None
    step = document["rounding"]
    for row in document["rows"]:
        begins = row["cluster"] is not None and cluster is not None and row["cluster"] != cluster
        if row["cluster"] is not None:
            cluster = row["cluster"]
        low, high = (None, None) if row["ci95"] is None else (row["ci95"]["low"], row["ci95"]["high"])
        cells = (
            "-" if row["rank"] is None else str(row["rank"]),
            _ranks(row["rank_interval"]),
            "" if row["cluster"] is None else str(row["cluster"]),
            team_words(row),
            _system_name(row),
            stepped(row["score"], step),
            row["covered"] or "",
            _lacking_parts(row, len(document["parts"])),
            IN_FRACTIONS.interval(low, high) if low is not None else "",
            "" if row["p_next"] is None else p_text(row["p_next"]),
            _detectable(row),
        )
        rows.append(Row(cells, row["role"] == "baseline", begins, row["score"], low, high))
    return rows


def _label(row: RowDocument) -> str:
    return ": ".join(filter(None, (team_words(row), clean(row["name"] or "")))) or row["submission"]


def _system_name(row: RowDocument) -> str:
    """Return the name of a row's submission, and how many training runs it stands for where there are several."""
    runs = "" if row["runs"] is None else f"({counted(row['runs']['count'], 'run')})"
    return " ".join(filter(None, (clean(row["name"] or ""), runs)))


def stepped(value: float | None, step: float | None) -> str:
    """Format a score with four decimals, or with those of its rounding step."""
    if value is None or step is None:
        return IN_FRACTIONS.value(value)
    exponent = Decimal(str(step)).normalize().as_tuple().exponent
    return f"{value:.{max(0, -exponent) if isinstance(exponent, int) else 4}f}"


def shown_columns(rows: Sequence[Row]) -> list[int]:
    """Return the columns that are not empty in every row; all columns without rows."""
    return [at for at in range(len(HEADS)) if not rows or any(row.cells[at] for row in rows)]


def board_headline(document: BoardDocument) -> str:
    """Describe the board in one line."""
    better = "higher" if document["higher_is_better"] else "lower"
    parts = [
        f"{clean(document['title'])}: {document['score']} ({better} is better)",
        f"revision {document['revision']}",
    ]
    if document["part"] is not None:
        parts.append(_part(document["part"], len(document["parts"])))
    if document["split"] is not None:
        parts.append(f"{document['split']} share")
    parts.append(f"{document['pick']} of each team" if document["pick"] != "all" else "all submissions")
    if document["as_of"] is not None:
        parts.append(f"as of {document['as_of']}")
    if document["frozen"]:
        parts.append("frozen")
    return "; ".join(parts)


def _part(name: str, parts: int) -> str:
    known = {"macro": "mean of the parts", "pooled": "all parts pooled"}.get(name)
    return known or (f"part {name}" if parts == 1 else f"{name} (mean of {parts} parts)")


def claim_of(document: BoardDocument) -> str:
    """Return what the claims of a board are about, in one line; empty where nothing was tested."""
    assumed = document["significance"]["assumed"]
    return f"Assumed: {assumed}" if assumed else ""


def board_notes(document: BoardDocument) -> list[str]:
    """Return the notes below the board."""
    lines = []
    significance = document["significance"]
    if significance["pending"]:
        lines.append("The significance of this board is being computed. Request the board again in a moment.")
    elif significance["test"] is not None:
        lines.append(
            f"Paired permutation test{_over_units(significance)}, {significance['alternative']}, "
            f"{significance['correction']} over {counted(significance['pairs'] or 0, 'pair')}, "
            f"alpha {significance['alpha']:g}; the first "
            f"{counted(significance['first_rows'], 'row')} and the baselines were tested. "
            "A line is drawn where every system above differs from every system below."
        )
    claim = claim_of(document)
    if claim:
        lines.append(claim)
    powers = {row["detectable"]["power"] for row in document["rows"] if row["detectable"] is not None}
    if powers:
        lines.append(
            "Detectable: the true difference to the next row that the test would find with "
            f"{' or '.join(f'{100 * power:g} %' for power in sorted(powers))} power."
        )
    if significance["reason"]:
        lines.append(significance["reason"])
    if document["next"] is not None:
        lines.append(f"{len(document['rows'])} of {document['total_rows']} rows; next cursor: {document['next']}.")
    missing = missing_note([(_label(row), row) for row in document["rows"]], len(document["parts"]))
    if missing:
        lines.append(missing)
    if any(row["role"] == "baseline" for row in document["rows"]):
        lines.append("Baselines have no rank.")
    return lines


def _over_units(significance: SignificanceDocument) -> str:
    """Say what is swapped as a whole, and how many of it there are where that is shown; nothing if nothing was."""
    unit, count = significance["unit"], significance["unit_count"]
    if unit is None:
        return ""
    return f" over {'' if count is None else f'{count:,} '}{UNITS.get(unit, f'{unit}s')}"


def _detectable(row: RowDocument) -> str:
    return "" if row["detectable"] is None else IN_FRACTIONS.value(row["detectable"]["difference"])


def _ranks(interval: Sequence[int] | None) -> str:
    if interval is None:
        return ""
    low, high = interval
    return str(low) if low == high else f"{low}-{high}"


class Rowlike(Protocol):
    """A row of a board or a matrix."""

    def __getitem__(self, name: Any, /) -> Any: ...


def _lacking_parts(row: Rowlike, total: int) -> str:
    """Return how many parts a row has, where it lacks some: `2 of 3`."""
    scored = row["scored_parts"]
    return "" if scored is None or scored == total else f"{scored} of {total}"


def parts_words(row: Rowlike) -> str:
    """Return the names of the parts that a row lacks, as far as they are shown, in one cell."""
    return " ".join(row["missing_parts"] or ())


def missing_note(rows: Sequence[tuple[str, Rowlike]], total: int) -> str:
    """Say which rows lack parts; empty where none does.

    Args:
        rows: with what each is called.
        total: the number of parts that the score is about.
    """
    said = []
    for name, row in rows:
        words = _lacking_parts(row, total)
        names = ", ".join(row["missing_parts"] or ())
        if words:
            said.append(f"{name} has {words}{f' (without {names})' if names else ''}")
    return f"Parts without a scored output: {'; '.join(said)}." if said else ""


def team_words(row: Rowlike) -> str:
    """Name the team of a row for people."""
    if row["role"] == "baseline":
        return "baseline"
    return clean(row["team_name"] or row["team"] or "anonymous")
