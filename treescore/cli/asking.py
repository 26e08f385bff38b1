"""Commands that ask the service once: what they need, what they print, and how they end."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import click

from treescore.cli.exits import OK, Stopped
from treescore.cli.output import write
from treescore.cli.service import asking, service_options, show, status_of, token_of
from treescore.client import ClientError, Document


class Answer(NamedTuple):
    """What a command prints.

    Attributes:
        document: as JSON.
        lines: for people.
    """

    document: Mapping[str, Any]
    lines: Sequence[str]


def asks(group: click.Group, name: str) -> Callable[[Callable[..., Answer | str]], click.Command]:
    """Add a command of this name: a function of a client, which returns what is printed."""

    def added(function: Callable[..., Answer | str]) -> click.Command:
        @functools.wraps(function)
        def command(*, url: str, timeout: float, as_json: bool, **given: Any) -> None:
            try:
                with asking(url, token_of("an organiser's"), timeout, "treescore-organise") as client:
                    answer = function(client, **given)
            except (Stopped, ClientError) as error:
                status = status_of(error)
                show(status, {"problems": error.lines}, (), error.lines, as_json=as_json)
                sys.exit(status)
            if isinstance(answer, str):
                write(answer.encode(), None)
            else:
                show(OK, answer.document, answer.lines, (), as_json=as_json)

        return group.command(name)(service_options(command))

    return added


def columns(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """Return the lines of a table: these members of each document, under their names."""
    cells = [[cell(row.get(name)) for name in names] for row in rows]
    widths = [max(len(line[at]) for line in [list(names), *cells]) for at in range(len(names))]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in [list(names), *cells]]


def cell(value: object) -> str:
    """Return a value as a table shows it."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def listed(kind: str, documents: Sequence[Document], names: Sequence[str]) -> Answer:
    """Return documents as a table of these members; `kind` names them, in the plural."""
    return Answer(
        {kind: [each.document for each in documents]},
        columns(documents, names) if documents else [f"No {kind.replace('_', ' ')}."],
    )
