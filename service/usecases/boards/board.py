"""A board read from the store: its rows, and the question of the comparison behind them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

import numpy as np
import orjson
from sqlalchemy import Connection

from service.errors import NotFound, unprocessable
from service.policy.figures import rank_value
from service.requests import MACRO, POOLED, PRIVATE, PUBLIC
from service.store import boards, revisions, systems
from service.store.benchmarks import Benchmark
from service.store.comparisons import Question
from service.store.figures import Layout, Span, finite
from service.store.revisions import Part, Revision
from service.store.submissions import BoardEntry
from service.usecases.boards.rows import BoardRow, family, incomplete_last, picked, ranked, released, top_rungs
from service.usecases.boards.systems import together, with_values
from service.usecases.scoring.config import ScoringConfig, scoring_config
from treescore.core.arrays import FloatArray
from treescore.core.scores import Score
from treescore.core.suggestions import did_you_mean
from treescore.errors import ScoringError
from treescore.evaluation.benchmark import lacked_by_all_runs
from treescore.evaluation.part_intervals import RESAMPLES
from treescore.evaluation.parts import mean_of_parts
from treescore.evaluation.report import full_address
from treescore.evaluation.spec import Entry
from treescore.significance import Settings

BOARD_SETTINGS = Settings(shuffles=100_000, resamples=RESAMPLES)
"""How the differences behind a board are tested, with few rows and with many, beside the benchmark's margin; its seeds
are secret."""
MOST_OTHER_SCORES = 3
"""Metrics beside that of the main score whose boards are tested by default."""
MOST_TRACKS = 8
"""Tracks whose boards by the main score are tested by default, the first ones by name."""
_OF_SCORES = ("permutation", "bootstrap")
"""Tests and intervals of scores, in which a part can be one unit."""
RANKS_LAST = "ranks last: it lacks sentences, which its score leaves out"
_KEY_LENGTH = 120

See = Callable[[float | None], float | None]


@dataclass(frozen=True, slots=True)
class Board:
    """One board of a benchmark.

    Attributes:
        benchmark_id: the slug.
        revision: whose scores are shown.
        scoring: the scoring configuration of the revision.
        parts: of the revision.
        score: address of the score that ranks.
        part: None where the benchmark has one part; otherwise `macro`, `pooled`, or the name of a part or a track.
        pick: which of a team's submissions are shown.
        until: leaves out submissions that were scored later.
        active: whether the revision is the active one.
        ladder: whether it leaves out what a ladder holds; its `best` submissions are then those released last.
        margin: of non-inferiority, in units of the score; None where it is not tested.
        unit: what is swapped, `auto` or `sentence`.
        share: PUBLIC or PRIVATE; None where the test set is not split.
        closed_from: the first moment after closing; None where it does not close.
        tracks: named groups of parts: those of their parts that the revision has, in its order.
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
    ladder: bool = False
    margin: float | None = None
    unit: str = BOARD_SETTINGS.unit
    share: str | None = None
    closed_from: datetime | None = None
    tracks: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def scored_by(self) -> tuple[Entry, Score]:
        """Return the metric entry and the score that ranks."""
        return self.scoring.score(self.score)

    @property
    def ranking_part(self) -> str:
        """Return the part or track whose scores rank, MACRO or POOLED. MACRO of one part is that part."""
        return MACRO if self.part is None else self.part

    @property
    def track(self) -> Sequence[str] | None:
        """Return the parts of the track whose mean ranks; None where the board is of no track."""
        return None if self.part is None else self.tracks.get(self.part)

    @property
    def chosen_parts(self) -> list[Part]:
        """Return the parts that the statistic is computed from."""
        if self.track is not None:
            return [part for part in self.parts if part.name in self.track]
        return [part for part in self.parts if self.part in (None, MACRO, POOLED, part.name)]

    def has_part(self, name: str | None) -> bool:
        """Return whether a board can be asked by this name of a part or track."""
        return name in (None, MACRO, POOLED) or name in self.tracks or any(part.name == name for part in self.parts)

    @property
    def chosen_names(self) -> list[str]:
        """Return the names of the parts that the statistic is computed from."""
        return [part.name for part in self.chosen_parts]

    @property
    def layout(self) -> Layout:
        """Return the layout of the revision's figures."""
        return Layout([part.name for part in self.parts], self.scoring.addresses)

    @property
    def key(self) -> str:
        """Return the key under which the comparison behind it is stored."""
        share = () if self.share is None else (self.share,)
        name = "|".join((self.score, self.part or "", self.pick, "frozen" if self.until else "", *share))
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
    held: bool = False,
    share: str | None = None,
    track: Sequence[str] | None = None,
) -> Board:
    """Return the requested board; where an argument is None, the benchmark's default applies.

    The default of `share` is the public one, before and after closing; see `service.policy.split`. With `track`, the
    part is a track of these parts, also where the benchmark has changed or removed it since.

    With `held`, a board of another pick than the benchmark's also has the submissions whose scores a ladder holds.

    Raises:
        NotFound: the benchmark has no active revision; the revision was never active; the part is unknown.
        Unprocessable: the score is unknown.
    """
    number = benchmark.active_revision if revision is None else revision
    stored = None if number is None else revisions.get(db, benchmark.id, number)
    if stored is None or stored.state not in revisions.READABLE:
        detail = "has no active revision" if revision is None else f"never had an active revision {revision}"
        raise NotFound(f"The benchmark {benchmark.id!r} {detail}.")
    scoring = scoring_config(stored.scoring)
    try:
        address = scoring.main_score if score is None else full_address(*scoring.score(score))
    except ScoringError as error:
        raise unprocessable(error.at("/score")) from error
    chosen = benchmark.leaderboard["pick"] if pick is None else pick
    parts = revisions.parts_of(db, stored.id)
    tracks = tracks_in(benchmark.tracks, parts) | ({} if track is None or part is None else {part: track})
    active = stored.number == benchmark.active_revision
    ladder = benchmark.leaderboard["ladder"] and not (held and chosen != benchmark.leaderboard["pick"])
    default = None if benchmark.private_share is None else PUBLIC
    return Board(
        benchmark.id, stored, scoring, parts, address, _part(parts, tracks, part), chosen, until, active, ladder,
        margin=benchmark.leaderboard["margin"], unit=benchmark.leaderboard["unit"], share=share or default,
        closed_from=benchmark.closed_from, tracks=tracks,
    )  # fmt: skip


def tracks_in(tracks: Mapping[str, Sequence[str]], parts: Sequence[Part]) -> dict[str, Sequence[str]]:
    """Return the tracks with those of their parts that a revision has, without those of which it has none."""
    found = {name: [part.name for part in parts if part.name in members] for name, members in tracks.items()}
    return {name: members for name, members in found.items() if members}


def _part(parts: Sequence[Part], tracks: Collection[str], asked: str | None) -> str | None:
    names = [part.name for part in parts]
    others = (*tracks, MACRO, POOLED)
    if asked is not None and asked not in (*names, *others):
        known = ", ".join((*names[:20], *(("...",) if len(names) > 20 else ()), *others))
        raise NotFound(f"Unknown part {asked!r}. Use one of: {known}.{did_you_mean(asked, (*names, *others))}")
    if len(names) == 1:
        return None
    return MACRO if asked is None else asked


def rows_of(db: Connection, board: Board, see: See = rank_value) -> list[BoardRow]:
    """Return the rows of a board from best to worst, picked and ranked by scores as `see` shows them.

    Picks and ranks go by no more digits than the level `scores` shows, for all viewers: which of two submissions comes
    first would tell the rest of the digits. The board of the private share picks by the scores over the public one:
    what was withdrawn when the private ones could be known is picked as before, and its team has no row.
    """
    private = board.share == PRIVATE
    entries = _entries(db, board)
    entry, score = board.scored_by
    if not board.scoring.charges(entry):
        entries = incomplete_last(entries, board.parts, board.chosen_names)
    if board.ladder:
        entries = top_rungs(entries) if board.pick == "best" else released(entries)
    seen = (replace(each, value=see(each.value)) for each in entries)
    higher = score.higher_is_better
    rows = picked(seen, board.pick, higher_is_better=higher)
    if private:
        rows = [each for each in rows if not each.withdrawn]
        ids = [run for each in rows for run in {each.id, *each.runs}]
        known = _private_scores(db, board, ids)
        shown = (with_values(each, known) for each in rows)
        rows = [replace(each, value=see(each.value)) for each in shown]
    return ranked(rows, higher_is_better=higher)


def _span(board: Board) -> Span | None:
    """Return where the score that ranks is stored; None for the main score, and for a track, of which none is."""
    main = board.score == board.scoring.main_score and board.ranking_part == MACRO
    return None if main or board.track is not None else board.layout.span(board.ranking_part, board.score)


def _entries(db: Connection, board: Board) -> list[BoardEntry]:
    """Return what is on the board with the scores that rank, training runs of one system together, oldest first."""
    number, span = board.revision.number, _span(board)
    entries = boards.standings(
        db, board.benchmark_id, number, span, until=board.until, scored_only=not board.active,
        withdrawn_from=board.closed_from if board.share == PRIVATE else None,
    )  # fmt: skip
    members = [] if board.ladder else systems.members(db, board.benchmark_id, number, span, until=board.until)
    if board.track is not None:
        values = track_values(db, board, list({*(each.id for each in entries), *(each.id for each in members)}))
        entries = [replace(each, value=values.get(each.id)) for each in entries]
        members = [each._replace(value=values.get(each.id)) for each in members]
    return entries if board.ladder else together(entries, members)


def _private_scores(db: Connection, board: Board, ids: Sequence[str]) -> dict[str, float | None]:
    if board.track is not None:
        return track_values(db, board, ids, private=True)
    return boards.private_scores(db, ids, board.revision.number, _span(board))


def track_values(db: Connection, board: Board, ids: Sequence[str], *, private: bool = False) -> dict[str, float | None]:
    """Return the score that ranks on the board of a track: the mean of its parts."""
    column = board.layout.column(board.score)
    return {each: finite(means[column]) for each, means in track_means(db, board, ids, private=private).items()}


def track_means(db: Connection, board: Board, ids: Sequence[str], *, private: bool = False) -> dict[str, FloatArray]:
    """Return the mean of each score over the parts of a board's track, (addresses,), of submissions with a record.

    A missing part counts as the worst value, as in the mean of all parts.
    """
    if board.part is None or board.track is None:
        return {}
    found = boards.part_figures(db, ids, board.revision.number, board.layout, private=private)
    mean = track_of(board, board.part)
    return {each: mean(figures) for each, figures in found.items()}


def track_of(board: Board, name: str) -> Callable[[FloatArray], FloatArray]:
    """Return what makes the means over a track, (addresses,), of the scores of all parts, (parts + 2, addresses)."""
    layout = board.layout
    rows = [layout.row(part) for part in board.tracks[name]]
    known = [board.scoring.score(address)[1].worst for address in layout.addresses]
    worst = np.array([math.nan if each is None else each for each in known], np.float64)
    return lambda figures: mean_of_parts(figures[rows], worst)


def tested_of(db: Connection, board: Board, rows: Sequence[BoardRow]) -> tuple[list[str], dict[str, str]]:
    """Return the submissions whose differences are tested, and why others of the first rows are not."""
    ids = family(rows)
    untested = {row.entry.id: RANKS_LAST for row in rows if row.entry.ranks_last and row.entry.id in ids}
    runs = {row.entry.id: row.entry.runs for row in rows if row.entry.runs and row.entry.id in ids}
    lacking = lacking_parts(db, board, [*ids, *(run for of_it in runs.values() for run in of_it)])
    untested |= untestable(board, lacked_by_all_runs(lacking, ids, runs), BOARD_SETTINGS)
    return [each for each in ids if each not in untested], untested


def lacking_parts(db: Connection, board: Board, ids: Sequence[str]) -> dict[str, frozenset[int]]:
    """Return the submissions that lack chosen parts, with the positions of these among the chosen ones."""
    return positions_of(board, missing_of(db, board, ids))


def missing_of(db: Connection, board: Board, ids: Sequence[str]) -> dict[str, list[str] | None]:
    """Return the submissions that lack chosen parts, with the names of these; None where no part at all was scored."""
    names = board.chosen_names
    lacking: dict[str, list[str] | None] = {}
    for each, figures in boards.figures(db, ids, board.revision.number, board.layout).items():
        without = figures.parts_without_scores()
        missing = [name for name in names if name in without]
        if missing:
            lacking[each] = None if len(without) == len(board.parts) else missing
    return lacking


def positions_of(board: Board, missing: Mapping[str, list[str] | None]) -> dict[str, frozenset[int]]:
    """Return the positions of missing parts among the chosen ones; None stands for all of them."""
    names = board.chosen_names
    return {
        each: frozenset(at for at, name in enumerate(names) if of_it is None or name in of_it)
        for each, of_it in missing.items()
    }


def untestable(board: Board, lacking: Mapping[str, frozenset[int]], settings: Settings) -> dict[str, str]:
    """Return the submissions whose missing parts keep them from being tested, with the reason.

    A missing part counts as the worst value and is one unit: it fails as a whole. That needs a worst value, a part
    that is not missing, and a test of scores, not of sentences right as a whole.

    Args:
        board: whose score is tested.
        lacking: submission -> positions of the parts that it lacks among the chosen ones.
        settings: of the test.
    """
    entry, score = board.scored_by
    parts = board.chosen_parts
    why = ""
    if not board.scoring.charges(entry):
        why = ", which the score leaves out"
    elif score.worst is None:
        why = ", and the score has no worst value"
    elif settings.test not in _OF_SCORES:
        why = f", which {settings.test} cannot take as one unit"
    reasons = {}
    for each, missing in lacking.items():
        if why or len(missing) == len(parts):
            named = [parts[at].name for at in sorted(missing)]
            more = f" and {len(named) - 5} more" if len(named) > 5 else ""
            reasons[each] = f"without a scored output for: {', '.join(named[:5])}{more}{why}"
    return reasons


def question_of(board: Board, ids: Sequence[str], chosen: Settings | None = None) -> Question:
    """Return the question of a comparison in its canonical form, in which two-sided tests have sorted systems.

    Args:
        board: whose score, part and revision are compared.
        ids: of the submissions.
        chosen: settings of an organiser, with a seed; None for the board's own, with secret seeds.
    """
    settings = replace(BOARD_SETTINGS, margin=board.margin, unit=board.unit) if chosen is None else chosen
    members = asdict(settings)
    if chosen is None:
        del members["seed"]
    ordered = sorted(ids) if settings.alternative == "two-sided" and settings.test != "compare_pl" else list(ids)
    question: Question = {
        "benchmark": board.benchmark_id,
        "revision": board.revision.number,
        "score": board.score,
        "part": board.part,
        "submissions": ordered,
        "settings": members,
    }
    if board.track is not None:
        question["parts"] = board.chosen_names
    return question if board.share is None else {**question, "share": board.share}


def comparison_id(question: Question) -> str:
    """Return the id of a comparison: `cmp_` and a digest of its question."""
    body = orjson.dumps(question, option=orjson.OPT_SORT_KEYS)
    return "cmp_" + hashlib.blake2b(body, digest_size=16).hexdigest()


def standard_boards(board: Board) -> list[Board]:
    """Return the boards that are compared by default.

    Those of all parts by the main score and by the first score of other metrics, and those of tracks by the main score.
    """
    entries = [entry for entry in board.scoring.spec.entries if entry.key != board.scoring.main[0].key]
    others = [full_address(entry, entry.metric.table.scores[0]) for entry in entries[:MOST_OTHER_SCORES]]
    scored = [replace(board, score=score) for score in (board.scoring.main_score, *others)]
    tracks = sorted(board.tracks)[:MOST_TRACKS] if len(board.parts) > 1 else []
    return [*scored, *(replace(scored[0], part=name) for name in tracks)]
