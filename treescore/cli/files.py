"""Arguments of `treescore score` and `treescore compare` as calls of the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from treescore.api import Output, Result, evaluate
from treescore.cli.arguments import Asked, named_value, split_name
from treescore.cli.exits import WRONG_INPUT
from treescore.cli.limits import read_limits
from treescore.core.params import Json
from treescore.errors import ScoringError
from treescore.evaluation.document import warning_line
from treescore.evaluation.spec import FormatChoice
from treescore.sources import Source, format_choice, run_name


def evaluated(asked: Asked, request: Mapping[str, Json]) -> Result:
    """Score the files that the options name, as `evaluate_files`."""
    system_format = None if asked["system_format"] is None else named_value(asked["system_format"])
    return evaluate_files(
        request, asked["gold"], asked["outputs"], system_format, asked["runs"], asked["output_formats"]
    )


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
