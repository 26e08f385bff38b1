"""RQ: a hint of what to do next, and wake-ups for those who wait. May be lost whole; the store is the truth."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Self

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
"""Seconds without a sign of life after which what a worker held is given to another."""
REDIS_ERRORS = (redis.ConnectionError, redis.TimeoutError)
"""What is raised while the server is away."""


class Queue:
    """The queues of one Redis. Connects when first used."""

    def __init__(self, url: str, job_timeout: int = 900) -> None:
        # no blind retries: a repeated EXEC would queue twice; no word about the driver: each fork would send it again
        self.redis = redis.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=2, retry=Retry(NoBackoff(), 0))
        self.timeout = job_timeout
        """Seconds that a run may take."""

    def rq_queue(self, name: str) -> Any:
        """RQ's own queue object."""
        return rq.Queue(name, connection=self.redis, serializer=JSONSerializer, default_timeout=self.timeout)

    def put(self, run_id: str, queue: str) -> bool:
        """Queue a run by its id. False where Redis is away: the sweeper will do it."""
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
        """The id at the head of a queue, out of it and out of RQ's hands; None where none comes within the time.

        Raises REDIS_ERRORS where Redis goes away. Whoever takes a run sets it as its worker's `current_job`.
        """
        key = self.rq_queue(queue).key
        popped: Any = self.redis.blpop(key, seconds) if seconds else (key, self.redis.lpop(key))
        if popped is None or popped[1] is None:
            return None
        run_id = str(as_text(popped[1]))
        self.redis.delete(rq.job.Job.key_for(run_id))
        return run_id

    def take_out(self, run_id: str) -> None:
        """Stop a run where it is: out of the queue, or its work-horse is ended. Silent where Redis is away."""
        try:
            for worker, current in self._at_work():
                if current == run_id:
                    send_command(self.redis, worker, "stop-job", job_id=run_id)
                    return
            rq.job.Job.fetch(run_id, connection=self.redis, serializer=JSONSerializer).delete()
        except (NoSuchJobError, InvalidJobOperation, *REDIS_ERRORS):
            return

    def wake(self, run_id: str) -> None:
        """Tell those who wait for a run that it moved. Silent where Redis is away: they look again at the end."""
        try:
            self.redis.publish(WAKE + run_id, b"1")
        except REDIS_ERRORS:
            return

    def listen(self, run_id: str) -> Listener:
        """Wait for wake-ups of one run."""
        return Listener(self.redis, run_id)

    def held(self) -> set[str]:
        """The runs that wait in a queue or are being worked on."""
        found: set[str] = set()
        for name in QUEUES:
            queue = self.rq_queue(name)
            found.update(queue.job_ids)
            started = StartedJobRegistry(queue=queue).get_job_ids(cleanup=False)
            found.update(entry.partition(":")[0] for entry in started)
        found.update(run_id for _, run_id in self._at_work())
        return found

    def _at_work(self) -> Iterator[tuple[str, str]]:
        """Worker name and run id, for each worker that works and shows signs of life."""
        oldest = now() - timedelta(seconds=ABANDONED_AFTER)
        for key in rq.Worker.all_keys(connection=self.redis):
            current, seen = self.redis.hmget(key, "current_job", "last_heartbeat")
            if current and seen and utcparse(as_text(seen)) > oldest:
                yield key.removeprefix(rq.Worker.redis_worker_namespace_prefix), as_text(current)

    def reap(self) -> None:
        """Let RQ put back (or give up) the jobs whose worker stopped giving signs of life."""
        for name in QUEUES:
            StartedJobRegistry(queue=self.rq_queue(name)).cleanup()

    def alive(self) -> bool:
        """Whether Redis answers."""
        try:
            return bool(self.redis.ping())
        except REDIS_ERRORS:
            return False

    def workers(self, name: str) -> int:
        """How many workers serve a queue."""
        return int(rq.Worker.count(queue=self.rq_queue(name)))

    def lengths(self) -> dict[str, int]:
        """Queue name -> how many wait in it."""
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
        """Until a wake-up or until time is over; True for a wake-up. Raises REDIS_ERRORS where Redis goes away."""
        return self._pubsub.get_message(ignore_subscribe_messages=True, timeout=seconds) is not None
