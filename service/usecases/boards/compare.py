"""Compare submissions from their stored counts; of a board's rows, what the comparison of exactly these rows says.

No text is parsed again. p and intervals of a pair depend on no other row of the board.

The p of a pair allows for what a team picked its row from. The row ahead of a pair is the best of k submissions of its
team. So k counts what the team has had scored, withdrawn and deleted submissions included: nothing that a team does
afterwards makes its row look less picked. Where the last submission counts, taking others back picks: a team that has
withdrawn or deleted any has picked by score.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from statistics import fmean

import numpy as np
from sqlalchemy import Connection

from service.context import Context
from service.contract import common, leaderboards
from service.policy import gate
from service.policy.documents import ROUNDED
from service.policy.release import Release
from service.requests import POOLED, PRIVATE
from service.store import artifacts, benchmarks, boards, comparisons, revisions, runs, score_records, submissions, texts
from service.store.packing import unpack_array
from service.store.score_records import ANSWERED, CHARGED, artifact_name
from service.usecases.boards import ranking
from service.usecases.boards.ranking import Board
from service.usecases.runs import moment
from service.usecases.scoring import config, gold
from service.usecases.scoring.shares import share_rows, split_of, stored_documents
from treescore.core.arrays import BoolArray, Counts
from treescore.core.params import Json
from treescore.core.registry import TokenBits
from treescore.core.wording import notes_of_views
from treescore.evaluation import benchmark as evaluation
from treescore.evaluation.benchmark import mean_of_parts
from treescore.significance import Settings, notes

LAST = "last"
PICKED = ("best", "chosen", LAST)
"""Picks that may look at scores; `all` does not."""
ADJUSTED, NONE = "adjusted", "none"
PAIR = 2


def selection_of(board: Board, question: comparisons.Question) -> str:
    """Return how p of a question allows for the picking: `adjusted`, or `none` where no row was picked by its score.

    On the board of a private share it is `private`: rows are picked by scores over the public one, which tell nothing
    of the sentences that are tested.
    """
    if board.share == PRIVATE:
        return PRIVATE
    return ADJUSTED if "considered" in question else NONE


def board_question(
    db: Connection,
    board: Board,
    rows: Sequence[ranking.BoardRow],
    ids: Sequence[str],
    chosen: Settings | None = None,
    considered: Mapping[str, int] | None = None,
) -> comparisons.Question:
    """Return the question about some rows of a board, with what their teams picked them from.

    Args:
        db: the transaction.
        board: whose rows they are.
        rows: all of its rows, best first.
        ids: of the rows that are compared.
        chosen: settings of an organiser; None for the board's own.
        considered: `numbers_considered` of all rows, where they are known.
    """
    question, compared = ranking.question_of(board, ids, chosen), set(ids)
    rows = [row for row in rows if row.entry.id in compared]
    runs = {row.entry.id: list(row.entry.runs) for row in rows if row.entry.runs}
    if runs:
        question["runs"] = runs
    if board.share != PRIVATE and board.pick in PICKED and (chosen is None or allows(chosen)):
        numbers = considered or numbers_considered(db, board, rows)
        found = {row.entry.id: numbers[row.entry.id] for row in rows if numbers[row.entry.id] > 1}
        if found or board.pick != LAST:
            question["considered"] = found
    return question


def listed_question(
    db: Connection, board: Board, rows: Sequence[ranking.BoardRow], ids: Sequence[str], chosen: Settings | None
) -> comparisons.Question:
    """Return the question about submissions by their ids: the board's where all of them are its rows.

    Others, as two of one team, and those of an organiser with settings of their own are taken as they are. Training
    runs of one system are one, unless all that is listed are runs of one system.
    """
    if chosen is None and {row.entry.id for row in rows} >= set(ids):
        return board_question(db, board, rows, ids)
    question = ranking.question_of(board, ids, chosen)
    runs = listed_runs(question["submissions"], rows, boards.systems_of(db, ids))
    if runs:
        question["runs"] = runs
    return question


def listed_runs(
    ids: Sequence[str], rows: Sequence[ranking.BoardRow], system_of: Mapping[str, str]
) -> dict[str, list[str]]:
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
    """Return whether a test with these settings can allow for picking: two-sided, of the scores."""
    return settings.by_law and settings.alternative == "two-sided"


def numbers_considered(db: Connection, board: Board, rows: Sequence[ranking.BoardRow]) -> dict[str, int]:
    """Return k for each row: how many scored submissions its team has, its training runs being one; 1 for baselines.

    Runs of the team's other systems count one by one: the team saw the score of each, and may send the best again.
    Where the last submission counts, k is 1 for a team that has taken nothing back.
    """
    of_team = boards.attempt_counts(
        db, board.benchmark_id, board.revision.number, board.until, taken_back=board.pick == LAST
    )
    runs_beside = {row.entry.id: max(0, len(row.entry.runs) - 1) for row in rows}
    return {row.entry.id: max(1, of_team.get(row.entry.team_id or "", 0) - runs_beside[row.entry.id]) for row in rows}


COUNTS_DELETED = "its counts were deleted"


def compare_submissions(context: Context, question: comparisons.Question) -> dict[str, Json]:
    """Return the significance document that answers a question.

    Args:
        context: store and configuration.
        question: what is compared.

    Raises:
        InputError: the data lack the unit of the question.
    """
    with context.store.read() as db:
        board = board_behind(db, question)
        chosen = rows_of_share(db, board)
    subject = _subject(board, question, chosen)
    asked = _compared_rows(question)
    with context.store.read() as db:
        missing = ranking.missing_of(db, board, evaluation.submissions_of(asked))
        parts = _compared_parts(db, board, chosen)
    lacking = ranking.positions_of(board, missing)
    untested = ranking.untestable(board, evaluation.missing_parts(asked, lacking), subject.settings)
    candidates, rows = [], []
    charged = evaluation.Charged([], {}) if subject.entry.leaves_out else None
    for row in asked:
        name = row["name"]
        if name in untested:
            continue
        with context.store.read() as db:
            tokens = _tokens(db, board, name, chosen) if subject.settings.unit == "token" else None
            read = partial(_counts, db, board, subject, chosen)
            found = evaluation.candidate_of(row, read, lacking, tokens)
            with_errors = (
                None if charged is None else evaluation.candidate_of(row, partial(read, charged=True), lacking, tokens)
            )
            if charged is not None and with_errors is not None:
                charged.candidates.append(with_errors[0])
                runs = (name, *with_errors[1]["runs"])
                charged.answered[name] = [_answered(db, board, chosen, run) for run in runs]
        if found is None:
            untested[name] = COUNTS_DELETED
        else:
            candidates.append(found[0])
            rows.append(found[1])
    record = evaluation.question_document(
        board.scoring.spec.format, subject.entry, parts, rows, missing,
        charged=board.scoring.charges(subject.entry),
    )  # fmt: skip
    further = [{"name": each, "reason": reason} for each, reason in untested.items()]
    with context.store.read() as db:
        stored = stored_documents(db, board.revision.id, board.chosen_parts)
    documents = evaluation.joined_documents(zip(stored, chosen, strict=True))
    return subject.answer(candidates, documents, further, record, charged)


def board_behind(db: Connection, question: comparisons.Question) -> Board:
    """Return the board with the revision, score and parts of a question."""
    benchmark = benchmarks.get(db, question["benchmark"])
    if benchmark is None:
        raise RuntimeError(f"unknown benchmark {question['benchmark']}")
    return ranking.board_of(
        db, benchmark, score=question["score"], part=question["part"],
        revision=revisions.get(db, benchmark.id, question["revision"]),
        share=question.get("share"), track=question.get("parts"),
    )  # fmt: skip


def rows_of_share(db: Connection, board: Board) -> list[BoolArray]:
    """Return which sentences of each chosen part a board is about: those of its share, bool (n,) for each part."""
    benchmark = benchmarks.get(db, board.benchmark_id)
    split = None if benchmark is None or board.share is None else split_of(db, benchmark, board.revision.id)
    return [share_rows(split, part, board.share) for part in board.chosen_parts]


def _subject(board: Board, question: comparisons.Question, chosen: Sequence[BoolArray]) -> evaluation.Subject:
    entry, score = board.scored_by
    return evaluation.Subject(
        address=board.score,
        entry=entry,
        score=score,
        settings=Settings(**question["settings"]),
        part=board.part,
        parts=[(part.name, int(rows.sum())) for part, rows in zip(board.chosen_parts, chosen, strict=True)],
        gold_digest=" ".join(part.gold_key or "" for part in board.chosen_parts),
        selection=selection_of(board, question),
    )


def _compared_rows(question: comparisons.Question) -> list[evaluation.RowDocument]:
    """Return the systems of a question: submissions, each with its other runs."""
    runs_of = question.get("runs", {})
    counted = {run for first, runs in runs_of.items() for run in runs if run != first}
    considered = question.get("considered", {})
    return [
        evaluation.RowDocument(
            name=name, runs=[run for run in runs_of.get(name, ()) if run != name], submissions=considered.get(name, 1)
        )
        for name in question["submissions"]
        if name not in counted
    ]


def _compared_parts(db: Connection, board: Board, chosen: Sequence[BoolArray]) -> list[evaluation.PartDocument]:
    """Return the chosen parts, with the digests of their gold."""
    digests = texts.names(db, board.revision.id)
    return [
        evaluation.PartDocument(
            name=part.name,
            sentences=int(rows.sum()),
            chosen=None if board.share is None else (np.flatnonzero(rows) + 1).tolist(),
            gold=[digests.get(name, "") for name in gold.names_of(gold.GOLD, part.name, board.scoring.spec.format)],
            items=digests.get(gold.items_name(part.name)),
        )
        for part, rows in zip(board.chosen_parts, chosen, strict=True)
    ]


def _counts(
    db: Connection,
    board: Board,
    subject: evaluation.Subject,
    chosen: Sequence[BoolArray],
    submission: str,
    missing: frozenset[int],
    *,
    charged: bool = False,
) -> Counts | None:
    """Read a submission's counts over the chosen sentences; None where they are gone.

    What a part without a scored output costs is stored as its counts. With `charged`, the counts are those of
    `subject.charging`; of a part that lacks nothing no others are stored than the usual ones.
    """
    metric = board.scoring.spec.entries.index(board.scored_by[0])
    at = board.revision.number, [part.position for part in board.chosen_parts], metric
    found = score_records.counts(db, submission, *at)
    lacking = score_records.counts(db, submission, *at, CHARGED) if charged else [None] * len(found)
    names, positions = (subject.charging if charged else subject).columns
    usual = [subject.entry.metric.table.count_names.index(name) for name in names]
    rows: list[Counts] = []
    for position, (counts, other, sentences) in enumerate(zip(found, lacking, chosen, strict=True)):
        if counts is None and position not in missing:
            return None
        none: Counts = np.zeros((int(sentences.sum()), len(names)), np.int64)
        usual_rows = none if counts is None else counts[sentences][:, usual]
        rows.append(usual_rows if other is None else other[sentences][:, positions])
    # a metric's counts are integers in every part, or real numbers in every part
    return np.concatenate(rows)  # type: ignore[return-value]


def _answered(db: Connection, board: Board, chosen: Sequence[BoolArray], submission: str) -> BoolArray:
    """Read which of the chosen sentences the score of a submission covers: all, unless it is stored."""
    metric = board.scoring.spec.entries.index(board.scored_by[0])
    names = [artifact_name(board.revision.number, ANSWERED, part.position, metric) for part in board.chosen_parts]
    bodies = artifacts.get_all(db, submission, names)
    return np.concatenate([
        np.ones(int(sentences.sum()), np.bool_) if body is None else unpack_array(body).astype(np.bool_)[sentences]
        for body, sentences in zip(bodies, chosen, strict=True)
    ])  # fmt: skip


def charged_scores(db: Connection, board: Board, entries: Iterable[submissions.BoardEntry]) -> dict[str, float]:
    """Return the scores of entries with what their outputs lack charged, of training runs their mean."""
    chosen = rows_of_share(db, board)
    subject = _subject(board, ranking.question_of(board, ()), chosen)
    score, names = subject.charging.score, subject.charging.columns.names
    ends = np.cumsum([size for _, size in subject.parts])
    worst = np.array([math.nan if score.worst is None else score.worst])
    found = {}
    for entry in entries:
        values = []
        for each in entry.runs or (entry.id,):
            counts = _counts(db, board, subject, chosen, each, frozenset(), charged=True)
            if counts is not None:
                parts = [counts] if board.part == POOLED else np.split(counts, ends[:-1])
                of_parts = score.of(names, np.array([part.sum(axis=0) for part in parts]))
                values.append(float(mean_of_parts(of_parts[:, None], worst)[0]))
        if values:
            found[entry.id] = fmean(values)
    return found


def _tokens(db: Connection, board: Board, submission: str, chosen: Sequence[BoolArray]) -> TokenBits | None:
    """Read right or wrong of each token of the chosen sentences; None where a part has none."""
    entry, score = board.scored_by
    metric = board.scoring.spec.entries.index(entry)
    bits: list[TokenBits | None] = []
    for part, sentences in zip(board.chosen_parts, chosen, strict=True):
        right, starts = (
            artifacts.get(db, submission, artifact_name(board.revision.number, kind, part.position, metric))
            for kind in (f"tokens/{score.name}", "tokens")
        )
        if right is None or starts is None:
            bits.append(None)
        else:
            whole = TokenBits(unpack_array(right).astype(np.bool_), unpack_array(starts).astype(np.int64))
            bits.append(evaluation.chosen_tokens(whole, sentences))
    return evaluation.joined_tokens(bits)


UNTESTED = "The differences on this board were not tested."
NOT_TESTED = f'{UNTESTED} To test them, POST a comparison with "submissions": "leaderboard" and this score and part.'
NO_SCORE = "without a score"
BELOW = f"not among the first {ranking.TESTED} rows"
NEWER = "newer than the tests, or changed since; its own are under way"


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of the differences between a board's rows.

    Attributes:
        document: how they were tested, or why not.
        rows: the rows, with their rank intervals, clusters and p.
        untested: submission -> why it was not tested.
        intervals: submission -> interval of its score over the units of the tests; None where it has none.
        considered: submission -> how many its row was picked from, see `numbers_considered`.
    """

    document: leaderboards.BoardSignificance
    rows: Sequence[ranking.BoardRow]
    untested: dict[str, str] = field(default_factory=dict)
    intervals: Mapping[str, common.Interval | None] = field(default_factory=dict)
    considered: Mapping[str, int] = field(default_factory=dict)


def significance_of(
    db: Connection, benchmark: benchmarks.Benchmark, board: Board, rows: Sequence[ranking.BoardRow], release: Release
) -> Finding:
    """Return what is known of the differences between a board's rows, for a caller who sees `release` of it."""
    if not release.tested:
        reason = "The feedback level of this benchmark shows no significance."
        return Finding(_document(None, None, reason), rows)
    ids, untested = ranking.tested_of(db, board, rows)
    considered = numbers_considered(db, board, rows)
    question = board_question(db, board, rows, ids, considered=considered)
    name, selection = ranking.comparison_id(question), selection_of(board, question)
    comparison = _comparison(db, board, name, ids)
    pending = comparison is None and _pending(db, benchmark, board, name)
    last = _last_tested(db, board, question) if pending else None
    if last is not None:
        comparison = last.comparison
        tested = {str(system["name"]) for system in comparison["systems"]}
        untested = dict.fromkeys(set(ids) - tested, NEWER) | untested
        if "considered" in question:
            considered = considered | {each: last.considered.get(each, 1) for each in tested}
    if comparison is None:
        document = _document(name, selection, None if pending else NOT_TESTED)
        return Finding(document, rows, untested, considered=considered)
    document = _document(name, selection)
    # one of fewer than two tested rows has no test and no units
    document |= {"pending": pending, "pairs": len(comparison["pairs"])}
    document |= {"test": comparison.get("test"), "unit": comparison.get("units")}
    if last is not None:
        document |= {"as_of": moment(gate.whole_second(last.as_of)), "pairs": last.pairs}
    if comparison["pairs"]:
        # the number of units of a share could tell which documents are in it
        counts = config.counts_shown(benchmark, board.revision, release)
        counts = counts and (board.share is None or release.gold)
        shown = gate.comparison_view(release.level, comparison, by_part=not release.hidden, counts=counts)
        document["unit_count"] = shown.get("unit_count")
        # a board has no column of p for other parts
        document["notes"] = [each.replace(notes.OTHER_PARTS, "") for each in notes_of_views(shown) if each != ROUNDED]
        if last is not None:  # some name rows that are not there any more
            document["notes"] = [each for each in document["notes"] if not any(gone in each for gone in last.gone)]
    untested |= {each["name"]: each["reason"] for each in comparison["untested"]}
    rows = ranking.with_significance(rows, comparison)
    for row in rows:
        if not row.tested:
            untested.setdefault(row.entry.id, NO_SCORE if row.entry.value is None else BELOW)
    return Finding(document, rows, untested, _intervals(comparison), considered)


def _document(name: str | None, selection: str | None, reason: str | None = None) -> leaderboards.BoardSignificance:
    """Return how every board is tested, or why it is not; its law, units and pairs are not known yet."""
    how, tested = ranking.BOARD_SETTINGS, reason is None
    return leaderboards.BoardSignificance(
        pending=tested, as_of=None, test=None, alternative=how.alternative if tested else None, unit=None,
        unit_count=None, notes=[], correction=how.correction if tested else None,
        alpha=how.alpha if tested else None, pairs=None,
        first_rows=ranking.TESTED, comparison=name, selection=selection, reason=reason,
    )  # fmt: skip


def _intervals(comparison: Mapping[str, Json]) -> dict[str, common.Interval | None]:
    """Return the intervals of the rows that were compared; a single row was not."""
    known = {system["name"]: system["ci"] for system in comparison["systems"] if "ci" in system}
    return {name: ci and common.Interval(low=ci["low"], high=ci["high"]) for name, ci in known.items()}


def _comparison(db: Connection, board: Board, name: str, ids: Sequence[str]) -> Mapping[str, Json] | None:
    """Return the comparison of exactly these rows, made for the board or requested; None where there is none."""
    if len(ids) < 2:
        return {
            "systems": [{"name": each} for each in ids], "pairs": [], "rank_ranges": [], "clusters": None,
            "untested": [],
        }  # fmt: skip
    for key in (board.key, replace(board, until=None).key):  # right after freezing it has the same rows
        kept = boards.get(db, board.benchmark_id, board.revision.number, key)
        if kept is not None and kept.body["id"] == name and kept.body["comparison"]:
            return kept.body["comparison"]
    asked = comparisons.get(db, name)
    if asked is None or asked.document is None or asked.document.get("failure") is not None:
        return None
    answer: Mapping[str, Json] = asked.document["comparison"]
    return answer


@dataclass(frozen=True, slots=True)
class _LastTested:
    """The tests of a board as its rows were before.

    Attributes:
        comparison: of those rows that still stand as they were.
        considered: submission -> how many its row was picked from then, where it was more than one.
        as_of: when the newest of the rows was scored.
        pairs: how many were tested, also with rows that are not there any more.
        gone: the submissions of these.
    """

    comparison: Mapping[str, Json]
    considered: Mapping[str, int]
    as_of: datetime
    pairs: int
    gone: Collection[str]


def _last_tested(db: Connection, board: Board, question: comparisons.Question) -> _LastTested | None:
    """Return the last tests of the question of a board; None where fewer than two of its rows stand as they were.

    Each p stays true of the rows that it was made for. A system with another run is another row. A frozen board has
    tests of its own: those of the other one could tell of what was scored later.
    """
    kept = boards.get(db, board.benchmark_id, board.revision.number, board.key)
    comparison, before = (None, None) if kept is None else (kept.body["comparison"], kept.body["question"])
    if comparison is None or before is None or _asked(before) != _asked(question):
        return None
    old, new = before.get("runs", {}), question.get("runs", {})
    same = {
        each for each in set(before["submissions"]) & set(question["submissions"]) if old.get(each) == new.get(each)
    }
    systems = [each for each in comparison["systems"] if each["name"] in same]
    pairs = [each for each in comparison["pairs"] if each["a"] in same and each["b"] in same]
    if len(systems) < PAIR:
        return None
    return _LastTested(
        {**comparison, "systems": systems, "pairs": pairs}, before.get("considered", {}),
        boards.last_scored(db, before["submissions"]), len(comparison["pairs"]), set(before["submissions"]) - same,
    )  # fmt: skip


def _asked(question: comparisons.Question) -> dict[str, object]:
    """Return what a question asks, of any rows."""
    return {name: value for name, value in question.items() if name not in ("submissions", "runs", "considered")}


def _pending(db: Connection, benchmark: benchmarks.Benchmark, board: Board, name: str) -> bool:
    """Return whether a worker is going to compare these rows."""
    asked = comparisons.get(db, name)
    if asked is not None:
        run = runs.get(db, asked.run_id)
        if run is not None and not run.final:
            return True
    number = board.revision.number
    if boards.unfinished_run(db, board.benchmark_id, number) is None:
        return False
    live = replace(board, until=None).key
    standard = {
        each.key
        for each in ranking.standard_boards(ranking.board_of(db, benchmark, revision=number, share=board.share))
    }
    return live in standard or boards.get(db, board.benchmark_id, number, live) is not None
