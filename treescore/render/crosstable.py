"""What every form of a comparison shows: the systems by rank, a cell for each pair of them, and sentences below.

The sentences say what a comparison takes as given, and what no cell of the table holds. A signature is what figures
depend on, in one short line: enough to repeat a table of a paper.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from treescore.core import wording
from treescore.core.registry import METRICS
from treescore.core.text import digest_of, short_digests
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
    figures: wording.Figures = wording.IN_FRACTIONS

    @property
    def names(self) -> list[str]:
        """Names of the systems, best first, each on one line."""
        return [wording.one_line(system["name"]) for system in self.systems]

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
    figures = wording.figures_of(wording.PERCENT, share=True) if document["score"] in shares else wording.IN_FRACTIONS
    rounded = "smallest_p" not in document  # as shown below the level at which figures are exact
    return CrossTable(document, systems, cells, replace(figures, rounded=rounded))


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
        parts.append(f"{wording.counted(signature['shuffles'], 'shuffle')}, {seed}")
    if "unit_count" in document:
        parts.append(wording.counted(document["unit_count"], unit_word(document)))
    parts.append(
        f"{wording.counted(document['family']['size'], 'pair')}, {document['correction']}, alpha {document['alpha']:g}"
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


def evidence(cell: Cell, figures: wording.Figures) -> str:
    """Return the p-value of a pair; its interval where there is none."""
    return figures.interval(cell.low, cell.high) if cell.p is None else figures.p(cell.p)


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


def _system_cells(system: Document, figures: wording.Figures) -> list[str]:
    """Return rank, name, score, interval, rank range and spread over runs as cells of a table."""
    ci = system.get("ci") or {"low": None, "high": None}
    ranks = system.get("rank_interval")
    runs = system.get("runs")
    return [
        str(system["rank"]),
        wording.one_line(system["name"]),
        figures.value(system["score"]),
        figures.interval(ci["low"], ci["high"]),
        "-" if ranks is None else (str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}-{ranks[1]}"),
        "" if not runs else f"{wording.counted(runs['count'], 'run')}, sd {figures.value(runs['sd'])}",
    ]


INTERVAL = "interval"
"""Last word of the head of the column of intervals."""


def notes(document: Document) -> list[str]:
    """Return what could not be scored, why systems were not tested, and the notes that say something of the pairs."""
    untested = [f"not tested: {wording.one_line(each['name'])} ({each['reason']})" for each in document["untested"]]
    unscored = unscored_lines((each["name"], each["sentences"]) for each in document["systems"] if "sentences" in each)
    empty = {wording.IDENTICAL_OUTPUTS: not _has_identical(document), wording.UNDEFINED_SCORES: not untested}
    return [*unscored, *untested, *(note for note in document["notes"] if not empty.get(note))]


_STATES = (("error", "in error"), ("skip", "skipped"))


def unscored_lines(systems: Iterable[tuple[str, Document]]) -> Iterator[str]:
    """Yield how many sentences of each system are in error or skipped, from its name and its numbers of sentences."""
    for name, sentences in systems:
        found = [f"{sentences[state]} {words}" for state, words in _STATES if sentences[state]]
        if found:
            total = wording.counted(sentences["total"], "sentence")
            yield f"{wording.one_line(name)}: of {total} {' and '.join(found)}."


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
    p = table.figures.p(cell.p)
    return f"{'† ' if cell.significant else ''}{verdict}: {gap}, p {p if p.startswith('<') else f'= {p}'}{how}."


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


LISTED_PAIRS = 10
"""Pairs that one sentence names; the document holds all."""


def sentences(table: CrossTable) -> list[str]:
    """Return the sentences of a comparison; those that its document has no figures for are left out."""
    document = table.document
    pairs = [pair for pair in document["pairs"] if pair["difference"] is not None]
    return [
        *assumed(document),
        *_detectable(pairs, table.figures),
        *_sentence_parts(pairs, document["alpha"], table.figures),
        *_unselected(pairs, document["alpha"], table.figures),
        *_together(pairs, table.figures, of_scores=not tests_shares(document)),
        *_not_worse(pairs, table.figures),
    ]


def assumed(document: Document) -> list[str]:
    """Return what a comparison takes as random and what as fixed, as one line."""
    return [document["assumed"]] if document.get("assumed") else []


def detectable(table: CrossTable) -> list[str]:
    """Return which true difference would have been found where none is significant, as one line."""
    return list(
        _detectable([pair for pair in table.document["pairs"] if pair["difference"] is not None], table.figures)
    )


def _detectable(pairs: Sequence[Document], figures: wording.Figures) -> Iterator[str]:
    known = [pair["detectable"] for pair in pairs if pair.get("detectable") and pair["significant"] is False]
    if not known:
        return
    low, high = (end(each["difference"] for each in known) for end in (min, max))
    power = f"{known[0]['power']:.0%}".replace("%", " %")
    if len(pairs) == 1:
        yield f"Not significant; a true difference of {figures.value(low)} would be found with {power} power."
    else:
        size = figures.value(low) if high == low else f"{figures.value(low)} to {figures.value(high)}, by pair,"
        yield f"Where a difference is not significant, a true one of {size} would be found with {power} power."


def _sentence_parts(pairs: Sequence[Document], alpha: float, figures: wording.Figures) -> Iterator[str]:
    known = [pair for pair in pairs if pair.get("p_parts") is not None]
    if len(pairs) == 1:
        yield from (f"For parts like these p is {figures.p(pair['p_parts'])}." for pair in known)
    elif known:
        narrow = [pair for pair in known if pair["significant"] and pair["p_parts"] > alpha]
        listed = _named_pairs(narrow, "p_parts", figures) or "none"
        yield f"Significant on these parts, but p above {alpha:g} for parts like these: {listed}."


def _unselected(pairs: Sequence[Document], alpha: float, figures: wording.Figures) -> Iterator[str]:
    known = [pair for pair in pairs if pair.get("p_unselected") is not None and pair["p_unselected"] != pair["p"]]
    if len(pairs) == 1:
        yield from (f"Without the allowance for picking p is {figures.p(pair['p_unselected'])}." for pair in known)
        return
    picked = [pair for pair in known if pair["p_unselected"] <= alpha < pair["p"]]
    if picked:
        named = _named_pairs(picked, "p_unselected", figures)
        yield f"p above {alpha:g} only by the allowance for picking: {named} without it."


def _together(pairs: Sequence[Document], figures: wording.Figures, *, of_scores: bool) -> Iterator[str]:
    """Yield for how many pairs 0 is outside of the intervals that hold together, and where p decides otherwise.

    The intervals are of scores: a p of something else is not held against them.
    """
    known = [pair for pair in pairs if _simultaneous_bounds(pair) is not None]
    if len(pairs) == 1 or not known:
        return
    apart = [pair for pair in known if _apart(pair)]
    decided = [pair for pair in known if of_scores and pair["significant"] is not None]
    odd = [pair for pair in decided if pair["significant"] != _apart(pair)]
    sentence = f"Intervals that hold together leave out 0 for {len(apart)} of {len(known)} pairs"
    named = "; ".join(
        f"{_names(pair)} {figures.interval(*(_simultaneous_bounds(pair) or (None, None)))}"
        for pair in odd[:LISTED_PAIRS]
    )
    yield f"{sentence}; p decides otherwise for {named}{_more(len(odd))}." if odd else f"{sentence}."


def _simultaneous_bounds(pair: Document) -> tuple[float, float] | None:
    ci = pair.get("ci_simultaneous") or {"low": None, "high": None}
    return None if ci["low"] is None or ci["high"] is None else (ci["low"], ci["high"])


def _apart(pair: Document) -> bool:
    low, high = _simultaneous_bounds(pair) or (0.0, 0.0)
    return low > 0 or high < 0


def _not_worse(pairs: Sequence[Document], figures: wording.Figures) -> Iterator[str]:
    """Yield for each system of which others are shown not to be worse which these are; of one pair both p."""
    tested = [pair for pair in pairs if pair.get("noninferiority")]
    if not tested:
        return
    margin = f"{figures.factor * tested[0]['noninferiority']['margin']:g}"
    shown: dict[str, list[str]] = {}
    for pair in tested:
        for name, other in ((pair["a"], pair["b"]), (pair["b"], pair["a"])):
            found = pair["noninferiority"][name]
            p = f"(p {figures.p(found['p_adjusted'])})"
            if len(pairs) == 1:
                verdict = "shown" if found["established"] else "not shown"
                claim = f"{wording.one_line(name)} not worse than {wording.one_line(other)} by more than {margin}"
                yield f"{claim}: {verdict} {p}."
            elif found["established"]:
                shown.setdefault(other, []).append(f"{wording.one_line(name)} {p}")
    for other, names in shown.items():
        yield f"Not worse than {wording.one_line(other)} by more than {margin}: {', '.join(names)}."
    if len(pairs) > 1 and not shown:
        yield f"No system is shown not to be worse than another by more than {margin}."


def _named_pairs(pairs: Sequence[Document], member: str, figures: wording.Figures) -> str:
    named = [f"{_names(pair)} ({figures.p(pair[member])})" for pair in pairs[:LISTED_PAIRS]]
    return ", ".join(named) + _more(len(pairs))


def _more(count: int) -> str:
    return f" and {count - LISTED_PAIRS} more" if count > LISTED_PAIRS else ""


def _names(pair: Document) -> str:
    return f"{wording.one_line(pair['a'])} and {wording.one_line(pair['b'])}"
