"""What every form of a comparison shows: the systems by rank, a cell for each pair of them, and sentences below.

The sentences are the notes of the document. A signature is what figures depend on, in one short line: enough to repeat
a table of a paper.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from treescore.core import wording
from treescore.core.registry import METRICS, score_head
from treescore.core.text import digest_of, short_digests
from treescore.errors import InputError, Problem
from treescore.evaluation.document import asked_transforms

if TYPE_CHECKING:
    from treescore.core.params import Json
    from treescore.evaluation.spec import Entry

Document = Mapping[str, Any]
_LONGEST_VALUE = 40
"""Characters of a parameter's value; a longer one is named by its digest."""


def signature_of_scores(entry: Entry, signatures: Mapping[str, Document]) -> str:
    """Return the line of the scores of one metric.

    Args:
        entry: what was asked.
        signatures: those of the result, by system; at least one.
    """
    first = next(iter(signatures.values()))
    version, _, metric = first["version"].partition("/")
    choices = {name: [signature["system_format"]] for name, signature in signatures.items()}
    parts = [metric + _params(entry.name, entry.params), *_transforms(asked_transforms(entry))]
    return _signature_line([*parts, *_formats(first["format"], choices)], first["gold"], version)


def signature_of_comparison(document: Document) -> str:
    """Return the line of a comparison, without the settings that stand above its table; empty where it is hidden."""
    signature = document["signature"]
    if not signature.get("version") or not signature.get("gold"):
        return ""
    version, _, significance = signature["version"].partition("/")
    score, metric = document["score"], signature.get("metric", "")
    named = f"{score} of {metric}" if metric and not score.startswith(f"{metric}.") else score
    parts = [named + _params(metric, signature.get("params", {})), *_transforms(signature.get("transforms", ()))]
    parts += _formats(signature.get("format", ""), signature.get("system_formats", {}))
    return _signature_line([*parts, significance], signature["gold"], version)


def _signature_line(parts: list[str], gold: str, version: str) -> str:
    return f"Signature: {'; '.join(parts)}; gold {short_digests(gold)}; treescore {version}"


def _params(metric: str, asked: Mapping[str, Json]) -> str:
    """Show what differs from the defaults; a stored document of another version may have names unknown to this one."""
    known = METRICS[metric].params if metric in METRICS else {}
    return _in_brackets(
        {name: value for name, value in asked.items() if name not in known or value != known[name].default}
    )


def _transforms(asked: Iterable[Document]) -> list[str]:
    return [f"transform {step['name']}{_in_brackets(step['params'])} on {step['on']}" for step in asked]


def _formats(gold: Json, choices: Mapping[str, Sequence[Json]]) -> list[str]:
    """Name the formats, unless all texts have one without options.

    Args:
        gold: that of gold.
        choices: those of the outputs, by system.
    """
    names: dict[str, list[str]] = {}
    for system, values in choices.items():
        for text in dict.fromkeys(map(_choice, values)):
            names.setdefault(text, []).append(wording.one_line(system))
    if isinstance(gold, str) and list(names) in ([], [gold]):
        return []
    if len(names) == 1:
        return [f"gold format {_choice(gold)}", *(f"system format {text}" for text in names)]
    return [f"gold format {_choice(gold)}", *(f"format {text} of {', '.join(of)}" for text, of in names.items())]


def _choice(value: Json) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    return str(value["name"]) + _in_brackets({name: option for name, option in value.items() if name != "name"})


def _in_brackets(values: Mapping[str, Json]) -> str:
    return f"({', '.join(f'{name}={_short(value)}' for name, value in values.items())})" if values else ""


def _short(value: Json) -> str:
    words = str(value).lower() if isinstance(value, bool) else str(value)
    return wording.one_line(words) if len(words) <= _LONGEST_VALUE else short_digests(digest_of(words.encode()))


class Cell(NamedTuple):
    """One pair, the better-ranked system's row against the other's column.

    Attributes:
        difference: what is tested of the row's system less that of the column's: the score, for McNemar's test the
            share of units that are right as a whole.
        low, high: interval of the difference of scores.
        p: adjusted; None where there is none.
        significant: the decision.
        winner: "row", "column" or None.
        p_parts: for parts like these; None where there is none.
    """

    difference: float
    low: float | None
    high: float | None
    p: float | None
    significant: bool
    winner: str | None
    p_parts: float | None = None


class CrossTable(NamedTuple):
    """A comparison's systems, best first, the upper triangle of their pairs, and how figures are written."""

    document: Document
    systems: Sequence[Document]
    cells: Mapping[tuple[int, int], Cell]
    figures: wording.Figures = wording.IN_FRACTIONS

    @property
    def names(self) -> list[str]:
        """Names of the systems, best first, each on one line."""
        return [wording.one_line(system["name"]) for system in self.systems]

    def boundary_above(self, row: int) -> bool:
        """Return whether a cluster begins at this row (not at the first)."""
        return row > 0 and self.systems[row].get("cluster") != self.systems[row - 1].get("cluster")


def cross_table(document: Document, shares: Container[str] = (), decimals: int | None = None) -> CrossTable:
    """Return the systems by rank and the cells above the diagonal, keyed (row, column).

    Args:
        document: the comparison.
        shares: scores whose figures are written in percent.
        decimals: of them; those of their unit unless given.
    """
    systems = document["systems"]
    row_of = {system["name"]: row for row, system in enumerate(systems)}
    cells = {}
    for pair in document["pairs"]:
        if pair["difference"] is None:
            continue
        row, column = row_of[pair["a"]], row_of[pair["b"]]
        low, high = bounds(shown_interval(pair))
        tested = pair.get("difference_tested")
        difference = pair["difference"] if tested is None else tested
        p, significant, winner = pair["p_adjusted"], bool(pair["significant"]), _SIDE[pair["better"]]
        cell = Cell(difference, low, high, p, significant, winner, pair.get("p_parts"))
        if row > column:
            row, column, cell = column, row, turned(cell)
        cells[row, column] = cell
    figures = wording.figures_of(wording.PERCENT, share=True) if document["score"] in shares else wording.IN_FRACTIONS
    figures = replace(with_decimals(figures, decimals), rounded=bool(document.get("rounded")))
    return CrossTable(document, systems, cells, figures)


MOST_DECIMALS = 15


def with_decimals(figures: wording.Figures, decimals: int | None) -> wording.Figures:
    """Return how figures are written with so many decimals; as they are for None.

    Raises:
        InputError: it is not a number of decimals.
    """
    if decimals is None:
        return figures
    count: Any = decimals
    if isinstance(count, bool) or not isinstance(count, Integral) or not 0 <= int(count) <= MOST_DECIMALS:
        detail = f"{decimals!r} is not a number of decimals. Give a whole number from 0 to {MOST_DECIMALS}."
        raise InputError(Problem("bad-parameter", detail, pointer="/decimals"))
    return replace(figures, decimals=int(decimals))


def shown_interval(pair: Document) -> Document | None:
    """Return the interval that stands beside a pair's p: the one that belongs to it, else that of the pair alone."""
    return pair.get("ci_adjusted") or pair.get("ci")


def bounds(interval: Document | None) -> tuple[float | None, float | None]:
    """Return the ends of an interval; None where the score or the pair has none."""
    return (None, None) if interval is None else (interval["low"], interval["high"])


def interval_head(document: Document) -> str:
    """Return the head of a column of intervals of differences; those that belong to p hold together."""
    if any(pair.get("ci_adjusted") for pair in document["pairs"]):
        return f"{100 * (1 - document['alpha']):g} % {INTERVAL}"
    return level_head(pair.get("ci") for pair in document["pairs"])


def level_head(intervals: Iterable[Document | None]) -> str:
    """Return the head of a column of intervals, with their level."""
    levels = {each["level"] for each in intervals if each}
    return f"{100 * levels.pop():g} % {INTERVAL}" if len(levels) == 1 else INTERVAL


_SIDE = {"a": "row", "b": "column", None: None}
_OTHER = {"row": "column", "column": "row", None: None}


def turned(cell: Cell) -> Cell:
    """Return a pair as its other system sees it."""
    low, high = (None if value is None else -value for value in (cell.high, cell.low))
    return cell._replace(difference=-cell.difference, low=low, high=high, winner=_OTHER[cell.winner])


def headline(table: CrossTable) -> str:
    """Return what was found, in one line."""
    document = table.document
    better = "higher" if document["higher_is_better"] else "lower"
    unit = "percent, " if table.figures.in_percent else ""
    score = score_head(document["score"], document["signature"].get("metric", ""))
    return f"{score} ({unit}{better} is better): {decision(table)} ({', '.join(_conditions(document))})"


def decision(table: CrossTable) -> str:
    """Return how many differences are significant."""
    systems, cells = wording.counted(len(table.systems), "system"), list(table.cells.values())
    if not cells:
        return systems
    if table.document["test"] == "bootstrap":
        return f"intervals of {wording.counted(len(cells), 'difference')} between {systems}"
    significant = sum(cell.significant for cell in cells)
    if all(cell.p is None for cell in cells):
        return f"{wording.counted(len(cells), 'difference')} between {systems}, not tested"
    if len(cells) == 1 and identical(table.document):
        return f"{systems} are identical in every sentence"
    if len(cells) == 1:
        return f"the difference between {systems} is {'' if significant else 'not '}significant"
    are, baseline = "is" if significant == 1 else "are", table.document["signature"].get("baseline")
    between = f"between {systems}" if baseline is None else f"to {wording.one_line(baseline)}"
    return f"{significant} of {len(cells)} differences {between} {are} significant"


def _conditions(document: Document) -> Iterator[str]:
    """Yield over what and how it was tested, as far as that is not usual."""
    if "unit_count" in document:
        yield wording.counted(document["unit_count"], *wording.units_of(document))
    test = {"mcnemar": "McNemar's test", "compare_pl": "as compare.pl tests"}.get(document["test"])
    if test is not None:
        yield test
    if document["test"] == "bootstrap":
        return
    if document["alternative"] != "two-sided":
        yield "one-sided"
    yield f"alpha {document['alpha']:g}"
    if len(document["pairs"]) > 1:
        yield wording.correction_name(document["correction"])


def evidence(cell: Cell, figures: wording.Figures) -> str:
    """Return the p-value of a pair, and that for parts like these; its interval where there is none."""
    if cell.p is None:
        return figures.interval(cell.low, cell.high)
    p = wording.p_figure(cell.p)
    return p if cell.p_parts is None else f"{p}; {wording.p_figure(cell.p_parts)}"


def evidence_words(table: CrossTable) -> str:
    """Return what the cells show beside the differences."""
    cells = table.cells.values()
    if all(cell.p is None for cell in cells):
        return "interval of the difference"
    return "adjusted p" if all(cell.p_parts is None for cell in cells) else "adjusted p; p (parts)"


def system_table(table: CrossTable) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the rows of a table of the systems, without columns that are empty throughout."""
    rows = [_system_cells(system, table.figures) for system in table.systems]
    for index, row in enumerate(rows):
        row[2] += _dagger(table, index)
    heads = ["rank", "system", "score", level_head(system.get("ci") for system in table.systems), "could be", "runs"]
    kept = [column for column in range(len(heads)) if any(row[column] for row in rows)]
    return [heads[column] for column in kept], [[row[column] for column in kept] for row in rows]


def _system_cells(system: Document, figures: wording.Figures) -> list[str]:
    """Return rank, name, score, interval, rank range and spread over runs as cells of a table."""
    runs = system.get("runs")
    return [
        str(system["rank"]),
        wording.one_line(system["name"]),
        figures.value(system["score"]),
        figures.interval(*bounds(system.get("ci"))),
        rank_range(system.get("rank_interval")) or wording.UNDEFINED,
        "" if not runs else f"{wording.counted(runs['count'], 'run')}, sd {figures.value(runs['sd'])}",
    ]


def rank_range(interval: Sequence[int] | None) -> str:
    """Return the ranks that the tests leave open, `2-4`; nothing where they are not known."""
    low, high = interval or ("", "")
    return str(low) if low == high else f"{low}-{high}"


INTERVAL = "interval"
"""Last word of the head of the column of intervals."""


def notes(document: Document) -> list[str]:
    """Return what stands below every form of a comparison: its notes, what could not be scored, what was not tested."""
    reasons: dict[str, list[str]] = {}
    for each in document["untested"]:
        reasons.setdefault(each["reason"], []).append(wording.one_line(each["name"]))
    untested = [
        f"not tested: {wording.listed(names, 10, ', ', ' and {} more')} ({reason})" for reason, names in reasons.items()
    ]
    unscored = unscored_lines((each["name"], each["sentences"]) for each in document["systems"] if "sentences" in each)
    return [*identical(document), *wording.notes_of_views(document), *unscored, *untested]


def identical(document: Document) -> list[str]:
    """Say which systems do not differ in any sentence, in one line; nothing where none are alike."""
    pairs = [pair for pair in document["pairs"] if pair.get("differing_sentences") == 0]
    names = [f"{wording.one_line(pair['a'])} and {wording.one_line(pair['b'])}" for pair in pairs]
    return [f"Identical in every sentence: {wording.listed(names, 10)}."] if names else []


_STATES = (("error", "in error"), ("skip", "skipped"))


def unscored_lines(systems: Iterable[tuple[str, Document]]) -> Iterator[str]:
    """Yield how many sentences of each system are in error or skipped, from its name and its numbers of sentences."""
    for name, sentences in systems:
        found = [f"{sentences[state]} {words}" for state, words in _STATES if sentences[state]]
        if found:
            total = wording.counted(sentences["total"], "sentence")
            yield f"{wording.one_line(name)}: of {total} {' and '.join(found)}."


def dagger_line(table: CrossTable) -> str:
    """Return the difference of two systems with its interval and p, marked where it is significant."""
    cell = table.cells.get((0, 1))
    if cell is None:
        return ""
    words = difference_words(table.document)
    line = f"{'† ' if cell.significant else ''}{words[:1].upper()}{words[1:]} {table.figures.signed(cell.difference)}"
    if cell.low is not None or cell.high is not None:
        of = ", of the score" if tests_shares(table.document) else ""
        line += f"{of} {table.figures.interval(cell.low, cell.high)}"
    for name, p in (("p", cell.p), ("p (parts)", cell.p_parts)):
        line += "" if p is None else f", {name}{wording.p_equals(p).removeprefix('p')}"
    return line


def tests_shares(document: Document) -> bool:
    """Return whether the difference in units that are right as a whole was tested, not that of the score."""
    shares = any(pair.get("difference_tested") is not None for pair in document["pairs"])
    return shares and document["test"] == "mcnemar"  # a test over training runs names what it tested, too: the score


def difference_words(document: Document) -> str:
    """Return what the cells show the difference of."""
    return (
        f"difference in {wording.unit_word(document['units'])}s right as a whole"
        if tests_shares(document)
        else "difference"
    )


def _dagger(table: CrossTable, row: int) -> str:
    """Return the mark at a system's score where two are compared and it is significantly better."""
    cell = table.cells.get((0, 1))
    if len(table.systems) != 2 or cell is None or not cell.significant:
        return ""
    return "†" if cell.winner == ("row", "column")[row] else ""
