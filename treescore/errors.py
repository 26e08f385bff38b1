"""What can be wrong with an input: where it stands and how to mend it. Imports nothing of ours."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DEFAULT_CAP = 20
"""Problems shown of one input; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, or worth a warning.

    Attributes:
        code: stable kebab-case name.
        detail: what was found and how to mend it. Quotes the text it stands in, and only that text:
            a problem of a system output never quotes gold here.
        pointer: JSON pointer into the request, where known (`/systems/0/output`).
        part: name of the benchmark's part, where there is one.
        sentence: number of the sentence, from 1.
        sent_id: the sentence's own name, where it has one.
        line: line in the text, from 1.
        column: column in the line, from 1 (characters; for tab-separated formats the field).
        gold_detail: what only those may read who may read gold.
    """

    code: str
    detail: str
    pointer: str = ""
    part: str | None = None
    sentence: int | None = None
    sent_id: str | None = None
    line: int | None = None
    column: int | None = None
    gold_detail: str | None = None

    def at(self, pointer: str, part: str | None = None) -> Problem:
        """The same problem, placed in the request: its own pointer, if any, is read below `pointer`."""
        return replace(self, pointer=pointer + self.pointer, part=part if part is not None else self.part)


class ScoringError(Exception):
    """A text or a request that cannot be scored as it stands.

    Attributes:
        kind: `input` (mend the text or the request) or `limit` (it passes a configured bound).
        problems: the first of them, in order.
        total: how many there were.
    """

    kind = "input"

    def __init__(self, problems: Sequence[Problem], total: int | None = None) -> None:
        self.problems = tuple(problems)
        self.total = len(self.problems) if total is None else total
        super().__init__("; ".join(problem.detail for problem in self.problems[:3]))

    def at(self, pointer: str, part: str | None = None) -> ScoringError:
        """The same error with each problem placed in the request."""
        return type(self)([problem.at(pointer, part) for problem in self.problems], self.total)


class InputError(ScoringError):
    """The text or the request is wrong."""


class LimitError(ScoringError):
    """A configured bound is passed."""

    kind = "limit"


@dataclass(slots=True)
class ProblemList:
    """Collects problems up to a cap, counting the rest."""

    cap: int = DEFAULT_CAP
    problems: list[Problem] = field(default_factory=list)
    total: int = 0

    def add(self, problem: Problem) -> None:
        """Keep the problem, or only count it once the cap is reached."""
        self.total += 1
        if len(self.problems) < self.cap:
            self.problems.append(problem)

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add several."""
        for problem in problems:
            self.add(problem)

    def raise_if_any(self) -> None:
        """Raise InputError where something was added."""
        if self.total:
            raise InputError(self.problems, self.total)
