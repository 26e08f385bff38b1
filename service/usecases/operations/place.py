"""The place where a service stands: its files, its disk, its queue, its workers."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import timedelta

from service.context import Context
from service.files import UMASK, private_paths
from service.queue import BULK, LIVE, REDIS_ERRORS
from service.store import runs
from service.store.disk import DiskState, disk_of
from service.usecases.operations.findings import Finding, Level

GRACE = timedelta(seconds=10)
"""A younger run may be on its way into the queue."""


def file_modes(context: Context) -> Iterator[Finding]:
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


def partial_files(context: Context) -> Iterator[Finding]:
    """Find the files that a killed backup or restore left."""
    for path in sorted(context.config.data_dir.glob(".*.partial*")):
        advice = "Delete it, unless a backup is being made."
        yield Finding(Level.WARN, "partial-file", str(path), "A backup or restore was not completed.", advice)


def disk(context: Context) -> Finding:
    """Look at the free space of the store's disk."""
    found = disk_of(context.store)
    if found.free is None:
        return Finding(Level.OK, "disk", "store", "The disk of a database server is not seen from here.")
    free = f"{found.free / 2**30:.1f} GiB are free."
    if found.state is DiskState.OK:
        return Finding(Level.OK, "disk", "store", free)
    level = Level.WRONG if found.state is DiskState.FULL else Level.WARN
    return Finding(level, "disk", "store", free, "Free some space, or `treescore purge` what is no longer needed.")


def queue(context: Context) -> Iterator[Finding]:
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
