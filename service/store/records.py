"""Make dataclasses of rows."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Row

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

AnyRow = Row[tuple[object, ...]]
Record = TypeVar("Record", bound="DataclassInstance")


def record_of(kind: type[Record], row: AnyRow, prefix: str = "", **decoded: object) -> Record:
    """Make a record of a row, each field from the column of its name.

    Args:
        kind: the dataclass.
        row: as the database returns it.
        prefix: of the columns' names.
        decoded: fields whose columns hold JSON or packed bytes, decoded.
    """
    plain = {each.name: getattr(row, prefix + each.name) for each in fields(kind) if each.name not in decoded}
    return kind(**plain, **decoded)
