"""Gold texts of a revision, and keyed digests of them: no one can confirm a guess of gold by its digest."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

import orjson
from sqlalchemy import Connection

from service.store import secrets, texts
from service.store.revisions import Revision
from service.usecases.scoring.part_texts import GOLD, Stored, digest_of_part, items_name, names_of, text_of
from treescore.core.limits import Limits
from treescore.core.registry import ItemInfo, Text
from treescore.errors import ScoringError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import Spec, parse_items

DIGEST_SECRET = "gold-digests"  # noqa: S105 - the name of a secret, no secret


@dataclass(frozen=True, slots=True)
class Gold:
    """Gold of one part.

    Attributes:
        text: as it was sent.
        items: attributes of its sentences, from the request.
        digest: of both; leaves the service through `keyed_digest` only.
    """

    text: Text
    items: ItemInfo
    digest: str


def load_part(db: Connection, revision: Revision, part: str, spec: Spec) -> Gold:
    """Return the gold of one part.

    Raises:
        RuntimeError: it is not stored any more.
    """
    stored = texts.read_texts(db, revision.id, [*names_of(GOLD, part, spec.format), items_name(part)])
    text = text_of(stored, GOLD, part, spec.format)
    if text is None:
        raise RuntimeError(f"gold of {revision.id} is not stored")
    return Gold(text, _items(stored, part), _gold_digest(stored, part, spec))


def stored_digest(db: Connection, revision: Revision, part: str, spec: Spec) -> str:
    """Return the digest of the gold of one part without reading it, as `load_part` does.

    Raises:
        RuntimeError: it is not stored any more.
    """
    about, names = items_name(part), names_of(GOLD, part, spec.format)
    digests = texts.names(db, revision.id, [*names, about])
    if any(name not in digests for name in names):
        raise RuntimeError(f"gold of {revision.id} is not stored")
    return _gold_digest({name: (digest, b"") for name, digest in digests.items()}, part, spec)


def load_gold_items(db: Connection, revision: Revision, part: str) -> ItemInfo:
    """Return the attributes of the sentences of one part, from the request."""
    return _items(texts.read_texts(db, revision.id, [items_name(part)]), part)


def benchmark_key(db: Connection, benchmark_id: str) -> bytes:
    """Return the key of a benchmark's digests; another benchmark's tells nothing of it.

    The first call needs a writing transaction.
    """
    return hmac.new(
        secrets.get_or_make(db, DIGEST_SECRET), f"benchmark {benchmark_id}".encode(), hashlib.sha256
    ).digest()


def keyed_digest(key: bytes, digest: str) -> str:
    """Return a name of a gold text that confirms no guess of it.

    Args:
        key: of the benchmark, so that equal gold has unrelated names in two of them.
        digest: of the text.
    """
    return "hmac-sha256:" + hmac.new(key, digest.encode(), hashlib.sha256).hexdigest()


def evaluation_of(spec: Spec, gold: Gold, revision: Revision, part: str, limits: Limits) -> Evaluation:
    """Return an evaluation against checked gold, which is read.

    Raises:
        RuntimeError: this version cannot read it, which no submission caused. The message does not quote gold.
    """
    try:
        return Evaluation(spec, gold.text, gold.items, limits, f"/parts/{part}/gold", part)
    except ScoringError:
        raise RuntimeError(f"gold of {revision.id} cannot be read by this version") from None


def _items(stored: Stored, part: str) -> ItemInfo:
    about = items_name(part)
    return parse_items(orjson.loads(stored[about][1])) if about in stored else ItemInfo()


def _gold_digest(stored: Stored, part: str, spec: Spec) -> str:
    digest = digest_of_part(stored, GOLD, part, spec.format)
    about = items_name(part)
    return f"{digest} items={stored[about][0]}" if about in stored else digest
