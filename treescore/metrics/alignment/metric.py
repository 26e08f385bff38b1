"""Score word alignments against sure and possible links: precision, recall, F1 and alignment error rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from treescore.core.absence import ZERO
from treescore.core.arrays import BoolArray, Counts, IntArray, offsets_of, sums_by
from treescore.core.columns import Lists, Numbers, Records, Rows, Strings
from treescore.core.disclosure import Disclosure
from treescore.core.limits import Limits
from treescore.core.link_form import IN_A_BENCHMARK, LinkForm
from treescore.core.params import Json, Param
from treescore.core.registry import SKIP, Example, ItemInfo, Metric, Outcome, TokenBits, all_ok, register
from treescore.core.scores import Ratio, Score, ScoreTable, f1_score, harmonic, ratio_score
from treescore.core.trees import Alignments
from treescore.errors import InputError, Problem
from treescore.formats.shared.base_check import FEWEST_PAIRS
from treescore.metrics.alignment.absence import LINK_ERRORS, charge_links, unanswered
from treescore.metrics.alignment.link_sets import (
    GoldIndex,
    Links,
    Reading,
    check_range,
    checked_lengths,
    completed,
    links_of,
    matched_pairs,
    out_of_range,
    readings,
    without_null,
)
from treescore.metrics.alignment.marks import link_marks
from treescore.metrics.shared.group_tables import attributes_of, sentence_tables

COUNT_NAMES = ("links", "sure", "possible", "links_in_sure", "links_in_possible", "sure_links", "sure_links_in_sure")
AER = Ratio({"links_in_sure": 1, "links_in_possible": 1}, {"links": 1, "sure": 1}, one_minus=True)
_NO_LINKS = "the output has no link"
_NO_SURE = "gold has no sure link"
_KINDS = ("P", "S")
SURE = _KINDS[1]
MIN_FALL = 0.1
"""By how much, and by at least a quarter, AER must fall under another reading for a warning."""

TABLE = ScoreTable(
    COUNT_NAMES,
    (
        Score(
            name="aer",
            doc="Alignment error rate: 1 - (|A&S| + |A&P|) / (|A| + |S|); lower is better.",
            ratios=(AER,),
            higher_is_better=False,
            undefined="neither gold has a sure link nor the output a link",
        ),
        ratio_score(
            "sure_precision",
            "Share of the output's own sure links that are sure in gold.",
            "sure_links_in_sure",
            "sure_links",
            undefined="the output has no sure link",
        ),
        ratio_score(
            "sure_recall",
            "Share of gold's sure links that the output has as sure.",
            "sure_links_in_sure",
            "sure",
            undefined=_NO_SURE,
        ),
        f1_score(
            "sure_f1",
            "F1 over sure links.",
            "sure_links_in_sure",
            "sure",
            "sure_links",
            "neither gold nor the output has a sure link",
        ),
        ratio_score(
            "possible_precision",
            "Share of the output's links that gold has, sure or possible.",
            "links_in_possible",
            "links",
            undefined=_NO_LINKS,
        ),
        ratio_score(
            "possible_recall",
            "Share of gold's links, sure and possible, that the output has.",
            "links_in_possible",
            "possible",
            undefined="gold has no link",
        ),
        f1_score(
            "possible_f1",
            "F1 over all links.",
            "links_in_possible",
            "possible",
            "links",
            "neither gold nor the output has a link",
        ),
        ratio_score(
            "och_ney_precision",
            "Och & Ney's precision: links that gold has, sure or possible, among the output's.",
            "links_in_possible",
            "links",
            undefined=_NO_LINKS,
        ),
        ratio_score(
            "och_ney_recall",
            "Och & Ney's recall: gold's sure links that the output has.",
            "links_in_sure",
            "sure",
            undefined=_NO_SURE,
        ),
        Score(
            name="och_ney_f1",
            doc="Harmonic mean of Och & Ney's precision and recall.",
            ratios=(Ratio({"links_in_possible": 1}, {"links": 1}), Ratio({"links_in_sure": 1}, {"sure": 1})),
            join=harmonic,
            undefined="Och & Ney's precision or recall is undefined",
        ),
    ),
)


NULL_LINKS = Param(
    {"enum": ["keep", "drop", "complete"]},
    default="keep",
    doc="Links to NULL: counted as they are; left out on both sides; or completed on both sides with a possible link "
    "to NULL for every word without a link (requires the sentences' lengths).",
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A system's links compared with gold's over n sentence pairs: which links are right.

    Attributes:
        gold, system: the links.
        in_possible, in_sure: whether gold has each of the system's links, and has it as sure, bool (system links,).
        found_in_system, found_as_sure: whether the system has each of gold's links, and has it as sure, bool
            (gold links,).
        pairs: number of sentence pairs.
    """

    gold: Links
    system: Links
    in_possible: BoolArray
    in_sure: BoolArray
    found_in_system: BoolArray
    found_as_sure: BoolArray
    pairs: int

    @property
    def rows(self) -> IntArray:
        """Counts of each pair, int64 (n, 7), columns as COUNT_NAMES."""
        gold, system = self.gold, self.system
        columns = (
            system.rows,
            gold.rows[gold.sure],
            gold.rows,
            system.rows[self.in_sure],
            system.rows[self.in_possible],
            system.rows[system.sure],
            system.rows[system.sure & self.in_sure],
        )
        return np.stack([sums_by(column, self.pairs) for column in columns], axis=1)


def compare_links(index: GoldIndex, system: Links, pairs: int) -> Comparison:
    """Look up every link of a system in gold."""
    gold = index.links
    partners = index.find(system)
    in_possible = partners >= 0
    in_sure = in_possible.copy()
    in_sure[in_possible] = gold.sure[partners[in_possible]]
    found_in_system, found_as_sure = np.zeros(len(gold), np.bool_), np.zeros(len(gold), np.bool_)
    found_in_system[partners[in_possible]] = True
    found_as_sure[partners[in_possible & system.sure]] = True
    return Comparison(gold, system, in_possible, in_sure, found_in_system, found_as_sure, pairs)


def link_errors(links: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """Return the wrong links of a pair, then the missed sure ones."""
    for kind in ("wrong", "missed"):
        for source, target, sure in links.get(kind, ()):
            if kind == "wrong" or sure == SURE:
                yield {"kind": kind, "source": source, "target": target, "link": sure}


def links_beside(links: Mapping[str, Json], gold: Alignments, item: int) -> Iterator[dict[str, Json]]:
    """Return gold's links of a pair, then the wrong ones of the output, with a mark under the sides that have them.

    Args:
        links: the members `wrong` and `missed` of the item.
        gold: the alignments.
        item: number of the pair, from 1.
    """
    missed = {(source, target) for source, target, _ in links["missed"]}
    here = slice(*gold.offsets[item - 1 : item + 1].tolist())
    columns = gold.source[here], gold.target[here], gold.sure[here].astype(np.int64)
    for source, target, sure in zip(*(column.tolist() for column in columns), strict=True):
        lacking = (source, target) in missed
        row = {"source": source, "target": target, "link": _KINDS[sure], "gold": "x", "system": "" if lacking else "x"}
        yield {**row, "error": "missed" if lacking and _KINDS[sure] == SURE else ""}
    for source, target, sure in links["wrong"]:
        yield {"source": source, "target": target, "link": sure, "gold": "", "system": "x", "error": "wrong"}


def aer_of(rows: IntArray) -> float:
    """Return AER of summed counts, NaN where undefined."""
    return float(TABLE.by_name["aer"].of(COUNT_NAMES, rows.sum(axis=0)))


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
        scores=("possible_precision", "och_ney_precision"),
        counts=("links", "links_in_possible", "sure_links"),
    )
    own_segmentation = True
    params: ClassVar[Mapping[str, Param]] = {"null_links": NULL_LINKS, "errors": LINK_ERRORS}

    @property
    def table(self) -> ScoreTable:
        """Return AER, then precision, recall and F1 in three variants."""
        return TABLE

    def check_gold(self, gold: Alignments, items: ItemInfo, limits: Limits) -> None:
        """Check that gold has sentences, that its links fit them, and that required lengths are given.

        Raises:
            InputError: `alignment-gold-empty`, `alignment-lengths-needed`, or as `checked_lengths` and `check_range`.
            LimitError: as `checked_lengths`.
        """
        if not len(gold):
            detail = "Gold has no sentence pairs. Send at least one link."
            raise InputError(Problem("alignment-gold-empty", detail))
        if items.lengths is None:
            if self.values["null_links"] == "complete":
                detail = 'Completing links to NULL requires lengths. Send {"items": {"lengths": [[7, 8], ...]}}.'
                raise InputError(Problem("alignment-lengths-needed", detail))
            return
        lengths = checked_lengths(items.lengths, limits)
        check_range(links_of(gold), lengths, gold.sentences.sent_ids, limits.max_problems, gold.form)

    def evaluate(self, gold: Alignments, system: Alignments, items: ItemInfo, limits: Limits) -> Outcome:
        """Count the links of each gold pair.

        Raises:
            InputError: sentences cannot be matched, or links point beyond their sentence, unless the base is stated
                and another reading of the indices explains them.
        """
        rows, warnings = matched_pairs(gold, system)
        gold_links, system_links = links_of(gold), links_of(system, rows)
        lengths = checked_lengths(items.lengths, limits) if items.lengths is not None else None
        warnings += readings_checked(gold_links, system_links, len(gold), lengths, limits, (gold.form, system.form))
        null = self.values["null_links"]
        comparison = compare_links(
            GoldIndex(with_null(gold_links, null, lengths)), with_null(system_links, null, lengths), len(gold)
        )
        groupings = attributes_of({}, items)
        if lengths is not None:
            groupings |= {"source_length": lengths[:, 0].tolist(), "target_length": lengths[:, 1].tolist()}
        empty = unanswered(gold_links, system_links, len(gold))
        outcome = outcome_of(comparison, warnings, empty, zero=self.values["errors"] == ZERO)
        rows = np.asarray(outcome.rows, np.int64)
        return replace(
            outcome,
            slices=lambda: sentence_tables(TABLE, rows, groupings),
            marks=lambda: link_marks(gold, system),
        )

    def errors_of(self, item: Mapping[str, Json], gold: Alignments) -> Iterator[dict[str, Json]]:
        """Return links that gold lacks, and sure links of gold that the output lacks; others do not raise AER."""
        del gold
        return link_errors(item)

    def beside_gold(self, item: Mapping[str, Json], gold: Alignments) -> Iterator[dict[str, Json]]:
        """Return the links of both sides."""
        return links_beside(item, gold, item["item"])

    def absent(self, gold: Alignments, items: ItemInfo, limits: Limits) -> Counts:
        """Count every pair as one for which the output has no link."""
        rows = np.asarray(self.evaluate(gold, gold, items, limits).rows, np.int64)
        charge_links(rows, COUNT_NAMES, np.ones(len(gold), np.bool_))
        return rows

    def report(self, style: str, outcome: Outcome) -> str:
        """Print the summary of wa_eval_align.pl, with its 0 where a denominator is 0."""
        if style != "wa_eval":
            return super().report(style, outcome)
        return wa_eval(dict(zip(COUNT_NAMES, outcome.totals.tolist(), strict=True)))


def with_null(links: Links, choice: Json, lengths: IntArray | None) -> Links:
    """Apply the parameter `null_links`."""
    if choice == "drop":
        return without_null(links)
    if choice == "complete" and lengths is not None:
        return completed(links, lengths)
    return links


def readings_checked(
    gold: Links,
    system: Links,
    pairs: int,
    lengths: IntArray | None,
    limits: Limits,
    forms: tuple[LinkForm | None, LinkForm | None],
) -> list[Problem]:
    """Return a warning if an output fits gold far better under another reading of its indices.

    `forms` are how gold and the output were read.

    Raises:
        InputError: as `check_range`, unless another reading explains the links and the base is stated or the text is
            too small to be judged.
    """
    form = forms[1]
    believed = form is None or form.stated or len(np.unique(system.rows)) < FEWEST_PAIRS
    reading, fall = better_reading(gold, system, pairs, lengths)
    if lengths is not None and not (believed and reading is not None):
        check_range(system, lengths, (), limits.max_problems, form)
    return [] if reading is None else [misread_warning(reading, fall, *forms)]


def better_reading(
    gold: Links, system: Links, pairs: int, lengths: IntArray | None
) -> tuple[Reading | None, tuple[float, float]]:
    """Find another reading of the system's indices under which AER falls steeply.

    Links to NULL are ignored: under a wrong base many links only look like links to NULL.

    Returns:
        The reading or None; and AER as read and under the best reading.
    """
    index = GoldIndex(without_null(gold))
    as_read = aer_of(compare_links(index, without_null(system), pairs).rows)
    best: Reading | None = None
    lowest = as_read
    if len(system) >= 2 and as_read > MIN_FALL:
        for reading, links in readings(system):
            if lengths is not None and out_of_range(links, lengths).any():
                continue
            rate = aer_of(compare_links(index, without_null(links), pairs).rows)
            if rate < lowest:
                best, lowest = reading, rate
    steep = as_read - lowest >= MIN_FALL and lowest <= 0.75 * as_read
    return (best if steep else None), (as_read, lowest)


def misread_warning(
    reading: Reading, fall: tuple[float, float], gold: LinkForm | None, form: LinkForm | None
) -> Problem:
    """Describe the better reading; how far AER falls is shown only to readers of gold.

    A reading that the output's format does not have is explained by gold: its words are counted otherwise than stated.
    """
    if form is None or reading.has_form(form):
        whose, owner = f"The output probably {reading.fault}", "the output"
        right = None if form is None else reading.form(form)
    else:
        whose, owner = "Gold and the output probably count words from different numbers", "gold"
        right = None if gold is None or not reading.inverse.has_form(gold) else reading.inverse.form(gold)
        whose += "" if right is None else f", because gold counts them from {right.base}"
    advice = "" if right is None else f" If so, state it in the format of {owner}: {right.words}. {IN_A_BENCHMARK}"
    detail = f"{whose}: under this reading its links fit gold far better. It was scored as it is.{advice}"
    return Problem(
        "alignment-suspicious-indices",
        detail,
        gold_detail=f"{detail} AER over links between words falls from {fall[0]:.4f} to {fall[1]:.4f}.",
    )


def outcome_of(comparison: Comparison, warnings: list[Problem], empty: BoolArray, *, zero: bool) -> Outcome:
    """Make the outcome: counts, bits of gold's links, and the links that are wrong or missed.

    With `zero`, the pairs in `empty`, bool (n,), are charged (`charge_links`).
    """
    rows, status = comparison.rows, all_ok(comparison.pairs)
    if zero:
        status[empty] = SKIP
        charge_links(rows, COUNT_NAMES, empty)
    gold, system = comparison.gold, comparison.system
    wrong = _by_pair(system.only(~comparison.in_possible), comparison.pairs)
    missed = _by_pair(gold.only(~comparison.found_in_system), comparison.pairs)

    def details(start: int, stop: int) -> Records:
        return Records({"wrong": _listed_links(*wrong, start, stop), "missed": _listed_links(*missed, start, stop)})

    return Outcome(
        rows=rows,
        status=status,
        unanswered=empty,
        tokens={
            "sure_recall": _bits(gold.rows, comparison.found_as_sure, gold.sure, comparison.pairs),
            "possible_recall": _bits(
                gold.rows, comparison.found_in_system, np.ones(len(gold), np.bool_), comparison.pairs
            ),
        },
        warnings=warnings,
        details=details,
    )


def _bits(rows: IntArray, bits: BoolArray, mask: BoolArray, pairs: int) -> TokenBits:
    order = np.argsort(rows[mask], kind="stable")
    return TokenBits(bits[mask][order], offsets_of(sums_by(rows[mask], pairs)))


def _by_pair(links: Links, pairs: int) -> tuple[Links, IntArray, IntArray]:
    return links, np.argsort(links.rows, kind="stable"), offsets_of(sums_by(links.rows, pairs))


def _listed_links(links: Links, order: IntArray, offsets: IntArray, start: int, stop: int) -> Lists:
    bounds = offsets[start : stop + 1]
    chosen = order[bounds[0] : bounds[-1]]
    kinds = Strings(links.sure[chosen].astype(np.int64), _KINDS)
    return Lists(bounds - bounds[0], Rows([Numbers(links.source[chosen]), Numbers(links.target[chosen]), kinds]))


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
