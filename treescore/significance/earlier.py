"""Read answers back from earlier comparison documents: what has a seed of its own need not be computed twice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from treescore.core.params import Json
from treescore.significance.bootstrap import Interval
from treescore.significance.intervals import PAIRED
from treescore.significance.permutation import Test
from treescore.significance.question import SeedOf


class Answers(NamedTuple):
    """What is drawn or counted for a question; part tests are None where parts are not tested by themselves."""

    tests: Sequence[Test]
    extras: Sequence[dict[str, Json]]
    system_intervals: Mapping[int, Interval]
    pair_intervals: Sequence[Interval | None]
    part_tests: Sequence[dict[str, list[float]]] | None


def answers_in(
    documents: Sequence[Mapping[str, Json]], signature: Mapping[str, Json], seed_of: SeedOf
) -> dict[tuple[str, ...], Answers]:
    """Return the answers of documents for each system and each pair, by their names.

    Args:
        documents: of permutation tests with seeds by name, over the same counts and parts. A pair that has an interval
            but no p has answers without a test.
        signature: of the new comparison; nothing is known where a document's differs.
        seed_of: the seeds of the new comparison; what has another seed is not known.
    """
    known: dict[tuple[str, ...], Answers] = {}
    for document in documents:
        for names, answers in _answers_in(document, signature, seed_of).items():
            if names not in known or not known[names].tests:
                known[names] = answers
    return known


def _answers_in(
    document: Mapping[str, Json], signature: Mapping[str, Json], seed_of: SeedOf
) -> dict[tuple[str, ...], Answers]:
    if any(document["signature"].get(name) != value for name, value in signature.items() if name != "shuffles"):
        return {}
    known: dict[tuple[str, ...], Answers] = {}
    for system in document["systems"]:
        if system["ci"] is not None and _same_seed(system["ci"], seed_of, ()):
            known[system["name"],] = Answers((), (), {0: _read(system["ci"])}, (), None)
    for pair in document["pairs"]:
        names = (pair["a"], pair["b"])
        if "runs_test" in pair:
            continue  # a closed form, whose interval is the test's own: made again at no cost
        if not (_same_seed(pair, seed_of, names) and _same_seed(pair["ci"], seed_of, ())):
            continue
        interval = None if pair["ci"] is None else _read(pair["ci"])
        if pair["p_kind"] is not None:
            known[names] = Answers((_earlier_test(pair),), ({},), {}, (interval,), _part_tests(pair))
        elif interval is not None:
            known[names] = Answers((), (), {}, (interval,), None)
    return known


def _same_seed(drawn: Mapping[str, Json] | None, seed_of: SeedOf, names: Sequence[str]) -> bool:
    """Tell whether something was drawn with the seed of these names, or with none."""
    return drawn is None or drawn["seed"] in (None, seed_of(names))


def _earlier_test(pair: Mapping[str, Json]) -> Test:
    return Test(
        p=pair["p"],
        kind=pair["p_kind"],
        how=pair["how"],
        log10_p=pair["log10_p"],
        shuffles=pair["shuffles"],
        differing=pair["null_swaps_log2"],
        smallest=pair["smallest_p"],
        error=pair["p_error"],
        parts=pair["p_parts"],
        unselected=pair["p_unselected"],
        difference=pair["difference_tested"],
    )


def _read(ci: Mapping[str, Json]) -> Interval:
    low, high = (math.nan if ci[end] is None else float(ci[end]) for end in ("low", "high"))
    return Interval(low, high, ci["method"].removeprefix(PAIRED))


def _part_tests(pair: Mapping[str, Json]) -> Sequence[dict[str, list[float]]] | None:
    if "parts" not in pair:
        return None
    return ({"greater": pair["parts"]["a_better"]["p"], "less": pair["parts"]["b_better"]["p"]},)
