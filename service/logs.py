"""Write structured logs on standard error: plain lines on a terminal, else one JSON object per line."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType

import orjson
import structlog

from service.config import AUTO, Config
from service.variables import ConfigError


def configure_logs(config: Config) -> None:
    """Set up the log of this process, also for what libraries log; request ids come from context variables."""
    plain = sys.stderr.isatty() if config.log_format == AUTO else config.log_format == "plain"
    level = ("warning" if plain else "info") if config.log_level == AUTO else config.log_level
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, *(_PLAIN if plain else [_json_line])],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.BytesLoggerFactory(file=_StandardError()),  # type: ignore[arg-type]
        cache_logger_on_first_use=True,
    )
    logging.getLogger().addHandler(LIBRARIES)
    # uncaught exceptions are logged like this too, never with a message that may quote a text
    sys.excepthook = _uncaught
    threading.excepthook = lambda args: fault(args.exc_type, args.exc_traceback)


class _StandardError:
    """Standard error for lines that may be lost: a full disk or a reader that has ended stops no work."""

    def write(self, line: bytes) -> None:
        """Write a line, if that is possible."""
        with suppress(OSError):
            sys.stderr.buffer.write(line)

    def flush(self) -> None:
        """Hand over what is written, if that is possible."""
        with suppress(OSError):
            sys.stderr.buffer.flush()


def _json_line(_logger: object, level: str, event: structlog.typing.EventDict) -> bytes:
    event["level"] = level
    event["timestamp"] = datetime.now(UTC)
    return orjson.dumps(event, default=str, option=orjson.OPT_UTC_Z)


def _encoded(_logger: object, _level: str, line: str) -> bytes:
    return line.encode(errors="backslashreplace")


_PLAIN: list[structlog.typing.Processor] = [
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper("%Y-%m-%d %H:%M:%S", utc=False),
    structlog.dev.ConsoleRenderer(colors=False),
    _encoded,  # type: ignore[list-item]
]


class _Libraries(logging.Handler):
    """Writes what libraries log (treescore, gunicorn, RQ, SQLAlchemy, ...) as the service does."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one message; of an exception its kind and places in a further line."""
        structlog.get_logger(record.name).log(record.levelno, "notice", detail=record.getMessage())
        if record.exc_info and record.exc_info[0] and record.exc_info[1]:
            _uncaught(*record.exc_info)


LIBRARIES = _Libraries()


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
