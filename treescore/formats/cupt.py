"""The format of PARSEME: CoNLL-U with a further column, which holds the codes of multiword expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from treescore.core.arrays import IntArray, owners_of
from treescore.core.counting import counted
from treescore.core.limits import Limits
from treescore.core.params import Param
from treescore.core.registry import Format, Text, register
from treescore.core.signs import Head, Signs
from treescore.core.trees import NO_CATEGORY, DependencyTreebank, ExpressionTreebank
from treescore.core.vocabulary import Vocabulary
from treescore.errors import InputError, Problem
from treescore.formats.conllu import ids_of, treebank_of
from treescore.formats.shared.column_faults import check_comments, other_columns
from treescore.formats.shared.column_signs import cupt_signs
from treescore.formats.shared.fields import Fields, numbered_fields
from treescore.formats.shared.findings import Findings
from treescore.formats.shared.lines import Outline, fields_per_line, outline_of, short
from treescore.formats.shared.mwe_codes import COLUMN, NAME, NONE, Expressions, expressions_of
from treescore.formats.shared.row_ids import Ids
from treescore.formats.shared.rows import write_rows
from treescore.formats.shared.tolerance import SENTENCE, UNREADABLE, RowFormat, lines_of

NAMES = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC".split()  # noqa: SIM905 - as the header has them
NEEDED = ("ID", "FORM", NAME)
KEY = "global.columns"
HEADER = f"# {KEY} = {' '.join([*NAMES, NAME])}"

_LONGEST_HEADER = 10_000
_HEADER = re.compile(rf"#\s*{re.escape(KEY)}\s*=(.*)")


@register
class Cupt(Format):
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
    blank_line_between = True
    usual_metric = "mwe"
    params: ClassVar[Mapping[str, Param]] = {"unreadable": UNREADABLE}
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
        """See Format."""
        return cupt_signs(head, NAME)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> ExpressionTreebank:
        """Read the treebank. Raises InputError and LimitError as promised by `Format`."""
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        lenient = self.values["unreadable"] == SENTENCE
        return read_cupt(text, vocabulary, limits, lenient=lenient, heads_outside=self.keeps_heads_outside)

    def write(self, treebank: ExpressionTreebank) -> str:
        """Write the text that reads back as `treebank`; codes stand at words only."""
        codes = iter(_codes_of(treebank))
        lines = [HEADER]
        for line in write_rows(treebank).removesuffix("\n").split("\n"):
            if not line or line.startswith("#"):
                lines.append(line)
            else:
                is_word = line.partition("\t")[0].isdigit()
                lines.append("\t".join((line, next(codes) if is_word else NONE)))
        return "".join(f"{line}\n" for line in lines)


def read_cupt(
    text: bytes,
    vocabulary: Vocabulary,
    limits: Limits,
    *,
    ranges: bool = True,
    lenient: bool = False,
    heads_outside: bool = False,
) -> ExpressionTreebank:
    """Read a text.

    Args:
        text: to read.
        vocabulary: to which its strings are added.
        limits: on it.
        ranges: whether codes at multiword tokens belong to their words; else they are ignored.
        lenient: whether what is wrong costs its sentence alone.
        heads_outside: whether heads may lie outside their sentences.

    Raises:
        InputError, LimitError: as promised by `Format`.
    """
    lines = lines_of(text, lenient=lenient)
    columns = _columns_of(lines.text[: lines.text.index(b"\n")].decode())
    places = {number: columns.index(name) + 1 for number, name in enumerate([*NAMES, NAME], 1) if name in columns}
    blank = vocabulary.number("_")

    def fields_of(outline: Outline) -> Fields | None:
        return numbered_fields(outline.text, outline.starts, outline.ends, len(columns), vocabulary)

    def check(
        outline: Outline, fields: Fields, findings: Findings, warnings: Findings
    ) -> tuple[_CuptColumns, Ids, Expressions]:
        _check_headers(outline, columns, findings)
        rows = _CuptColumns(fields, places, len(outline.lines), blank)
        ids = ids_of(outline, rows, vocabulary, findings, warnings, heads_outside=heads_outside)
        codes = rows[COLUMN - 1]
        return rows, ids, expressions_of(outline, ids, codes, vocabulary, findings, warnings, ranges=ranges)

    reader = RowFormat(fields_of, lambda outline: _bad_cupt_layout(outline, columns), check)
    outline = replace(outline_of(lines.text, limits), places=places)
    rows = reader.read(outline, limits.max_problems, lenient=lenient, faults=lines.faults)
    named, ids, expressions = rows.checked
    trees = treebank_of(rows, ids, named, vocabulary, limits.max_problems)
    attributes = {name: values for name, values in trees.sentences.attributes.items() if name != KEY}
    trees = replace(trees, sentences=replace(trees.sentences, attributes=attributes))
    return with_expressions(trees, **expressions._asdict())


def check_header(text: str) -> None:
    """Check the first line of a text. Raises InputError."""
    lines = text[:_LONGEST_HEADER].removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").splitlines()
    _columns_of(lines[0] if lines else "")


def with_expressions(
    trees: DependencyTreebank,
    *,
    expression_words: IntArray,
    expression_offsets: IntArray,
    expression_ids: IntArray,
    categories: IntArray,
) -> ExpressionTreebank:
    """Return the trees with expressions, as the attributes of an `ExpressionTreebank`."""
    return ExpressionTreebank(
        **{each.name: getattr(trees, each.name) for each in fields(DependencyTreebank) if each.init},
        expression_words=expression_words,
        expression_offsets=expression_offsets,
        expression_ids=expression_ids,
        categories=categories,
    )


@dataclass(frozen=True, slots=True)
class _CuptColumns:
    """The columns of a text in the order of CoNLL-U, then that of the codes; `_` where it lacks one."""

    fields: Fields
    places: Mapping[int, int]
    rows: int
    blank: int

    def __getitem__(self, column: int) -> IntArray:
        if column + 1 in self.places:
            return self.fields[self.places[column + 1] - 1]
        return np.full(self.rows, self.blank, np.int64)


def _columns_of(line: str) -> list[str]:
    """Return the names of the columns from the first line of a text. Raises InputError."""
    match = _HEADER.fullmatch(line)
    if match is None:
        detail = f"The first line is {short(line)!r}; it must name the columns. Write: {HEADER}"
        raise InputError(Problem("cupt-no-columns", detail, line=1))
    names = match[1].split()
    twice = sorted({name for name in names if names.count(name) > 1})
    missing = [name for name in NEEDED if name not in names]
    if twice or missing:
        what = f"names {short(twice[0])} twice" if twice else f"does not name {', '.join(missing)}"
        detail = f"The first line {what}. Name each column once, and at least {', '.join(NEEDED)}."
        raise InputError(Problem("cupt-no-columns", detail, line=1))
    return names


def _check_headers(outline: Outline, columns: list[str], findings: Findings) -> None:
    """Add the sentences whose comments name other columns: texts that are joined to one have the first line often."""
    stated = outline.attributes.get(KEY, ())
    other = np.array([value is not None and value.split() != columns for value in stated], np.bool_)
    firsts = outline.row_offsets[:-1][other & (np.diff(outline.row_offsets) > 0)] if len(other) else other.nonzero()[0]

    def problem(row: int) -> Problem:
        detail = (
            f"The comment # {KEY} names other columns than the first line. Give all texts that are joined the same."
        )
        return outline.problem(row, None, "cupt-no-columns", detail)

    findings.add(firsts, problem)


def _bad_cupt_layout(outline: Outline, columns: list[str]) -> Findings:
    """Describe lines that have other columns than the first line names, and comments inside sentences."""
    findings = Findings(outline.sentences)
    found = fields_per_line(outline)

    def problem(row: int) -> Problem:
        has = f"The line has {counted(int(found[row]), 'tab-separated column')}, the first line names {len(columns)}."
        return outline.problem(row, None, "cupt-column-count", f"{has} {other_columns(outline, row, len(columns))}")

    findings.add(np.flatnonzero(found != len(columns)), problem)
    check_comments(outline, findings)
    return findings


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
