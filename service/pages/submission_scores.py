"""Lay out the scores, counts and slices of a submission as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.pages.figures import ScoreFigures
from service.pages.score_names import NamedScore, ScoreNames, score_label
from service.pages.words import TOGETHER
from service.requests import MACRO, POOLED
from treescore.core.params import Json
from treescore.core.values import flat_values, member_at

MOST_SLICES = 500


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The scores of a part, or of all parts.

    Attributes:
        name: of the part.
        part: whether it is a part, not all of them.
        cells: as they are written, in the order of the columns.
        interval: of the first.
        note: what is the matter with the part.
    """

    name: str
    part: bool
    cells: Sequence[str]
    interval: str
    note: str


def columns_of(scores: Mapping[str, Any], names: ScoreNames, *, every: bool) -> tuple[list[NamedScore], int]:
    """Return the scores to show, the main one first, and how many are left out.

    Args:
        scores: of the submission's document.
        names: of its benchmark.
        every: whether all are shown, not only the first.
    """
    main = scores["main"]["score"]
    listed = list(dict.fromkeys(_addresses(scores["metrics"])))
    others = [address for address in listed if address != main]
    shown = [names(address) for address in others] if every else names.columns(main, listed)
    return [names(main), *shown], len(others) - len(shown)


def rows_of(
    scores: Mapping[str, Any], columns: Sequence[NamedScore], parts: Iterable[str], sent: Iterable[str]
) -> list[ScoreRow]:
    """Return a row for all parts together where there are several, then one for each part.

    Args:
        scores: of the submission's document.
        columns: the scores to show.
        parts: of the benchmark.
        sent: parts that the submission has an output of.
    """
    known, outputs = list(parts), set(sent)
    rows = [_score_row(scores, columns, name, label, "") for name, label in TOGETHER.items() if len(known) > 1]
    for part in known:
        failed = (scores["parts"].get(part) or {}).get("failure") is not None
        note = "not sent" if part not in outputs else "could not be scored" if failed else ""
        rows.append(_score_row(scores, columns, part, part, note, alone=len(known) == 1))
    return rows


def counts_of(scores: Mapping[str, Any], metric: str, part: str) -> list[tuple[str, Any]]:
    """Return the counts of a part under a metric, where they are shown."""
    whole = scores["metrics"].get(metric) or {}
    of_part = (whole.get("parts") or {}).get(part) or (whole if not whole.get("parts") else {})
    return [(score_label(name), value) for name, value in flat_values(of_part.get("counts") or {})]


def slices_table(names: ScoreNames, metric: str, slices: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    """Return heads and rows of the slices of a grouping, and how many are left out."""
    scores = list(dict.fromkeys(name for row in slices for name, _ in flat_values(row["scores"])))
    counts = list(dict.fromkeys(name for row in slices for name, _ in flat_values(row["counts"])))
    figures = {name: _figures(names, f"{metric}.{name}") for name in scores}
    rows = [
        (
            str(row["value"]),
            [figures[name].value(member_at(row["scores"], name)) for name in scores],
            [member_at(row["counts"], name) for name in counts],
        )
        for row in slices[:MOST_SLICES]
    ]
    return {
        "scores": [score_label(name) for name in scores],
        "counts": [score_label(name) for name in counts],
        "rows": rows,
        "left": max(0, len(slices) - MOST_SLICES),
    }


def _figures(names: ScoreNames, address: str) -> ScoreFigures:
    """Return what writes a slice's score; those that only slices have are shares."""
    known = names(address)
    return known.figures if known.doc else ScoreFigures(share=True)


def _addresses(metrics: Mapping[str, Any]) -> Iterable[str]:
    for key, metric in metrics.items():
        groups = (metric.get("scores"), metric.get("macro"), *_scores_of_parts(metric))
        for group in groups:
            yield from (f"{key}.{name}" for name, _ in flat_values(group or {}))


def _scores_of_parts(metric: Mapping[str, Any]) -> Iterable[Mapping[str, Json]]:
    return (part["scores"] for part in (metric.get("parts") or {}).values() if part is not None)


def _score_row(
    scores: Mapping[str, Any], columns: Sequence[NamedScore], name: str, label: str, note: str, *, alone: bool = False
) -> ScoreRow:
    found = [_figure(scores["metrics"], column.address, name, alone=alone) for column in columns]
    bounds = found[0][1]
    interval = "" if bounds is None else columns[0].figures.interval(bounds["low"], bounds["high"])
    cells = [column.figures.value(value) for column, (value, _) in zip(columns, found, strict=True)]
    return ScoreRow(label, name not in (MACRO, POOLED), cells, interval, note)


def _figure(metrics: Mapping[str, Any], address: str, name: str, *, alone: bool) -> tuple[float | None, Any]:
    """Return a score over a part, or over all of them, and its interval."""
    key, _, score = address.partition(".")
    metric = metrics.get(key)
    if metric is None:
        return None, None
    if name == MACRO:
        return member_at(metric.get("macro"), score), member_at(metric.get("macro_ci95"), score)
    figures = metric if name == POOLED else (metric.get("parts") or {}).get(name)
    if figures is None and alone:
        figures = metric
    if figures is None:
        return None, None
    return member_at(figures.get("scores"), score), member_at(figures.get("ci95"), score)
