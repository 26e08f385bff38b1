"""Load requests for comparisons of submissions."""

from __future__ import annotations

from typing import Any, ClassVar

from marshmallow import ValidationError, post_load

from service import requests
from service.requests import LEADERBOARD, MAX_COMPARED, PICKS
from service.schemas.base import Strict
from service.schemas.checked_fields import Checked, Shape, Whole
from service.schemas.faults import Fault, wrong_type
from service.schemas.plain_fields import Setting, String, choice
from treescore.significance import PARAMS


class Compared(Checked):
    """Ids of submissions, or all on the leaderboard."""

    shape: ClassVar[Shape] = {
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

        include: ClassVar = {name: Setting() for name in PARAMS}

    submissions = Compared(required=True)
    score = String(allow_none=True)
    part = String(allow_none=True)
    revision = Whole(1, 2**31 - 1, allow_none=True)
    pick = choice(PICKS, allow_none=True)

    @post_load
    def build(self, members: dict[str, Any], **_options: object) -> requests.ComparisonRequest:
        """Make the request, its settings in one member."""
        settings = {name: members.pop(name) for name in PARAMS if name in members}
        return requests.ComparisonRequest(**members, settings=settings)
