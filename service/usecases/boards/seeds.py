"""The seeds of the tests that the service chooses: secret, and the same whenever the same question is asked.

The root of a question's seeds is keyed by a secret of the store, so that no one can try seeds, and made of the
benchmark, revision, score, part, unit, and the share of a split test set. The seed of a pair is made of the root and
the two ids: another row on the board changes neither p nor interval of this pair.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from service.context import Context
from service.store import secrets
from service.store.comparisons import Question

SECRET = "comparison-seeds"  # noqa: S105 - a name
_SEED_BYTES = 8


@dataclass(frozen=True, slots=True)
class Seeds:
    """The seeds of all pairs of one question.

    Attributes:
        root: what they are made of; with it and the ids the test can be repeated.
    """

    root: bytes

    @property
    def commitment(self) -> str:
        """Return what is published before the root is, so that it cannot be changed afterwards."""
        return "sha256:" + hashlib.sha256(self.root).hexdigest()

    def of(self, names: Sequence[str]) -> int:
        """Return the seed of one submission's interval, or of everything that is drawn for two; below 2^63."""
        body = "\0".join(sorted(names)).encode()
        return int.from_bytes(hmac.digest(self.root, body, hashlib.sha256)[:_SEED_BYTES], "big") >> 1


def seeds_of(context: Context, question: Question) -> Seeds | None:
    """Return the secret seeds of a question; None where an organiser chose the settings, with the seed."""
    settings = question["settings"]
    if "seed" in settings:
        return None
    with context.store.write() as db:
        key = secrets.get_or_make(db, SECRET)
    about = [question["benchmark"], question["revision"], question["score"], question["part"], settings["unit"]]
    if "share" in question:
        about.append(question["share"])
    return Seeds(hmac.digest(key, orjson.dumps(about), hashlib.sha256))
