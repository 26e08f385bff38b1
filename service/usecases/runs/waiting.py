"""Long polls: read, wait for a wake-up, read again."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from service.context import Context
from service.queue import REDIS_ERRORS
from service.usecases.runs.views import View

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
