"""Texts, each stored once by its digest, and their owners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, delete, insert, literal, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.schema import Table

from service.store.packed_texts import is_apart, packed_apart, unpack_text
from service.store.packing import packer_of_texts
from service.store.tables import owned_texts, texts
from treescore.core.digests import digest_of

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


def packed(db: Connection, owner: str, name: str) -> tuple[str, bytes] | None:
    """Return the digest and the packed body of one of an owner's texts, or None."""
    query = select(texts.c.digest, texts.c.body).join(owned_texts).where(owned_texts.c.owner == owner)
    row = db.execute(query.where(owned_texts.c.name == name)).one_or_none()
    return None if row is None else (row.digest, row.body)


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
