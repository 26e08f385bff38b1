"""Compare submissions from their stored counts. No text is parsed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from sqlalchemy import Connection

from service.context import Context
from service.store import artifacts, benchmarks, score_records, texts
from service.store.comparisons import Question
from service.store.packing import unpack_array
from service.store.revisions import Part
from service.store.score_records import artifact_name
from service.usecases.boards.board import Board, board_of, missing_of, positions_of, untestable
from service.usecases.boards.considered import most_others
from service.usecases.boards.seeds import seeds_of
from service.usecases.scoring.documents import Names, documents_in, stored_documents
from service.usecases.scoring.gold import evaluation_of, load_part
from service.usecases.scoring.part_texts import GOLD, items_name, names_of
from treescore.core.arrays import Counts
from treescore.core.params import Json
from treescore.core.registry import TokenBits
from treescore.evaluation.benchmark import (
    PartDocument,
    RowDocument,
    Subject,
    candidate_of,
    joined_documents,
    joined_tokens,
    question_document,
    submissions_of,
)
from treescore.significance import Settings

COUNTS_DELETED = "its counts were deleted"


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
    seeds = seeds_of(context, question)
    with context.store.read() as db:
        board = board_behind(db, question)
    subject = _subject(board, question)
    asked = _rows(question, subject)
    with context.store.read() as db:
        missing = missing_of(db, board, submissions_of(asked))
        parts = _parts(db, board)
    lacking = positions_of(board, missing)
    first = {each: lacking[each] for each in question["submissions"] if each in lacking}
    untested = untestable(board, first, subject.settings)
    candidates, rows = [], []
    for row in asked:
        name = row["name"]
        if name in untested:
            continue
        with context.store.read() as db:
            tokens = _tokens(db, board, name) if subject.settings.unit == "token" else None
            read = partial(_counts, db, board, subject.columns.positions)
            found = candidate_of(row, read, lacking.get(name, frozenset()), tokens)
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
    return subject.answer(candidates, _documents(context, board), seeds, further, record, earlier)


def board_behind(db: Connection, question: Question) -> Board:
    """Return the board with the revision, score and parts of a question."""
    benchmark = benchmarks.get(db, question["benchmark"])
    if benchmark is None:
        raise RuntimeError(f"unknown benchmark {question['benchmark']}")
    return board_of(db, benchmark, score=question["score"], part=question["part"], revision=question["revision"])


def _subject(board: Board, question: Question) -> Subject:
    entry, score = board.scored_by
    return Subject(
        address=board.score,
        entry=entry,
        score=score,
        settings=Settings(**question["settings"]),
        part=board.part,
        parts=[(part.name, part.sentences or 0) for part in board.chosen_parts],
        gold_digest=" ".join(part.gold_key or "" for part in board.chosen_parts),
        picked="considered" in question,
    )


def _rows(question: Question, subject: Subject) -> list[RowDocument]:
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


def _parts(db: Connection, board: Board) -> list[PartDocument]:
    """Return the chosen parts, with the digests of their gold."""
    digests = texts.names(db, board.revision.id)
    return [
        PartDocument(
            name=part.name,
            sentences=part.sentences or 0,
            gold=[digests.get(name, "") for name in names_of(GOLD, part.name, board.scoring.spec.format)],
            items=digests.get(items_name(part.name)),
        )
        for part in board.chosen_parts
    ]


def _counts(
    db: Connection, board: Board, kept: Sequence[int], submission: str, missing: frozenset[int]
) -> Counts | None:
    """Read a submission's counts over the chosen parts, zeros for missing ones; None where they are gone.

    What a part without a scored output costs is stored as its counts; of earlier versions it may not be.
    """
    metric = board.scoring.spec.entries.index(board.scored_by[0])
    rows: list[Counts] = []
    for at, part in enumerate(board.chosen_parts):
        counts = score_records.counts(db, submission, board.revision.number, part.position, metric)
        if counts is None and at not in missing:
            return None
        rows.append(np.zeros((part.sentences or 0, len(kept)), np.int64) if counts is None else counts[:, kept])
    # a metric's counts are integers in every part, or real numbers in every part
    return np.concatenate(rows)  # type: ignore[return-value]


def _tokens(db: Connection, board: Board, submission: str) -> TokenBits | None:
    """Read right or wrong of each token of the chosen parts; None where a part has none."""
    entry, score = board.scored_by
    metric = board.scoring.spec.entries.index(entry)
    bits: list[TokenBits | None] = []
    for part in board.chosen_parts:
        right, starts = (
            artifacts.get(db, submission, artifact_name(board.revision.number, kind, part.position, metric))
            for kind in (f"tokens/{score.name}", "tokens")
        )
        bits.append(_bits(right, starts))
    return joined_tokens(bits)


def _bits(right: bytes | None, starts: bytes | None) -> TokenBits | None:
    if right is None or starts is None:
        return None
    return TokenBits(unpack_array(right).astype(np.bool_), unpack_array(starts).astype(np.int64))


def _documents(context: Context, board: Board) -> list[str | None] | None:
    """Return the document of each sentence, None before the first mark of its part; None where gold marks none."""
    return joined_documents([(_documents_of(context, board, part), part.sentences or 0) for part in board.chosen_parts])


def _documents_of(context: Context, board: Board, part: Part) -> Names:
    with context.store.read() as db:
        stored = stored_documents(db, board.revision, part)
    if stored is not None:
        return stored
    spec = board.scoring.spec
    with context.store.read() as db:
        gold = load_part(db, board.revision, part.name, spec)
    return documents_in(evaluation_of(spec, gold, board.revision, part.name, context.config.limits))
