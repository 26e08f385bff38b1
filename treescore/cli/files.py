"""The files that a command line names, scored by the library: gold, systems and their further training runs.

The environment sets the bounds on texts. A bar on standard error shows what is done and what is left, where that is a
terminal; problems of an input, and warnings, are lines there.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

import click

from treescore.api import Output, evaluate, silent, suggest
from treescore.api import Progress as Tell
from treescore.cli.exits import NOT_INSTALLED, WRONG_INPUT
from treescore.cli.options import FORMAT_VALUE, SETTINGS, Asked, is_same, json_words, matches, split_name
from treescore.core.params import Json
from treescore.core.registry import FORMATS, METRICS
from treescore.core.structure import plain_number
from treescore.core.text import Limits
from treescore.core.wording import did_you_mean, one_line
from treescore.errors import FilePath, InputError, Problem, ScoringError
from treescore.evaluation.document import problem_line, warning_lines
from treescore.evaluation.spec import CERTAINTIES, FormatChoice
from treescore.results import Result
from treescore.sources.texts import Source, StandardInput, format_choice, format_of, names_of_paths, run_name

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


LIMIT_PREFIX = "TREESCORE_"


def read_limits() -> Limits:
    """Return the limits that `TREESCORE_MAX_...` variables set, defaults for the others.

    Raises:
        click.UsageError: a variable is not a whole number.
    """
    given = {}
    for field in fields(Limits):
        variable = LIMIT_PREFIX + field.name.upper()
        if variable in os.environ:
            value = plain_number(os.environ[variable])
            if value is None:
                raise click.UsageError(f"{variable} is {os.environ[variable]!r}. Set it to a whole number, as 1000.")
            given[field.name] = value
    return Limits(**given)


@contextmanager
def progress_bar() -> Iterator[Tell]:
    """Show a bar while the block runs; yields the function that moves it.

    Lines that are written to standard error stand above the bar. Without a terminal nothing is shown.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield silent
        return
    from rich import console, progress  # noqa: PLC0415 - pipes need no bar

    columns = (
        progress.TextColumn("{task.description}", markup=False), progress.BarColumn(), progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(), progress.TextColumn("passed,"), progress.TimeRemainingColumn(),
        progress.TextColumn("left"),
    )  # fmt: skip
    on_errors = console.Console(stderr=True)
    with progress.Progress(*columns, console=on_errors, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("starting", total=None)

        def tell(done: int, total: int, step: str) -> None:
            bar.update(task, description=step, completed=done, total=total)

        yield tell


class Scored(NamedTuple):
    """Files that are scored.

    Attributes:
        result: their scores.
        taken: what no option named, in words: format and metric.
    """

    result: Result
    taken: str

    def warn(self) -> None:
        """Print the warnings, beside an output that does not show them to people."""
        for line in warning_lines(self.result.warnings):
            click.echo(f"Warning: {one_line(line)}", err=True)

    def said(self, width: int) -> str:
        """Return in a line, or at this width in several, what was taken."""
        from treescore.render.table import Table, text_table  # noqa: PLC0415 - programs read no tables

        return text_table(Table("", [], [], notes=[self.taken]), width)


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
    text_format, how = _guessed(asked["gold"]) if guessed else (asked["text_format"], "")
    choice = format_choice(text_format, "/format")
    metrics = list(asked["metrics"]) or _usual(choice)
    _check_names(metrics, choice)
    request: dict[str, Json] = {
        "format": text_format,
        "transforms": list(asked["transforms"]),
        "metrics": metrics,
        "significance": significance,
        "items": asked["items"],
    }
    outputs = []
    others: set[str] = set()
    for output in given:
        own = formats.get(output.system, asked["system_format"])
        where = "/output_formats" if output.system in formats else "/system_format"
        if own is None and guessed:
            own, known_by = _guessed_of_output(output.path, choice)
            if own is not None and own != text_format:
                others.add(f"format {own} ({known_by} of outputs)")
        outputs.append(
            Output(output.name, source_of(output.path, choice if own is None else format_choice(own, where)),
                   own, output.run_of)
        )  # fmt: skip
    with progress_bar() as tell:
        result = evaluate(request, source_of(asked["gold"], choice), outputs, limits=read_limits(), progress=tell)
    taken = [f"format {json_words(text_format)} ({how})"] if guessed else []
    taken += sorted(others)
    taken += [] if asked["metrics"] else [f"metric {_in_words(metrics[0])} (usual for {choice.name})"]
    return Scored(result, f"Taken: {', '.join(taken)}." if taken else "")


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


def _guessed(gold: str) -> tuple[Json, str]:
    """Return the format of gold and how it is known: by its suffix, else by its first lines where these are certain."""
    named = format_of(Path(gold))
    if named is not None:
        return named, "by the suffix of gold"
    several = "," in gold and not Path(gold).exists()
    found = [] if gold == STANDARD_INPUT or several else suggest(Path(gold))
    if found and found[0].certainty == CERTAINTIES[0]:
        return found[0].format, "by its first lines"
    likely = f" By its first lines --format {json_words(found[0].format)} is {found[0].certainty}." if found else ""
    suffixes = ", ".join(f"{suffix} ({name})" for name, each in FORMATS.items() for suffix in each.suffixes)
    raise click.UsageError(
        f"Give --format: the suffix of {gold} does not name one.{likely} Known suffixes: {suffixes}."
    )


def _guessed_of_output(path: str, gold: FormatChoice) -> tuple[str | None, str]:
    """Return the format of an output, None for that of gold, and how it is known.

    First lines count where they are certain, of a format without options that holds trees of the kind of gold's.
    """
    named = format_of(Path(path.split(",", maxsplit=1)[0]))
    if named is not None or path == STANDARD_INPUT or gold.format.fields or not Path(path).is_file():
        return named, "by the suffix"
    for found in suggest(Path(path))[:1]:
        alike = issubclass(FORMATS[found.name].yields, gold.format.yields)
        if found.certainty == CERTAINTIES[0] and alike and not found.options:
            return found.name, "by the first lines"
    return None, ""


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


def _check_names(metrics: Sequence[Json], choice: FormatChoice) -> None:
    """Check that no metric is named as a score or as the layout of an original program.

    Raises:
        InputError: one is, with what to type.
    """
    for number, metric in enumerate(metrics):
        name = metric.get("name") if isinstance(metric, Mapping) else metric
        if not isinstance(name, str) or name in METRICS:
            continue
        from treescore.cli.catalogue import meant_by  # noqa: PLC0415 - a known name needs no list of scores

        meant = meant_by(name, choice.format)
        if meant:
            detail = f"Unknown metric {name!r}. Type {', or '.join(meant)}."
            raise InputError(Problem("unknown-metric", detail, pointer=f"/metrics/{number}"))


_OPTIONS: Mapping[str, str] = {
    "format": "--format", "system_format": "--system-format", "metrics": "--metric", "transforms": "--transform",
    "items": "--items", "significance": "--significance", "output_formats": "--output-format",
    **{name: f"--{name}" for name in ("by", "deprel", "label", "length", "sentence", "style", "upos")},
}  # fmt: skip
"""Member of a request -> the option that gives it."""
_SETTINGS = {"scores": "--scores", "margin": "--margin", **{name: each.option for name, each in SETTINGS.items()}}


def as_typed(problem: Problem, given: Sequence[str]) -> Problem:
    """Return a problem with options in the places of members of a request; `given` are the command and its words."""
    if problem.code == "unreadable-file":
        return replace(problem, pointer="")  # its detail names the file
    member, *path = problem.pointer.removeprefix("/").split("/")
    if isinstance(problem.pointer, FilePath) or member not in _OPTIONS or given[:1] == ["repeat"]:
        return problem  # those of `repeat` are members of its file
    option = _OPTIONS[member]
    if path and path[0] in _SETTINGS and not any(each.partition("=")[0] == option for each in given):
        option = _SETTINGS[path.pop(0)]
    number = int(path.pop(0)) + 1 if path and path[0].isdigit() else 1
    words = [option, str(number) if number > 1 else "", "/".join(path)]
    return replace(problem, pointer=" ".join(filter(None, words)), detail=options_in(problem.detail))


def options_in(words: str) -> str:
    """Return words with the options of the command in the places of settings of a comparison."""
    return _NAMED.sub(lambda found: _TYPED[found[0]], words)


_TYPED: Mapping[str, str] = {
    "`unit: sentence`": "--test-unit sentence", "the unit sentence": "--test-unit sentence", "`test`": "--test",
    "items.blocks": """--items, as '{"blocks": ["doc1", "doc1", "doc2"]}'""", "by run_of": "by --run",
    'the test "mcnemar"': "--test mcnemar",
}  # fmt: skip
"""How a setting is written in a request -> how it is typed."""
_NAMED = re.compile("|".join(map(re.escape, _TYPED)))
SHOWN_OF_A_KIND = 3
"""Problems of one code and file that are printed; those of one text alone are one problem, with their number."""
MISSING_EXTRA = "missing-extra"
"""Code of the problem that a package is not installed."""


def ended(error: ScoringError, given: Sequence[str] = ()) -> SystemExit:
    """Print the problems of an input, one line each, and return the end of the command, `given`, with its status."""
    kinds: dict[tuple[str, str], list[Problem]] = {}
    for problem in error.problems:
        kinds.setdefault((problem.code, str(problem.pointer)), []).append(problem)
    for found in kinds.values():
        for problem in found[:SHOWN_OF_A_KIND]:
            line = problem_line(as_typed(problem, given))
            click.echo(one_line(line), err=True)  # a path or a quoted text could hold codes of a terminal
        if len(found) > SHOWN_OF_A_KIND:
            click.echo(f"... and {len(found) - SHOWN_OF_A_KIND} more of this kind ({found[0].code})", err=True)
    if error.total > len(error.problems):
        click.echo(f"... and {error.total - len(error.problems)} more", err=True)
    missing = all(problem.code == MISSING_EXTRA for problem in error.problems)
    return SystemExit(NOT_INSTALLED if missing else WRONG_INPUT)
