"""Texts as callers name them: paths, strings, bytes; read for `treescore.api`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from treescore.core.digests import digest_of
from treescore.core.params import Json, escape
from treescore.core.registry import Text
from treescore.errors import InputError, Problem
from treescore.evaluation.spec import FormatChoice, parse_format
from treescore.shapes import check_format

Source = str | bytes | Path | Mapping[str, str | bytes | Path]
"""A text: a path, a string with a newline, bytes; a mapping for formats of several texts (`parallel`)."""
Outputs = str | bytes | Path | Sequence[Source] | Mapping[str, Source]
"""One output, several, or several by the names of their systems."""
Choice = str | Mapping[str, Json]
"""A name, or an object as in a request: `{"name": "parseval", "params": {"preset": "evalb"}}`."""
SUFFIXES: Mapping[str, str] = {
    ".conllu": "conllu",
    ".conllx": "conllx",
    ".conll": "conllx",
    ".mrg": "bracketed",
    ".ptb": "bracketed",
    ".brackets": "bracketed",
    ".pharaoh": "pharaoh",
    ".talp": "talp",
    ".naacl": "naacl",
}
"""File suffix -> format."""
LONGEST_SHOWN = 80
"""Characters of a path that an error quotes."""


def format_choice(value: Json, pointer: str) -> FormatChoice:
    """Return a format from its name, or from an object with a name and options.

    Raises:
        InputError: the value has another shape, or the format or an option is unknown.
    """
    check_format(value, pointer)
    try:
        return parse_format(value)
    except InputError as error:
        raise error.at(pointer) from error


def pointer_of(name: str, source: Source) -> str:
    """Return where an output is: its file, or its name among the outputs."""
    parts = list(source.values()) if isinstance(source, Mapping) else [source]
    paths = [str(part) for part in parts if _is_path(part)]
    return ",".join(paths) if len(paths) == len(parts) else f"/outputs/{escape(name)}"


def _is_path(source: Source) -> bool:
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
    try:
        return Path(source).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        shown = str(source) if len(str(source)) <= LONGEST_SHOWN else f"{str(source)[:LONGEST_SHOWN]}..."
        detail = f"{shown!r}: {reason}. Give the path of a file; a text as bytes, or as a string with a newline."
        raise wrong("unreadable-file", detail, pointer) from error


def named_outputs(outputs: Outputs) -> list[tuple[str, Source]]:
    """Return outputs with their names: given, else stems of files, else numbers from 1.

    Raises:
        InputError: two outputs have one name.
    """
    if isinstance(outputs, Mapping):
        return list(outputs.items())
    listed: Sequence[Source] = [outputs] if isinstance(outputs, (str, bytes, Path)) else outputs
    named: dict[str, Source] = {}
    for number, source in enumerate(listed, 1):
        path = isinstance(source, (str, Path)) and _is_path(source)
        name = Path(str(source)).stem if path else str(number)
        if name in named:
            detail = f"Two outputs have the name {name!r}. Give each a name: {{name: output, ...}}."
            raise wrong("duplicate-system-name", detail, f"/outputs/{number - 1}")
        named[name] = source
    return list(named.items())


def format_of(source: Source) -> str | None:
    """Return the format that a file's suffix names; None for other texts."""
    is_file = isinstance(source, (str, Path)) and _is_path(source)
    return SUFFIXES.get(Path(str(source)).suffix.lower()) if is_file else None


def guessed_format(gold: Source) -> str:
    """Return the format of gold by its file's suffix.

    Raises:
        InputError: gold is not a file, or has another suffix.
    """
    found = format_of(gold)
    if found is None:
        detail = f"Set `format`: the suffix of gold's file does not name one. Known suffixes: {', '.join(SUFFIXES)}."
        raise wrong("unknown-format", detail, "/format")
    return found


def wrong(code: str, detail: str, pointer: str) -> InputError:
    """Return the error of one problem."""
    return InputError(Problem(code, detail, pointer=pointer))
