"""Word alignments without words: `pharaoh` and `talp` have a line a sentence pair, `naacl` a line a link.

pharaoh (Moses) is `0-0 1-2`, words counted from 0; talp is `1-1 3p4`, words counted from 1, 0 is NULL; naacl (WPT 2003
and 2005) is `sentence position position [S|P] [confidence]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from treescore.core.arrays import BoolArray, Int32Array, IntArray
from treescore.core.params import Param
from treescore.core.registry import Format, Text, register
from treescore.core.text import Limits
from treescore.core.trees import Alignments, LinkForm, Sentences, Vocabulary
from treescore.core.wording import counted
from treescore.errors import InputError, LimitError, Problem, ProblemList
from treescore.formats.shared.links import (
    REVERSED,
    Fault,
    LineFormat,
    Links,
    Tokens,
    alignments_of,
    base_param,
    check_base,
    checked_sentences,
    directed,
    form_of,
    is_number,
    lines_in,
    naacl_signs,
    number_of,
    numbers_of_links,
    pieces_of,
    quoted,
    sorted_links,
    unified,
)

_SENTENCES = Param(
    {"type": ["integer", "null"], "minimum": 1},
    default=None,
    doc="Number of sentence pairs, named 1 to this number; without it, the pairs are those that have a link.",
)
FEW_PAIRS, TIMES_LINES = 100_000, 10
"""Sentence pairs that may be stated for any text, and for each line of one."""
SURE, POSSIBLE, NUMBER, OTHER = range(4)
_LINK_FORM = "A line is: sentence, source word, target word, then optionally S or P and a confidence."


@register
class Naacl(Format):
    """NAACL alignments. Words count from 1, 0 is NULL; a link without a flag is sure; sentence numbers may be padded.

    Blank lines are skipped, and flags may be small letters: the published scorer ignores such lines silently. Since
    each line is a link, a text of zero bytes is a valid text without links.
    """

    name = "naacl"
    doc = (
        "Word alignments, one line a link: 0001 1 2 S 0.9; words count from 1, 0 is NULL; flag and confidence optional."
    )
    source = "Mihalcea & Pedersen 2003 (HLT-NAACL workshop on parallel texts)"
    yields = Alignments
    suffixes = (".naacl",)
    usual_metric = "alignment"
    memory = 25
    example = b"0001 1 1 S 0.9\n0001 2 3 P\n0001 3 0\n0002 1 2\n"
    usual_base = 1
    params: ClassVar[Mapping[str, Param]] = {
        "base": base_param(usual_base),
        "reversed": REVERSED,
        "sentences": _SENTENCES,
    }

    signs = staticmethod(naacl_signs)

    @property
    def form(self) -> LinkForm:
        """How the numbers of a text are read."""
        sentences = self.values["sentences"]
        return form_of(
            self.name, self.values, self.usual_base, "" if sentences is None else f'"sentences": {sentences}'
        )

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> Alignments:  # noqa: ARG002 - no words here
        """Read the pairs in order of appearance; in order of number where `sentences` says how many there are."""
        total = self.values["sentences"]
        if total is not None:
            checked_sentences(total, limits)
            _check_stated(total, text)
        spelled = {str(number): str(number) for number in range(1, 1 + (total or 0))}
        links = sorted_links(self._pieces(unified(text) if text else b"\n", spelled, limits))
        found = alignments_of(links, list(spelled), Sentences(sent_ids=list(spelled.values())), self.form)
        check_base(found)
        return found

    def _pieces(self, text: bytes, spelled: dict[str, str], limits: Limits) -> Iterator[Links]:
        """Yield the links of a text. Names of pairs are added to `spelled`, unless it is known how many there are."""
        problems = ProblemList(limits.max_problems)
        index_of = {name: index for index, name in enumerate(spelled)}
        for tokens in pieces_of(text):
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
            checked_sentences(len(spelled), limits)
            pairs = np.array([index_of[normalised[name]] for name in names], np.int32)
            source, target = directed(self.form, *numbers)
            yield Links(pairs, source, target, sure, tokens.lines[starts] + 1, tokens.columns[starts + 1])
        problems.raise_if_any()

    def _check_names(self, tokens: Tokens, starts: IntArray, unknown: set[bytes], problems: ProblemList) -> None:
        for start in starts.tolist() if unknown else ():
            if tokens.strings[start] in unknown:
                detail = (
                    f"Unknown sentence {quoted(tokens.strings[start])}. "
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
            for name in {_normalised(line.split(maxsplit=1)[0]) for line in piece.splitlines() if line.strip()}:
                if holder.setdefault(name, pointer) != pointer:
                    detail = f"Sentence {name!r} is in {holder[name]!r} too. Number sentences on from file to file."
                    raise InputError(Problem("files-differ", detail, pointer=pointer))
        return pieces

    def write(self, treebank: Alignments) -> str:
        """Write one line a link with its flag, under the names as they were read; pairs without links are left out."""
        first, second = numbers_of_links(self.form, treebank)
        counts = np.diff(treebank.offsets).tolist()
        named = treebank.sentences.sent_ids or treebank.pair_ids
        pairs = zip(named, treebank.pair_ids, counts, strict=True)
        names = [name or number for name, number, count in pairs for _ in range(count)]
        flags = ["S" if sure else "P" for sure in treebank.sure.tolist()]
        lines = [f"{name} {a} {b} {flag}\n" for name, a, b, flag in zip(names, first, second, flags, strict=True)]
        return "".join(lines) or "\n"


def _check_stated(total: int, text: Text) -> None:
    """Refuse to make pairs of a number alone: few of them may lack a link."""
    most = max(FEW_PAIRS, TIMES_LINES * lines_in(text)) if isinstance(text, bytes) else FEW_PAIRS
    if total > most:
        detail = f"The format option `sentences` is {total}; for a text of so few lines at most {most}. Correct it."
        raise LimitError(Problem("too-many-sentences", detail))


def _check_link_fields(tokens: Tokens, starts: IntArray, fields: IntArray, problems: ProblemList) -> None:
    for line in np.flatnonzero((fields > 5) | (fields < 3)).tolist():
        detail = f"The line has {counted(int(fields[line]), 'field')}. Write 3 to 5. {_LINK_FORM}"
        problems.add(tokens.problem(int(starts[line]), "alignment-wrong-field-count", detail, named=True))


def _numbers(tokens: Tokens, indices: IntArray, limits: Limits, problems: ProblemList) -> Int32Array:
    """Return the number of each of these tokens, int32; 0 for a token that is not a number, which is a problem."""
    strings = [tokens.strings[token] for token in indices.tolist()]
    number_by_string = {string: number_of(string, limits) for string in set(strings)}
    faults = {string: number for string, number in number_by_string.items() if isinstance(number, Fault)}
    if faults:
        for token, string in zip(indices.tolist(), strings, strict=True):
            if string in faults:
                code, what = faults[string]
                problems.add(
                    tokens.problem(token, code, f"Word number {quoted(string)} {what}. {_LINK_FORM}", named=True)
                )
        number_by_string.update(dict.fromkeys(faults, 0))
    return np.array([number_by_string[string] for string in strings], np.int32)


def _flags(tokens: Tokens, starts: IntArray, fields: IntArray, problems: ProblemList) -> BoolArray:
    """Tell whether each link is sure, bool (l,); flag and confidence may stand in either order."""
    owners = np.repeat(np.arange(len(starts)), fields)
    extra = np.flatnonzero(np.arange(len(owners)) - starts[owners] >= 3)
    strings = [tokens.strings[token] for token in extra.tolist()]
    kind_of = {string: _kind(string) for string in set(strings)}
    kinds = np.array([kind_of[string] for string in strings], np.int64)
    repeated = np.zeros(len(extra), np.bool_)
    repeated[1:] = (owners[extra[1:]] == owners[extra[:-1]]) & ((kinds[1:] == NUMBER) == (kinds[:-1] == NUMBER))
    for token in extra[(kinds == OTHER) | repeated].tolist():
        detail = f"{quoted(tokens.strings[token])} is not S, P or a confidence, or repeats one of them. {_LINK_FORM}"
        problems.add(tokens.problem(token, "alignment-bad-flag", detail, named=True))
    sure = np.ones(len(starts), np.bool_)
    sure[owners[extra[kinds == POSSIBLE]]] = False
    return sure


def _kind(field: bytes) -> int:
    if field.upper() in (b"S", b"P"):
        return SURE if field.upper() == b"S" else POSSIBLE
    return NUMBER if is_number(field) else OTHER


def _normalised(name: bytes) -> str:
    return (name.lstrip(b"0") or b"0").decode() if name.isdigit() else name.decode("utf-8")


@register
class Pharaoh(LineFormat):
    """The output of fast_align, eflomal, SimAlign and awesome-align; `1p2` (or `1?2`) is a possible link."""

    name = "pharaoh"
    doc = "Word alignments, one line a sentence pair: 0-0 1-2 (sure), 1p2 (possible); words count from 0."
    source = "Koehn et al. 2007 (Moses); Dyer, Chahuneau & Smith 2013 (fast_align)"
    suffixes = (".pharaoh",)
    usual_metric = "alignment"
    memory = 25
    example = b"0-0 1-2 2p1\n\n0-1 10?3\n"
    usual_base = 0
    params: ClassVar[Mapping[str, Param]] = {"base": base_param(usual_base), "reversed": REVERSED}


@register
class Talp(LineFormat):
    """The format of the AlignmentSet tools and of published gold alignments."""

    name = "talp"
    doc = "Word alignments, one line a sentence pair: 1-1 (sure), 3p4 (possible); words count from 1, 0 is NULL."
    source = "Lambert & Castell 2004 (AlignmentSet)"
    suffixes = (".talp",)
    usual_metric = "alignment"
    memory = 25
    example = b"1-1 2-3 3p4\n\n0-2 11P3\n"
    usual_base = 1
    params: ClassVar[Mapping[str, Param]] = {"base": base_param(usual_base), "reversed": REVERSED}
