"""`treescore token` and `treescore teams`: tokens in the store, also while the service is down.

`treescore token` makes, lists and revokes them; `treescore teams` makes the teams of a table, and prints
their tokens as a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import click

from service.commands.exits import Refused
from service.commands.operating import config_of, existing_store, operating_options, owner, show_document
from service.context import Context
from service.errors import ServiceError
from service.requests import SCOPES, TokenRequest
from service.schemas.teams import load_teams, tokens_csv
from service.store.tokens import Token
from service.usecases import tokens
from service.usecases.benchmarks.teams import create_teams
from service.usecases.tokens import OPERATOR, token_document
from treescore.core.wording import did_you_mean
from treescore.errors import Problem

TIMES = ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ")


@click.group()
def token() -> None:
    """Make, list, revoke and replace tokens. The service may run or be down; changes hold at once."""


@token.command("list")
@click.option("--valid", "only_valid", is_flag=True, help="Leave out revoked and expired tokens.")
@operating_options
def list_tokens(data_dir: Path | None, *, only_valid: bool, as_json: bool) -> None:
    """List all tokens, newest first. Secrets are not stored and cannot be shown."""
    with _store(data_dir) as context:
        now = context.now()
        rows = [each for each in tokens.list_every_token(context) if not only_valid or _state(each, now) == "valid"]
    documents = [_document(each, now) for each in rows]
    lines = [f"{each.id}  {_state(each, now):<8} {each.scopes:<12} {owner(each)}" for each in rows]
    show_document({"tokens": documents}, lines or ["The store has no tokens."], as_json=as_json)


@token.command()
@click.option("--scopes", help=f"Separated by commas: {', '.join(SCOPES)}. A team's token has read and submit.")
@click.option("--name", help="What the token is for.")
@click.option("--benchmark", help="Benchmark of the team.")
@click.option("--team", help="Team that the token belongs to.")
@click.option("--expires", type=click.DateTime(TIMES), help="Time in UTC after which it is not valid.")
@operating_options
def create(
    scopes: str | None,
    name: str | None,
    benchmark: str | None,
    team: str | None,
    expires: datetime | None,
    data_dir: Path | None,
    *,
    as_json: bool,
) -> None:
    """Create a token and print its secret, once."""
    if (team is None) is not (benchmark is None):
        raise click.UsageError("Set --benchmark and --team together.")
    if (team is None) is (scopes is None):
        raise click.UsageError("Set either --scopes, or --benchmark and --team, whose tokens may read and submit.")
    if name is not None and not name.isprintable():
        raise click.UsageError("--name must be one line of printable text.")
    expires_at = None if expires is None else expires.replace(tzinfo=UTC)
    with _store(data_dir) as context:
        if benchmark is not None and team is not None:
            if expires_at is not None and expires_at <= context.now():
                raise click.UsageError("--expires must be a time in the future.")
            made = tokens.create_team_token(context, benchmark, team, name, expires_at)
        else:
            made = tokens.create_as_operator(
                context, TokenRequest(scopes=_scopes(scopes or ""), expires_at=expires_at, name=name)
            )
    _show_secret(made, as_json=as_json)


@token.command()
@click.argument("token_id", metavar="ID")
@operating_options
def revoke(token_id: str, data_dir: Path | None, *, as_json: bool) -> None:
    """Revoke the token with this ID: the next request with it is refused."""
    with _store(data_dir) as context:
        tokens.revoke_as_operator(context, token_id)
    show_document({"id": token_id, "revoked": True}, [f"Revoked {token_id}."], as_json=as_json)


@token.command()
@click.argument("token_id", metavar="ID")
@operating_options
def rotate(token_id: str, data_dir: Path | None, *, as_json: bool) -> None:
    """Revoke the token with this ID, and create one with the same rights; print its secret, once."""
    with _store(data_dir) as context:
        made = tokens.rotate_as_operator(context, token_id)
    _show_secret(made, as_json=as_json)


@contextmanager
def _store(data_dir: Path | None) -> Iterator[Context]:
    with existing_store(config_of(data_dir)) as context:
        try:
            yield context
        except ServiceError as error:
            details = " ".join(each.detail for each in error.problems) or error.detail
            raise Refused(details) from error


def _scopes(given: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in given.split(","))
    unknown = [name for name in names if name not in SCOPES]
    if unknown:
        known = f"Use one or more of: {', '.join(SCOPES)}.{did_you_mean(unknown[0], SCOPES)}"
        raise click.UsageError(f"Unknown scope {unknown[0]!r}. {known}")
    return names


def _show_secret(made: tuple[str, str], *, as_json: bool) -> None:
    token_id, secret = made
    lines = [f"{token_id} {secret}", "This is the only time that the secret is shown."]
    show_document({"id": token_id, "token": secret}, lines, as_json=as_json)


def _state(row: Token, now: datetime) -> str:
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at is not None and row.expires_at <= now else "valid"


def _document(row: Token, now: datetime) -> dict[str, object]:
    return {**token_document(row), "state": _state(row, now)}


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
