"""Questions about the items, slices and trees of outputs, and what is read from their answers.

Answers hold gold: they leave the service through `service.policy` only. How a caller sees trees is part of the
question, so that below level gold the answer holds none of gold's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from service.caller import Caller
from service.context import Context
from service.contract.common import TreeChoice
from service.usecases.views.choosing import Asked, Listed, Window
from service.usecases.views.documents import Document, Outline
from service.usecases.views.asking import Question, ask
from treescore.core.params import Json

ITEMS, NUMBERED, CHOSEN, SLICES, TREES, WINDOW = "items", "numbered", "chosen", "slices", "trees", "window"


@dataclass(frozen=True, slots=True)
class Output:
    """One output.

    Attributes:
        owner: id of the submission or job.
        at: position of the part of a submission, or of the system of a job.
        revision: benchmark and number of the revision under which a submission is read; None of a job.
    """

    owner: str
    at: int
    revision: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Sight:
    """How a caller sees trees.

    Attributes:
        compared: whether the output was scored, and the caller sees anything of that.
        gold: whether gold's are seen; where the output was scored they stand beside its own, and sentences are gold's.
        marked_by: whose marks are seen: keys of metrics, None for those of a plain comparison.
    """

    compared: bool
    gold: bool
    marked_by: Sequence[str | None] = ()


class ErrorsHidden(Exception):
    """The caller sees no marks, and so may not choose sentences by them."""


class NotComparable(Exception):
    """Sentences in which two outputs differ are asked for, and gold does not stand beside both."""


@dataclass(frozen=True, slots=True)
class Views:
    """What one caller asks of outputs."""

    context: Context
    caller: Caller

    def items(self, output: Output, metric: int, start: int, limit: int) -> list[Document]:
        """Return the items from number `start` (from 0), at most `limit`."""
        return list(self._ask(ITEMS, [output], metric=metric, start=start, limit=limit))

    def numbered(
        self, outputs: Sequence[Output], metric: int, numbers: Sequence[Sequence[int]]
    ) -> list[list[Document]]:
        """Return for each output the items of these numbers (from 0)."""
        return list(self._ask(NUMBERED, outputs, metric=metric, numbers=numbers))

    def chosen(self, output: Output, metric: int, sight: Sight, asked: Asked) -> Chosen:
        """Return the items of chosen sentences.

        Raises:
            ErrorsHidden: sentences are chosen by errors.
        """
        found = self._ask(CHOSEN, [output], metric=metric, sight=asdict(sight), asked=asdict(asked))
        return Chosen(Listed(**found["listed"]), found["beside_gold"], found["items"])

    def slices(self, output: Output, metric: int, by: str | None) -> tuple[list[str], list[Document]]:
        """Return the names of all groupings, and the rows of one: none if it is unknown."""
        names, rows = self._ask(SLICES, [output], metric=metric, by=by)
        return names, rows

    def trees(self, output: Output, sight: Sight, asked: Asked, other: Output | None = None) -> Trees:
        """Return the trees of a page's sentences.

        Args:
            output: whose.
            sight: how they are seen.
            asked: which of them.
            other: only sentences in which it is not right and wrong alike.

        Raises:
            ErrorsHidden: sentences are chosen by errors.
            NotComparable: there is an `other`.
        """
        outputs = [output] if other is None else [output, other]
        return Trees(**self._ask(TREES, outputs, sight=asdict(sight), asked=asdict(asked)))

    def window(self, output: Output, sight: Sight, asked: Asked, other: Output | None = None) -> tuple[bool, Window]:
        """Return whether marks are shown, and the sentence that is looked at among those around it; as `trees`."""
        outputs = [output] if other is None else [output, other]
        found = self._ask(WINDOW, outputs, sight=asdict(sight), asked=asdict(asked))
        around = [Outline(**outline) for outline in found["window"]["around"]]
        return found["marks"], Window(**{**found["window"], "around": around})

    def _ask(self, kind: str, outputs: Sequence[Output], **asked: Json) -> Any:
        owners = tuple(dict.fromkeys(output.owner for output in outputs))
        asked["outputs"] = [asdict(output) for output in outputs]
        answer = ask(self.context, self.caller, Question(kind, owners, asked))
        if answer == ErrorsHidden.__name__:
            raise ErrorsHidden
        if answer == NotComparable.__name__:
            raise NotComparable
        return answer


@dataclass(frozen=True, slots=True)
class Chosen:
    """Items of the sentences of a page.

    Attributes:
        listed: the sentences.
        beside_gold: whether they are gold's, each with its one item; else the output's own, each with the items that
            lie in it.
        items: of each sentence.
    """

    listed: Listed
    beside_gold: bool
    items: Sequence[Sequence[Document]]


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees of the sentences of a page; `marks` says whether they say what is wrong."""

    marks: bool
    documents: Sequence[Document]
    next: str | None


def asked_of(stored: dict[str, Json]) -> Asked:
    """Return what is asked of sentences, as a question states it."""
    return Asked(**{**stored, "owner": tuple(stored["owner"]), "choice": TreeChoice(**stored["choice"])})
