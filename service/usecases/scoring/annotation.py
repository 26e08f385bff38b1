"""A digest of the annotation that an output was read as."""

from __future__ import annotations

import hashlib
from dataclasses import fields

import numpy as np
import orjson

from treescore.core import trees
from treescore.core.arrays import appearing
from treescore.core.structure import NONE

_STRINGS = (
    *("forms", "lemmas", "upos", "xpos", "feats", "deprels", "deps", "mwt_forms", "empty_ids", "empty_deps"),
    *("categories", "labels", "words", "tags", "functions", "word_functions", "morphs", "frames", "edge_labels"),
    "odd_heads",
)
"""Attributes of treebanks that are numbers of strings, and heads that are (`trees.ODD_HEAD`)."""
_BESIDE = ("lines", "columns", "empty_lines", "misc", "mwt_misc", "expression_ids")
"""Attributes in which equal annotation may differ."""


def annotation_digest(treebank: trees.Treebank) -> str:
    """Return a digest of the annotation of a text as it was read, without blanks, comments and MISC.

    Strings are numbered in the order in which they appear, so that it depends on no other text.
    """
    if isinstance(treebank, trees.ParallelTreebank):
        sides: tuple[trees.Treebank, ...] = (treebank.source, treebank.target, treebank.alignment)
        return hashlib.sha256(" ".join(map(annotation_digest, sides)).encode()).hexdigest()
    whole = {each.name: getattr(treebank, each.name) for each in fields(treebank) if each.name not in _BESIDE}
    arrays = {name: value for name, value in whole.items() if isinstance(value, np.ndarray)}
    vocabulary = whole.get("vocabulary", trees.Vocabulary())
    if isinstance(treebank, trees.DependencyTreebank):
        arrays["odd_heads"] = np.where(treebank.heads <= trees.ODD_HEAD, trees.ODD_HEAD - treebank.heads, NONE)
        arrays["heads"] = np.maximum(treebank.heads, trees.ODD_HEAD)
    numbered = [name for name in arrays if name in _STRINGS]
    used = np.concatenate([arrays[name] for name in numbered]) if numbered else np.zeros(0, np.int64)
    distinct = appearing(used[used >= 0], len(vocabulary.strings))
    number_of = np.full(len(vocabulary.strings) + 1, NONE, np.int64)  # the last one is for none
    number_of[distinct] = np.arange(len(distinct))
    digest = hashlib.sha256(orjson.dumps([vocabulary.strings[number] for number in distinct.tolist()]))
    for name, values in arrays.items():
        own = number_of[values] if name in numbered else values
        digest.update(f"{name} {own.shape}".encode())
        digest.update(own.tobytes())
    return digest.hexdigest()
