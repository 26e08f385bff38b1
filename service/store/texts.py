"""Texts, each stored once by its digest, and their owners; random keys of this store are texts that are never sent.

Packed, a text is compressed as it is, or taken apart into streams of like fields. A key is created on first use.
"""

from __future__ import annotations

import secrets as random
from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np
from sqlalchemy import Connection, delete, insert, literal, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.schema import Table

from service.store.packing import damage_told, pack, packer_of_texts, unpack
from service.store.tables import owned_texts, secrets, texts
from treescore.core.arrays import offsets_of
from treescore.core.text import digest_of
from treescore.formats.shared.ten_fields import Streams, put_together, taken_apart

_APART = b"ten fields\0"
"""Before the compressed streams of a text that was taken apart; no zstd frame begins with it."""
_SIZES, _CODES = "<i8", "<i4"


def packed_apart(text: bytes) -> bytes | None:
    """Pack a text as streams; None where it cannot be taken apart. The result is checked to give the text back."""
    streams = taken_apart(text)
    if streams is None or put_together(streams, len(text)) != text:
        return None
    # the lowest bytes of all codes, then the next
    codes = streams.codes.astype(_CODES).view(np.uint8).reshape(-1, 4).T.tobytes()
    parts = [*streams[:-1], codes]
    sizes = np.array([len(text), *map(len, parts)], _SIZES)
    return _APART + pack(b"".join([sizes.tobytes(), *parts]))


def is_apart(body: bytes) -> bool:
    """Return whether `packed_apart` has packed this."""
    return body.startswith(_APART)


def unpack_text(body: bytes) -> bytes:
    """Unpack what `pack` or `packed_apart` has packed. Raises zstandard.ZstdError where it is damaged."""
    if not is_apart(body):
        return unpack(body)
    raw = unpack(body.removeprefix(_APART))
    with damage_told():
        size, streams = _streams(raw)
        text = put_together(streams, size)
        if len(text) != size:
            raise ValueError("their sizes are wrong")
    return text


def _streams(raw: bytes) -> tuple[int, Streams]:
    """Return the size of a text, and what it was taken apart into."""
    size, (numbers, heads, words, rest, tags, packed) = _parts(raw, len(Streams._fields))
    codes = np.frombuffer(packed, np.uint8).reshape(4, -1).T.copy().view(_CODES).reshape(-1)
    return size, Streams(numbers, heads, words, rest, tags, codes.astype(np.int32))


def _parts(raw: bytes, count: int) -> tuple[int, list[bytes]]:
    sizes = np.frombuffer(raw, _SIZES, 1 + count)
    bounds = (offsets_of(sizes[1:]) + sizes.nbytes).tolist()
    if sizes.min() < 0 or bounds[-1] != len(raw):
        raise ValueError("their sizes are wrong")
    return int(sizes[0]), [raw[start:stop] for start, stop in pairwise(bounds)]


WORTH_PACKING = 4096
"""Bytes of a text from which on packing it once more saves more than a row's own size."""

Texts = Mapping[str, tuple[str, bytes]]
"""Texts of an owner: name -> (digest, body)."""
PackedTexts = Mapping[str, tuple[str, int, bytes]]
"""Texts ready to be stored: name -> (digest, size, zstd)."""


def pack_texts(named: Mapping[str, bytes]) -> PackedTexts:
    """Pack texts. Call it before the transaction begins, which keeps others from writing."""
    pack = packer_of_texts()
    return {name: (digest_of(body), len(body), pack(body)) for name, body in named.items()}


def put(db: Connection, owner: str, bodies: Mapping[str, bytes]) -> None:
    """Store texts under an owner."""
    put_packed(db, owner, pack_texts(bodies))


def put_packed(db: Connection, owner: str, packed: PackedTexts) -> None:
    """Store packed texts under an owner."""
    bodies = {digest: (size, body) for digest, size, body in packed.values()}
    stored = set(db.scalars(select(texts.c.digest).where(texts.c.digest.in_(bodies))))
    new_rows = [
        {"digest": digest, "size": size, "body": body}
        for digest, (size, body) in bodies.items()
        if digest not in stored
    ]
    if new_rows:
        db.execute(insert_or_ignore(db, texts), new_rows)
    owned_rows = [{"owner": owner, "name": name, "digest": digest} for name, (digest, _, _) in packed.items()]
    if owned_rows:
        db.execute(insert(owned_texts), owned_rows)


def read_texts(db: Connection, owner: str, names: Iterable[str] | None = None) -> Texts:
    """Return an owner's texts."""
    return unpacked(read_packed(db, owner, names))


def read_packed(db: Connection, owner: str, names: Iterable[str] | None = None) -> Texts:
    """Return an owner's texts as they are stored."""
    query = select(owned_texts.c.name, texts.c.digest, texts.c.body).join(texts).where(owned_texts.c.owner == owner)
    if names is not None:
        query = query.where(owned_texts.c.name.in_(list(names)))
    return {row.name: (row.digest, row.body) for row in db.execute(query)}


def unpacked(packed: Texts) -> Texts:
    """Return what `read_packed` has returned as `read` does."""
    return {name: (digest, unpack_text(body)) for name, (digest, body) in packed.items()}


def smaller(packed: Texts, bodies: Texts) -> Mapping[str, bytes]:
    """Pack once more those of some texts that take fewer bytes apart: digest -> body, for `replace`.

    A body says itself how it is packed and depends on no other text. New texts are packed quickly, for those who wait;
    this is for those that stay.

    Args:
        packed: the texts as they are stored.
        bodies: the same texts, unpacked.
    """
    found: dict[str, bytes] = {}
    for name, (digest, body) in packed.items():
        text = bodies[name][1]
        apart = None if is_apart(body) or len(text) < WORTH_PACKING else packed_apart(text)
        if apart is not None and len(apart) < len(body):
            found[digest] = apart
    return found


def replace(db: Connection, bodies: Mapping[str, bytes]) -> None:
    """Store other bodies of the same texts (digest -> body), for all their owners; texts that are gone stay gone."""
    for digest, body in sorted(bodies.items()):  # rows that two transactions change are locked in one order
        db.execute(update(texts).where(texts.c.digest == digest).values(body=body))


def share(db: Connection, owner: str, other: str, names: Iterable[str]) -> None:
    """Give another owner some of an owner's texts, under the same names."""
    query = select(literal(other), owned_texts.c.name, owned_texts.c.digest).where(
        owned_texts.c.owner == owner, owned_texts.c.name.in_(list(names))
    )
    db.execute(insert(owned_texts).from_select(["owner", "name", "digest"], query))


def names(db: Connection, owner: str, wanted: Iterable[str] | None = None) -> dict[str, str]:
    """Return the digests of an owner's texts by name: of all, or of those that are wanted."""
    query = select(owned_texts.c.name, owned_texts.c.digest).where(owned_texts.c.owner == owner)
    if wanted is not None:
        query = query.where(owned_texts.c.name.in_(list(wanted)))
    return {row.name: row.digest for row in db.execute(query)}


def drop(db: Connection, owners: Iterable[str]) -> None:
    """Delete the texts of owners, but for those that another owner has."""
    owners = list(owners)
    digests = list(db.scalars(select(owned_texts.c.digest).where(owned_texts.c.owner.in_(owners)).distinct()))
    db.execute(delete(owned_texts).where(owned_texts.c.owner.in_(owners)))
    has_owner = select(literal(1)).where(owned_texts.c.digest == texts.c.digest).exists()
    db.execute(delete(texts).where(texts.c.digest.in_(digests), ~has_owner))


def insert_or_ignore(db: Connection, table: Table) -> Insert:
    """Make an INSERT that changes nothing where the key exists."""
    if db.dialect.name == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing()
    return postgresql.insert(table).on_conflict_do_nothing()


KEY_BYTES = 32


def key_of_store(db: Connection, name: str) -> bytes:
    """Return the key of this name, and create it the first time, which needs a writing transaction."""
    query = select(secrets.c.value).where(secrets.c.name == name)
    stored: bytes | None = db.scalar(query)
    if stored is not None:
        return stored
    # two may do this at once: both return the key that was stored first
    db.execute(insert_or_ignore(db, secrets), {"name": name, "value": random.token_bytes(KEY_BYTES)})
    winner: bytes = db.execute(query).scalar_one()
    return winner
