"""Structured logs: one JSON object a line on standard error."""

from __future__ import annotations

import logging
import sys

import orjson
import structlog


def configure_logs(level: int = logging.INFO) -> None:
    """Set up structlog for this process; request ids come from context variables."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(lambda line, **_: orjson.dumps(line, default=str).decode()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
