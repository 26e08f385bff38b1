"""The maps for newcomers name only what is in the checkout."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from tests.conftest import ROOT
from treescore.cli.main import COMMANDS

PAGES = (
    *("ARCHITECTURE.md", "CONTRIBUTING.md", "docs/GLOSSARY.md"),
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))),
)
STEP = re.compile(r"^\| (\d+) \| `([\w/]+\.py)`: ([^|]+)\|", re.MULTILINE)
ROOMS = ("treescore", "service", "workers", "tests")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"`([^`\n]+)`")
DOTTED = re.compile(rf"({'|'.join(ROOMS)})(\.\w+)+")
NAME = re.compile(r"[A-Za-z_]\w*")
PATH = re.compile(r"\.?[\w.-]+(/[\w.*-]+)*/?")
SOURCES = ("openapi.yaml", "pyproject.toml", "Makefile", "treescore/**/*.py", "service/**/*.py", "workers/**/*.py",
           "tests/service/**/*.py", "tests/treescore/**/*.py")  # fmt: skip


def names_of(page: str) -> Iterator[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return iter(dict.fromkeys(QUOTED.findall(FENCED.sub("", text))))


@cache
def words() -> frozenset[str]:
    """Every identifier in code, contract and build files."""
    found: set[str] = set()
    for pattern in SOURCES:
        for path in ROOT.glob(pattern):
            found.update(NAME.findall(path.read_text(encoding="utf-8")))
    return frozenset(found)


def is_importable(dotted: str) -> bool:
    """Whether a dotted name is a module, or a member of one."""
    module, _, member = dotted.rpartition(".")
    try:
        importlib.import_module(dotted)
    except ModuleNotFoundError:
        return module != "" and is_importable(module) and hasattr(importlib.import_module(module), member)
    return True


def is_there(name: str) -> bool:
    """Whether what a page names exists: a command, a dotted name, a path or an identifier."""
    first, *rest = name.split()
    if first == "make":
        return re.search(rf"^{rest[0]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE) is not None
    if first == "treescore":
        return not rest or rest[0] in COMMANDS
    if first == "python":
        target = rest[1] if rest[0] == "-m" else rest[0]
        return is_importable(target) if rest[0] == "-m" else (ROOT / target).is_file()
    if rest or not PATH.fullmatch(name):
        return True  # a phrase, an HTTP request, a placeholder: not a name of the checkout
    if DOTTED.fullmatch(name) and not (ROOT / name).exists():
        return is_importable(name)
    if any(ROOT.glob(name.rstrip("/"))):
        return True
    return (
        "/" not in name and NAME.fullmatch(name.rpartition(".")[2]) is not None and set(NAME.findall(name)) <= words()
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_name_on_the_page_exists(page):
    assert [name for name in names_of(page) if not is_there(name)] == []


@pytest.mark.parametrize("name", ["treescore/nothing.py", "treescore.core.nothing", "NothingHere", "make nothing",
                                  "treescore nothing", "python -m service.nothing"])  # fmt: skip
def test_a_name_that_does_not_exist_is_noticed(name):
    assert not is_there(name)


def test_every_step_of_a_submission_names_functions_of_its_file():
    steps = STEP.findall((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    assert [int(number) for number, _, _ in steps] == list(range(1, 22))
    for _, path, functions in steps:
        source = (ROOT / path).read_text(encoding="utf-8")
        for name in QUOTED.findall(functions):
            assert re.search(rf"^ *def {name}\(", source, re.MULTILINE), f"{path}: {name}"


def terms() -> Iterator[str]:
    """The terms of the glossary: several of a line are separated by commas."""
    text = (ROOT / "docs" / "GLOSSARY.md").read_text(encoding="utf-8")
    for cell in re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE):
        if cell not in ("term", "---"):
            yield from cell.split(", ")


def test_the_glossary_defines_each_term_once_or_says_in_which_sense():
    counted = Counter(terms())
    assert len(counted) > 150
    assert [term for term, times in counted.items() if times > 1] == []
    assert [term for term in counted if "(" in term and term.partition(" (")[0] in counted] == []


@pytest.mark.parametrize("page", ["ARCHITECTURE.md"])
def test_every_picture_has_a_description(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    pictures = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", text)
    assert len(pictures) == 2
    for description, target in pictures:
        assert len(description) > 80, target
        assert "<desc" in (ROOT / target).read_text(encoding="utf-8"), target
