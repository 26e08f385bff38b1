"""Shared by the formats of trees with gaps: what is written, sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.trees import NO_TAG, DiscontinuousTreebank
from treescore.errors import InputError, Problem
from treescore.formats.shared.gap_trees import category


@dataclass(frozen=True, slots=True)
class WrittenTree:
    """One sentence.

    Attributes:
        number: from 0.
        name: its name, empty if it has none.
        root: its root, by its number in the file.
        nodes: the others.
        words: its words.
    """

    number: int
    name: str
    root: int
    nodes: range
    words: range

    def below_root(self, node: int) -> int:
        """Return a node counted from 0 among those without the root, -1 the root."""
        return int(node) - self.root - 1


class WrittenTrees:
    """The sentences of a treebank, with what a format can hold of them. Iterating gives each."""

    def __init__(self, treebank: DiscontinuousTreebank, name: str, *, with_spaces: bool = False) -> None:
        self._treebank = treebank
        self._name = name
        self._with_spaces = with_spaces  # in names of sentences
        self._strings = treebank.vocabulary.strings

    def __iter__(self) -> Iterator[WrittenTree]:
        names, seen = self._treebank.sentences.sent_ids, set()
        bounds = zip(
            pairwise(self._treebank.node_offsets.tolist()), pairwise(self._treebank.word_offsets.tolist()), strict=True
        )
        for number, ((root, stop), words) in enumerate(bounds):
            name = (names[number] if len(names) else None) or ""
            if name and (name in seen or (name.split() != [name] and not self._with_spaces)):
                raise unwritable(self._name, f"the name {name!r}", number)
            seen.add(name)
            yield WrittenTree(number, name, root, range(root + 1, stop), range(*words))

    def refuse_root(self, tree: WrittenTree, label: str) -> None:
        """Refuse a root of another label, or with a function. Raises InputError."""
        found = self._strings[self._treebank.labels[tree.root]]
        if found != label or self._treebank.functions[tree.root]:
            raise unwritable(self._name, f"a root called {found!r}, only {label!r},", tree.number)

    def label(self, node: int) -> str:
        """Return the label of a node. Raises InputError if it would be read as another one."""
        return self._category(self._strings[self._treebank.labels[node]], node, self._treebank.node_offsets)

    def tag(self, word: int) -> str:
        """Return the tag of a word. Raises InputError if it has none, or if it would be read as another one."""
        tag = self._treebank.tags[word]
        if tag == NO_TAG:
            raise unwritable(self._name, "a word without a tag", _owner(self._treebank.word_offsets, word))
        return self._category(self._strings[tag], word, self._treebank.word_offsets)

    def _category(self, label: str, unit: int, offsets: IntArray) -> str:
        if category(label) != label:
            raise unwritable(self._name, f"the label {label!r}", _owner(offsets, unit))
        return label


def unwritable(format_name: str, what: str, sentence: int) -> InputError:
    """Return the error of a treebank that a format cannot hold."""
    detail = f"The format {format_name} cannot hold {what} of sentence {sentence + 1}. Use another format."
    return InputError(Problem("trees-unwritable", detail, sentence=sentence + 1))


def _owner(offsets: IntArray, unit: int) -> int:
    return int(np.searchsorted(offsets, unit, "right")) - 1
