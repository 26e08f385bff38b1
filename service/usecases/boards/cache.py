"""A cache of leaderboards ready to send, bounded in memory."""

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
    """Views by their validator. The least recently used are dropped first."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._views: OrderedDict[str, View] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        self._building = [Lock() for _ in range(_STRIPES)]

    def get(self, etag: str) -> View | None:
        """Return a cached view, or None."""
        with self._lock:
            view = self._views.get(etag)
            if view is not None:
                self._views.move_to_end(etag)
            return view

    def get_or_build(self, etag: str, build: Callable[[], View]) -> View:
        """Return a view, built where it is not cached. Other threads that need the same view wait for it."""
        view = self.get(etag)
        if view is not None:
            return view
        with self._building[hash(etag) % _STRIPES]:
            view = self.get(etag)
            if view is None:
                view = build()
                self._keep(view)
            return view

    def _keep(self, view: View) -> None:
        with self._lock:
            self._views[view.etag] = view
            self._bytes += len(view.content)
            while self._bytes > self._most_bytes and self._views:
                _, dropped = self._views.popitem(last=False)
                self._bytes -= len(dropped.content)


_CACHES: WeakKeyDictionary[Store, BoardCache] = WeakKeyDictionary()
_LOCK = Lock()


def cache_of(store: Store) -> BoardCache:
    """Return the cache of a store."""
    with _LOCK:
        return _CACHES.setdefault(store, BoardCache())
