"""Choose sentences by their errors, relations and words, from what workers have stored of their trees."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import orjson

from service.errors import Unprocessable
from service.requests import TreeChoice
from service.usecases.access.access import item_number
from service.usecases.trees.reading import StoredPage, StoredText, joined
from service.usecases.trees.sentences import OutputTrees
from service.usecases.trees.writing import OF_ERRORS, wrong_units
from treescore.core.arrays import BoolArray, IntArray, offsets_of
from treescore.core.marks import State

_INVALID = "Invalid cursor. Use the `next` value of the previous page."
DIFFERS = "differs from"
"""In the owner of a cursor: only some sentences are listed."""
_LISTS = (("deprels", "words"), ("labels", "nodes"), ("roles", "edges"), ("sources", "links"))
"""What labels are called in a page, and the list of the units that have them."""


def chosen_sentences(trees: OutputTrees, choice: TreeChoice, *, beside_gold: bool) -> IntArray:
    """Return the chosen sentences, from 0, in the asked order.

    Args:
        trees: of the output.
        choice: what is asked of the sentences.
        beside_gold: whether sentences are gold's and errors of both sides count; else they are the output's own, and
            so are their errors.
    """
    text = trees.gold if beside_gold else trees.text
    chosen: BoolArray = np.ones(len(text), np.bool_)
    if choice.q is not None:
        chosen &= _with_words(text, choice.q)
    if choice.label is not None:
        chosen &= _with_label(trees, choice.label, choice.wrong, beside_gold=beside_gold)
    elif choice.wrong is not None:
        chosen &= errors_in(trees, choice.wrong, beside_gold=beside_gold) > 0
    found = np.flatnonzero(chosen)
    if choice.order is not None:
        found = found[np.argsort(-errors_in(trees, "any", beside_gold=beside_gold)[found], kind="stable")]
    return found


def errors_in(trees: OutputTrees, kind: str, *, beside_gold: bool) -> IntArray:
    """Return the number of errors of a kind in each sentence, zeros where the output was not compared with gold."""
    if trees.errors is None:
        return np.zeros(len(trees.text), np.int64)
    return trees.errors.arrays[f"{'item' if beside_gold else 'own'}_{kind}"].astype(np.int64)


def tag_of(choice: TreeChoice, *owner: str) -> str:
    """Return what tells the cursors of a choice from those of others; empty where all sentences are listed.

    Args:
        choice: what is asked of the sentences.
        owner: whose sentences they are, and what else is asked.
    """
    if choice.everything and DIFFERS not in owner:
        return ""
    asked = [*owner, choice.wrong, choice.label, choice.q, choice.order]
    return f"{zlib.crc32(orjson.dumps(asked)):08x}"


def start_of(cursor: str | None, tag: str) -> int:
    """Return how many sentences come before a page, of those of the choice with this tag.

    Raises:
        Unprocessable: the cursor is invalid, or belongs to another choice.
    """
    if cursor is None or not tag:
        return item_number(cursor)
    number, _, found = cursor.partition(".")
    if found != tag:
        raise Unprocessable(_INVALID)
    return item_number(number)


def cursor_of(number: int, tag: str) -> str:
    """Return the cursor of the page after `number` sentences of a choice."""
    return f"{number}.{tag}" if tag else str(number)


def _with_words(text: StoredText, asked: str) -> BoolArray:
    wanted = " ".join(asked.casefold().split())
    found = [_words_in(page, wanted) for page in text.pages()]
    return np.concatenate(found) if found else np.zeros(0, np.bool_)


def _words_in(page: StoredPage, wanted: str) -> BoolArray:
    """Return the sentences of a page in whose words, with a space between them, a text stands."""
    if not page.has("forms"):
        return np.zeros(len(page), np.bool_)
    strings = [string.casefold() for string in page.named.strings]
    numbers, offsets = page.named.arrays["forms"], page.offsets("words")
    if " " not in wanted:
        has = np.array([wanted in string for string in strings] or [False], np.bool_)
        return _any_in(has[numbers], offsets)
    words = [strings[number] for number in numbers.tolist()]
    bounds = offsets.tolist()
    return np.array([wanted in " ".join(words[start:stop]) for start, stop in pairwise(bounds)], np.bool_)


def _with_label(trees: OutputTrees, label: str, wrong: str | None, *, beside_gold: bool) -> BoolArray:
    """Return the sentences in which a unit has a label; where a kind of error is asked, one that is wrong so."""
    own = list(trees.text.pages())
    units = _labelled(own, label)
    if wrong is not None:
        units &= _wrong(trees.marks.pages(), wrong, len(units), beside_gold=beside_gold)
    if not beside_gold:
        return _any_in(units, _offsets(own))
    golds = list(trees.gold.pages())
    of_gold = _labelled(golds, label)
    if wrong is not None:
        of_gold &= _wrong(trees.missed.pages(), wrong, len(of_gold), beside_gold=True)
    return _any_in(of_gold, _offsets(golds)) | _chosen_items(trees, units, _offsets(own))


def _chosen_items(trees: OutputTrees, units: BoolArray, offsets: IntArray) -> BoolArray:
    """Return which of gold's sentences have one of the output's chosen units."""
    arrays = {} if trees.fit is None else trees.fit.arrays
    if "units" in arrays:
        return _any_in(units, offsets_of(arrays["units"]))
    own = _any_in(units, offsets)
    if not arrays:
        return own
    sentences = arrays["sentences"]
    return np.asarray((sentences >= 0) & np.append(own, False)[np.minimum(sentences, len(own))], np.bool_)


def _wrong(pages: Iterator[StoredPage], kind: str, size: int, *, beside_gold: bool) -> BoolArray:
    states = [page.named.arrays["states"] for page in pages]
    if not states:
        return np.zeros(size, np.bool_)
    joined = np.concatenate(states)
    wrong = wrong_units(joined, kind)
    return wrong if beside_gold else np.asarray(wrong & (joined != State.ALONE), np.bool_)


def _labelled(pages: list[StoredPage], label: str) -> BoolArray:
    """Return the units of all pages that have a label, or a subtype of it (`nmod` and `nmod:poss`)."""
    found: list[BoolArray] = []
    for page in pages:
        for name, of in _LISTS:
            if of == "links" and page.has(name):
                found.append(np.zeros(len(page.named.arrays[name]), np.bool_))
            elif page.has(name):
                found.append(_labelled_strings(page.named.strings, label)[page.named.arrays[name]])
    return np.concatenate(found) if found else np.zeros(0, np.bool_)


def _labelled_strings(strings: Sequence[str], label: str) -> BoolArray:
    """Return which strings are a label or a subtype of it, bool (strings + 1,): the last stands for none."""
    wanted = np.zeros(len(strings) + 1, np.bool_)
    begin = [number for number, string in enumerate(strings) if string.startswith(label)]
    wanted[[number for number in begin if strings[number][len(label) :][:1] in ("", ":")]] = True
    return wanted


def _offsets(pages: list[StoredPage]) -> IntArray:
    """Return where the units of each sentence of all pages begin."""
    found = [page.named.arrays[f"of_{of}"] for page in pages for name, of in _LISTS if page.has(name)]
    lengths = np.concatenate(found) if found else np.zeros(sum(map(len, pages)), np.int64)
    return offsets_of(lengths)


def _any_in(units: BoolArray, offsets: IntArray) -> BoolArray:
    before = np.concatenate([[0], np.cumsum(units)])
    return np.asarray(before[offsets[1:]] > before[offsets[:-1]], np.bool_)


def differing(one: OutputTrees, other: OutputTrees) -> BoolArray:
    """Return the sentences of gold in which two outputs are not right and wrong alike, bool (n,).

    They are where one of gold's words, constituents, edges or links is right in one output only or wrong in another
    way, or where the numbers of errors differ.
    """
    states = [joined(each.missed.pages(), "states") for each in (one, other)]
    differs = _any_in(states[0] != states[1], _offsets(list(one.gold.pages())))
    for kind in OF_ERRORS:
        counts = [errors_in(each, kind, beside_gold=True) for each in (one, other)]
        differs |= counts[0] != counts[1]
    return differs
