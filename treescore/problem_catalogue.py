"""The catalogue of problem codes: what each means, what causes it and how to fix it. One entry for each code.

The words stand in problem_catalogue.toml.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """What the catalogue of problems says of one code.

    Attributes:
        title: a few words, without a full stop.
        cause: why it is given, in one or two sentences.
        fix: what to do, in one or two sentences.
        example: a line or two that are right; empty where words suffice.
    """

    title: str
    cause: str
    fix: str
    example: str = ""


def read_entries(package: str, name: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the members of each entry of a file of a package, by code."""
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))


CATALOGUE: Mapping[str, Entry] = {
    code: Entry(**members) for code, members in sorted(read_entries("treescore", "problem_catalogue.toml").items())
}
"""Code -> entry: every code of a problem or warning that the library gives."""

__all__ = ["CATALOGUE", "Entry", "read_entries"]
