"""What the documentation names is there, and what is there is documented."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from pathlib import Path

import click
import pytest

from service.config import PREFIX, Config
from tests.conftest import ROOT
from treescore.cli.main import main
from treescore.core.registry import FORMATS, METRICS, TRANSFORMS
from treescore.evaluation import spec  # noqa: F401 - fills the registry

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings: small letters, hyphens for blanks, no other marks."""
    words = (
        re.sub(r"\]\([^)]*\)", "", heading) for heading in HEADING.findall(FENCED.sub("", page.read_text("utf-8")))
    )
    return {re.sub(r"[^\w -]", "", each.lower()).strip().replace(" ", "-") for each in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page):
    for target, anchor in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        if "://" not in target and not target.startswith("/"):
            place = page.parent / target if target else page
            assert place.exists(), target
            assert not anchor or place.suffix != ".md" or anchor in anchors(place), f"{target}#{anchor}"


def test_every_setting_is_documented_and_every_documented_one_exists():
    page = (ROOT / "docs" / "operate" / "configuration.md").read_text(encoding="utf-8")
    documented = set(re.findall(rf"^\| `({PREFIX}[A-Z_]+)`", page, re.MULTILINE))
    assert documented == {PREFIX + field.name.upper() for field in fields(Config)}


def test_every_documented_default_is_that_of_the_setting():
    page = (ROOT / "docs" / "operate" / "configuration.md").read_text(encoding="utf-8")
    printed = dict(re.findall(rf"^\| `{PREFIX}([A-Z_]+)` \| ([^|]*?) \|", page, re.MULTILINE))
    defaults = {each.name.upper(): each.default for each in fields(Config) if each.default is not MISSING}
    numbers = {name: re.match(r"\d+", cell) for name, cell in printed.items()}
    assert len([match for match in numbers.values() if match]) > 20
    for name, match in numbers.items():
        assert match is None or int(match[0]) == defaults[name], name
    words = {name: cell.strip("`") for name, cell in printed.items() if re.fullmatch(r"`[^`<]+`", cell)}
    assert len(words) >= 4
    for name, word in words.items():
        assert word == str(defaults[name]).lower(), name


def test_the_changelog_names_every_format_metric_and_transform():
    page = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for name in (*METRICS, *TRANSFORMS):
        assert f"`{name}`" in page, name
    for name in FORMATS:
        assert name.removesuffix("u").removesuffix("x").lower() in page.lower(), name


def test_every_command_says_what_it_does():
    context = click.Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None, name
        assert command.help, name


def test_every_benchmark_is_described_by_the_page_of_figures():
    page = (ROOT / "docs" / "operate" / "benchmarks.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        assert f"benchmarks/{path.name}" in page, path
