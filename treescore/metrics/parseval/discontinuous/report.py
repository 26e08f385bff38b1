"""The summary of `discodop eval`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from treescore.core.registry import Outcome
from treescore.metrics.parseval.choices import Choices

_FIGURES = (
    ("labeled recall:", {"matched": 1}, {"gold": 1}),
    ("labeled precision:", {"matched": 1}, {"system": 1}),
    ("labeled f-measure:", {"matched": 2}, {"gold": 1, "system": 1}),
    ("exact match:", {"complete": 1}, {"valid": 1}),
    ("function tags:", {"function_matched": 2}, {"function_gold": 1, "function_system": 1}),
    ("pos accuracy:", {"correct_tags": 1}, {"words": 1}),
)
_WITH_GAPS_ALONE = {"complete": "disc_complete", "valid": "disc_sentences"}
_DIVIDED_BY_NOTHING = ("exact match:", "pos accuracy:")
"""Where disco-dop divides numbers, not sets, and prints 0DIV!."""
_WIDTH, _FIGURE_WIDTH, _SPACE = 27, 6, 5

Counts = Mapping[str, int]


def discodop_report(outcome: Outcome, names: Sequence[str], choices: Choices) -> str:
    """Print the summary: over all sentences, and before that up to the cut-off length where one is longer.

    Brackets that stand twice count once in the numbers of brackets.
    """
    totals = dict(zip(names, outcome.totals.tolist(), strict=True))
    valid = outcome.rows[:, names.index("valid")] > 0
    lengths = outcome.rows[valid, -1]
    longest = int(lengths.max(initial=0))
    if longest <= choices.cutoff:
        columns: list[Counts] = [{**totals, "longest": longest}]
        heading = " Summary (ALL) __________"
    else:
        short = {name.removeprefix("cutoff."): count for name, count in totals.items() if name.startswith("cutoff.")}
        short["longest"] = int(lengths[lengths <= choices.cutoff].max(initial=0))
        columns = [short, {**totals, "longest": longest}]
        heading = f" Summary {'_' * 9} <= {choices.cutoff} ______ ALL"
    return "".join(f"{line}\n" for line in [heading, *_lines(columns, only_gaps=choices.only_gaps)])


def _lines(columns: Sequence[Counts], *, only_gaps: bool) -> Sequence[str]:
    renamed = _WITH_GAPS_ALONE if only_gaps else {}
    lines = [
        _line("number of sentences:", _whole(columns, renamed.get("valid", "valid"))),
        _line("longest sentence:", _whole(columns, "longest")),
        *_brackets(columns),
    ]
    for title, top, bottom in _FIGURES:
        if "function_system" in bottom and not columns[-1]["function_system"]:
            continue
        shares = [
            _share(
                title,
                *(
                    sum(times * counts[renamed.get(name, name)] for name, times in part.items())
                    for part in (top, bottom)
                ),
            )
            for counts in columns
        ]
        lines.append(_line(title, shares))
    return lines


def _brackets(columns: Sequence[Counts]) -> Sequence[str]:
    """Return how many brackets each side has, and how many of them have gaps if there are any."""
    sides = (("gold", "gold"), ("cand.", "system"))
    numbers = {title: _whole(columns, f"distinct_{side}") for title, side in sides}
    with_gaps = {title: _whole(columns, f"disc_{side}") for title, side in sides}
    if not any(columns[-1][f"disc_{side}"] for _, side in sides):
        return [_line(f"{title} brackets:", found) for title, found in numbers.items()]
    if len(columns) == 1:
        return [
            f"{_line(f'{title} brackets (disc.):', found)} ({with_gaps[title][0].strip()})"
            for title, found in numbers.items()
        ]
    return [
        *(_line(f"{title} brackets:", found) for title, found in numbers.items()),
        *(_line(f"disc. {title} brackets:", found) for title, found in with_gaps.items()),
    ]


def _whole(columns: Sequence[Counts], name: str) -> list[str]:
    return [f"{counts[name]:>{_FIGURE_WIDTH}}" for counts in columns]


def _share(title: str, top: int, bottom: int) -> str:
    """Print a share in per cent; what disco-dop prints where it cannot divide, or precision and recall are 0."""
    if not bottom and title in _DIVIDED_BY_NOTHING:
        return "0DIV!".rjust(_FIGURE_WIDTH)
    undefined = not bottom or (not top and title in ("labeled f-measure:", "function tags:"))
    return "nan".rjust(_FIGURE_WIDTH) if undefined else f"{100 * top / bottom:>{_FIGURE_WIDTH}.2f}"


def _line(title: str, figures: Sequence[str]) -> str:
    return f"{title:<{_WIDTH}}{(' ' * _SPACE).join(figures)}"
