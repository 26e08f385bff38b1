"""What the commands that operate a store share: their options, the open store, and how they print."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import orjson
from sqlalchemy import make_url

from service.commands.exits import CouldNotTell
from service.config import Config, load_config
from service.context import Context, open_context
from service.store.database import file_of_url, require_current_schema
from service.store.tokens import Token

Command = Callable[..., Any]


def operating_options(command: Command) -> Command:
    """Add `--data-dir` and `--json`."""
    command = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)
    directory = click.Path(path_type=Path)
    return click.option("--data-dir", type=directory, help="Where the state lives.  [default: .treescore]")(command)


def config_of(data_dir: Path | None) -> Config:
    """Return the configuration of the environment, with another data directory if one is given."""
    given = {} if data_dir is None else {"TREESCORE_DATA_DIR": str(data_dir)}
    return load_config({**os.environ, **given})


@contextmanager
def existing_store(config: Config, *, current: bool = True) -> Iterator[Context]:
    """Open a store that is there; nothing is created.

    Args:
        config: names it.
        current: whether its schema must be that of this program.

    Raises:
        CouldNotTell: no store is there.
        SchemaError: its schema is older or newer, or of no release.
    """
    file = file_of_url(make_url(config.database_url))
    if file is not None and not file.exists():
        raise CouldNotTell(f"No store at {file}. Set --data-dir or TREESCORE_DATABASE_URL.")
    context = open_context(config)
    try:
        if current:
            require_current_schema(context.store)
        yield context
    finally:
        context.store.close()
        context.queue.redis.close()


def show_document(document: Mapping[str, object], lines: Sequence[str], *, as_json: bool) -> None:
    """Print a document as JSON, or the lines that say the same to people."""
    if as_json:
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
        return
    for line in lines:
        click.echo(line)


def size(number: int) -> str:
    """Return a number of bytes for people."""
    return f"{number / 2**20:,.1f} MiB"


def owner(token: Token) -> str:
    """Return the team or the name of a token, for people."""
    if token.team_id is not None:
        return f"team {token.benchmark_id}/{token.team_id}"
    return token.name or "(no name)"
