"""Compare gold and output word by word, and show where they differ: errors of words, groups of sentences.

Relations are compared with or without their subtypes (`nsubj` of `nsubj:pass`). Sentences of an output that could not
be read have gold's words, where the format was asked to go on without them. Errors of words are rows for people, made
from the items that a metric shows of sentences; also here is the layout of conll18_ud_eval.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by, sums_of_rows
from treescore.core.columns import (
    Column,
    Documents,
    Lists,
    Numbers,
    Records,
    column_of,
    counts_and_scores,
    heads_as_written,
    listed,
    places_of,
    rows_of,
    strings_of,
)
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
    columns = ((2, gold.forms != system.forms), (4, gold.upos != system.upos))
    differing = np.flatnonzero((columns[0][1] | columns[1][1]) & present)
    if not len(differing):
        return []
    word = int(differing[0])
    sentence = int(np.searchsorted(gold.word_offsets, word, "right")) - 1
    sent_ids = system.sentences.sent_ids
    scored = "All words are scored by position, as in eval07.pl. Check that the output is of the same text."
    place = f"word {word - int(gold.word_offsets[sentence]) + 1} of sentence {sentence + 1}"
    forms = (system.vocabulary.strings[side.forms[word]] for side in (system, gold))
    found = f"Gold has another form or part of speech at {counted(len(differing), 'word')}, first at {place}."
    return [
        Problem(
            "other-words",
            f"Words differ from gold in form or part of speech. {scored}",
            sentence=sentence + 1,
            sent_id=sent_ids[sentence] if len(sent_ids) else None,
            line=int(system.lines[word]) or None,
            column=next(column for column, differs in columns if differs[word]),
            gold_detail=f"{found}{told_apart(*forms)} {scored}",
        )
    ]


def complete(gold: DependencyTreebank, system: DependencyTreebank) -> tuple[DependencyTreebank, BoolArray, BoolArray]:
    """Fill the sentences that a system leaves empty, as a bracket parser may, with gold's words without heads.

    Returns:
        The system; which sentences it left empty, bool (n,); which words it has itself, bool (w,).
    """
    lengths = np.diff(system.word_offsets)
    absent = np.asarray((lengths == 0) & (np.diff(gold.word_offsets) > 0), np.bool_)
    if not absent.any():
        return system, absent, np.ones(len(system.forms), np.bool_)
    offsets = offsets_of(np.where(absent, np.diff(gold.word_offsets), lengths))
    present = ~absent[owners_of(offsets)]
    missing = absent[owners_of(gold.word_offsets)]
    blank = system.vocabulary.number("_")
    columns: dict[str, Any] = {}
    for name in ("forms", "lemmas", "upos", "xpos", "feats", "heads", "deprels", "deps", "misc", "lines"):
        column = np.full(len(present), {"heads": NO_HEAD, "lines": 0}.get(name, blank), np.int64)
        column[present] = getattr(system, name)
        columns[name] = column
    columns["forms"][~present] = gold.forms[missing]
    return replace(system, word_offsets=offsets, **columns), absent, present


def no_parses(system: DependencyTreebank, absent: BoolArray, cost: str) -> dict[int, Problem]:
    """Describe each sentence that the system leaves empty, and what this costs; or why it could not be read."""
    unreadable, sent_ids = system.sentences.unreadable, system.sentences.sent_ids
    return {
        sentence: unreadable.get(sentence)
        or Problem(
            "sentence-without-parse", f"Sentence {sentence + 1} of the output is empty: {cost}.",
            sentence=sentence + 1, sent_id=sent_ids[sentence] if len(sent_ids) else None,
        )
        for sentence in np.flatnonzero(absent).tolist()
    }  # fmt: skip


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
    start = int(system.word_offsets[sentence])
    sent_ids = system.sentences.sent_ids
    statement, advice = f"Sentence {sentence + 1} has {counted(length, 'word')}", _advice(gold)
    detail = f"{statement}, which differs from gold. {advice}"
    return Problem(
        "word-count-mismatch",
        detail,
        sentence=sentence + 1,
        sent_id=sent_ids[sentence] if len(sent_ids) else None,
        line=int(system.lines[start]) or None if length else None,
        gold_detail=f"{statement}, gold has {gold_length}. {advice}",
    )


def _other_word(gold: Words, system: Words, word: int) -> Problem:
    sentence = int(np.searchsorted(gold.word_offsets, word, "right")) - 1
    position = word - int(gold.word_offsets[sentence]) + 1
    strings = gold.vocabulary.strings
    form, right = strings[system.forms[word]], strings[gold.forms[word]]
    sent_ids = system.sentences.sent_ids
    statement, advice = f"Word {position} of sentence {sentence + 1} is {form!r}", _advice(gold)
    detail = f"{statement}; gold has another word there. {advice}"
    return Problem(
        "word-mismatch",
        detail,
        sentence=sentence + 1,
        sent_id=sent_ids[sentence] if len(sent_ids) else None,
        line=int(system.lines[word]) or None,
        column=2,
        gold_detail=f"{statement}; gold has {right!r}.{told_apart(form, right)} {advice}",
    )


def _advice(gold: Words) -> str:
    return _GRAPH_ADVICE if isinstance(gold, SemanticTreebank) else _ADVICE


def wrong_words(gold: DependencyTreebank, system: DependencyTreebank, wrong: BoolArray, start: int, stop: int) -> Lists:
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
    members: dict[str, Column] = {
        "word": places_of(words, gold)[1],
        "form": strings_of(system.forms[words], vocabulary),
        "gold_head": heads_as_written(gold.heads[words], vocabulary),
        "system_head": heads_as_written(system.heads[words], vocabulary),
        "gold_deprel": strings_of(gold.deprels[words], vocabulary),
        "system_deprel": strings_of(system.deprels[words], vocabulary),
    }
    return listed(words, offsets, Records(members))


_COLUMNS = ("forms", "lemmas", "upos", "xpos", "feats", "heads", "deprels", "deps", "misc", "lines")


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
    tokens = kept[treebank.mwt_starts]
    nodes = ~unreadable_of(treebank)[treebank.empty_sentences]
    columns: dict[str, Any] = {name: getattr(treebank, name)[kept] for name in _COLUMNS}
    columns["word_offsets"] = shift[treebank.word_offsets]
    for name in ("mwt_starts", "mwt_ends", "mwt_forms", "mwt_misc"):
        columns[name] = getattr(treebank, name)[tokens]
    for name in ("mwt_starts", "mwt_ends"):
        columns[name] = shift[columns[name]]
    for name in ("empty_after", "empty_ids", "empty_deps", "empty_lines", "empty_sentences"):
        columns[name] = getattr(treebank, name)[nodes]
    columns["empty_after"] = shift[columns["empty_after"]]
    if isinstance(treebank, ExpressionTreebank):
        columns |= _expressions_of(treebank, kept, shift)
    return replace(treebank, **columns)


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
        column: IntArray = np.concatenate([mine, others])[order]
        return column

    lengths = system.mwt_ends - system.mwt_starts, gold.mwt_ends - gold.mwt_starts
    begins = joined(starts, gold_starts)
    return replace(
        filled,
        mwt_starts=begins,
        mwt_ends=begins + joined(lengths[0][own], lengths[1][golds]),
        mwt_forms=joined(system.mwt_forms[own], gold.mwt_forms[golds]),
        mwt_misc=joined(system.mwt_misc[own], gold.mwt_misc[golds]),
    )


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


def words_beside(gold: DependencyTreebank, item: int, wrong: Mapping[int, Mapping[str, Json]]) -> Iterator[Row]:
    """Return every word of a sentence of gold, with what the output has where it is wrong.

    Args:
        gold: the treebank.
        item: number of the sentence, from 1.
        wrong: word from 1 -> its error.
    """
    start, stop = (int(gold.word_offsets[place]) for place in (item - 1, item))
    strings = gold.vocabulary.strings
    for word in range(1, stop - start + 1):
        at = start + word - 1
        row: Row = {"word": word, "form": strings[gold.forms[at]], "upos": strings[gold.upos[at]]}
        row |= {"gold_head": _head(gold, at), "gold_deprel": strings[gold.deprels[at]]}
        error = wrong.get(word)
        if error is None:
            yield {**row, "system_head": AGREES, "system_deprel": AGREES, "error": ""}
        else:
            system = {name: error.get(name) for name in ("system_head", "system_deprel")}
            yield {**row, **system, "error": error["kind"]}


def _head(gold: DependencyTreebank, word: int) -> str:
    [head] = heads_as_written(gold.heads[np.array([word])], gold.vocabulary).documents(0, 1)
    return str(head)


SentenceValues = Sequence[str | int | None]


def sentence_tables(table: ScoreTable, rows: IntArray, groupings: Mapping[str, SentenceValues]) -> dict[str, Documents]:
    """Return a table for each grouping (name -> value of each sentence) of the rows (n, k)."""
    tables = {}
    for name, values in groupings.items():
        used, groups = numbered_values(values)
        tables[name] = grouped_sentences(table, rows, used, groups, {})
    return tables


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
    table: ScoreTable, rows: IntArray, used: Sequence[str | int], groups: IntArray, more: Mapping[str, Column]
) -> Documents:
    """Sum the rows of each group of `numbered`: a row per value, with the number of `sentences` and further members."""
    size = len(used) + 1
    counts, scores = counts_and_scores(table, sums_of_rows(groups, size, rows)[:-1])
    return rows_of(column_of(used), counts, scores, sentences=Numbers(sums_by(groups, size)[:-1]), **more)


def attributes_of(
    treebank_attributes: Mapping[str, Sequence[str | None]], items: ItemInfo
) -> dict[str, SentenceValues]:
    """Join the sentence attributes of a text and of the request; the request overrides the text."""
    return {**treebank_attributes, **items.attributes}


_CONLL18_HEAD = (
    "Metric     | Precision |    Recall |  F1 Score | AligndAcc",
    "-----------+-----------+-----------+-----------+-----------",
)


def conll18_table(rows: Iterable[str]) -> str:
    """Return the table of these rows, byte for byte."""
    return "\n".join([*_CONLL18_HEAD, *rows]) + "\n"


def conll18_row(title: str, row: str, counts: Mapping[str, int]) -> str:
    """Return the row of the counts `ROW.correct`, `ROW.gold`, `ROW.system` and, where there are, `ROW.aligned`."""
    correct, gold, system = (counts[f"{row}.{name}"] for name in ("correct", "gold", "system"))
    cells = [_percent(correct, system), _percent(correct, gold), _percent(2 * correct, gold + system)]
    aligned = counts.get(f"{row}.aligned")
    accuracy = "" if aligned is None else _percent(correct, aligned)
    return f"{title:11}|" + "|".join(f"{cell} " for cell in cells) + f"|{accuracy}"


def _percent(numerator: int, denominator: int) -> str:
    return f"{100 * (numerator / denominator if denominator else 0.0):10.2f}"
