"""Texts of any kind, read as the bytes that a format reads, with their digests and places.

Formats are named as callers name them, alone or with options; systems by their callers, or by the paths of
their outputs.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from pathlib import Path, PurePath
from typing import IO, Any, NamedTuple, TypeGuard, cast

from treescore.core.params import Json, escape
from treescore.core.registry import FORMATS, Format, Text
from treescore.core.text import digest_of, line_count
from treescore.core.wording import did_you_mean
from treescore.errors import FilePath, InputError, SeveralFiles, placed
from treescore.evaluation.spec import FormatChoice, parse_format
from treescore.shapes import check_format
from treescore.sources.files import ARCHIVE, PACKED, is_folder, listed, names_inside, read_files, shown, wrong
from treescore.sources.objects import format_of_objects, is_objects, text_of_objects

Source = str | bytes | os.PathLike[str] | IO[bytes] | IO[str] | Mapping[str, Any] | Any
"""A text: a path, a string with a line break, bytes, an open file, parsed sentences; a mapping for formats of several
texts (`parallel`)."""
_NO_PATH = " Give the path of a file; a text as bytes, or as a string with a newline."
_ASK = "`treescore suggest FILE` tells a format by its first lines."
MOST_LOOKED_AT = 1000
"""Files of a folder whose suffixes are looked at for a format."""


class SourceText(NamedTuple):
    """A text as it was read.

    Attributes:
        text: what the format reads.
        digest: its name in signatures.
        place: where its problems are.
        names: of the files it was joined of; empty for other texts.
    """

    text: Text
    digest: str
    place: str
    names: Sequence[str] = ()


class _Part(NamedTuple):
    """One text of a source: its bytes, and for each file the lines before it, its path and its name."""

    text: bytes
    files: Sequence[tuple[int, str]] = ()
    names: Sequence[str] = ()


class StandardInput:
    """Standard input as a text; it can be read once."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream: IO[bytes] | None = stream

    def read(self) -> bytes:
        """Return what is left of it.

        Raises:
            InputError: it was read before.
        """
        if self._stream is None:
            detail = "Standard input (-) was named twice; it can be read once. Name files for the other texts."
            raise wrong("unreadable-file", detail, "-")
        stream, self._stream = self._stream, None
        return stream.read()


def is_path(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Tell whether a text is given by its path; strings are paths unless they have a line break."""
    return isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source and "\r" not in source)


def path_of(source: object) -> str | None:
    """Return the path of a text: given, or that of an open file; None for others."""
    if is_path(source):
        return os.fspath(source)
    name = getattr(source, "name", None) if _is_open_file(source) else None
    return name if isinstance(name, str) and not name.startswith("<") else None


def pointer_of(name: str, source: Source) -> str:
    """Return where an output is: its file, or its name among the outputs."""
    if isinstance(source, StandardInput):
        return FilePath("-")
    parts = list(source.values()) if isinstance(source, Mapping) else [source]
    paths = [path for path in map(path_of, parts) if path is not None]
    return FilePath(",".join(paths)) if paths and len(paths) == len(parts) else f"/outputs/{escape(name)}"


def read_source(source: Source, choice: FormatChoice, pointer: str) -> SourceText:
    """Return a text with its digest and the places of its problems.

    Raises:
        InputError: the text cannot be read, or is not of the shape that the format takes.
    """
    fields = choice.format.fields
    if isinstance(source, Mapping) != bool(fields) or (isinstance(source, Mapping) and set(source) != set(fields)):
        wanted = f"takes the texts {', '.join(fields)} by name" if fields else "takes one text"
        raise wrong("wrong-text-shape", f"The format {choice.name!r} {wanted}.", pointer)
    if not isinstance(source, Mapping):
        part = _part(source, choice.format, pointer)
        place = SeveralFiles(pointer, {"": part.files}) if len(part.files) > 1 else pointer
        return SourceText(part.text, digest_of(part.text), place, part.names)
    parts = {name: _part(source[name], choice.format.inner(name), f"{pointer}/{name}") for name in fields}
    bodies = {name: part.text for name, part in parts.items()}
    digest = " ".join(f"{name}={digest_of(bodies[name])}" for name in sorted(bodies))
    files = {f"/{name}": part.files for name, part in parts.items() if part.files}
    return SourceText(bodies, digest, SeveralFiles(pointer, files) if files else pointer)


def first_text(source: Source) -> bytes:
    """Return a text whose format is not known; of several files the first.

    Raises:
        InputError: it cannot be read, or is none.
    """
    if is_path(source):
        return read_files(Path(source), FilePath(os.fspath(source))).files[0].text
    found = _bytes_of(source, "/text")
    if found is None:
        raise wrong("wrong-type", "Give a path, a string with a line break, bytes or an open file.", "/text")
    return found


def check_same_files(gold: SourceText, output: SourceText) -> None:
    """Check that an output of several files has those of gold.

    Raises:
        InputError: `files-differ`, with the names that are missing or not in gold.
    """
    of_gold, of_output = (sorted(map(_without_suffix, side.names)) for side in (gold, output))
    if not of_gold or not of_output or of_gold == of_output or len(of_gold) == len(of_output) == 1:
        return
    missing = [name for name in of_gold if name not in set(of_output)]
    extra = [name for name in of_output if name not in set(of_gold)]
    parts = [f"lacks {listed(missing)}"] * bool(missing) + [f"has {listed(extra)}, which gold has not"] * bool(extra)
    detail = f"The output {' and '.join(parts)}. Give the files of the output the names of gold's."
    raise wrong("files-differ", detail, output.place.own if isinstance(output.place, SeveralFiles) else output.place)


def format_of(source: Source) -> str | None:
    """Return the format that a file's suffix names, or that parsed sentences are handed over in; None for other texts.

    The suffix is that of the unpacked file; in a folder or archive that of all its files.
    """
    if isinstance(source, Mapping):
        return None
    path = path_of(source)
    if path is None:
        return format_of_objects(source)
    found = {format_of_name(name) for name in _names_at(Path(path))}
    return found.pop() if len(found) == 1 else None


def format_of_name(name: str) -> str | None:
    """Return the format that the suffix of a file's name stands for; nothing of that name needs to exist."""
    return _formats_by_suffix().get(_suffix(name))


def guessed_format(gold: Source) -> str:
    """Return the format of gold by its file's suffix, or as its sentences are handed over.

    Raises:
        InputError: gold is not a file, or has another suffix.
    """
    name = format_of(gold)
    if name is None:
        path = path_of(gold)
        if (
            path is None
            and not isinstance(gold, (str, bytes, bytearray, memoryview, Mapping))
            and not _is_open_file(gold)
        ):
            raise _no_text(gold, "/gold")
        suffix = "" if path is None else _suffix(path)
        known = ", ".join(_formats_by_suffix())
        subject = "gold is not a file" if path is None else f"the suffix of {shown(path)} does not name one"
        meant = did_you_mean(suffix, _formats_by_suffix()) if suffix else ""
        raise wrong("unknown-format", f"Set `format`: {subject}. Known suffixes: {known}.{meant} {_ASK}", "/format")
    return name


def _part(source: object, format_: Format, pointer: str) -> _Part:
    if is_path(source):
        return _of_files(source, format_, pointer)
    found = _bytes_of(source, pointer)
    if found is not None:
        return _Part(found)
    if is_objects(source):
        return _Part(text_of_objects(source, format_.name, pointer))
    raise _no_text(source, pointer)


def _no_text(source: object, pointer: str) -> InputError:
    """Return the error of an object that holds no text."""
    inner = sorted({_type_name(each) for each in source}) if isinstance(source, (list, tuple)) else []
    of = f"of {listed(inner)}" if inner else "empty, as a generator that was read before is"
    named = _type_name(source) + (f" ({of})" if isinstance(source, (list, tuple)) else "")
    detail = (
        f"No text: an object of type {named}; taken are a path, a string with a line break, bytes, an open file, or "
        "parsed sentences: NLTK trees, spaCy Docs, stanza Documents, conllu TokenLists, a udapi Document, sets of "
        "pairs (alignments), or a list or generator of them."
    )
    return wrong("wrong-type", detail, pointer)


def _type_name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def held(source: Any) -> Any:
    """Return a source, or outputs, with what can be read once (a generator of parsed sentences) as a list."""
    if isinstance(source, Mapping):
        return {name: held(each) for name, each in source.items()}
    if isinstance(source, Iterator) and not _is_open_file(source):
        return list(source)
    return list(map(held, source)) if type(source) is list else source


def _bytes_of(source: object, pointer: str) -> bytes | None:
    """Return the bytes of a text that is given itself or as an open file; None of what is neither."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if isinstance(source, str):
        return _encoded(source)
    if isinstance(source, StandardInput):
        return source.read()
    return _of_open_file(source, pointer) if _is_open_file(source) else None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # the reader reports what is not UTF-8, with its place


def _of_files(source: str | os.PathLike[str], format_: Format, pointer: str) -> _Part:
    path = os.fspath(source)
    if not path:
        raise wrong("unreadable-file", "The path is empty. Give the path of a file; '.' is this folder.", pointer)
    if path == "-":
        detail = "'-' is standard input in the command alone. Give an open file: sys.stdin.buffer."
        raise wrong("unreadable-file", detail, pointer)
    files = read_files(Path(path), pointer, _NO_PATH if isinstance(source, str) else "")
    names = tuple(file.name for file in files.files) if files.several else ()
    if len(files.files) == 1:
        only = files.files[0]
        return _Part(only.text, [(0, only.path)], names)
    texts: dict[str, bytes] = {FilePath(file.path): file.text for file in files.files}
    pieces = format_.joinable(texts)
    before = [0, *accumulate(map(line_count, pieces))][:-1]
    return _Part(b"".join(pieces), list(zip(before, texts, strict=True)), names)


def _is_open_file(source: object) -> TypeGuard[IO[bytes] | IO[str]]:
    return callable(getattr(source, "read", None))


def _of_open_file(source: IO[bytes] | IO[str], pointer: str) -> bytes:
    try:
        text: object = source.read()
    except (OSError, ValueError) as error:
        # A closed file, one opened for writing, or one opened as text that is not in its encoding.
        detail = f"The open file cannot be read: {error}. Open it for reading, as bytes (mode 'rb')."
        raise wrong("unreadable-file", detail, pointer) from error
    if isinstance(text, str):
        return _encoded(text)
    if isinstance(text, bytes):
        return text
    detail = f"Reading the open file gave {type(text).__name__}. It must give a string or bytes."
    raise wrong("wrong-type", detail, pointer)


def _formats_by_suffix() -> dict[str, str]:
    return {suffix: name for name, known in FORMATS.items() for suffix in known.suffixes}


def _names_at(path: Path) -> list[str]:
    """Return the names of the files that a path stands for, at least one."""
    if path.suffix.lower() == ARCHIVE or is_folder(path):
        return list(islice(names_inside(path), MOST_LOOKED_AT)) or [""]
    return [path.name]


def _suffix(name: str) -> str:
    """Return the suffix of the unpacked file: the longest that names a format (`.tiger.xml`), else the last one."""
    packed = Path(name)
    plain = Path(packed.stem) if packed.suffix.lower() in PACKED else packed
    lower = plain.name.lower()
    known = [suffix for suffix in _formats_by_suffix() if lower.endswith(suffix) and lower != suffix]
    return max(known, key=len, default=plain.suffix.lower())


def _without_suffix(name: str) -> str:
    suffix = _suffix(name)
    return name[: -len(suffix)] if suffix in _formats_by_suffix() else name


def format_choice(value: Json, pointer: str) -> FormatChoice:
    """Return a format from its name, or from an object with a name and options.

    Raises:
        InputError: the value has another shape, or the format or an option is unknown.
    """
    check_format(value, pointer)
    with placed(pointer):
        return parse_format(value)


_UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"


def names_of_paths(paths: Sequence[str | Path]) -> list[str]:
    """Return a name for each path: its stem; where two have one stem, the components in which the paths differ.

    `a/out.conllu b/out.conllu` are `a` and `b`. Only a path that is given twice has one name twice. A mark stands for
    what cannot be printed, as a byte that is not UTF-8.
    """
    names = _names([Path(path) for path in paths])
    printable = ["".join(each if each.isprintable() else _UNPRINTABLE for each in name) for name in names]
    return printable if len(set(printable)) == len(set(names)) else names


def _names(found: Sequence[Path]) -> list[str]:
    for stem in (_stem, lambda path: path.name or str(path)):
        ends = [stem(path) for path in found]
        if len(set(ends)) == len(ends):
            return ends
        names = _differing([(*path.parts[:-1], end) for path, end in zip(found, ends, strict=True)])
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in found]


def _stem(path: Path) -> str:
    """Return the last component without suffixes: those of a compression, then the file's own; all of a folder's."""
    if is_folder(path):
        return path.name or str(path)
    inner = PurePath(path.stem) if path.suffix.lower() in PACKED else PurePath(path.name)
    return inner.stem or path.name or str(path)


def _differing(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """Join the components of each path that are not the same in all."""
    if len({len(parts) for parts in paths}) == 1:
        kept = [k for k, column in enumerate(zip(*paths, strict=True)) if len(set(column)) > 1]
        return ["/".join(parts[k] for k in kept) for parts in paths]
    shortest = min(map(len, paths)) - 1
    first = paths[0]
    head = next((k for k in range(shortest) if any(parts[k] != first[k] for parts in paths)), shortest)
    tail = next((k for k in range(shortest - head) if any(parts[-1 - k] != first[-1 - k] for parts in paths)), None)
    end = shortest - head if tail is None else tail
    return ["/".join(parts[head : len(parts) - end]).lstrip("/") for parts in paths]


Outputs = Source | Sequence[Source] | Mapping[str, Source | Sequence[Source]]
"""One output, several, or several by the names of their systems; of a system also a list of training runs."""


class Named(NamedTuple):
    """An output with the name of its system, and that of the system of which it is a further training run."""

    name: str
    source: Source
    run_of: str | None = None


def named_outputs(outputs: Outputs) -> list[Named]:
    """Return outputs with their names: given, else from the paths of their files, else numbers from 1.

    A path's name is its stem; where two have one stem, the components in which the paths differ. Of several training
    runs of a system the first has its name, and the others `NAME.2`, `NAME.3`, ...

    Raises:
        InputError: a name is not a string, a list of runs is empty, or `outputs` is not a list.
    """
    if isinstance(outputs, Mapping):
        if not all(isinstance(name, str) for name in outputs):
            raise wrong("wrong-type", "The name of an output must be a string.", "/outputs")
        return [run for name, source in outputs.items() for run in _runs(name, source)]
    listed = _listed(outputs)
    paths = {number: path for number, source in enumerate(listed, 1) if (path := path_of(source)) is not None}
    names = dict(zip(paths, names_of_paths(list(paths.values())), strict=True))
    return [Named(names.get(number, str(number)), source) for number, source in enumerate(listed, 1)]


def run_name(name: str, number: int) -> str:
    """Return the name of a system's training run by its number from 1."""
    return name if number == 1 else f"{name}.{number}"


def _listed(outputs: Outputs) -> list[Source]:
    """Return one output or several as a list; a list of sentences is one output."""
    if isinstance(outputs, (str, bytes, bytearray, memoryview, os.PathLike)) or callable(
        getattr(outputs, "read", None)
    ):
        return [outputs]
    if is_objects(outputs):
        return [outputs]
    if isinstance(outputs, Iterable):
        found = list(cast("Iterable[Source]", outputs))
        return [found] if is_objects(found) else found
    raise _no_text(outputs, "/outputs")


def _runs(name: str, source: Source | Sequence[Source]) -> list[Named]:
    if isinstance(source, (list, tuple)) and not is_objects(source):
        if not source:
            raise wrong("too-few-runs", f"{name!r} has no output. Give one, or a list of its runs.", "/outputs")
        return [
            Named(run_name(name, number), run, name if number > 1 else None) for number, run in enumerate(source, 1)
        ]
    return [Named(name, source)]
