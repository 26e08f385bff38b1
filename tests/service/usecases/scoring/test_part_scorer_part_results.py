"""Results of parts that were kept as bytes and joined are to the byte those that were never kept, for every metric."""

from __future__ import annotations

import itertools
from dataclasses import fields
from typing import Any

import numpy as np
import orjson
import pytest

from service.store import revisions, submissions
from service.store.artifacts import pack_json
from service.store.packing import unpack
from service.usecases.scoring.part_scorer import PartResult, PartShare, Scored, Scorer, pack_results, unpack_results
from tests.fixtures.tasks import LONG, SLUG, spoilt
from treescore.core.registry import METRICS, Example
from treescore.evaluation import spec  # noqa: F401 - fills the registry

NAMES = ("a", "b", "c", "d")
CUTS = [(1,), (2, 3), (1, 2, 3)]
"""Where the parts are divided: each begins and ends what one worker scores."""


def joined(sides: list[Any]) -> Any:
    """The sentences of an example as one text of a request."""
    if isinstance(sides[0], dict):
        return {field: "".join(side[field] for side in sides) for field in sides[0]}
    return "".join(sides)


def plain(scored: Scored) -> tuple[object, ...]:
    """Everything of a result that is stored, as bytes where it is stored as bytes."""
    record = scored.record
    assert record is not None
    shares = {
        share: (pack_json(each.document), [getattr(each.scores, of.name).tobytes() for of in fields(each.scores)])
        for share, each in record.shares.items()
    }
    failures = {part: failure.record() for part, failure in scored.failures.items()}
    return (shares, record.covered, dict(scored.packed), scored.sizes, orjson.dumps(failures))


def same_however_cut(context, submission_id: str) -> None:
    with context.store.read() as db:
        revision = revisions.get(db, SLUG, 1)
        submission = submissions.get(db, submission_id)
    scorer = Scorer(context, revision)
    expected = plain(scorer.score(submission, lambda *_: None))
    for cut in CUTS:
        kept = []
        for first, last in itertools.pairwise((0, *cut, len(NAMES))):
            other = Scorer(context, revision)
            kept.append(pack_results(other.score_parts(submission, other.parts[first:last], lambda *_: None)))
        results = [result for body in kept for result in unpack_results(body)]
        assert plain(scorer.join(submission, results)) == expected


def test_so_are_those_of_both_shares_of_a_split_test_set(task, context):
    split = {"closes_at": "2026-12-01T00:00:00Z", "feedback": "scores", "leaderboard": {"split": {"private": 0.5}}}
    task.make(parts={part: {"gold": LONG} for part in NAMES}, **split)
    outputs = {part: spoilt(number) for number, part in enumerate(NAMES[1:])}
    same_however_cut(context, task.submit(task.team(), outputs))


@pytest.mark.parametrize("name", sorted(METRICS))
def test_joined_results_are_those_of_one_worker(task, context, name):
    example: Example = METRICS[name].examples[0]
    gold = [joined([gold for gold, _ in example.sentences[at:]]) for at in range(3)]
    output = [joined([output for _, output in example.sentences[at:]]) for at in range(3)]
    parts = dict(zip(NAMES, [*gold, gold[0]], strict=True))
    task.make(
        **{**example.request(name), "main_score": None}, parts={part: {"gold": text} for part, text in parts.items()}
    )
    submission = task.submit(task.team(), dict(zip(NAMES, output, strict=False)))
    same_however_cut(context, submission)


def test_rows_keep_their_type_and_their_order_in_memory():
    for rows in (
        np.arange(6, dtype=np.int32).reshape(2, 3),
        np.asfortranarray(np.array([[0.1, np.nan], [1e300, -0.0]])),
        np.zeros((0, 4), np.int64),
    ):
        result = PartResult("scored", shares={"m": PartShare(rows, {None: {"a": 0.1}, "public": {"b": None}})})
        [again] = unpack_results(pack_results([result]))
        share = again.shares["m"]
        assert share.documents == {None: {"a": 0.1}, "public": {"b": None}}
        assert share.rows.dtype == rows.dtype
        assert share.rows.tobytes("A") == rows.tobytes("A")
        assert share.rows.flags.f_contiguous == rows.flags.f_contiguous


def test_nothing_in_it_can_name_code():
    result = PartResult("scored", shares={"m": PartShare(np.zeros((1, 1), np.int64))}, packed={"r1/items/0/0": b"x"})
    body = unpack(pack_results([result]))
    head = int.from_bytes(body[:8], "little")
    assert orjson.loads(body[8 : 8 + head])["parts"][0]["packed"] == {"r1/items/0/0": 1}
    with pytest.raises(TypeError) as refused:
        pack_results([PartResult("scored", shares={"m": PartShare(np.array([[object()]]))})])
    assert "allow_pickle" in str(refused.value.__cause__)
