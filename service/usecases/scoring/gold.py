"""Gold texts of a revision, read for scoring, and digests of them that confirm no guess."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

import orjson
from sqlalchemy import Connection

from service.store import secrets, texts
from service.store.revisions import Revision
from service.usecases.scoring.part_texts import GOLD, digest_of_part, items_name, names_of, text_of
from treescore.core.limits import Limits
from treescore.core.registry import ItemInfo, Text
from treescore.errors import ScoringError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import Spec, parse_items

SECRET = "gold-digests"  # noqa: S105 - the name of a secret, no secret


@dataclass(frozen=True, slots=True)
class Gold:
    """One part's gold.

    Attributes:
        text: as it was sent.
        items: what was said of its sentences.
        digest: of both; goes nowhere but through `keyed_digest`.
    """

    text: Text
    items: ItemInfo
    digest: str


def load_part(db: Connection, revision: Revision, part: str, spec: Spec) -> Gold:
    """One part's gold.

    Raises:
        RuntimeError: it is not there any more.
    """
    about = items_name(part)
    stored = texts.read(db, revision.id, [*names_of(GOLD, part, spec.format), about])
    text = text_of(stored, GOLD, part, spec.format)
    if text is None:
        raise RuntimeError(f"gold of {revision.id} is not there")
    digest = digest_of_part({name: digest for name, (digest, _) in stored.items()}, GOLD, part, spec.format)
    if about not in stored:
        return Gold(text, ItemInfo(), digest)
    told, body = stored[about]
    return Gold(text, parse_items(orjson.loads(body)), f"{digest} items={told}")


def keyed_digest(db: Connection, digest: str) -> str:
    """A name for a gold text by which nobody can check a guess of it; needs a writing transaction the first time."""
    key = secrets.get_or_make(db, SECRET)
    return "hmac-sha256:" + hmac.new(key, digest.encode(), hashlib.sha256).hexdigest()


def evaluation_of(spec: Spec, gold: Gold, revision: Revision, part: str, limits: Limits) -> Evaluation:
    """Checked gold, read.

    Raises:
        RuntimeError: it cannot be read any more, which is no submission's fault. Says nothing of what stands in it.
    """
    try:
        return Evaluation(spec, gold.text, gold.items, limits, f"/parts/{part}/gold", part)
    except ScoringError:
        raise RuntimeError(f"gold of {revision.id} cannot be read any more") from None
