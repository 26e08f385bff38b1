"""Relations without their subtypes: `nsubj` of `nsubj:pass`."""

from __future__ import annotations

from treescore.core.arrays import IntArray
from treescore.core.trees import DependencyTreebank


def universal_relation(deprel: str) -> str:
    """Return what stands before the first colon, which may be nothing."""
    return deprel.partition(":")[0]


def has_subtypes(treebank: DependencyTreebank) -> bool:
    """Return whether a relation has a colon."""
    strings = treebank.vocabulary.strings
    return any(":" in strings[number] for number in treebank.vocabulary.distinct(treebank.deprels).tolist())


def universal_relations(treebank: DependencyTreebank) -> IntArray:
    """Return the relations of the words without subtypes as numbers of strings, int64 (w,)."""
    vocabulary = treebank.vocabulary
    table = vocabulary.table(treebank.deprels, lambda deprel: vocabulary.number(universal_relation(deprel)))
    relations: IntArray = table[treebank.deprels]
    return relations
