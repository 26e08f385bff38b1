"""Output that cannot be written: a full disk, a closed descriptor, a folder that is not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from treescore.cli.exits import UNWRITTEN


class WritingGroup(click.Group):
    """Commands that end with one line where standard output cannot be written.

    Where its reader has read enough (`| head`), click ends them without a word.
    """

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command that the arguments name, as click does."""
        if sys.stdout is None:
            _end_unwritten("Standard output", "it is closed")
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            if error.filename is not None:
                raise
            os.dup2(
                os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
            )  # what is unwritten is tried again at the end
            _end_unwritten("Standard output", error.strerror or str(error))


def write(content: bytes, output: Path | None) -> None:
    """Write to a file, whole or not at all, or to standard output."""
    if output is None:
        click.echo(content, nl=False)
        return
    try:
        if output.exists() and not output.is_file():
            output.write_bytes(content)  # a device or a pipe keeps its place
        else:
            _replace(Path(os.path.realpath(output)), content)
    except OSError as error:
        _end_unwritten(str(output), error.strerror or str(error))


def _replace(path: Path, content: bytes) -> None:
    """Write a file under another name, then give it its name: its readers see the old or the new one."""
    with _temporary(path) as written:
        written.write_bytes(content)
        if path.exists():
            written.chmod(path.stat().st_mode)
        written.replace(path)


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """Give a path beside another one; nothing is left there."""
    written = path.with_name(f".{path.name[:200]}.{os.getpid()}.tmp")
    try:
        yield written
    finally:
        written.unlink(missing_ok=True)


def _end_unwritten(what: str, reason: str) -> NoReturn:
    click.echo(f"Error: {what} cannot be written: {reason}.", err=True)
    raise SystemExit(UNWRITTEN)
