"""The connection to the truth: SQLite in WAL mode, or PostgreSQL."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Dialect, Select, create_engine, event, make_url
from sqlalchemy.exc import OperationalError


class Store:
    """Opens short transactions. Made before a fork, used after it: it connects only when first asked."""

    def __init__(self, url: str) -> None:
        self.url = make_url(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        if self.sqlite and self.url.database:
            Path(self.url.database).parent.mkdir(parents=True, exist_ok=True)
        options: dict[str, Any] = {} if self.sqlite else {"pool_pre_ping": True}
        # an error's message goes to the log, and parameters hold gold
        self.engine = create_engine(url, pool_size=8, max_overflow=64, hide_parameters=True, **options)
        self._hot: dict[Select[Any], _Hot] = {}
        self._readers: deque[Any] = deque()
        if self.sqlite:
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the store."""
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """A transaction that commits at the end, or leaves nothing behind. Writers wait for each other.

        Args:
            durable: whether the commit must survive a power failure. What can be done again need not (SQLite then
                spares the wait for the disk; a killed process loses nothing either way).
        """
        with self.engine.connect().execution_options(treescore_write=True) as connection:
            if self.sqlite and not durable:
                connection.connection.cursor().execute("PRAGMA synchronous=NORMAL")
            try:
                with connection.begin():
                    yield connection
            finally:
                if self.sqlite and not durable:
                    connection.connection.cursor().execute("PRAGMA synchronous=FULL")

    def lookup(self, query: Select[Any], **values: object) -> Sequence[Any] | None:
        """One row of a hot query, or None, past the machinery of transactions and results.

        Args:
            query: with bound parameters named as in `values`; compiled once.
            values: of the parameters.
        """
        hot = self._hot.get(query)
        if hot is None:
            hot = self._hot[query] = _Hot(query, self.engine.dialect)
        try:
            with self._reader() as connection, closing(connection.cursor()) as cursor:
                cursor.execute(hot.text, hot.arguments(values))
                return hot.converted(cursor.fetchone())
        except self.engine.dialect.loaded_dbapi.OperationalError as error:
            raise OperationalError(str(query), None, error) from error

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        """A connection outside of any transaction. SQLite's are kept here, as nothing of them needs resetting."""
        if not self.sqlite:
            with closing(self.engine.raw_connection()) as connection:
                yield connection
            return
        try:
            reader = self._readers.pop()
        except IndexError:
            reader = self.engine.raw_connection()
            reader.detach()
        yield reader
        self._readers.append(reader)

    def alive(self) -> bool:
        """Whether the store answers."""
        try:
            with self.read() as connection:
                connection.exec_driver_sql("SELECT 1 FROM runs LIMIT 1").all()
        except OperationalError:
            return False
        return True

    def close(self) -> None:
        """Let go of all connections."""
        while self._readers:
            self._readers.pop().close()
        self.engine.dispose()


class _Hot:
    """A compiled query: its text, the order of its parameters, and what makes of raw columns what they mean."""

    def __init__(self, query: Select[Any], dialect: Dialect) -> None:
        self._compiled = query.compile(dialect=dialect)
        self.text = str(self._compiled)
        self._order = self._compiled.positiontup
        types = [column.type.dialect_impl(dialect) for column in query.selected_columns]
        converters = enumerate(kind.result_processor(dialect, None) for kind in types)
        self._converters = [(index, convert) for index, convert in converters if convert is not None]

    def arguments(self, values: dict[str, object]) -> Any:
        """The parameters as the driver takes them."""
        given = self._compiled.construct_params(values)
        return given if self._order is None else tuple(given[name] for name in self._order)

    def converted(self, row: Any) -> Sequence[Any] | None:
        """A row of the driver's with its columns as Python has them."""
        if row is None or not self._converters:
            return row  # type: ignore[no-any-return]
        found = list(row)
        for index, convert in self._converters:
            found[index] = convert(found[index])
        return found


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=30000", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # a reader that later writes would fail at once under load: writers take their lock at the beginning
    write = connection.get_execution_options().get("treescore_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


class RolledBack(Store):
    """Another store's one transaction that is never committed: a rehearsal leaves its statements compiled, no more."""

    def __init__(self, store: Store) -> None:
        self.url, self.sqlite, self.engine = store.url, store.sqlite, store.engine
        self._hot, self._readers = {}, deque()
        self._connection = self.engine.connect().execution_options(treescore_write=True)
        self._connection.begin()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """The one transaction."""
        yield self._connection

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:  # noqa: ARG002 - nothing of it lasts
        """The one transaction."""
        yield self._connection

    def close(self) -> None:
        """Undo everything, and leave no connection to a later fork."""
        self._connection.close()
        super().close()
