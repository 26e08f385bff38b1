"""The format of PARSEME: CoNLL-U with a further column, which holds the codes of multiword expressions.

Codes of words (`1:VID;2`) are read as sets of words.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import ClassVar, NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of
from treescore.core.columns import ranges_of
from treescore.core.registry import Text, register
from treescore.core.text import CERTAIN, POSSIBLE, Head, Limits, Signs, found_in_lines, share_of_lines
from treescore.core.trees import NO_CATEGORY, DependencyTreebank, ExpressionTreebank, Vocabulary
from treescore.errors import InputError, LimitError, Problem
from treescore.formats.conllu import EMPTY, ID_FORM, LEAST, RANGE, WORD, ConllU, Ids, ids_of, treebank_of, write_rows
from treescore.formats.shared.findings import Findings, RowFormat, RowsFormat, check_layout, lines_of
from treescore.formats.shared.lines import COLUMNS, NAMES, Fields, Outline, numbered_fields, outline_of, short

_COLUMN_NAMES = re.compile(r"#\s*global\.columns\s*=")
_CODES = re.compile(r"[*_]|[0-9]+(:[^\s;]+)?(;[0-9]+(:[^\s;]+)?)*")

NAME = "PARSEME:MWE"
COLUMN = COLUMNS + 1
"""Column of the codes in problems, before `Outline.places`."""
NONE, UNKNOWN = "*", "_"
MAX_MEMBERS = 20_000_000
"""Limit on the codes that those at ranges stand for: one at each of the range's words."""

_CODE = re.compile(r"(0|[1-9][0-9]{0,8})(?::([^\s;]+))?")


class Expressions(NamedTuple):
    """The expressions of a text, as the attributes of an `ExpressionTreebank`."""

    expression_words: IntArray
    expression_offsets: IntArray
    expression_ids: IntArray
    categories: IntArray


class _Parsed(NamedTuple):
    """The codes of each string of a vocabulary: how many, where they begin; then numbers and categories of all."""

    sizes: IntArray
    starts: IntArray
    numbers: IntArray
    categories: IntArray


class _Codes(NamedTuple):
    """Codes with their row of the text, word over the whole file, number of the expression, and category.

    Attributes:
        absorbed: whether a range has brought codes to the word.
    """

    rows: IntArray
    words: IntArray
    numbers: IntArray
    categories: IntArray
    absorbed: BoolArray


def expressions_of(
    ids: Ids, fields: IntArray, vocabulary: Vocabulary, findings: Findings, warnings: Findings, *, ranges: bool = True
) -> Expressions:
    """Read the column of codes.

    A code is the number of an expression in its sentence; behind a colon, at its first word, its category. Where a word
    has several codes of a number, the first in the order of their strings counts. Codes at a range belong to each of
    its words, and there a code without category gives way to one with it.

    Args:
        ids: of the rows.
        fields: the column, numbers of strings, int64 (r,).
        vocabulary: of the text.
        findings: what is wrong is added; then the result is of no use.
        warnings: what is unusual is added.
        ranges: whether codes at ranges are read.

    Raises:
        LimitError: the codes at ranges stand for too many at words.
    """
    outline = findings.outline
    parsed = _parsed(ids, fields, vocabulary, findings)
    filled = np.asarray(parsed.sizes[fields] > 0, np.bool_)
    _check_places(ids, filled, fields, vocabulary, warnings)
    at_words = np.flatnonzero(filled & (ids.kinds == WORD))
    at_ranges = np.flatnonzero(filled & (ids.kinds == RANGE))
    if findings.beyond_heads or not ranges:
        at_ranges = at_ranges[:0]  # those that are wrong may reach anywhere
    positions = ids.word_offsets[outline.sentences] + ids.before
    lengths = ids.second[at_ranges].astype(np.int64) - ids.first[at_ranges] + 1
    _check_size(outline, at_ranges, lengths * parsed.sizes[fields[at_ranges]])
    inner, _ = ranges_of(positions[at_ranges], lengths)
    rows = np.concatenate([at_words, np.repeat(at_ranges, lengths)])
    words = np.concatenate([positions[at_words], inner])
    absorbing = np.zeros(int(ids.word_offsets[-1]), np.bool_)
    absorbing[inner] = True
    sizes = parsed.sizes[fields[rows]]
    chosen, _ = ranges_of(parsed.starts[fields[rows]], sizes)
    rows, words = np.repeat(rows, sizes), np.repeat(words, sizes)
    codes = _Codes(rows, words, parsed.numbers[chosen], parsed.categories[chosen], absorbing[words])
    return _joined(codes, vocabulary, warnings)


def _parsed(ids: Ids, fields: IntArray, vocabulary: Vocabulary, findings: Findings) -> _Parsed:
    """Read each distinct string once; `_` stands for no code at ranges and empty nodes alone."""
    distinct = vocabulary.distinct(fields).tolist()
    read = {number: _codes_in(vocabulary.strings[number]) for number in distinct}
    wrong, sizes, starts = (np.zeros(len(vocabulary), np.int64) for _ in range(3))
    wrong[[number for number, codes in read.items() if codes is None]] = 1
    bad = (wrong[fields] > 0) & ((fields != vocabulary.number(UNKNOWN)) | (ids.kinds == WORD))
    findings.add_at(
        np.flatnonzero(bad), COLUMN, "cupt-bad-code", lambda row: _bad_code(vocabulary.strings[fields[row]])
    )
    flat = [code for codes in read.values() for code in codes or ()]
    sizes[distinct] = [len(codes or ()) for codes in read.values()]
    starts[distinct] = offsets_of(sizes[distinct])[:-1]
    numbers = np.array([number for number, _ in flat], np.int64)
    return _Parsed(sizes, starts, numbers, vocabulary.numbers([category for _, category in flat]))


def _codes_in(string: str) -> list[tuple[int, str]] | None:
    """Return the distinct codes of a field in the order of their strings; None where it cannot be read."""
    if string == NONE:
        return []
    found = [_CODE.fullmatch(code) for code in sorted(set(string.split(";")))]
    codes = [(int(match[1]), match[2] or "") for match in found if match is not None]
    return codes if len(codes) == len(found) else None


def _bad_code(string: str) -> str:
    if string == UNKNOWN:
        return f"{NAME} is _, so the word is not annotated. Write * for a word that is in no expression."
    return (
        f"{NAME} is {short(string)!r}. Write * for a word that is in no expression, or codes joined by ;: the "
        "number of an expression in its sentence, at its first word with a category, as 1:VID;2."
    )


def _check_places(ids: Ids, filled: BoolArray, fields: IntArray, vocabulary: Vocabulary, warnings: Findings) -> None:
    """Add the codes that stand at no word."""

    def at_range(row: int) -> str:
        token = f"The multiword token {ids.first[row]}-{ids.second[row]} has the code"
        codes = short(vocabulary.strings[fields[row]])
        return f"{token} {codes}, which is taken for one of each of its words. Move it to the words."

    def at_empty(row: int) -> str:
        return f"The empty node {ids.first[row]}.{ids.second[row]} has a code, which is ignored. Move it to a word."

    warnings.add_at(np.flatnonzero(filled & (ids.kinds == RANGE)), COLUMN, "cupt-code-at-range", at_range)
    warnings.add_at(np.flatnonzero(filled & (ids.kinds == EMPTY)), COLUMN, "cupt-code-at-empty-node", at_empty)


def _check_size(outline: Outline, rows: IntArray, members: IntArray) -> None:
    """Refuse codes at ranges that stand for too many at words."""
    too_many = np.flatnonzero(np.cumsum(members) > MAX_MEMBERS)
    if len(too_many):
        detail = f"The codes at multiword tokens stand for more than {MAX_MEMBERS} at words. Write them at the words."
        raise LimitError(outline.problem(int(rows[too_many[0]]), COLUMN, "too-many-codes", detail))


def _joined(codes: _Codes, vocabulary: Vocabulary, warnings: Findings) -> Expressions:
    """Join the codes of one number in one sentence; the first code at the first word has the category."""
    sentences = warnings.outline.sentences[codes.rows]
    late = codes.absorbed & (codes.categories == NO_CATEGORY)
    order = np.lexsort((_ranks(codes.categories, vocabulary), late, codes.words, codes.numbers, sentences))
    rows, words, numbers, categories = (each[order] for each in codes[:-1])
    codes, sentences = _Codes(rows, words, numbers, categories, codes.absorbed[order]), sentences[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (sentences[1:] != sentences[:-1]) | (codes.numbers[1:] != codes.numbers[:-1])
    repeated = np.zeros(len(order), np.bool_)
    repeated[1:] = ~begins[1:] & (codes.words[1:] == codes.words[:-1])
    expressions = np.cumsum(begins) - 1
    sizes = np.bincount(expressions[~repeated]).astype(np.int64)
    found = Expressions(codes.words[~repeated], offsets_of(sizes), codes.numbers[begins], codes.categories[begins])
    _check_categories(codes, expressions, found.categories, repeated, vocabulary, warnings)
    return found


def _ranks(categories: IntArray, vocabulary: Vocabulary) -> IntArray:
    """Return the ranks of categories in the order of their strings, none first."""
    distinct = sorted(vocabulary.distinct(categories).tolist(), key=vocabulary.strings.__getitem__)
    ranks = np.zeros(len(vocabulary), np.int64)
    ranks[distinct] = np.arange(len(distinct))
    return ranks[categories]


def _check_categories(
    codes: _Codes,
    expressions: IntArray,
    categories: IntArray,
    repeated: BoolArray,
    vocabulary: Vocabulary,
    warnings: Findings,
) -> None:
    """Add the numbers that a word has twice, expressions without a category, and categories that do not count.

    Args:
        codes: in the order of their expressions, (c,).
        expressions: the expression of each, (c,).
        categories: of the expressions, (k,).
        repeated: which codes stand at the word of the one before them, for the same expression, (c,).
        vocabulary: of the text.
        warnings: to which they are added.
    """
    kept = categories[expressions]
    stated = codes.categories != NO_CATEGORY
    late = np.bincount(expressions[stated], minlength=len(categories)) > 0

    def twice(code: int) -> str:
        return f"The word has two codes of expression {codes.numbers[code]}. Keep one."

    def without(expression: int) -> str:
        where = "at its first word, where it counts" if late[expression] else "at any word"
        return f"Expression {codes.numbers[firsts[expression]]} has no category {where}. Write it there, as 1:VID."

    def other(code: int) -> str:
        own, first = (short(vocabulary.strings[column[code]]) for column in (codes.categories, kept))
        found = f"Expression {codes.numbers[code]} has the category {own} here and {first} at its first word, which"
        return f"{found} counts. Write it at the first word alone."

    rows, firsts = codes.rows, np.searchsorted(expressions, np.arange(len(categories)))
    warnings.add_at(np.flatnonzero(repeated & ~codes.absorbed), COLUMN, "cupt-repeated-code", twice, at=rows)
    warnings.add_at(np.flatnonzero(categories == NO_CATEGORY), COLUMN, "cupt-no-category", without, at=rows[firsts])
    differs = stated & (kept != NO_CATEGORY) & (codes.categories != kept) & ~repeated
    warnings.add_at(np.flatnonzero(differs), COLUMN, "cupt-two-categories", other, at=rows)


NEEDED = ("ID", "FORM", NAME)
KEY = "global.columns"
HEADER = f"# {KEY} = {' '.join([*NAMES, NAME])}"

_LONGEST_HEADER = 10_000
_HEADER = re.compile(rf"#\s*{re.escape(KEY)}\s*=(.*)")


@register
class Cupt(RowsFormat):
    """The format of the PARSEME corpora and shared tasks (Ramisch et al. 2018).

    The first line names the columns; those of CoNLL-U may be missing but for ID and FORM, and stand in any order.
    Columns with other names are not read. Otherwise it is read as CoNLL-U.
    """

    name: ClassVar[str] = "cupt"
    doc: ClassVar[str] = (
        "CoNLL-U and the column PARSEME:MWE: * or the numbers of a word's multiword expressions, each with its "
        "category at its first word (1:VID;2)."
    )
    source: ClassVar[str] = (
        "Ramisch et al. 2018, https://aclanthology.org/W18-4925; https://multiword.sourceforge.net/cupt-format"
    )
    yields: ClassVar[type[ExpressionTreebank]] = ExpressionTreebank
    suffixes = (".cupt",)
    usual_metric = "mwe"
    example = (
        f"{HEADER}\n"
        "# sent_id = s1\n"
        "1\tElle\telle\tPRON\t_\t_\t2\tnsubj\t_\t_\t*\n"
        "2\tprend\tprendre\tVERB\t_\t_\t0\troot\t_\t_\t1:LVC.full;2:VID\n"
        "3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_\t*\n"
        "3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_\t*\n"
        "4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_\t2\n"
        "5\trecul\trecul\tNOUN\t_\t_\t2\tobj\t_\t_\t1;2\n\n"
        "# sent_id = s2\n"
        "1\tIci\tici\tADV\t_\t_\t0\troot\t_\t_\t*\n\n"
    ).encode()

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """Return the signs of CoNLL-U with a column of codes: a first line that names this column, else codes."""
        names = head.first.partition("=")[2].split() if _COLUMN_NAMES.match(head.first) else []
        rows = [row for row in head.rows if len(row) == (len(names) or COLUMNS + 1) and ID_FORM.fullmatch(row[0])]
        if share_of_lines(len(rows), len(head.rows)) < LEAST or (names and NAME not in names):
            return None
        place = names.index(NAME) if names else COLUMNS
        why = []
        if names:
            why.append(f"The first line names the column {NAME}.")
        elif not all(_CODES.fullmatch(row[place]) for row in rows):
            return None
        why.append(
            found_in_lines(len(rows), len(head.rows), f"A number and {(len(names) or COLUMNS + 1) - 1} more columns")
        )
        return Signs(CERTAIN if names else POSSIBLE, why)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> ExpressionTreebank:
        """Read the treebank. Raises InputError and LimitError as promised by `Format`."""
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        return read_cupt(text, vocabulary, limits, lenient=self.lenient, any_heads=self.keeps_heads_outside)

    def write(self, treebank: ExpressionTreebank) -> str:
        """Write the text that reads back as `treebank`; codes stand at words only."""
        codes = iter(_codes_of(treebank))
        lines = [HEADER]
        for line in write_rows(treebank).removesuffix("\n").split("\n"):
            if not line or line.startswith("#"):
                lines.append(line)
            else:
                lines.append("\t".join((line, next(codes) if line.partition("\t")[0].isdigit() else NONE)))
        return "".join(f"{line}\n" for line in lines)


def read_cupt(
    text: bytes,
    vocabulary: Vocabulary,
    limits: Limits,
    *,
    ranges: bool = True,
    lenient: bool = False,
    any_heads: bool = False,
) -> ExpressionTreebank:
    """Read a text.

    Args:
        text: to read.
        vocabulary: to which its strings are added.
        limits: on it.
        ranges: whether codes at multiword tokens belong to their words; else they are ignored.
        lenient: whether what is wrong costs its sentence alone.
        any_heads: whether wrong heads are warnings.

    Raises:
        InputError, LimitError: as promised by `Format`.
    """
    lines = lines_of(text, lenient=lenient)
    columns = _columns_of(_first_line(lines.text))
    stripped, odd_lines = _stripped(lines.text, len(columns))
    places = _places_of(columns)

    def fields_of(outline: Outline) -> Fields | None:
        return _ordered_fields(outline, columns, vocabulary)

    def check(fields: Fields, findings: Findings, warnings: Findings) -> tuple[Ids, Expressions]:
        _check_headers(columns, findings, warnings)
        warnings.add(odd_lines, _blanks)
        ids = ids_of(fields, vocabulary, findings, warnings, wrong_heads=warnings if any_heads else None)
        return ids, expressions_of(ids, fields[COLUMN - 1], vocabulary, findings, warnings, ranges=ranges)

    reader = RowFormat(fields_of, _layout_of(columns), check)
    outline = replace(outline_of(stripped, limits), places=places)
    rows = reader.read(outline, limits.max_problems, lenient=lenient, faults=lines.faults)
    ids, expressions = rows.checked
    trees = _without_header(treebank_of(rows, ids, vocabulary, limits.max_problems), columns)
    of_trees = {each.name: getattr(trees, each.name) for each in fields(DependencyTreebank) if each.init}
    return ExpressionTreebank(**of_trees, **expressions._asdict())


def _first_line(text: bytes) -> str:
    return text[: text.index(b"\n")].decode()


def _places_of(columns: Sequence[str]) -> dict[int, int]:
    """Return where the columns of CoNLL-U and that of the codes stand in a text, both from 1."""
    return {number: columns.index(name) + 1 for number, name in enumerate([*NAMES, NAME], 1) if name in columns}


def _ordered_fields(outline: Outline, columns: Sequence[str], vocabulary: Vocabulary) -> Fields | None:
    """Return the columns in the order of CoNLL-U, then that of the codes; `_` where the text lacks one."""
    blank = vocabulary.number("_")
    found = numbered_fields(outline.text, outline.starts, outline.ends, len(columns), vocabulary)
    if found is None or columns == [*NAMES, NAME]:
        return found
    codes = np.full((COLUMN, len(outline.starts)), len(found.numbers), np.int32)
    for number, place in _places_of(columns).items():
        codes[number - 1] = found.codes[place - 1]
    return Fields(codes, np.append(found.numbers, blank))


def _layout_of(columns: Sequence[str]) -> Callable[[Outline], Findings]:
    """Return the check that each line has as many fields as the first line names columns."""
    detail = f"the first line names {len(columns)}"
    return lambda outline: check_layout(outline, len(columns), "cupt-column-count", detail)


def _without_header(trees: DependencyTreebank, columns: Sequence[str]) -> DependencyTreebank:
    attributes = {name: values for name, values in trees.sentences.attributes.items() if name != KEY}
    lacking = [name for name in NAMES if name not in columns]
    return replace(trees, sentences=replace(trees.sentences, attributes=attributes, lacking=lacking))


def check_header(text: str) -> None:
    """Check the first line of a text. Raises InputError."""
    lines = text[:_LONGEST_HEADER].removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").splitlines()
    _columns_of(lines[0] if lines else "")


def _columns_of(line: str, needed: Sequence[str] = NEEDED) -> list[str]:
    """Return the names of the columns from the first line of a text. Raises InputError."""
    match = _HEADER.fullmatch(line)
    if match is None:
        example = HEADER if NAME in needed else f"# {KEY} = {' '.join(NAMES)}"
        detail = f"The first line is {short(line)!r}; it must name the columns. Write: {example}"
        raise InputError(Problem("cupt-no-columns", detail, line=1))
    names = _last_names(match[1])
    twice = sorted({name for name in names if names.count(name) > 1})
    missing = [name for name in needed if name not in names]
    if twice or missing:
        what = f"names {short(twice[0])} twice" if twice else f"does not name {', '.join(missing)}"
        detail = f"The first line {what}. Name each column once, and at least {', '.join(needed)}."
        raise InputError(Problem("cupt-no-columns", detail, line=1))
    return names


def _last_names(header: str) -> list[str]:
    """Return the names of columns behind the last `=`, as parseme_evaluate.py: the line may be glued to itself."""
    return header.rpartition("=")[2].split()


def _stripped(text: bytes, columns: int) -> tuple[bytes, IntArray]:
    """Return a text without blanks at the ends of lines, as parseme_evaluate.py reads it, and which lines had some."""
    if not any(blank in text for blank in (b" \n", b"\t\n", b"\n ", b"\n\t")):
        return text, np.zeros(0, np.int64)
    lines = text.split(b"\n")
    made = [line if line.startswith(b"#") else _without_blanks(line, columns) for line in lines]
    odd = [number for number, (line, other) in enumerate(zip(lines, made, strict=True), 1) if len(line) > len(other)]
    return b"\n".join(made), np.array(odd, np.int64)


def _without_blanks(line: bytes, columns: int) -> bytes:
    """Return a line without blanks at its ends; a tab there may stand before an empty last column."""
    spaceless = line.strip(b" ")
    return spaceless.strip(b" \t") if spaceless.count(b"\t") >= columns or not line.strip() else spaceless


def _blanks(line: int) -> Problem:
    detail = "The line begins or ends with blanks, which are ignored, as by parseme_evaluate.py. Remove them."
    return Problem("cupt-blanks-at-line-end", detail, line=line)


def _check_headers(columns: list[str], findings: Findings, warnings: Findings) -> None:
    """Add sentences whose comments name other columns, in texts that were joined; warn of a line glued to itself."""
    outline = findings.outline
    stated = outline.attributes.get(KEY, ())
    other = np.array([value is not None and _last_names(value) != columns for value in stated], np.bool_)
    firsts = outline.row_offsets[:-1][other & (np.diff(outline.row_offsets) > 0)] if len(other) else other.nonzero()[0]

    def twice(line: int) -> Problem:
        detail = "The line names the columns twice; the last names count, as for parseme_evaluate.py. Write them once."
        return Problem("cupt-header-twice", detail, line=line)

    detail = f"The comment # {KEY} names other columns than the first line. Give all texts that are joined the same."
    findings.add_at(firsts, None, "cupt-no-columns", detail)
    first = outline.text[: outline.text.index(b"\n")]
    warnings.add(np.ones(int(first.count(KEY.encode()) > 1), np.int64), twice)


def _codes_of(treebank: ExpressionTreebank) -> list[str]:
    """Return the codes of each word, (w,)."""
    strings = treebank.vocabulary.strings
    codes: list[list[str]] = [[] for _ in range(len(treebank.forms))]
    owners = owners_of(treebank.expression_offsets)
    first = np.ones(len(owners), np.bool_)
    first[1:] = owners[1:] != owners[:-1]
    numbers, categories = treebank.expression_ids[owners], np.where(first, treebank.categories[owners], NO_CATEGORY)
    columns = (treebank.expression_words, numbers, categories)
    for word, number, category in zip(*(column.tolist() for column in columns), strict=True):
        codes[word].append(f"{number}:{strings[category]}" if category != NO_CATEGORY else str(number))
    return [";".join(each) or NONE for each in codes]


@register
class ConllUPlus(ConllU):
    """CoNLL-U whose first line names the columns, in any order, those of a treebank's own among them.

    ID, FORM, HEAD and DEPREL must be there; other columns of CoNLL-U that are not named are read as `_`, and where
    gold names none, scores of them are undefined. Columns with other names are not read. Otherwise as `conllu`.
    """

    name: ClassVar[str] = "conllu-plus"
    doc: ClassVar[str] = "CoNLL-U Plus: the first line names the columns (# global.columns = ID FORM ...)."
    source: ClassVar[str] = "https://universaldependencies.org/ext-format.html"
    suffixes = (".conllup",)
    needed: ClassVar[Sequence[str]] = ("ID", "FORM", "HEAD", "DEPREL")
    example = (
        f"# {KEY} = ID UPOS FORM HEAD DEPREL X:NER\n"
        "# sent_id = s1\n"
        "1-2\t_\tdu\t_\t_\t_\n"
        "1\tADP\tde\t3\tcase\tO\n"
        "2\tDET\tle\t3\tdet\tO\n"
        "3\tNOUN\tcafé\t0\troot\tB\n\n"
        "# sent_id = s2\n"
        "1\tADV\tIci\t0\troot\tO\n\n"
    ).encode()

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """Return the signs of a first line that names the columns of trees, and not that of PARSEME."""
        names = head.first.partition("=")[2].split() if _COLUMN_NAMES.match(head.first) else []
        if not set(cls.needed) <= set(names) or NAME in names:
            return None
        rows = [row for row in head.rows if len(row) == len(names) and ID_FORM.fullmatch(row[names.index("ID")])]
        if share_of_lines(len(rows), len(head.rows)) < LEAST:
            return None
        return Signs(POSSIBLE if names == NAMES else CERTAIN, ["The first line names the columns."])

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> DependencyTreebank:
        """Read the treebank. Raises InputError and LimitError as promised by `Format`."""
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        lines = lines_of(text, lenient=self.lenient)
        columns = _columns_of(_first_line(lines.text), self.needed)

        def check(fields: Fields, findings: Findings, warnings: Findings) -> Ids:
            _check_headers(columns, findings, warnings)
            return ids_of(fields, vocabulary, findings, warnings, heads_outside=self.keeps_heads_outside)

        reader = RowFormat(lambda outline: _ordered_fields(outline, columns, vocabulary), _layout_of(columns), check)
        outline = replace(outline_of(lines.text, limits), places=_places_of(columns))
        rows = reader.read(outline, limits.max_problems, lenient=self.lenient, faults=lines.faults)
        return _without_header(treebank_of(rows, rows.checked, vocabulary, limits.max_problems), columns)

    def write(self, treebank: DependencyTreebank) -> str:
        """Write the text that reads back as `treebank`, with the columns of CoNLL-U."""
        return f"# {KEY} = {' '.join(NAMES)}\n{write_rows(treebank)}"
