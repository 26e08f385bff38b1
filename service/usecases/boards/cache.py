"""Leaderboards ready to send, in a bounded part of the process's memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from weakref import WeakKeyDictionary

from service.store.database import Store
from service.usecases.runs.views import View

MOST_BYTES = 64 * 2**20
_STRIPES = 16


class BoardCache:
    """Views by their validator, the longest unused leave first."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._views: OrderedDict[str, View] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        self._building = [Lock() for _ in range(_STRIPES)]

    def get(self, etag: str) -> View | None:
        """A view that is there."""
        with self._lock:
            found = self._views.get(etag)
            if found is not None:
                self._views.move_to_end(etag)
            return found

    def get_or_build(self, etag: str, build: Callable[[], View]) -> View:
        """A view, built by one thread: whoever asks for the same meanwhile waits for it."""
        found = self.get(etag)
        if found is not None:
            return found
        with self._building[hash(etag) % _STRIPES]:
            found = self.get(etag)
            if found is not None:
                return found
            built = build()
            self._keep(built)
            return built

    def _keep(self, view: View) -> None:
        with self._lock:
            self._views[view.etag] = view
            self._bytes += len(view.body)
            while self._bytes > self._most_bytes and self._views:
                _, dropped = self._views.popitem(last=False)
                self._bytes -= len(dropped.body)


_CACHES: WeakKeyDictionary[Store, BoardCache] = WeakKeyDictionary()
_LOCK = Lock()


def cache_of(store: Store) -> BoardCache:
    """The cache of what was read from a store."""
    with _LOCK:
        return _CACHES.setdefault(store, BoardCache())
