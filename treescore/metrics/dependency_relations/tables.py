"""Make tables over dependencies as Lin prints them: by relation, word, genre and sentence length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from treescore.core import columns
from treescore.core.arrays import BoolArray, IntArray, placed, sums_by, tallied
from treescore.core.registry import ItemInfo
from treescore.core.scores import Ratio, Score, ScoreTable, harmonic, ratio_score
from treescore.core.trees import DependencyTreebank
from treescore.metrics.shared.tables import SentenceValues, attributes_of, grouped_sentences, numbered_values

COUNT_NAMES = ("answer", "key", "answer_correct", "key_found")
_NO_ANSWER = "the answer has no selected dependency"
_NO_KEY = "the key has no selected dependency"

TABLE = ScoreTable(
    COUNT_NAMES,
    (
        Score(
            name="f1",
            doc="Harmonic mean of precision and recall.",
            ratios=(Ratio({"answer_correct": 1}, {"answer": 1}), Ratio({"key_found": 1}, {"key": 1})),
            join=harmonic,
            undefined="precision or recall is undefined",
        ),
        ratio_score(
            "precision",
            "Share of the answer's dependencies that the key has.",
            "answer_correct",
            "answer",
            undefined=_NO_ANSWER,
        ),
        ratio_score(
            "recall", "Share of the key's dependencies that the answer has.", "key_found", "key", undefined=_NO_KEY
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Side:
    """The dependencies of one side, at most one for each of w words.

    Attributes:
        treebank: the treebank itself.
        owners: the key's sentence at which each word counts, int64 (w,).
        dependencies: whether the word has a head, bool (w,).
        heads: the head as a word of the whole text, from 0, -1 for the root and unknown words, int64 (w,).
        labels: relations after equivalent ones are merged, int64 (w,).
    """

    treebank: DependencyTreebank
    owners: IntArray
    dependencies: BoolArray
    heads: IntArray
    labels: IntArray


@dataclass(frozen=True, slots=True)
class Matches:
    """Key and answer after their dependencies were looked up in each other.

    Attributes:
        key, answer: the two sides.
        key_selected, answer_selected: the dependencies that count, bool over each side's words.
        key_right: the key's dependencies that the answer has, bool over the key's words.
        right: the answer's dependencies that the key has, bool over the answer's words.
        sentences: the sentences that count, bool (n,).
    """

    key: Side
    answer: Side
    key_selected: BoolArray
    answer_selected: BoolArray
    key_right: BoolArray
    right: BoolArray
    sentences: BoolArray

    def rows(self) -> IntArray:
        """Count each sentence: int64 (n, 4), columns as COUNT_NAMES."""
        keys, answers, sentences = self.key.owners, self.answer.owners, len(self.key.treebank)
        return np.stack(
            [
                sums_by(answers[self.answer_selected], sentences),
                sums_by(keys[self.key_selected], sentences),
                sums_by(answers[self.answer_selected & self.right], sentences),
                sums_by(keys[self.key_selected & self.key_right], sentences),
            ],
            axis=1,
        )


def tables_of(pair: Matches, items: ItemInfo) -> Mapping[str, columns.Documents]:
    """Make every table: relation (also `deprel`), word, category, each sentence attribute, sentence length.

    Rows of word groups count each side by its own annotation. Rows of sentence groups also have the number of
    sentences and words and, where parse times are known, seconds and words per second.
    """
    key, answer = pair.key, pair.answer
    relations = _by_string(pair, key.labels, answer.labels)
    gold = key.treebank
    attributes = attributes_of(gold.sentences.attributes, items)
    lengths = np.diff(gold.word_offsets)
    rows = pair.rows()
    return {
        "relation": relations,
        "deprel": relations,
        "word": _by_string(pair, gold.forms, answer.treebank.forms),
        "category": _by_string(pair, gold.upos, answer.treebank.upos),
        **{name: _by_sentence(pair, rows, items, values) for name, values in attributes.items()},
        "sentence_length": _by_sentence(pair, rows, items, lengths.tolist()),
    }


def _by_string(pair: Matches, key_values: IntArray, answer_values: IntArray) -> columns.Documents:
    """Make one row per string, most frequent in the key first."""
    strings = pair.key.treebank.vocabulary.strings
    key, answer = pair.key_selected, pair.answer_selected
    used, groups = placed(np.concatenate([key_values[key], answer_values[answer]]))
    kinds = np.concatenate([pair.key_right[key], 2 + pair.right[answer].astype(np.int64)])
    tallies = tallied(groups, len(used), kinds, 4)
    listed = np.flatnonzero(tallies.any(axis=0))
    key_wrong, key_found, wrong, correct = tallies[:, listed]
    used, counts = used[listed], np.stack([wrong + correct, key_wrong + key_found, correct, key_found], axis=1)
    values = [strings[number] for number in used.tolist()]
    by_value = np.array(sorted(range(len(values)), key=values.__getitem__), np.int64)
    answers, keys = counts[by_value, :2].T
    order = by_value[np.lexsort((-answers, -keys))]
    return columns.rows_of(
        columns.strings_of(used[order], pair.key.treebank.vocabulary), *columns.counts_and_scores(TABLE, counts[order])
    )


def _by_sentence(pair: Matches, rows: IntArray, items: ItemInfo, values: SentenceValues) -> columns.Documents:
    """Make one row per value of a sentence attribute, in order of the values."""
    used, groups = numbered_values(values, pair.sentences)
    size = len(used) + 1
    words = sums_by(groups, size, np.diff(pair.key.treebank.word_offsets))[:-1]
    sentences = sums_by(groups, size)[:-1]
    more: dict[str, columns.Column] = {
        "words": columns.Numbers(words),
        "mean_length": columns.Quotients([words], [sentences]),
    }
    seconds = items.seconds.get(items.system)
    if seconds is not None:
        total = np.bincount(groups, np.array(seconds, np.float64), size)[:-1]
        timed = total > 0
        more |= {
            "seconds": columns.Numbers(total),
            "seconds_per_sentence": columns.Quotients([total], [sentences]),
            "words_per_second": columns.nullable(timed, columns.Numbers(words[timed] / total[timed])),
        }
    return grouped_sentences(TABLE, rows, used, groups, more)
