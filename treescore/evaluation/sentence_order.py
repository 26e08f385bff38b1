"""Put the sentences of an output into the order of gold where both name them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.counting import counted
from treescore.core.discontinuity import ROOT
from treescore.core.structure import NONE
from treescore.core.treebank_columns import ranges_of
from treescore.core.trees import DiscontinuousTreebank, Sentences, Treebank
from treescore.errors import InputError, Problem


def in_order_of_gold(gold: Treebank, system: Treebank, *, fill: bool) -> Treebank:
    """Return the output with gold's sentences in gold's order, by their names; unchanged where a side has none.

    Only treebanks whose formats give names to match sentences by (`DiscontinuousTreebank`) are put in order.

    Args:
        gold: the gold treebank.
        system: an output.
        fill: whether a sentence that the output lacks is one that cannot be read; else it is an error.

    Raises:
        InputError: `sentence-not-in-gold`, `sentence-missing`.
    """
    if not isinstance(gold, DiscontinuousTreebank) or not isinstance(system, DiscontinuousTreebank):
        return system
    names, others = gold.sentences.sent_ids, system.sentences.sent_ids
    if not (names and others) or list(names) == list(others):
        return system
    known = set(names)
    unknown = [index for index, name in enumerate(others) if name not in known]
    if unknown:
        raise InputError(_not_in_gold(system, unknown))
    place = {name: index for index, name in enumerate(others)}
    rows = np.array([place.get(name, NONE) for name in names], np.int64)
    missing = np.flatnonzero(rows == NONE).tolist()
    problems = {index: _missing(index, names[index], len(missing)) for index in missing}
    if problems and not fill:
        raise InputError(problems[missing[0]])
    return _taken(system, rows, Sentences(
        sent_ids=names,
        unreadable={
            **problems,
            **{index: system.sentences.unreadable[row] for index, row in enumerate(rows.tolist())
               if row in system.sentences.unreadable},
        },
        warnings=system.sentences.warnings,
        advice=system.sentences.advice,
    ))  # fmt: skip


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


def _not_in_gold(system: DiscontinuousTreebank, unknown: list[int]) -> Problem:
    first = unknown[0]
    name = system.sentences.sent_ids[first]
    detail = (
        f"Sentence {name} is not in gold, nor are {len(unknown) - 1} others. " if len(unknown) > 1
        else f"Sentence {name} is not in gold. "
    ) + "Sentences are matched by their names. Send those of gold."  # fmt: skip
    return Problem("sentence-not-in-gold", detail, sent_id=name, line=int(system.lines[first]))


def _missing(index: int, name: str | None, total: int) -> Problem:
    found = f"The output lacks {counted(total, 'sentence')} of gold"
    advice = "Sentences are matched by their names. Send all; where the parser failed, send the words under the root."
    return Problem(
        "sentence-missing",
        f"{found}. {advice}",
        sentence=index + 1,
        gold_detail=f"{found}, the first is {name}. {advice}",
    )
