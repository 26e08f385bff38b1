"""`python -m service`: the commands that start processes of the service, and those that operate it."""

import importlib
from collections.abc import Mapping

import click

from service.commands.processes import one_line
from service.process import private_umask
from treescore.cli.exits import WritingGroup
from treescore.cli.main import COMMANDS

MODULES: Mapping[str, str] = {
    command: f"service.commands.{module}"
    for module, commands in (
        ("serve", "serve"),
        ("processes", "api worker views sweeper"),
        ("maintenance", "migrate"),
        ("demo", "demo"),
        ("maintenance", "backup restore check purge token"),
    )
    for command in commands.split()
}
"""Module of each command."""


class Commands(WritingGroup):
    """The commands of MODULES; an error of the environment ends them with one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of MODULES."""
        del ctx
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        del ctx
        if cmd_name not in MODULES:
            return None
        command: click.Command = getattr(importlib.import_module(MODULES[cmd_name]), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading one."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].help) for name in MODULES])

    def invoke(self, ctx: click.Context) -> object:
        """Run the chosen command; only its owner can read the files that it makes.

        Raises:
            ClickException: the configuration, the store or a file is not usable.
        """
        private_umask()
        with one_line():
            return super().invoke(ctx)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="treescore")
def main() -> None:
    """Start the service or one of its processes, or operate it."""


if __name__ == "__main__":
    main(prog_name="treescore")
