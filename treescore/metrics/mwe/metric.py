"""Score multiword expressions as in the PARSEME shared tasks.

The report is that of PARSEME's program, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from treescore.core import arrays, columns, registry, text
from treescore.core.params import BOOLEAN, Json, Param
from treescore.core.scores import Score, ScoreTable, matched_scores
from treescore.core.trees import ExpressionTreebank
from treescore.errors import placed
from treescore.formats.cupt import check_header
from treescore.metrics.mwe import groups, kernel
from treescore.metrics.shared.examples import EXPRESSIONS
from treescore.metrics.shared.tables import AGREES, members
from treescore.metrics.shared.words import check_same_words, complete, no_parses

Counts = Mapping[str, int]

_GLOBAL = "partition of Global"
_SECTIONS = {
    groups.CATEGORY: f"Per-category evaluation ({_GLOBAL})",
    groups.CONTINUITY: f"MWE continuity ({_GLOBAL})",
    groups.TOKENS: f"Number of tokens ({_GLOBAL})",
    groups.SEEN: f"Whether seen in train ({_GLOBAL})",
    groups.VARIANT: "Whether identical to train (partition of Seen-in-train)",
}
_NAMES = {
    "continuous": "Continuous", "discontinuous": "Discontinuous",
    "multi-token": "Multi-token", "single-token": "Single-token",
    "seen": "Seen-in-train", "unseen": "Unseen-in-train",
    "variant": "Variant-of-train", "identical": "Identical-to-train",
}  # fmt: skip


def parseme_report(totals: Counts, slices: Mapping[str, list[dict[str, Json]]]) -> str:
    """Print the report.

    Args:
        totals: counts of the whole text.
        slices: rows of the groupings; of those by a training text where there is one.
    """
    lines = ["## Global evaluation", *_both("", totals), ""]
    for name, title in _SECTIONS.items():
        if name not in slices:
            continue
        whole = slices[groups.SEEN][0]["counts"] if name == groups.VARIANT else totals
        lines.append(f"## {title}")
        for row in slices[name]:
            value = row["value"] if name == groups.CATEGORY else _NAMES[row["value"]]
            lines.append(_proportion(f"{value}: ", row["counts"], whole))
            lines += (
                _both(f"{value}: ", row["counts"])
                if name == groups.CATEGORY
                else [_expressions(f"{value}: ", row["counts"])]
            )
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


def _both(prefix: str, counts: Counts) -> Iterator[str]:
    yield _expressions(prefix, counts)
    yield _line(f"{prefix}Tok-based", counts["token_correct"], counts["token_gold"], counts["token_system"])


def _expressions(prefix: str, counts: Counts) -> str:
    return _line(f"{prefix}MWE-based", counts["correct"], counts["gold"], counts["system"])


def _proportion(prefix: str, counts: Counts, whole: Counts) -> str:
    shares = (
        f"{side}={counts[count]}/{whole[count]}={counts[count] / (whole[count] or 1):.0%}"
        for side, count in (("gold", "gold"), ("pred", "system"))
    )
    return f"* {prefix}MWE-proportion: {' '.join(shares)}"


def _line(title: str, correct: int, gold: int, system: int) -> str:
    precision, recall = correct / (system or 1), correct / (gold or 1)
    f1 = 2 * precision * recall / (precision + recall) if precision else 0
    return f"* {title}: P={correct}/{system}={precision:.4f} R={correct}/{gold}={recall:.4f} F={f1:.4f}"


_COUNTS = ("correct", "gold", "system")
_UNDEFINED = ("no side has expressions", "the output has none", "gold has none")


_ROWS = {"": "Expressions with the right words", "token_": "Words of expressions that are paired"}
_TRAINED_ROWS = {f"{half}.": f"Expressions with the right words, {half} in the training text" for half in groups.HALVES}


def _table(rows: Mapping[str, str]) -> ScoreTable:
    """Return F1, precision and recall for each prefix of counts and scores, with what they are of."""
    scores: list[Score] = []
    for prefix, what in rows.items():
        docs = (f"{what}: F1.", f"{what}: precision.", f"{what}: recall.")
        counts = [f"{prefix}{count}" for count in _COUNTS]
        scores += matched_scores(prefix, docs, counts, _UNDEFINED, one_sided=(True, True))
    return ScoreTable(tuple(f"{prefix}{count}" for prefix in rows for count in _COUNTS), tuple(scores))


_TABLE, _TRAINED_TABLE = _table(_ROWS), _table(_ROWS | _TRAINED_ROWS)
_GROUPINGS = (groups.CATEGORY, groups.CONTINUITY, groups.TOKENS, groups.SEEN, groups.VARIANT)
_OWN = registry.SliceFields(("system", "correct"), ("precision",))


@registry.register
class Mwe(registry.Metric):
    """Expressions as sets of words, as the PARSEME shared tasks compare them (Savary et al. 2017; Ramisch et al. 2018).

    An expression is right where gold has one of the same words; several of the same words are one, and categories play
    no part. The words of expressions are right as far as gold's and the output's, paired one to one in each sentence so
    that the sum is greatest, have them in common. Subsets (slices) are taken on each side by its own annotation, then
    paired. Both sides must have the same words.
    """

    name: ClassVar[str] = "mwe"
    doc: ClassVar[str] = "Precision, recall and F1 of multiword expressions and of their words (PARSEME)."
    source: ClassVar[str] = "Ramisch et al. 2018, https://aclanthology.org/W18-4925; parseme_evaluate.py 2.0"
    params: ClassVar[Mapping[str, Param]] = {
        "train": Param(
            {"type": ["string", "null"]},
            None,
            "The training text, in the format cupt: seen and unseen expressions have scores of their own "
            "(unseen.f1), and with identical ones and variants slices and lines of the report.",
            text=True,
        ),
        "compat": Param(
            BOOLEAN,
            default=False,
            doc="Compare with train as parseme_evaluate.py does: a missing lemma is the form in the training text and "
            "_ elsewhere, so that such an expression is never seen; codes at multiword tokens of train are ignored.",
        ),
    }
    reads: ClassVar[tuple[type[Any], ...]] = (ExpressionTreebank,)
    reads_heads: ClassVar[bool] = False
    examples: ClassVar[tuple[registry.Example, ...]] = (
        registry.Example("cupt", EXPRESSIONS),
        registry.Example("cupt", EXPRESSIONS, {"train": EXPRESSIONS[0][0]}),
    )
    headline: ClassVar[Mapping[str, str]] = {"f1": "MWE F1", "precision": "P", "recall": "R", "token_f1": "Token F1"}
    error_filters: ClassVar[Mapping[str, registry.ErrorValues]] = {"label": members("gold_category", "system_category")}
    styles: ClassVar[tuple[str, ...]] = ("parseme",)
    disclosure: ClassVar[registry.Disclosure] = registry.Disclosure(
        fields={
            "expressions": registry.Fields(
                {name: name for name in ("system_words", "system_form", "system_category")}, required="system_words"
            )
        },
        scores=("precision",),
        counts=("correct", "system"),
        slices=dict.fromkeys(_GROUPINGS[:3], _OWN),  # without train, others may be attributes of gold's sentences,
    )

    def __init__(self, **values: Json) -> None:
        """Check that `train` is a text, or the digest by which a signature names one. Raises InputError."""
        super().__init__(**values)
        self._training: groups.Training | None = None
        if values["train"] is not None and not text.is_digest(values["train"]):
            with placed("/train"):
                check_header(values["train"])

    @property
    def table(self) -> ScoreTable:
        """Return scores over expressions, then over their words; with a training text of the seen and the unseen."""
        return _TABLE if self.values["train"] is None else _TRAINED_TABLE

    def check_params(self, limits: text.Limits) -> None:
        """Read the training text. Raises InputError and LimitError, at its place."""
        if self.values["train"] is not None and self._training is None:
            self._training = groups.read_training(self.values["train"], limits, compat=self.values["compat"])

    def check_gold(self, gold: ExpressionTreebank, items: registry.ItemInfo, limits: text.Limits) -> None:
        """Check that gold keeps to the limits. Raises LimitError as `evaluate`."""
        del items, limits
        self._check_size(gold)

    def evaluate(
        self, gold: ExpressionTreebank, system: ExpressionTreebank, items: registry.ItemInfo, limits: text.Limits
    ) -> registry.Outcome:
        """Compare the expressions of each sentence.

        Raises:
            InputError: `word-count-mismatch` or `word-mismatch`, or the training text cannot be read.
            LimitError: too many expressions of the output have the same words, or they are too long to be compared
                with the training text.
        """
        del items
        self.check_params(limits)
        self._check_size(system)
        system, absent = _completed(gold, system)
        check_same_words(gold, system, limits.max_problems)
        sides = kernel.sides_of(gold, system)
        pairs = kernel.pairs_of(*sides, (np.zeros_like(sides[0].sets), np.zeros_like(sides[1].sets)))
        owners = pairs.golds.sentences, pairs.systems.sentences
        rows = groups.counts_by_group(pairs, owners, len(gold))
        if self._training is not None:
            rows = np.concatenate([rows, groups.seen_counts(*sides, self._training, len(gold))], axis=1)

        @cache
        def slices() -> dict[str, columns.Documents]:
            return groups.slices_of(*sides, self._training, _TABLE)

        problems = no_parses(system, absent, "none of gold's expressions is found")
        return registry.Outcome(
            rows=rows,
            status=np.where(absent, registry.ERROR, registry.OK).astype(np.uint8),
            unanswered=absent,
            problems=problems,
            warnings=list(problems.values())[: limits.max_problems],
            tokens={"recall": registry.TokenBits(pairs.equal, arrays.offsets_of(arrays.sums_by(owners[0], len(gold))))},
            details=groups.ItemRows(pairs, len(gold)),
            slices=slices,
        )

    def _check_size(self, treebank: ExpressionTreebank) -> None:
        kernel.check_overlaps(treebank)
        if self._training is not None:
            groups.check_spans(treebank)

    def errors_of(self, item: Mapping[str, Json], gold: ExpressionTreebank) -> Iterator[dict[str, Json]]:
        """Return gold's expressions that the output lacks, each with the one that is paired with it, and its others."""
        del gold
        for row in item["expressions"]:
            kind = "missed" if row["system_words"] is None else "extra" if row["gold_words"] is None else "other words"
            yield {"kind": kind, **row, **{name: _listed(row[name]) for name in ("gold_words", "system_words")}}

    def beside_gold(self, item: Mapping[str, Json], gold: ExpressionTreebank) -> Iterator[dict[str, Json]]:
        """Return gold's expressions with the output's, then the output's others."""
        errors = list(self.errors_of(item, gold))
        wrong = {row["gold_words"]: row for row in errors if row["gold_words"] is not None}
        strings = gold.vocabulary.strings
        first, last = np.searchsorted(gold.expression_sentences(), [item["item"] - 1, item["item"]]).tolist()
        for expression in range(first, last):
            words = gold.expression_words[slice(*gold.expression_offsets[expression : expression + 2].tolist())]
            positions = _listed((words - gold.word_offsets[item["item"] - 1] + 1).tolist())
            row = {
                "gold_words": positions,
                "gold_form": " ".join(strings[number] for number in gold.forms[words].tolist()),
                "gold_category": strings[gold.categories[expression]],
            }
            error = wrong.get(positions, {"system_words": AGREES, "system_form": AGREES, "kind": ""})
            yield {**row, **{name: error[name] for name in ("system_words", "system_form")}, "error": error["kind"]}
        for row in errors:
            if row["gold_words"] is None:
                names = ("gold_words", "gold_form", "gold_category", "system_words", "system_form")
                yield {**{name: row[name] for name in names}, "error": row["kind"]}

    def report(self, style: str, outcome: registry.Outcome) -> str:
        """Print the report of parseme_evaluate.py."""
        if style != "parseme":
            return super().report(style, outcome)
        totals = dict(zip(self.table.count_names, outcome.totals.tolist(), strict=True))
        slices = outcome.slices()
        names = _GROUPINGS if self.values["train"] is not None else _GROUPINGS[:-2]
        return parseme_report(totals, {name: list(slices[name]) for name in names})


def _completed(gold: ExpressionTreebank, system: ExpressionTreebank) -> tuple[ExpressionTreebank, arrays.BoolArray]:
    """Give sentences of an output that could not be read gold's words; return them too, bool (n,)."""
    filled, absent, present = complete(gold, system)
    if not absent.any():
        return system, absent
    assert isinstance(filled, ExpressionTreebank)  # noqa: S101 - as the output
    return replace(filled, expression_words=np.flatnonzero(present)[system.expression_words]), absent


def _listed(words: list[int] | None) -> str | None:
    return None if words is None else " ".join(map(str, words))
