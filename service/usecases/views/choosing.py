"""Choose sentences by their errors, relations and words, and show them in pages.

Items are chosen as trees are. A page for people shows a window, which is one chosen sentence among those around it,
where the API lists page by page.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import orjson

from service.contract.common import TreeChoice
from service.errors import NotFound, Unprocessable
from service.usecases import access, runs
from service.usecases.views.documents import Document, Outline, OutputTrees
from service.usecases.views.text import CONSTITUENTS, DEPENDENCIES, DISCONTINUOUS, GRAPH, OF_ERRORS, Text, wrong_units
from treescore.core.arrays import BoolArray, IntArray, offsets_of
from treescore.core.registry import MarkState

_INVALID = "Invalid cursor. Use the `next` value of the previous page."
DIFFERS = "differs from"
"""In the owner of a cursor: only some sentences are listed."""
_LABELS = {DEPENDENCIES: "deprels", CONSTITUENTS: "labels", DISCONTINUOUS: "labels", GRAPH: "roles"}
"""What the column of labels is called in each kind of trees; links have none."""


def chosen_sentences(
    trees: OutputTrees, choice: TreeChoice, *, beside_gold: bool, only: BoolArray | None = None
) -> IntArray:
    """Return the chosen sentences, from 0, in the asked order.

    Args:
        trees: of the output.
        choice: what is asked of the sentences.
        beside_gold: whether sentences are gold's and errors of both sides count; else they are the output's own, and
            so are their errors.
        only: the sentences that count at all, bool (n,); None: all.
    """
    text = trees.gold if beside_gold else trees.text
    chosen: BoolArray = np.ones(len(text), np.bool_) if only is None else only.copy()
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
    return trees.errors[f"{'item' if beside_gold else 'own'}_{kind}"]


def _with_words(text: Text, asked: str) -> BoolArray:
    """Return the sentences in whose words, with a space between them, a text stands."""
    wanted = " ".join(asked.casefold().split())
    if not text.has("forms"):
        return np.zeros(len(text), np.bool_)
    numbers, offsets = text.numbers("forms"), text.offsets("words")
    distinct, of_each = np.unique(numbers, return_inverse=True)
    strings = [text.strings[number].casefold() for number in distinct.tolist()]
    if " " not in wanted:
        has = np.array([wanted in string for string in strings], np.bool_)
        return _any_in(has[of_each], offsets)
    words = [strings[number] for number in of_each.tolist()]
    bounds = pairwise(offsets.tolist())
    return np.array([wanted in " ".join(words[start:stop]) for start, stop in bounds], np.bool_)


def _with_label(trees: OutputTrees, label: str, wrong: str | None, *, beside_gold: bool) -> BoolArray:
    """Return the sentences in which a unit has a label; where a kind of error is asked, one that is wrong so."""
    units = _labelled(trees.text, label)
    if wrong is not None:
        units &= _wrong(trees.system_states, wrong, len(units), beside_gold=beside_gold)
    if not beside_gold:
        return _any_in(units, trees.text.units)
    of_gold = _labelled(trees.gold, label)
    if wrong is not None:
        of_gold &= _wrong(trees.gold_states, wrong, len(of_gold), beside_gold=True)
    return _any_in(of_gold, trees.gold.units) | _chosen_items(trees, units)


def _chosen_items(trees: OutputTrees, units: BoolArray) -> BoolArray:
    """Return which of gold's sentences have one of the output's chosen units."""
    fit = trees.fit
    if fit is not None and fit.sizes is not None:
        return _any_in(units, trees.text.units_from(offsets_of(fit.sizes)))
    own = _any_in(units, trees.text.units)
    if fit is None:
        return own
    sentences = fit.sentences
    return np.asarray((sentences >= 0) & np.append(own, False)[np.minimum(sentences, len(own))], np.bool_)


def _wrong(states: IntArray, kind: str, size: int, *, beside_gold: bool) -> BoolArray:
    if not len(states):
        return np.zeros(size, np.bool_)
    wrong = wrong_units(states, kind)
    return wrong if beside_gold else np.asarray(wrong & (states != MarkState.ALONE), np.bool_)


def _labelled(text: Text, label: str) -> BoolArray:
    """Return the units of a text that have a label, or a subtype of it (`nmod` and `nmod:poss`)."""
    name = _LABELS.get(text.kind)
    if name is None:
        return np.zeros(int(text.units[-1]), np.bool_)
    distinct, of_each = np.unique(text.numbers(name), return_inverse=True)
    strings = [text.strings[number] if number >= 0 else "" for number in distinct.tolist()]
    wanted = [string.startswith(label) and string[len(label) :][:1] in ("", ":") for string in strings]
    return np.asarray(np.array(wanted, np.bool_)[of_each], np.bool_)


def _any_in(units: BoolArray, offsets: IntArray) -> BoolArray:
    before = np.concatenate([[0], np.cumsum(units)])
    return np.asarray(before[offsets[1:]] > before[offsets[:-1]], np.bool_)


def differing(one: OutputTrees, other: OutputTrees) -> BoolArray:
    """Return the sentences of gold in which two outputs are not right and wrong alike, bool (n,).

    They are where one of gold's words, constituents, edges or links is right in one output only or wrong in another
    way, or where the numbers of errors differ.
    """
    differs = _any_in(one.gold_states != other.gold_states, one.gold.units)
    for kind in OF_ERRORS:
        counts = [errors_in(each, kind, beside_gold=True) for each in (one, other)]
        differs |= counts[0] != counts[1]
    return differs


ROWS_PER_ANSWER = 100_000
"""Words, spans and links of one answer; it ends after the sentence that passes them."""
TREES_NOT_KEPT = "No trees are stored for it: the output has not been read yet, or could not be read."


@dataclass(frozen=True, slots=True)
class Asked:
    """Which sentences of an output are asked for.

    Attributes:
        owner: of the output's trees, and what else tells its cursors from those of others.
        choice: what is asked of the sentences.
        item: number of the one sentence, from 1; then nothing else is asked.
        cursor, limit: of the page.
        revision: what else tells the cursors of gold's sentences from those of others.
    """

    owner: tuple[str, ...]
    choice: TreeChoice
    cursor: str | None
    limit: int
    item: int | None = None
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """Sentences of one page, from 0, and the cursor after any number of them."""

    sentences: Sequence[int]
    start: int
    tag: str
    more: bool

    def page(self, shown: Sequence[Document]) -> runs.Page:
        """Return the page of the first of the sentences, as they are shown."""
        number = self.start + len(shown)
        cursor = f"{number}.{self.tag}" if self.tag else str(number)
        return runs.Page(shown, cursor if self.more or len(shown) < len(self.sentences) else None)


def listed(trees: OutputTrees, asked: Asked, *, beside_gold: bool, only: BoolArray | None = None) -> Listed:
    """Return the sentences of a page.

    Args:
        trees: of the output.
        asked: which sentences are chosen.
        beside_gold: whether sentences are gold's, else the output's own.
        only: the sentences that count at all, bool (n,); None: all.

    Raises:
        NotFound: the output has no sentence of this number.
        Unprocessable: the cursor is invalid.
    """
    size = len(trees.gold if beside_gold else trees.text)
    if asked.item is not None:
        if asked.item > size:
            raise NotFound(f"Unknown item {asked.item}. There are {size}.")
        return Listed([asked.item - 1], 0, "", more=False)
    tag, start = "", 0
    if not asked.choice.everything or DIFFERS in asked.owner:
        choice, side = asked.choice, "gold" if beside_gold else "own"
        read_under = (asked.revision,) if beside_gold and asked.revision is not None else ()
        about = [*asked.owner, *read_under, side, choice.wrong, choice.label, choice.q, choice.order]
        tag = f"{zlib.crc32(orjson.dumps(about)):08x}"
    if asked.cursor is not None:
        number, _, found_tag = asked.cursor.partition(".") if tag else (asked.cursor, "", "")
        if found_tag != tag:
            raise Unprocessable(_INVALID)
        start = access.item_number(number)
    stop = start + asked.limit
    if not tag:
        return Listed(range(min(start, size), min(stop, size)), start, tag, more=stop < size)
    found = chosen_sentences(trees, asked.choice, beside_gold=beside_gold, only=only)
    return Listed(found[start:stop].tolist(), start, tag, more=stop < len(found))


def tree_page(found: Listed, document_of: Callable[[int], Document]) -> runs.Page:
    """Return the documents of a page's sentences, as many as one answer may hold."""
    documents: list[Document] = []
    rows = 0
    for sentence in found.sentences:
        if documents and rows > ROWS_PER_ANSWER:
            break
        documents.append(document_of(sentence))
        rows += sum(len(value) for value in documents[-1].values() if isinstance(value, list))
    return found.page(documents)


BEFORE, AROUND = 5, 16
"""Sentences of the window before the current one, and in all."""


@dataclass(frozen=True, slots=True)
class Window:
    """Some of the chosen sentences, in their order.

    Attributes:
        current: the sentence that is looked at; None where nothing is chosen.
        around: those around it, itself among them if it is chosen.
        position: of the current sentence among the chosen ones, from 1; None where it is not one of them.
        total: of the chosen sentences.
        before, after: items of the neighbours of the current one.
        size: of all sentences, chosen or not.
    """

    current: Document | None
    around: Sequence[Outline]
    position: int | None
    total: int
    before: int | None
    after: int | None
    size: int


def window(
    trees: OutputTrees,
    asked: Asked,
    document_of: Callable[[int], Document],
    outline_of: Callable[[int], Outline],
    *,
    beside_gold: bool,
    only: BoolArray | None = None,
) -> Window:
    """Return the asked sentence, by default the first of the chosen ones, and those around it.

    Args:
        trees: of the output.
        asked: which sentences are chosen, and which of them is looked at: of a number beyond the last one, the last.
        document_of: shows the sentence that is looked at, from 0.
        outline_of: shows one in the list.
        beside_gold: whether sentences are gold's, else the output's own.
        only: the sentences that count at all, bool (n,); None: all.
    """
    found = chosen_sentences(trees, asked.choice, beside_gold=beside_gold, only=only)
    size = len(trees.gold if beside_gold else trees.text)
    if asked.item is not None and size:
        wanted = min(asked.item, size) - 1
    elif len(found):
        wanted = int(found[0])
    else:
        return Window(None, (), None, 0, None, None, size)
    at = np.flatnonzero(found == wanted)
    place = int(at[0]) if len(at) else None
    start = max(0, min((place or 0) - BEFORE, len(found) - AROUND))
    errors = errors_in(trees, "any", beside_gold=beside_gold)
    expressions = not trees.beside_gold and trees.errors is not None
    around = [(outline_of(number), int(errors[number])) for number in found[start : start + AROUND].tolist()]
    return Window(
        document_of(wanted),
        [
            replace(outline, errors=count) if expressions or outline.marks is not None else outline
            for outline, count in around
        ],
        None if place is None else place + 1,
        len(found),
        int(found[place - 1]) + 1 if place else None,
        int(found[place + 1]) + 1 if place is not None and place + 1 < len(found) else None,
        size,
    )
