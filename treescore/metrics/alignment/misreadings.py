"""Outputs whose numbers were probably read otherwise than they were written."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.limits import Limits
from treescore.core.link_form import IN_A_BENCHMARK, LinkForm
from treescore.errors import Problem
from treescore.formats.shared.base_check import FEWEST_PAIRS
from treescore.metrics.alignment.comparison import compare_links
from treescore.metrics.alignment.link_sets import (
    GoldIndex,
    Links,
    Reading,
    check_range,
    out_of_range,
    readings,
    without_null,
)
from treescore.metrics.alignment.table import AER, LINK_COUNTS

MIN_FALL = 0.1
"""By how much, and by at least a quarter, AER must fall under another reading for a warning."""


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
    as_read = _aer_of(compare_links(index, without_null(system), pairs).rows)
    best: Reading | None = None
    lowest = as_read
    if len(system) >= 2 and as_read > MIN_FALL:
        for reading, links in readings(system):
            if lengths is not None and out_of_range(links, lengths).any():
                continue
            rate = _aer_of(compare_links(index, without_null(links), pairs).rows)
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


def _aer_of(rows: IntArray) -> float:
    """Return AER of summed counts, NaN where undefined."""
    return float(AER.of(*AER.terms(LINK_COUNTS, rows.sum(axis=0))))
