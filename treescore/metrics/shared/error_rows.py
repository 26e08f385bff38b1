"""Errors of words as rows for people, from the items that a metric shows of sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from treescore.core.params import Json
from treescore.core.trees import DependencyTreebank

Row = dict[str, Json]
AGREES = "="
"""Stands in a column of the output where it agrees with gold."""


def members(*names: str) -> Callable[[Mapping[str, Json]], Iterator[str]]:
    """Return a function that gives those of these members of a row that it has."""

    def values(row: Mapping[str, Json]) -> Iterator[str]:
        return (str(row[name]) for name in names if row.get(name) is not None)

    return values


DEPRELS = members("gold_deprel", "system_deprel")
UPOS = members("upos")


def upos_of(gold: DependencyTreebank, item: int, word: int) -> str:
    """Return the part of speech of a word of gold: sentence and word from 1."""
    return str(gold.vocabulary.strings[gold.upos[gold.word_offsets[item - 1] + word - 1]])


def kind_of(row: Mapping[str, Json]) -> str:
    """Return what is wrong of a word whose heads are numbered alike on both sides."""
    head, relation = (row[f"gold_{name}"] != row[f"system_{name}"] for name in ("head", "deprel"))
    return "head and relation" if head and relation else "head" if head else "relation"


def attachment_rows(words: list[Row], gold: DependencyTreebank, item: int) -> Iterator[Row]:
    """Return the wrong words of a sentence whose words are gold's, with kind and part of speech."""
    for row in words:
        first = {"kind": kind_of(row), "word": row["word"], "form": row["form"]}
        yield {**first, "upos": upos_of(gold, item, row["word"]), **row}


def words_beside(gold: DependencyTreebank, item: int, wrong: Mapping[int, Mapping[str, Json]]) -> Iterator[Row]:
    """Return every word of a sentence of gold, with what the output has where it is wrong.

    Args:
        gold: the treebank.
        item: number of the sentence, from 1.
        wrong: word from 1 -> its error.
    """
    start, stop = (int(gold.word_offsets[place]) for place in (item - 1, item))
    strings = gold.vocabulary.strings
    for word in range(1, stop - start + 1):
        at = start + word - 1
        row: Row = {"word": word, "form": strings[gold.forms[at]], "upos": strings[gold.upos[at]]}
        row |= {"gold_head": _head(gold, at), "gold_deprel": strings[gold.deprels[at]]}
        error = wrong.get(word)
        if error is None:
            yield {**row, "system_head": AGREES, "system_deprel": AGREES, "error": ""}
        else:
            system = {name: error.get(name) for name in ("system_head", "system_deprel")}
            yield {**row, **system, "error": error["kind"]}


def _head(gold: DependencyTreebank, word: int) -> str:
    from treescore.core.treebank_columns import heads_as_written  # noqa: PLC0415 - beside `columns`, for views alone

    [head] = heads_as_written(gold.heads[np.array([word])], gold.vocabulary).documents(0, 1)
    return str(head)
