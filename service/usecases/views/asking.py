"""Ask for items, slices and trees of outputs: kept ones, or those that the process of views makes now.

Answers hold gold: they leave the service through `service.policy` only. How a caller sees trees is part of the
question, so that below level gold the answer holds none of gold's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

import orjson

from service.caller import Caller
from service.config import Config
from service.context import Context, Waits, waits_of
from service.contract.common import TreeChoice
from service.errors import ServiceError, Unavailable
from service.store import views
from service.store.artifacts import unpack_json
from service.usecases.runs import Shown, wait_for
from service.usecases.views.choosing import Asked, Listed, Window
from service.usecases.views.documents import Document, Outline
from treescore.core import params, version
from treescore.errors import Problem

VIEWS = "views"
"""The name by which the process that makes views is woken."""
ENDED = "views/ended"
"""The name by which all are woken who wait for a view, when one has ended: it may be theirs, or have made room."""
MOST_EACH, MOST = 2, 50
"""Views that one principal, and all, may have asked for that are not made yet."""
USE_NOTED = timedelta(hours=1)
"""Between two notes that a view was used."""
FAILED_FOR = timedelta(hours=1)
"""How long a view that failed is not tried again."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of outputs.

    Attributes:
        kind: what the answer is, which decides what makes it.
        owners: ids of the submissions or jobs whose outputs it is about, one or two.
        asked: everything else, as JSON.
    """

    kind: str
    owners: tuple[str, ...]
    asked: Mapping[str, params.Json]

    @property
    def text(self) -> str:
        """The question as JSON."""
        return orjson.dumps(self, option=orjson.OPT_SORT_KEYS).decode()

    @property
    def key(self) -> str:
        """A digest of the question, and of the version that answers it."""
        return hashlib.blake2b(f"{version.__version__} {self.text}".encode(), digest_size=32).hexdigest()

    @classmethod
    def of(cls, text: str) -> Question:
        """Read a question that is JSON."""
        members = orjson.loads(text)
        return cls(members["kind"], tuple(members["owners"]), members["asked"])


def ask(context: Context, caller: Caller, question: Question) -> Any:
    """Return the document that answers a question. It holds gold: the gate comes after it.

    Raises:
        ServiceError: what makes it has refused it, with this error; or every attempt at it failed.
        Unavailable: it was not made in time, or too much is asked at once.
    """
    kept, now = views.kept(context.store, question.key), context.now()
    # what was refused may have become possible
    lasting = kept is not None and (
        kept.state == views.MADE or (kept.state == views.FAILED and kept.asked_at > now - FAILED_FOR)
    )
    if kept is None or not lasting:
        kept = _asked_for(context, caller, question)
    elif kept.used_at < now - USE_NOTED:
        with context.store.write(durable=False) as db:
            views.note_used(db, question.key, now)
    if kept is None or kept.body is None:
        raise Unavailable("What was asked of the output is not made yet. Ask again.")
    document = unpack_json(kept.body)
    if kept.state != views.MADE:
        raise _error_of(document)
    return document


def _asked_for(context: Context, caller: Caller, question: Question) -> views.Kept | None:
    """Ask for a view, and wait until it is made, refused or has failed, or time is over."""
    owner, *others = question.owners
    asking = _Asking(
        context, views.Waiting(question.key, owner, others[0] if others else None, caller.principal, question.text)
    )
    waits = _waits(context.config)
    if not asking.look().final and waits.take(caller.principal):
        try:
            wait_for(context, ENDED, asking.look, context.config.max_view_seconds, None)
        finally:
            waits.give(caller.principal)
    if not asking.accepted:
        raise Unavailable("Too much is asked of outputs at once. Ask again.")
    return asking.kept


@dataclass(slots=True)
class _Asking:
    """A view that is asked for as soon as few others of the principal, and of all, are unfinished."""

    context: Context
    view: views.Waiting
    accepted: bool = False
    kept: views.Kept | None = None

    def look(self) -> Shown[None]:
        """Ask where there is room now; what is returned is final if what was asked for has ended."""
        store = self.context.store
        if not self.accepted:
            with store.write(durable=False) as db:
                self.accepted = views.ask(db, self.view, self.context.now(), most_each=MOST_EACH, most=MOST)
            if self.accepted:
                self.context.queue.wake(VIEWS)
        self.kept = views.kept(store, self.view.key) if self.accepted else None
        waiting = not self.accepted or (self.kept is not None and self.kept.state == views.ASKED)
        return Shown(None, b"", final=not waiting)


@lru_cache(maxsize=1)
def _waits(config: Config) -> Waits:
    return waits_of(config)


def error_record(error: ServiceError) -> dict[str, object]:
    """Return an error as a view that has no document keeps it."""
    return {
        "kind": type(error).__name__,
        "detail": error.detail,
        "slug": error.type_slug,
        "problems": [asdict(problem) for problem in error.problems],
        "total": error.total,
        "headers": error.headers,
    }


def _error_of(record: Mapping[str, Any]) -> ServiceError:
    kinds: Sequence[type[ServiceError]] = (ServiceError, *ServiceError.__subclasses__())
    [kind] = [kind for kind in kinds if kind.__name__ == record["kind"]]
    error = kind.__new__(kind)
    members = {**record, "problems": [Problem(**problem) for problem in record["problems"]]}
    ServiceError.__init__(error, **{name: members[name] for name in ("detail", "slug", "problems", "total", "headers")})
    return error


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
        words: whether the words of gold are seen where the output, of alignments, holds none.
    """

    compared: bool
    gold: bool
    marked_by: Sequence[str | None] = ()
    words: bool = False


class ErrorsHidden(Exception):
    """The caller sees no marks, and so may not choose sentences by them."""


class NotComparable(Exception):
    """Sentences in which two outputs differ are asked for, and gold does not stand beside both."""


@dataclass(frozen=True, slots=True)
class Views:
    """What one caller asks of outputs."""

    context: Context
    caller: Caller

    def items(
        self, outputs: Sequence[Output], metric: int, ranges: Sequence[Sequence[tuple[int, int]]]
    ) -> list[list[Document]]:
        """Return for each output the items in these ranges (from 0, the last not included)."""
        return list(self._ask("items", outputs, metric=metric, ranges=ranges))

    def chosen(self, output: Output, metric: int, sight: Sight, asked: Asked) -> Chosen:
        """Return the items of chosen sentences.

        Raises:
            ErrorsHidden: sentences are chosen by errors.
        """
        found = self._ask("chosen", [output], metric=metric, sight=asdict(sight), asked=asdict(asked))
        return Chosen(Listed(**found["listed"]), found["beside_gold"], found["items"])

    def slices(self, output: Output, metric: int, by: str | None) -> tuple[list[str], list[Document]]:
        """Return the names of all groupings, and the rows of one: none if it is unknown."""
        names, rows = self._ask("slices", [output], metric=metric, by=by)
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
        return Trees(**self._ask("trees", outputs, sight=asdict(sight), asked=asdict(asked)))

    def window(self, output: Output, sight: Sight, asked: Asked, other: Output | None = None) -> tuple[bool, Window]:
        """Return whether marks are shown, and the sentence that is looked at among those around it; as `trees`."""
        outputs = [output] if other is None else [output, other]
        found = self._ask("window", outputs, sight=asdict(sight), asked=asdict(asked))
        around = [Outline(**outline) for outline in found["window"]["around"]]
        return found["marks"], Window(**{**found["window"], "around": around})

    def _ask(self, kind: str, outputs: Sequence[Output], **asked: params.Json) -> Any:
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


def asked_of(stored: dict[str, params.Json]) -> Asked:
    """Return what is asked of sentences, as a question states it."""
    return Asked(**{**stored, "owner": tuple(stored["owner"]), "choice": TreeChoice(**stored["choice"])})
