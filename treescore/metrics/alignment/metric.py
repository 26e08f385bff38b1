"""Score word alignments against sure and possible links: precision, recall, F1 and alignment error rate.

The report is the summary of the scorer of WPT 2003 and 2005, wa_eval_align.pl.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from treescore.core.arrays import Counts, IntArray
from treescore.core.params import BOOLEAN, Json, Param
from treescore.core.registry import Disclosure, Example, ItemInfo, Marks, Metric, Outcome, register
from treescore.core.scores import ZERO, ScoreTable
from treescore.core.text import Limits
from treescore.core.trees import Alignments
from treescore.errors import InputError, Problem
from treescore.metrics.alignment import comparison, link_sets
from treescore.metrics.shared.words import attributes_of, sentence_tables


def wa_eval(counts: Mapping[str, int]) -> str:
    """Print counts as wa_eval_align.pl does."""

    def share(part: str, whole: str) -> float:
        return counts[part] / counts[whole] if counts[whole] else 0.0

    def block(precision: float, recall: float, trailing: str) -> list[str]:
        f_measure = 2 * recall * precision / (recall + precision) if recall and precision else 0.0
        return [
            f"   Precision = {precision:.4f}{trailing}",
            f"   Recall    = {recall:.4f}",
            f"   F-measure = {f_measure:.4f}",
            "-----------------------------------",
        ]

    total = counts["links"] + counts["sure"]
    error = 1 - (counts["links_in_sure"] + counts["links_in_possible"]) / total if total else 0.0
    lines = [
        "",
        "The following results assume correct file formats.",
        "Make sure you have previously checked the file format",
        "using wa_check_submission.pl",
        "",
        "",
        "    Word Alignment Evaluation   ",
        "----------------------------------",
        "   Evaluation of SURE alignments ",
        *block(share("sure_links_in_sure", "sure_links"), share("sure_links_in_sure", "sure"), "  "),
        "   Evaluation of PROBABLE alignments",
        *block(share("links_in_possible", "links"), share("links_in_possible", "possible"), ""),
        f"   AER       = {error:.4f}",
    ]
    return "\n".join(lines) + "\n"


NULL_LINKS = Param(
    {"enum": ["keep", "drop", "complete"]},
    "keep",
    "Links to NULL: counted as they are; left out on both sides; or completed on both sides with a possible link "
    "to NULL for every word without a link (requires the sentences' lengths).",
)
_GOLD_LINKS = Param(
    {"enum": ["marked", "all-sure", "sure-only"]},
    "marked",
    "Gold's links: sure and possible as they are marked; all of them sure; or the sure ones alone.",
)
_ALPHA = Param(
    {"type": "number", "minimum": 0, "maximum": 1},
    0.5,
    "Weight of precision in `alpha_f`; with 0.5 it is `och_ney_f1`.",
)
_DROP_PUNCTUATION = Param(
    BOOLEAN,
    False,
    "Whether links of the output are left out that join one of . , ! ? ; : ( ) with another word (requires the "
    "sentences' words).",
)


@register
class Alignment(Metric):
    """AER and precision, recall, F1 over sure and over possible links (Och & Ney 2003; Mihalcea & Pedersen 2003)."""

    name = "alignment"
    doc = (
        "Word alignment: AER, and precision, recall and F1 over sure links, over all links, and as Och & Ney mix them."
    )
    source = "Och & Ney 2003, Computational Linguistics 29(1); Mihalcea & Pedersen 2003 (WPT shared task)"
    reads = (Alignments,)
    examples: ClassVar[tuple[Example, ...]] = (
        Example("pharaoh", (("0-0 1-1 2p2\n", "0-0 1-2\n"), ("0-0\n", "0-0\n"), ("0-1 1-0\n", "0-1 1-0\n"))),
    )
    headline: ClassVar[Mapping[str, str]] = {
        "aer": "AER", "och_ney_precision": "P", "och_ney_recall": "R", "och_ney_f1": "F1",
    }  # fmt: skip
    styles = ("wa_eval",)
    disclosure: ClassVar[Disclosure] = Disclosure(
        members=("wrong",),
        scores=("possible_precision", "och_ney_precision", "source_coverage", "target_coverage"),
        counts=("links", "links_in_possible", "sure_links", *comparison.WORD_COUNTS),
    )
    own_segmentation = True
    params: ClassVar[Mapping[str, Param]] = {
        "null_links": NULL_LINKS,
        "gold_links": _GOLD_LINKS,
        "alpha": _ALPHA,
        "drop_punctuation": _DROP_PUNCTUATION,
        "errors": comparison.LINK_ERRORS,
    }

    def __init__(self, **values: Json) -> None:
        super().__init__(**values)
        self._table = comparison.table_of(float(values["alpha"]))

    @property
    def table(self) -> ScoreTable:
        """Return AER, then precision, recall and F1 in three variants, and what the output links."""
        return self._table

    def check_gold(self, gold: Alignments, items: ItemInfo, limits: Limits) -> None:
        """Check that gold has sentences, that its links fit them, and that required lengths are given.

        Raises:
            InputError: `alignment-gold-empty`, `alignment-lengths-needed`, `alignment-words-needed`, or as
                `checked_lengths` and `check_range`.
            LimitError: as `checked_lengths`.
        """
        if not len(gold):
            detail = "Gold has no sentence pairs. Send at least one link."
            raise InputError(Problem("alignment-gold-empty", detail))
        if self.values["drop_punctuation"] and items.words is None:
            detail = (
                "Leaving out links of punctuation requires the words of all pairs. "
                'Send {"items": {"words": [["the big dog", "le gros chien"], ...]}}.'
            )
            raise InputError(Problem("alignment-words-needed", detail))
        if items.lengths is None:
            if self.values["null_links"] == "complete":
                detail = 'Completing links to NULL requires lengths. Send {"items": {"lengths": [[7, 8], ...]}}.'
                raise InputError(Problem("alignment-lengths-needed", detail))
            return
        most = link_sets.MAX_COMPLETED if self.values["null_links"] == "complete" else link_sets.MAX_TEXT
        lengths = link_sets.checked_lengths(items.lengths, limits, most)
        link_sets.check_range(
            link_sets.links_of(gold), lengths, gold.sentences.sent_ids, limits.max_problems, gold.form
        )

    def evaluate(self, gold: Alignments, system: Alignments, items: ItemInfo, limits: Limits) -> Outcome:
        """Count the links of each gold pair.

        Raises:
            InputError: sentences cannot be matched, or links point beyond their sentence, unless the base is stated
                and another reading of the indices explains them.
        """
        pairs = len(gold)
        rows, warnings = link_sets.matched_pairs(gold, system)
        gold_links, system_links = link_sets.links_of(gold), link_sets.links_of(system, rows)
        lengths = link_sets.checked_lengths(items.lengths, limits) if items.lengths is not None else None
        warnings += comparison.readings_checked(
            gold_links, system_links, pairs, lengths, limits, (gold.form, system.form)
        )
        if self.values["drop_punctuation"] and items.words is not None:
            system_links = system_links.only(~link_sets.punctuated(system_links, items.words))
        null = self.values["null_links"]
        index = link_sets.GoldIndex(with_null(link_sets.links_of(self._taken(gold)), null, lengths))
        compared = comparison.compare_links(index, with_null(system_links, null, lengths), pairs)
        groupings = attributes_of({}, items)
        if lengths is not None:
            groupings |= {"source_length": lengths[:, 0].tolist(), "target_length": lengths[:, 1].tolist()}
        empty = comparison.unanswered(index.links, system_links, pairs)
        outcome = comparison.outcome_of(compared, warnings, empty, zero=self.values["errors"] == ZERO)
        counts = np.concatenate([outcome.rows, link_sets.word_counts(system_links, pairs, lengths)], axis=1)
        return replace(
            outcome,
            rows=counts,
            slices=lambda: sentence_tables(self.table, counts, groupings),
            marks=lambda: self._marks(gold, system, rows, items),
            extra=lambda: {"fertility": link_sets.fertility(system_links, lengths)},
        )

    def errors_of(self, item: Mapping[str, Json], gold: Alignments) -> Iterator[dict[str, Json]]:  # noqa: ARG002 - other metrics need it
        """Return links that gold lacks, and sure links of gold that the output lacks; others do not raise AER."""
        return comparison.link_errors(item)

    def beside_gold(self, item: Mapping[str, Json], gold: Alignments) -> Iterator[dict[str, Json]]:
        """Return the links of both sides."""
        return comparison.links_beside(item, self._taken(gold), item["item"])

    def absent(self, gold: Alignments, items: ItemInfo, limits: Limits) -> Counts:
        """Count every pair as one for which the output has no link."""
        rows = np.asarray(self.evaluate(gold, gold, items, limits).rows, np.int64)
        comparison.charge_links(rows, comparison.COUNT_NAMES, np.ones(len(gold), np.bool_))
        rows[:, [comparison.COUNT_NAMES.index(name) for name in comparison.OF_LINKS]] = 0
        return rows

    def report(self, style: str, outcome: Outcome) -> str:
        """Print the summary of wa_eval_align.pl, with its 0 where a denominator is 0."""
        if style != "wa_eval":
            return super().report(style, outcome)
        return wa_eval(dict(zip(comparison.COUNT_NAMES, outcome.totals.tolist(), strict=True)))

    def _marks(self, gold: Alignments, system: Alignments, rows: IntArray, items: ItemInfo) -> Marks:
        """Mark all links as they were read; those that the parameters leave out are right."""
        golds, systems = (np.ones(len(side.source), np.bool_) for side in (gold, system))
        if self.values["null_links"] == "drop":
            golds, systems = ((side.source > 0) & (side.target > 0) for side in (gold, system))
        if self.values["drop_punctuation"] and items.words is not None:
            systems &= ~link_sets.punctuated(link_sets.links_of(system, rows), items.words)
        if self.values["gold_links"] == "sure-only":
            return comparison.link_marks(gold, system, golds=golds & gold.sure, systems=systems)
        return comparison.link_marks(self._taken(gold), system, golds=golds, systems=systems)

    def _taken(self, gold: Alignments) -> Alignments:
        """Apply the parameter `gold_links`."""
        choice = self.values["gold_links"]
        if choice == "all-sure":
            return replace(gold, sure=np.ones_like(gold.sure))
        return link_sets.only_sure(gold) if choice == "sure-only" else gold


def with_null(links: link_sets.Links, choice: Json, lengths: IntArray | None) -> link_sets.Links:
    """Apply the parameter `null_links`."""
    if choice == "drop":
        return link_sets.without_null(links)
    return link_sets.completed(links, lengths) if choice == "complete" and lengths is not None else links
