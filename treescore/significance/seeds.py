"""The seeds of pairs and of resamples, made of one root: another system changes none of them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

_SEED_BYTES = 8


@dataclass(frozen=True, slots=True)
class Seeds:
    """The seeds of one question.

    Attributes:
        root: what they are made of; with it and the names the tests can be repeated.
    """

    root: bytes

    @property
    def commitment(self) -> str:
        """Return what is published before the root is, so that it cannot be changed afterwards."""
        return "sha256:" + hashlib.sha256(self.root).hexdigest()

    def of(self, names: Sequence[str]) -> int:
        """Return the seed of a pair's shuffles and draws; of no names, that of all resamples; below 2^63."""
        body = "\0".join(sorted(names)).encode()
        return int.from_bytes(hmac.digest(self.root, body, hashlib.sha256)[:_SEED_BYTES], "big") >> 1
