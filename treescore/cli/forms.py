"""Options that say in which form a command prints, and where to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import click

from treescore.cli.exits import UNWRITTEN
from treescore.cli.options import OneOf

_Function = TypeVar("_Function", bound=Callable[..., object])

TEXT, JSON, CSV, MARKDOWN, LATEX, HTML, SVG = "text", "json", "csv", "markdown", "latex", "html", "svg"
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
_CHOSEN = "treescore.cli.forms"


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
                callback=_flag(form),
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


def choose(ctx: click.Context, form: str, option: str) -> None:
    """Remember which form an option asks for.

    Raises:
        click.UsageError: another option asks for another one.
    """
    other = ctx.meta.setdefault(_CHOSEN, (form, option))
    if other[0] != form:
        raise click.UsageError(f"{other[1]} and {option} are two forms. Choose one of them.", ctx)


def chosen_form(output: Path | None, forms: Sequence[str], inputs: Sequence[str], *, otherwise: str = TEXT) -> str:
    """Return the form that an option names, else the suffix of the output, else the usual one.

    Args:
        output: the file to write, if any.
        forms: those that the command prints.
        inputs: files that the command reads.
        otherwise: the usual form in a file or a pipe; on a terminal it is text.

    Raises:
        click.UsageError: the output is one of the inputs, or its suffix names a form that the command does not print.
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
    if by_suffix:
        known = ", ".join(suffix for suffix, each in _SUFFIXES.items() if each in forms)
        raise click.UsageError(f"--output {output}: this command does not write such files. Suffixes: {known}.")
    return TEXT if output is None and is_terminal() else otherwise


def explicit_form() -> str:
    """Return the option that names a form; empty where none does."""
    return str(click.get_current_context().meta.get(_CHOSEN, ("", ""))[1])


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


def _remember(ctx: click.Context, _option: click.Parameter, value: str | None) -> None:
    if value is not None:
        choose(ctx, value, f"--as {value}")


def _flag(form: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    def remember(ctx: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - as click calls it
        if value:
            choose(ctx, form, f"--{form}")

    return remember


def is_same(path: Path, other: str) -> bool:
    """Return whether two paths are one file that is there."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False
