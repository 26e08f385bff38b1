"""Exit statuses of `treescore submit` and of checks of a margin, and the error that ends a command with one."""

from __future__ import annotations

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
