"""Conversion of constituency trees to dependencies by head rules: data that say which child of a phrase is its head.

A table maps a phrase label to steps, tried one after the other. `left` and `right` take the labels in order of
preference and search from that side; `left-any` and `right-any` take the first child from that side that has any of the
labels; `last` takes the last child if it has one of the labels. Where no step fits, the last step's side gives the
first child that is not punctuation. Labels that the table lacks use the rule of `*`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from treescore.core.arrays import IntArray, owners_of
from treescore.core.params import STRINGS, Json, Param
from treescore.core.registry import Transform, register
from treescore.core.structure import NONE, structure_of
from treescore.core.trees import NO_TAG, ConstituentTreebank, DependencyTreebank, Vocabulary
from treescore.transforms.edits import without_nodes, without_words

SEARCHES = ("left", "right", "left-any", "right-any", "last")

Step = tuple[str, Sequence[str]]
Table = Mapping[str, Sequence[Step]]

PUNCTUATION = frozenset((",", ".", ":", "``", "''", '"', "-LRB-", "-RRB-", "(", ")", "NFP", "PUNCT", "SYM", "HYPH"))
"""Tags that are a head only where no other child is."""


def _table(rows: Sequence[tuple[str, str, str]]) -> dict[str, tuple[Step, ...]]:
    table: dict[str, tuple[Step, ...]] = {}
    for label, search, labels in rows:
        table[label] = (*table.get(label, ()), (search, tuple(labels.split())))
    return table


_NOUNS = "NN NNP NNPS NNS NX POS JJR"

COLLINS = _table(
    (
        ("ADJP", "left", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
        ("ADVP", "right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
        ("CONJP", "right", "CC RB IN"),
        ("FRAG", "right", ""),
        ("INTJ", "left", ""),
        ("LST", "right", "LS :"),
        ("NAC", "left", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
        *(
            (label, search, labels)
            for label in ("NP", "NX", "NML")
            for search, labels in (
                ("last", "POS"),
                ("right-any", _NOUNS),
                ("left-any", "NP NML"),
                ("right-any", "$ ADJP PRN"),
                ("right-any", "CD"),
                ("right-any", "JJ JJS RB QP"),
                ("right", ""),
            )
        ),
        ("PP", "right", "IN TO VBG VBN RP FW"),
        ("PRN", "left", ""),
        ("PRT", "right", "RP"),
        ("QP", "left", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
        ("RRC", "right", "VP NP ADVP ADJP PP"),
        ("S", "left", "TO IN VP S SBAR ADJP UCP NP"),
        ("SBAR", "left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
        ("SBARQ", "left", "SQ S SINV SBARQ FRAG"),
        ("SINV", "left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
        ("SQ", "left", "VBZ VBD VBP VB MD VP SQ"),
        ("UCP", "right", ""),
        ("VP", "left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
        ("WHADJP", "left", "CC WRB JJ ADJP"),
        ("WHADVP", "right", "CC WRB"),
        ("WHNP", "left", "WDT WP WP$ WHADJP WHPP WHNP"),
        ("WHPP", "right", "IN TO FW"),
        ("*", "left", "S SINV SQ SBARQ VP"),
    )
)
"""Collins 1999, appendix A, with his rules for NP (which NX and NML follow)."""

MAGERMAN = _table(
    (
        ("ADJP", "right", "% QP JJ VBN VBG ADJP $ JJR JJS DT FW RBR RBS RB"),
        ("ADVP", "left", "RBR RB RBS FW ADVP CD JJR JJS JJ"),
        ("CONJP", "left", "CC RB IN"),
        ("FRAG", "left", ""),
        ("INTJ", "right", ""),
        ("LST", "left", "LS :"),
        ("NAC", "right", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
        *(
            (label, search, labels)
            for label in ("NP", "NX", "NML")
            for search, labels in (
                ("right-any", "NN NNS NNP NNPS NP NX NML NAC"),
                ("right", "EX $ CD QP PRP VBG JJ JJS JJR ADJP DT FW RB SYM PRP$"),
            )
        ),
        ("PP", "left", "IN TO FW"),
        ("PRN", "left", ""),
        ("PRT", "left", "RP"),
        ("QP", "right", "CD NCD % QP JJ JJR JJS DT"),
        ("RRC", "left", "VP NP ADVP ADJP PP"),
        ("S", "right", "VP SBAR ADJP UCP NP"),
        ("SBAR", "right", "S SQ SINV SBAR FRAG X"),
        ("SBARQ", "right", "SQ S SINV SBARQ FRAG X"),
        ("SINV", "right", "S VP VBZ VBD VBP VB SINV ADJP NP"),
        ("SQ", "right", "VP VBZ VBD VBP VB MD SQ"),
        ("UCP", "left", ""),
        ("VP", "left", "VBD VBN MD VBZ TO VB VP VBG VBP ADJP NP"),
        ("WHADJP", "right", "JJ ADJP"),
        ("WHADVP", "left", "WRB"),
        ("WHNP", "right", "WDT WP WP$ WHADJP WHPP WHNP"),
        ("WHPP", "left", "IN TO FW"),
        ("X", "left", ""),
        ("*", "left", "S SINV SQ SBARQ VP"),
    )
)
"""Magerman 1995, as Collins 1996 lists it; an NP's head is its last child whose label begins with N, if any."""

TABLES: Mapping[str, Table] = {"collins": COLLINS, "magerman": MAGERMAN}

CONJUNCTIONS: Mapping[str, Sequence[str]] = {"collins": ("CC",), "magerman": ()}
"""A head chosen just behind one of these gives way to the child before the conjunction (Collins 1999)."""


def head_of(steps: Sequence[Step], children: Sequence[str], conjunctions: Sequence[str]) -> int:
    """Find the place of the head among a phrase's children (labels without function tags, from left to right)."""
    index = _search(steps, children)
    return index - 2 if index >= 2 and children[index - 1] in conjunctions else index


def _search(steps: Sequence[Step], children: Sequence[str]) -> int:
    last = len(children) - 1
    first_index: dict[str, int] = {}
    last_index: dict[str, int] = {}
    for index, label in enumerate(children):
        first_index.setdefault(label, index)
        last_index[label] = index
    for search, labels in steps:
        if search == "last":
            if children[last] in labels:
                return last
            continue
        index_of = first_index if "left" in search else last_index
        indices = [index_of[label] for label in labels if label in index_of]
        if indices:
            return min(indices) if search == "left-any" else max(indices) if search == "right-any" else indices[0]
    from_left = not steps or "left" in steps[-1][0]
    candidates = [index for index, label in enumerate(children) if label not in PUNCTUATION] or [*range(last + 1)]
    return candidates[0] if from_left else candidates[-1]


GRAMMATICAL = (
    *("SBJ", "LGS", "PRD", "OBJ", "DTV", "PUT", "BNF", "VOC", "DIR", "EXT", "LOC", "MNR", "PRP", "TMP", "CLR"),
    *("TPC", "CLF", "HLN", "TTL", "ADV", "NOM"),
)
"""Function tags in order of preference where a label has several."""

_MODIFIERS = {
    **dict.fromkeys(("NP", "NX", "NML", "NAC", "QP", "WHNP"), "NMOD"),
    **dict.fromkeys(("VP", "S", "SQ", "SINV", "SBAR", "SBARQ"), "VMOD"),
    **dict.fromkeys(("PP", "WHPP"), "PMOD"),
    **dict.fromkeys(("ADJP", "ADVP", "WHADJP", "WHADVP"), "AMOD"),
}
ROOT, PUNCT, OBJECT, OTHER = "root", "P", "OBJ", "DEP"


def parts_of(label: str) -> tuple[str, tuple[str, ...]]:
    """Split a label into its base and its function tags: NP-SBJ-1 is NP with SBJ; -LRB- stays whole."""
    if not label or label[0] in "-=":
        return label, ()
    parts = label.replace("=", "-").split("-")
    return parts[0], tuple(part for part in parts[1:] if part and not part.isdigit())


def relation_of(phrase: str, dependent: str, *, word: bool) -> str:
    """Return the relation of a dependent in a phrase: its function tag, else by phrase and dependent.

    Args:
        phrase: label of the phrase whose head the dependent depends on, without function tags.
        dependent: full label of the largest phrase that the dependent heads; its tag where it heads none.
        word: whether it heads none.
    """
    base, functions = parts_of(dependent)
    if not word and functions:
        return next((function for function in GRAMMATICAL if function in functions), functions[0])
    if word and base in PUNCTUATION:
        return PUNCT
    if phrase == "VP" and base == "NP":
        return OBJECT
    return _MODIFIERS.get(phrase, OTHER if word or not base else base)


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
    kept = without_nodes(treebank, unreadable[owners_of(treebank.node_offsets)])
    return without_words(replace(kept, sentences=treebank.sentences), unreadable[owners_of(treebank.word_offsets)])


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
        self.labels = np.concatenate([blank, treebank.labels, np.where(treebank.tags == NO_TAG, 0, treebank.tags)])
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
