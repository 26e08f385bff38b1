"""The treescore command."""

from __future__ import annotations

from typing import Any

import click

from service.cli.demo import demo
from service.cli.processes import api, migrate, sweeper, worker
from service.cli.score import compare, score
from service.cli.serve import serve
from service.cli.submit import submit
from service.config import ConfigError


class Commands(click.Group):
    """Says in one line what is wrong with the environment."""

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


for command in (serve, demo, score, compare, submit, migrate, api, worker, sweeper):
    main.add_command(command)

if __name__ == "__main__":
    main()
