"""The files that a command line names, scored by the library."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from treescore.api import Output, evaluate
from treescore.cli.arguments import Asked
from treescore.cli.limits import read_limits
from treescore.cli.outputs import STANDARD_INPUT, given_outputs, own_formats
from treescore.cli.progress import progress_bar
from treescore.core.params import Json
from treescore.core.registry import FORMATS
from treescore.evaluation.spec import FormatChoice
from treescore.results import Result
from treescore.sources import Source, StandardInput, format_choice, format_of


class Scored(NamedTuple):
    """Files that are scored.

    Attributes:
        result: their scores.
        taken: what no option named, in words: format and metric.
        inputs: the paths that were read.
    """

    result: Result
    taken: str
    inputs: Sequence[str]


def evaluated(asked: Asked, significance: Mapping[str, Json] | None = None) -> Scored:
    """Score the files that the options name.

    Args:
        asked: arguments and options.
        significance: settings of a comparison between the outputs; None for none.

    Raises:
        click.UsageError: files or options do not fit each other.
        ScoringError: a file cannot be read or scored.
    """
    given = given_outputs(asked)
    formats = own_formats(asked, given)
    guessed = asked["text_format"] is None
    text_format = _guessed(asked["gold"]) if guessed else asked["text_format"]
    choice = format_choice(text_format, "/format")
    metrics = list(asked["metrics"]) or _usual(choice)
    request: dict[str, Json] = {
        "format": text_format,
        "transforms": list(asked["transforms"]),
        "metrics": metrics,
        "significance": significance,
        "items": asked["items"],
    }
    outputs = []
    by_suffix: set[str] = set()
    for output in given:
        own = formats.get(output.system, asked["system_format"])
        if own is None and guessed:
            own = format_of(_first_path(output.path))
            if own is not None and own != text_format:
                by_suffix.add(own)
        outputs.append(
            Output(output.name, source_of(output.path, choice if own is None else format_choice(own, "/system_format")),
                   own, output.run_of)
        )  # fmt: skip
    with progress_bar() as tell:
        result = evaluate(request, source_of(asked["gold"], choice), outputs, limits=read_limits(), progress=tell)
    taken = _taken(asked, choice, metrics, sorted(by_suffix))
    return Scored(result, taken, [asked["gold"], *(output.path for output in given)])


def source_of(argument: str, choice: FormatChoice) -> Source:
    """Return a path, or several joined by commas where the format takes several texts.

    Raises:
        click.UsageError: the format takes another number of texts.
    """
    fields = choice.format.fields
    if not fields:
        return one_source(argument)
    paths = argument.split(",")
    if len(paths) != len(fields):
        names = ", ".join(fields)
        example = ",".join(f"{field}.txt" for field in fields)
        raise click.UsageError(
            f"The format {choice.name} takes {len(fields)} files, joined by commas: {names}. Write them as {example}."
        )
    return {field: one_source(path) for field, path in zip(fields, paths, strict=True)}


def one_source(path: str) -> Path | StandardInput:
    """Return a path; a dash is standard input, and ./- a file of that name."""
    if not path:
        raise click.UsageError("The path of a file is empty. Name a file; . is this folder.")
    if path != STANDARD_INPUT:
        return Path(path)
    if sys.stdin is None:
        raise click.UsageError("Standard input (-) is closed. Name a file.")
    return StandardInput(sys.stdin.buffer)


def _first_path(argument: str) -> Path:
    return Path(argument.split(",", maxsplit=1)[0])


def _guessed(gold: str) -> str:
    """Return the format that the suffix of gold's file names."""
    found = format_of(Path(gold))
    if found is None:
        suffixes = ", ".join(f"{suffix} ({name})" for name, each in FORMATS.items() for suffix in each.suffixes)
        raise click.UsageError(
            f"Give --format: the suffix of {gold} does not name one. Known suffixes: {suffixes}. "
            "`treescore suggest` tells it by the first lines."
        )
    return found


def _usual(choice: FormatChoice) -> list[Json]:
    """Return the metric that usually scores a format."""
    if not choice.format.usual_metric:
        raise click.UsageError(f"Give --metric: the format {choice.name} has no usual one. See `treescore metrics`.")
    return [choice.format.usual_entry()]


def _in_words(metric: Json) -> str:
    """Return a metric with its parameters in a few words."""
    if isinstance(metric, str):
        return metric
    params = ", ".join(f"{name} {value}" for name, value in metric["params"].items())
    return f"{metric['name']} with {params}"


def _taken(asked: Asked, choice: FormatChoice, metrics: Sequence[Json], others: Sequence[str]) -> str:
    """Say which formats and metric were taken where no option names them; `others` are those of outputs alone."""
    taken = [] if asked["text_format"] is not None else [f"format {choice.name} (by the suffix of gold)"]
    taken += [f"format {name} (by the suffix of outputs)" for name in others]
    taken += [] if asked["metrics"] else [f"metric {_in_words(metrics[0])} (usual for {choice.name})"]
    return f"Taken: {', '.join(taken)}." if taken else ""
