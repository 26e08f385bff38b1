"""Read stored trees, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from sqlalchemy import Connection

from service.store import artifacts
from service.store.packed_arrays import Array
from service.store.packed_named import NamedArrays, unpack_named
from treescore.core.arrays import IntArray, offsets_of

_KEPT = 16
"""Pages that are kept of a text: the sentences of an order by errors lie in many."""
_LAST = 1 << 31
"""Above the number of every page."""


class StoredPage:
    """One page: some sentences of a text. Where it has only marks of them, it is found by the first alone."""

    def __init__(self, start: int, named: NamedArrays) -> None:
        self.start = start
        self.named = named
        self._offsets: dict[str, IntArray] = {}

    def __len__(self) -> int:
        lines = self.named.arrays.get("lines")
        return 1 if lines is None else len(lines)

    @property
    def kind(self) -> str:
        """The kind of its trees."""
        return str(self.named.about["kind"])

    def has(self, name: str) -> bool:
        """Return whether the page has an array, or a list."""
        return name in self.named.arrays or f"of_{name}" in self.named.arrays

    def offsets(self, name: str) -> IntArray:
        """Return where a list begins in each sentence, int64 (n + 1,)."""
        if name not in self._offsets:
            self._offsets[name] = offsets_of(self.named.arrays[f"of_{name}"])
        return self._offsets[name]

    def bounds(self, name: str, sentence: int) -> slice:
        """Return the rows of a list that belong to a sentence of the whole text."""
        offsets, at = self.offsets(name), sentence - self.start
        return slice(int(offsets[at]), int(offsets[at + 1]))

    def values(self, name: str, of: str, sentence: int) -> Array:
        """Return the values of an array that goes with the list `of` in a sentence."""
        return self.named.arrays[name][self.bounds(of, sentence)]

    def strings(self, name: str, of: str, sentence: int) -> list[str | None]:
        """Return the strings of an array of numbers in a sentence, None where there is none."""
        strings = self.named.strings
        return [strings[number] if number >= 0 else None for number in self.values(name, of, sentence).tolist()]

    def sent_id(self, sentence: int) -> str | None:
        """Return the name of a sentence."""
        names = self.named.about.get("sent_ids")
        return None if names is None else names[sentence - self.start]


class StoredText:
    """The pages of one text, or of what belongs to it; those that were read last are kept."""

    def __init__(self, db: Connection, owner: str, name: str) -> None:
        self._db, self._owner, self._name = db, owner, name
        self._kept: dict[int, StoredPage] = {}

    @cached_property
    def last(self) -> StoredPage | None:
        """The last page; None where nothing is stored."""
        pages = [StoredPage(start, unpack_named(body)) for start, body in self._read(_LAST, _LAST + 1)]
        self._kept |= {page.start: page for page in pages}
        return pages[-1] if pages else None

    def __len__(self) -> int:
        return 0 if self.last is None else self.last.start + len(self.last)

    def page(self, sentence: int) -> StoredPage:
        """Return the page of a sentence, from 0. Raises LookupError where there is none."""
        for page in self._kept.values():
            if page.start == sentence or page.start < sentence < page.start + len(page):
                return page
        found = [StoredPage(start, unpack_named(body)) for start, body in self._read(sentence, sentence + 1)]
        while len(self._kept) >= _KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[found[0].start] = found[0]
        return found[0]

    def pages(self) -> Iterator[StoredPage]:
        """Yield all pages in order."""
        for start, body in self._read(0, _LAST):
            yield StoredPage(start, unpack_named(body))

    def _read(self, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
        return artifacts.get_pages(self._db, self._owner, self._name, start, stop)


def joined(pages: Iterator[StoredPage], name: str) -> IntArray:
    """Return an array of all pages, one after the other."""
    found = [page.named.arrays[name] for page in pages]
    return np.concatenate(found) if found else np.zeros(0, np.int64)
