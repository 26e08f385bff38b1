"""How a command ends: exit statuses and what they mean, and output that cannot be written.

A disk may be full, a descriptor closed, a folder not there.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

OK, MISSED, WRONG_INPUT, REFUSED, NO_SERVICE = range(5)
NOT_INSTALLED = 69
UNWRITTEN = 74
INTERRUPTED = 130

MEANINGS: Mapping[int, str] = {
    OK: "done",
    MISSED: "a threshold or claim was missed",
    WRONG_INPUT: "the command, an option or a file is wrong; each problem is a line on standard error",
    REFUSED: "not allowed: token, quota, closed",
    NO_SERVICE: "the service did not answer",
    NOT_INSTALLED: "something that the command needs is not installed; the message names the command that installs it",
    UNWRITTEN: "the output could not be written",
    INTERRUPTED: "interrupted (Ctrl-C)",
}
"""Exit status -> what it means. 69 and 74 are those of BSD's sysexits.h, 130 is a shell's for SIGINT."""

GIVEN = "treescore.cli.main"
"""Where a context keeps the arguments, the name of the command before them."""
_ALWAYS = (OK, WRONG_INPUT, UNWRITTEN, INTERRUPTED)
_WIDTH = 70


def as_file(name: str) -> str:
    """Say how a file is named that is read as an option."""
    return f"For a file of this name write ./{name}, or -- before it."


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


def epilog(*examples: str, **meanings: str) -> str:
    """Return the end of a command's help: examples, and its exit statuses.

    Args:
        examples: command lines.
        meanings: `status_N` -> what status N means for this command, for statuses beside those that every command
            has, or where the general words say too little; empty for the general words.
    """
    said = {int(name.removeprefix("status_")): text for name, text in meanings.items()}
    lines = ["\b", "Exit status:"]
    for status in sorted({*_ALWAYS, *said}):
        lines += _wrapped(f"{status:>5}  ", said.get(status) or MEANINGS[status])
    if not examples:
        return "\n".join(lines)
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in examples), "", *lines])


def _wrapped(head: str, text: str) -> Sequence[str]:
    from textwrap import wrap  # noqa: PLC0415 - click loads it for help alone, too

    return wrap(text, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


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
