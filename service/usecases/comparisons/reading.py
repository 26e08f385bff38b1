"""What is read of comparisons and counts without a new question: items, and series of benchmarks.

Items are the sentences in which two submissions differ most. Two teams on all benchmarks of a series: what the
comparisons behind the boards say of them, corrected once. Nothing new is asked of any gold: each test is taken from the
stored comparison of a board, as this caller sees it there, rounded or not. What the caller does not see on a board is
not counted, and the reason tells nothing of its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import Forbidden, Gone, NotFound, Unprocessable, invalid
from service.policy import documents as misfits
from service.policy import gate
from service.policy.gate import Level
from service.requests import DifferingQuery, SeriesQuery
from service.store import benchmarks, score_records, teams
from service.store.benchmarks import Benchmark
from service.store.revisions import Part
from service.store.submissions import Submission
from service.usecases.access.access import benchmark_of, item_number, may_read, storable
from service.usecases.boards.board import BOARD_SETTINGS, Board, board_of, rows_of
from service.usecases.boards.compare import board_behind, comparison_behind, rows_of_share
from service.usecases.boards.viewing import release_of_revision, require_board, viewer_of
from service.usecases.comparisons.show import Visible, visible_comparison
from service.usecases.runs.views import Page, View, json_view
from service.usecases.scoring.config import visibility_key
from service.usecases.scoring.results import ArtifactKey, StoredItems, scores_of
from treescore.core.arrays import FloatArray, IntArray
from treescore.core.params import Json
from treescore.significance.families import Compared, across


@dataclass(frozen=True, slots=True)
class _Differing:
    """Sentences of two submissions in the order of the answer; part and sentence count from 0; all (n,)."""

    difference: FloatArray
    part: IntArray
    sentence: IntArray


def comparison_items(context: Context, caller: Caller, comparison_id: str, query: DifferingQuery) -> Page:
    """Return sentences by the difference between the scores of two of a comparison's submissions, largest first.

    Where the differences are hidden, all sentences are returned, in the order of the text.

    A comparison of two needs no `a` and `b`.

    Returns:
        For each sentence `part`, `item`, `difference` (a minus b; an undefined score counts as the worst), and the
        items of both.

    Raises:
        NotFound: unknown comparison, or unknown submission in it.
        Forbidden: the benchmark's feedback level does not show these items, or a submission belongs to another team.
        Unprocessable: two submissions are not named.
        Gone: the counts are not kept any more.
    """
    start = item_number(query.cursor)
    with context.store.read() as db:
        seen = visible_comparison(db, context, caller, comparison_id)
        comparison, known, level = seen.comparison, seen.known, seen.level
        gate.require(level, gate.Level.ITEMS, "items")
        first, second = _two(comparison.question["submissions"], query.a, query.b)
        _require_own(caller, known[first], known[second])
        board = board_behind(db, comparison.question)
        parts = board.chosen_parts
        address = (visibility_key(board.scored_by[0]), board.scored_by[1].name)
        gate.require_compared_items(level, address[0])
        shown = gate.differences_shown(level, *address)
        differing = _differing(db, board, parts, (first, second), shown=shown)
        sides = _Sides(db, board, seen, (first, second))
        stop = start + query.limit
        listed = range(start, min(stop, len(differing.difference)))
        # in the order in which they are stored, so that each page is read once
        items = {
            at: sides.item(parts[int(differing.part[at])], int(differing.sentence[at]))
            | {"difference": gate.difference_view(level, *address, float(differing.difference[at]))}
            for at in sorted(listed, key=lambda at: (differing.part[at], differing.sentence[at]))
        }
    return Page([items[at] for at in listed], str(stop) if stop < len(differing.difference) else None)


def _two(ids: Sequence[str], a: str | None, b: str | None) -> tuple[str, str]:
    if a is None and b is None and len(ids) == 2:
        return ids[0], ids[1]
    if a is None or b is None or a == b:
        raise Unprocessable("Name two submissions of the comparison, `a` and `b`.")
    for each in (a, b):
        if each not in ids:
            raise NotFound(f"The comparison has no submission {each!r}.")
    return a, b


def _require_own(caller: Caller, *pair: Submission) -> None:
    for submission in pair:
        if not may_read(caller, submission):
            raise Forbidden("You can view only your own items.")


def _differing(
    db: Connection, board: Board, parts: Sequence[Part], pair: tuple[str, str], *, shown: bool
) -> _Differing:
    """Return the sentences of the share in which two submissions differ; all of them where that is hidden."""
    entry, score = board.scored_by
    metric = board.scoring.spec.entries.index(entry)
    worst = 0.0 if score.worst is None else score.worst
    positions = [part.position for part in parts]
    values: list[list[FloatArray]] = []
    for each in pair:
        of_parts = []
        for rows in score_records.counts(db, each, board.revision.number, positions, metric):
            if rows is None:
                raise Gone(f"The counts of {each} are not kept any more.")
            by_sentence = score.of(entry.metric.table.count_names, rows)
            of_parts.append(np.where(np.isnan(by_sentence), worst, by_sentence))
        values.append(of_parts)
    differences, owners, sentences = [], [], []
    for at, (first, second, chosen) in enumerate(zip(*values, rows_of_share(db, board), strict=True)):
        difference = first - second
        kept = np.flatnonzero(chosen & (difference != 0) if shown else chosen)
        differences.append(difference[kept])
        sentences.append(kept)
        owners.append(np.full(len(kept), at))
    difference, part_of, sentence = (np.concatenate(each) for each in (differences, owners, sentences))
    order = np.argsort(-np.abs(difference), kind="stable") if shown else np.arange(len(difference))
    return _Differing(difference[order], part_of[order], sentence[order])


class _Sides:
    """The items of two submissions under the metric of a board, as the caller may see them."""

    def __init__(self, db: Connection, board: Board, seen: Visible, pair: tuple[str, str]) -> None:
        self._db = db
        self._level = seen.level
        self._pair = pair
        self._kept: dict[str, tuple[int, StoredItems]] = {}
        self._entry = board.scored_by[0]
        self._position = board.scoring.spec.entries.index(self._entry)
        self._revision = board.revision.number
        benchmark = benchmark_of(db, board.benchmark_id)
        self._release = release_of_revision(db, benchmark, board.revision, seen.level, board.share)
        self._closed = misfits.hides_misfits(seen.level, benchmark)

    def _stored(self, submission: str, part: Part) -> StoredItems:
        """Return the items of a submission in a part; those of the last part are kept."""
        kept = self._kept.get(submission)
        if kept is None or kept[0] != part.position:
            key = ArtifactKey(part.position, self._position, self._revision)
            kept = part.position, StoredItems(self._db, submission, key, self._entry.metric.table)
            self._kept[submission] = kept
        return kept[1]

    def item(self, part: Part, sentence: int) -> dict[str, object]:
        """Return one sentence of both, without their difference."""
        document: dict[str, object] = {"part": part.name, "item": sentence + 1}
        for side, each in zip("ab", self._pair, strict=True):
            items = self._stored(each, part).read(sentence, sentence + 1)
            documents = misfits.closed_items(items) if self._closed else items
            shown = [gate.item_view(self._level, visibility_key(self._entry), item) for item in documents]
            listed = self._release.of_items(self._entry.key, scores_of(self._entry), shown)
            document[side] = {"submission": each, **(listed[0] if listed else {})}
        return document


MOST_BENCHMARKS = 20
"""Benchmarks of a series that one answer compares, by id; for each a stored comparison is read whole."""


class _Unseen(Exception):
    """The caller sees no test of the two teams on a benchmark; the message says why."""


def compare_in_series(context: Context, caller: Caller, series: str, query: SeriesQuery) -> View:
    """Compare the rows of two teams on the benchmarks of a series that the caller may know of.

    Raises:
        NotFound: the caller knows of no benchmark of the series.
        Unprocessable: both teams are the same.
    """
    if query.a == query.b:
        raise invalid("repeated-team", "/b", "Both teams are the same. Name two teams.")
    compared: list[Compared] = []
    untested: list[dict[str, str]] = []
    with context.store.read() as db:
        known = _known(db, caller, series)
        for benchmark in known[:MOST_BENCHMARKS]:
            try:
                compared.append(_compared(db, context, caller, benchmark, query))
            except _Unseen as reason:
                untested.append({"benchmark": benchmark.id, "reason": str(reason)})
    late = f"It is not among the first {MOST_BENCHMARKS} benchmarks of the series."
    untested += [{"benchmark": benchmark.id, "reason": late} for benchmark in known[MOST_BENCHMARKS:]]
    how = BOARD_SETTINGS
    pair = (query.a, query.b)
    joined = across(compared, correction=how.correction, alpha=how.alpha, independent=True, pairs=[pair])
    return json_view({"series": series, **joined, "untested": untested})


def _known(db: Connection, caller: Caller, series: str) -> list[Benchmark]:
    rows = benchmarks.listing(db, None, None, series) if storable(series) else []
    known = [row for row in rows if gate.knows(row, caller)]
    if not known:
        raise NotFound(f"Unknown series {series!r}.")
    return known


def _compared(db: Connection, context: Context, caller: Caller, benchmark: Benchmark, query: SeriesQuery) -> Compared:
    """Return the test of the two teams' rows on a benchmark, as the caller sees it.

    Raises:
        _Unseen: the caller sees none.
    """
    viewer = viewer_of(benchmark, caller, context.now())
    if viewer.level < Level.SCORES:
        raise _Unseen("The feedback level of this benchmark shows no comparisons.")
    if not viewer.named:
        raise _Unseen("The leaderboard of this benchmark hides the names of teams.")
    try:
        board = board_of(db, benchmark, until=viewer.until, share=viewer.share)
        require_board(db, benchmark, board, viewer.level)
    except (NotFound, Forbidden) as error:
        raise _Unseen(error.detail) from error
    rows = rows_of(db, board)
    named = teams.names(db, benchmark.id, (query.a, query.b))
    row_of: dict[str, str] = {}
    for row in rows:
        if row.entry.team_id in named and row.entry.value is not None:
            row_of.setdefault(row.entry.team_id, row.entry.id)
    for team in (query.a, query.b):
        if team not in row_of:
            raise _Unseen(f"The leaderboard has no row of {team!r} with a score.")
    name, comparison = comparison_behind(db, board, rows)
    if comparison is None:
        raise _Unseen("The leaderboard is not compared yet.")
    team_of = {submission: team for team, submission in row_of.items()}
    if not any(pair["a"] in team_of and pair["b"] in team_of for pair in comparison["pairs"]):
        raise _Unseen("The two rows are not compared with each other.")
    return Compared(
        _named(gate.comparison_view(viewer.level, comparison), board.score, team_of),
        {
            "benchmark": benchmark.id,
            "comparison": name,
        },
    )


def _named(document: Mapping[str, Json], score: str, team_of: Mapping[str, str]) -> dict[str, Json]:
    """Return the pair of two submissions under the names of their teams, as a document of its own."""
    pairs = [
        {**pair, "a": team_of[pair["a"]], "b": team_of[pair["b"]]}
        for pair in document["pairs"]
        if pair["a"] in team_of and pair["b"] in team_of
    ]
    return {"score": score, "alternative": document["alternative"], "pairs": pairs}
