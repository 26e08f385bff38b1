"""Query strings."""

from __future__ import annotations

from marshmallow import fields, validate

from service.schemas.base import Strict
from service.schemas.jobs import STATES

CURSOR = validate.Regexp(r"\A[A-Za-z0-9_=.~-]{1,512}\Z")
MAX_PAGE = 1000
COMPARISON_FORMATS = ("json", "text", "markdown", "latex", "csv", "svg")


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
    """Which items."""


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


class NoQuery(Strict):
    """Nothing may be asked."""


# Made once: making a schema costs more than reading a query with it.
NOTHING, PAGE, JOBS, ITEMS = NoQuery(), PageQuery(), JobsQuery(), ItemsQuery()
SLICES, REPORT, COMPARISONS = SlicesQuery(), ReportQuery(), ComparisonsQuery()
