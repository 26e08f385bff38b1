"""CoNLL-U: ten tab-separated columns, multiword tokens, empty nodes, comments."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treescore.core.arrays import BoolArray, Int32Array, IntArray, offsets_of, sums_by
from treescore.core.registry import Text, register
from treescore.core.structure import head_string, heads_of, plain_number
from treescore.core.text import CERTAIN, LIKELY, POSSIBLE, Head, Limits, Scored, Signs, found_in_lines, share_of_lines
from treescore.core.trees import WORD_COLUMNS, DependencyTreebank, Vocabulary
from treescore.core.wording import counted
from treescore.errors import Problem
from treescore.formats.shared.findings import Findings, Role, RowFormat, Rows, RowsFormat, check_layout, lines_of
from treescore.formats.shared.lines import COLUMNS, Fields, Outline, columns_of, is_blank, outline_of, passes, short

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(COLUMNS)

_RANGE_ID = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_BEGINS_DOCUMENT = re.compile(rb"(?:#[^\r\n]*\r?\n|\r?\n)*# newdoc")
_EMPTY_ID = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})")


@register
class ConllU(RowsFormat):
    """The format of Universal Dependencies.

    Read leniently where nothing can be misunderstood: a byte order mark, CR LF or CR line ends, a missing last
    blank line, spare blank lines (with a warning). A comment inside a sentence, a wrong number of columns, IDs out
    of order, heads that are no number or point outside are errors. Each
    metric decides on cycles and several roots.
    """

    name: ClassVar[str] = "conllu"
    doc: ClassVar[str] = "CoNLL-U (Universal Dependencies), with multiword tokens and empty nodes."
    source: ClassVar[str] = "https://universaldependencies.org/format.html"
    yields: ClassVar[type[DependencyTreebank]] = DependencyTreebank
    suffixes = (".conllu",)
    usual_metric = "ud"
    example = (
        "# newdoc id = d1\n"
        "# sent_id = s1\n"
        "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
        "1\tde\tde\tADP\tP\t_\t3\tcase\t3:case\t_\n"
        "2\tle\tle\tDET\tD\tDefinite=Def\t3\tdet\t3:det\t_\n"
        "3\tcafé\tcafé\tNOUN\tN\t_\t0\troot\t0:root\t_\n"
        "3.1\t_\t_\t_\t_\t_\t_\t_\t3:dep\t_\n\n"
        "# sent_id = s2\n"
        "1\tIci\tici\tADV\tA\t_\t0\troot\t_\t_\n\n"
    ).encode()

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """Return the signs of CoNLL-U: ten columns, IDs, universal tags, its comments."""
        rows = [row for row in head.rows if len(row) == COLUMNS and ID_FORM.fullmatch(row[0])]
        if share_of_lines(len(rows), len(head.rows)) < LEAST:
            return None
        why = [found_in_lines(len(rows), len(head.rows), "A number and nine more columns")]
        names = sorted({match[1] for line in head.comments if (match := COMMENT.match(line))})
        if names:
            why.append(f"Comments of CoNLL-U: {', '.join(f'# {name}' for name in names)}.")
        special = sum(not row[0].isdigit() for row in rows)
        if special:
            why.append(f"Multiword tokens or empty nodes: {next(row[0] for row in rows if not row[0].isdigit())}.")
        tags = {row[3] for row in rows if row[0].isdigit()}
        universal = tags <= UNIVERSAL and tags != {"_"}
        if universal:
            why.append("The fourth column holds universal tags only.")
        strength = CERTAIN if names or special else LIKELY if universal else POSSIBLE
        return Signs(strength, why, metrics=list(_dependency_metrics(head, rows)))

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> DependencyTreebank:
        """Read the treebank. Raises InputError and LimitError as promised by `Format`."""
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text

        def check(fields: Fields, findings: Findings, warnings: Findings) -> Ids:
            return ids_of(fields, vocabulary, findings, warnings, heads_outside=self.keeps_heads_outside)

        other = "; those of # global.columns are read by the format conllu-plus" * text.startswith(b"# global.columns")

        def layout(outline: Outline) -> Findings:
            return check_layout(outline, COLUMNS, "conllu-column-count", f"not {COLUMNS}{other}")

        reader = RowFormat(lambda outline: columns_of(outline, vocabulary), layout, check)
        lines, cap = lines_of(text, lenient=self.lenient), limits.max_problems
        rows = reader.read(outline_of(lines.text, limits), cap, lenient=self.lenient, faults=lines.faults)
        return treebank_of(rows, rows.checked, vocabulary, cap)

    def joinable(self, texts: Mapping[str, bytes]) -> list[bytes]:
        """Return the texts so that they can follow each other; if one has documents, a new one begins with each."""
        pieces = super().joinable(texts)
        if any(b"# newdoc" in piece for piece in pieces):
            for index, piece in enumerate(pieces[1:]):
                if not _BEGINS_DOCUMENT.match(piece):
                    pieces[index] += b"# newdoc\n"
        return pieces

    def write(self, treebank: DependencyTreebank) -> str:
        """Write the text that reads back as `treebank`; multiword tokens keep their forms, empty nodes their DEPS."""
        return write_rows(treebank)


def ids_of(
    fields: Fields,
    vocabulary: Vocabulary,
    findings: Findings,
    warnings: Findings,
    *,
    heads_outside: bool = False,
    wrong_heads: Findings | None = None,
) -> Ids:
    """Read the IDs of the rows, and check them, the words and their heads.

    Args:
        fields: of the rows.
        vocabulary: of the text.
        findings: what is wrong is added.
        warnings: what is unusual is added.
        heads_outside: whether heads may lie outside their sentences.
        wrong_heads: to which wrong heads are added, if not to `findings`.
    """
    wrong_heads = findings if wrong_heads is None else wrong_heads
    ids = _parsed_ids(fields[ID], vocabulary, findings)
    _check_ranges(ids, findings)
    _check_words(ids, findings)
    _check_forms(ids, fields[FORM], vocabulary, findings, warnings)
    _check_heads(ids, fields[HEAD], vocabulary, wrong_heads)
    if not heads_outside:
        _check_bounds(ids, fields[HEAD], vocabulary, wrong_heads)
    _check_empty_nodes(ids, warnings)
    warnings.add(
        findings.outline.spare,
        lambda line: Problem("conllu-spare-blank-line", "A blank line ends no sentence and is ignored.", line=line),
    )
    return ids


def _parsed_ids(numbers: IntArray, vocabulary: Vocabulary, findings: Findings) -> Ids:
    outline = findings.outline
    distinct = vocabulary.distinct(numbers)
    parsed = np.zeros((3, len(vocabulary)), np.int32)
    parsed[:, distinct] = np.array([_parsed_id(vocabulary.strings[number]) for number in distinct.tolist()]).T
    kinds, first, second = parsed[:, numbers]
    is_word = kinds == WORD
    word_offsets = offsets_of(sums_by(outline.sentences[is_word], len(outline.sent_ids)))
    before = np.cumsum(is_word) - is_word - word_offsets[outline.sentences]
    ranges = np.flatnonzero(kinds == RANGE)
    # The words of a range are those whose position the last range before them in their sentence reaches.
    last_range = np.full(len(kinds), -1)
    last_range[ranges] = np.arange(len(ranges))
    last_range = np.maximum.accumulate(last_range)
    inside = last_range >= 0
    range_rows = ranges[last_range[inside]]
    inside[inside] = (outline.sentences[range_rows] == outline.sentences[inside]) & (
        before[inside] < second[range_rows]
    )

    def bad(row: int) -> str:
        found = f"The ID is {short(vocabulary.strings[numbers[row]])!r}"
        return f"{found}. Write a number (3), a range of a multiword token (3-4) or an empty node's number (3.1)."

    findings.add_at(np.flatnonzero(kinds == BAD), ID + 1, "conllu-bad-id", bad, Role.CAUSE)
    return Ids(kinds, first, second, before, inside, word_offsets)


def _parsed_id(string: str) -> tuple[int, int, int]:
    number = plain_number(string)
    if number is not None and number < 10**9:
        return WORD, number, number
    match = _RANGE_ID.fullmatch(string)
    if match:
        return RANGE, int(match[1]), int(match[2])
    match = _EMPTY_ID.fullmatch(string)
    if match:
        return EMPTY, int(match[1]), int(match[2])
    return BAD, 0, 0


def _check_words(ids: Ids, findings: Findings) -> None:
    words = np.flatnonzero(ids.kinds == WORD)
    wrong = words[ids.first[words] != ids.before[words] + 1]

    def out_of_order(row: int) -> str:
        found = f"The ID is {ids.first[row]}, expected {ids.before[row] + 1}"
        return f"{found}. Number the words of a sentence 1, 2, 3, ... without gap or repetition."

    # A missing line shifts all IDs after it.
    findings.add_at(wrong, ID + 1, "conllu-wrong-id", out_of_order, Role.CAUSE)
    row_offsets = findings.outline.row_offsets
    empty = np.flatnonzero((np.diff(ids.word_offsets) == 0) & (np.diff(row_offsets) > 0))
    detail = "The sentence has no word with a number of its own. Add its words."
    findings.add_at(row_offsets[empty], ID + 1, "conllu-no-words", detail, Role.FOLLOWS)


def _check_ranges(ids: Ids, findings: Findings) -> None:
    rows = np.flatnonzero(ids.kinds == RANGE)
    sentences = findings.outline.sentences[rows]
    lengths = np.diff(ids.word_offsets)[sentences]
    start, end = ids.first[rows], ids.second[rows]
    backwards = end < start
    misplaced = ~backwards & (start != ids.before[rows] + 1)
    overlap = np.zeros(len(rows), bool)
    overlap[1:] = (sentences[1:] == sentences[:-1]) & (start[1:] <= end[:-1])
    cut = ~backwards & ~misplaced & (end > lengths)

    def report(wrong: BoolArray, what: str, role: Role = Role.FOLLOWS) -> None:
        def detail(row: int) -> str:
            return f"The multiword token {ids.first[row]}-{ids.second[row]} {what}"

        findings.add_at(rows[wrong], ID + 1, "conllu-bad-range", detail, role)

    report(backwards, "ends before it begins. Write the smaller number first.", Role.ALONE)
    move = "must stand directly before its first word. Move it; multiword tokens must not overlap."
    report(misplaced | (overlap & ~backwards), move)
    report(cut, "reaches beyond the sentence's last word. Correct the range.")


def _check_forms(ids: Ids, forms: IntArray, vocabulary: Vocabulary, findings: Findings, warnings: Findings) -> None:
    empty = ((forms == 0) | passes(forms, vocabulary, str.isspace)) & (ids.kinds != EMPTY)
    empty[empty] = passes(forms[empty], vocabulary, is_blank)
    inner = empty & ids.inside & (ids.kinds == WORD)

    def detail(row: int) -> str:
        if vocabulary.strings[forms[row]]:
            return "FORM holds only spaces. Write the word, or leave such tokens out (spaCy's, of the tag SPACE)."
        return "FORM is empty. Write the word, or _ where there is none."

    findings.add_at(np.flatnonzero(empty & ~inner), FORM + 1, "conllu-empty-form", detail)
    blank = "FORM of a word in a multiword token is blank. It aligns with no word."
    warnings.add_at(np.flatnonzero(inner), FORM + 1, "conllu-empty-form", blank)


def _check_heads(ids: Ids, strings: IntArray, vocabulary: Vocabulary, findings: Findings) -> None:
    bad = passes(strings, vocabulary, lambda head: head != "_" and plain_number(head) is None)

    def detail(row: int) -> str:
        found = f"HEAD is {short(vocabulary.strings[strings[row]])!r}"
        return f"{found}. Use 0 for the root, a word's number in digits 0-9, or _ where there is none."

    findings.add_at(np.flatnonzero(bad & (ids.kinds == WORD)), HEAD + 1, "conllu-bad-head", detail, Role.HEAD)


def _check_bounds(ids: Ids, strings: IntArray, vocabulary: Vocabulary, findings: Findings) -> None:
    """Add the words whose heads are numbers that no word of the sentence has."""
    words = np.flatnonzero(ids.kinds == WORD)
    length_of, sentences = np.diff(ids.word_offsets), findings.outline.sentences
    values = vocabulary.table(strings[words], lambda head: plain_number(head) or 0)[strings[words]]
    outside = values > length_of[sentences[words]]

    def detail(row: int) -> str:
        length = int(length_of[sentences[row]])
        head = short(vocabulary.strings[strings[row]], 20)
        return f"HEAD is {head}, but the sentence has {counted(length, 'word')}. Use 0 for the root or 1-{length}."

    findings.add_at(words[outside], HEAD + 1, "conllu-head-out-of-range", detail, Role.FOLLOWS | Role.HEAD)


def _check_empty_nodes(ids: Ids, warnings: Findings) -> None:
    rows = np.flatnonzero(ids.kinds == EMPTY)

    def detail(row: int) -> str:
        node = f"The empty node {ids.first[row]}.{ids.second[row]} stands after word {ids.before[row]}"
        return f"{node}. Scores of the basic tree do not change."

    warnings.add_at(rows[ids.first[rows] != ids.before[rows]], ID + 1, "conllu-empty-node-misplaced", detail)


def treebank_of(rows: Rows[Any], ids: Ids, vocabulary: Vocabulary, cap: int) -> DependencyTreebank:
    """Make the treebank of rows in which `ids_of` has found nothing wrong but heads.

    Args:
        rows: that were read.
        ids: theirs.
        vocabulary: of the text.
        cap: the most warnings.
    """
    outline, fields = rows.outline, rows.fields
    words = np.flatnonzero(ids.kinds == WORD)
    ranges = np.flatnonzero(ids.kinds == RANGE)
    empty = np.flatnonzero(ids.kinds == EMPTY)
    first_word = ids.word_offsets[outline.sentences]
    columns = {name: fields[column][words] for column, name in enumerate(WORD_COLUMNS, FORM)}
    columns["heads"] = heads_of(columns["heads"], vocabulary)
    return DependencyTreebank(
        vocabulary=vocabulary,
        word_offsets=ids.word_offsets,
        lines=outline.lines[words],
        mwt_starts=first_word[ranges] + ids.first[ranges] - 1,
        mwt_ends=first_word[ranges] + ids.second[ranges],
        mwt_forms=fields[FORM][ranges],
        mwt_misc=fields[MISC][ranges],
        empty_after=first_word[empty] + ids.before[empty],
        empty_ids=fields[ID][empty],
        empty_forms=fields[FORM][empty],
        empty_deps=fields[DEPS][empty],
        empty_lines=outline.lines[empty],
        empty_sentences=outline.sentences[empty],
        sentences=rows.sentences(cap),
        **columns,
    )


WORD, RANGE, EMPTY, BAD = range(4)
"""Kinds of rows."""


@dataclass(frozen=True, slots=True)
class Ids:
    """The ID column of r rows: kind, one or two numbers (at most nine digits), words before it in its sentence."""

    kinds: Int32Array
    first: Int32Array
    second: Int32Array
    before: IntArray
    inside: BoolArray
    word_offsets: IntArray


def write_rows(treebank: DependencyTreebank, *, words_only: bool = False) -> str:
    """Write a treebank, a blank line after each sentence.

    Args:
        treebank: to write.
        words_only: no comments, multiword tokens and empty nodes (CoNLL-X has none of them).
    """
    strings = treebank.vocabulary.strings
    columns = {
        name: [strings[number] for number in getattr(treebank, name).tolist()]
        for name in WORD_COLUMNS
        if name != "heads"
    }
    columns["heads"] = [head_string(head, treebank.vocabulary) for head in treebank.heads.tolist()]
    rows = zip(*(columns[name] for name in WORD_COLUMNS), strict=True)
    extra = {} if words_only else _extra_lines(treebank)
    comments = [""] * len(treebank) if words_only else _comments(treebank)
    parts: list[str] = []
    bounds = treebank.word_offsets.tolist()
    for sentence, (start, end) in enumerate(itertools.pairwise(bounds)):
        parts.append(comments[sentence])
        for word in range(start, end):
            parts += extra.get((sentence, word), ())
            parts.append("\t".join((str(word - start + 1), *next(rows))) + "\n")
        parts += extra.get((sentence, end), ())
        parts.append("\n")
    return "".join(parts)


def _extra_lines(treebank: DependencyTreebank) -> dict[tuple[int, int], list[str]]:
    """Map (sentence, word or end) to the lines before it: empty nodes, then multiword tokens."""
    strings = treebank.vocabulary.strings
    lines: dict[tuple[int, int], list[str]] = {}
    empties = treebank.empty_sentences, treebank.empty_after
    fields = treebank.empty_ids, treebank.empty_forms, treebank.empty_deps
    for sentence, after, number, form, deps in zip(*(column.tolist() for column in (*empties, *fields)), strict=True):
        line = "\t".join((strings[number], strings[form], *"______", strings[deps], "_")) + "\n"
        lines.setdefault((sentence, after), []).append(line)
    bounds = treebank.word_offsets
    owners = bounds.searchsorted(treebank.mwt_starts, "right") - 1
    tokens = owners, treebank.mwt_starts, treebank.mwt_ends, treebank.mwt_forms, treebank.mwt_misc
    for sentence, start, end, form, misc in zip(*(column.tolist() for column in tokens), strict=True):
        first = int(bounds[sentence])
        line = "\t".join((f"{start - first + 1}-{end - first}", strings[form], *"_______", strings[misc])) + "\n"
        lines.setdefault((sentence, start), []).append(line)
    return lines


def _comments(treebank: DependencyTreebank) -> list[str]:
    sentences = treebank.sentences
    comments = [""] * len(treebank)
    for key, values in sentences.attributes.items():
        before: str | None = None
        for index, value in enumerate(values):
            if value is not None and not (key == "newdoc" and value == before):
                comments[index] += f"# {'newdoc id' if key == 'newdoc' else key} = {value}\n"
            before = value
    for index, sent_id in enumerate(sentences.sent_ids):
        if sent_id is not None:
            comments[index] += f"# sent_id = {sent_id}\n"
    return comments


COLUMNS = 10
LEAST = 0.8
"""Share of lines that must have the form: the others may be damaged."""
UNIVERSAL = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X _".split()  # noqa: SIM905 - a list in a line
)
NUMBER = re.compile(r"[0-9]+")
COMMENT = re.compile(r"# ?(sent_id|text|newdoc|newpar|global\.columns)\b")
ID_FORM = re.compile(r"[0-9]+([-.][0-9]+)?")
_DEPS = re.compile(r"[0-9]+(\.[0-9]+)?:\S+")


def _dependency_metrics(head: Head, rows: Sequence[Sequence[str]]) -> Iterator[Scored]:
    """Yield the metrics that trees in CoNLL-U can be scored with."""
    words = [row for row in rows if row[0].isdigit()]
    heads = Counter(row[6] for row in words)
    if heads["_"] == len(words):
        yield Scored(
            {"name": "ud", "params": {"missing_heads": "wrong"}},
            "No word has a HEAD: only segmentation, tags, features and lemmas can be right.",
        )
        return
    ud: dict[str, str] = {}
    reasons = []
    if heads["_"]:
        ud["missing_heads"] = "wrong"
        reasons.append("words without HEAD count as wrong")
    if _several_roots(head):
        ud["roots"] = "any"
        reasons.append("sentences have several roots")
    why = "If parsers split raw text into words themselves: the scores of the CoNLL 2018 shared task"
    yield Scored(
        {"name": "ud", "params": ud} if ud else "ud", f"{why}; {', '.join(reasons)}." if reasons else f"{why}."
    )
    yield Scored("attachment", "If parsers are given gold's words: LAS and UAS, as in CoNLL-X.")
    enhanced = sum(any(map(_DEPS.fullmatch, row[8].split("|"))) for row in rows)
    if enhanced:
        yield Scored("enhanced", found_in_lines(enhanced, len(rows), "Enhanced dependencies in DEPS"))


def _several_roots(head: Head) -> bool:
    """Tell whether some sentence has two words with HEAD 0."""
    roots = 0
    for line in head.lines:
        if not line.strip():
            roots = 0
        fields = line.split("\t")
        roots += len(fields) == COLUMNS and fields[0].isdigit() and fields[6] == "0"
        if roots > 1:
            return True
    return False
