"""Say of each part of the service whether it works, and what to do where it does not."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from datetime import UTC, datetime

import redis
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from service.config import Config
from service.context import Context
from service.queue import REDIS_ERRORS
from service.store import runs
from service.store.disk import file_of
from service.store.faults import WORDS, Fault, fault_of, line_of
from service.store.schema import State, schema_of
from service.usecases.operations import place
from service.usecases.operations.findings import Finding, Level
from treescore.core.version import __version__

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
    modes = list(place.file_modes(context))
    yield from modes or [Finding(Level.OK, "files", str(context.config.data_dir), "Only their owner can use them.")]
    yield from _store(context)
    yield place.disk(context)
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
    file = file_of(context.store)
    if file is not None and not file.exists():
        yield Finding(Level.WARN, "store", str(file), "It does not exist yet.", "`treescore serve` creates it.")
        return
    try:
        with context.store.read() as db:
            found = schema_of(db)
            open_runs = 0 if found.state is not State.CURRENT else len(runs.unfinished(db, context.now()))
            query = "SELECT sqlite_version(), NULL" if context.store.sqlite else "SELECT version(), now()"
            version, time = db.execute(text(query)).one()
    except DBAPIError as error:
        fault = fault_of(error) or Fault.AWAY
        level = Level.UNKNOWN if fault is Fault.AWAY else Level.WRONG
        yield Finding(level, "store", name, f"It {WORDS[fault]} ({line_of(error)}).")
        return
    yield Finding(
        Level.OK, "store", name, f"It answers ({str(version).partition(',')[0]}); {open_runs} unfinished runs."
    )
    level = Level.OK if found.state is State.CURRENT else Level.WRONG
    yield Finding(level, "schema", found.stored or "none", found.words)
    if time is not None:
        yield _clock("database", time)


def _queue(context: Context) -> Iterator[Finding]:
    steps: tuple[Callable[[Context], Iterator[Finding]], ...] = (_server, _workers, place.queue)
    try:
        for step in steps:
            yield from step(context)
    except REDIS_ERRORS:
        yield from place.queue(context)


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
