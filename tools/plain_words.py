"""Find words of tools/plain_words.txt in code, docs and contract: `python tools/plain_words.py [PATH...]`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS = ROOT / "tools" / "plain_words.txt"
CHECKED = (
    *("treescore", "service", "workers", "benchmarks", "examples", "tools", "docs", "openapi.yaml"),
    *("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"),
    *("Makefile", "Dockerfile", "docker-compose.yml", "pyproject.toml"),
)
HISTORY = "service/store/migrations/"
"""Migrations name columns as they were."""
SUFFIXES = {".py", ".md", ".yaml", ".yml", ".toml", ".html", ""}


def banned() -> list[tuple[re.Pattern[str], str]]:
    """The expressions, and what to write instead."""
    lines = [line for line in WORDS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    pairs = [line.split("\t") for line in lines]
    return [(_from_edge(expression), better) for expression, better in pairs]


def _from_edge(*expressions: str) -> re.Pattern[str]:
    """What any of these matches from the edge of a word on."""
    return re.compile(rf"\b(?:{'|'.join(expressions)})", re.IGNORECASE)


def files(paths: list[str]) -> Iterator[Path]:
    """The text files that git knows below `paths`."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *paths],  # noqa: S607
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in SUFFIXES and path.is_file() and not name.startswith(HISTORY):
            yield path


def main(paths: list[str]) -> int:
    """Print every place; return 1 where there is one."""
    found = 0
    expressions = banned()
    any_of = _from_edge(*(expression.pattern.removeprefix(r"\b") for expression, _ in expressions))
    for path in files(paths or list(CHECKED)):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in ((number, line) for number, line in enumerate(lines, 1) if any_of.search(line)):
            for expression, better in expressions:
                match = expression.search(line)
                if match is not None:
                    found += 1
                    sys.stdout.write(f'{path.relative_to(ROOT)}:{number}: "{match[0]}": write {better}\n')
    if found:
        sys.stdout.write(f"{found} words of tools/plain_words.txt.\n")
    return int(found > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
