"""The treescore command."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from service.config import ConfigError

MODULES: Mapping[str, str] = {
    "api": "service.cli.processes",
    "compare": "service.cli.score",
    "demo": "service.cli.demo",
    "migrate": "service.cli.processes",
    "score": "service.cli.score",
    "serve": "service.cli.serve",
    "submit": "service.cli.submit",
    "sweeper": "service.cli.processes",
    "worker": "service.cli.processes",
}
"""Where each command is: it is loaded when it is called, so that scoring a file loads no database and no queue."""


class Commands(click.Group):
    """The commands of MODULES; says in one line what is wrong with the environment."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        del ctx
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them, loaded now."""
        del ctx
        if cmd_name not in MODULES:
            return None
        command: click.Command = getattr(importlib.import_module(MODULES[cmd_name]), cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except ConfigError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="treescore")
def main() -> None:
    """Score parsers and treebanks: exact scores, and which differences are real."""


if __name__ == "__main__":
    main()
