"""What a team picked its row from: all of its scored submissions, for which the p of a pair allows.

The row ahead of a pair is the best of k submissions of its team. So k counts what the team has had scored, withdrawn
and deleted submissions included: nothing that a team does afterwards makes its row look less picked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from service.requests import PRIVATE
from service.store import attempts, systems
from service.store.comparisons import Considered, Question
from service.usecases.boards.board import Board, question_of
from service.usecases.boards.rows import TESTED, BoardRow
from treescore.significance import Settings

PICKED = ("best", "chosen")
"""Picks that may look at scores; `last` and `all` do not."""
ADJUSTED, NONE = "adjusted", "none"
PAIR = 2
MOST_CONSIDERED = 64
"""Limit of a team's other submissions whose counts are read; each further one is as one whose counts are gone."""
COUNTS_BYTES = 128 * 2**20
"""Limit of the memory for the counts of all others: 64 for each of 50 rows up to 1,700 sentences of 3 columns."""
SWAPPED = 10**8
"""Limit of pairs x sentences x others, each swapped in 100,000 shuffles: five minutes at the measured 3.4e5 a second
(one pair of 2,000 sentences with 64 others: 0.4 s). 50 rows of 2,000 sentences have 40 others each."""
_COUNT_BYTES = 8


def selection_of(board: Board) -> str:
    """Return how p allows for the picking: `adjusted`, or `none` where rows are not picked by their scores.

    On the board of a private share it is `private`: rows are picked by scores over the public one, which tell nothing
    of the sentences that are tested.
    """
    if board.share == PRIVATE:
        return PRIVATE
    return ADJUSTED if board.pick in PICKED else NONE


def board_question(
    db: Connection, board: Board, rows: Sequence[BoardRow], ids: Sequence[str], chosen: Settings | None = None
) -> Question:
    """Return the question about some rows of a board, with what their teams picked them from.

    Args:
        db: the transaction.
        board: whose rows they are.
        rows: all of its rows, best first.
        ids: of the rows that are compared.
        chosen: settings of an organiser; None for the board's own.
    """
    question = question_of(board, ids, chosen)
    runs = {row.entry.id: list(row.entry.runs) for row in rows if row.entry.id in set(ids) and row.entry.runs}
    if runs:
        question["runs"] = runs
    if selection_of(board) == ADJUSTED and (chosen is None or allows(chosen)):
        question["considered"] = considered_of(db, board, _ahead([row for row in rows if row.entry.id in set(ids)]))
    return question


def listed_question(
    db: Connection, board: Board, rows: Sequence[BoardRow], ids: Sequence[str], chosen: Settings | None
) -> Question:
    """Return the question about submissions by their ids: the board's where all of them are its rows.

    Others, as two of one team, and those of an organiser with settings of their own are taken as they are. Training
    runs of one system are one, unless all that is listed are runs of one system.
    """
    if chosen is None and {row.entry.id for row in rows} >= set(ids):
        return board_question(db, board, rows, ids)
    question = question_of(board, ids, chosen)
    runs = listed_runs(question["submissions"], rows, systems.of_submissions(db, ids))
    if runs:
        question["runs"] = runs
    return question


def listed_runs(ids: Sequence[str], rows: Sequence[BoardRow], system_of: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the runs of each system of several, by the listed submission that stands for it: the first one.

    A row of the board stands for all runs of its system, another submission for those that are listed.
    """
    listed: dict[str, list[str]] = {}
    for each in ids:
        listed.setdefault(system_of[each], []).append(each)
    if len(listed) < PAIR:
        return {}
    of_row = {row.entry.id: list(row.entry.runs) for row in rows if row.entry.runs}
    runs = {of_it[0]: of_row.get(of_it[0], of_it) if len(of_it) == 1 else of_it for of_it in listed.values()}
    return {first: of_it for first, of_it in runs.items() if len(of_it) >= PAIR}


def allows(settings: Settings) -> bool:
    """Return whether a test with these settings can allow for picking: the two-sided permutation test."""
    return settings.test == "permutation" and settings.alternative == "two-sided"


def considered_of(db: Connection, board: Board, rows: Sequence[BoardRow]) -> dict[str, Considered]:
    """Return what the teams of rows picked them from, beside the rows; nothing for a team's only submission."""
    row_of = {row.entry.team_id: row.entry.id for row in rows if row.entry.team_id is not None}
    own = {each for row in rows for each in (row.entry.id, *row.entry.runs)}
    found: dict[str, Considered] = {}
    number = board.revision.number
    for attempt in attempts.of_teams(db, board.benchmark_id, number, list(row_of), board.until):
        if attempt.id in own:
            continue
        row = row_of[attempt.team_id]
        beside = found.setdefault(row, {"others": [], "deleted": 0})
        if attempt.deleted or (board.ladder and attempt.held):
            # p would tell of held scores how they vary with those of the row: they count as if they were gone
            beside["deleted"] += 1
        else:
            beside["others"].append(attempt.id)
    return found


def numbers_considered(db: Connection, board: Board, rows: Sequence[BoardRow]) -> dict[str, int]:
    """Return k for each row: how many scored submissions its team has, its training runs being one; 1 for baselines.

    Runs of the team's other systems count one by one: the team saw the score of each, and may send the best again.
    """
    of_team = attempts.counted(db, board.benchmark_id, board.revision.number, board.until)
    runs_beside = {row.entry.id: max(0, len(row.entry.runs) - 1) for row in rows}
    return {row.entry.id: max(1, of_team.get(row.entry.team_id or "", 0) - runs_beside[row.entry.id]) for row in rows}


def most_others(question: Question, sentences: int, columns: int) -> int:
    """Return how many other submissions of each team are compared by their counts, the newest ones.

    As many as a full board allows, however few rows are asked about: else lists of several lengths would give several
    answers to one question.

    Args:
        question: whose `considered` are read.
        sentences: rows of one submission's counts.
        columns: columns of them.
    """
    rows = max(TESTED, len(question.get("considered", {})))
    in_memory = COUNTS_BYTES // max(1, rows * sentences * columns * _COUNT_BYTES)
    in_time = SWAPPED // max(1, rows * (rows - 1) // 2 * sentences)
    return min(MOST_CONSIDERED, in_memory, in_time)


def _ahead(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """Return the rows that can be ahead of another: all but the last, unless the last two have equal scores."""
    if len(rows) > 1 and rows[-1].entry.value == rows[-2].entry.value:
        return list(rows)
    return list(rows[:-1])
