"""Views: what is asked of outputs, and the documents that answer it, kept while there is room.

A view's owners are those of the texts that it is derived from: `service.store.texts.drop` deletes it with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from service.store.database import Store, lock
from service.store.tables import batches, columns_of, count, owned_texts, views

ASKED, MADE, REFUSED, FAILED = "asked", "made", "refused", "failed"
"""States: asked for and not yet made; made; refused; failed in every attempt."""


class Kept(NamedTuple):
    """What is stored of a view; `body` is its packed document, or that of a refusal."""

    state: str
    body: bytes | None
    asked_at: datetime
    used_at: datetime


@dataclass(frozen=True, slots=True)
class Waiting:
    """A view that is asked for. `question` is JSON."""

    key: str
    owner: str
    other: str | None
    principal: str
    question: str

    @property
    def owners(self) -> tuple[str, ...]:
        """The owners: one or two."""
        return (self.owner,) if self.other is None else (self.owner, self.other)


_KEPT = select(views.c.state, views.c.body, views.c.asked_at, views.c.used_at).where(views.c.key == bindparam("of_key"))


def kept(store: Store, key: str) -> Kept | None:
    """Return what is stored of a view, by a fast lookup; None where it is not."""
    row = store.lookup(_KEPT, of_key=key)
    return None if row is None else Kept(*row)


def ask(db: Connection, view: Waiting, now: datetime, *, most_each: int, most: int) -> bool:
    """Ask for a view that is not made, also for one that was refused or has failed.

    Args:
        db: a writing transaction.
        view: what is asked for, and by whom.
        now: the time.
        most_each: how many of one principal may be unfinished.
        most: how many of all.

    Returns:
        False where that would be too many.
    """
    lock(db, "views")
    c = views.c
    if db.scalar(select(c.state).where(c.key == view.key)) in (ASKED, MADE):
        return True
    unfinished = list(db.scalars(select(c.principal).where(c.state == ASKED)))
    if len(unfinished) >= most or unfinished.count(view.principal) >= most_each:
        return False
    db.execute(delete(views).where(c.key == view.key))
    asked = columns_of(view, state=ASKED, attempts=1, size=0, asked_at=now, used_at=now)
    db.execute(insert(views).values(asked))
    return True


def waiting(db: Connection) -> Sequence[Waiting]:
    """List the views that are asked for, the oldest first."""
    c = views.c
    query = select(c.key, c.owner, c.other, c.principal, c.question).where(c.state == ASKED).order_by(c.asked_at, c.key)
    return [Waiting(*row) for row in db.execute(query)]


def begin_again(db: Connection, key: str) -> int | None:
    """Begin another attempt than the first at a view; return its number, None where it is no longer asked for."""
    mine = (views.c.key == key) & (views.c.state == ASKED)
    db.execute(update(views).where(mine).values(attempts=views.c.attempts + 1))
    number: int | None = db.scalar(select(views.c.attempts).where(mine))
    return number


def with_texts(db: Connection, owners: Sequence[str]) -> set[str]:
    """Return those of these owners that have a text."""
    return set(db.scalars(select(owned_texts.c.owner).where(owned_texts.c.owner.in_(owners)).distinct()))


def answer(db: Connection, key: str, state: str, body: bytes | None, now: datetime) -> bool:
    """Store how a view ended; return False where it is no longer asked for, as when its owner was purged."""
    ended = {"state": state, "body": body, "size": len(body or b""), "used_at": now}
    found = db.execute(update(views).where(views.c.key == key, views.c.state == ASKED).values(ended))
    return bool(found.rowcount)


def note_used(db: Connection, key: str, now: datetime) -> None:
    """Note that a view was used."""
    db.execute(update(views).where(views.c.key == key).values(used_at=now))


def stored_bytes(db: Connection) -> int:
    """Return the bytes of all views."""
    return count(db, select(func.sum(views.c.size)))


def drop_least_used(db: Connection, size: int, before: datetime) -> None:
    """Delete views of so many bytes, those first that were not used for longest, and none used since `before`."""
    c = views.c
    query = select(c.key, c.size).where(c.state != ASKED, c.used_at < before).order_by(c.used_at)
    keys = []
    for key, each in db.execute(query):
        if size <= 0:
            break
        size -= each
        keys.append(key)
    for some in batches(keys):
        db.execute(delete(views).where(c.key.in_(some)))
