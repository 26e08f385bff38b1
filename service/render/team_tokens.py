"""Render new teams with their tokens as CSV, to hand them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from treescore.render.rows import safe_value, separated

TOKEN_COLUMNS = ("id", "name", "contact", "token")
MEDIA_TYPE = "text/csv; charset=utf-8"


def tokens_csv(teams: Iterable[Mapping[str, object]]) -> bytes:
    """Return a row for each team, with a header. No spreadsheet takes a field for a formula."""
    return separated([TOKEN_COLUMNS, *([safe_value(team[column]) for column in TOKEN_COLUMNS] for team in teams)])
