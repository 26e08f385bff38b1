"""Exit statuses of the command, what they mean, and the error that ends a command with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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

_ALWAYS = (OK, WRONG_INPUT, UNWRITTEN, INTERRUPTED)
_WIDTH = 70


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
