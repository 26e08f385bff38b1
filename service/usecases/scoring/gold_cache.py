"""Gold that was read before: kept in this process and in files of this machine, so that a text is read once.

What is kept stands under a digest of everything that reading depends on: the texts, the scoring configuration, the
limits, and the library's code. Equal to the bit is what is loaded to what is read (tests/treescore/core/test_flat.py).
Jobs are left out: how long one takes would tell its sender whether another caller has sent this gold.
"""

from __future__ import annotations

import unicodedata
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import orjson

import treescore
from service.config import Config
from service.context import Context
from service.store import revisions
from service.store.database import place_of_url
from service.store.gold_files import GoldFiles
from service.store.revisions import Part, Revision
from service.usecases.scoring.gold import evaluation_of, load_gold_items, load_part, stored_digest
from treescore.core.digests import digest_of
from treescore.core.flat import flat_bytes, treebanks_of
from treescore.core.registry import ItemInfo
from treescore.core.version import __version__
from treescore.evaluation.evaluate import Evaluation, ReadGold
from treescore.evaluation.spec import Spec

KEPT_WORDS = 1_500_000
"""Words of gold that a process keeps: some 150 bytes each with their strings, so 225 MB; a shared task of 78 parts.
What is computed of them and kept too takes 10 bytes more under `ud` and 40 under `attachment`."""

_NAME_DIGITS = 16
"""Hexadecimal digits of a digest that name the folder of a store: few stores are on one machine."""


class _FileName(NamedTuple):
    revision_id: str
    position: int
    key: str


class _Entry(NamedTuple):
    read: ReadGold
    items: ItemInfo
    words: int


@dataclass(slots=True)
class Kept:
    """Gold that this process keeps. What was used last stays, but a revision never drives out parts of its own."""

    words: int = KEPT_WORDS
    swept: bool = False
    """Whether this process has looked for files to delete."""
    _entries: OrderedDict[_FileName, _Entry] = field(default_factory=OrderedDict)

    def get(self, name: _FileName) -> _Entry | None:
        """Return what is kept under a name, or None."""
        if name in self._entries:
            self._entries.move_to_end(name)
        return self._entries.get(name)

    def put(self, name: _FileName, entry: _Entry) -> None:
        """Keep an entry where there is room, or where what belongs to other revisions makes room."""
        total = entry.words + sum(each.words for each in self._entries.values())
        for other in [each for each in self._entries if each.revision_id != name.revision_id]:
            if total <= self.words:
                break
            total -= self._entries.pop(other).words
        if total <= self.words:
            self._entries[name] = entry


_kept = Kept()


def files_of(context: Context) -> GoldFiles:
    """Return the files that this machine keeps for this store; another store's are in another folder."""
    name = digest_of(place_of_url(context.store.url).encode()).partition(":")[2][:_NAME_DIGITS]
    return GoldFiles(context.config.gold_folder / name, context.config.gold_cache_bytes)


def evaluation_against(context: Context, revision: Revision, part: Part, spec: Spec) -> Evaluation:
    """Return an evaluation against the gold of a part, whose vocabulary no other use of the same gold changes.

    Raises:
        RuntimeError: gold is not stored any more, or this version cannot read it.
    """
    if not _kept.swept:
        sweep(context)
        _kept.swept = True
    with context.store.read() as db:
        digest = stored_digest(db, revision, part.name, spec)
    name = _FileName(revision.id, part.position, _key(context.config, revision, digest))
    entry = _kept.get(name)
    if entry is None:
        entry = _loaded(context, revision, part, name) or _read(context, revision, part, spec, name)
        _kept.put(name, entry)
    pointer = f"/parts/{part.name}/gold"
    return Evaluation(spec, entry.read.copy(), entry.items, context.config.limits, pointer, part.name)


def drop(context: Context, revision_ids: Iterable[str]) -> None:
    """Delete the files of revisions on this machine. Call it after the transaction that deletes their gold."""
    files_of(context).drop(revision_ids)


def prepare(context: Context) -> None:
    """Do once what the processes that a worker forks would each do: look at the folder, name the reader, sweep."""
    files_of(context).usable()
    reader_digest()
    sweep(context)


def sweep(context: Context) -> None:
    """Delete the files of revisions that nothing is scored under any more, or whose gold was deleted, anywhere.

    Where no files are to be kept, those of all revisions.
    """
    files = files_of(context)
    found = files.revisions()
    current: set[str] = set()
    if found and files.limit:
        with context.store.read() as db:
            current = revisions.scored_under(db, found)
    files.drop(set(found) - current)


@lru_cache(maxsize=1)
def reader_digest() -> str:
    """Return a digest of what turns a text into a treebank: the library's code, and Python's tables of characters."""
    root = Path(treescore.__file__).parent
    sources = [path.read_bytes() for path in sorted(root.rglob("*.py"))]
    return digest_of(b"\0".join([__version__.encode(), unicodedata.unidata_version.encode(), *sources]))


def _key(config: Config, revision: Revision, digest: str) -> str:
    return digest_of(orjson.dumps([reader_digest(), digest, revision.scoring, asdict(config.limits)]))


def _loaded(context: Context, revision: Revision, part: Part, name: _FileName) -> _Entry | None:
    body = files_of(context).read(*name)
    if body is None:
        return None
    with context.store.read() as db:
        items = load_gold_items(db, revision, part.name)
    return _Entry(ReadGold(*treebanks_of(body)), items, part.words or 0)


def _read(context: Context, revision: Revision, part: Part, spec: Spec, name: _FileName) -> _Entry:
    with context.store.read() as db:
        gold = load_part(db, revision, part.name, spec)
    read = evaluation_of(spec, gold, revision, part.name, context.config.limits).read_gold
    files = files_of(context)
    if files.limit:
        files.write(*name, flat_bytes(read.vocabulary, read.treebanks))
        with context.store.read() as db:
            deleted = not revisions.scored_under(db, [revision.id])
        if deleted:  # since gold was read; the process that deleted it may have found no file yet
            files.drop([revision.id])
    return _Entry(read, gold.items, part.words or 0)
