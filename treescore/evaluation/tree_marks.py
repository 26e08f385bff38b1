"""Which units of an output's trees are wrong: as a metric saw them, or by a plain comparison."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from treescore.core import trees
from treescore.core.arrays import owners_of
from treescore.core.discontinuity import same_yields
from treescore.core.registry import Marks, Outcome, word_states
from treescore.core.structure import NONE
from treescore.errors import ScoringError
from treescore.evaluation.spec import Entry
from treescore.metrics.alignment.comparison import link_marks
from treescore.metrics.parseval.choices import EVALB
from treescore.metrics.parseval.details import paired_marks, span_marks
from treescore.metrics.semantic_dependencies import graph_marks


class MarkedBy(NamedTuple):
    """Marks, and the key of the metric entry that they are of; None for a plain comparison."""

    marks: Marks
    key: str | None


def edges_by(entries: Sequence[Entry]) -> Entry | None:
    """Return the entry whose enhanced edges are shown in place of trees; None where trees are shown.

    The first entry decides that compares heads, or edges as they were read.
    """
    for entry in entries:
        if entry.metric.compares_edges and not entry.steps:
            return entry
        if _compares_heads(entry):
            return None
    return None


def _compares_heads(entry: Entry) -> bool:
    return entry.metric.reads_heads and not entry.metric.compares_edges


def marks_of(
    entries: Sequence[Entry], outcomes: Mapping[str, Outcome], gold: trees.Treebank, system: trees.Treebank
) -> MarkedBy | None:
    """Return the marks of the first entry that makes some of the trees as they were read; else of a plain comparison.

    Args:
        entries: in the order in which they are asked.
        outcomes: by key.
        gold: as it was read.
        system: as it was read.

    Returns:
        None where the trees are not of one kind, or have other words, or no metric reads what their trees say.
    """
    shown = edges_by(entries)
    for entry in [shown] if shown else [entry for entry in entries if not entry.metric.compares_edges]:
        marks = None if entry.steps else outcomes[entry.key].marks()
        if marks is not None:
            return MarkedBy(marks, entry.key)
    if entries and isinstance(gold, trees.DependencyTreebank) and not any(_compares_heads(entry) for entry in entries):
        return None  # of other heads, no metric that was asked for says anything
    plain = _plain(gold, system)
    return None if plain is None else MarkedBy(plain, None)


def _plain(gold: trees.Treebank, system: trees.Treebank) -> Marks | None:
    match gold, system:
        case trees.DependencyTreebank(), trees.DependencyTreebank():
            return _words(gold, system)
        case trees.ConstituentTreebank(), trees.ConstituentTreebank():
            return _spans(gold, system)
        case trees.DiscontinuousTreebank(), trees.DiscontinuousTreebank():
            return _yields(gold, system)
        case trees.SemanticTreebank(), trees.SemanticTreebank():
            return graph_marks(gold, system)
        case trees.ParallelTreebank(), trees.ParallelTreebank():
            return _links(gold.alignment, system.alignment)
        case trees.Alignments(), trees.Alignments():
            return _links(gold, system)
        case _:
            return None


def _words(gold: trees.DependencyTreebank, system: trees.DependencyTreebank) -> Marks | None:
    if not (np.array_equal(gold.word_offsets, system.word_offsets) and np.array_equal(gold.forms, system.forms)):
        return None
    states = word_states(gold.heads == system.heads, gold.deprels == system.deprels)
    return Marks(system=states, gold=states)


def _spans(gold: trees.ConstituentTreebank, system: trees.ConstituentTreebank) -> Marks | None:
    return None if len(gold) != len(system) else span_marks(EVALB, gold, system, np.ones(len(gold), np.bool_))


def _yields(gold: trees.DiscontinuousTreebank, system: trees.DiscontinuousTreebank) -> Marks | None:
    """Compare constituents below the roots by label and set of words; None where the sentences have other names."""
    names = [list(each.sentences.sent_ids) for each in (gold, system)]
    if len(gold) != len(system) or (all(names) and names[0] != names[1]):
        return None
    sides = gold, system
    compared = np.diff(gold.word_offsets) == np.diff(system.word_offsets)
    compared[[*gold.sentences.unreadable, *system.sentences.unreadable]] = False
    owners = [owners_of(each.node_offsets) for each in sides]
    beyond = max(len(each.labels) for each in sides) + 1  # ends of yields without words are above its negative
    rows = [
        (number, spans.starts + 1, spans.ends + beyond, each.labels)
        for each, number, spans in zip(sides, owners, same_yields(gold, system), strict=True)
    ]
    left = [
        np.flatnonzero((each.parents != NONE) & compared[number]) for each, number in zip(sides, owners, strict=True)
    ]
    return paired_marks(rows, left)


def _links(gold: trees.Alignments, system: trees.Alignments) -> Marks | None:
    try:
        return link_marks(gold, system)
    except ScoringError:
        return None
