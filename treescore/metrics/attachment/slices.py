"""Compute attachment scores by groups of words, on gold's side and on the system's.

Also count which relations an output has where gold has others, with places to look at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from treescore.core.arrays import BoolArray, FloatArray, IntArray, largest_first, ranked, sums_by
from treescore.core.columns import Column, Documents, Numbers, Quotients, nullable, stacked_rows
from treescore.core.jit import compiled
from treescore.core.params import Json
from treescore.core.trees import DependencyTreebank
from treescore.formats.shared.lines import short
from treescore.metrics.shared import malteval
from treescore.metrics.shared.groupings import GROUPINGS, Grouping, Groups, WordAttributes, groups_by
from treescore.metrics.shared.words import has_subtypes

MAX_ROWS = 2000
"""The most rows of one grouping; the rarest beyond them are summed in a last row whose value is null."""

_SCORES = {"las": "both", "uas": "head", "label_accuracy": "label"}


class AttachmentSlices:
    """The rows of all groupings.

    Each row counts the scoring words whose key on gold's side (`gold`), on the system's (`system`) and on both
    (`correct`; with the right head too: `correct_with_head`) is its value; and of the first two, those whose head,
    relation, or both are right. So `recall` = correct / gold and `precision` = correct / system are eval07.pl's for
    relations, directions and distances, and `las`, `uas`, `label_accuracy` (of gold's words) and `system_las`, ...
    (of the system's) are MaltEval's treebank and parser accuracies; scores by its other metrics have their names.

    Rows of `Clustering` count a word once for each right word nearby.
    """

    def __init__(
        self,
        gold: DependencyTreebank,
        system: DependencyTreebank,
        scoring: BoolArray,
        right: Mapping[str, BoolArray],
        present: BoolArray,
        choice: malteval.SliceChoice,
    ) -> None:
        """Take treebanks of the same w words, and bool (w,): which score, which are right, which the system has."""
        self._sides = WordAttributes(gold), WordAttributes(system)
        self._scoring = scoring
        self._groupings = choice.groupings
        self._metrics = choice.metrics
        self._facts = malteval.WordFacts(right["uas"], right["label_accuracy"], present, self._sides)
        self._right = {name: right[score][scoring] for score, name in (("uas", "head"), ("label_accuracy", "label"))}
        self._right["both"] = right["las"][scoring]
        self._right |= {name: self._facts.by(name)[scoring] for name in choice.metrics if name != malteval.SELF}
        self._scores = _SCORES | {name: name for name in choice.metrics}

    def documents(self) -> dict[str, Documents]:
        """Return the rows by grouping; counts and scores of all stand in the same columns, one grouping after another.

        What has several names is counted once.
        """
        key_of: dict[str, Grouping | str] = {
            name: GROUPINGS.get(name, name) for name in (*GROUPINGS, *malteval.ERROR_GROUPINGS, *self._groupings)
        }
        if not any(has_subtypes(side.treebank) for side in self._sides):
            key_of["udeprel"] = GROUPINGS["deprel"]
        first_names = {key: name for name, key in reversed(key_of.items())}
        tables = {
            key: self._clustering() if name == "Clustering" else self._rows(self._groups(name))
            for key, name in first_names.items()
        }
        counts, scores = self._counts_and_scores(np.concatenate([counts for _, counts in tables.values()], axis=1))
        rows = stacked_rows({key: values for key, (values, _) in tables.items()}, counts, scores)
        return {name: rows[key] for name, key in key_of.items()}

    def _groups(self, name: str) -> Groups:
        if name == "PreAndPost":
            return malteval.pre_and_post(self._no_error, self._owners)
        if name == "Clustering2":
            return malteval.clustering_2(self._no_error, self._owners)
        if name in self._groupings:
            return self._groupings[name].groups(self._sides, self._scoring)
        return groups_by(name, self._sides, self._scoring)

    @property
    def _no_error(self) -> BoolArray:
        """Return the scoring words that the groupings by errors take as right."""
        return self._right[self._metrics[0] if self._metrics and self._metrics[0] != malteval.SELF else "both"]

    @property
    def _owners(self) -> IntArray:
        return self._sides[0].owners[self._scoring]

    def _columns(self, groups: Groups | None = None) -> dict[str, BoolArray]:
        """Return the scoring words that are right, by the name of their count."""
        if malteval.SELF not in self._metrics:
            return self._right
        self_right = groups.gold == groups.system if groups is not None and groups.own_metric else self._right["both"]
        return {**self._right, malteval.SELF: self_right}

    @cached_property
    def _patterns(self) -> tuple[IntArray, IntArray]:
        return _patterns(self._right)

    def _rows(self, groups: Groups) -> tuple[Column, IntArray]:
        """Return the values of groups, and what is counted of each: (counts, rows) as `_count_names`."""
        columns = self._columns(groups)
        patterns, bits = _patterns(columns) if malteval.SELF in columns else self._patterns
        sizes = np.bincount(np.concatenate([groups.gold, groups.system]), minlength=groups.size)
        by_size = np.arange(groups.size) if groups.empty_rows else largest_first(sizes)
        listed, rest = by_size[:MAX_ROWS], by_size[MAX_ROWS:]
        if groups.ordered:
            listed = np.sort(listed)
        values, rows = groups.values(listed), len(listed)
        row_of = np.full(groups.size, rows)
        row_of[listed] = np.arange(rows)
        if len(rest):
            values, rows = nullable(np.arange(rows + 1) < rows, values), rows + 1
        tallies = np.zeros((rows, 3 * len(bits)))
        tally_words(groups.gold, groups.system, row_of, patterns, tallies)
        # real numbers are multiplied faster, and exact: they are numbers of words
        return values, (_weights(bits, list(columns).index("head")) @ tallies.T).astype(np.int64)

    def _clustering(self) -> tuple[Column, IntArray]:
        """Return the distances from right words, and what is counted of each, as `_rows`."""
        found = list(malteval.clustering(self._no_error, self._owners, self._columns()))
        values = Numbers(np.array([distance for distance, _, _ in found], np.int64))
        counts = [[pairs, pairs, pairs, right["head"], *right.values(), *right.values()] for _, pairs, right in found]
        return values, np.array(counts, np.int64).reshape(len(found), 4 + 2 * len(self._columns())).T

    def _counts_and_scores(self, rows: IntArray) -> tuple[dict[str, Column], dict[str, Column]]:
        """Return the columns of counts, and the scores that they make, from the counts of all rows, (counts, rows)."""
        names = ["gold", "system", "correct", "correct_with_head"]
        names += [f"{side}_correct_{name}" for side in ("gold", "system") for name in self._columns()]
        counts = dict(zip(names, rows, strict=True))
        scores: dict[str, Column] = {}
        for prefix, side in (("", "gold"), ("system_", "system")):
            for score, name in self._scores.items():
                scores[prefix + score] = Quotients([counts[f"{side}_correct_{name}"]], [counts[side]])
        for suffix in ("", "_with_head"):
            correct = counts[f"correct{suffix}"]
            scores[f"precision{suffix}"] = Quotients([correct], [counts["system"]])
            scores[f"recall{suffix}"] = Quotients([correct], [counts["gold"]])
            scores[f"f1{suffix}"] = Quotients([correct, correct], [counts["gold"], counts["system"]])
        return {name: Numbers(column) for name, column in counts.items()}, scores


def _patterns(columns: Mapping[str, BoolArray]) -> tuple[IntArray, IntArray]:
    """Return which combination of the columns each word has, (w,), and the bits of the p combinations, (p, columns)."""
    places = np.arange(len(columns))
    codes, patterns = ranked(np.stack(list(columns.values()), axis=1) @ (1 << places))
    return patterns, codes[:, None] >> places & 1


def _weights(bits: IntArray, head: int) -> FloatArray:
    """Return what a word of each tally adds to each count of `_counts_and_scores`.

    Args:
        bits: which of c columns are true in each of p patterns, (p, c).
        head: the column of right heads.

    Returns:
        (4 + 2 c, 3 p): first, for each pattern, gold's words whose group on the system's side differs and is the same;
        then the system's words.
    """
    patterns, columns = bits.shape
    weights = np.zeros((4 + 2 * columns, 3 * patterns))
    gold, system = weights[:, : 2 * patterns], weights[:, 2 * patterns :]
    gold[0] = system[1] = 1
    gold[2, 1::2] = 1
    gold[3, 1::2] = bits[:, head]
    gold[4 : 4 + columns] = np.repeat(bits, 2, axis=0).T
    system[4 + columns :] = bits.T
    return weights


@compiled
def tally_words(gold: IntArray, system: IntArray, row_of: IntArray, patterns: IntArray, tallies: FloatArray) -> None:
    """Count the words of each row by pattern.

    Args:
        gold: group of each of w words by gold's key, int64 (w,).
        system: group by the system's key, int64 (w,).
        row_of: row of each group, int64 (groups,).
        patterns: of the words, below p, int64 (w,).
        tallies: float64 (rows, 3 p), zeros; filled as `_weights` has them.
    """
    first = 2 * (tallies.shape[1] // 3)
    for word in range(len(patterns)):
        tallies[row_of[gold[word]], 2 * patterns[word] + (gold[word] == system[word])] += 1
        tallies[row_of[system[word]], first + patterns[word]] += 1


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
