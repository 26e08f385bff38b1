"""Problems of an input: what is wrong, where, and how to fix it. Imports no other module of the library."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

DEFAULT_CAP = 20
"""Problems shown of one input; further ones are only counted."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One error or warning.

    Attributes:
        code: stable kebab-case name.
        detail: what is wrong and how to fix it. Quotes only the text it is about: a problem of a system output
            never quotes gold here.
        pointer: JSON pointer into the request, where known (`/systems/0/output`).
        part: name of the benchmark's part, where there is one.
        sentence: number of the sentence, from 1.
        sent_id: the sentence's own name, where it has one.
        line: line in the text, from 1.
        column: column in the line, from 1 (characters; for tab-separated formats the field).
        gold_detail: detail for callers who may read gold.
    """

    code: str
    detail: str
    _: KW_ONLY
    pointer: str = ""
    part: str | None = None
    sentence: int | None = None
    sent_id: str | None = None
    line: int | None = None
    column: int | None = None
    gold_detail: str | None = None

    def at(self, pointer: str, part: str | None = None) -> Problem:
        """Place the problem in the request: its own pointer, if any, is below `pointer`."""
        return replace(self, pointer=pointer + self.pointer, part=part if part is not None else self.part)


class TreescoreWarning(UserWarning):
    """Something unusual in a text or parameter that was scored as it is; the message says what to do."""


class ScoringError(Exception):
    """A text or a request that cannot be scored.

    Attributes:
        kind: `input` (the text or the request is wrong) or `limit` (it exceeds a configured limit).
        problems: the first ones, in order.
        total: how many there are.
    """

    kind = "input"

    def __init__(self, problems: Problem | Sequence[Problem], total: int | None = None) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        self.total = len(self.problems) if total is None else total
        super().__init__("; ".join(problem.detail for problem in self.problems[:3]))

    def at(self, pointer: str, part: str | None = None) -> ScoringError:
        """Place each problem in the request."""
        return type(self)([problem.at(pointer, part) for problem in self.problems], self.total)


@contextmanager
def placed(pointer: str, part: str | None = None) -> Iterator[None]:
    """Place the problems of an error that is raised in the block in the request."""
    try:
        yield
    except ScoringError as error:
        raise error.at(pointer, part) from error


class InputError(ScoringError):
    """The text or the request is wrong."""


class LimitError(ScoringError):
    """A configured limit is exceeded."""

    kind = "limit"


@dataclass(slots=True)
class ProblemList:
    """Collects problems up to a cap, counting the rest."""

    cap: int = DEFAULT_CAP
    problems: list[Problem] = field(default_factory=list)
    total: int = 0

    def add(self, problem: Problem) -> None:
        """Keep the problem; beyond the cap only count it."""
        self.total += 1
        if len(self.problems) < self.cap:
            self.problems.append(problem)

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add several problems."""
        for problem in problems:
            self.add(problem)

    def raise_if_any(self) -> None:
        """Raise InputError if a problem was added."""
        if self.total:
            raise InputError(self.problems, self.total)
