"""Arguments and options of the commands that score files, and the request that they make.

Nothing here loads what scores: the help of a command needs none of it.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, TypeVar

import click

from treescore.cli.names import FORMATS, METRICS, TRANSFORMS
from treescore.cli.values import JsonObject, MetricValue, NameOrJson, Pair
from treescore.core.params import Json

_Function = TypeVar("_Function", bound=Callable[..., object])

ITEMS_EXAMPLE = '{"attributes": {"genre": ["news", "blog"]}}'
FORMAT_VALUE = NameOrJson(FORMATS, "conllu", '{"name": "pharaoh", "base": 1}')
_METRIC = MetricValue(METRICS, "ud", '{"name": "parseval", "params": {"preset": "evalb"}}')
_TRANSFORM = NameOrJson(TRANSFORMS, "drop-traces", '{"name": "drop-punctuation", "on": "both"}')


class Asked(TypedDict):
    """The values of the shared options, as click hands them over."""

    gold: str
    outputs: Sequence[str]
    text_format: Json
    system_format: Json
    transforms: Sequence[Json]
    metrics: Sequence[Json]
    items: Mapping[str, Json] | None
    run: Sequence[tuple[str, str]]
    runs: Sequence[tuple[str, str]]
    output_formats: Sequence[tuple[str, str]]


def input_options(function: _Function) -> _Function:
    """Add the options that say how files are read and scored."""
    for option in (
        click.option(
            "--items", metavar="JSON", type=JsonObject(ITEMS_EXAMPLE),
            help="What is known of gold's sentences: blocks, attributes, seconds, lengths, words; JSON or @PATH.",
        ),
        click.option(
            "--output-format", "output_formats", multiple=True, type=Pair("FORMAT", "A=conllx"),
            help="Format of the output NAME where it differs from the others.",
        ),
        click.option(
            "--system-format", metavar="FORMAT", type=FORMAT_VALUE,
            help="Format of the outputs where it differs from gold's.",
        ),
        click.option(
            "--transform", "transforms", metavar="NAME|JSON", multiple=True, type=_TRANSFORM,
            help="Done before every metric: name (see `treescore transforms`), or JSON with params and on. Repeatable.",
        ),
        click.option(
            "--metric", "metrics", metavar="NAME|JSON", multiple=True, type=_METRIC,
            help="Name (see `treescore metrics`), or JSON with params, where @PATH stands for the text of a file. The "
            "usual one of the format unless given. Repeatable.",
        ),
        click.option(
            "--format", "text_format", metavar="NAME|JSON", type=FORMAT_VALUE,
            help="Name (see `treescore formats`), or JSON with options. By the suffix of gold's file unless given.",
        ),
    ):  # fmt: skip
        function = option(function)
    return function


def run_options(function: _Function) -> _Function:
    """Add the options that name training runs of one system."""
    function = click.option(
        "--run", multiple=True, type=Pair("PATH", "A=a-seed2.conllu"),
        help="A further training run of the output NAME. Repeatable.",
    )(function)  # fmt: skip
    return click.option(
        "--runs", multiple=True, type=Pair("GLOB", "'A=a/seed*.conllu'"),
        help="All training runs of one system, as 'A=a/seed*.conllu', in the order of their paths. Repeatable.",
    )(function)  # fmt: skip


def files(function: _Function) -> _Function:
    """Add the arguments GOLD and OUTPUT..."""
    function = click.argument("outputs", nargs=-1, metavar="OUTPUT...", shell_complete=_paths)(function)
    return click.argument("gold", metavar="GOLD", shell_complete=_paths)(function)


def _paths(_ctx: click.Context, _argument: click.Parameter, begun: str) -> list[click.shell_completion.CompletionItem]:
    """Let the shell complete a path; behind `NAME=` it does so by itself."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only a shell asks

    return [CompletionItem(begun, type="file")]


def split_name(argument: str) -> tuple[str | None, str]:
    """Return name and path of `NAME=PATH`; a path that is there may have an equals sign in it."""
    name, sign, path = argument.partition("=")
    if not sign or (Path(argument).exists() and not Path(path.split(",")[0]).exists()):
        return None, argument
    return name, path


def paths_of(asked: Asked) -> list[str]:
    """Return the paths that the arguments name."""
    outputs = [split_name(argument)[1] for argument in asked["outputs"]]
    single = [asked["gold"], *outputs, *(path for _, path in asked.get("run", ()))]
    patterns = [path for _, pattern in asked.get("runs", ()) for path in glob.glob(pattern, recursive=True)]  # noqa: PTH207 - as in `matches`
    return [*single, *(part for path in single if "," in path for part in path.split(",")), *patterns]


def matches(name: str, pattern: str) -> list[str]:
    """Return the paths of a system's training runs, sorted.

    Raises:
        click.UsageError: no path matches the pattern.
    """
    paths = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - a pattern may be absolute
    if not paths:
        advice = "Quote the pattern, so that the shell leaves it as it is."
        raise click.UsageError(f"--runs {name}={pattern}: no file matches. {advice}")
    return paths
