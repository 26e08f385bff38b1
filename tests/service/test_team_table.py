"""A table of teams: what spreadsheets save is read, and each fault has its line and column."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.contract.access import TeamRequest
from service.errors import Unprocessable, refuse
from service.team_table import load_teams
from treescore.core.wording import is_name

CAP = 20
NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20).filter(is_name)


def faults(table: str | bytes) -> list[tuple[str, int | None, int | None]]:
    with pytest.raises(Unprocessable) as error:
        refuse(load_teams(table if isinstance(table, bytes) else table.encode(), CAP).faults)
    return [(each.code, each.line, each.column) for each in error.value.problems]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_what_spreadsheets_save_is_read(end, mark):
    lines = ["id,name,contact", 'lyon,"Lyon, ""Parsing"" Group",a@example.org', "", "oslo,=Oslo,", ""]
    made = load_teams((mark + end.join(lines)).encode(), CAP)
    assert made.teams == [TeamRequest("lyon", 'Lyon, "Parsing" Group', "a@example.org"), TeamRequest("oslo", "=Oslo")]
    assert made.places == [(2, 1), (4, 1)]


def test_columns_stand_in_any_order_and_contact_may_be_missing():
    made = load_teams(b"name,id\nLyon,lyon\n", CAP)
    assert made.teams == [TeamRequest("lyon", "Lyon")]
    assert made.places == [(2, 2)]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("", [("bad-table", 1, 1)]),
        ("\n\n", [("bad-table", 1, 1)]),
        ("lyon,Lyon\n", [("bad-table", 1, 1)]),
        ("id;name;contact\nlyon;Lyon;\n", [("bad-table", 1, 1)]),
        ("id,name,token\nlyon,Lyon,x\n", [("bad-table", 1, 3)]),
        ("id,name,id\nlyon,Lyon,x\n", [("bad-table", 1, 3)]),
        ("id,name\n", [("bad-value", 1, 1)]),
        ("id,name\nlyon,Lyon,x\nmetz\n", [("bad-table", 2, 3), ("bad-table", 3, 2)]),
        ('id,name\nlyon,"Lyon\n', [("bad-table", 2, 1)]),
        ('id,name\nlyon,"Lyon"x\n', [("bad-table", 2, 1)]),
        ("id,name,contact\na b,,a\u202eb\n", [("bad-id", 2, 1), ("bad-name", 2, 2), ("bad-name", 2, 3)]),
        ('id,name\nmetz,"a\nb"\nx y,Oslo\n', [("bad-name", 2, 2), ("bad-id", 4, 1)]),
        (b"id,name\nlyon,\xff\n", [("invalid-utf8", 2, 6)]),
        ("id,name\n".encode("utf-16"), [("invalid-utf8", 1, 1)]),
        ("id,name\n".encode("utf-16-le"), [("invalid-utf8", 1, 1)]),
        (b"PK\x03\x04 xl/workbook.xml", [("packed-text", 1, 1)]),
        ("id,name\na,\x00\n", [("bad-name", 2, 2)]),
        ("id,name\n" + "a," + "x" * 200_000, [("bad-table", 2, 1)]),
        ("id,name\n" + "".join(f"t{number},x\n" for number in range(1001)), [("bad-value", 1, 1)]),
    ],
)
def test_a_fault_has_its_line_and_column(table, expected):
    assert faults(table) == expected


def test_faults_beyond_the_cap_are_counted():
    with pytest.raises(Unprocessable) as error:
        refuse(load_teams(b"id,name\n" + b"a b,x\n" * 50, CAP).faults)
    assert (len(error.value.problems), error.value.total) == (CAP, 50)


@given(st.lists(st.tuples(NAMES, st.none() | NAMES), min_size=1, max_size=5))
def test_any_names_are_read_as_they_were_written(names):
    out = io.StringIO()
    rows = [(f"t{number}", name, contact or "") for number, (name, contact) in enumerate(names)]
    csv.writer(out).writerows([("id", "name", "contact"), *rows])
    made = load_teams(out.getvalue().encode(), CAP)
    assert [(team.name, team.contact) for team in made.teams] == list(names)


@given(st.binary(max_size=200))
def test_no_bytes_are_a_fault_of_the_service(table):
    with pytest.raises(Unprocessable):
        refuse(load_teams(table, CAP).faults)
