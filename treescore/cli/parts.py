"""The files of parts, as commands name them: as PART=FILE, after their parts, or in a folder or zip archive."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from treescore.cli.exits import WRONG_INPUT, Stopped
from treescore.core.registry import FORMATS
from treescore.errors import InputError
from treescore.sources.files import ARCHIVE, part_of, read_files, stems_of, targets_by_name, unreadable


class PartFile(NamedTuple):
    """A text that is sent: the path that messages name, and what is read: a file, or what was in an archive."""

    path: str
    text: Path | bytes


PartFiles = Mapping[str, PartFile]
"""What is sent by its name in the form: a part, or `part/source`."""


def files_by_part(arguments: Sequence[str], benchmark: Mapping[str, Any], *, new: bool = False) -> PartFiles:
    """Return what is sent to the parts of a benchmark.

    Args:
        arguments: of the command.
        benchmark: its `parts` and `format`.
        new: whether PART=FILE may name another part.

    Raises:
        Stopped: a file cannot be read, names no part, or has the part of another.
    """
    parts, fields = list(benchmark["parts"]), _fields_of(benchmark["format"])
    targets = [f"{part}/{field}" for part in parts for field in fields] if fields else parts
    named = targets_by_name(targets)

    def target_of(name: str) -> str:
        return next((named[stem] for stem in stems_of(name) if stem in named), "")

    found = _found(arguments, None if new else parts, target_of)
    if len(found) == len(targets) == 1:
        found = [(found[0][0] or targets[0], found[0][1])]
    shown = ", ".join(targets[:20]) + (", ..." if len(targets) > 20 else "")
    return _each_once(found, f" The benchmark has: {shown}.")


def files_of_new_parts(arguments: Sequence[str], chosen: Any) -> PartFiles:
    """Return gold of a benchmark that is made, in a format of this name or with options, by the names of its files.

    Raises:
        Stopped: a file cannot be read, or has the part of another.
    """
    fields = _fields_of(chosen)
    return _each_once(_found(arguments, None, lambda name: part_of(name, fields)))


def texts_of(files: PartFiles) -> dict[str, Path | bytes]:
    """Return the text of each."""
    return {name: file.text for name, file in files.items()}


def paths_of(files: PartFiles) -> dict[str, str]:
    """Return the path of each, for messages."""
    return {name: file.path for name, file in files.items()}


def _fields_of(chosen: Any) -> Sequence[str]:
    known = FORMATS.get(str(chosen.get("name") if isinstance(chosen, Mapping) else chosen))
    return () if known is None else known.fields


def _found(
    arguments: Sequence[str], parts: Collection[str] | None, target_of: Callable[[str], str]
) -> list[tuple[str, PartFile]]:
    """Return the files with their names in the form, empty where there is none; PART is one of `parts`, if given."""
    found = list[tuple[str, PartFile]]()
    for argument in arguments:
        name, sign, path = argument.partition("=")
        if sign and name and (parts is None or name.partition("/")[0] in parts):
            if not Path(path).is_file():
                raise Stopped(WRONG_INPUT, unreadable(FileNotFoundError(), Path(path)))
            found.append((name, PartFile(path, Path(path))))
        else:
            found += [(target_of(inside), file) for inside, file in _read(argument)]
    return found


def _read(argument: str) -> list[tuple[str, PartFile]]:
    """Return the file of this path, or those in the folder or archive, by their names.

    Raises:
        Stopped: there is none, or the archive cannot be read.
    """
    path = Path(argument)
    if path.is_file() and path.suffix.lower() != ARCHIVE:
        return [(path.name, PartFile(argument, path))]
    try:
        return [(file.name, PartFile(file.path, file.text)) for file in read_files(path, "").files]
    except InputError as error:
        raise Stopped(WRONG_INPUT, *(problem.detail for problem in error.problems)) from error


def _each_once(found: Sequence[tuple[str, PartFile]], known: str = "") -> PartFiles:
    """Return files by their names in the form; `known` says which there are."""
    sent: dict[str, PartFile] = {}
    for target, file in found:
        if not target:
            detail = "it has the name of no part. Name its part, as PART=FILE, or the file after it."
            raise Stopped(WRONG_INPUT, f"{file.path}: {detail}{known}")
        if target in sent:
            raise Stopped(WRONG_INPUT, f"{file.path}: the part {target!r} is given twice.")
        sent[target] = file
    return sent
