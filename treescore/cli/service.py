"""What the commands share that ask a running service: address and token, exit statuses, and what they print.

A command that asks once is a function of the client whose answer is printed.
"""

import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import click
import orjson

from treescore.cli.exits import NO_SERVICE, OK, REFUSED, WRONG_INPUT, Stopped, write
from treescore.cli.options import Number
from treescore.client import Client, ClientError, Document, RefusedError, RequestError
from treescore.core.version import __version__
from treescore.render.table import aligned

SECONDS = 600
_TOKEN = "TREESCORE_TOKEN"  # noqa: S105 - the name of a variable

Command = Callable[..., Any]


def service_options(command: Command) -> Command:
    """Add `--url`, `--timeout` and `--json`."""
    timeout = Number(1, None, SECONDS)
    command = click.option(
        "--timeout", default=SECONDS, show_default=True, type=timeout, help="Seconds for everything."
    )(command)
    command = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)
    return click.option(
        "--url", envvar="TREESCORE_URL", required=True, help="Address of the service.  [env: TREESCORE_URL]"
    )(command)


def token_of(owner: str) -> str:
    """Return the token of the environment.

    Args:
        owner: whose token it must be, for the message.

    Raises:
        Stopped: there is none that can be sent.
    """
    token = os.environ.get(_TOKEN, "").strip()
    if not token or not token.isascii() or not token.isprintable():
        raise Stopped(REFUSED, f"Set {_TOKEN} to {owner} token (in CI: from the secrets).")
    return token


@contextmanager
def asking(url: str, token: str, seconds: float, agent: str) -> Iterator[Client]:
    """Give a client; tell of documents that cannot be read: of a service of another version, or of another service.

    Raises:
        Stopped: a member is missing or of another kind.
    """
    with Client(url, token, seconds, agent=agent) as client:
        try:
            yield client
        except ClientError:
            raise
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise Stopped(
                NO_SERVICE,
                f"{client.url} answers in another form than this command reads ({type(error).__name__}: {error}). "
                f"Check the URL, or install the treescore of the service's version; this is {__version__}.",
            ) from error


def status_of(error: Stopped | ClientError) -> int:
    """Return the exit status of a command that ends with an error."""
    if isinstance(error, Stopped):
        return error.status
    if isinstance(error, RequestError):
        return WRONG_INPUT
    return REFUSED if isinstance(error, RefusedError) else NO_SERVICE


@contextmanager
def ending(*, as_json: bool) -> Iterator[None]:
    """End the command with the problems and the status of an error that is raised in the block."""
    try:
        yield
    except (Stopped, ClientError) as error:
        status = status_of(error)
        show(status, {"problems": error.lines}, (), error.lines, as_json=as_json)
        sys.exit(status)


def show(
    status: int, document: Mapping[str, Any], lines: Sequence[str], problems: Sequence[str], *, as_json: bool
) -> None:
    """Print the document or the lines for people; problems go to standard error."""
    if as_json:
        click.echo(orjson.dumps({"exit_status": status, **document}, option=orjson.OPT_INDENT_2))
    else:
        for line in lines:
            click.echo(visible(line))
    for problem in problems:
        click.echo(visible(problem), err=True)


def visible(line: str) -> str:
    """Return a line without signs that steer a terminal: the service and its teams have a part in it."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in line)


class Answer(NamedTuple):
    """What a command prints.

    Attributes:
        document: as JSON.
        lines: for people.
    """

    document: Mapping[str, Any]
    lines: Sequence[str]


def asks(group: click.Group, name: str) -> Callable[[Callable[..., Answer | str]], click.Command]:
    """Add a command of this name: a function of a client, which returns what is printed."""

    def added(function: Callable[..., Answer | str]) -> click.Command:
        @functools.wraps(function)
        def command(*, url: str, timeout: float, as_json: bool, **given: Any) -> None:
            with (
                ending(as_json=as_json),
                asking(url, token_of("an organiser's"), timeout, "treescore-organise") as client,
            ):
                answer = function(client, **given)
            if isinstance(answer, str):
                write(answer.encode(), None)
            else:
                show(OK, answer.document, answer.lines, (), as_json=as_json)

        return group.command(name)(service_options(command))

    return added


def columns(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """Return the lines of a table: these members of each document, under their names."""
    cells = [[cell(row.get(name)) for name in names] for row in rows]
    return [line.rstrip() for line in aligned([names, *cells], [False] * len(names))]


def cell(value: object) -> str:
    """Return a value as a table shows it."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def listed(kind: str, documents: Sequence[Document], names: Sequence[str]) -> Answer:
    """Return documents as a table of these members; `kind` names them, in the plural."""
    return Answer(
        {kind: [each.document for each in documents]},
        columns(documents, names) if documents else [f"No {kind.replace('_', ' ')}."],
    )
