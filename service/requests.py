"""Define what all requests have in common, and the constants of their values."""

from dataclasses import dataclass, fields
from enum import Enum
from typing import Final

from treescore.core.params import Json

UNITS = ("auto", "sentence")
"""What the tests of a board are over: documents where gold marks them, or always sentences."""
STATES = ("queued", "running", "succeeded", "failed", "cancelled")
WITHDRAWN = "withdrawn"
"""What a list of submissions may be narrowed to beside their states: those that were taken off the board."""
ROLES = ("system", "baseline")
PICKS = ("best", "last", "chosen", "all")
MACRO, POOLED = "macro", "pooled"
"""Names that stand for all parts: the mean of their scores, and all of them as one text."""
PUBLIC, PRIVATE = "public", "private"
SHARES = (PUBLIC, PRIVATE)
"""The shares of a split test set: boards show the public one before closing, and the private one afterwards."""
ERRORS = ("zero", "exclude")
"""What becomes of sentences without a usable output: they cost their full weight, or are left out."""
INPUTS = (False, True, "words", "text")
WRONG_KINDS = ("any", "head", "label", "span")
"""Errors by which sentences are chosen."""
ORDERS = ("-errors",)
LEADERBOARD = "leaderboard"
"""What a comparison request names instead of submissions."""
SCOPES = ("organise", "submit", "score", "read", "metrics")
EVENT_KINDS = (
    *("benchmark.created", "benchmark.changed", "benchmark.deleted"),
    *("revision.created", "revision.active", "revision.ready", "revision.failed"),
    *("team.created", "team.token_rotated", "team.erased"),
    *("invite.created", "invite.deleted"),
    *("submission.created", "submission.scored", "submission.failed", "submission.changed"),
    *("submission.cancelled", "submission.retried", "submission.deleted"),
    *("comparison.created", "comparison.done", "comparison.failed"),
    *("token.created", "token.revoked"),
    *("webhook.created", "webhook.deleted", "webhook.disabled", "webhook.test"),
)
WEBHOOK_TEST = "webhook.test"
MAX_NOTES = 10_000
MAX_PARTS = 1000
MAX_TRACKS = 100
MAX_ABOUT = 20_000
"""Bytes of all that a benchmark says of itself, and characters of each text of it."""
MAX_LINKS = 20
MAX_DATES = 50
MAX_NOTICE = 2_000
LINKS = ("paper", "code", "model")
"""What a submission may link to."""
MAX_ADDRESS = 500
MAX_TEAMS = 1_000
"""Teams that are made at once, or by one invite."""
MOST_REVISION = 10**9 - 1
"""Number that a revision can have; databases refuse much larger ones."""
MAX_QUOTA = 1_000_000
MAX_COMPARED = 100
DEFAULT_LIMIT = 100


class Missing(Enum):
    """The type of MISSING."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
"""The value of a member that a request does not give, where null has a meaning of its own."""


@dataclass(frozen=True, slots=True)
class Request:
    """A checked request. A member that is not given has its default."""

    def given(self) -> dict[str, Json]:
        """Return the members that differ from their defaults."""
        values = ((field, getattr(self, field.name)) for field in fields(self))
        return {field.name: value for field, value in values if value is not field.default and value != field.default}


@dataclass(frozen=True, slots=True)
class Query(Request):
    """A checked query string; this one has no parameters."""
