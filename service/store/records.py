"""Make dataclasses of rows, and rows of dataclasses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

import orjson
from sqlalchemy import Connection, Executable, Row

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
    plain = {field.name: getattr(row, prefix + field.name) for field in fields(kind) if field.name not in decoded}
    return kind(**plain, **decoded)


def columns_of(record: DataclassInstance, **encoded: object) -> dict[str, object]:
    """Return the columns of a record, each from the field of its name; `encoded` replaces fields that are packed."""
    return {field.name: getattr(record, field.name) for field in fields(record)} | encoded


def one(db: Connection, query: Executable, make: Callable[[AnyRow], Record]) -> Record | None:
    """Return the record of the only row that a query selects, or None."""
    row = db.execute(query).one_or_none()
    return None if row is None else make(row)


def json_text(value: object) -> str:
    """Return a JSON value as columns of text hold it."""
    return orjson.dumps(value).decode()
