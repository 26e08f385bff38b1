"""What a check or a diagnosis says of one thing."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    WRONG = "wrong"
    UNKNOWN = "unknown"


class Finding(NamedTuple):
    """One line.

    Attributes:
        level: how bad it is.
        code: stable name of the kind.
        subject: id, file or part of the service.
        detail: what is wrong.
        advice: what to do.
    """

    level: Level
    code: str
    subject: str
    detail: str
    advice: str = ""

    @property
    def line(self) -> str:
        """Return it for people."""
        return f"{self.level:<7} {self.code:<22} {self.subject}: {self.detail} {self.advice}".rstrip()


def worst(findings: Iterable[Finding]) -> Level:
    """Return the level of the worst finding; something wrong outweighs something unknown."""
    levels = {finding.level for finding in findings}
    return next((level for level in (Level.WRONG, Level.UNKNOWN, Level.WARN) if level in levels), Level.OK)
