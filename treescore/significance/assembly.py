"""The comparison document that the service stores and shows."""

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, FloatArray
from treescore.core.params import Json
from treescore.core.scores import Score
from treescore.core.wording import unit_word
from treescore.significance.families import adjusted, partial_conjunction
from treescore.significance.law import FEWEST_FOR_MARGIN, Interval, Test, asked_by
from treescore.significance.other_tests import DEPENDENT_TOKENS, right_answers
from treescore.significance.question import UNDEFINED, Question, asked_pairs, run_scores, signature, statistic
from treescore.significance.settings import LN10, ROUNDING, SMALLEST

_FAMILY = "all unordered pairs of the listed submissions on this metric"


class Answers(NamedTuple):
    """What was found for a question, in the order of its pairs or systems.

    Attributes:
        tests: of the pairs.
        adjusted: p of the pairs after each correction; NaN where a pair has none.
        significant: by the correction that decides.
        divisors: of alpha, with the picking.
        of_systems: intervals of the scores.
        of_pairs: of the differences, each by itself.
        of_family: of the differences, at the level at which they were judged.
        detectable: differences that would have been found; NaN where that is not known.
        margins: tests that the one is not worse than the other, for both of each pair.
        extras: further members of the pairs' documents.
    """

    tests: Sequence[Test]
    adjusted: Mapping[str, FloatArray]
    significant: BoolArray
    divisors: FloatArray
    of_systems: Sequence[Interval | None]
    of_pairs: Sequence[Interval | None]
    of_family: Sequence[Interval | None]
    detectable: FloatArray
    margins: Sequence[tuple[float, float]] | None = None
    extras: Sequence[Mapping[str, Json]] = ()


def document(question: Question, answers: Answers, gold_digest: str | None) -> dict[str, Json]:
    """Make the comparison document without its parts and notes."""
    settings, sample, units = question.settings, question.sample, question.terms.units
    pairs = _pair_documents(question, answers)
    order = order_in(question)
    family = _FAMILY if settings.baseline is None else f"each listed submission against {settings.baseline}"
    result: dict[str, Json] = {
        "score": question.score_name,
        "higher_is_better": sample.score.higher_is_better,
        "range": [question.terms.score.low, question.terms.score.high],
        **statistic(question.terms.score, macro=question.terms.parts is not None),
        "test": _test_used(question, answers.tests),
        "alternative": "observed direction" if settings.test == "compare_pl" else settings.alternative,
        "units": question.unit,
        "unit_count": _unit_count(question),
        "blocks": sample.units if question.unit == "block" else None,
        "documents": units.documents or None,
        "parts": question.terms.part_count or None,
        "parts_by_sentence": units.by_sentence,
        "gold_digest": gold_digest,
        "alpha": settings.alpha,
        "correction": settings.correction,
        "family": {"size": len(question.pairs), "definition": family},
        "systems": _system_documents(question, order, answers.of_systems),
        "pairs": pairs,
        "untested": _untested(question),
        "smallest_p": _smallest(question, answers.tests),
        "clusters": None,
        "rank_ranges": None,
        "notes": [],
        "warnings": [DEPENDENT_TOKENS] if question.unit == "token" else [],
        "signature": signature(question, gold_digest),
    }
    if settings.test not in ("bootstrap", "compare_pl") and settings.alternative == "two-sided":
        _rank(result, _better(question, pairs)[np.ix_(order, order)], settings.clusters)
    return result


def _test_used(question: Question, tests: Sequence[Test]) -> str:
    """Return which law was used; the name of another test."""
    settings = question.settings
    if not settings.by_law:
        return settings.test
    used = {"permutation" if test.by_signs else "t" for test in tests if test.sentences}
    if len(used) > 1:
        return "mixed"
    by_signs = asked_by(settings, question.unit).by_signs(question.sample.units)
    return used.pop() if used else "permutation" if by_signs else "t"


def _rank(document: dict[str, Json], better: np.ndarray, kind: str) -> None:
    """Add clusters and rank intervals, from which system is significantly better than which, best first, (N, N)."""
    clusters = separable(better) if kind == "separable" else greedy(better)
    document["clusters"] = {"definition": DEFINITIONS[kind], "kind": kind, "cluster": clusters}
    document["rank_ranges"] = rank_ranges(better)
    for system, cluster, interval in zip(document["systems"], clusters, document["rank_ranges"], strict=True):
        system.update(cluster=cluster, rank_interval=interval)


def _pair_documents(question: Question, answers: Answers) -> list[dict[str, Json]]:
    """Make one document for each unordered pair in the order of the systems given, untested ones without a p."""
    settings, sample, values = question.settings, question.sample, question.values
    unit_values = sample.unit_values()
    index_of = {pair: index for index, pair in enumerate(question.pairs)}
    margins = _margin_documents(question, answers)
    documents = []
    for pair in asked_pairs(question.candidates, settings):
        index = index_of.get(pair)
        if index is None:
            both_defined = np.isfinite(question.values[list(pair)]).all()
            reason = f"{UNDEFINED if both_defined else ''}{question.sample.score.undefined}"
            documents.append({**_head(question, pair, None), **_NO_TEST, "reason": reason})
            continue
        test, divisor = answers.tests[index], float(answers.divisors[index])
        adjusted_p = {name: _number(column[index]) for name, column in answers.adjusted.items()}
        decisive_p = adjusted_p[settings.correction]
        scores = [(float(values[system]), unit_values[system]) for system in pair]
        documents.append({
            **_head(question, pair, test.difference),
            "se": test.se,
            "df": test.df,
            "unit_count": test.units,
            "divisor": divisor,
            "ci": _interval_document(answers.of_pairs[index], settings.own_level),
            "ci_adjusted": _interval_document(answers.of_family[index], 1.0 - settings.alpha / divisor),
            **_test_document(question, test),
            "effect": effect_document(sample.score, *scores),
            **answers.extras[index],
            "detectable": _detectable(question, answers, index),
            "noninferiority": margins[index],
            **{f"p_{name}": p for name, p in adjusted_p.items() if name != "none"},
            "p_adjusted": decisive_p,
            "significant": None if decisive_p is None else bool(answers.significant[index]),
            **({"reason": f"one {unit_word(question.unit)} {test.reason}"} if test.reason else {}),
        })  # fmt: skip
    return documents


def _interval_document(interval: Interval | None, level: float) -> dict[str, Json] | None:
    """Make the document of an interval; an end that is unbounded or unknown is null."""
    if interval is None:
        return None
    low, high = _number(interval.low), _number(interval.high)
    return {"level": level, "low": low, "high": high, "method": interval.method}


def _detectable(question: Question, answers: Answers, index: int) -> dict[str, Json] | None:
    """Return which true difference would have been found; the power of other tests is not known."""
    difference, score = float(answers.detectable[index]), question.sample.score
    widest = math.inf if score.high is None else score.high - score.low
    if not question.settings.by_law or not difference <= widest:
        return None
    if not answers.significant[index]:
        a, b = question.pairs[index]
        difference = max(difference, abs(float(question.values[a] - question.values[b])))
    alpha = question.settings.alpha / float(answers.divisors[index])
    return {"difference": difference, "power": question.settings.power, "alpha": alpha}


def _margin_documents(question: Question, answers: Answers) -> Sequence[dict[str, Json] | None]:
    """Make the member `noninferiority` of each pair, which says of either system whether it is not worse.

    Of two systems p itself decides, as one asks about one of them; of more, p is corrected over all ordered pairs.
    """
    settings = question.settings
    if answers.margins is None:
        return [None] * len(question.pairs)
    least = [2 * [0.5 ** min(test.units, 1000)] for test in answers.tests]  # of all swaps one brings about what is seen
    p = np.maximum(np.array(answers.margins, np.float64), least).ravel()
    decisive = adjusted(p, settings.correction if len(question.pairs) > 1 else "none")
    documents = []
    for index, pair in enumerate(question.pairs):
        member: dict[str, Json] = {"margin": settings.margin}
        for at, system in enumerate(pair, start=2 * index):
            established = answers.tests[index].units >= FEWEST_FOR_MARGIN and decisive[at] <= settings.alpha
            of_side = {"p": float(p[at]), "p_adjusted": float(decisive[at]), "established": bool(established)}
            member[question.candidates[system].name] = of_side
        documents.append(member)
    return documents


_NO_TEST: Mapping[str, Json] = dict.fromkeys((
    *("se", "df", "unit_count", "divisor", "ci", "ci_adjusted", "p", "p_kind", "p_error", "p_parts", "p_unselected"),
    *("difference_tested", "test", "shuffles", "detectable", "noninferiority", "p_adjusted", "significant"),
))  # fmt: skip


def _better(question: Question, pairs: Sequence[Mapping[str, Json]]) -> BoolArray:
    """Tell whether the row's system is significantly better than the column's, (N, N)."""
    size = len(question.candidates)
    better = np.zeros((size, size), np.bool_)
    for (first, second), pair in zip(asked_pairs(question.candidates, question.settings), pairs, strict=True):
        if pair["significant"] and pair["better"] is not None:
            better[(first, second) if pair["better"] == "a" else (second, first)] = True
    return better


def add_parts(document: dict[str, Json], question: Question, tests: Sequence[Mapping[str, Sequence[float]]]) -> None:
    """Add to the document on how many parts each of a pair is better (Dror et al. 2017)."""
    all_pairs = dict(zip(asked_pairs(question.candidates, question.settings), document["pairs"], strict=True))
    for pair, by_side in zip(question.pairs, tests, strict=True):
        all_pairs[pair]["parts"] = {
            name: {"p": list(by_side[side]), **partial_conjunction(by_side[side], question.settings.alpha)}
            for name, side in (("a_better", "greater"), ("b_better", "less"))
        }


def _system_documents(
    question: Question, order: Sequence[int], intervals: Sequence[Interval | None]
) -> list[dict[str, Json]]:
    ranks = ranks_of(ranked_values(question)[0][list(order)])
    return [
        {
            "name": question.candidates[index].name,
            "score": float(question.values[index]),
            "rank": rank,
            "ci": _interval_document(intervals[index], question.settings.own_level),
            "cluster": None,
            "rank_interval": None,
            "missing_parts": len(question.candidates[index].missing),
            **_runs_members(question, index),
        }
        for index, rank in zip(order, ranks, strict=True)
    ]


def _runs_members(question: Question, index: int) -> dict[str, Json]:
    if len(question.candidates[index].runs) < 2:
        return {}
    values = run_scores(question, index)
    finite = values[np.isfinite(values)]
    spread = finite.std(ddof=1) if len(finite) > 1 else math.nan
    found = (finite.mean(), spread, finite.min(), finite.max()) if len(finite) else (math.nan,) * 4
    figures = dict(zip(("mean", "sd", "low", "high"), map(_number, found), strict=True))
    return {"runs": {"count": len(values), "scores": [_number(value) for value in values], **figures}}


def _untested(question: Question) -> list[dict[str, Json]]:
    found = zip(question.candidates, question.values, strict=True)
    reason = f"undefined: {question.sample.score.undefined}"
    return [{"name": candidate.name, "reason": reason} for candidate, value in found if not math.isfinite(value)]


def _head(question: Question, pair: tuple[int, int], tested: float | None) -> dict[str, Json]:
    a, b = (float(question.values[system]) for system in pair)
    return {
        **{side: question.candidates[system].name for side, system in zip("ab", pair, strict=True)},
        "score_a": _number(a),
        "score_b": _number(b),
        "difference": _number(a - b),
        "better": better_of(question, a - b if tested is None else tested),
    }


def _test_document(question: Question, test: Test) -> dict[str, Json]:
    settings, unit = question.settings, unit_word(question.unit)
    over = "training runs and " if test.difference is not None else ""
    words = {
        "mcnemar": f"{test.how} ({unit}s), {settings.alternative}",
        "compare_pl": f"paired permutation ({unit} swap), one-sided in the observed direction, >=",
    }.get(settings.test, f"Student's t over {over}{unit}s, {settings.alternative}")
    if settings.by_law and test.by_signs:
        words = f"paired permutation ({unit} swap), {settings.alternative}, >="
    named = settings.test == "permutation" and test.p is not None
    return {
        "p": test.p,
        "p_kind": test.kind,
        "p_error": test.error,
        "p_parts": test.parts,
        "p_unselected": test.unselected,
        "difference_tested": test.difference,
        "log10_p": _log10(test),
        "test": None if test.p is None else words,
        "how": test.how,
        "shuffles": test.shuffles,
        "differing_sentences": test.sentences,
        "null_swaps_log2": test.differing,
        "smallest_p": _smallest_p(question, test) if named else None,
    }


def _log10(test: Test) -> float | None:
    if test.p is None or test.log_p is None:
        return test.p and min(0.0, math.log10(test.p))
    return test.log_p / LN10


def _unit_count(question: Question) -> int:
    if question.unit == "token":
        tokens = next((candidate.tokens for candidate in question.candidates if candidate.tokens is not None), None)
        return 0 if tokens is None else len(tokens.bits)
    return question.sample.units


def _smallest(question: Question, tests: Sequence[Test]) -> dict[str, Json] | None:
    """Return the smallest p any pair could have shown, where a permutation test is asked for by name."""
    settings = question.settings
    reachable = [_smallest_p(question, test) for test in tests if test.p is not None]
    if settings.test != "permutation" or not reachable:
        return None
    smallest = float(adjusted(np.array(reachable), settings.correction).min())
    return {"p": min(reachable), "p_adjusted": smallest, "significance_possible": smallest <= settings.alpha}


def _smallest_p(question: Question, test: Test) -> float:
    asked = asked_by(question.settings, question.unit)
    drawn = 1 / (asked.shuffles + 1) if asked.shuffles else 0.0
    return max(SMALLEST, drawn, math.exp(asked.log_least(test.differing)))


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


DEFINITIONS = {
    "separable": "separable: a boundary lies below rank r iff every system above differs from every system below at "
    "alpha after correction",
    "greedy": "greedy: a new cluster begins at the first system that differs at alpha after correction from a member "
    "of the cluster above",
}


def ranked_values(question: Question) -> tuple[FloatArray, bool]:
    """Return what systems are ranked by, (N,), NaN where the score is undefined, and whether more of it is better.

    It is the score, but under McNemar's test the share of units (tokens) right as a whole, which alone is tested.
    """
    if question.settings.test != "mcnemar" or not question.sample.units:
        return question.values, question.sample.score.higher_is_better
    bits = [candidate.tokens for candidate in question.candidates] if question.unit == "token" else None
    return np.where(np.isfinite(question.values), right_answers(question.sample, bits).mean(axis=1), np.nan), True


def better_of(question: Question, difference: float) -> str | None:
    """Tell which of a pair, a or b, is better by the difference that was tested; None where neither is."""
    if not math.isfinite(difference) or difference == 0:
        return None
    more_is_better = question.settings.test == "mcnemar" or question.sample.score.higher_is_better
    return "a" if (difference > 0) == more_is_better else "b"


def order_in(question: Question) -> list[int]:
    """Return the systems with a score from best to worst, as indices; equal ones in the order given."""
    values, higher_is_better = ranked_values(question)
    order = np.argsort(-values if higher_is_better else values, kind="stable")
    return [int(index) for index in order if math.isfinite(question.values[index])]


def ranks_of(ordered: FloatArray) -> list[int]:
    """Return ranks of values ordered from best to worst: equal values share the best of theirs (1, 2, 2, 4)."""
    ranks: list[int] = []
    for index, value in enumerate(ordered):
        ranks.append(ranks[-1] if index and value == ordered[index - 1] else index + 1)
    return ranks


def rank_ranges(better: BoolArray, ranked: int | None = None) -> list[list[int]]:
    """Return rank ranges: from 1 + the systems significantly better to R - the systems significantly worse.

    Args:
        better: (N, N), whether the row's system is significantly better than the column's.
        ranked: R, all systems with a rank, with those that were not tested; N unless given.
    """
    size = len(better)
    lowest = size if ranked is None else ranked
    return [[1 + int(better[:, system].sum()), lowest - int(better[system].sum())] for system in range(size)]


def separable(better: BoolArray) -> list[int]:
    """Return cluster numbers of systems ordered from best to worst: a line is drawn where all above beat all below."""
    size = len(better)
    lines = [1, *(int(better[:index, index:].all()) for index in range(1, size))]
    return list(accumulate(lines[:size]))


def greedy(better: BoolArray) -> list[int]:
    """Return cluster numbers as mt-metrics-eval does: a cluster ends where one of its members beats the next."""
    clusters: list[int] = []
    for index in range(len(better)):
        ends = [row for row, cluster in enumerate(clusters) if cluster == clusters[-1] and better[row, index]]
        clusters.append((clusters[-1] if clusters else 1) + bool(ends))
    return clusters


def effect_document(score: Score, a: tuple[float, FloatArray], b: tuple[float, FloatArray]) -> dict[str, Json]:
    """Compute relative error reduction, units won, tied and lost, and the standardised mean difference of units.

    Args:
        score: whose values these are.
        a: the first system's score, and that of each unit by itself, (n,), NaN where undefined; such units are ties.
        b: the second's.
    """
    (value_a, units_a), (value_b, units_b) = a, b
    differences = np.nan_to_num(units_a - units_b)
    better = score.sign * differences
    # equal unit scores may differ in the last bit where terms are real
    won = int((better > ROUNDING).sum())
    lost = int((better < -ROUNDING).sum())
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    return {
        "relative_error_reduction": error_reduction(score, value_a, value_b),
        "units_won": won,
        "units_tied": len(differences) - won - lost,
        "units_lost": lost,
        "d_z": float(differences.mean()) / spread if spread > 0 else None,
    }


def error_reduction(score: Score, value_a: float, value_b: float) -> float | None:
    """Return the share of b's error that a avoids; None where the score has no best value or b makes no error."""
    if score.best is None:
        return None
    error_a, error_b = abs(score.best - value_a), abs(score.best - value_b)
    reduction = (error_b - error_a) / error_b if error_b > 0 else math.nan
    return reduction if math.isfinite(reduction) else None
