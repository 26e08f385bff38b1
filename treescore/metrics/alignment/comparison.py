"""Compare the links of an output with gold's: counts of a sentence pair and scores of them, items and marks.

Among them is what a sentence pair costs for which an output has no link, and which outputs probably number their words
otherwise than they were read.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, FloatArray, Int32Array, IntArray, offsets_of, sums_by
from treescore.core.columns import Lists, Numbers, Records, Rows, Strings
from treescore.core.params import Json
from treescore.core.registry import NO_PARTNER, SKIP, Marks, MarkState, Outcome, TokenBits, all_ok
from treescore.core.scores import Joined, Ratio, Score, ScoreTable, errors_param, harmonic, matched_scores, ratio_score
from treescore.core.text import Limits
from treescore.core.trees import IN_A_BENCHMARK, Alignments, LinkForm
from treescore.errors import InputError, Problem
from treescore.formats.shared.links import FEWEST_PAIRS
from treescore.metrics.alignment import link_sets

LINK_COUNTS = ("links", "sure", "possible", "links_in_sure", "links_in_possible", "sure_links", "sure_links_in_sure")
OF_LINKS = ("aligned_source_words", "aligned_target_words", "internal_jumps", "external_jumps")
WORD_COUNTS = (*OF_LINKS, "source_words", "target_words")
"""What the links of an output say of its words, and how many words it has, 0 where lengths are not known."""
COUNT_NAMES = (*LINK_COUNTS, *WORD_COUNTS)
AER = Ratio({"links_in_sure": 1, "links_in_possible": 1}, {"links": 1, "sure": 1}, one_minus=True)
_OCH_NEY = (Ratio({"links_in_possible": 1}, {"links": 1}), Ratio({"links_in_sure": 1}, {"sure": 1}))
_NO_LINKS = "the output has no link"
_NO_SURE = "gold has no sure link"
_NO_LENGTHS = "the numbers of words are not known"
Texts = tuple[str, str, str]
_UNDEFINED = "Och & Ney's precision or recall is undefined"


def weighted_harmonic(alpha: float) -> Joined:
    """Return a function that joins P and R to 1 / (alpha / P + (1 - alpha) / R): 0 where either is 0."""

    def mean(ratios: Sequence[FloatArray]) -> FloatArray:
        precision, recall = ratios
        product = np.asarray(precision * recall)
        total = alpha * recall + (1 - alpha) * precision
        return np.divide(product, total, out=np.where(np.isnan(product), np.nan, 0.0), where=product > 0)

    return mean


def table_of(alpha: float) -> ScoreTable:
    """Return the scores, with the F-measure of Fraser & Marcu for this weight of precision."""
    fraser_marcu = Score(
        name="alpha_f",
        doc="F-measure of Fraser & Marcu: 1 / (alpha / P + (1 - alpha) / R) of Och & Ney's precision and recall.",
        ratios=_OCH_NEY,
        join=weighted_harmonic(alpha),
        undefined=_UNDEFINED,
        one_sided=alpha in (0.0, 1.0),
    )
    return ScoreTable(COUNT_NAMES, (*_SCORES, fraser_marcu, *_COVERAGE))


def _of_links(begin: str, docs: Texts, counts: Texts, undefined: Texts) -> Sequence[Score]:
    f1, precision, recall = matched_scores(begin, docs, counts, undefined, one_sided=(True, True))
    return precision, recall, f1


AER_SCORE = Score(
    name="aer",
    doc="Alignment error rate: 1 - (|A&S| + |A&P|) / (|A| + |S|); lower is better.",
    ratios=(AER,),
    higher_is_better=False,
    undefined="neither gold has a sure link nor the output a link",
)
_share = partial(ratio_score, one_sided=True)
_SCORES = (
    AER_SCORE,
    *_of_links(
        "sure_",
        (
            "F1 over sure links.",
            "Share of the output's own sure links that are sure in gold.",
            "Share of gold's sure links that the output has as sure.",
        ),
        ("sure_links_in_sure", "sure", "sure_links"),
        ("neither gold nor the output has a sure link", "the output has no sure link", _NO_SURE),
    ),
    *_of_links(
        "possible_",
        (
            "F1 over all links.",
            "Share of the output's links that gold has, sure or possible.",
            "Share of gold's links, sure and possible, that the output has.",
        ),
        ("links_in_possible", "possible", "links"),
        ("neither gold nor the output has a link", _NO_LINKS, "gold has no link"),
    ),
    _share(
        "och_ney_precision",
        "Och & Ney's precision: links that gold has, sure or possible, among the output's.",
        *("links_in_possible", "links"),
        undefined=_NO_LINKS,
    ),
    _share(
        "och_ney_recall",
        "Och & Ney's recall: gold's sure links that the output has.",
        *("links_in_sure", "sure"),
        undefined=_NO_SURE,
    ),
    Score(
        name="och_ney_f1",
        doc="Harmonic mean of Och & Ney's precision and recall.",
        ratios=_OCH_NEY,
        join=harmonic,
        undefined=_UNDEFINED,
    ),
)
_COVERAGE = tuple(
    _share(
        f"{side}_coverage",
        f"Share of the {side} words that the output links.",
        *(f"aligned_{side}_words", f"{side}_words"),
        undefined=_NO_LENGTHS,
    )
    for side in ("source", "target")
)


LINK_ERRORS = errors_param("Sentence pairs for which gold has links and the output none", "without effect on precision")


def unanswered(gold: link_sets.Links, system: link_sets.Links, pairs: int) -> BoolArray:
    """Find the pairs for which gold has links and the output none, bool (n,)."""
    return np.asarray((sums_by(gold.rows, pairs) > 0) & (sums_by(system.rows, pairs) == 0), np.bool_)


def charge_links(rows: IntArray, names: tuple[str, ...], empty: BoolArray) -> None:
    """Count the pairs in `empty`, bool (n,), as if the output had gold's links there, all marked as sure and wrong."""
    for own in ("links", "sure_links"):
        rows[empty, names.index(own)] = rows[empty, names.index("possible")]
    for right in ("links_in_sure", "links_in_possible", "sure_links_in_sure"):
        rows[empty, names.index(right)] = 0


_KINDS = ("P", "S")
_SURE = _KINDS[1]


class Comparison(NamedTuple):
    """A system's links compared with gold's over n sentence pairs: which links are right.

    Attributes:
        gold, system: the links.
        in_possible, in_sure: whether gold has each of the system's links, and has it as sure, bool (system links,).
        found_in_system, found_as_sure: whether the system has each of gold's links, and has it as sure, bool
            (gold links,).
        pairs: number of sentence pairs.
    """

    gold: link_sets.Links
    system: link_sets.Links
    in_possible: BoolArray
    in_sure: BoolArray
    found_in_system: BoolArray
    found_as_sure: BoolArray
    pairs: int

    @property
    def rows(self) -> IntArray:
        """Counts of each pair, int64 (n, 7), columns as LINK_COUNTS."""
        gold, system = self.gold, self.system
        columns = (
            (system, ...),
            (gold, gold.sure),
            (gold, ...),
            (system, self.in_sure),
            (system, self.in_possible),
            (system, system.sure),
            (system, system.sure & self.in_sure),
        )
        return np.stack([sums_by(side.rows[which], self.pairs) for side, which in columns], axis=1)


def compare_links(index: link_sets.GoldIndex, system: link_sets.Links, pairs: int) -> Comparison:
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


def outcome_of(comparison: Comparison, warnings: list[Problem], empty: BoolArray, *, zero: bool) -> Outcome:
    """Make the outcome: counts, bits of gold's links, and the links that are wrong or missed.

    With `zero`, the pairs in `empty`, bool (n,), are charged (`charge_links`).
    """
    rows, status = comparison.rows, all_ok(comparison.pairs)
    if zero:
        status[empty] = SKIP
        charge_links(rows, LINK_COUNTS, empty)
    gold, system = comparison.gold, comparison.system
    wrong = _by_pair(system, ~comparison.in_possible, comparison.pairs)
    missed = _by_pair(gold, ~comparison.found_in_system, comparison.pairs)

    def details(start: int, stop: int) -> Records:
        return Records({"wrong": _listed_links(*wrong, start, stop), "missed": _listed_links(*missed, start, stop)})

    return Outcome(
        rows=rows,
        status=status,
        unanswered=empty,
        tokens={
            "sure_recall": _bits(gold, comparison.found_as_sure, gold.sure, comparison.pairs),
            "possible_recall": _bits(gold, comparison.found_in_system, np.ones_like(gold.sure), comparison.pairs),
        },
        warnings=warnings,
        details=details,
    )


def _bits(gold: link_sets.Links, bits: BoolArray, mask: BoolArray, pairs: int) -> TokenBits:
    _, chosen, offsets = _by_pair(gold, mask, pairs)
    return TokenBits(bits[chosen], offsets)


def _by_pair(links: link_sets.Links, mask: BoolArray, pairs: int) -> tuple[link_sets.Links, Int32Array, IntArray]:
    chosen = link_sets.by_row(links.rows, mask).astype(np.int32)
    return links, chosen, offsets_of(sums_by(links.rows[chosen], pairs))


def _listed_links(links: link_sets.Links, order: Int32Array, offsets: IntArray, start: int, stop: int) -> Lists:
    bounds = offsets[start : stop + 1]
    chosen = order[bounds[0] : bounds[-1]]
    kinds = Strings(links.sure[chosen].astype(np.int64), _KINDS)
    ends = (Numbers(end[chosen].astype(np.int64)) for end in (links.source, links.target))
    return Lists(bounds - bounds[0], Rows([*ends, kinds]))


def link_errors(links: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """Return the wrong links of a pair, then the missed sure ones."""
    for kind in ("wrong", "missed"):
        for source, target, sure in links.get(kind, ()):
            if kind == "wrong" or sure == _SURE:
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
        yield {**row, "error": "missed" if lacking and _KINDS[sure] == _SURE else ""}
    for source, target, sure in links["wrong"]:
        yield {"source": source, "target": target, "link": sure, "gold": "", "system": "x", "error": "wrong"}


MIN_FALL = 0.1
"""By how much, and by at least a quarter, AER must fall under another reading for a warning."""


def readings_checked(
    gold: link_sets.Links,
    system: link_sets.Links,
    pairs: int,
    lengths: IntArray | None,
    limits: Limits,
    forms: tuple[LinkForm | None, LinkForm | None],
) -> list[Problem]:
    """Return a warning if an output fits gold far better under another reading of its indices, or is out of range.

    `forms` are how gold and the output were read.

    Raises:
        InputError: as `check_range`, unless under another reading all links are in range, and the base is stated or
            the text is too small to be judged.
    """
    form = forms[1]
    believed = form is None or form.stated or len(np.unique(system.rows)) < FEWEST_PAIRS
    reading, fall = better_reading(gold, system, pairs, lengths)
    warnings = [] if reading is None else [misread_warning(reading, fall, *forms)]
    swapped = _swapped(gold, system)
    if lengths is None:
        return warnings + swapped
    try:
        link_sets.check_range(system, lengths, (), limits.max_problems, form)
    except InputError as outside:
        # whether it is refused must not tell how well the output fits gold
        if not believed or all(link_sets.out_of_range(links, lengths).any() for _, links in link_sets.readings(system)):
            raise
        return (warnings or list(outside.problems)) + swapped
    return warnings + swapped


def _swapped(gold: link_sets.Links, system: link_sets.Links) -> list[Problem]:
    """Warn of an output with possible links beside a gold without any."""
    if not len(gold) or not gold.sure.all() or system.sure.all():
        return []
    detail = (
        "The output has possible links, gold has none: the two may be swapped. Give gold first. If they are not "
        "swapped, the output's possible links count as all others."
    )
    return [Problem("alignment-swapped", detail)]


def better_reading(
    gold: link_sets.Links, system: link_sets.Links, pairs: int, lengths: IntArray | None
) -> tuple[link_sets.Reading | None, tuple[float, float]]:
    """Find another reading of the system's indices under which AER falls steeply.

    Links to NULL are ignored: under a wrong base many links only look like links to NULL.

    Returns:
        The reading or None; and AER as read and under the best reading.
    """
    index = link_sets.GoldIndex(link_sets.without_null(gold))
    as_read = _aer_of(compare_links(index, link_sets.without_null(system), pairs).rows)
    best: link_sets.Reading | None = None
    lowest = as_read
    if len(system) >= 2 and as_read > MIN_FALL:
        for reading, links in link_sets.readings(system):
            if lengths is not None and link_sets.out_of_range(links, lengths).any():
                continue
            rate = _aer_of(compare_links(index, link_sets.without_null(links), pairs).rows)
            if rate < lowest:
                best, lowest = reading, rate
    steep = as_read - lowest >= MIN_FALL and lowest <= 0.75 * as_read
    return (best if steep else None), (as_read, lowest)


def misread_warning(
    reading: link_sets.Reading, fall: tuple[float, float], gold: LinkForm | None, form: LinkForm | None
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
    gold_detail = f"{detail} AER over links between words falls from {fall[0]:.4f} to {fall[1]:.4f}."
    return Problem("alignment-suspicious-indices", detail, gold_detail=gold_detail)


def _aer_of(rows: IntArray) -> float:
    """Return AER of summed counts, NaN where undefined."""
    return float(AER.of(*AER.terms(LINK_COUNTS, rows.sum(axis=0))))


def link_marks(
    gold: Alignments, system: Alignments, *, golds: BoolArray | None = None, systems: BoolArray | None = None
) -> Marks:
    """Return the marks of two alignments as they were read; a missed possible link does not count as an error.

    Args:
        gold: the gold alignment of g links.
        system: an output of s links.
        golds: which of gold's links are compared, bool (g,); all unless given. The others are right.
        systems: which of the output's are, bool (s,).

    Raises:
        InputError: their pairs cannot be matched.
    """
    rows, _ = link_sets.matched_pairs(gold, system)
    golds = np.ones(len(gold.source), np.bool_) if golds is None else golds
    systems = np.ones(len(system.source), np.bool_) if systems is None else systems
    partners = link_sets.GoldIndex(link_sets.links_of(gold).only(golds)).find(link_sets.links_of(system, rows))
    right = partners >= 0
    found = np.zeros(len(golds), np.bool_)
    found[np.flatnonzero(golds)[partners[right & systems]]] = True
    sentences = np.full(len(gold), NO_PARTNER, np.int64)
    known = np.flatnonzero(rows >= 0)
    sentences[rows[known]] = known
    return Marks(
        system=np.where(right | ~systems, int(MarkState.RIGHT), int(MarkState.LINK)),
        gold=np.where(found | ~gold.sure | ~golds, int(MarkState.RIGHT), int(MarkState.LINK)),
        sentences=sentences,
    )
