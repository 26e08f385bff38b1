"""Digests of texts."""

from __future__ import annotations

import hashlib


def digest_of(data: bytes) -> str:
    """Return `sha256:...` of a text."""
    return "sha256:" + hashlib.sha256(data).hexdigest()
