"""gunicorn's log without the text of requests: a line, a header or a query may hold a token."""

from __future__ import annotations

import logging
import re
import sys

import structlog

from service.config import Config
from service.logs import LIBRARIES, configure_logs, fault

GUNICORN = "gunicorn.error"
_REFUSED = re.compile(r"Invalid request from ip=(\S*): ")
_FAILED = "Error handling request"

log = structlog.get_logger("treescore.server")


def quotes_nothing(record: logging.LogRecord) -> bool:
    """Return whether gunicorn may log this; what quotes a request is logged here, by its kind.

    gunicorn logs both in the handler of the exception, so that it is known here.
    """
    text = str(record.msg)
    refused = _REFUSED.match(text)
    if refused is None and not text.startswith(_FAILED):
        return True
    kind, _, trace = sys.exc_info()
    if refused is None:
        fault(kind or Exception, trace)
    else:
        log.warning("invalid-request", client=refused[1], kind=None if kind is None else kind.__name__)
    return False


def gunicorn_log(config: Config) -> dict[str, object]:
    """Return gunicorn's setting `logconfig_dict`, with which its lines go to the service's log."""

    def service_log() -> logging.Handler:
        configure_logs(config)
        return LIBRARIES

    return {
        "filters": {"quotes-nothing": {"()": lambda: quotes_nothing}},
        "formatters": {},
        "handlers": {"service": {"()": service_log}},
        "loggers": {GUNICORN: {"level": "INFO", "filters": ["quotes-nothing"], "propagate": True}},
        "root": {"level": "WARNING", "handlers": ["service"]},
    }
