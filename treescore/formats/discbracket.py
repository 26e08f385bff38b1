"""Trees in brackets whose constituents may have gaps: `(ROOT (S (VP 0=x (VB 2=z)) (NN 1=y)))`, one a line.

The reader is compiled; its leaves are `index=word`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np

from treescore.core.arrays import Bits, BoolArray, Bytes, Int32Array, IntArray
from treescore.core.discontinuity import ROOT, divided
from treescore.core.jit import compiled
from treescore.core.params import Json, Param
from treescore.core.registry import Format, Text, register
from treescore.core.structure import NONE
from treescore.core.text import Head, Limits, Signs
from treescore.core.trees import NO_TAG, DiscontinuousTreebank, Vocabulary
from treescore.errors import LimitError, Problem
from treescore.formats.shared import gap_trees
from treescore.formats.shared.interning import new_table, number_all, padded, secret, strings_of, with_room
from treescore.formats.shared.lines import short, unix_lines
from treescore.formats.shared.tree_signs import discbracket_signs

(READABLE, UNCLOSED, UNOPENED, OUTSIDE, BAD_LEAF, EMPTY_NODE, REPEATED_INDEX, INDEX_GAP) = range(8)
"""Faults of a line."""

DEEP = 8
"""A line with more open brackets than allowed."""

UNNAMED = -1
"""Label of a root that the text does not name."""

_SPACE, _OPEN, _CLOSE, _TAB, _LINE_FEED, _EQUALS = 32, 40, 41, 9, 10, 61
_MOST_DIGITS = 9
_AT_ONCE = 4096


class Sizes(NamedTuple):
    """How many nodes and words the columns have so far."""

    nodes: int
    words: int


class Columns(NamedTuple):
    """What the reader fills; of the nodes the first of each sentence is its root.

    Attributes:
        labels: first byte of the label of each node and the byte after its last, UNNAMED: none, int64 (m, 2).
        parents: the node above each, counted over the file, NONE of roots, int64 (m,).
        forms: bytes of each word, int64 (w, 2).
        tags: bytes of its tag, UNNAMED where it has none, int64 (w, 2).
        anchors: the node above each word, int64 (w,).
        places: scratch memory for words in the order of the text: forms, tags, anchor, index, byte; int64 (w, 7).
        stack: scratch memory for open brackets: node, byte, words and brackets directly below, int64 (depth, 4).
    """

    labels: IntArray
    parents: IntArray
    forms: IntArray
    tags: IntArray
    anchors: IntArray
    places: IntArray
    stack: IntArray


class Scanned(NamedTuple):
    """A text in columns; labels, forms and tags are numbers of `strings`.

    Attributes:
        labels, parents, forms, tags, anchors: as in Columns, the numbers int32, UNNAMED where there is none.
        first_nodes, first_words: int64 (n + 1,).
        faults: int64 (n,), and the byte of each.
        strings: the distinct ones.
    """

    labels: Int32Array
    parents: IntArray
    forms: Int32Array
    tags: Int32Array
    anchors: IntArray
    first_nodes: IntArray
    first_words: IntArray
    faults: IntArray
    fault_bytes: IntArray
    strings: list[str]


def scan(text: bytes, max_depth: int) -> Scanned:
    """Read all lines; a line with a fault has no nodes and no words.

    Args:
        text: valid UTF-8 without a NUL, every line with a line feed.
        max_depth: open brackets at once.
    """
    characters, words = padded(text)
    starts = np.append(0, np.flatnonzero(characters == _LINE_FEED) + 1)
    brackets, equals = (int(np.count_nonzero(characters == byte)) for byte in (_OPEN, _EQUALS))
    columns = Columns(
        labels=np.empty((brackets + 1, 2), np.int64),
        parents=np.empty(brackets + 1, np.int64),
        forms=np.empty((equals, 2), np.int64),
        tags=np.empty((equals, 2), np.int64),
        anchors=np.empty(equals, np.int64),
        places=np.empty((equals, 7), np.int64),
        stack=np.empty((min(brackets, max_depth) + 1, 4), np.int64),
    )
    size = len(starts) - 1
    bounds = np.zeros((2, size + 1), np.int64)
    faults = np.zeros((2, size), np.int64)
    _scan(characters, starts, columns, bounds, faults)
    nodes, leaves = int(bounds[0, -1]), int(bounds[1, -1])
    spans = np.concatenate([columns.labels[:nodes], columns.forms[:leaves], columns.tags[:leaves]])
    codes = np.empty(len(spans), np.int32)
    places = _number(words, spans, codes, secret())
    return Scanned(
        labels=codes[:nodes],
        parents=columns.parents[:nodes],
        forms=codes[nodes : nodes + leaves],
        tags=codes[nodes + leaves :],
        anchors=columns.anchors[:leaves],
        first_nodes=bounds[0],
        first_words=bounds[1],
        faults=faults[0],
        fault_bytes=faults[1],
        strings=strings_of(characters, places),
    )


@compiled
def _number(words: Bits, spans: IntArray, codes: Int32Array, odd: np.uint64) -> IntArray:
    """Fill the number of each string, UNNAMED where it has no place; return the places of the distinct ones."""
    table = new_table(odd)
    starts, stops = np.empty(_AT_ONCE, np.int64), np.empty(_AT_ONCE, np.int64)
    found = np.empty(_AT_ONCE, np.int32)
    for begin in range(0, len(spans), _AT_ONCE):
        count = min(_AT_ONCE, len(spans) - begin)
        for index in range(count):
            place = spans[begin + index, 0]
            starts[index] = place if place != UNNAMED else 0
            stops[index] = spans[begin + index, 1] if place != UNNAMED else 0
        table = with_room(table, count)
        number_all(words, starts, stops, count, table, found)
        for index in range(count):
            codes[begin + index] = found[index] if spans[begin + index, 0] != UNNAMED else UNNAMED
    return table.places[: table.size[0]]


@compiled
def _scan(text: Bytes, starts: IntArray, columns: Columns, bounds: IntArray, faults: IntArray) -> None:
    for line in range(len(starts) - 1):
        nodes, words = bounds[0, line], bounds[1, line]
        fault, byte, sizes = _tree(text, starts[line], starts[line + 1] - 1, columns, Sizes(nodes, words))
        if fault == READABLE:
            fault, byte = _placed(columns, words, sizes.words)
        if fault == READABLE:
            bounds[0, line + 1], bounds[1, line + 1] = sizes.nodes, sizes.words
        else:
            bounds[0, line + 1], bounds[1, line + 1] = nodes, words
        faults[0, line], faults[1, line] = fault, byte


@compiled
def _tree(text: Bytes, position: int, end: int, columns: Columns, sizes: Sizes) -> tuple[int, int, Sizes]:  # noqa: C901, PLR0912 - one loop over the bytes of a tree
    """Read the tree of one line; return its fault, the fault's byte, and the sizes with it."""
    labels, parents, _, _, _, places, stack = columns
    node, word, depth, closed = sizes.nodes, sizes.words, 0, False
    while position < end and text[position] != _TAB:
        byte = text[position]
        if byte == _SPACE or 11 <= byte <= 12:
            position += 1
        elif byte == _OPEN:
            if closed:
                return OUTSIDE, position, sizes
            if depth == len(stack) - 1:
                return DEEP, position, sizes
            begin = position + 1
            stop = _token_end(text, begin, end)
            labels[node, 0], labels[node, 1] = begin, stop
            parents[node] = NONE
            if depth:
                parents[node] = stack[depth - 1, 0]
                stack[depth - 1, 3] += 1
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = node, position, 0, 0
            depth, node, position = depth + 1, node + 1, stop
        elif byte == _CLOSE:
            if not depth:
                return UNOPENED, position, sizes
            depth -= 1
            top, begin, own, below = stack[depth]
            if not own and not below:
                return EMPTY_NODE, begin, sizes
            if own == 1 and not below:
                # A bracket around a word alone is its tag; it is the last node so far.
                places[word - 1, 2], places[word - 1, 3] = labels[top, 0], labels[top, 1]
                places[word - 1, 4] = parents[top]
                if depth:
                    node -= 1
                else:
                    labels[top, 0] = UNNAMED
                    places[word - 1, 4] = top
            closed = depth == 0
            position += 1
        elif closed or not depth:
            return OUTSIDE, position, sizes
        else:
            stop = _token_end(text, position, end)
            index, form = _leaf(text, position, stop)
            if index < 0:
                return BAD_LEAF, position, sizes
            places[word, 0], places[word, 1] = form, stop
            places[word, 2], places[word, 3] = UNNAMED, UNNAMED
            places[word, 4], places[word, 5], places[word, 6] = stack[depth - 1, 0], index, position
            stack[depth - 1, 2] += 1
            word, position = word + 1, stop
    if depth:
        return UNCLOSED, stack[depth - 1, 1], sizes
    return READABLE, 0, Sizes(node, word)


@compiled
def _token_end(text: Bytes, position: int, end: int) -> int:
    while position < end:
        byte = text[position]
        if byte in (_SPACE, _TAB, _OPEN, _CLOSE) or 11 <= byte <= 12:
            break
        position += 1
    return position


@compiled
def _leaf(text: Bytes, position: int, stop: int) -> tuple[int, int]:
    """Return the index of a leaf and the first byte of its word; index -1 where it has not both."""
    index, first = 0, position
    while position < stop and 48 <= text[position] <= 57 and position - first < _MOST_DIGITS:
        index = 10 * index + text[position] - 48
        position += 1
    if position == first or position >= stop - 1 or text[position] != _EQUALS:
        return -1, position
    return index, position + 1


@compiled
def _placed(columns: Columns, first: int, stop: int) -> tuple[int, int]:
    """Move the words of a sentence to the places that their indices name; return fault and byte."""
    _, _, forms, tags, anchors, places, _ = columns
    forms[first:stop, 0] = UNNAMED
    for word in range(first, stop):
        index = first + places[word, 5]
        if index >= stop:
            return INDEX_GAP, places[word, 6]
        if forms[index, 0] != UNNAMED:
            return REPEATED_INDEX, places[word, 6]
        forms[index, 0], forms[index, 1] = places[word, 0], places[word, 1]
        tags[index, 0], tags[index, 1] = places[word, 2], places[word, 3]
        anchors[index] = places[word, 4]
    return READABLE, 0


_ESCAPED_BRACKETS = {"(": "#LRB#", ")": "#RRB#"}
_LEAF_FORM = "Each leaf is index=word, as in (NN 0=dogs); brackets in words are #LRB# and #RRB#."
_FAULTS = {
    UNCLOSED: Problem("bracket-unclosed", "The line ends while brackets are open, the last {}. Close what is open."),
    UNOPENED: Problem("bracket-unopened", "A bracket is closed that was never opened. Remove it, or open one before."),
    OUTSIDE: Problem(
        "text-outside-brackets",
        "{} stands outside the brackets of the line's tree. Write one tree a line, and comments after a tab.",
    ),
    BAD_LEAF: Problem("discbracket-leaf", "{} is not a leaf."),
    EMPTY_NODE: Problem(
        "node-without-words", "The constituent {} has no words below it. Remove it, or put some into it."
    ),
    REPEATED_INDEX: Problem(
        "discbracket-repeated-index", "The index of {} stands twice in the line. Give each word an index of its own."
    ),
    INDEX_GAP: Problem(
        "discbracket-index-gap",
        "The index of {} is not below the number of words in the line. Count the words from 0 without gaps.",
    ),
}


@register
class DiscBracket(Format):
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
    yields = DiscontinuousTreebank
    suffixes = (".discbracket", ".dbr")
    usual_metric = "parseval"
    usual_params: ClassVar[Mapping[str, Json]] = {"preset": "discodop"}
    example = (
        "(ROOT (S (VP-OC (NP-OA (ART-NK 0=Das) (NN 1=Büch=lein)) (VVPP 4=gelesen)) (VAFIN 2=hat) (PPER 3=er)) "
        "($. 5=.))\t1\n"
        "(ROOT (NP ($[ 0=#LRB#) 1=Nein ($[ 2=#RRB#)))\n"
    ).encode()
    params: ClassVar[Mapping[str, Param]] = {"unreadable": gap_trees.UNREADABLE}

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """See Format."""
        return discbracket_signs(head)

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
        scanned = scan(text, limits.max_depth)
        faults = _faults_of(text, scanned, limits)
        reading = gap_trees.Reading(
            vocabulary,
            limits,
            self.values["unreadable"] == "sentence",
            vocabulary.number(ROOT),
            _no_problem,
            np.zeros(0, np.int64),
        )
        return gap_trees.treebank_of(_raw(scanned, vocabulary), reading, (), faults)

    def write(self, treebank: DiscontinuousTreebank) -> str:
        """Write one tree a line. Raises InputError for what the format cannot hold."""
        trees = gap_trees.WrittenTrees(treebank, self.name)
        return "".join(_Line(treebank, tree).text() + "\n" for tree in trees)


def _no_problem(_node: int, /, *, cycle: bool) -> Problem:
    raise AssertionError(cycle)  # brackets have neither cycles nor, here, nodes without words


def _faults_of(text: bytes, scanned: Scanned, limits: Limits) -> gap_trees.Faults:
    """Return the faults of lines. Raises LimitError."""
    faults = gap_trees.Faults()
    bad = np.flatnonzero(scanned.faults != READABLE)
    line_starts = np.append(0, np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1)

    def problem(line: int) -> Problem:
        fault, byte = int(scanned.faults[line]), int(scanned.fault_bytes[line])
        column = len(text[line_starts[line] : byte].decode()) + 1
        if fault == DEEP:
            detail = f"The line exceeds {limits.max_depth:,} nested brackets. Ask the operator for a higher limit."
            return Problem("too-deep", detail, line=line + 1, column=column, sentence=line + 1)
        end = int(line_starts[line + 1]) - 1
        detail = f"{_FAULTS[fault].detail.format(_quoted(text[byte:end][:200]))} {_LEAF_FORM}"
        return replace(_FAULTS[fault], detail=detail, line=line + 1, column=column, sentence=line + 1)

    deep = bad[scanned.faults[bad] == DEEP]
    if len(deep):
        raise LimitError(problem(int(deep[0])))
    faults.add(bad, bad, bad, problem)
    return faults


def _quoted(text: bytes) -> str:
    """Return the beginning of a text up to a space, shortened."""
    words = text.decode("utf-8", "ignore").split()
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
        if tag == NO_TAG:
            return leaf
        return f"({self._label(tag, function)} {leaf})"

    def _label(self, number: int, function: int) -> str:
        parts = self._strings[number], self._strings[function]
        label = "-".join(parts) if function else parts[0]
        self._refuse(divided(label) != parts or set(label) & (_SPACE_SIGNS | {"(", ")"}), f"the label {label!r}")
        return label

    def _refuse(self, wrong: object, what: str) -> None:
        if wrong:
            raise gap_trees.unwritable("discbracket", what, self._tree.number)


_SPACE_SIGNS = set(" \t\n\v\f\r\0")
