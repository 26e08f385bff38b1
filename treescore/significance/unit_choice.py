"""Choice of the units of a comparison: what is swapped and redrawn as a whole.

Swapping sentences of one document that succeed or fail together finds false differences (Canay, Romano & Shaikh
2017, "Randomization tests under an approximate symmetry assumption"), so documents are the units where gold has them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.counting import counted
from treescore.errors import InputError, Problem
from treescore.significance.settings import AUTO, FEWEST_PARTS, Settings
from treescore.significance.units import block_numbers

FEWEST_DOCUMENTS = 2
"""Documents from which on a part goes by document: with one there is nothing to swap against."""
UNMARKED = ""
"""The document of the sentences before the first mark; no mark has an empty name."""
OF_SENTENCES = ("mcnemar", "compare_pl")
"""Tests whose usual question is about sentences, though gold may mark documents."""


class Units(NamedTuple):
    """The units of a comparison.

    Attributes:
        name: sentence, block, part or token.
        blocks: number of each sentence's block, int64 (n,), where blocks are the units.
        by_sentence: parts that go by sentence although blocks are the units.
        documents: whether the documents of the text are known.
        of_parts: parts, whether the score is their mean or is over all of them together.
    """

    name: str
    blocks: IntArray | None = None
    by_sentence: int = 0
    documents: bool = False
    of_parts: int = 1


def chosen_units(
    settings: Settings,
    blocks: Sequence[str | None] | None,
    strata: IntArray | None,
    sentences: int,
    *,
    together: bool = False,
) -> Units:
    """Return the units that settings name; for `auto` documents where the text has any, else sentences.

    Args:
        settings: with the unit.
        blocks: the document of each sentence, None before the first mark, (n,).
        strata: part of each sentence, int64 (n,); None where there is one.
        sentences: n.
        together: whether the score is over all parts together, no mean of theirs.

    Raises:
        InputError: the text does not have the unit (pointer /unit).
    """
    unit = settings.unit
    of_parts = 1 if strata is None else int(strata.max(initial=-1)) + 1
    documents = blocks is not None and any(blocks)
    if blocks is not None and len(blocks) != sentences:
        found = f"The list has {counted(len(blocks), 'block name')} for {counted(sentences, 'sentence')}"
        detail = f"{found}. Give one for each."
        raise InputError(Problem("item-count-mismatch", detail, pointer="/unit"))
    if unit == "part":
        require_parts(0 if together else of_parts)
    if unit == "block":
        require_documents(known=documents)
    if unit == AUTO:
        unit = "block" if documents and settings.test not in OF_SENTENCES else "sentence"
    if unit != "block" or blocks is None:
        return Units(unit, documents=documents, of_parts=of_parts)
    # one document of the only part is what was asked for by name, though it can show nothing
    fewest = FEWEST_DOCUMENTS if settings.unit == AUTO or strata is not None else 1
    kept, by_sentence = with_documents(blocks, strata, fewest)
    if all(name is None for name in kept):
        return Units("sentence", documents=documents, of_parts=of_parts)
    return Units("block", block_numbers(kept, strata), by_sentence, documents, of_parts)


def with_documents(
    blocks: Sequence[str | None], strata: IntArray | None, fewest: int = FEWEST_DOCUMENTS
) -> tuple[list[str | None], int]:
    """Keep the documents of parts that have enough marked ones; the sentences of other parts then stand alone.

    Sentences before the first mark are a document of their own, which is not a marked one.

    Returns:
        The document of each sentence, and the number of parts that go by sentence.
    """
    part_of = [0] * len(blocks) if strata is None else strata.tolist()
    named: dict[int, set[str]] = {part: set() for part in part_of}
    for name, part in zip(blocks, part_of, strict=True):
        if name:
            named[part].add(name)
    few = {part for part, names in named.items() if len(names) < fewest}
    kept = [None if part in few else name or UNMARKED for name, part in zip(blocks, part_of, strict=True)]
    return kept, len(few)


def with_whole_parts(blocks: IntArray | None, strata: IntArray, whole: Collection[int]) -> IntArray:
    """Number blocks again where some parts are one block each and all other units stay: int64 (n,).

    Args:
        blocks: number of each sentence's block, (n,); None where sentences are the units.
        strata: part of each sentence, (n,).
        whole: the parts that are one block.
    """
    numbers = np.arange(len(strata), dtype=np.int64) if blocks is None else blocks.copy()
    for part in whole:
        of_part = np.flatnonzero(strata == part)
        numbers[of_part] = numbers[of_part[:1]]
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def require_documents(*, known: bool) -> None:
    """Refuse documents as units where none are known.

    Raises:
        InputError: none are known (pointer /unit).
    """
    if not known:
        detail = (
            'The unit is "block", but the blocks are unknown. Give the block of '
            "each sentence in items.blocks, or use gold with document boundaries, or the unit sentence."
        )
        raise InputError(Problem("no-blocks", detail, pointer="/unit"))


def require_parts(count: int) -> None:
    """Refuse whole parts as the units of a mean over too few of them.

    Args:
        count: parts of the mean; less than 2 for a score that is not a mean of parts.

    Raises:
        InputError: they are fewer than FEWEST_PARTS (pointer /unit).
    """
    if count < FEWEST_PARTS:
        detail = (
            f'The unit "part" needs a mean over {FEWEST_PARTS} parts or more: p of P parts is at least 2^(1-P). '
            f"Here are {max(1, count)}. Use the unit block or sentence."
        )
        raise InputError(Problem("too-few-parts", detail, pointer="/unit"))
