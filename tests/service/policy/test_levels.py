"""The gate as one table: what each view shows at each level, and that nothing else leaves it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest

from service.caller import Caller
from service.errors import Forbidden
from service.policy import gate
from service.policy.documents import marks_shown, require_kind, require_marks
from service.policy.documents import shown_item as item_shown
from service.policy.gate import Level
from service.policy.release import Release
from tests.fixtures.tasks import ANYONE
from treescore.core.registry import METRICS

EXACT, LOW = 0.87654321, 0.81234567
LAS = ("a.las",)
TEAM = Caller("tok_1", frozenset({"read"}), "lyon", "b")
SECRET = {"SECRET": "SECRET"}
"""A member that nobody thought of."""


def release(level: Level) -> Release:
    """What is shown of `a.las`, by steps of 0.1; of the part `small` from `items` on."""
    return Release(level, 0.1, LAS, frozenset() if level >= Level.ITEMS else frozenset({"small"}))


def levels(document: dict[str, Any] | None = None, **changes: Any) -> dict[Level, Any]:
    """What is shown at each level: a document with the changes of this level and of those below; or a whole answer."""
    found, shown = {}, document
    for level in Level:
        change = changes.get(level.name.lower())
        shown = shown if change is None else change if document is None else {**(shown or {}), **change}
        found[level] = shown
    return found


def as_sent(rows: list[dict[str, Any]]) -> Any:
    """Rows of a board as they are read from JSON."""
    return orjson.loads(orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY))


SUBMISSION = {"id": "sub_1", "scores": None}
ROW = {"team": "lyon", "rank": 1, "rank_interval": [1, 2], "cluster": 1, "tested": True, "score": EXACT}
ROW |= {"covered": "9/9", "ci95": {"low": LOW, "high": EXACT}, "p_next": 0.01234}
ROW |= {"detectable": {"difference": 0.0123456, "power": 0.8, "alpha": 0.05 / 3}, "considered": 2, "reason": "why"}
ROW |= {"runs": {"count": 2, "sd": LOW}, "missing_parts": ["de", "small"], "scored_parts": 1}
MATRIX_ROW = {"team": "lyon", "rank": 1, "score": EXACT, "scored_parts": 1}
MATRIX_ROW |= {"missing_parts": ["de", "small"], "runs": {"count": 2, "sd": LOW}}
OWN = {"code": "cycle", "detail": "own text"}
COMPARED = {"code": "alignment-suspicious-indices", "metric": "alignment", "detail": "fits better"}
PLACE = {"line": 4, "sentence": 1}
FAILURE = {"kind": "input", "errors": [{"code": "word-mismatch", **PLACE}]}
EVENT = dict.fromkeys(("id", "at", "subject")) | {"type": "benchmark.changed", "benchmark": "b", "team": None}
SCORED = {**EVENT, "type": "submission.scored", "team": "lyon"}
ITEMS = [{"item": 1, "status": "ok", "scores": {"las": 0.5}, "words": [{"word": 1, "gold_deprel": "SECRET"}]}]
View = Callable[[Level], Any]
TABLE: dict[str, tuple[View, dict[Level, Any]]] = {
    "figures": (
        lambda level: (
            release(level).score(EXACT), release(level).interval({"low": LOW, "high": None}), release(level).p(0.01234),
            release(level).difference(EXACT),
        ),
        levels(
            none=(None,) * 4, rounded=(0.9, None, None, None),
            scores=(0.8765, {"low": 0.812, "high": None}, 0.012, 0.8765),
            items=(EXACT, {"low": LOW, "high": None}, 0.01234, EXACT),
        ),
    ),
    "a submission": (
        lambda level: gate.submission_view(
            Release(level), {**SUBMISSION, "state": "succeeded", "released": 1, **SECRET}
        ),
        levels(
            {**SUBMISSION, "state": "received", "released": None},
            status={"state": "succeeded"}, rounded={"released": 1}, gold=SECRET,
        ),
    ),
    "a cancelled submission": (
        lambda level: gate.submission_view(Release(level), {**SUBMISSION, "state": "cancelled"}),
        levels({**SUBMISSION, "state": "cancelled"}),
    ),
    "a fault of the service": (
        lambda level: gate.submission_view(
            Release(level), {"state": "failed", "failure": {"kind": "service", "detail": "d", "errors": [], **SECRET}}
        ),
        levels({"state": "failed", "failure": {"kind": "service", "detail": "d", "errors": []}}),
    ),
    "a failure": (lambda level: gate.failure_view(level, {**FAILURE, **SECRET}), levels(FAILURE)),
    "warnings": (
        lambda level: gate.warnings_view(level, [{**OWN, **SECRET}, COMPARED]),
        levels(none=[], status=[OWN], scores=[OWN, COMPARED]),
    ),
    "a changed word": (
        lambda level: gate.warnings_view(level, [{"code": "other-words", **PLACE, "gold_detail": "SECRET"}]),
        levels(none=[], status=[{"code": "other-words"}], gold=[{"code": "other-words", **PLACE, "detail": "SECRET"}]),
    ),
    "a row": (
        lambda level: as_sent(gate.rows_view(
            replace(release(level), board=True), {name: [value] for name, value in (ROW | SECRET).items()},
            np.array([[LOW, EXACT]]), ["a.uas", "a.las"], np.full((1, 2), EXACT),
        ))[0],
        levels(
            {**dict.fromkeys(ROW), "team": "lyon", "scores": {"a.las": None}},
            rounded={
                "rank": 1, "covered": "9/9", "score": 0.9, "scores": {"a.las": 0.9}, "missing_parts": ["de"],
                "scored_parts": 1,
            },
            scores={
                **ROW, "score": 0.8765, "scores": {"a.las": 0.8765}, "ci95": {"low": 0.812, "high": 0.877},
                "p_next": 0.012, "detectable": {"difference": 0.0123, "power": 0.8, "alpha": None},
                "runs": {"count": 2, "sd": 0.8123}, "missing_parts": ["de"],
            },
            items={"missing_parts": ["de", "small"]},
            gold={**ROW, "scores": {"a.las": EXACT}},
        ),
    ),
    "a row of a matrix": (
        lambda level: as_sent(gate.matrix_rows_view(
            release(level), {name: [value] for name, value in (MATRIX_ROW | SECRET).items()},
            ["en", "de", "small"], np.array([[EXACT, math.nan, EXACT]]),
        ))[0],
        levels(
            {**dict.fromkeys(MATRIX_ROW), "team": "lyon", "values": [None] * 3},
            rounded={"rank": 1, "score": 0.9, "values": [0.9, None, None], "missing_parts": ["de"], "scored_parts": 1},
            scores={"score": 0.8765, "values": [0.8765, None, None], "runs": {"count": 2, "sd": 0.8123}},
            items={**MATRIX_ROW, "values": [EXACT, None, EXACT]},
        ),
    ),
    "lines of scores": (
        lambda level: [
            *gate.score_lines(release(level), "en", {"a.las": EXACT, "a.uas": EXACT}),
            *gate.score_lines(release(level), "small", {"a.las": math.nan}),
        ],
        levels(
            none=[{"score": "a.las", "value": None}], rounded=[{"score": "a.las", "value": 0.9}],
            scores=[{"score": "a.las", "value": 0.8765}],
            items=[{"score": "a.las", "value": EXACT}, {"score": "a.las", "value": None}],
        ),
    ),
    "a comparison": (
        lambda level: gate.comparison_view(level, {"pairs": [], "unit_count": 57}).keys() & {"pairs", "unit_count"},
        levels(none=Forbidden, scores={"pairs"}, gold={"pairs", "unit_count"}),
    ),
    "items": (
        lambda level: gate.items_view(level, "new-metric", ITEMS),
        levels(none=Forbidden, items=[{"item": 1, "status": "ok", "scores": {}}], gold=ITEMS),
    ),
    "slices": (
        lambda level: gate.slices_view(level, "new-metric", "deprel", ITEMS), levels(none=Forbidden, gold=ITEMS),
    ),
    "groupings": (
        lambda level: gate.groupings_view(level, "attachment", ["deprel", "gold_length"]),
        levels(none=[], items=["deprel"], gold=["deprel", "gold_length"]),
    ),
    "a public event": (
        lambda level: gate.event_view(level, ANYONE, {**EVENT, "actor": "tok_2", "data": SECRET, **SECRET}),
        levels({**EVENT, "actor": None, "data": {}}),
    ),
    "a dry run": (
        lambda level: gate.event_view(level, ANYONE, {**EVENT, "actor": None, "data": {"dry_run": True}}),
        levels(none=None),
    ),
    "an event of one's own": (
        lambda level: gate.event_view(level, TEAM, {**SCORED, "actor": "tok_1", "data": {"attempt": 1}}),
        levels(none=None, status={**SCORED, "actor": "tok_1", "data": {"attempt": 1}}),
    ),
    "an event of the organisers": (
        lambda level: gate.event_view(level, TEAM, {**EVENT, "type": "token.created", "actor": "tok_2", "data": {}}),
        levels(none=None),
    ),
    "an event of a rival": (
        lambda level: gate.event_view(level, TEAM, {**SCORED, "team": "oslo", "actor": "tok_2", "data": {}}),
        levels(none=None),
    ),
    "marks of words": (
        lambda level: [marks_shown(level, metric) for metric in ("attachment", "ud", "parseval", "", None)],
        levels(none=[False] * 5, items=[True] * 3 + [False] * 2, gold=[True] * 5),
    ),
    "sentences by marks": (
        lambda level: require_marks(level, shown=level >= Level.ITEMS), levels(none=Forbidden, items=()),
    ),
    "sentences by kinds of errors": (
        lambda level: [require_kind(level, kind) for kind in ("any", "head")],
        levels(none=Forbidden, gold=[None, None]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("level", list(Level), ids=lambda level: level.name.lower())
@pytest.mark.parametrize(("view", "expected"), TABLE.values(), ids=TABLE)
def test_a_level_shows_what_the_table_says(view: View, expected: dict[Level, Any], level: Level) -> None:
    if expected[level] is Forbidden:
        with pytest.raises(Forbidden):
            view(level)
        return
    shown = view(level)
    assert shown == (None if expected[level] == () else expected[level])
    assert level is Level.GOLD or "SECRET" not in repr(shown)


@pytest.mark.parametrize("metric", [*METRICS, "new-metric"])
def test_a_member_of_an_item_that_no_metric_declares_is_not_shown(metric: str) -> None:
    assert "SECRET" not in repr(item_shown(metric, {"item": 1, "status": "ok", **SECRET, "words": []}))
