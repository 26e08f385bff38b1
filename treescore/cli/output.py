"""Standard output that takes nothing: a full disk, a closed descriptor."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import click

UNWRITTEN = 74
"""Exit status: standard output could not be written. EX_IOERR of BSD's sysexits.h, no verdict of any command."""


class WritingGroup(click.Group):
    """Commands that end with one line where standard output cannot be written.

    Where its reader has read enough (`| head`), click ends them without a word.
    """

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command that the arguments name, as click does."""
        if sys.stdout is None:
            _end("it is closed")
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            if error.filename is not None:
                raise
            os.dup2(
                os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
            )  # what is unwritten is tried again at the end
            _end(error.strerror or str(error))


def _end(reason: str) -> NoReturn:
    click.echo(f"Error: Standard output cannot be written: {reason}.", err=True)
    raise SystemExit(UNWRITTEN)
