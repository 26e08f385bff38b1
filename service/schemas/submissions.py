"""Load what is asked to be scored and compared: jobs, suggestions of scorers, submissions and comparisons."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from marshmallow import INCLUDE, ValidationError, post_load, pre_load, validates_schema

from service import requests
from service.requests import LEADERBOARD, MAX_COMPARED, PICKS
from service.schemas import base
from service.schemas.base import Fault, Strict, wrong_type
from treescore.core.comparing import PARAMS
from treescore.evaluation.spec import SIDES
from treescore.shapes import METRIC_KEY

STATES = ("queued", "running", "succeeded", "failed", "cancelled")
KEY = rf"\A{METRIC_KEY.pattern}\Z"
MAX_METRICS = 50
MAX_TRANSFORMS = 50
MAX_AGREEMENTS = 50


class FormatChoice(Strict[dict[str, object]]):
    """A format with its options, which its own JSON Schema checks."""

    into = dict[str, object]

    class Meta:
        """Options are beside the name."""

        unknown = INCLUDE

    name = base.Name(required=True)

    @post_load(pass_original=True)
    def build(self, members: dict[str, object], original: dict[str, object], **_options: object) -> dict[str, object]:
        """Keep the order of the request: marshmallow takes unknown members in an order that varies by process."""
        return {name: members[name] for name in original}


class TransformEntry(Strict[dict[str, object]]):
    """One preprocessing step."""

    into = dict[str, object]

    name = base.Name(required=True)
    params = base.Parameters()
    on = base.choice(SIDES)


class MetricEntry(Strict[dict[str, object]]):
    """One metric, under its name or a key of its own."""

    into = dict[str, object]

    name = base.Name(required=True)
    key = base.String(validate=base.pattern(KEY, "bad-value", "A key has 1 to 100 letters, digits, `_` and `-`."))
    params = base.Parameters()
    transforms = base.Listed(base.Named(TransformEntry()), validate=base.length(None, MAX_TRANSFORMS, "transforms"))


class SystemEntry(Strict[requests.SystemEntry]):
    """One system's output."""

    into = requests.SystemEntry

    name = base.Name(required=True)
    output = base.Text(required=True)
    format = base.Named(FormatChoice())
    run_of = base.Name()


class Significance(base.Checked):
    """A switch, or settings that their own JSON Schema checks."""

    shape: ClassVar[base.Shape] = {"oneOf": [{"type": "boolean"}, base.component("SignificanceSettings")]}

    def check(self, value: object) -> object:
        """True, false or an object."""
        if not isinstance(value, (bool, dict)):
            raise wrong_type("true, false, or an object of settings")
        return value


class Items(Strict[dict[str, object]]):
    """Properties of gold's sentences."""

    into = dict[str, object]

    class Meta(Strict.Meta):
        """Those that the library takes."""

        include = base.item_columns()


class JobRequest(Strict[requests.JobRequest]):
    """A scoring job."""

    into = requests.JobRequest

    format = base.Named(FormatChoice(), required=True)
    gold = base.Text(required=True)
    systems = base.Listed(base.Nested(SystemEntry), required=True, validate=base.length(1, None, "systems"))
    transforms = base.Listed(base.Named(TransformEntry()), validate=base.length(None, MAX_TRANSFORMS, "transforms"))
    metrics = base.Listed(base.Named(MetricEntry()), required=True, validate=base.length(1, MAX_METRICS, "metrics"))
    significance = Significance()
    agreement = base.Listed(
        base.Listed(base.Name(), validate=base.length(2, 2, "addresses of scores")),
        validate=base.length(None, MAX_AGREEMENTS, "pairs of scores"),
    )
    items = base.Nested(Items)

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

    text = base.String(required=True, validate=base.length(1, MAX_TEXT, "characters: the first lines are enough"))


ROLES = ("system", "baseline")


class SubmissionLinks(Strict[requests.LinkChanges]):
    """Where a system is described, or can be got."""

    into = requests.LinkChanges

    paper = base.Address(allow_none=True)
    code = base.Address(allow_none=True)
    model = base.Address(allow_none=True)


class SubmissionRequest(Strict[requests.SubmissionRequest]):
    """Outputs for a benchmark."""

    into = requests.SubmissionRequest

    name = base.Name(allow_none=True)
    notes = base.Notes(allow_none=True)
    links = base.Nested(SubmissionLinks, allow_none=True)
    run_of = base.Name(allow_none=True)
    team = base.Slug(allow_none=True)
    role = base.choice(ROLES)
    outputs = base.Mapped(base.Text(), required=True)


class SubmissionChanges(Strict[requests.SubmissionChanges]):
    """Changes of a submission; its outputs and scores never change."""

    into = requests.SubmissionChanges

    name = base.Name()
    notes = base.Notes(allow_none=True)
    links = base.Nested(SubmissionLinks, allow_none=True)
    chosen = base.Flag()
    withdrawn = base.Flag()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        detail = f"PATCH changes only {', '.join(self.members())} of a submission."
        self.error_messages["unknown"] = Fault("not-changeable", detail, self.members())


class Compared(base.Checked):
    """Ids of submissions, or all on the leaderboard."""

    shape: ClassVar[base.Shape] = {
        "oneOf": [
            {"type": "array", "minItems": 2, "maxItems": MAX_COMPARED, "items": {"type": "string"}},
            {"type": "string", "const": LEADERBOARD},
        ]
    }

    def check(self, value: object) -> object:
        """A list of ids, or the word."""
        if value == LEADERBOARD:
            return value
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise wrong_type(f'a list of submissions\' ids, or "{LEADERBOARD}"')
        if not 2 <= len(value) <= MAX_COMPARED:
            raise ValidationError([Fault("bad-value", f"Name 2 to {MAX_COMPARED} submissions.")])
        return value


class ComparisonRequest(Strict[requests.ComparisonRequest]):
    """What is compared, and how. The significance module declares the settings and checks their values."""

    into = requests.ComparisonRequest

    class Meta(Strict.Meta):
        """The settings are beside the question."""

        include: ClassVar = {name: base.Setting() for name in PARAMS}

    submissions = Compared(required=True)
    score = base.String(allow_none=True)
    part = base.String(allow_none=True)
    revision = base.Whole(1, 2**31 - 1, allow_none=True)
    pick = base.choice(PICKS, allow_none=True)

    @post_load
    def build(self, members: dict[str, Any], **_options: object) -> requests.ComparisonRequest:
        """Make the request, its settings in one member."""
        settings = {name: members.pop(name) for name in PARAMS if name in members}
        return requests.ComparisonRequest(**members, settings=settings)
