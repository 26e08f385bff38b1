"""Say of each part of the service whether it works, and what to do where it does not.

The place where a service stands: its files, its disk, its queue, its workers.
"""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

import redis
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from service.config import Config
from service.context import Context
from service.posix import UMASK, private_paths
from service.queue import BULK, LIVE, REDIS_ERRORS
from service.store import database, runs
from treescore.core.version import __version__


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    WRONG = "wrong"
    UNKNOWN = "unknown"


class Finding(NamedTuple):
    """One line.

    Attributes:
        level: how bad it is.
        code: stable name of the kind.
        subject: id, file or part of the service.
        detail: what is wrong.
        advice: what to do.
    """

    level: Level
    code: str
    subject: str
    detail: str
    advice: str = ""

    @property
    def line(self) -> str:
        """Return it for people."""
        return f"{self.level:<7} {self.code:<22} {self.subject}: {self.detail} {self.advice}".rstrip()


def worst(findings: Iterable[Finding]) -> Level:
    """Return the level of the worst finding; something wrong outweighs something unknown."""
    levels = {finding.level for finding in findings}
    return next((level for level in (Level.WRONG, Level.UNKNOWN, Level.WARN) if level in levels), Level.OK)


GRACE = timedelta(seconds=10)
"""A younger run may be on its way into the queue."""


def file_mode_findings(context: Context) -> Iterator[Finding]:
    """Look at who can read the data directory and what is in it."""
    for path in private_paths(context.config):
        try:
            found = path.stat()
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Finding(Level.UNKNOWN, "file-unreadable", str(path), f"{error.strerror}.", "Run this as its owner.")
            continue
        mode = stat.S_IMODE(found.st_mode)
        if mode & UMASK:
            advice = f"Run: chmod go-rwx {path}"
            yield Finding(Level.WRONG, "file-mode", str(path), f"Others can use it (mode {mode:o}).", advice)
        if found.st_uid != os.geteuid() and os.geteuid():
            yield Finding(Level.WRONG, "file-owner", str(path), "It belongs to another user.", "Run this as its owner.")


def partial_file_findings(context: Context) -> Iterator[Finding]:
    """Find the files that a killed backup or restore left."""
    for path in sorted(context.config.data_dir.glob(".*.partial*")):
        advice = "Delete it, unless a backup is being made."
        yield Finding(Level.WARN, "partial-file", str(path), "A backup or restore was not completed.", advice)


def disk_finding(context: Context) -> Finding:
    """Look at the free space of the store's disk."""
    found = database.disk_of(context.store)
    if found.free is None:
        return Finding(Level.OK, "disk", "store", "The disk of a database server is not seen from here.")
    free = f"{found.free / 2**30:.1f} GiB are free."
    if found.state is database.DiskState.OK:
        return Finding(Level.OK, "disk", "store", free)
    level = Level.WRONG if found.state is database.DiskState.FULL else Level.WARN
    return Finding(level, "disk", "store", free, "Free some space, or `treescore purge` what is no longer needed.")


def queue_findings(context: Context) -> Iterator[Finding]:
    """Compare the queue with the unfinished runs of the store."""
    try:
        held = context.queue.held() | context.queue.wake_ups()
        workers = {name: context.queue.workers(name) for name in (LIVE, BULK)}
    except REDIS_ERRORS as error:
        advice = "Start the service, or check TREESCORE_REDIS_URL. Stored runs wait in the store."
        yield Finding(Level.WARN, "queue-away", "queue", f"Redis does not answer ({type(error).__name__}).", advice)
        return
    with context.store.read() as db:
        waiting = runs.unfinished(db, context.now() - GRACE, due=context.now())
    for run in waiting:
        if run.id not in held:
            advice = "The sweeper queues it again within seconds; check that it runs."
            yield Finding(Level.WARN, "run-not-queued", run.id, f"The {run.kind} is {run.state} in no queue.", advice)
    for name, number in workers.items():
        if not number:
            advice = f"Start one: treescore worker --queue {name}"
            yield Finding(Level.WARN, "no-worker", name, "No worker serves this queue.", advice)


PASSWORD = re.compile(r"(?<=//)(?!/)[^?#]*(?=@)|(?<=password=)[^&#]*", re.IGNORECASE)
"""User and password of a URL, and a password in its query. After a third slash there is a path."""
HIDDEN = "***"
SECRETS = ("admin_token",)
SKEW_SECONDS = 2.0
LATE_SECONDS = 90.0
"""Seconds without a heartbeat after which a worker is late: an idle one sends one every half minute or so."""


def diagnose(context: Context) -> Iterator[Finding]:
    """Yield a finding for each part, those that are well too. Changes nothing."""
    yield Finding(Level.OK, "versions", "treescore", _versions())
    yield from _configuration(context.config)
    modes = list(file_mode_findings(context))
    yield from modes or [Finding(Level.OK, "files", str(context.config.data_dir), "Only their owner can use them.")]
    yield from _store(context)
    yield disk_finding(context)
    yield from _queue(context)


def shown(config: Config) -> dict[str, str]:
    """Return the configuration by variable, as it was read, without secrets."""
    values = {}
    for field in fields(config):
        value = str(getattr(config, field.name))
        if field.name in SECRETS:
            value = "(set)" if value else "(not set)"
        values[f"TREESCORE_{field.name.upper()}"] = PASSWORD.sub(HIDDEN, value)
    return values


def _versions() -> str:
    return f"{__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {sys.platform}"


def _configuration(config: Config) -> Iterator[Finding]:
    set_here = [f"{name}={value}" for name, value in shown(config).items() if name in os.environ]
    yield Finding(Level.OK, "configuration", "environment", " ".join(set_here) or "No variable is set: all defaults.")
    if not config.on_loopback:
        advice = "Let only a proxy with TLS reach it."
        yield Finding(Level.WARN, "bind", config.bind, "The API listens beyond this machine, in plain HTTP.", advice)
    if config.public_url and not config.trusted_proxies:
        detail = "Behind a proxy all clients count as one address: limits and the throttle of one hold for all."
        advice = "Set TREESCORE_TRUSTED_PROXIES to the number of proxies, unless there is none."
        yield Finding(Level.WARN, "proxies", config.public_url, detail, advice)


def _store(context: Context) -> Iterator[Finding]:
    name = PASSWORD.sub(HIDDEN, context.config.database_url)
    file = database.file_of(context.store)
    if file is not None and not file.exists():
        yield Finding(Level.WARN, "store", str(file), "It does not exist yet.", "`treescore serve` creates it.")
        return
    try:
        with context.store.read() as db:
            found = database.schema_of(db)
            open_runs = (
                0 if found.state is not database.SchemaState.CURRENT else len(runs.unfinished(db, context.now()))
            )
            query = "SELECT sqlite_version(), NULL" if context.store.sqlite else "SELECT version(), now()"
            version, time = db.execute(text(query)).one()
    except DBAPIError as error:
        fault = database.fault_of(error) or database.Fault.AWAY
        level = Level.UNKNOWN if fault is database.Fault.AWAY else Level.WRONG
        yield Finding(level, "store", name, f"It {database.FAULT_WORDS[fault]} ({database.error_line(error)}).")
        return
    yield Finding(
        Level.OK, "store", name, f"It answers ({str(version).partition(',')[0]}); {open_runs} unfinished runs."
    )
    level = Level.OK if found.state is database.SchemaState.CURRENT else Level.WRONG
    yield Finding(level, "schema", found.stored or "none", found.words)
    if time is not None:
        yield _clock("database", time)


def _queue(context: Context) -> Iterator[Finding]:
    steps: tuple[Callable[[Context], Iterator[Finding]], ...] = (_server, _workers, queue_findings)
    try:
        for step in steps:
            yield from step(context)
    except REDIS_ERRORS:
        yield from queue_findings(context)


def _server(context: Context) -> Iterator[Finding]:
    queue = context.queue
    if not queue.alive():
        raise redis.ConnectionError("it does not take what is written")
    waiting = ", ".join(f"{number} {name}" for name, number in queue.lengths().items())
    yield Finding(Level.OK, "queue", PASSWORD.sub(HIDDEN, context.config.redis_url), f"{queue.version()}; {waiting}.")
    yield _clock("redis", queue.clock())


def _workers(context: Context) -> Iterator[Finding]:
    for name, age in sorted(context.queue.heartbeats().items()):
        late = age > LATE_SECONDS
        advice = "It hangs or has died: restart it." if late else ""
        level = Level.WARN if late else Level.OK
        yield Finding(level, "worker", name, f"The last heartbeat is {age:.0f} s old.", advice)


def _clock(name: str, time: datetime) -> Finding:
    skew = abs((datetime.now(UTC) - time).total_seconds())
    if skew <= SKEW_SECONDS:
        return Finding(Level.OK, "clock", name, f"It agrees with this machine's to {skew:.1f} s.")
    return Finding(Level.WRONG, "clock", name, f"It differs from this machine's by {skew:.0f} s.", "Run NTP on both.")
