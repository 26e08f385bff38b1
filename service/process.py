"""What a process asks of the operating system, and how it waits for a store or a queue that is unavailable.

Private files, processes tied together, signals, bounds of memory. What the service stores is closed to other users of
the machine, also where it was open before. While a process waits, one line of the log says for which host and why, and
the pauses grow.
"""

import ctypes
import gc
import os
import resource
import select
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import ClassVar, TypeVar
from urllib.parse import urlsplit

from redis.backoff import AbstractBackoff
from redis.retry import Retry
from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError, OperationalError

from service.config import Config
from service.logs import Log
from service.store.database import LINE_ENDING, Store, error_line, file_of_url

PR_SET_PDEATHSIG = 1


class Stop:
    """What a signal asks for, and a wait for it in the thread that handles the signal.

    A `threading.Event` would not do: its wait holds a lock for moments, and a handler that sets it then never ends.
    """

    def __init__(self) -> None:
        self._asked, self._ask = os.pipe()
        os.set_blocking(self._ask, False)

    def set(self) -> None:
        """End all waits, from now on."""
        with suppress(BlockingIOError):  # asked so often that the pipe is full
            os.write(self._ask, b"x")

    def wait(self, seconds: float) -> bool:
        """Wait for so long at most; return whether it was set."""
        return bool(select.select([self._asked], [], [], seconds)[0])


def stop_signal() -> Stop:
    """Return what SIGINT and SIGTERM set from now on."""
    stop = Stop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: stop.set())
    return stop


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end this process at once; without a handler, the first process of a container ignores it."""

    def end(sign: int, _frame: object) -> None:
        raise SystemExit(128 + sign)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def die_with_parent(sign: signal.Signals = signal.SIGKILL, parent: int | None = None) -> None:
    """End this process when its parent ends (Linux; elsewhere the next start clears what is left).

    Args:
        sign: the signal to receive then.
        parent: the parent's process id, if known: a parent that ended already is noticed.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(sign), 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), sign)


@contextmanager
def memory_limit(more: int) -> Iterator[None]:
    """Let this process map so many bytes more than it has now, 0 for any number (Linux).

    What asks for further ones gets a MemoryError; native code that does not look at the answer may end the process.
    """
    if not more or sys.platform != "linux":
        yield
        return
    kept, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + more
    soft = min(bound for bound in (most, kept, hard) if bound != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (kept, hard))


UMASK = 0o077
SQLITE_FILES = ("", "-wal", "-shm", "-journal", LINE_ENDING)
"""Endings of the files of an SQLite database."""
KEPT = ("lock", "admin-token")

log = Log("files")


@contextmanager
def uncollected() -> Iterator[None]:
    """Leave out the collections of garbage that a million new values would cause: for what holds no circle."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class FilesError(RuntimeError):
    """Something in the data directory cannot be made private."""


def private_umask() -> None:
    """Let this process and its children make files that only their owner can read."""
    os.umask(UMASK)


def close_files(config: Config) -> None:
    """Make the data directory and everything that the service keeps in it private; what was open is logged.

    Raises:
        FilesError: the directory or a file belongs to another user, or the directory is shared.
    """
    folder = config.data_dir
    if folder.is_dir() and folder.stat().st_mode & stat.S_ISVTX:
        raise FilesError(f"{folder} is a directory that users share. Set another TREESCORE_DATA_DIR.")
    for path in private_paths(config):
        _close(path)


def private_paths(config: Config) -> Iterator[Path]:
    """Yield what only the owner may use, there or not: the data directory, what is kept in it, an SQLite database.

    The folder of gold may stand elsewhere.
    """
    folder = config.data_dir
    if folder.is_dir():
        yield folder
    store = file_of_url(make_url(config.database_url))
    if store is not None:
        yield from (store.with_name(store.name + ending) for ending in SQLITE_FILES)
    for name in KEPT:
        yield folder / name
    yield from folder.glob("*.sock")
    yield config.gold_folder
    queue = folder / "queue"
    yield queue
    yield from queue.rglob("*")


def _close(path: Path) -> None:
    """Make a file or folder private. What does not exist is passed over.

    Raises:
        FilesError: it belongs to another user.
    """
    try:
        found = path.lstat() if path.is_symlink() and not path.exists() else path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if found.st_uid != os.geteuid():
        raise FilesError(
            f"{path} belongs to another user (uid {found.st_uid}). Start the service as that user, or set another "
            "TREESCORE_DATA_DIR."
        )
    mode = stat.S_IMODE(found.st_mode)
    if mode & UMASK:
        path.chmod(mode & ~UMASK)
        log.warning("closed", path=str(path), mode=f"{mode:04o}", now=f"{mode & ~UMASK:04o}")


_T = TypeVar("_T")
LONGEST_PAUSE = 2.0
SAID_EVERY = 60.0
"""Seconds between two lines of the log on one part."""

waiting_log = Log("waiting")


def beat(config: Config) -> None:
    """Touch the file by which a probe sees that this process lives."""
    if config.heartbeat_file:
        Path(config.heartbeat_file).touch()


def host_of(url: str) -> str:
    """Return host and port of a URL, or its path; never a password."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or parts.path


class Patience(AbstractBackoff):
    """The pauses between attempts to reach what is unavailable; called while its error is handled.

    Args:
        part: `store` or `queue`.
        config: of this process.
    """

    over: ClassVar[bool] = False
    """Whether this process ends, and waits for nothing."""
    _said: ClassVar[dict[str, float]] = {}

    def __init__(self, part: str, config: Config) -> None:
        self._part = part
        self._config = config

    def compute(self, failures: int) -> float:
        """Return the seconds until the next attempt, after so many failures; raise their error where there is none."""
        if self.over and (error := sys.exception()):
            raise error
        beat(self._config)
        if monotonic() > self._said.get(self._part, -SAID_EVERY) + SAID_EVERY:
            self._said[self._part] = monotonic()
            error = sys.exception()
            said = error_line(error) if isinstance(error, DBAPIError) else str(error)
            url = self._config.database_url if self._part == "store" else self._config.redis_url
            waiting_log.warning("waiting", part=self._part, host=host_of(url), reason=said)
        return float(min(0.1 * 2 ** min(failures, 10), LONGEST_PAUSE))


def pause_after(error: Exception, failures: int, config: Config) -> float:
    """Return the seconds until the next attempt after an error of the store or the queue, which is handled now."""
    return Patience("store" if isinstance(error, DBAPIError) else "queue", config).compute(failures)


def wait_for(part: str, config: Config, look: Callable[[], _T], errors: tuple[type[Exception], ...]) -> _T:
    """Return what `look` does, called again and again until it raises none of these errors; SIGTERM ends the process.

    Raises:
        SystemExit: there was one.
    """
    with ended_by_sigterm():
        return Retry(Patience(part, config), -1, errors).call_with_retry(look, lambda _: None)


def wait_for_store(config: Config, store: Store, look: Callable[[Store], _T]) -> _T:
    """Return what `look` sees in a store, once its server answers. A file answers at once, or not at all.

    Raises:
        DBAPIError: the store is a file that cannot be read.
    """
    return wait_for("store", config, lambda: look(store), () if file_of_url(store.url) else (OperationalError,))
