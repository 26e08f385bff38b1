"""The log of a process: a line on standard error for each event, of the service or of a library.

On a terminal the lines are plain, elsewhere each is a JSON object with `timestamp`, `level`, `logger` and `event`.
`request_id` is that of the request which stored the run, `run` the run's id, which is that of its job or submission;
both are bound to a request or a block, and are stored with a run, so that its worker has them too.
"""

import json
import logging
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partialmethod
from types import MappingProxyType, TracebackType
from typing import TextIO

from service.config import AUTO, Config, ConfigError

REQUEST_ID, RUN_ID = "request_id", "run"
Ids = Mapping[str, str | None]
_bound: ContextVar[Ids] = ContextVar("bound", default=MappingProxyType({}))


class Log:
    """Logs events of one part of the service, each with fields.

    Args:
        part: a name below `treescore`.
    """

    def __init__(self, part: str) -> None:
        self._logger = logging.getLogger(f"treescore.{part}")

    def log(self, level: int, event: str, **fields: object) -> None:
        """Log an event at a level of `logging`."""
        self._logger.log(level, event, extra={"fields": fields})

    debug = partialmethod(log, logging.DEBUG)  # what is looked for only when something is wrong
    info = partialmethod(log, logging.INFO)  # what is as it should be
    warning = partialmethod(log, logging.WARNING)  # what an operator should know of
    error = partialmethod(log, logging.ERROR)  # a fault


_log = Log("process")


def bound() -> Ids:
    """Return the fields that all lines have now."""
    return _bound.get()


def bind(**fields: str) -> None:
    """Give all lines these fields, until the block around it ends or `begin` is called."""
    _bound.set({**_bound.get(), **fields})


def note_stored(run_id: str) -> str | None:
    """Give the lines of a request the id of a run that it stores. Return the id of the request that the run is from."""
    known = bound()
    if RUN_ID not in known:
        bind(run=run_id)
    return known.get(REQUEST_ID)


def begin(request_id: str) -> None:
    """Give all lines the id of a request from now on, and nothing of the one before it."""
    _bound.set({REQUEST_ID: request_id})


@contextmanager
def at_work(run_id: str, request_id: str | None = None, **more: str) -> Iterator[None]:
    """Give all lines of a block the ids of the run that is worked on."""
    token = _bound.set({**_bound.get(), RUN_ID: run_id, REQUEST_ID: request_id, **more})
    try:
        yield
    finally:
        _bound.reset(token)


def is_plain(config: Config) -> bool:
    """Return whether lines are for people."""
    return sys.stderr.isatty() if config.log_format == AUTO else config.log_format == "plain"


def configure_logs(config: Config) -> None:
    """Set up the log of this process, also for libraries, warnings, and uncaught exceptions."""
    plain = is_plain(config)
    level = ("warning" if plain else "info") if config.log_level == AUTO else config.log_level
    HANDLER.setFormatter(PlainLine() if plain else JsonLine())
    HANDLER.setLevel(level.upper())
    logging.getLogger().addHandler(HANDLER)  # which leaves libraries at warnings
    logging.getLogger("treescore").setLevel(level.upper())
    logging.captureWarnings(capture=True)
    sys.excepthook = _uncaught
    threading.excepthook = lambda args: fault(args.exc_type, args.exc_traceback)
    sys.unraisablehook = lambda args: fault(args.exc_type, args.exc_traceback)


class _StandardError(logging.StreamHandler[TextIO]):
    """Standard error. Lines that it does not take are lost: a full disk or a reader that has ended stops no work."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        self.stream = sys.stderr  # as it is now
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - its name
        """Do nothing."""


HANDLER = _StandardError()


class JsonLine(logging.Formatter):
    """Makes a JSON object of each event."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line, in ASCII: standard error may have another encoding than UTF-8."""
        event, fields = _event(record)
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")
        head = {
            "timestamp": moment.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": event,
        }
        return json.dumps(head | fields, default=str, separators=(",", ":"))


class PlainLine(logging.Formatter):
    """Makes a line for people of each event."""

    def format(self, record: logging.LogRecord) -> str:
        """Return time, level, event and fields."""
        event, fields = _event(record)
        head = f"{datetime.fromtimestamp(record.created):%Y-%m-%d %H:%M:%S} [{record.levelname.lower()}] {event}"  # noqa: DTZ006 - theirs
        return " ".join([head, *(f"{name}={_plain(value)}" for name, value in fields.items())])


def _plain(value: object) -> str:
    return value if isinstance(value, str) and value.isprintable() and " " not in value else repr(value)


def _event(record: logging.LogRecord) -> tuple[str, dict[str, object]]:
    """Return an event and its fields; what a library logs is a `notice`, or a `fault` where it logs an exception."""
    own: Mapping[str, object] | None = getattr(record, "fields", None)
    if own is not None:
        return str(record.msg), {**_bound.get(), **own}
    fields: dict[str, object] = {**_bound.get(), "detail": record.getMessage()}
    if record.exc_info and record.exc_info[0]:
        kind, _, trace = record.exc_info
        return "fault", fields | {"kind": kind.__name__, "places": places(trace)}
    return "notice", fields


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if isinstance(error, ConfigError):  # quotes only the environment, and the operator must read it
        _log.error("configuration", detail=str(error))
    else:
        fault(kind, trace)


def fault(kind: type[BaseException], trace: TracebackType | None, **more: str) -> None:
    """Log an unexpected exception: its kind and the places it went through. Its message may quote gold."""
    _log.error("fault", kind=kind.__name__, places=places(trace), **more)


def places(trace: TracebackType | None) -> list[str]:
    """Return the places of a traceback, without source lines."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
