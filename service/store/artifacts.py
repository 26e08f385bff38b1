"""Artifacts: results that workers store for later requests (count arrays, items, slices, reports)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import orjson
from sqlalchemy import Connection, delete, func, insert, literal, select

from service.store.packing import pack, unpack
from service.store.tables import artifacts
from treescore.core.params import Json


def put(db: Connection, owner: str, bodies: Mapping[tuple[str, int], bytes]) -> None:
    """Store packed bodies: (name, page) -> body."""
    rows = [{"owner": owner, "name": name, "page": page, "body": body} for (name, page), body in bodies.items()]
    if rows:
        db.execute(insert(artifacts), rows)


def get(db: Connection, owner: str, name: str, page: int = 0) -> bytes | None:
    """Return one packed body, or None."""
    query = select(artifacts.c.body).where(
        artifacts.c.owner == owner, artifacts.c.name == name, artifacts.c.page == page
    )
    body: bytes | None = db.scalar(query)
    return body


def get_all(db: Connection, owner: str, names: Sequence[str]) -> list[bytes | None]:
    """Return the packed bodies of artifacts of one page each, None for what is missing."""
    c = artifacts.c
    query = select(c.name, c.body).where(c.owner == owner, c.name.in_(names), c.page == 0)
    found = {row.name: row.body for row in db.execute(query)}
    return [found.get(name) for name in names]


def get_pages(db: Connection, owner: str, name: str, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
    """Return number and body of the last page that begins at `start` or before, and of all that begin before `stop`."""
    mine = (artifacts.c.owner == owner) & (artifacts.c.name == name)
    first = select(func.max(artifacts.c.page)).where(mine, artifacts.c.page <= start).scalar_subquery()
    query = select(artifacts.c.page, artifacts.c.body).where(mine, artifacts.c.page >= first, artifacts.c.page < stop)
    for row in db.execute(query.order_by(artifacts.c.page)):
        yield row.page, row.body


def copy_below(db: Connection, owner: str, other: str, prefix: str) -> None:
    """Copy the artifacts of an owner whose names begin with `prefix` to another owner."""
    query = select(literal(other), artifacts.c.name, artifacts.c.page, artifacts.c.body).where(
        artifacts.c.owner == owner, artifacts.c.name.startswith(prefix, autoescape=True)
    )
    db.execute(insert(artifacts).from_select(["owner", "name", "page", "body"], query))


def drop_below(db: Connection, owner: str, prefix: str) -> None:
    """Delete the artifacts of an owner whose names begin with `prefix`."""
    db.execute(
        delete(artifacts).where(artifacts.c.owner == owner, artifacts.c.name.startswith(prefix, autoescape=True))
    )


def drop_holding(db: Connection, owners: Iterable[str], name_part: str) -> None:
    """Delete the artifacts of owners whose names contain `name_part`."""
    db.execute(
        delete(artifacts).where(
            artifacts.c.owner.in_(list(owners)), artifacts.c.name.contains(name_part, autoescape=True)
        )
    )


def names_holding(db: Connection, owner: str, name_part: str) -> list[str]:
    """List the names of an owner's artifacts that contain `name_part`."""
    c = artifacts.c
    query = select(c.name).where(c.owner == owner, c.name.contains(name_part, autoescape=True))
    return list(db.scalars(query.distinct()))


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
