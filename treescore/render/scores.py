"""Tables of scores, one for each metric: the scores that the field reports, one row a system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from treescore.core.digests import digest_of, short_digests
from treescore.core.figures import PERCENT, Unit, figures_of
from treescore.core.one_line import clean
from treescore.core.values import value_at
from treescore.evaluation.warnings import warning_lines, warnings_of_metric
from treescore.render.tables import Column, Table

if TYPE_CHECKING:
    from treescore.core.params import Json
    from treescore.core.scores import Score
    from treescore.evaluation.spec import Entry, Spec

Document = Mapping[str, Any]
_LONGEST_VALUE = 40
"""Characters of a parameter's value in a signature; a longer one is named by its digest."""


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
    return [_table(entry, systems, warnings, unit) for entry in spec.entries]


def headline_scores(entry: Entry, systems: Sequence[Document]) -> dict[str, Score]:
    """Return the scores that a table shows, by the heads of their columns."""
    metric, known = entry.metric, entry.metric.table.by_name
    shown = {head: known[name] for name, head in metric.headline.items() if name in known}
    for name, head in metric.headline_below_best.items():
        values = [value_at(system["metrics"][entry.key]["scores"], name) for system in systems]
        if any(value is not None and value != known[name].best for value in values):
            shown[head] = known[name]
    return shown or {entry.metric.table.scores[0].name: entry.metric.table.scores[0]}


def _table(entry: Entry, systems: Sequence[Document], warnings: Sequence[Document], unit: Unit) -> Table:
    shown = headline_scores(entry, systems)
    rows = []
    for system in systems:
        scores = system["metrics"][entry.key]["scores"]
        values = [
            figures_of(unit, share=score.is_share).value(value_at(scores, score.name)) for score in shown.values()
        ]
        rows.append([clean(system["name"]), *values])
    named = entry.key if entry.key == entry.name else f"{entry.key} ({entry.name})"
    return Table(
        caption=f"{named}, scores in percent" if unit == PERCENT else named,
        columns=[Column("system"), *(Column(head, numeric=True) for head in shown)],
        rows=rows,
        warnings=warning_lines(warnings_of_metric(warnings, entry.key)),
        notes=[
            *_undefined(entry, shown, systems),
            *_unscored(entry, systems),
            signature_line(entry, systems[0]["metrics"][entry.key]["signature"]) if systems else "",
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


def signature_line(entry: Entry, signature: Document) -> str:
    """Return what the scores depend on, in one short line: enough to repeat a table of a paper."""
    version, _, metric = signature["version"].partition("/")
    parts = [metric + _in_brackets({name: entry.params[name] for name in entry.params if _not_default(entry, name)})]
    parts += [f"transform {step.name}{_in_brackets(step.params)} on {step.on}" for step in entry.steps]
    formats = [signature["format"], signature["system_format"]]
    if formats[0] != formats[1] or not isinstance(formats[0], str):
        parts += [f"{side} format {_choice(value)}" for side, value in zip(("gold", "system"), formats, strict=True)]
    gold = short_digests(signature["gold"])
    return f"Signature: {'; '.join(parts)}; gold {gold}; treescore {version}"


def _not_default(entry: Entry, name: str) -> bool:
    return bool(entry.params[name] != type(entry.metric).params[name].default)


def _choice(value: Json) -> str:
    if isinstance(value, str):
        return value
    return str(value["name"]) + _in_brackets({name: option for name, option in value.items() if name != "name"})


def _in_brackets(values: Mapping[str, Json]) -> str:
    return f"({', '.join(f'{name}={_short(value)}' for name, value in values.items())})" if values else ""


def _short(value: Json) -> str:
    words = str(value).lower() if isinstance(value, bool) else str(value)
    return clean(words) if len(words) <= _LONGEST_VALUE else short_digests(digest_of(words.encode()))
