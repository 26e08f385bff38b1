"""Wake workers with RQ, and those who wait for a run. The queue may be lost: the store knows every run.

A job of RQ is a wake-up: "begin the run whose turn it is". The store says whose turn that is, so the run that a job
does may be another than the one it was sent for. The job then notes the run in its meta and its description, and
RQ's own tools show it. For each queued run one job is sent: one too many finds nothing to do, and the sweeper sends
those that are lost.

The worker's side is `workers/worker.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from time import monotonic
from typing import Any, NamedTuple, Self

import redis
import rq
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq.command import send_stop_job_command
from rq.exceptions import InvalidJobOperation, NoSuchJobError
from rq.job import Job
from rq.serializers import JSONSerializer

from service.config import Config
from service.monitoring import Meters
from service.process import Patience

SERIALIZER = JSONSerializer
"""Every object that reads a job is given it: without it RQ unpickles what it finds in Redis."""
ENTRY = "workers.entry.begin_next"
KEPT = 3600
"""Seconds for which RQ keeps a job that has ended."""
LIVE, BULK = "live", "bulk"
RUN_QUEUES = (LIVE, BULK)
WAKE = "treescore:wake:"
ALIVE = "treescore:alive:"
ABANDONED_AFTER = 6.0
"""Seconds without a heartbeat after which a worker's run goes to another; a busy one sends them every two."""
WORKER_LIVES = 30
"""Seconds since its last heartbeat for which Redis knows a worker: an idle one sends them every 15."""
REDIS_ERRORS = (redis.ConnectionError, redis.TimeoutError, redis.ResponseError)
"""What the client raises while the server does not answer, or refuses to write: full, read-only, its disk failed."""
ILL = (redis.ReadOnlyError, redis.exceptions.OutOfMemoryError)
"""Answers of a server that will take the same command later. That its disk has failed, MISCONF, has no class."""
DENIED = (redis.AuthenticationError, redis.exceptions.NoPermissionError)
COUNTS = "treescore:counts"
"""The hash of what all processes have counted."""
PROBE = "treescore:probe"
PROBE_SECONDS = 2
"""Health checks give `/readyz` four seconds in all."""
RUN, KIND = "run", "kind"
"""What a job's meta says of the run that it does."""
KERNELS = "kernels"
"""The field of a worker's hash that says whether machine code is kept of what scores."""


class AtWork(NamedTuple):
    """A busy worker.

    Attributes:
        worker: its name.
        heard: its last heartbeat, by the clock of its host.
        job: the id of RQ's job.
        run: the id of the run that the job does; None before it has begun one.
    """

    worker: str
    heard: datetime | None
    job: str
    run: str | None


class SeenWorker(rq.Worker):  # type: ignore[misc]
    """Another process's worker, as Redis shows it. To look at it changes no time limit of the connection."""

    connection_timeout = 0


class Queue:
    """The queues of one Redis. Connects when first used."""

    def __init__(self, url: str, job_timeout: int = 900, meters: Meters | None = None) -> None:
        self.meters = Meters() if meters is None else meters
        # each forked process connects: no trips to say which client this is, or to ask for another protocol
        self._open = partial(redis.Redis.from_url, url, socket_connect_timeout=2, driver_info=None, protocol=2)
        # no retries: a repeated EXEC would queue twice
        self.redis = self._open(socket_timeout=5, retry=Retry(NoBackoff(), 0))
        _count_trips(self.redis.connection_pool, self.meters)
        self.timeout = job_timeout
        """Seconds that a run may take."""

    def patient(self, config: Config) -> redis.Redis:
        """Return a connection of a worker's own, which waits for a server that is unavailable, however long."""
        client = self._open(retry=_Patient(Patience("queue", config), -1), retry_on_error=[redis.ResponseError])
        _count_trips(client.connection_pool, self.meters)
        return client

    def rq_queue(self, name: str, connection: redis.Redis | None = None) -> rq.Queue:
        """Return RQ's own queue object."""
        connection = self.redis if connection is None else connection
        return rq.Queue(name, connection=connection, serializer=SERIALIZER, default_timeout=self.timeout)

    def put(self, run_id: str, queue: str) -> bool:
        """Send a wake-up for a run. Return False if Redis does not answer: the sweeper will send it."""
        return self.put_all([run_id], queue)

    def put_all(self, names: Sequence[str], queue: str) -> bool:
        """Send wake-ups for runs in one round trip. Return False if Redis does not answer."""
        if not names:
            return True
        options = {"result_ttl": KEPT, "failure_ttl": KEPT}
        wake_ups = [
            rq.Queue.prepare_data(ENTRY, description=f"begin the run whose turn it is; {name} waits", **options)
            for name in names
        ]
        try:
            self.rq_queue(queue).enqueue_many(wake_ups)
        except REDIS_ERRORS:
            return False
        return True

    def stop(self, run_id: str) -> None:
        """End the work of a run; then wake those who wait. A wake-up of it does no harm."""
        try:
            for each in self.at_work():
                if each.run == run_id:
                    self._stop_job(each.job)
        except REDIS_ERRORS:
            pass
        self.wake(run_id)

    def _stop_job(self, job: str) -> None:
        try:
            send_stop_job_command(self.redis, job, serializer=SERIALIZER)
        except (NoSuchJobError, InvalidJobOperation):
            return  # it has just ended

    def wake(self, run_id: str) -> None:
        """Wake those who wait for a run. Does nothing if Redis does not answer: they look again at the end."""
        try:
            self.redis.publish(WAKE + run_id, b"1")
        except REDIS_ERRORS:
            return

    def beat(self, process: str) -> None:
        """Show that a process lives that RQ does not know. Does nothing if Redis does not answer."""
        try:
            self.redis.set(ALIVE + process, b"1", ex=WORKER_LIVES)
        except REDIS_ERRORS:
            return

    def alive(self, process: str) -> bool:
        """Return whether a process has shown that it lives. Raises REDIS_ERRORS if Redis does not answer."""
        return bool(self.redis.exists(ALIVE + process))

    def listen(self, run_id: str) -> Listener:
        """Subscribe to the wake-ups of one run."""
        return Listener(self.redis, run_id)

    def at_work(self) -> list[AtWork]:
        """Return the workers that have a job. Raises REDIS_ERRORS if Redis does not answer."""
        busy = [(worker, job) for worker in self.living() if (job := worker.get_current_job_id())]
        jobs = Job.fetch_many([job for _, job in busy], connection=self.redis, serializer=SERIALIZER)
        return [
            AtWork(worker.name, worker.last_heartbeat, job, None if found is None else found.meta.get(RUN))
            for (worker, job), found in zip(busy, jobs, strict=True)
        ]

    def living(self, name: str | None = None) -> list[SeenWorker]:
        """Return the workers that Redis knows, of one queue or of all. Raises REDIS_ERRORS if Redis does not answer."""
        queue = None if name is None else self.rq_queue(name)
        found: list[SeenWorker] = SeenWorker.all(connection=self.redis, queue=queue, serializer=SERIALIZER)
        return found

    def state(self) -> str:
        """Return whether Redis answers and takes what is written: `ok`, `denied` or `away`; it has PROBE_SECONDS."""
        try:
            self.probe()
        except DENIED:
            return "denied"
        except REDIS_ERRORS:
            return "away"
        return "ok"

    def probe(self) -> None:
        """Write something. Raises REDIS_ERRORS if Redis does not answer within PROBE_SECONDS, or refuses it."""
        with self._open(socket_timeout=PROBE_SECONDS, retry=Retry(NoBackoff(), 0)) as probe:
            probe.set(PROBE, b"1", ex=1)

    def workers(self, name: str) -> int:
        """Return how many workers serve a queue; one that was killed counts for a minute.

        Raises REDIS_ERRORS if Redis does not answer.
        """
        return int(rq.Worker.count(queue=self.rq_queue(name)))

    def kernels(self, name: str) -> list[str]:
        """Return whether machine code is kept, of each living worker of a queue. Raises REDIS_ERRORS likewise."""
        found = [self.redis.hget(worker.key, KERNELS) for worker in self.living(name)]
        return [(each or b"").decode() for each in found]  # type: ignore[union-attr]

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
        return Counter(
            (name, "busy" if worker.get_current_job_id() else "idle")
            for worker in self.living()
            for name in worker.queue_names()
        )

    def lengths(self) -> dict[str, int]:
        """Return how many wake-ups wait in each queue."""
        return {name: int(self.rq_queue(name).count) for name in RUN_QUEUES}


class _Patient(Retry):
    """Repeats a command also while the server answers, but is full, read-only or cannot keep what is written."""

    def call_with_retry(self, do: Callable[[], Any], fail: Callable[..., Any], *_: object, **options: Any) -> Any:
        """Return what a command answers in the end; an error of the command itself is raised."""
        return super().call_with_retry(do, fail, _passes, **options)


def _passes(error: Exception) -> bool:
    return not isinstance(error, redis.ResponseError) or isinstance(error, ILL) or "MISCONF" in str(error)


class Pulse:
    """Remembers when the heartbeats of busy workers last changed, by this process's own clock: hosts' may be wrong."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._heard: dict[str, tuple[datetime | None, float]] = {}

    def held(self) -> set[str]:
        """Return the runs at work in workers that live. Raises REDIS_ERRORS if Redis does not answer."""
        now = monotonic()
        try:
            at_work = self._queue.at_work()
        except REDIS_ERRORS:
            self._heard = {}  # no worker could send one
            raise
        known = self._heard
        self._heard = {
            each.worker: known[each.worker]
            if each.worker in known and known[each.worker][0] == each.heard
            else (each.heard, now)
            for each in at_work
        }
        return {each.run for each in at_work if each.run and now - self._heard[each.worker][1] < ABANDONED_AFTER}


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
