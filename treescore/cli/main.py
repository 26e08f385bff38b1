"""The `treescore` command."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass

import click

from treescore.cli.output import WritingGroup
from treescore.cli.passthrough import service_command


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command is and its help: both are known before its module is loaded.

    Attributes:
        help: one line, the first sentence of the command's own help.
        module: where the command is; empty for a command of the service.
    """

    help: str
    module: str = ""


COMMANDS: Mapping[str, Entry] = {
    "score": Entry(
        "Score OUTPUTS (each PATH or NAME=PATH) against GOLD and print the document that a job would hold.",
        "treescore.cli.score",
    ),
    "compare": Entry(
        "Compare two or more OUTPUTS (each PATH or NAME=PATH) and print which differences are real.",
        "treescore.cli.compare",
    ),
    "repeat": Entry(
        "Score files again and print the answer of COMPARISON, a comparison of submissions as JSON.",
        "treescore.cli.repeat",
    ),
    "submit": Entry(
        "Send outputs to a benchmark, wait, and print score, interval, rank and whether a difference is real.",
        "treescore.cli.submit",
    ),
    "serve": Entry("Start everything (store, Redis, API, workers, sweeper) and keep it running until Ctrl-C."),
    "demo": Entry("Start the service, score the example benchmark over HTTP and print scores and cross-tables."),
    "api": Entry("Run the HTTP API (gunicorn) at TREESCORE_BIND."),
    "worker": Entry("Run one worker process."),
    "sweeper": Entry("Run the sweeper, which requeues unfinished runs that no worker holds."),
    "migrate": Entry("Bring the store's tables up to date."),
    "backup": Entry("Write store, keys and organise token to a new FILE that only its owner can read."),
    "restore": Entry("Verify the backup FILE, then restore it into an empty data directory or database."),
    "check": Entry("Check texts, artifacts, scores, references, files, schema, queue and disk."),
    "purge": Entry("List, and with --yes delete, what is kept no longer."),
    "token": Entry("Make, list, revoke and replace tokens."),
    "doctor": Entry("Look at configuration, files, disk, clocks, versions, store, queue and workers."),
}


class Commands(WritingGroup):
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
        # No command gains by threads of the linear algebra; starting them costs each one time and memory.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
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
