"""Tables for people, from the documents of results."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

SHOWN = 6
"""Scores shown of each metric; the document holds all."""


def scores_table(results: Mapping[str, Any]) -> str:
    """Return a table for each metric: its first scores, one row a system."""
    systems: Sequence[Mapping[str, Any]] = results["systems"]
    return "\n".join(_metric_table(key, systems) for key in systems[0]["metrics"])


def _metric_table(key: str, systems: Sequence[Mapping[str, Any]]) -> str:
    first = systems[0]["metrics"][key]["scores"]
    names = [name for name, value in first.items() if not isinstance(value, dict)][:SHOWN]
    table = Table(box=None, pad_edge=False)
    table.add_column(key, no_wrap=True)
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    for system in systems:
        scores = system["metrics"][key]["scores"]
        table.add_row(system["name"], *("-" if scores[name] is None else f"{scores[name]:.4f}" for name in names))
    return printed(table)


def printed(table: Table) -> str:
    """Return a table as text, as wide as it needs to be."""
    out = io.StringIO()
    Console(file=out, width=200).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
