"""Questions to the significance module across submissions."""

from __future__ import annotations

from typing import ClassVar

from marshmallow import ValidationError, fields, validate

from service.requests import PICKS
from service.schemas.base import Checked, Fault, Strict, Whole, wrong_type
from service.usecases.comparisons.ask import LEADERBOARD, MOST_SYSTEMS
from treescore.core.params import Json
from treescore.significance import PARAMS


class Compared(Checked):
    """Ids of submissions, or all on the leaderboard."""

    def check(self, value: Json) -> Json:
        """A list of ids, or the word."""
        if value == LEADERBOARD:
            return value
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise wrong_type(f'a list of submissions\' ids, or "{LEADERBOARD}"')
        if not 2 <= len(value) <= MOST_SYSTEMS:
            raise ValidationError([Fault("bad-value", f"Name 2 to {MOST_SYSTEMS} submissions.")])
        return value

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {
            "oneOf": [
                {"type": "array", "minItems": 2, "maxItems": MOST_SYSTEMS, "items": {"type": "string"}},
                {"type": "string", "const": LEADERBOARD},
            ]
        }


class ComparisonRequest(Strict):
    """What is compared, and how. The settings are declared by the significance module, which checks their values."""

    class Meta(Strict.Meta):
        """The settings stand beside the question."""

        include: ClassVar = {name: fields.Raw() for name in PARAMS}

    submissions = Compared(required=True)
    score = fields.String(allow_none=True)
    part = fields.String(allow_none=True)
    revision = Whole(1, 2**31 - 1, allow_none=True)
    pick = fields.String(validate=validate.OneOf(PICKS), allow_none=True)
