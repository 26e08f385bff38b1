"""The p of a row that its team picked as the best of k submissions, and the step after the tests that puts it in place.

Of twenty equal submissions the best one beats another team's row in more than a tenth of all cases at 5 %. The law of
the largest difference over all of them, under one sign for each unit, allows for the picking (White 2000; Romano &
Wolf 2005): it is exact for the null that no submission of the team differs from the opponent's row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Counts, FloatArray
from treescore.significance import exact_ratios
from treescore.significance.exact_sums import TooLargeError, differences_of, tail
from treescore.significance.macro import formula_holds, macro_pair, parts_of, upper_tail
from treescore.significance.montecarlo import shuffled_sums, swapped_differences
from treescore.significance.permutation import ShufflePlan, Test
from treescore.significance.question import Candidate, Question
from treescore.significance.settings import SLACK, SMALLEST, TOLERANCE
from treescore.significance.units import Sample, pooled

ENOUGH = 100
"""Shuffles that must reach the observed difference: 100 of them have a relative standard error of 10 %."""
OPPONENT = 0
"""The row of a sample that holds the opponent; the submissions of the team follow."""
PLENTY = 2500
"""Shuffles that reached it after which no more are drawn (Besag & Clifford 1991): a relative standard error of 2 %."""
_LISTED_NUMBERS = 2_500_000
"""Sums that a batch of listed swaps holds (20 MB)."""
_SUMMED = "twice the sum of the submissions' tails, a bound of the law of the largest"


@dataclass(frozen=True, slots=True)
class Selected:
    """The p of a row that was picked.

    Attributes:
        p: in (0, 1], never below the p that takes the row as unselected.
        error: its relative standard error; None where it has none.
        kind: exact, monte-carlo, inversion (the bound of tails), or that of the unselected p where it is that.
        how: in words.
        shuffles: of a Monte Carlo test.
    """

    p: float
    error: float | None
    kind: str | None
    how: str
    shuffles: int | None = None


def selected_p(sample: Sample, ahead: int, unselected: Test, plan: ShufflePlan, *, unknown: int = 0) -> Selected:
    """Test the best of k submissions of a team against one row of another team, two-sided.

    T_j(s): the difference of submission j to the opponent's row after the swaps s, the same for all j, positive where
    j is better. p = min(1, 2 P(max_j T_j >= T_ahead observed)), at least `unselected.p`. Where at most 16 units differ
    between the opponent and any submission, all s are listed, else drawn; where fewer than 100 draws reach the observed
    difference, p is the bound 2 sum_j P(T_j >= observed) from exact or inverted tails. That bound is tight where it is
    small: then hardly any s brings two submissions there at once. Where it promises fewer than 100 draws, none are
    made. Time: O(shuffles n k / 64) and O(shuffles k) scores.

    A submission without counts is unknown, and so is its tail. P(max >= x) <= sum_j P(T_j >= x) is exact for any j; for
    an unknown one the tail of the row ahead, half of `unselected.p`, is taken: an approximation, right where it differs
    from the opponent about as much as the row ahead does.

    Args:
        sample: row 0 is the opponent's, the others are those of all submissions of the team; two or more rows.
        ahead: the row of the submission that stands on the board; better than row 0.
        unselected: the two-sided test of `ahead` against row 0.
        plan: seed, shuffles, and the budget of exact laws.
        unknown: scored submissions of the team whose counts are deleted.
    """
    if unselected.p is None:
        raise ValueError("A row that was not tested cannot be tested as a picked one.")
    rows = _distinct(sample, ahead)
    if len(rows) > 1:
        known = _selected(sample.of_systems([OPPONENT, *rows]), unselected, plan)
    else:
        known = Selected(unselected.p, None, unselected.kind, unselected.how or "", unselected.shuffles)
    if not unknown:
        return known
    p = min(1.0, known.p + unknown * unselected.p)
    how = f"{known.how}; and {unknown} submissions without counts, each with the tail of the row ahead"
    return Selected(p, known.error, "inversion" if known.kind == "exact" else known.kind, how, known.shuffles)


def _selected(sample: Sample, unselected: Test, plan: ShufflePlan) -> Selected:
    """Test the best of several submissions: row 0 is the opponent, row 1 the row ahead."""
    found = _largest(sample, plan)
    if unselected.p is not None and found.p < unselected.p:
        return replace(found, p=unselected.p, error=None, kind=unselected.kind, how=unselected.how or "")
    return replace(found, p=min(1.0, max(SMALLEST, found.p)))


def _largest(sample: Sample, plan: ShufflePlan) -> Selected:
    """Compute 2 P(max_j T_j >= observed), or its bound."""
    values = np.nan_to_num(sample.values())
    observed = float(values[1] - values[OPPONENT])
    if observed == 0.0:
        return Selected(1.0, None, "exact", "no difference")
    sample, pairs = _in_pairs(sample)
    differing = np.any([sample.differing_units(*pair) for pair in pairs], axis=0)
    if int(differing.sum()) <= exact_ratios.LISTED_UNITS:
        reached, swaps = _reached(sample, pairs, observed, _listed_sums(sample, differing), math.inf)
        return Selected(2.0 * reached / swaps, None, "exact", "largest of all swaps listed")
    bound = _bound(sample, pairs, abs(observed), plan)
    if bound is not None and 0.5 * bound.p * plan.requested < ENOUGH:
        return bound
    reached, swaps = _reached(sample, pairs, observed, shuffled_sums(sample, plan.requested, plan.seed), PLENTY)
    if bound is not None and reached < ENOUGH:
        return bound
    share = (reached + 1) / (swaps + 1)
    error = math.sqrt((1.0 - share) / (reached + 1))
    how = "largest of the submissions' differences under shared random swaps"
    return Selected(2.0 * share, error, "monte-carlo", how, swaps)


def _in_pairs(sample: Sample) -> tuple[Sample, list[tuple[int, int]]]:
    """Return pairs of each submission with the opponent, in a sample where a part that one of a pair lacks is one unit.

    The counts of such a part stand in its first unit, for this pair only: each pair then has rows of its own.
    """
    if sample.missing is None or sample.parts is None:
        return sample, [(row, OPPONENT) for row in range(1, sample.systems)]
    rows = [system for row in range(1, sample.systems) for system in (row, OPPONENT)]
    of_pairs = sample.of_systems(rows)
    lacking = sample.missing[1:] | sample.missing[OPPONENT]

    def moved(terms: Counts) -> Counts:
        result = terms.copy()
        for pair, part in np.argwhere(lacking):
            units = np.flatnonzero(sample.parts == part)
            for system in (2 * pair, 2 * pair + 1):
                result[system, units] = 0
                result[system, units[:1]] = terms[system, units].sum()
        return result

    tops, bottoms = (tuple(map(moved, terms)) for terms in (of_pairs.tops, of_pairs.bottoms))
    pairs = [(row, row + 1) for row in range(0, len(rows), 2)]
    return replace(of_pairs, tops=tops, bottoms=bottoms), pairs


def _distinct(sample: Sample, ahead: int) -> list[int]:
    """Return the rows of submissions, the row ahead first, without those equal to another or to the opponent."""
    others = [row for row in range(1, sample.systems) if row != ahead]
    rows = [ahead]
    seen = {_bytes(sample, ahead), _bytes(sample, OPPONENT)}
    for row in others:
        content = _bytes(sample, row)
        if content not in seen:
            seen.add(content)
            rows.append(row)
    return rows


def _bytes(sample: Sample, row: int) -> bytes:
    return b"".join(terms[row].tobytes() for terms in (*sample.tops, *sample.bottoms))


def _reached(
    sample: Sample, pairs: Sequence[tuple[int, int]], observed: float, batches: Iterator[FloatArray], plenty: float
) -> tuple[int, int]:
    """Count the swaps under which a submission's difference is at least the observed one, and all swaps.

    No further batch is taken once `plenty` reached it.
    """
    reached = swaps = 0
    for sums in batches:
        hits = np.zeros(sums.shape[-1], np.bool_)
        for differences in swapped_differences(sample, pairs, sums):
            hits |= exact_ratios.extreme(differences, observed, "greater", sample.score.higher_is_better)
        reached += int(hits.sum())
        swaps += len(hits)
        if reached >= plenty:
            break
    return reached, swaps


def _listed_sums(sample: Sample, differing: np.ndarray) -> Iterator[FloatArray]:
    """Yield the sums over swapped units of all terms for all swaps of a few units: (parts, columns, swaps)."""
    terms: list[Counts] = [each for halves in zip(sample.tops, sample.bottoms, strict=True) for each in halves]
    columns = np.concatenate(terms)[:, differing].astype(np.float64)
    strata = np.zeros(columns.shape[1], np.int64) if sample.parts is None else sample.parts[differing]
    in_part = np.arange(1 if sample.parts is None else sample.part_count)[:, None] == strata
    units = np.arange(columns.shape[1])
    swaps = 1 << len(units)
    step = max(16, _LISTED_NUMBERS // (len(in_part) * len(columns)))
    for start in range(0, swaps, step):
        numbers = np.arange(start, min(start + step, swaps))
        swapped = ((numbers >> units[:, None]) & 1).astype(np.float64)
        yield np.stack([(columns * member) @ swapped for member in in_part])


class _Tail(NamedTuple):
    """P(T >= observed) of one pair: its relative error, None where exact, and the nanoseconds estimated for it."""

    p: float
    error: float | None = None
    cost: float = 0.0


def _bound(sample: Sample, pairs: Sequence[tuple[int, int]], observed: float, plan: ShufflePlan) -> Selected | None:
    """Compute 2 sum_j P(T_j >= observed), at most 1; None where a tail is not known."""
    total, error, budget = 0.0, 0.0, plan.law_budget
    for pair in pairs:
        tail_of_pair = _tail(sample, *pair, observed, budget)
        if tail_of_pair is None:
            return None
        total += tail_of_pair.p
        error = max(error, tail_of_pair.error or 0.0)
        budget -= tail_of_pair.cost
    return Selected(min(1.0, 2.0 * total), error, "inversion", _SUMMED)


def _tail(sample: Sample, first: int, second: int, observed: float, budget: float) -> _Tail | None:
    """Return the tail of one pair at `observed`, positive: by a list, an exact law, or inverted; None for the rest."""
    differing = sample.differing_units(first, second)
    if int(differing.sum()) <= exact_ratios.LISTED_UNITS:
        better = sample.score.sign * observed
        reached, swaps = _reached(sample, [(first, second)], better, _listed_sums(sample, differing), math.inf)
        return _Tail(reached / swaps)
    exact = _exact_tail(sample, first, second, observed, budget) if sample.plain and sample.integer else None
    return _inverted_tail(sample, first, second, observed) if exact is None else exact


def _exact_tail(sample: Sample, first: int, second: int, observed: float, budget: float) -> _Tail | None:
    if np.array_equal(sample.bottoms[0][first], sample.bottoms[0][second]):
        return _linear_tail(sample, first, second, observed)
    if budget < exact_ratios.LEAST_COST:  # before the differences are counted, which takes as long as the rest
        return None
    pair = exact_ratios.pair_of(sample, first, second)
    if math.isinf(exact_ratios.law_cost(pair)):
        return None
    plane = exact_ratios.plane_of(pair, observed, strict=False)
    cost = exact_ratios.transform_cost(plane)
    log_tail = exact_ratios.log_mass(plane) if cost <= budget else None
    return None if log_tail is None else _Tail(math.exp(log_tail), None, cost)


def _linear_tail(sample: Sample, first: int, second: int, observed: float) -> _Tail | None:
    """Return the tail where both have equal denominators, so that T is a sum of integers over their total."""
    u = sample.tops[0][first] - sample.tops[0][second]
    differences = differences_of(u)
    size = float(sample.bottoms[0][first].sum())
    divisor = int(np.gcd.reduce(np.abs(u)))
    limit = math.ceil((observed * size - max(TOLERANCE * observed, SLACK) * size) / divisor)
    if limit > differences.largest:
        return _Tail(0.0)
    try:
        return _Tail(tail(differences, max(1, limit))[0])
    except TooLargeError:
        return None


def _inverted_tail(sample: Sample, first: int, second: int, observed: float) -> _Tail | None:
    """Return the inverted tail of one ratio over one text or parts (`macro`)."""
    pair = sample.of_systems([first, second])
    if pair.parts is None:
        pair = replace(pair, parts=pair.strata, part_count=1)
    if not formula_holds(pair):
        return None
    terms = macro_pair(parts_of(pair), 0, 1)
    if terms.undefined:
        return None
    found = upper_tail(terms, observed, exact_line=True)
    return _Tail(found.p, found.error)


PICKED = 2
"""Submissions from which on a row is picked: of one there is nothing to pick."""


def allowing_for_picking(question: Question, tests: Sequence[Test]) -> list[Test]:
    """Return the tests of a question's pairs with p of the picked row ahead; `unselected` keeps the plain p.

    Only the two-sided permutation test allows for picking; others stay as they are.

    Where A is ahead, only A's picking is allowed for: that of B makes it harder for A. A system of one training run
    has p = min(1, 2 P(max_j T_j >= observed)) (`selected_p`). Runs that vary, and whole parts, have no law of the
    largest difference over fixed units; there p = min(1, k p) over the k submissions of the team (Bonferroni).
    """
    settings = question.settings
    if settings.test != "permutation" or settings.alternative != "two-sided":
        return list(tests)
    pairs = zip(question.pairs, tests, strict=True)
    return [_allowing(question, *_ahead(question, pair, test), test) for pair, test in pairs]


def _ahead(question: Question, pair: tuple[int, int], test: Test) -> tuple[Candidate, Candidate]:
    """Return the better system of a pair by what was tested, and the other; with equal scores the first is ahead."""
    first, second = pair
    difference = question.values[first] - question.values[second] if test.difference is None else test.difference
    behind = difference < 0 if question.sample.score.higher_is_better else difference > 0
    order = (second, first) if behind else (first, second)
    return question.candidates[order[0]], question.candidates[order[1]]


def _allowing(question: Question, ahead: Candidate, behind: Candidate, test: Test) -> Test:
    if test.p is not None and ahead.submissions > 1:
        return _bonferroni(test, test.p, ahead.submissions)
    if test.p is None or len(ahead.considered) + ahead.unknown < PICKED:
        return test
    if len(ahead.runs) > 1 or question.unit == "part":
        return _bonferroni(test, test.p, len(ahead.considered) + ahead.unknown)
    others = [Candidate(ahead.name, (counts,)) for counts in ahead.considered]
    candidates = [behind, ahead, *others]
    sample = question.terms.alone(candidates, pooled([candidate.runs for candidate in candidates]))
    found = selected_p(sample, 1, test, question.plan, unknown=ahead.unknown)
    same = found.p == test.p
    return replace(
        test,
        p=found.p,
        kind=found.kind,
        how=found.how,
        error=test.error if same else found.error,
        shuffles=found.shuffles,
        log10_p=test.log10_p if same else None,
        unselected=test.p,
    )


def _bonferroni(test: Test, p: float, k: int) -> Test:
    log10_p = None if test.log10_p is None else min(0.0, test.log10_p + math.log10(k))
    how = f"{test.how}; times {k} for the picking"
    return replace(test, p=min(1.0, k * p), log10_p=log10_p, how=how, unselected=p)
