"""Arguments of `treescore score` and `treescore compare` as calls of the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import orjson

from treescore.api import Output, Result, evaluate
from treescore.cli.exits import WRONG_INPUT
from treescore.cli.limits import read_limits
from treescore.core.params import Json
from treescore.errors import ScoringError
from treescore.evaluation.document import warning_line
from treescore.evaluation.spec import FormatChoice
from treescore.sources import Source, format_choice, run_name


def named_value(text: str) -> Json:
    """Return a name as it is, JSON as its value, and of `@PATH` the JSON in the file.

    Raises:
        click.BadParameter: the text begins as JSON does and is not valid JSON, or the file cannot be read.
    """
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise click.BadParameter(f"{text} cannot be read: {error}") from error
    if not text.startswith(("{", "[")):
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise click.BadParameter(f"{text!r} is not valid JSON: {error}") from error


def evaluate_files(
    request: Mapping[str, Json],
    gold: str,
    outputs: Sequence[str],
    system_format: Json,
    runs: Sequence[str] = (),
    formats: Sequence[str] = (),
) -> Result:
    """Score files (outputs are paths, or `NAME=PATH`; further runs of them `NAME=PATH`) as a job would.

    `formats` are those of single outputs with their runs, `NAME=FORMAT`; `system_format` is that of all others.

    Input errors end the command with status 2, one line each.
    """
    try:
        choice = format_choice(request["format"], "/format")
        named = _with_runs([split_name(argument) for argument in outputs], runs)
        format_of = _formats(formats, [name for name, _, run_of in named if run_of is None])
        systems = []
        for name, path, run_of in named:
            own = format_of.get(run_of or name, system_format)
            asked = choice if own is None else format_choice(own, "/system_format")
            systems.append(Output(name, _source(path, asked), own, run_of))
        return evaluate(request, _source(gold, choice), systems, limits=read_limits())
    except ScoringError as error:
        raise ended(error) from error


def ended(error: ScoringError) -> SystemExit:
    """Print the problems of an input, one line each, and return the end of the command with status 2."""
    for problem in error.problems:
        click.echo(warning_line(problem), err=True)
    if error.total > len(error.problems):
        click.echo(f"... and {error.total - len(error.problems)} more", err=True)
    return SystemExit(WRONG_INPUT)


def split_name(argument: str) -> tuple[str, str]:
    """Return name and path of `NAME=PATH` or of `PATH`, which is named by its stem."""
    name, sign, path = argument.partition("=")
    return (name, path) if sign else (Path(argument).stem, argument)


def _with_runs(outputs: Sequence[tuple[str, str]], runs: Sequence[str]) -> list[tuple[str, str, str | None]]:
    """Return name, path and system of each output, each followed by its further training runs."""
    paths: dict[str, list[str]] = {name: [] for name, _ in outputs}
    for argument in runs:
        name, sign, path = argument.partition("=")
        if not sign or name not in paths:
            known = ", ".join(paths)
            raise click.BadParameter(f"{argument!r} is not NAME=PATH with the name of an output. Outputs: {known}.")
        paths[name].append(path)
    named: list[tuple[str, str, str | None]] = []
    for name, path in outputs:
        named.append((name, path, None))
        named += [(run_name(name, number), run, name) for number, run in enumerate(paths.pop(name, ()), 2)]
    return named


def _formats(arguments: Sequence[str], names: Sequence[str]) -> dict[str, Json]:
    """Return the formats of single outputs by name, from `NAME=FORMAT`."""
    found: dict[str, Json] = {}
    for argument in arguments:
        name, sign, value = argument.partition("=")
        if not sign or name not in names:
            known = ", ".join(names)
            raise click.BadParameter(f"{argument!r} is not NAME=FORMAT with the name of an output. Outputs: {known}.")
        found[name] = named_value(value)
    return found


def _source(argument: str, choice: FormatChoice) -> Source:
    """Return a path, or several joined by commas where the format takes several texts."""
    fields = choice.format.fields
    if not fields:
        return Path(argument)
    paths = argument.split(",")
    if len(paths) != len(fields):
        names = ", ".join(fields)
        raise click.BadParameter(f"The format {choice.name} takes {len(fields)} files, joined by commas: {names}.")
    return {field: Path(path) for field, path in zip(fields, paths, strict=True)}
