"""A cache of leaderboards ready to send, bounded in memory."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from weakref import WeakKeyDictionary

from service.recent import LruCache
from service.store.database import Store
from service.usecases.runs.views import View

MOST_BYTES = 64 * 2**20
_STRIPES = 16


class BoardCache:
    """Views by their validator."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._views = LruCache[View](most_bytes, lambda view: len(view.content))
        self._building = [Lock() for _ in range(_STRIPES)]

    def get(self, etag: str) -> View | None:
        """Return a cached view, or None."""
        return self._views.get(etag)

    def get_or_build(self, etag: str, build: Callable[[], View]) -> View:
        """Return a view, built where it is not cached. Other threads that need the same view wait for it."""
        view = self.get(etag)
        if view is not None:
            return view
        with self._building[hash(etag) % _STRIPES]:
            view = self.get(etag)
            if view is None:
                view = build()
                self._views.put(view.etag, view)
            return view


_CACHES: WeakKeyDictionary[Store, BoardCache] = WeakKeyDictionary()
_LOCK = Lock()


def cache_of(store: Store) -> BoardCache:
    """Return the cache of a store."""
    with _LOCK:
        return _CACHES.setdefault(store, BoardCache())
