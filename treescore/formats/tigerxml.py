"""TigerXML: words (`t`), constituents (`nt`) and the edges between them, which may cross."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar
from xml.sax.saxutils import quoteattr

from treescore.core.limits import Limits
from treescore.core.params import Json, Param
from treescore.core.registry import Format, Text, register
from treescore.core.signs import Head, Signs
from treescore.core.text import checked_bytes
from treescore.core.trees import DiscontinuousTreebank
from treescore.core.vocabulary import Vocabulary
from treescore.errors import InputError, Problem
from treescore.formats.shared.gap_signs import tigerxml_signs
from treescore.formats.shared.gap_trees import NOTHING, UNREADABLE
from treescore.formats.shared.gap_writing import WrittenTree, WrittenTrees, unwritable
from treescore.formats.shared.tiger_reader import VROOT, read_tiger

_FIRST_NODE = 500
_ESCAPED_SPACES = {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


@register
class TigerXml(Format):
    """`s/graph[@root]`, words `t[@id @word @pos]`, constituents `nt[@id @cat]` with `edge[@label @idref]`.

    The node that `root` names is the root of the tree if it is called VROOT, by its id or category; a constituent that
    it names stands below such a root. Secondary edges are dropped. A document type is refused, so that no entity of
    its own is ever expanded and nothing else is loaded.
    """

    name = "tigerxml"
    doc = (
        "Trees whose constituents may have gaps, in TigerXML: words (t) and constituents (nt) with edges, in the graph "
        "of each sentence (s). Secondary edges are dropped."
    )
    source = "Mengel & Lezius 2000, An XML-based encoding format for syntactically annotated corpora"
    yields = DiscontinuousTreebank
    suffixes = (".tigerxml", ".tiger.xml")
    usual_metric = "parseval"
    usual_params: ClassVar[Mapping[str, Json]] = {"preset": "discodop"}
    example = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<corpus id="c">\n<body>\n<s id="s1">\n<graph root="s1_VROOT">\n'
        '<terminals>\n<t id="s1_1" word="Das" lemma="der" pos="ART" morph="--"/>\n<t id="s1_2" word="&lt;Büch&quot;" '
        'pos="NN"/>\n<t id="s1_3" word="liegt" pos="VVFIN"><secedge label="HD" idref="s1_1"/></t>\n</terminals>\n'
        '<nonterminals>\n<nt id="s1_500" cat="NP"><edge label="NK" idref="s1_1"/><edge label="--" idref="s1_3"/></nt>\n'
        '<nt id="s1_VROOT" cat="VROOT"><edge label="SB" idref="s1_500"/><edge label="--" idref="s1_2"/></nt>\n'
        '</nonterminals>\n</graph>\n</s>\n<s id="s2">\n<graph root="s2_1">\n<terminals>\n'
        '<t id="s2_1" word="Ja" pos="ITJ"/>\n</terminals>\n<nonterminals/>\n</graph>\n</s>\n</body>\n</corpus>\n'
    ).encode()
    params: ClassVar[Mapping[str, Param]] = {"unreadable": UNREADABLE}

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """See Format."""
        return tigerxml_signs(head)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> DiscontinuousTreebank:
        """Read the treebank.

        Raises:
            InputError: `xml-malformed`, `xml-doctype`, `tigerxml-...`, `unknown-parent`, `node-in-cycle`,
                `node-without-words`, `repeated-sentence-id`, those of core.text.
            LimitError: `too-deep`, `too-many-words`, `too-many-sentences`.
        """
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        checked_bytes(text)
        return read_tiger(text, vocabulary, limits, lenient=self.values["unreadable"] == "sentence")

    def joinable(self, texts: Mapping[str, bytes]) -> list[bytes]:
        """Return the one text.

        Raises:
            InputError: `files-differ`, there are several: each is a whole document.
        """
        pieces = super().joinable(texts)
        for pointer in list(texts)[1:2]:
            detail = "Each file of TigerXML is a whole document. Give one file, whose body holds all sentences."
            raise InputError(Problem("files-differ", detail, pointer=pointer))
        return pieces

    def write(self, treebank: DiscontinuousTreebank) -> str:
        """Write the sentences. Raises InputError for what the format cannot hold."""
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<corpus id="corpus">\n<body>\n'
        return head + "".join(_written_tigerxml(treebank)) + "</body>\n</corpus>\n"


def _written_tigerxml(treebank: DiscontinuousTreebank) -> Iterator[str]:
    trees = WrittenTrees(treebank, "tigerxml", with_spaces=True)
    for tree in trees:
        trees.refuse_root(tree, VROOT)
        yield "".join(_sentence(treebank, trees, tree))


def _sentence(treebank: DiscontinuousTreebank, trees: WrittenTrees, tree: WrittenTree) -> Iterator[str]:
    strings = treebank.vocabulary.strings

    def attribute(text: str) -> str:
        if any(
            (character < " " and character not in _ESCAPED_SPACES) or character in "\ufffe\uffff" for character in text
        ):
            raise unwritable("tigerxml", f"the characters of {text!r}", tree.number)
        return quoteattr(text, _ESCAPED_SPACES)

    name = tree.name or f"s{tree.number + 1}"
    root = f"{name}_{VROOT}"
    edges: dict[int, list[str]] = {node: [] for node in (tree.root, *tree.nodes)}
    yield f"<s id={attribute(name)}>\n<graph root={attribute(root)}>\n<terminals>\n"
    for number, word in enumerate(tree.words, 1):
        form, lemma, morph, function = (
            strings[column[word]]
            for column in (treebank.words, treebank.lemmas, treebank.morphs, treebank.word_functions)
        )
        own = attribute(f"{name}_{number}")
        if not form:
            raise unwritable("tigerxml", "an empty word", tree.number)
        yield f"<t id={own} word={attribute(form)} lemma={attribute(lemma or NOTHING)} "
        yield f"pos={attribute(trees.tag(word))} morph={attribute(morph or NOTHING)}/>\n"
        edges[int(treebank.anchors[word])].append(f"<edge label={attribute(function or NOTHING)} idref={own}/>")
    for node in tree.nodes:
        function = strings[treebank.functions[node]] or NOTHING
        own = attribute(f"{name}_{_FIRST_NODE + tree.below_root(node)}")
        edges[int(treebank.parents[node])].append(f"<edge label={attribute(function)} idref={own}/>")
    yield "</terminals>\n<nonterminals>\n"
    for node in tree.nodes:
        own = attribute(f"{name}_{_FIRST_NODE + tree.below_root(node)}")
        yield f"<nt id={own} cat={attribute(trees.label(node))}>{''.join(edges[node])}</nt>\n"
    yield f'<nt id={attribute(root)} cat="{VROOT}">{"".join(edges[tree.root])}</nt>\n'
    yield "</nonterminals>\n</graph>\n</s>\n"
