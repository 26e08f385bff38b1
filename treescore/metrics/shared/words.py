"""Compare gold and output word by word, and show where they differ: errors of words, groups of sentences.

Relations are compared with or without their subtypes (`nsubj` of `nsubj:pass`). Sentences of an output that could not
be read have gold's words, where the format was asked to go on without them. Errors of words are rows for people, made
from the items that a metric shows of sentences; also here is the layout of conll18_ud_eval.py.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from treescore.core import columns
from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by, sums_of_rows
from treescore.core.params import Json
from treescore.core.registry import NO_PARTNER, ItemInfo, Marks, MarkState
from treescore.core.scores import ScoreTable
from treescore.core.text import is_punctuation
from treescore.core.trees import NO_HEAD, DependencyTreebank, ExpressionTreebank, SemanticTreebank
from treescore.core.wording import counted, told_apart
from treescore.errors import InputError, Problem


def universal_relation(deprel: str) -> str:
    """Return what stands before the first colon, which may be nothing."""
    return deprel.partition(":")[0]


def has_subtypes(treebank: DependencyTreebank) -> bool:
    """Return whether a relation has a colon."""
    strings = treebank.vocabulary.strings
    return any(":" in strings[number] for number in treebank.vocabulary.distinct(treebank.deprels).tolist())


def universal_relations(treebank: DependencyTreebank) -> IntArray:
    """Return the relations of the words without subtypes as numbers of strings, int64 (w,)."""
    vocabulary = treebank.vocabulary
    table = vocabulary.table(treebank.deprels, lambda deprel: vocabulary.number(universal_relation(deprel)))
    relations: IntArray = table[treebank.deprels]
    return relations


Words = DependencyTreebank | SemanticTreebank
"""Treebanks with a line and a form for each word."""
_Words = TypeVar("_Words", bound=Words)
_COLUMNS = ("forms", "lemmas", "upos", "xpos", "feats", "heads", "deprels", "deps", "misc", "lines")
_GRAPH_COLUMNS = ("forms", "lemmas", "tags", "frames", "lines")
_ADVICE = "Let the parser parse gold's tokens; or, for outputs with their own tokenization, use the metric ud."
_GRAPH_ADVICE = "Let the parser parse gold's tokens: edges are compared by the positions of words."


def check_same_words(gold: Words, system: Words, cap: int) -> None:
    """Check that both sides have the same words in the same sentences.

    Raises:
        InputError: `word-count-mismatch` for sentences of other length; if there are none, `word-mismatch`.
    """
    check_same_lengths(gold, system, cap)
    differing = np.flatnonzero(gold.forms != system.forms)
    if len(differing):
        raise InputError([_other_word(gold, system, word) for word in differing[:cap].tolist()], len(differing))


def check_same_lengths(gold: Words, system: Words, cap: int) -> None:
    """Check that sentences have as many words as gold's. Raises InputError `word-count-mismatch`."""
    gold_lengths, system_lengths = np.diff(gold.word_offsets), np.diff(system.word_offsets)
    other_length = np.flatnonzero(gold_lengths != system_lengths)
    if len(other_length):
        raise InputError(
            [_other_length(gold, system, sentence) for sentence in other_length[:cap].tolist()], len(other_length)
        )


def other_words(gold: DependencyTreebank, system: DependencyTreebank, present: BoolArray) -> list[Problem]:
    """Warn once if forms or coarse parts of speech differ, as eval07.pl does.

    Args:
        gold: the gold treebank of w words.
        system: an output with as many words in each sentence.
        present: the words to compare, bool (w,).
    """
    faults = ((2, gold.forms != system.forms), (4, gold.upos != system.upos))
    differing = np.flatnonzero((faults[0][1] | faults[1][1]) & present)
    if not len(differing):
        return []
    word = int(differing[0])
    sentence = int(np.searchsorted(gold.word_offsets, word, "right")) - 1
    scored = "All words are scored by position, as in eval07.pl. Check that the output is of the same text."
    place = f"word {word - int(gold.word_offsets[sentence]) + 1} of sentence {sentence + 1}"
    forms = (system.vocabulary.strings[side.forms[word]] for side in (system, gold))
    found = f"Gold has another form or part of speech at {counted(len(differing), 'word')}, first at {place}."
    detail = f"Words differ from gold in form or part of speech. {scored}"
    column = next(column for column, differs in faults if differs[word])
    return [problem_at(system, "other-words", detail, sentence, word, column, f"{found}{told_apart(*forms)} {scored}")]


def problem_at(
    treebank: Words,
    code: str,
    detail: str,
    sentence: int,
    word: int | None = None,
    column: int | None = None,
    gold_detail: str | None = None,
) -> Problem:
    """Make a problem of a sentence, and of the line of a word of the text where there is one: both from 0."""
    sent_ids = treebank.sentences.sent_ids
    return Problem(
        code,
        detail,
        sentence=sentence + 1,
        sent_id=sent_ids[sentence] if len(sent_ids) else None,
        line=None if word is None else int(treebank.lines[word]) or None,
        column=column,
        gold_detail=gold_detail,
    )


def left_empty(gold: Words, system: Words) -> BoolArray:
    """Find the sentences with words in gold that an output leaves empty, as a bracket parser may: bool (n,)."""
    return np.asarray((np.diff(system.word_offsets) == 0) & (np.diff(gold.word_offsets) > 0), np.bool_)


def complete(gold: _Words, system: _Words) -> tuple[_Words, BoolArray, BoolArray]:
    """Fill the sentences that a system leaves empty with gold's words, without heads; edges of graphs stay as they are.

    Returns:
        The system; which sentences it left empty, bool (n,); which words it has itself, bool (w,).
    """
    absent = left_empty(gold, system)
    if not absent.any():
        return system, absent, np.ones(len(system.forms), np.bool_)
    offsets = offsets_of(np.where(absent, np.diff(gold.word_offsets), np.diff(system.word_offsets)))
    present = ~absent[owners_of(offsets)]
    filled: dict[str, Any] = {}
    for name in _GRAPH_COLUMNS if isinstance(system, SemanticTreebank) else _COLUMNS:
        blank = {"heads": NO_HEAD, "lines": 0}.get(name, system.vocabulary.number("_"))
        filled[name] = np.full(len(present), blank, np.int64)
        filled[name][present] = getattr(system, name)
    if isinstance(system, ExpressionTreebank):
        filled["expression_words"] = np.flatnonzero(present)[system.expression_words]
    filled["forms"][~present] = gold.forms[absent[owners_of(gold.word_offsets)]]
    return replace(system, word_offsets=offsets, **filled), absent, present


def no_parses(system: DependencyTreebank, absent: BoolArray, cost: str) -> dict[int, Problem]:
    """Describe each sentence that the system leaves empty, and what this costs; or why it could not be read."""
    return {
        sentence: system.sentences.unreadable.get(sentence)
        or problem_at(
            system, "sentence-without-parse", f"Sentence {sentence + 1} of the output is empty: {cost}.", sentence
        )
        for sentence in np.flatnonzero(absent).tolist()
    }


def check_columns(treebank: DependencyTreebank, column: str, reader: str) -> None:
    """Check that a text has a column that the reader needs. Raises InputError: `column-missing`."""
    if column in treebank.sentences.lacking:
        detail = f"The text has no column {column}, which {reader} needs. Add it, or choose another metric."
        raise InputError(Problem("column-missing", detail))


def punctuation_of(treebank: DependencyTreebank) -> BoolArray:
    """Find the words whose characters are all in Unicode category P: bool (w,)."""
    return treebank.vocabulary.table(treebank.forms, is_punctuation)[treebank.forms] > 0


def without_subtypes(treebank: DependencyTreebank) -> DependencyTreebank:
    """Return the treebank with relations that end at their first colon; `:x` becomes the empty string."""
    return replace(treebank, deprels=universal_relations(treebank))


def _other_length(gold: Words, system: Words, sentence: int) -> Problem:
    gold_length, length = (
        int(side.word_offsets[sentence + 1] - side.word_offsets[sentence]) for side in (gold, system)
    )
    statement, advice = f"Sentence {sentence + 1} has {counted(length, 'word')}", _advice(gold)
    detail = f"{statement}, which differs from gold. {advice}"
    first = int(system.word_offsets[sentence]) if length else None
    gold_detail = f"{statement}, gold has {gold_length}. {advice}"
    return problem_at(system, "word-count-mismatch", detail, sentence, first, None, gold_detail)


def _other_word(gold: Words, system: Words, word: int) -> Problem:
    sentence = int(np.searchsorted(gold.word_offsets, word, "right")) - 1
    position = word - int(gold.word_offsets[sentence]) + 1
    strings = gold.vocabulary.strings
    form, right = strings[system.forms[word]], strings[gold.forms[word]]
    statement, advice = f"Word {position} of sentence {sentence + 1} is {form!r}", _advice(gold)
    detail = f"{statement}; gold has another word there. {advice}"
    gold_detail = f"{statement}; gold has {right!r}.{told_apart(form, right)} {advice}"
    return problem_at(system, "word-mismatch", detail, sentence, word, 2, gold_detail)


def _advice(gold: Words) -> str:
    return _GRAPH_ADVICE if isinstance(gold, SemanticTreebank) else _ADVICE


def wrong_words(
    gold: DependencyTreebank, system: DependencyTreebank, wrong: BoolArray, start: int, stop: int
) -> columns.Lists:
    """Return the wrong words of each sentence from `start` to `stop`, with heads and relations of both sides.

    Args:
        gold: the gold treebank.
        system: an output with the same words.
        wrong: the words to list, bool (w,).
        start: the first sentence.
        stop: the sentence after the last.
    """
    offsets = gold.word_offsets[start : stop + 1]
    words = np.flatnonzero(wrong[offsets[0] : offsets[-1]]) + offsets[0]
    vocabulary = gold.vocabulary
    members: dict[str, columns.Column] = {
        "word": columns.places_of(words, gold)[1],
        "form": columns.strings_of(system.forms[words], vocabulary),
        "gold_head": columns.heads_as_written(gold.heads[words], vocabulary),
        "system_head": columns.heads_as_written(system.heads[words], vocabulary),
        "gold_deprel": columns.strings_of(gold.deprels[words], vocabulary),
        "system_deprel": columns.strings_of(system.deprels[words], vocabulary),
    }
    return columns.listed(words, offsets, columns.Records(members))


def unreadable_of(treebank: DependencyTreebank) -> BoolArray:
    """Return which sentences could not be read, bool (n,)."""
    found = np.zeros(len(treebank), np.bool_)
    found[list(treebank.sentences.unreadable)] = True
    return found


def first_unreadable(treebank: DependencyTreebank, cap: int) -> list[Problem]:
    """Return why sentences could not be read, of the first `cap` of them."""
    unreadable = treebank.sentences.unreadable
    return [unreadable[sentence] for sentence in sorted(unreadable)[:cap]]


def words_to_score(treebank: DependencyTreebank) -> BoolArray:
    """Return the words of sentences that could be read, bool (w,). Only heads are wrong of those that have others."""
    return np.asarray(~unreadable_of(treebank)[owners_of(treebank.word_offsets)], np.bool_)


def without_unreadable(treebank: DependencyTreebank) -> DependencyTreebank:
    """Return a treebank in which the sentences that could not be read are empty."""
    kept = words_to_score(treebank)
    if kept.all():
        return treebank
    shift = offsets_of(kept.astype(np.int64))
    masks = {
        _COLUMNS: kept,
        ("mwt_starts", "mwt_ends", "mwt_forms", "mwt_misc"): kept[treebank.mwt_starts],
        ("empty_after", "empty_ids", "empty_forms", "empty_deps", "empty_lines", "empty_sentences"): (
            ~unreadable_of(treebank)[treebank.empty_sentences]
        ),
    }
    left: dict[str, Any] = {name: getattr(treebank, name)[mask] for names, mask in masks.items() for name in names}
    left |= {name: shift[left[name]] for name in ("mwt_starts", "mwt_ends", "empty_after")}
    if isinstance(treebank, ExpressionTreebank):
        left |= _expressions_of(treebank, kept, shift)
    return replace(treebank, word_offsets=shift[treebank.word_offsets], **left)


def _expressions_of(treebank: ExpressionTreebank, kept: BoolArray, shift: IntArray) -> dict[str, IntArray]:
    lengths = np.diff(treebank.expression_offsets)
    whole = kept[treebank.expression_words[treebank.expression_offsets[:-1]]]
    return {
        "expression_words": shift[treebank.expression_words[np.repeat(whole, lengths)]],
        "expression_offsets": offsets_of(lengths[whole]),
        "expression_ids": treebank.expression_ids[whole],
        "categories": treebank.categories[whole],
    }


def marks_of_all(marks: Marks | None, treebank: DependencyTreebank) -> Marks | None:
    """Return marks of `without_unreadable(treebank)` as those of the treebank: the words that it lacks stand alone."""
    kept = words_to_score(treebank)
    if marks is None or kept.all():
        return marks
    system = np.full(len(kept), int(MarkState.ALONE), np.int64)
    system[kept] = marks.system
    partners = np.full(len(kept), NO_PARTNER, np.int64)
    partners[kept] = np.arange(len(marks.system)) if marks.partners is None else marks.partners
    firsts = None if marks.firsts is None else np.append(np.flatnonzero(kept), len(kept))[marks.firsts]
    return replace(marks, system=system, partners=partners, firsts=firsts)


def with_words_of_gold(gold: DependencyTreebank, system: DependencyTreebank) -> DependencyTreebank:
    """Give the sentences that could not be read gold's words and multiword tokens, so that the texts can be aligned.

    An output with another number of sentences is returned as it is: which of gold's stand there is not known.
    """
    if not system.sentences.unreadable or len(gold) != len(system):
        return system
    filled, absent, _ = complete(gold, system)
    own, starts = _tokens(system, filled, ~absent)
    golds, gold_starts = _tokens(gold, filled, absent)
    order = np.argsort(np.concatenate([starts, gold_starts]), kind="stable")

    def joined(mine: IntArray, others: IntArray) -> IntArray:
        return np.concatenate([mine[own], others[golds]])[order]

    begins = np.concatenate([starts, gold_starts])[order]
    ends = begins + joined(system.mwt_ends - system.mwt_starts, gold.mwt_ends - gold.mwt_starts)
    forms, misc = joined(system.mwt_forms, gold.mwt_forms), joined(system.mwt_misc, gold.mwt_misc)
    return replace(filled, mwt_starts=begins, mwt_ends=ends, mwt_forms=forms, mwt_misc=misc)


def _tokens(side: DependencyTreebank, filled: DependencyTreebank, chosen: BoolArray) -> tuple[BoolArray, IntArray]:
    """Return which multiword tokens stand in the chosen sentences, and where they begin in the filled treebank."""
    owners = np.searchsorted(side.word_offsets, side.mwt_starts, "right") - 1
    kept = chosen[owners]
    owners = owners[kept]
    return kept, side.mwt_starts[kept] - side.word_offsets[owners] + filled.word_offsets[owners]


Row = dict[str, Json]
AGREES = "="
"""Stands in a column of the output where it agrees with gold."""


def members(*names: str) -> Callable[[Mapping[str, Json]], Iterator[str]]:
    """Return a function that gives those of these members of a row that it has."""

    def values(row: Mapping[str, Json]) -> Iterator[str]:
        return (str(row[name]) for name in names if row.get(name) is not None)

    return values


DEPRELS = members("gold_deprel", "system_deprel")
UPOS = members("upos")


def upos_of(gold: DependencyTreebank, item: int, word: int) -> str:
    """Return the part of speech of a word of gold: sentence and word from 1."""
    return str(gold.vocabulary.strings[gold.upos[gold.word_offsets[item - 1] + word - 1]])


def kind_of(row: Mapping[str, Json]) -> str:
    """Return what is wrong of a word whose heads are numbered alike on both sides."""
    head, relation = (row[f"gold_{name}"] != row[f"system_{name}"] for name in ("head", "deprel"))
    return "head and relation" if head and relation else "head" if head else "relation"


def attachment_rows(words: list[Row], gold: DependencyTreebank, item: int) -> Iterator[Row]:
    """Return the wrong words of a sentence whose words are gold's, with kind and part of speech."""
    for row in words:
        first = {"kind": kind_of(row), "word": row["word"], "form": row["form"]}
        yield {**first, "upos": upos_of(gold, item, row["word"]), **row}


def named_words(gold: DependencyTreebank, item: int) -> Iterator[tuple[int, Row]]:
    """Return each word of a sentence of gold, from 1: its number in the text, from 0, and the row that names it."""
    start, stop = gold.word_offsets[item - 1 : item + 1].tolist()
    strings = gold.vocabulary.strings
    for at in range(start, stop):
        yield at, {"word": at - start + 1, "form": strings[gold.forms[at]], "upos": strings[gold.upos[at]]}


def words_beside(gold: DependencyTreebank, item: int, errors: Iterable[Row]) -> Iterator[Row]:
    """Return every word of a sentence of gold, from 1, with what the output has where there is an error of it."""
    wrong = {row["word"]: row for row in errors}
    right = {"system_head": AGREES, "system_deprel": AGREES, "kind": ""}
    for at, named in named_words(gold, item):
        [head] = columns.heads_as_written(gold.heads[at : at + 1], gold.vocabulary).documents(0, 1)
        error = wrong.get(named["word"], right)
        system = {name: error.get(name) for name in ("system_head", "system_deprel")}
        arc = {"gold_head": str(head), "gold_deprel": gold.vocabulary.strings[gold.deprels[at]]}
        yield {**named, **arc, **system, "error": error["kind"]}


SentenceValues = Sequence[str | int | None]


def sentence_tables(
    table: ScoreTable, rows: IntArray, groupings: Mapping[str, SentenceValues]
) -> dict[str, columns.Documents]:
    """Return a table for each grouping (name -> value of each sentence) of the rows (n, k)."""
    groups = {name: numbered_values(values) for name, values in groupings.items()}
    return {name: grouped_sentences(table, rows, *numbered, {}) for name, numbered in groups.items()}


def numbered_values(values: SentenceValues, mask: BoolArray | None = None) -> tuple[list[str | int], IntArray]:
    """Group sentences that share a value, and are in `mask`, bool (n,).

    Returns:
        The values in order; and the group of each sentence, int64 (n,). That of sentences without a value, or not in
        `mask`, is the number of values.
    """
    if mask is not None:
        values = [value if keep else None for value, keep in zip(values, mask.tolist(), strict=True)]
    used = sorted((value for value in set(values) if value is not None), key=lambda each: (isinstance(each, str), each))
    group_of = {value: number for number, value in enumerate(used)}
    return used, np.array([len(used) if value is None else group_of[value] for value in values], np.int64)


def grouped_sentences(
    table: ScoreTable, rows: IntArray, used: Sequence[str | int], groups: IntArray, more: Mapping[str, columns.Column]
) -> columns.Documents:
    """Sum the rows of each group of `numbered`: a row per value, with the number of `sentences` and further members."""
    size = len(used) + 1
    counts, scores = columns.counts_and_scores(table, sums_of_rows(groups, size, rows)[:-1])
    return columns.rows_of(
        columns.column_of(used), counts, scores, sentences=columns.Numbers(sums_by(groups, size)[:-1]), **more
    )


def attributes_of(
    treebank_attributes: Mapping[str, Sequence[str | None]], items: ItemInfo
) -> dict[str, SentenceValues]:
    """Join the sentence attributes of a text and of the request; the request overrides the text."""
    return {**treebank_attributes, **items.attributes}


_CONLL18_HEAD = (
    "Metric     | Precision |    Recall |  F1 Score | AligndAcc",
    "-----------+-----------+-----------+-----------+-----------",
)


def conll18_table(titles: Mapping[str, str], counts: Mapping[str, int]) -> str:
    """Return the table of the rows of these titles, byte for byte.

    Each row has the counts `ROW.correct`, `ROW.gold`, `ROW.system` and, where there are, `ROW.aligned`.
    """
    lines = [*_CONLL18_HEAD]
    for row, title in titles.items():
        correct, gold, system = (counts[f"{row}.{name}"] for name in ("correct", "gold", "system"))
        cells = [_percent(correct, system), _percent(correct, gold), _percent(2 * correct, gold + system)]
        aligned = counts.get(f"{row}.aligned")
        accuracy = "" if aligned is None else _percent(correct, aligned)
        lines.append(f"{title:11}|" + "|".join(f"{cell} " for cell in cells) + f"|{accuracy}")
    return "\n".join(lines) + "\n"


def _percent(numerator: int, denominator: int) -> str:
    return f"{100 * (numerator / denominator if denominator else 0.0):10.2f}"


def aligned_text(rows: Sequence[Sequence[str]], *, right: int) -> str:
    """Print a table whose columns are two spaces apart, the first ones aligned at their right ends."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        [cell.rjust(width) if place < right else cell.ljust(width) for place, (cell, width) in enumerate(cells)]
        for cells in (zip(row, widths, strict=True) for row in rows)
    )
    return "".join("  ".join(line).rstrip(" ") + "\n" for line in lines)
