"""Which figures a caller sees: by level, by share, and with how many digits.

The feedback levels say how much of what depends on gold is shown. Of a split test set a caller sees the public share
until the benchmark closes, then the private one. Figures over so few sentences, or differences of figures, that they
tell about single ones are hidden. Documents, boards, exports and pictures are alike in all of this.

An exact score or p answers more questions about gold than a reader of a board has: the last digits of a score tell
single words, those of a p are a fingerprint of the counts. So figures are rounded to what they support, for all
callers but organisers while gold is secret. Exact values stay stored.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import IntEnum

import numpy as np

from service import errors, requests
from service.store import benchmarks, revisions
from treescore.core import arrays, wording


class Level(IntEnum):
    """How much is shown; each level includes those before it."""

    NONE = 0
    STATUS = 1
    ROUNDED = 2
    SCORES = 3
    ITEMS = 4
    GOLD = 5


LEVELS = {level.name.lower(): level for level in Level}
"""The levels by the names that benchmarks give them."""


def require(level: Level, needed: Level, what: str) -> None:
    """Check that the level shows `what`, a plural noun for the message.

    Raises:
        Forbidden: the level is too low; the message names the level that is needed.
    """
    if level < needed:
        raise not_shown(
            f"The organisers show {what} from feedback level {needed.name.lower()} on; the current level is "
            f"{level.name.lower()}."
        )


def not_shown(detail: str) -> errors.Forbidden:
    """Return the refusal of what a benchmark does not show; the detail names the rule, not what lies behind it."""
    return errors.Forbidden(detail, slug="not-shown")


SCORE_DIGITS = 4
"""Significant digits of a score."""
P_DIGITS = 2
"""Significant digits of a p."""
DIFFERENCE_DECIMALS = 4
"""Decimals of the difference of two exact scores."""


def rounded_score(value: float) -> float:
    """Return a score with SCORE_DIGITS significant digits that is printed as the score itself is, in percent.

    One of 0.042654, printed 4.27, would be 0.04265, which is printed 4.26: it is 0.04266 instead.
    """
    found = _significant(value, SCORE_DIGITS)
    if not 0.0 < abs(value) < 1.0 or f"{100 * found:.2f}" == f"{100 * value:.2f}":
        return found
    step = 10.0 ** (math.floor(math.log10(abs(value))) + 1 - SCORE_DIGITS)
    return _significant(found + math.copysign(step, value - found), SCORE_DIGITS)


_TENS = np.array([10.0**exponent for exponent in range(23)])
"""The powers of ten that are exact."""


def rounded_scores(values: arrays.FloatArray, digits: int = SCORE_DIGITS) -> arrays.FloatArray:
    """Return scores, or bounds of intervals, with so many significant digits, an array at once; NaN stays."""
    with np.errstate(divide="ignore", invalid="ignore"):
        places = digits - 1 - np.floor(np.log10(np.abs(values)))
        usual = (places >= 0) & (places < len(_TENS))
        factors = _TENS[np.where(usual, places, 0).astype(np.int64)]
        scaled = values * factors
        whole = np.rint(scaled)
        shown: arrays.FloatArray = whole / factors
        # beside a tie the product, which is rounded itself, does not tell on which side a score lies
        sure = usual & (np.abs(scaled - whole) < 0.5 - 1e-6) | np.isnan(values) | (values == 0.0)
        if digits == SCORE_DIGITS:  # nor do those that are printed, at a tie of theirs
            sure &= ~(np.abs(shown * 1e4 % 1.0 - 0.5) < 1e-6)
    for at in zip(*np.nonzero(~sure), strict=True):
        shown[at] = rounded_score(values[at]) if digits == SCORE_DIGITS else _significant(values[at], digits)
    return shown


def rounded_to_step(value: float, step: float) -> float:
    """Return the multiple of a step that is nearest to a score, which hides the exact value."""
    return round(round(value / step) * step, 12)


def rounded_bound(value: float) -> float:
    """Return a bound of an interval with BOUND_DIGITS significant digits."""
    return _significant(value, wording.BOUND_DIGITS)


def rounded_p(value: float) -> float:
    """Return a p with P_DIGITS significant digits, at least P_FLOOR, which stands for all p below it alone."""
    return wording.P_FLOOR if value < wording.P_FLOOR else max(0.00011, _significant(value, P_DIGITS))


def rounded_difference(value: float) -> float:
    """Return the difference of two exact scores with DIFFERENCE_DECIMALS decimals."""
    return round(value, DIFFERENCE_DECIMALS) + 0.0


def rounded_difference_bound(value: float) -> float:
    """Return a bound of a difference with BOUND_DIGITS significant digits and no more decimals than differences.

    Bounds of a small difference would otherwise have more decimals than it: their middle is its exact value. A bound
    beside 0 is not shown as 0: an interval leaves out 0 where its difference is significant.
    """
    rounded = rounded_difference(rounded_bound(value))
    return rounded or (math.copysign(10.0**-DIFFERENCE_DECIMALS, value) if value else 0.0)


def _significant(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


LEAST_SENTENCES = 10
"""Sentences from which on figures are shown at the levels `rounded` and `scores`."""
SUMS = 2
"""Figures over all parts, `macro` and `pooled`: with as many hidden parts, both together would give each of them."""

Gold = Mapping[str, revisions.Digests]
"""The digests of a revision's gold, by part."""


def hidden_parts(sizes: Mapping[str, int | None]) -> frozenset[str]:
    """Return the parts whose figures are hidden, among them POOLED where it would give a hidden one.

    All sentences of a benchmark together are no cell. What is hidden must not follow from what is shown: the hidden
    parts together have at least LEAST sentences, and are more than the sums over all parts that are shown; the
    smallest of the other parts are hidden with them.

    Args:
        sizes: part -> its number of sentences; None, unknown, counts as 0.
    """
    if len(sizes) < 2:
        return frozenset()
    by_size = sorted(sizes, key=lambda name: (sizes[name] or 0, name))
    hidden: list[str] = []
    together = 0
    for name in by_size:
        size = sizes[name] or 0
        if size >= LEAST_SENTENCES and (not hidden or (together >= LEAST_SENTENCES and len(hidden) > SUMS)):
            break
        hidden.append(name)
        together += size
    pooled = [requests.POOLED] if 0 < len(hidden) <= SUMS else []
    return frozenset([*hidden, *pooled])


def hidden_tracks(hidden: Collection[str], tracks: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return the tracks whose means are hidden: with the parts that are shown they would give hidden ones.

    A track that has all hidden parts tells of them what `macro` tells. One that has some of them would tell their sum,
    and with `macro` that of the others.

    Args:
        hidden: parts.
        tracks: name -> its parts.
    """
    small = {*hidden} - {requests.POOLED}
    return frozenset(name for name, parts in tracks.items() if small.intersection(parts) not in (set(), small))


def small_parts(sizes: Mapping[str, int | None]) -> list[str]:
    """Return the parts with fewer than LEAST sentences, which the organisers are warned of; unknown sizes are not."""
    return [name for name, size in sizes.items() if size is not None and size < LEAST_SENTENCES]


def hidden_revisions(active: int, golds: Mapping[int, Gold]) -> frozenset[int]:
    """Return the superseded revisions whose figures are hidden: with those shown they would tell single sentences.

    Newer ones are shown rather than older ones.

    Args:
        active: number of the active revision, which is always shown.
        golds: number of a revision -> its gold.
    """
    shown = [active]
    hidden: list[int] = []
    for number in sorted(set(golds) - {active}, reverse=True):
        near = any(small_difference(golds[number], golds[each]) for each in shown if each in golds)
        (hidden if near else shown).append(number)
    return frozenset(hidden)


def small_difference(one: Gold, other: Gold) -> bool:
    """Return whether figures of two revisions together tell about few sentences.

    They do where gold differs in some column in 1 to LEAST - 1 sentences, or it is not known in how many. They do too
    where one has parts that the other lacks and either hides parts: its sums over all parts would give those.

    Columns are looked at one by one: a change of all comments or lemmas must not cover one of a single head.
    """
    counts = differing(one, other)
    if counts is None or any(0 < count < LEAST_SENTENCES for count in counts):
        return True
    return set(one) != set(other) and any(hidden_parts(_sizes(gold)) for gold in (one, other))


def _sizes(gold: Gold) -> dict[str, int | None]:
    return {name: None if part.sentences is None else len(part.sentences[0]) for name, part in gold.items()}


def differing(one: Gold, other: Gold) -> Sequence[int] | None:
    """Return in how many sentences each column differs; None where a part has no digests of its sentences.

    The sentences of a part that only one of them has differ all.
    """
    counts: Counter[int] = Counter()
    for name in {**one, **other}:
        sides = [gold[name] for gold in (one, other) if name in gold]
        if len(sides) == 2 and sides[0].gold_key is not None and sides[0].gold_key == sides[1].gold_key:
            continue
        known = [side.sentences for side in sides if side.sentences is not None]
        if len(known) < len(sides) or len({len(columns) for columns in known}) > 1:
            return None
        for column in range(len(known[0])):
            first = Counter(known[0][column])
            second = Counter(known[1][column] if len(known) == 2 else ())
            counts[column] += max((first - second).total(), (second - first).total())
    return list(counts.values())


def rank_value(value: float | None) -> float | None:
    """Return a score with the digits by which boards pick and rank at most."""
    return None if value is None else rounded_score(value)


def shown_share(benchmark: benchmarks.Benchmark, at: datetime | None) -> str | None:
    """Return the share whose figures a benchmark shows at a moment (None: at all); None where there are no shares."""
    if benchmark.private_share is None:
        return None
    return requests.PRIVATE if at is not None and benchmark.closed(at) else requests.PUBLIC


def shares_of(benchmark: benchmarks.Benchmark) -> tuple[str | None, ...]:
    """Return the shares that have boards: both, or None alone where the test set is not split."""
    return (None,) if benchmark.private_share is None else requests.SHARES


FIXED_QUESTION = "fixed-question"


def fixed_question(detail: str) -> errors.Forbidden:
    """Return the refusal of a question that is not the benchmark's own."""
    return errors.Forbidden(detail, slug=FIXED_QUESTION)
