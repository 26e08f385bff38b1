"""CoNLL-X and CoNLL-07: ten columns a token, no multiword tokens, no empty nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

import numpy as np

from treescore.core.counting import counted
from treescore.core.heads import heads_of, plain_number
from treescore.core.limits import Limits
from treescore.core.registry import Format, Text, register
from treescore.core.signs import Head, Signs
from treescore.core.trees import ODD_HEAD, DependencyTreebank, Sentences
from treescore.core.vocabulary import Vocabulary
from treescore.errors import Problem, ProblemList
from treescore.formats.shared.column_signs import conllx_signs
from treescore.formats.shared.fields import Fields
from treescore.formats.shared.lines import (
    COLUMNS,
    Findings,
    Outline,
    columns_of,
    outline_of,
    short,
    unix_lines,
)
from treescore.formats.shared.rows import write_rows

ID, FORM, LEMMA, CPOSTAG, POSTAG, FEATS, HEAD, DEPREL, PHEAD, PDEPREL = range(COLUMNS)

MIN_COLUMNS = 8
"""Columns that each line needs; PHEAD and PDEPREL may be missing."""

_SPACES = (b" ", b"\v", b"\f")


@register
class ConllX(Format):
    """The format of the CoNLL-X and CoNLL-07 shared tasks (Buchholz & Marsi 2006).

    CPOSTAG, POSTAG, PHEAD and PDEPREL are kept in the columns `upos`, `xpos`, `deps` and `misc`. As eval07.pl reads
    it, a word's number is its position, not its ID, and HEAD may be any string; both give a warning.
    Unlike eval07.pl, a line with tabs is cut at tabs only, so that a form may hold a space; fewer than eight columns
    and empty fields, which shift or lose columns there, are errors. Lines that begin with # are comments.
    """

    name: ClassVar[str] = "conllx"
    doc: ClassVar[str] = "CoNLL-X and CoNLL-07: ID FORM LEMMA CPOSTAG POSTAG FEATS HEAD DEPREL [PHEAD PDEPREL]."
    source: ClassVar[str] = "Buchholz & Marsi 2006, https://aclanthology.org/W06-2920"
    yields: ClassVar[type[DependencyTreebank]] = DependencyTreebank
    suffixes: ClassVar[tuple[str, ...]] = (".conllx", ".conll")
    blank_line_between = True
    usual_metric = "attachment"
    example = (
        "1\tLe\tle\tD\tDET\tnum=s\t2\tdet\t_\t_\n"
        "2\tcafé\tcafé\tN\tNC\t_\t3\tsuj\t3\tsuj\n"
        "3\tferme\tfermer\tV\tV\t_\t0\troot\t_\t_\n\n"
        "1\tIci\tici\tADV\tADV\t_\t0\troot\t_\t_\n\n"
    ).encode()

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """See Format."""
        return conllx_signs(head)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> DependencyTreebank:
        """Read the treebank. Raises InputError and LimitError as promised by `Format`."""
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        lines = unix_lines(text)
        outline = outline_of(lines, limits)
        regular = not any(space in lines for space in _SPACES) and not len(outline.misplaced)
        fields = columns_of(outline, vocabulary) if regular else None
        if fields is None:
            outline = outline_of(_regular(lines, limits.max_problems), limits)
            fields = columns_of(outline, vocabulary)
        assert fields is not None  # noqa: S101 - each line has been given ten fields
        findings = Findings()
        for column in range(DEPREL + 1):
            findings.add(np.flatnonzero(fields[column] == 0), _empty_field(outline, column))
        findings.raise_if_any(limits.max_problems)
        return _treebank(outline, fields, vocabulary, limits.max_problems)

    def write(self, treebank: DependencyTreebank) -> str:
        """Write the words of `treebank`; the format has no comments, multiword tokens and empty nodes."""
        return write_rows(treebank, words_only=True)


def _regular(text: bytes, cap: int) -> bytes:
    """Bring each line to ten fields.

    Raises:
        InputError: lines with fewer than eight.
    """
    problems = ProblemList(cap)
    lines = text.decode().split("\n")
    inside = False
    sentence = 0
    for number, line in enumerate(lines):
        stripped = line.strip(" \t\v\f")
        if not stripped or (line.startswith("#") and not inside):
            inside = False
            lines[number] = stripped
            continue
        sentence += not inside
        inside = True
        fields = [field.strip(" \v\f") for field in stripped.split("\t")] if "\t" in stripped else stripped.split()
        if len(fields) < MIN_COLUMNS:
            problems.add(_too_few(number + 1, sentence, len(fields), comment=line.startswith("#")))
        lines[number] = "\t".join([*fields, "_", "_"][:COLUMNS])
    problems.raise_if_any()
    return "\n".join(lines).encode()


def _too_few(line: int, sentence: int, fields: int, *, comment: bool) -> Problem:
    if comment:
        detail = "A comment stands between the words of a sentence. Move it before the first word."
        return Problem("conllx-comment-inside-sentence", detail, line=line, sentence=sentence)
    detail = (
        f"The line has {counted(fields, 'column')}; at least {MIN_COLUMNS} are needed, separated by tabs "
        "(ID FORM LEMMA CPOSTAG POSTAG FEATS HEAD DEPREL). Write _ where one has no value."
    )
    return Problem("conllx-column-count", detail, line=line, sentence=sentence)


def _empty_field(outline: Outline, column: int) -> Callable[[int], Problem]:
    def problem(row: int) -> Problem:
        return outline.problem(
            row, column + 1, "conllx-empty-field", f"Column {column + 1} is empty. Write _ where it has no value."
        )

    return problem


def _treebank(outline: Outline, fields: Fields, vocabulary: Vocabulary, cap: int) -> DependencyTreebank:
    strings = vocabulary.strings
    heads = heads_of(fields[HEAD], vocabulary)
    positions = np.arange(len(outline.lines)) - outline.row_offsets[outline.sentences] + 1
    warnings = Findings()
    ids, written_heads = fields[ID], fields[HEAD]
    numbers = vocabulary.table(ids, lambda string: plain_number(string) or 0)[ids]
    warnings.add(
        np.flatnonzero(numbers != positions),
        lambda row: outline.problem(
            row,
            ID + 1,
            "conllx-id-not-position",
            f"The ID is {short(strings[ids[row]])!r}, expected {positions[row]}. The line is scored as word "
            f"{positions[row]}, as eval07.pl does. If the file has multiword tokens, its format is conllu.",
        ),
    )
    warnings.add(
        np.flatnonzero(heads <= ODD_HEAD),
        lambda row: outline.problem(
            row,
            HEAD + 1,
            "conllx-odd-head",
            f"HEAD is {short(strings[written_heads[row]])!r}, which is not a plain number. It is compared as written.",
        ),
    )
    return replace(
        DependencyTreebank.of_columns(
            vocabulary,
            outline.row_offsets,
            forms=fields[FORM],
            lemmas=fields[LEMMA],
            upos=fields[CPOSTAG],
            xpos=fields[POSTAG],
            heads=heads,
            deprels=fields[DEPREL],
            lines=outline.lines,
            sentences=Sentences(
                sent_ids=outline.sent_ids, attributes=outline.attributes, warnings=warnings.first(cap)[0]
            ),
        ),
        feats=fields[FEATS],
        deps=fields[PHEAD],
        misc=fields[PDEPREL],
    )
