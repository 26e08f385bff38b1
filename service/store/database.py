"""Connections to the database, SQLite in WAL mode or PostgreSQL: the version of its tables, its disk, and its faults.

On SQLite, writers wait for each other in a line: a lock on a file beside the database. SQLite's own writers sleep and
look again, up to 100 ms apart, and a newcomer goes first. Here the kernel wakes who waits. Threads and processes stand
in the same line: a lock belongs to an open file, and each opens its own.

The line makes writing fair, and nothing else: SQLite alone keeps writers apart. So a line that does not move, because
the process at its head was stopped or hangs, is passed by.
"""

import fcntl
import os
import shutil
import sqlite3
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, NamedTuple, cast

from sqlalchemy import URL, Connection, Dialect, Select, create_engine, event, func, inspect, make_url, select, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError

from service.store.tables import metadata

BYTES = "treescore_bytes"
"""Option of a query for wide bytes: PostgreSQL sends bytes as twice as many digits where it is not asked for them."""
LINE_ENDING = "-line"
"""What the name of the file adds to that of the database. The file stays empty and may be deleted at any time."""
LINE_PATIENCE = 30.0
"""Seconds after which a writer leaves a line that does not move, as long as `busy_timeout` then is."""


@contextmanager
def writing_turn(database: Path | None) -> Iterator[None]:
    """Wait for a turn among the writers of a database, and keep it. Without a file to lock, do not wait.

    A writer that is killed leaves the line. `busy_timeout` stays behind it, for programs that do not stand in it, and
    for those that have left it.

    Args:
        database: its file; None where there is none.
    """
    place = None if database is None else _locked(database)
    try:
        yield
    finally:
        if place is not None:
            _leave(place)


def _locked(database: Path) -> int | None:
    """Return the descriptor of the locked file; None where it cannot be opened or locked, or the line does not move."""
    try:
        place = os.open(f"{database}{LINE_ENDING}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:  # a folder that is read-only or full: the write itself says so, in its own words
        return None
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _Wait(database, place).locked()
    except OSError:  # a file system without locks
        os.close(place)
        return None
    return place


def _leave(place: int) -> None:
    # closing alone would not do: a child forked during the turn has the file open too
    with suppress(OSError):
        fcntl.flock(place, fcntl.LOCK_UN)
    os.close(place)


class _Wait:
    """A wait for a lock that can be given up: it has a thread of its own, as nothing else ends the kernel's wait."""

    def __init__(self, database: Path, place: int) -> None:
        self.of = database, os.getpid()
        self._place = place
        self._done = Event()
        self._decided = Lock()

    def locked(self) -> int | None:
        """Return the descriptor once it is locked; None if that takes too long, or did for another writer until now."""
        if any(other.of == self.of for other in tuple(_given_up)):
            os.close(self._place)
            return None
        Thread(target=self._wait, daemon=True, name="line").start()
        if not self._done.wait(LINE_PATIENCE):
            with self._decided:
                if not self._done.is_set():
                    _given_up.add(self)
                    return None
        return self._place

    def _wait(self) -> None:
        with suppress(OSError):
            fcntl.flock(self._place, fcntl.LOCK_EX)
        with self._decided:
            self._done.set()
            if self in _given_up:
                _leave(self._place)
                _given_up.discard(self)


_given_up: set[_Wait] = set()
"""Waits that no writer waits for any more, and that still last."""


class Fault(StrEnum):
    """What is wrong with a store."""

    AWAY = "away"
    FULL = "full"
    DAMAGED = "damaged"
    READ_ONLY = "read-only"


FAULT_WORDS = {
    Fault.AWAY: "does not answer",
    Fault.FULL: "cannot be written: its disk is full. Free some space",
    Fault.DAMAGED: "is damaged: its file cannot be read as a database. Restore a backup",
    Fault.READ_ONLY: "cannot be written: it is read-only. Check the owner and mode of its file and directory",
}
_SQLITE = {
    sqlite3.SQLITE_FULL: Fault.FULL,
    sqlite3.SQLITE_IOERR_SHMSIZE: Fault.FULL,  # opening needs a new page beside the file
    sqlite3.SQLITE_CORRUPT: Fault.DAMAGED,
    sqlite3.SQLITE_NOTADB: Fault.DAMAGED,
    sqlite3.SQLITE_READONLY: Fault.READ_ONLY,
}
_POSTGRES = {"53100": Fault.FULL, "XX001": Fault.DAMAGED, "XX002": Fault.DAMAGED, "25006": Fault.READ_ONLY}
_PRIMARY = 0xFF
"""The bits of a code of SQLite that name its kind; the others name the place."""


def fault_of(error: DBAPIError) -> Fault | None:
    """Return what is wrong with the store; None where the error is of the statement (a conflict, a mistake)."""
    origin = error.orig
    code = getattr(origin, "sqlite_errorcode", 0)
    known = _SQLITE.get(code) or _SQLITE.get(code & _PRIMARY) or _POSTGRES.get(getattr(origin, "sqlstate", None) or "")
    if known is not None:
        return known
    return Fault.AWAY if isinstance(error, OperationalError) else None


def error_line(error: DBAPIError) -> str:
    """Return the first line of what the database said; it quotes no parameter."""
    said = str(error.orig).strip().splitlines()
    return said[0] if said else type(error).__name__


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


DURABLE = "FULL"
"""How SQLite waits for the disk at a commit; tests do not wait."""


class Store:
    """Opens short transactions. It connects on first use, so that it can be created before a fork."""

    def __init__(self, url: str, count_trip: Callable[[], None] = lambda: None) -> None:
        self._count_trip = count_trip
        self.url = make_url(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self.file = file_of_url(self.url)
        if self.file is not None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
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
            event.listen(self.engine, "before_cursor_execute", _ask_for_bytes)
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
        # connecting, which a forked process does again, holds up no other writer
        with self.engine.connect().execution_options(treescore_write=True) as connection, writing_turn(self.file):
            if self.sqlite and not durable:
                connection.connection.cursor().execute("PRAGMA synchronous=NORMAL")
            try:
                with connection.begin():
                    yield connection
            finally:
                if self.sqlite and not durable:
                    connection.connection.cursor().execute(f"PRAGMA synchronous={DURABLE}")

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
    for pragma in ("journal_mode=WAL", f"synchronous={DURABLE}", "busy_timeout=30000", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _prepare_postgres(connection: DBAPIConnection, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("; ".join(SILENT_CLIENT))
    cursor.close()
    connection.commit()


def _ask_for_bytes(*sent: Any) -> None:
    _, cursor, _, _, context, _ = sent
    if context.execution_options.get(BYTES):
        cursor.format = 1  # of psycopg.pq.Format, which stores in a file need not load


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
            failed.enter_context(writing_turn(store.file))
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


VERSIONS = Path(__file__).parent / "migrations" / "versions"
VERSION_TABLE = "alembic_version"
OF_CHECKOUTS = tuple(f"{number:04}" for number in range(1, 21))
"""Versions that development checkouts had before 0.1.0. Only the first is used again; the second is 0021."""


class SchemaState(StrEnum):
    """How the tables of a store compare with this code."""

    CURRENT = "current"
    NEEDED = "needed"
    NEWER = "newer"
    UNRELEASED = "unreleased"
    """Of a development checkout before 0.1.0, or not of Treescore."""


class SchemaError(RuntimeError):
    """The store's tables are not those that this code reads. The message names both versions."""


class Schema(NamedTuple):
    """Versions of the tables.

    Attributes:
        stored: of the store; None where it has none yet.
        wanted: the newest that this code knows.
        state: how they compare.
        place: the file of the store, or the name of the database.
    """

    stored: str | None
    wanted: str
    state: SchemaState
    place: str

    @property
    def words(self) -> str:
        """Return one sentence on it, and what to do."""
        if self.state is SchemaState.CURRENT:
            return f"The store's schema is current: version {self.stored}."
        if self.state is SchemaState.NEWER:
            return (
                f"The store's schema has version {self.stored}, which is newer than this program's {self.wanted}. "
                "Use the version of Treescore that wrote it, or a newer one."
            )
        if self.state is SchemaState.UNRELEASED:
            named = "its tables have no version" if self.stored is None else f"schema {self.stored}"
            return (
                f"{self.place} was made by a development checkout before 0.1.0 ({named}) and cannot be read. Move the "
                "data directory away, or set TREESCORE_DATA_DIR (of a database server TREESCORE_DATABASE_URL) to an "
                "empty one, and start again."
            )
        have = "The store has no tables yet" if self.stored is None else f"The store's schema has version {self.stored}"
        return f"{have}; this program needs {self.wanted}. Run `treescore migrate`."


@lru_cache(maxsize=1)
def schema_versions() -> tuple[str, ...]:
    """Return all versions that this code knows, oldest first: the beginnings of the names of the migrations."""
    return tuple(sorted(path.name.partition("_")[0] for path in VERSIONS.glob("[0-9]*.py")))


def schema_of(db: Connection) -> Schema:
    """Return the versions of an open store. Reads only."""
    there = frozenset(inspect(db).get_table_names())
    stored: str | None = None
    if VERSION_TABLE in there:
        stored = db.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one_or_none()  # noqa: S608
    place = file_of_url(db.engine.url) or f"The database {db.engine.url.database}"
    return Schema(stored, schema_versions()[-1], _state(stored, there), str(place))


def _state(stored: str | None, there: frozenset[str]) -> SchemaState:
    if stored is None:
        return SchemaState.UNRELEASED if there.intersection(metadata.tables) else SchemaState.NEEDED
    if not is_released(stored, there):
        return SchemaState.UNRELEASED
    if stored not in schema_versions():
        return SchemaState.NEWER
    return SchemaState.CURRENT if stored == schema_versions()[-1] else SchemaState.NEEDED


def is_released(version: str, there: Collection[str]) -> bool:
    """Return whether tables of a version are those of a release, this one or a newer one.

    Args:
        version: of the tables.
        there: their names. Those of the first version of checkouts did not have benchmarks.
    """
    return "benchmarks" in there if version == OF_CHECKOUTS[0] else version not in OF_CHECKOUTS


def require_current_schema(store: Store) -> None:
    """Refuse a store whose tables this code does not read.

    Raises:
        SchemaError: they are older or newer, or of no release.
    """
    with store.read() as db:
        found = schema_of(db)
    if found.state is not SchemaState.CURRENT:
        raise SchemaError(found.words)


FULL_BELOW = 64 * 2**20
"""Bytes. With less, a large upload may fail half-way, so no more work is accepted."""
LOW_BELOW = 2**30


class DiskState(StrEnum):
    """Whether there is room for more."""

    OK = "ok"
    LOW = "low"
    FULL = "full"
    UNKNOWN = "unknown"


class Disk(NamedTuple):
    """Free space in bytes, None where it cannot be seen from here, as with a database server."""

    state: DiskState
    free: int | None = None


def disk_of(store: Store) -> Disk:
    """Return the free space of the disk of a store."""
    path = store.file
    try:
        free = None if path is None else shutil.disk_usage(path.parent).free
    except OSError:
        free = None
    if free is None:
        return Disk(DiskState.UNKNOWN)
    if free < FULL_BELOW:
        return Disk(DiskState.FULL, free)
    return Disk(DiskState.LOW if free < LOW_BELOW else DiskState.OK, free)
