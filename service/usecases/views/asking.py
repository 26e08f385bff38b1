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
from service.store.database import Store
from service.usecases.runs import View, wait_for
from treescore.core.params import Json
from treescore.core.version import __version__
from treescore.errors import Problem

VIEWS = "views"
"""The name by which the process that makes views is woken."""
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
    """Return the document that answers a question. It holds what any caller may see: the gate comes after it.

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
    key, store = question.key, context.store
    owner, *others = question.owners
    view = views.Waiting(key, owner, others[0] if others else None, caller.principal, question.text)
    with store.write(durable=False) as db:
        if not views.ask(db, view, context.now(), most_each=MOST_EACH, most=MOST):
            raise Unavailable("Too much is asked of outputs at once. Ask again.")
    context.queue.wake(VIEWS)
    kept, waits = views.kept(store, key), _waits(context.config)
    if kept is None or kept.state != views.ASKED or not waits.take(caller.principal):
        return kept
    try:
        wait_for(context, key, lambda: _state(store, key), context.config.max_view_seconds, None)
    finally:
        waits.give(caller.principal)
    return views.kept(store, key)


@lru_cache(maxsize=1)
def _waits(config: Config) -> Waits:
    return waits_of(config)


def _state(store: Store, key: str) -> View:
    kept = views.kept(store, key)
    state = "" if kept is None else kept.state
    return View(b"", state, final=state != views.ASKED)


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
