"""The page on security names tests that exist."""

from __future__ import annotations

import re

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
CITED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def test_every_cited_test_exists():
    cited = CITED.findall(PAGE)
    assert cited
    for path, name in cited:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in source, f"{path}::{name}"


def test_every_attack_that_is_defended_against_cites_its_test():
    defended = PAGE.partition("## Attacks, defences and tests")[2].partition("## What is not defended against")[0]
    rows = [line for line in defended.splitlines() if line.startswith("| ") and not line.startswith("| attack |")]
    assert rows
    assert [row for row in rows if not CITED.search(row)] == []
