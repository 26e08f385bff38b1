"""The export format of NeGra and TIGER, versions 3 and 4: a line for each word and for each constituent."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, Int32Array, IntArray
from treescore.core.discontinuity import ROOT
from treescore.core.registry import Text, register
from treescore.core.structure import NONE
from treescore.core.text import CERTAIN, Head, Limits, Signs
from treescore.core.trees import DiscontinuousTreebank, Vocabulary
from treescore.core.wording import counted
from treescore.errors import Problem
from treescore.formats.shared import gap_trees
from treescore.formats.shared.lines import SpacedFields, short, spaced_fields, unix_lines

FIRST_NODE = 500
COLUMNS = 6
_LEAST = 5
_BLANK, _BEGIN, _END, _OTHER = range(4)
_BOS, _EOS = "#BOS", "#EOS"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_UNKNOWN = -1
_KEY = 1_000_000_000
"""Above each number of a node."""
_LINE_FORM = "A line is: word, [lemma,] tag, morphology, edge label, parent."


class _Lines(NamedTuple):
    """The lines of a text that stand in n sentences, r of them.

    Attributes:
        fields: of all lines.
        begins: line of each `#BOS`, from 0, int64 (n,).
        ends: line of each `#EOS`, NONE where it has none, int64 (n,).
        rows: lines of words and nodes, from 0, int64 (r,).
        sentences: of these, int64 (r,).
    """

    fields: SpacedFields
    begins: IntArray
    ends: IntArray
    rows: IntArray
    sentences: IntArray

    def string(self, line: int, column: int) -> str:
        """Return a field for a message."""
        return short(self.fields.strings[self.fields.codes[line, column]], 30)

    def problem(self, line: int, column: int | None, code: str, detail: str) -> Problem:
        """Make a problem of one line, from 0, in its sentence."""
        sentence = int(np.searchsorted(self.begins, line, "right"))
        return Problem(code, detail, line=line + 1, column=column, sentence=sentence or None)


@register
class Export(gap_trees.GapFormat):
    """`#BOS id`, the words, the constituents from `#500` on with their parents, `#EOS id`.

    Fields are split at any white space. There are lemmas where the number of fields is even; what follows the parent
    are secondary edges, which are dropped. Numbers of constituents may pass 999. `--` stands for
    nothing.
    """

    name = "export"
    doc = (
        "Trees whose constituents may have gaps, in the export format of NeGra and TIGER (versions 3 and 4): a line "
        "for each word and each constituent, with its function and parent. Secondary edges are dropped."
    )
    source = "Brants 1997, The NeGra Export Format for Annotated Corpora (version 3); version 4 of TIGER"
    suffixes = (".export",)
    example = (
        "#FORMAT 4\n#BOS 1 0 0 0\nDas\tder\tART\t--\tNK\t502\nBuch\t--\tNN\tN.S\tNK\t502\n"
        "hat\thaben\tVAFIN\t--\tHD\t500\n"
        "er\t--\tPPER\t--\tSB\t500\nübersetzt\t--\tVVPP\t--\tHD\t501\n.\t--\t$.\t--\t--\t0\n#500\t--\tS\t--\t--\t0\n"
        "#501\t--\tVP\t--\tOC\t500\n#502\t--\tNP\t--\tOA\t501\n#EOS 1\n"
        "#BOS 2 0 0 0\nNein\t--\tITJ\t--\t--\t0\tSB\t500\n#EOS 2\n"
    ).encode()

    @classmethod
    def signs(cls, head: Head) -> Signs | None:
        """Return the signs of the export format of NeGra and TIGER."""
        begins = [line for line in head.filled if line.startswith("#BOS ")]
        if not begins:
            return None
        return Signs(CERTAIN, ["#BOS begins a sentence."], metrics=gap_trees.METRICS)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> DiscontinuousTreebank:
        """Read the treebank.

        Raises:
            InputError: `export-...`, `unknown-parent`, `node-in-cycle`, `node-without-words`, `repeated-sentence-id`,
                those of core.text.
            LimitError: `too-deep`, `too-many-words`, `too-many-sentences`.
        """
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text
        faults = gap_trees.Faults()
        lines = _lines_of(spaced_fields(unix_lines(text), COLUMNS), limits, faults)
        return _export_treebank(lines, vocabulary, limits, _sent_ids(lines, faults), faults, lenient=self.lenient)

    def write(self, treebank: DiscontinuousTreebank) -> str:
        """Write version 4. Raises InputError for what the format cannot hold."""
        return "#FORMAT 4\n" + "".join(_written_export(treebank))


def _lines_of(fields: SpacedFields, limits: Limits, faults: gap_trees.Faults) -> _Lines:
    """Find the sentences.

    Raises:
        InputError: no sentence, or the end of one that never began.
    """
    kinds = np.full(len(fields.strings) + 1, _OTHER, np.uint8)
    kinds[-1] = _BLANK
    for kind, mark in ((_BEGIN, _BOS), (_END, _EOS)):
        if mark in fields.strings:
            kinds[fields.strings.index(mark)] = kind
    kind_of = kinds[fields.codes[:, 0]]
    begun = np.cumsum(kind_of == _BEGIN)
    marks = np.flatnonzero((kind_of == _BEGIN) | (kind_of == _END))
    opens = kind_of[marks] == _BEGIN
    # after so many marks: whether a line is within a sentence
    inside = np.append(False, opens)
    rows = np.flatnonzero((kind_of == _OTHER) & inside[np.searchsorted(marks, np.arange(len(kind_of)))])
    begins, ends = marks[opens], np.full(begun[-1], NONE)
    closings, strays = marks[~opens & inside[:-1]], marks[~opens & ~inside[:-1]]
    ends[begun[closings] - 1] = closings
    lines = _Lines(fields, begins, ends, rows, begun[rows] - 1)
    if len(strays):
        detail = f"A sentence ends ({_EOS}) that has not begun. Write {_BOS} and its number before its first word."
        early = gap_trees.Faults()
        early.add(strays, strays, strays, lambda line: lines.problem(line, 1, "export-no-begin", detail))
        early.raise_if_any(limits.max_problems)
    gap_trees.check_sentences(len(begins), limits)
    open_ones = np.flatnonzero(ends == NONE)
    faults.add(open_ones, open_ones, begins[open_ones], lambda sentence: lines.problem(
        int(begins[sentence]), 1, "export-no-end",
        f"The sentence is not ended before the next one, or before the end of the text. Write {_EOS} and its number "
        "after its last line.",
    ))  # fmt: skip
    return lines


def _sent_ids(lines: _Lines, faults: gap_trees.Faults) -> list[str | None]:
    """Return the name of each sentence; None where it has none of its own."""
    codes, strings = lines.fields.codes, lines.fields.strings
    names = codes[lines.begins, 1]
    closed = np.where(lines.ends == NONE, names, codes[lines.ends, 1])
    numbers = np.arange(len(names))
    unnamed = np.flatnonzero(names < 0)
    faults.add(unnamed, unnamed, lines.begins[unnamed], lambda sentence: lines.problem(
        int(lines.begins[sentence]), 2, "export-no-id", f"{_BOS} has no number. Write the sentence's own one after it.",
    ))  # fmt: skip
    other = np.flatnonzero((names >= 0) & (closed != names))
    faults.add(other, other, lines.ends[other], lambda sentence: lines.problem(
        int(lines.ends[sentence]), 2, "export-ids-differ",
        f"The sentence begins as {short(strings[names[sentence]], 30)!r} and ends as "
        f"{short(strings[closed[sentence]], 30) if closed[sentence] >= 0 else ''!r}. Write the same number after "
        f"{_BOS} and {_EOS}.",
    ))  # fmt: skip
    order = np.lexsort((numbers, names))
    again = order[1:][(names[order[1:]] == names[order[:-1]]) & (names[order[1:]] >= 0)]
    faults.add(again, again, lines.begins[again], lambda sentence: lines.problem(
        int(lines.begins[sentence]), 2, "repeated-sentence-id",
        f"A sentence before is called {short(strings[names[sentence]], 30)!r} too. Give each a name of its own.",
    ))  # fmt: skip
    repeated = set(again.tolist())
    return [None if name < 0 or sentence in repeated else strings[name] for sentence, name in enumerate(names.tolist())]


class _Rows(NamedTuple):
    """The r lines of words and nodes with enough fields.

    Attributes:
        lines: their numbers, from 0, int64 (r,).
        sentences: of each, int64 (r,).
        columns: which of the text's strings each of the six fields is, as in version 4, int32 (r, 6).
        lemmas: whether they have a lemma, bool (r,).
        numbers: of the nodes, _UNKNOWN of words, int64 (r,).
        parents: numbers of the parents, int64 (r,); 0 the root, _UNKNOWN what is not a number.
    """

    lines: IntArray
    sentences: IntArray
    columns: Int32Array
    lemmas: BoolArray
    numbers: IntArray
    parents: IntArray

    def field(self, row: int, column: int) -> int:
        """Return which field of the line a column is, from 1."""
        return column + 1 - (not self.lemmas[row] and column > 0)


def _export_rows(lines: _Lines, faults: gap_trees.Faults) -> _Rows:
    counts, strings = lines.fields.counts[lines.rows], lines.fields.strings
    enough = counts >= _LEAST
    few = lines.rows[~enough]
    faults.add(few, lines.sentences[~enough], few, lambda line: lines.problem(
        line, None, "export-field-count",
        f"The line has {counted(int(lines.fields.counts[line]), 'field')}; at least {_LEAST} are needed. {_LINE_FORM}",
    ))  # fmt: skip
    codes, lemmas = lines.fields.codes[lines.rows[enough]], counts[enough] % 2 == 0
    shifted = np.concatenate([codes[:, :1], codes[:, :-1]], axis=1)  # without a lemma, the word stands for it
    columns = np.where(lemmas[:, None], codes, shifted)
    named = np.array([_export_number(string) for string in strings], np.int64)
    nodes = np.array([_export_number(string[1:]) if string[:1] == "#" else _UNKNOWN for string in strings], np.int64)
    numbers = nodes[columns[:, 0]]
    numbers[numbers < FIRST_NODE] = _UNKNOWN
    return _Rows(lines.rows[enough], lines.sentences[enough], columns, lemmas, numbers, named[columns[:, 5]])


def _export_number(string: str) -> int:
    return int(string) if _NUMBER.fullmatch(string) else _UNKNOWN


def _check_nodes(lines: _Lines, rows: _Rows, faults: gap_trees.Faults) -> IntArray:
    """Return the node above each word and node, NONE below the root, by its number among the nodes of the file."""
    nodes = np.flatnonzero(rows.numbers != _UNKNOWN)
    is_word = rows.numbers == _UNKNOWN
    last_word = np.full(len(lines.begins), NONE)
    last_word[rows.sentences[is_word]] = rows.lines[is_word]
    late = nodes[rows.lines[nodes] < last_word[rows.sentences[nodes]]]
    faults.add(late, rows.sentences[late], rows.lines[late], lambda row: lines.problem(
        int(rows.lines[row]), 1, "export-word-after-node",
        f"The constituent {lines.string(int(rows.lines[row]), 0)} stands before a word. Write all words of a sentence "
        f"before its constituents, which have the numbers from #{FIRST_NODE} on.",
    ))  # fmt: skip
    keys = rows.sentences[nodes] * _KEY + rows.numbers[nodes]
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    again = nodes[order[1:][ordered[1:] == ordered[:-1]]]
    faults.add(again, rows.sentences[again], rows.lines[again], lambda row: lines.problem(
        int(rows.lines[row]), 1, "export-repeated-node",
        f"The sentence has a constituent {lines.string(int(rows.lines[row]), 0)} before this one. Give each a "
        "number of its own.",
    ))  # fmt: skip
    wanted = rows.sentences * _KEY + rows.parents
    found = np.searchsorted(ordered, wanted)
    known = np.append(ordered, -1)[found] == wanted
    lost = np.flatnonzero(~known & (rows.parents != 0) | (rows.parents == _UNKNOWN))
    faults.add(lost, rows.sentences[lost], rows.lines[lost], lambda row: lines.problem(
        int(rows.lines[row]), rows.field(row, 5), "unknown-parent",
        f"The parent, {lines.fields.strings[rows.columns[row, 5]][:30]!r}, is not a constituent of the sentence. Write "
        f"0 for the root, or the number of a constituent without #. {_LINE_FORM}",
    ))  # fmt: skip
    return np.where(known & (rows.parents > 0), np.append(order, NONE)[found], NONE)


def _export_treebank(
    lines: _Lines,
    vocabulary: Vocabulary,
    limits: Limits,
    sent_ids: Sequence[str | None],
    faults: gap_trees.Faults,
    *,
    lenient: bool,
) -> DiscontinuousTreebank:
    size, strings = len(lines.begins), lines.fields.strings
    rows = _export_rows(lines, faults)
    above = _check_nodes(lines, rows, faults)
    nodes, words = np.flatnonzero(rows.numbers != _UNKNOWN), np.flatnonzero(rows.numbers == _UNKNOWN)

    def column(number: int, chosen: IntArray, change: Callable[[str], str] = gap_trees.without_nothing) -> IntArray:
        return gap_trees.numbers_of(rows.columns[chosen, number], strings, vocabulary, change)

    def node_problem(node: int, /, *, cycle: bool) -> Problem:
        row = int(nodes[node])
        line = int(rows.lines[row])
        name = lines.string(line, 0)
        if cycle:
            detail = f"The constituent {name} is below itself. Correct the parents (the last field)."
            return lines.problem(line, rows.field(row, 5), "node-in-cycle", detail)
        detail = f"The constituent {name} has no words below it. Remove it, or make it the parent of some."
        return lines.problem(line, 1, "node-without-words", detail)

    lemmas = np.zeros(len(words), np.int64)
    has_lemma = rows.lemmas[words]
    lemmas[has_lemma] = column(1, words[has_lemma])
    root = vocabulary.number(ROOT)
    raw = gap_trees.RawTrees(
        labels=column(2, nodes, gap_trees.category),
        functions=column(4, nodes),
        parents=above[nodes],
        node_offsets=gap_trees.offsets_by(rows.sentences[nodes], size),
        words=column(0, words, str),
        tags=column(2, words, gap_trees.category),
        word_functions=column(4, words),
        lemmas=lemmas,
        morphs=column(3, words),
        anchors=above[words],
        word_offsets=gap_trees.offsets_by(rows.sentences[words], size),
        roots=np.full(size, root),
        root_functions=np.zeros(size, np.int64),
        lines=lines.begins + 1,
    )
    reading = gap_trees.Reading(vocabulary, limits, lenient, root, node_problem, rows.lines[nodes])
    return gap_trees.treebank_of(raw, reading, sent_ids, faults)


def _written_export(treebank: DiscontinuousTreebank) -> Iterator[str]:
    strings = treebank.vocabulary.strings
    trees = gap_trees.WrittenTrees(treebank, "export")
    for tree in trees:
        trees.refuse_root(tree, ROOT)
        name = tree.name or str(tree.number + 1)
        yield f"{_BOS} {name}\n"
        for word in tree.words:
            form, tag = strings[treebank.words[word]], trees.tag(word)
            columns = treebank.lemmas, treebank.morphs, treebank.word_functions
            lemma, *others = (strings[column[word]] or gap_trees.NOTHING for column in columns)
            fields = [form, lemma, tag, *others]
            if form in (_BOS, _EOS) or (form[:1] == "#" and _export_number(form[1:]) >= FIRST_NODE):
                raise gap_trees.unwritable("export", f"the word {form!r}", tree.number)
            yield _line(fields, tree.below_root(treebank.anchors[word]), tree.number)
        for node in tree.nodes:
            label, function = trees.label(node), strings[treebank.functions[node]] or gap_trees.NOTHING
            fields = [f"#{FIRST_NODE + node - tree.nodes.start}", gap_trees.NOTHING, label, gap_trees.NOTHING, function]
            yield _line(fields, tree.below_root(treebank.parents[node]), tree.number)
        yield f"{_EOS} {name}\n"


def _line(fields: Sequence[str], parent: int, sentence: int) -> str:
    """Return a line; `parent` counts the constituents of the sentence from 0, the root is -1."""
    for field in fields:
        if (
            not field
            or len(field.split()) != 1
            or field.split()[0] != field
            or (field[:2] == "%%" and field is not fields[0])
        ):
            raise gap_trees.unwritable("export", f"the field {field!r}", sentence)
    return "\t".join([*fields, str(FIRST_NODE + parent if parent >= 0 else 0)]) + "\n"
