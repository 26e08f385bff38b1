"""The test of Bikel's comparator (compare.pl), from counts.

Stratified shuffling, one-sided in the direction in which the systems were seen to differ, for recall and precision
of brackets. The original weights percentages rounded to two decimals, drops lines that are not numbers, and has no
seed; here counts are summed and p is exact where it can be. Since the direction is taken from the data, p must be
doubled to be read as two-sided: at a nominal 5 % about 9 % of true nulls are rejected.
"""

from __future__ import annotations

from collections.abc import Sequence

from treescore.core.arrays import Counts
from treescore.core.params import Json
from treescore.core.scores import Score, ratio_score
from treescore.significance.permutation import ShufflePlan, Test, observed_alternatives, permutation
from treescore.significance.question import Terms
from treescore.significance.units import Sample, sample_of

NOTE = (
    "compare_pl asks a one-sided question in the direction that the data show, as Bikel's compare.pl does: "
    "double its p to read it as two-sided."
)
_COLUMNS = (
    # (recall: numerator, denominator), (precision: numerator, denominator), what is counted
    (("matched", "gold"), ("matched", "system"), "brackets"),
    (("sure_links_in_sure", "sure"), ("sure_links_in_sure", "sure_links"), "sure links"),
    (("links_in_sure", "sure"), ("links_in_sure", "links"), "sure links"),
    (("key_found", "key"), ("answer_correct", "answer"), "dependencies"),
    (("matched", "key_constituents"), ("matched", "response_constituents"), "constituents"),
)


def directed(sample: Sample, pairs: Sequence[tuple[int, int]], plan: ShufflePlan) -> list[Test]:
    """Run one-sided tests, each in the observed direction of its pair."""
    alternatives = observed_alternatives(sample, pairs)
    test_of: dict[int, Test] = {}
    for alternative in ("greater", "less"):
        indices = [index for index, observed in enumerate(alternatives) if observed == alternative]
        if indices:
            tests = permutation(sample, [pairs[index] for index in indices], alternative, plan)
            test_of.update(zip(indices, tests, strict=True))
    return [test_of[index] for index in range(len(pairs))]


def recall_and_precision(
    counted: Terms,
    rows: Sequence[Counts],
    pairs: Sequence[tuple[int, int]],
    plan: ShufflePlan,
) -> list[dict[str, Json]]:
    """Make for each pair the comparator's two rows; empty documents where the counts have no brackets or links."""
    documents: list[dict[str, Json]] = [{} for _ in pairs]
    for recall, precision, what in _COLUMNS:
        if not {*recall, *precision} <= set(counted.names):
            continue
        for name, (numerator, denominator) in (("recall", recall), ("precision", precision)):
            score = ratio_score(name, name, numerator, denominator)
            _fill(
                documents, name, score, sample_of(score, counted.names, rows, counted.units.blocks, None), pairs, plan
            )
        for document in documents:
            document["of"] = what
        break
    return documents


def _fill(
    documents: Sequence[dict[str, Json]],
    name: str,
    score: Score,
    sample: Sample,
    pairs: Sequence[tuple[int, int]],
    plan: ShufflePlan,
) -> None:
    values = sample.values()
    defined = [
        index for index, pair in enumerate(pairs) if not any(values[system] != values[system] for system in pair)
    ]
    for document in documents:
        document[name] = {"difference": None, "p": None, "p_kind": None, "reason": score.undefined}
    tests = directed(sample, [pairs[index] for index in defined], plan)
    for index, test in zip(defined, tests, strict=True):
        first, second = pairs[index]
        documents[index][name] = {"difference": float(values[first] - values[second]), "p": test.p, "p_kind": test.kind}
