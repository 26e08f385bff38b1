"""A board read from the store: which one is asked for, who stands on it, and which comparison is behind it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import orjson
from sqlalchemy import Connection

from service.errors import NotFound, Unprocessable, unprocessable
from service.requests import MACRO, PICKS, POOLED
from service.store import boards, revisions
from service.store.benchmarks import Benchmark
from service.store.boards import Figure
from service.store.revisions import Part, Revision
from service.usecases.boards.rows import Entrant, Place, family, picked, ranked
from service.usecases.scoring.config import ScoringConfig, scoring_config
from treescore.core.scores import Score
from treescore.errors import ScoringError
from treescore.evaluation.parts import RESAMPLES
from treescore.evaluation.report import full_address
from treescore.evaluation.spec import Entry
from treescore.significance import Settings

BOARD_SETTINGS = Settings(shuffles=100_000, resamples=RESAMPLES)
"""How the differences behind a board are tested."""
MOST_SHUFFLED = 5_000_000_000
"""Pairs times parts times shuffles of a mean of parts: what a worker does within minutes."""
FEWEST_SHUFFLES = 10_000
READABLE = (revisions.ACTIVE, revisions.SUPERSEDED)
MOST_OTHERS = 3
"""Metrics beside the one that ranks whose boards are tested unasked."""
_KEY_LENGTH = 120

See = Callable[[float | None], float | None]


@dataclass(frozen=True, slots=True)
class Board:
    """Which board.

    Attributes:
        benchmark_id: whose.
        revision: under which submissions were scored.
        scoring: of the revision.
        parts: of the revision.
        score: address of the score that ranks.
        part: None where the benchmark has one part; else `macro`, `pooled` or a part's name.
        pick: which of a team's submissions stand there.
        until: leaves out what had no scores at that moment.
        active: whether the revision rules.
    """

    benchmark_id: str
    revision: Revision
    scoring: ScoringConfig
    parts: Sequence[Part]
    score: str
    part: str | None
    pick: str
    until: datetime | None
    active: bool

    @property
    def scored_by(self) -> tuple[Entry, Score]:
        """Metric entry and score that rank."""
        return self.scoring.score(self.score)

    @property
    def row(self) -> int:
        """The row of the figures that ranks."""
        if self.part is None or self.part == MACRO:
            return len(self.parts) + 1
        if self.part == POOLED:
            return len(self.parts)
        return [part.name for part in self.parts].index(self.part)

    @property
    def interval_rows(self) -> tuple[int, int] | None:
        """The rows that hold its 95 % interval; None for single ones of several parts."""
        size = len(self.parts)
        return {size: (size + 2, size + 3), size + 1: (size + 4, size + 5)}.get(self.row)

    @property
    def column(self) -> int:
        """The column of the score."""
        return self.scoring.addresses.index(self.score)

    @property
    def key(self) -> str:
        """The name under which the comparison behind it is kept."""
        name = "|".join((self.score, self.part or "", self.pick, "frozen" if self.until else ""))
        return name if len(name) <= _KEY_LENGTH else hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


def board_of(
    db: Connection,
    benchmark: Benchmark,
    *,
    score: str | None = None,
    part: str | None = None,
    pick: str | None = None,
    revision: int | None = None,
    until: datetime | None = None,
) -> Board:
    """The board that is asked for, what is None as the benchmark has it.

    Raises:
        NotFound: the revision never ruled, or no revision rules yet; there is no such part.
        Unprocessable: there is no such score, or no such pick.
    """
    number = benchmark.active_revision if revision is None else revision
    found = None if number is None or not 0 < number < 2**31 else revisions.get(db, benchmark.id, number)
    if found is None or found.state not in READABLE:
        wanted = "that rules yet" if revision is None else f"{revision} that has ever ruled"
        raise NotFound(f"The benchmark {benchmark.id!r} has no revision {wanted}.")
    scoring = scoring_config(found.scoring)
    try:
        address = scoring.main_score if score is None else full_address(*scoring.score(score))
    except ScoringError as error:
        raise unprocessable(error.at("/score")) from error
    chosen = benchmark.leaderboard["pick"] if pick is None else pick
    if chosen not in PICKS:
        raise Unprocessable(f"There is no pick {chosen!r}. There are: {', '.join(PICKS)}.")
    parts = revisions.parts_of(db, found.id)
    active = found.number == benchmark.active_revision
    return Board(benchmark.id, found, scoring, parts, address, _part(parts, part), chosen, until, active)


def _part(parts: Sequence[Part], asked: str | None) -> str | None:
    names = [part.name for part in parts]
    if asked is not None and asked not in (*names, MACRO, POOLED):
        known = ", ".join((*names[:20], *(("...",) if len(names) > 20 else ()), MACRO, POOLED))
        raise NotFound(f"There is no part {asked!r}. There are: {known}.")
    if len(names) == 1:
        return None
    return MACRO if asked is None else asked


def places_of(db: Connection, board: Board, see: See = lambda value: value) -> list[Place]:
    """The rows of a board from best to worst, ranked by scores as the viewer may see them."""
    main = board.score == board.scoring.main_score and board.row == len(board.parts) + 1
    figure = Figure(board.row, board.column, len(board.scoring.addresses), main)
    standings = boards.standings(
        db, board.benchmark_id, board.revision.number, figure, until=board.until, scored_only=not board.active
    )
    entrants = (Entrant(row.id, row.team_id, row.role, row.chosen, see(row.value)) for row in standings)
    higher = board.scored_by[1].higher_is_better
    return ranked(picked(entrants, board.pick, higher_is_better=higher), higher_is_better=higher)


def tested_of(db: Connection, board: Board, places: Sequence[Place]) -> tuple[list[str], dict[str, str]]:
    """The submissions whose differences are tested, and why others of the first rows are not."""
    ids = family(places)
    untested = incomplete(db, board, ids)
    return [each for each in ids if each not in untested], untested


def incomplete(db: Connection, board: Board, ids: Sequence[str]) -> dict[str, str]:
    """Those of these submissions that lack a part which the board's statistic needs, and which.

    A part that is missing fails as a whole, not sentence by sentence: no swap of sentences says how likely that is.
    """
    if board.part is not None and board.part not in (MACRO, POOLED):
        return {}
    size, columns = len(board.parts), len(board.scoring.addresses)
    rows = boards.shown(db, ids, board.revision.number, columns, 0, size)
    found = {}
    for each, row in rows.items():
        if row.figures is None:
            continue
        gone = np.asarray(np.isnan(row.figures).all(axis=1))
        lacking = [part.name for part in board.parts if gone[part.position]]
        if lacking:
            named = ", ".join(lacking[:5]) + (f" and {len(lacking) - 5} more" if len(lacking) > 5 else "")
            found[each] = f"without a scored output for: {named}"
    return found


def board_settings(board: Board, systems: int) -> Settings:
    """How the differences behind a board are tested: with fewer shuffles only where parts and pairs are very many."""
    work = systems * (systems - 1) // 2 * (len(board.parts) if board.part == MACRO else 0)
    if work * BOARD_SETTINGS.shuffles <= MOST_SHUFFLED:
        return BOARD_SETTINGS
    return replace(BOARD_SETTINGS, shuffles=max(FEWEST_SHUFFLES, MOST_SHUFFLED // work))


def question_of(board: Board, ids: Sequence[str], settings: Settings | None = None) -> dict[str, Any]:
    """The question behind a comparison in its one form; two-sided questions do not depend on the order of systems."""
    settings = board_settings(board, len(ids)) if settings is None else settings
    ordered = sorted(ids) if settings.alternative == "two-sided" and settings.test != "compare_pl" else list(ids)
    return {
        "benchmark": board.benchmark_id,
        "revision": board.revision.number,
        "score": board.score,
        "part": board.part,
        "submissions": ordered,
        "settings": asdict(settings),
    }


def comparison_id(question: Mapping[str, Any]) -> str:
    """`cmp_` and a digest of the question."""
    body = orjson.dumps(question, option=orjson.OPT_SORT_KEYS)
    return "cmp_" + hashlib.blake2b(body, digest_size=16).hexdigest()


def standard_boards(board: Board) -> list[Board]:
    """The boards whose comparisons are made unasked: by the main score, and by the first of every other metric."""
    entries = [entry for entry in board.scoring.spec.entries if entry.key != board.scoring.main[0].key]
    others = [full_address(entry, entry.metric.table.scores[0]) for entry in entries[:MOST_OTHERS]]
    return [replace(board, score=score) for score in (board.scoring.main_score, *others)]
