"""What a comparison says in sentences, below its table: what it takes as given, and what no cell of the table holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from treescore.core.figures import Figures
from treescore.core.one_line import clean
from treescore.render.crosstable import CrossTable, p_text, tests_shares

Document = Mapping[str, Any]
LISTED_PAIRS = 10
"""Pairs that one sentence names; the document holds all."""


def sentences(table: CrossTable) -> list[str]:
    """Return the sentences of a comparison; those that its document has no figures for are left out."""
    document = table.document
    pairs = [pair for pair in document["pairs"] if pair["difference"] is not None]
    return [
        *assumed(document),
        *_detectable(pairs, table.figures),
        *_sentence_parts(pairs, document["alpha"]),
        *_unselected(pairs, document["alpha"]),
        *_together(pairs, table.figures, of_scores=not tests_shares(document)),
        *_not_worse(pairs, table.figures),
    ]


def assumed(document: Document) -> list[str]:
    """Return what a comparison takes as random and what as fixed, as one line."""
    return [document["assumed"]] if document.get("assumed") else []


def detectable(table: CrossTable) -> list[str]:
    """Return which true difference would have been found where none is significant, as one line."""
    return list(
        _detectable([pair for pair in table.document["pairs"] if pair["difference"] is not None], table.figures)
    )


def _detectable(pairs: Sequence[Document], figures: Figures) -> Iterator[str]:
    known = [pair["detectable"] for pair in pairs if pair.get("detectable") and pair["significant"] is False]
    if not known:
        return
    low, high = (end(each["difference"] for each in known) for end in (min, max))
    power = f"{known[0]['power']:.0%}".replace("%", " %")
    if len(pairs) == 1:
        yield f"Not significant; a true difference of {figures.value(low)} would be found with {power} power."
    else:
        size = figures.value(low) if high == low else f"{figures.value(low)} to {figures.value(high)}, by pair,"
        yield f"Where a difference is not significant, a true one of {size} would be found with {power} power."


def _sentence_parts(pairs: Sequence[Document], alpha: float) -> Iterator[str]:
    known = [pair for pair in pairs if pair.get("p_parts") is not None]
    if len(pairs) == 1:
        yield from (f"For parts like these p is {p_text(pair['p_parts'])}." for pair in known)
    elif known:
        narrow = [pair for pair in known if pair["significant"] and pair["p_parts"] > alpha]
        listed = _named_pairs(narrow, "p_parts") or "none"
        yield f"Significant on these parts, but p above {alpha:g} for parts like these: {listed}."


def _unselected(pairs: Sequence[Document], alpha: float) -> Iterator[str]:
    known = [pair for pair in pairs if pair.get("p_unselected") is not None and pair["p_unselected"] != pair["p"]]
    if len(pairs) == 1:
        yield from (f"Without the allowance for picking p is {p_text(pair['p_unselected'])}." for pair in known)
        return
    picked = [pair for pair in known if pair["p_unselected"] <= alpha < pair["p"]]
    if picked:
        yield f"p above {alpha:g} only by the allowance for picking: {_named_pairs(picked, 'p_unselected')} without it."


def _together(pairs: Sequence[Document], figures: Figures, *, of_scores: bool) -> Iterator[str]:
    """Yield for how many pairs 0 is outside of the intervals that hold together, and where p decides otherwise.

    The intervals are of scores: a p of something else is not held against them.
    """
    known = [pair for pair in pairs if _simultaneous_bounds(pair) is not None]
    if len(pairs) == 1 or not known:
        return
    apart = [pair for pair in known if _apart(pair)]
    decided = [pair for pair in known if of_scores and pair["significant"] is not None]
    odd = [pair for pair in decided if pair["significant"] != _apart(pair)]
    sentence = f"Intervals that hold together leave out 0 for {len(apart)} of {len(known)} pairs"
    named = "; ".join(
        f"{_names(pair)} {figures.interval(*(_simultaneous_bounds(pair) or (None, None)))}"
        for pair in odd[:LISTED_PAIRS]
    )
    yield f"{sentence}; p decides otherwise for {named}{_more(len(odd))}." if odd else f"{sentence}."


def _simultaneous_bounds(pair: Document) -> tuple[float, float] | None:
    ci = pair.get("ci_simultaneous") or {"low": None, "high": None}
    return None if ci["low"] is None or ci["high"] is None else (ci["low"], ci["high"])


def _apart(pair: Document) -> bool:
    low, high = _simultaneous_bounds(pair) or (0.0, 0.0)
    return low > 0 or high < 0


def _not_worse(pairs: Sequence[Document], figures: Figures) -> Iterator[str]:
    """Yield for each system of which others are shown not to be worse which these are; of one pair both p."""
    tested = [pair for pair in pairs if pair.get("noninferiority")]
    if not tested:
        return
    margin = f"{figures.factor * tested[0]['noninferiority']['margin']:g}"
    shown: dict[str, list[str]] = {}
    for pair in tested:
        for name, other in ((pair["a"], pair["b"]), (pair["b"], pair["a"])):
            found = pair["noninferiority"][name]
            p = f"(p {p_text(found['p_adjusted'])})"
            if len(pairs) == 1:
                verdict = "shown" if found["established"] else "not shown"
                yield f"{clean(name)} not worse than {clean(other)} by more than {margin}: {verdict} {p}."
            elif found["established"]:
                shown.setdefault(other, []).append(f"{clean(name)} {p}")
    for other, names in shown.items():
        yield f"Not worse than {clean(other)} by more than {margin}: {', '.join(names)}."
    if len(pairs) > 1 and not shown:
        yield f"No system is shown not to be worse than another by more than {margin}."


def _named_pairs(pairs: Sequence[Document], member: str) -> str:
    named = [f"{_names(pair)} ({p_text(pair[member])})" for pair in pairs[:LISTED_PAIRS]]
    return ", ".join(named) + _more(len(pairs))


def _more(count: int) -> str:
    return f" and {count - LISTED_PAIRS} more" if count > LISTED_PAIRS else ""


def _names(pair: Document) -> str:
    return f"{clean(pair['a'])} and {clean(pair['b'])}"
