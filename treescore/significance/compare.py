"""Comparison of several systems on one score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.params import Json
from treescore.core.scores import Score
from treescore.errors import InputError, Problem
from treescore.significance import assembly, compare_pl, training_runs
from treescore.significance.answers import mcnemar_tests
from treescore.significance.bootstrap import Interval
from treescore.significance.earlier import Answers, answers_in
from treescore.significance.intervals import Draws, own_intervals
from treescore.significance.pair_figures import figures_of_all_pairs
from treescore.significance.part_by_part import tests_by_part
from treescore.significance.permutation import Test, part_tests, permutation
from treescore.significance.picking import allowing_for_picking
from treescore.significance.provenance import signature
from treescore.significance.question import Candidate, PooledParts, Question, SeedOf, Terms
from treescore.significance.settings import Settings
from treescore.significance.threads import THREADS
from treescore.significance.unit_choice import chosen_units
from treescore.significance.units import pooled


def compare(
    score_name: str,
    score: Score,
    count_names: Sequence[str],
    candidates: Sequence[Candidate],
    settings: Settings,
    *,
    blocks: Sequence[str | None] | None = None,
    parts: IntArray | PooledParts | None = None,
    gold_digest: str | None = None,
    seed_of: SeedOf | None = None,
    earlier: Sequence[Mapping[str, Json]] = (),
) -> dict[str, Json]:
    """Test all unordered pairs of systems on one score, from counts alone.

    Args:
        score_name: the score's address (`parseval.labelled_f1`).
        score: its terms.
        count_names: names of the counts' columns.
        candidates: the systems; counts of all have the same n rows.
        settings: test, unit, correction and so on.
        blocks: the block (document) of each sentence, None for a sentence of none; needed where `settings.unit` is
            block.
        parts: stratum of each sentence, from 0: then the statistic is the macro average over parts, and swaps and
            resamples stay within a part. PooledParts where the score is over all of them together.
        gold_digest: for the signature.
        seed_of: a seed for each pair by its names, and one of no names for all resamples, instead of the settings' one
            for all. Then each pair is tested by itself: p and intervals do not depend on which other systems are
            compared.
        earlier: documents of comparisons of the same counts with other systems too or without some: with seeds by
            name, their answers are taken and not computed again.

    Raises:
        InputError: the counts do not have the requested unit or runs (pointers below the settings' object).
    """
    question = replace(_question(score_name, score, count_names, candidates, settings, blocks, parts), seed_of=seed_of)
    draws = Draws(question)
    together = seed_of is None and not question.units_by_pair
    if together:
        answers = _answers(question, own_intervals(question, draws))._replace(part_tests=tests_by_part(question))
    else:
        answers = _each_alone(question, draws, gold_digest, earlier)
    figures = figures_of_all_pairs(question, answers.tests, draws)
    answers = answers._replace(
        extras=[{**extra, **further} for extra, further in zip(answers.extras, figures, strict=True)]
    )
    document = assembly.document(
        question, answers.tests, answers.extras, answers.system_intervals, answers.pair_intervals, gold_digest
    )
    if question.terms.parts is not None:
        assembly.add_parts(document, question, answers.part_tests)
    return document


def _answers(question: Question, intervals: tuple[Mapping[int, Interval], Sequence[Interval | None]]) -> Answers:
    """Answer for all systems together, not by part."""
    tests, extras = _tests_of_pairs(question)
    return Answers(allowing_for_picking(question, tests), extras, *intervals, None)


def _each_alone(
    question: Question, draws: Draws, gold_digest: str | None, earlier: Sequence[Mapping[str, Json]]
) -> Answers:
    """Answer for each system and each pair as if no other were there, from earlier documents where they know.

    Intervals are the same from the resamples of all, unless a pair has units or counts of its own.
    """
    known = {}
    if question.seed_of is not None:
        known = answers_in(earlier, signature(question, (), gold_digest), question.seed_of)
    shared = own_intervals(question, draws) if question.counted_alike else None
    defined = [] if shared is not None else draws.systems
    asked = [(index,) for index in defined] + list(question.pairs)

    def answer(systems: tuple[int, ...]) -> Answers:
        found = known.get(tuple(question.candidates[system].name for system in systems))
        if found is not None and len(found.tests) == len(systems) - 1:
            return found
        alone = question.alone(*systems)
        if shared is not None:
            return _answers(alone, ({}, (None,)))
        if found is not None:
            return _answers(alone, (found.system_intervals, found.pair_intervals))
        return _answers(alone, own_intervals(alone, Draws(alone, threads=1)))

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(answer, asked))
    own, of_pairs = found[: len(defined)], found[len(defined) :]
    system_intervals, pair_intervals = shared or (
        {index: each.system_intervals[0] for index, each in zip(defined, own, strict=True) if each.system_intervals},
        [interval for each in of_pairs for interval in each.pair_intervals],
    )
    return Answers(
        tests=[test for each in of_pairs for test in each.tests],
        extras=[extra for each in of_pairs for extra in each.extras],
        system_intervals=system_intervals,
        pair_intervals=pair_intervals,
        part_tests=_part_tests_alone(question, of_pairs),
    )


def _part_tests_alone(question: Question, of_pairs: Sequence[Answers]) -> list[dict[str, list[float]]] | None:
    """Test each pair by part, unless that is known: one after the other, for threads would wait for each other."""
    if question.terms.parts is None:
        return None
    result: list[dict[str, list[float]]] = []
    for pair, answers in zip(question.pairs, of_pairs, strict=True):
        found = answers.part_tests or tests_by_part(question.alone(*pair))
        if found is None:
            return None
        result += found
    return result


def _question(
    score_name: str,
    score: Score,
    count_names: Sequence[str],
    candidates: Sequence[Candidate],
    settings: Settings,
    blocks: Sequence[str | None] | None,
    parts: IntArray | PooledParts | None,
) -> Question:
    training_runs.require_runs(candidates, settings)
    together = isinstance(parts, PooledParts)
    of_sentence = parts.of_sentence if isinstance(parts, PooledParts) else parts
    strata = None if of_sentence is None else np.asarray(of_sentence, np.int64)
    rows = pooled([candidate.runs for candidate in candidates])
    sentences = len(rows[0]) if rows else len(blocks or ())
    units = chosen_units(settings, blocks, strata, sentences, together=together)
    if units.name == "token":
        _check_tokens(candidates)
    terms = Terms(score, count_names, units, *((None, strata) if together else (strata, None)))
    sample = terms.sample(candidates, rows)
    values = sample.values()
    defined = [index for index in range(len(candidates)) if math.isfinite(values[index])]
    question = Question(
        score_name=score_name,
        settings=settings,
        terms=terms,
        candidates=candidates,
        rows=rows,
        sample=sample,
        values=values,
        pairs=list(combinations(defined, 2)),
    )
    silent = training_runs.with_undefined_run(question)
    usable = [
        pair for pair in question.pairs if not (silent.intersection(pair) and training_runs.vary(question, *pair))
    ]
    return replace(question, pairs=usable)


def _check_tokens(candidates: Sequence[Candidate]) -> None:
    if any(len(candidate.runs) > 1 for candidate in candidates):
        detail = (
            'The unit "token" compares one output of each system, not several training runs. Use the unit sentence.'
        )
        raise InputError(Problem("no-token-bits", detail, pointer="/unit"))
    if any(candidate.tokens is None for candidate in candidates):
        detail = (
            'The unit is "token", but this score has no value for each token. '
            "Use the unit sentence, or a score that does (attachment.las, attachment.uas, ...)."
        )
        raise InputError(Problem("no-token-bits", detail, pointer="/unit"))


def _tests_of_pairs(question: Question) -> tuple[list[Test], list[dict[str, Json]]]:
    """Run the test of each pair; return the tests and further members of the pairs' documents."""
    settings, sample, pairs = question.settings, question.sample, question.pairs
    no_extras: list[dict[str, Json]] = [{} for _ in pairs]
    if settings.test == "bootstrap":
        return [Test(None, None) for _ in pairs], no_extras
    if settings.test == "mcnemar":
        bits = [candidate.tokens for candidate in question.candidates] if question.unit == "token" else None
        return mcnemar_tests(sample, pairs, settings, bits)
    if settings.test == "compare_pl":
        brackets = compare_pl.recall_and_precision(question.terms, question.rows, pairs, question.plan)
        tests = compare_pl.directed(sample, pairs, question.plan)
        return tests, [{"compare_pl": document} if document else {} for document in brackets]
    varying = training_runs.runs_tests(question)
    swapped = [pair for pair in pairs if pair not in varying]
    test_of = {pair: found.test for pair, found in varying.items()}
    if question.unit == "part":
        by_swaps = part_tests(sample, swapped, settings.alternative, settings.seed)
    else:
        by_swaps = permutation(sample, swapped, settings.alternative, question.plan)
    test_of |= zip(swapped, by_swaps, strict=True)
    return [test_of[pair] for pair in pairs], [varying[pair].document() if pair in varying else {} for pair in pairs]
