"""Ask for a document that is derived from outputs: a kept one, or one that the process of views makes now."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import orjson

from service.caller import Caller
from service.config import Config
from service.context import Context, Waits, waits_of
from service.errors import ServiceError, Unavailable
from service.store import views
from service.store.artifacts import unpack_json
from service.usecases.runs import Shown, wait_for
from treescore.core.params import Json
from treescore.core.version import __version__
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
    asked: Mapping[str, Json]

    @property
    def text(self) -> str:
        """The question as JSON."""
        return orjson.dumps(self, option=orjson.OPT_SORT_KEYS).decode()

    @property
    def key(self) -> str:
        """A digest of the question, and of the version that answers it."""
        return hashlib.blake2b(f"{__version__} {self.text}".encode(), digest_size=32).hexdigest()

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
    if kept is None or not _stands(kept, now):
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


def _stands(kept: views.Kept, now: datetime) -> bool:
    """Return whether a view need not be made again. What was refused may have become possible."""
    return kept.state == views.MADE or (kept.state == views.FAILED and kept.asked_at > now - FAILED_FOR)


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
