"""Score how similar the lineages of each word are in gold and output (leaf-ancestor)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from treescore.core import columns, registry
from treescore.core.arrays import BoolArray, FloatArray, IntArray, grouped, largest_first, owners_of
from treescore.core.discontinuity import with_gaps
from treescore.core.params import BOOLEAN, Json, Param
from treescore.core.scores import ZERO, ScoreTable, errors_param, ratio_score
from treescore.core.structure import NONE
from treescore.core.text import Limits
from treescore.core.trees import NO_TAG, ConstituentTreebank, DependencyTreebank, DiscontinuousTreebank
from treescore.core.word_check import WordCheck, check_words, forms_of
from treescore.errors import InputError, LimitError, Problem
from treescore.metrics.leaf_ancestor import kernel
from treescore.metrics.shared.constituents import Deletions, category_of, root_warnings
from treescore.metrics.shared.examples import AS_DISCODOP, DEPENDENCIES, TREES
from treescore.metrics.shared.words import first_unreadable

EXACT, FIRST_CHARACTER = "exact", "first-character"
DISCODOP = "discodop"
PAIR = {
    "type": "array",
    "prefixItems": [{"type": "string"}, {"type": "string"}, {"type": "number", "minimum": 0}],
    "minItems": 3,
    "maxItems": 3,
}
COST = {
    "anyOf": [
        {"enum": [EXACT, FIRST_CHARACTER]},
        {
            "type": "object",
            "properties": {
                "pairs": {"type": "array", "items": PAIR},
                "default": {"anyOf": [{"enum": [FIRST_CHARACTER]}, {"type": "number", "minimum": 0}]},
            },
            "required": ["pairs"],
            "additionalProperties": False,
        },
    ]
}
REGULARITY = {
    "type": "object",
    "properties": {
        "min_count": {"type": "integer", "minimum": 1},
        "confidence": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
    },
    "additionalProperties": False,
}
REGULAR = {"min_count": 5, "confidence": 0.95, "limit": 20}

PARAMS: Mapping[str, Param] = {
    "cost": Param(
        COST,
        "exact",
        "What replacing a symbol costs (insertion and deletion cost 1): exact (2), first-character (0.5 where both "
        'labels begin with the same character, else 2), or {"pairs": [["NP", "N1", 0.5]], "default": 2}, where default '
        "may be first-character.",
    ),
    "preset": Param(
        {"enum": [DISCODOP, None]},
        None,
        "discodop: as disco-dop with its file proper.prm. Punctuation is deleted, constituents such as ROOT are left "
        "out, and replacing a symbol costs 1, unless `cost` is not exact.",
    ),
    "boundaries": Param(BOOLEAN, True, "Mark in a lineage where constituents begin and end (constituent trees)."),
    "errors": errors_param("Sentences with other words than gold, or without a parse"),
    "diagnosis": Param(
        REGULARITY,
        REGULAR,
        "Which configurations are reported as regularly parsed badly: of min_count words or more, ordered by the "
        "upper bound of their mean score at this confidence, at most limit of each kind.",
    ),
}


def cost_function(cost: Json, preset: Json) -> kernel.CostFunction:
    """Return the cost function of these parameters. Raises InputError: `bad-parameter`."""
    value: Json = {"pairs": [], "default": 1.0} if preset == DISCODOP and cost == EXACT else cost
    if value == EXACT:
        return kernel.CostFunction()
    if value == FIRST_CHARACTER:
        return kernel.CostFunction(first_character=0.5)
    pairs: dict[tuple[str, str], float] = {}
    problems = []
    for index, (first, second, given) in enumerate(value["pairs"]):
        pair = (min(first, second), max(first, second))
        if first == second and given:
            detail = f"The pair {first!r}, {second!r} is one label, and replacing a label by itself costs nothing."
        elif pairs.setdefault(pair, given) != given:
            detail = f"The pair {first!r}, {second!r} has two different costs. Costs hold in both directions."
        else:
            continue
        problems.append(Problem("bad-parameter", detail, pointer=f"/cost/pairs/{index}"))
    if problems:
        raise InputError(problems)
    default = value.get("default", 2.0)
    if default == FIRST_CHARACTER:
        return kernel.CostFunction(first_character=0.5, pairs=pairs)
    return kernel.CostFunction(default=default, pairs=pairs)


COUNT_NAMES = ("words", "word_score_sum", "sentences", "sentence_score_sum", "error", "skip")
TABLES, WHOLE_TEXT = 10, 50
"""The limits on a sentence's distance tables and on a whole text, as multiples of that on depth times words.

Each side has its share, so that no pair of texts exceeds them: whether one does would tell the lineages of gold.
"""

SHOWN_IN_ITEMS, SHOWN_IN_EXAMPLES = 1_000_000, 100
"""Most symbols of all lineages of an item, and of one in an example: hostile trees have very long lineages."""

_share = partial(ratio_score, undefined="no sentence could be compared")
TABLE = ScoreTable(
    COUNT_NAMES,
    (
        _share("word_mean", "mean lineage similarity over all words", "word_score_sum", "words"),
        _share("sentence_mean", "mean over sentences of the mean over their words", "sentence_score_sum", "sentences"),
    ),
)

Treebank = ConstituentTreebank | DependencyTreebank | DiscontinuousTreebank


def _labels_in(row: Mapping[str, Json]) -> Iterator[str]:
    """Return the labels of both lineages."""
    for side in ("gold_lineage", "system_lineage"):
        yield from (symbol for symbol in row[side].split() if symbol not in kernel.MARKS)


@registry.register
class LeafAncestor(registry.Metric):
    """Leaf-ancestor over constituent and dependency trees (Sampson 2000; Sampson & Babarczy 2003)."""

    name = "leaf_ancestor"
    doc = (
        "Leaf-ancestor: for each word 1 - d / (symbols of both lineages), d the edit distance between its lineages "
        "(labels from the word up to the root, boundaries of constituents marked; on dependency trees the relations "
        "from the word to the root); mean over words and mean over sentences."
    )
    source = "Sampson & Babarczy 2003, A test of the leaf-ancestor metric for parse accuracy, NLE 9(4); Sampson 2000"
    table = TABLE
    reads = (ConstituentTreebank, DependencyTreebank, DiscontinuousTreebank)
    examples: ClassVar[tuple[registry.Example, ...]] = (
        registry.Example(
            "bracketed",
            TREES,
            {"cost": "first-character"},
            interprets_labels="Labels that begin with the same character are cheaper to replace.",
        ),
        registry.Example("bracketed", TREES),
        registry.Example("conllu", DEPENDENCIES),
        AS_DISCODOP,
    )
    # No slices: the mean of a word that occurs once is its score, which reveals how long gold's lineage is.
    disclosure: ClassVar[registry.Disclosure] = registry.Disclosure(
        fields={
            "words": registry.Fields({"word": "word", "system_lineage": "system_lineage"}, perfect={"score": "right"})
        }
    )
    headline: ClassVar[Mapping[str, str]] = {"word_mean": "LA words", "sentence_mean": "LA sentences"}
    error_filters: ClassVar[Mapping[str, registry.ErrorValues]] = {"label": _labels_in}
    params: ClassVar[Mapping[str, Param]] = PARAMS

    def __init__(self, **values: Json) -> None:
        super().__init__(**values)
        self._discodop = values["preset"] == DISCODOP
        self._deletions = Deletions() if self._discodop else Deletions((), (), (), ())
        self._cost = cost_function(values["cost"], values["preset"])
        self._regularity = kernel.Regularity(**{**REGULAR, **values["diagnosis"]})

    def check_gold(self, gold: Treebank, items: registry.ItemInfo, limits: Limits) -> None:  # noqa: ARG002 - other metrics need it
        """Check that gold keeps to its share of the limit. Raises LimitError as `evaluate`."""
        self._checked_chains(gold, limits)

    def evaluate(self, gold: Treebank, system: Treebank, items: registry.ItemInfo, limits: Limits) -> registry.Outcome:  # noqa: ARG002 - no item changes a count
        """Score each word; sentences whose words differ from gold's have status ERROR.

        Raises:
            LimitError: `lineage-limit`, the output exceeds its share of the limit.
        """
        read, own = system, self._checked_chains(system, limits)
        check = check_words(gold, system)
        if isinstance(gold, DependencyTreebank) or isinstance(system, DependencyTreebank):
            warnings = first_unreadable(system, limits.max_problems) if isinstance(system, DependencyTreebank) else []
        else:
            warnings = root_warnings(gold, system, self._deletions.labels, category_of if self._discodop else str)
        usable = check.status == registry.OK
        gold, system = self._compared(gold, system, usable)
        chains = self._chains(gold), own if system is read else self._chains(system)
        costs = self._cost.over(gold.vocabulary, *(side.labels for side in chains))
        result = kernel.word_scores(*chains, usable, costs)
        rows = self._rows(gold, check, result.scores)
        scored = _Scored(gold, system, *chains, result.scores, result.lineages, self._regularity)
        tables: dict[str, Any] = {"details": scored.items, "slices": scored.slices, "extra": scored.diagnosis}
        return registry.Outcome(rows=rows, **check._asdict(), warnings=warnings, **tables)

    def absent(self, gold: Treebank, items: registry.ItemInfo, limits: Limits) -> FloatArray:  # noqa: ARG002 - other metrics need them
        """Count every word of gold with score 0; no lineage needs to be compared for that."""
        gold, _ = self._compared(gold, gold, np.ones(len(gold), np.bool_))
        words = np.diff(gold.word_offsets)
        rows = np.zeros((len(gold), len(COUNT_NAMES)))
        rows[:, COUNT_NAMES.index("words")] = words
        rows[:, COUNT_NAMES.index("sentences")] = words > 0
        rows[:, COUNT_NAMES.index("skip")] = 1
        return rows

    def errors_of(self, item: Mapping[str, Json], gold: Treebank) -> Iterator[dict[str, Json]]:  # noqa: ARG002 - other metrics need it
        """Return the words whose lineages differ."""
        for number, row in enumerate(item.get("words", ()), 1):
            if row["score"] < 1:
                yield {"kind": "lineage", "number": number, **row}

    def beside_gold(self, item: Mapping[str, Json], gold: Treebank) -> Iterator[dict[str, Json]]:  # noqa: ARG002 - other metrics need it
        """Return the words of the sentence with both lineages."""
        for number, row in enumerate(item.get("words", ()), 1):
            yield {"number": number, **row, "error": "lineage" if row["score"] < 1 else ""}

    def _compared(self, gold: Treebank, system: Treebank, usable: BoolArray) -> tuple[Treebank, Treebank]:
        """Return the trees without the words that are deleted; of the output only sentences that are usable, (n,)."""
        if self._discodop:
            gold, system = (
                with_gaps(each) if isinstance(each, ConstituentTreebank) else each for each in (gold, system)
            )
        if not isinstance(gold, DiscontinuousTreebank) or not isinstance(system, DiscontinuousTreebank):
            return gold, system
        return self._deletions.applied(gold, system, usable)

    def _chains(self, treebank: Treebank) -> kernel.Chains:
        boundaries = bool(self.values["boundaries"])
        if isinstance(treebank, DiscontinuousTreebank):
            return kernel.gap_chains(treebank, self._deletions, boundaries=boundaries)
        return kernel.chains_of(treebank, boundaries=boundaries)

    def _checked_chains(self, treebank: Treebank, limits: Limits) -> kernel.Chains:
        """Check one side as it was read: which words are deleted is gold's to decide, and makes no lineage longer."""
        if self._discodop and isinstance(treebank, ConstituentTreebank):
            treebank = with_gaps(treebank)
        chains = self._chains(treebank)
        cells, squares = kernel.cell_bounds(chains)
        bound = limits.max_lineage_cells
        exceeded = (cells > bound) | (np.cumsum(cells) > WHOLE_TEXT * bound)
        exceeded |= (squares > TABLES * bound) | (np.cumsum(squares) > WHOLE_TEXT * bound)
        if exceeded.any():
            sentence = int(exceeded.argmax())
            detail = (
                f"Sentence {sentence + 1} exceeds the limit of leaf-ancestor. Depth times words may be {bound} in a "
                f"sentence and {WHOLE_TEXT} times that in a text; the squares of the lengths of lineages may sum to "
                f"{TABLES} and {WHOLE_TEXT} times that. Split the sentence, or remove redundant levels (transform "
                "collapse-unary)."
            )
            raise LimitError(Problem("lineage-limit", detail, sentence=sentence + 1))
        return chains

    def _rows(self, gold: Treebank, check: WordCheck, scores: FloatArray) -> FloatArray:
        words = np.diff(gold.word_offsets)
        usable = check.status == registry.OK
        sums = np.bincount(owners_of(gold.word_offsets), np.nan_to_num(scores), len(gold))
        counted = (usable & ((words > 0) | (not self._discodop))) | ((words > 0) & (self.values["errors"] == ZERO))
        means = np.divide(sums, words, out=np.zeros(len(gold)), where=words > 0)
        states = (check.status == state for state in (registry.ERROR, registry.SKIP))
        return np.stack([np.where(counted, words, 0), sums, counted, means, *states], axis=1).astype(np.float64)


@dataclass(frozen=True)
class _Scored:
    """Two treebanks with the score of each word, from which items, slices and diagnosis are computed."""

    gold: Treebank
    system: Treebank
    gold_chains: kernel.Chains
    system_chains: kernel.Chains
    scores: FloatArray
    lineages: IntArray
    regularity: kernel.Regularity

    def items(self, start: int, stop: int) -> columns.Records:
        """Return the words of the sentences from `start` to `stop` with scores and lineages, as in the paper."""
        begins, lengths = self.gold.word_offsets[start:stop], np.diff(self.gold.word_offsets[start : stop + 1])
        scored = lengths > 0
        scored[scored] = ~np.isnan(self.scores[begins[scored]])
        words, offsets = columns.ranges_of(begins[scored], lengths[scored])
        sentences = np.flatnonzero(scored) + start
        members: dict[str, columns.Column] = {
            "word": columns.strings_of(forms_of(self.gold)[words], self.gold.vocabulary),
            "score": columns.Numbers(self.scores[words]),
            "gold_lineage": kernel.lineages_of(self.gold_chains, self._names, sentences, SHOWN_IN_ITEMS),
            "system_lineage": kernel.lineages_of(self.system_chains, self._names, sentences, SHOWN_IN_ITEMS),
        }
        return columns.Records(
            {"words": columns.Some(scored, columns.Lists(offsets, columns.Records(members)), left_out=True)}
        )

    @cached_property
    def _names(self) -> list[str]:
        return [*kernel.MARKS, kernel.UNLABELLED, *self.gold.vocabulary.strings[1:], kernel.ELLIPSIS]

    def slices(self) -> dict[str, columns.Documents]:
        """Return scores by word form, tag and lowest label, most words first."""
        return {name: self._slice(*self._groups[name]) for name in ("word", "tag", "label")}

    def _slice(self, groups: IntArray, names: Sequence[str]) -> columns.Documents:
        used = (groups >= 0) & ~np.isnan(self.scores)
        counts = np.bincount(groups[used], minlength=len(names))
        sums = np.bincount(groups[used], weights=self.scores[used], minlength=len(names))
        order = largest_first(counts)
        counts, sums = counts[order], sums[order]
        return columns.rows_of(
            columns.Strings(order, names),
            {"words": columns.Numbers(counts), "word_score_sum": columns.Numbers(sums)},
            {"word_mean": columns.Quotients([sums], [counts])},
        )

    @cached_property
    def _labels(self) -> IntArray:
        """Label of the lowest element over each gold word, NONE where it has none, int64 (w,)."""
        return kernel.values_at(self.gold_chains.anchors, self.gold_chains.labels, NONE)

    @cached_property
    def _groups(self) -> dict[str, tuple[IntArray, Sequence[str]]]:
        """Groupings whose values are strings: name -> (number of each word's group, names of the numbers)."""
        names = self.gold.vocabulary.strings
        return {"word": (forms_of(self.gold), names), "tag": (_tags(self.gold), names), "label": (self._labels, names)}

    def diagnosis(self) -> dict[str, Json]:
        """Return the configurations that are regularly parsed badly, by kind."""
        chains, children = self.gold_chains, self._labels
        parents = kernel.values_at(kernel.values_at(chains.anchors, chains.parents, NONE), chains.labels, NONE)
        strings, size = self.gold.vocabulary.strings, len(self.gold.vocabulary)
        pairs = children * size + np.maximum(parents, 0)
        pair_groups, pair_firsts = grouped(pairs)
        found = {name: self._worst(groups, names.__getitem__) for name, (groups, names) in self._groups.items()}
        found["parent_child"] = self._worst(
            np.where(parents >= 0, pair_groups, -1),
            lambda group: [strings[number] for number in divmod(int(pairs[pair_firsts[group]]), size)][::-1],
        )
        return {"diagnosis": {**found, "lineage": self._worst(grouped(self.lineages)[0], None)}}

    def _worst(self, groups: IntArray, name_of: Callable[[int], Json] | None) -> list[dict[str, Json]]:
        """Describe the worst groups of words; without names they are called by gold's lineage."""
        found = []
        worst = kernel.worst_configurations(groups, self.scores, self.regularity)
        words = np.concatenate([np.zeros(0, np.int64), *(each.examples for each in worst)])
        described = iter(self._examples(words))
        for each in worst:
            examples = list(islice(described, len(each.examples)))
            value = name_of(each.group) if name_of is not None else examples[0]["gold_lineage"]
            counts = {"value": value, "count": each.count, "mean": each.mean, "upper_bound": each.bound}
            found.append({**counts, "examples": examples})
        return found

    def _examples(self, words: IntArray) -> list[dict[str, Json]]:
        sentences = np.searchsorted(self.gold.word_offsets, words, side="right") - 1
        positions = words - self.gold.word_offsets[sentences]
        sides = (self.gold_chains, words), (self.system_chains, self.system.word_offsets[sentences] + positions)
        most = np.full(len(words), SHOWN_IN_EXAMPLES)
        lineages = (kernel.lineages_at(chains, self._names, own, positions, most) for chains, own in sides)
        members: dict[str, columns.Column] = {
            "item": columns.Numbers(sentences + 1),
            "position": columns.Numbers(positions + 1),
            "word": columns.strings_of(forms_of(self.gold)[words], self.gold.vocabulary),
            "score": columns.Numbers(self.scores[words]),
            **dict(zip(("gold_lineage", "system_lineage"), lineages, strict=True)),
        }
        return columns.Records(members).documents(0, len(words))


def _tags(treebank: Treebank) -> IntArray:
    """Return the tag of each word, -1 where it has none: int64 (w,)."""
    if isinstance(treebank, ConstituentTreebank | DiscontinuousTreebank):
        return np.where(treebank.tags == NO_TAG, -1, treebank.tags)
    underscore = treebank.vocabulary.get("_")
    return np.where(treebank.upos == (-1 if underscore is None else underscore), treebank.xpos, treebank.upos)
