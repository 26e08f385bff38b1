"""Comparisons of several scores or benchmarks as one family, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treescore.core.one_line import clean

Document = Mapping[str, Any]
LISTED_ACROSS = 50
"""Lines of pairs that are shown."""


def across_lines(document: Document) -> list[str]:
    """Return what was corrected together, a line for each system that is better than another, and what is assumed."""
    size, correction = document["family"]["size"], document["correction"]
    head = f"{size} tests as one family, {correction}, alpha {document['alpha']:g}:"
    found = [line for pair in document["pairs"] for line in _pair_lines(pair)]
    more = [f"and {len(found) - LISTED_ACROSS} more; JSON holds all"] if len(found) > LISTED_ACROSS else []
    lines = [*found[:LISTED_ACROSS], *more] or ["no system is shown to be better than another."]
    return [head, *lines, document["assumed"]]


def _pair_lines(pair: Document) -> Iterator[str]:
    for side, other in (("a", "b"), ("b", "a")):
        better = pair[f"{side}_better"]
        significant = [_name(test) for test in pair["tests"] if test["significant"] and test["better"] == side]
        if not better["k_bonferroni"] and not better["k_fisher"] and not significant:
            continue
        count = f"at least {better['k_bonferroni']} of {len(pair['tests'])}"
        if better["k_fisher"] is not None:
            count += f" ({better['k_fisher']} if they are independent)"
        named = f"; significant: {', '.join(significant)}" if significant else ""
        yield f"{clean(pair[side])} is better than {clean(pair[other])} on {count}{named}"


def _name(test: Document) -> str:
    return str(test.get("benchmark", test["score"]))
