"""Upgrade the store's tables. This runs before any other process starts.

Portable copies of a store: a SQLite database with all tables, whichever database they come from, and a manifest.

The manifest holds, for every table, the number of rows and a digest that does not change with their order or with the
database: a copy is compared with it when it is read, and again where it was written into another database.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

import orjson
from alembic import command
from alembic.config import Config as AlembicConfig
from sqlalchemy import Boolean, Connection, DateTime, MetaData, Table, func, inspect, select, text

from service.store.database import VERSION_TABLE, SchemaError, SchemaState, Store, schema_of

MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(store: Store, version: str = "head") -> None:
    """Run the migrations that are missing up to a version, in one transaction.

    Raises:
        SchemaError: the store is newer than this code, or of no release.
    """
    settings = AlembicConfig()
    settings.set_main_option("script_location", str(MIGRATIONS))
    with store.write() as connection:
        found = schema_of(connection)
        if found.state in (SchemaState.NEWER, SchemaState.UNRELEASED):
            raise SchemaError(found.words)
        settings.attributes["connection"] = connection
        command.upgrade(settings, version)


FORMAT = 1
MANIFEST = "treescore_backup"
_BATCH = 100
_TIME = "%Y-%m-%d %H:%M:%S.%f"
"""How SQLite's tables hold times, in UTC."""

Value = None | int | float | str | bytes
Row = tuple[Value, ...]


class ArchiveError(RuntimeError):
    """A copy cannot be read, or not restored here. The message says why, and what to do."""


class Content(NamedTuple):
    """What a table holds: the number of its rows and a digest of them, in any order."""

    rows: int
    digest: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a copy is of.

    Attributes:
        format: of the copy.
        created_at: when it was begun, RFC 3339.
        treescore: version of the program that made it.
        schema: version of the tables.
        source: `sqlite` or `postgresql`.
        tables: content of each table.
        files: text of each file beside the store: the organise token of the data directory.
    """

    format: int
    created_at: str
    treescore: str
    schema: str
    source: str
    tables: Mapping[str, Content]
    files: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Return the digest of everything."""
        return "sha256:" + hashlib.sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """Return it as it is stored."""
        tables = {name: list(content) for name, content in self.tables.items()}
        return orjson.dumps({**asdict(self), "tables": tables}, option=orjson.OPT_SORT_KEYS)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a stored one."""
        members = orjson.loads(body)
        tables = {name: Content(*content) for name, content in members.pop("tables").items()}
        return cls(tables=tables, **members)


def copy_store(store: Store, path: Path) -> str:
    """Copy all tables of a store, as they are at one moment, to an empty file; return the schema's version.

    Raises:
        SchemaError: the store has no tables, is newer than this code, or of no release.
    """
    with store.read() as db:
        found = schema_of(db)
    if found.stored is None or found.state not in (SchemaState.CURRENT, SchemaState.NEEDED):
        raise SchemaError(found.words)
    if store.sqlite:
        with closing(store.engine.raw_connection()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute("VACUUM INTO ?", (str(path),))
        return found.stored
    migrate_file(path, found.stored)
    with store.snapshot() as db, opened(path, "rw") as archive:
        if schema_of(db).stored != found.stored:
            raise SchemaError("The store was migrated during the copy. Make it again.")
        for name in table_names(archive):
            _insert_plain(archive, name, rows_of(db, name, columns_of(archive, name)))
        archive.commit()
    return found.stored


def add_manifest(path: Path, manifest: Manifest) -> None:
    """Write the manifest to a copy, and the copy to the disk."""
    with opened(path, "rw") as archive:
        archive.execute("PRAGMA journal_mode=DELETE")
        archive.execute("PRAGMA synchronous=FULL")
        archive.execute(f"DROP TABLE IF EXISTS {MANIFEST}")  # of a backup that is used as a store
        archive.execute(f"CREATE TABLE {MANIFEST} (body BLOB NOT NULL, digest TEXT NOT NULL)")
        archive.execute(f"INSERT INTO {MANIFEST} VALUES (?, ?)", (manifest.to_bytes(), manifest.digest))  # noqa: S608
        archive.commit()


def migrate_file(path: Path, version: str = "head") -> None:
    """Migrate a copy; all of it is in the one file again afterwards."""
    store = Store(f"sqlite:///{path}")
    migrate(store, version)
    store.close()
    with opened(path, "rw") as archive:
        archive.execute("PRAGMA journal_mode=DELETE")


def drop_manifest(path: Path) -> None:
    """Make a copy a plain store again; nothing of the manifest stays in the file."""
    with opened(path, "rw") as archive:
        archive.execute("PRAGMA secure_delete=ON")
        archive.execute(f"DROP TABLE {MANIFEST}")
        archive.commit()


def verified(path: Path) -> Manifest:
    """Return the manifest of a copy whose every row is as it was written.

    Raises:
        ArchiveError: the file is not a copy of a store, or is damaged.
    """
    try:
        with opened(path, "ro") as archive:
            if MANIFEST not in table_names(archive, every=True):
                raise ArchiveError(f"{path} is a database, but not a backup of Treescore.")
            body, digest = archive.execute(f"SELECT body, digest FROM {MANIFEST}").fetchone()  # noqa: S608
            manifest = Manifest.from_bytes(body)
            if manifest.format != FORMAT:
                raise ArchiveError(f"{path} has format {manifest.format}; this program reads {FORMAT}. Update it.")
            found = archive.execute("PRAGMA integrity_check").fetchone()[0]
            damage = [] if manifest.digest == digest else ["manifest"]
            damage += [name for name, content in contents(archive).items() if manifest.tables.get(name) != content]
            damage += sorted(set(manifest.tables).difference(table_names(archive)))
    except (sqlite3.Error, TypeError, ValueError) as error:
        raise ArchiveError(f"{path} is not a readable backup: {error}. Use another one.") from error
    if damage or found != "ok":
        what = f"the digests of {', '.join(damage)} differ" if damage else str(found).splitlines()[0]
        raise ArchiveError(f"{path} is damaged: {what}. Use another backup.")
    return manifest


def fill(db: Connection, path: Path, manifest: Manifest) -> None:
    """Write all rows of a verified copy into the empty tables of a database server, and compare what arrived.

    Raises:
        ArchiveError: the rows that arrived are not those of the copy.
    """
    tables = MetaData()
    tables.reflect(db)
    with opened(path, "ro") as archive:
        for table in tables.sorted_tables:
            if table.name not in manifest.tables or table.name == VERSION_TABLE:
                continue
            columns = columns_of(archive, table.name)
            rows = archive.execute(_select(table.name, columns))
            while batch := rows.fetchmany(_BATCH):
                db.execute(table.insert(), [_typed(table, columns, row) for row in batch])
            content = content_of(columns, rows_of(db, table.name, columns))
            if content != manifest.tables[table.name]:
                raise ArchiveError(f"The rows of {table.name} did not arrive as they were. Nothing was restored.")
    for table in tables.sorted_tables:
        _continue_counting(db, table)


def contents(archive: sqlite3.Connection) -> dict[str, Content]:
    """Return the content of each table of a copy."""
    found = {}
    for name in table_names(archive):
        columns = columns_of(archive, name)
        found[name] = content_of(columns, archive.execute(_select(name, columns)))
    return found


def content_of(columns: Sequence[str], rows: Iterable[Row]) -> Content:
    """Count rows and add up the digests of each: the sum is the same in any order."""
    order = sorted(range(len(columns)), key=columns.__getitem__)
    total = number = 0
    for number, row in enumerate(rows, 1):  # noqa: B007 - the last number is the count
        whole = hashlib.sha256()
        for value in (row[at] for at in order):
            body = _bytes(value)
            whole.update(b"%d:" % len(body) + body)
        total += int.from_bytes(whole.digest())
    return Content(number, f"{total % 2**256:064x}")


def rows_of(db: Connection, name: str, columns: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a table as a copy holds them."""
    for row in db.exec_driver_sql(_select(name, columns), execution_options={"yield_per": _BATCH}):
        yield tuple(map(_plain, row))


def table_names(archive: sqlite3.Connection, *, every: bool = False) -> list[str]:
    """List the tables of a copy; with `every`, also the manifest's."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    return [name for (name,) in archive.execute(query) if every or name != MANIFEST]


def columns_of(archive: sqlite3.Connection, table: str) -> list[str]:
    """List the columns of a table of a copy."""
    return [row[1] for row in archive.execute(f'PRAGMA table_info("{table}")')]


@contextmanager
def opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """Open a copy that exists: `ro` or `rw`."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)
    with closing(connection):
        yield connection


def is_empty(db: Connection) -> bool:
    """Return whether a database has no table with a row, but for the version of the tables."""
    names = [name for name in inspect(db).get_table_names() if name != VERSION_TABLE]
    return not any(db.execute(text(f'SELECT 1 FROM "{name}" LIMIT 1')).first() for name in names)  # noqa: S608


def _insert_plain(archive: sqlite3.Connection, name: str, rows: Iterable[Row]) -> None:
    columns = columns_of(archive, name)
    archive.execute(f'DELETE FROM "{name}"')  # noqa: S608 - the version, which the migrations have set
    marks = ", ".join("?" * len(columns))
    archive.executemany(f'INSERT INTO "{name}" ({_quoted(columns)}) VALUES ({marks})', rows)  # noqa: S608


def _continue_counting(db: Connection, table: Table) -> None:
    """Let the database number new rows behind those that were written, where it numbers the rows of a table."""
    for column in table.primary_key:
        names = {"table": table.name, "column": column.name}
        sequence = db.scalar(text("SELECT pg_get_serial_sequence(:table, :column)"), names)
        last = None if sequence is None else db.scalar(select(func.max(column)))
        if last is not None:
            db.execute(text("SELECT setval(:sequence, :last)"), {"sequence": sequence, "last": last})


def _select(name: str, columns: Sequence[str]) -> str:
    return f'SELECT {_quoted(columns)} FROM "{name}"'  # noqa: S608 - names of our own tables


def _quoted(columns: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


def _plain(value: object) -> Value:
    """Return a value of any database as SQLite holds it."""
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).strftime(_TIME)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, memoryview | bytearray):
        return bytes(value)
    if value is None or isinstance(value, int | float | str | bytes):
        return value
    raise TypeError(f"a store holds no {type(value).__name__}")


def _typed(table: Table, columns: Sequence[str], row: Sequence[Value]) -> dict[str, object]:
    """Return a row of a copy as a database server takes it."""
    typed: dict[str, object] = dict(zip(columns, row, strict=True))
    for name, value in typed.items():
        kind = table.c[name].type
        if isinstance(value, str) and isinstance(kind, DateTime):
            typed[name] = datetime.strptime(value, _TIME).replace(tzinfo=UTC)
        elif value is not None and isinstance(kind, Boolean):
            typed[name] = bool(value)
    return typed


def _bytes(value: Value) -> bytes:
    """Return a value as bytes that no value of another kind has."""
    if value is None:
        return b"n"
    if isinstance(value, bytes):
        return b"b" + value
    return type(value).__name__[0].encode() + (value if isinstance(value, str) else repr(value)).encode()
