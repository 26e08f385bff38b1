"""Compare the links of an output with gold's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, sums_by
from treescore.core.columns import Lists, Numbers, Records, Rows, Strings
from treescore.core.params import Json
from treescore.core.registry import SKIP, Outcome, TokenBits, all_ok
from treescore.core.trees import Alignments
from treescore.errors import Problem
from treescore.metrics.alignment.absence import charge_links
from treescore.metrics.alignment.link_sets import GoldIndex, Links
from treescore.metrics.alignment.table import LINK_COUNTS

_KINDS = ("P", "S")
_SURE = _KINDS[1]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A system's links compared with gold's over n sentence pairs: which links are right.

    Attributes:
        gold, system: the links.
        in_possible, in_sure: whether gold has each of the system's links, and has it as sure, bool (system links,).
        found_in_system, found_as_sure: whether the system has each of gold's links, and has it as sure, bool
            (gold links,).
        pairs: number of sentence pairs.
    """

    gold: Links
    system: Links
    in_possible: BoolArray
    in_sure: BoolArray
    found_in_system: BoolArray
    found_as_sure: BoolArray
    pairs: int

    @property
    def rows(self) -> IntArray:
        """Counts of each pair, int64 (n, 7), columns as LINK_COUNTS."""
        gold, system = self.gold, self.system
        columns = (
            system.rows,
            gold.rows[gold.sure],
            gold.rows,
            system.rows[self.in_sure],
            system.rows[self.in_possible],
            system.rows[system.sure],
            system.rows[system.sure & self.in_sure],
        )
        return np.stack([sums_by(column, self.pairs) for column in columns], axis=1)


def compare_links(index: GoldIndex, system: Links, pairs: int) -> Comparison:
    """Look up every link of a system in gold."""
    gold = index.links
    partners = index.find(system)
    in_possible = partners >= 0
    in_sure = in_possible.copy()
    in_sure[in_possible] = gold.sure[partners[in_possible]]
    found_in_system, found_as_sure = np.zeros(len(gold), np.bool_), np.zeros(len(gold), np.bool_)
    found_in_system[partners[in_possible]] = True
    found_as_sure[partners[in_possible & system.sure]] = True
    return Comparison(gold, system, in_possible, in_sure, found_in_system, found_as_sure, pairs)


def outcome_of(comparison: Comparison, warnings: list[Problem], empty: BoolArray, *, zero: bool) -> Outcome:
    """Make the outcome: counts, bits of gold's links, and the links that are wrong or missed.

    With `zero`, the pairs in `empty`, bool (n,), are charged (`charge_links`).
    """
    rows, status = comparison.rows, all_ok(comparison.pairs)
    if zero:
        status[empty] = SKIP
        charge_links(rows, LINK_COUNTS, empty)
    gold, system = comparison.gold, comparison.system
    wrong = _by_pair(system.only(~comparison.in_possible), comparison.pairs)
    missed = _by_pair(gold.only(~comparison.found_in_system), comparison.pairs)

    def details(start: int, stop: int) -> Records:
        return Records({"wrong": _listed_links(*wrong, start, stop), "missed": _listed_links(*missed, start, stop)})

    return Outcome(
        rows=rows,
        status=status,
        unanswered=empty,
        tokens={
            "sure_recall": _bits(gold.rows, comparison.found_as_sure, gold.sure, comparison.pairs),
            "possible_recall": _bits(
                gold.rows, comparison.found_in_system, np.ones(len(gold), np.bool_), comparison.pairs
            ),
        },
        warnings=warnings,
        details=details,
    )


def _bits(rows: IntArray, bits: BoolArray, mask: BoolArray, pairs: int) -> TokenBits:
    order = np.argsort(rows[mask], kind="stable")
    return TokenBits(bits[mask][order], offsets_of(sums_by(rows[mask], pairs)))


def _by_pair(links: Links, pairs: int) -> tuple[Links, IntArray, IntArray]:
    return links, np.argsort(links.rows, kind="stable"), offsets_of(sums_by(links.rows, pairs))


def _listed_links(links: Links, order: IntArray, offsets: IntArray, start: int, stop: int) -> Lists:
    bounds = offsets[start : stop + 1]
    chosen = order[bounds[0] : bounds[-1]]
    kinds = Strings(links.sure[chosen].astype(np.int64), _KINDS)
    return Lists(bounds - bounds[0], Rows([Numbers(links.source[chosen]), Numbers(links.target[chosen]), kinds]))


def link_errors(links: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """Return the wrong links of a pair, then the missed sure ones."""
    for kind in ("wrong", "missed"):
        for source, target, sure in links.get(kind, ()):
            if kind == "wrong" or sure == _SURE:
                yield {"kind": kind, "source": source, "target": target, "link": sure}


def links_beside(links: Mapping[str, Json], gold: Alignments, item: int) -> Iterator[dict[str, Json]]:
    """Return gold's links of a pair, then the wrong ones of the output, with a mark under the sides that have them.

    Args:
        links: the members `wrong` and `missed` of the item.
        gold: the alignments.
        item: number of the pair, from 1.
    """
    missed = {(source, target) for source, target, _ in links["missed"]}
    here = slice(*gold.offsets[item - 1 : item + 1].tolist())
    columns = gold.source[here], gold.target[here], gold.sure[here].astype(np.int64)
    for source, target, sure in zip(*(column.tolist() for column in columns), strict=True):
        lacking = (source, target) in missed
        row = {"source": source, "target": target, "link": _KINDS[sure], "gold": "x", "system": "" if lacking else "x"}
        yield {**row, "error": "missed" if lacking and _KINDS[sure] == _SURE else ""}
    for source, target, sure in links["wrong"]:
        yield {"source": source, "target": target, "link": sure, "gold": "", "system": "x", "error": "wrong"}
