"""Keyed digests of the sentences of gold, column by column: in how many sentences do two revisions differ?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.structure import NONE
from treescore.core.trees import (
    ODD_HEAD,
    Alignments,
    ConstituentTreebank,
    DependencyTreebank,
    DiscontinuousTreebank,
    ExpressionTreebank,
    ParallelTreebank,
    SemanticTreebank,
    Treebank,
)

SIZE = 8
"""Bytes of a digest."""
_STRINGS = ("forms", "lemmas", "upos", "xpos", "feats", "deprels", "deps")
_NameOf = Callable[[int], str]


def sentence_keys(gold: Treebank, key: bytes) -> IntArray:
    """Return digests that differ where something differs that a metric may look at: int64 (columns, sentences).

    The columns depend on the kind of treebank alone. Comments and MISC are in none.

    Args:
        gold: as it was read.
        key: of the benchmark; without it the digests confirm no guess.
    """
    rows = [[_sentence_digest(key, value) for value in column] for column in _columns(gold)]
    return np.array(rows, np.int64).reshape(len(rows), len(gold))


def _sentence_digest(key: bytes, value: object) -> int:
    body = hashlib.blake2b(repr(value).encode(), key=key, digest_size=SIZE).digest()
    return int.from_bytes(body, "little", signed=True)


def _columns(gold: Treebank) -> Iterator[Sequence[object]]:
    """Yield columns, each with one value a sentence."""
    if isinstance(gold, ParallelTreebank):
        for side in (gold.source, gold.target, gold.alignment):
            yield from _columns(side)
    elif isinstance(gold, DependencyTreebank):
        yield from _dependencies(gold)
        if isinstance(gold, ExpressionTreebank):
            yield _expressions(gold)
    elif isinstance(gold, ConstituentTreebank):
        yield from _constituents(gold)
    elif isinstance(gold, DiscontinuousTreebank):
        yield from _discontinuous(gold)
    elif isinstance(gold, SemanticTreebank):
        yield from _graphs(gold)
    else:
        yield _links(gold)


def _dependencies(gold: DependencyTreebank) -> Iterator[Sequence[object]]:
    name = gold.vocabulary.strings.__getitem__
    for column in _STRINGS:
        yield _names_by_sentence(getattr(gold, column), gold.word_offsets, name)
    yield _names_by_sentence(
        gold.heads, gold.word_offsets, lambda head: name(ODD_HEAD - head) if head <= ODD_HEAD else str(head)
    )
    more: list[list[object]] = [[] for _ in range(len(gold))]
    owners = np.searchsorted(gold.word_offsets, gold.mwt_starts, "right") - 1
    for owner, start, end, form in zip(
        *(each.tolist() for each in (owners, gold.mwt_starts, gold.mwt_ends, gold.mwt_forms)), strict=True
    ):
        more[owner].append((start - int(gold.word_offsets[owner]), end - start, name(form)))
    for owner, number, deps in zip(
        *(each.tolist() for each in (gold.empty_sentences, gold.empty_ids, gold.empty_deps)), strict=True
    ):
        more[owner].append((name(number), name(deps)))
    yield more


def _expressions(gold: ExpressionTreebank) -> Sequence[object]:
    """Return the categories and words of each sentence's expressions, in any order of their numbers."""
    name = gold.vocabulary.strings.__getitem__
    found: list[list[object]] = [[] for _ in range(len(gold))]
    owners = gold.expression_sentences()
    words = gold.expression_words - np.repeat(gold.word_offsets[owners], np.diff(gold.expression_offsets))
    of_each = _names_by_sentence(words, gold.expression_offsets, str)
    for owner, category, members in zip(owners.tolist(), gold.categories.tolist(), of_each, strict=True):
        found[owner].append((name(category), members))
    return [sorted(each, key=repr) for each in found]


def _constituents(gold: ConstituentTreebank) -> Iterator[Sequence[object]]:
    name = gold.vocabulary.strings.__getitem__
    yield _names_by_sentence(gold.words, gold.word_offsets, name)
    yield _names_by_sentence(gold.tags, gold.word_offsets, lambda tag: name(tag) if tag >= 0 else "")
    yield _names_by_sentence(gold.labels, gold.node_offsets, name)
    starts, ends = (_names_by_sentence(each, gold.node_offsets, str) for each in (gold.starts, gold.ends))
    yield list(zip(starts, ends, strict=True))


def _discontinuous(gold: DiscontinuousTreebank) -> Iterator[Sequence[object]]:
    name = gold.vocabulary.strings.__getitem__
    for column in (gold.words, gold.word_functions, gold.lemmas, gold.morphs):
        yield _names_by_sentence(column, gold.word_offsets, name)
    yield _names_by_sentence(gold.tags, gold.word_offsets, lambda tag: name(tag) if tag >= 0 else "")
    for column in (gold.labels, gold.functions):
        yield _names_by_sentence(column, gold.node_offsets, name)
    firsts = gold.node_offsets[:-1]
    anchors = gold.anchors - np.repeat(firsts, np.diff(gold.word_offsets))
    parents = gold.parents - np.repeat(firsts, np.diff(gold.node_offsets))
    parents[firsts] = NONE
    above = (_names_by_sentence(anchors, gold.word_offsets, str), _names_by_sentence(parents, gold.node_offsets, str))
    yield list(zip(*above, strict=True))


def _graphs(gold: SemanticTreebank) -> Iterator[Sequence[object]]:
    name = gold.vocabulary.strings.__getitem__
    for column in (gold.forms, gold.lemmas, gold.tags, gold.frames):
        yield _names_by_sentence(column, gold.word_offsets, name)
    for flags in (gold.tops, gold.predicates):
        yield _names_by_sentence(flags.astype(np.int64), gold.word_offsets, str)
    owners = np.searchsorted(gold.word_offsets, gold.edge_arguments, "right") - 1
    firsts = gold.word_offsets[owners]
    bounds = np.searchsorted(owners, np.arange(len(gold) + 1))
    ends = (_names_by_sentence(each - firsts, bounds, str) for each in (gold.edge_predicates, gold.edge_arguments))
    yield list(zip(*ends, _names_by_sentence(gold.edge_labels, bounds, name), strict=True))


def _links(gold: Alignments) -> Sequence[object]:
    links = list(zip(gold.source.tolist(), gold.target.tolist(), gold.sure.tolist(), strict=True))
    return [sorted(links[start:end]) for start, end in pairwise(gold.offsets.tolist())]


def _names_by_sentence(values: IntArray, offsets: IntArray, name: _NameOf) -> list[list[str]]:
    """Return the names of the values, sentence by sentence."""
    names = [name(value) for value in values.tolist()]
    return [names[start:end] for start, end in pairwise(offsets.tolist())]
