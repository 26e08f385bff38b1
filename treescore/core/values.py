"""Scores and counts as members of documents: by name, dots nested, with reasons for undefined ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from treescore.core.arrays import Counts
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
            "counts": nested_values(zip(table.count_names, map(whole, numbers[row]), strict=True)),
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
    return nested_values(zip(names, map(whole, totals.tolist()), strict=True))


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


def flat_values(document: Mapping[str, Json], path: str = "") -> Iterator[tuple[str, Json]]:
    """Yield members by name, what is nested with dots: the reverse of `nested_values`."""
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from flat_values(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def member_at(document: Json, name: str) -> Json:
    """Return a member by its name, whose dots stand for nested objects; None where there is none."""
    for step in name.split("."):
        if not isinstance(document, Mapping) or step not in document:
            return None
        document = document[step]
    return document


def value_at(scores: Json, name: str) -> float | None:
    """Return a score of a document by its name, whose dots stand for nested objects."""
    for step in name.split("."):
        scores = scores[step]
    return None if scores is None else float(scores)


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def whole(value: float) -> float:
    """Return a whole number as an integer, any other as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
