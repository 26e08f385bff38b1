"""Systems drawn for the simulations, and short ways to compare two of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from nulls.tables import ALPHA
from treescore.core.registry import TokenBits
from treescore.core.scores import Score, f1_score, ratio_score
from treescore.significance import Candidate, Settings, compare

NAMES = ("right", "tokens", "whole", "sentences", "predicted")
LAS = ratio_score("las", "share of tokens right", "right", "tokens")
EXACT_MATCH = ratio_score("exact_match", "share of sentences wholly right", "whole", "sentences")
F1 = f1_score("f1", "F1 where systems differ in their number of tokens", "right", "tokens", "predicted", "nothing")
DIFFICULTY = (1.6, 0.7)
"""Mean and standard deviation over sentences of a token's log odds to be right."""


def systems(
    generator: np.random.Generator,
    count: int,
    sentences: int,
    *,
    effect: float | Sequence[float] = 0.0,
    group_effect: float = 0.0,
    groups: np.ndarray | None = None,
    shifts: Iterable[float] = (),
) -> list[Candidate]:
    """Draw systems that are equally good but for `shifts`, with counts and one bit a token.

    Effects are standard deviations of log odds. A system-by-sentence effect correlates the tokens of one sentence
    for one system; a system-by-group effect the sentences of one group (a document, a part).

    Args:
        generator: of the data set.
        count: systems.
        sentences: n.
        effect: system-by-sentence, one for all or one a system.
        group_effect: system-by-group.
        groups: group of each sentence, (n,), from 0.
        shifts: log odds that the first systems have more than the others.
    """
    lengths = generator.integers(5, 25, sentences)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    difficulty = generator.normal(*DIFFICULTY, sentences)
    home = np.zeros(sentences, np.int64) if groups is None else groups
    effects = np.broadcast_to(effect, count)
    found = []
    for place, shift in zip(range(count), [*shifts, *[0.0] * count], strict=False):
        own = generator.normal(0, 1, sentences) * effects[place]
        shared = generator.normal(0, 1, int(home.max()) + 1)[home] * group_effect
        chance = 1.0 / (1.0 + np.exp(-(difficulty + own + shared + shift)))
        bits = generator.random(offsets[-1]) < np.repeat(chance, lengths)
        right = np.add.reduceat(bits, offsets[:-1], dtype=np.int64)
        predicted = np.maximum(right, lengths + generator.integers(-1, 2, sentences))
        rows = np.array([right, lengths, right == lengths, np.ones(sentences), predicted], np.int64).T
        found.append(Candidate(f"system {place}", (rows,), TokenBits(bits, offsets)))
    return found


EWT, GUM = "EWT", "GUM"
_WORDS = {EWT: (79.0, 1.5), GUM: (900.0, 0.18)}
"""Mean words of a document and their coefficient of variation: UD EWT's are very unequal, UD GUM's nearly equal."""
_SENTENCES = 6
"""Of a document, which all fail or succeed together; they count for the least p alone."""


def words_of(generator: np.random.Generator, like: str, documents: int) -> np.ndarray:
    """Draw the words of documents (documents,), lognormal, as those of a treebank are."""
    mean, variation = _WORDS[like]
    variance = np.log1p(variation**2)
    drawn = generator.lognormal(np.log(mean) - variance / 2, np.sqrt(variance), documents)
    return np.maximum(drawn, _SENTENCES).astype(np.int64)


def of_documents(
    generator: np.random.Generator, words: np.ndarray, count: int, effect: float, shifts: np.ndarray | float = 0.0
) -> tuple[list[Candidate], list[str]]:
    """Draw systems over documents, and the document of each sentence.

    Args:
        generator: of the data set.
        words: of each document, (documents,).
        count: systems.
        effect: standard deviation of the system-by-document effect, in log odds.
        shifts: log odds that a system has more than the others, (systems, documents) or less.
    """
    difficulty = generator.normal(*DIFFICULTY, len(words))
    chance = expit(difficulty + generator.normal(0, effect, (count, len(words))) + shifts)
    lengths = np.repeat(words // _SENTENCES, _SENTENCES)
    right = generator.binomial(lengths, np.repeat(chance, _SENTENCES, axis=1))
    blocks = [f"document {number}" for number in np.repeat(np.arange(len(words)), _SENTENCES)]
    return [
        Candidate(f"system {place}", (np.stack([row, lengths], axis=1),)) for place, row in enumerate(right)
    ], blocks


def expected_las(effect: float = 0.0, shift: float = 0.0) -> float:
    """Return the LAS of the population that `systems` draws from: the mean chance, of which lengths are independent."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    mean, deviation = DIFFICULTY
    return float(weights / weights.sum() @ expit(mean + shift + np.hypot(deviation, effect) * nodes))


SCALE = 200
"""Tokens of a sentence whose score is drawn from a normal law: its count is whole, so tests stay exact."""


def scored(values: np.ndarray) -> np.ndarray:
    """Return counts (n, 2) of sentences with the scores 0.5 + values / 20, rounded to 1 / 200.

    The scale keeps a normal variable of standard deviation 1 within the range of the score.
    """
    right = np.clip(np.rint(SCALE * (0.5 + values / 20)), 0, SCALE).astype(np.int64)
    return np.stack([right, np.full(len(right), SCALE)], axis=1)


def outcome(candidates: Sequence[Candidate], score: Score = LAS, **asked: Any) -> dict[str, Any]:
    """Return the comparison document, without intervals unless asked."""
    given = {key: asked.pop(key) for key in ("blocks", "parts") if key in asked}
    names = NAMES[: candidates[0].runs[0].shape[1]]
    settings = Settings(**{"interval": "none", "alpha": ALPHA, **asked})
    return compare(score.name, score, names, candidates, settings, **given)


def pair(candidates: Sequence[Candidate], score: Score = LAS, **asked: Any) -> dict[str, Any]:
    """Return the document of the pair of the first two."""
    first: dict[str, Any] = outcome(candidates, score, **asked)["pairs"][0]
    return first


def significant(candidates: Sequence[Candidate], score: Score = LAS, **asked: Any) -> bool:
    """Tell whether the first two differ significantly at 5 %."""
    return bool(pair(candidates, score, **asked)["significant"])


def covers(interval: Mapping[str, Any] | None, value: float) -> bool:
    """Tell whether an interval holds a value; a missing one does not."""
    if interval is None or interval["low"] is None:
        return False
    return bool(interval["low"] - 1e-12 <= value <= interval["high"] + 1e-12)


def row_of(document: Mapping[str, Any], candidate: Candidate) -> dict[str, Any]:
    """Return the row of one system in a comparison document."""
    return next(row for row in document["systems"] if row["name"] == candidate.name)
