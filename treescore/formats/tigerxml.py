"""TigerXML: words (`t`), constituents (`nt`) and the edges between them, which may cross.

It is read with expat, which never sees a document type: nothing is expanded, nothing else is loaded.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from treescore.core.arrays import IntArray, offsets_of
from treescore.core.registry import Text, register
from treescore.core.structure import NONE
from treescore.core.text import CERTAIN, LIKELY, Head, Limits, Signs, checked_bytes
from treescore.core.trees import DiscontinuousTreebank, Vocabulary
from treescore.errors import InputError, Problem
from treescore.formats.shared import gap_trees
from treescore.formats.shared.lines import short

VROOT = "VROOT"
"""What the root of a tree is called."""

_ATTRIBUTES = {"s": ("id",), "graph": ("root",), "t": ("id", "word", "pos"), "nt": ("id", "cat"), "edge": ("idref",)}


class _Edge(NamedTuple):
    """An edge of a sentence from one node, by its number, to a node or word by its id."""

    parent: int
    child: str
    label: str


class _Place(NamedTuple):
    """Where a unit stands in its sentence: a word, else a node; its number there, and its line."""

    word: bool
    number: int
    line: int


@dataclass(slots=True)
class _Sentence:
    """A sentence that is being read.

    Attributes:
        line: on which it begins.
        root: id of the root, None where it has no graph.
        units: words and nodes by id.
        words: of each: form, tag, lemma, morphology.
        nodes: category of each.
        edges: all of them.
        node_ids: id of each node.
        fault: the first problem.
    """

    line: int
    name: str | None
    root: str | None = None
    units: dict[str, _Place] = field(default_factory=dict)
    words: list[tuple[str, str, str, str]] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    edges: list[_Edge] = field(default_factory=list)
    node_ids: list[str] = field(default_factory=list)
    fault: Problem | None = None


def read_tiger(text: bytes, vocabulary: Vocabulary, limits: Limits, *, lenient: bool) -> DiscontinuousTreebank:
    """Read a text that is UTF-8, also where its declaration says otherwise.

    Args:
        text: the document.
        vocabulary: of the treebank.
        limits: of the text.
        lenient: whether a sentence that cannot be read is left without words.

    Raises:
        InputError: as `TigerXml.read` says.
        LimitError: likewise.
    """
    parser = expat.ParserCreate("UTF-8")
    reader = _Reader(limits, parser)
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        detail = (
            f"The XML is malformed: {expat.errors.messages[error.code]}. Correct it at this place or before; a "
            "validator shows all that is wrong."
        )
        raise InputError(Problem("xml-malformed", detail, line=error.lineno, column=error.offset + 1)) from error
    return reader.treebank(vocabulary, lenient=lenient)


class _Reader:
    """Collects sentences."""

    def __init__(self, limits: Limits, parser: expat.XMLParserType) -> None:
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.StartDoctypeDeclHandler = self.refuse_doctype
        self._parser = parser
        self._limits = limits
        self._sentence: _Sentence | None = None
        self._node = NONE
        self._names: list[str | None] = []
        self._known: set[str] = set()
        self._faults: dict[int, Problem] = {}
        self._nodes: list[tuple[str, str, int, str, int]] = []  # label, function, parent, id and line of each
        self._words: list[tuple[str, str, str, str]] = []
        self._above: list[tuple[str, int]] = []  # function of each word, and the node above it
        self._lengths: list[tuple[int, int]] = []
        self._lines: list[int] = []

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    @property
    def _column(self) -> int:
        return self._parser.CurrentColumnNumber + 1

    def refuse_doctype(self, *_: object) -> None:
        """Refuse a document type, before anything in it is declared. Raises InputError."""
        detail = "The document has a document type (<!DOCTYPE ...>), which is not read. Remove it."
        raise InputError(Problem("xml-doctype", detail, line=self._line, column=self._column))

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the beginning of an element."""
        needed = _ATTRIBUTES.get(name)
        if needed is None:
            return
        sentence = self._sentence
        if name == "s":
            self._begin(attributes)
        elif sentence is None:
            return
        for each in needed:
            if each not in attributes:
                self._fail("tigerxml-no-attribute", f"The element {name} has no attribute {each}. Give it one.")
                return
        if sentence is None:
            return
        if name == "t":
            self._word(sentence, attributes)
        elif name == "edge":
            self._edge(sentence, attributes)
        elif name == "nt":
            self._node = len(sentence.nodes)
            self._unit(sentence, attributes["id"], _Place(word=False, number=self._node, line=self._line))
            sentence.nodes.append(attributes["cat"])
            sentence.node_ids.append(attributes["id"])
        elif name == "graph":
            if sentence.root is not None:
                self._fail("tigerxml-structure", "The sentence has a second graph. Leave one.")
            sentence.root = attributes["root"]

    def end(self, name: str) -> None:
        """Take the end of an element."""
        if name == "nt":
            self._node = NONE
        elif name == "s" and self._sentence is not None:
            self._finish(self._sentence)
            self._sentence = None

    def _begin(self, attributes: Mapping[str, str]) -> None:
        line = self._line
        if self._sentence is not None:
            detail = "A sentence (s) stands within another. End the one before."
            raise InputError(Problem("tigerxml-structure", detail, line=line, column=self._column))
        gap_trees.check_sentences(len(self._names) + 1, self._limits)
        name = attributes.get("id")
        self._sentence = _Sentence(line, name)
        if name in self._known:
            self._sentence.name = None
            detail = f"A sentence before is called {short(str(name), 30)!r} too. Give each a name of its own."
            self._fail("repeated-sentence-id", detail)
        elif name is not None:
            self._known.add(name)

    def _word(self, sentence: _Sentence, attributes: Mapping[str, str]) -> None:
        self._unit(sentence, attributes["id"], _Place(word=True, number=len(sentence.words), line=self._line))
        if not attributes["word"]:
            self._fail("tigerxml-empty-word", "The word is empty. Write it, or leave its element out.")
        lemma, morph = attributes.get("lemma", ""), attributes.get("morph", "")
        sentence.words.append((attributes["word"], attributes["pos"], lemma, morph))

    def _edge(self, sentence: _Sentence, attributes: Mapping[str, str]) -> None:
        if self._node == NONE:
            self._fail("tigerxml-structure", "An edge stands outside a constituent (nt). Put it into the one it is of.")
            return
        sentence.edges.append(_Edge(self._node, attributes["idref"], attributes.get("label", "")))

    def _unit(self, sentence: _Sentence, name: str, place: _Place) -> None:
        if name in sentence.units:
            detail = f"The id {short(name, 30)!r} stands twice in the sentence. Give each word and constituent its own."
            self._fail("tigerxml-repeated-id", detail)
        sentence.units[name] = place

    def _fail(self, code: str, detail: str, line: int | None = None) -> None:
        """Note a problem of the sentence that is being read, if it is its first one."""
        sentence = self._sentence
        if sentence is None or sentence.fault is not None:
            return
        place = (self._line, self._column) if line is None else (line, None)
        number, name = len(self._names) + 1, sentence.name
        sentence.fault = Problem(code, detail, line=place[0], column=place[1], sentence=number, sent_id=name)

    def _finish(self, sentence: _Sentence) -> None:
        """Add a sentence to the columns; one with a problem without its words."""
        node_parents: list[_Edge | None] = [None] * len(sentence.nodes)
        word_parents: list[_Edge | None] = [None] * len(sentence.words)
        ends: dict[bool, list[_Edge | None]] = {False: node_parents, True: word_parents}
        for edge in sentence.edges:
            place = sentence.units.get(edge.child)
            if place is None:
                detail = (
                    f"An edge leads to {short(edge.child, 30)!r}, which the sentence does not have. Correct its idref."
                )
                self._fail("tigerxml-unknown-id", detail, self._line_of(sentence, edge))
                break
            if ends[place.word][place.number] is not None:
                detail = f"{short(edge.child, 30)!r} is below two constituents. Leave one edge; others may be secedge."
                self._fail("tigerxml-two-parents", detail, self._line_of(sentence, edge))
                break
            ends[place.word][place.number] = edge
        root = self._root(sentence, ends)
        self._names.append(sentence.name)
        self._lines.append(sentence.line)
        if sentence.fault is not None:
            self._faults[len(self._names) - 1] = sentence.fault
            self._lengths.append((0, 0))
            return
        self._add(sentence, node_parents, word_parents, root)

    @staticmethod
    def _line_of(sentence: _Sentence, edge: _Edge) -> int:
        return sentence.units[sentence.node_ids[edge.parent]].line

    def _root(self, sentence: _Sentence, ends: Mapping[bool, list[_Edge | None]]) -> int:
        """Return the node that is the root, NONE where it is to be made; check that no other is without parent."""
        if sentence.fault is not None:
            return NONE
        if not sentence.units and sentence.root is None:
            return NONE
        root = None if sentence.root is None else sentence.units.get(sentence.root)
        if root is None:
            detail = (
                "The graph has no root, or names one that it does not have. Name a constituent or a word by its id."
            )
            self._fail("tigerxml-root", detail, sentence.line)
            return NONE
        for name, place in sentence.units.items():
            if (ends[place.word][place.number] is None) != (place is root):
                what = "has no parent" if place is not root else "is the root and has a parent"
                detail = f"{short(name, 30)!r} {what}. One edge must lead to each word and constituent but the root."
                self._fail("unknown-parent", detail, place.line)
                return NONE
        if root.word:
            return NONE
        return root.number if VROOT in (str(sentence.root).rpartition("_")[2], sentence.nodes[root.number]) else NONE

    def _add(
        self, sentence: _Sentence, node_parents: list[_Edge | None], word_parents: list[_Edge | None], root: int
    ) -> None:
        first = len(self._nodes)
        # Nodes are numbered without the root.
        numbers = [first + number - (0 <= root < number) for number in range(len(sentence.nodes))]
        if root != NONE:
            numbers[root] = NONE

        def above(edge: _Edge | None) -> tuple[str, int]:
            return ("", NONE) if edge is None else (edge.label, numbers[edge.parent])

        for number, label in enumerate(sentence.nodes):
            if number == root:
                continue
            name = sentence.node_ids[number]
            self._nodes.append((label, *above(node_parents[number]), name, sentence.units[name].line))
        self._words += sentence.words
        self._above += map(above, word_parents)
        self._lengths.append((len(self._nodes) - first, len(sentence.words)))

    def treebank(self, vocabulary: Vocabulary, *, lenient: bool) -> DiscontinuousTreebank:
        """Return what was read. Raises InputError and LimitError."""
        size = len(self._names)
        gap_trees.check_sentences(size, self._limits)
        lengths = np.array(self._lengths, np.int64)
        lines = np.array(self._lines, np.int64)
        faults = gap_trees.Faults()
        bad = np.array(list(self._faults), np.int64)
        fault_lines = np.array([problem.line for problem in self._faults.values()], np.int64)
        faults.add(bad, bad, fault_lines, self._faults.__getitem__)
        forms, tags, lemmas, morphs = zip(*self._words, strict=True) if self._words else ((),) * 4
        word_functions, anchors = zip(*self._above, strict=True) if self._above else ((),) * 2
        labels, functions, parents, names, node_lines = zip(*self._nodes, strict=True) if self._nodes else ((),) * 5
        root = vocabulary.number(VROOT)
        raw = gap_trees.RawTrees(
            labels=_numbers(labels, gap_trees.category, vocabulary),
            functions=_numbers(functions, gap_trees.without_nothing, vocabulary),
            parents=np.array(parents, np.int64),
            node_offsets=offsets_of(lengths[:, 0]),
            words=vocabulary.numbers(forms),
            tags=_numbers(tags, gap_trees.category, vocabulary),
            word_functions=_numbers(word_functions, gap_trees.without_nothing, vocabulary),
            lemmas=_numbers(lemmas, gap_trees.without_nothing, vocabulary),
            morphs=_numbers(morphs, gap_trees.without_nothing, vocabulary),
            anchors=np.array(anchors, np.int64),
            word_offsets=offsets_of(lengths[:, 1]),
            roots=np.full(size, root),
            root_functions=np.zeros(size, np.int64),
            lines=lines,
        )

        def node_problem(node: int, /, *, cycle: bool) -> Problem:
            sentence = int(np.searchsorted(raw.node_offsets, node, "right"))
            name = short(names[node], 30)
            code, detail = "node-in-cycle", f"The constituent {name!r} is below itself. Correct the edges."
            if not cycle:
                code = "node-without-words"
                detail = f"The constituent {name!r} has no words below it. Remove it, or give it edges."
            return Problem(code, detail, line=node_lines[node], sentence=sentence, sent_id=self._names[sentence - 1])

        reading = gap_trees.Reading(
            vocabulary, self._limits, lenient, root, node_problem, np.array(node_lines, np.int64)
        )
        return gap_trees.treebank_of(raw, reading, self._names, faults)


def _numbers(strings: tuple[str, ...], change: Callable[[str], str], vocabulary: Vocabulary) -> IntArray:
    """Return the numbers of strings, each distinct one changed once."""
    changed = {string: vocabulary.number(change(string)) for string in dict.fromkeys(strings)}
    return np.fromiter(map(changed.__getitem__, strings), np.int64, len(strings))


_FIRST_NODE = 500
_ESCAPED_SPACES = {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


@register
class TigerXml(gap_trees.GapFormat):
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
    suffixes = (".tigerxml", ".tiger.xml")
    example = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<corpus id="c">\n<body>\n<s id="s1">\n<graph root="s1_VROOT">\n'
        '<terminals>\n<t id="s1_1" word="Das" lemma="der" pos="ART" morph="--"/>\n<t id="s1_2" word="&lt;Büch&quot;" '
        'pos="NN"/>\n<t id="s1_3" word="liegt" pos="VVFIN"><secedge label="HD" idref="s1_1"/></t>\n</terminals>\n'
        '<nonterminals>\n<nt id="s1_500" cat="NP"><edge label="NK" idref="s1_1"/><edge label="--" idref="s1_3"/></nt>\n'
        '<nt id="s1_VROOT" cat="VROOT"><edge label="SB" idref="s1_500"/><edge label="--" idref="s1_2"/></nt>\n'
        '</nonterminals>\n</graph>\n</s>\n<s id="s2">\n<graph root="s2_1">\n<terminals>\n'
        '<t id="s2_1" word="Ja" pos="ITJ"/>\n</terminals>\n<nonterminals/>\n</graph>\n</s>\n</body>\n</corpus>\n'
    ).encode()

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """Return the signs of TigerXML."""
        text = "\n".join(head.filled)
        elements = [name for name in ("<corpus", "<s ", "<graph", "<terminals", "<nt ") if name in text]
        if not text.startswith("<") or "<corpus" not in elements:
            return None
        why = [f"The elements {', '.join(name.strip('< ') for name in elements)} occur."]
        return Signs(CERTAIN if len(elements) > 2 else LIKELY, why, metrics=gap_trees.METRICS)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> DiscontinuousTreebank:
        """Read the treebank.

        Raises:
            InputError: `xml-malformed`, `xml-doctype`, `tigerxml-...`, `unknown-parent`, `node-in-cycle`,
                `node-without-words`, `repeated-sentence-id`, those of core.text.
            LimitError: `too-deep`, `too-many-words`, `too-many-sentences`.
        """
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        checked_bytes(text)
        return read_tiger(text, vocabulary, limits, lenient=self.lenient)

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
    trees = gap_trees.WrittenTrees(treebank, "tigerxml", with_spaces=True)
    for tree in trees:
        trees.refuse_root(tree, VROOT)
        yield "".join(_sentence(treebank, trees, tree))


def _sentence(
    treebank: DiscontinuousTreebank, trees: gap_trees.WrittenTrees, tree: gap_trees.WrittenTree
) -> Iterator[str]:
    strings = treebank.vocabulary.strings

    def attribute(text: str) -> str:
        if any(
            (character < " " and character not in _ESCAPED_SPACES) or character in "\ufffe\uffff" for character in text
        ):
            raise gap_trees.unwritable("tigerxml", f"the characters of {text!r}", tree.number)
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
            raise gap_trees.unwritable("tigerxml", "an empty word", tree.number)
        yield f"<t id={own} word={attribute(form)} lemma={attribute(lemma or gap_trees.NOTHING)} "
        yield f"pos={attribute(trees.tag(word))} morph={attribute(morph or gap_trees.NOTHING)}/>\n"
        edges[int(treebank.anchors[word])].append(
            f"<edge label={attribute(function or gap_trees.NOTHING)} idref={own}/>"
        )
    for node in tree.nodes:
        function = strings[treebank.functions[node]] or gap_trees.NOTHING
        own = attribute(f"{name}_{_FIRST_NODE + tree.below_root(node)}")
        edges[int(treebank.parents[node])].append(f"<edge label={attribute(function)} idref={own}/>")
    yield "</terminals>\n<nonterminals>\n"
    for node in tree.nodes:
        own = attribute(f"{name}_{_FIRST_NODE + tree.below_root(node)}")
        yield f"<nt id={own} cat={attribute(trees.label(node))}>{''.join(edges[node])}</nt>\n"
    yield f'<nt id={attribute(root)} cat="{VROOT}">{"".join(edges[tree.root])}</nt>\n'
    yield "</nonterminals>\n</graph>\n</s>\n"
