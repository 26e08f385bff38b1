"""The single processes of the service, for containers and the supervisor, which keeps them running.

Only the environment configures them.
"""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic

import click
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from service.config import Config, ConfigError, answered_hosts, load_config
from service.logs import Log, configure_logs, is_plain
from service.process import FilesError, close_files, die_with_parent, wait_for_store
from service.store.archive import ArchiveError
from service.store.database import FAULT_WORDS, Fault, SchemaError, Store, error_line, fault_of, require_current_schema

log = Log("supervisor")

LOOK_EVERY = 0.1
"""Seconds between two checks of the children."""
CALM_AFTER = 10.0
"""Seconds after which a child counts as stable. One that ends sooner is restarted after longer and longer pauses."""
LONGEST_PAUSE = 5.0


@dataclass(slots=True)
class Child:
    """One process to keep running.

    Attributes:
        name: for logs.
        command: its command line.
        orphan_signal: sent to it when the supervisor itself dies.
        stop_seconds: how long it may take to stop before it is killed.
        needed: whether the others need it while they stop: it stops after them.
        once: whether it ends by itself; then it is not started again.
    """

    name: str
    command: Sequence[str]
    orphan_signal: signal.Signals = signal.SIGKILL
    stop_seconds: float = 10.0
    needed: bool = False
    once: bool = False
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    started: float = field(default=0.0, init=False)
    failures: int = field(default=0, init=False)

    def start(self, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start it in a process group of its own, tied to this process; return its process.

        It stays in this session: between sessions Linux does not look at nice values (sched_autogroup).
        """
        parent = os.getpid()

        def tie() -> None:
            die_with_parent(self.orphan_signal, parent)

        self.started = monotonic()
        self.process = subprocess.Popen(  # noqa: S603 - our own command lines
            self.command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=2,  # standard output is for the line that says when the service is ready
            process_group=0,
            preexec_fn=tie,  # noqa: PLW1509 - the supervisor has one thread
        )
        return self.process

    def due(self, now: float) -> bool:
        """Return whether it has ended and its pause is over."""
        if self.process is not None and (self.process.poll() is None or self.once):  # poll first: it ends a zombie
            return False
        pause = min(0.1 * 2**self.failures, LONGEST_PAUSE) if self.failures else 0.0
        return now - self.started >= pause

    def revive(self, environment: Mapping[str, str]) -> None:
        """Start it again, counting how often it ended early."""
        code = None if self.process is None else self.process.returncode
        self.failures = 0 if monotonic() - self.started > CALM_AFTER else self.failures + 1
        log.warning("restarting", child=self.name, exit_status=code, failures=self.failures)
        self.start(environment)

    def ask_to_stop(self) -> None:
        """Send SIGTERM if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def wait_stopped(self) -> None:
        """Wait until it ends; kill it if that takes too long."""
        if self.process is None:
            return
        try:
            self.process.wait(self.stop_seconds)
        except subprocess.TimeoutExpired:
            log.warning("killing", child=self.name)
            self.process.kill()
            self.process.wait()


class Supervisor:
    """Children in the order in which they start; they stop in the reverse order."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = dict(environment)
        self.children: list[Child] = []

    def add(self, child: Child) -> subprocess.Popen[bytes]:
        """Start a child and keep it running; return its first process."""
        self.children.append(child)
        return child.start(self.environment)

    def watch(self, stopped: Callable[[float], bool]) -> None:
        """Restart children that end until `stopped(seconds)`, which waits, returns True."""
        while not stopped(LOOK_EVERY):
            self.look()

    def look(self) -> None:
        """Restart children that have ended."""
        now = monotonic()
        for child in self.children:
            if child.due(now):
                child.revive(self.environment)

    def stop(self) -> None:
        """Stop all children, those that the others need last."""
        for needed in (False, True):
            group = [child for child in self.children if child.needed is needed]
            for child in group:
                child.ask_to_stop()
            for child in group:
                child.wait_stopped()


OF_PROCESSES = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
"""Each core has a process of its own, so threads of the linear algebra inside one would only compete. A thread with a
heap of its own keeps most of what the texts of its requests took."""


def python_command(*words: str) -> list[str]:
    """Return the command line of a module of Python."""
    return [sys.executable, "-m", *words]


def api_command() -> list[str]:
    """Return the command line of gunicorn with the API."""
    return python_command("gunicorn", "--config", "python:service.gunicorn_conf", "service.wsgi:app")


def worker_command(queue: str) -> list[str]:
    """Return the command line of a worker on one queue."""
    return python_command("workers.worker", "--queue", queue)


def views_command() -> list[str]:
    """Return the command line of the process that makes views."""
    return python_command("workers.views")


def prepared(config: Config) -> Config:
    """Return a configuration whose files are closed to other users.

    Raises:
        FilesError: something there belongs to another user.
        OSError: something there cannot be made private.
    """
    configure_logs(config)
    close_files(config)
    return config


def hosts_line(config: Config) -> str:
    """Return the line that says which hosts the API answers for."""
    names = answered_hosts(config.bind, config.public_url, config.allowed_hosts)
    more = (
        ""
        if config.public_url or config.allowed_hosts
        else "; TREESCORE_PUBLIC_URL and TREESCORE_ALLOWED_HOSTS add more"
    )
    return f"The API answers for these hosts: {', '.join(names)}{more}."


def tell(config: Config, line: str) -> None:
    """Tell the operator something on standard error: as it is where the log has plain lines, else as one of its."""
    if not is_plain(config):
        log.info("notice", detail=line)
    elif config.log_level != "error":
        click.echo(line, err=True)


def become(command: list[str]) -> None:
    """Replace this process by a command, once the store answers, unless it could not read the store's tables.

    Raises:
        SchemaError: the tables are older or newer, or of no release.
    """
    config = load_config()
    store = Store(config.database_url)
    with contextlib.suppress(DBAPIError):  # a file that cannot be read: the command says so
        wait_for_store(config, store, require_current_schema)
    store.close()
    sys.stdout.flush()
    os.execve(command[0], command, {**OF_PROCESSES, **os.environ})  # noqa: S606 - our own command lines


@click.command()
def api() -> None:
    """Run the HTTP API (gunicorn) at TREESCORE_BIND."""
    config = prepared(load_config())
    tell(config, hosts_line(config))
    become(api_command())


@click.command()
@click.option("--queue", type=click.Choice(["live", "bulk"]), default="live", show_default=True)
def worker(queue: str) -> None:
    """Run one worker process."""
    prepared(load_config())
    become(worker_command(queue))


@click.command()
def sweeper() -> None:
    """Run the sweeper, which requeues unfinished runs that no worker holds."""
    prepared(load_config())
    become(python_command("workers.sweeper"))


@click.command()
def views() -> None:
    """Run the one process that makes items, slices and trees of outputs when they are asked for."""
    prepared(load_config())
    become(views_command())


FINE, WRONG, UNKNOWN = range(3)
"""Exit status: all is well; something is wrong or was refused; it could not be found out, or the call is malformed."""


class Refused(click.ClickException):
    """Something is wrong, and doing the same again will not help."""

    exit_code = WRONG


class CouldNotTell(click.ClickException):
    """What was asked could not be found out: the store does not answer."""

    exit_code = UNKNOWN


@contextmanager
def one_line() -> Iterator[None]:
    """Turn errors of the environment into one line on standard error, with an exit status.

    Raises:
        Refused: the configuration, the schema, a file or a directory is wrong.
        CouldNotTell: the store does not answer.
    """
    try:
        yield
    except (ConfigError, FilesError, SchemaError, ArchiveError) as error:
        raise Refused(str(error)) from error
    except DBAPIError as error:
        fault = fault_of(error)
        line = f"The store {FAULT_WORDS[fault or Fault.AWAY]} ({error_line(error)})."
        raise (CouldNotTell if fault in (None, Fault.AWAY) else Refused)(line) from error
    except sqlite3.Error as error:  # backups are read and written without SQLAlchemy
        if getattr(error, "sqlite_errorcode", 0) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise Refused(f"The store {FAULT_WORDS[Fault.DAMAGED]} ({error}).") from error
        raise Refused(f"The backup cannot be written: {error}. Check disk, owner and mode of its directory.") from error
    except (SQLAlchemyError, ImportError) as error:
        raise Refused(f"TREESCORE_DATABASE_URL cannot be used: {str(error).splitlines()[0]}") from error
    except BrokenPipeError:
        raise  # the reader of our output has all that it wants, as `head`: click ends without a word
    except OSError as error:
        place = error.filename2 or error.filename or "A file"  # of a copy, the one that is written
        raise Refused(f"{place} cannot be used: {error.strerror or error}. Check its disk, owner and mode.") from error
