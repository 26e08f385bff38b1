"""Wake workers with RQ, and those who wait for a run. The queue may be lost: the store knows every run.

A queued run has a wake-up in RQ, a job that does nothing and has the run's id. A worker that it wakes begins the run
whose turn it is in the store, which may be another, and takes away the wake-up of that run. So each queued run has one,
but for moments: a wake-up too many finds nothing to do, and the sweeper sends those that are lost. Pieces of a large
submission have wake-ups too, as many as there are workers that could help.

What is relied on of RQ beyond its documented calls stands in functions of their own, each with what it relies on;
`tests/workers/test_rq.py` tests each reliance, and `pyproject.toml` says between which versions of RQ
all of this holds. The worker's side is `workers/worker.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, Protocol, Self

import redis
import rq
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq import worker_registration
from rq.command import send_command
from rq.exceptions import InvalidJobOperation, NoSuchJobError
from rq.job import Job
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.utils import as_text

from service.monitoring import Meters
from service.store.runs import piece_of

# what the service relies on of RQ beyond its documented calls

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


def send_jobs(queue: rq.Queue, entry: str, names: Sequence[str]) -> None:
    """Queue a job for each name, in one transaction.

    Relies on: `enqueue_many` without dependencies sends one MULTI/EXEC, and queues nothing where that fails.
    """
    retry = rq.Retry(max=RETRIES)
    options = {"result_ttl": 0, "failure_ttl": KEEP_FAILED, "retry": retry}
    queue.enqueue_many([rq.Queue.prepare_data(entry, job_id=name, **options) for name in names])


def job_waits(queue: rq.Queue, name: str) -> bool:
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


def forget_job(connection: redis.Redis, name: str) -> None:
    """Delete a job that is in no list and that no worker has begun. Relies on: `take_first`."""
    connection.delete(Job.key_for(name))


def cancel_job(connection: redis.Redis, name: str) -> None:
    """Delete a job wherever it is; nothing where RQ has it no more.

    Relies on: `Job.delete` takes it out of its queue's list and of all registries.
    """
    try:
        Job.fetch(name, connection=connection, serializer=SERIALIZER).delete()
    except (NoSuchJobError, InvalidJobOperation):
        return


def begun_jobs(queue: rq.Queue) -> set[str]:
    """Return the jobs of a queue that a worker of RQ has begun.

    Relies on: the entries of `StartedJobRegistry` are `ID` or `ID:EXECUTION`, and no id has a colon.
    """
    started = StartedJobRegistry(queue=queue).get_job_ids(cleanup=False)
    return {entry.partition(":")[0] for entry in started}


def reap_lost(queue: rq.Queue) -> None:
    """Let RQ requeue, or give up, the jobs whose worker sends no heartbeat.

    Relies on: `StartedJobRegistry.cleanup` does so for entries whose time is over, and the worker renews that time.
    """
    StartedJobRegistry(queue=queue).cleanup()


def registered_workers(connection: redis.Redis) -> Iterator[AtWork]:
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


# the queues of the service

ENTRY = "workers.entry.wake_up"
LIVE, BULK = "live", "bulk"
RUN_QUEUES = (LIVE, BULK)
WAKE = "treescore:wake:"
ABANDONED_AFTER = 6
"""Seconds without a heartbeat after which a worker's run goes to another."""
REDIS_ERRORS = (redis.ConnectionError, redis.TimeoutError, redis.ResponseError)
"""What the client raises while the server does not answer, or refuses to write: full, read-only, its disk failed."""
COUNTS = "treescore:counts"
"""The hash of what all processes have counted."""
WORKER_LIVES = 30
"""Seconds since its last heartbeat for which a worker counts as alive: an idle one sends them every 15."""
PROBE = "treescore:probe"
PROBE_SECONDS = 2
"""Health checks give `/readyz` four seconds in all."""


class WorksOn(Protocol):
    """A worker that can note what it works on."""

    def note_work(self, name: str | None, pipeline: redis.client.Pipeline | None = None) -> None:
        """Note the id of what is being worked on, None for nothing."""


class Queue:
    """The queues of one Redis. Connects when first used."""

    def __init__(self, url: str, job_timeout: int = 900, meters: Meters | None = None) -> None:
        self.meters = Meters() if meters is None else meters
        # no retries: a repeated EXEC would queue twice; and no driver info, which each fork would send again
        self._open = partial(redis.Redis.from_url, url, socket_connect_timeout=2, retry=Retry(NoBackoff(), 0))
        self.redis = self._open(socket_timeout=5)
        _count_trips(self.redis.connection_pool, self.meters)
        self.timeout = job_timeout
        """Seconds that a run may take."""

    def rq_queue(self, name: str) -> rq.Queue:
        """Return RQ's own queue object."""
        return queue_of(self.redis, name, self.timeout)

    def put(self, run_id: str, queue: str) -> bool:
        """Send a run's wake-up. Return False if Redis does not answer: the sweeper will send it."""
        return self.put_all([run_id], queue)

    def put_all(self, names: Sequence[str], queue: str) -> bool:
        """Send the wake-ups of runs or pieces in one round trip. Return False if Redis does not answer."""
        if not names:
            return True
        try:
            send_jobs(self.rq_queue(queue), ENTRY, names)
        except REDIS_ERRORS:
            return False
        return True

    def ensure(self, run_id: str, queue: str) -> None:
        """Send a run's wake-up unless it waits in the queue. Raises REDIS_ERRORS if Redis does not answer."""
        if not job_waits(self.rq_queue(queue), run_id):
            self.put(run_id, queue)

    def take(self, queue: str, seconds: float) -> str | None:
        """Take a wake-up out of a queue and return its id; None if none comes within the time.

        Raises REDIS_ERRORS if Redis does not answer.
        """
        return take_first(self.rq_queue(queue), seconds)

    def begin(self, worker: WorksOn, run_id: str, queue: str, woken_by: str | None) -> None:
        """Note which run a worker is working on, and take that run's wake-up away.

        A worker that was woken by the wake-up of another run sends it again, because that run still waits.

        Raises REDIS_ERRORS if Redis does not answer.
        """
        with self.redis.pipeline(transaction=False) as commands:
            worker.note_work(run_id, pipeline=commands)
            take_out_of(self.rq_queue(queue), run_id, commands)
            removed = commands.execute()[-1]
        if not removed:
            return
        forget_job(self.redis, run_id)
        if woken_by not in (None, run_id):
            self.put(woken_by, queue)

    def stop(self, run_id: str) -> None:
        """Take a run out of the queue, or end its work-horse and those of its pieces; then wake those who wait."""
        self._take_out(run_id)
        self.wake(run_id)

    def _take_out(self, run_id: str) -> None:
        """Take a run out of the queue, or end all that work on it. Does nothing if Redis does not answer."""
        try:
            at_work = [(name, at) for name, at in self._at_work() if at == run_id or piece_of(at, run_id)]
            for name, at in at_work:
                end_work(self.redis, name, at)
            if not at_work:
                cancel_job(self.redis, run_id)
        except REDIS_ERRORS:
            return

    def wake(self, run_id: str) -> None:
        """Wake those who wait for a run. Does nothing if Redis does not answer: they look again at the end."""
        try:
            self.redis.publish(WAKE + run_id, b"1")
        except REDIS_ERRORS:
            return

    def listen(self, run_id: str) -> Listener:
        """Subscribe to the wake-ups of one run."""
        return Listener(self.redis, run_id)

    def wake_ups(self) -> set[str]:
        """Return the runs whose wake-ups wait for a worker, or wake one now."""
        ids: set[str] = set()
        for queue in map(self.rq_queue, RUN_QUEUES):
            ids |= {*queue.job_ids, *begun_jobs(queue)}
        return ids

    def held(self) -> set[str]:
        """Return the runs, and the pieces, that are being worked on."""
        return {at for _, at in self._at_work()}

    def _at_work(self) -> list[tuple[str, str]]:
        """Return worker name and run id of each busy worker with a recent heartbeat."""
        oldest = timedelta(seconds=ABANDONED_AFTER)
        found = registered_workers(self.redis)
        return [(each.name, each.current) for each in found if each.current and each.age < oldest]

    def reap(self) -> None:
        """Let RQ requeue (or give up) the wake-ups whose worker sends no heartbeat."""
        for queue in map(self.rq_queue, RUN_QUEUES):
            reap_lost(queue)

    def alive(self) -> bool:
        """Return whether Redis answers and takes what is written; it has PROBE_SECONDS."""
        try:
            with self._open(socket_timeout=PROBE_SECONDS) as probe:
                return bool(probe.set(PROBE, b"1", ex=1))
        except REDIS_ERRORS:
            return False

    def workers(self, name: str) -> int:
        """Return how many workers serve a queue. Raises REDIS_ERRORS if Redis does not answer."""
        return count_workers(self.rq_queue(name))

    def states(self, name: str) -> set[str]:
        """Return the states of the living workers of a queue. Raises REDIS_ERRORS if Redis does not answer."""
        return {each.state for each in registered_workers(self.redis) if each.queue == name}

    def heartbeats(self) -> dict[str, float]:
        """Return the seconds since the last heartbeat of each worker, by its name."""
        return {each.name: each.age.total_seconds() for each in registered_workers(self.redis)}

    def clock(self) -> datetime:
        """Return the time of the Redis server, in UTC."""
        seconds, microseconds = self.redis.time()
        return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)

    def version(self) -> str:
        """Return name and version of the server."""
        info = self.redis.info("server")
        return f"{info.get('server_name', 'redis')} {info.get('valkey_version') or info['redis_version']}"

    def add_counts(self) -> None:
        """Add what this process has counted to the sums of all. Where Redis does not answer, it is kept."""
        counts = self.meters.take()
        if not counts:
            return
        try:
            with self.redis.pipeline() as commands:
                for field, number in counts.items():
                    commands.hincrbyfloat(COUNTS, field, number)
                commands.execute()
        except REDIS_ERRORS:
            self.meters.give_back(counts)

    def counts(self) -> dict[str, float]:
        """Return the sums over all processes. Raises REDIS_ERRORS if Redis does not answer."""
        found: dict[bytes, bytes] = self.redis.hgetall(COUNTS)  # type: ignore[assignment]
        return {field.decode(): float(number) for field, number in found.items()}

    def load(self) -> Counter[tuple[str, str]]:
        """Return how many living workers each queue has, by queue and `busy` or `idle`.

        Raises REDIS_ERRORS if Redis does not answer.
        """
        found = registered_workers(self.redis)
        oldest = timedelta(seconds=WORKER_LIVES)
        return Counter((each.queue, "busy" if each.current else "idle") for each in found if each.age < oldest)

    def lengths(self) -> dict[str, int]:
        """Return how many wake-ups wait in each queue."""
        return {name: int(self.rq_queue(name).count) for name in RUN_QUEUES}


def _count_trips(pool: redis.ConnectionPool, meters: Meters) -> None:
    """Count what the connections of a pool send: each command, pipeline or transaction is one round trip."""

    class Counting(pool.connection_class):  # type: ignore[name-defined,misc]
        def send_packed_command(self, *args: Any, **options: Any) -> None:
            meters.redis_trip()
            super().send_packed_command(*args, **options)

    pool.connection_class = Counting


class Listener:
    """A subscription to one run's wake-ups, as a context manager."""

    def __init__(self, connection: redis.Redis, run_id: str) -> None:
        self._pubsub = connection.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
        self._channel = WAKE + run_id

    def __enter__(self) -> Self:
        self._pubsub.subscribe(self._channel)
        self._pubsub.get_message(timeout=2)
        return self

    def __exit__(self, *_: object) -> None:
        self._pubsub.close()

    def wait(self, seconds: float) -> bool:
        """Wait for a wake-up; return False if the time is over. Raises REDIS_ERRORS if Redis does not answer."""
        return self._pubsub.get_message(ignore_subscribe_messages=True, timeout=seconds) is not None
