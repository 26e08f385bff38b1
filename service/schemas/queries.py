"""Load query strings."""

from __future__ import annotations

from marshmallow import post_load

from service import requests
from service.render import SHEET_FORMATS
from service.requests import DEFAULT_LIMIT, ORDERS, PICKS, SHARES, WRONG_KINDS
from service.schemas.base import ID_FORM, Strict, String, choice, pattern, whole_number
from service.schemas.submissions import STATES
from treescore.render.forms import FORMATS, ITEM_FORMATS

CURSOR = pattern(
    r"\A[A-Za-z0-9_=.~-]{1,512}\Z", "bad-value", "Invalid cursor. Use the `next` value of the previous page."
)
SLUG = pattern(r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,59}\Z", "bad-id", ID_FORM)
LABEL = pattern(r"\A[^\x00-\x1f\x7f]{1,200}\Z", "bad-value", "Write 1 to 200 printable characters.")
WORDS = pattern(r"\A(?=.*\S)[^\x00-\x1f\x7f]{1,200}\Z", "bad-value", "Write 1 to 200 printable characters.")
MAX_PAGE = 1000
ITEM_FORMS = ("json", *ITEM_FORMATS)


class _Page:
    cursor = String(validate=CURSOR)
    limit = whole_number(1, MAX_PAGE, load_default=DEFAULT_LIMIT)


class _Choosing:
    wrong = choice(WRONG_KINDS)
    label = String(validate=LABEL)
    q = String(validate=WORDS)
    order = choice(ORDERS)


class _Result:
    system = String(required=True)
    metric = String(required=True)


class _Board:
    score = String()
    pick = choice(PICKS)
    revision = whole_number(1, 2**31 - 1)
    part = String()
    split = choice(SHARES)


class PageQuery(_Page, Strict[requests.PageQuery]):
    """Which part of a list."""

    into = requests.PageQuery


class JobsQuery(_Page, Strict[requests.JobsQuery]):
    """Which jobs."""

    into = requests.JobsQuery

    state = choice(STATES)


class ItemsQuery(_Page, _Result, _Choosing, Strict[requests.ItemsQuery]):
    """Which items, and how to show them."""

    into = requests.ItemsQuery

    format = choice(ITEM_FORMS)


class JobTreesQuery(_Page, _Choosing, Strict[requests.JobTreesQuery]):
    """Which trees of a job."""

    into = requests.JobTreesQuery

    system = String(required=True)
    item = whole_number(1, 2**31 - 1)
    differs_from = String()


class SlicesQuery(_Result, Strict[requests.SlicesQuery]):
    """Which slices."""

    into = requests.SlicesQuery

    by = String()


class ReportQuery(_Result, Strict[requests.ReportQuery]):
    """Which report."""

    into = requests.ReportQuery

    style = String(required=True)


class ComparisonsQuery(Strict[requests.ComparisonsQuery]):
    """Which comparisons, and how to show them."""

    into = requests.ComparisonsQuery

    score = String()
    format = choice(tuple(FORMATS), load_default="json")


class BenchmarksQuery(_Page, Strict[requests.BenchmarksQuery]):
    """Which benchmarks."""

    into = requests.BenchmarksQuery

    series = String(validate=SLUG)


class AnalyticsQuery(Strict[requests.AnalyticsQuery]):
    """Of how many days."""

    into = requests.AnalyticsQuery

    days = whole_number(1, 366, load_default=30)


class SubmissionsQuery(_Page, Strict[requests.SubmissionsQuery]):
    """Which submissions."""

    into = requests.SubmissionsQuery

    team = String(validate=SLUG)
    state = choice(STATES)


class SubmitQuery(Strict[requests.SubmitQuery]):
    """Whether to submit, or only to look whether it could be."""

    into = requests.SubmitQuery

    validate_only = choice(("true", "false"), load_default="false")

    @post_load
    def build(self, members: dict[str, object], **_options: object) -> requests.SubmitQuery:
        """Make the request."""
        return requests.SubmitQuery(members["validate_only"] == "true")


class OutputQuery(Strict[requests.OutputQuery]):
    """Which part's output."""

    into = requests.OutputQuery

    part = String()


class SubmissionItemsQuery(_Page, _Choosing, Strict[requests.SubmissionItemsQuery]):
    """Which items of a submission, and how to show them."""

    into = requests.SubmissionItemsQuery

    part = String()
    metric = String()
    format = choice(ITEM_FORMS)


class SubmissionTreesQuery(_Page, _Choosing, Strict[requests.SubmissionTreesQuery]):
    """Which trees of a submission."""

    into = requests.SubmissionTreesQuery

    part = String()
    item = whole_number(1, 2**31 - 1)


class SubmissionSlicesQuery(Strict[requests.SubmissionSlicesQuery]):
    """Which slices of a submission."""

    into = requests.SubmissionSlicesQuery

    part = String()
    metric = String()
    by = String()


class LeaderboardQuery(_Board, Strict[requests.LeaderboardQuery]):
    """Which leaderboard, and how to show it."""

    into = requests.LeaderboardQuery

    cursor = String(validate=CURSOR)
    format = choice(tuple(SHEET_FORMATS))


class MatrixQuery(_Board, Strict[requests.MatrixQuery]):
    """The scores of which board by part, and how to show them."""

    into = requests.MatrixQuery

    cursor = String(validate=CURSOR)
    format = choice(tuple(SHEET_FORMATS))


class ScoresQuery(_Board, Strict[requests.ScoresQuery]):
    """All scores of which board, and how to show them."""

    into = requests.ScoresQuery

    cursor = String(validate=CURSOR)
    format = choice(ITEM_FORMS)


class ProblemsQuery(Strict[requests.ProblemsQuery]):
    """How to show the catalogue of problems."""

    into = requests.ProblemsQuery

    format = choice(("json", "html"))


class ComparisonQuery(Strict[requests.ComparisonQuery]):
    """How to show a comparison."""

    into = requests.ComparisonQuery

    format = choice(tuple(FORMATS))


class DifferingQuery(_Page, Strict[requests.DifferingQuery]):
    """Which two submissions of a comparison, and how to show where they differ."""

    into = requests.DifferingQuery

    a = String()
    b = String()
    format = choice(ITEM_FORMS)


class SeriesQuery(Strict[requests.SeriesQuery]):
    """Which two teams."""

    into = requests.SeriesQuery

    a = String(required=True, validate=SLUG)
    b = String(required=True, validate=SLUG)


class EventsQuery(Strict[requests.EventsQuery]):
    """Which events."""

    into = requests.EventsQuery

    after = String(validate=CURSOR)
    limit = whole_number(1, MAX_PAGE, load_default=DEFAULT_LIMIT)
    benchmark = String(validate=SLUG)


class NoQuery(Strict[requests.NoQuery]):
    """Nothing may be asked."""

    into = requests.NoQuery


# made once: making a schema costs more than reading a query with it
NOTHING, PAGE, JOBS, ITEMS = NoQuery(), PageQuery(), JobsQuery(), ItemsQuery()
SLICES, REPORT, COMPARISONS = SlicesQuery(), ReportQuery(), ComparisonsQuery()
BENCHMARKS, SUBMISSIONS, SUBMIT, OUTPUT = BenchmarksQuery(), SubmissionsQuery(), SubmitQuery(), OutputQuery()
SUBMISSION_ITEMS, SUBMISSION_SLICES = SubmissionItemsQuery(), SubmissionSlicesQuery()
ANALYTICS = AnalyticsQuery()
LEADERBOARD, MATRIX, SCORES = LeaderboardQuery(), MatrixQuery(), ScoresQuery()
COMPARISON, DIFFERING = ComparisonQuery(), DifferingQuery()
SUBMISSION_TREES, JOB_TREES = SubmissionTreesQuery(), JobTreesQuery()
SERIES, EVENTS, PROBLEMS = SeriesQuery(), EventsQuery(), ProblemsQuery()
