"""Connections to the database: SQLite in WAL mode, or PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import URL, Connection, Dialect, Select, create_engine, event, func, make_url, select
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError

from service.store import line

LookupQuery = Select[tuple[object, ...]]

SILENT_SERVER = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 11_000,
}
"""How soon a client of PostgreSQL gives up a server from which nothing comes: 5 + 3 x 2 = 11 s. The defaults of the
operating system are hours, in which a process that lost the network would wait for an answer."""
SILENT_CLIENT = (
    "SET tcp_keepalives_idle = 5",
    "SET tcp_keepalives_interval = 2",
    "SET tcp_keepalives_count = 3",
    "SET tcp_user_timeout = 11000",
)
"""The same for the server: a host that lost the network in a transaction keeps its locks no longer than that."""


class Store:
    """Opens short transactions. It connects on first use, so that it can be created before a fork."""

    def __init__(self, url: str, count_trip: Callable[[], None] = lambda: None) -> None:
        self._count_trip = count_trip
        self.url = make_url(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        file = file_of_url(self.url)
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file
        # error messages are logged, and parameters contain gold
        self.engine = create_engine(
            url, pool_size=8, max_overflow=64, hide_parameters=True, pool_pre_ping=not self.sqlite,
            connect_args={} if self.sqlite else SILENT_SERVER,
        )  # fmt: skip
        self._queries: dict[LookupQuery, _CompiledQuery] = {}
        self._readers: deque[sqlite3.Connection] = deque()
        if self.sqlite:
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        else:
            event.listen(self.engine, "connect", _prepare_postgres)
        for sent in ("before_cursor_execute", "commit", "rollback"):
            event.listen(self.engine, sent, lambda *_: count_trip())

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that sees one state of the store."""
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Open a transaction all of whose queries see one state, for work that compares tables."""
        if self.sqlite:
            with self.read() as connection:
                yield connection
            return
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self.engine.connect().execution_options(**options) as connection:
            yield connection

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """Open a transaction that commits at its end, or changes nothing. Writers wait for each other in line.

        Args:
            durable: whether the commit must survive a power failure. Without it SQLite does not wait for the disk,
                which suits work that can be repeated; a killed process loses nothing either way.
        """
        with line.writing_turn(self._file), self.engine.connect().execution_options(treescore_write=True) as connection:
            if self.sqlite and not durable:
                connection.connection.cursor().execute("PRAGMA synchronous=NORMAL")
            try:
                with connection.begin():
                    yield connection
            finally:
                if self.sqlite and not durable:
                    connection.connection.cursor().execute("PRAGMA synchronous=FULL")

    def lookup(self, query: LookupQuery, **values: object) -> Sequence[Any] | None:
        """Return one row of a frequent query, or None, without SQLAlchemy's transaction and result objects.

        Args:
            query: with bound parameters named as in `values`; compiled once.
            values: of the parameters.
        """
        compiled = self._queries.get(query)
        if compiled is None:
            compiled = self._queries[query] = _CompiledQuery(query, self.engine.dialect)
        try:
            self._count_trip()
            return compiled.convert(self._row(compiled.text, compiled.arguments(values)))
        except self.engine.dialect.loaded_dbapi.OperationalError as error:
            raise OperationalError(str(query), None, error) from error
        except self.engine.dialect.loaded_dbapi.DatabaseError as error:
            raise DatabaseError(str(query), None, error) from error

    def _row(self, text: str, arguments: Any) -> Sequence[Any] | None:
        """Return one row, read outside of any transaction. SQLite's readers are kept unless they fail: no reset."""
        if not self.sqlite:
            with closing(self.engine.raw_connection()) as connection, closing(connection.cursor()) as cursor:
                cursor.execute(text, arguments)
                found: Sequence[Any] | None = cursor.fetchone()
                return found
        try:
            reader = self._readers.pop()
        except IndexError:
            reader = self._new_reader()
        try:
            found = reader.execute(text, arguments).fetchone()
        except BaseException:
            reader.close()
            raise
        self._readers.append(reader)
        return found

    def _new_reader(self) -> sqlite3.Connection:
        connection = self.engine.raw_connection()
        connection.detach()
        return cast(sqlite3.Connection, connection.dbapi_connection)

    def alive(self) -> bool:
        """Return whether the store answers."""
        try:
            with self.read() as connection:
                connection.exec_driver_sql("SELECT 1 FROM runs LIMIT 1").all()
        except DBAPIError:
            return False
        return True

    def close(self) -> None:
        """Close all connections."""
        while self._readers:
            self._readers.pop().close()
        self.engine.dispose()


def file_of_url(url: URL) -> Path | None:
    """Return the file that a URL names; None for a database server and for a database in memory."""
    sqlite = url.get_backend_name() == "sqlite"
    return Path(url.database) if sqlite and url.database and url.database != ":memory:" else None


def place_of_url(url: URL) -> str:
    """Return where the database is that a URL names: the same for each user and password, another for each database."""
    file = file_of_url(url)
    if file is not None:
        return str(file.resolve())
    return repr((url.host, url.port, url.query.get("host"), url.query.get("port"), url.database))


def lock(db: Connection, name: str) -> None:
    """Let other transactions that lock this name wait until this one ends. On SQLite writers wait for each other."""
    if db.dialect.name == "postgresql":
        db.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))


class _CompiledQuery:
    """A compiled query: its text, the order of its parameters, and the converters of its columns."""

    def __init__(self, query: LookupQuery, dialect: Dialect) -> None:
        compiled = query.compile(dialect=dialect)
        self.text = str(compiled)
        self._names = compiled.positiontup
        types = [column.type.dialect_impl(dialect) for column in query.selected_columns]
        converters = enumerate(kind.result_processor(dialect, None) for kind in types)
        self._converters = [(index, convert) for index, convert in converters if convert is not None]

    def arguments(self, values: dict[str, object]) -> Mapping[str, object] | Sequence[object]:
        """Return the parameters in the form of the driver."""
        return values if self._names is None else [values[name] for name in self._names]

    def convert(self, row: Sequence[object] | None) -> Sequence[object] | None:
        """Convert the columns of the driver's row."""
        if row is None or not self._converters:
            return row
        columns = list(row)
        for index, convert in self._converters:
            if columns[index] is not None:
                columns[index] = convert(columns[index])
        return columns


def _prepare_sqlite(connection: DBAPIConnection, _record: object) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=30000", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _prepare_postgres(connection: DBAPIConnection, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("; ".join(SILENT_CLIENT))
    cursor.close()
    connection.commit()


def _begin_sqlite(connection: Connection) -> None:
    # a transaction that reads first and writes later fails at once under load: writers lock at the beginning
    write = connection.get_execution_options().get("treescore_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


class RollbackStore(Store):
    """One transaction of another store that is never committed: warming up compiles statements and stores nothing."""

    def __init__(self, store: Store) -> None:
        self.url, self.sqlite, self.engine = store.url, store.sqlite, store.engine
        self._queries, self._readers, self._count_trip = {}, deque(), store._count_trip  # noqa: SLF001 - its own kind
        with ExitStack() as failed:
            failed.enter_context(line.writing_turn(store._file))  # noqa: SLF001
            self._connection = failed.enter_context(self.engine.connect().execution_options(treescore_write=True))
            self._connection.begin()
            self._end = failed.pop_all()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Return the transaction."""
        yield self._connection

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:  # noqa: ARG002 - it is rolled back
        """Return the transaction."""
        yield self._connection

    def close(self) -> None:
        """Roll back and close all connections, so that none is inherited by a fork."""
        self._end.close()
        super().close()
