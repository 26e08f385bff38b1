"""Trees in brackets whose constituents may have gaps: `(ROOT (S (VP 0=x (VB 2=z)) (NN 1=y)))`, one a line.

Its leaves are `index=word`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count, islice
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, Int32Array, IntArray
from treescore.core.discontinuity import ROOT, divided
from treescore.core.registry import Text, register
from treescore.core.structure import NONE
from treescore.core.text import CERTAIN, Head, Limits, Signs, found_in_lines
from treescore.core.trees import NO_TAG, DiscontinuousTreebank, Vocabulary
from treescore.errors import LimitError, Problem
from treescore.formats.bracketed import has_numbered_leaves, numbered_leaves
from treescore.formats.shared import gap_trees
from treescore.formats.shared.lines import short, unix_lines

DEEP = "too-deep"
"""A line with more open brackets than allowed."""

UNNAMED = -1
"""Label of a root that the text does not name."""

_LEAF = r"([0-9]{1,9})=([^ \t\v\f()]+)"
_TOKEN = re.compile(rf"\(([^ \t\v\f()]*)[ \v\f]+{_LEAF}[ \v\f]*\)|(\([^ \t\v\f()]*|\)|[^ \t\v\f()]+)")
"""A bracket around a word alone, which is its tag: tag, index and word. Or an opened bracket, a closing one, a leaf."""
_BARE_LEAF = re.compile(_LEAF)


class _FaultError(Exception):
    """A line has a fault, at one of its tokens."""

    def __init__(self, fault: str, token: int) -> None:
        super().__init__(fault, token)
        self.fault, self.token = fault, token

    def place(self, line: str) -> int:
        """Return its character in the line, from 0."""
        found = next(islice(_TOKEN.finditer(line), self.token, None))
        return found.start(2) if "index" in self.fault and found[2] else found.start()


_Word = tuple[str, str | None, int]
"""Form, tag if it has one, and the node above it."""


class _Tree(NamedTuple):
    """The labels of nodes, of a root that is a tag None; the node above each, NONE of the root; the words."""

    labels: list[str | None]
    parents: list[int]
    words: list[_Word]


class Scanned(NamedTuple):
    """A text in columns; labels, forms and tags are numbers of `strings`. The first node of a sentence is its root.

    Attributes:
        labels, forms, tags: int32, UNNAMED where there is none.
        parents: the node above each node, counted over the file, NONE of roots, int64 (m,).
        anchors: the node above each word, int64 (w,).
        first_nodes, first_words: int64 (n + 1,).
        faults: line -> the code of its problem and the character, from 0; such a line has no nodes and no words.
        strings: the distinct ones.
    """

    labels: Int32Array
    parents: IntArray
    forms: Int32Array
    tags: Int32Array
    anchors: IntArray
    first_nodes: IntArray
    first_words: IntArray
    faults: Mapping[int, tuple[str, int]]
    strings: list[str]


def scan(lines: Sequence[str], max_depth: int) -> Scanned:
    """Read all lines, with at most so many brackets open at once."""
    labels: list[str | None] = []
    parents: list[int] = []
    words: list[_Word] = []
    bounds = [(0, 0)]
    faults = {}
    for number, line in enumerate(lines):
        without_comment = line.partition("\t")[0]
        try:
            tree = _read_tree(_TOKEN.findall(without_comment), max_depth)
        except _FaultError as error:
            faults[number] = error.fault, error.place(without_comment)
        else:
            labels += tree.labels
            parents += tree.parents
            words += tree.words
        bounds.append((len(labels), len(words)))
    first_nodes, first_words = np.array(bounds, np.int64).T
    forms, tags, anchors = zip(*words, strict=True) if words else ((), (), ())
    distinct = dict.fromkeys(chain(labels, forms, tags))
    distinct.pop(None, None)
    numbers = {None: UNNAMED, **dict(zip(distinct, count()))}
    of_labels, of_forms, of_tags = (
        np.fromiter(map(numbers.__getitem__, each), np.int32, len(each)) for each in (labels, forms, tags)
    )
    above = np.array(parents, np.int64)
    return Scanned(
        labels=of_labels,
        parents=np.where(above == NONE, NONE, above + np.repeat(first_nodes[:-1], np.diff(first_nodes))),
        forms=of_forms,
        tags=of_tags,
        anchors=np.array(anchors, np.int64) + np.repeat(first_nodes[:-1], np.diff(first_words)),
        first_nodes=first_nodes,
        first_words=first_words,
        faults=faults,
        strings=[*distinct],
    )


def _read_tree(tokens: Sequence[tuple[str, str, str, str]], max_depth: int) -> _Tree:
    """Read the tree of one line. Raises _FaultError."""
    tree = _Tree([], [], [])
    indices: list[tuple[int, int]] = []  # of each word, and its token
    stack: list[tuple[int, int]] = []  # the node of each open bracket, and its token
    for number, (tag, index, form, other) in enumerate(tokens):
        if other == ")":
            if not stack:
                raise _FaultError("bracket-unopened", number)
            if tokens[number - 1][3][:1] == "(":
                raise _FaultError("node-without-words", number - 1)
            stack.pop()
            continue
        opens = not other or other[0] == "("
        if not stack and (tree.labels or not opens):
            raise _FaultError("text-outside-brackets", number)
        if opens and len(stack) == max_depth:
            raise _FaultError(DEEP, number)
        node = stack[-1][0] if stack else NONE
        if opens and (other or not stack):
            tree.labels.append(other[1:] if other else None)
            tree.parents.append(node)
            node = len(tree.labels) - 1
        if not other:
            indices.append((int(index), number))
            tree.words.append((form, tag, node))
        elif opens:
            stack.append((node, number))
        else:
            leaf = _BARE_LEAF.fullmatch(other)
            if leaf is None:
                raise _FaultError("discbracket-leaf", number)
            indices.append((int(leaf[1]), number))
            tree.words.append((leaf[2], None, node))
    if stack:
        raise _FaultError("bracket-unclosed", stack[-1][1])
    return tree._replace(words=_placed(tree.words, indices))


def _placed(words: Sequence[_Word], indices: Sequence[tuple[int, int]]) -> list[_Word]:
    """Put words where their indices say. Raises _FaultError."""
    placed: dict[int, _Word] = {}
    for (index, token), word in zip(indices, words, strict=True):
        if index >= len(words):
            raise _FaultError("discbracket-index-gap", token)
        if index in placed:
            raise _FaultError("discbracket-repeated-index", token)
        placed[index] = word
    return [placed[index] for index in range(len(words))]


_ESCAPED_BRACKETS = {"(": "#LRB#", ")": "#RRB#"}
_LEAF_FORM = "Each leaf is index=word, as in (NN 0=dogs); brackets in words are #LRB# and #RRB#."
_FAULTS = {
    "bracket-unclosed": "The line ends while brackets are open, the last {}. Close what is open.",
    "bracket-unopened": "A bracket is closed that was never opened. Remove it, or open one before.",
    "text-outside-brackets": (
        "{} stands outside the brackets of the line's tree. Write one tree a line, and comments after a tab."
    ),
    "discbracket-leaf": "{} is not a leaf.",
    "node-without-words": "The constituent {} has no words below it. Remove it, or put some into it.",
    "discbracket-repeated-index": ("The index of {} stands twice in the line. Give each word an index of its own."),
    "discbracket-index-gap": (
        "The index of {} is not below the number of words in the line. Count the words from 0 without gaps."
    ),
}


@register
class DiscBracket(gap_trees.GapFormat):
    """One tree a line, its leaves `index=word` counted from 0 in the order of the sentence.

    What follows a tab is a comment. `#LRB#` and `#RRB#` in words are parentheses. A bracket with nothing but a word
    is its tag. The outermost bracket is the root. Labels lose what follows `-` or `=`; what follows `-` is the
    function. A blank line is a sentence without a parse.
    """

    name = "discbracket"
    doc = (
        "Trees whose constituents may have gaps, in brackets, one a line: (ROOT (S (VP 0=x (VB 2=z)) (NN 1=y))); each "
        "leaf is the position of a word from 0, an equals sign and the word. What follows a tab is a comment."
    )
    source = "van Cranenburgh, Scha & Bod 2016 (disco-dop)"
    suffixes = (".discbracket", ".dbr")
    example = (
        "(ROOT (S (VP-OC (NP-OA (ART-NK 0=Das) (NN 1=Büch=lein)) (VVPP 4=gelesen)) (VAFIN 2=hat) (PPER 3=er)) "
        "($. 5=.))\t1\n"
        "(ROOT (NP ($[ 0=#LRB#) 1=Nein ($[ 2=#RRB#)))\n"
    ).encode()

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """Return the signs of brackets whose leaves are numbered words."""
        if not has_numbered_leaves(head):
            return None
        found = numbered_leaves(head)
        return Signs(CERTAIN, [found_in_lines(found, len(head.filled), "A tree whose leaves are numbered, as 0=word")],
                     metrics=gap_trees.METRICS)  # fmt: skip

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> DiscontinuousTreebank:
        """Read the treebank.

        Raises:
            InputError: `bracket-unclosed`, `bracket-unopened`, `text-outside-brackets`, `discbracket-...`,
                `node-without-words`, those of core.text.
            LimitError: `too-deep`, `too-many-words`, `too-many-sentences`.
        """
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        text = unix_lines(text)
        gap_trees.check_sentences(text.count(b"\n"), limits)
        lines = text.decode().split("\n")[:-1]
        scanned = scan(lines, limits.max_depth)
        faults = _faults_of(lines, scanned, limits)
        reading = gap_trees.Reading(
            vocabulary, limits, self.lenient, vocabulary.number(ROOT), _no_problem, np.zeros(0, np.int64)
        )
        return gap_trees.treebank_of(_raw(scanned, vocabulary), reading, (), faults)

    def write(self, treebank: DiscontinuousTreebank) -> str:
        """Write one tree a line. Raises InputError for what the format cannot hold."""
        return "".join(_Line(treebank, tree).text() + "\n" for tree in gap_trees.WrittenTrees(treebank, self.name))


def _no_problem(_node: int, /, *, cycle: bool) -> Problem:
    raise AssertionError(cycle)  # brackets have neither cycles nor, here, nodes without words


def _faults_of(lines: Sequence[str], scanned: Scanned, limits: Limits) -> gap_trees.Faults:
    """Return the faults of lines. Raises LimitError."""

    def problem(line: int) -> Problem:
        code, place = scanned.faults[line]
        if code == DEEP:
            detail = f"The line exceeds {limits.max_depth:,} nested brackets. Have the limit raised."
        else:
            detail = f"{_FAULTS[code].format(_quoted(lines[line][place:]))} {_LEAF_FORM}"
        return Problem(code, detail, line=line + 1, column=place + 1, sentence=line + 1)

    for line, (code, _) in scanned.faults.items():
        if code == DEEP:
            raise LimitError(problem(line))
    faults = gap_trees.Faults()
    bad = np.array([*scanned.faults], np.int64)
    faults.add(bad, bad, bad, problem)
    return faults


def _quoted(text: str) -> str:
    """Return the beginning of a text up to a space, shortened."""
    words = text.split(maxsplit=1)
    return repr(short(words[0] if words else "", 30))


def _raw(scanned: Scanned, vocabulary: Vocabulary) -> gap_trees.RawTrees:
    firsts, words = scanned.first_nodes, len(scanned.forms)
    filled = np.diff(firsts) > 0
    roots = firsts[:-1][filled]
    is_root: BoolArray = np.zeros(len(scanned.labels), np.bool_)
    is_root[roots] = True
    places = np.append(np.where(is_root, NONE, np.cumsum(~is_root) - 1), NONE)
    labels, functions = _labels(scanned.labels, scanned.strings, vocabulary, vocabulary.number(ROOT))
    tags, word_functions = _labels(scanned.tags, scanned.strings, vocabulary, NO_TAG)
    root_labels, root_functions = np.full(len(filled), vocabulary.number(ROOT)), np.zeros(len(filled), np.int64)
    root_labels[filled], root_functions[filled] = labels[roots], functions[roots]
    none = np.zeros(words, np.int64)
    return gap_trees.RawTrees(
        labels=labels[~is_root],
        functions=functions[~is_root],
        parents=places[scanned.parents[~is_root]],
        node_offsets=np.append(0, np.cumsum(~is_root))[firsts],
        words=gap_trees.numbers_of(scanned.forms, scanned.strings, vocabulary, _unescaped),
        tags=tags,
        word_functions=word_functions,
        lemmas=none,
        morphs=none,
        anchors=places[scanned.anchors],
        word_offsets=scanned.first_words,
        roots=root_labels,
        root_functions=root_functions,
        lines=np.arange(1, len(filled) + 1),
    )


def _labels(
    codes: Int32Array, strings: Sequence[str], vocabulary: Vocabulary, unnamed: int
) -> tuple[IntArray, IntArray]:
    """Return category and function of each label by its code, both numbers of strings; `unnamed` where it has none."""
    categories, functions = np.full(len(codes), unnamed, np.int64), np.zeros(len(codes), np.int64)
    named = codes != UNNAMED
    categories[named] = gap_trees.numbers_of(codes[named], strings, vocabulary, lambda label: divided(label)[0])
    functions[named] = gap_trees.numbers_of(codes[named], strings, vocabulary, lambda label: divided(label)[1])
    return categories, functions


def _unescaped(word: str) -> str:
    return word.replace("#LRB#", "(").replace("#RRB#", ")") if "#" in word else word


class _Line:
    """Writes one sentence."""

    def __init__(self, treebank: DiscontinuousTreebank, tree: gap_trees.WrittenTree) -> None:
        self._treebank = treebank
        self._strings = treebank.vocabulary.strings
        self._tree = tree

    def text(self) -> str:
        """Return the line. Raises InputError for what it cannot hold."""
        tree, treebank = self._tree, self._treebank
        if not len(tree.words):
            self._refuse(len(tree.nodes) or self._strings[treebank.labels[tree.root]] != ROOT, "nodes without words")
            return ""
        below: dict[int, list[int]] = {}
        leaves: dict[int, list[str]] = {}
        for node in tree.nodes:
            below.setdefault(int(treebank.parents[node]), []).append(node)
        for word in tree.words:
            leaves.setdefault(int(treebank.anchors[word]), []).append(self._leaf(word))
        return "".join(self._brackets(below, leaves))

    def _brackets(self, below: dict[int, list[int]], leaves: dict[int, list[str]]) -> Iterator[str]:
        """Yield the pieces of the tree; a stack in place of recursion, a negative entry closes a bracket."""
        treebank = self._treebank
        stack = [self._tree.root]
        while stack:
            node = stack.pop()
            if node < 0:
                yield ")"
                continue
            own, inner = leaves.get(node, []), below.get(node, [])
            bare = len(own) == 1 and not inner and not own[0].startswith("(")
            self._refuse(bare or not (own or inner), "a constituent of one word without a tag, or of none")
            yield " (" if node != self._tree.root else "("
            yield self._label(int(treebank.labels[node]), int(treebank.functions[node]))
            yield "".join(f" {leaf}" for leaf in own)
            stack.append(NONE)
            stack += reversed(inner)

    def _leaf(self, word: int) -> str:
        treebank = self._treebank
        form = self._strings[treebank.words[word]]
        written = "".join(_ESCAPED_BRACKETS.get(character, character) for character in form)
        self._refuse(not form or set(form) & _SPACE_SIGNS or _unescaped(written) != form, f"the word {form!r}")
        leaf = f"{word - self._tree.words.start}={written}"
        tag, function = int(treebank.tags[word]), int(treebank.word_functions[word])
        return leaf if tag == NO_TAG else f"({self._label(tag, function)} {leaf})"

    def _label(self, number: int, function: int) -> str:
        parts = self._strings[number], self._strings[function]
        label = "-".join(parts) if function else parts[0]
        self._refuse(divided(label) != parts or set(label) & (_SPACE_SIGNS | {"(", ")"}), f"the label {label!r}")
        return label

    def _refuse(self, wrong: object, what: str) -> None:
        if wrong:
            raise gap_trees.unwritable("discbracket", what, self._tree.number)


_SPACE_SIGNS = set(" \t\n\v\f\r\0")
