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
from treescore.core.trees import NO_HEAD, DependencyTreebank
from treescore.errors import InputError, Problem

_ADVICE = "Let the parser parse gold's tokens; or, for outputs with their own tokenization, use the metric ud."


def check_same_words(gold: DependencyTreebank, system: DependencyTreebank, cap: int) -> None:
    """Check that both sides have the same words in the same sentences.

    Raises:
        InputError: `word-count-mismatch` for sentences of other length; if there are none, `word-mismatch`.
    """
    gold_lengths, system_lengths = np.diff(gold.word_offsets), np.diff(system.word_offsets)
    other_length = np.flatnonzero(gold_lengths != system_lengths)
    if len(other_length):
        raise InputError(
            [_other_length(gold, system, sentence) for sentence in other_length[:cap].tolist()], len(other_length)
        )
    other_words = np.flatnonzero(gold.forms != system.forms)
    if len(other_words):
        raise InputError([_other_word(gold, system, word) for word in other_words[:cap].tolist()], len(other_words))


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


def _other_length(gold: DependencyTreebank, system: DependencyTreebank, sentence: int) -> Problem:
    gold_length, length = (
        int(side.word_offsets[sentence + 1] - side.word_offsets[sentence]) for side in (gold, system)
    )
    start = int(system.word_offsets[sentence])
    sent_ids = system.sentences.sent_ids
    statement, advice = f"Sentence {sentence + 1} has {counted(length, 'word')}", _ADVICE
    detail = f"{statement}, which differs from gold. {advice}"
    return Problem(
        "word-count-mismatch",
        detail,
        sentence=sentence + 1,
        sent_id=sent_ids[sentence] if len(sent_ids) else None,
        line=int(system.lines[start]) or None if length else None,
        gold_detail=f"{statement}, gold has {gold_length}. {advice}",
    )


def _other_word(gold: DependencyTreebank, system: DependencyTreebank, word: int) -> Problem:
    sentence = int(np.searchsorted(gold.word_offsets, word, "right")) - 1
    position = word - int(gold.word_offsets[sentence]) + 1
    strings = gold.vocabulary.strings
    form = strings[system.forms[word]]
    sent_ids = system.sentences.sent_ids
    statement = f"Word {position} of sentence {sentence + 1} is {form!r}"
    detail = f"{statement}; gold has another word there. {_ADVICE}"
    return Problem(
        "word-mismatch",
        detail,
        sentence=sentence + 1,
        sent_id=sent_ids[sentence] if len(sent_ids) else None,
        line=int(system.lines[word]) or None,
        column=2,
        gold_detail=f"{statement}; gold has {strings[gold.forms[word]]!r}. {_ADVICE}",
    )


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
