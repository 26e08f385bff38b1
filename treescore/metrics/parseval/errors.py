"""Missed and wrong brackets of a sentence, from its item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from treescore.core.params import Json
from treescore.metrics.parseval.choices import Choices

Span = tuple[int, int]
Bracket = tuple[str, int, int]


def bracket_errors(item: Mapping[str, Json], choices: Choices) -> Iterator[dict[str, Json]]:
    """Return gold's brackets that the output lacks (`missed`), then the output's that gold lacks (`wrong`)."""
    spans: list[Bracket] = list(map(tuple, item["system_spans"]))
    right = [span for span, matched in zip(spans, item["system_spans_right"], strict=True) if matched]
    wrong = [span for span, matched in zip(spans, item["system_spans_right"], strict=True) if not matched]
    missed = _without([tuple(span) for span in item["gold_spans"]], right, choices)
    for kind, found in (("missed", missed), ("wrong", wrong)):
        for label, start, end in found:
            yield {"kind": kind, "label": label, "start": start, "end": end}


def brackets_beside(item: Mapping[str, Json], errors: list[dict[str, Json]]) -> Iterator[dict[str, Json]]:
    """Return the brackets of a sentence, outer ones first, with a mark under the sides that have them."""
    left = Counter((row["label"], row["start"], row["end"]) for row in errors if row["kind"] == "missed")
    rows = []
    for label, start, end in item["gold_spans"]:
        missed = left[label, start, end] > 0
        left[label, start, end] -= missed
        rows.append(_beside((label, start, end), "missed" if missed else ""))
    rows += [_beside((row["label"], row["start"], row["end"]), "wrong") for row in errors if row["kind"] == "wrong"]
    rows.sort(key=lambda row: (row["start"], -row["end"]))
    return iter(rows)


def _beside(bracket: Bracket, error: str) -> dict[str, Json]:
    label, start, end = bracket
    sides = {"gold": "" if error == "wrong" else "x", "system": "" if error == "missed" else "x"}
    return {"label": label, "start": start, "end": end, **sides, "error": error}


def _without(brackets: list[Bracket], matched: list[Bracket], choices: Choices) -> list[Bracket]:
    """Leave out one bracket of gold for each matched one: the same, else one over its span.

    Of several over one span those go first whose label is equal. Equality need not be transitive, so that the program
    may have paired them otherwise; their number is right in any case.
    """
    same = Counter(matched)
    others: dict[Span, list[str]] = {}
    for label, start, end in brackets:
        if same[label, start, end] > 0:
            same[label, start, end] -= 1
        else:
            others.setdefault((start, end), []).append(label)
    pairs = {frozenset(pair) for pair in choices.equal_labels}
    for (label, start, end), count in same.items():
        golds = others.get((start, end), [])
        for _ in range(count):
            partner = next((each for each in golds if frozenset((label, each)) in pairs), golds[0])
            golds.remove(partner)
    left = Counter((label, *span) for span, labels in others.items() for label in labels)
    rest = []
    for bracket in reversed(brackets):
        if left[bracket] > 0:
            left[bracket] -= 1
            rest.append(bracket)
    return rest[::-1]
