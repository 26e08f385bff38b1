"""`treescore transforms`: which transforms there are, and one with its parameters."""

from __future__ import annotations

import click

from treescore.cli.exits import epilog
from treescore.cli.names import TRANSFORMS, completer


@click.command(epilog=epilog("treescore transforms", "treescore transforms heads", "treescore transforms --json"))
@click.argument("name", required=False, metavar="[NAME]", shell_complete=completer(TRANSFORMS))
@click.option("--json", "as_json", is_flag=True, help="Print the entries of the service's catalogue.")
def transforms(name: str | None, *, as_json: bool) -> None:
    """List the transforms, or describe one with its parameters."""
    from treescore.cli.catalogue import TRANSFORM, show  # noqa: PLC0415 - the help needs no registry

    show(TRANSFORM, name, as_json=as_json)
