"""Signs of formats: what the first lines of a text show of its format, and of what can be scored with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from treescore.core.counting import counted
from treescore.core.params import Json
from treescore.core.text import BOM

HEAD_BYTES = 1 << 16
"""Bytes of a text that are looked at."""
CERTAIN, LIKELY, POSSIBLE = 1.0, 0.7, 0.3
"""How strong signs are: only this format writes so; others rarely do; others do as well."""
_MOST_FIELDS = 200


@dataclass(frozen=True)
class Head:
    """The first complete lines of a text.

    Attributes:
        lines: without line ends.
        whole: whether they are all of the text.
    """

    lines: Sequence[str]
    whole: bool

    @classmethod
    def of(cls, text: bytes) -> Head:
        """Take the first lines of a text; bytes that are not UTF-8 are replaced, a line that is cut is left out."""
        head = text[:HEAD_BYTES].removeprefix(BOM).decode("utf-8", "replace")
        lines = head.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        whole = len(text) <= HEAD_BYTES
        if not whole and len(lines) > 1:
            lines.pop()
        return cls(lines, whole)

    @cached_property
    def filled(self) -> Sequence[str]:
        """The lines that are not blank."""
        return [line for line in self.lines if line.strip()]

    @cached_property
    def comments(self) -> Sequence[str]:
        """The lines that begin with #."""
        return [line for line in self.filled if line.startswith("#")]

    @cached_property
    def rows(self) -> Sequence[Sequence[str]]:
        """The fields of the lines that are neither blank nor comments, split at tabs, at spaces where it has none."""
        lines = [line for line in self.filled if not line.startswith("#")]
        return [line.split("\t", _MOST_FIELDS) if "\t" in line else line.split(None, _MOST_FIELDS) for line in lines]

    @property
    def first(self) -> str:
        """The first line that is not blank, without white space around it."""
        return self.filled[0].strip() if self.filled else ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A metric entry as a request writes it, and why it is suggested."""

    metric: Json
    why: str

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.metric if isinstance(self.metric, str) else str(self.metric["name"])


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for a format.

    Attributes:
        strength: 0 to CERTAIN.
        why: what was seen, in sentences.
        options: of the format.
        metrics: to score it with, the best first; none for the format's usual one.
    """

    strength: float
    why: Sequence[str]
    options: Mapping[str, Json] = field(default_factory=dict)
    metrics: Sequence[Scored] = ()


def share(found: int, lines: int) -> float:
    """Return a share of lines, 0 where there are none."""
    return found / lines if lines else 0.0


def found_in(found: int, lines: int, what: str) -> str:
    """Say in how many of the first lines something was seen."""
    if found == lines:
        return f"{what} in {'the first line' if lines == 1 else f'each of the first {lines} lines'}."
    return f"{what} in {found} of the first {counted(lines, 'line')}."
