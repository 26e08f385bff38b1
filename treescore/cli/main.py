"""The `treescore` command.

The wheel does not hold the service, so commands of the service start `python -m service`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile

import click

from treescore.cli.exits import GIVEN, INTERRUPTED, NOT_INSTALLED, WritingGroup, as_file
from treescore.errors import MissingExtra, ScoringError

INSTALL = "pip install -e . --group service"
ELSEWHERE = (
    f"The service is not part of this package. Use a checkout ({INSTALL}, with pip 25.1 or newer) or the image "
    "(docs/operate/deployment.md)."
)


def service_command(name: str, help_line: str) -> click.Command:
    """Return a command that replaces this process by the service's command of the same name."""

    @click.command(
        name,
        help=help_line,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    )
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def command(arguments: tuple[str, ...]) -> None:
        if not service_is_here():
            click.echo(f"Error: {ELSEWHERE}", err=True)
            raise SystemExit(NOT_INSTALLED)
        line = [sys.executable, "-m", "service", name, *arguments]
        sys.stdout.flush()
        os.execv(line[0], line)  # noqa: S606 - our own command line

    return command


def service_is_here() -> bool:
    """Return whether the service can be imported; another package named `service` does not count."""
    try:
        return importlib.util.find_spec("service.wsgi") is not None
    except ModuleNotFoundError:
        return False


SCORE, KNOW, SEND, RUN = (
    "Score and compare files",
    "What it knows, and help for the shell",
    "Take part in a benchmark, or organise one",
    f"Run the service (in a checkout: {INSTALL})",
)
"""Sections of the list of commands, in this order."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command is and its help: both are known before its module is loaded.

    Attributes:
        help: one line, the first sentence of the command's own help.
        section: of the list of commands.
        module: of `treescore.cli` where the command is; empty for a command of the service.
    """

    help: str
    section: str = RUN
    module: str = ""


COMMANDS: Mapping[str, Entry] = {
    "score": Entry("Score outputs against gold.", SCORE, "scoring"),
    "compare": Entry("Tell which differences between two or more outputs are real.", SCORE, "scoring"),
    "errors": Entry("List the errors of outputs, sentence by sentence.", SCORE, "inspection"),
    "slices": Entry("Show the scores of outputs by relation, tag, length, ...", SCORE, "inspection"),
    "diff": Entry("List the sentences that output A has right and output B has wrong.", SCORE, "inspection"),
    "repeat": Entry(
        "Score files again and print the answer of COMPARISON, a comparison of submissions as JSON.", SCORE, "scoring"
    ),
    "suggest": Entry(
        "Tell the format of a file by its first lines, with the metrics that fit it, and say why.", KNOW, "reference"
    ),
    "metrics": Entry("List the metrics, or describe one with its parameters.", KNOW, "reference"),
    "formats": Entry("List the formats, or describe one with its options.", KNOW, "reference"),
    "transforms": Entry("List the transforms, or describe one with its parameters.", KNOW, "reference"),
    "cite": Entry(
        "Print BibTeX of Treescore and of the papers of the metrics that are named, or of all.", KNOW, "reference"
    ),
    "completion": Entry("Print the script that completes commands in a shell.", KNOW, "reference"),
    "submit": Entry(
        "Send outputs to a benchmark, wait, and print score, interval, rank and whether a difference is real.",
        SEND,
        "submit",
    ),
    "organise": Entry(
        "Organise a benchmark: settings, teams, submissions, revisions, figures, tokens.", SEND, "organise"
    ),
    "serve": Entry("Start everything (store, Redis, API, workers, views, sweeper) and keep it running until Ctrl-C."),
    "demo": Entry("Start the service, score the example benchmarks over HTTP, print scores and name the page."),
    "api": Entry("Run the HTTP API (gunicorn) at TREESCORE_BIND."),
    "worker": Entry("Run one worker process."),
    "views": Entry("Run the one process that makes items, slices and trees of outputs when they are asked for."),
    "sweeper": Entry("Run the sweeper, which requeues unfinished runs that no worker holds."),
    "migrate": Entry("Bring the store's tables up to date."),
    "backup": Entry("Write store, keys and organise token to a new FILE that only its owner can read."),
    "restore": Entry("Verify the backup FILE, then restore it into an empty data directory or database."),
    "check": Entry("Check texts, artifacts, scores, references, files, schema, queue and disk."),
    "purge": Entry("List, and with --yes delete, what is kept no longer."),
    "token": Entry("Make, list, revoke and replace tokens."),
}

EPILOG = """\b
Examples:
  treescore score gold.conllu mine.conllu
  treescore compare gold.conllu A=mine.conllu B=theirs.conllu
  treescore errors gold.conllu mine.conllu --deprel obl
  treescore metrics ud

`treescore COMMAND --help` shows options, examples and exit statuses."""


class Commands(WritingGroup):
    """Load a command when it is called, so that `--help` and scoring a file load no library of the service."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Return the names in the order of COMMANDS."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as click calls it
        """Return a command; those of the service replace this process by one of the service."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        if not entry.module:
            return service_command(cmd_name, entry.help)
        # No command gains by threads of the linear algebra; starting them costs each one time and memory.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        command: click.Command = getattr(importlib.import_module(f"treescore.cli.{entry.module}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; for an unknown one name a similar one."""
        ctx.meta[GIVEN] = args
        if args and not args[0].startswith("-") and args[0] not in COMMANDS and not ctx.resilient_parsing:
            from treescore.core.wording import did_you_mean  # noqa: PLC0415 - a known command needs none

            ctx.fail(f"Unknown command {args[0]!r}.{did_you_mean(args[0], COMMANDS)}")
        for each in takewhile("--".__ne__, () if ctx.resilient_parsing else args):
            named = len(each) > 2 and each.startswith("-") and (each[1] != "-" or "." in each)
            if named and os.path.exists(each):  # noqa: PTH110 - Path.exists fails at a long path
                ctx.fail(f"{each} is read as an option, not as a file. {as_file(each)}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        """Return the commands that begin so, without loading one."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - what runs a command can spare

        found = [CompletionItem(name, help=COMMANDS[name].help) for name in COMMANDS if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> object:
        """Run the chosen command; end it with lines where the input is wrong, and without a traceback at Ctrl-C."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            for each in ctx.meta[GIVEN]:
                cluster = each[:1] == "-" != each[1:2] and error.option_name[1:] in each
                if "." in each and (cluster or each.startswith(error.option_name)):
                    words = f"{error.message} {as_file(each)}"
                    raise click.NoSuchOption(error.option_name, words, ctx=error.ctx) from error
            raise
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            raise SystemExit(INTERRUPTED) from None
        except MissingExtra as error:
            click.echo(f"Error: {error}", err=True)
            raise SystemExit(NOT_INSTALLED) from error
        except ScoringError as error:
            from treescore.cli.files import ended  # noqa: PLC0415 - it loads arrays, which a good input may not need

            raise ended(error, ctx.meta.get(GIVEN, ())) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as click calls it
        """Write the list of commands without loading one."""
        for section in (SCORE, KNOW, SEND, RUN):
            with formatter.section(section):
                formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items() if entry.section == section])


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="treescore")
def main() -> None:
    """Score parsers and treebanks: exact scores, and which differences are real."""


if __name__ == "__main__":
    main(prog_name="treescore")
