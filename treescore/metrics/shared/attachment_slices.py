"""Attachment scores by groups of words, on gold's side and on the system's.

Also counted is which relations an output has where gold has others, with places to look at.

MaltEval's groupings are among those that a request may name. Words are grouped by attributes of a word and of its
neighbours (`Cpostag@-1#Wordform@0`), or by the errors nearby (`PreAndPost`, `Clustering` and `Clustering2`), which show
whether errors cluster. A metric decides what is an error (LAS unless another is named). There, words that do not score
are ignored: arrays are over the w scoring words, `right` bool (w,) whether each is right and `owners` int64 (w,) its
sentence, ascending.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from treescore.core import columns
from treescore.core.arrays import BoolArray, FloatArray, IntArray, largest_first, ranked, sums_by
from treescore.core.params import Json, Param
from treescore.core.trees import DependencyTreebank
from treescore.errors import InputError, Problem, ProblemList
from treescore.formats.shared.lines import short
from treescore.metrics.shared.groupings import GROUPINGS, Grouping, Groups, WordAttributes, groups_by
from treescore.metrics.shared.words import aligned_text, has_subtypes

ERROR_GROUPINGS = ("PreAndPost", "Clustering", "Clustering2")
SPAN = 10
"""The number of words that Clustering looks at on either side."""

_TYPES = ("First", "Follow")


def pre_and_post(right: BoolArray, owners: IntArray) -> Groups:
    """Group words as `First` (up to and with the first error of a sentence) and `Follow` (after it)."""
    errors = (~right).astype(np.int64)
    errors_before: IntArray = np.cumsum(errors) - errors
    follow: IntArray = (errors_before > errors_before[_starts(owners)]).astype(np.int64)
    return Groups(
        follow, follow, len(_TYPES), lambda chosen: columns.Strings(chosen, _TYPES), ordered=True, empty_rows=True
    )


def clustering_2(right: BoolArray, owners: IntArray) -> Groups:
    """Group words by their distance from the last right word before them; the start of a sentence counts as right.

    Words in group k have k - 1 wrong words directly before them. MaltEval never counts the first word of the text.
    """
    indices = np.arange(len(right), dtype=np.int64)
    last_right = np.full(len(right), -1, np.int64)
    last_right[1:] = np.maximum.accumulate(np.where(right, indices, -1))[:-1]
    distinct, groups = ranked(indices - np.maximum(last_right, _starts(owners) - 1))
    return Groups(groups, groups, len(distinct), lambda chosen: columns.Numbers(distinct[chosen]), ordered=True)


def clustering(right: BoolArray, owners: IntArray, counted: Sequence[BoolArray]) -> IntArray:
    """Count the words at each distance, -10 to 10, from a right word of the same sentence.

    Args:
        right: which words are right.
        owners: their sentences.
        counted: what is counted of the other words, bool (w,) each.

    Returns:
        A row for each distance with any pairs: the distance, the number of pairs of a right word and a word at this
        distance to its right (negative: left), and how often each column is true of the latter.
    """
    rows = []
    for distance in (*range(-SPAN, 0), *range(1, SPAN + 1)):
        steps = abs(distance)
        earlier, later = slice(None, max(len(owners) - steps, 0)), slice(steps, None)
        right_words, counted_words = (earlier, later) if distance > 0 else (later, earlier)
        pairs = right[right_words] & (owners[earlier] == owners[later])
        true = (np.count_nonzero(pairs & bits[counted_words]) for bits in counted)
        rows.append([distance, np.count_nonzero(pairs), *true])
    counts = np.array(rows, np.int64)
    return counts[counts[:, 1] > 0]


def _starts(owners: IntArray) -> IntArray:
    """Return the index of the first word of each word's sentence."""
    first = np.ones(len(owners), np.bool_)
    first[1:] = owners[1:] != owners[:-1]
    return np.asarray(np.maximum.accumulate(np.where(first, np.arange(len(owners)), 0)))


SELF = "self"
"""The metric that uses each grouping's own metric."""


class WordFacts(NamedTuple):
    """Facts about each of w words, bool (w,) each.

    Attributes:
        head: its head is right.
        label: its relation is right.
        present: the system has the word; no word of a sentence that it leaves empty is right.
        sides: gold and system.
    """

    head: BoolArray
    label: BoolArray
    present: BoolArray
    sides: tuple[WordAttributes, WordAttributes]

    def agree(self, of: Callable[[WordAttributes], IntArray]) -> BoolArray:
        """Return where an attribute of the word is gold's, bool (w,)."""
        gold, system = self.sides
        return np.asarray(self.present & (of(gold) == of(system)), np.bool_)

    def by(self, name: str) -> BoolArray:
        """Return the words that are right under one of METRICS except `self`, bool (w,). Raises KeyError."""
        return _METRICS[name](self)


_METRICS: Mapping[str, Callable[[WordFacts], BoolArray]] = {
    "LAS": lambda words: words.head & words.label,
    "BothRight": lambda words: words.head & words.label,
    "UAS": lambda words: words.head,
    "HeadRight": lambda words: words.head,
    "LA": lambda words: words.label,
    "LabelRight": lambda words: words.label,
    "AnyRight": lambda words: words.head | words.label,
    "BothWrong": lambda words: ~(words.head | words.label),
    "LabelWrong": lambda words: ~words.label,
    "HeadWrong": lambda words: ~words.head,
    "AnyWrong": lambda words: ~(words.head & words.label),
    "DirectionRight": lambda words: words.agree(WordAttributes.directions),
    "HeadToChildDistanceRight": lambda words: words.agree(lambda side: side.relation_lengths),
    "GroupedHeadToChildDistanceRight": lambda words: words.agree(WordAttributes.distances),
}

METRICS = (*_METRICS, SELF)


BEFORE, AFTER = (int(np.iinfo(np.int64).min) + place for place in (0, 1))
"""Keys of the places before the first and after the last word of a sentence."""


class Attributes(NamedTuple):
    """Names of groupings, applied to the word `offset` places to the right (negative: to the left)."""

    names: tuple[str, ...]
    offset: int


class ComplexGrouping(NamedTuple):
    """Groups words by all attributes together; places outside the sentence have keys of their own."""

    parts: tuple[Attributes, ...]

    def groups(self, sides: tuple[WordAttributes, WordAttributes], scoring: BoolArray) -> Groups:
        """Group the scoring words, bool (w,); neighbours are counted over all words, scoring or not."""
        names = dict.fromkeys(name for part in self.parts for name in part.names)
        keys = {name: [side.keys(name) for side in sides] for name in names}
        both = [
            np.concatenate(
                [
                    _neighbours(side, keys_of_side, part.offset)[scoring]
                    for side, keys_of_side in zip(sides, keys[name], strict=True)
                ]
            )
            for part in self.parts
            for name in part.names
        ]
        _, first, groups = np.unique(_row_codes(both), return_index=True, return_inverse=True)
        gold, system = np.split(groups, 2)
        treebank = sides[0].treebank
        return Groups(
            gold,
            system,
            len(first),
            lambda chosen: columns.column_of(
                [self._value(keys, treebank) for keys in np.stack(both, axis=1)[first[chosen]].tolist()]
            ),
        )

    def _value(self, keys: Sequence[int], treebank: DependencyTreebank) -> str:
        """Write a value as MaltEval does: `"DET"@-1;"dog"@0`, `^@-1` before the sentence, `$@1` after it."""
        remaining = iter(keys)
        return ";".join(
            ",".join(_printed(name, next(remaining), treebank) for name in part.names) + f"@{part.offset}"
            for part in self.parts
        )


def _neighbours(side: WordAttributes, keys: IntArray, offset: int) -> IntArray:
    """Return the key of the word `offset` places from each word, int64 (w,)."""
    positions = side.positions + offset
    neighbours = keys[np.clip(np.arange(len(keys)) + offset, 0, len(keys) - 1)].astype(np.int64)
    neighbours[positions < 1] = BEFORE
    neighbours[positions > side.lengths] = AFTER
    return neighbours


def _row_codes(keys: Sequence[IntArray]) -> IntArray:
    """Number the rows of several columns of length n; renumbering after each column keeps numbers below n²."""
    codes = np.zeros(len(keys[0]), np.int64)
    for column in keys:
        distinct, codes_of_column = np.unique(column, return_inverse=True)
        codes = np.unique(codes * len(distinct) + codes_of_column, return_inverse=True)[1]
    return codes


def _printed(name: str, key: int, treebank: DependencyTreebank) -> str:
    if key in (BEFORE, AFTER):
        return "^" if key == BEFORE else "$"
    return f'"{GROUPINGS[name].values(np.array([key]), treebank).documents(0, 1)[0]}"'


MAX_GROUPINGS = 8
"""The most complex groupings of one request; each may have as many rows as are shown of a grouping."""

MAX_ATTRIBUTES = 8
MAX_OFFSET = 100

_MAX_NAME = 200
_MAX_NAMES = 64
_OFFSET = re.compile(r"[+-]?[0-9]{1,3}")
_NAMES = {
    "type": ["array", "string"],
    "items": {"type": "string", "maxLength": _MAX_NAME},
    "maxItems": _MAX_NAMES,
    "maxLength": _MAX_NAMES * _MAX_NAME,
}

SLICE_PARAMS: Mapping[str, Param] = {
    "groupings": Param(
        _NAMES,
        [],
        "Slices by several attributes together, beside all simple ones, which are always included: names joined by "
        "`#`, each with `@` and the position of the word it applies to, relative to the word (`Cpostag@-1#Wordform@0`;"
        " without `@`, the word itself); names at one position are joined by `,`. A list, or a text with `;` between "
        f"groupings. Names: {', '.join(GROUPINGS)}.",
    ),
    "slice_metrics": Param(
        _NAMES,
        [],
        "Further metrics in rows of slices, by MaltEval's names; PreAndPost, Clustering and Clustering2 use the "
        "first as their definition of an error, LAS where none is named. A list, or a text with `;`."
        f" Names: {', '.join(METRICS)}.",
    ),
}


@dataclass(frozen=True, slots=True)
class SliceChoice:
    """What a request wants in its slices beside the defaults.

    Attributes:
        groupings: complex groupings by the name in the request.
        metrics: names of right_words.METRICS, each once.
    """

    groupings: Mapping[str, ComplexGrouping] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()


def slice_choice(values: Mapping[str, Json]) -> SliceChoice:
    """Parse the values of SLICE_PARAMS.

    Raises:
        InputError: `unknown-grouping`, `bad-grouping`, `too-many-groupings`, `unknown-slice-metric`, each with its
            pointer.
    """
    problems = ProblemList()
    groupings: dict[str, ComplexGrouping] = {}
    for pointer, name in _names("groupings", values):
        try:
            grouping = complex_grouping(name, pointer)
        except InputError as error:
            problems.extend(error.problems)
            continue
        if grouping is not None:
            groupings[name] = grouping
    if len(groupings) > MAX_GROUPINGS:
        detail = f"{len(groupings)} complex groupings exceed {MAX_GROUPINGS}. Split them over several jobs."
        problems.add(Problem("too-many-groupings", detail, pointer="/groupings"))
    metrics: dict[str, None] = {}
    for pointer, name in _names("slice_metrics", values):
        metrics[name] = None
        if name not in METRICS:
            detail = f"Unknown slice metric {_short(name)}. Choose from: {', '.join(METRICS)}."
            problems.add(Problem("unknown-slice-metric", detail, pointer=pointer))
    problems.raise_if_any()
    return SliceChoice(groupings, tuple(metrics))


def complex_grouping(name: str, pointer: str = "") -> ComplexGrouping | None:
    """Parse a name such as `Cpostag@-1#Wordform@0`; None for the name of a simple grouping.

    Raises:
        InputError: `unknown-grouping`, `bad-grouping`.
    """
    if name in GROUPINGS or name in ERROR_GROUPINGS:
        return None
    parts = tuple(_part(part, name, pointer) for part in name.split("#"))
    attributes = sum(len(part.names) for part in parts)
    if attributes > MAX_ATTRIBUTES:
        detail = f"The grouping {_short(name)} joins {attributes} attributes, which exceeds {MAX_ATTRIBUTES}."
        raise InputError(Problem("bad-grouping", detail, pointer=pointer))
    return ComplexGrouping(parts)


def _part(text: str, grouping: str, pointer: str) -> Attributes:
    joined, at, offset = text.partition("@")
    if at and (not _OFFSET.fullmatch(offset) or abs(int(offset)) > MAX_OFFSET):
        detail = (
            f"Invalid offset {_short(offset)} in the grouping {_short(grouping)}. Write a number from -{MAX_OFFSET} to "
            f"{MAX_OFFSET} after `@`, as in Cpostag@-1#Wordform@0."
        )
        raise InputError(Problem("bad-grouping", detail, pointer=pointer))
    names = tuple(joined.split(","))
    for name in names:
        if name in ERROR_GROUPINGS:
            detail = f"{name} groups by errors nearby and cannot be joined with others, as in {_short(grouping)}."
            raise InputError(Problem("bad-grouping", detail, pointer=pointer))
        if name not in GROUPINGS:
            choices = ", ".join((*GROUPINGS, *ERROR_GROUPINGS))
            where = "" if name == grouping else f" (in {_short(grouping)})"
            detail = (
                f"Unknown grouping {_short(name)}{where}. Choose from: {choices}; or join several, as in "
                "Cpostag@-1#Wordform@0."
            )
            raise InputError(Problem("unknown-grouping", detail, pointer=pointer))
    return Attributes(names, int(offset) if at else 0)


def _names(parameter: str, values: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield each name with its pointer; texts are split at `;`."""
    option = values[parameter]
    texts = (
        {f"/{parameter}": option}
        if isinstance(option, str)
        else {f"/{parameter}/{number}": text for number, text in enumerate(option)}
    )
    for pointer, text in texts.items():
        for name in text.split(";"):
            yield pointer, name.strip()


def _short(name: str) -> str:
    return repr(name if len(name) <= 80 else name[:77] + "...")


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
        choice: SliceChoice,
    ) -> None:
        """Take treebanks of the same w words, and bool (w,): which score, which are right, which the system has."""
        self._sides = WordAttributes(gold), WordAttributes(system)
        self._scoring = scoring
        self._groupings = choice.groupings
        self._metrics = choice.metrics
        self._facts = WordFacts(right["uas"], right["label_accuracy"], present, self._sides)
        self._right = {name: right[score][scoring] for score, name in (("uas", "head"), ("label_accuracy", "label"))}
        self._right["both"] = right["las"][scoring]
        self._right |= {name: self._facts.by(name)[scoring] for name in choice.metrics if name != SELF}
        self._scores = _SCORES | {name: name for name in choice.metrics}

    def documents(self) -> dict[str, columns.Documents]:
        """Return the rows by grouping; counts and scores of all stand in the same columns, one grouping after another.

        What has several names is counted once.
        """
        key_of: dict[str, Grouping | str] = {
            name: GROUPINGS.get(name, name) for name in (*GROUPINGS, *ERROR_GROUPINGS, *self._groupings)
        }
        if not any(has_subtypes(side.treebank) for side in self._sides):
            key_of["udeprel"] = GROUPINGS["deprel"]
        first_names = {key: name for name, key in reversed(key_of.items())}
        tables = {
            key: self._clustering() if name == "Clustering" else self._rows(self._groups(name))
            for key, name in first_names.items()
        }
        counts, scores = self._counts_and_scores(np.concatenate([counts for _, counts in tables.values()], axis=1))
        rows = columns.stacked_rows({key: values for key, (values, _) in tables.items()}, counts, scores)
        return {name: rows[key] for name, key in key_of.items()}

    def _groups(self, name: str) -> Groups:
        if name == "PreAndPost":
            return pre_and_post(self._no_error, self._owners)
        if name == "Clustering2":
            return clustering_2(self._no_error, self._owners)
        if name in self._groupings:
            return self._groupings[name].groups(self._sides, self._scoring)
        return groups_by(name, self._sides, self._scoring)

    @property
    def _no_error(self) -> BoolArray:
        """Return the scoring words that the groupings by errors take as right."""
        return self._right[self._metrics[0] if self._metrics and self._metrics[0] != SELF else "both"]

    @property
    def _owners(self) -> IntArray:
        return self._sides[0].owners[self._scoring]

    def _columns(self, groups: Groups | None = None) -> dict[str, BoolArray]:
        """Return the scoring words that are right, by the name of their count."""
        if SELF not in self._metrics:
            return self._right
        self_right = groups.gold == groups.system if groups is not None and groups.own_metric else self._right["both"]
        return {**self._right, SELF: self_right}

    @cached_property
    def _patterns(self) -> tuple[IntArray, IntArray]:
        return _patterns(self._right)

    def _rows(self, groups: Groups) -> tuple[columns.Column, IntArray]:
        """Return the values of groups, and what is counted of each: (counts, rows) as `_count_names`."""
        right = self._columns(groups)
        patterns, bits = _patterns(right) if SELF in right else self._patterns
        sizes = np.bincount(np.concatenate([groups.gold, groups.system]), minlength=groups.size)
        by_size = np.arange(groups.size) if groups.empty_rows else largest_first(sizes)
        listed, rest = by_size[:MAX_ROWS], by_size[MAX_ROWS:]
        if groups.ordered:
            listed = np.sort(listed)
        values, rows = groups.values(listed), len(listed)
        row_of = np.full(groups.size, rows)
        row_of[listed] = np.arange(rows)
        if len(rest):
            values, rows = columns.nullable(np.arange(rows + 1) < rows, values), rows + 1
        tallies = _tallies(groups, row_of, rows, patterns, len(bits))
        # real numbers are multiplied faster, and exact: they are numbers of words
        return values, (_weights(bits, list(right).index("head")) @ tallies.T).astype(np.int64)

    def _clustering(self) -> tuple[columns.Column, IntArray]:
        """Return the distances from right words, and what is counted of each, as `_rows`."""
        right = self._columns()
        found = clustering(self._no_error, self._owners, list(right.values()))
        pairs, counts = found[:, 1:2], found[:, 2:]
        head = counts[:, [list(right).index("head")]]
        return columns.Numbers(found[:, 0]), np.concatenate([pairs, pairs, pairs, head, counts, counts], axis=1).T

    def _counts_and_scores(self, rows: IntArray) -> tuple[dict[str, columns.Column], dict[str, columns.Column]]:
        """Return the columns of counts, and the scores that they make, from the counts of all rows, (counts, rows)."""
        names = ["gold", "system", "correct", "correct_with_head"]
        names += [f"{side}_correct_{name}" for side in ("gold", "system") for name in self._columns()]
        counts = dict(zip(names, rows, strict=True))
        scores: dict[str, columns.Column] = {}
        for prefix, side in (("", "gold"), ("system_", "system")):
            for score, name in self._scores.items():
                scores[prefix + score] = columns.Quotients([counts[f"{side}_correct_{name}"]], [counts[side]])
        for suffix in ("", "_with_head"):
            correct = counts[f"correct{suffix}"]
            scores[f"precision{suffix}"] = columns.Quotients([correct], [counts["system"]])
            scores[f"recall{suffix}"] = columns.Quotients([correct], [counts["gold"]])
            scores[f"f1{suffix}"] = columns.Quotients([correct, correct], [counts["gold"], counts["system"]])
        return {name: columns.Numbers(column) for name, column in counts.items()}, scores


def _patterns(right: Mapping[str, BoolArray]) -> tuple[IntArray, IntArray]:
    """Return which combination of the columns each word has, (w,), and the bits of the p combinations, (p, columns)."""
    places = np.arange(len(right))
    codes, patterns = ranked(np.stack(list(right.values()), axis=1) @ (1 << places))
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
    patterns, width = bits.shape
    weights = np.zeros((4 + 2 * width, 3 * patterns))
    gold, system = weights[:, : 2 * patterns], weights[:, 2 * patterns :]
    gold[0] = system[1] = 1
    gold[2, 1::2] = 1
    gold[3, 1::2] = bits[:, head]
    gold[4 : 4 + width] = np.repeat(bits, 2, axis=0).T
    system[4 + width :] = bits.T
    return weights


def _tallies(groups: Groups, row_of: IntArray, rows: int, patterns: IntArray, size: int) -> FloatArray:
    """Count the words of each row by pattern, as `_weights` has them: float64 (rows, 3 p).

    Args:
        groups: of w words.
        row_of: row of each group, int64 (groups,).
        rows: how many rows there are.
        patterns: of the words, below p, int64 (w,).
        size: p.
    """
    golds = row_of[groups.gold] * 2 * size + 2 * patterns + (groups.gold == groups.system)
    systems = row_of[groups.system] * size + patterns
    sides = ((golds, 2 * size), (systems, size))
    return np.hstack([np.bincount(keys, minlength=rows * width).reshape(rows, width) for keys, width in sides]).astype(
        np.float64
    )


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
    pairs, groups = np.unique(gold.deprels[words] * len(strings) + system.deprels[words], return_inverse=True)
    counts = sums_by(groups, len(pairs))
    names = [(strings[pair // len(strings)], strings[pair % len(strings)]) for pair in pairs.tolist()]
    order = np.array(sorted(range(len(pairs)), key=lambda pair: (-counts[pair], names[pair])), np.int64)
    with_head = sums_by(groups, len(pairs), right_heads[words])
    shown, rest = order[:MAX_ROWS], order[MAX_ROWS:]
    places, offsets = columns.ranges_of((np.cumsum(counts) - counts)[shown], np.minimum(counts[shown], MAX_EXAMPLES))
    item, word = columns.places_of(words[np.argsort(groups, kind="stable")][places], gold)
    members: dict[str, columns.Column] = {
        "gold": columns.strings_of(pairs[shown] // len(strings), gold.vocabulary),
        "system": columns.strings_of(pairs[shown] % len(strings), gold.vocabulary),
        "count": columns.Numbers(counts[shown]),
        "with_head": columns.Numbers(with_head[shown]),
        "examples": columns.Lists(offsets, columns.Records({"item": item, "word": word})),
    }
    rows: list[dict[str, Json]] = columns.Records(members).documents(0, len(shown))
    if len(rest):
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
    return aligned_text(table, right=2)
