"""Arguments and options of the commands that score files, the types of their values, and the request that they make.

Nothing here loads what scores: the help of a command needs none of it, and a shell that completes a word asks at each
press of a key. Names of formats, metrics and transforms are found by their modules. A type refuses another text as a
usage error, with an example. Options of `treescore compare` are settings of the comparison, beside `--significance`
with all of them. The last options say in which form a command prints, and where to.
"""

from __future__ import annotations

import glob
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypedDict, TypeVar

import click
import orjson
from click.shell_completion import CompletionItem

from treescore.cli.exits import GIVEN, UNWRITTEN, as_file
from treescore.core.comparing import PARAMS
from treescore.core.params import SHARED_MODULES, Json
from treescore.core.wording import did_you_mean, ends

FORMATS, METRICS, TRANSFORMS = "formats", "metrics", "transforms"
_NOT_NAMES = {"shared", "alignments", "edits", "rules"}
"""Modules of none's name."""


def known_names(kind: str) -> list[str]:
    """Return the names of one kind, sorted."""
    folder = Path(__file__).parents[1] / kind
    modules = {path.name.removesuffix(".py") for path in folder.iterdir() if not path.name.startswith(("_", "."))}
    names = {name for name, module in SHARED_MODULES.items() if module in modules}
    names |= modules - _NOT_NAMES
    return sorted(names if kind == METRICS else (name.replace("_", "-") for name in names))


def completer(kind: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return a function that completes a name of this kind, as click asks for it."""

    def complete(_ctx: click.Context, _option: click.Parameter, begun: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in known_names(kind) if name.startswith(begun)]

    return complete


if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # older versions of click have no parameter for it

_RANGE = re.compile(r"(\d{0,9})-(\d{0,9})|\d{1,9}", re.ASCII)


def json_words(value: Json) -> str:
    """Return a name as it is, and JSON as its text."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _shortened(value: str) -> str:
    return value if len(value) <= 60 else f"{value[:60]}..."


class JsonValue(ParamType):
    """JSON, or `@PATH` of a file that holds it."""

    name = "JSON"

    def __init__(self, example: str) -> None:
        self.example = example

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> Json:
        """Return the value that the JSON stands for."""
        if not isinstance(value, str):
            return value
        text = self.text_of(value, param, ctx)
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            self.refuse(f"{_shortened(value)!r} is not valid JSON: {error}.", param, ctx)

    def text_of(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text, or that of the file `@PATH`."""
        if not value.startswith("@"):
            return value
        if not value[1:]:
            self.refuse("A path is missing behind @.", param, ctx)
        try:
            return Path(value[1:]).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
            self.refuse(f"{value[1:]} cannot be read: {reason}.", param, ctx)

    def refuse(self, message: str, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
        """Raise the usage error, with the example."""
        self.fail(f"{message} {self.advice}", param, ctx)

    @property
    def advice(self) -> str:
        """What to give instead."""
        return f"Give JSON, as '{self.example}', or @PATH of a file that holds it."


class JsonObject(JsonValue):
    """A JSON object, or `@PATH` of a file that holds one."""

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> Json:
        """Return the object."""
        found = super().convert(value, param, ctx)
        if not isinstance(found, dict):
            self.refuse(f"{_shortened(str(value))!r} is not a JSON object.", param, ctx)
        return found

    @property
    def advice(self) -> str:
        """What to give instead."""
        return f"Give an object, as '{self.example}', or @PATH of a file that holds one."


class NameOrJson(JsonValue):
    """A name, or an object with a name, or `@PATH` of a file that holds one."""

    name = "NAME|JSON"

    def __init__(self, kind: str, example_name: str, example: str) -> None:
        super().__init__(example)
        self.kind = kind
        self.example_name = example_name

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> Json:
        """Return a name as it is, and JSON as its value."""
        if not isinstance(value, str):
            return value
        text = self.text_of(value, param, ctx).strip()
        return super().convert(text, param, ctx) if text.startswith(("{", "[", '"')) else text

    @property
    def advice(self) -> str:
        """What to give instead."""
        return f"Give a name, as {self.example_name}, or an object, as '{self.example}'."

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin so."""
        return completer(self.kind)(ctx, param, incomplete)


class MetricValue(NameOrJson):
    """A metric as `NameOrJson`; a string `@PATH` among its parameters stands for the text of that file."""

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> Json:
        """Return the name, or the object with texts in the places of paths."""
        found = super().convert(value, param, ctx)
        params = found.get("params") if isinstance(found, dict) else None
        if not isinstance(params, dict):
            return found
        texts = {name: self.text_of(each, param, ctx) for name, each in params.items() if is_path(each)}
        return {**found, "params": {**params, **texts}}


def is_path(value: Json) -> bool:
    """Return whether a parameter is `@PATH`, which stands for the text of that file."""
    return isinstance(value, str) and value.startswith("@")


class OneOf(click.Choice[str]):
    """One of a list of words; another one that is like it is suggested."""

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{error.message}{did_you_mean(value, self.choices)}", param, ctx)


def _within(bounds: click.IntRange | click.FloatRange) -> str:
    return f"of {bounds.min:g} or more" if bounds.max is None else f"from {bounds.min:g} to {bounds.max:g}"


class WholeNumber(click.IntRange):
    """A whole number within bounds."""

    def __init__(self, least: int, example: int, most: int | None = None) -> None:
        super().__init__(least, most)
        self.example = example

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r} is not a whole number {_within(self)}. Write it as {self.example}.", param, ctx)


class Number(click.FloatRange):
    """A number within bounds."""

    def __init__(self, least: float, most: float | None, example: float) -> None:
        super().__init__(least, most)
        self.example = example

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        try:
            return float(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r} is not a number {_within(self)}. Write it as {self.example:g}.", param, ctx)


class Pair(ParamType):
    """`NAME=VALUE`, as a pair."""

    def __init__(self, value: str, example: str) -> None:
        self.name = f"NAME={value}"
        self.example = example

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return name and value."""
        if isinstance(value, tuple):
            return value
        name, sign, rest = str(value).partition("=")
        if not (sign and name and rest):
            self.fail(f"{value!r} is not {self.name}. Write it as {self.example}.", param, ctx)
        return name, rest


class EndTime(click.DateTime):
    """A time in UTC at which something ends; a date alone is its last second."""

    def __init__(self) -> None:
        super().__init__(("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the time."""
        found: datetime = super().convert(value, param, ctx).replace(tzinfo=UTC)
        return found if ":" in str(value) else found.replace(hour=23, minute=59, second=59)


class Threshold(NamedTuple):
    """A bound that a score must keep.

    Attributes:
        score: its address.
        bound: the worst value that is good enough.
        higher_is_better: of the score.
    """

    score: str
    bound: float
    higher_is_better: bool = True

    def kept_by(self, value: float | None) -> bool:
        """Return whether a value is good enough; an undefined one is not."""
        if value is None:
            return False
        return value >= self.bound if self.higher_is_better else value <= self.bound

    def refused(self, low: float | None, high: float | None) -> str:
        """Return why the score, of this range, cannot have the bound; empty where it can."""
        least, most = ends(low, high)
        if least <= self.bound <= most:
            return ""
        between = f"{least:g} and {most:g}"
        return f"--fail-below: {self.score} is between {between}, not {self.bound:g}. Write 0.85, or 85%."

    @property
    def text(self) -> str:
        """The threshold as `ud.las_f1 >= 0.85`."""
        return f"{self.score} {'>=' if self.higher_is_better else '<='} {self.bound:g}"


class ThresholdValue(ParamType):
    """`SCORE=X`, as a threshold of the score."""

    name = "SCORE=X"
    example = "ud.las_f1=0.85"

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> Threshold:
        """Return the threshold; which direction is better is not known yet."""
        score, _, number = str(value).partition("=")
        try:
            bound = _points(number)
        except ValueError:
            bound = math.nan
        if not score or math.isnan(bound):
            self.fail(f"{value!r} is not a score with a number. Write it as {self.example}.", param, ctx)
        return Threshold(score, bound)


class Lengths(ParamType):
    """A number, or a range of numbers: `12`, `10-20`, `40-`, `-5`."""

    name = "N|N-M"

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the range as it was written."""
        written = str(value).strip()
        found = _RANGE.fullmatch(written)
        if found is None or written == "-":
            self.fail(f"{value!r} is not a length. Write a number of words, as 12, or a range, as 10-20.", param, ctx)
        low, high = found.groups()
        if low and high and int(high) < int(low):
            self.fail(f"{value!r} ends before it begins. Write it as {high}-{low}.", param, ctx)
        return written


def _points(written: str) -> float:
    """Return a number, or points of percent (`85%`) as a share. Raises ValueError."""
    return float(written.strip().removesuffix("%")) / (100 if written.strip().endswith("%") else 1)


class Margin(ParamType):
    """A number above 0, in units of the score, or in points of percent, as `0.5%`."""

    name = "X"

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        written = str(value).strip()
        try:
            number = _points(written)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            advice = "Give a number above 0, in units of the score, as 0.005, or in points of percent, as 0.5%."
            self.fail(f"{value!r} is not a margin. {advice}", param, ctx)
        return number


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


def _paths(_ctx: click.Context, _argument: click.Parameter, begun: str) -> list[CompletionItem]:
    """Let the shell complete a path; behind `NAME=` it does so by itself."""
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


SETTINGS_EXAMPLE = '{"unit": "block", "level": 0.9}'


class AskedSettings(TypedDict):
    """The values of these options, as click hands them over."""

    significance: Mapping[str, Json] | None
    scores: Sequence[str]
    test: str | None
    test_unit: str | None
    correction: str | None
    alpha: float | None
    seed: int | None


class Setting(NamedTuple):
    """An option for one setting.

    Attributes:
        option: as it is written.
        type: of its value.
        metavar: how the help writes its value.
    """

    option: str
    type: ParamType
    metavar: str | None = None


def _words(name: str) -> OneOf:
    """Return the type of a setting that is one of several words; only benchmarks have parts."""
    return OneOf([word for word in PARAMS[name].schema["enum"] if word != "part"])


def _bounds(name: str) -> tuple[Any, Any]:
    return PARAMS[name].schema["minimum"], PARAMS[name].schema["maximum"]


_UNITS: Mapping[str, str] = {"document": "block"}
"""Unit of a test as people call it -> as requests do."""
SETTINGS: Mapping[str, Setting] = {
    "test": Setting("--test", _words("test")),
    "unit": Setting("--test-unit", OneOf([*_UNITS, *_words("unit").choices])),
    "correction": Setting("--correction", _words("correction")),
    "alpha": Setting("--alpha", Number(*_bounds("alpha"), 0.01), "X"),
    "seed": Setting("--seed", WholeNumber(_bounds("seed")[0], 7), "N"),
}
"""Setting -> its option."""


def significance_option(function: _Function) -> _Function:
    """Add `--significance`."""
    return click.option(
        "--significance", metavar="JSON", type=JsonObject(SETTINGS_EXAMPLE),
        help="Settings of the comparison, as in the API: JSON object, or @PATH of one.",
    )(function)  # fmt: skip


def setting_options(function: _Function) -> _Function:
    """Add `--significance`, `--scores` and the options of SETTINGS."""
    for name, (option, kind, metavar) in reversed(list(SETTINGS.items())):
        words = f"{PARAMS[name].doc} {PARAMS[name].default} unless given."
        function = click.option(option, type=kind, help=words, metavar=metavar)(function)
    function = click.option(
        "--scores", multiple=True, metavar="SCORE,...",
        help="Scores to compare, as LAS,UPOS or ud.las_f1; the first metric's main score unless given. Repeatable.",
    )(function)  # fmt: skip
    return significance_option(function)


def score_names(asked: Sequence[str]) -> list[str]:
    """Return the names that `--scores` has.

    Raises:
        click.UsageError: a score has no name.
    """
    names = [name.strip() for value in asked for name in value.split(",")]
    if not all(names):
        raise click.UsageError("--scores: a score has no name. Write them as LAS,UAS or ud.las_f1,ud.uas_f1.")
    return names


def settings_of(asked: AskedSettings) -> dict[str, Json]:
    """Return all settings as one object.

    Raises:
        click.UsageError: an option and `--significance` both give a setting, or a score has no name.
    """
    given: dict[str, tuple[str, Json]] = {}
    if asked["scores"]:
        given["scores"] = ("--scores", score_names(asked["scores"]))
    for name, setting in SETTINGS.items():
        value = asked[setting.option.removeprefix("--").replace("-", "_")]  # type: ignore[literal-required]
        if value is not None:
            given[name] = (setting.option, _UNITS.get(value, value) if name == "unit" else value)
    settings = dict(asked["significance"] or {})
    for name, (option, value) in given.items():
        if name in settings:
            raise click.UsageError(f"{option} and --significance both give {name!r}. Leave it out of one of them.")
        settings[name] = value
    return settings


TEXT, JSON, CSV, MARKDOWN, LATEX, HTML, SVG = "text", "json", "csv", "markdown", "latex", "html", "svg"
BRIEF = "brief"
VIEWS = (TEXT, JSON, CSV, MARKDOWN, LATEX, HTML)
"""The forms of every view."""
_HELP: Mapping[str, str] = {
    TEXT: "Print a table for people.",
    JSON: "Print JSON, for programs.",
    CSV: "Print comma-separated values.",
    MARKDOWN: "Print a Markdown table.",
    LATEX: "Print a LaTeX table (booktabs).",
    HTML: "Print an HTML table.",
    SVG: "Draw a picture.",
    BRIEF: "Print the main score alone, or those of --scores: a line for each output.",
}
_SUFFIXES: Mapping[str, str] = {
    ".txt": TEXT,
    ".json": JSON,
    ".csv": CSV,
    ".md": MARKDOWN,
    ".tex": LATEX,
    ".html": HTML,
    ".htm": HTML,
    ".svg": SVG,
    ".png": "picture",
    ".pdf": "picture",
}
_CHOSEN = "treescore.cli.options"


def form_options(*forms: str, names: Mapping[str, Sequence[str]] | None = None) -> Callable[[_Function], _Function]:
    """Add a flag for each form, and `--output`.

    Args:
        forms: those that the command prints.
        names: further names of a form's flag.
    """

    def add(function: _Function) -> _Function:
        function = click.option(
            "-o",
            "--output",
            metavar="FILE",
            type=click.Path(dir_okay=False, allow_dash=False, path_type=Path),
            callback=_output,
            help="Write to FILE, whole or not at all; its suffix names the form unless an option does.",
        )(function)
        for form in reversed(forms):
            function = click.option(
                f"--{form}",
                *(names or {}).get(form, ()),
                f"as_{form}",
                is_flag=True,
                expose_value=False,
                help=_HELP[form],
                flag_value=form,
                callback=_remember,
            )(function)
        return function

    return add


def form_option(*forms: str) -> Callable[[_Function], _Function]:
    """Add `--as FORM`, which names a form as the flags do."""
    return click.option(
        "--as",
        "as_form",
        type=OneOf(forms),
        expose_value=False,
        help="The same as the option of this name, as --as json.",
        callback=_remember,
    )


def unit_option(function: _Function) -> _Function:
    """Add `--unit`."""
    return click.option(
        "--unit", type=OneOf(["percent", "fraction"]), default="percent", show_default=True,
        help="How tables show scores from 0 to 1. JSON and CSV hold fractions with all digits.",
    )(function)  # fmt: skip


def fail_below_option(function: _Function) -> _Function:
    """Add `--fail-below`."""
    return click.option(
        "--fail-below", "thresholds", multiple=True, type=ThresholdValue(),
        help="End with status 1 where a score is worse than X, as ud.las_f1=0.85 or LAS=85%. Repeatable.",
    )(function)  # fmt: skip


def decimals_option(function: _Function) -> _Function:
    """Add `--decimals`."""
    return click.option(
        "--decimals", type=WholeNumber(0, 1, 15), metavar="N", help="Decimals of scores and differences in tables."
    )(function)


def choose(ctx: click.Context, form: str, option: str) -> None:
    """Remember which form an option asks for.

    Raises:
        click.UsageError: another option asks for another one.
    """
    other = ctx.meta.setdefault(_CHOSEN, (form, option))
    if other[0] != form:
        raise click.UsageError(f"{other[1]} and {option} are two forms. Choose one of them.", ctx)


def chosen_form(output: Path | None, forms: Sequence[str], inputs: Sequence[str]) -> str:
    """Return the form that an option names, else the suffix of the output, else text.

    Args:
        output: the file to write, if any.
        forms: those that the command prints.
        inputs: files that the command reads.

    Raises:
        click.UsageError: the output is one of the inputs, or its suffix names no form that the command prints.
    """
    if output is not None:
        for path in inputs:
            if is_same(output, path):
                raise click.UsageError(f"--output {output} is an input of this command. Name another file.")
    form, _ = click.get_current_context().meta.get(_CHOSEN, ("", ""))
    if form:
        return str(form)
    by_suffix = "" if output is None else _SUFFIXES.get(output.suffix.lower(), "")
    if by_suffix in forms:
        return by_suffix
    if output is not None and (output.is_file() or not output.exists()):  # a device or a pipe has no suffix
        known = ", ".join(suffix for suffix, each in _SUFFIXES.items() if each in forms)
        advice = f"Name a file that ends in one of {known}, or name the form, as --{forms[0]}."
        glued = f"-o{output}"  # perhaps a file, as -out.mrg
        advice += f" {as_file(glued)}" if glued in click.get_current_context().meta.get(GIVEN, ()) else ""
        raise click.UsageError(f"--output {output}: this command does not write such files. {advice}")
    return TEXT


def explicit_form() -> str:
    """Return the option that names a form; empty where none does."""
    return str(click.get_current_context().meta.get(_CHOSEN, ("", ""))[1])


def width_of_prose(output: Path | None) -> int:
    """Return the columns of the terminal, 80 where there is none, 0 in a file: there a paragraph is a line."""
    return get_terminal_size().columns if output is None else 0


def is_terminal() -> bool:
    """Return whether people read standard output."""
    return sys.stdout.isatty()


def _output(_ctx: click.Context, _option: click.Parameter, value: Path | None) -> Path | None:
    """Return the file to write; None for standard output, which `-` stands for too."""
    if value is None or str(value) == "-":
        return None
    if not value.parent.is_dir():
        click.echo(f"Error: {value} cannot be written: its folder is not there. Make it, or name another.", err=True)
        raise SystemExit(UNWRITTEN)
    if not value.name:
        raise click.BadParameter("a name is missing. Name a file, as scores.csv.")
    return value


def _remember(ctx: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is not None:
        choose(ctx, value, f"--as {value}" if option.name == "as_form" else f"--{value}")


def is_same(path: Path, other: str) -> bool:
    """Return whether two paths are one file that is there."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False
