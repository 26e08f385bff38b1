"""Scores and counts as members of documents: by name, dots nested, with reasons for undefined ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from treescore.core.arrays import Counts, FloatArray
from treescore.core.params import Json
from treescore.core.scores import ScoreTable

HEAD = ("item", "sent_id", "status", "problem")
"""Members of an item before its scores and counts."""


def with_values(table: ScoreTable, rows: Counts, documents: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """Add scores and counts to documents of `item_details`: rows (n, k), one for each document."""
    rows = table.shown(rows)
    values = {name: array.tolist() for name, array in table.values(rows).items()}
    numbers = rows.tolist()
    return [
        {
            **{name: document[name] for name in HEAD if name in document},
            "scores": nested_values((name, _defined(column[row])) for name, column in values.items()),
            "counts": nested_values(zip(table.count_names, map(_whole, numbers[row]), strict=True)),
            **document,
        }
        for row, document in enumerate(documents)
    ]


def score_values(table: ScoreTable, totals: Counts) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return scores of summed counts (k,), dots nested, and reasons for undefined ones."""
    values = {name: float(value) for name, value in table.values(totals).items()}
    undefined = nested_values(
        (name, table.by_name[name].undefined) for name, value in values.items() if math.isnan(value)
    )
    return nested_values((name, _defined(value)) for name, value in values.items()), undefined


def count_values(names: Sequence[str], totals: Counts) -> dict[str, Json]:
    """Return counts by name, dots nested; whole numbers are integers."""
    return nested_values(zip(names, map(_whole, totals.tolist()), strict=True))


def score_rows(table: ScoreTable, totals: Counts) -> list[dict[str, Json]]:
    """Return the scores of summed counts (m, k), one document a row, dots nested, null where undefined."""
    names = [score.name for score in table.scores]
    return nested_rows(names, [defined(column) for column in table.of(totals).T])


def count_rows(names: Sequence[str], totals: Counts) -> list[dict[str, Json]]:
    """Return counts (m, k) by name, one document a row, dots nested; whole numbers are integers."""
    columns = totals.T.tolist()
    return nested_rows(
        names, columns if totals.dtype.kind == "i" else [list(map(_whole, column)) for column in columns]
    )


def nested_rows(names: Sequence[str], columns: Sequence[Sequence[Json]]) -> list[dict[str, Json]]:
    """Nest the members of many documents at once: a column for each name, with the values of all documents."""
    inner: dict[str, list[tuple[str, Sequence[Json]]]] = {}
    for name, column in zip(names, columns, strict=True):
        head, _, rest = name.partition(".")
        inner.setdefault(head, []).append((rest, column))
    members = [nested_rows(*zip(*below, strict=True)) if below[0][0] else below[0][1] for below in inner.values()]
    return [dict(zip(inner, row, strict=True)) for row in zip(*members, strict=True)]


def defined(values: FloatArray) -> list[float | None]:
    """Return scores (m,) as members of documents: None where undefined."""
    members: list[float | None] = values.tolist()
    for place in np.flatnonzero(np.isnan(values)).tolist():
        members[place] = None
    return members


def nested_values(members: Iterable[tuple[str, Json]]) -> dict[str, Json]:
    """Nest members: a name with dots becomes objects in objects."""
    document: dict[str, Json] = {}
    for name, value in members:
        *path, last = name.split(".")
        inner = document
        for step in path:
            inner = inner.setdefault(step, {})
        inner[last] = value
    return document


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def _whole(value: float) -> float:
    return int(value) if isinstance(value, float) and value.is_integer() else value
