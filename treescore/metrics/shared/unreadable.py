"""Sentences of an output that could not be read, where the format was asked to go on without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of
from treescore.core.marks import NO_PARTNER, Marks, State
from treescore.core.trees import DependencyTreebank, ExpressionTreebank
from treescore.errors import Problem
from treescore.metrics.shared.words import complete

_COLUMNS = ("forms", "lemmas", "upos", "xpos", "feats", "heads", "deprels", "deps", "misc", "lines")


def unreadable_of(treebank: DependencyTreebank) -> BoolArray:
    """Return which sentences could not be read, bool (n,)."""
    found = np.zeros(len(treebank), np.bool_)
    found[list(treebank.sentences.unreadable)] = True
    return found


def first_unreadable(treebank: DependencyTreebank, cap: int) -> list[Problem]:
    """Return why sentences could not be read, of the first `cap` of them."""
    unreadable = treebank.sentences.unreadable
    return [unreadable[sentence] for sentence in sorted(unreadable)[:cap]]


def words_to_score(treebank: DependencyTreebank) -> BoolArray:
    """Return the words of sentences that could be read, bool (w,). Only heads are wrong of those that have others."""
    return np.asarray(~unreadable_of(treebank)[owners_of(treebank.word_offsets)], np.bool_)


def without_unreadable(treebank: DependencyTreebank) -> DependencyTreebank:
    """Return a treebank in which the sentences that could not be read are empty."""
    kept = words_to_score(treebank)
    if kept.all():
        return treebank
    shift = offsets_of(kept.astype(np.int64))
    tokens = kept[treebank.mwt_starts]
    nodes = ~unreadable_of(treebank)[treebank.empty_sentences]
    columns: dict[str, Any] = {name: getattr(treebank, name)[kept] for name in _COLUMNS}
    columns["word_offsets"] = shift[treebank.word_offsets]
    for name in ("mwt_starts", "mwt_ends", "mwt_forms", "mwt_misc"):
        columns[name] = getattr(treebank, name)[tokens]
    for name in ("mwt_starts", "mwt_ends"):
        columns[name] = shift[columns[name]]
    for name in ("empty_after", "empty_ids", "empty_deps", "empty_lines", "empty_sentences"):
        columns[name] = getattr(treebank, name)[nodes]
    columns["empty_after"] = shift[columns["empty_after"]]
    if isinstance(treebank, ExpressionTreebank):
        columns |= _expressions_of(treebank, kept, shift)
    return replace(treebank, **columns)


def _expressions_of(treebank: ExpressionTreebank, kept: BoolArray, shift: IntArray) -> dict[str, IntArray]:
    lengths = np.diff(treebank.expression_offsets)
    whole = kept[treebank.expression_words[treebank.expression_offsets[:-1]]]
    return {
        "expression_words": shift[treebank.expression_words[np.repeat(whole, lengths)]],
        "expression_offsets": offsets_of(lengths[whole]),
        "expression_ids": treebank.expression_ids[whole],
        "categories": treebank.categories[whole],
    }


def marks_of_all(marks: Marks | None, treebank: DependencyTreebank) -> Marks | None:
    """Return marks of `without_unreadable(treebank)` as those of the treebank: the words that it lacks stand alone."""
    kept = words_to_score(treebank)
    if marks is None or kept.all():
        return marks
    system = np.full(len(kept), int(State.ALONE), np.int64)
    system[kept] = marks.system
    partners = np.full(len(kept), NO_PARTNER, np.int64)
    partners[kept] = np.arange(len(marks.system)) if marks.partners is None else marks.partners
    firsts = None if marks.firsts is None else np.append(np.flatnonzero(kept), len(kept))[marks.firsts]
    return replace(marks, system=system, partners=partners, firsts=firsts)


def with_words_of_gold(gold: DependencyTreebank, system: DependencyTreebank) -> DependencyTreebank:
    """Give the sentences that could not be read gold's words and multiword tokens, so that the texts can be aligned.

    An output with another number of sentences is returned as it is: which of gold's stand there is not known.
    """
    if not system.sentences.unreadable or len(gold) != len(system):
        return system
    filled, absent, _ = complete(gold, system)
    own, starts = _tokens(system, filled, ~absent)
    golds, gold_starts = _tokens(gold, filled, absent)
    order = np.argsort(np.concatenate([starts, gold_starts]), kind="stable")

    def joined(mine: IntArray, others: IntArray) -> IntArray:
        column: IntArray = np.concatenate([mine, others])[order]
        return column

    lengths = system.mwt_ends - system.mwt_starts, gold.mwt_ends - gold.mwt_starts
    begins = joined(starts, gold_starts)
    return replace(
        filled,
        mwt_starts=begins,
        mwt_ends=begins + joined(lengths[0][own], lengths[1][golds]),
        mwt_forms=joined(system.mwt_forms[own], gold.mwt_forms[golds]),
        mwt_misc=joined(system.mwt_misc[own], gold.mwt_misc[golds]),
    )


def _tokens(side: DependencyTreebank, filled: DependencyTreebank, chosen: BoolArray) -> tuple[BoolArray, IntArray]:
    """Return which multiword tokens stand in the chosen sentences, and where they begin in the filled treebank."""
    owners = np.searchsorted(side.word_offsets, side.mwt_starts, "right") - 1
    kept = chosen[owners]
    owners = owners[kept]
    return kept, side.mwt_starts[kept] - side.word_offsets[owners] + filled.word_offsets[owners]
