"""Values that the threads of a process remember, bounded in memory."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

_V = TypeVar("_V")
_STRIPES = 16
"""Locks under which values are made: as many different ones can be at the same time."""


class LruCache(Generic[_V]):
    """Values by name. The least recently used are dropped first, once all together have more than `most_bytes`."""

    def __init__(self, most_bytes: int, size_of: Callable[[_V], int]) -> None:
        self._most_bytes = most_bytes
        self._size_of = size_of
        self._values: OrderedDict[str, _V] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        self._making = [Lock() for _ in range(_STRIPES)]

    def get(self, name: str) -> _V | None:
        """Return the value of a name, or None."""
        with self._lock:
            if name in self._values:
                self._values.move_to_end(name)
            return self._values.get(name)

    def get_or_make(self, name: str, make: Callable[[], _V]) -> _V:
        """Return the value of a name, made where it is not kept. Other threads that need the same one wait for it."""
        value = self.get(name)
        if value is not None:
            return value
        with self._making[hash(name) % _STRIPES]:
            value = self.get(name)
            if value is None:
                value = make()
                self.put(name, value)
            return value

    def put(self, name: str, value: _V) -> None:
        """Keep a value in place of the one that the name has; one that has more than all may have drops no other."""
        size = self._size_of(value)
        with self._lock:
            if name in self._values:
                self._bytes -= self._size_of(self._values.pop(name))
            if size > self._most_bytes:
                return
            self._values[name] = value
            self._bytes += size
            while self._bytes > self._most_bytes:
                self._bytes -= self._size_of(self._values.popitem(last=False)[1])
