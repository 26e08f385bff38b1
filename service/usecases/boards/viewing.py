"""Boards as views: how a caller sees one, and its bytes, kept under what they depend on.

Scores are shown at once, significance as soon as a worker has compared the rows. The matrix is the score that ranks, of
every row in every part. All scores of the rows are a line for each score of each part, in pages of whole rows.

What of a board's figures is shown depends on its revision: one with gold too near to that of another one is not. Boards
that are ready to send stand in a cache, bounded in memory.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Generic, TypedDict, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
import orjson
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context, LruCache
from service.contract import common, leaderboards
from service.contract.leaderboards import BoardQuery, LeaderboardRow
from service.policy import gate
from service.policy.release import NO_TRACKS, Release
from service.render import render_leaderboard, render_matrix
from service.requests import MACRO, POOLED, PRIVATE
from service.store import benchmarks, boards, database, revisions
from service.store.benchmarks import Benchmark
from service.store.score_records import finite
from service.store.submissions import BoardEntry
from service.usecases.access import benchmark_of, item_number
from service.usecases.boards import compare, ranking
from service.usecases.boards.ranking import Board, BoardRow
from service.usecases.runs import Page, Shown, board_name, changed, moment, wait_for
from service.usecases.scoring import config, part_scorer, shares
from treescore.core.arrays import FloatArray
from treescore.evaluation.report import charged_figure
from treescore.render.forms import Rendered


def released(
    db: Connection,
    benchmark: Benchmark,
    release: Release,
    revision: revisions.Revision,
    tracks: Mapping[str, Collection[str]] = NO_TRACKS,
) -> Release:
    """Return what a release shows of the figures under a revision, on a board those of its tracks too."""
    scoring = config.scoring_config(revision.scoring)
    sizes = shares.sizes_of(db, benchmark, revision.id, revisions.parts_of(db, revision.id), release.share)
    return release.under(
        benchmark, revision.number, scoring.addresses, scoring.main_score, sizes, tracks,
        lambda: shares.golds_of(db, benchmark, release.share),
    )  # fmt: skip


MOST_BYTES = 64 * 2**20
_CACHES: WeakKeyDictionary[database.Store, LruCache[Shown[Any]]] = WeakKeyDictionary()
_LOCK = Lock()


def cache_of(store: database.Store) -> LruCache[Shown[Any]]:
    """Return the bytes of a store's boards, by what their bytes depend on."""
    with _LOCK:
        return _CACHES.setdefault(store, LruCache[Shown[Any]](MOST_BYTES, lambda shown: len(shown.content)))


def row_details(db: Connection, board: Board, ids: Sequence[str]) -> dict[str, boards.RowDetails]:
    """Return what rows show of their submissions; the intervals of a track are those of its comparison."""
    number, layout, private = board.revision.number, board.layout, board.share == PRIVATE
    part = MACRO if board.track is not None else board.ranking_part
    details = boards.details(db, ids, number, layout, part, board.score, private=private)
    if board.track is None:
        return details
    means = ranking.track_means(db, board, ids, private=private)
    scores = {
        each: dict(zip(layout.addresses, map(finite, values.tolist()), strict=True)) for each, values in means.items()
    }
    return {each: replace(found, scores=scores.get(each, {}), interval=None) for each, found in details.items()}


class Missing(TypedDict):
    """What a row lacks; None where it has no scores."""

    missing_parts: list[str] | None
    scored_parts: int | None


def missing_parts_of(db: Connection, board: Board, entries: Iterable[BoardEntry]) -> dict[str, list[str]]:
    """Return the chosen parts that entries with scores lack, of training runs each by itself; by submission.

    A part is missing that has no score at all. Only where no sentence of a part is covered are figures
    read: those of a large board are many.
    """
    layout = board.layout
    at = [(name, layout.row(name)) for name in board.chosen_names]
    lacking: dict[str, list[str]] = {}
    unsure: list[str] = []
    for entry in entries:
        runs = entry.runs or (entry.id,)
        if entry.covered is None or any(entry.covered[row] == 0 for _, row in at):
            unsure += runs
        else:
            lacking |= {run: [] for run in runs}
    for each, values in boards.part_figures(db, unsure, board.revision.number, layout).items():
        undefined = np.isnan(values)
        lacking[each] = [name for name, row in at if undefined[row].all()]
    return lacking


def missing_of_row(parts: Sequence[str], entry: BoardEntry, missing: Mapping[str, Sequence[str]]) -> Missing:
    """Return what a row lacks of the chosen parts, of several training runs what any of them lacks."""
    runs = entry.runs or (entry.id,)
    if not any(run in missing for run in runs):
        return Missing(missing_parts=None, scored_parts=None)
    lacking = {name for run in runs for name in missing.get(run, ())}
    names = [name for name in parts if name in lacking] if lacking else []
    return Missing(missing_parts=names, scored_parts=len(parts) - len(names))


ONE_STATE = 3
"""Attempts at reading a board while it does not change."""

Document = TypeVar("Document", bound=Mapping[str, Any])


@dataclass(frozen=True, slots=True)
class Sheet(Generic[Document]):
    """One way to look at boards.

    Attributes:
        name: of its documents.
        formats: name -> media type, `json` among them.
        document: makes it of a board, as a release shows it, with rows after the first so many.
        render: writes it in a format other than JSON.
    """

    name: str
    formats: Mapping[str, str]
    document: Callable[[Connection, Benchmark, Board, Release, int], Document]
    render: Callable[[Any, str], Rendered]


def sheet_view(
    context: Context, caller: Caller, slug: str, sheet: Sheet[Document], query: BoardQuery
) -> Shown[Document]:
    """Return a board as a sheet shows it: its bytes, which are kept.

    Its validator is the digest of its bytes: one that counted what they depend on would tell of attempts that are not
    picked, of what is scored after freezing, and of which of two rounded scores is the better one.

    Args:
        context: store, queue and configuration.
        caller: who looks.
        slug: of the benchmark.
        sheet: how it is shown.
        query: which board: by default the active revision, its main score, the benchmark's own pick, JSON.

    Raises:
        NotFound: unknown benchmark, revision or part.
        Unprocessable: unknown score, or a share of a test set that is not split.
        Forbidden: the benchmark does not show the score, the part, the revision or the share, or not with another pick.
    """
    form = query.format or "json"
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
    release = Release.of(benchmark, caller, context.now(), asked=query.split, pick=query.pick, board=True)
    cache = cache_of(context.store)

    def build() -> Shown[Document]:
        return _built(context, sheet, benchmark, release, query)

    def render() -> Shown[Document]:
        shown = sheet.render(json.document, form)
        return replace(json, kept=shown.content, content_type=shown.media_type)

    if release.early:  # no version counts it: that of the board would tell of the private share
        json = build()
        return json if form == "json" else render()
    versions = benchmark.created_at, benchmark.version, benchmark.board_version
    depends = sheet.name, benchmark.id, versions, release.tag, replace(query, format=None)
    json = cache.get_or_make(repr(depends), build)
    return json if form == "json" else cache.get_or_make(f"{json.etag}.{form}", render)


def wait_for_sheet(
    context: Context,
    caller: Caller,
    slug: str,
    sheet: Sheet[Document],
    query: BoardQuery,
    seconds: float,
    etag: str | None,
) -> Shown[Document]:
    """Return a board once it differs from the caller's copy, without one once its significance is there; or late."""
    name = board_name(slug)
    return wait_for(context, name, lambda: sheet_view(context, caller, slug, sheet, query), seconds, etag, changed)


def _built(
    context: Context, sheet: Sheet[Document], benchmark: Benchmark, release: Release, query: BoardQuery
) -> Shown[Document]:
    """Read the board, from one state of the store unless it keeps changing."""
    for _ in range(ONE_STATE):
        with context.store.read() as db:
            board = ranking.board_of(
                db, benchmark, score=query.score, pick=query.pick, revision=query.revision, part=query.part,
                until=release.until, held=release.organiser, share=release.share,
            )  # fmt: skip
            document = sheet.document(db, benchmark, board, release, item_number(query.cursor))
            after = benchmarks.get(db, benchmark.id)
        if after is None or (after.version, after.board_version) == (benchmark.version, benchmark.board_version):
            break
        benchmark = after
    final = not document.get("significance", {}).get("pending")
    return Shown(None, orjson.dumps(document), final=final, next=document["next"])


MOST_ROWS = 2000
"""Maximum number of rows in one answer."""


def leaderboard(
    context: Context, caller: Caller, slug: str, query: leaderboards.LeaderboardQuery
) -> Shown[leaderboards.Leaderboard]:
    """Return the board, ready to send; see `sheet_view`."""
    return sheet_view(context, caller, slug, BOARD_SHEET, query)


def board_document(
    db: Connection, benchmark: Benchmark, board: Board, release: Release, start: int
) -> leaderboards.Leaderboard:
    """Return the whole answer, with rows after the first `start`.

    Raises:
        Forbidden: the score, the part or the revision is not shown.
    """
    release, rows = _shown(db, benchmark, board, release)
    finding = compare.significance_of(db, benchmark, board, rows, release)
    shown = replace(finding, rows=finding.rows[start : start + MOST_ROWS])
    return leaderboards.Leaderboard(
        **_sheet(benchmark, board, release, rows, start),
        parts=board.chosen_names,
        significance=finding.document,
        scores=[address for address in board.scoring.addresses if address in release.listed],
        rows=_board_rows(db, board, shown, release),
    )


def _sheet(
    benchmark: Benchmark, board: Board, release: Release, rows: Sequence[BoardRow], start: int
) -> leaderboards.Sheet:
    """Return what the documents of a leaderboard and of a matrix have in common."""
    stop = start + MOST_ROWS
    return leaderboards.Sheet(
        benchmark=benchmark.id,
        title=benchmark.title,
        revision=board.revision.number,
        active=board.active,
        score=board.score,
        higher_is_better=board.scored_by[1].higher_is_better,
        one_sided=board.scored_by[1].one_sided,
        part=board.part,
        pick=board.pick,
        split=board.share,
        feedback=release.figure_level.name.lower(),
        rounding=release.rounding,
        anonymous=not release.named,
        frozen=release.until is not None,
        as_of=_as_of(release, rows),
        total_rows=len(rows),
        next=str(stop) if stop < len(rows) else None,
    )


def _shown(db: Connection, benchmark: Benchmark, board: Board, release: Release) -> tuple[Release, Sequence[BoardRow]]:
    """Return what is shown of a board's figures, and its rows."""
    release = released(db, benchmark, release, board.revision, board.tracks)
    if not release.shows(gate.Level.ROUNDED):
        return release, []
    release.require(board.score, board.part)
    return release, ranking.rows_of(db, board, release.ranking)


def _as_of(release: Release, rows: Sequence[BoardRow]) -> str | None:
    """Return when the board was frozen, else when the newest of its rows was scored: not what is unpicked."""
    scored = (gate.whole_second(row.entry.finished_at) for row in rows if row.entry.finished_at is not None)
    return moment(release.until or max(scored, default=None))


def _board_rows(db: Connection, board: Board, finding: compare.Finding, release: Release) -> list[LeaderboardRow]:
    ids = [each for row in finding.rows for each in {row.entry.id, *row.entry.runs}]
    details = row_details(db, board, ids)
    missing = missing_parts_of(db, board, (row.entry for row in finding.rows))
    parts = board.chosen_names
    team_ids = {row.entry.team_id for row in finding.rows if row.entry.team_id is not None}
    names = benchmarks.team_names(db, board.benchmark_id, team_ids) if release.named else {}
    considered = compare.numbers_considered(db, board, finding.rows) if release.tested else {}
    charged = _charged(db, board, finding, release)
    documents = []
    for row in finding.rows:
        covered = part_scorer.coverage_of(row.entry.covered, board.parts, frozenset(parts))
        document = _row(board, row, ranking.system_details(row.entry, details), names, finding)
        document["considered"] = considered.get(row.entry.id)
        if row.entry.id in charged:
            document["reason"] = f"{document['reason']}. {charged[row.entry.id]}"
        document["covered"] = None if covered is None else str(covered)
        lacks = missing_of_row(parts, row.entry, missing)
        document["missing_parts"], document["scored_parts"] = lacks["missing_parts"], lacks["scored_parts"]
        documents.append(cast("LeaderboardRow", gate.row_view(release, document)))
    return documents


def _charged(db: Connection, board: Board, finding: compare.Finding, release: Release) -> dict[str, str]:
    """Return what rows would have that rank last for what they lack; nothing where a ladder holds other scores."""
    entry, score = board.scored_by
    if not release.tested or board.ladder or not entry.leaves_out:
        return {}
    entries = [row.entry for row in finding.rows if row.entry.ranks_last and row.entry.id in finding.untested]
    entries = [entry for entry in entries if entry.value is not None][: ranking.TESTED + ranking.MOST_BASELINES]
    found = compare.charged_scores(db, board, entries) if entries else {}
    return {
        name: f"With `errors: zero`, which charges them, it has {charged_figure(value, percent=score.is_share)}."
        for name, value in found.items()
    }


def _row(
    board: Board, row: BoardRow, details: boards.RowDetails, names: Mapping[str, str], finding: compare.Finding
) -> LeaderboardRow:
    entry = row.entry
    return LeaderboardRow(
        rank=row.rank,
        rank_interval=row.rank_interval,
        cluster=row.cluster,
        role=entry.role,
        **ranking.named(entry, names, details.name),
        submission=entry.id,
        links=ranking.links_document(details.links) if entry.team_id is None or entry.team_id in names else None,
        created_at=moment(details.created_at),
        score=details.scores.get(board.score),
        scores=details.scores,
        covered=None,
        missing_parts=None,
        scored_parts=None,
        ci95=finding.intervals.get(entry.id, _interval(details)),
        p_next=row.p_next,
        detectable=row.detectable,
        considered=None,
        runs=leaderboards.RowRuns(count=len(entry.runs), sd=entry.spread) if entry.runs else None,
        tested=row.tested,
        reason=finding.untested.get(entry.id),
    )


def _interval(details: boards.RowDetails) -> common.Interval | None:
    if details.interval is None:
        return None
    return common.Interval(low=details.interval.low, high=details.interval.high)


BOARD_SHEET = Sheet("leaderboard", leaderboards.SHEET_FORMATS, board_document, render_leaderboard)


def matrix(context: Context, caller: Caller, slug: str, query: leaderboards.MatrixQuery) -> Shown[leaderboards.Matrix]:
    """Return the matrix of a board, ready to send; see `sheet_view`."""
    return sheet_view(context, caller, slug, MATRIX_SHEET, query)


def matrix_document(
    db: Connection, benchmark: Benchmark, board: Board, release: Release, start: int
) -> leaderboards.Matrix:
    """Return the whole answer, with rows after the first `start`.

    Raises:
        Forbidden: the score, the part or the revision is not shown.
    """
    release, rows = _shown(db, benchmark, board, release)
    return leaderboards.Matrix(
        **_sheet(benchmark, board, release, rows, start),
        parts=_matrix_parts(benchmark, board, release),
        hidden=[name for name in board.chosen_names if name in release.hidden],
        rows=_matrix_rows(db, board, release, rows[start : start + MOST_ROWS]),
    )


def _matrix_parts(benchmark: Benchmark, board: Board, release: Release) -> list[leaderboards.MatrixPart]:
    counts = config.counts_shown(benchmark, board.revision, release)
    return [
        leaderboards.MatrixPart(
            name=part.name, sentences=part.sentences if counts else None, words=part.words if counts else None
        )
        for part in board.chosen_parts
    ]


def _matrix_rows(
    db: Connection, board: Board, release: Release, rows: Sequence[BoardRow]
) -> list[leaderboards.MatrixRow]:
    ids = [each for row in rows for each in {row.entry.id, *row.entry.runs}]
    details = row_details(db, board, ids)
    missing = missing_parts_of(db, board, (row.entry for row in rows))
    values = _part_values(db, board, ids)
    parts = board.chosen_names
    members = {row.entry.team_id for row in rows if row.entry.team_id is not None}
    names = benchmarks.team_names(db, board.benchmark_id, members) if release.named else {}
    documents = []
    for row in rows:
        entry = row.entry
        shown = ranking.system_details(entry, details)
        document = leaderboards.MatrixRow(
            rank=row.rank,
            role=entry.role,
            **ranking.named(entry, names, shown.name),
            submission=entry.id,
            score=shown.scores.get(board.score),
            values=_means([values[run] for run in entry.runs or (entry.id,) if run in values], len(parts)),
            **missing_of_row(parts, entry, missing),
        )
        documents.append(cast("leaderboards.MatrixRow", gate.matrix_row_view(release, document, parts)))
    return documents


def _part_values(db: Connection, board: Board, ids: Sequence[str]) -> dict[str, FloatArray]:
    """Return the score that ranks in each chosen part, (parts,), of submissions with a record."""
    layout, private = board.layout, board.share == PRIVATE
    chosen, column = [layout.row(name) for name in board.chosen_names], layout.column(board.score)
    found = boards.part_figures(db, ids, board.revision.number, layout, private=private)
    return {each: values[chosen, column] for each, values in found.items()}


def _means(of_runs: Sequence[FloatArray], parts: int) -> list[float | None]:
    """Return the scores of the parts, of several training runs their means; None where that of one is undefined."""
    if not of_runs:
        return [None] * parts
    return [finite(value) for value in np.mean(of_runs, axis=0).tolist()]


MATRIX_SHEET = Sheet("matrix", leaderboards.SHEET_FORMATS, matrix_document, render_matrix)


MOST_SCORE_LINES = 50_000
"""Maximum number of lines in one answer, unless one row has more: the server keeps an answer until it is sent."""


def list_scores(context: Context, caller: Caller, slug: str, query: leaderboards.ScoresQuery) -> Page:
    """Return a page of the scores of a board's rows, as the caller sees them; below level `rounded` it is empty.

    Raises:
        NotFound: unknown benchmark, revision or part.
        Unprocessable: unknown score, or a share of a test set that is not split.
        Forbidden: the benchmark does not show the score, the part, the revision or the share, or not with another pick.
    """
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        release = Release.of(benchmark, caller, context.now(), asked=query.split, pick=query.pick, board=True)
        board = ranking.board_of(
            db, benchmark, score=query.score, pick=query.pick, revision=query.revision, part=query.part,
            until=release.until, held=release.organiser, share=release.share,
        )  # fmt: skip
        release = released(db, benchmark, release, board.revision, board.tracks)
        if not release.shows(gate.Level.ROUNDED):
            return Page([])
        release.require(board.score, board.part)
        shown = _shown_parts(board, release)
        start = item_number(query.cursor)
        stop = start + max(1, MOST_SCORE_LINES // max(1, len(shown) * len(release.listed)))
        rows = ranking.rows_of(db, board, release.ranking)
        lines = _lines(db, board, release, rows[start:stop])
    return Page(lines, str(stop) if stop < len(rows) else None)


def _shown_parts(board: Board, release: Release) -> list[str]:
    """Return what has scores on a board: its parts, and what stands for several of them."""
    names = board.chosen_names
    if board.track is not None and board.part is not None:
        names.append(board.part)
    elif board.part in (MACRO, POOLED):
        names += [*board.tracks, MACRO, POOLED]
    return [name for name in names if name not in release.hidden]


def _lines(db: Connection, board: Board, release: Release, rows: Sequence[BoardRow]) -> list[Mapping[str, object]]:
    ids = [each for row in rows for each in {row.entry.id, *row.entry.runs}]
    known = boards.part_figures(db, ids, board.revision.number, board.layout, private=board.share == PRIVATE)
    members = {row.entry.team_id for row in rows if row.entry.team_id is not None}
    names = benchmarks.team_names(db, board.benchmark_id, members) if release.named else {}
    makers = {name: _maker(board, name) for name in _shown_parts(board, release)}
    addresses = board.layout.addresses
    lines: list[Mapping[str, object]] = []
    for row in rows:
        found = [known[run] for run in row.entry.runs or (row.entry.id,) if run in known]
        if not found:
            continue
        head = {
            "submission": row.entry.id,
            "team": row.entry.team_id if row.entry.team_id in names else None,
            "team_name": names.get(row.entry.team_id or ""),
        }
        for name, scores_of in makers.items():
            values = np.mean([scores_of(each) for each in found], axis=0)
            scores = dict(zip(addresses, values.tolist(), strict=True))
            lines += ({**head, "part": name, **line} for line in gate.score_lines(release, name, scores))
    return lines


def _maker(board: Board, name: str) -> Callable[[FloatArray], FloatArray]:
    """Return what takes all scores of a part, a track, POOLED or MACRO, (addresses,), out of figures."""
    if name in board.tracks:
        return ranking.track_of(board, name)
    row = board.layout.row(name)
    return lambda figures: figures[row]
