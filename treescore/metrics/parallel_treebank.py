"""Score parallel treebanks: attachment on both sides and alignment, joined to one score (PTS)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from treescore.core import arrays, columns, registry, text
from treescore.core.params import BOOLEAN, Json, Param
from treescore.core.scores import ZERO, Ratio, Score, ScoreTable, ratio_score, weighted_mean
from treescore.core.trees import ParallelTreebank
from treescore.errors import InputError, Problem, placed
from treescore.metrics.alignment import comparison, link_sets, metric
from treescore.metrics.attachment import TABLE
from treescore.metrics.shared import words
from treescore.metrics.shared.examples import DEPENDENCIES

SIDES = ("source", "target")
_SIDE_COUNTS = ("tokens", "correct_head", "correct_both")
_ATTACHED = [TABLE.count_names.index(name) for name in _SIDE_COUNTS]
"""Columns of the counts of the metric attachment."""
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
            [1, 1, 1],
            "Weights of source, target and alignment: not negative, not all 0; they need not sum to 1.",
        ),
        "attachment": Param({"enum": ["uas", "las"]}, "uas", "Which score of the trees PTS uses: UAS or LAS."),
        "punctuation": Param(
            BOOLEAN, False, "Whether words whose characters are all punctuation (Unicode category P) are scored too."
        ),
        "null_links": metric.NULL_LINKS,
        "errors": comparison.LINK_ERRORS,
    }

    def __init__(self, **values: Json) -> None:
        super().__init__(**values)
        option = values["weights"]
        weights = [float(option[part] if isinstance(option, Mapping) else option[k]) for k, part in enumerate(_PARTS)]
        if not 0 < sum(weights) < float("inf"):
            raise InputError(Problem("bad-parameter", "The weights must have a positive sum.", pointer="/weights"))
        self._punctuation = values["punctuation"]
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
        sides = {name: self._side(gold, system, name, items, limits) for name in SIDES}
        lengths, pairs = _lengths(gold), len(gold)
        gold_links, links = link_sets.links_of(gold.alignment), link_sets.links_of(system.alignment)
        warnings = [warning.at(f"/{name}") for name, side in sides.items() for warning in side.warnings]
        with placed("/alignment"):
            forms = gold.alignment.form, system.alignment.form
            misread = comparison.readings_checked(gold_links, links, pairs, lengths, limits, forms)
        warnings += [warning.at("/alignment") for warning in misread]
        null = self.values["null_links"]
        index = link_sets.GoldIndex(metric.with_null(gold_links, null, lengths))
        compared = comparison.compare_links(index, metric.with_null(links, null, lengths), pairs)
        empty = comparison.unanswered(gold_links, links, pairs)
        aligned = comparison.outcome_of(compared, [], empty, zero=self.values["errors"] == ZERO)
        attached = [side.rows[:, _ATTACHED] for side in sides.values()]
        rows = np.concatenate([*attached, np.asarray(aligned.rows, np.int64)], axis=1)
        groupings = words.attributes_of(gold.sentences.attributes, items)
        groupings |= {"source_length": lengths[:, 0].tolist(), "target_length": lengths[:, 1].tolist()}
        return registry.Outcome(
            rows=rows,
            status=aligned.status,
            unanswered=empty,
            tokens={f"{side}_{name}": sides[side].tokens[name] for side in SIDES for name in ("uas", "las")},
            warnings=warnings,
            details=lambda start, stop: columns.Records(
                {
                    **{name: side.details(start, stop).members["words"] for name, side in sides.items()},
                    "alignment": aligned.details(start, stop),
                }
            ),
            slices=lambda: words.sentence_tables(self.table, rows, groupings),
        )

    def _side(
        self, gold: ParallelTreebank, system: ParallelTreebank, name: str, items: registry.ItemInfo, limits: text.Limits
    ) -> registry.Outcome:
        """Score the trees of one language, which must have gold's words in every sentence."""
        trees, output = getattr(gold, name), getattr(system, name)
        with placed(f"/{name}"):
            words.check_same_words(trees, output, limits.max_problems)
        attachment = registry.make_metric("attachment", {"punctuation": self._punctuation})
        return attachment.evaluate(trees, output, items, limits)


def _table(weights: list[float], correct: str) -> ScoreTable:
    attached = tuple(Ratio({f"{side}_{correct}": 1}, {f"{side}_tokens": 1}) for side in SIDES)
    share = partial(ratio_score, undefined="gold has no scoring word on this side")
    scores = [
        Score(
            name="pts",
            doc="Parallel treebank score: weighted mean of attachment on both sides and 1 - AER.",
            ratios=(*attached, ALIGNED),
            join=weighted_mean(weights),
            undefined="one of the scores that it joins is undefined",
        )
    ]
    for name, numerator, what in (("uas", "correct_head", "head"), ("las", "correct_both", "head and relation")):
        scores += [
            share(
                f"{side}_{name}", f"Words of the {side} with the right {what}.", f"{side}_{numerator}", f"{side}_tokens"
            )
            for side in SIDES
        ]
    aer = comparison.AER_SCORE
    return ScoreTable(COUNT_NAMES, (*scores, aer._replace(doc="Alignment error rate; lower is better.")))


def _lengths(gold: ParallelTreebank) -> arrays.IntArray:
    return np.stack([np.diff(gold.source.word_offsets), np.diff(gold.target.word_offsets)], axis=1)
