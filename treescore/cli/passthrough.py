"""Commands of the service. The wheel does not hold the service, so they start `python -m service`."""

from __future__ import annotations

import importlib.util
import os
import sys

import click

from treescore.cli.exits import NOT_INSTALLED

ELSEWHERE = (
    "The service is not part of this package. Use a checkout (pip install -e . --group service) or the image "
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
