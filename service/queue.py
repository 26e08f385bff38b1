"""Queue runs with RQ, and wake those who wait. The queue may be lost: the store knows every run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Self

import redis
import rq
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq.command import send_command
from rq.exceptions import InvalidJobOperation, NoSuchJobError
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.utils import as_text, now, utcparse

ENTRY = "workers.entry.run"
LIVE, BULK = "live", "bulk"
QUEUES = (LIVE, BULK)
WAKE = "treescore:wake:"
RETRIES = 2
ABANDONED_AFTER = 6
"""Seconds without a heartbeat after which a worker's run goes to another."""
REDIS_ERRORS = (redis.ConnectionError, redis.TimeoutError, redis.ResponseError)
"""What the client raises while the server does not answer, or refuses to write: full, read-only, its disk failed."""
PROBE = "treescore:probe"


class Queue:
    """The queues of one Redis. Connects when first used."""

    def __init__(self, url: str, job_timeout: int = 900) -> None:
        # no retries: a repeated EXEC would queue twice; and no driver info, which each fork would send again
        self.redis = redis.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=2, retry=Retry(NoBackoff(), 0))
        self.timeout = job_timeout
        """Seconds that a run may take."""

    def rq_queue(self, name: str) -> rq.Queue:
        """Return RQ's own queue object."""
        return rq.Queue(name, connection=self.redis, serializer=JSONSerializer, default_timeout=self.timeout)

    def put(self, run_id: str, queue: str) -> bool:
        """Queue a run by its id. Return False if Redis does not answer: the sweeper will queue it."""
        try:
            self.rq_queue(queue).enqueue(
                ENTRY,
                run_id,
                job_id=run_id,
                result_ttl=0,
                failure_ttl=3600,
                retry=rq.Retry(max=RETRIES),
            )
        except REDIS_ERRORS:
            return False
        return True

    def take(self, queue: str, seconds: float) -> str | None:
        """Take the id at the head of a queue out of RQ; return None if none comes within the time.

        Raises REDIS_ERRORS if Redis does not answer. The caller sets the run as its worker's `current_job`.
        """
        key = self.rq_queue(queue).key
        popped = (self.redis.blpop(key, seconds) or (key, None))[1] if seconds else self.redis.lpop(key)
        if popped is None:
            return None
        run_id = str(as_text(popped))
        self.redis.delete(rq.job.Job.key_for(run_id))
        return run_id

    def stop(self, run_id: str) -> None:
        """Take a run out of the queue, or end its work-horse; then wake those who wait for it."""
        self._take_out(run_id)
        self.wake(run_id)

    def _take_out(self, run_id: str) -> None:
        """Take a run out of the queue, or end its work-horse. Does nothing if Redis does not answer."""
        try:
            for worker, current in self._at_work():
                if current == run_id:
                    send_command(self.redis, worker, "stop-job", job_id=run_id)
                    return
            rq.job.Job.fetch(run_id, connection=self.redis, serializer=JSONSerializer).delete()
        except (NoSuchJobError, InvalidJobOperation, *REDIS_ERRORS):
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

    def held(self) -> set[str]:
        """Return the runs that wait in a queue or are being worked on."""
        held: set[str] = set()
        for name in QUEUES:
            queue = self.rq_queue(name)
            held.update(queue.job_ids)
            started = StartedJobRegistry(queue=queue).get_job_ids(cleanup=False)
            held.update(entry.partition(":")[0] for entry in started)
        held.update(run_id for _, run_id in self._at_work())
        return held

    def _at_work(self) -> Iterator[tuple[str, str]]:
        """Yield worker name and run id of each busy worker with a recent heartbeat."""
        oldest = now() - timedelta(seconds=ABANDONED_AFTER)
        for key in rq.Worker.all_keys(connection=self.redis):
            current, seen = self.redis.hmget(key, "current_job", "last_heartbeat")
            if current and seen and utcparse(as_text(seen)) > oldest:
                yield key.removeprefix(rq.Worker.redis_worker_namespace_prefix), as_text(current)

    def reap(self) -> None:
        """Let RQ requeue (or give up) the jobs whose worker sends no heartbeat."""
        for name in QUEUES:
            StartedJobRegistry(queue=self.rq_queue(name)).cleanup()

    def alive(self) -> bool:
        """Return whether Redis answers and takes what is written."""
        try:
            return bool(self.redis.set(PROBE, b"1", ex=1))
        except REDIS_ERRORS:
            return False

    def workers(self, name: str) -> int:
        """Return how many workers serve a queue."""
        return int(rq.Worker.count(queue=self.rq_queue(name)))

    def heartbeats(self) -> dict[str, float]:
        """Return the seconds since the last heartbeat of each worker, by its name."""
        ages = {}
        for key in rq.Worker.all_keys(connection=self.redis):
            seen = self.redis.hget(key, "last_heartbeat")
            if seen:
                name = key.removeprefix(rq.Worker.redis_worker_namespace_prefix)
                ages[name] = (now() - utcparse(as_text(seen))).total_seconds()
        return ages

    def clock(self) -> datetime:
        """Return the time of the Redis server, in UTC."""
        seconds, microseconds = self.redis.time()
        return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)

    def version(self) -> str:
        """Return name and version of the server."""
        info = self.redis.info("server")
        return f"{info.get('server_name', 'redis')} {info.get('valkey_version') or info['redis_version']}"

    def lengths(self) -> dict[str, int]:
        """Return how many runs wait in each queue."""
        return {name: int(self.rq_queue(name).count) for name in QUEUES}


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
