"""Lin's dependency tuples: `(word category [indicator head] [relationship])`, one line a token."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from treescore.core.arrays import offsets_of
from treescore.core.registry import Format, Text, register
from treescore.core.text import CERTAIN, Head, Limits, Signs, decoded, found_in_lines, share_of_lines
from treescore.core.trees import NO_HEAD, ODD_HEAD, DependencyTreebank, Vocabulary
from treescore.core.wording import counted
from treescore.errors import InputError, LimitError, Problem, ProblemList
from treescore.formats.shared.lines import short

ROOT = 0
SPACES = " \t\v\f"
_SPACE = re.compile(r"[ \t\v\f\r\n]+")
BLANK = "_"
_LOOKS_LIKE_TUPLE = re.compile(r"\s*\(\S+ \S+( (<+|>+) \S+( \S+)?)?\)\s*")
_LEAST_TUPLES = 0.8
_TUPLE_FORM = (
    "A tuple is (word category), (word category < head) or (word category < head relationship), "
    "its fields separated by spaces."
)


@register
class Minipar(Format):
    """MINIPAR tuples: one token a line in the order of the sentence, a blank line between sentences.

    The indicator names the head by its word: n times `<` is the n-th token to the right with the head's word form, n
    times `>` the n-th to the left, nearest first; the modifier itself never counts, and forms are compared character
    by character. A tuple without a head is a root: a whole sentence has one, fragments have several. A reference to
    a missing word stays in the treebank as an odd head, so that the dependency counts and is wrong. The category is
    kept as `upos` and `xpos`, no relationship is `_`. One pair of outer parentheses is the tuple's own; a word may be
    a parenthesis or `<`, and none may hold a space. After Lin 2003.
    """

    name: ClassVar[str] = "minipar"
    doc: ClassVar[str] = "MINIPAR tuples, one line a token: (word category < head relationship)."
    source: ClassVar[str] = "Lin 2003, Dependency-based Evaluation of MINIPAR (Treebanks, chapter 18)"
    yields: ClassVar[type[Any]] = DependencyTreebank
    blank_line_between = True
    usual_metric = "dependency_relations"
    example = "(the D < café det)\n(café N < opens subj)\n(opens V)\n(the D > opens)\n\n(Yes U)\n".encode()

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """See Format."""
        tuples = sum(map(bool, map(_LOOKS_LIKE_TUPLE.fullmatch, head.filled)))
        if share_of_lines(tuples, len(head.filled)) < _LEAST_TUPLES:
            return None
        return Signs(
            CERTAIN, [found_in_lines(tuples, len(head.filled), "One tuple (word category < head relationship)")]
        )

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> DependencyTreebank:
        """Read the treebank. Raises InputError and LimitError as promised by `Format`."""
        if not isinstance(text, bytes):
            raise InputError(Problem("bad-text", "This format takes one text, not several. Send a string."))
        problems = ProblemList(limits.max_problems)
        sentences: list[list[_Tuple]] = [[]]  # the last one is open
        for number, line in enumerate(decoded(text).replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
            if not line.strip(SPACES):
                if sentences[-1]:
                    sentences.append([])
                continue
            _check_limits(sentences, limits)
            parsed = _parsed(line, number, len(sentences))
            if isinstance(parsed, Problem):
                problems.add(parsed)
            else:
                sentences[-1].append(parsed)
        problems.raise_if_any()
        return _treebank([sentence for sentence in sentences if sentence], vocabulary)

    def write(self, treebank: DependencyTreebank) -> str:
        """Write the tuples.

        Raises:
            InputError: a word, category or relation holds a space; a head lies outside its sentence.
        """
        strings = treebank.vocabulary.strings
        problems = ProblemList()
        lines: list[str] = []
        for sentence, (start, end) in enumerate(pairwise(treebank.word_offsets.tolist())):
            words = [strings[number] for number in treebank.forms[start:end].tolist()]
            positions = _positions(words)
            for position in range(1, end - start + 1):
                word = start + position - 1
                category, label = strings[treebank.upos[word]], strings[treebank.deprels[word]]
                head = _reference(int(treebank.heads[word]), position, words, positions, strings)
                fields = [words[position - 1], category, *(head or ())]
                if head and label != BLANK:
                    fields.append(label)
                line = f"({' '.join(fields)})"
                if head is None or not all(fields) or _SPACE.search("".join(fields)):
                    detail = f"Word {position} cannot be written as a tuple: a field is empty or holds a space, or its "
                    detail += "head lies outside the sentence. Use another format."
                    problems.add(Problem("minipar-unwritable", detail, sentence=sentence + 1))
                lines.append(line)
            lines.append("")
        problems.raise_if_any()
        return "\n".join(lines) + "\n"


class _Tuple(NamedTuple):
    line: int
    word: str
    category: str
    indicator: str = ""
    head: str = ""
    label: str = BLANK


def _check_limits(sentences: Sequence[Sequence[_Tuple]], limits: Limits) -> None:
    """Raise LimitError where one more word or sentence exceeds a limit."""
    if len(sentences[-1]) >= limits.max_words:
        detail = f"Sentence {len(sentences)} exceeds {limits.max_words} words. Split it."
        raise LimitError(Problem("sentence-too-long", detail, sentence=len(sentences)))
    if len(sentences) > limits.max_sentences:
        detail = f"The text exceeds {limits.max_sentences} sentences. Split it."
        raise LimitError(Problem("too-many-sentences", detail))


def _parsed(line: str, number: int, sentence: int) -> _Tuple | Problem:
    stripped = line.strip(SPACES)

    def wrong_tuple(code: str, detail: str) -> Problem:
        column = line.index(stripped) + 1
        return Problem(code, f"{detail} {_TUPLE_FORM}", line=number, column=column, sentence=sentence)

    if len(stripped) < 2 or stripped[0] != "(" or stripped[-1] != ")":
        return wrong_tuple("minipar-no-parentheses", "The line is not a tuple in parentheses.")
    fields = [field for field in _SPACE.split(stripped[1:-1]) if field]
    if len(fields) == 3:
        detail = f"The tuple has a third field, {short(fields[2], 40)!r}, but no indicator and head."
        return wrong_tuple("minipar-three-fields", detail)
    if len(fields) not in (2, 4, 5):
        detail = f"The tuple has {counted(len(fields), 'field')}; 2, 4 or 5 are allowed, and no word may hold a space."
        return wrong_tuple("minipar-field-count", detail)
    if len(fields) > 2 and set(fields[2]) not in ({"<"}, {">"}):
        detail = f"The third field is {short(fields[2], 40)!r}, not < or > repeated, with a space behind."
        return wrong_tuple("minipar-bad-indicator", detail)
    return _Tuple(number, *fields)


def _treebank(sentences: Sequence[Sequence[_Tuple]], vocabulary: Vocabulary) -> DependencyTreebank:
    tuples = [token for sentence in sentences for token in sentence]
    categories = vocabulary.numbers([token.category for token in tuples])
    heads: list[int] = []
    for sentence in sentences:
        positions = _positions([token.word for token in sentence])
        for position, token in enumerate(sentence, 1):
            head = _resolved(token, position, positions)
            heads.append(head if isinstance(head, int) else ODD_HEAD - vocabulary.number(head))
    return DependencyTreebank.of_columns(
        vocabulary,
        offsets_of(np.array([*map(len, sentences)], np.int64)),
        forms=vocabulary.numbers([token.word for token in tuples]),
        heads=np.array(heads, np.int64),
        deprels=vocabulary.numbers([token.label for token in tuples]),
        upos=categories,
        xpos=categories,
        lines=np.array([token.line for token in tuples], np.int64),
    )


def _positions(words: Sequence[str]) -> Mapping[str, list[int]]:
    """Map each word form to its positions, from 1, in order."""
    positions: dict[str, list[int]] = defaultdict(list)
    for position, word in enumerate(words, 1):
        positions[word].append(position)
    return positions


def _resolved(token: _Tuple, position: int, positions: Mapping[str, list[int]]) -> int | str:
    """Return the head's position, or the reference as written where the word is missing."""
    if not token.indicator:
        return ROOT
    candidates = positions.get(token.head, [])
    count = len(token.indicator)
    right = token.indicator[0] == "<"
    index = bisect_right(candidates, position) + count - 1 if right else bisect_left(candidates, position) - count
    return candidates[index] if 0 <= index < len(candidates) else f"{token.indicator} {token.head}"


def _reference(
    head: int, position: int, words: Sequence[str], positions: Mapping[str, list[int]], strings: Sequence[str]
) -> tuple[str, ...] | None:
    """Return indicator and word that name a head: empty for a root, None where the format cannot name it."""
    if head in (ROOT, NO_HEAD):
        return ()
    if head <= ODD_HEAD:
        written = tuple(strings[ODD_HEAD - head].split(" "))
        return written if len(written) == 2 and set(written[0]) in ({"<"}, {">"}) else None
    if head > len(words) or head == position:
        return None
    candidates = positions[words[head - 1]]
    index = bisect_left(candidates, head)
    if head > position:
        return "<" * (index - bisect_right(candidates, position) + 1), words[head - 1]
    return ">" * (bisect_left(candidates, position) - index), words[head - 1]
