"""Files named on a command line, as texts and as a scoring request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import orjson

from treescore.cli.limits import read_limits
from treescore.core.digests import digest_of
from treescore.core.registry import Text
from treescore.errors import ScoringError
from treescore.evaluation.document import warning_line
from treescore.evaluation.report import Report, System, evaluate_systems
from treescore.evaluation.spec import FormatChoice, parse_format, parse_items, parse_spec


def named_value(text: str) -> Any:
    """`parseval`, or a JSON object as the API takes it."""
    if not text.startswith(("{", "[")):
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise click.BadParameter(f"{text!r} looks like JSON and is none: {error}") from error


def split_name(argument: str) -> tuple[str, str]:
    """`name=path` or `path` (named by its stem)."""
    name, sign, path = argument.partition("=")
    return (name, path) if sign else (Path(argument).stem, argument)


def read_text(argument: str, choice: FormatChoice) -> tuple[Text, str]:
    """The text of a file, or of several joined by commas where the format takes several; and its digest."""
    fields = choice.format.fields
    paths = argument.split(",") if fields else [argument]
    if fields and len(paths) != len(fields):
        raise click.BadParameter(f"The format {choice.name} takes {len(fields)} files, joined by commas: {fields}.")
    bodies = []
    for path in paths:
        try:
            bodies.append(Path(path).read_bytes())
        except OSError as error:
            raise click.BadParameter(f"{path}: {error.strerror}.") from error
    if not fields:
        return bodies[0], digest_of(bodies[0])
    digests = sorted(zip(fields, map(digest_of, bodies), strict=True))
    return dict(zip(fields, bodies, strict=True)), " ".join(f"{field}={digest}" for field, digest in digests)


def evaluate_files(request: Mapping[str, Any], gold: str, outputs: Sequence[str], system_format: Any) -> Report:
    """Score files as a job would. Input errors end the command with status 2, one line each."""
    try:
        spec = parse_spec(request)
        choice = spec.format if system_format is None else parse_format(system_format)
        gold_text, gold_digest = read_text(gold, spec.format)
        handed_over = [gold_text]
        del gold_text
        systems = []
        for argument in outputs:
            name, path = split_name(argument)
            text, digest = read_text(path, choice)
            systems.append(System(name, text, digest, choice, path))
        return evaluate_systems(
            spec,
            handed_over.pop(),  # nobody here keeps a large text that is read already
            gold_digest,
            systems,
            significance=request.get("significance"),
            agreement=request.get("agreement", ()),
            items=parse_items(request.get("items")),
            limits=read_limits(),
        )
    except ScoringError as error:
        for problem in error.problems:
            click.echo(warning_line(problem), err=True)
        if error.total > len(error.problems):
            click.echo(f"... and {error.total - len(error.problems)} more", err=True)
        raise SystemExit(2) from error
