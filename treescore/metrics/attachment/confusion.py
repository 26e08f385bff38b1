"""Count which relations an output has where gold has others, with places to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, sums_by
from treescore.core.params import Json
from treescore.core.trees import DependencyTreebank
from treescore.formats.shared.lines import short
from treescore.metrics.attachment.slices import MAX_ROWS

MAX_EXAMPLES = 20
"""The most words that a row names."""
_HEAD = ("count", "with head", "gold", "system", "sentence:word")
_PRINTED = 5
"""The most words that a printed row names."""
_OTHERS = "(others)"


def confusion_of(
    gold: DependencyTreebank, system: DependencyTreebank, compared: BoolArray, right_heads: BoolArray
) -> list[dict[str, Json]]:
    """Return pairs of relations, equal ones too, the most frequent first, then in the order of their names.

    Args:
        gold: the gold treebank of w words.
        system: an output with as many words in each sentence.
        compared: the words to count, bool (w,).
        right_heads: whose heads are right, bool (w,).

    Returns:
        Rows of `gold`, `system` (relations), `count`, `with_head` (how many have the right head), `examples` (`item`
        and `word`, from 1, of the first MAX_EXAMPLES). Beyond MAX_ROWS the rarest are summed in a last row, whose
        relations are null.
    """
    words = np.flatnonzero(compared)
    strings = gold.vocabulary.strings
    keys = gold.deprels[words] * len(strings) + system.deprels[words]
    pairs, groups = np.unique(keys, return_inverse=True)
    counts = sums_by(groups, len(pairs))
    names = [(strings[pair // len(strings)], strings[pair % len(strings)]) for pair in pairs.tolist()]
    order = sorted(range(len(pairs)), key=lambda pair: (-counts[pair], names[pair]))
    with_head = sums_by(groups, len(pairs), right_heads[words])
    by_pair = words[np.argsort(groups, kind="stable")]
    begins = np.cumsum(counts) - counts
    rows = [
        {
            "gold": names[pair][0],
            "system": names[pair][1],
            "count": int(counts[pair]),
            "with_head": int(with_head[pair]),
            "examples": _places(gold, by_pair[begins[pair] : begins[pair] + min(counts[pair], MAX_EXAMPLES)]),
        }
        for pair in order[:MAX_ROWS]
    ]
    rest = order[MAX_ROWS:]
    if rest:
        sums = {"count": int(counts[rest].sum()), "with_head": int(with_head[rest].sum())}
        rows.append({"gold": None, "system": None, **sums, "examples": []})
    return rows


def confusion_report(rows: Sequence[Mapping[str, Json]]) -> str:
    """Print the rows of `confusion_of`, each with the first places."""
    table: list[tuple[str, ...]] = [_HEAD]
    for row in rows:
        places = " ".join(f"{place['item']}:{place['word']}" for place in row["examples"][:_PRINTED])
        relations = (short(row[side]) if row[side] is not None else _OTHERS for side in ("gold", "system"))
        table.append((str(row["count"]), str(row["with_head"]), *relations, places))
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEAD))]
    return "".join(
        "  ".join(
            cell.rjust(width) if column < 2 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        + "\n"
        for row in table
    )


def _places(gold: DependencyTreebank, words: IntArray) -> list[dict[str, int]]:
    sentences = np.searchsorted(gold.word_offsets, words, "right") - 1
    positions = words - gold.word_offsets[sentences]
    return [
        {"item": sentence + 1, "word": position + 1}
        for sentence, position in zip(sentences.tolist(), positions.tolist(), strict=True)
    ]
