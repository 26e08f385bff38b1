"""Load the request of a scoring job, and that for suggestions of what could score texts."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from marshmallow import INCLUDE, ValidationError, post_load, pre_load, validates_schema

from service import requests
from service.schemas import fields
from service.schemas.base import Fault, Strict, wrong_type

STATES = ("queued", "running", "succeeded", "failed", "cancelled")
SIDES = ("both", "gold", "system")
KEY = r"\A[A-Za-z0-9_-]{1,100}\Z"
MAX_METRICS = 50
MAX_TRANSFORMS = 50
MAX_AGREEMENTS = 50


class FormatChoice(Strict[dict[str, object]]):
    """A format with its options, which its own JSON Schema checks."""

    into = dict[str, object]

    class Meta:
        """Options are beside the name."""

        unknown = INCLUDE

    name = fields.Name(required=True)

    @post_load(pass_original=True)
    def build(self, members: dict[str, object], original: dict[str, object], **_options: object) -> dict[str, object]:
        """Keep the order of the request: marshmallow takes unknown members in an order that varies by process."""
        return {name: members[name] for name in original}


class TransformEntry(Strict[dict[str, object]]):
    """One preprocessing step."""

    into = dict[str, object]

    name = fields.Name(required=True)
    params = fields.Parameters()
    on = fields.choice(SIDES)


class MetricEntry(Strict[dict[str, object]]):
    """One metric, under its name or a key of its own."""

    into = dict[str, object]

    name = fields.Name(required=True)
    key = fields.String(validate=fields.pattern(KEY, "bad-value", "A key has 1 to 100 letters, digits, `_` and `-`."))
    params = fields.Parameters()
    transforms = fields.Listed(
        fields.Named(TransformEntry()), validate=fields.length(None, MAX_TRANSFORMS, "transforms")
    )


class SystemEntry(Strict[requests.SystemEntry]):
    """One system's output."""

    into = requests.SystemEntry

    name = fields.Name(required=True)
    output = fields.Text(required=True)
    format = fields.Named(FormatChoice())
    run_of = fields.Name()


class Significance(fields.Checked):
    """A switch, or settings that their own JSON Schema checks."""

    shape: ClassVar[fields.Shape] = {"oneOf": [{"type": "boolean"}, fields.component("SignificanceSettings")]}

    def check(self, value: object) -> object:
        """True, false or an object."""
        if not isinstance(value, (bool, dict)):
            raise wrong_type("true, false, or an object of settings")
        return value


class Items(Strict[dict[str, object]]):
    """Properties of gold's sentences."""

    into = dict[str, object]

    lengths = fields.Lengths()
    words = fields.Words()
    blocks = fields.Strings()
    attributes = fields.Columns(fields.Strings())
    seconds = fields.Columns(fields.Seconds())


class JobRequest(Strict[requests.JobRequest]):
    """A scoring job."""

    into = requests.JobRequest

    format = fields.Named(FormatChoice(), required=True)
    gold = fields.Text(required=True)
    systems = fields.Listed(fields.Nested(SystemEntry), required=True, validate=fields.length(1, None, "systems"))
    transforms = fields.Listed(
        fields.Named(TransformEntry()), validate=fields.length(None, MAX_TRANSFORMS, "transforms")
    )
    metrics = fields.Listed(
        fields.Named(MetricEntry()), required=True, validate=fields.length(1, MAX_METRICS, "metrics")
    )
    significance = Significance()
    agreement = fields.Listed(
        fields.Listed(fields.Name(), validate=fields.length(2, 2, "addresses of scores")),
        validate=fields.length(None, MAX_AGREEMENTS, "pairs of scores"),
    )
    items = fields.Nested(Items)

    def __init__(self, max_systems: int = 200, **options: Any) -> None:
        super().__init__(**options)
        self.max_systems = max_systems

    @pre_load
    def refuse_crowds(self, data: object, **_options: object) -> object:
        """Refuse too many systems first: a thousand faulty systems need no thousand messages."""
        systems = data.get("systems") if isinstance(data, dict) else None
        if isinstance(systems, list) and len(systems) > self.max_systems:
            detail = f"{len(systems)} systems exceed the limit of {self.max_systems} for a job. Send several jobs."
            raise ValidationError({"systems": [Fault("too-many-systems", detail)]})
        return data

    @validates_schema(skip_on_field_errors=False)
    def refuse_equal_names(self, data: dict[str, Any], **_options: object) -> None:
        """Refuse two systems of one name: the result could not tell them apart."""
        seen: dict[str, int] = {}
        faults: dict[int, object] = {}
        for index, system in enumerate(data.get("systems") or ()):
            # a system with faults is not loaded; its sound members are there
            name = system.name if isinstance(system, requests.SystemEntry) else system.get("name")
            if name is not None and seen.setdefault(name, index) != index:
                detail = f"The system /systems/{seen[name]} has the same name {name!r}. Give each system its own name."
                faults[index] = {"name": [Fault("duplicate-system-name", detail)]}
        if faults:
            raise ValidationError({"systems": faults})


@cache
def job_request(max_systems: int) -> JobRequest:
    """Return the schema for so many systems; making it takes longer than using it."""
    return JobRequest(max_systems)


MAX_TEXT = 100_000


class SuggestionRequest(Strict[requests.SuggestionRequest]):
    """The beginning of a text whose format is asked for."""

    into = requests.SuggestionRequest

    text = fields.String(required=True, validate=fields.length(1, MAX_TEXT, "characters: the first lines are enough"))
