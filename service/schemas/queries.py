"""Query strings."""

from __future__ import annotations

from marshmallow import fields, validate

from service.render import LEADERBOARD_FORMATS
from service.requests import PICKS
from service.schemas.base import Strict
from service.schemas.jobs import STATES
from treescore.render import ITEM_FORMATS

CURSOR = validate.Regexp(r"\A[A-Za-z0-9_=.~-]{1,512}\Z")
SLUG = validate.Regexp(r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,59}\Z")
MAX_PAGE = 1000
COMPARISON_FORMATS = ("json", "text", "markdown", "latex", "csv", "svg")
ITEM_FORMS = ("json", *ITEM_FORMATS)


class PageQuery(Strict):
    """Which part of a list."""

    cursor = fields.String(validate=CURSOR)
    limit = fields.Integer(validate=validate.Range(1, MAX_PAGE), load_default=100)


class JobsQuery(PageQuery):
    """Which jobs."""

    state = fields.String(validate=validate.OneOf(STATES))


class ResultQuery(Strict):
    """Which system under which metric."""

    system = fields.String(required=True)
    metric = fields.String(required=True)


class ItemsQuery(ResultQuery, PageQuery):
    """Which items, and how to show them."""

    format = fields.String(validate=validate.OneOf(ITEM_FORMS))


class SlicesQuery(ResultQuery):
    """Which slices."""

    by = fields.String()


class ReportQuery(ResultQuery):
    """Which report."""

    style = fields.String(required=True)


class ComparisonsQuery(Strict):
    """Which comparisons, and how to show them."""

    score = fields.String()
    format = fields.String(load_default="json", validate=validate.OneOf(COMPARISON_FORMATS))


class BenchmarksQuery(PageQuery):
    """Which benchmarks."""

    series = fields.String(validate=SLUG)


class SubmissionsQuery(PageQuery):
    """Which submissions."""

    team = fields.String(validate=SLUG)
    state = fields.String(validate=validate.OneOf(STATES))


class SubmitQuery(Strict):
    """Whether to submit, or only to look whether it could be."""

    validate_only = fields.String(validate=validate.OneOf(("true", "false")), load_default="false")


class OutputQuery(Strict):
    """Which part's output."""

    part = fields.String()


class SubmissionItemsQuery(PageQuery):
    """Which items of a submission, and how to show them."""

    part = fields.String()
    metric = fields.String()
    format = fields.String(validate=validate.OneOf(ITEM_FORMS))


class SubmissionSlicesQuery(Strict):
    """Which slices of a submission."""

    part = fields.String()
    metric = fields.String()
    by = fields.String()


class LeaderboardQuery(Strict):
    """Which leaderboard, and how to show it."""

    score = fields.String()
    pick = fields.String(validate=validate.OneOf(PICKS))
    revision = fields.Integer(validate=validate.Range(1, 2**31 - 1))
    part = fields.String()
    cursor = fields.String(validate=CURSOR)
    format = fields.String(validate=validate.OneOf(tuple(LEADERBOARD_FORMATS)))


class ComparisonQuery(Strict):
    """How to show a comparison."""

    format = fields.String(validate=validate.OneOf(COMPARISON_FORMATS))


class DifferingQuery(PageQuery):
    """Which two submissions of a comparison, and how to show where they differ."""

    a = fields.String()
    b = fields.String()
    format = fields.String(validate=validate.OneOf(ITEM_FORMS))


class EventsQuery(Strict):
    """Which events."""

    after = fields.String(validate=CURSOR)
    limit = fields.Integer(validate=validate.Range(1, MAX_PAGE), load_default=100)
    benchmark = fields.String(validate=SLUG)


class NoQuery(Strict):
    """Nothing may be asked."""


# Made once: making a schema costs more than reading a query with it.
NOTHING, PAGE, JOBS, ITEMS = NoQuery(), PageQuery(), JobsQuery(), ItemsQuery()
SLICES, REPORT, COMPARISONS = SlicesQuery(), ReportQuery(), ComparisonsQuery()
BENCHMARKS, SUBMISSIONS, SUBMIT, OUTPUT = BenchmarksQuery(), SubmissionsQuery(), SubmitQuery(), OutputQuery()
SUBMISSION_ITEMS, SUBMISSION_SLICES = SubmissionItemsQuery(), SubmissionSlicesQuery()
LEADERBOARD, COMPARISON, DIFFERING = LeaderboardQuery(), ComparisonQuery(), DifferingQuery()
EVENTS = EventsQuery()
