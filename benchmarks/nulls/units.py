"""Which unit is swapped: tokens, sentences, documents; and ties of whole sentences."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from nulls.systems import EXACT_MATCH, F1, LAS, expected_las, pair, significant, systems
from nulls.tables import ALPHA, Experiment, Row, Table

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


def in_documents(documents: int, effect: float) -> Experiment:
    """Two systems on documents of 20 sentences."""
    groups = np.repeat(np.arange(documents), 20)
    blocks = [f"document {number}" for number in groups]

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        two = systems(generator, 2, len(groups), group_effect=effect, groups=groups)
        return {
            "`unit: sentence`": significant(two, LAS, unit="sentence", blocks=blocks),
            "`unit: auto` (documents)": significant(two, LAS, unit="auto", blocks=blocks),
        }

    return experiment


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
            *(Row(str(effect), in_sentences(effect)) for effect in (0.0, 0.5, 1.0)),
            Row("equal LAS, errors of one in fewer sentences", uneven),
        ),
    ),
    Table(
        "ties",
        "exact match",
        ("permutation, ties count", *(f"McNemar, {kind}" for kind in MCNEMAR), "only beyond (sacrebleu, multeval)"),
        tuple(Row(f"{sentences} sentences", tied(sentences)) for sentences in (60, 200)),
    ),
    Table(
        "documents",
        "documents of 20 sentences, system-by-document sd (log odds)",
        ("`unit: sentence`", "`unit: auto` (documents)"),
        tuple(
            Row(f"{documents} documents, {effect}", in_documents(documents, effect))
            for documents, effect in ((20, 0.0), (20, 0.3), (20, 0.6), (8, 0.3), (8, 0.6), (5, 0.6), (3, 0.3), (3, 0.6))
        ),
    ),
)
