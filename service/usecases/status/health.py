"""Report whether the service works, and its load."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import DBAPIError

from service.context import Context
from service.queue import LIVE, REDIS_ERRORS
from service.store import runs
from service.store.disk import DiskState, disk_of
from service.store.schema import State, schema_of
from service.usecases.jobs import jobs
from treescore.core.version import __version__

_SHOWN = ("submission", "validation", "revision")
"""Kinds of runs that are shown beside jobs, only by whether they are finished."""
_WAITING = ("submission", "validation", jobs.KIND)
"""Kinds of runs whose waits are shown. Others follow the success of a submission."""
_WAITS = 1000
"""Runs that began last, whose waits are shown."""
_BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0)
"""Of the histogram of waits, in seconds."""


_KERNELS = ("interpreted", "partly", "compiled")
"""States of workers, the least first."""


@dataclass(frozen=True, slots=True)
class Workers:
    """The workers that take live work; None where Redis does not answer.

    Attributes:
        ready: how many take it.
        kernels: whether machine code is kept of what scores large texts, where the least of it is: `interpreted`
            (none), `partly` or `compiled` (all); None without workers.
    """

    ready: int | None = None
    kernels: str | None = None

    @property
    def state(self) -> str:
        """Whether live work is taken."""
        if self.ready is None:
            return "unknown"
        return "ok" if self.ready else "none"


def ready(context: Context) -> tuple[bool, dict[str, str], Workers]:
    """Return whether work can be accepted, the state of each part, and the workers.

    It can be without Redis and without workers: what is stored is queued and done once they are back.
    """
    schema = schema_state(context)
    queue = context.queue.alive()
    workers = workers_of(context) if queue else Workers()
    checks = {
        "store": "ok" if context.store.alive() else "away",
        "queue": "ok" if queue else "away",
        "workers": workers.state,
        "disk": disk_of(context.store).state,
        "schema": schema,
    }
    accepts = checks["store"] == "ok" and schema == State.CURRENT and checks["disk"] != DiskState.FULL
    return accepts, checks, workers


def schema_state(context: Context) -> str:
    """Return how the store's tables compare with this code; `unknown` while the store does not answer."""
    try:
        with context.store.read() as db:
            return schema_of(db).state
    except DBAPIError:
        return "unknown"


def workers_of(context: Context) -> Workers:
    """Count the workers that take live work."""
    try:
        ready_now, states = context.queue.workers(LIVE), context.queue.states(LIVE)
    except REDIS_ERRORS:
        return Workers()
    return Workers(ready_now, next((state for state in _KERNELS if state in states), None))


def metrics_text(context: Context) -> bytes:
    """Return counts of stored and queued runs as Prometheus text. They come from the store, so any process may answer.

    The text is public, so it does not tell how submissions ended: where teams may not know that, a count would tell
    them, and so would the comparisons that follow each success.
    """
    registry = CollectorRegistry()
    Gauge("treescore_info", "Version of the service", ["version"], registry=registry).labels(__version__).set(1)
    by_state = Gauge("treescore_runs", "Runs in the store", ["kind", "state"], registry=registry)
    with context.store.read() as db:
        for (kind, state), number in runs.counts_by_state(db).items():
            if kind == jobs.KIND:
                by_state.labels(kind, state).set(number)
            elif kind in _SHOWN:
                by_state.labels(kind, state if state in runs.UNFINISHED else "finished").inc(number)
        registry.register(_Waits(runs.waits(db, _WAITING, _WAITS)))
    waiting = Gauge("treescore_queue_length", "Wake-ups that wait in Redis", ["queue"], registry=registry)
    up = Gauge("treescore_redis_up", "Whether Redis answers", registry=registry)
    try:
        # comparisons and boards follow each success: what waits in their queue would tell of one
        waiting.labels(LIVE).set(context.queue.lengths()[LIVE])
        up.set(1)
    except REDIS_ERRORS:
        up.set(0)
    return generate_latest(registry)


class _Waits(Collector):
    """A histogram of seconds waited, by kind of run; cumulative, as Prometheus has it."""

    def __init__(self, waits: Mapping[str, Sequence[float]]) -> None:
        self._waits = waits

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """Yield the one histogram."""
        family = HistogramMetricFamily(
            "treescore_wait_seconds",
            f"Seconds from creation to start of the {_WAITS} runs that began last",
            labels=["kind"],
        )
        for kind, waited in self._waits.items():
            counts = [0] * (len(_BOUNDS) + 1)
            for seconds in waited:
                counts[bisect_left(_BOUNDS, seconds)] += 1
            bounds = [*map(str, _BOUNDS), "+Inf"]
            family.add_metric([kind], list(zip(bounds, accumulate(counts), strict=True)), sum(waited))
        yield family
