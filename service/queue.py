"""Wake workers with RQ, and those who wait for a run. The queue may be lost: the store knows every run.

A queued run has a wake-up in RQ, a job that does nothing and has the run's id. A worker that it wakes begins the run
whose turn it is in the store, which may be another, and takes away the wake-up of that run. So each queued run has one,
but for moments: a wake-up too many finds nothing to do, and the sweeper sends those that are lost. Pieces of a large
submission have wake-ups too, as many as there are workers that could help.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Protocol, Self

import redis
import rq
from redis.backoff import NoBackoff
from redis.retry import Retry

from service import rq_keys
from service.monitoring import Meters
from service.store.runs import piece_of

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
        return rq_keys.queue_of(self.redis, name, self.timeout)

    def put(self, run_id: str, queue: str) -> bool:
        """Send a run's wake-up. Return False if Redis does not answer: the sweeper will send it."""
        return self.put_all([run_id], queue)

    def put_all(self, names: Sequence[str], queue: str) -> bool:
        """Send the wake-ups of runs or pieces in one round trip. Return False if Redis does not answer."""
        if not names:
            return True
        try:
            rq_keys.send(self.rq_queue(queue), ENTRY, names)
        except REDIS_ERRORS:
            return False
        return True

    def ensure(self, run_id: str, queue: str) -> None:
        """Send a run's wake-up unless it waits in the queue. Raises REDIS_ERRORS if Redis does not answer."""
        if not rq_keys.waits(self.rq_queue(queue), run_id):
            self.put(run_id, queue)

    def take(self, queue: str, seconds: float) -> str | None:
        """Take a wake-up out of a queue and return its id; None if none comes within the time.

        Raises REDIS_ERRORS if Redis does not answer.
        """
        return rq_keys.take_first(self.rq_queue(queue), seconds)

    def begin(self, worker: WorksOn, run_id: str, queue: str, woken_by: str | None) -> None:
        """Note which run a worker is working on, and take that run's wake-up away.

        A worker that was woken by the wake-up of another run sends it again, because that run still waits.

        Raises REDIS_ERRORS if Redis does not answer.
        """
        with self.redis.pipeline(transaction=False) as commands:
            worker.note_work(run_id, pipeline=commands)
            rq_keys.take_out_of(self.rq_queue(queue), run_id, commands)
            removed = commands.execute()[-1]
        if not removed:
            return
        rq_keys.forget(self.redis, run_id)
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
                rq_keys.end_work(self.redis, name, at)
            if not at_work:
                rq_keys.cancel(self.redis, run_id)
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
            ids |= {*queue.job_ids, *rq_keys.begun(queue)}
        return ids

    def held(self) -> set[str]:
        """Return the runs, and the pieces, that are being worked on."""
        return {at for _, at in self._at_work()}

    def _at_work(self) -> list[tuple[str, str]]:
        """Return worker name and run id of each busy worker with a recent heartbeat."""
        oldest = timedelta(seconds=ABANDONED_AFTER)
        found = rq_keys.workers(self.redis)
        return [(each.name, each.current) for each in found if each.current and each.age < oldest]

    def reap(self) -> None:
        """Let RQ requeue (or give up) the wake-ups whose worker sends no heartbeat."""
        for queue in map(self.rq_queue, RUN_QUEUES):
            rq_keys.reap(queue)

    def alive(self) -> bool:
        """Return whether Redis answers and takes what is written; it has PROBE_SECONDS."""
        try:
            with self._open(socket_timeout=PROBE_SECONDS) as probe:
                return bool(probe.set(PROBE, b"1", ex=1))
        except REDIS_ERRORS:
            return False

    def workers(self, name: str) -> int:
        """Return how many workers serve a queue. Raises REDIS_ERRORS if Redis does not answer."""
        return rq_keys.count_workers(self.rq_queue(name))

    def states(self, name: str) -> set[str]:
        """Return the states of the living workers of a queue. Raises REDIS_ERRORS if Redis does not answer."""
        return {each.state for each in rq_keys.workers(self.redis) if each.queue == name}

    def heartbeats(self) -> dict[str, float]:
        """Return the seconds since the last heartbeat of each worker, by its name."""
        return {each.name: each.age.total_seconds() for each in rq_keys.workers(self.redis)}

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
        found = rq_keys.workers(self.redis)
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
