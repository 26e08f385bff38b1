"""Arguments and options of `treescore score` and `treescore compare`, and the request that they make.

Nothing here loads what scores: the help of a command needs none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict, TypeVar

import click
import orjson

from treescore.core.params import Json

_Function = TypeVar("_Function", bound=Callable[..., object])


class Asked(TypedDict):
    """The values of the shared options, as click hands them over."""

    gold: str
    outputs: Sequence[str]
    text_format: str
    system_format: str | None
    transforms: Sequence[str]
    metrics: Sequence[str]
    significance: str | None
    items: str | None
    runs: Sequence[str]
    output_formats: Sequence[str]


def request_options(function: _Function) -> _Function:
    """Add the options that both commands take."""
    for option in (
        click.argument("outputs", nargs=-1, required=True),
        click.argument("gold"),
        click.option(
            "--run", "runs", multiple=True, metavar="NAME=PATH", help="Further training run of the output NAME."
        ),
        click.option(
            "--output-format",
            "output_formats",
            multiple=True,
            metavar="NAME=FORMAT",
            help="Format of the output NAME where it differs from the others.",
        ),
        click.option("--items", help="JSON object with blocks, attributes, seconds, lengths, or @PATH of one."),
        click.option("--significance", help="JSON object with scores, test, seed, ..., as in the API."),
        click.option("--metric", "metrics", multiple=True, required=True, help="Name, or JSON with params."),
        click.option("--transform", "transforms", multiple=True, help="Name, or JSON with params and on."),
        click.option("--system-format", help="Format of the outputs where it differs from gold's."),
        click.option("--format", "text_format", required=True, help="Name, or JSON with options."),
    ):
        function = option(function)
    return function


def request_of(asked: Asked) -> dict[str, Json]:
    """Return the options as a job request without texts."""
    request: dict[str, Json] = {
        "format": named_value(asked["text_format"]),
        "transforms": [named_value(value) for value in asked["transforms"]],
        "metrics": [named_value(value) for value in asked["metrics"]],
    }
    if len(asked["outputs"]) > 1:
        request["significance"] = named_value(asked["significance"] or "{}")
    if asked["items"]:
        request["items"] = named_value(asked["items"])
    return request


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


def split_name(argument: str) -> tuple[str, str]:
    """Return name and path of `NAME=PATH` or of `PATH`, which is named by its stem."""
    name, sign, path = argument.partition("=")
    return (name, path) if sign else (Path(argument).stem, argument)
