"""What the catalogue says of one code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One code.

    Attributes:
        title: a few words, without a full stop.
        cause: why it is given, in one or two sentences.
        fix: what to do, in one or two sentences.
        example: a line or two that are right; empty where words suffice.
    """

    title: str
    cause: str
    fix: str
    example: str = ""
