"""Gold texts of a revision, read for scoring, and digests of them that confirm no guess."""

from __future__ import annotations

import hashlib
import hmac

from sqlalchemy import Connection

from scoring.errors import ScoringError
from scoring.evaluate import Evaluation
from scoring.limits import Limits
from scoring.registry import Text
from scoring.spec import Spec
from service.store import secrets, texts
from service.store.revisions import Revision
from service.usecases.owned import GOLD, digest_of_part, names_of, text_of

SECRET = "gold-digests"  # noqa: S105 - the name of a secret, no secret


def load_part(db: Connection, revision: Revision, part: str, spec: Spec) -> tuple[Text | None, str]:
    """One part's gold and its plain digest; None where it is not there any more."""
    stored = texts.read(db, revision.id, names_of(GOLD, part, spec.format))
    text = text_of(stored, GOLD, part, spec.format)
    if text is None:
        return None, ""
    return text, digest_of_part({name: digest for name, (digest, _) in stored.items()}, GOLD, part, spec.format)


def keyed_digest(db: Connection, digest: str) -> str:
    """A name for a gold text by which nobody can check a guess of it; needs a writing transaction the first time."""
    key = secrets.get_or_make(db, SECRET)
    return "hmac-sha256:" + hmac.new(key, digest.encode(), hashlib.sha256).hexdigest()


def evaluation_of(spec: Spec, gold: Text | None, revision: Revision, part: str, limits: Limits) -> Evaluation:
    """Checked gold, read.

    Raises:
        RuntimeError: it cannot be read any more, which is no submission's fault. Says nothing of what stands in it.
    """
    if gold is None:
        raise RuntimeError(f"gold of {revision.id} is not there")
    try:
        return Evaluation(spec, gold, None, limits, f"/parts/{part}/gold", part)
    except ScoringError:
        raise RuntimeError(f"gold of {revision.id} cannot be read any more") from None
