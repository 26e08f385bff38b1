"""The units of gold that are tested and drawn: documents, shares of a split test set, and the ladder of shown scores.

Documents of gold's sentences are the units of tests and intervals: stored when a revision is checked.

Shares are the sentences that are public and those that are private, drawn by a key of the service. The units that are
drawn are those of tests: the documents of a part, as gold or the organiser marks them (sentences before the first mark
are one), and of a part with fewer than two marked documents its sentences. Of G units round(private G) are private, at
least 1 and at most G - 1: those with the smallest HMAC-SHA256 of (part, unit) under a key of the benchmark, which is
made of a secret of the store. So the draw is the same for every submission; it cannot be guessed; and a revision that
keeps the names of documents, or the number of sentences of a part without documents, keeps it.

New scores are placed on a benchmark's ladder: released if they beat the team's shown best by the paired standard error.
They are placed in the order in which they are saved, in the transaction that saves them. A place is never taken back:
deleting or withdrawing a submission does not lower the shown best that the next one must beat.
"""

import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock

import numpy as np
import orjson
from sqlalchemy import Connection

from service.requests import PRIVATE, PUBLIC
from service.store import artifacts, benchmarks, revisions, score_records, texts
from service.store.benchmarks import Benchmark
from service.store.revisions import Digests, Part, Revision
from service.store.submissions import Submission
from service.usecases.scoring.config import scoring_config
from treescore.core.arrays import BoolArray, Counts, IntArray
from treescore.core.params import escape
from treescore.errors import Problem, ProblemList
from treescore.evaluation import evaluate, report
from treescore.significance import Settings, contributions
from treescore.significance.units import chosen_units, with_documents

Names = Sequence[str | None]
"""The document of each sentence, None before the first mark; empty where gold marks none."""


def blocks_name(position: int) -> str:
    """Return the name of the artifact with the document of each sentence of a part."""
    return f"blocks/{position}/of_sentences"


def packed_documents(evaluation: evaluate.Evaluation) -> bytes:
    """Return what is stored of the documents of a part."""
    return artifacts.pack_json(list(report.documents_of(evaluation) or ()))


def stored_documents(db: Connection, revision_id: str, parts: Sequence[Part]) -> list[Names]:
    """Return the document of each sentence of each part; none before gold was checked."""
    bodies = artifacts.get_all(db, revision_id, [blocks_name(part.position) for part in parts])
    return [() if body is None else artifacts.unpack_json(body) for body in bodies]


def blocks_of_part(names: Names, sentences: int, unit: str) -> IntArray | None:
    """Return the number of each sentence's document, (n,), where a board of this unit goes by document in a part."""
    return chosen_units(Settings(unit=unit), names or None, None, sentences).blocks


SHARE_SECRET = "private-shares"  # noqa: S105 - the name of a secret, no secret
LEAST_UNITS = 2
"""Sentences of a part that can be split."""
MOST_DRAWS = 64
"""Draws of revisions that a process keeps; one bit, stored as a byte, for each sentence."""

Split = Mapping[str, BoolArray]
"""The draw of one revision: part -> whether each of its sentences is private, bool (n,)."""
_DRAWS: OrderedDict[tuple[bytes, str, float], Split] = OrderedDict()
_LOCK = Lock()


def rows_in(split: Split, part: str, share: str | None) -> BoolArray:
    """Return which sentences of a part belong to a share, bool (n,)."""
    return split[part] if share == PRIVATE else ~split[part]


def make_key(db: Connection) -> None:
    """Make the secret of all draws, in the writing transaction that splits a test set; readers need it."""
    texts.key_of_store(db, SHARE_SECRET)


def split_of(db: Connection, benchmark: Benchmark, revision_id: str) -> Split | None:
    """Return the draw of a revision whose gold was checked; None where the test set is not split."""
    private = benchmark.private_share
    if private is None:
        return None
    secret = texts.key_of_store(db, SHARE_SECRET)
    key = hmac.digest(secret, f"benchmark {benchmark.id}".encode(), hashlib.sha256)
    name = (key, revision_id, private)
    with _LOCK:
        known = _DRAWS.get(name)
    if known is not None:
        return known
    parts = revisions.parts_of(db, revision_id)
    documents = stored_documents(db, revision_id, parts)
    split = {
        part.name: draw(key, part.name, units_of(names, part), private)
        for part, names in zip(parts, documents, strict=True)
    }
    if all(part.sentences is not None for part in parts):
        with _LOCK:
            _DRAWS[name] = split
            while len(_DRAWS) > MOST_DRAWS:
                _DRAWS.popitem(last=False)
    return split


def units_of(names: Names, part: Part) -> list[tuple[str, str | int]]:
    """Return the unit of each sentence of a part: its document, or itself."""
    kept, _ = with_documents(names or [None] * (part.sentences or 0), None)
    return [("sentence", at) if name is None else ("document", name) for at, name in enumerate(kept)]


def draw(key: bytes, part: str, units: Sequence[tuple[str, str | int]], private: float) -> BoolArray:
    """Return which sentences of a part are private, bool (n,).

    Args:
        key: of the benchmark.
        part: its name.
        units: of each sentence, (n,).
        private: which part of the units is private, above 0 and below 1.
    """
    distinct = list(dict.fromkeys(units))
    taken = min(max(1, round(private * len(distinct))), len(distinct) - 1)
    by_hash = sorted(distinct, key=lambda unit: hmac.digest(key, orjson.dumps([part, *unit]), hashlib.sha256))
    chosen = set(by_hash[: max(0, taken)])
    return np.array([unit in chosen for unit in units], np.bool_)


def unsplittable(parts: Iterable[Part], benchmark: Benchmark) -> ProblemList:
    """Return the problems of parts that are too small for a share of each kind; none where nothing is split."""
    problems = ProblemList()
    for part in parts if benchmark.private_share is not None else ():
        if part.sentences is not None and part.sentences < LEAST_UNITS:
            detail = (
                f"The part {part.name!r} has {part.sentences} sentence, so that one share would have none. Join it "
                "with another part, or do without a split."
            )
            problems.add(Problem("part-not-split", detail, pointer=f"/parts/{escape(part.name)}", part=part.name))
    return problems


def share_rows(split: Split | None, part: Part, share: str | None) -> BoolArray:
    """Return which sentences of a part belong to a share, bool (n,); all of them where the test set is not split."""
    return np.ones(part.sentences or 0, np.bool_) if split is None else rows_in(split, part.name, share)


def sizes_of(
    db: Connection, benchmark: Benchmark, revision_id: str, parts: Sequence[Part], share: str | None
) -> dict[str, int | None]:
    """Return the numbers of sentences of the parts in a share; None for a part whose gold is not checked."""
    split = None if share is None else split_of(db, benchmark, revision_id)
    if split is None:
        return {part.name: part.sentences for part in parts}
    return {
        part.name: None if part.sentences is None else int(rows_in(split, part.name, share).sum()) for part in parts
    }


def golds_of(db: Connection, benchmark: Benchmark, share: str | None) -> dict[int, dict[str, Digests]]:
    """Return the digests of gold in a share, of all revisions that have boards: number -> part -> digests."""
    golds = revisions.digests(db, benchmark.id)
    if share is None:
        return golds
    ids = revisions.ids_by_number(db, benchmark.id)
    return {number: _digests_in(split_of(db, benchmark, ids[number]), gold, share) for number, gold in golds.items()}


def gold_of(db: Connection, benchmark: Benchmark, revision: Revision, share: str | None) -> dict[str, Digests]:
    """Return the digests of one revision's gold in a share, by part."""
    gold = revisions.digests_of(db, revision.id)
    return gold if share is None else _digests_in(split_of(db, benchmark, revision.id), gold, share)


def _digests_in(split: Split | None, gold: Mapping[str, Digests], share: str) -> dict[str, Digests]:
    if split is None:
        return dict(gold)
    return {name: _of_share(each, rows_in(split, name, share)) for name, each in gold.items()}


def _of_share(digests: Digests, rows: BoolArray) -> Digests:
    if digests.sentences is None:
        return digests
    kept = np.flatnonzero(rows).tolist()
    return Digests(digests.gold_key, [[column[at] for at in kept] for column in digests.sentences])


def place_on_ladder(db: Connection, benchmark: Benchmark, revision: Revision, submission: Submission) -> None:
    """Decide whether the scores of a submission, just saved, are released. Scores that have a place keep it."""
    if not benchmark.leaderboard["ladder"] or submission.team_id is None:
        return
    benchmarks.get_team(db, benchmark.id, submission.team_id, lock=True)
    if score_records.rung(db, submission.id, revision.number) is not None:
        return
    rows = _counts(db, benchmark, revision, submission)
    if rows is None:
        return
    shown = score_records.ladder_of(db, benchmark.id, submission.team_id, revision.number)
    if shown is not None and not _beats(revision, rows, shown.counts):
        score_records.set_rung(db, submission.id, revision.number, score_records.HELD)
        return
    rung = 1 if shown is None else shown.rung + 1
    score_records.set_rung(db, submission.id, revision.number, rung)
    ladder = score_records.Ladder(rung, np.concatenate(rows))  # type: ignore[arg-type]
    score_records.save_ladder(db, benchmark.id, submission.team_id, revision.number, ladder)


def _counts(db: Connection, benchmark: Benchmark, revision: Revision, submission: Submission) -> list[Counts] | None:
    """Read the counts of each part under the metric that ranks, of the public share; None where they are not kept."""
    scoring = scoring_config(revision.scoring)
    metric = scoring.spec.entries.index(scoring.main[0])
    split = split_of(db, benchmark, revision.id)
    parts = revisions.parts_of(db, revision.id)
    found = score_records.counts(db, submission.id, revision.number, [part.position for part in parts], metric)
    known = [counts for counts in found if counts is not None]
    if len(known) < len(parts):
        return None
    return [counts[share_rows(split, part, PUBLIC)] for counts, part in zip(known, parts, strict=True)]


def _beats(revision: Revision, rows: list[Counts], shown: Counts) -> bool:
    entry, score = scoring_config(revision.scoring).main
    sizes = [len(part) for part in rows]
    parts = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes) if len(sizes) > 1 else None
    return contributions.beats_shown(score, entry.metric.table.count_names, np.concatenate(rows), shown, parts)  # type: ignore[arg-type]
