"""Problems of an input: what is wrong, where, and how to fix it. Imports no other module of the library."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

DEFAULT_CAP = 20
"""Problems shown of one input; further ones are only counted."""
FIRST = 3
"""Problems that the message of an error holds."""


class FilePath(str):
    """The path of a file as the place of a problem. A place that is a plain string is a JSON pointer."""

    __slots__ = ()

    @property
    def printable(self) -> Self:
        """The path with a mark for each byte that is not UTF-8, which no document can hold."""
        return type(self)(self.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


class OneOfSeveral(FilePath):
    """The path of one of the files of a text: which one it is does not follow from the name of the text."""

    __slots__ = ()


class SeveralFiles(str):
    """The place of a text that comes from several files: a problem of one of its lines is moved to the file and line.

    Attributes:
        own: the place of problems without a line.
        files: pointer of a text below this place (`""` for the place itself) -> for each file the lines before it, and
            its path.
    """

    __slots__ = ("files", "own")
    own: str
    files: Mapping[str, Sequence[tuple[int, str]]]

    def __new__(cls, own: str, files: Mapping[str, Sequence[tuple[int, str]]]) -> Self:
        """Make a place from that of the whole and those of the files."""
        made = super().__new__(cls, own)
        made.own, made.files = own, files
        return made

    def located(self, problem: Problem) -> Problem:
        """Return the problem at the file that holds its line."""
        files = self.files.get(problem.pointer, ())
        if len(files) == 1:
            return replace(problem, pointer=FilePath(files[0][1]))
        if not files or problem.line is None:
            whole = FilePath(self.own) if isinstance(self.own, FilePath) and not problem.pointer else self.own
            return replace(problem, pointer=whole + problem.pointer if problem.pointer else whole)
        before, path = max(file for file in files if file[0] < max(problem.line, 1))
        return replace(problem, pointer=OneOfSeveral(path), line=problem.line - before)


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
        """Place the problem in the request: its own pointer, if any, is below `pointer`, unless it is a file."""
        own = self if part is None else replace(self, part=part)
        if isinstance(self.pointer, FilePath) or not pointer:
            return own
        if isinstance(pointer, SeveralFiles):
            return pointer.located(own)
        return replace(own, pointer=pointer + self.pointer if self.pointer else pointer)

    @property
    def kind(self) -> tuple[str | int | None, ...]:
        """What problems of lines have in common that differ in their places alone."""
        apart = () if self.line is not None else (self.sentence, self.sent_id)
        return (self.code, self.detail, self.gold_detail, self.pointer, self.part, *apart)

    def with_like(self, more: int) -> Problem:
        """Return the problem with the number of further ones of its kind."""
        if not more:
            return self
        said = f" (and {more} more{'' if self.line is None else ' line' if more == 1 else ' lines'} like it)"
        return replace(self, detail=self.detail + said, gold_detail=self.gold_detail and self.gold_detail + said)

    @property
    def in_text(self) -> bool:
        """Whether the place is in a text, or a file; else it is in the request."""
        return isinstance(self.pointer, FilePath) or self.line is not None or self.sent_id is not None


_LIKE = re.compile(r"(.*) \(and (\d+) more(?: lines?)? like it\)", re.DOTALL)


def without_like(detail: str) -> tuple[str, int]:
    """Return the detail of a problem without what `Problem.with_like` says of further ones, and how many these are."""
    found = _LIKE.fullmatch(detail)
    return (detail, 0) if found is None else (found[1], int(found[2]))


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
        super().__init__("; ".join(problem.detail for problem in self.problems[:FIRST]))

    def tell(self, words: Callable[[Problem], str]) -> None:
        """Say in the message what the problems of texts are in these words, which may quote gold."""
        shown = [
            words(problem) if problem.in_text else problem.gold_detail or problem.detail
            for problem in self.problems[:FIRST]
        ]
        more = self.total - len(shown)
        self.args = ("; ".join([*shown, f"and {more} more"] if more > 0 else shown),)

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
    """Collects problems up to a cap, counting the rest; those of one kind are one, which says how many they are.

    Attributes:
        cap: the most that are kept.
        total: how many there are.
        apart: whether each of one kind is kept for itself.
    """

    cap: int = DEFAULT_CAP
    total: int = 0
    apart: bool = False
    _kept: dict[object, Problem] = field(default_factory=dict)
    _like: dict[object, int] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """Whether problems of further kinds are only counted, so that they need no words."""
        return len(self._kept) >= self.cap

    @property
    def problems(self) -> list[Problem]:
        """Those that are kept, in order."""
        return [problem.with_like(self._like.get(kind, 0)) for kind, problem in self._kept.items()]

    def add(self, problem: Problem, more: int = 0) -> None:
        """Keep the problem, with the number of further ones of its kind; beyond the cap only count it."""
        kind: object = len(self._kept) if self.apart else problem.kind
        if kind in self._kept:
            self._like[kind] += 1 + more
            return
        self.total += 1
        if len(self._kept) < self.cap:
            self._kept[kind], self._like[kind] = problem, more
        else:
            self.total += more

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add several problems."""
        for problem in problems:
            self.add(problem)

    def raise_if_any(self) -> None:
        """Raise InputError if a problem was added."""
        if self.total:
            raise InputError(self.problems, self.total)


def first_of(groups: Iterable[tuple[Sequence[Problem], int]], cap: int) -> ProblemList:
    """Return the first problems of a text, in its order.

    Args:
        groups: the first problems of each group, and how many it has; the others are like them if these are alike.
        cap: the most that are kept.
    """
    found, made, like = ProblemList(cap), list[Problem](), dict[object, int]()
    for problems, total in groups:
        made += problems
        kinds = {problem.kind for problem in problems}
        if len(kinds) == 1:
            like[kinds.pop()] = total - len(problems)
        else:
            found.total += total - len(problems)
    for problem in sorted(made, key=lambda problem: (problem.line or 0, problem.column or 0)):
        found.add(problem, like.pop(problem.kind, 0))
    return found


class MissingExtra(ImportError):
    """An optional package is not installed; the message names the command that installs it."""


def missing_extra(feature: str, extra: str) -> str:
    """Return the message for a feature whose optional package is not installed.

    Args:
        feature: what needs it, as the subject of a sentence (`Drawing`, `The format "x"`).
        extra: name of the extra of this package that installs it.
    """
    return f"{feature} needs an optional package. Install it with: pip install 'treescore[{extra}]'"
