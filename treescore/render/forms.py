"""What is shown of scores, comparisons and items (sentences with what a metric shows of them), in the forms of each.

A comparison is two tables: the systems by rank, and the cross-table of their pairs. Comparisons of several scores or
benchmarks as one family are lines. Scores are a table for each metric: those that the field reports, one row a system.
Items are for programs: one JSON document a line, or CSV. Comparisons as CSV have one row a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from treescore.core.scores import Score, value_at
from treescore.core.wording import PERCENT, UNDEFINED, Figures, Unit, figures_of, notes_of_views, one_line, p_figure
from treescore.evaluation.document import warning_lines, warnings_of_metric
from treescore.render import crosstable
from treescore.render.crosstable import with_decimals
from treescore.render.table import CSV, HTML, LATEX, MARKDOWN, TEXT, Column, Table, separated, written

if TYPE_CHECKING:
    from treescore.evaluation.spec import Entry, Spec

Document = Mapping[str, Any]
LISTED_ACROSS = 50
"""Lines of pairs that are shown."""


def across_lines(document: Document) -> list[str]:
    """Return what was corrected together, a line for each system that is better than another, and what is assumed."""
    size, correction = document["family"]["size"], document["correction"]
    if not size:
        return ["No difference was tested: intervals alone are no family of tests."]
    head = f"{size} tests as one family, {correction}, alpha {document['alpha']:g}:"
    found = [line for pair in document["pairs"] for line in _pair_lines(pair)]
    more = [f"and {len(found) - LISTED_ACROSS} more; JSON holds all"] if len(found) > LISTED_ACROSS else []
    lines = [*found[:LISTED_ACROSS], *more] or ["no system is shown to be better than another."]
    return [head, *lines, document["assumed"]]


def _pair_lines(pair: Document) -> Iterator[str]:
    for side, other in (("a", "b"), ("b", "a")):
        better = pair[f"{side}_better"]
        significant = [test["score"] for test in pair["tests"] if test["significant"] and test["better"] == side]
        if not better["k_bonferroni"] and not significant:
            continue
        count = f"at least {better['k_bonferroni']} of {len(pair['tests'])}"
        named = f"; significant: {', '.join(significant)}" if significant else ""
        yield f"{one_line(pair[side])} is better than {one_line(pair[other])} on {count}{named}"


def comparison_tables(
    document: Document,
    shares: Container[str] = (),
    form: str = HTML,
    *,
    decimals: int | None = None,
    p_values: bool = False,
    fit: int = 0,
) -> list[Table]:
    """Return the tables of a comparison; warnings stand above the first, what is said below the last.

    Args:
        document: the comparison.
        shares: scores whose figures are written in percent.
        form: one of TABLE_FORMS, in which they are written: lines or a column stand for clusters; plain text and
            Markdown align nothing to the right.
        decimals: of scores and differences; those of their unit unless given.
        p_values: whether a table of adjusted p follows that of the differences.
        fit: columns of a terminal that plain text keeps to: heads shrink to numbers, then columns are left out; 0 for
            any width.
    """
    table = crosstable.cross_table(document, shares, decimals)
    notes, signature = crosstable.notes(document), crosstable.signature_of_comparison(document)
    said = [*notes, *([""] if notes and signature else []), *([signature] if signature else [])]
    systems = _systems_table(table, form)
    if len(table.systems) <= 2 or not table.cells:
        return [replace(systems, notes=said)]
    if document["signature"].get("baseline"):
        return [systems, _baseline_table(table, said)]
    marks = "; * significant" if any(cell.significant for cell in table.cells.values()) else ""
    words = f"{crosstable.difference_words(document)} (row - column){marks}"
    tables = [_pairs_table(table, form, fit, _difference, words)]
    if p_values or all(cell.p is None for cell in table.cells.values()):
        tables.append(_pairs_table(table, form, fit, crosstable.evidence, crosstable.evidence_words(table)))
    return [systems, *tables[:-1], replace(tables[-1], notes=said)]


def _systems_table(table: crosstable.CrossTable, form: str) -> Table:
    heads, rows = crosstable.system_table(table)
    columns = []
    for head in heads:
        words = head in ("system", "runs")
        numeric = form == HTML and not words and not head.endswith(crosstable.INTERVAL)
        columns.append(Column(head, numeric, "l" if words else "r"))
    clusters = [system.get("cluster") for system in table.systems]
    if (form == MARKDOWN and rows) or (form == HTML and any(each is not None for each in clusters)):
        columns.append(Column("cluster", numeric=form == HTML))
        rows = [[*row, UNDEFINED if each is None else str(each)] for row, each in zip(rows, clusters, strict=True)]
    return Table(
        crosstable.headline(table), columns, rows, table.document["warnings"], rules=_rules(table),
        claim=[crosstable.dagger_line(table)] if len(table.systems) == 2 else (),
    )  # fmt: skip


def _rules(table: crosstable.CrossTable) -> set[int]:
    return {row for row in range(len(table.systems)) if table.boundary_above(row)}


def _difference(cell: crosstable.Cell, figures: Figures) -> str:
    return figures.signed(cell.difference) + ("*" if cell.significant else "")


def _baseline_table(table: crosstable.CrossTable, said: list[str]) -> Table:
    """Return the difference of each system to the one that all are compared with, best first."""
    names = [str(system["name"]) for system in table.systems]
    at = names.index(table.document["signature"]["baseline"])
    rows = []
    for row, name in enumerate(table.names):
        cell = table.cells.get((min(row, at), max(row, at)))
        if cell is not None:
            own = cell if row < at else crosstable.turned(cell)
            interval = table.figures.interval(own.low, own.high)
            rows.append([name, _difference(own, table.figures), interval, p_figure(own.p)])
    heads = ("difference", crosstable.interval_head(table.document), "p")
    columns = [Column("system"), *(Column(head, paper="r") for head in heads)]
    return Table("", columns, rows, notes=said, legend=f"Differences to {table.names[at]}; * significant.")


def _pairs_table(
    table: crosstable.CrossTable, form: str, fit: int, words: Callable[[crosstable.Cell, Figures], str], shown: str
) -> Table:
    """Return a cross-table of pairs, the better-ranked system's row against the other's column.

    Args:
        table: the comparison.
        form: in which it is written.
        fit: as in `comparison_tables`.
        words: writes a cell.
        shown: what the cells show.
    """
    names = [f"({at}) {name}" for at, name in enumerate(table.names, 1)] if form == TEXT else table.names
    columns = [Column(""), *(Column(name, paper="r") for name in names[1:])]
    cells = {at: words(cell, table.figures) for at, cell in table.cells.items()}
    rows = [
        [name, *(cells.get((row, column), "") for column in range(1, len(names)))]
        for row, name in enumerate(names[:-1])
    ]
    found = {at for at, cell in table.cells.items() if cell.significant and form in (MARKDOWN, LATEX)}
    made = Table(
        "", columns, rows, rules=_rules(table) if form == LATEX else (), strong=found, legend=f"Each cell: {shown}."
    )
    return made if form != TEXT or not fit or made.width <= fit else _narrowed(made, fit)


def _narrowed(table: Table, fit: int) -> Table:
    """Return a cross-table with numbers for heads, and no more columns than fit."""
    heads = [column._replace(head=column.head.partition(" ")[0]) for column in table.columns]
    made = replace(table, columns=heads)
    while made.width > fit and len(made.columns) > 2:
        kept = len(made.columns) - 1
        left = f" Of {len(heads) - 1} columns {kept - 1} are shown: --matrix shows all."
        rows = [row[:kept] for row in table.rows[: kept - 1]]
        made = replace(made, columns=heads[:kept], rows=rows, legend=table.legend + left)
    return made


def across_table(document: Document, form: str = HTML) -> Table:
    """Return the comparisons of several scores as one family: lines below a head, no cells."""
    head, *lines = across_lines(document)
    return Table(head, [], [], notes=lines) if form == HTML else Table("", [], [], notes=[head, *lines], commented=True)


def score_tables(
    spec: Spec,
    systems: Sequence[Document],
    warnings: Sequence[Document] = (),
    unit: Unit = PERCENT,
    *,
    scores: Sequence[str] = (),
    decimals: int | None = None,
) -> list[Table]:
    """Return a table for each metric.

    Args:
        spec: the metrics.
        systems: as `systems` of results.
        warnings: of the results.
        unit: in which shares are shown.
        scores: that are shown, as `scores_called` finds them, or by address; those that the field reports unless given.
        decimals: of scores; those of the unit unless given.

    Raises:
        InputError: an unknown score.
    """
    chosen = chosen_scores(spec, scores)
    tables = []
    for entry in spec.entries:
        asked = {head: score for each, head, score in chosen if each is entry}
        if asked or not scores:
            shown = asked or headline_scores(entry, systems)
            tables.append(_scores_table(entry, shown, systems, warnings, unit, decimals))
    return tables


def chosen_scores(spec: Spec, names: Sequence[str]) -> list[tuple[Entry, str, Score]]:
    """Return scores by their names, each with its metric and the head of its column.

    Raises:
        InputError: an unknown score.
    """
    from treescore.evaluation.report import find_score  # noqa: PLC0415 - a list of metrics compares nothing

    found: list[tuple[Entry, str, Score]] = []
    for name in [names] if isinstance(names, str) else names:
        called = [
            (entry, scores_called(name, entry.metric.own_headline, entry.metric.table.scores)) for entry in spec.entries
        ]
        own = [(entry, scores[0]) for entry, scores in called if scores] or [find_score(spec, name)]
        found += [(entry, entry.metric.own_headline.get(score.name, name.removeprefix(f"{entry.key}.")), score)
                  for entry, score in own]  # fmt: skip
    return found


def headline_scores(entry: Entry, systems: Sequence[Document]) -> dict[str, Score]:
    """Return the scores that a table shows, by the heads of their columns."""
    metric, known = entry.metric, entry.metric.table.by_name
    shown = {head: known[name] for name, head in metric.own_headline.items() if name in known}
    for name, head in metric.headline_below_best.items():
        values = [value_at(system["metrics"][entry.key]["scores"], name) for system in systems]
        if any(value is not None and value != known[name].best for value in values):
            shown[head] = known[name]
    return shown or {entry.metric.table.scores[0].name: entry.metric.table.scores[0]}


def scores_called(name: str, heads: Mapping[str, str], scores: Iterable[Score]) -> list[Score]:
    """Return the scores that are called so, the likeliest first: by name, by the head of a column, by its beginning.

    Args:
        name: as people write it: `las_f1`, `LAS`, `relative crossing`.
        heads: of columns, by score.
        scores: of the metric.
    """
    wanted = "_".join(name.casefold().replace("-", " ").split())
    known = {score.name: score for score in scores}
    heads_of = [known[each] for each, head in heads.items() if head.casefold() == name.casefold() and each in known]
    begun = [score for each, score in known.items() if each.startswith(f"{wanted}_")]
    begun.sort(key=lambda score: not score.name.endswith("_f1"))
    return [*([known[wanted]] if wanted in known else []), *heads_of, *begun]


def _scores_table(
    entry: Entry,
    shown: Mapping[str, Score],
    systems: Sequence[Document],
    warnings: Sequence[Document],
    unit: Unit,
    decimals: int | None,
) -> Table:
    rows = []
    for system in systems:
        scores = system["metrics"][entry.key]["scores"]
        values = [
            with_decimals(figures_of(unit, share=score.is_share), decimals).value(value_at(scores, score.name))
            for score in shown.values()
        ]
        rows.append([one_line(system["name"]), *values])
    named = entry.key if entry.key == entry.name else f"{entry.key} ({entry.name})"
    signatures = {system["name"]: system["metrics"][entry.key]["signature"] for system in systems}
    return Table(
        caption=f"{named}, scores in percent" if unit == PERCENT and any(s.is_share for s in shown.values()) else named,
        columns=[Column("system"), *(Column(head, numeric=True) for head in shown)],
        rows=rows,
        warnings=warning_lines(warnings_of_metric(warnings, entry.key)),
        notes=[
            *_undefined(entry, shown, systems),
            *crosstable.unscored_lines((each["name"], each["metrics"][entry.key]["sentences"]) for each in systems),
            *extra_notes(entry, [system["metrics"][entry.key] for system in systems]),
            crosstable.signature_of_scores(entry, signatures) if signatures else "",
        ],
    )


def _undefined(entry: Entry, shown: Mapping[str, Score], systems: Sequence[Document]) -> Iterator[str]:
    """Yield why each undefined score has no value, once for all systems."""
    for head, score in shown.items():
        names = [
            one_line(system["name"])
            for system in systems
            if value_at(system["metrics"][entry.key]["scores"], score.name) is None
        ]
        if names:
            yield f"{head} of {', '.join(names)} is undefined: {score.undefined}."


def extra_notes(entry: Entry, found: Iterable[Document]) -> list[str]:
    """Return what is said of members of `extra` that documents of the metric have."""
    members = {member for document in found for member in document.get("extra", ())}
    return [note for member, note in entry.metric.extra_notes.items() if member in members]


PAIR_COLUMNS = (
    *("score", "a", "b", "score_a", "score_b", "difference", "difference_tested"),
    *("ci_low", "ci_high", "ci_adjusted_low", "ci_adjusted_high", "se", "df", "divisor", "better"),
    *("p", "p_kind", "p_error", "p_parts", "p_unselected", "p_adjusted", "significant"),
    *("p_holm", "p_hochberg", "p_bh", "p_by", "p_bonferroni", "shuffles", "smallest_p"),
    *("relative_error_reduction", "units_won", "units_tied", "units_lost", "detectable"),
    *("margin", "p_a_not_worse", "a_not_worse", "p_b_not_worse", "b_not_worse", "notes", "warnings"),
)


def csv_rows(documents: Sequence[Mapping[str, Any]]) -> bytes:
    """Return all pairs of all comparisons, with a header and all digits that the documents have."""
    columns, rows = comparison_rows(documents)
    return separated([columns, *([row.get(column) for column in columns] for row in rows)])


def comparison_rows(documents: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the columns, where figures are rounded those that are shown, and a row for each pair."""
    rows = [_flat_pair(document, pair) for document in documents for pair in document["pairs"]]
    rounded = bool(documents) and all(document.get("rounded") for document in documents)
    return [column for column in PAIR_COLUMNS if not rounded or any(column in row for row in rows)], rows


def _flat_pair(document: Document, pair: Document) -> dict[str, Any]:
    """Return the values of a pair by column."""
    tested = pair.get("noninferiority") or {}
    row = {
        **pair,
        **(pair.get("effect") or {}),
        "score": document["score"],
        "detectable": (pair.get("detectable") or {}).get("difference"),
        "margin": tested.get("margin"),
        "notes": " ".join(notes_of_views(document)),
        "warnings": " ".join(document["warnings"]),
    }
    for name in ("ci", "ci_adjusted"):
        row[f"{name}_low"], row[f"{name}_high"] = crosstable.bounds(pair.get(name))
    for side in ("a", "b"):
        of_side = tested.get(pair[side]) or {}
        row[f"p_{side}_not_worse"], row[f"{side}_not_worse"] = of_side.get("p_adjusted"), of_side.get("established")
    return row


_Writer = Callable[[Sequence[Document], Document | None, Container[str], int, Document], bytes]


class Rendered(NamedTuple):
    """Bytes with their media type."""

    content: bytes
    media_type: str


def _tables(form: str) -> _Writer:
    """Return a writer of one comparison after the other, and lines of all of them as one family at the end."""

    def write(
        documents: Sequence[Document], across: Document | None, shares: Container[str], width: int, shown: Document
    ) -> bytes:
        tables = [table for document in documents for table in comparison_tables(document, shares, form, **shown)]
        tables += [] if across is None else [across_table(across, form)]
        return ("" if form == HTML else "\n").join(written(table, form, width) for table in tables).encode()

    return write


def _json(documents: Sequence[Document], across: Document | None, *_: object) -> bytes:
    whole = list(documents) if across is None else {"comparisons": list(documents), "across": across}
    return orjson.dumps(whole, option=orjson.OPT_APPEND_NEWLINE)


def _picture(documents: Sequence[Document], _across: Document | None, shares: Container[str], *_: object) -> bytes:
    from treescore.render.comparison_pictures import picture  # noqa: PLC0415 - tables alone are not drawn

    return picture(documents, shares)


_COMPARISON_WRITERS: Mapping[str, tuple[str, _Writer]] = {
    "json": ("application/json", _json),
    TEXT: ("text/plain; charset=utf-8", _tables(TEXT)),
    MARKDOWN: ("text/markdown; charset=utf-8", _tables(MARKDOWN)),
    LATEX: ("application/x-latex; charset=utf-8", _tables(LATEX)),
    CSV: ("text/csv; charset=utf-8", lambda documents, *_: csv_rows(documents)),
    "svg": ("image/svg+xml", _picture),
}

FORMATS: Mapping[str, str] = {name: media_type for name, (media_type, _) in _COMPARISON_WRITERS.items()}
"""Format name -> media type: what a service sends."""
_VIEWS: Mapping[str, tuple[str, _Writer]] = {**_COMPARISON_WRITERS, HTML: ("text/html; charset=utf-8", _tables(HTML))}
"""The formats, and the fragment of HTML that a notebook shows."""


def render_comparisons(
    documents: Sequence[Document],
    form: str,
    across: Document | None = None,
    shares: Container[str] = (),
    *,
    width: int = 0,
    **shown: Any,
) -> Rendered:
    """Render comparison documents in one of the FORMATS or as HTML; the same documents give the same bytes.

    Args:
        documents: the comparisons.
        form: a format; CSV and SVG hold the comparisons alone.
        across: all of them as one family, shown after them.
        shares: scores whose figures people see in percent; JSON and CSV hold fractions.
        width: columns at which the prose of plain text breaks; 0 for none.
        shown: what else `comparison_tables` takes; `p_values` is true unless given.

    Raises:
        KeyError: an unknown format.
    """
    media_type, write = _VIEWS[form]
    return Rendered(write(documents, across, shares, width, {"p_values": True, **shown}), media_type)


Item = Mapping[str, Any]


def _item_lines(items: Sequence[Item]) -> bytes:
    return b"".join(orjson.dumps(item, option=orjson.OPT_APPEND_NEWLINE) for item in items)


def _items_table(items: Sequence[Item]) -> bytes:
    """Write a column for each number or text, named by its path (`scores.las`); lists are JSON in their cell."""
    flat = [_flat_item(item) for item in items]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    return separated([columns, *([row.get(column) for column in columns] for row in flat)])


def _flat_item(item: Item) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = list(reversed(list(item.items())))
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(f"{path}.{name}", inner) for name, inner in reversed(list(value.items()))]
        else:
            columns[path] = orjson.dumps(value).decode() if isinstance(value, list) else value
    return columns


_ITEM_WRITERS: Mapping[str, tuple[str, Callable[[Sequence[Item]], bytes]]] = {
    "ndjson": ("application/x-ndjson", _item_lines),
    CSV: ("text/csv; charset=utf-8", _items_table),
}

ITEM_FORMATS: Mapping[str, str] = {name: media_type for name, (media_type, _) in _ITEM_WRITERS.items()}
"""Format name -> media type; JSON is the page itself."""


def render_items(items: Sequence[Item], form: str) -> Rendered:
    """Render a page of items in one of ITEM_FORMATS.

    Raises:
        KeyError: an unknown format.
    """
    media_type, write = _ITEM_WRITERS[form]
    return Rendered(write(items), media_type)
