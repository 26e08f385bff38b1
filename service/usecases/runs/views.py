"""Answers of use-cases: ready bodies, pages of lists, and long polls, which read, wait for a wake-up and read again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import NamedTuple, Protocol, TypeVar

import orjson

from service.context import Context
from service.queue import REDIS_ERRORS
from service.store import runs
from service.store.packing import unpack, unpacked_size

JSON_TYPE = "application/json"
TEXT_TYPE = "text/plain; charset=utf-8"


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


Row = TypeVar("Row", bound=_Identified)


class View(NamedTuple):
    """A body ready to send.

    Attributes:
        content: the bytes, or what `pack` made of them.
        etag: strong validator of the bytes, without quotes.
        final: whether the body never changes again.
        state: of the resource, if it has one.
        content_type: of the body.
        next: cursor of the next page, if the body is one page of several.
        packed: whether `content` is packed, as it is stored.
    """

    content: bytes
    etag: str
    final: bool = True
    state: str = ""
    content_type: str = JSON_TYPE
    next: str | None = None
    packed: bool = False

    @property
    def body(self) -> bytes:
        """The bytes."""
        return unpack(self.content) if self.packed else self.content

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return unpacked_size(self.content) if self.packed else len(self.content)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list; `next` is the cursor of the next one."""

    items: Sequence[Mapping[str, object]]
    next: str | None = None


def page_of(rows: Sequence[Row], limit: int, show: Callable[[Row], Mapping[str, object]]) -> Page:
    """Return the page that shows the first `limit` rows; it has a next page where there are more."""
    return Page([show(row) for row in rows[:limit]], rows[limit - 1].id if len(rows) > limit else None)


def items_page(items: Sequence[Mapping[str, object]], start: int, limit: int) -> Page:
    """Return the page of the first `limit` items, which begins after item `start`."""
    return Page(items[:limit], str(start + limit) if len(items) > limit else None)


def etag_of(body: bytes) -> str:
    """Return the validator of a body."""
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def body_view(body: bytes, content_type: str) -> View:
    """Return a body that never changes."""
    return View(body, etag_of(body), content_type=content_type)


def json_view(value: object, *, final: bool = True, state: str = "") -> View:
    """Return a value as a ready JSON body."""
    body = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    return View(body, etag_of(body), final, state)


def moment(time: datetime | None) -> str | None:
    """Return a time as RFC 3339 in UTC, to the millisecond."""
    if time is None:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"


def run_summary(run: runs.Run) -> dict[str, object]:
    """Return id, state and times of a run."""
    return {
        "id": run.id,
        "state": run.state,
        "created_at": moment(run.created_at),
        "started_at": moment(run.started_at),
        "finished_at": moment(run.finished_at),
    }


def state_document(run: runs.Run) -> dict[str, object]:
    """Return the document of a job without an answer."""
    return {**run_summary(run), "progress": run.progress, "results": None, "warnings": [], "failure": None}


LOOK_AGAIN = 5.0
"""Seconds after which a waiting request reads the store again without a wake-up."""


def board_name(benchmark_id: str) -> str:
    """Return the name by which those who wait for a change of a benchmark's boards are woken."""
    return f"board {benchmark_id}"


def wait_for(
    context: Context,
    run_id: str,
    look: Callable[[], View],
    seconds: float,
    etag: str | None,
    done: Callable[[View, str | None], bool] | None = None,
) -> View:
    """Return the view of `look` when it is final or differs from `etag`, or when time is over.

    Args:
        context: store, queue and configuration.
        run_id: of the run whose wake-ups are heard, or a `board_name`.
        look: reads the view.
        seconds: the longest wait.
        etag: of what the caller knows, or None.
        done: another rule of when there is nothing to wait for.
    """
    done = done or settled
    if seconds <= 0:
        return look()
    end = monotonic() + min(seconds, context.config.max_wait_seconds)
    try:
        with context.queue.listen(run_id) as listener:
            while True:
                seen = look()  # not before listening: what happens in between would be missed
                left = end - monotonic()
                if done(seen, etag) or left <= 0:
                    return seen
                listener.wait(min(left, LOOK_AGAIN))
    except REDIS_ERRORS:
        return look()


def settled(view: View, etag: str | None) -> bool:
    """Return whether there is nothing to wait for."""
    return view.final or (etag is not None and view.etag != etag)


def changed(view: View, etag: str | None) -> bool:
    """Return whether there is nothing to wait for where a view never ends: it differs, or nothing is pending."""
    return view.final if etag is None else view.etag != etag
