"""A claim for tests of parsers: the new output is not worse than the old one by more than a margin.

    from treescore.testing import assert_not_worse
    assert_not_worse("gold.conllu", "old.conllu", "new.conllu", score="ud.las_f1", margin=0.002)

That a difference is not significant does not show that there is none. This asks the other way round: it fails unless
the test set rules out that the new output is worse by the margin.
"""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treescore import api
from treescore.core.arrays import FloatArray
from treescore.core.params import Choice, Json
from treescore.core.scores import Score
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.core.wording import DIFFERENT_SENTENCES, FRACTION, PERCENT, counted, ends, figures_of, p_words, unit_word
from treescore.errors import InputError, Problem, TreescoreWarning
from treescore.evaluation.document import warning_lines
from treescore.evaluation.report import find_score, runs_by_system
from treescore.render.crosstable import bounds, shown_interval
from treescore.results import Result
from treescore.significance.law import FEWEST_FOR_MARGIN
from treescore.sources.texts import Source

SHOWN = 5
"""Sentences that a failure shows."""
TINY = 1e-12
"""Differences of scores below it are rounding."""
OLD, NEW = "old", "new"
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Loss:
    """A sentence that the new output has worse.

    Attributes:
        number: of the sentence, from 1.
        sent_id: its name in gold, if it has one.
        old: its score in the old output; None where undefined.
        new: the same of the new output.
        loss: what it costs of the score of the whole text.
    """

    number: int
    sent_id: str | None
    old: float | None
    new: float | None
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NotWorse:
    """What the claim that the new output is not worse stands on. `str()` gives it as lines of text.

    Attributes:
        score: its address.
        margin: in units of the score.
        old: score of the old output; None where undefined.
        new: score of the new output.
        difference: the new score less the old one.
        interval: of the difference, two-sided at `level`; None where there is none.
        level: of the interval.
        p: of the one-sided test; None where it was not possible.
        alpha: that p may reach at most.
        units: what was drawn (`sentence`, `block`, ...).
        unit_count: how many.
        established: whether the claim is shown.
        reason: why it is, or is not, and what to do.
        notes: what the claim is about, and how it is read.
        warnings: on the texts and on the comparison.
        losses: sentences that the new output has worse, the worst ones first.
        losses_total: how many there are.
        percent: whether scores are shown as percent.
        result: of scoring both, for further questions: `result.errors("new")`, `result.diff("old", "new")`.
    """

    score: str
    margin: float
    old: float | None
    new: float | None
    difference: float | None
    interval: Interval | None
    level: float
    p: float | None
    alpha: float
    units: str
    unit_count: int
    established: bool
    reason: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    losses: tuple[Loss, ...]
    losses_total: int
    percent: bool
    result: Result = field(repr=False, compare=False)

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    @property
    def unit_words(self) -> str:
        """The units with their number, as `7 documents`."""
        return counted(self.unit_count, unit_word(self.units))

    def shown(self, value: float | None, *, sign: bool = False) -> str:
        """Return a score or difference as it is printed: percent with two decimals where its range is 0 to 1."""
        if value is None:
            return "undefined"
        figures = figures_of(PERCENT if self.percent else FRACTION, share=self.percent)
        return figures.signed(value) if sign else figures.value(value)

    def amount(self, value: float) -> str:
        """Return a margin or loss with its unit."""
        return f"{100 * value:.4g} points of percent" if self.percent else f"{value:.4g}"


def assert_not_worse(  # noqa: PLR0913 - the arguments of `treescore.score` and a few more
    gold: Source,
    old: Source | Sequence[Source],
    new: Source | Sequence[Source],
    score: str = "ud.las_f1",
    margin: float = 0.002,
    *,
    metric: Choice | None = None,
    format: Choice | None = None,  # noqa: A002 - as in `treescore.score`
    system_format: Choice | None = None,
    transforms: Choice | Sequence[Choice] = (),
    items: Mapping[str, Json] | None = None,
    significance: Mapping[str, Json] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> NotWorse:
    """Fail unless the test set shows that `new` is not worse than `old` by more than a margin.

    The test is one-sided, at 5 % unless `significance` sets another `alpha`. Where the outputs leave out different
    sentences, it is of the scores with these charged (`errors: zero`). From 20 units (documents, where gold marks
    them; else sentences) on a claim can be shown. The very same text as before passes.

    Args:
        gold: the gold standard, as in `treescore.score`.
        old: the output that is known, or a list of outputs of several training runs.
        new: the output, or outputs, to judge.
        score: address of the score, as `ud.las_f1`; a metric's name stands for its main score.
        margin: the loss that does not matter, in units of the score: 0.002 are 0.2 points of percent.
        metric: the metric with its parameters, where they are not the usual ones.
        format: as in `treescore.score`.
        system_format: as in `treescore.score`.
        transforms: as in `treescore.score`.
        items: as in `treescore.score`.
        significance: further settings of the comparison, as `{"unit": "sentence", "alpha": 0.01}`.
        limits: bounds on the texts.

    Returns:
        What the claim stands on.

    Raises:
        AssertionError: the claim is not shown; the message has scores, interval, p, and the sentences that got worse.
        ScoringError: a text cannot be read or scored, or an argument is wrong.

    Warns:
        TreescoreWarning: the claim is shown, and something is unusual in a text, a parameter or the test.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    found = not_worse(
        gold, old, new, score, margin, metric=metric, format=format, system_format=system_format,
        transforms=transforms, items=items, significance=significance, limits=limits,
    )  # fmt: skip
    if not found.established:
        raise AssertionError(str(found))
    for line in found.warnings:
        warnings.warn(line, TreescoreWarning, stacklevel=2)
    return found


def not_worse(
    gold: Source,
    old: Source | Sequence[Source],
    new: Source | Sequence[Source],
    score: str = "ud.las_f1",
    margin: float = 0.002,
    *,
    metric: Choice | None = None,
    significance: Mapping[str, Json] | None = None,
    **options: Any,
) -> NotWorse:
    """Tell whether `new` is shown not to be worse, without failing. Arguments and errors as of `assert_not_worse`."""
    settings = {**(significance or {}), "scores": [score], "margin": margin}
    outputs = {OLD: old, NEW: new}
    for name, value, kind in (("score", score, str), ("margin", margin, (int, float))):
        if not isinstance(value, kind):
            detail = f"Invalid {name} {value!r}. Write score='ud.las_f1', margin=0.002."
            raise InputError(Problem("bad-parameter", detail, pointer=f"/{name}"))
    chosen = score.partition(".")[0] if metric is None else metric
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TreescoreWarning)  # `NotWorse.warnings` has them
        result = api.score(gold, outputs, chosen, significance=settings, **options)
    return _judged(result, margin)


def _judged(result: Result, margin: float) -> NotWorse:
    [document] = result.comparisons
    [pair] = document["pairs"]
    entry, score = find_score(result.report.spec, document["score"])
    tested = (pair.get("noninferiority") or {}).get(NEW, {})
    losses = _losses(result, entry.key, score)
    interval = shown_interval(pair)
    found = NotWorse(
        score=document["score"],
        margin=margin,
        old=pair["score_a"],
        new=pair["score_b"],
        difference=None if pair["difference"] is None else 0.0 - pair["difference"],
        interval=_turned(*bounds(interval)),
        level=document["signature"]["level"] if interval is None else interval["level"],
        p=tested.get("p_adjusted"),
        alpha=document["alpha"],
        units=document["units"],
        unit_count=pair.get("unit_count") or document["unit_count"],
        established=bool(tested.get("established")),
        reason="",
        notes=tuple(document["notes"]),
        warnings=tuple(dict.fromkeys([*warning_lines(result.warnings), *document["warnings"]])),
        losses=tuple(losses[:SHOWN]),
        losses_total=len(losses),
        percent=score.is_share,
        result=result,
    )
    if _same_text(result):
        return replace(found, established=True, reason="Both outputs are the same text.")
    return replace(found, reason=_reason(found, pair, score.sign))


def _turned(low: float | None, high: float | None) -> Interval | None:
    """Return the interval of the new score less the old one, from that of the pair, which is old less new."""
    if low is None and high is None:
        return None
    low, high = ends(low, high)
    return -high, -low


def _same_text(result: Result) -> bool:
    """Tell whether old and new are the same texts."""
    texts: dict[str, list[str]] = {}
    for name, runs in runs_by_system(result.systems).items():
        texts[name] = [result.systems[run].digest for run in runs]
    return texts[OLD] == texts[NEW]


def _reason(found: NotWorse, pair: Mapping[str, Json], sign: float) -> str:
    """Say why the claim is shown or not, and what to do."""
    if found.established:
        return f"At the level {found.alpha:g}, the test set rules out a loss of {found.amount(found.margin)}."
    if found.difference is None or found.p is None:
        return f"It was not tested: {pair.get('reason') or 'a score is undefined'}."
    if any(line.startswith(DIFFERENT_SENTENCES) for line in found.warnings):
        return (
            "With sentences that could not be scored charged, the test set does not rule out a loss of "
            f"{found.amount(found.margin)}."
        )
    loss = -sign * found.difference
    if loss > found.margin:
        return f"The new score is worse by {found.amount(loss)}, which is more than the margin."
    if found.unit_count < FEWEST_FOR_MARGIN:
        instead = ""
        if found.units == "block":
            instead = ', or set significance={"unit": "sentence"}: the claim is then about these very documents'
        return f"{found.unit_words} are too few: {FEWEST_FOR_MARGIN} are needed. Use a larger test set{instead}."
    verdict = "worse, but within the margin" if loss > 0 else "not worse"
    return (
        f"The new score is {verdict}; {found.unit_words} are too few to rule out a loss of "
        f"{found.amount(found.margin)}. Use a larger test set, or a larger margin."
    )


def _losses(result: Result, key: str, score: Score) -> list[Loss]:
    """Return the sentences that cost score, the most costly first: by what exchanging this sentence alone changes."""
    names = find_score(result.report.spec, key)[0].metric.table.count_names
    rows = {
        name: np.mean([result.report.outcomes[run][key].rows for run in runs], axis=0)
        for name, runs in runs_by_system(result.systems).items()
    }
    old, new = rows[OLD], rows[NEW]
    total = old.sum(axis=0)
    lost = score.sign * (score.of(names, total) - score.of(names, total - old + new))
    values = {name: score.of(names, counts) for name, counts in rows.items()}
    sent_ids = result.report.gold.sentences.sent_ids
    order = [int(index) for index in np.argsort(-lost, kind="stable") if lost[index] > TINY]
    return [
        Loss(
            index + 1,
            sent_ids[index] if index < len(sent_ids) else None,
            _number(values[OLD], index),
            _number(values[NEW], index),
            float(lost[index]),
        )
        for index in order
    ]


def _number(values: FloatArray, index: int) -> float | None:
    value = float(values[index])
    return value if math.isfinite(value) else None


def _lines(found: NotWorse) -> Iterator[str]:
    verdict = "is shown not to be" if found.established else "is not shown not to be"
    yield f"new {verdict} worse than old by more than {found.amount(found.margin)} on {found.score}"
    yield found.reason
    yield f"  old         {found.shown(found.old)}"
    yield f"  new         {found.shown(found.new)}"
    yield f"  difference  {found.shown(found.difference, sign=True)}{_interval_words(found)}"
    p = "not tested" if found.p is None else f"p {p_words(found.p)}, needed at most {found.alpha:g}"
    yield f"  test        {p}; one-sided, {found.unit_words}"
    for note in found.notes:
        yield f"  note        {note}"
    for warning in found.warnings:
        yield f"  warning     {warning}"
    if found.losses:
        worst = f"; the worst {len(found.losses)}" if found.losses_total > len(found.losses) else ""
        yield f"sentences that got worse ({found.losses_total}{worst}):"
        for loss in found.losses:
            name = "" if loss.sent_id is None else f" ({loss.sent_id})"
            yield f"  sentence {loss.number}{name}: {found.shown(loss.old)} -> {found.shown(loss.new)}"
        if not found.established and _told_by_errors(found):
            worst_one = found.result.errors(NEW, found.score.partition(".")[0], sentence=found.losses[0].number)
            yield f"\n{worst_one.to_text().rstrip()}"


def _told_by_errors(found: NotWorse) -> bool:
    """Tell whether the errors of the new output are what this score counts: of one run, under the main score."""
    entry, score = find_score(found.result.report.spec, found.score)
    return score.name == entry.metric.table.scores[0].name and len(found.result.systems) == 2


def _interval_words(found: NotWorse) -> str:
    if found.interval is None:
        return ""
    low, high = (found.shown(bound, sign=True) for bound in found.interval)
    return f", {found.level:.0%} interval {low} to {high}"
