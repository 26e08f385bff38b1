"""Compare gold and output word by word, and describe where they differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treescore.core.arrays import BoolArray, offsets_of, owners_of
from treescore.core.columns import Column, Lists, Records, listed
from treescore.core.counting import counted
from treescore.core.text import is_punctuation
from treescore.core.treebank_columns import heads_as_written, places_of, strings_of
from treescore.core.trees import NO_HEAD, DependencyTreebank, SemanticTreebank
from treescore.errors import InputError, Problem
from treescore.metrics.shared.relations import universal_relations

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
    found = f"Gold has another form or part of speech at {counted(len(differing), 'word')}, first at {place}."
    return [
        Problem(
            "other-words",
            f"Words differ from gold in form or part of speech. {scored}",
            sentence=sentence + 1,
            sent_id=sent_ids[sentence] if len(sent_ids) else None,
            line=int(system.lines[word]) or None,
            column=next(column for column, differs in columns if differs[word]),
            gold_detail=f"{found} {scored}",
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


def no_parse(system: DependencyTreebank, sentence: int, cost: str) -> Problem:
    """Describe a sentence that the system leaves empty, and what this costs; or why it could not be read."""
    if sentence in system.sentences.unreadable:
        return system.sentences.unreadable[sentence]
    sent_ids = system.sentences.sent_ids
    detail = f"Sentence {sentence + 1} of the output is empty: {cost}."
    return Problem(
        "sentence-without-parse", detail, sentence=sentence + 1, sent_id=sent_ids[sentence] if len(sent_ids) else None
    )


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
    form = strings[system.forms[word]]
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
        gold_detail=f"{statement}; gold has {strings[gold.forms[word]]!r}. {advice}",
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
