"""The single processes of the service, for containers and for the supervisor. Configured by environment only."""

from __future__ import annotations

import os
import re
import sys

import click
from sqlalchemy.exc import SQLAlchemyError

from service.config import load_config
from service.store.database import Store
from service.store.migrate import migrate as run_migrations

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""There is a process for each core: threads of the linear algebra inside one would only wait for each other."""

SAFE = re.compile(r"//[^/]*@")
"""User and password of a URL, which no message shows."""


def api_command() -> list[str]:
    """Gunicorn with the API."""
    return [sys.executable, "-m", "gunicorn", "--config", "python:service.gunicorn_conf", "service.wsgi:app"]


def worker_command(queue: str) -> list[str]:
    """One worker process on one queue."""
    return [sys.executable, "-m", "workers.process", "--queue", queue]


def sweeper_command() -> list[str]:
    """The sweeper."""
    return [sys.executable, "-m", "workers.sweeper"]


def migrate_command() -> list[str]:
    """The migrations."""
    return [sys.executable, "-m", "service", "migrate"]


def become(command: list[str]) -> None:
    """Replace this process."""
    sys.stdout.flush()
    os.execve(command[0], command, {**ONE_THREAD, **os.environ})  # noqa: S606 - our own command lines


@click.command()
def migrate() -> None:
    """Bring the store's tables up to date."""
    url = load_config().database_url
    try:
        store = Store(url)
        run_migrations(store)
        store.close()
    except (SQLAlchemyError, OSError, ImportError) as error:
        place = SAFE.sub("//***@", url)
        raise click.ClickException(f"The store {place} cannot be used: {str(error).splitlines()[0]}") from error


@click.command()
def api() -> None:
    """Run the HTTP API (gunicorn) at TREESCORE_BIND."""
    become(api_command())


@click.command()
@click.option("--queue", type=click.Choice(["live", "bulk"]), default="live", show_default=True)
def worker(queue: str) -> None:
    """Run one worker process."""
    become(worker_command(queue))


@click.command()
def sweeper() -> None:
    """Run the sweeper, which queues again what was lost."""
    become(sweeper_command())
