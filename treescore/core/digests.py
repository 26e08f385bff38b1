"""Digests of texts."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from importlib.util import find_spec

_SMALL = 1 << 20
"""Bytes that Python's own SHA-256 (325 MB a second) takes 3 ms for, as long as `hashlib` takes to load OpenSSL."""
_OWN = ("_sha2", "_sha256")
"""Modules of Python's own SHA-256, from 3.12 on and before; the standard library's `random` takes SHA-512 so."""
_DIGEST = re.compile("sha256:[0-9a-f]{64}")

SHOWN = 12
"""Digits of a digest that people read; documents hold all."""


def short_digests(names: str) -> str:
    """Return names of texts (`sha256:...`, of several texts separated by spaces) with the first digits alone."""
    parts = (part.partition("sha256:") for part in names.split(" "))
    return " ".join(f"{before}{mark}{digits[:SHOWN]}" for before, mark, digits in parts)


def is_digest(name: str) -> bool:
    """Return whether a string is what `digest_of` returns."""
    return _DIGEST.fullmatch(name) is not None


def digest_of(data: bytes) -> str:
    """Return `sha256:...` of a text.

    OpenSSL takes 3.8 MB of memory, a tenth of a command that scores two small files. So it is loaded for large texts
    only, and used where something else has loaded it.
    """
    name = "hashlib"
    if len(data) <= _SMALL and name not in sys.modules:
        name = next(filter(find_spec, _OWN), name)
    digest: str = import_module(name).sha256(data).hexdigest()
    return f"sha256:{digest}"
