"""Report what the service can score, whether it works, its load, and what each type and code of a problem means.

Some metrics only the monitoring may read. Boards are compared and webhooks called after a success, and latency has a
sum: read often, each of these numbers tells how a submission ended. So they need a token of the scope `metrics`, which
opens nothing else.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import cast

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from service import errors, monitoring
from service.context import Context
from service.contract.service import Catalogue, Scorer
from service.queue import LIVE, REDIS_ERRORS, RUN_QUEUES
from service.store import runs
from service.store.database import DiskState, SchemaState, disk_of, schema_of
from service.store.packing import PackedText, beginning
from service.usecases import jobs, kinds
from service.usecases.runs import Shown
from service.usecases.views.asking import VIEWS
from treescore.core import comparing, version, wording
from treescore.core.params import schema_of as parameters_schema
from treescore.core.registry import FORMATS, METRICS, TRANSFORMS
from treescore.core.text import HEAD_BYTES
from treescore.evaluation import spec
from treescore.evaluation.spec import entry_of, suggestions
from treescore.problem_catalogue import Entry


@lru_cache(maxsize=1)
def scorers() -> Shown[Catalogue]:
    """Show the whole catalogue."""
    catalogue = {
        "version": version.__version__,
        "metrics": [entry_of(METRICS[name]) for name in sorted(METRICS)],
        "formats": [entry_of(FORMATS[name]) for name in sorted(FORMATS)],
        "transforms": [entry_of(TRANSFORMS[name]) for name in sorted(TRANSFORMS)],
        "significance": parameters_schema(comparing.PARAMS),
    }
    return Shown(cast("Catalogue", catalogue))


@lru_cache(maxsize=64)
def scorer(name: str) -> Shown[Scorer]:
    """Show one format, transform or metric.

    Raises:
        NotFound: none has this name.
    """
    for kind, members in (("metric", METRICS), ("format", FORMATS), ("transform", TRANSFORMS)):
        if name in members:
            return Shown(cast("Scorer", {"kind": kind, **entry_of(members[name])}))
    suggestion = wording.did_you_mean(name, [*METRICS, *FORMATS, *TRANSFORMS])
    raise errors.NotFound(f"Unknown metric, format or transform {name!r}.{suggestion} See GET /v1/scorers.")


def formats_of(text: PackedText) -> list[spec.Suggestion]:
    """Return which formats a text may be in by its first lines, the likeliest first."""
    return suggestions(beginning(text, HEAD_BYTES + 1))


def problem_documents() -> list[dict[str, object]]:
    """Return all types, then all codes."""
    return [_entry_document(name, entry) for table in (errors.TYPES, errors.CODES) for name, entry in table.items()]


def problem_document(name: str) -> dict[str, object]:
    """Return one type or code.

    Raises:
        NotFound: none has this name.
    """
    entry = errors.TYPES.get(name) or errors.CODES.get(name)
    if entry is None:
        shown = name[: errors.LONGEST_SHOWN]
        suggestion = wording.did_you_mean(shown, [*errors.TYPES, *errors.CODES])
        raise errors.NotFound(f"Unknown problem {shown!r}.{suggestion} See GET /problems.")
    return _entry_document(name, entry)


def _entry_document(name: str, entry: Entry) -> dict[str, object]:
    kind = {"kind": "type", "status": entry.status} if isinstance(entry, errors.ProblemType) else {"kind": "code"}
    example = {"example": entry.example} if entry.example else {}
    words = {each: getattr(entry, each) for each in ("title", "cause", "fix")}
    return {"name": name, "uri": f"/problems/{name}", **kind, **words, **example}


_SHOWN = ("submission", "validation", "revision")
"""Kinds of runs that are shown beside jobs, only by whether they are finished."""
_WAITING = ("submission", "validation", jobs.KIND)
"""Kinds of runs whose waits are shown. Others follow the success of a submission."""
_WAITS = 1000
"""Runs that began last, whose waits are shown."""
_WAITED = monitoring.Family(
    "treescore_wait_seconds",
    f"Seconds from creation to start of the {_WAITS} runs that began last",
    ("kind",),
    (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0),
)


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
    queue = context.queue.state()
    workers, views = Workers(), "unknown"
    with suppress(*REDIS_ERRORS):
        if queue == "ok":
            states = context.queue.kernels(LIVE)
            workers = Workers(len(states), next((state for state in _KERNELS if state in states), None))
            views = "ok" if context.queue.alive(VIEWS) else "none"
    checks = {
        "store": "ok" if context.store.alive() else "away",
        "queue": queue,
        "workers": workers.state,
        "views": views,
        "disk": disk_of(context.store).state,
        "schema": schema,
    }
    accepts = checks["store"] == "ok" and schema == SchemaState.CURRENT and checks["disk"] != DiskState.FULL
    return accepts, checks, workers


def schema_state(context: Context) -> str:
    """Return how the store's tables compare with this code; `unknown` while the store does not answer."""
    try:
        with context.store.read() as db:
            return schema_of(db).state
    except DBAPIError:
        return "unknown"


def metrics_text(context: Context) -> bytes:
    """Return counts of stored and queued runs as Prometheus text. They come from the store, so any process may answer.

    The text is public, so it does not tell how submissions ended: where teams may not know that, a count would tell
    them, and so would the comparisons that follow each success.
    """
    registry = CollectorRegistry()
    Gauge("treescore_info", "Version of the service", ["version"], registry=registry).labels(version.__version__).set(1)
    by_state = Gauge("treescore_runs", "Runs in the store", ["kind", "state"], registry=registry)
    with context.store.read() as db:
        for (kind, state), number in runs.counts_by_state(db).items():
            if kind == jobs.KIND:
                by_state.labels(kind, state).set(number)
            elif kind in _SHOWN:
                by_state.labels(kind, state if state in runs.UNFINISHED else "finished").inc(number)
        registry.register(_waits(runs.waits(db, _WAITING, _WAITS)))
    waiting = Gauge("treescore_queue_length", "Wake-ups that wait in Redis", ["queue"], registry=registry)
    up = Gauge("treescore_redis_up", "Whether Redis answers", registry=registry)
    try:
        # comparisons and boards follow each success: what waits in their queue would tell of one
        waiting.labels(LIVE).set(context.queue.lengths()[LIVE])
        up.set(1)
    except REDIS_ERRORS:
        up.set(0)
    return generate_latest(registry)


def _waits(waits: Mapping[str, Sequence[float]]) -> monitoring.Summed:
    """Return a histogram of seconds waited, by kind of run, with their rounded sum."""
    counted = monitoring.Meters()
    for kind, waited in waits.items():
        for seconds in waited:
            counted.observe(_WAITED, seconds, kind)
    return monitoring.Summed({field: round(number) for field, number in counted.take().items()}, (_WAITED,))


def private_metrics_text(context: Context) -> bytes:
    """Return the metrics as Prometheus text, beside the public ones. Without Redis only those of the store."""
    registry = CollectorRegistry()
    with context.store.read() as db:
        _show_runs(registry, db, context)
    workers = Gauge("treescore_workers", "Workers that send heartbeats", ["queue", "state"], registry=registry)
    context.queue.add_counts()
    try:
        load = context.queue.load()
        registry.register(monitoring.Summed(context.queue.counts()))
    except REDIS_ERRORS:
        registry.unregister(workers)
        return generate_latest(registry)
    for queue in RUN_QUEUES:
        for state in ("busy", "idle"):
            workers.labels(queue, state).set(load[queue, state])
    return generate_latest(registry)


def _show_runs(registry: CollectorRegistry, db: Connection, context: Context) -> None:
    waiting = Gauge("treescore_waiting", "Runs that wait for a worker", ["queue", "kind"], registry=registry)
    running = Gauge("treescore_running", "Runs that a worker has begun", ["queue", "kind"], registry=registry)
    oldest = Gauge(
        "treescore_oldest_waiting_seconds", "Age of the run that waits longest; 0 without one", ["queue"],
        registry=registry,
    )  # fmt: skip
    now = context.now()
    begin = dict.fromkeys(RUN_QUEUES, now)
    for queue, kind in product(RUN_QUEUES, kinds.KINDS):
        waiting.labels(queue, kind).set(0)
        running.labels(queue, kind).set(0)
    for each in runs.open_counts(db):
        (waiting if each.state == runs.QUEUED else running).labels(each.queue, each.kind).set(each.number)
        if each.state == runs.QUEUED:
            begin[each.queue] = min(begin.get(each.queue, now), each.oldest)
    for queue, since in begin.items():
        oldest.labels(queue).set((now - since).total_seconds())
