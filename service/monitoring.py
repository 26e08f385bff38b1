"""What a process counts beside its log: counters and histograms.

Counters and histograms are those of one process, which Redis sums over all processes and hosts. A scrape reaches
one API process of many, and work-horses end after seconds, so no process can answer for the others: each adds what
it has counted to one hash of Redis every few seconds (`service.queue.Queue.add_counts`). They are lost with Redis,
which Prometheus takes for a restart. Labels have values of the program's own, never of a request's.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, product
from typing import NamedTuple

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

_SEPARATOR = "\x1f"
_TOTAL, _SUM, _INFINITE = "total", "sum", "+Inf"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_LONG_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0)


class Family(NamedTuple):
    """One counter, or one histogram where it has bounds.

    Attributes:
        name: without `_total`.
        help: what it counts.
        labels: names of its labels.
        bounds: upper bounds of the histogram's buckets, in seconds.
    """

    name: str
    help: str
    labels: tuple[str, ...]
    bounds: tuple[float, ...] = ()


REQUESTS = Family(
    "treescore_request_seconds",
    "Seconds from a request's arrival in a thread to its answer's begin",
    ("route", "method", "status"),
    _SECONDS,
)
RUNS = Family("treescore_run_seconds", "Seconds of one attempt at a run", ("kind", "metric"), _LONG_SECONDS)
VIEWS = Family("treescore_view_seconds", "Seconds of one attempt at a view", ("kind", "state"), _SECONDS)
BOARDS = Family(
    "treescore_board_delay_seconds",
    "Seconds from the last score of a board's comparison to the board that has it",
    (),
    _LONG_SECONDS,
)
DATABASE = Family("treescore_database_round_trips", "Statements, commits and rollbacks sent", ("process",))
REDIS = Family("treescore_redis_round_trips", "Commands and pipelines sent", ("process",))
DELIVERIES = Family("treescore_webhook_deliveries", "Attempts to deliver to webhooks, by how they ended", ("outcome",))
FAMILIES = (REQUESTS, RUNS, VIEWS, BOARDS, DATABASE, REDIS, DELIVERIES)

ALWAYS: Mapping[Family, tuple[tuple[str, ...], ...]] = {
    BOARDS: ((),),
    DELIVERIES: tuple(product(("delivered", "failed", "given_up", "dropped"))),
}
"""Series that are shown from the start, at zero: the increase of one that appears at 1 cannot be seen."""


class Meters:
    """What this process has counted and not yet handed on. Threads share it.

    Attributes:
        process: kind of the process: `api`, `worker`, `bulk-worker`, `views`, `sweeper`.
    """

    def __init__(self, process: str = "api") -> None:
        self.process = process
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, ...], float] = {}

    def count(self, family: Family, *labels: str, number: int = 1) -> None:
        """Add to a counter."""
        with self._lock:
            self._add((family.name, *labels, _TOTAL), number)

    def observe(self, family: Family, seconds: float, *labels: str) -> None:
        """Add one duration to a histogram."""
        place = bisect_left(family.bounds, seconds)
        bucket = _INFINITE if place == len(family.bounds) else str(family.bounds[place])
        with self._lock:
            self._add((family.name, *labels, bucket), 1)
            self._add((family.name, *labels, _SUM), seconds)

    def database_trip(self) -> None:
        """Count a round trip to the database."""
        self.count(DATABASE, self.process)

    def redis_trip(self) -> None:
        """Count a round trip to Redis."""
        self.count(REDIS, self.process)

    def take(self) -> dict[str, float]:
        """Return what was counted since the last call, by field of the hash, and begin at zero."""
        with self._lock:
            counts, self._counts = self._counts, {}
        return {_SEPARATOR.join(key): number for key, number in counts.items()}

    def give_back(self, counts: Mapping[str, float]) -> None:
        """Take back what could not be handed on."""
        with self._lock:
            for field, number in counts.items():
                self._add(tuple(field.split(_SEPARATOR)), number)

    def forget(self) -> None:
        """Begin at zero in a forked process: what was counted before is the parent's to hand on."""
        with self._lock:
            self._counts = {}

    def _add(self, key: tuple[str, ...], number: float) -> None:
        self._counts[key] = self._counts.get(key, 0) + number


class Summed(Collector):
    """Families as Prometheus reads them, of the fields of the hash. Fields of another version are left out."""

    def __init__(self, fields: Mapping[str, float], families: Sequence[Family] = FAMILIES) -> None:
        self._families = families
        self._series: dict[str, dict[tuple[str, ...], dict[str, float]]] = {
            family.name: {labels: {} for labels in ALWAYS.get(family, ())} for family in families
        }
        for field, number in fields.items():
            name, *labels, part = field.split(_SEPARATOR)
            self._series.setdefault(name, {}).setdefault(tuple(labels), {})[part] = number

    def collect(self) -> Iterator[CounterMetricFamily | HistogramMetricFamily]:
        """Yield all families."""
        for family in self._families:
            kind = HistogramMetricFamily if family.bounds else CounterMetricFamily
            shown = kind(family.name, family.help, labels=family.labels)
            names = [*map(str, family.bounds), _INFINITE]
            for labels, parts in self._series[family.name].items():
                if len(labels) != len(family.labels):
                    continue
                if isinstance(shown, CounterMetricFamily):
                    shown.add_metric(labels, parts.get(_TOTAL, 0))
                else:
                    heights = accumulate(parts.get(name, 0) for name in names)
                    shown.add_metric(labels, list(zip(names, heights, strict=True)), parts.get(_SUM, 0))
            yield shown
