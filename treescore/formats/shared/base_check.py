"""Refuse links that look as if their words were counted from another number than the one that nobody stated."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.link_form import IN_A_BENCHMARK, LinkForm
from treescore.errors import InputError, Problem

FEWEST_PAIRS = 20
"""Sentence pairs with links from which on a text is judged."""
FEWEST_EXPECTED = 6.0
"""First words that should be linked, by how many words are, for the lack of one to be a sign: e^-6 is 0.25 %."""
NULL_SHARE = 0.1
"""Share of pairs that link NULL with NULL: no aligner does, but it is how first words look that are counted from 0."""
SECOND_SHARE = 0.25
"""Share of pairs that link second word and second word, for the lack of one that links the first ones to be a sign."""


def check_base(pairs: IntArray, source: IntArray, target: IntArray, form: LinkForm) -> None:
    """Check that links do not look as if words were counted from another base, unless the base is stated.

    Args:
        pairs: sentence pair of each of l links, int64 (l,).
        source: position of the source end, from 1, 0 is NULL, int64 (l,).
        target: that of the target end.
        form: how they were read.

    Raises:
        InputError: `alignment-base-not-stated`.
    """
    linked = len(np.unique(pairs))
    if form.stated or linked < FEWEST_PAIRS:
        return
    other = 1 - form.base
    if form.base == 1:
        null_pairs = _pairs_of(pairs, (source == 0) & (target == 0))
        if null_pairs >= NULL_SHARE * linked:
            raise InputError(_not_stated(f"{null_pairs} sentence pairs link NULL with NULL", form, other))
    firsts = (source == 1) | (target == 1)
    if not firsts.any():
        if max(_expected(pairs, side) for side in (source, target)) >= FEWEST_EXPECTED:
            sign = f"No first word of a sentence is linked in {linked} sentence pairs with links"
            raise InputError(_not_stated(sign, form, other if form.base == 0 else None))
    elif form.base == 0 and not ((source == 1) & (target == 1)).any():
        seconds = _pairs_of(pairs, (source == 2) & (target == 2))
        if seconds >= max(FEWEST_PAIRS // 2, SECOND_SHARE * linked):
            sign = f"No pair links 0 and 0, but {seconds} link 1 and 1"
            raise InputError(_not_stated(sign, form, other))


def base_problem(sign: str, form: LinkForm, wanted: LinkForm) -> Problem:
    """Describe a sign that numbers have another meaning than the one that nobody stated, and the format to name."""
    found = f"their words seem to be counted from {wanted.base}, not from {form.base}"
    if wanted.reversed != form.reversed:
        turned = "the text seems to write the other side's word first"
        found = turned if wanted.base == form.base else f"{found}, and {turned}"
    detail = (
        f"{sign}. The format {form.format!r} counts words from {form.base} unless it is told: {found}. If so, name the "
        f"format {wanted.words}; to keep this reading, {form.with_base(form.base).value}. (Commands: --format for "
        f"gold, --system-format for outputs.) {IN_A_BENCHMARK}"
    )
    return Problem("alignment-base-not-stated", detail)


def _not_stated(sign: str, form: LinkForm, other: int | None) -> Problem:
    if other is not None:
        return base_problem(sign, form, form.with_base(other))
    detail = (
        f"{sign}: the numbers seem not to be those of words. If words do count from {form.base}, state it: the format "
        f"{form.with_base(form.base).words}. {IN_A_BENCHMARK}"
    )
    return Problem("alignment-base-not-stated", detail)


def _pairs_of(pairs: IntArray, mask: BoolArray) -> int:
    return len(np.unique(pairs[mask]))


def _expected(pairs: IntArray, side: IntArray) -> float:
    """Return how many sentences' first words should be linked if words were linked without regard to their place.

    The length of a sentence with k linked words, the last of them at m, is about m (1 + 1/k) - 1.
    """
    ends = np.unique(np.stack([pairs[side > 0], side[side > 0]]), axis=1)
    if not ends.shape[1]:
        return 0.0
    last = np.append(np.flatnonzero(np.diff(ends[0])), ends.shape[1] - 1)
    linked = np.diff(last, prepend=-1)
    lengths = ends[1, last] * (1 + 1 / linked) - 1
    return float(len(last) * linked.sum() / lengths.sum())
