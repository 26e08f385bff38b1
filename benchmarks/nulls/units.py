"""Which unit is swapped: tokens, sentences, documents; and ties of whole sentences."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import logit

from nulls.systems import (
    EWT,
    EXACT_MATCH,
    F1,
    GUM,
    LAS,
    expected_las,
    of_documents,
    outcome,
    pair,
    significant,
    systems,
    words_of,
)
from nulls.tables import ALPHA, Experiment, Goal, Row, Table
from treescore.significance import Candidate
from treescore.significance.law import FEWEST_FOR_SIGNS

MCNEMAR = ("exact", "mid-p", "chi2", "chi2-corrected")


def in_sentences(effect: float) -> Experiment:
    """Two systems on 150 independent sentences."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        two = systems(generator, 2, 150, effect=effect)
        one_sided = pair(two, LAS, test="compare_pl")["p"]
        return {
            "permutation, LAS": significant(two, LAS),
            "permutation, F1": significant(two, F1),
            "McNemar, sentences": significant(two, EXACT_MATCH, test="mcnemar"),
            "McNemar, tokens": significant(two, LAS, test="mcnemar", unit="token"),
            "`compare_pl`": one_sided <= ALPHA,
            "`compare_pl`, p doubled": 2 * one_sided <= ALPHA,
        }

    return experiment


def uneven_shift(effect: float) -> float:
    """Return the log odds that give a system with this system-by-sentence effect the LAS of one without any."""
    return float(brentq(lambda shift: expected_las(effect, shift) - expected_las(), 0.0, 4.0))


UNEVEN = 2.0
UNEVEN_SHIFT = uneven_shift(UNEVEN)


def uneven(generator: np.random.Generator) -> dict[str, bool]:
    """Two systems of the same LAS on 150 sentences: the first has its errors in fewer sentences."""
    two = systems(generator, 2, 150, effect=(UNEVEN, 0.0), shifts=[UNEVEN_SHIFT])
    return {
        "permutation, LAS": significant(two, LAS),
        "permutation, F1": significant(two, F1),
        "McNemar, sentences": significant(two, EXACT_MATCH, test="mcnemar"),
    }


def in_documents(like: str, documents: int) -> Experiment:
    """Six equal systems over documents: whether any pair is significant; and whether the first is."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        words = words_of(generator, like, documents)
        six, blocks = of_documents(generator, words, 6, 0.3)
        by_signs, by_t = (outcome(six, LAS, test=test, blocks=blocks)["pairs"] for test in ("permutation", "t"))
        by_sentence = outcome(six[:2], LAS, unit="sentence", blocks=blocks)["pairs"][0]
        default = by_signs if documents >= FEWEST_FOR_SIGNS else by_t
        return {
            "two systems, `unit: sentence`": by_sentence["significant"],
            "two systems, default": default[0]["p"] <= ALPHA,
            "6 systems, default": any(pair["significant"] for pair in default),
            "6 systems, `test: permutation`": any(pair["significant"] for pair in by_signs),
            "6 systems, `test: t`": any(pair["significant"] for pair in by_t),
        }

    return experiment


def large_family(like: str, documents: int) -> Experiment:
    """26 equal systems, 325 pairs."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        some, blocks = of_documents(generator, words_of(generator, like, documents), 26, 0.3)
        return {"default": any(pair["significant"] for pair in outcome(some, LAS, blocks=blocks)["pairs"])}

    return experiment


def failing(documents: int) -> Experiment:
    """Two systems that are equal in expectation: one loses 10 points in one document of ten, and wins 1.1 elsewhere."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        words = words_of(generator, GUM, documents)
        fails = generator.random(documents) < FAILING
        gains = np.where(fails, -0.1, 0.1 * FAILING / (1 - FAILING))
        chance = np.stack([0.8 + gains, np.full(documents, 0.8)])
        return _both_laws(*of_documents(generator, words, 2, 0.3, logit(chance) - logit(0.8)))

    return experiment


def with_size(documents: int) -> Experiment:
    """Two systems that are equal over all words: one is better in long documents, the other in short ones."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        words = words_of(generator, EWT, documents)
        slope = 0.15 * np.log(words / LONG)
        return _both_laws(*of_documents(generator, words, 2, 0.3, np.stack([slope, -slope])))

    return experiment


def _both_laws(two: list[Candidate], blocks: list[str]) -> dict[str, bool]:
    return {f"`test: {test}`": significant(two, LAS, test=test, blocks=blocks) for test in ("auto", "permutation", "t")}


FAILING = 0.1
LONG = 142.0
"""Words of a document in which the two are equally good: the mean log of a word's document, exp(μ + σ²)."""


def tied(sentences: int) -> Experiment:
    """Exact match: few values, many ties."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        two = systems(generator, 2, sentences)
        whole = [candidate.runs[0][:, 2] for candidate in two]
        return {
            "permutation, ties count": significant(two, EXACT_MATCH),
            **{f"McNemar, {kind}": significant(two, EXACT_MATCH, test="mcnemar", mcnemar=kind) for kind in MCNEMAR},
            "only beyond (sacrebleu, multeval)": strictly_beyond(whole[0] - whole[1], generator) <= ALPHA,
        }

    return experiment


def strictly_beyond(d: np.ndarray, generator: np.random.Generator, shuffles: int = 999) -> float:
    """Return p of a sum as sacrebleu and multeval compute it: shuffles that tie with the observed sum do not count."""
    signs = generator.integers(0, 2, (shuffles, len(d))) * 2 - 1
    return (int((np.abs(signs @ d) > abs(int(d.sum()))).sum()) + 1) / (shuffles + 1)


TABLES = (
    Table(
        "tokens",
        "150 independent sentences, system-by-sentence sd (log odds)",
        (
            "permutation, LAS",
            "permutation, F1",
            "McNemar, sentences",
            "McNemar, tokens",
            "`compare_pl`",
            "`compare_pl`, p doubled",
        ),
        (
            *(Row(str(effect), in_sentences(effect), share=2) for effect in (0.0, 0.5, 1.0)),
            Row("equal LAS, errors of one in fewer sentences", uneven),
        ),
    ),
    Table(
        "ties",
        "exact match",
        ("permutation, ties count", *(f"McNemar, {kind}" for kind in MCNEMAR), "only beyond (sacrebleu, multeval)"),
        tuple(Row(f"{sentences} sentences", tied(sentences), share=2) for sentences in (60, 200)),
    ),
    Table(
        "documents",
        "some false claim over documents, system-by-document sd 0.3 (log odds)",
        (
            "two systems, `unit: sentence`",
            "two systems, default",
            "6 systems, default",
            "6 systems, `test: permutation`",
            "6 systems, `test: t`",
        ),
        tuple(
            Row(f"{documents} documents as unequal as {like}'s", in_documents(like, documents), share=2)
            for like in (EWT, GUM)
            for documents in (5, 7, 10, 16, 30, 60)
        ),
    ),
    Table(
        "large_family",
        "some false claim among 325 pairs of 26 equal systems",
        ("default",),
        tuple(
            Row(f"{documents} documents as unequal as {like}'s", large_family(like, documents), share=16)
            for like, documents in ((EWT, 15), (EWT, 30), (GUM, 7))
        ),
    ),
    Table(
        "hard",
        "equal systems whose documents no test does justice to (no goal)",
        ("`test: auto`", "`test: permutation`", "`test: t`"),
        (
            *(
                Row(f"loses 10 points in one of ten, {documents} GUM-like documents", failing(documents), Goal.SHOWN, 2)
                for documents in (5, 10, 15, 60)
            ),
            *(
                Row(f"effect goes with the size, {documents} EWT-like documents", with_size(documents), Goal.SHOWN, 2)
                for documents in (10, 30, 60)
            ),
        ),
    ),
)
