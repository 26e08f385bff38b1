"""Shared by alignment formats: tokens with their places, links without repeats, base and direction, signs.

Links that look as if their words were counted from another number than the format's usual one are refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import islice, pairwise, starmap
from typing import ClassVar, NamedTuple

import numpy as np

from treescore.core import text as texts
from treescore.core.arrays import BoolArray, Int32Array, IntArray, owners_of
from treescore.core.params import BOOLEAN, Json, Param
from treescore.core.registry import Format, Text
from treescore.core.trees import IN_A_BENCHMARK, Alignments, LinkForm, Sentences, Vocabulary
from treescore.core.wording import counted
from treescore.errors import InputError, LimitError, Problem, ProblemList
from treescore.formats.shared.lines import short

FEWEST_PAIRS = 20
"""Sentence pairs with links from which on a text is judged."""
FEWEST_EXPECTED = 6.0
"""First words that should be linked, by how many words are, for the lack of one to be a sign: e^-6 is 0.25 %."""
NULL_SHARE = 0.1
"""Share of pairs that link NULL with NULL: no aligner does, but it is how first words look that are counted from 0."""
SECOND_SHARE = 0.25
"""Share of pairs that link second word and second word, for the lack of one that links the first ones to be a sign."""


def check_base(links: Alignments) -> None:
    """Check that links do not look as if words were counted from another base, unless the base is stated.

    Raises:
        InputError: `alignment-base-not-stated`.
    """
    form, linked = links.form, int(np.count_nonzero(np.diff(links.offsets)))
    if form is None or form.stated or linked < FEWEST_PAIRS:
        return
    other = 1 - form.base
    source, target = links.source, links.target
    if form.base == 1:
        null_pairs = int(np.count_nonzero((source == 0) & (target == 0)))
        if null_pairs >= NULL_SHARE * linked:
            raise InputError(_not_stated(f"{null_pairs} sentence pairs link NULL with NULL", form, other))
    if not ((source == 1) | (target == 1)).any():
        if max(_expected(links.offsets, side) for side in (source, target)) >= FEWEST_EXPECTED:
            sign = f"No first word of a sentence is linked in {linked} sentence pairs with links"
            raise InputError(_not_stated(sign, form, other if form.base == 0 else None))
    elif form.base == 0 and not ((source == 1) & (target == 1)).any():
        seconds = int(np.count_nonzero((source == 2) & (target == 2)))
        if seconds >= max(FEWEST_PAIRS // 2, SECOND_SHARE * linked):
            sign = f"No pair links 0 and 0, but {seconds} link 1 and 1"
            raise InputError(_not_stated(sign, form, other))


def base_problem(sign: str, form: LinkForm, wanted: LinkForm) -> Problem:
    """Describe a sign that numbers have another meaning than the format's usual one, and the format to name."""
    found = f"their words seem to be counted from {wanted.base}, not from {form.base}"
    if wanted.reversed != form.reversed:
        turned = "the text seems to write the other side's word first"
        found = turned if wanted.base == form.base else f"{found}, and {turned}"
    detail = (
        f"{sign}. The format {form.format!r} counts words from {form.base} unless stated: {found}. If so, name "
        f"the format {wanted.words}; to keep this reading, {form.with_base(form.base).value}. (Commands: --format for "
        f"gold, --system-format for outputs.) {IN_A_BENCHMARK}"
    )
    return Problem("alignment-base-not-stated", detail)


def _not_stated(sign: str, form: LinkForm, other: int | None) -> Problem:
    if other is not None:
        return base_problem(sign, form, form.with_base(other))
    detail = (
        f"{sign}: the numbers seem not to be those of words. If words do count from {form.base}, state it: the format "
        f"{form.with_base(form.base).words}. {IN_A_BENCHMARK}"
    )
    return Problem("alignment-base-not-stated", detail)


def _expected(offsets: IntArray, side: Int32Array) -> float:
    """Return how many sentences' first words should be linked if words were linked without regard to their place.

    The length of a sentence with k linked words, the last of them at m, is about m (1 + 1/k) - 1.
    """
    if not side.any():
        return 0.0
    width = int(side.max()) + 1
    ends = owners_of(offsets)
    ends *= width
    ends += side
    ends = ends[side > 0]
    ends.sort()
    ends = ends[_changes(ends)]
    pairs = ends // width
    last = np.append(np.flatnonzero(pairs[1:] != pairs[:-1]), len(pairs) - 1)
    linked = np.diff(last, prepend=-1)
    lengths = ends[last] % width * (1 + 1 / linked) - 1
    return float(len(last) * linked.sum() / lengths.sum())


LEAST_SHARE = 0.8
_LINK = re.compile(rb"([0-9]+)[-pP?]([0-9]+)")
_CONFIDENCE = re.compile(rb"([0-9]+[-pP?][0-9]+)(?::|-(?![0-9]{2,}$|[2-9]$))(.+)")
"""A link and what may be its confidence; behind `-` a whole number above 1 is none."""


REVERSED = Param(BOOLEAN, default=False, doc="The text writes the target word first.")
MAX_DIGITS = 9
_FORM = (
    "Join two word numbers by - (sure) or p (possible), as in 3-4 or 3p4; a confidence may follow (3-4-0.9, 3-4:0.9)."
)
_SPACE = np.zeros(256, np.bool_)
_SPACE[list(b" \t\n\r\x0b\x0c")] = True


def base_param(usual: int) -> Param:
    """Make the option that says whether the text counts words from 0 or from 1, with the format's usual base."""
    return Param(
        {"enum": [0, 1, None]},
        default=None,
        doc=f"The number of a sentence's first word: 0 or 1. null: not stated, {usual}; then a text is refused that "
        "looks as if it counted otherwise.",
    )


class Tokens(NamedTuple):
    """The tokens of a piece of a text in order, t of them.

    Attributes:
        strings: the tokens.
        lines: line of each, from 0, int32 (t,).
        columns: column of its first character, from 1, int32 (t,).
    """

    strings: Sequence[bytes]
    lines: Int32Array
    columns: Int32Array

    def problem(self, token: int, code: str, detail: str, *, named: bool = False) -> Problem:
        """Make a problem at a token. Sentences are lines, or named by the first token of their lines."""
        line = int(self.lines[token])
        name = self.strings[int(np.searchsorted(self.lines, line))].decode("utf-8") if named else None
        column, sentence = int(self.columns[token]), None if named else line + 1
        return Problem(code, detail, line=line + 1, column=column, sentence=sentence, sent_id=name)


class Links(NamedTuple):
    """Links of a text, l of them; `pairs` is the sentence pair of each, from 0: bool and int32 (l,)."""

    pairs: Int32Array
    source: Int32Array
    target: Int32Array
    sure: BoolArray
    lines: Int32Array
    columns: Int32Array

    def at(self, chosen: IntArray | BoolArray) -> Links:
        """Return the chosen links."""
        return Links(*(column[chosen] for column in self))  # type: ignore[arg-type]

    @classmethod
    def joined(cls, pieces: list[Links]) -> Links:
        """Return the links of all pieces, taken out of their list: no more than one column stands twice."""
        kinds = (np.int32, np.int32, np.int32, np.bool_, np.int32, np.int32)
        columns = [list(column) for column in zip(*pieces, strict=True)]
        pieces.clear()
        found = [np.concatenate(columns.pop()) if columns else np.zeros(0, kind) for kind in reversed(kinds)]
        return cls(*reversed(found))


def unified(text: Text) -> bytes:
    """Check the text, remove a byte order mark and end lines with LF.

    Raises:
        InputError: as `treescore.core.text.decoded`.
    """
    if not isinstance(text, bytes):
        raise InputError(Problem("bad-text", "This format takes one text, not several. Send a string."))
    text = text.removeprefix(texts.BOM)
    texts.checked_bytes(text)
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


PIECE = 1 << 19
"""Bytes of a text that are split at once: tokens take many times the memory of their text."""
_BLANK = re.compile(rb"[ \t\n\x0b\x0c]")


def lines_in(text: bytes) -> int:
    """Count the lines; what follows the last line end is one unless it is empty."""
    return text.count(b"\n") + (not text.endswith(b"\n"))


def pieces_of(text: bytes) -> Iterator[Tokens]:
    """Split a text at white space, keeping places; piece by piece, which end with a line unless it is very long."""
    start = line = column = 0
    while start < len(text):
        stop = _end_of_piece(text, start)
        characters = np.frombuffer(text, np.uint8, stop - start, start)
        space = _SPACE[characters]
        begins = ~space
        begins[1:] &= space[:-1]
        starts = np.flatnonzero(begins)
        ends_of_lines = np.flatnonzero(characters == ord("\n"))
        lines = np.searchsorted(ends_of_lines, starts)
        # Characters up to each byte, and before each line: continuation bytes begin none.
        counts = np.cumsum((characters & 0xC0) != 0x80, dtype=np.int32)
        before = np.concatenate([[-column], counts[ends_of_lines]])
        yield Tokens(
            text[start:stop].split(), (lines + line).astype(np.int32), (counts[starts] - before[lines]).astype(np.int32)
        )
        start, line, column = stop, line + len(ends_of_lines), int(counts[-1] - before[-1])


def _end_of_piece(text: bytes, start: int) -> int:
    """Return where a piece ends: behind its last line, behind its last token, or behind its only token."""
    end = start + PIECE
    if end >= len(text):
        return len(text)
    line = text.rfind(b"\n", start, end) + 1
    if line:
        return line
    token = max(text.rfind(blank, start, end) for blank in (b" ", b"\t", b"\x0b", b"\x0c")) + 1
    blank = None if token else _BLANK.search(text, end)
    return token or (len(text) if blank is None else blank.end())


def quoted(token: bytes) -> str:
    """Quote a token of the text for a message."""
    return repr(short(token.decode("utf-8"), 40))


def checked_sentences(count: int, limits: texts.Limits) -> None:
    """Raise LimitError for more sentence pairs than are allowed."""
    if count > limits.max_sentences:
        detail = f"The text has {count} sentence pairs; the limit is {limits.max_sentences}. Split it."
        raise LimitError(Problem("too-many-sentences", detail))


class Fault(NamedTuple):
    """What is wrong with a token."""

    code: str
    what: str


def number_of(digits: bytes, limits: texts.Limits) -> int | Fault:
    """Return a word's number as written, or what is wrong with it."""
    if not digits.isdigit():
        if digits[:1] in (b"-", b"+") and digits[1:].isdigit():
            return Fault("alignment-index-out-of-range", "is negative or has a sign")
        return Fault("alignment-bad-link", "is not a number")
    number = int(digits) if len(digits) <= MAX_DIGITS else None
    if number is None or number > limits.max_words:
        return Fault("alignment-index-out-of-range", f"exceeds the limit of {limits.max_words} words in a sentence")
    return number


def sorted_links(pieces: Iterable[Links]) -> Links:
    """Sort the links by pair, source and target; one given twice counts once, sure if either is.

    Pieces in the order of pairs are sorted one by one, which takes little memory.
    """
    done: list[Links] = []
    together: list[Links] = []
    for piece in map(_sorted, pieces):
        if not len(piece.pairs):
            continue
        if together and int(together[-1].pairs[-1]) < int(piece.pairs[0]):
            done.append(_merged(together))
        together.append(piece)
    if together:
        done.append(_merged(together))
    return Links.joined(done)


def _merged(pieces: list[Links]) -> Links:
    """Return sorted pieces as one, and empty their list."""
    return pieces.pop() if len(pieces) == 1 else _sorted(Links.joined(pieces))


def _sorted(links: Links) -> Links:
    links = links.at(np.lexsort((links.target, links.source, links.pairs)))
    first = _changes(links.pairs) | _changes(links.source) | _changes(links.target)
    if first.all():
        return links
    return links.at(first)._replace(sure=np.logical_or.reduceat(links.sure, np.flatnonzero(first)))


def _changes(values: IntArray | Int32Array) -> BoolArray:
    """Tell which values differ from the one before, bool (n,); the first does."""
    changes = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes


def alignments_of(
    links: Links, pair_ids: Sequence[str], sentences: Sentences, form: LinkForm | None = None
) -> Alignments:
    """Return the alignments of links that are sorted (`sorted_links`)."""
    offsets = np.searchsorted(links.pairs, np.arange(len(pair_ids) + 1, dtype=np.int32)).astype(np.int64)
    known = {name: getattr(links, name) for name in ("source", "target", "sure", "lines", "columns")}
    return Alignments(**known, offsets=offsets, pair_ids=pair_ids, sentences=sentences, form=form)


def form_of(name: str, values: Mapping[str, Json], usual_base: int, options: str = "") -> LinkForm:
    """Return how a format with these options reads numbers; `options` are further ones, as JSON without braces."""
    stated = values["base"] is not None
    return LinkForm(name, int(values["base"]) if stated else usual_base, bool(values["reversed"]), stated, options)


def directed(form: LinkForm, first: Int32Array, second: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Return source and target positions, from 1, of the two numbers as written."""
    shift = 1 - form.base
    return (second + shift, first + shift) if form.reversed else (first + shift, second + shift)


def lines_of_names(names: Sequence[str], lines: int) -> IntArray:
    """Return the line, from 0, of each sentence name, where the other side has only lines; it may lie beyond `lines`.

    A name that is a number is the line of that number, unless the names are a run of as many numbers as there are
    lines; other names stand in order.

    Raises:
        InputError: the names are not numbers, and not as many as lines.
    """
    if all(name.isascii() and name.isdigit() and len(name) <= 9 for name in names):
        numbers = np.array([int(name) for name in names], np.int64)
        run = len(numbers) == lines and len(numbers) > 0 and int(numbers.max() - numbers.min()) == lines - 1
        first = int(numbers.min()) if run else 1
        if not len(numbers) or int(numbers.min()) >= first:
            return numbers - first
    if len(names) == lines:
        return np.arange(lines, dtype=np.int64)
    detail = (
        f"One side names its sentences ({len(names)} of them), the other has {counted(lines, 'line')}, and the names "
        "are no line numbers. Number the sentences from 1, or send both in one format."
    )
    raise InputError(Problem("alignment-unknown-sentence", detail))


class AlignmentFormat(Format):
    """A format of word alignments."""

    yields = Alignments
    usual_metric = "alignment"
    memory = 25


class LineFormat(AlignmentFormat):
    """A format with one sentence pair a line, links separated by white space: `0-0` sure, `0p0` or `0?0` possible."""

    usual_base: ClassVar[int]

    @classmethod
    def signs(cls, head: texts.Head) -> texts.Signs | None:
        """Return the signs of links like `0-0` on a line, for words counted from 0 or from 1."""
        lines = [line.encode()[slice(*_place_of_links(line.encode()))].split() for line in head.filled]
        links = [[match for token in tokens if (match := _LINK.fullmatch(_plain_link(token)))] for tokens in lines]
        found = sum(len(made) == len(tokens) for made, tokens in zip(links, lines, strict=True))
        if texts.share_of_lines(found, len(lines)) < LEAST_SHARE:
            return None
        why = [texts.found_in_lines(found, len(lines), "Only links of two word numbers")]
        numbers = {int(number) for made in links for match in made for number in match.groups()}
        if not numbers:
            return texts.Signs(texts.POSSIBLE, why)
        if any(match[1] == match[2] == b"0" for made in links for match in made):
            # Counted from 1, it would link NULL with NULL.
            return (
                texts.Signs(texts.LIKELY, [*why, "0-0 occurs: words are counted from 0."])
                if cls.usual_base == 0
                else None
            )
        if 0 in numbers:
            return texts.Signs(texts.POSSIBLE, [*why, "0 occurs: it is the first word (pharaoh), or NULL (talp)."])
        why.append("0 does not occur: words are probably counted from 1.")
        if cls.usual_base == 1:
            return texts.Signs(texts.LIKELY, why)
        # Of many lines the reader, too, says so, and asks for the base.
        return texts.Signs(texts.POSSIBLE, why, options={"base": 1} if len(lines) >= FEWEST_PAIRS else {})

    @property
    def form(self) -> LinkForm:
        """How the numbers of a text are read."""
        return form_of(self.name, self.values, self.usual_base)

    def read(self, text: Text, vocabulary: Vocabulary, limits: texts.Limits) -> Alignments:  # noqa: ARG002 - no words here
        """Read the links; a blank line is a pair without links."""
        text = _without_prefixes(unified(text))
        count = lines_in(text)
        checked_sentences(count, limits)
        links = sorted_links(self._pieces(text, limits))
        found = alignments_of(links, [str(pair + 1) for pair in range(count)], Sentences(), self.form)
        check_base(found)
        return found

    def _pieces(self, text: bytes, limits: texts.Limits) -> Iterator[Links]:
        problems = ProblemList(limits.max_problems)
        for tokens in pieces_of(text):
            parsed = _parsed(tokens, limits, problems)
            if parsed is not None:
                source, target = directed(self.form, parsed[:, 0], parsed[:, 1])
                yield Links(tokens.lines, source, target, parsed[:, 2] != 0, tokens.lines + 1, tokens.columns)
        problems.raise_if_any()

    def write(self, treebank: Alignments) -> str:
        """Write the links in order of source and target word, one line a pair.

        Raises:
            InputError: a link to NULL, where words count from 0.
        """
        first, second = numbers_of_links(self.form, treebank)
        marks = ["-" if sure else "p" for sure in treebank.sure.tolist()]
        words = list(starmap("{}{}{}".format, zip(first, marks, second, strict=True)))
        return "".join(" ".join(words[a:b]) + "\n" for a, b in pairwise(treebank.offsets.tolist()))


def numbers_of_links(form: LinkForm, treebank: Alignments) -> tuple[list[int], list[int]]:
    """Return the two numbers of each link as a text with these options writes them.

    Raises:
        InputError: a link to NULL, where words count from 0.
    """
    shift = 1 - form.base
    ends = (treebank.target, treebank.source) if form.reversed else (treebank.source, treebank.target)
    for end in ends:
        if shift and len(end) and int(end.min()) == 0:
            detail = 'A link to NULL cannot be written where words count from 0. Write it with "base": 1.'
            raise InputError(Problem("alignment-null-unwritable", detail))
    return (ends[0] - shift).tolist(), (ends[1] - shift).tolist()


def _parsed(tokens: Tokens, limits: texts.Limits, problems: ProblemList) -> Int32Array | None:
    """Return first and second number of each link, and 1 where it is sure, int32 (t, 3); None once there are problems.

    Only the problems that are shown are made.
    """
    link_of = {token: _link(token, limits) for token in set(tokens.strings)}
    faults = {token: link for token, link in link_of.items() if isinstance(link, Fault)}
    if faults:
        faulty = Counter(token for token in tokens.strings if token in faults)
        for token, times in islice(faulty.items(), problems.cap):
            fault, index = faults[token], tokens.strings.index(token)
            problems.add(tokens.problem(index, fault.code, f"{quoted(token)} {fault.what}. {_FORM}"), times - 1)
        problems.total += sum(islice(faulty.values(), problems.cap, None))
    return None if problems.total else np.array([link_of[token] for token in tokens.strings], np.int32).reshape(-1, 3)


def is_number(field: bytes) -> bool:
    """Tell whether a field is a confidence or a score."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def _plain_link(token: bytes) -> bytes:
    """Cut a confidence behind a link."""
    match = _CONFIDENCE.fullmatch(token)
    return match[1] if match and is_number(match[2]) else token


def _link(token: bytes, limits: texts.Limits) -> tuple[int, int, bool] | Fault:
    token = _plain_link(token)
    for separator, sure in ((b"-", True), (b"p", False), (b"P", False), (b"?", False)):
        position = token.find(separator, 1)
        if position < 0:
            continue
        first, second = number_of(token[:position], limits), number_of(token[position + 1 :], limits)
        if isinstance(first, Fault):
            return Fault(first.code, f"cannot be read: its first number {first.what}")
        if isinstance(second, Fault):
            return Fault(second.code, f"cannot be read: its second number {second.what}")
        return first, second, sure
    return Fault("alignment-bad-link", "is not a link")


def _place_of_links(line: bytes) -> tuple[int, int]:
    """Return where the links of a line begin and end: in its last field, or before a score or nothing behind links."""
    *before, last = line.split(b"|||")
    lone = len(before) == 1 and not last.strip() and all(map(_LINK.match, before[0].split()))
    if not before or not (is_number(last) or (lone and before[0].strip())):
        return len(line) - len(last), len(line)
    end = len(line) - len(last) - 3
    return end - len(before[-1]), end


def _without_prefixes(text: bytes) -> bytes:
    """Blank out what some aligners print beside the links: the sentences and a score, or a running number and a tab."""
    if b"|||" not in text and b"\t" not in text:
        return text
    found = bytearray()
    first: int | None = None
    count = 0
    for index, line in enumerate(BytesIO(text)):
        prefix, end = _place_of_links(line)
        number, tab, _ = line.partition(b"\t")
        if not prefix and tab and number.isdigit():
            prefix = len(number) + 1
            value = int(number[:MAX_DIGITS])
            first = value if first is None else first
            if value != first + count:
                raise InputError(_unordered(index + 1, quoted(number)))
            count += 1
        found += b" " * len(line[:prefix].decode("utf-8")) + line[prefix:end]
        if end < len(line):
            found += b"\n"
    return bytes(found)


def _unordered(line: int, number: str) -> Problem:
    detail = (
        f"The line is numbered {number}, which does not follow the line before. Send every sentence pair, in order."
    )
    return Problem("alignment-line-order", detail, line=line, column=1, sentence=line)
