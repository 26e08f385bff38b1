"""Load requests for submissions and their changes, and for comparisons of submissions."""

from __future__ import annotations

from typing import Any, ClassVar

from marshmallow import ValidationError, post_load

from service import requests
from service.requests import LEADERBOARD, MAX_COMPARED, PICKS
from service.schemas import fields
from service.schemas.base import Fault, Strict, wrong_type
from treescore.significance import PARAMS

ROLES = ("system", "baseline")


class SubmissionLinks(Strict[requests.LinkChanges]):
    """Where a system is described, or can be got."""

    into = requests.LinkChanges

    paper = fields.Address(allow_none=True)
    code = fields.Address(allow_none=True)
    model = fields.Address(allow_none=True)


class SubmissionRequest(Strict[requests.SubmissionRequest]):
    """Outputs for a benchmark."""

    into = requests.SubmissionRequest

    name = fields.Name(allow_none=True)
    notes = fields.Notes(allow_none=True)
    links = fields.Nested(SubmissionLinks, allow_none=True)
    run_of = fields.Name(allow_none=True)
    team = fields.Slug(allow_none=True)
    role = fields.choice(ROLES)
    outputs = fields.Mapped(fields.Text(), required=True)


class SubmissionChanges(Strict[requests.SubmissionChanges]):
    """Changes of a submission; its outputs and scores never change."""

    into = requests.SubmissionChanges

    name = fields.Name()
    notes = fields.Notes(allow_none=True)
    links = fields.Nested(SubmissionLinks, allow_none=True)
    chosen = fields.Flag()
    withdrawn = fields.Flag()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        detail = f"PATCH changes only {', '.join(self.members())} of a submission."
        self.error_messages["unknown"] = Fault("not-changeable", detail, self.members())


class Compared(fields.Checked):
    """Ids of submissions, or all on the leaderboard."""

    shape: ClassVar[fields.Shape] = {
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

        include: ClassVar = {name: fields.Setting() for name in PARAMS}

    submissions = Compared(required=True)
    score = fields.String(allow_none=True)
    part = fields.String(allow_none=True)
    revision = fields.Whole(1, 2**31 - 1, allow_none=True)
    pick = fields.choice(PICKS, allow_none=True)

    @post_load
    def build(self, members: dict[str, Any], **_options: object) -> requests.ComparisonRequest:
        """Make the request, its settings in one member."""
        settings = {name: members.pop(name) for name in PARAMS if name in members}
        return requests.ComparisonRequest(**members, settings=settings)
