"""Boards as views: how a caller sees one, and its bytes, kept under what they depend on.

Scores are shown at once, significance as soon as a worker has compared the rows. The matrix is the score that ranks, of
every row in every part. All scores of the rows are a line for each score of each part, in pages of whole rows.

What of a board's figures is shown depends on its revision: one with gold too near to that of another one is not. Boards
that are ready to send stand in a cache, bounded in memory.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from threading import Lock
from typing import Any, Generic, TypedDict, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
import orjson
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.contract import leaderboards
from service.contract.comparisons import ComparisonLabel
from service.contract.leaderboards import BoardQuery, LeaderboardRow
from service.lru import LruCache
from service.policy import gate
from service.policy.release import NO_TRACKS, Release
from service.process import uncollected
from service.render import render_leaderboard, render_matrix
from service.requests import MACRO, POOLED, PRIVATE
from service.store import benchmarks, database, revisions, score_records
from service.store.benchmarks import Benchmark
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


class Missing(TypedDict):
    """What a row lacks; None where it has no scores."""

    missing_parts: list[str] | None
    scored_parts: int | None


def missing_of(parts: Mapping[int, str], entry: BoardEntry) -> Missing:
    """Return what a row lacks of the chosen parts, by position; a part that has no sentence scored and no score."""
    if entry.lacking is None or entry.covered is None:
        return Missing(missing_parts=None, scored_parts=None)
    some = entry.lacking and not all(entry.covered[at] for at in parts)
    names = [parts[at] for at in entry.lacking if at in parts] if some else []
    return Missing(missing_parts=names, scored_parts=len(parts) - len(names))


def _runs_of(entry: BoardEntry) -> Sequence[str]:
    """Return the submissions whose scores a row shows."""
    return entry.runs or (entry.id,)


def _of_rows(
    entries: Sequence[BoardEntry], ids: Sequence[str], found: FloatArray, mean: Callable[[FloatArray], object]
) -> FloatArray:
    """Return the scores of rows, (rows, n); of a system the `mean` of those of its runs, (runs, n) -> (n,).

    Args:
        entries: of the rows.
        ids: of submissions.
        found: their scores, (submissions, n).
        mean: what averages.
    """
    at = {each: position for position, each in enumerate(ids)}
    shown = np.full((len(entries), found.shape[1]), np.nan)
    single = [row for row, entry in enumerate(entries) if not entry.runs and entry.id in at]
    shown[single] = found[[at[entries[row].id] for row in single]]
    for row, entry in enumerate(entries):
        if entry.runs:
            shown[row] = mean(found[[at[run] for run in entry.runs]])
    return shown


def _exact_mean(found: FloatArray) -> list[float]:
    return [fmean(each) for each in found.T.tolist()]


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
            with uncollected():
                document = sheet.document(db, benchmark, board, release, item_number(query.cursor))
            after = benchmarks.get(db, benchmark.id)
        if after is None or (after.version, after.board_version) == (benchmark.version, benchmark.board_version):
            break
        benchmark = after
    final = not document.get("significance", {}).get("pending")
    body = orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)
    return Shown(None, body, final=final, next=document["next"])


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
    release = _shown(db, benchmark, board, release)
    figures = _figures(db, board, release)
    rows = _rows(db, board, release, figures)
    finding = compare.significance_of(db, benchmark, board, rows, release)
    shown = replace(finding, rows=finding.rows[start : start + MOST_ROWS])
    return leaderboards.Leaderboard(
        **_sheet(benchmark, board, release, rows, start),
        parts=board.chosen_names,
        significance=finding.document,
        scores=[address for address in board.scoring.addresses if address in release.listed],
        rows=_board_rows(db, board, shown, release, figures),
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
        as_of=_as_of(board, release, rows),
        total_rows=len(rows),
        next=str(stop) if stop < len(rows) else None,
    )


def _shown(db: Connection, benchmark: Benchmark, board: Board, release: Release) -> Release:
    """Return what is shown of a board's figures.

    Raises:
        Forbidden: figures are shown, but not the score, the part or the revision.
    """
    release = released(db, benchmark, release, board.revision, board.tracks)
    if release.shows(gate.Level.ROUNDED):
        release.require(board.score, board.part)
    return release


@dataclass(frozen=True, slots=True)
class _Figures:
    """What ranks a board, of every submission with a record; nothing where the caller sees no figures.

    Attributes:
        ids: of the submissions.
        addresses: of the scores that are shown.
        scores: float64 (submissions, addresses), NaN where undefined.
        ends: of the intervals of the score that ranks, float64 (submissions, 2); NaN where there is none.
    """

    ids: Sequence[str]
    addresses: Sequence[str]
    scores: FloatArray
    ends: FloatArray


def _figures(db: Connection, board: Board, release: Release) -> _Figures:
    addresses = board.scoring.addresses if len(release.listed) > 1 else [board.score]
    score = None if len(addresses) > 1 else board.score
    chosen = score_records.of_benchmark(board.benchmark_id) if release.shows(gate.Level.ROUNDED) else []
    part, share = board.ranking_part, board.share
    if part not in (MACRO, POOLED):
        ids, of_part = ranking.scores_of(db, board, chosen, [part], share, score)
        return _Figures(ids, addresses, of_part[:, 0], np.full((len(ids), 2), np.nan))
    low, high = f"{part}_low", f"{part}_high"
    ids, found = score_records.kept(db, chosen, board.asked(share, score), (part, low, high))
    return _Figures(ids, addresses, found[:, 0], found[:, 1:, addresses.index(board.score)])


def _rows(db: Connection, board: Board, release: Release, figures: _Figures | None = None) -> Sequence[BoardRow]:
    """Return the rows of a board, none where no figures are shown; of the private share the public one picks."""
    if not release.shows(gate.Level.ROUNDED):
        return []
    if figures is None or board.share == PRIVATE:
        return ranking.rows_of(db, board, release.ranking)
    ranking_scores = figures.scores[:, figures.addresses.index(board.score)].tolist()
    values = dict(zip(figures.ids, map(score_records.finite, ranking_scores), strict=True))
    return ranking.rows_of(db, board, release.ranking, values)


def _as_of(board: Board, release: Release, rows: Sequence[BoardRow]) -> str | None:
    """Return when the board was frozen, else when its newest row was scored; or later, when its revision became active.

    What is not picked does not count.
    """
    newest = max((row.entry.finished_at for row in rows if row.entry.finished_at is not None), default=None)
    last = release.until or newest
    if last is not None and board.revision.activated_at is not None:
        last = max(last, board.revision.activated_at)
    return moment(last if last in (None, release.until) else gate.whole_second(last))


def _board_rows(
    db: Connection, board: Board, finding: compare.Finding, release: Release, figures: _Figures
) -> list[LeaderboardRow]:
    rows, addresses = finding.rows, figures.addresses
    entries = [row.entry for row in rows]
    scores = _of_rows(entries, figures.ids, figures.scores, _exact_mean)
    intervals = _of_rows(entries, figures.ids, figures.ends, lambda of_runs: np.full(of_runs.shape[1], np.nan))
    for at, entry in enumerate(entries):
        if entry.id in finding.intervals:
            ends = finding.intervals[entry.id]
            intervals[at] = math.nan if ends is None else (ends["low"], ends["high"])
    names = benchmarks.team_names(db, board.benchmark_id) if release.named else {}
    charged = _charged(db, board, finding, release)
    parts = board.chosen_positions
    total = sum(board.parts[at].sentences or 0 for at in parts)

    @cache  # most submissions cover the same
    def coverage(covered: tuple[int, ...] | None) -> str | None:
        return None if covered is None else str(part_scorer.Coverage(sum(map(covered.__getitem__, parts)), total))

    columns: gate.Columns = {
        **_row_columns(rows, names, parts),
        "rank_interval": [row.rank_interval for row in rows],
        "cluster": [row.cluster for row in rows],
        "links": [
            ranking.links_document(entry.links) if entry.team_id is None or entry.team_id in names else None
            for entry in entries
        ],
        "created_at": [moment(entry.created_at) for entry in entries],
        "score": scores[:, addresses.index(board.score)].tolist(),
        "covered": [coverage(entry.covered) for entry in entries],
        "p_next": [row.p_next for row in rows],
        "detectable": [row.detectable for row in rows],
        "considered": [finding.considered.get(entry.id) for entry in entries],
        "tested": [row.tested for row in rows],
        "reason": [_reason(finding.untested.get(entry.id), charged.get(entry.id)) for entry in entries],
    }
    return cast("list[LeaderboardRow]", gate.rows_view(release, columns, intervals, addresses, scores))


def _row_columns(rows: Sequence[BoardRow], names: Mapping[str, str], parts: Mapping[int, str]) -> gate.Columns:
    """Return what the rows of a leaderboard and of a matrix have in common, without scores.

    Args:
        rows: of the board.
        names: of the teams whose names are shown, by id.
        parts: names of those that the statistic is computed from, by position.
    """
    known = [{**ranking.named(row.entry, names), **missing_of(parts, row.entry)} for row in rows]
    return {
        "rank": [row.rank for row in rows],
        "role": [row.entry.role for row in rows],
        "submission": [row.entry.id for row in rows],
        "runs": [
            leaderboards.RowRuns(count=len(runs), sd=row.entry.spread) if (runs := row.entry.runs) else None
            for row in rows
        ],
        **{
            name: [each[name] for each in known] for kind in (ComparisonLabel, Missing) for name in kind.__annotations__
        },
    }


def _reason(why: str | None, charged: str | None) -> str | None:
    """Return why a row was not tested, and what it would have with what it lacks charged."""
    return why if charged is None else f"{why}. {charged}"


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
    release = _shown(db, benchmark, board, release)
    rows = _rows(db, board, release)
    return leaderboards.Matrix(
        **_sheet(benchmark, board, release, rows, start),
        parts=_matrix_parts(benchmark, board, release),
        hidden=[name for name in board.chosen_names if name in release.hidden],
        rows=_matrix_rows(db, board, release, rows[start : start + MOST_ROWS]),
    )


def _matrix_parts(benchmark: Benchmark, board: Board, release: Release) -> list[leaderboards.MatrixPart]:
    counts = config.counts_shown(benchmark, board.revision, release)
    return [
        cast("leaderboards.MatrixPart", {"name": part.name, **config.part_sizes(part, board.revision, counts=counts)})
        for part in board.chosen_parts
    ]


def _matrix_rows(
    db: Connection, board: Board, release: Release, rows: Sequence[BoardRow]
) -> list[leaderboards.MatrixRow]:
    entries = [row.entry for row in rows]
    parts = board.chosen_positions
    chosen = score_records.of_submissions([run for entry in entries for run in _runs_of(entry)])
    names = [board.ranking_part, *parts.values()]
    ids, found = ranking.scores_of(db, board, chosen, names, board.share, board.score)
    scores = _of_rows(entries, ids, found[:, :1, 0], _exact_mean)[:, 0].tolist()
    values = _of_rows(entries, ids, found[:, 1:, 0], lambda of_runs: np.mean(of_runs, axis=0))
    team_names = benchmarks.team_names(db, board.benchmark_id) if release.named else {}
    columns = {**_row_columns(rows, team_names, parts), "score": scores}
    return cast("list[leaderboards.MatrixRow]", gate.matrix_rows_view(release, columns, board.chosen_names, values))


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
    shown, addresses = _shown_parts(board, release), board.scoring.addresses
    chosen = score_records.of_submissions([run for row in rows for run in _runs_of(row.entry)])
    ids, known = ranking.scores_of(db, board, chosen, shown, board.share)
    at = {each: position for position, each in enumerate(ids)}
    names = benchmarks.team_names(db, board.benchmark_id) if release.named else {}
    lines: list[Mapping[str, object]] = []
    for row in rows:
        found = [known[at[run]] for run in _runs_of(row.entry) if run in at]
        if not found:
            continue
        head = {
            "submission": row.entry.id,
            "team": row.entry.team_id if row.entry.team_id in names else None,
            "team_name": names.get(row.entry.team_id or ""),
        }
        for position, name in enumerate(shown):
            values = np.mean([each[position] for each in found], axis=0)
            scores = dict(zip(addresses, values.tolist(), strict=True))
            lines += ({**head, "part": name, **line} for line in gate.score_lines(release, name, scores))
    return lines
