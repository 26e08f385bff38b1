"""`treescore metrics`: which metrics there are, and one with its parameters."""

from __future__ import annotations

import click

from treescore.cli.exits import epilog
from treescore.cli.names import METRICS, completer


@click.command(epilog=epilog("treescore metrics", "treescore metrics ud", "treescore metrics --json"))
@click.argument("name", required=False, metavar="[NAME]", shell_complete=completer(METRICS))
@click.option("--json", "as_json", is_flag=True, help="Print the entries of the service's catalogue.")
def metrics(name: str | None, *, as_json: bool) -> None:
    """List the metrics, or describe one with its parameters."""
    from treescore.cli.catalogue import METRIC, show  # noqa: PLC0415 - the help needs no registry

    show(METRIC, name, as_json=as_json)
