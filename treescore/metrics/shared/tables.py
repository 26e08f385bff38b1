"""Rows and tables that several metrics show: errors of words, groups of sentences, the layout of conll18_ud_eval.py.

Errors of words are rows for people, made from the items that a metric shows of sentences. Groups of sentences share an
attribute or a length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, sums_by, sums_of_rows
from treescore.core.columns import Column, Documents, Numbers, column_of, counts_and_scores, heads_as_written, rows_of
from treescore.core.params import Json
from treescore.core.registry import ItemInfo
from treescore.core.scores import ScoreTable
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
    [head] = heads_as_written(gold.heads[np.array([word])], gold.vocabulary).documents(0, 1)
    return str(head)


SentenceValues = Sequence[str | int | None]


def sentence_tables(table: ScoreTable, rows: IntArray, groupings: Mapping[str, SentenceValues]) -> dict[str, Documents]:
    """Return a table for each grouping (name -> value of each sentence) of the rows (n, k)."""
    tables = {}
    for name, values in groupings.items():
        used, groups = numbered_values(values)
        tables[name] = grouped_sentences(table, rows, used, groups, {})
    return tables


def numbered_values(values: SentenceValues, mask: BoolArray | None = None) -> tuple[list[str | int], IntArray]:
    """Group sentences that share a value, and are in `mask`, bool (n,).

    Returns:
        The values in order; and the group of each sentence, int64 (n,). That of sentences without a value, or not in
        `mask`, is the number of values.
    """
    if mask is not None:
        values = [value if keep else None for value, keep in zip(values, mask.tolist(), strict=True)]
    used = sorted((value for value in set(values) if value is not None), key=lambda each: (isinstance(each, str), each))
    group_of = {value: number for number, value in enumerate(used)}
    return used, np.array([len(used) if value is None else group_of[value] for value in values], np.int64)


def grouped_sentences(
    table: ScoreTable, rows: IntArray, used: Sequence[str | int], groups: IntArray, more: Mapping[str, Column]
) -> Documents:
    """Sum the rows of each group of `numbered`: a row per value, with the number of `sentences` and further members."""
    size = len(used) + 1
    counts, scores = counts_and_scores(table, sums_of_rows(groups, size, rows)[:-1])
    return rows_of(column_of(used), counts, scores, sentences=Numbers(sums_by(groups, size)[:-1]), **more)


def attributes_of(
    treebank_attributes: Mapping[str, Sequence[str | None]], items: ItemInfo
) -> dict[str, SentenceValues]:
    """Join the sentence attributes of a text and of the request; the request overrides the text."""
    return {**treebank_attributes, **items.attributes}


_CONLL18_HEAD = (
    "Metric     | Precision |    Recall |  F1 Score | AligndAcc",
    "-----------+-----------+-----------+-----------+-----------",
)


def conll18_table(rows: Iterable[str]) -> str:
    """Return the table of these rows, byte for byte."""
    return "\n".join([*_CONLL18_HEAD, *rows]) + "\n"


def conll18_row(title: str, row: str, counts: Mapping[str, int]) -> str:
    """Return the row of the counts `ROW.correct`, `ROW.gold`, `ROW.system` and, where there are, `ROW.aligned`."""
    correct, gold, system = (counts[f"{row}.{name}"] for name in ("correct", "gold", "system"))
    cells = [_percent(correct, system), _percent(correct, gold), _percent(2 * correct, gold + system)]
    aligned = counts.get(f"{row}.aligned")
    accuracy = "" if aligned is None else _percent(correct, aligned)
    return f"{title:11}|" + "|".join(f"{cell} " for cell in cells) + f"|{accuracy}"


def _percent(numerator: int, denominator: int) -> str:
    return f"{100 * (numerator / denominator if denominator else 0.0):10.2f}"
