"""The style sheet leaves the lines of pictures unfilled."""

from __future__ import annotations

import re

from service.pages.answers import STATIC
from tests.conftest import ROOT

RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
SENTENCE = ROOT / "docs" / "pictures" / "sentence.svg"


def filled(sheet: str) -> list[str]:
    """The selectors of rules that fill what is in a picture."""
    rules = RULE.findall(re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL))
    return [each.strip() for selectors, body in rules if re.search(r"(^|[\s;])fill:", body)
            for each in re.split(r",(?![^(]*\))", selectors) if each.strip().startswith(".drawing ")]  # fmt: skip


def fills(selector: str, name: str, classes: set[str]) -> bool:
    """Whether a selector `.drawing NAME.CLASS:not(.CLASS, ...)` takes an element."""
    wanted, _, excluded = selector.removeprefix(".drawing ").partition(":not(")
    of_name = re.match(r"[a-z]*", wanted)
    named = set(re.findall(r"\.([\w-]+)", wanted))
    barred = set(re.findall(r"\.([\w-]+)", excluded))
    return (of_name is None or of_name[0] in ("", name)) and named <= classes and not barred & classes


def test_no_rule_fills_an_arc() -> None:
    selectors = filled((STATIC / "pages.css").read_text(encoding="utf-8"))
    assert ".drawing .form" in selectors
    arcs = re.findall(r'<path[^>]* fill="none" class="([^"]+)"', SENTENCE.read_text(encoding="utf-8"))
    assert {"arc gold lab", "arc bad lab"} <= set(arcs)
    for arc in set(arcs):
        assert [each for each in selectors if fills(each, "path", set(arc.split()))] == [], arc
