"""Texts, each stored once by its digest, and their owners; random keys of this store are texts that are never sent.

A text is packed once, when it is received. A key is created on first use.
"""

import secrets as random
from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, bindparam, delete, insert, literal, or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.schema import Table

from service.store.packing import PackedText, packed_text, unpack
from service.store.tables import owned_texts, secrets, texts, views

Texts = Mapping[str, tuple[str, bytes]]
"""Texts of an owner: name -> (digest, body)."""

_STORED = select(texts.c.digest).where(texts.c.digest.in_(bindparam("digests", expanding=True)))
_OWN = insert(owned_texts)
_TEXTS = (
    select(owned_texts.c.name, texts.c.digest, texts.c.body)
    .join(texts)
    .where(owned_texts.c.owner == bindparam("of_owner"))
)
# built once: building them takes longer than running them


def put(db: Connection, owner: str, bodies: Mapping[str, bytes]) -> None:
    """Store texts under an owner."""
    put_packed(db, owner, {name: packed_text(body) for name, body in bodies.items()})


def put_packed(db: Connection, owner: str, packed: Mapping[str, PackedText]) -> None:
    """Store packed texts under an owner."""
    unlike = {text.digest: text for text in packed.values()}
    stored = set(db.scalars(_STORED, {"digests": list(unlike)}))
    new_rows = [text._asdict() for digest, text in unlike.items() if digest not in stored]
    if new_rows:
        db.execute(insert_or_ignore(db, texts), new_rows)
    owned_rows = [{"owner": owner, "name": name, "digest": text.digest} for name, text in packed.items()]
    if owned_rows:
        db.execute(_OWN, owned_rows)


def read_texts(db: Connection, owner: str, names: Iterable[str] | None = None) -> Texts:
    """Return an owner's texts."""
    query = _TEXTS if names is None else _TEXTS.where(owned_texts.c.name.in_(list(names)))
    return {row.name: (row.digest, unpack(row.body)) for row in db.execute(query, {"of_owner": owner})}


def share(db: Connection, owner: str, other: str, names: Iterable[str]) -> None:
    """Give another owner some of an owner's texts, under the same names."""
    query = select(literal(other), owned_texts.c.name, owned_texts.c.digest).where(
        owned_texts.c.owner == owner, owned_texts.c.name.in_(list(names))
    )
    db.execute(insert(owned_texts).from_select(["owner", "name", "digest"], query))


def names(db: Connection, owner: str) -> dict[str, str]:
    """Return the digests of an owner's texts by name."""
    query = select(owned_texts.c.name, owned_texts.c.digest).where(owned_texts.c.owner == owner)
    return {row.name: row.digest for row in db.execute(query)}


def drop(db: Connection, owners: Iterable[str]) -> None:
    """Delete the texts of owners, but for those that another owner has, and what views keep of them."""
    owners = list(owners)
    db.execute(delete(views).where(or_(views.c.owner.in_(owners), views.c.other.in_(owners))))
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
