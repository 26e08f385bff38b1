"""Artifacts: results that workers store for later requests (count arrays, bits of tokens, reports)."""

from collections.abc import Iterable, Mapping, Sequence

import orjson
from sqlalchemy import Connection, delete, insert, literal, select

from service.store.packing import pack, unpack
from service.store.tables import artifacts
from treescore.core.params import Json

_PUT = insert(artifacts)  # built once: building it takes longer than running it


def put(db: Connection, owner: str, bodies: Mapping[str, bytes]) -> None:
    """Store packed bodies by name."""
    rows = [{"owner": owner, "name": name, "body": body} for name, body in bodies.items()]
    if rows:
        db.execute(_PUT, rows)


def get(db: Connection, owner: str, name: str) -> bytes | None:
    """Return one packed body, or None."""
    query = select(artifacts.c.body).where(artifacts.c.owner == owner, artifacts.c.name == name)
    body: bytes | None = db.scalar(query)
    return body


def get_all(db: Connection, owner: str, names: Sequence[str]) -> list[bytes | None]:
    """Return the packed bodies of artifacts, None for what is missing."""
    c = artifacts.c
    query = select(c.name, c.body).where(c.owner == owner, c.name.in_(names))
    found = {row.name: row.body for row in db.execute(query)}
    return [found.get(name) for name in names]


def copy_below(db: Connection, owner: str, other: str, prefix: str) -> None:
    """Copy the artifacts of an owner whose names begin with `prefix` to another owner."""
    query = select(literal(other), artifacts.c.name, artifacts.c.body).where(
        artifacts.c.owner == owner, artifacts.c.name.startswith(prefix, autoescape=True)
    )
    db.execute(insert(artifacts).from_select(["owner", "name", "body"], query))


def drop_below(db: Connection, owner: str, prefix: str) -> None:
    """Delete the artifacts of an owner whose names begin with `prefix`."""
    db.execute(
        delete(artifacts).where(artifacts.c.owner == owner, artifacts.c.name.startswith(prefix, autoescape=True))
    )


def drop_all_but_counts(db: Connection, owners: Iterable[str]) -> None:
    """Delete the artifacts of owners but for the counts of sentences."""
    db.execute(delete(artifacts).where(artifacts.c.owner.in_(list(owners)), ~artifacts.c.name.contains("/counts/")))


def drop(db: Connection, owners: Iterable[str]) -> None:
    """Delete all artifacts of owners."""
    db.execute(delete(artifacts).where(artifacts.c.owner.in_(list(owners))))


def pack_json(value: object) -> bytes:
    """Pack a JSON value."""
    return pack(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS))


def unpack_json(body: bytes) -> Json:
    """Read what `pack_json` has packed."""
    return orjson.loads(unpack(body))
