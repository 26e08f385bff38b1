"""Words of two tokenizations of one text, aligned by the characters that they cover."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import numpy as np

from scoring.arrays import BoolArray, IntArray, owners_of, sums_by
from scoring.errors import Problem, ProblemList
from scoring.trees import DependencyTreebank

UNALIGNED = -1

_Span = tuple[int, int, str, int]
"""First and last character; for words of a multiword token also the form and how often it stood there before."""


def partners_of(gold: DependencyTreebank, system: DependencyTreebank, cap: int) -> IntArray:
    """The gold word that covers the same characters as each system word, UNALIGNED for none: int64 (system words,).

    Sentences have equal numbers on both sides, and each the same characters; spaces do not count. Words of a
    multiword token share its characters: those with equal forms (letter case aside) are partners, in order.

    Raises:
        InputError: `text-mismatch` for each sentence with other characters.
    """
    partners = np.full(len(system.forms), UNALIGNED, np.int64)
    same = _same_words(gold, system)
    plain = same[owners_of(system.word_offsets)]
    partners[plain] = np.flatnonzero(same[owners_of(gold.word_offsets)])
    problems = ProblemList(cap)
    for sentence in np.flatnonzero(~same).tolist():
        gold_text, gold_words = _words(gold, sentence)
        text, words = _words(system, sentence)
        if gold_text != text:
            problems.add(_other_text(gold, system, sentence, gold_text, text))
            continue
        places = dict(gold_words)
        for span, word in words:
            partners[word] = places.get(span, UNALIGNED)
    problems.raise_if_any()
    return partners


def _same_words(gold: DependencyTreebank, system: DependencyTreebank) -> BoolArray:
    """Sentences with the same words and multiword tokens on both sides: bool (n,)."""
    same = np.asarray(np.diff(gold.word_offsets) == np.diff(system.word_offsets), np.bool_)
    owners, system_owners = owners_of(gold.word_offsets), owners_of(system.word_offsets)
    multi, system_multi = owners[gold.mwt_starts], system_owners[system.mwt_starts]
    same &= sums_by(multi, len(gold)) == sums_by(system_multi, len(gold))
    kept, system_kept = same[owners], same[system_owners]
    differs = gold.forms[kept] != system.forms[system_kept]
    kept_multi, system_kept_multi = same[multi], same[system_multi]
    multi_differs = np.zeros(int(kept_multi.sum()), np.bool_)
    for column, system_column in zip(_tokens_inside(gold, multi), _tokens_inside(system, system_multi), strict=True):
        multi_differs |= column[kept_multi] != system_column[system_kept_multi]
    same[owners[kept][differs]] = False
    same[multi[kept_multi][multi_differs]] = False
    return same


def _tokens_inside(treebank: DependencyTreebank, owners: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Multiword tokens by their place inside their sentence: starts, ends, forms."""
    first = treebank.word_offsets[owners]
    return treebank.mwt_starts - first, treebank.mwt_ends - first, treebank.mwt_forms


def _words(treebank: DependencyTreebank, sentence: int) -> tuple[str, list[tuple[_Span, int]]]:
    """The sentence's characters, and each word with its span."""
    strings = treebank.vocabulary.strings
    text: list[str] = []
    found: list[tuple[_Span, int]] = []
    length = 0
    for form, first, last in _tokens(treebank, sentence):
        characters = _without_spaces(strings[form])
        text.append(characters)
        end = length + len(characters)
        if last - first == 1 and form == treebank.forms[first]:
            found.append(((length, end, "", 0), first))
        else:
            seen: dict[str, int] = {}
            for word in range(first, last):
                lower = strings[int(treebank.forms[word])].lower()
                found.append(((length, end, lower, seen.setdefault(lower, 0)), word))
                seen[lower] += 1
        length = end
    return "".join(text), found


def _tokens(treebank: DependencyTreebank, sentence: int) -> Iterator[tuple[int, int, int]]:
    """Surface form and range of words of each token."""
    start, end = treebank.word_offsets[sentence : sentence + 2].tolist()
    first, last = np.searchsorted(treebank.mwt_starts, [start, end]).tolist()
    multi = {
        int(treebank.mwt_starts[token]): (int(treebank.mwt_ends[token]), int(treebank.mwt_forms[token]))
        for token in range(first, last)
    }
    word = start
    while word < end:
        after, form = multi.get(word, (word + 1, int(treebank.forms[word])))
        yield form, word, after
        word = max(after, word + 1)


def _without_spaces(form: str) -> str:
    return "".join(character for character in form if unicodedata.category(character) != "Zs")


def _other_text(
    gold: DependencyTreebank, system: DependencyTreebank, sentence: int, gold_text: str, text: str
) -> Problem:
    place = next((k for k, (a, b) in enumerate(zip(gold_text, text, strict=False)) if a != b), None)
    place = min(len(gold_text), len(text)) if place is None else place
    start = int(system.word_offsets[sentence])
    sent_ids = gold.sentences.sent_ids
    where = f"Sentence {sentence + 1} has other characters than gold, from character {place + 1} on (spaces aside)"
    found = text[place : place + 20]
    detail = f"{where}: {found!r}. Parse gold's own text, every word once." if found else f"{where}: it ends there."
    return Problem(
        code="text-mismatch",
        sentence=sentence + 1,
        sent_id=sent_ids[sentence] if len(sent_ids) else None,
        line=int(system.lines[start]) or None if start < len(system.lines) else None,
        detail=detail,
        gold_detail=f"{detail} Gold has {gold_text[place : place + 20]!r}.",
    )
