"""Compare submissions from their stored counts. No text is parsed again."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from service.context import Context
from service.requests import MACRO, POOLED, PRIVATE
from service.store import artifacts, benchmarks, score_records
from service.store.comparisons import Question
from service.store.packing import unpack_array
from service.store.score_records import artifact_name
from service.usecases.boards.board import Board, board_of, lacking_parts, untestable
from service.usecases.boards.considered import OF_PRIVATE_SHARE, UNSELECTED, most_others
from service.usecases.boards.seeds import seeds_of
from service.usecases.boards.systems import lacked_by_all_runs
from service.usecases.scoring.documents import documents_in, stored_documents
from service.usecases.scoring.gold import evaluation_of, load_part
from service.usecases.scoring.shares import share_rows, split_of
from treescore.core.arrays import BoolArray, Counts, IntArray
from treescore.core.params import Json
from treescore.core.registry import TokenBits
from treescore.significance import Candidate, PooledParts, Settings, compare

COUNTS_DELETED = "its counts were deleted"


class _Columns(NamedTuple):
    """The counts that are compared, and their positions in the stored arrays."""

    names: list[str]
    positions: list[int]


def compare_submissions(
    context: Context, question: Question, earlier: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    """Return the significance document that answers a question.

    Args:
        context: store and configuration.
        question: what is compared.
        earlier: an answer about other submissions; what it has of the same pairs is not computed again.

    Raises:
        InputError: the data lack the unit of the question.
    """
    settings = Settings(**question["settings"])
    runs = question.get("runs", {})
    further_runs = {run for first, of_it in runs.items() for run in of_it if run != first}
    alone = [each for each in question["submissions"] if each not in further_runs]
    seeds = seeds_of(context, question)
    with context.store.read() as db:
        board = board_behind(db, question)
        lacking = lacking_parts(db, board, [*question["submissions"], *itertools.chain(*runs.values())])
    missing_of = lacked_by_all_runs(lacking, alone, runs)
    untested = untestable(board, missing_of, settings)
    entry, score = board.scored_by
    columns = _columns(entry.metric.table.count_names, board, settings)
    with context.store.read() as db:
        chosen = rows_of_share(db, board)
    candidates = []
    for each in alone:
        if each in untested:
            continue
        with context.store.read() as db:
            missing = missing_of.get(each, frozenset())
            tokens = settings.unit == "token"
            candidate = _candidate(db, board, each, columns.positions, chosen, missing, tokens=tokens)
            if candidate is not None:
                further = {run: lacking.get(run, frozenset()) for run in runs.get(each, ()) if run != each}
                candidate = _with_runs(db, board, candidate, columns.positions, chosen, further)
                candidate = _with_considered(db, board, candidate, columns.positions, chosen, question)
        if candidate is None:
            untested[each] = COUNTS_DELETED
        else:
            candidates.append(candidate)
    parts = board.chosen_parts
    strata = _strata(chosen, candidates) if board.part in (MACRO, POOLED) else None
    of_parts = PooledParts(strata) if strata is not None and board.part == POOLED else strata
    blocks = _documents(context, board, chosen)
    gold = " ".join(part.gold_key or "" for part in parts)
    document = compare(
        board.score, score, columns.names, candidates, settings, blocks=blocks, parts=of_parts, gold_digest=gold,
        seed_of=None if seeds is None else seeds.of, earlier=earlier,
    )  # fmt: skip
    if seeds is not None:
        document |= {"seed_commitment": seeds.commitment, "seed_root": seeds.root.hex()}
    document["untested"] += [{"name": each, "reason": reason} for each, reason in untested.items()]
    if "considered" not in question:
        picking = OF_PRIVATE_SHARE if board.share == PRIVATE else UNSELECTED
        document["assumed"] = f"{document['assumed']} {picking}"
    if board.part == MACRO:
        document["part_names"] = [part.name for part in parts]
    return document


def board_behind(db: Connection, question: Question) -> Board:
    """Return the board with the revision, score and parts of a question."""
    benchmark = benchmarks.get(db, question["benchmark"])
    if benchmark is None:
        raise RuntimeError(f"unknown benchmark {question['benchmark']}")
    return board_of(
        db, benchmark, score=question["score"], part=question["part"], revision=question["revision"],
        share=question.get("share"),
    )  # fmt: skip


def rows_of_share(db: Connection, board: Board) -> list[BoolArray]:
    """Return which sentences of each chosen part a board is about: those of its share, bool (n,) for each part."""
    benchmark = benchmarks.get(db, board.benchmark_id)
    split = None if benchmark is None or board.share is None else split_of(db, benchmark, board.revision.id)
    return [share_rows(split, part, board.share) for part in board.chosen_parts]


def _columns(names: Sequence[str], board: Board, settings: Settings) -> _Columns:
    """Select the counts of the score; the test of compare.pl also needs the others."""
    score = board.scored_by[1]
    used = {name for ratio in score.ratios for name in (*ratio.numerator, *ratio.denominator)}
    if settings.test == "compare_pl":
        used = set(names)
    positions = [position for position, name in enumerate(names) if name in used]
    return _Columns([names[position] for position in positions], positions)


def _candidate(
    db: Connection,
    board: Board,
    submission: str,
    kept: list[int],
    chosen: Sequence[BoolArray],
    missing: frozenset[int],
    *,
    tokens: bool,
) -> Candidate | None:
    """Read a submission's counts over the chosen sentences, and its token bits where needed; None without counts.

    What a part without a scored output costs is stored as its counts; of earlier versions it may not be.
    """
    entry, score = board.scored_by
    metric = board.scoring.spec.entries.index(entry)
    number = board.revision.number
    together = _counts(db, board, submission, kept, chosen, missing)
    if together is None:
        return None
    bits: list[TokenBits | None] = []
    for part, sentences in zip(board.chosen_parts, chosen, strict=True) if tokens else ():
        right, starts = (
            artifacts.get(db, submission, artifact_name(number, kind, part.position, metric))
            for kind in (f"tokens/{score.name}", "tokens")
        )
        bits.append(_bits(right, starts, sentences))
    return Candidate(submission, (together,), _joined(bits), missing)


def _with_runs(
    db: Connection,
    board: Board,
    candidate: Candidate,
    kept: list[int],
    chosen: Sequence[BoolArray],
    further: Mapping[str, frozenset[int]],
) -> Candidate:
    """Add the counts of the other training runs of a candidate's system, given with the parts that they lack."""
    read = (_counts(db, board, each, kept, chosen, missing) for each, missing in further.items())
    return replace(candidate, runs=(*candidate.runs, *(counts for counts in read if counts is not None)))


def _with_considered(
    db: Connection,
    board: Board,
    candidate: Candidate,
    kept: list[int],
    chosen: Sequence[BoolArray],
    question: Question,
) -> Candidate:
    """Add the counts of the submissions that the candidate's team picked it from."""
    found = question.get("considered", {}).get(candidate.name)
    if found is None:
        return candidate
    most = most_others(question, len(candidate.runs[0]), len(kept))
    read = (_counts(db, board, each, kept, chosen) for each in found["others"][::-1][:most])
    others = [counts for counts in read if counts is not None]
    unknown = len(found["others"]) - len(others) + found["deleted"]
    return replace(candidate, considered=(candidate.runs[0], *others), unknown=unknown)


def _counts(
    db: Connection,
    board: Board,
    submission: str,
    kept: list[int],
    chosen: Sequence[BoolArray],
    missing: frozenset[int] = frozenset(),
) -> Counts | None:
    """Read a submission's counts over the chosen sentences, zeros for missing parts; None where they are gone."""
    metric = board.scoring.spec.entries.index(board.scored_by[0])
    rows: list[Counts] = []
    for at, (part, sentences) in enumerate(zip(board.chosen_parts, chosen, strict=True)):
        counts = score_records.counts(db, submission, board.revision.number, part.position, metric)
        if counts is None and at not in missing:
            return None
        none: Counts = np.zeros((int(sentences.sum()), len(kept)), np.int64)
        rows.append(none if counts is None else counts[sentences][:, kept])
    # a metric's counts are integers in every part, or real numbers in every part
    return np.concatenate(rows)  # type: ignore[return-value]


def _bits(right: bytes | None, starts: bytes | None, sentences: BoolArray) -> TokenBits | None:
    """Return the token bits of the chosen sentences."""
    if right is None or starts is None:
        return None
    bits, offsets = unpack_array(right).astype(np.bool_), unpack_array(starts).astype(np.int64)
    lengths = np.diff(offsets)
    kept = np.repeat(sentences, lengths)
    return TokenBits(bits[kept], np.concatenate([offsets[:1], np.cumsum(lengths[sentences], dtype=np.int64)]))


def _joined(bits: Sequence[TokenBits | None]) -> TokenBits | None:
    """Join the tokens of all parts; None where a part has none."""
    known = [each for each in bits if each is not None]
    if not known or len(known) < len(bits):
        return None
    offsets = [np.zeros(1, np.int64)]
    for each in known:
        offsets.append(each.offsets[1:] + offsets[-1][-1])
    return TokenBits(np.concatenate([each.bits for each in known]), np.concatenate(offsets))


def _strata(chosen: Sequence[BoolArray], candidates: Sequence[Candidate]) -> IntArray:
    """Return the position of each sentence's part among the chosen ones."""
    sizes = [int(sentences.sum()) for sentences in chosen]
    if candidates and sum(sizes) != len(candidates[0].runs[0]):
        raise RuntimeError("the counts and the parts differ in their number of sentences")
    return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)


def _documents(context: Context, board: Board, chosen: Sequence[BoolArray]) -> list[str | None] | None:
    """Return the document of each chosen sentence, None before the first mark of its part.

    None where gold marks none.
    """
    names: list[str | None] = []
    for part, sentences in zip(board.chosen_parts, chosen, strict=True):
        with context.store.read() as db:
            of_part = stored_documents(db, board.revision.id, part)
        if of_part is None:
            with context.store.read() as db:
                gold = load_part(db, board.revision, part.name, board.scoring.spec)
            spec, limits = board.scoring.spec, context.config.limits
            of_part = documents_in(evaluation_of(spec, gold, board.revision, part.name, limits))
        names += itertools.compress(of_part or [None] * len(sentences), sentences)
    return names if any(names) else None
