"""Pages that are written by the code are those of this code, and no other page states a parameter."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

PAGES = sorted((ROOT / "docs").rglob("*.md"))
REFERENCE = ROOT / "docs" / "reference"


def test_the_reference_is_what_the_code_says():
    done = subprocess.run(
        [sys.executable, "tools/reference.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_parameters_stand_in_the_reference_alone(page):
    if page.parent != REFERENCE:
        assert re.search(r"^\| (query )?parameter \|", page.read_text(encoding="utf-8"), re.MULTILINE) is None


def test_every_page_is_reached_from_the_first_one():
    """Sphinx warns of a page in no table of contents; this holds too where it is not built."""
    listed = set()
    for page in PAGES:
        for block in re.findall(
            r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            for entry in filter(None, (line.strip() for line in block.splitlines())):
                if not entry.startswith(":"):
                    listed.update(path.resolve() for path in page.parent.glob(f"{entry}.md"))
    missing = {page for page in PAGES if page not in listed and page != ROOT / "docs" / "index.md"}
    assert missing == set()
