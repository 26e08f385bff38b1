"""Benchmarks and their revisions: what makes one, and what may be changed."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, fields, validate

from service.policy.gate import LEVELS
from service.requests import PICKS
from service.schemas.base import (
    Checked,
    Columns,
    Fault,
    Flag,
    Lengths,
    Mapped,
    Name,
    Named,
    Slug,
    Step,
    Strict,
    Strings,
    Text,
    Whole,
    component,
    sensible,
    wrong_type,
)
from service.schemas.jobs import MAX_METRICS, MAX_TRANSFORMS, FormatChoice, MetricEntry, TransformEntry
from service.usecases.benchmarks.settings import INPUTS, MAX_NOTES, MAX_QUOTA
from treescore.core.params import Json

MAX_PARTS = 1000


class Notes(Checked):
    """Lines that people read."""

    def check(self, value: Json) -> Json:
        """A text of bounded length; which characters are printable is asked further in."""
        if not isinstance(value, str):
            raise wrong_type("a string")
        if len(value) > MAX_NOTES:
            raise ValidationError([Fault("bad-value", f"This has more than {MAX_NOTES} characters.")])
        return value

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {"type": "string", "maxLength": MAX_NOTES}


class PublishInput(Checked):
    """What of gold's text is given out."""

    def check(self, value: Json) -> Json:
        """A switch, or which of the two."""
        if not any(value is known or (isinstance(value, str) and value == known) for known in INPUTS):
            raise ValidationError([Fault("bad-value", 'This is true, false, "words" or "text".')])
        return value

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {
            "oneOf": [
                {"type": "boolean"},
                {"type": "string", "enum": [known for known in INPUTS if type(known) is str]},
            ]
        }


class PartItems(Strict):
    """What the request says of a part's sentences."""

    lengths = Lengths()
    blocks = Strings()
    attributes = Columns(Strings())


class PartGold(Strict):
    """The gold of one part; by multipart its text is a file."""

    gold = Text(required=True)
    items = fields.Nested(PartItems)


class PartField(Checked):
    """One part, or null where a revision leaves it out."""

    schema = PartGold()

    def check(self, value: Json) -> Json:
        """An object with gold."""
        if not isinstance(value, dict):
            raise wrong_type("an object with gold")
        return self.schema.load(value)

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return component("PartGold")


class Quota(Strict):
    """What a team may submit; null for no limit."""

    scored_per_day = Whole(0, MAX_QUOTA, "bad-quota", allow_none=True)
    scored_total = Whole(0, MAX_QUOTA, "bad-quota", allow_none=True)
    attempts_per_day = Whole(0, MAX_QUOTA, "bad-quota", allow_none=True)


class LeaderboardSettings(Strict):
    """How the board looks."""

    public = Flag()
    anonymous = Flag()
    pick = fields.String(validate=validate.OneOf(PICKS))
    frozen_at = fields.AwareDateTime(format="iso", allow_none=True, validate=sensible)


class BenchmarkChanges(Strict):
    """What cannot change a score."""

    title = Name()
    series = Slug(allow_none=True)
    opens_at = fields.AwareDateTime(format="iso", allow_none=True, validate=sensible)
    closes_at = fields.AwareDateTime(format="iso", allow_none=True, validate=sensible)
    quota = fields.Nested(Quota)
    feedback = fields.String(validate=validate.OneOf(tuple(LEVELS)))
    feedback_after_closing = fields.String(validate=validate.OneOf(tuple(LEVELS)), allow_none=True)
    rounding = Step(allow_none=True)
    publish_input = PublishInput()
    leaderboard = fields.Nested(LeaderboardSettings)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if type(self) is BenchmarkChanges:
            known = ", ".join(sorted(self.fields))
            detail = f"A PATCH changes {known}. Gold, format and metrics change with a new revision."
            self.error_messages["unknown"] = Fault("not-changeable", detail)


class BenchmarkRequest(BenchmarkChanges):
    """A benchmark with its first revision."""

    id = Slug(required=True)
    title = Name(required=True)
    format = Named(FormatChoice(), required=True)
    transforms = fields.List(Named(TransformEntry()), validate=validate.Length(max=MAX_TRANSFORMS))
    metrics = fields.List(Named(MetricEntry()), required=True, validate=validate.Length(min=1, max=MAX_METRICS))
    main_score = Name()
    parts = Mapped(PartField(), required=True)


class RevisionRequest(Strict):
    """A change of gold or metrics; what is left out stays as it is."""

    reason = Notes(allow_none=True)
    format = Named(FormatChoice())
    transforms = fields.List(Named(TransformEntry()), validate=validate.Length(max=MAX_TRANSFORMS))
    metrics = fields.List(Named(MetricEntry()), validate=validate.Length(min=1, max=MAX_METRICS))
    main_score = Name()
    parts = Mapped(PartField(allow_none=True))
    dry_run = Flag()
