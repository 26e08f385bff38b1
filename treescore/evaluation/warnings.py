"""Problems and warnings of an evaluation as lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from treescore.core.params import Json
from treescore.errors import FilePath, OneOfSeveral, Problem, ScoringError


def warning_lines(warnings: Iterable[Mapping[str, Json]]) -> list[str]:
    """Return a line for each kind of warning of each text or metric: the first one, and how many are like it."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Json]]] = {}
    for warning in warnings:
        groups.setdefault((_whose(warning), str(warning.get("metric", "")), str(warning["code"])), []).append(warning)
    return [_line(whose, found) for (whose, _, _), found in groups.items()]


def warnings_of_metric(warnings: Iterable[Mapping[str, Json]], key: str) -> list[Mapping[str, Json]]:
    """Return the warnings that concern the scores of one metric: its own and those of the texts."""
    return [warning for warning in warnings if warning.get("metric", key) == key]


def _whose(warning: Mapping[str, Json]) -> str:
    """Return the system, else the place: a member of the request without its slash, or a file with it."""
    named = warning.get("system")
    return _words_of(warning.get("pointer", "")) if named is None else str(named)


def _words_of(place: str) -> str:
    return str(place) if isinstance(place, FilePath) else place.removeprefix("/")


def _line(whose: str, found: Sequence[Mapping[str, Json]]) -> str:
    first = found[0]
    place = first.get("pointer", "")
    if isinstance(place, OneOfSeveral) and whose != place:
        whose = f"{whose}, {place}"
    more = f" ({len(found) - 1} more like this)" if len(found) > 1 else ""
    return f"{_placed(whose, first, first['detail'])} [{first['code']}]{more}"


def problem_line(problem: Problem) -> str:
    """Return a problem as one line: `out.conllu, line 7, column 7: HEAD is 9 ... [conllu-head-...]`."""
    return f"{problem_words(problem)} [{problem.code}]"


def problem_words(problem: Problem) -> str:
    """Return place and detail of a problem, for a caller who may read gold."""
    at = {name: value for name in _PLACES if (value := getattr(problem, name)) is not None}
    return _placed(_words_of(problem.pointer), at, problem.gold_detail or problem.detail)


@contextmanager
def telling() -> Iterator[None]:
    """Have errors of the block say where in the texts their problems are, as the caller may read gold."""
    try:
        yield
    except ScoringError as error:
        error.tell(problem_words)
        raise


def _placed(whose: str, at: Mapping[str, Json], detail: str) -> str:
    places = [*([whose] if whose else []), *(f"{words} {at[name]}" for name, words in _PLACES.items() if name in at)]
    return f"{', '.join(places)}{': ' if places else ''}{detail}"


_PLACES = {"line": "line", "column": "column", "sent_id": "sentence"}
"""Member of a problem -> how its place is named."""
