"""The single processes of the service, for containers and the supervisor. Only the environment configures them."""

from __future__ import annotations

import contextlib
import os
import sys

import click
from sqlalchemy.exc import DBAPIError

from service.config import Config, load_config
from service.files import close_files
from service.hosts import answered_hosts
from service.logs import configure_logs
from service.store.database import Store
from service.store.schema import require_current

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Each core has a process of its own, so threads of the linear algebra inside one would only compete."""


def api_command() -> list[str]:
    """Return the command line of gunicorn with the API."""
    return [sys.executable, "-m", "gunicorn", "--config", "python:service.gunicorn_conf", "service.wsgi:app"]


def worker_command(queue: str) -> list[str]:
    """Return the command line of a worker on one queue."""
    return [sys.executable, "-m", "workers.process", "--queue", queue]


def sweeper_command() -> list[str]:
    """Return the command line of the sweeper."""
    return [sys.executable, "-m", "workers.sweeper"]


def compiler_command() -> list[str]:
    """Return the command line that compiles what scores large texts, while nothing else is to be done."""
    return ["nice", "-n", "19", sys.executable, "-m", "treescore.warm"]


def migrate_command() -> list[str]:
    """Return the command line of the migrations."""
    return [sys.executable, "-m", "service", "migrate"]


def prepared(config: Config) -> Config:
    """Return a configuration whose files are closed to other users.

    Raises:
        FilesError: something there belongs to another user.
        OSError: something there cannot be made private.
    """
    configure_logs(config)
    close_files(config)
    return config


def hosts_line(config: Config) -> str:
    """Return the line that says which hosts the API answers for."""
    names = answered_hosts(config.bind, config.public_url, config.allowed_hosts)
    more = (
        ""
        if config.public_url or config.allowed_hosts
        else "; TREESCORE_PUBLIC_URL and TREESCORE_ALLOWED_HOSTS add more"
    )
    return f"The API answers for these hosts: {', '.join(names)}{more}."


def become(command: list[str]) -> None:
    """Replace this process by a command, unless it could not read the store's tables.

    Raises:
        SchemaError: the tables are older or newer, or of no release.
    """
    store = Store(load_config().database_url)
    # a store that does not answer yet is waited for
    with contextlib.suppress(DBAPIError):
        require_current(store)
    store.close()
    sys.stdout.flush()
    os.execve(command[0], command, {**ONE_THREAD, **os.environ})  # noqa: S606 - our own command lines


@click.command()
def api() -> None:
    """Run the HTTP API (gunicorn) at TREESCORE_BIND."""
    click.echo(hosts_line(prepared(load_config())), err=True)
    become(api_command())


@click.command()
@click.option("--queue", type=click.Choice(["live", "bulk"]), default="live", show_default=True)
def worker(queue: str) -> None:
    """Run one worker process."""
    prepared(load_config())
    become(worker_command(queue))


@click.command()
def sweeper() -> None:
    """Run the sweeper, which requeues unfinished runs that no worker holds."""
    prepared(load_config())
    become(sweeper_command())
