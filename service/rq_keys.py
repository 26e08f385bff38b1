"""All that the service relies on of RQ beyond its documented calls; `tests/workers/test_rq.py` tests each reliance.

The worker's side is `workers/rq_worker.py`. `pyproject.toml` says between which versions of RQ all of this holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple

import redis
import rq
from rq import worker_registration
from rq.command import send_command
from rq.exceptions import InvalidJobOperation, NoSuchJobError
from rq.job import Job
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.utils import as_text

SERIALIZER = JSONSerializer
"""Every object that reads a job is given it: without it RQ unpickles what it finds in Redis."""
RETRIES = 2
KEEP_FAILED = 3600
"""Seconds for which RQ keeps a wake-up that it gave up."""


HEARTBEAT = "treescore:heartbeat:"
HEARTBEAT_KEPT = timedelta(minutes=2)
"""How long Redis keeps a heartbeat; longer than the 15 s after which an idle worker sends the next."""


class AtWork(NamedTuple):
    """A worker.

    Attributes:
        name, queue: its own.
        current: the id of what it works on; None: of nothing.
        state: what it said of itself at its last heartbeat.
        age: of that.
    """

    name: str
    queue: str
    current: str | None
    state: str
    age: timedelta


def queue_of(connection: redis.Redis, name: str, timeout: int) -> rq.Queue:
    """Return RQ's queue of a name."""
    return rq.Queue(name, connection=connection, serializer=SERIALIZER, default_timeout=timeout)


def send(queue: rq.Queue, entry: str, names: Sequence[str]) -> None:
    """Queue a job for each name, in one transaction.

    Relies on: `enqueue_many` without dependencies sends one MULTI/EXEC, and queues nothing where that fails.
    """
    retry = rq.Retry(max=RETRIES)
    options = {"result_ttl": 0, "failure_ttl": KEEP_FAILED, "retry": retry}
    queue.enqueue_many([rq.Queue.prepare_data(entry, job_id=name, **options) for name in names])


def waits(queue: rq.Queue, name: str) -> bool:
    """Return whether a job is in a queue's list."""
    return queue.get_job_position(name) is not None


def take_first(queue: rq.Queue, seconds: float) -> str | None:
    """Take the first job out of a queue without doing it; None if none comes within the time.

    Relies on: a queue is the list at `Queue.key`, whose entries are ids of jobs, the first one on the left; a job that
    no worker has begun is that entry and the hash at `Job.key_for(id)`, and in no registry.
    """
    popped = queue.connection.blpop(queue.key, seconds)
    if popped is None:
        return None
    name = str(as_text(popped[1]))
    queue.connection.delete(Job.key_for(name))
    return name


def take_out_of(queue: rq.Queue, name: str, commands: redis.client.Pipeline) -> None:
    """Take a job out of a queue's list in a pipeline; its answer is the number of entries. Relies on: `take_first`."""
    commands.lrem(queue.key, 1, name)


def forget(connection: redis.Redis, name: str) -> None:
    """Delete a job that is in no list and that no worker has begun. Relies on: `take_first`."""
    connection.delete(Job.key_for(name))


def cancel(connection: redis.Redis, name: str) -> None:
    """Delete a job wherever it is; nothing where RQ has it no more.

    Relies on: `Job.delete` takes it out of its queue's list and of all registries.
    """
    try:
        Job.fetch(name, connection=connection, serializer=SERIALIZER).delete()
    except (NoSuchJobError, InvalidJobOperation):
        return


def begun(queue: rq.Queue) -> set[str]:
    """Return the jobs of a queue that a worker of RQ has begun.

    Relies on: the entries of `StartedJobRegistry` are `ID` or `ID:EXECUTION`, and no id has a colon.
    """
    started = StartedJobRegistry(queue=queue).get_job_ids(cleanup=False)
    return {entry.partition(":")[0] for entry in started}


def reap(queue: rq.Queue) -> None:
    """Let RQ requeue, or give up, the jobs whose worker sends no heartbeat.

    Relies on: `StartedJobRegistry.cleanup` does so for entries whose time is over, and the worker renews that time.
    """
    StartedJobRegistry(queue=queue).cleanup()


def workers(connection: redis.Redis) -> Iterator[AtWork]:
    """Yield all registered workers that have sent a heartbeat. Only the clock of Redis counts.

    Relies on: `Worker.all_keys` lists their hashes, `redis_worker_namespace_prefix` and the name; the fields are
    `queues`, their names, and `current_job`, the id that `set_current_job_id` has set.
    """
    names = [
        key.removeprefix(rq.Worker.redis_worker_namespace_prefix) for key in rq.Worker.all_keys(connection=connection)
    ]
    with connection.pipeline(transaction=False) as commands:
        for name in names:
            commands.hmget(rq.Worker.redis_worker_namespace_prefix + name, "queues", "current_job")
            commands.get(HEARTBEAT + name)
            commands.pttl(HEARTBEAT + name)
        found = commands.execute()
    for name, (queues, current), state, left in zip(names, found[::3], found[1::3], found[2::3], strict=True):
        if left > 0:
            age = HEARTBEAT_KEPT - timedelta(milliseconds=left)
            yield AtWork(name, as_text(queues or b""), as_text(current) if current else None, as_text(state), age)


def note_heartbeat(worker: rq.Worker, state: str) -> None:
    """Note that a worker lives, and its state, and register it where Redis does not know it.

    An empty Redis may have taken the place of another.
    The time of the note is that of Redis: the clock of a host may be wrong, and RQ's own time is that of the host.

    Relies on: `worker_registration.register` adds the worker to the sets that `Worker.all_keys` and `Worker.count`
    read; RQ itself writes `queues` and `pid` into the hash at the birth; before that `birth_date` is None.
    """
    if worker.birth_date is None:
        return
    # not in a pipeline of RQ's, which knows the answers by their places
    with worker.connection.pipeline(transaction=False) as commands:
        worker_registration.register(worker, commands)
        commands.hset(worker.key, mapping={"queues": ",".join(worker.queue_names()), "pid": worker.pid})
        commands.psetex(HEARTBEAT + worker.name, HEARTBEAT_KEPT, state)
        commands.execute()


def count_workers(queue: rq.Queue) -> int:
    """Return how many workers serve a queue. Relies on: RQ takes off those that end or die."""
    return int(rq.Worker.count(queue=queue))


def end_work(connection: redis.Redis, worker: str, current: str) -> None:
    """Let a worker kill its work-horse, if it still works on `current`.

    Relies on: the command `stop-job` compares its id with the worker's `current_job`, and asks for no job of RQ's.
    """
    send_command(connection, worker, "stop-job", job_id=current)
