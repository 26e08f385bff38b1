"""Outputs with the names of their systems."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from treescore.sources.names import names_of_paths
from treescore.sources.objects import is_objects
from treescore.sources.problems import wrong
from treescore.sources.texts import Source, path_of

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
    detail = (
        f"Outputs cannot be of type {type(outputs).__name__}. Give a path, a text, parsed sentences, a list of "
        "outputs, or {name: output}."
    )
    raise wrong("wrong-type", detail, "/outputs")


def _runs(name: str, source: Source | Sequence[Source]) -> list[Named]:
    if isinstance(source, (list, tuple)) and not is_objects(source):
        if not source:
            raise wrong("too-few-runs", f"{name!r} has no output. Give one, or a list of its runs.", "/outputs")
        return [
            Named(run_name(name, number), run, name if number > 1 else None) for number, run in enumerate(source, 1)
        ]
    return [Named(name, source)]
