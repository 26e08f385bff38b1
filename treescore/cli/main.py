"""The `treescore` command."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass

import click

from treescore.cli.passthrough import service_command


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command is and its help: both are known before its module is loaded.

    Attributes:
        help: one line.
        module: where the command is; empty for a command of the service.
    """

    help: str
    module: str = ""


COMMANDS: Mapping[str, Entry] = {
    "score": Entry("Score outputs against gold.", "treescore.cli.score"),
    "compare": Entry("Compare outputs and print which differences are real.", "treescore.cli.score"),
    "repeat": Entry("Make a benchmark's comparison again, from files.", "treescore.cli.repeat"),
    "submit": Entry("Send outputs to a benchmark and wait for the score.", "treescore.cli.submit"),
    "serve": Entry("Start the whole service on this machine."),
    "demo": Entry("Start the service and score the example benchmark."),
    "api": Entry("Run the HTTP API."),
    "worker": Entry("Run one worker process."),
    "sweeper": Entry("Run the sweeper."),
    "migrate": Entry("Bring the store's tables up to date."),
    "backup": Entry("Write store, keys and organise token to one file."),
    "restore": Entry("Restore a backup into an empty place."),
    "check": Entry("Check everything that is stored, and where."),
    "purge": Entry("List or delete what is kept no longer."),
    "token": Entry("Make, list, revoke and replace tokens."),
    "doctor": Entry("Say of each part of the service whether it works."),
}


class Commands(click.Group):
    """Load a command when it is called, so that `--help` and scoring a file load no library of the service."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of COMMANDS."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; those of the service replace this process by one of the service."""
        del ctx
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        if not entry.module:
            return service_command(cmd_name, entry.help)
        command: click.Command = getattr(importlib.import_module(entry.module), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading one."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="treescore")
def main() -> None:
    """Score parsers and treebanks: exact scores, and which differences are real."""


if __name__ == "__main__":
    main()
