"""Limits on texts. The service configures them; elsewhere the defaults hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one text. Exceeding one raises LimitError.

    Attributes:
        max_sentences: sentences in a text.
        max_words: words in one sentence.
        max_depth: nested brackets, or heads from a word to the root.
        max_lineage_cells: depth times words of one sentence, for metrics whose cost is their product.
        max_training_bytes: size of a training text that is a parameter of a metric.
        max_problems: problems reported of one text; further ones are only counted.
    """

    max_sentences: int = 1_000_000
    max_words: int = 100_000
    max_depth: int = 50_000
    max_lineage_cells: int = 200_000_000
    max_training_bytes: int = 40_000_000
    max_problems: int = 20


DEFAULT_LIMITS = Limits()
