"""Read tables of teams, and hand them out.

A table of teams is CSV (RFC 4180) in UTF-8 with a header, as spreadsheets save it. New teams are handed out with
their tokens as CSV.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from marshmallow import ValidationError

from service.contract.access import TeamRequest, TeamsRequest
from service.contract.derive import schema_of
from service.contract.fields import Fault
from service.errors import LONGEST_SHOWN, unprocessable
from service.requests import MAX_TEAMS
from treescore.core.text import encoding_problem, packed_as
from treescore.errors import Problem, ProblemList
from treescore.render.table import separated

COLUMNS = ("id", "name", "contact")
REQUIRED = ("id", "name")
_MARK = b"\xef\xbb\xbf"


class Row(NamedTuple):
    """A row and the line where it begins."""

    line: int
    fields: Sequence[str]


def load_teams(body: bytes, cap: int) -> TeamsRequest:
    """Return the teams of a table. Columns may stand in any order, and `contact` may be missing.

    What is wrong with single teams is in `faults`, to be reported with the ids that are taken.

    Args:
        body: the table.
        cap: problems that are shown.

    Raises:
        Unprocessable: the table cannot be read; with line and column (number of the field) of each fault.
    """
    problems = ProblemList(cap, apart=True)  # an organiser corrects each row
    rows = _team_rows(body.removeprefix(_MARK), problems)
    header = _header(rows[0] if rows else Row(1, ()), problems)
    if problems.total:
        raise unprocessable(problems)
    if not 1 <= len(rows) - 1 <= MAX_TEAMS:
        detail = f"The table has {len(rows) - 1} teams. Give 1 to {MAX_TEAMS:,} teams, each in a line below the header."
        problems.add(Problem(code="bad-value", line=1, column=1, detail=detail))
        raise unprocessable(problems)
    column = header.index("id") + 1
    teams = {(row.line, column): team for row in rows[1:] if (team := _team(row, header, problems)) is not None}
    return TeamsRequest(teams=list(teams.values()), places=list(teams), faults=problems)


def _team_rows(table: bytes, problems: ProblemList) -> list[Row]:
    """Return the rows that are not blank; what cannot be read goes to `problems`."""
    packed, wrong = packed_as(table), encoding_problem(table, "table")
    if packed is not None:
        detail = f"The table is {packed.name}. Save it as CSV in UTF-8."
        problems.add(Problem(code="packed-text", line=1, column=1, detail=detail))
        return []
    if wrong is not None:
        problems.add(wrong)
        return []
    return list(_read(table.decode(), problems))


def _read(table: str, problems: ProblemList) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(table, newline=""), strict=True)
    line = 1
    try:
        for fields in reader:
            if fields:
                yield Row(line, fields)
            line = reader.line_num + 1
    except csv.Error as error:
        detail = (
            f"Cannot read the row that begins here: {error}. Put fields with commas in quotes; double quotes in them."
        )
        problems.add(Problem(code="bad-table", line=line, column=1, detail=detail))


def _header(row: Row, problems: ProblemList) -> list[str]:
    names = [name.strip() for name in row.fields]
    missing = [name for name in REQUIRED if name not in names]
    unknown = [number for number, name in enumerate(names, 1) if name not in COLUMNS or name in names[: number - 1]]
    if not problems.total and (missing or unknown):
        shown = ",".join(names)[:LONGEST_SHOWN]
        detail = f"The first line must be id,name,contact, separated by commas; it is {shown!r}."
        problems.add(Problem(code="bad-table", line=row.line, column=unknown[0] if unknown else 1, detail=detail))
    return names


def _team(row: Row, header: Sequence[str], problems: ProblemList) -> TeamRequest | None:
    """Return the team of a row, of one with faults only what its id is; None without one."""
    if len(row.fields) != len(header):
        detail = f"The row has {len(row.fields)} fields, the header {len(header)}. Put a name with commas in quotes."
        column = min(len(row.fields), len(header)) + 1
        problems.add(Problem(code="bad-table", line=row.line, column=column, detail=detail))
        return None
    given: Mapping[str, str | None] = dict(zip(header, row.fields, strict=True))
    try:
        team: TeamRequest = schema_of(TeamRequest).load({**given, "contact": given.get("contact") or None})
    except ValidationError as error:
        for name, faults in error.messages_dict.items():
            for fault in faults:
                code = fault.code if isinstance(fault, Fault) else "bad-value"
                detail = f"{name}: {fault}"
                problems.add(Problem(code=code, line=row.line, column=header.index(name) + 1, detail=detail))
        return None if "id" in error.messages_dict else TeamRequest(str(given["id"]), "")
    return team


TOKEN_COLUMNS = ("id", "name", "contact", "token")
MEDIA_TYPE = "text/csv; charset=utf-8"


def teams_csv(teams: Iterable[Mapping[str, object]], columns: Sequence[str] = TOKEN_COLUMNS) -> bytes:
    """Return a row for each team, with a header. No spreadsheet takes a field for a formula."""
    return separated([columns, *([team[column] for column in columns] for team in teams)])
