"""`treescore completion`: the script with which a shell completes commands, options and names."""

from __future__ import annotations

from typing import NamedTuple

import click

from treescore.cli.exits import epilog
from treescore.cli.values import OneOf


class Shell(NamedTuple):
    """How the script is installed in a shell.

    Attributes:
        install: the line that a person runs once.
        where: what makes it hold.
    """

    install: str
    where: str


SHELLS = {
    "bash": Shell("treescore completion bash > ~/.treescore.bash", "Add `. ~/.treescore.bash` to ~/.bashrc."),
    "zsh": Shell("treescore completion zsh > ~/.treescore.zsh", "Add `. ~/.treescore.zsh` to ~/.zshrc."),
    "fish": Shell("treescore completion fish > ~/.config/fish/completions/treescore.fish", "New shells find it."),
}
_PROGRAM, _VARIABLE = "treescore", "_TREESCORE_COMPLETE"


@click.command(epilog=epilog(*(shell.install for shell in SHELLS.values())))
@click.argument("shell", type=OneOf(list(SHELLS)))
def completion(shell: str) -> None:
    """Print the script that completes commands in a shell.

    It completes commands, options, names of metrics, formats and transforms, and files. Its last lines say what makes a
    shell read it.
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - the help can spare it

    made = get_completion_class(shell)
    root = click.get_current_context().find_root().command
    if made is None:  # pragma: no cover - click has all of SHELLS
        raise click.ClickException(f"This click has no completion for {shell}.")
    said = SHELLS[shell]
    click.echo(made(root, {}, _PROGRAM, _VARIABLE).source())
    click.echo(f"# To install: {said.install}\n# {said.where}")
