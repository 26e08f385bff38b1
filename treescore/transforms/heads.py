"""Conversion of constituency trees to dependencies by head rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from treescore.core.arrays import IntArray, offsets_of, owners_of
from treescore.core.params import STRINGS, Json, Param
from treescore.core.registry import Transform, register
from treescore.core.structure import NONE, structure_of
from treescore.core.trees import NO_TAG, ConstituentTreebank, DependencyTreebank
from treescore.core.vocabulary import Vocabulary
from treescore.transforms.shared.head_tables import (
    CONJUNCTIONS,
    ROOT,
    SEARCHES,
    TABLES,
    Step,
    head_of,
    parts_of,
    relation_of,
)

_RULES = {
    "type": "object",
    "additionalProperties": {
        "type": "array",
        "items": {"type": "array", "prefixItems": [{"enum": list(SEARCHES)}, STRINGS], "minItems": 2, "maxItems": 2},
    },
}


@register
class Heads(Transform):
    """Each phrase has the head of its head child, on which the heads of the other children depend.

    The relation is the function tag of the largest phrase that a word heads (NP-SBJ: SBJ); without one OBJ for an NP
    in a VP, P for punctuation, NMOD, VMOD, PMOD, AMOD by the phrase it stands in, else the phrase's own label, or DEP
    for a word. Several trees side by side are taken for the children of one more node, so that each sentence has one
    root. Traces count as words: delete them before, with `drop-traces`. Dependency trees stay as they are.
    """

    name: ClassVar[str] = "heads"
    doc: ClassVar[str] = "Dependencies from constituency trees by head rules; dependency trees stay as they are."
    source: ClassVar[str] = "Magerman 1995; Collins 1999, appendix A; Lin 1995"
    reads: ClassVar[tuple[type[Any], ...]] = (ConstituentTreebank, DependencyTreebank)
    params: ClassVar[Mapping[str, Param]] = {
        "table": Param(
            {"anyOf": [{"enum": sorted(TABLES)}, _RULES]},
            default="collins",
            doc='Head rules: collins, magerman (Penn labels), or rules as data: {"NP": [["right-any", ["N", "NP"]]], '
            '"*": [["left", []]]}; left and right take labels in order of preference; also left-any, right-any, last.',
        ),
        "conjunctions": Param(
            {"anyOf": [STRINGS, {"type": "null"}]},
            default=None,
            doc="A head found just behind one of these gives way to the child before; null: CC for collins, else none.",
        ),
    }

    def __init__(self, **values: Json) -> None:
        super().__init__(**values)
        table = values["table"]
        self._table: Mapping[str, Sequence[Step]] = TABLES[table] if isinstance(table, str) else table
        conjunctions = values["conjunctions"]
        default = CONJUNCTIONS[table] if isinstance(table, str) else ()
        self._conjunctions: Sequence[str] = default if conjunctions is None else conjunctions

    def yields(self, kind: type[Any]) -> type[Any]:
        """Return the type of dependency trees; those that stay as they are keep theirs."""
        return kind if issubclass(kind, DependencyTreebank) else DependencyTreebank

    def apply(self, treebank: ConstituentTreebank | DependencyTreebank, guide: Any) -> DependencyTreebank:  # noqa: ARG002 - own labels
        """Make the dependencies; the words keep their tags as `upos` and `xpos`."""
        if isinstance(treebank, DependencyTreebank):
            return treebank
        if treebank.sentences.unreadable:
            treebank = _readable(treebank)
        vocabulary = treebank.vocabulary
        children = _Children(treebank)
        heads = self._heads(children, vocabulary)
        dependent = np.flatnonzero(heads[children.items] != heads[children.phrases])
        words, governors = heads[children.items][dependent], heads[children.phrases][dependent]
        relations = np.full(len(treebank.words), vocabulary.number(ROOT), np.int64)
        relations[words] = _relations(children, dependent, vocabulary)
        positions = np.zeros(len(treebank.words), np.int64)
        owners = owners_of(treebank.word_offsets)
        positions[words] = governors - treebank.word_offsets[owners[governors]] + 1
        tags = np.where(treebank.tags == NO_TAG, vocabulary.number("_"), treebank.tags)
        return DependencyTreebank.of_columns(
            vocabulary,
            treebank.word_offsets,
            forms=treebank.words,
            heads=positions,
            deprels=relations,
            upos=tags,
            xpos=tags,
            lines=treebank.lines[owners],
            sentences=treebank.sentences,
        )

    def _heads(self, children: _Children, vocabulary: Vocabulary) -> IntArray:
        """Find the head word of every phrase and word, numbered as `_Children` numbers them: int64."""
        bases = _Bases(vocabulary)
        heads = list(range(-children.first_word, children.count - children.first_word))
        head_of_labels: dict[tuple[int, ...], int] = {}
        items, labels = children.items.tolist(), children.labels[children.items].tolist()
        phrases, starts = children.groups.tolist(), children.offsets.tolist()
        phrase_labels = children.labels[children.groups].tolist()
        # A phrase has a smaller number than the phrases in it, so that these are done first in descending order.
        for group in range(len(phrases) - 1, -1, -1):
            start, end = starts[group], starts[group + 1]
            key = (phrase_labels[group], *labels[start:end])
            head_index = head_of_labels.get(key)
            if head_index is None:
                steps = self._table.get(bases[key[0]], self._table.get("*", ()))
                head_index = head_of_labels[key] = head_of(
                    steps, [bases[label] for label in key[1:]], self._conjunctions
                )
            heads[phrases[group]] = heads[items[start + head_index]]
        return np.array(heads, np.int64)


def _readable(treebank: ConstituentTreebank) -> ConstituentTreebank:
    """Empty the sentences that could not be read: what was read of them is not a parse."""
    unreadable = np.zeros(len(treebank), np.bool_)
    unreadable[list(treebank.sentences.unreadable)] = True
    nodes = ~unreadable[owners_of(treebank.node_offsets)]
    words = ~unreadable[owners_of(treebank.word_offsets)]
    return replace(
        treebank,
        labels=treebank.labels[nodes],
        starts=treebank.starts[nodes],
        ends=treebank.ends[nodes],
        node_offsets=offsets_of(np.where(unreadable, 0, np.diff(treebank.node_offsets))),
        words=treebank.words[words],
        tags=treebank.tags[words],
        word_offsets=offsets_of(np.where(unreadable, 0, np.diff(treebank.word_offsets))),
    )


class _Children:
    """The children of each phrase, from left to right.

    One node more is put over each sentence's trees. Numbers: these nodes, then the treebank's own, then its words.

    Attributes:
        count: how many there are.
        first_word: number of the first word.
        labels: label of each (tag of a word), numbers of strings, int64 (count,).
        items: all children, phrase after phrase, int64 (i,), without phrases that have no words.
        phrases: the phrase of each item, int64 (i,).
        groups: phrases that have items, in order, int64 (g,), with `offsets` (g + 1,) into the items.
    """

    def __init__(self, treebank: ConstituentTreebank) -> None:
        sentences, nodes, words = len(treebank), len(treebank.labels), len(treebank.words)
        structure = structure_of(treebank)
        self.first_word = sentences + nodes
        self.count = self.first_word + words
        tops = owners_of(treebank.node_offsets), owners_of(treebank.word_offsets)
        above = np.concatenate(
            [
                np.where(parents == NONE, owners, parents + sentences)
                for parents, owners in zip((structure.parents, structure.anchors), tops, strict=True)
            ]
        )
        starts = np.concatenate([treebank.starts + treebank.word_offsets[tops[0]], np.arange(words, dtype=np.int64)])
        blank = np.zeros(sentences, np.int64)
        tags = np.where(treebank.tags == NO_TAG, 0, treebank.tags)
        self.labels = np.concatenate([blank, treebank.labels, tags])
        full = np.ones(nodes + words, np.bool_)
        full[:nodes] = treebank.ends > treebank.starts
        nonempty = np.flatnonzero(full)
        order = nonempty[np.lexsort((starts[nonempty], above[nonempty]))]
        self.items = order + sentences
        self.phrases = above[order]
        firsts = np.flatnonzero(np.diff(self.phrases, prepend=-1))
        self.groups = self.phrases[firsts]
        self.offsets = np.append(firsts, len(order))


class _Bases(dict[int, str]):
    """Number of a label -> the label without function tags, computed on demand."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._strings = vocabulary.strings

    def __missing__(self, number: int) -> str:
        base = self[number] = parts_of(self._strings[number])[0]
        return base


def _relations(children: _Children, dependent: IntArray, vocabulary: Vocabulary) -> IntArray:
    """Return the relation of each of these items, numbers of strings."""
    bases = _Bases(vocabulary)
    items = children.items[dependent]
    phrases, labels = children.labels[children.phrases[dependent]], children.labels[items]
    words = items >= children.first_word
    size = len(vocabulary)
    distinct, codes_of_items = np.unique((phrases * size + labels) * 2 + words, return_inverse=True)
    relations = []
    for code in distinct.tolist():
        pair, word = divmod(code, 2)
        phrase, label = divmod(pair, size)
        relations.append(vocabulary.number(relation_of(bases[phrase], vocabulary.strings[label], word=bool(word))))
    return np.array(relations, np.int64)[codes_of_items]
