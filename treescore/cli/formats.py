"""`treescore formats`: which formats there are, and one with its options."""

from __future__ import annotations

import click

from treescore.cli.exits import epilog
from treescore.cli.names import FORMATS, completer


@click.command(epilog=epilog("treescore formats", "treescore formats pharaoh", "treescore formats --json"))
@click.argument("name", required=False, metavar="[NAME]", shell_complete=completer(FORMATS))
@click.option("--json", "as_json", is_flag=True, help="Print the entries of the service's catalogue.")
def formats(name: str | None, *, as_json: bool) -> None:
    """List the formats, or describe one with its options."""
    from treescore.cli.catalogue import FORMAT, show  # noqa: PLC0415 - the help needs no registry

    show(FORMAT, name, as_json=as_json)
