"""gunicorn's log without the text of requests: a line, a header or a query may hold a token."""

from __future__ import annotations

import logging
import re
import sys

import structlog

from service.logs import fault

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


def install() -> None:
    """Filter the log of this process."""
    logging.getLogger(GUNICORN).addFilter(quotes_nothing)
