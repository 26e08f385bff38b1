"""Bracketed constituency trees: Penn's round and Sampson's square brackets, a tree on one line or on several."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import ClassVar

import numpy as np

from treescore.core import text as texts
from treescore.core.arrays import IntArray
from treescore.core.columns import trees_of
from treescore.core.params import UNREADABLE, Param
from treescore.core.registry import Format, Text, register
from treescore.core.trees import NO_TAG, ConstituentTreebank, Sentences, Vocabulary
from treescore.errors import InputError, LimitError, Problem, first_of
from treescore.formats.shared import bracket_reader
from treescore.formats.shared.lines import short, strings_of

# EVALB, a C program, reads a word with a NUL in it up to the NUL.
_BARE_CR = re.compile(rb"\r(?!\n)")
_WORDLESS = {
    bracket_reader.ROUND: re.compile(rb"(?:\(([^\s()]+)\s*)?\(([^\s()]+)\)"),
    bracket_reader.SQUARE: re.compile(rb"()\[([^\s\[\]]+)\]"),
}
"""A bracket that holds nothing but its label, and the label of one that holds nothing before it."""
_C_STRING_TAIL = re.compile(rb"\0[^ \t\n\v\f\r()]*")


@register
class Bracketed(Format):
    """Bracketed trees: `(S (NP (DT the) (NN dog)) (VP (VBD ran)))`, or `[S [NP the dog ] ran ]` without tags."""

    name = "bracketed"
    doc = (
        "Constituency trees in brackets. Round brackets: `(TAG word)` is a word with its tag, other brackets are "
        "constituents. Square brackets, where the text begins with one: words without tags. A blank between the "
        "bracket and its label, or before a closing bracket, is allowed, and so are bare words beside constituents."
    )
    source = "Marcus, Santorini & Marcinkiewicz 1993; Sampson & Babarczy 2003"
    yields = ConstituentTreebank
    suffixes = (".mrg", ".ptb", ".brackets", ".gld", ".tst", ".prd")
    usual_metric = "parseval"
    example = (
        "(S (NP-SBJ (DT The) (NN café)) (VP (VBZ is) (RB not) (ADJP (JJ open)) (NP (-NONE- *T*-1))) (. .))\n"
        "(NP (NP (NNP Zoë) (POS 's)) (NN dog))\n"
    ).encode()
    params: ClassVar[Mapping[str, Param]] = {
        "layout": Param(
            {"enum": ["lines", "free", None]},
            None,
            "lines: one sentence a line, as EVALB reads; a blank line is a sentence without a parse. free: trees "
            "spread over lines. null: seen from the margin. A line at the column of the first non-blank line, or left "
            "of it, and the deeper lines after it are a group; free where some group of several lines is balanced and "
            "its first line is not, or where the whole text is balanced and its first line is not; else lines.",
        ),
        "unreadable": UNREADABLE,
    }

    @classmethod
    def signs(cls, head: texts.Head) -> texts.Signs | None:
        """Return the signs of trees in round or square brackets."""
        opening = head.first[:1]
        if opening not in _PAIRS:
            return None
        closing = _PAIRS[opening]
        text = "\n".join(head.lines)
        opened, closed = text.count(opening), text.count(closing)
        if texts.share_of_lines(min(opened, closed), max(opened, closed)) < _LEAST and head.whole:
            return None
        outside, deepest = _outside_and_deepest(text, opening, closing)
        if texts.share_of_lines(outside, len(head.filled)) > 1 - _LEAST or has_numbered_leaves(head):
            return None
        balanced = sum(line.count(opening) == line.count(closing) for line in head.filled)
        why = [f"The text begins with {opening!r}; brackets are opened and closed."]
        spread = bracket_reader.layout_of(text.encode()) == bracket_reader.FREE
        why.append(
            "Trees are spread over lines."
            if spread
            else texts.found_in_lines(balanced, len(head.filled), "A balanced tree")
        )
        if deepest < _LEAST_DEPTH:
            return texts.Signs(texts.POSSIBLE / 2, [*why, "But no bracket stands inside another."])
        if opening == "[":
            why.append("Square brackets: words have no tags.")
            return texts.Signs(texts.LIKELY, why, metrics=_SQUARE)
        words = _PRETERMINAL.findall(text)
        return texts.Signs(texts.LIKELY, why, metrics=list(_metrics({tag for tag, _ in words}, text)))

    def read(self, text: Text, vocabulary: Vocabulary, limits: texts.Limits) -> ConstituentTreebank:
        """Read the treebank.

        Raises:
            InputError: `bracket-unclosed`, `bracket-unopened`, `text-outside-brackets`, those of core.text.
            LimitError: `too-deep`, `too-many-words`, `too-many-sentences`.
        """
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text is given one
        lenient = self.lenient
        texts.refuse_packed(text)
        if lenient and b"\0" in text:
            text = _C_STRING_TAIL.sub(b"", text)
        if not text or b"\0" in text:
            texts.checked_bytes(text)
        text = text.removeprefix(texts.BOM)
        layout = self.values["layout"] or bracket_reader.layout_of(text)
        by_line = layout == bracket_reader.LINES
        advice = "" if self.values["layout"] else bracket_reader.layout_advice(layout)
        scanned = _scan_text(text, limits, advice, by_line=by_line)
        strings = _strings(text, scanned)
        faults = np.flatnonzero(scanned.sentences.fault != bracket_reader.READABLE).tolist()
        reported = faults if lenient else faults[: limits.max_problems]
        problems = bracket_reader.problems_of(text, scanned, reported)
        if faults and not lenient:
            found = first_of([(problems, len(faults))], limits.max_problems)
            # Of a list one says it; a sentence's problem is read by itself.
            first, *others = found.problems
            raise InputError([bracket_reader.advised(first, advice), *others], found.total)
        problems = [bracket_reader.advised(problem, advice) for problem in problems]
        unreadable = dict(zip(reported, problems, strict=True))
        warnings = _bare_carriage_return(text) if by_line else []
        lines = _lines(text, scanned, by_line=by_line)
        if (scanned.starts == scanned.ends).any():
            warnings += islice(_brackets_without_words(text, scanned, lines), limits.max_problems)
        sentences = Sentences(unreadable=unreadable, warnings=warnings, advice=advice)
        return _bracketed_treebank(scanned, vocabulary, strings, lines, sentences)

    def joinable(self, texts: Mapping[str, bytes]) -> list[bytes]:
        """Return the texts so that they can follow each other.

        Raises:
            InputError: `files-differ`, one text has a sentence a line and another not; `bracket-unclosed` or
                `bracket-unopened`, a bracket would run into the next text.
        """
        pieces = super().joinable(texts)
        given = self.values["layout"]
        layouts = [given or bracket_reader.layout_of(piece) for piece in pieces]
        for pointer, piece, layout in zip(texts, pieces, layouts, strict=True):
            opening, closing = bracket_reader.brackets_of(piece)
            extra = piece.count(opening) - piece.count(closing)
            if layout != layouts[0]:
                detail = (
                    "Some of the files have one tree a line, others spread trees over lines: this one was taken to be "
                    f'"{layout}", the first "{layouts[0]}". Give all of them one layout; if all are meant to be read '
                    'alike, set the format option "layout".'
                )
                raise InputError(Problem("files-differ", detail, pointer=pointer))
            if extra and layout == bracket_reader.FREE:
                detail = f"The file has {abs(extra)} brackets more that are {'opened' if extra > 0 else 'closed'}."
                code = "bracket-unclosed" if extra > 0 else "bracket-unopened"
                problem = Problem(code, f"{detail} Balance them.", pointer=pointer)
                raise InputError(bracket_reader.advised(problem, "" if given else bracket_reader.layout_advice(layout)))
        return pieces

    def write(self, treebank: ConstituentTreebank) -> str:
        """Write one tree a line; square brackets where no word has a tag."""
        square = len(treebank.tags) > 0 and bool((treebank.tags == NO_TAG).all())
        return "".join(line + "\n" for line in tree_lines(treebank, square=square))


def _scan_text(text: bytes, limits: texts.Limits, advice: str, *, by_line: bool) -> bracket_reader.Scan:
    brackets = bracket_reader.brackets_of(text)
    bounds = bracket_reader.Bounds(limits.max_depth, limits.max_words, limits.max_sentences)
    scanned = bracket_reader.scan(text, brackets, bounds, by_line=by_line, resync=False)
    if not by_line and (scanned.sentences.fault[-1:] == bracket_reader.UNCLOSED).any():
        # A bracket is open at the end of the text. Read again, taking a bracket in the first column for a new tree,
        # to find the tree in which it is.
        scanned = bracket_reader.scan(text, brackets, bounds, by_line=by_line, resync=True)
    if scanned.limit:
        raise LimitError(bracket_reader.advised(bracket_reader.limit_problem(text, scanned, limits), advice))
    return scanned


def _bare_carriage_return(text: bytes) -> list[Problem]:
    """Warn of the first CR that is not part of a CR LF: it does not end a line, as in EVALB."""
    bare = _BARE_CR.search(text) if b"\r" in text else None
    if bare is None:
        return []
    line, column = texts.place(text, bare.start())
    detail = (
        "The line holds a carriage return (CR) that is not part of a CR LF. It does not end the line, as in EVALB, "
        "so the trees before and after it are one sentence. End lines with LF."
    )
    return [Problem("bare-carriage-return", detail, line=line, column=column)]


def _brackets_without_words(text: bytes, scanned: bracket_reader.Scan, lines: IntArray) -> Iterator[Problem]:
    """Warn of the brackets of readable sentences that hold nothing but a label."""
    brackets = bracket_reader.brackets_of(text)
    for found in _WORDLESS[brackets].finditer(text):
        at = found.start(2) - 1
        sentence = int(np.searchsorted(scanned.sentences.first_byte, at, "right")) - 1
        if scanned.sentences.fault[sentence] != bracket_reader.READABLE:
            continue
        begin = int(scanned.sentences.first_byte[sentence])
        tag, label = (short((each or b"TAG").decode()) for each in found.groups())
        shown, word = (f"({label})", f"({tag} {label})") if brackets == bracket_reader.ROUND else (f"[{label}]", label)
        detail = (
            f"{shown} is a bracket without words and is dropped, unless empty constituents are counted; if it is a "
            f"word, write {word}."
        )
        line = int(lines[sentence]) + text.count(b"\n", begin, at)
        column = len(text[text.rfind(b"\n", 0, at) + 1 : at].decode()) + 1
        yield Problem("bracket-without-words", detail, sentence=sentence + 1, line=line, column=column)


def _strings(text: bytes, scanned: bracket_reader.Scan) -> list[str]:
    """Decode the distinct strings. Between them there is only ASCII, so that no other byte needs decoding.

    Raises:
        InputError: `invalid-utf8`.
    """
    try:
        strings = strings_of(text, scanned.strings)
    except UnicodeDecodeError:
        texts.checked_bytes(text)
        raise
    if (scanned.sentences.fault == bracket_reader.OUTSIDE).any():
        texts.checked_bytes(text)
    return strings


def _lines(text: bytes, scanned: bracket_reader.Scan, *, by_line: bool) -> IntArray:
    if by_line:
        return np.arange(1, len(scanned.sentences.fault) + 1, dtype=np.int64)
    feeds = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    return np.asarray(np.searchsorted(feeds, scanned.sentences.first_byte) + 1, np.int64)


def _bracketed_treebank(
    scanned: bracket_reader.Scan, vocabulary: Vocabulary, strings: list[str], lines: IntArray, sentences: Sentences
) -> ConstituentTreebank:
    # Tag -1, none, takes the last number.
    numbers = np.append(vocabulary.numbers_of_distinct(strings), NO_TAG)
    # As blocks: numpy asks for huge pages for large ones.
    nodes = np.empty((3, len(scanned.labels)), np.int64)
    words = np.empty((2, len(scanned.forms)), np.int64)
    nodes[0], nodes[1], nodes[2] = numbers[scanned.labels], scanned.starts, scanned.ends
    words[0], words[1] = numbers[scanned.forms], numbers[scanned.tags]
    return ConstituentTreebank(
        vocabulary=vocabulary,
        labels=nodes[0],
        starts=nodes[1],
        ends=nodes[2],
        node_offsets=np.append(scanned.sentences.first_node, len(scanned.labels)),
        words=words[0],
        tags=words[1],
        word_offsets=np.append(scanned.sentences.first_word, len(scanned.forms)),
        lines=lines,
        sentences=sentences,
    )


def tree_lines(treebank: ConstituentTreebank, *, square: bool) -> list[str]:
    """Write each sentence in brackets, on one line.

    An empty node is written inside the deepest node before it that it touches; a lone word without a tag in a
    round constituent of its own is written so that it reads back as one.
    """
    texts: list[str] = trees_of(treebank, 0, len(treebank), square=square).documents(0, len(treebank))
    return texts


_LEAST = 0.9
_LEAF = re.compile(r"[( ]([0-9]+)=[^\s()]+")


def has_numbered_leaves(head: texts.Head) -> bool:
    """Tell whether nearly every line is a tree with leaves as 0=word."""
    return texts.share_of_lines(numbered_leaves(head), len(head.filled)) >= _LEAST


def numbered_leaves(head: texts.Head) -> int:
    """Count the lines that are trees with leaves as 0=word."""
    return sum(line.startswith("(") and bool(_LEAF.search(line)) for line in head.filled)


_LEAST_DEPTH = 2
_PAIRS = {"(": ")", "[": "]"}
_PRETERMINAL = re.compile(r"\(([^\s()]+) ([^\s()]+)\)")
_EMPTY = "-NONE-"
_SQUARE = (
    texts.Scored("leaf_ancestor", "Sampson's notation: the leaf-ancestor metric was published on it."),
    texts.Scored({"name": "parseval", "params": {"preset": "plain"}}, "Every bracket counts."),
)


def _outside_and_deepest(text: str, opening: str, closing: str) -> tuple[int, int]:
    """Count the pieces of text outside brackets, and the brackets that are open where most are."""
    depth = outside = deepest = 0
    for piece in re.split(rf"([{re.escape(opening + closing)}])", text):
        if piece == opening:
            depth += 1
            deepest = max(deepest, depth)
        elif piece == closing:
            depth = max(depth - 1, 0)
        elif not depth and piece.strip():
            outside += 1
    return outside, deepest


def _metrics(tags: set[str], text: str) -> Iterator[texts.Scored]:
    if any("##" in tag for tag in tags):
        yield texts.Scored(
            {"name": "parseval", "params": {"preset": "spmrl", "unparsed": "miss"}},
            "Labels carry features between ##, as those of the SPMRL shared tasks, whose scorer cuts them.",
        )
    else:
        reason = "Penn-style trees: EVALB with COLLINS.prm is what parsers are compared by."
        if _EMPTY in tags:
            reason += f" It deletes the empty elements ({_EMPTY}) that are there."
        yield texts.Scored("parseval", reason)
    yield texts.Scored(
        "leaf_ancestor", "Where a tree is wrong, word by word; it does not punish one wrong bracket twice."
    )
    if not text.isascii():
        return
    dependencies = {"name": "attachment", "transforms": ["heads"]}
    yield texts.Scored(dependencies, "Dependencies made by English head rules, if trees are English.")
