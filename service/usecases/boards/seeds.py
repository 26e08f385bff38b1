"""The seeds of the tests that the service chooses: secret, and the same whenever the same question is asked.

The root of a question's seeds is keyed by a secret of the store, so that no one can try seeds, and made of the
benchmark, revision, score, part, unit, and the share of a split test set. The seed of a pair is made of the root and
the two ids: another row on the board changes neither p nor interval of this pair.
"""

from __future__ import annotations

import hashlib
import hmac

import orjson

from service.context import Context
from service.store import secrets
from service.store.comparisons import Question
from treescore.core.params import Json
from treescore.significance import Seeds

SECRET = "comparison-seeds"  # noqa: S105 - a name


def seeds_of(context: Context, question: Question) -> Seeds | None:
    """Return the secret seeds of a question; None where an organiser chose the settings, with the seed."""
    settings = question["settings"]
    if "seed" in settings:
        return None
    with context.store.write() as db:
        key = secrets.get_or_make(db, SECRET)
    # a track has the seeds of its parts: another name for the same parts makes the same question
    part = question.get("parts", question["part"])
    about: list[Json] = [question["benchmark"], question["revision"], question["score"], part, settings["unit"]]
    if "share" in question:
        about.append(question["share"])
    return Seeds(hmac.digest(key, orjson.dumps(about), hashlib.sha256))
