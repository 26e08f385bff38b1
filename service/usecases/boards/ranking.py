"""A board read from the store: its rows, their ranks, and the question of the comparison behind them.

A system of several training runs is one row, with the mean of its runs. What a team does with single runs does not pay.
Withdrawn runs stay in the mean while another run is on the board. A deleted run has no counts, so its system falls
apart: each run is a submission of its own, and p allows for the picking among all of them. Equal outputs are no second
run.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np
import orjson
from sqlalchemy import ColumnElement, Connection

from service.contract import submissions
from service.contract.comparisons import ComparisonLabel
from service.errors import NotFound, unprocessable
from service.policy.figures import rank_value
from service.requests import MACRO, POOLED, PRIVATE, PUBLIC
from service.store import benchmarks, boards, comparisons, revisions, score_records
from service.store.score_records import HELD, finite
from service.store.submissions import BASELINE, BoardEntry
from service.usecases.scoring import config, part_scorer
from treescore.core.arrays import FloatArray
from treescore.core.params import Json
from treescore.core.scores import Score
from treescore.core.wording import did_you_mean
from treescore.errors import ScoringError
from treescore.evaluation import report, spec
from treescore.evaluation.benchmark import lacked_by_all_runs
from treescore.significance import Settings, assembly
from treescore.significance.question import FEWEST_FOR_SPREAD

TESTED = 50
"""Rows from the top whose differences are tested, together with the baselines."""
MOST_BASELINES = 50

See = Callable[[float | None], float | None]


class BoardRow(NamedTuple):
    """A row of the board. What a comparison shows is None where the row was not tested."""

    entry: BoardEntry
    rank: int | None
    rank_interval: tuple[int, int] | None = None
    cluster: int | None = None
    p_next: float | None = None
    detectable: Json = None
    tested: bool = False


def links_document(links: Mapping[str, str]) -> submissions.Links:
    """Return where a submission links to."""
    return submissions.Links(paper=links.get("paper"), code=links.get("code"), model=links.get("model"))


def team_key(entry: BoardEntry) -> str:
    """Return what entries of one team have in common; each baseline is on its own."""
    return entry.id if entry.team_id is None else f"team {entry.team_id}"


def incomplete_last(
    entries: Iterable[BoardEntry], parts: Sequence[revisions.Part], chosen: Collection[str] | None = None
) -> list[BoardEntry]:
    """Let entries that do not cover every sentence of the chosen parts, or of all, rank below those that do.

    The rule where a score leaves out what an output lacks.
    """
    known = [(entry, part_scorer.coverage_of(entry.covered, parts, chosen)) for entry in entries]
    return [entry._replace(ranks_last=found is not None and found.scored < found.total) for entry, found in known]


def picked(entries: Iterable[BoardEntry], pick: str, *, higher_is_better: bool) -> list[BoardEntry]:
    """Select each team's best, last or chosen submission, or all of them, and every baseline.

    Of equally good submissions the first is the best; where none is chosen, the last one is taken.

    Args:
        entries: oldest first.
        pick: `best`, `last`, `chosen` or `all`.
        higher_is_better: of the score.
    """
    if pick == "all":
        return list(entries)
    selected: dict[str, BoardEntry] = {}
    for entry in entries:
        key = team_key(entry)
        known = selected.get(key)
        if known is None or _preferred(entry, known, pick, higher_is_better=higher_is_better):
            selected[key] = entry
    return list(selected.values())


def released(entries: Iterable[BoardEntry]) -> list[BoardEntry]:
    """Leave out the submissions whose scores a ladder holds."""
    return [entry for entry in entries if entry.rung != HELD]


def top_rungs(entries: Iterable[BoardEntry]) -> list[BoardEntry]:
    """Select the submission of each team that its ladder released last, and every baseline.

    Args:
        entries: oldest first.
    """
    selected: dict[str, BoardEntry] = {}
    for entry in released(entries):
        known = selected.get(team_key(entry))
        if known is None or (entry.rung or 0) >= (known.rung or 0):
            selected[team_key(entry)] = entry
    return list(selected.values())


def ranked(entries: Iterable[BoardEntry], *, higher_is_better: bool) -> list[BoardRow]:
    """Return rows from best to worst. Equal scores share a rank, baselines have none, undefined scores come last."""
    ordered = sorted((_loss(entry, higher_is_better=higher_is_better), entry.id, entry) for entry in entries)
    rows: list[BoardRow] = []
    counted, rank = 0, 0
    last: tuple[bool, bool, float] | None = None
    for loss, _, entry in ordered:
        if entry.role == BASELINE or entry.value is None:
            rows.append(BoardRow(entry, None))
            continue
        counted += 1
        if loss != last:
            rank, last = counted, loss
        rows.append(BoardRow(entry, rank))
    return rows


def named(entry: BoardEntry, names: Mapping[str, str]) -> ComparisonLabel:
    """Return the members that name a row.

    A team whose name is not shown has no id here either; an erased team has neither.

    Args:
        entry: of the row.
        names: of the teams whose names are shown, by id.
    """
    team = entry.team_id if entry.team_id in names else None
    return ComparisonLabel(
        team=team,
        team_name=None if team is None else names[team],
        name=entry.name if team is not None or entry.team_id is None else None,
    )


def family(rows: Sequence[BoardRow]) -> list[str]:
    """Return the submissions whose differences are tested: the first rows with a rank, and the baselines."""
    first = [row.entry.id for row in rows if row.rank is not None][:TESTED]
    baselines = [row.entry.id for row in rows if row.entry.role == BASELINE and row.entry.value is not None]
    return first + baselines[:MOST_BASELINES]


def with_significance(rows: Sequence[BoardRow], comparison: Mapping[str, Json]) -> list[BoardRow]:
    """Return rows with what a comparison of their submissions shows.

    Tested rows with a rank have a rank interval among all R rows with a rank, tested or not: from 1 + the rows
    significantly better to R - the rows significantly worse (Mogstad, Romano, Shaikh & Wilhelm 2024). With p corrected
    over all pairs the intervals hold together at the level 1 - alpha. Clusters are those of the tested rows alone;
    baselines have a p, and a detectable difference, to the next row with a rank.
    """
    pairs = {frozenset((pair["a"], pair["b"])): pair for pair in comparison["pairs"]}
    beaten = {
        (pair["a"], pair["b"]) if pair["better"] == "a" else (pair["b"], pair["a"])
        for pair in comparison["pairs"]
        if pair["significant"] and pair["better"] is not None
    }
    tested = {str(system["name"]) for system in comparison["systems"]}
    counted = [index for index, row in enumerate(rows) if row.rank is not None and row.entry.id in tested]
    ids = [rows[index].entry.id for index in counted]
    better = np.array([[(first, second) in beaten for second in ids] for first in ids], np.bool_)
    better = better.reshape(len(ids), len(ids))
    intervals = assembly.rank_ranges(better, sum(row.rank is not None for row in rows))
    kind = (comparison.get("clusters") or {}).get("kind", "separable")
    clusters = assembly.separable(better) if kind == "separable" else assembly.greedy(better)
    decided = comparison["rank_ranges"] is not None
    result = list(rows)
    for index, row in enumerate(rows):
        if row.entry.id in tested:
            pair = _next_pair(rows, index, pairs)
            p, detectable = pair.get("p_adjusted"), pair.get("detectable")
            result[index] = row._replace(tested=True, p_next=p, detectable=detectable)
    for index, (low, high), cluster in zip(counted, intervals, clusters, strict=True):
        if decided:
            result[index] = result[index]._replace(rank_interval=(low, high), cluster=cluster)
    return result


def _next_pair(
    rows: Sequence[BoardRow], index: int, pairs: Mapping[frozenset[str], Mapping[str, Json]]
) -> Mapping[str, Json]:
    """Return the pair of a tested row and the next row with a rank; nothing where that was not tested."""
    for below in rows[index + 1 : index + 2 + MOST_BASELINES]:
        if below.rank is not None:
            return pairs.get(frozenset((rows[index].entry.id, below.entry.id)), {})
    return {}


def _preferred(one: BoardEntry, other: BoardEntry, pick: str, *, higher_is_better: bool) -> bool:
    """Return whether a team's submission is shown rather than an earlier one."""
    if pick == "best":
        return _loss(one, higher_is_better=higher_is_better) < _loss(other, higher_is_better=higher_is_better)
    return one.chosen or not other.chosen if pick == "chosen" else True


def _loss(entry: BoardEntry, *, higher_is_better: bool) -> tuple[bool, bool, float]:
    """Return what orders entries, best first: those without a score come last, before them those that rank last."""
    if entry.value is None:
        return True, entry.ranks_last, 0.0
    return False, entry.ranks_last, -entry.value if higher_is_better else entry.value


def systems_together(
    entries: Sequence[BoardEntry], members: Iterable[boards.SystemMember], see: See = lambda value: value
) -> list[BoardEntry]:
    """Make one entry of the entries of each system, at the place of its newest one.

    Args:
        entries: what is on the board, oldest first, with values as they are shown.
        members: the scored submissions of systems with several, with exact values.
        see: shows the mean of a system's values.

    Returns:
        Entries with the id of the system's oldest run on the board, and the mean of the values of all its runs.
    """
    runs_of = _whole_systems(members)
    entries_of: dict[str, list[BoardEntry]] = {}
    system_of = {run.id: system for system, runs in runs_of.items() for run in runs}
    for entry in entries:
        entries_of.setdefault(system_of.get(entry.id, entry.id), []).append(entry)
    found = [
        (shown[-1].id, _joined_runs(shown, runs_of[system], see) if system in runs_of else shown[0])
        for system, shown in entries_of.items()
    ]
    return [entry for _, entry in sorted(found, key=lambda each: each[0])]


def _whole_systems(members: Iterable[boards.SystemMember]) -> dict[str, list[boards.SystemMember]]:
    """Return the runs of each system of which none was deleted and two or more are scored."""
    of_system: dict[str, list[boards.SystemMember]] = {}
    for member in members:
        of_system.setdefault(member.system, []).append(member)
    whole = {system: runs for system, runs in of_system.items() if not any(run.deleted for run in runs)}
    scored = {system: [run for run in runs if run.covered is not None] for system, runs in whole.items()}
    return {system: runs for system, runs in scored.items() if len(runs) >= FEWEST_FOR_SPREAD}


def _joined_runs(shown: Sequence[BoardEntry], runs: Sequence[boards.SystemMember], see: See) -> BoardEntry:
    there = [entry for entry in shown if not entry.withdrawn] or shown
    values = [run.value for run in runs if run.value is not None]
    covered = [run.covered or () for run in runs]
    return there[0]._replace(
        chosen=any(entry.chosen for entry in shown),
        finished_at=max((entry.finished_at for entry in shown if entry.finished_at is not None), default=None),
        value=see(_mean([run.value for run in runs])),
        covered=tuple(min(part) for part in zip(*covered, strict=True)),
        lacking=sorted({part for run in runs for part in run.lacking or ()}),
        runs=tuple(run.id for run in runs),
        spread=stdev(values) if len(values) == len(runs) else None,
    )


def entry_with_values(entry: BoardEntry, values: Mapping[str, float | None]) -> BoardEntry:
    """Return an entry with other scores of its submission or runs, as those over the private share."""
    if not entry.runs:
        return entry._replace(value=values.get(entry.id))
    of_runs = [values.get(run) for run in entry.runs]
    defined = [value for value in of_runs if value is not None]
    return entry._replace(value=_mean(of_runs), spread=stdev(defined) if len(defined) == len(of_runs) else None)


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined and len(defined) == len(values) else None


BOARD_SETTINGS = Settings()
"""How the differences behind a board are tested, beside the benchmark's margin and unit."""
MOST_OTHER_SCORES = 3
"""Metrics beside that of the main score whose boards are tested by default."""
MOST_TRACKS = 8
"""Tracks whose boards by the main score are tested by default, the first ones by name."""
RANKS_LAST = "ranks last: it lacks sentences, which its score leaves out"
_KEY_LENGTH = 120


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
        unit: what is tested over, `auto` or `sentence`.
        share: PUBLIC or PRIVATE; None where the test set is not split.
        closed_from: the first moment after closing; None where it does not close.
        tracks: named groups of parts: those of their parts that the revision has, in its order.
    """

    benchmark_id: str
    revision: revisions.Revision
    scoring: config.ScoringConfig
    parts: Sequence[revisions.Part]
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
    def scored_by(self) -> tuple[spec.Entry, Score]:
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
    def chosen_parts(self) -> list[revisions.Part]:
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
    def chosen_positions(self) -> dict[int, str]:
        """Return the same names by the position of the part in the revision."""
        chosen = set(self.chosen_names)
        return {at: part.name for at, part in enumerate(self.parts) if part.name in chosen}

    def asked(self, share: str | None, score: str | None) -> score_records.Asked:
        """Return which scores of records are meant over a share: one, or all of the revision."""
        return score_records.Asked(self.benchmark_id, self.revision.number, share, self.scoring.addresses, score)

    @property
    def key(self) -> str:
        """Return the key under which the comparison behind it is stored."""
        share = () if self.share is None else (self.share,)
        name = "|".join((self.score, self.part or "", self.pick, "frozen" if self.until else "", *share))
        return name if len(name) <= _KEY_LENGTH else hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


def board_of(
    db: Connection,
    benchmark: benchmarks.Benchmark,
    *,
    score: str | None = None,
    part: str | None = None,
    pick: str | None = None,
    revision: int | revisions.Revision | None = None,
    until: datetime | None = None,
    held: bool = False,
    share: str | None = None,
    track: Sequence[str] | None = None,
) -> Board:
    """Return the requested board; where an argument is None, the benchmark's default applies.

    The default of `share` is the public one, before and after closing; see `service.policy.figures`. With `track`, the
    part is a track of these parts, also where the benchmark has changed or removed it since.

    With `held`, a board of another pick than the benchmark's also has the submissions whose scores a ladder holds.
    A revision that is not active yet is given whole.

    Raises:
        NotFound: the benchmark has no active revision; the revision was never active; the part is unknown.
        Unprocessable: the score is unknown.
    """
    number = benchmark.active_revision if revision is None else revision
    stored = revisions.get(db, benchmark.id, number) if isinstance(number, int) else number
    if stored is None or (number is not stored and stored.state not in revisions.READABLE):
        detail = "has no active revision" if revision is None else f"never had an active revision {revision}"
        raise NotFound(f"The benchmark {benchmark.id!r} {detail}.")
    scoring = config.scoring_config(stored.scoring)
    try:
        address = scoring.main_score if score is None else report.full_address(*scoring.score(score))
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


def tracks_in(tracks: Mapping[str, Sequence[str]], parts: Sequence[revisions.Part]) -> dict[str, Sequence[str]]:
    """Return the tracks with those of their parts that a revision has, without those of which it has none."""
    found = {name: [part.name for part in parts if part.name in members] for name, members in tracks.items()}
    return {name: members for name, members in found.items() if members}


def _part(parts: Sequence[revisions.Part], tracks: Collection[str], asked: str | None) -> str | None:
    names = [part.name for part in parts]
    others = (*tracks, MACRO, POOLED)
    if asked is not None and asked not in (*names, *others):
        known = ", ".join((*names[:20], *(("...",) if len(names) > 20 else ()), *others))
        raise NotFound(f"Unknown part {asked!r}. Use one of: {known}.{did_you_mean(asked, (*names, *others))}")
    if len(names) == 1:
        return None
    return MACRO if asked is None else asked


def rows_of(
    db: Connection, board: Board, see: See = rank_value, values: Mapping[str, float | None] | None = None
) -> list[BoardRow]:
    """Return the rows of a board from best to worst; see `standings_of`."""
    return standings_of(db, board, see, values).rows()


class Standings(NamedTuple):
    """What the rows of a board are made of.

    Attributes:
        board: whose rows.
        see: shows a score.
        entries: what is on the board with the scores that rank, oldest first.
        members: the submissions of systems with several.
        private: the scores over the private share that are shown, on its board.
    """

    board: Board
    see: See
    entries: Sequence[BoardEntry]
    members: Sequence[boards.SystemMember]
    private: Mapping[str, float | None]

    def rows(self, until: datetime | None = None) -> list[BoardRow]:
        """Return the rows from best to worst: of all, or of what was scored until then."""
        board, entries, members = self.board, self.entries, self.members
        if until is not None:
            entries = [each for each in entries if each.finished_at is not None and each.finished_at <= until]
            members = [each for each in members if each.finished_at is not None and each.finished_at <= until]
        if not board.ladder:
            entries = systems_together(entries, members, self.see)
        entry, score = board.scored_by
        if not board.scoring.charges(entry):
            entries = incomplete_last(entries, board.parts, board.chosen_names)
        if board.ladder:
            entries = top_rungs(entries) if board.pick == "best" else released(entries)
        higher = score.higher_is_better
        rows = [each for each in picked(entries, board.pick, higher_is_better=higher) if not each.withdrawn]
        if board.share == PRIVATE:
            shown = (entry_with_values(each, self.private) for each in rows)
            rows = [each._replace(value=self.see(each.value)) for each in shown]
        return ranked(rows, higher_is_better=higher)


def standings_of(
    db: Connection, board: Board, see: See = rank_value, values: Mapping[str, float | None] | None = None
) -> Standings:
    """Read what the rows of a board are made of.

    Picks and ranks go by no more digits than the level `scores` shows, for all viewers: which of two submissions comes
    first would tell the rest of the digits. What was withdrawn after closing, when scores could be known, is picked as
    before, and its team has no row. The board of the private share picks by the scores over the public one.

    Args:
        db: the transaction.
        board: whose rows.
        see: shows a score.
        values: the score that picks, of every submission with a record; None: it is read.
    """
    if values is None:
        values = _ranking_values(db, board, None if board.share is None else PUBLIC)
    about, until = (db, board.benchmark_id, board.revision.number), board.until
    seen = {each: see(value) for each, value in values.items()}
    entries = boards.standings(
        *about, seen, until=until, scored_only=not board.active, withdrawn_from=board.closed_from
    )
    members = [] if board.ladder else boards.system_members(*about, values, until=until)
    private = _ranking_values(db, board, PRIVATE) if board.share == PRIVATE else {}
    return Standings(board, see, entries, members, private)


def _ranking_values(db: Connection, board: Board, share: str | None) -> dict[str, float | None]:
    """Return the score that ranks over a share, of every submission with a record."""
    every = score_records.of_benchmark(board.benchmark_id)
    ids, found = scores_of(db, board, every, [board.ranking_part], share, board.score)
    return dict(zip(ids, map(finite, found[:, 0, 0].tolist()), strict=True))


def scores_of(
    db: Connection,
    board: Board,
    chosen: Iterable[ColumnElement[bool]],
    names: Sequence[str],
    share: str | None,
    score: str | None = None,
) -> tuple[list[str], FloatArray]:
    """Select scores under a board's revision.

    Args:
        db: the transaction.
        board: whose revision, parts and tracks are meant.
        chosen: whose scores: `score_records.of_benchmark`, `of_submissions`.
        names: of parts and tracks; MACRO, POOLED.
        share: PUBLIC, PRIVATE, or None for a test set that is not split.
        score: the only one that is read; None for all of the revision.

    Returns:
        The submissions with a record, and float64 (submissions, names, scores), NaN where undefined. A missing part
        counts as the worst value in the mean over a track, as in the mean of all parts.
    """
    at = {part.name: position for position, part in enumerate(board.parts)}
    whole = [name for name in (MACRO, POOLED) if name in names]
    members = {
        name: [at[part] for part in board.tracks.get(name, [name])] for name in names if name not in (MACRO, POOLED)
    }
    known = [board.scoring.score(each)[1] for each in (board.scoring.addresses if score is None else [score])]
    worst = np.array([each.worst for each in known], np.float64)
    ids, found = score_records.kept(db, chosen, board.asked(share, score), whole, [*members.values()], worst)
    at = {name: position for position, name in enumerate((*whole, *members))}
    return ids, found[:, [at[name] for name in names]]


def tested_of(db: Connection, board: Board, rows: Sequence[BoardRow]) -> tuple[list[str], dict[str, str]]:
    """Return the submissions whose differences are tested, and why others of the first rows are not."""
    ids = family(rows)
    untested = {row.entry.id: RANKS_LAST for row in rows if row.entry.ranks_last and row.entry.id in ids}
    runs = {row.entry.id: row.entry.runs for row in rows if row.entry.runs and row.entry.id in ids}
    missing = missing_of(db, board, [*ids, *(run for of_it in runs.values() for run in of_it)])
    lacking = positions_of(board, missing)
    untested |= untestable(board, lacked_by_all_runs(lacking, ids, runs), BOARD_SETTINGS)
    return [each for each in ids if each not in untested], untested


def missing_of(db: Connection, board: Board, ids: Sequence[str]) -> dict[str, list[str] | None]:
    """Return the submissions that lack chosen parts, with the names of these; None where no part at all was scored."""
    names = [part.name for part in board.parts]
    chosen = set(board.chosen_names)
    found: dict[str, list[str] | None] = {}
    for each, without in boards.lacking_of(db, ids, board.revision.number).items():
        missing = [names[at] for at in without if names[at] in chosen]
        if missing:
            found[each] = None if len(without) == len(names) else missing
    return found


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
    elif not settings.by_law and settings.test != "bootstrap":
        why = f", which {settings.test} cannot take as one unit"
    reasons = {}
    for each, missing in lacking.items():
        if why or len(missing) == len(parts):
            named = [parts[at].name for at in sorted(missing)]
            more = f" and {len(named) - 5} more" if len(named) > 5 else ""
            reasons[each] = f"without a scored output for: {', '.join(named[:5])}{more}{why}"
    return reasons


def question_of(board: Board, ids: Sequence[str], chosen: Settings | None = None) -> comparisons.Question:
    """Return the question of a comparison in its canonical form, in which two-sided tests have sorted systems.

    Args:
        board: whose score, part and revision are compared.
        ids: of the submissions.
        chosen: settings of an organiser; None for the board's own.
    """
    settings = replace(BOARD_SETTINGS, margin=board.margin, unit=board.unit) if chosen is None else chosen
    ordered = sorted(ids) if settings.alternative == "two-sided" and settings.test != "compare_pl" else list(ids)
    question: comparisons.Question = {
        "benchmark": board.benchmark_id,
        "revision": board.revision.number,
        "score": board.score,
        "part": board.part,
        "submissions": ordered,
        "settings": asdict(settings),
    }
    if board.track is not None:
        question["parts"] = board.chosen_names
    return question if board.share is None else {**question, "share": board.share}


def comparison_id(question: comparisons.Question) -> str:
    """Return the id of a comparison: `cmp_` and a digest of its question."""
    body = orjson.dumps(question, option=orjson.OPT_SORT_KEYS)
    return "cmp_" + hashlib.blake2b(body, digest_size=16).hexdigest()


def standard_boards(board: Board) -> list[Board]:
    """Return the boards that are compared by default.

    Those of all parts by the main score and by the first score of other metrics, and those of tracks by the main score.
    """
    entries = [entry for entry in board.scoring.spec.entries if entry.key != board.scoring.main[0].key]
    others = [report.full_address(entry, entry.metric.table.scores[0]) for entry in entries[:MOST_OTHER_SCORES]]
    scored = [replace(board, score=score) for score in (board.scoring.main_score, *others)]
    tracks = sorted(board.tracks)[:MOST_TRACKS] if len(board.parts) > 1 else []
    return [*scored, *(replace(scored[0], part=name) for name in tracks)]
