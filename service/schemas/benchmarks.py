"""Load requests for benchmarks and revisions."""

from __future__ import annotations

from typing import Any, ClassVar

from marshmallow import ValidationError

from service import requests
from service.policy.gate import LEVELS
from service.requests import ERRORS, INPUTS, MAX_LINKS, MAX_PARTS, MAX_QUOTA, MAX_TRACKS, PICKS, UNITS
from service.schemas import base
from service.schemas.base import Fault, Strict, wrong_type
from service.schemas.submissions import MAX_METRICS, MAX_TRANSFORMS, FormatChoice, MetricEntry, TransformEntry

MAX_LISTED = 1000
"""Scores that a benchmark may list."""


class PublishInput(base.Checked):
    """What of gold's text is given out."""

    shape: ClassVar[base.Shape] = {
        "oneOf": [{"type": "boolean"}, {"type": "string", "enum": [known for known in INPUTS if type(known) is str]}]
    }

    def check(self, value: object) -> object:
        """A switch, or which of the two."""
        if not any(value is known or (isinstance(value, str) and value == known) for known in INPUTS):
            raise ValidationError([Fault("bad-value", 'This must be true, false, "words" or "text".')])
        return value


class PartItems(Strict[dict[str, object]]):
    """Properties of a part's sentences."""

    into = dict[str, object]

    class Meta(Strict.Meta):
        """Those that the library takes, but for what is known of systems."""

        include: ClassVar = {name: column for name, column in base.item_columns().items() if name != "seconds"}


class PartGold(Strict[requests.PartGold]):
    """The gold of one part; by multipart its text is a file."""

    into = requests.PartGold

    gold = base.Text(required=True)
    items = base.Nested(PartItems)


class PartField(base.Checked):
    """One part, or null where a revision leaves it out."""

    shape: ClassVar[base.Shape] = base.component("PartGold")

    schema = PartGold()

    def check(self, value: object) -> object:
        """An object with gold."""
        if not isinstance(value, dict):
            raise wrong_type("an object with gold")
        return self.schema.load(value)


class Quota(Strict[requests.QuotaChanges]):
    """What a team may submit; null for no limit."""

    into = requests.QuotaChanges

    scored_per_day = base.Whole(0, MAX_QUOTA, "bad-quota", allow_none=True)
    scored_total = base.Whole(0, MAX_QUOTA, "bad-quota", allow_none=True)
    attempts_per_day = base.Whole(0, MAX_QUOTA, "bad-quota", allow_none=True)
    comparisons_per_day = base.Whole(0, MAX_QUOTA, "bad-quota", allow_none=True)


class SplitSettings(Strict[dict[str, object]]):
    """How the test set is split."""

    into = dict[str, object]

    private = base.Fraction(required=True)


class LeaderboardSettings(Strict[requests.LeaderboardChanges]):
    """How the board looks."""

    into = requests.LeaderboardChanges

    public = base.Flag()
    anonymous = base.Flag()
    pick = base.choice(PICKS)
    frozen_at = base.Moment(allow_none=True, validate=base.check_year)
    ladder = base.Flag()
    scores = base.Listed(base.Name(), allow_none=True, validate=base.length(None, MAX_LISTED, "scores"))
    margin = base.Margin(allow_none=True)
    unit = base.choice(UNITS)
    split = base.Nested(SplitSettings, allow_none=True)
    accept_one_sided = base.Flag()


class PartNames(base.Checked):
    """Names of parts, each once."""

    shape: ClassVar[base.Shape] = {
        "type": "array", "minItems": 1, "maxItems": MAX_PARTS, "uniqueItems": True, "items": {"type": "string"},
    }  # fmt: skip

    def check(self, value: object) -> object:
        """A list of different names."""
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise wrong_type("a list of names of parts")
        if not 1 <= len(value) <= MAX_PARTS or len(set(value)) < len(value):
            raise ValidationError([Fault("bad-track", f"A track names 1 to {MAX_PARTS} parts, each once.")])
        return value


class Tracks(base.Mapped):
    """Groups of parts by name."""

    def check(self, value: object) -> object:
        """A bounded number of groups."""
        loaded = super().check(value)
        if isinstance(loaded, dict) and len(loaded) > MAX_TRACKS:
            detail = f"A benchmark has at most {MAX_TRACKS} tracks; the request has {len(loaded)}."
            raise ValidationError([Fault("bad-track", detail)])
        return loaded

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {**super().json_schema(), "maxProperties": MAX_TRACKS}


class Link(Strict[dict[str, object]]):
    """A page elsewhere."""

    into = dict[str, object]

    label = base.Name(required=True)
    url = base.Address(required=True)


class About(Strict[requests.AboutChanges]):
    """What a benchmark says of itself."""

    into = requests.AboutChanges

    description = base.AboutText(allow_none=True)
    rules = base.AboutText(allow_none=True)
    citation = base.AboutText(allow_none=True)
    licence = base.AboutText(allow_none=True)
    contact = base.AboutText(allow_none=True)
    links = base.Listed(base.Nested(Link), allow_none=True, validate=base.length(None, MAX_LINKS, "links"))


class _Settings:
    """The fields of what cannot change a score."""

    title = base.Name()
    series = base.Slug(allow_none=True)
    opens_at = base.Moment(allow_none=True, validate=base.check_year)
    closes_at = base.Moment(allow_none=True, validate=base.check_year)
    quota = base.Nested(Quota)
    feedback = base.choice(tuple(LEVELS))
    feedback_after_closing = base.choice(tuple(LEVELS), allow_none=True)
    rounding = base.Step(allow_none=True)
    publish_input = PublishInput()
    tracks = Tracks(PartNames())
    leaderboard = base.Nested(LeaderboardSettings)
    about = base.Nested(About)


class BenchmarkChanges(_Settings, Strict[requests.BenchmarkChanges]):
    """What cannot change a score."""

    into = requests.BenchmarkChanges

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        known = ", ".join(self.members())
        detail = f"PATCH changes only {known}. To change gold, format or metrics, make a new revision."
        self.error_messages["unknown"] = Fault("not-changeable", detail, self.members())


class BenchmarkRequest(_Settings, Strict[requests.BenchmarkRequest]):
    """A benchmark with its first revision."""

    into = requests.BenchmarkRequest

    id = base.Slug(required=True)
    title = base.Name(required=True)
    format = base.Named(FormatChoice(), required=True)
    transforms = base.Listed(base.Named(TransformEntry()), validate=base.length(None, MAX_TRANSFORMS, "transforms"))
    metrics = base.Listed(base.Named(MetricEntry()), required=True, validate=base.length(1, MAX_METRICS, "metrics"))
    main_score = base.Name()
    errors = base.choice(ERRORS)
    parts = base.Mapped(PartField(), required=True)


class RevisionRequest(Strict[requests.RevisionRequest]):
    """A change of gold or metrics; what is left out stays as it is."""

    into = requests.RevisionRequest

    reason = base.Notes(allow_none=True)
    public_reason = base.Notes(allow_none=True)
    format = base.Named(FormatChoice())
    transforms = base.Listed(base.Named(TransformEntry()), validate=base.length(None, MAX_TRANSFORMS, "transforms"))
    metrics = base.Listed(base.Named(MetricEntry()), validate=base.length(1, MAX_METRICS, "metrics"))
    main_score = base.Name()
    errors = base.choice(ERRORS)
    parts = base.Mapped(PartField(allow_none=True))
    dry_run = base.Flag()
