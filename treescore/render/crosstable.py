"""What every format of a comparison shows: the systems by rank, and a cell for each pair of them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treescore.core.conventions import IDENTICAL, UNDEFINED
from treescore.core.counting import counted
from treescore.core.figures import IN_FRACTIONS, PERCENT, Figures, figures_of
from treescore.core.one_line import clean
from treescore.render.signatures import signature_of_comparison

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One pair, the better-ranked system's row against the other's column.

    Attributes:
        difference: what is tested of the row's system less that of the column's: the score, for McNemar's test the
            share of units that are right as a whole.
        low, high: interval of the difference of scores.
        p: adjusted; None where there is none.
        kind, error: how p was computed, and its relative error; None where it has none.
        significant: the decision.
        winner: "row", "column" or None.
    """

    difference: float
    low: float | None
    high: float | None
    p: float | None
    significant: bool
    winner: str | None
    kind: str | None = None
    error: float | None = None


@dataclass(frozen=True, slots=True)
class CrossTable:
    """A comparison's systems, best first, the upper triangle of their pairs, and how figures are written."""

    document: Document
    systems: Sequence[Document]
    cells: Mapping[tuple[int, int], Cell]
    figures: Figures = IN_FRACTIONS

    @property
    def names(self) -> list[str]:
        """Names of the systems, best first, each on one line."""
        return [clean(system["name"]) for system in self.systems]

    def boundary_above(self, row: int) -> bool:
        """Return whether a cluster begins at this row (not at the first)."""
        return row > 0 and self.systems[row].get("cluster") != self.systems[row - 1].get("cluster")


def cross_table(document: Document, shares: Container[str] = ()) -> CrossTable:
    """Return the systems by rank and the cells above the diagonal, keyed (row, column).

    Args:
        document: the comparison.
        shares: scores whose figures are written in percent.
    """
    systems = document["systems"]
    row_of = {system["name"]: row for row, system in enumerate(systems)}
    cells = {}
    for pair in document["pairs"]:
        if pair["difference"] is None:
            continue
        row, column = row_of[pair["a"]], row_of[pair["b"]]
        ci = pair.get("ci") or {"low": None, "high": None}
        tested = pair.get("difference_tested")
        cell = Cell(
            pair["difference"] if tested is None else tested,
            ci["low"],
            ci["high"],
            pair["p_adjusted"],
            bool(pair["significant"]),
            _SIDE[pair["better"]],
            pair.get("p_kind"),
            pair.get("p_error"),
        )
        if row > column:
            row, column, cell = column, row, _turned(cell)
        cells[row, column] = cell
    figures = figures_of(PERCENT, share=True) if document["score"] in shares else IN_FRACTIONS
    return CrossTable(document, systems, cells, figures)


_SIDE = {"a": "row", "b": "column", None: None}
_OTHER = {"row": "column", "column": "row", None: None}


def _turned(cell: Cell) -> Cell:
    low, high = (None if value is None else -value for value in (cell.high, cell.low))
    return replace(cell, difference=-cell.difference, low=low, high=high, winner=_OTHER[cell.winner])


def headline(table: CrossTable) -> str:
    """Return what was tested, in one line."""
    document = table.document
    signature = document["signature"]
    kinds = sorted({pair["p_kind"] for pair in document["pairs"] if pair.get("p_kind")})
    better = "higher" if document["higher_is_better"] else "lower"
    unit = "percent, " if table.figures.in_percent else ""
    parts = [f"{document['score']} ({unit}{better} is better)", test_words(document)]
    if kinds:
        parts.append(" and ".join(_kind_words(document, kind) for kind in kinds))
    if signature.get("shuffles"):
        seed = "a seed for each pair" if signature["seed"] is None else f"seed {signature['seed']}"
        parts.append(f"{counted(signature['shuffles'], 'shuffle')}, {seed}")
    if "unit_count" in document:
        parts.append(counted(document["unit_count"], unit_word(document)))
    parts.append(
        f"{counted(document['family']['size'], 'pair')}, {document['correction']}, alpha {document['alpha']:g}"
    )
    return "; ".join(parts)


def test_words(document: Document) -> str:
    """Return the test and its alternative in words; where training runs vary it is another one."""
    over_runs = [pair["test"].startswith(_OVER_RUNS) for pair in document["pairs"] if pair.get("test")]
    t_test = f"t-test over training runs and {unit_word(document)}s"
    if over_runs and all(over_runs):
        return f"{t_test}, {document['alternative']}"
    words = {
        "permutation": f"{f'{t_test} or ' if any(over_runs) else ''}paired permutation test",
        "bootstrap": "paired bootstrap (intervals, no p)",
        "mcnemar": "McNemar's test",
        "compare_pl": "stratified shuffling as compare.pl asks it",
    }[document["test"]]
    return words if document["test"] == "bootstrap" else f"{words}, {document['alternative']}"


_OVER_RUNS = "t over training runs"


def unit_word(document: Document) -> str:
    """Return the unit in one word."""
    return "document" if document["units"] == "block" else str(document["units"])


_KINDS = {"exact": "exact", "inversion": "inverted", "sampled": "sampled", "monte-carlo": "Monte Carlo"}


def _kind_words(document: Document, kind: str) -> str:
    """Return how p were computed, with the largest of their errors."""
    errors = [pair["p_error"] for pair in document["pairs"] if pair.get("p_kind") == kind and pair.get("p_error")]
    return f"{_KINDS[kind]} p" + (f" ({error_text(max(errors))} at most)" if errors else "")


def error_text(error: float) -> str:
    """Return a relative error in per cent."""
    return "±0.1 %" if error < 0.001 else f"±{float(f'{100 * error:.1g}'):g} %"


def p_text(p: float | None) -> str:
    """Return a p-value: with four decimals, or in powers of ten where they would all be 0."""
    if p is None:
        return "-"
    return f"{p:.4f}" if p >= 0.00095 else f"{p:.1e}"


def evidence(cell: Cell, figures: Figures) -> str:
    """Return the p-value of a pair; its interval where there is none."""
    return figures.interval(cell.low, cell.high) if cell.p is None else p_text(cell.p)


def system_table(table: CrossTable) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the rows of a table of the systems, without columns that are empty throughout."""
    rows = [_system_cells(system, table.figures) for system in table.systems]
    for index, row in enumerate(rows):
        row[2] += _dagger(table, index)
    heads = ["rank", "system", "score", _interval_head(table), "ranks", "runs"]
    kept = [column for column in range(len(heads)) if any(row[column] for row in rows)]
    return [heads[column] for column in kept], [[row[column] for column in kept] for row in rows]


def _interval_head(table: CrossTable) -> str:
    """Return the head of the column of intervals, with their level."""
    levels = {system["ci"]["level"] for system in table.systems if system.get("ci")}
    return f"{100 * levels.pop():g} % {INTERVAL}" if len(levels) == 1 else INTERVAL


def _system_cells(system: Document, figures: Figures) -> list[str]:
    """Return rank, name, score, interval, rank range and spread over runs as cells of a table."""
    ci = system.get("ci") or {"low": None, "high": None}
    ranks = system.get("rank_interval")
    runs = system.get("runs")
    return [
        str(system["rank"]),
        clean(system["name"]),
        figures.value(system["score"]),
        figures.interval(ci["low"], ci["high"]),
        "-" if ranks is None else (str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}-{ranks[1]}"),
        "" if not runs else f"{counted(runs['count'], 'run')}, sd {figures.value(runs['sd'])}",
    ]


INTERVAL = "interval"
"""Last word of the head of the column of intervals."""


def notes(document: Document) -> list[str]:
    """Return why each untested system was not, then the document's notes that say something of its pairs."""
    untested = [f"not tested: {clean(each['name'])} ({each['reason']})" for each in document["untested"]]
    empty = {IDENTICAL: not _has_identical(document), UNDEFINED: not untested}
    return [*untested, *(note for note in document["notes"] if not empty.get(note))]


def _has_identical(document: Document) -> bool:
    """Return whether outputs of a pair were found to be the same in every unit."""
    effects = (pair.get("effect") or {} for pair in document["pairs"] if pair["difference"] == 0)
    return any(effect.get("units_won") == 0 and effect.get("units_lost") == 0 for effect in effects)


def signature_lines(document: Document) -> list[str]:
    """Return what a comparison depends on beside the settings above it, as one short line; none where it is hidden."""
    line = signature_of_comparison(document)
    return [line] if line else []


def dagger_line(table: CrossTable) -> str:
    """Return what the dagger means, where two systems are compared."""
    cell = table.cells.get((0, 1))
    if cell is None:
        return ""
    first, second = table.names[:2]
    gap = f"{difference_words(table.document)} {table.figures.signed(cell.difference)}"
    if cell.low is not None and cell.high is not None:
        gap += (
            f"{', of the score' if tests_shares(table.document) else ''} {table.figures.interval(cell.low, cell.high)}"
        )
    if cell.p is None:
        return f"{first} and {second}: {gap}."
    verdict = "differs significantly from the other system" if cell.significant else "no significant difference"
    how = "" if cell.error is None or cell.kind is None else f" ({_KINDS[cell.kind]}, {error_text(cell.error)})"
    return f"{'† ' if cell.significant else ''}{verdict}: {gap}, p = {p_text(cell.p)}{how}."


def tests_shares(document: Document) -> bool:
    """Return whether the difference in units that are right as a whole was tested, not that of the score."""
    shares = any(pair.get("difference_tested") is not None for pair in document["pairs"])
    return shares and document["test"] == "mcnemar"  # a test over training runs names what it tested, too: the score


def difference_words(document: Document) -> str:
    """Return what the cells show the difference of."""
    return f"difference in {unit_word(document)}s right as a whole" if tests_shares(document) else "difference"


def _dagger(table: CrossTable, row: int) -> str:
    """Return the mark at a system's score where two are compared and it is significantly better."""
    cell = table.cells.get((0, 1))
    if len(table.systems) != 2 or cell is None or not cell.significant:
        return ""
    return "†" if cell.winner == ("row", "column")[row] else ""
