"""Codes of the formats of trees whose constituents may have gaps."""

from __future__ import annotations

from treescore.problem_catalogue.entry import Entry

_WORD = "Hund\t--\tNN\t--\tNK\t500"
_ROOT = '<nt id="s1_VROOT" cat="VROOT"><edge label="--" idref="s1_500"/></nt>'

EXPORT = {
    "export-field-count": Entry(
        "The line has too few fields",
        "A line of a word or constituent has at least five fields: word, tag, morphology, edge label and parent.",
        "Write -- where a field has no value.",
        _WORD,
    ),
    "export-ids-differ": Entry(
        "A sentence begins and ends under different numbers",
        "The numbers after #BOS and #EOS differ, as where the lines between two sentences are lost.",
        "Write the same number after both.",
    ),
    "export-no-begin": Entry(
        "A sentence ends that has not begun",
        "There is an #EOS without a #BOS before it.",
        "Write #BOS and the sentence's number before its first word.",
    ),
    "export-no-end": Entry(
        "A sentence does not end",
        "The next #BOS, or the end of the text, comes before the #EOS of a sentence.",
        "Write #EOS and the sentence's number after its last line.",
    ),
    "export-no-id": Entry(
        "A sentence has no number",
        "Nothing follows #BOS. Sentences are matched by what follows it.",
        "Write a number after #BOS and #EOS.",
    ),
    "export-repeated-node": Entry(
        "Two constituents have one number",
        "A number, such as #500, stands twice at the beginning of a line of one sentence.",
        "Give each constituent a number of its own.",
    ),
    "export-word-after-node": Entry(
        "A word follows a constituent",
        "All words of a sentence stand before its constituents, whose numbers begin at #500.",
        "Move the words before the constituents, and number these from #500 on.",
    ),
}
DISCBRACKET = {
    "discbracket-index-gap": Entry(
        "The indices of the words have a gap",
        "An index is not below the number of words in the line.",
        "Number the words of each sentence from 0 in their order.",
        "(ROOT (S (VP (VB 0=eat) (NP (NN 2=them))) (RB 1=now)))",
    ),
    "discbracket-leaf": Entry(
        "A leaf has no index or no word",
        "Each leaf is the position of the word from 0, an equals sign and the word.",
        "Write 0=dogs. In words, brackets are #LRB# and #RRB#.",
        "(ROOT (NP (NN 0=dogs)))",
    ),
    "discbracket-repeated-index": Entry(
        "An index stands twice",
        "Two words of one tree have the same position.",
        "Give each word of a sentence an index of its own.",
    ),
}
TIGERXML = {
    "tigerxml-empty-word": Entry(
        "A word is empty",
        "The attribute word of a t has no character.",
        "Write the word, or leave the element out.",
    ),
    "tigerxml-no-attribute": Entry(
        "An attribute is missing",
        "s needs an id, graph a root, t an id, a word and a pos, nt an id and a cat, edge an idref.",
        "Write the attribute.",
        '<t id="s1_1" word="Hund" pos="NN"/>',
    ),
    "tigerxml-repeated-id": Entry(
        "An id stands twice in a sentence",
        "Two words or constituents of one sentence have the same id.",
        "Give each an id of its own.",
    ),
    "tigerxml-root": Entry(
        "The root is unknown",
        "The attribute root of graph names no word and no constituent of the sentence.",
        "Write the id of the node above all others.",
        _ROOT,
    ),
    "tigerxml-structure": Entry(
        "An element stands at the wrong place",
        "An edge stands outside an nt, a sentence inside another, or a sentence has two graphs.",
        "Move the element.",
        _ROOT,
    ),
    "tigerxml-two-parents": Entry(
        "A node is below two constituents",
        "Two edges lead to one word or constituent, so that the graph is not a tree.",
        "Leave one edge, and make the others secedge, which are not read.",
    ),
    "tigerxml-unknown-id": Entry(
        "An edge leads to nothing",
        "The idref of an edge is the id of no word and no constituent of the sentence.",
        "Correct the idref.",
    ),
    "xml-doctype": Entry(
        "The document has a document type",
        "Document types can declare entities that grow without bound or that name other files; none is read.",
        "Remove the <!DOCTYPE ...>.",
    ),
    "xml-malformed": Entry(
        "The XML is malformed",
        "The document breaks a rule of XML: a tag is not closed, an entity is unknown, a character is not allowed.",
        "Correct it at the place that is named, or before it.",
    ),
}
TREES = {
    "node-in-cycle": Entry(
        "A constituent is below itself",
        "Going from parent to parent leads back to the constituent.",
        "Correct the parents, so that each constituent is below the root.",
    ),
    "node-without-words": Entry(
        "A constituent has no words",
        "Nothing is below a constituent, or only constituents without words.",
        "Remove it, or put words below it.",
    ),
    "repeated-sentence-id": Entry(
        "Two sentences have one name",
        "Sentences are matched by their names, and a name stands twice.",
        "Give each sentence a name of its own.",
    ),
    "trees-unwritable": Entry(
        "A tree cannot be written in the format",
        "The format has no way to write a word, a label or a root of this tree; it would be read as another one.",
        "Write the treebank in another format.",
    ),
    "unknown-parent": Entry(
        "The parent is unknown",
        "A word or constituent has no parent, or one that the sentence does not have.",
        "Write the number of a constituent of the sentence, or 0 for the root.",
        _WORD,
    ),
}
GAP_TREES = {**EXPORT, **DISCBRACKET, **TIGERXML, **TREES}
