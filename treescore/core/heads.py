"""HEAD fields: numbers where they are plain numbers, else kept as written."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.trees import NO_HEAD, ODD_HEAD, DependencyTreebank
from treescore.core.vocabulary import Vocabulary

MAX_DIGITS = 18


def plain_number(string: str) -> int | None:
    """Return the value of ASCII digits (leading zeros allowed, capped at 10^18), None for anything else."""
    if not (string.isascii() and string.isdigit()):
        return None
    digits = string.lstrip("0")
    return 10**MAX_DIGITS if len(digits) > MAX_DIGITS else int(digits or "0")


def heads_of(numbers: IntArray, vocabulary: Vocabulary) -> IntArray:
    """Turn numbers of HEAD strings into heads as `DependencyTreebank.heads` holds them: int64, the same shape."""
    heads: IntArray = vocabulary.table(numbers, lambda string: _head(string, vocabulary))[numbers]
    return heads


def head_string(head: int, vocabulary: Vocabulary) -> str:
    """Return a head as it was written."""
    if head == NO_HEAD:
        return "_"
    return vocabulary.strings[ODD_HEAD - head] if head <= ODD_HEAD else str(head)


def resolved_heads(treebank: DependencyTreebank, start: int = 0, end: int | None = None) -> IntArray:
    """Read heads with leading zeros as numbers (`02` is 2); other strings stay below 0.

    Args:
        treebank: of w words.
        start: the first word.
        end: the word after the last one; None: w.

    Returns:
        int64 (end - start,).
    """
    given = treebank.heads[start:end]
    odd = given <= ODD_HEAD
    if not odd.any():
        return given
    strings = treebank.vocabulary.strings
    heads = given.copy()
    for word in np.flatnonzero(odd).tolist():
        value = plain_number(strings[ODD_HEAD - heads[word]])
        if value is not None:
            heads[word] = value
    return heads


def _head(string: str, vocabulary: Vocabulary) -> int:
    if string == "_":
        return NO_HEAD
    value = plain_number(string)
    return value if value is not None and str(value) == string else ODD_HEAD - vocabulary.number(string)
