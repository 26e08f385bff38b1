"""Word alignments: `pharaoh` and `talp` have a line a sentence pair, `naacl` a line a link, `giza-a3` three a pair.

pharaoh (Moses) is `0-0 1-2`, words counted from 0; talp is `1-1 3p4`, words counted from 1, 0 is NULL; naacl (WPT 2003
and 2005) is `sentence position position [S|P] [confidence]`; giza-a3 is what GIZA++ and mgiza write (A3.final).
"""

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from io import BytesIO
from itertools import chain, count, pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, Int32Array, IntArray
from treescore.core.params import Param
from treescore.core.registry import Text, register
from treescore.core.text import CERTAIN, LIKELY, Head, Limits, Signs, found_in_lines, share_of_lines
from treescore.core.trees import Alignments, LinkForm, Sentences, Vocabulary
from treescore.core.wording import counted
from treescore.errors import InputError, LimitError, Problem, ProblemList
from treescore.formats.shared import links as shared

_SENTENCES = Param(
    {"type": ["integer", "null"], "minimum": 1},
    default=None,
    doc="Number of sentence pairs, named 1 to this number; without it, the pairs are those that have a link.",
)
FEW_PAIRS, TIMES_LINES = 100_000, 10
"""Sentence pairs that may be stated for any text, and for each line of one."""
SURE, POSSIBLE, NUMBER, OTHER = range(4)
_NUMBER = re.compile(r"[0-9]+")
_LINK_FORM = "A line is: sentence, source word, target word, then optionally S or P and a confidence."


@register
class Naacl(shared.AlignmentFormat):
    """NAACL alignments. Words count from 1, 0 is NULL; a link without a flag is sure; sentence numbers may be padded.

    Blank lines are skipped, and flags may be small letters: the published scorer ignores such lines silently. Since
    each line is a link, a text of zero bytes is a valid text without links.
    """

    name = "naacl"
    doc = (
        "Word alignments, one line a link: 0001 1 2 S 0.9; words count from 1, 0 is NULL; flag and confidence optional."
    )
    source = "Mihalcea & Pedersen 2003 (HLT-NAACL workshop on parallel texts)"
    suffixes = (".naacl", ".wa")
    example = b"0001 1 1 S 0.9\n0001 2 3 P\n0001 3 0\n0002 1 2\n"
    usual_base = 1
    params: ClassVar[Mapping[str, Param]] = {
        "base": shared.base_param(usual_base),
        "reversed": shared.REVERSED,
        "sentences": _SENTENCES,
    }

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """Return the signs of a format with a link a line, which begins with the number of its sentence."""
        rows = [
            row for row in head.rows
            if 3 <= len(row) <= 5 and all(map(_NUMBER.fullmatch, row[:3]))
            and row[3:4] in ([], ["S"], ["P"], ["s"], ["p"])
        ]  # fmt: skip
        if share_of_lines(len(rows), len(head.rows)) < shared.LEAST_SHARE:
            return None
        why = [found_in_lines(len(rows), len(head.rows), "Three numbers: sentence, source word, target word")]
        marked = sum(len(row) > 3 for row in rows)
        if marked:
            why.append(found_in_lines(marked, len(rows), "S or P"))
        return Signs(CERTAIN if marked else LIKELY, why)

    @property
    def form(self) -> LinkForm:
        """How the numbers of a text are read."""
        sentences = self.values["sentences"]
        return shared.form_of(
            self.name, self.values, self.usual_base, "" if sentences is None else f'"sentences": {sentences}'
        )

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> Alignments:  # noqa: ARG002 - no words here
        """Read the pairs in order of appearance; in order of number where `sentences` says how many there are."""
        total = self.values["sentences"]
        if total is not None:
            shared.checked_sentences(total, limits)
            _check_stated(total, text)
        spelled = {str(number): str(number) for number in range(1, 1 + (total or 0))}
        unified = shared.unified(text) if text else b"\n"
        _check_unnumbered(unified)
        links = shared.sorted_links(self._pieces(unified, spelled, limits))
        found = shared.alignments_of(links, list(spelled), Sentences(sent_ids=list(spelled.values())), self.form)
        shared.check_base(found)
        return found

    def _pieces(self, text: bytes, spelled: dict[str, str], limits: Limits) -> Iterator[shared.Links]:
        """Yield the links of a text. Names of pairs are added to `spelled`, unless it is known how many there are."""
        problems = ProblemList(limits.max_problems)
        index_of = {name: index for index, name in enumerate(spelled)}
        for tokens in shared.pieces_of(text):
            starts = np.flatnonzero(np.diff(tokens.lines, prepend=-1))
            fields = np.diff(starts, append=len(tokens.lines))
            _check_link_fields(tokens, starts, fields, problems)
            if problems.total:
                continue
            names = [tokens.strings[start] for start in starts.tolist()]
            numbers = [_numbers(tokens, starts + field, limits, problems) for field in (1, 2)]
            sure = _flags(tokens, starts, fields, problems)
            normalised = {name: _normalised(name) for name in dict.fromkeys(names)}
            if self.values["sentences"] is not None:
                self._check_names(
                    tokens, starts, {name for name in normalised if normalised[name] not in index_of}, problems
                )
            for name, normal in normalised.items():
                if index_of.setdefault(normal, len(index_of)) == len(spelled):
                    spelled[normal] = name.decode("utf-8")
            shared.checked_sentences(len(spelled), limits)
            pairs = np.array([index_of[normalised[name]] for name in names], np.int32)
            source, target = shared.directed(self.form, *numbers)
            yield shared.Links(pairs, source, target, sure, tokens.lines[starts] + 1, tokens.columns[starts + 1])
        problems.raise_if_any()

    def _check_names(self, tokens: shared.Tokens, starts: IntArray, unknown: set[bytes], problems: ProblemList) -> None:
        for start in starts.tolist() if unknown else ():
            if tokens.strings[start] in unknown:
                detail = (
                    f"Unknown sentence {shared.quoted(tokens.strings[start])}. "
                    f"The format option `sentences` allows 1 to {self.values['sentences']}."
                )
                problems.add(tokens.problem(start, "alignment-unknown-sentence", detail, named=True))

    def joinable(self, texts: Mapping[str, bytes]) -> list[bytes]:
        """Return the texts so that they can follow each other.

        Raises:
            InputError: `files-differ`, two files name the same sentence.
        """
        pieces = super().joinable({pointer: text or b"\n" for pointer, text in texts.items()})
        holder: dict[str, str] = {}
        for pointer, piece in zip(texts, pieces, strict=True):
            names = [_normalised(line.split(maxsplit=1)[0]) for line in piece.splitlines() if line.strip()]
            for name in dict.fromkeys(names):
                if holder.setdefault(name, pointer) != pointer:
                    detail = f"Sentence {name!r} is in {holder[name]!r} too. Number sentences on from file to file."
                    raise InputError(Problem("files-differ", detail, pointer=pointer))
        return pieces

    def write(self, treebank: Alignments) -> str:
        """Write one line a link with its flag, under the names as they were read; pairs without links are left out."""
        first, second = shared.numbers_of_links(self.form, treebank)
        counts = np.diff(treebank.offsets).tolist()
        pairs = zip(treebank.sentences.sent_ids or treebank.pair_ids, treebank.pair_ids, counts, strict=True)
        names = [name or number for name, number, count in pairs for _ in range(count)]
        flags = ["S" if sure else "P" for sure in treebank.sure.tolist()]
        lines = [f"{name} {a} {b} {flag}\n" for name, a, b, flag in zip(names, first, second, flags, strict=True)]
        return "".join(lines) or "\n"


_FEWEST_NUMBERED, _LONG = 3, 10
"""Lines from which on numbers in their order are those of lines; digits of a number that is not read."""
_LOOKED_AT = 1000
"""Lines of which it is seen whether they are numbered."""


def _check_unnumbered(text: bytes) -> None:
    """Refuse a text with a number before each line: it would be the sentence, and a target word a confidence.

    Raises:
        InputError: `numbered-lines`.
    """
    lines = text.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]
    rows = [(number, line.split()) for number, line in enumerate(lines, 1) if line.strip()]
    if len(rows) < _FEWEST_NUMBERED or not all(
        len(row) > 3 and all(field.isdigit() and len(field) < _LONG for field in (row[0], row[1], row[3]))
        for _, row in rows
    ):
        return
    sentences = [int(row[1]) for _, row in rows]
    numbered = all(int(row[0]) == number for number, row in rows) and sentences == sorted(sentences)
    if numbered and any(int(row[3]) > 1 for _, row in rows):
        detail = (
            "Each line begins with its own number, and has a whole number where S, P or a confidence stands. "
            f"Take the numbers of the lines away. {_LINK_FORM}"
        )
        raise InputError(Problem("numbered-lines", detail, line=rows[0][0], column=1))


def _check_stated(total: int, text: Text) -> None:
    """Refuse to make pairs of a number alone: few of them may lack a link."""
    most = max(FEW_PAIRS, TIMES_LINES * shared.lines_in(text)) if isinstance(text, bytes) else FEW_PAIRS
    if total > most:
        detail = f"The format option `sentences` is {total}; for a text of so few lines at most {most}. Correct it."
        raise LimitError(Problem("too-many-sentences", detail))


def _check_link_fields(tokens: shared.Tokens, starts: IntArray, fields: IntArray, problems: ProblemList) -> None:
    for line in np.flatnonzero((fields > 5) | (fields < 3)).tolist():
        detail = f"The line has {counted(int(fields[line]), 'field')}. Write 3 to 5. {_LINK_FORM}"
        problems.add(tokens.problem(int(starts[line]), "alignment-wrong-field-count", detail, named=True))


def _numbers(tokens: shared.Tokens, indices: IntArray, limits: Limits, problems: ProblemList) -> Int32Array:
    """Return the number of each of these tokens, int32; 0 for a token that is not a number, which is a problem."""
    strings = [tokens.strings[token] for token in indices.tolist()]
    number_by_string = {string: shared.number_of(string, limits) for string in set(strings)}
    faults = {string: number for string, number in number_by_string.items() if isinstance(number, shared.Fault)}
    if faults:
        for token, string in zip(indices.tolist(), strings, strict=True):
            if string in faults:
                code, what = faults[string]
                problems.add(
                    tokens.problem(token, code, f"Word number {shared.quoted(string)} {what}. {_LINK_FORM}", named=True)
                )
        number_by_string.update(dict.fromkeys(faults, 0))
    return np.array([number_by_string[string] for string in strings], np.int32)


def _flags(tokens: shared.Tokens, starts: IntArray, fields: IntArray, problems: ProblemList) -> BoolArray:
    """Tell whether each link is sure, bool (l,); flag and confidence may stand in either order."""
    owners = np.repeat(np.arange(len(starts)), fields)
    extra = np.flatnonzero(np.arange(len(owners)) - starts[owners] >= 3)
    strings = [tokens.strings[token] for token in extra.tolist()]
    kind_of = {string: _kind(string) for string in set(strings)}
    kinds = np.array([kind_of[string] for string in strings], np.int64)
    repeated = np.zeros(len(extra), np.bool_)
    repeated[1:] = (owners[extra[1:]] == owners[extra[:-1]]) & ((kinds[1:] == NUMBER) == (kinds[:-1] == NUMBER))
    for token in extra[(kinds == OTHER) | repeated].tolist():
        detail = (
            f"{shared.quoted(tokens.strings[token])} is not S, P or a confidence, or repeats one of them. {_LINK_FORM}"
        )
        problems.add(tokens.problem(token, "alignment-bad-flag", detail, named=True))
    sure = np.ones(len(starts), np.bool_)
    sure[owners[extra[kinds == POSSIBLE]]] = False
    return sure


def _kind(field: bytes) -> int:
    if field.upper() in (b"S", b"P"):
        return SURE if field.upper() == b"S" else POSSIBLE
    return NUMBER if shared.is_number(field) else OTHER


def _normalised(name: bytes) -> str:
    return (name.lstrip(b"0") or b"0").decode() if name.isdigit() else name.decode("utf-8")


@register
class Pharaoh(shared.LineFormat):
    """The output of fast_align, eflomal, SimAlign and awesome-align; `1p2` (or `1?2`) is a possible link."""

    name = "pharaoh"
    doc = "Word alignments, one line a sentence pair: 0-0 1-2 (sure), 1p2 (possible); words count from 0."
    source = "Koehn et al. 2007 (Moses); Dyer, Chahuneau & Smith 2013 (fast_align)"
    suffixes = (".pharaoh",)
    example = b"0-0 1-2 2p1\n\n0-1 10?3\n"
    usual_base = 0
    params: ClassVar[Mapping[str, Param]] = {"base": shared.base_param(usual_base), "reversed": shared.REVERSED}


@register
class Talp(shared.LineFormat):
    """The format of the AlignmentSet tools and of published gold alignments."""

    name = "talp"
    doc = "Word alignments, one line a sentence pair: 1-1 (sure), 3p4 (possible); words count from 1, 0 is NULL."
    source = "Lambert & Castell 2004 (AlignmentSet)"
    suffixes = (".talp",)
    example = b"1-1 2-3 3p4\n\n0-2 11P3\n"
    usual_base = 1
    params: ClassVar[Mapping[str, Param]] = {"base": shared.base_param(usual_base), "reversed": shared.REVERSED}


_HEADING = re.compile(rb"# ?Sentence pair \(([0-9]+)\)")
_TOKEN = re.compile(rb"\S+")
_LINES = 3
_AT_ONCE = 4096
"""Pairs whose links are sorted together."""
_OPEN, _CLOSE, _NULL = b"({", b"})", b"NULL"
_PAIR_FORM = "A pair is three lines: # Sentence pair (1) …; the target sentence; NULL ({ }) word ({ 1 2 }) …"


class _Pair(NamedTuple):
    """A sentence pair: its number, the index of its first line, and its links, int32 (l, 3): source, target, column."""

    number: int
    line: int
    links: Int32Array


@register
class GizaA3(shared.AlignmentFormat):
    """GIZA++ alignments. A source word of the third line is linked with the numbers of target words behind it.

    Pairs are named by the number in their first line and stand in its order; of a number that is repeated the last
    pair counts, since mgiza writes a pair again that it computes again. Links of NULL are left out.
    """

    name: ClassVar[str] = "giza-a3"
    doc: ClassVar[str] = "Word alignments of GIZA++ and mgiza (A3.final), three lines a pair; all links are sure."
    source: ClassVar[str] = "Och & Ney 2003, Computational Linguistics 29(1) (GIZA++)"
    suffixes = (".a3", ".a3.final")
    example = (
        "# Sentence pair (1) source length 2 target length 3 alignment score : 1e-05\n"
        "le café noir \nNULL ({ 1 }) black ({ 3 }) coffee ({ 2 }) \n"
        "# Sentence pair (2) source length 1 target length 1 alignment score : 0.5\noui \nNULL ({ }) yes ({ 1 }) \n"
    ).encode()
    params: ClassVar[Mapping[str, Param]] = {"reversed": shared.REVERSED}

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """Return the signs of a format with three lines a pair, of which the first says so."""
        headings = [line for line in head.lines[::3] if line]
        found = sum(line.startswith("# Sentence pair (") for line in headings)
        if share_of_lines(found, len(headings)) < shared.LEAST_SHARE:
            return None
        return Signs(CERTAIN, [found_in_lines(found, len(headings), "# Sentence pair (1) at the head of three lines")])

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> Alignments:  # noqa: ARG002 - no words here
        """Read the pairs in order of their numbers.

        Raises:
            InputError: `giza-bad-pair`, a pair is not three lines of the right form; `alignment-bad-link` and
                `alignment-index-out-of-range`, numbers of words.
            LimitError: too many sentence pairs.
        """
        problems = ProblemList(limits.max_problems)
        pairs: dict[int, _Pair] = {}
        repeated: list[_Pair] = []
        for pair in _pairs(shared.unified(text), limits, problems):
            if pair.number in pairs:
                repeated.append(pair)
            pairs[pair.number] = pair
        problems.raise_if_any()
        shared.checked_sentences(len(pairs), limits)
        in_order = sorted(pairs.values())
        pairs.clear()
        names = [str(pair.number) for pair in in_order]
        warnings = [_repeated(repeated)] if repeated else []
        links = _links(in_order, turned=bool(self.values["reversed"]))
        return shared.alignments_of(shared.sorted_links(links), names, Sentences(sent_ids=names, warnings=warnings))

    def write(self, treebank: Alignments) -> str:
        """Write the links; an alignment knows no words, so that w1, w2, … stand for them up to the last linked one.

        Raises:
            InputError: `alignment-possible-unwritable` and `alignment-null-unwritable`: the format has only sure links
                between words.
        """
        source, target = treebank.source, treebank.target
        if not treebank.sure.all():
            detail = 'A possible link cannot be written in this format. Write "talp" or "naacl".'
            raise InputError(Problem("alignment-possible-unwritable", detail))
        if not (source.all() and target.all()):
            detail = 'A link to NULL cannot be written in this format. Write "talp" or "naacl".'
            raise InputError(Problem("alignment-null-unwritable", detail))
        if self.values["reversed"]:
            source, target = target, source
        blocks = []
        for number, (start, stop) in zip(_numbers_of(treebank), pairwise(treebank.offsets.tolist()), strict=True):
            lengths = [int(end[start:stop].max()) if stop > start else 0 for end in (source, target)]
            linked: list[list[int]] = [[] for _ in range(lengths[0])]
            for own, other in zip(source[start:stop].tolist(), target[start:stop].tolist(), strict=True):
                linked[own - 1].append(other)
            fields = [f"w{word} ({{{''.join(f' {other}' for other in ends)} }})" for word, ends in enumerate(linked, 1)]
            blocks.append(
                f"# Sentence pair ({number}) source length {lengths[0]} target length {lengths[1]} "
                f"alignment score : 1\n{''.join(f'w{word + 1} ' for word in range(lengths[1]))}\n"
                f"{' '.join(['NULL ({ })', *fields])} \n"
            )
        return "".join(blocks)


def _numbers_of(treebank: Alignments) -> Sequence[int]:
    """Return the numbers of the pairs: their names where these are increasing numbers, else the numbers from 1."""
    named = [name for name in treebank.pair_ids if name.isascii() and name.isdigit() and len(name) <= shared.MAX_DIGITS]
    numbers = [int(name) for name in named]
    increasing = len(numbers) == len(treebank) and all(first < second for first, second in pairwise(numbers))
    return numbers if increasing else range(1, len(treebank) + 1)


def _links(pairs: list[_Pair], *, turned: bool) -> Iterator[shared.Links]:
    """Yield the links of some pairs after the other, which are taken out of the list."""
    done = 0
    while pairs:
        some = pairs[:_AT_ONCE]
        del pairs[:_AT_ONCE]
        counts = [len(pair.links) for pair in some]
        fields = np.concatenate([pair.links for pair in some])
        source, target = (fields[:, 1], fields[:, 0]) if turned else (fields[:, 0], fields[:, 1])
        rows = np.repeat(np.arange(done, done + len(some), dtype=np.int32), counts)
        lines = np.repeat(np.array([pair.line + _LINES for pair in some], np.int32), counts)
        yield shared.Links(rows, source, target, np.ones(len(rows), np.bool_), lines, fields[:, 2])
        done += len(some)


def _repeated(pairs: Sequence[_Pair]) -> Problem:
    first = pairs[0]
    detail = (
        f"The number of {counted(len(pairs), 'sentence pair')} occurs before, the first is {first.number}. "
        "The last pair of a number counts."
    )
    return Problem("giza-repeated-pair", detail, line=first.line + 1, sent_id=str(first.number))


def _pairs(text: bytes, limits: Limits, problems: ProblemList) -> Iterator[_Pair]:
    """Yield the pairs of a text; those that cannot be read are problems."""
    lines = BytesIO(text.rstrip())
    for start in count(0, _LINES):
        first, words, last = (lines.readline() for _ in range(_LINES))
        if not first and start:
            return
        heading = _HEADING.match(first)
        if heading is None or not last:
            what = "A first line is missing or of another form" if heading is None else "The last pair is incomplete"
            problems.add(Problem("giza-bad-pair", f"{what}. {_PAIR_FORM}", line=start + 1, column=1))
            return  # what follows is not known to begin a pair
        if len(heading[1]) > shared.MAX_DIGITS:
            detail = f"The number of the pair has {len(heading[1])} digits. Number pairs from 1."
            problems.add(Problem("giza-bad-pair", detail, line=start + 1, column=heading.start(1) + 1))
            continue
        linked = _Linked(last.removesuffix(b"\n"), start + _LINES, heading[1].decode(), problems)
        yield _Pair(int(heading[1]), start, linked.links(len(words.split(None, limits.max_words)), limits))


class _Linked:
    """The third line of a pair: source words, each with the target words linked to it."""

    def __init__(self, text: bytes, line: int, sent_id: str, problems: ProblemList) -> None:
        self._text = text
        self._line = line
        self._sent_id = sent_id
        self._problems = problems

    def links(self, targets: int, limits: Limits) -> Int32Array:
        """Return each link between words, int32 (l, 3): source word, target word, column."""
        return np.array(array("i", chain.from_iterable(self._found(targets, limits))), np.int32).reshape(-1, 3)

    def _found(self, targets: int, limits: Limits) -> Iterator[tuple[int, int, int]]:
        end = len(self._text)
        tokens = ((match[0], match.start()) for match in _TOKEN.finditer(self._text))
        word = 0
        name, start = next(tokens, (b"", 0))
        while name or not word:
            if next(tokens, (b"", end))[0] != _OPEN or (not word and name != _NULL):
                self._fault("giza-bad-pair", f"No word followed by `({{` stands here. {_PAIR_FORM}", start)
                return
            token = b""
            for token, at in tokens:
                if token == _CLOSE:
                    break
                number = self._number(token, at, targets, limits)
                if word and number:
                    yield word, number, self._column(at)
            if token != _CLOSE:
                self._fault("giza-bad-pair", f"`}})` is missing at the end of the line. {_PAIR_FORM}", end)
            word += 1
            name, start = next(tokens, (b"", end))
        if word - 1 > limits.max_words:
            detail = f"The sentence has {word - 1} words, more than the limit of {limits.max_words}."
            self._fault("alignment-index-out-of-range", detail, 0)

    def _number(self, token: bytes, start: int, targets: int, limits: Limits) -> int:
        """Return the number of a target word, 0 if it is not one."""
        number = shared.number_of(token, limits)
        if isinstance(number, shared.Fault):
            self._fault(number.code, f"Word number {shared.quoted(token)} {number.what}. {_PAIR_FORM}", start)
            return 0
        if not 1 <= number <= targets:
            detail = f"{number} is not a word of the line before, which has {counted(targets, 'word')}. {_PAIR_FORM}"
            self._fault("alignment-index-out-of-range", detail, start)
            return 0
        return number

    def _fault(self, code: str, detail: str, start: int) -> None:
        self._problems.add(Problem(code, detail, line=self._line, column=self._column(start), sent_id=self._sent_id))

    def _column(self, start: int) -> int:
        """Return the column, from 1, of the character that begins at a byte."""
        return start + 1 if self._is_ascii else int(self._columns[start])

    @cached_property
    def _is_ascii(self) -> bool:
        """Whether bytes are characters; found once, since it takes a pass over the line."""
        return self._text.isascii()

    @cached_property
    def _columns(self) -> Int32Array:
        """The column of the character that begins at each byte, and of the end, from 1: int32 (bytes + 1,)."""
        return np.cumsum((np.frombuffer(self._text + b"\n", np.uint8) & 0xC0) != 0x80, dtype=np.int32)
