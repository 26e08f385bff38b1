"""Head rules as data: which child of a phrase is its head.

A table maps a phrase label to steps, tried one after the other. `left` and `right` take the labels in order of
preference and search from that side; `left-any` and `right-any` take the first child from that side that has any of
the labels; `last` takes the last child if it has one of the labels. Where no step fits, the last step's side gives
the first child that is not punctuation. Labels that the table lacks use the rule of `*`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
