"""Graphs that an output lacks, and which edges of both sides are wrong, for pictures of both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of
from treescore.core.marks import Marks, State
from treescore.core.trees import SemanticTreebank
from treescore.metrics.semantic_dependencies.edges import Pairs, pairs_of


def lacking_graphs(gold: SemanticTreebank, system: SemanticTreebank) -> BoolArray:
    """Return the graphs of gold in whose place the output has no words, bool (n,)."""
    return np.asarray((np.diff(system.word_offsets) == 0) & (np.diff(gold.word_offsets) > 0), np.bool_)


def with_words_of(gold: SemanticTreebank, system: SemanticTreebank, lacking: BoolArray) -> SemanticTreebank:
    """Return the output with gold's words, without edges, for the graphs that it lacks, bool (n,)."""
    if not lacking.any():
        return system
    offsets = offsets_of(np.where(lacking, np.diff(gold.word_offsets), np.diff(system.word_offsets)))
    own = ~lacking[owners_of(offsets)]
    places = np.flatnonzero(own)
    blank = system.vocabulary.number("_")

    def column(values: IntArray, other: int) -> IntArray:
        filled = np.full(len(own), other, values.dtype)
        filled[own] = values
        return filled

    forms = column(system.forms, blank)
    forms[~own] = gold.forms[lacking[owners_of(gold.word_offsets)]]
    return replace(
        system,
        forms=forms,
        lemmas=column(system.lemmas, blank),
        tags=column(system.tags, blank),
        frames=column(system.frames, blank),
        tops=np.isin(np.arange(len(own)), places[system.tops]),
        predicates=np.isin(np.arange(len(own)), places[system.predicates]),
        lines=column(system.lines, 0),
        edge_predicates=places[system.edge_predicates],
        edge_arguments=places[system.edge_arguments],
        word_offsets=offsets,
    )


def graph_marks(gold: SemanticTreebank, system: SemanticTreebank) -> Marks | None:
    """Return the marks of two treebanks as they were read; None where their graphs or words differ."""
    names = [list(each.sentences.sent_ids) for each in (gold, system)]
    if len(gold) != len(system) or (all(names) and names[0] != names[1]):
        return None
    filled = with_words_of(gold, system, lacking_graphs(gold, system))
    same = np.array_equal(gold.word_offsets, filled.word_offsets) and np.array_equal(gold.forms, filled.forms)
    return marks_of_pairs(pairs_of(gold, filled)) if same else None


def marks_of_pairs(pairs: Pairs) -> Marks:
    """Return the marks of edges and tops; one that the other side has with another role is wrong by its label only."""
    found, right = pairs.found, pairs.right
    golds = np.where(right, int(State.RIGHT), np.where(found, int(State.LABEL), int(State.LINK)))
    systems = np.where(pairs.extra, int(State.LINK), int(State.RIGHT))
    systems[pairs.partners[found]] = golds[found]
    return Marks(system=systems, gold=golds)
