"""Names of systems from the paths of their outputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

from treescore.sources.files import PACKED, is_folder

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
    for stem in (_stem, _whole):
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


def _whole(path: Path) -> str:
    return path.name or str(path)


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
