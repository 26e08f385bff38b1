"""Shared by alignment formats: tokens with their places, links without repeats, base and direction, signs.

Links that look as if their words were counted from another number than the format's usual one are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import ClassVar, NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, sums_by
from treescore.core.params import BOOLEAN, Json, Param
from treescore.core.registry import Format, Text
from treescore.core.text import (
    BOM,
    CERTAIN,
    LIKELY,
    POSSIBLE,
    Head,
    Limits,
    Signs,
    checked_bytes,
    found_in_lines,
    share_of_lines,
)
from treescore.core.trees import IN_A_BENCHMARK, Alignments, LinkForm, Sentences, Vocabulary
from treescore.core.wording import counted
from treescore.errors import InputError, LimitError, Problem, ProblemList

FEWEST_PAIRS = 20
"""Sentence pairs with links from which on a text is judged."""
FEWEST_EXPECTED = 6.0
"""First words that should be linked, by how many words are, for the lack of one to be a sign: e^-6 is 0.25 %."""
NULL_SHARE = 0.1
"""Share of pairs that link NULL with NULL: no aligner does, but it is how first words look that are counted from 0."""
SECOND_SHARE = 0.25
"""Share of pairs that link second word and second word, for the lack of one that links the first ones to be a sign."""


def check_base(pairs: IntArray, source: IntArray, target: IntArray, form: LinkForm) -> None:
    """Check that links do not look as if words were counted from another base, unless the base is stated.

    Args:
        pairs: sentence pair of each of l links, int64 (l,).
        source: position of the source end, from 1, 0 is NULL, int64 (l,).
        target: that of the target end.
        form: how they were read.

    Raises:
        InputError: `alignment-base-not-stated`.
    """
    linked = len(np.unique(pairs))
    if form.stated or linked < FEWEST_PAIRS:
        return
    other = 1 - form.base
    if form.base == 1:
        null_pairs = _pairs_of(pairs, (source == 0) & (target == 0))
        if null_pairs >= NULL_SHARE * linked:
            raise InputError(_not_stated(f"{null_pairs} sentence pairs link NULL with NULL", form, other))
    firsts = (source == 1) | (target == 1)
    if not firsts.any():
        if max(_expected(pairs, side) for side in (source, target)) >= FEWEST_EXPECTED:
            sign = f"No first word of a sentence is linked in {linked} sentence pairs with links"
            raise InputError(_not_stated(sign, form, other if form.base == 0 else None))
    elif form.base == 0 and not ((source == 1) & (target == 1)).any():
        seconds = _pairs_of(pairs, (source == 2) & (target == 2))
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


def _pairs_of(pairs: IntArray, mask: BoolArray) -> int:
    return len(np.unique(pairs[mask]))


def _expected(pairs: IntArray, side: IntArray) -> float:
    """Return how many sentences' first words should be linked if words were linked without regard to their place.

    The length of a sentence with k linked words, the last of them at m, is about m (1 + 1/k) - 1.
    """
    ends = np.unique(np.stack([pairs[side > 0], side[side > 0]]), axis=1)
    if not ends.shape[1]:
        return 0.0
    last = np.append(np.flatnonzero(np.diff(ends[0])), ends.shape[1] - 1)
    linked = np.diff(last, prepend=-1)
    lengths = ends[1, last] * (1 + 1 / linked) - 1
    return float(len(last) * linked.sum() / lengths.sum())


_LEAST = 0.8
_LINK = re.compile(rb"([0-9]+)[-pP?]([0-9]+)")
_CONFIDENCE = re.compile(rb"([0-9]+[-pP?][0-9]+)(?::|-(?![0-9]{2,}$|[2-9]$))(.+)")
"""A link and what may be its confidence; behind `-` a whole number above 1 is none."""
_NUMBER = re.compile(r"[0-9]+")


def line_signs(head: Head, base: int) -> Signs | None:
    """Return the signs of a format with links like `0-0` on a line, for words counted from `base`: 0 or 1."""
    lines = [line.encode()[slice(*_place_of_links(line.encode()))].split() for line in head.filled]
    links = [[match for token in tokens if (match := _LINK.fullmatch(_plain_link(token)))] for tokens in lines]
    found = sum(len(made) == len(tokens) for made, tokens in zip(links, lines, strict=True))
    if share_of_lines(found, len(lines)) < _LEAST:
        return None
    why = [found_in_lines(found, len(lines), "Only links of two word numbers")]
    numbers = {int(number) for made in links for match in made for number in match.groups()}
    if not numbers:
        return Signs(POSSIBLE, why)
    if any(match[1] == match[2] == b"0" for made in links for match in made):
        # Counted from 1, it would link NULL with NULL.
        return Signs(LIKELY, [*why, "0-0 occurs: words are counted from 0."]) if base == 0 else None
    if 0 in numbers:
        return Signs(POSSIBLE, [*why, "0 occurs: it is the first word (pharaoh), or NULL (talp)."])
    why.append("0 does not occur: words are probably counted from 1.")
    if base == 1:
        return Signs(LIKELY, why)
    # Of many lines the reader, too, says so, and asks for the base.
    return Signs(POSSIBLE, why, options={"base": 1} if len(lines) >= FEWEST_PAIRS else {})


def giza_signs(head: Head) -> Signs | None:
    """Return the signs of a format with three lines a pair, of which the first says so."""
    headings = [line for line in head.lines[::3] if line]
    found = sum(line.startswith("# Sentence pair (") for line in headings)
    if share_of_lines(found, len(headings)) < _LEAST:
        return None
    return Signs(CERTAIN, [found_in_lines(found, len(headings), "# Sentence pair (1) at the head of three lines")])


def naacl_signs(head: Head) -> Signs | None:
    """Return the signs of a format with a link a line, which begins with the number of its sentence."""
    rows = [
        row for row in head.rows
        if 3 <= len(row) <= 5 and all(map(_NUMBER.fullmatch, row[:3])) and row[3:4] in ([], ["S"], ["P"], ["s"], ["p"])
    ]  # fmt: skip
    if share_of_lines(len(rows), len(head.rows)) < _LEAST:
        return None
    why = [found_in_lines(len(rows), len(head.rows), "Three numbers: sentence, source word, target word")]
    marked = sum(len(row) > 3 for row in rows)
    if marked:
        why.append(found_in_lines(marked, len(rows), "S or P"))
    return Signs(CERTAIN if marked else LIKELY, why)


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


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text in order, t of them.

    Attributes:
        strings: the tokens.
        lines: line of each, from 0, int64 (t,).
        columns: column of its first character, from 1, int64 (t,).
        line_count: lines of the text; what follows the last line end is one unless it is empty.
    """

    strings: Sequence[bytes]
    lines: IntArray
    columns: IntArray
    line_count: int

    def problem(self, token: int, code: str, detail: str, *, named: bool = False) -> Problem:
        """Make a problem at a token. Sentences are lines, or named by the first token of their lines."""
        line = int(self.lines[token])
        name = self.strings[int(np.searchsorted(self.lines, line))].decode("utf-8") if named else None
        return Problem(
            code,
            detail,
            line=line + 1,
            column=int(self.columns[token]),
            sentence=None if named else line + 1,
            sent_id=name,
        )


@dataclass(frozen=True, slots=True)
class Links:
    """Links of a text, repeats included; `pairs` is the sentence pair of each, from 0."""

    pairs: IntArray
    source: IntArray
    target: IntArray
    sure: BoolArray
    lines: IntArray
    columns: IntArray


def unified(text: Text) -> bytes:
    """Check the text, remove a byte order mark and end lines with LF.

    Raises:
        InputError: as `treescore.core.text.decoded`.
    """
    if not isinstance(text, bytes):
        raise InputError(Problem("bad-text", "This format takes one text, not several. Send a string."))
    text = text.removeprefix(BOM)
    checked_bytes(text)
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def tokens_of(text: bytes) -> Tokens:
    """Split at white space, keeping places."""
    characters = np.frombuffer(text, np.uint8)
    space = _SPACE[characters]
    begins = ~space
    begins[1:] &= space[:-1]
    starts = np.flatnonzero(begins)
    ends_of_lines = np.flatnonzero(characters == ord("\n"))
    lines = np.searchsorted(ends_of_lines, starts)
    line_starts = np.concatenate([[0], ends_of_lines + 1])
    line_count = len(ends_of_lines) + (not text.endswith(b"\n"))
    # Characters up to each byte: continuation bytes begin none.
    counts = np.cumsum((characters & 0xC0) != 0x80)
    return Tokens(text.split(), lines, counts[starts] - counts[line_starts[lines]] + 1, line_count)


def quoted(token: bytes) -> str:
    """Quote a token of the text for a message."""
    text = token.decode("utf-8")
    return repr(text if len(text) <= 40 else text[:37] + "...")


def checked_sentences(count: int, limits: Limits) -> None:
    """Raise LimitError for more sentence pairs than are allowed."""
    if count > limits.max_sentences:
        detail = f"The text has {count} sentence pairs; the limit is {limits.max_sentences}. Split it."
        raise LimitError(Problem("too-many-sentences", detail))


class Fault(NamedTuple):
    """What is wrong with a token."""

    code: str
    what: str


def number_of(digits: bytes, limits: Limits) -> int | Fault:
    """Return a word's number as written, or what is wrong with it."""
    if not digits.isdigit():
        if digits[:1] in (b"-", b"+") and digits[1:].isdigit():
            return Fault("alignment-index-out-of-range", "is negative or has a sign")
        return Fault("alignment-bad-link", "is not a number")
    number = int(digits) if len(digits) <= MAX_DIGITS else None
    if number is None or number > limits.max_words:
        return Fault("alignment-index-out-of-range", f"exceeds the limit of {limits.max_words} words in a sentence")
    return number


def alignments_of(
    links: Links, pair_ids: Sequence[str], sentences: Sentences, form: LinkForm | None = None
) -> Alignments:
    """Sort the links by pair, source and target; one given twice counts once, sure if either is."""
    order = np.lexsort((links.target, links.source, links.pairs))
    ends = np.stack([links.pairs[order], links.source[order], links.target[order]])
    first = np.ones(len(order), np.bool_)
    first[1:] = (ends[:, 1:] != ends[:, :-1]).any(axis=0)
    unique = order[first]
    sure = np.logical_or.reduceat(links.sure[order], np.flatnonzero(first)) if len(order) else links.sure
    return Alignments(
        source=links.source[unique],
        target=links.target[unique],
        sure=np.asarray(sure, np.bool_),
        offsets=offsets_of(sums_by(links.pairs[unique], len(pair_ids))),
        pair_ids=pair_ids,
        lines=links.lines[unique],
        columns=links.columns[unique],
        sentences=sentences,
        form=form,
    )


def form_of(name: str, values: Mapping[str, Json], usual_base: int, options: str = "") -> LinkForm:
    """Return how a format with these options reads numbers; `options` are further ones, as JSON without braces."""
    stated = values["base"] is not None
    return LinkForm(name, int(values["base"]) if stated else usual_base, bool(values["reversed"]), stated, options)


def directed(form: LinkForm, first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
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


class LineFormat(Format):
    """A format with one sentence pair a line, links separated by white space: `0-0` sure, `0p0` or `0?0` possible."""

    yields = Alignments
    usual_base: ClassVar[int]

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """See Format."""
        return line_signs(head, cls.usual_base)

    @property
    def form(self) -> LinkForm:
        """How the numbers of a text are read."""
        return form_of(self.name, self.values, self.usual_base)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> Alignments:  # noqa: ARG002 - no words here
        """Read the links; a blank line is a pair without links."""
        tokens = tokens_of(_without_prefixes(unified(text)))
        checked_sentences(tokens.line_count, limits)
        numbers, sure = _parsed(tokens, limits)
        source, target = directed(self.form, numbers[:, 0], numbers[:, 1])
        links = Links(tokens.lines, source, target, sure, tokens.lines + 1, tokens.columns)
        check_base(links.pairs, source, target, self.form)
        return alignments_of(links, [str(pair + 1) for pair in range(tokens.line_count)], Sentences(), self.form)

    def write(self, treebank: Alignments) -> str:
        """Write the links in order of source and target word, one line a pair.

        Raises:
            InputError: a link to NULL, where words count from 0.
        """
        first, second = numbers_of_links(self.form, treebank)
        marks = ["-" if sure else "p" for sure in treebank.sure.tolist()]
        words = list(starmap("{}{}{}".format, zip(first, marks, second, strict=True)))
        bounds = treebank.offsets.tolist()
        return "".join(" ".join(words[a:b]) + "\n" for a, b in pairwise(bounds))


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


def _parsed(tokens: Tokens, limits: Limits) -> tuple[IntArray, BoolArray]:
    """Return first and second number of each link, int64 (t, 2), and whether it is sure, bool (t,)."""
    link_of = {token: _link(token, limits) for token in set(tokens.strings)}
    if any(isinstance(link, Fault) for link in link_of.values()):
        problems = ProblemList(limits.max_problems)
        for index, token in enumerate(tokens.strings):
            fault = link_of[token]
            if isinstance(fault, Fault):
                problems.add(tokens.problem(index, fault.code, f"{quoted(token)} {fault.what}. {_FORM}"))
        problems.raise_if_any()
    values = np.array([link_of[token] for token in tokens.strings], np.int64).reshape(-1, 3)
    return values[:, :2], values[:, 2] != 0


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


def _link(token: bytes, limits: Limits) -> tuple[int, int, bool] | Fault:
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
    """Return where the links of a line begin and end: in its last field, or in the one before if that is a score."""
    *before, last = line.split(b"|||")
    if not before or not is_number(last):
        return len(line) - len(last), len(line)
    end = len(line) - len(last) - 3
    return end - len(before[-1]), end


def _without_prefixes(text: bytes) -> bytes:
    """Blank out what some aligners print beside the links: the sentences and a score, or a running number and a tab."""
    if b"|||" not in text and b"\t" not in text:
        return text
    lines = text.split(b"\n")
    numbers: list[int] = []
    for index, line in enumerate(lines):
        prefix, end = _place_of_links(line)
        number, tab, _ = line.partition(b"\t")
        if not prefix and tab and number.isdigit():
            prefix = len(number) + 1
            numbers.append(int(number[:MAX_DIGITS]))
            if numbers[-1] != numbers[0] + len(numbers) - 1:
                raise InputError(_unordered(index + 1, quoted(number)))
        if prefix or end < len(line):
            lines[index] = b" " * len(line[:prefix].decode("utf-8")) + line[prefix:end]
    return b"\n".join(lines)


def _unordered(line: int, number: str) -> Problem:
    detail = (
        f"The line is numbered {number}, which does not follow the line before. Send every sentence pair, in order."
    )
    return Problem("alignment-line-order", detail, line=line, column=1, sentence=line)
