"""Compare submissions from their stored counts. No text is parsed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from sqlalchemy import Connection

from service.context import Context
from service.store import artifacts, benchmarks, score_records, texts
from service.store.comparisons import Question
from service.store.packed_arrays import unpack_values
from service.store.score_records import artifact_name
from service.usecases.boards.board import Board, board_of, missing_of, positions_of, untestable
from service.usecases.boards.considered import most_others
from service.usecases.boards.seeds import seeds_of
from service.usecases.scoring.documents import stored_documents
from service.usecases.scoring.part_texts import GOLD, items_name, names_of
from service.usecases.scoring.shares import share_rows, split_of
from treescore.core.arrays import BoolArray, Counts
from treescore.core.params import Json
from treescore.core.registry import TokenBits
from treescore.evaluation.benchmark import (
    PartDocument,
    RowDocument,
    Subject,
    candidate_of,
    chosen_tokens,
    joined_documents,
    joined_tokens,
    missing_parts,
    question_document,
    still_answered,
    submissions_of,
)
from treescore.significance import Settings

COUNTS_DELETED = "its counts were deleted"


def compare_submissions(
    context: Context, question: Question, earlier: Sequence[Mapping[str, Json]] = ()
) -> dict[str, Json]:
    """Return the significance document that answers a question.

    Args:
        context: store and configuration.
        question: what is compared.
        earlier: answers about other submissions on the same score, part and share; what they have of the same pairs is
            not computed again, unless the team ahead has picked from something else since.

    Raises:
        InputError: the data lack the unit of the question.
    """
    seeds = seeds_of(context, question)
    with context.store.read() as db:
        board = board_behind(db, question)
        chosen = rows_of_share(db, board)
    subject = _subject(board, question, chosen)
    asked = _compared_rows(question, subject)
    with context.store.read() as db:
        missing = missing_of(db, board, submissions_of(asked))
        parts = _compared_parts(db, board, chosen)
    lacking = positions_of(board, missing)
    untested = untestable(board, missing_parts(asked, lacking), subject.settings)
    candidates, rows = [], []
    for row in asked:
        name = row["name"]
        if name in untested:
            continue
        with context.store.read() as db:
            tokens = _tokens(db, board, name, chosen) if subject.settings.unit == "token" else None
            read = partial(_counts, db, board, subject.columns.positions, chosen)
            found = candidate_of(row, read, lacking, tokens)
        if found is None:
            untested[name] = COUNTS_DELETED
        else:
            candidates.append(found[0])
            rows.append(found[1])
    charged = board.scoring.charges(subject.entry)
    record = question_document(
        board.scoring.spec.format, subject.entry, parts, rows, missing, charged=charged, picked=subject.picked
    )
    further = [{"name": each, "reason": reason} for each, reason in untested.items()]
    known = [still_answered(answer, rows) for answer in earlier]
    with context.store.read() as db:
        documents = joined_documents(
            (stored_documents(db, board.revision.id, part), sentences)
            for part, sentences in zip(board.chosen_parts, chosen, strict=True)
        )
    return subject.answer(candidates, documents, seeds, further, record, known)


def board_behind(db: Connection, question: Question) -> Board:
    """Return the board with the revision, score and parts of a question."""
    benchmark = benchmarks.get(db, question["benchmark"])
    if benchmark is None:
        raise RuntimeError(f"unknown benchmark {question['benchmark']}")
    return board_of(
        db, benchmark, score=question["score"], part=question["part"], revision=question["revision"],
        share=question.get("share"), track=question.get("parts"),
    )  # fmt: skip


def rows_of_share(db: Connection, board: Board) -> list[BoolArray]:
    """Return which sentences of each chosen part a board is about: those of its share, bool (n,) for each part."""
    benchmark = benchmarks.get(db, board.benchmark_id)
    split = None if benchmark is None or board.share is None else split_of(db, benchmark, board.revision.id)
    return [share_rows(split, part, board.share) for part in board.chosen_parts]


def _subject(board: Board, question: Question, chosen: Sequence[BoolArray]) -> Subject:
    entry, score = board.scored_by
    return Subject(
        address=board.score,
        entry=entry,
        score=score,
        settings=Settings(**question["settings"]),
        part=board.part,
        parts=[(part.name, int(rows.sum())) for part, rows in zip(board.chosen_parts, chosen, strict=True)],
        gold_digest=" ".join(part.gold_key or "" for part in board.chosen_parts),
        picked="considered" in question,
        share=board.share,
    )


def _compared_rows(question: Question, subject: Subject) -> list[RowDocument]:
    """Return the systems of a question: submissions, each with its other runs and what its team picked it from."""
    runs_of = question.get("runs", {})
    counted = {run for first, runs in runs_of.items() for run in runs if run != first}
    most = most_others(question, subject.sentences, len(subject.columns.names))
    rows = []
    for name in question["submissions"]:
        if name in counted:
            continue
        row = RowDocument(
            name=name, runs=[run for run in runs_of.get(name, ()) if run != name], considered=None, unknown=0
        )
        found = question.get("considered", {}).get(name)
        if found is not None:
            newest = found["others"][::-1][:most]
            row["considered"] = newest
            row["unknown"] = found["deleted"] + len(found["others"]) - len(newest)
        rows.append(row)
    return rows


def _compared_parts(db: Connection, board: Board, chosen: Sequence[BoolArray]) -> list[PartDocument]:
    """Return the chosen parts, with the digests of their gold."""
    digests = texts.names(db, board.revision.id)
    return [
        PartDocument(
            name=part.name,
            sentences=int(rows.sum()),
            chosen=None if board.share is None else (np.flatnonzero(rows) + 1).tolist(),
            gold=[digests.get(name, "") for name in names_of(GOLD, part.name, board.scoring.spec.format)],
            items=digests.get(items_name(part.name)),
        )
        for part, rows in zip(board.chosen_parts, chosen, strict=True)
    ]


def _counts(
    db: Connection,
    board: Board,
    kept: Sequence[int],
    chosen: Sequence[BoolArray],
    submission: str,
    missing: frozenset[int],
) -> Counts | None:
    """Read a submission's counts over the chosen sentences; None where they are gone.

    What a part without a scored output costs is stored as its counts.
    """
    metric = board.scoring.spec.entries.index(board.scored_by[0])
    positions = [part.position for part in board.chosen_parts]
    found = score_records.counts(db, submission, board.revision.number, positions, metric)
    rows: list[Counts] = []
    for at, (counts, sentences) in enumerate(zip(found, chosen, strict=True)):
        if counts is None and at not in missing:
            return None
        none: Counts = np.zeros((int(sentences.sum()), len(kept)), np.int64)
        rows.append(none if counts is None else counts[sentences][:, kept])
    # a metric's counts are integers in every part, or real numbers in every part
    return np.concatenate(rows)  # type: ignore[return-value]


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
        whole = _bits(right, starts)
        bits.append(None if whole is None else chosen_tokens(whole, sentences))
    return joined_tokens(bits)


def _bits(right: bytes | None, starts: bytes | None) -> TokenBits | None:
    if right is None or starts is None:
        return None
    return TokenBits(unpack_values(right).astype(np.bool_), unpack_values(starts).astype(np.int64))
