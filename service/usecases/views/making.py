"""The views process's half: make the answers to questions from outputs, of which the last few are kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from service.context import Context
from service.contract.common import TreeChoice
from service.errors import NotFound
from service.usecases.scoring.gold import KeptGold
from service.usecases.views.choosing import TREES_NOT_KEPT, Asked, differing, listed, tree_page, window
from service.usecases.views.documents import Document, Outline, OutputTrees
from service.usecases.views import questions
from service.usecases.views.asking import Question
from service.usecases.views.live import LiveOutput
from service.usecases.views.questions import ErrorsHidden, NotComparable, Output, Sight, asked_of
from treescore.core.arrays import BoolArray

Stated = dict[str, Any]
"""A part of a question, as JSON."""
KEPT_WORDS = 150_000
"""Words of gold and outputs that are kept: some 700 bytes each. The last one always stays."""


class Maker:
    """Makes the answers to questions."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._live: OrderedDict[Output, LiveOutput] = OrderedDict()

    def make(self, question: Question) -> object:
        """Return the answer to a question.

        Raises:
            ServiceError: nothing can be shown; it says why.
        """
        asked = dict(question.asked)
        outputs = [_output(stored) for stored in asked.pop("outputs")]
        try:
            return _MAKERS[question.kind]([self._of(output) for output in outputs], **asked)
        except (ErrorsHidden, NotComparable) as refusal:
            return type(refusal).__name__

    def forget(self, owners: Container[str] | None) -> None:
        """Drop what is kept of some submissions and jobs; None: of all."""
        for output in [each for each in self._live if owners is None or each.owner in owners]:
            del self._live[output]

    def _of(self, output: Output) -> LiveOutput:
        live = self._live.pop(output, None)
        if live is None:
            live = LiveOutput(self._context, output, KeptGold(words=0))
        self._live[output] = live
        while len(self._live) > 1 and sum(each.words for each in self._live.values()) > KEPT_WORDS:
            self._live.popitem(last=False)
        return live


def _output(stored: Mapping[str, Any]) -> Output:
    revision = stored["revision"]
    return Output(**{**stored, "revision": None if revision is None else tuple(revision)})


def _items(outputs: Sequence[LiveOutput], metric: int, start: int, limit: int) -> object:
    return outputs[0].items(metric, range(start, start + limit))


def _numbered(outputs: Sequence[LiveOutput], metric: int, numbers: Sequence[Sequence[int]]) -> object:
    return [
        [item for number in each for item in output.items(metric, range(number, number + 1))]
        for output, each in zip(outputs, numbers, strict=True)
    ]


def _slices(outputs: Sequence[LiveOutput], metric: int, by: str | None) -> object:
    groupings = outputs[0].slices(metric)
    return sorted(groupings), [] if by is None else list(groupings.get(by, ()))


class _Seen:
    """The trees of an output as a caller sees them."""

    def __init__(self, live: LiveOutput, sight: Sight) -> None:
        self.trees: OutputTrees = live.trees if sight.compared else live.own_trees
        if not len(self.trees.text):
            raise NotFound(TREES_NOT_KEPT)
        self.gold = sight.gold
        self.beside_gold = sight.gold and self.trees.beside_gold
        self.marks = self.trees.beside_gold and self.trees.marked_by in sight.marked_by

    def require(self, choice: TreeChoice) -> None:
        """Check that sentences may be chosen so. Raises ErrorsHidden."""
        if choice.by_errors and not (self.gold or self.marks):
            raise ErrorsHidden

    def document(self, sentence: int) -> Document:
        """Return one sentence, from 0."""
        if self.beside_gold:
            return self.trees.both(sentence)
        alone = self.trees.beside_expressions if self.gold else self.trees.own
        return alone(sentence, marks=self.marks)

    def outline(self, sentence: int) -> Outline:
        """Return what a list shows of a sentence, from 0."""
        return self.trees.outline(sentence, beside_gold=self.beside_gold, marks=self.beside_gold or self.marks)

    def differing_from(self, other: _Seen) -> BoolArray:
        """Return the sentences in which two outputs are not right and wrong alike. Raises NotComparable."""
        if not (self.beside_gold and other.beside_gold):
            raise NotComparable
        return differing(self.trees, other.trees)


def _chosen(outputs: Sequence[LiveOutput], metric: int, sight: Stated, asked: Stated) -> object:
    seen, wanted = _Seen(outputs[0], Sight(**sight)), asked_of(asked)
    seen.require(wanted.choice)
    found = listed(seen.trees, wanted, beside_gold=seen.beside_gold)
    items_of = (lambda sentence: range(sentence, sentence + 1)) if seen.beside_gold else seen.trees.items_of
    items = [outputs[0].items(metric, items_of(sentence)) for sentence in found.sentences]
    return {
        "listed": {**asdict(found), "sentences": [*found.sentences]},
        "beside_gold": seen.beside_gold,
        "items": items,
    }


def _trees(outputs: Sequence[LiveOutput], sight: Stated, asked: Stated) -> object:
    seen, wanted, only = _looked_at(outputs, sight, asked)
    found = listed(seen.trees, wanted, beside_gold=seen.beside_gold, only=only)
    page = tree_page(found, seen.document)
    return {"marks": seen.marks, "documents": page.items, "next": page.next}


def _window(outputs: Sequence[LiveOutput], sight: Stated, asked: Stated) -> object:
    seen, wanted, only = _looked_at(outputs, sight, asked)
    found = window(seen.trees, wanted, seen.document, seen.outline, beside_gold=seen.beside_gold, only=only)
    return {"marks": seen.marks, "window": asdict(found)}


def _looked_at(outputs: Sequence[LiveOutput], sight: Stated, asked: Stated) -> tuple[_Seen, Asked, BoolArray | None]:
    """Return the trees of the first output, which sentences are asked, and those in which a second one differs."""
    seen, *others = (_Seen(output, Sight(**sight)) for output in outputs)
    wanted = asked_of(asked)
    only = seen.differing_from(others[0]) if others else None
    seen.require(wanted.choice)
    return seen, wanted, only


_MAKERS: Mapping[str, Callable[..., object]] = {
    questions.ITEMS: _items,
    questions.NUMBERED: _numbered,
    questions.CHOSEN: _chosen,
    questions.SLICES: _slices,
    questions.TREES: _trees,
    questions.WINDOW: _window,
}
