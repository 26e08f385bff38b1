"""Exit statuses of `treescore submit`, and the error that ends it with one."""

from __future__ import annotations

from treescore.client import ClientError, RefusedError, RequestError

OK, MISSED, WRONG_INPUT, REFUSED, NO_SERVICE = range(5)
"""Exit status: done; a threshold was missed; the input is wrong; not allowed (token, quota, closed); no answer."""


class Stopped(Exception):
    """The command ends here.

    Attributes:
        status: exit status.
        lines: one problem each.
    """

    def __init__(self, status: int, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.status = status
        self.lines = lines


def exit_status(error: ClientError) -> int:
    """Return the exit status of a request that did not succeed."""
    if isinstance(error, RequestError):
        return WRONG_INPUT
    return REFUSED if isinstance(error, RefusedError) else NO_SERVICE
