"""CoNLL-X and CoNLL-07: ten columns a token, no multiword tokens, no empty nodes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from treescore.core.params import Param
from treescore.core.registry import Format, Text, register
from treescore.core.structure import heads_of, plain_number
from treescore.core.text import Limits
from treescore.core.trees import ODD_HEAD, DependencyTreebank, Vocabulary
from treescore.core.wording import counted
from treescore.errors import Problem, ProblemList
from treescore.formats.shared.findings import Findings
from treescore.formats.shared.lines import COLUMNS, Fields, Outline, columns_of, outline_of, short
from treescore.formats.shared.rows import conllx_signs, write_rows
from treescore.formats.shared.tolerance import SENTENCE, UNREADABLE, Lines, RowFormat, Rows, lines_of

ID, FORM, LEMMA, CPOSTAG, POSTAG, FEATS, HEAD, DEPREL, PHEAD, PDEPREL = range(COLUMNS)

MIN_COLUMNS = 8
"""Columns that each line needs; PHEAD and PDEPREL may be missing."""

_SPACE_BYTES = (b" ", b"\v", b"\f")
_EMPTY_FIELDS = ("_",) * COLUMNS


@register
class ConllX(Format):
    """The format of the CoNLL-X and CoNLL-07 shared tasks (Buchholz & Marsi 2006).

    CPOSTAG, POSTAG, PHEAD and PDEPREL are kept in the columns `upos`, `xpos`, `deps` and `misc`. As eval07.pl reads
    it, a word's number is its position, not its ID, and HEAD may be any string; both give a warning.
    Unlike eval07.pl, a line with tabs is cut at tabs only, so that a form may hold a space; fewer than eight columns
    and empty fields, which shift or lose columns there, are errors. Lines that begin with # are comments, with a
    warning: there they are words.
    """

    name: ClassVar[str] = "conllx"
    doc: ClassVar[str] = "CoNLL-X and CoNLL-07: ID FORM LEMMA CPOSTAG POSTAG FEATS HEAD DEPREL [PHEAD PDEPREL]."
    source: ClassVar[str] = "Buchholz & Marsi 2006, https://aclanthology.org/W06-2920"
    yields: ClassVar[type[DependencyTreebank]] = DependencyTreebank
    suffixes: ClassVar[tuple[str, ...]] = (".conllx", ".conll")
    blank_line_between = True
    usual_metric = "attachment"
    memory = 40
    params: ClassVar[Mapping[str, Param]] = {"unreadable": UNREADABLE}
    example = (
        "1\tLe\tle\tD\tDET\tnum=s\t2\tdet\t_\t_\n"
        "2\tcafé\tcafé\tN\tNC\t_\t3\tsuj\t3\tsuj\n"
        "3\tferme\tfermer\tV\tV\t_\t0\troot\t_\t_\n\n"
        "1\tIci\tici\tADV\tADV\t_\t0\troot\t_\t_\n\n"
    ).encode()

    signs = staticmethod(conllx_signs)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> DependencyTreebank:
        """Read the treebank. Raises InputError and LimitError as promised by `Format`."""
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        lines = lines_of(text, lenient=self._lenient)
        return self._read(lines, vocabulary, limits)

    @property
    def _lenient(self) -> bool:
        return bool(self.values["unreadable"] == SENTENCE)

    def _found(self, limits: Limits) -> ProblemList:
        """Return a list for problems of lines: of each of them where it costs its sentence."""
        return ProblemList(sys.maxsize, apart=True) if self._lenient else ProblemList(limits.max_problems)

    def _read(self, lines: Lines, vocabulary: Vocabulary, limits: Limits) -> DependencyTreebank:
        """Read lines, some of which may have faults. Raises InputError and LimitError."""
        outline = outline_of(lines.text, limits)
        regular = not any(space in lines.text for space in _SPACE_BYTES) and not (
            len(outline.misplaced) or outline.hollow.any()
        )
        fields = columns_of(outline, vocabulary) if regular else None
        faults = self._found(limits)
        if fields is None:
            outline = outline_of(_regular(lines.text, faults), limits)
            if not self._lenient:
                faults.raise_if_any()
        reader = RowFormat(lambda rows: columns_of(rows, vocabulary), lambda rows: Findings(), _check_conllx_fields)  # noqa: ARG005 - each line has ten fields
        known = [*lines.faults, *faults.problems]
        rows = reader.read(outline, limits.max_problems, lenient=self._lenient, faults=known, fields=fields)
        return _conllx_treebank(rows, vocabulary, limits.max_problems)

    def write(self, treebank: DependencyTreebank) -> str:
        """Write the words of `treebank`; the format has no comments, multiword tokens and empty nodes."""
        return write_rows(treebank, words_only=True)


def _regular(text: bytes, problems: ProblemList) -> bytes:
    """Bring each line to ten fields; add those with fewer than eight, and comments between words."""
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
        if line.startswith("#"):
            problems.add(comment_inside(number + 1, sentence))
        elif len(fields) < MIN_COLUMNS:
            problems.add(_too_few(number + 1, sentence, len(fields)))
            fields += _EMPTY_FIELDS
        lines[number] = "\t".join([*fields, "_", "_"][:COLUMNS])
    return "\n".join(lines).encode()


def comment_inside(line: int, sentence: int) -> Problem:
    """Describe a comment between words."""
    detail = "A comment stands between the words of a sentence. Move it before the first word."
    return Problem("conllx-comment-inside-sentence", detail, line=line, sentence=sentence)


def _too_few(line: int, sentence: int, fields: int) -> Problem:
    detail = (
        f"The line has {counted(fields, 'column')}; at least {MIN_COLUMNS} are needed, separated by tabs "
        "(ID FORM LEMMA CPOSTAG POSTAG FEATS HEAD DEPREL). Write _ where one has no value."
    )
    if not fields:
        detail = "The line holds only spaces. End a sentence with an empty line."
    return Problem("conllx-column-count", detail, line=line, sentence=sentence)


def _empty_field(outline: Outline, column: int) -> Callable[[int], Problem]:
    def problem(row: int) -> Problem:
        return outline.problem(
            row, column + 1, "conllx-empty-field", f"Column {column + 1} is blank. Write _ where it has no value."
        )

    return problem


def _check_conllx_fields(outline: Outline, fields: Fields, findings: Findings, warnings: Findings) -> None:
    """Add the empty fields, and warn of comments."""
    for column in range(DEPREL + 1):
        findings.add(np.flatnonzero(fields[column] == 0), _empty_field(outline, column))
    warnings.add(outline.comments[:1], lambda line: _comments(line, len(outline.comments)))


def _comments(line: int, count: int) -> Problem:
    which = f"{count} lines begin with #, the first is line {line}" if count > 1 else f"Line {line} begins with #"
    detail = f"{which}. Such lines are left out as comments, as in conllu; eval07.pl takes each for a word."
    return Problem("conllx-comments", detail, line=line)


def _conllx_treebank(rows: Rows[None], vocabulary: Vocabulary, cap: int) -> DependencyTreebank:
    outline, fields, warnings = rows.outline, rows.fields, rows.warnings
    strings = vocabulary.strings
    heads = heads_of(fields[HEAD], vocabulary)
    positions = np.arange(len(outline.lines)) - outline.row_offsets[outline.sentences] + 1
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
            sentences=rows.sentences(cap),
        ),
        feats=fields[FEATS],
        deps=fields[PHEAD],
        misc=fields[PDEPREL],
    )
