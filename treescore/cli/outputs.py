"""The outputs that a command line names: systems, their further training runs, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from treescore.cli.arguments import FORMAT_VALUE, Asked, matches, split_name
from treescore.cli.forms import is_same
from treescore.core.params import Json
from treescore.core.suggestions import did_you_mean
from treescore.sources import names_of_paths, run_name

STANDARD_INPUT = "-"
_NAME_OF_STANDARD_INPUT = "stdin"


class Given(NamedTuple):
    """One output as the command line gives it.

    Attributes:
        name: of the output.
        path: where it is; of a format of several texts, their paths joined by commas.
        run_of: the system of which it is a further training run.
    """

    name: str
    path: str
    run_of: str | None = None

    @property
    def system(self) -> str:
        """The system that it is an output of."""
        return self.run_of or self.name


def given_outputs(asked: Asked) -> list[Given]:
    """Return the outputs, each system followed by its further runs.

    Raises:
        click.UsageError: none is given, two have one name, standard input is read twice, or a run is of an unknown
            output.
    """
    given = [split_name(argument) for argument in asked["outputs"]]
    paths = [asked["gold"], *(path for _, path in given), *(path for _, path in asked.get("run", ()))]
    if paths.count(STANDARD_INPUT) > 1:
        raise click.UsageError("Standard input (-) can be one of the files only. Name the others by their paths.")
    runs: dict[str, list[str]] = {}
    for name, path in given:
        if name == "":
            raise click.UsageError(f"={path} has no name before the equals sign. Name the output, as in: A={path}")
    for name, path in _named(given):
        if name in runs:
            raise click.UsageError(f"Two outputs have the name {name!r}. Name each, as in: A={runs[name][0]} B={path}")
        runs[name] = [path]
    for name, pattern in asked.get("runs", ()):
        if name in runs:
            advice = f"Name it once, and add single runs with --run {name}=PATH."
            raise click.UsageError(f"--runs {name}={pattern}: {name} is named before. {advice}")
        runs[name] = matches(name, pattern)
        for path in runs[name]:
            if is_same(Path(path), asked["gold"]):
                raise click.UsageError(f"--runs {name}={pattern}: {path} is gold itself. Write a pattern without it.")
    if not runs:
        raise click.UsageError("Name an output after gold, as in: gold.conllu mine.conllu")
    for name, path in asked.get("run", ()):
        runs[known(name, list(runs), f"--run {name}={path}")].append(path)
    return [
        Given(run_name(name, number), path, name if number > 1 else None)
        for name, each in runs.items()
        for number, path in enumerate(each, 1)
    ]


def known(name: str, names: Sequence[str], option: str) -> str:
    """Return the name of an output.

    Raises:
        click.UsageError: no output has it.
    """
    if name not in names:
        meant = did_you_mean(name, names)
        raise click.UsageError(f"{option}: {name} is not an output.{meant} Outputs: {', '.join(names)}.")
    return name


def own_formats(asked: Asked, outputs: Sequence[Given]) -> dict[str, Json]:
    """Return the formats of single systems, from `--output-format`.

    Raises:
        click.UsageError: an option names an unknown output, or is malformed.
    """
    names = [output.name for output in outputs if output.run_of is None]
    found = {}
    for name, value in asked["output_formats"]:
        output = known(name, names, f"--output-format {name}={value}")
        try:
            found[output] = FORMAT_VALUE.convert(value, None, None)
        except click.BadParameter as error:
            raise click.UsageError(f"--output-format {name}={value}: {error.message}") from error
    return found


def _named(given: Sequence[tuple[str | None, str]]) -> list[tuple[str, str]]:
    """Return outputs with their names; those without one are named by the parts of their paths that differ."""
    nameless = [path.split(",")[0] for name, path in given if name is None and path != STANDARD_INPUT]
    names = iter(names_of_paths(nameless))
    return [
        (name or (_NAME_OF_STANDARD_INPUT if path == STANDARD_INPUT else next(names)), path) for name, path in given
    ]
