"""Trees in brackets whose constituents may have gaps: `(ROOT (S (VP 0=x (VB 2=z)) (NN 1=y)))`, one a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from treescore.core.arrays import BoolArray, Int32Array, IntArray
from treescore.core.discontinuity import ROOT, divided
from treescore.core.limits import Limits
from treescore.core.params import Json, Param
from treescore.core.registry import Format, Text, register
from treescore.core.signs import Head, Signs
from treescore.core.structure import NONE
from treescore.core.trees import NO_TAG, DiscontinuousTreebank
from treescore.core.vocabulary import Vocabulary
from treescore.errors import LimitError, Problem
from treescore.formats.shared import gap_brackets
from treescore.formats.shared.gap_signs import discbracket_signs
from treescore.formats.shared.gap_trees import (
    UNREADABLE,
    Faults,
    RawTrees,
    Reading,
    check_sentences,
    numbers_of,
    treebank_of,
)
from treescore.formats.shared.gap_writing import WrittenTree, WrittenTrees, unwritable
from treescore.formats.shared.lines import short, unix_lines

_ESCAPED_BRACKETS = {"(": "#LRB#", ")": "#RRB#"}
_LEAF_FORM = "Each leaf is index=word, as in (NN 0=dogs); brackets in words are #LRB# and #RRB#."
_FAULTS = {
    gap_brackets.UNCLOSED: Problem(
        "bracket-unclosed",
        "The line ends while brackets are open, the last {}. Close what is open.",
    ),
    gap_brackets.UNOPENED: Problem(
        "bracket-unopened",
        "A bracket is closed that was never opened. Remove it, or open one before.",
    ),
    gap_brackets.OUTSIDE: Problem(
        "text-outside-brackets",
        "{} stands outside the brackets of the line's tree. Write one tree a line, and comments after a tab.",
    ),
    gap_brackets.BAD_LEAF: Problem(
        "discbracket-leaf",
        "{} is not a leaf.",
    ),
    gap_brackets.EMPTY_NODE: Problem(
        "node-without-words",
        "The constituent {} has no words below it. Remove it, or put some into it.",
    ),
    gap_brackets.REPEATED_INDEX: Problem(
        "discbracket-repeated-index",
        "The index of {} stands twice in the line. Give each word an index of its own.",
    ),
    gap_brackets.INDEX_GAP: Problem(
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
    params: ClassVar[Mapping[str, Param]] = {"unreadable": UNREADABLE}

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
        check_sentences(text.count(b"\n"), limits)
        scanned = gap_brackets.scan(text, limits.max_depth)
        faults = _faults_of(text, scanned, limits)
        reading = Reading(
            vocabulary,
            limits,
            self.values["unreadable"] == "sentence",
            vocabulary.number(ROOT),
            _no_problem,
            np.zeros(0, np.int64),
        )
        return treebank_of(_raw(scanned, vocabulary), reading, (), faults)

    def write(self, treebank: DiscontinuousTreebank) -> str:
        """Write one tree a line. Raises InputError for what the format cannot hold."""
        trees = WrittenTrees(treebank, self.name)
        return "".join(_Line(treebank, tree).text() + "\n" for tree in trees)


def _no_problem(_node: int, /, *, cycle: bool) -> Problem:
    raise AssertionError(cycle)  # brackets have neither cycles nor, here, nodes without words


def _faults_of(text: bytes, scanned: gap_brackets.Scanned, limits: Limits) -> Faults:
    """Return the faults of lines. Raises LimitError."""
    faults = Faults()
    bad = np.flatnonzero(scanned.faults != gap_brackets.READABLE)
    line_starts = np.append(0, np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1)

    def problem(line: int) -> Problem:
        fault, byte = int(scanned.faults[line]), int(scanned.fault_bytes[line])
        column = len(text[line_starts[line] : byte].decode()) + 1
        if fault == gap_brackets.DEEP:
            detail = f"The line exceeds {limits.max_depth:,} nested brackets. Ask the operator for a higher limit."
            return Problem("too-deep", detail, line=line + 1, column=column, sentence=line + 1)
        end = int(line_starts[line + 1]) - 1
        detail = f"{_FAULTS[fault].detail.format(_quoted(text[byte:end][:200]))} {_LEAF_FORM}"
        return replace(_FAULTS[fault], detail=detail, line=line + 1, column=column, sentence=line + 1)

    deep = bad[scanned.faults[bad] == gap_brackets.DEEP]
    if len(deep):
        raise LimitError(problem(int(deep[0])))
    faults.add(bad, bad, bad, problem)
    return faults


def _quoted(text: bytes) -> str:
    """Return the beginning of a text up to a space, shortened."""
    words = text.decode("utf-8", "ignore").split()
    return repr(short(words[0] if words else "", 30))


def _raw(scanned: gap_brackets.Scanned, vocabulary: Vocabulary) -> RawTrees:
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
    return RawTrees(
        labels=labels[~is_root],
        functions=functions[~is_root],
        parents=places[scanned.parents[~is_root]],
        node_offsets=np.append(0, np.cumsum(~is_root))[firsts],
        words=numbers_of(scanned.forms, scanned.strings, vocabulary, _unescaped),
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
    named = codes != gap_brackets.UNNAMED
    categories[named] = numbers_of(codes[named], strings, vocabulary, lambda label: divided(label)[0])
    functions[named] = numbers_of(codes[named], strings, vocabulary, lambda label: divided(label)[1])
    return categories, functions


def _unescaped(word: str) -> str:
    return word.replace("#LRB#", "(").replace("#RRB#", ")") if "#" in word else word


class _Line:
    """Writes one sentence."""

    def __init__(self, treebank: DiscontinuousTreebank, tree: WrittenTree) -> None:
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
            raise unwritable("discbracket", what, self._tree.number)


_SPACE_SIGNS = set(" \t\n\v\f\r\0")
