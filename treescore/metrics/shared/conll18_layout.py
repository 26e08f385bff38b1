"""The verbose table of conll18_ud_eval.py and of the scripts made from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_HEAD = (
    "Metric     | Precision |    Recall |  F1 Score | AligndAcc",
    "-----------+-----------+-----------+-----------+-----------",
)


def conll18_table(rows: Iterable[str]) -> str:
    """Return the table of these rows, byte for byte."""
    return "\n".join([*_HEAD, *rows]) + "\n"


def conll18_row(title: str, row: str, counts: Mapping[str, int]) -> str:
    """Return the row of the counts `ROW.correct`, `ROW.gold`, `ROW.system` and, where there are, `ROW.aligned`."""
    correct, gold, system = (counts[f"{row}.{name}"] for name in ("correct", "gold", "system"))
    cells = [_percent(correct, system), _percent(correct, gold), _percent(2 * correct, gold + system)]
    aligned = counts.get(f"{row}.aligned")
    accuracy = "" if aligned is None else _percent(correct, aligned)
    return f"{title:11}|" + "|".join(f"{cell} " for cell in cells) + f"|{accuracy}"


def _percent(numerator: int, denominator: int) -> str:
    return f"{100 * (numerator / denominator if denominator else 0.0):10.2f}"
