"""Put the sentences of an output into the order of gold where both name them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.counting import counted
from treescore.core.discontinuity import ROOT
from treescore.core.structure import NONE
from treescore.core.treebank_columns import ranges_of
from treescore.core.trees import DiscontinuousTreebank, SemanticTreebank, Sentences, Treebank
from treescore.errors import InputError, Problem

NAMED = (DiscontinuousTreebank, SemanticTreebank)
"""Treebanks whose sentences are matched by their names."""
_SEND_ALL = "Sentences are matched by their names. Send all; where the parser failed, send the words under the root."
_EMPTY_GRAPH = "Graphs are matched by their ids. One that is lacking counts as empty. Send all."


def in_order_of_gold(gold: Treebank, system: Treebank, *, fill: bool) -> Treebank:
    """Return the output with gold's sentences in gold's order, by their names; unchanged where a side has none.

    Only treebanks whose formats give names to match sentences by (`NAMED`) are put in order.

    Args:
        gold: the gold treebank.
        system: an output.
        fill: whether a sentence that the output lacks is one that cannot be read; else it is an error. A graph that it
            lacks always is one.

    Raises:
        InputError: `sentence-not-in-gold`, `sentence-missing`.
    """
    if not isinstance(gold, NAMED) or not isinstance(system, type(gold)):
        return system
    names, others = gold.sentences.sent_ids, system.sentences.sent_ids
    if not (names and others) or None in names or None in others or list(names) == list(others):
        return system
    known = set(names)
    unknown = [index for index, name in enumerate(others) if name not in known]
    if unknown:
        raise InputError(_not_in_gold(system, unknown))
    place = {name: index for index, name in enumerate(others)}
    rows = np.array([place.get(name, NONE) for name in names], np.int64)
    missing = np.flatnonzero(rows == NONE).tolist()
    advice = _EMPTY_GRAPH if isinstance(system, SemanticTreebank) else _SEND_ALL
    problems = {index: _missing(index, names[index], len(missing), advice) for index in missing}
    if problems and not fill and not isinstance(system, SemanticTreebank):
        raise InputError(problems[missing[0]])
    sentences = Sentences(
        sent_ids=names,
        unreadable={
            **problems,
            **{index: system.sentences.unreadable[row] for index, row in enumerate(rows.tolist())
               if row in system.sentences.unreadable},
        },
        warnings=system.sentences.warnings,
        advice=system.sentences.advice,
    )  # fmt: skip
    if isinstance(system, SemanticTreebank):
        return _graphs_taken(system, rows, sentences)
    return _taken(system, rows, sentences)


def _taken(treebank: DiscontinuousTreebank, rows: IntArray, sentences: Sentences) -> DiscontinuousTreebank:
    """Return some sentences in another order; row NONE is a sentence without words."""
    missing = rows == NONE
    node_lengths, word_lengths = (np.diff(offsets) for offsets in (treebank.node_offsets, treebank.word_offsets))
    nodes, node_offsets = ranges_of(treebank.node_offsets[rows], np.where(missing, 1, node_lengths[rows]))
    words, word_offsets = ranges_of(treebank.word_offsets[rows], np.where(missing, 0, word_lengths[rows]))
    shifts = node_offsets[:-1] - treebank.node_offsets[rows]
    roots = node_offsets[:-1][missing]
    nodes[roots] = 0
    parents = treebank.parents[nodes]
    parents = np.where(parents == NONE, NONE, parents + np.repeat(shifts, np.diff(node_offsets)))
    labels, functions = treebank.labels[nodes], treebank.functions[nodes]
    parents[roots], labels[roots], functions[roots] = NONE, treebank.vocabulary.number(ROOT), 0
    return replace(
        treebank,
        labels=labels,
        functions=functions,
        parents=parents,
        node_offsets=node_offsets,
        words=treebank.words[words],
        tags=treebank.tags[words],
        word_functions=treebank.word_functions[words],
        lemmas=treebank.lemmas[words],
        morphs=treebank.morphs[words],
        anchors=treebank.anchors[words] + np.repeat(shifts, np.diff(word_offsets)),
        word_offsets=word_offsets,
        lines=np.where(missing, 0, treebank.lines[rows]),
        sentences=sentences,
    )


def _graphs_taken(treebank: SemanticTreebank, rows: IntArray, sentences: Sentences) -> SemanticTreebank:
    """Return some graphs in another order; row NONE is a sentence without words."""
    lengths = np.where(rows == NONE, 0, np.diff(treebank.word_offsets)[rows])
    words, word_offsets = ranges_of(treebank.word_offsets[rows], lengths)
    place = np.full(len(treebank.forms), NONE)
    place[words] = np.arange(len(words))
    kept = np.flatnonzero(place[treebank.edge_arguments] != NONE)
    kept = kept[np.argsort(place[treebank.edge_arguments[kept]], kind="stable")]
    columns = ("forms", "lemmas", "tags", "frames", "tops", "predicates", "lines")
    return replace(
        treebank,
        **{name: getattr(treebank, name)[words] for name in columns},
        edge_predicates=place[treebank.edge_predicates[kept]],
        edge_arguments=place[treebank.edge_arguments[kept]],
        edge_labels=treebank.edge_labels[kept],
        word_offsets=word_offsets,
        sentences=sentences,
    )


def _not_in_gold(system: DiscontinuousTreebank | SemanticTreebank, unknown: list[int]) -> Problem:
    first = unknown[0]
    line = system.lines[first if isinstance(system, DiscontinuousTreebank) else system.word_offsets[first]]
    name = system.sentences.sent_ids[first]
    detail = (
        f"Sentence {name} is not in gold, nor are {len(unknown) - 1} others. " if len(unknown) > 1
        else f"Sentence {name} is not in gold. "
    ) + "Sentences are matched by their names. Send those of gold."  # fmt: skip
    return Problem("sentence-not-in-gold", detail, sent_id=name, line=int(line))


def _missing(index: int, name: str | None, total: int, advice: str) -> Problem:
    found = f"The output lacks {counted(total, 'sentence')} of gold"
    return Problem(
        "sentence-missing",
        f"{found}. {advice}",
        sentence=index + 1,
        gold_detail=f"{found}, the first is {name}. {advice}",
    )
