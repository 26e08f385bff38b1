"""Print what pip installs of RQ and redis-py: the lowest versions that pyproject.toml admits, then the newest."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("rq", "redis")
BOUNDS = re.compile(r"(?P<name>[\w-]+)>=(?P<lowest>[\d.]+)")


def requirements() -> tuple[list[str], list[str]]:
    """Return the requirements of the lowest versions, and those as they stand, of which pip takes the newest."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    group = [each for each in project["dependency-groups"]["service"] if isinstance(each, str)]
    found = {match["name"]: (each, match["lowest"]) for each in group if (match := BOUNDS.match(each))}
    lowest = [f"{name}=={found[name][1]}" for name in PACKAGES]
    return lowest, [found[name][0] for name in PACKAGES]


if __name__ == "__main__":
    for each in requirements():
        print(*each)  # noqa: T201 - its output
