"""`treescore teams`: make the teams of a table in the store, and print their tokens as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import click

from service.commands.exits import Refused
from service.commands.operating import config_of, existing_store, operating_options, show_document
from service.context import Context
from service.errors import ServiceError
from service.render.team_tokens import tokens_csv
from service.schemas.team_table import load_teams
from service.usecases.benchmarks.teams import create_teams
from service.usecases.operations.tokens import OPERATOR
from treescore.errors import Problem


@click.command()
@click.argument("benchmark")
@click.argument("table", type=click.File("rb"))
@operating_options
def teams(benchmark: str, table: BinaryIO, data_dir: Path | None, *, as_json: bool) -> None:
    """Make all teams of TABLE (CSV with the header id,name,contact; - for standard input), or none.

    Prints them with their tokens, which are shown only here. The service may run or be down.
    """
    config = config_of(data_dir)
    body = table.read(config.max_body_bytes + 1)
    if len(body) > config.max_body_bytes:
        raise Refused(f"The table exceeds {config.max_body_bytes} bytes. Make the teams in several runs.")
    with existing_store(config) as context:
        made = _made(context, benchmark, body)
    if as_json:
        show_document({"teams": made}, (), as_json=True)
    else:
        click.echo(tokens_csv(made), nl=False)


def _made(context: Context, benchmark: str, body: bytes) -> Sequence[dict[str, object]]:
    try:
        return create_teams(context, OPERATOR, benchmark, load_teams(body, context.config.max_problems))
    except ServiceError as error:
        more = error.total - len(error.problems)
        lines = [*map(_line, error.problems), *([f"and {more} more"] if more > 0 else [])]
        raise Refused("\n".join(lines or [error.detail])) from error


def _line(problem: Problem) -> str:
    return f"line {problem.line}, field {problem.column}: {problem.detail}"
