"""Score parallel treebanks: attachment on both sides and alignment, joined to one score (PTS)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treescore.core import arrays, columns, registry, text
from treescore.core.params import BOOLEAN, Json, Param
from treescore.core.scores import ZERO, Ratio, Score, ScoreTable, ratio_score, weighted_mean
from treescore.core.trees import DependencyTreebank, ParallelTreebank
from treescore.errors import InputError, Problem, placed
from treescore.metrics.alignment import comparison, link_sets, metric
from treescore.metrics.shared import words
from treescore.metrics.shared.examples import DEPENDENCIES
from treescore.metrics.shared.heads import lengths_to_offsets, shape_of, shape_problems

SIDES = ("source", "target")
_SIDE_COUNTS = ("tokens", "correct_head", "correct_both")
COUNT_NAMES = (*(f"{side}_{name}" for side in SIDES for name in _SIDE_COUNTS), *comparison.LINK_COUNTS)
ALIGNED = Ratio({"links_in_sure": 1, "links_in_possible": 1}, {"links": 1, "sure": 1})
"""1 - AER."""

_WEIGHT = {"type": "number", "minimum": 0}
_PARTS = ("source", "target", "alignment")
_LINKS = (("0-0 1-1 2-2 3-3 4-4\n", "0-1 1-1\n"), ("0-0\n", "0-0\n"), ("0-0 1-1\n", "0-1 1-0\n"))
_EXAMPLE = tuple(
    ({"source": gold, "target": gold, "alignment": gold_links}, {"source": output, "target": gold, "alignment": links})
    for (gold, output), (gold_links, links) in zip(DEPENDENCIES, _LINKS, strict=True)
)


@registry.register
class ParallelTreebankScore(registry.Metric):
    """PTS = (a UAS of the source + b UAS of the target + c (1 - AER)) / (a + b + c), with equal weights unless given.

    After Nivre et al. 2007 (UAS) and Och & Ney 2003 (AER).
    """

    name: ClassVar[str] = "parallel_treebank"
    doc: ClassVar[str] = "Parallel treebank score: weighted mean of attachment on both sides and 1 - AER."
    source: ClassVar[str] = "Parallel-treebank evaluation after Nivre et al. 2007 (UAS) and Och & Ney 2003 (AER)"
    reads: ClassVar[tuple[type[Any], ...]] = (ParallelTreebank,)
    examples: ClassVar[tuple[registry.Example, ...]] = (registry.Example("parallel", _EXAMPLE),)
    headline: ClassVar[Mapping[str, str]] = {
        "pts": "PTS",
        **{f"{side}_{name}": f"{name.upper()} {side}" for name in ("uas", "las") for side in SIDES},
        "aer": "AER",
    }
    error_filters: ClassVar[Mapping[str, registry.ErrorValues]] = {"deprel": words.DEPRELS, "upos": words.UPOS}
    disclosure: ClassVar[registry.Disclosure] = registry.Disclosure(
        fields={
            **dict.fromkeys(SIDES, registry.fields("word", "form", "system_head", "system_deprel")),
            "alignment": registry.fields("wrong"),
        }
    )
    params: ClassVar[Mapping[str, Param]] = {
        "weights": Param(
            {
                "anyOf": [
                    {"type": "array", "items": _WEIGHT, "minItems": 3, "maxItems": 3},
                    {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": dict.fromkeys(_PARTS, _WEIGHT),
                        "required": list(_PARTS),
                    },
                ]
            },
            default=[1, 1, 1],
            doc="Weights of source, target and alignment: not negative, not all 0; they need not sum to 1.",
        ),
        "attachment": Param(
            {"enum": ["uas", "las"]}, default="uas", doc="Which score of the trees PTS uses: UAS or LAS."
        ),
        "punctuation": Param(
            BOOLEAN,
            default=False,
            doc="Whether words whose characters are all punctuation (Unicode category P) are scored too.",
        ),
        "null_links": metric.NULL_LINKS,
        "errors": comparison.LINK_ERRORS,
    }

    def __init__(self, **values: Json) -> None:
        super().__init__(**values)
        option = values["weights"]
        weights = [float(option[part] if isinstance(option, Mapping) else option[k]) for k, part in enumerate(_PARTS)]
        if not 0 < sum(weights) < float("inf"):
            detail = "The weights must have a positive sum."
            raise InputError(Problem("bad-parameter", detail, pointer="/weights"))
        self._table = _table(weights, "correct_both" if values["attachment"] == "las" else "correct_head")

    @property
    def table(self) -> ScoreTable:
        """Return PTS, then the scores that it joins."""
        return self._table

    def check_gold(self, gold: ParallelTreebank, items: registry.ItemInfo, limits: text.Limits) -> None:  # noqa: ARG002 - the trees have the lengths
        """Check that no link points beyond its sentences. Raises InputError."""
        names = gold.sentences.sent_ids
        with placed("/alignment"):
            links = link_sets.links_of(gold.alignment)
            link_sets.check_range(links, _lengths(gold), names, limits.max_problems, gold.alignment.form)

    def errors_of(self, item: Mapping[str, Json], gold: ParallelTreebank) -> Iterator[dict[str, Json]]:
        """Return the wrong words of source and target, then the errors of the links, under the member `side`."""
        blank = dict.fromkeys(("source", "target", "link"))
        for side, treebank in zip(SIDES, (gold.source, gold.target), strict=True):
            for row in words.attachment_rows(item[side], treebank, item["item"]):
                yield {"side": side, **row, **blank}
        unnamed = dict.fromkeys(("word", "form", "upos", "gold_head", "system_head", "gold_deprel", "system_deprel"))
        for row in comparison.link_errors(item["alignment"]):
            yield {"side": "alignment", "kind": row["kind"], **unnamed, **row}

    def beside_gold(self, item: Mapping[str, Json], gold: ParallelTreebank) -> Iterator[dict[str, Json]]:
        """Return the words of source and target, then the links, under the member `side`."""
        for side, treebank in zip(SIDES, (gold.source, gold.target), strict=True):
            errors = words.attachment_rows(item[side], treebank, item["item"])
            for row in words.words_beside(treebank, item["item"], errors):
                yield {"side": side, **row}
        for row in comparison.links_beside(item["alignment"], gold.alignment, item["item"]):
            yield {"side": "alignment", **row}

    def evaluate(
        self, gold: ParallelTreebank, system: ParallelTreebank, items: registry.ItemInfo, limits: text.Limits
    ) -> registry.Outcome:
        """Count each sentence pair.

        Raises:
            InputError: words differ from gold's, at `/source` or `/target`; or links point beyond their sentences,
                unless the base is stated and another reading of the indices explains them, at `/alignment`.
        """
        sides = [self._side(gold, system, name, limits) for name in SIDES]
        lengths, pairs = _lengths(gold), len(gold)
        gold_links, links = link_sets.links_of(gold.alignment), link_sets.links_of(system.alignment)
        warnings = [warning for side in sides for warning in side.warnings]
        with placed("/alignment"):
            forms = gold.alignment.form, system.alignment.form
            misread = comparison.readings_checked(gold_links, links, pairs, lengths, limits, forms)
        warnings += [warning.at("/alignment") for warning in misread]
        null = self.values["null_links"]
        index = link_sets.GoldIndex(metric.with_null(gold_links, null, lengths))
        compared = comparison.compare_links(index, metric.with_null(links, null, lengths), pairs)
        empty = comparison.unanswered(gold_links, links, pairs)
        aligned = comparison.outcome_of(compared, [], empty, zero=self.values["errors"] == ZERO)
        source, target = sides
        rows = np.concatenate([source.rows(pairs), target.rows(pairs), np.asarray(aligned.rows, np.int64)], axis=1)
        groupings = words.attributes_of(gold.sentences.attributes, items)
        groupings |= {"source_length": lengths[:, 0].tolist(), "target_length": lengths[:, 1].tolist()}
        return registry.Outcome(
            rows=rows,
            status=aligned.status,
            unanswered=empty,
            tokens={f"{side.name}_{name}": bits for side in sides for name, bits in side.bits(pairs).items()},
            warnings=warnings,
            details=lambda start, stop: columns.Records(
                {
                    "source": source.wrong_words(start, stop),
                    "target": target.wrong_words(start, stop),
                    "alignment": aligned.details(start, stop),
                }
            ),
            slices=lambda: words.sentence_tables(self.table, rows, groupings),
        )

    def _side(self, gold: ParallelTreebank, system: ParallelTreebank, name: str, limits: text.Limits) -> _Side:
        trees: DependencyTreebank = getattr(gold, name)
        output: DependencyTreebank = getattr(system, name)
        with placed(f"/{name}"):
            words.check_same_words(trees, output, limits.max_problems)
        all_words = np.ones(len(trees.forms), np.bool_)
        scoring = all_words if self.values["punctuation"] else ~words.punctuation_of(trees)
        shape = shape_of(output.heads, output.word_offsets)
        tree_problems = shape_problems(output, shape, limits.max_problems, "The output is scored as it is.")[0]
        warnings = [warning.at(f"/{name}") for warning in tree_problems]
        heads = np.asarray(trees.heads == output.heads, np.bool_)
        both = np.asarray(heads & (trees.deprels == output.deprels), np.bool_)
        return _Side(name, trees, output, np.asarray(scoring, np.bool_), heads, both, warnings)


@dataclass(frozen=True, slots=True)
class _Side:
    """One language: which of its w words score, and which are right, bool (w,)."""

    name: str
    gold: DependencyTreebank
    system: DependencyTreebank
    scoring: arrays.BoolArray
    heads: arrays.BoolArray
    both: arrays.BoolArray
    warnings: list[Problem]

    def rows(self, pairs: int) -> arrays.IntArray:
        """Count scoring words, right heads, and right heads with relations of each pair: int64 (n, 3)."""
        owners = arrays.owners_of(self.gold.word_offsets)
        masks = (self.scoring, self.scoring & self.heads, self.scoring & self.both)
        return np.stack([arrays.sums_by(owners[bits], pairs) for bits in masks], axis=1)

    def bits(self, pairs: int) -> dict[str, registry.TokenBits]:
        """Return one bit per scoring word."""
        offsets = lengths_to_offsets(self.scoring, arrays.owners_of(self.gold.word_offsets), pairs)
        return {
            "uas": registry.TokenBits(self.heads[self.scoring], offsets),
            "las": registry.TokenBits(self.both[self.scoring], offsets),
        }

    def wrong_words(self, start: int, stop: int) -> columns.Lists:
        """List the scoring words of the pairs from `start` to `stop` with a wrong head or relation."""
        return words.wrong_words(self.gold, self.system, self.scoring & ~self.both, start, stop)


def _table(weights: list[float], correct: str) -> ScoreTable:
    attached = tuple(Ratio({f"{side}_{correct}": 1}, {f"{side}_tokens": 1}) for side in SIDES)
    no_tokens = "gold has no scoring word on this side"
    undefined = "neither gold has a sure link nor the output a link"
    scores = [
        Score(
            name="pts",
            doc="Parallel treebank score: weighted mean of attachment on both sides and 1 - AER.",
            ratios=(*attached, ALIGNED),
            join=weighted_mean(weights),
            undefined="one of the scores that it joins is undefined",
        )
    ]
    for name, numerator, doc in (
        ("uas", "correct_head", "Words of the {} with the right head."),
        ("las", "correct_both", "Words of the {} with the right head and relation."),
    ):
        scores += [
            ratio_score(
                f"{side}_{name}", doc.format(side), f"{side}_{numerator}", f"{side}_tokens", undefined=no_tokens
            )
            for side in SIDES
        ]
    scores.append(
        ratio_score(
            "aer",
            "Alignment error rate; lower is better.",
            ALIGNED.numerator,
            ALIGNED.denominator,
            one_minus=True,
            higher_is_better=False,
            undefined=undefined,
        )
    )
    return ScoreTable(COUNT_NAMES, tuple(scores))


def _lengths(gold: ParallelTreebank) -> arrays.IntArray:
    return np.stack([np.diff(gold.source.word_offsets), np.diff(gold.target.word_offsets)], axis=1)
