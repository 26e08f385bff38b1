"""Tables of scores, one for each metric: the scores that the field reports, one row a system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from treescore.core.figures import PERCENT, Unit, figures_of
from treescore.core.one_line import clean
from treescore.core.values import value_at
from treescore.evaluation.warnings import warning_lines, warnings_of_metric
from treescore.render.signatures import signature_of_scores
from treescore.render.tables import Column, Table

if TYPE_CHECKING:
    from treescore.core.scores import Score
    from treescore.evaluation.spec import Entry, Spec

Document = Mapping[str, Any]


def score_tables(
    spec: Spec, systems: Sequence[Document], warnings: Sequence[Document] = (), unit: Unit = PERCENT
) -> list[Table]:
    """Return a table for each metric.

    Args:
        spec: the metrics.
        systems: as `systems` of results.
        warnings: of the results.
        unit: in which shares are shown.
    """
    return [_scores_table(entry, systems, warnings, unit) for entry in spec.entries]


def headline_scores(entry: Entry, systems: Sequence[Document]) -> dict[str, Score]:
    """Return the scores that a table shows, by the heads of their columns."""
    metric, known = entry.metric, entry.metric.table.by_name
    shown = {head: known[name] for name, head in metric.headline.items() if name in known}
    for name, head in metric.headline_below_best.items():
        values = [value_at(system["metrics"][entry.key]["scores"], name) for system in systems]
        if any(value is not None and value != known[name].best for value in values):
            shown[head] = known[name]
    return shown or {entry.metric.table.scores[0].name: entry.metric.table.scores[0]}


def _scores_table(entry: Entry, systems: Sequence[Document], warnings: Sequence[Document], unit: Unit) -> Table:
    shown = headline_scores(entry, systems)
    rows = []
    for system in systems:
        scores = system["metrics"][entry.key]["scores"]
        values = [
            figures_of(unit, share=score.is_share).value(value_at(scores, score.name)) for score in shown.values()
        ]
        rows.append([clean(system["name"]), *values])
    named = entry.key if entry.key == entry.name else f"{entry.key} ({entry.name})"
    signatures = {system["name"]: system["metrics"][entry.key]["signature"] for system in systems}
    return Table(
        caption=f"{named}, scores in percent" if unit == PERCENT else named,
        columns=[Column("system"), *(Column(head, numeric=True) for head in shown)],
        rows=rows,
        warnings=warning_lines(warnings_of_metric(warnings, entry.key)),
        notes=[
            *_undefined(entry, shown, systems),
            *_unscored(entry, systems),
            signature_of_scores(entry, signatures) if signatures else "",
        ],
    )


def _undefined(entry: Entry, shown: Mapping[str, Score], systems: Sequence[Document]) -> Iterator[str]:
    """Yield why each undefined score has no value, once for all systems."""
    for head, score in shown.items():
        names = [
            clean(system["name"])
            for system in systems
            if value_at(system["metrics"][entry.key]["scores"], score.name) is None
        ]
        if names:
            yield f"{head} of {', '.join(names)} is undefined: {score.undefined}."


def _unscored(entry: Entry, systems: Sequence[Document]) -> Iterator[str]:
    """Yield how many sentences of each system are in error or skipped."""
    for system in systems:
        sentences = system["metrics"][entry.key]["sentences"]
        found = [f"{sentences[name]} {words}" for name, words in _STATES if sentences[name]]
        if found:
            yield f"{clean(system['name'])}: of {sentences['total']} sentences {' and '.join(found)}."


_STATES = (("error", "in error"), ("skip", "skipped"))
