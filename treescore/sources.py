"""Texts as callers name them: paths, strings, bytes; read for `treescore.api`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeGuard, cast

from treescore.core.digests import digest_of
from treescore.core.params import Json, escape
from treescore.core.registry import FORMATS, Text
from treescore.errors import InputError, Problem, placed
from treescore.evaluation.spec import FormatChoice, parse_format
from treescore.shapes import check_format

Source = str | bytes | Path | Mapping[str, str | bytes | Path]
"""A text: a path, a string with a newline, bytes; a mapping for formats of several texts (`parallel`)."""
Outputs = str | bytes | Path | Sequence[Source] | Mapping[str, Source | Sequence[Source]]
"""One output, several, or several by the names of their systems; of a system also a list of training runs."""
Choice = str | Mapping[str, Json]
"""A name, or an object as in a request: `{"name": "parseval", "params": {"preset": "evalb"}}`."""
LONGEST_SHOWN = 80
"""Characters of a path that an error quotes."""


def format_choice(value: Json, pointer: str) -> FormatChoice:
    """Return a format from its name, or from an object with a name and options.

    Raises:
        InputError: the value has another shape, or the format or an option is unknown.
    """
    check_format(value, pointer)
    with placed(pointer):
        return parse_format(value)


def pointer_of(name: str, source: Source) -> str:
    """Return where an output is: its file, or its name among the outputs."""
    parts = list(source.values()) if isinstance(source, Mapping) else [source]
    paths = [str(part) for part in parts if _is_path(part)]
    return ",".join(paths) if len(paths) == len(parts) else f"/outputs/{escape(name)}"


def _is_path(source: Source) -> TypeGuard[str | Path]:
    """Return whether a text is given by its path; strings are paths unless they hold a newline."""
    return isinstance(source, Path) or (isinstance(source, str) and "\n" not in source)


def read_source(source: Source, choice: FormatChoice, pointer: str) -> tuple[Text, str]:
    """Return a text and its digest."""
    fields = choice.format.fields
    if isinstance(source, Mapping) != bool(fields) or (isinstance(source, Mapping) and set(source) != set(fields)):
        wanted = f"takes the texts {', '.join(fields)} by name" if fields else "takes one text"
        raise wrong("wrong-text-shape", f"The format {choice.name!r} {wanted}.", pointer)
    if not isinstance(source, Mapping):
        body = _bytes(source, pointer)
        return body, digest_of(body)
    bodies = {name: _bytes(source[name], f"{pointer}/{name}") for name in fields}
    return bodies, " ".join(f"{name}={digest_of(bodies[name])}" for name in sorted(bodies))


def _bytes(source: str | bytes | Path, pointer: str) -> bytes:
    if isinstance(source, bytes):
        return source
    if isinstance(source, str) and not _is_path(source):
        return source.encode("utf-8", "surrogatepass")  # the reader reports what is not UTF-8, with its place
    if not isinstance(source, (str, Path)):
        raise wrong("wrong-type", "A text must be a path, a string or bytes.", pointer)
    try:
        return Path(source).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        shown = str(source) if len(str(source)) <= LONGEST_SHOWN else f"{str(source)[:LONGEST_SHOWN]}..."
        detail = f"{shown!r}: {reason}. Give the path of a file; a text as bytes, or as a string with a newline."
        raise wrong("unreadable-file", detail, pointer) from error


class Named(NamedTuple):
    """An output with the name of its system, and that of the system of which it is a further training run."""

    name: str
    source: Source
    run_of: str | None = None


def named_outputs(outputs: Outputs) -> list[Named]:
    """Return outputs with their names: given, else stems of files, else numbers from 1.

    Of several training runs of a system the first has its name, and the others `NAME.2`, `NAME.3`, ...

    Raises:
        InputError: a name is not a string, or a list of runs is empty.
    """
    if isinstance(outputs, Mapping):
        if not all(isinstance(name, str) for name in outputs):
            raise wrong("wrong-type", "The name of an output must be a string.", "/outputs")
        return [run for name, source in outputs.items() for run in _runs(name, source)]
    listed: Sequence[Source] = [outputs] if isinstance(outputs, (str, bytes, Path)) else outputs
    return [
        Named(Path(source).stem if _is_path(source) else str(number), source) for number, source in enumerate(listed, 1)
    ]


def run_name(name: str, number: int) -> str:
    """Return the name of a system's training run by its number from 1."""
    return name if number == 1 else f"{name}.{number}"


def _runs(name: str, source: Source | Sequence[Source]) -> list[Named]:
    if isinstance(source, (list, tuple)):
        if not source:
            raise wrong("too-few-runs", f"{name!r} has no output. Give one, or a list of its runs.", "/outputs")
        return [
            Named(run_name(name, number), run, name if number > 1 else None) for number, run in enumerate(source, 1)
        ]
    return [Named(name, cast("Source", source))]


def format_of(source: Source) -> str | None:
    """Return the format that a file's suffix names; None for other texts."""
    return _formats_by_suffix().get(Path(source).suffix.lower()) if _is_path(source) else None


def _formats_by_suffix() -> dict[str, str]:
    return {suffix: name for name, known in FORMATS.items() for suffix in known.suffixes}


def guessed_format(gold: Source) -> str:
    """Return the format of gold by its file's suffix.

    Raises:
        InputError: gold is not a file, or has another suffix.
    """
    name = format_of(gold)
    if name is None:
        known = ", ".join(_formats_by_suffix())
        detail = f"Set `format`: the suffix of gold's file does not name one. Known suffixes: {known}."
        raise wrong("unknown-format", detail, "/format")
    return name


def wrong(code: str, detail: str, pointer: str) -> InputError:
    """Return the error of one problem."""
    return InputError(Problem(code, detail, pointer=pointer))
