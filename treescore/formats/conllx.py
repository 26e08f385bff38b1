"""CoNLL-X and CoNLL-07: ten columns a token, no multiword tokens, no empty nodes.

CoNLL-2009 and CoNLL-2008 have many columns a word and one for each predicate; their dependencies are read as CoNLL-X.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from treescore.core.registry import Text, register
from treescore.core.structure import heads_of, plain_number
from treescore.core.text import LIKELY, POSSIBLE, Head, Limits, Signs, found_in_lines, share_of_lines
from treescore.core.trees import ODD_HEAD, WORD_COLUMNS, DependencyTreebank, Vocabulary
from treescore.core.wording import counted
from treescore.errors import Problem, ProblemList, ScoringError, first_of
from treescore.formats.conllu import COMMENT, LEAST, NUMBER, UNIVERSAL, write_rows
from treescore.formats.shared.findings import OF_BYTES, Findings, Lines, RowFormat, Rows, RowsFormat, lines_of
from treescore.formats.shared.lines import COLUMNS, NAMES, Fields, columns_of, outline_of, short

ID, FORM, LEMMA, CPOSTAG, POSTAG, FEATS, HEAD, DEPREL, PHEAD, PDEPREL = range(COLUMNS)

MIN_COLUMNS = 8
"""Columns that each line needs; PHEAD and PDEPREL may be missing."""

_SPACE_BYTES = (b" ", b"\v", b"\f")
_EMPTY_FIELDS = ("_",) * COLUMNS


@register
class ConllX(RowsFormat):
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
    usual_metric = "attachment"
    example = (
        "1\tLe\tle\tD\tDET\tnum=s\t2\tdet\t_\t_\n"
        "2\tcafé\tcafé\tN\tNC\t_\t3\tsuj\t3\tsuj\n"
        "3\tferme\tfermer\tV\tV\t_\t0\troot\t_\t_\n\n"
        "1\tIci\tici\tADV\tADV\t_\t0\troot\t_\t_\n\n"
    ).encode()

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """Return the signs of CoNLL-X: eight to ten columns, a number first and in HEAD, no comments."""
        rows = [
            row for row in head.rows
            if COLUMNS - 2 <= len(row) <= COLUMNS and row[0].isdigit() and NUMBER.fullmatch(row[6].strip())
        ]  # fmt: skip
        if share_of_lines(len(rows), len(head.rows)) < LEAST:
            return None
        what = f"A number, {COLUMNS - 3} or more further columns, a number as HEAD"
        why = [found_in_lines(len(rows), len(head.rows), what)]
        foreign = any(COMMENT.match(line) for line in head.comments)
        if {row[3] for row in rows} <= UNIVERSAL or foreign:
            return Signs(POSSIBLE / 2 if foreign else POSSIBLE, why)
        why.append("No comments, and tags that are not the universal ones.")
        return Signs(LIKELY, why)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> DependencyTreebank:
        """Read the treebank. Raises InputError and LimitError as promised by `Format`."""
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        return self._read(lines_of(text, lenient=self.lenient), vocabulary, limits)

    def _found(self, limits: Limits) -> ProblemList:
        """Return a list for problems of lines: of each of them where it costs its sentence."""
        return ProblemList(sys.maxsize, apart=True) if self.lenient else ProblemList(limits.max_problems)

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
            if not self.lenient and faults.total:
                found, fields = Findings(outline), columns_of(outline, vocabulary)
                assert fields is not None  # noqa: S101 - each line has ten
                _check_conllx_fields(fields, found, Findings(outline))
                groups = [(faults.problems, faults.total), found.first(limits.max_problems)]
                first_of(groups, limits.max_problems).raise_if_any()
        reader = RowFormat(lambda rows: columns_of(rows, vocabulary), Findings, _check_conllx_fields)
        known = [*lines.faults, *faults.problems]
        rows = reader.read(outline, limits.max_problems, lenient=self.lenient, faults=known, fields=fields)
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
        if line.startswith("#") or len(fields) < MIN_COLUMNS:
            which = (number + 1, sentence)
            problems.add(comment_inside(*which) if line.startswith("#") else _too_few(*which, len(fields)))
            fields = [*_EMPTY_FIELDS]
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


def _check_conllx_fields(fields: Fields, findings: Findings, warnings: Findings) -> None:
    """Add the empty fields, and warn of comments."""
    for column in range(DEPREL + 1):
        detail = f"Column {column + 1} is blank. Write _ where it has no value."
        findings.add_at(np.flatnonzero(fields[column] == 0), column + 1, "conllx-empty-field", detail)
    comments = findings.outline.comments
    warnings.add(comments[:1], lambda line: _comments(line, len(comments)))


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

    def other_id(row: int) -> str:
        found = f"The ID is {short(strings[ids[row]])!r}, expected {positions[row]}. The line is scored as word"
        return f"{found} {positions[row]}, as eval07.pl does. If the file has multiword tokens, its format is conllu."

    def odd_head(row: int) -> str:
        return (
            f"HEAD is {short(strings[written_heads[row]])!r}, which is not a plain number. It is compared as written."
        )

    warnings.add_at(np.flatnonzero(numbers != positions), ID + 1, "conllx-id-not-position", other_id)
    warnings.add_at(np.flatnonzero(heads <= ODD_HEAD), HEAD + 1, "conllx-odd-head", odd_head)
    columns = {name: fields[column] for column, name in enumerate(WORD_COLUMNS, FORM)}
    columns["heads"] = heads
    return DependencyTreebank.of_columns(
        vocabulary, outline.row_offsets, lines=outline.lines, sentences=rows.sentences(cap), **columns
    )


_BLANKS = " \t\v\f"
_LEAST_SHARE = 0.8
"""Share of lines that must have the form: the others may be damaged."""


class WideColumns(ConllX):
    """A format of one line a word, whose columns are those of CoNLL-X in other places, with others between and behind.

    Attributes:
        columns: names of the columns that each line has.
        places: the column, from 0, of each of CoNLL-X's ten; None where the format has none.
    """

    columns: ClassVar[tuple[str, ...]]
    places: ClassVar[tuple[int | None, ...]]

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """See Format."""
        heads, relations = (
            [place for place, name in enumerate(cls.columns) if name.endswith(end)] for end in ("HEAD", "DEPREL")
        )
        at, least = cls.columns.index("HEAD"), len(cls.columns)
        rows = [
            row for row in head.rows
            if len(row) >= least and row[0].isdigit() and row[at] != "_"
            and all(_is_head(row[place]) for place in heads) and not any(row[place].isdigit() for place in relations)
        ]  # fmt: skip
        if share_of_lines(len(rows), len(head.rows)) < _LEAST_SHARE:
            return None
        what = f"A number, {least - 1} or more further columns, a number in column {at + 1} (HEAD)"
        if len(heads) > 1:
            what += f" and a number or _ in column {heads[1] + 1} ({cls.columns[heads[1]]})"
        else:
            what += f" and none in column {relations[0] + 1} ({cls.columns[relations[0]]})"
        return Signs(LIKELY, [found_in_lines(len(rows), len(head.rows), what)])

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> DependencyTreebank:
        """Read the treebank. Raises InputError and LimitError as promised by `Format`; places are the text's own."""
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        lines = lines_of(text, lenient=self.lenient)
        faults = self._found(limits)
        narrow = self._narrowed(lines.text.decode().split("\n"), faults)
        if not self.lenient:
            faults.raise_if_any()
        known = Lines(narrow.encode(), [*lines.faults, *faults.problems])
        try:
            treebank = self._read(known, vocabulary, limits)
        except ScoringError as error:
            raise type(error)([self._placed(problem) for problem in error.problems], error.total) from error
        warnings = [self._placed(problem) for problem in treebank.sentences.warnings]
        lacking = [name for name, place in zip(NAMES[1:], self.places[1:], strict=True) if place is None]
        return replace(treebank, sentences=replace(treebank.sentences, warnings=warnings, lacking=lacking))

    def write(self, treebank: DependencyTreebank) -> str:
        """Write the words of `treebank`; columns that CoNLL-X has not are blank."""
        lines = []
        for line in super().write(treebank).splitlines():
            fields = line.split("\t")
            wide = ["_"] * len(self.columns)
            for place, field in zip(self.places, fields, strict=False):
                if place is not None:
                    wide[place] = field
            lines.append("\t".join(wide) if line else "")
        return "".join(f"{line}\n" for line in lines)

    def _narrowed(self, lines: Sequence[str], problems: ProblemList) -> str:
        """Return the lines with the ten columns of CoNLL-X.

        Args:
            lines: of the text.
            problems: lines are added that have too few columns, or of which one that is read is empty.
        """
        least = len(self.columns)
        made = []
        sentence, inside, position = 0, False, 0
        tabs = 2 * sum("\t" in line for line in lines) > sum(bool(line.strip(_BLANKS)) for line in lines)
        for number, line in enumerate(lines, 1):
            stripped = line.strip(_BLANKS)
            fields = [field.strip(" ") for field in line.split("\t")] if "\t" in line else line.split()
            # a line without a number may begin with a word that does so
            one_field = len(fields) < least or (tabs and "\t" not in line)
            comment = stripped.startswith("#") and (self.places[ID] is not None or one_field)
            if not stripped or (comment and not inside):
                inside = False
                made.append(stripped)
                continue
            begins = not inside
            sentence, inside = sentence + begins, True
            empty = [place for place in self.places if place is not None and place < len(fields) and not fields[place]]
            if comment:
                problems.add(comment_inside(number, sentence))
            elif len(fields) < least:
                problems.add(self._short(number, sentence, len(fields)))
            elif empty:
                problems.add(self._empty(number, sentence, empty[0]))
            elif self.places[ID] is None and not _is_head(fields[self.columns.index("HEAD")]):
                problems.add(self._no_head(number, sentence, fields[self.columns.index("HEAD")]))
            else:
                position = 1 if begins else position + 1
                own = ["_" if place is None else fields[place] for place in self.places]
                if self.places[ID] is None:
                    own[ID] = str(position)
                made.append("\t".join(own))
                continue
            made.append("\t".join(["0"] * len(self.places)))  # the sentence is left out
        return "\n".join(made)

    def _short(self, line: int, sentence: int, fields: int) -> Problem:
        detail = (
            f"The line has {counted(fields, 'column')}; the format {self.name} has {len(self.columns)} or more: "
            f"{' '.join(self.columns)}. Write _ where one has no value."
        )
        return Problem("conllx-column-count", detail, line=line, sentence=sentence)

    def _empty(self, line: int, sentence: int, place: int) -> Problem:
        detail = f"Column {place + 1} ({self.columns[place]}) is blank. Write _ where it has no value."
        return Problem("conllx-empty-field", detail, line=line, column=place + 1, sentence=sentence)

    def _no_head(self, line: int, sentence: int, field: str) -> Problem:
        place = self.columns.index("HEAD") + 1
        detail = (
            f"HEAD is {short(field)!r}, which is not a number. {self.name} has the columns {' '.join(self.columns)}: "
            "take others away, as a number before each word, or give the format that the text has."
        )
        return Problem("conllx-odd-head", detail, line=line, column=place, sentence=sentence)

    def _placed(self, problem: Problem) -> Problem:
        """Return a problem of a field with its column in the text; of bytes the column is a character."""
        of_field = problem.column is not None and problem.code not in OF_BYTES
        place = self.places[(problem.column or 0) - 1] if of_field else None
        return problem if place is None else replace(problem, column=place + 1)


@register
class Conll09(WideColumns):
    """The format of the CoNLL-2009 shared task (Hajič et al. 2009), of which the dependencies are read.

    As in eval09.pl, HEAD and DEPREL are compared, not PHEAD and PDEPREL: an output has its parse there. POS and PPOS
    are kept as `upos` and `xpos`. Predicates and their arguments are left out. Otherwise as `conllx`.
    """

    name: ClassVar[str] = "conll09"
    doc: ClassVar[str] = (
        "CoNLL-2009, dependencies: ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL FILLPRED PRED "
        "[APRED ...]."
    )
    source: ClassVar[str] = "Hajič et al. 2009, https://aclanthology.org/W09-1201"
    suffixes: ClassVar[tuple[str, ...]] = (".conll09",)
    columns = tuple(
        "ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL FILLPRED PRED".split()  # noqa: SIM905 - as in the task's description
    )
    places = (0, 1, 2, 4, 5, 6, 8, 10, 9, 11)
    example = (
        "1\tLe\tle\tle\tD\tD\tnum=s\tnum=s\t2\t2\tdet\tdet\t_\t_\t_\n"
        "2\tcafé\tcafé\tcafé\tN\tN\t_\t_\t3\t3\tsuj\tobj\t_\t_\tA1\n"
        "3\tferme\tfermer\tfermer\tV\tV\t_\t_\t0\t0\troot\troot\tY\tfermer.01\t_\n\n"
        "1\tIci\tici\tici\tADV\tADV\t_\t_\t0\t0\troot\troot\t_\t_\n\n"
    ).encode()


def _is_head(field: str) -> bool:
    return field == "_" or field.strip("-").isdigit()


@register
class Conll08(WideColumns):
    """The format of the CoNLL-2008 shared task (Surdeanu et al. 2008), of which the dependencies are read.

    As in eval08.pl, a word is its SPLIT_FORM. GPOS and PPOSS are kept as `upos` and `xpos`. Predicates and their
    arguments are left out. Otherwise as `conllx`.
    """

    name: ClassVar[str] = "conll08"
    doc: ClassVar[str] = (
        "CoNLL-2008, dependencies: ID FORM LEMMA GPOS PPOS SPLIT_FORM SPLIT_LEMMA PPOSS HEAD DEPREL PRED [ARG ...]."
    )
    source: ClassVar[str] = "Surdeanu et al. 2008, https://aclanthology.org/W08-2121"
    suffixes: ClassVar[tuple[str, ...]] = (".conll08",)
    columns = tuple(
        "ID FORM LEMMA GPOS PPOS SPLIT_FORM SPLIT_LEMMA PPOSS HEAD DEPREL PRED".split()  # noqa: SIM905 - as in the task's description
    )
    places = (0, 5, 6, 3, 7, None, 8, 9, None, None)
    example = (
        "1\tThe\tthe\tDT\tDT\tThe\tthe\tDT\t2\tNMOD\t_\t_\n"
        "2\tcafé-bar\tcafé-bar\tNN\tNN\tcafé\tcafé\tNN\t3\tSBJ\t_\tA1\n"
        "3\tcloses\tclose\tVBZ\tVBZ\tcloses\tclose\tVBZ\t0\tROOT\tclose.01\t_\n\n"
        "1\tHere\there\tRB\tRB\tHere\there\tRB\t0\tROOT\t_\n\n"
    ).encode()


@register
class MaltTab(WideColumns):
    """The format of MaltParser before CoNLL-X: four columns, of which HEAD and DEPREL may be the output's.

    A word's number is its position. The tag is kept as `xpos`. Otherwise as `conllx`.
    """

    name: ClassVar[str] = "malt-tab"
    doc: ClassVar[str] = "Malt-TAB: FORM POSTAG HEAD DEPREL, a word a line, sentences separated by blank lines."
    source: ClassVar[str] = "Nivre, Hall & Nilsson 2004, https://aclanthology.org/W04-2407"
    suffixes: ClassVar[tuple[str, ...]] = (".tab",)
    columns = ("FORM", "POSTAG", "HEAD", "DEPREL")
    places = (None, 0, None, None, 1, None, 2, 3, None, None)
    example = "Le\tDET\t2\tdet\ncafé\tNC\t3\tsuj\nferme\tV\t0\troot\n\nIci\tADV\t0\troot\n\n".encode()

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """Return the signs of Malt-TAB: four columns, of which the third alone is a number inside the text."""
        rows = [
            row for row in head.rows
            if len(row) == len(cls.columns) and row[2].isdigit() and not any(row[place].isdigit() for place in (1, 3))
        ]  # fmt: skip
        if share_of_lines(len(rows), len(head.rows)) < _LEAST_SHARE:
            return None
        return Signs(LIKELY, [found_in_lines(len(rows), len(head.rows), "Four columns, a number in the third (HEAD)")])
