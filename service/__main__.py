"""`python -m service`: the commands that start processes of the service."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from service.config import ConfigError

MODULES: Mapping[str, str] = {
    "serve": "service.commands.serve",
    "api": "service.commands.processes",
    "worker": "service.commands.processes",
    "sweeper": "service.commands.processes",
    "migrate": "service.commands.processes",
    "demo": "service.commands.demo",
}
"""Where each command is."""


class Commands(click.Group):
    """The commands of MODULES; says in one line what is wrong with the environment."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names."""
        del ctx
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one of them."""
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
    """Start the service, or one of its processes."""


if __name__ == "__main__":
    main(prog_name="treescore")
