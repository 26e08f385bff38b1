"""A table of teams: CSV with the header `id,name,contact`, whose faults are named by its lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import BinaryIO

from treescore.cli.exits import WRONG_INPUT, Stopped
from treescore.cli.service import status_of
from treescore.client import ClientError

TABLE = ("id", "name", "contact")
"""Columns of a table of teams."""


def team_rows(table: BinaryIO) -> tuple[list[dict[str, str]], list[int]]:
    """Return the teams of a table, and the line of each.

    Raises:
        Stopped: it is another table, or cannot be read.
    """
    try:
        reader = csv.DictReader(io.StringIO(table.read().decode("utf-8-sig"), newline=""), strict=True)
        rows, lines = [], []
        for row in reader:
            if None in row or None in row.values():
                raise Stopped(WRONG_INPUT, f"line {reader.line_num}: write as many fields as the header has.")
            rows.append({name: value for name, value in row.items() if value})
            lines.append(reader.line_num)
    except (csv.Error, UnicodeDecodeError) as error:
        raise Stopped(WRONG_INPUT, f"The table is not CSV in UTF-8: {error}") from error
    if not rows:
        raise Stopped(WRONG_INPUT, f"The table has no team. Write the header {','.join(TABLE)}, then a team a line.")
    return rows, lines


def at_lines(error: ClientError, lines: Sequence[int]) -> Stopped | ClientError:
    """Return an error that names lines of the table instead of places in the request."""
    found = []
    for each in error.problems:
        words = each.pointer.split("/")
        if len(words) < 3 or not words[2].isdigit() or int(words[2]) >= len(lines):
            return error
        found.append(f"line {lines[int(words[2])]}, {'/'.join(words[3:]) or 'team'}: {each.detail}")
    return Stopped(status_of(error), *found) if found else error
