"""Schemas load requests, refuse what they do not take with a code and a pointer, and read stored ones back."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime

import click
import orjson
import pytest

from service.api import bodies
from service.contract.access import TeamRequest, WebhookRequest
from service.contract.benchmarks import BenchmarkChanges, BenchmarkRequest, BenchmarksQuery, Quota, RevisionRequest
from service.contract.common import MetricEntry, PageQuery, TransformEntry
from service.contract.comparisons import ComparisonRequest
from service.contract.derive import schema_of
from service.contract.fields import Strict, load
from service.contract.jobs import NO_TEXT, Items, JobRequest, PartItems
from service.contract.submissions import SubmissionChanges, SubmissionRequest, SubmissionsQuery
from service.errors import Unprocessable
from service.requests import MAX_NOTES, MISSING, Query
from tests.fixtures.requests import DEPENDENCIES, loaded
from tests.fixtures.tasks import BENCHMARK
from treescore import score, shapes
from treescore.cli.options import input_options
from treescore.core.registry import ItemInfo
from treescore.errors import InputError

TEAM = {"id": "lyon", "name": "Lyon"}
OUTPUTS = {"outputs": {"en": "x"}}
QUESTION = {"submissions": "leaderboard"}
HOOK = {"url": "https://example.org/"}
TWO = {"submissions": ["sub_x", "sub_y"]}


def faults(schema: type[Strict], document: object) -> set[tuple[str, str]]:
    with pytest.raises(Unprocessable) as error:
        loaded(schema, document)
    return {(problem.code, problem.pointer) for problem in error.value.problems}


@pytest.mark.parametrize(
    ("changes", "code", "pointer"),
    [
        ({"id": "no slash/here"}, "bad-id", "/id"),
        ({"title": "\x00"}, "bad-name", "/title"),
        ({"closes_at": "2027-01-01T00:00:00"}, "bad-moment", "/closes_at"),
        ({"closes_at": "9999-12-31T23:59:59-12:00"}, "bad-moment", "/closes_at"),
        ({"quota": {"scored_per_day": -1}}, "bad-quota", "/quota/scored_per_day"),
        ({"quota": {"scored_per_day": True}}, "bad-quota", "/quota/scored_per_day"),
        ({"quota": {"per_week": 1}}, "unknown-field", "/quota/per_week"),
        ({"feedback": "everything"}, "bad-value", "/feedback"),
        ({"rounding": 0}, "bad-value", "/rounding"),
        ({"rounding": float("nan")}, "bad-value", "/rounding"),
        ({"publish_input": 1}, "bad-value", "/publish_input"),
        ({"leaderboard": {"pick": "luckiest"}}, "bad-value", "/leaderboard/pick"),
        ({"leaderboard": {"public": 1}}, "wrong-type", "/leaderboard/public"),
        ({"metrics": []}, "bad-value", "/metrics"),
    ],
)
def test_a_wrong_benchmark(changes, code, pointer):
    assert faults(BenchmarkRequest, {**BENCHMARK, **changes}) == {(code, pointer)}


@pytest.mark.parametrize("member", ["metrics", "format", "parts", "main_score", "id", "transforms"])
def test_what_would_change_a_score_is_no_change_of_a_benchmark(member):
    assert faults(BenchmarkChanges, {member: "x"}) == {("not-changeable", f"/{member}")}


@pytest.mark.parametrize(
    ("schema", "document", "fault"),
    [
        (RevisionRequest, {"reason": "\x00"}, ("bad-value", "/reason")),
        (TeamRequest, {**TEAM, "id": "a/b"}, ("bad-id", "/id")),
        (TeamRequest, {**TEAM, "name": "a\x00b"}, ("bad-name", "/name")),
        (SubmissionRequest, {**OUTPUTS, "notes": "a\x1bb"}, ("bad-value", "/notes")),
        (SubmissionRequest, {**OUTPUTS, "notes": "a" * (MAX_NOTES + 1)}, ("bad-value", "/notes")),
        (SubmissionRequest, {**OUTPUTS, "team": "\ud800"}, ("bad-id", "/team")),
        (SubmissionChanges, {"outputs": {}}, ("not-changeable", "/outputs")),
        (ComparisonRequest, {"submissions": "all"}, ("wrong-type", "/submissions")),
        (ComparisonRequest, {"submissions": [1, 2]}, ("wrong-type", "/submissions")),
        (ComparisonRequest, {**QUESTION, "sumbissions": []}, ("unknown-field", "/sumbissions")),
        (WebhookRequest, {**HOOK, "kinds": ["team.erased", "submission.done"]}, ("bad-value", "/kinds/1")),
        (BenchmarksQuery, {"series": "\u202e"}, ("bad-id", "/series")),
        (SubmissionsQuery, {"team": "a\x00b"}, ("bad-id", "/team")),
        (PageQuery, {"cursor": "\x00"}, ("bad-value", "/cursor")),
        (PageQuery, {"cursor": "x\n"}, ("bad-value", "/cursor")),
        (Query, {"x": "1"}, ("unknown-field", "/x")),
    ],
)  # fmt: skip
def test_a_wrong_request(schema, document, fault):
    assert faults(schema, document) == {fault}


def test_notes_have_lines_and_tabs():
    notes = "first\r\n\tsecond é"
    assert loaded(SubmissionChanges, {"notes": notes}).notes == notes


def test_null_is_another_change_than_nothing():
    changes = loaded(BenchmarkChanges, {"series": None, "quota": {"scored_total": None}, "rounding": 0.5})
    assert changes.given() == {"series": None, "quota": Quota(scored_total=None), "rounding": 0.5}
    assert (changes.title, changes.quota.scored_per_day) == (MISSING, MISSING)


def test_times_keep_their_offset():
    changes = loaded(BenchmarkChanges, {"closes_at": "2027-11-01T23:59:59-12:00"})
    assert changes.closes_at == datetime(2027, 11, 2, 11, 59, 59, tzinfo=UTC)


def test_a_question_has_its_settings_in_one_member():
    question = loaded(ComparisonRequest, {**TWO, "seed": 3, "score": None, "revision": 1})
    assert question == ComparisonRequest(submissions=TWO["submissions"], revision=1, settings={"seed": 3})


def test_a_job_is_kept_as_it_was_sent_but_for_its_texts():
    job = loaded(JobRequest, {**DEPENDENCIES, "significance": False})
    assert job.without_texts() == {
        "format": "conllu",
        "metrics": ["attachment"],
        "significance": False,
        "systems": [{"name": "right"}, {"name": "wrong"}],
    }


def test_the_options_of_a_format_keep_their_order():
    chosen = {f"option-{number}": number for number in range(12)} | {"name": "conllu", "last": None}
    asked = loaded(JobRequest, {**DEPENDENCIES, "format": chosen})
    assert isinstance(asked.format, dict)
    assert list(asked.format) == list(chosen)


def test_systems_of_one_name_are_refused_even_beside_faulty_ones():
    systems = [*DEPENDENCIES["systems"], {"name": "right"}, {"name": "wrong", "output": "x"}]
    assert faults(JobRequest, {**DEPENDENCIES, "systems": systems}) == {
        ("missing-field", "/systems/2/output"),
        ("duplicate-system-name", "/systems/2/name"),
        ("duplicate-system-name", "/systems/3/name"),
    }


class _Post:
    method, path = "POST", "/v1/jobs"


def test_a_member_at_its_default_makes_no_other_request():
    def digest(**more: object) -> str:
        return bodies.digest(_Post(), loaded(JobRequest, {**DEPENDENCIES, **more}))

    assert digest(significance=True) == digest()
    assert digest(significance=False) != digest()
    assert digest(items={"blocks": ["a", "b"]}) != digest()


SMALL = {"format": "conllu", "gold": "gold", "metrics": ["attachment"], "systems": [{"name": "a", "output": "a"}]}
FULL = {
    **SMALL,
    "format": {"name": "conllu"},
    "systems": [{"name": "a", "output": "a", "format": "conllx"}, {"name": "b", "output": "b", "run_of": "a"}],
    "transforms": [{"name": "lowercase"}],
    "significance": {"shuffles": 10},
    "agreement": [["attachment.las", "attachment.uas"]],
    "items": {"blocks": ["x"]},
}


def test_a_stored_job_request_is_read_back_without_its_texts():
    for document in (SMALL, FULL, {**SMALL, "significance": False}):
        request = load(schema_of(JobRequest), document, 20)
        stored = orjson.loads(orjson.dumps(request.without_texts()))
        again = JobRequest.stored(stored)
        assert again.without_texts() == stored
        assert again.significance == request.significance
        assert again.gold == NO_TEXT
        assert [system.output for system in again.systems] == [NO_TEXT] * len(request.systems)


@pytest.mark.parametrize(
    ("schema", "members"),
    [
        (MetricEntry, shapes.METRIC),
        (TransformEntry, shapes.TRANSFORM),
        (Items, shapes.ITEMS),
        (PartItems, set(shapes.ITEMS) - {"seconds"}),
        (None, {field.name for field in fields(ItemInfo)} - {"system"}),
    ],
)
def test_the_service_takes_the_members_that_the_library_takes(schema, members):
    """The last row is what metrics may ask for."""
    assert set(schema_of(schema).fields if schema else shapes.ITEMS) == set(members)


def test_what_says_what_items_may_be_names_each_member():
    (option,) = (each for each in input_options(click.Command("x")).params if each.name == "items")
    assert all(name in option.help and f"`{name}`" in score.__doc__ for name in shapes.ITEMS)


@pytest.mark.parametrize(
    ("items", "wrong"),
    [
        ({"lengths": [[1, 2], [3, 0]], "words": [["a ,", ""], ["", "b"]]}, set()),
        ({"blocks": ["a", ""], "attributes": {"genre": ["news", "web"]}, "seconds": {"A": [0, 0.5]}}, set()),
        ({"lengths": [[1, 2], [3]], "words": [["a", "b"], ["a", 1]]}, {"/items/lengths/1", "/items/words/1"}),
        ({"lengths": [[1, True]], "words": ["ab"]}, {"/items/lengths/0", "/items/words/0"}),
        ({"lengths": [[1, 2**31]], "blocks": "ab"}, {"/items/lengths/0", "/items/blocks"}),
        ({"blocks": None, "attributes": ["a"]}, {"/items/blocks", "/items/attributes"}),
        ({"attributes": {"": ["a"], "a/b": [1]}}, {"/items/attributes/", "/items/attributes/a~1b/0"}),
        ({"seconds": {"A": [-1], "B": [float("inf")]}}, {"/items/seconds/A/0", "/items/seconds/B/0"}),
        ({"colour": []}, {"/items/colour"}),
    ],
)
def test_items_are_taken_and_refused_alike_by_the_library_and_the_service(items, wrong):
    found: list[set[str]] = [set(), set()]
    try:
        shapes.check_request({**DEPENDENCIES, "items": items})
    except InputError as error:
        found[0] = {problem.pointer for problem in error.problems}
    try:
        loaded(JobRequest, {**DEPENDENCIES, "items": items})
    except Unprocessable as error:
        found[1] = {problem.pointer for problem in error.problems}
    assert found == [wrong, wrong]
