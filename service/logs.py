"""Write structured logs: one JSON object per line on standard error."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from datetime import UTC, datetime
from types import TracebackType

import orjson
import structlog

from service.variables import ConfigError


def configure_logs() -> None:
    """Set up structlog for this process; request ids come from context variables."""
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, _line],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.BytesLoggerFactory(file=sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
    logging.getLogger("treescore").handlers = [_Forwarded()]
    # uncaught exceptions are logged like this too, never with a message that may quote a text
    sys.excepthook = _uncaught
    threading.excepthook = lambda args: fault(args.exc_type, args.exc_traceback)


def _line(_logger: object, level: str, event: structlog.typing.EventDict) -> bytes:
    event["level"] = level
    event["timestamp"] = datetime.now(UTC)
    return orjson.dumps(event, default=str, option=orjson.OPT_UTC_Z)


class _Forwarded(logging.Handler):
    """Writes what the library logs as the service does."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one message."""
        structlog.get_logger(record.name).warning("notice", detail=record.getMessage())


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if isinstance(error, ConfigError):  # quotes only the environment, and the operator must read it
        structlog.get_logger("treescore").error("configuration", detail=str(error))
    else:
        fault(kind, trace)


def fault(kind: type[BaseException], trace: TracebackType | None, **more: str) -> None:
    """Log an unexpected exception: its kind and the places it went through. Its message may quote gold."""
    structlog.get_logger("treescore").error("fault", kind=kind.__name__, places=places(trace), **more)


def places(trace: TracebackType | None) -> list[str]:
    """Return the places of a traceback, without source lines."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
