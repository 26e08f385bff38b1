"""The comparison document that the service stores and shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from treescore.core.arrays import FloatArray
from treescore.core.params import Json
from treescore.significance import ranking, training_runs
from treescore.significance.bootstrap import Interval
from treescore.significance.families import adjusted, first_threshold, partial_conjunction
from treescore.significance.intervals import interval_document
from treescore.significance.notes import _notes as notes
from treescore.significance.notes import assumed
from treescore.significance.other_tests import DEPENDENT_TOKENS
from treescore.significance.permutation import Test
from treescore.significance.question import Question, signature, statistic
from treescore.significance.ranking import effect_document
from treescore.significance.settings import SMALLEST
from treescore.significance.units import sample_of

DRAWN_KINDS = ("monte-carlo", "sampled")
"""Kinds of p that depend on a seed."""
SHOWN = ("holm", "hochberg", "bh", "by", "bonferroni")


def document(
    question: Question,
    tests: Sequence[Test],
    extras: Sequence[Mapping[str, Json]],
    system_intervals: Mapping[int, Interval],
    difference_intervals: Sequence[Interval | None],
    gold_digest: str | None,
) -> dict[str, Json]:
    """Make the comparison document without its parts."""
    settings, sample = question.settings, question.sample
    pairs = pair_documents(question, tests, extras, difference_intervals)
    order = ranking.order_in(question)
    result: dict[str, Json] = {
        "score": question.score_name,
        "higher_is_better": sample.score.higher_is_better,
        **statistic(question.terms.score, macro=question.terms.parts is not None),
        "test": settings.test,
        "alternative": "observed direction" if settings.test == "compare_pl" else settings.alternative,
        "units": question.unit,
        "unit_count": _unit_count(question),
        "blocks": sample.units if question.unit == "block" else None,
        "parts": question.terms.part_count or None,
        "gold_digest": gold_digest,
        "alpha": settings.alpha,
        "correction": settings.correction,
        "family": {
            "size": len(question.pairs),
            "definition": "all unordered pairs of the listed submissions on this metric",
        },
        "systems": _system_documents(question, order, system_intervals),
        "pairs": pairs,
        "untested": _untested(question),
        "smallest_p": _smallest(question, tests),
        "clusters": None,
        "rank_ranges": None,
    }
    better = significantly_better(question, pairs)
    if better is not None:
        _rank(result, better[np.ix_(order, order)], settings.clusters)
    result["notes"] = notes(question, tests, result["smallest_p"])
    result["notes"] = [assumed(question, tests), *result["notes"]]
    result["warnings"] = [DEPENDENT_TOKENS] if question.unit == "token" else []
    result["signature"] = signature(question, tests, gold_digest)
    return result


def _rank(document: dict[str, Json], better: np.ndarray, kind: str) -> None:
    """Add clusters and rank intervals, from which system is significantly better than which, best first, (N, N)."""
    clusters = ranking.separable(better) if kind == "separable" else ranking.greedy(better)
    document["clusters"] = {"definition": ranking.DEFINITIONS[kind], "kind": kind, "cluster": clusters}
    document["rank_ranges"] = ranking.rank_ranges(better)
    for system, cluster, interval in zip(document["systems"], clusters, document["rank_ranges"], strict=True):
        system.update(cluster=cluster, rank_interval=interval)


def pair_documents(
    question: Question,
    tests: Sequence[Test],
    extras: Sequence[Mapping[str, Json]],
    difference_intervals: Sequence[Interval | None],
) -> list[dict[str, Json]]:
    """Make one document for each unordered pair in the order of the systems given, untested ones without a p."""
    columns = _adjusted_columns(tests)
    unit_values = question.sample.unit_values()
    index_of = {pair: index for index, pair in enumerate(question.pairs)}
    documents = []
    size = len(question.candidates)
    for first in range(size):
        for second in range(first + 1, size):
            index = index_of.get((first, second))
            if index is None:
                head = _head(question, first, second, None)
                documents.append({**head, **_NO_TEST, "reason": _reason(question, first, second)})
                continue
            test = tests[index]
            head = _head(question, first, second, test.difference)
            documents.append(
                {
                    **head,
                    "ci": interval_document(
                        question, _interval(question, test, difference_intervals[index]), (first, second)
                    ),
                    **_test_document(question, test, question.seed(first, second)),
                    "effect": effect_document(
                        question.sample.score,
                        float(question.values[first]),
                        float(question.values[second]),
                        unit_values[first],
                        unit_values[second],
                    ),
                    **extras[index],
                    **_adjusted_document(question, columns, index),
                }
            )
    return documents


def _adjusted_columns(tests: Sequence[Test]) -> dict[str, list[float]]:
    """Return p of all pairs, adjusted by each method; empty where not all pairs have one."""
    p = np.array([test.p for test in tests if test.p is not None], np.float64)
    return {method: adjusted(p, method).tolist() for method in (*SHOWN, "none")} if len(p) == len(tests) else {}


def _adjusted_document(question: Question, columns: Mapping[str, Sequence[float]], index: int) -> dict[str, Json]:
    decisive_p = columns[question.settings.correction][index] if columns else None
    return {
        **{f"p_{method}": columns[method][index] if columns else None for method in SHOWN},
        "p_adjusted": decisive_p,
        "significant": None if decisive_p is None else decisive_p <= question.settings.alpha,
    }


_NO_TEST: Mapping[str, Json] = {
    "ci": None,
    "p": None,
    "p_kind": None,
    "p_error": None,
    "p_parts": None,
    "p_unselected": None,
    "difference_tested": None,
    "detectable": None,
    "ci_adjusted": None,
    "se": None,
    "df": None,
    "noninferiority": None,
    "test": None,
    "shuffles": None,
    "p_adjusted": None,
    "significant": None,
}


def significantly_better(question: Question, pairs: Sequence[Mapping[str, Json]]) -> np.ndarray | None:
    """Tell whether the row's system is significantly better than the column's, (N, N).

    None without a decision of either side: intervals alone, or a question that is one-sided.
    """
    settings = question.settings
    if settings.test in ("bootstrap", "compare_pl") or settings.alternative != "two-sided":
        return None
    size = len(question.candidates)
    better = np.zeros((size, size), np.bool_)
    index = 0
    for first in range(size):
        for second in range(first + 1, size):
            pair = pairs[index]
            index += 1
            if pair["significant"] and pair["better"] is not None:
                winner, loser = (first, second) if pair["better"] == "a" else (second, first)
                better[winner, loser] = True
    return better


def add_parts(
    document: dict[str, Json], question: Question, tests: Sequence[Mapping[str, Sequence[float]]] | None
) -> None:
    """Add to the document on how many parts each of a pair is better (Dror et al. 2017)."""
    if tests is None:
        if question.settings.test == "permutation" and question.unit != "part":
            document["notes"].append("Too many pairs and parts to test each part by itself.")
        return
    alpha = question.settings.alpha
    index_of = {pair: row for row, pair in enumerate(question.pairs)}
    row = 0
    for first in range(len(question.candidates)):
        for second in range(first + 1, len(question.candidates)):
            pair = document["pairs"][row]
            row += 1
            index = index_of.get((first, second))
            if index is None:
                continue
            pair["parts"] = {
                name: {
                    "p": list(tests[index][alternative]),
                    **partial_conjunction(tests[index][alternative], alpha).document(),
                }
                for name, alternative in (("a_better", "greater"), ("b_better", "less"))
            }
    document["notes"].append(
        "parts: one-sided p of each part, and on at least how many of them the one system is better "
        "(partial conjunction, Dror et al. 2017)"
    )


def _system_documents(
    question: Question, order: Sequence[int], intervals: Mapping[int, Interval]
) -> list[dict[str, Json]]:
    ranks = ranking.ranks_of(ranking.ranked_values(question)[0][list(order)])
    documents = []
    for index, rank in zip(order, ranks, strict=True):
        candidate = question.candidates[index]
        documents.append(
            {
                "name": candidate.name,
                "score": float(question.values[index]),
                "rank": rank,
                "ci": interval_document(question, intervals.get(index), (index,)),
                "cluster": None,
                "rank_interval": None,
                **_runs_members(question, index),
            }
        )
    return documents


def _runs_members(question: Question, index: int) -> dict[str, Json]:
    runs = question.candidates[index].runs
    if len(runs) < 2:
        return {}
    values = run_values(question, index)
    finite = values[np.isfinite(values)]
    return {
        "runs": {
            "count": len(runs),
            "scores": [_number(value) for value in values],
            "mean": _number(finite.mean()) if len(finite) else None,
            "sd": _number(finite.std(ddof=1)) if len(finite) > 1 else None,
            "low": _number(finite.min()) if len(finite) else None,
            "high": _number(finite.max()) if len(finite) else None,
        }
    }


def run_values(question: Question, index: int) -> FloatArray:
    """Return the score of each run of one system by itself."""
    return sample_of(
        question.terms.score, question.terms.names, question.candidates[index].runs, None, question.terms.parts
    ).values()


def _untested(question: Question) -> list[dict[str, Json]]:
    return [
        {"name": candidate.name, "reason": f"undefined: {question.sample.score.undefined}"}
        for candidate, value in zip(question.candidates, question.values, strict=True)
        if not math.isfinite(value)
    ]


def _reason(question: Question, first: int, second: int) -> str:
    """Say why a pair was not tested."""
    undefined = question.sample.score.undefined
    both_defined = all(math.isfinite(question.values[system]) for system in (first, second))
    return f"{training_runs.UNDEFINED}{undefined}" if both_defined else undefined


def _head(question: Question, first: int, second: int, tested: float | None) -> dict[str, Json]:
    value_a, value_b = float(question.values[first]), float(question.values[second])
    return {
        "a": question.candidates[first].name,
        "b": question.candidates[second].name,
        "score_a": _number(value_a),
        "score_b": _number(value_b),
        "difference": _number(value_a - value_b),
        "better": ranking.better_of(question, value_a - value_b if tested is None else tested),
    }


def _test_document(question: Question, test: Test, seed: int) -> dict[str, Json]:
    settings = question.settings
    unit = "document" if question.unit == "block" else question.unit
    if test.p is None:
        description = None
    elif settings.test == "mcnemar":
        description = f"{test.how} ({unit}s), {settings.alternative}"
    elif test.how == training_runs.RUNS_HOW:
        description = f"t over training runs and {unit}s, {settings.alternative}"
    else:
        direction = "one-sided in the observed direction" if settings.test == "compare_pl" else settings.alternative
        description = f"paired permutation ({unit} swap), {direction}, >="
    shuffled = test.kind == "monte-carlo"
    return {
        "p": test.p,
        "p_kind": test.kind,
        "p_error": test.error,
        "p_parts": test.parts,
        "p_unselected": test.unselected,
        "difference_tested": test.difference,
        "log10_p": test.log10_p if test.p is not None and test.p <= SMALLEST else _log10(test.p),
        "test": description,
        "how": test.how,
        "shuffles": test.shuffles if shuffled else None,
        "null_swaps_log2": test.differing,
        "smallest_p": test.smallest if test.p is not None else None,
    }


def _log10(p: float | None) -> float | None:
    return None if p is None else min(0.0, math.log10(p))


def _interval(question: Question, test: Test, by_units: Interval | None) -> Interval | None:
    """Return the interval that the test itself gives, else that of the units; none where none is asked for."""
    return by_units if test.ci is None or question.settings.interval == "none" else test.ci


def _unit_count(question: Question) -> int:
    if question.unit == "token":
        tokens = next((candidate.tokens for candidate in question.candidates if candidate.tokens is not None), None)
        return 0 if tokens is None else len(tokens.bits)
    return question.sample.units


def _smallest(question: Question, tests: Sequence[Test]) -> dict[str, Json]:
    """Return the smallest p any pair could have shown, and whether it would have been significant after correction."""
    settings = question.settings
    reachable = [test.smallest for test in tests if test.p is not None]
    if not reachable:
        return {"p": None, "p_adjusted": None, "significance_possible": None}
    smallest = adjusted(np.array(reachable), settings.correction)
    threshold = first_threshold(len(reachable), settings.alpha, settings.correction)
    return {
        "p": min(reachable),
        "p_adjusted": float(smallest.min()),
        "significance_possible": bool(smallest.min() <= settings.alpha),
        "needed_alone": threshold,
    }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
