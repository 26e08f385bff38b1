"""Submissions: what is sent, and what may be changed afterwards."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from service.schemas.base import Fault, Flag, Mapped, Name, Slug, Strict, Text
from service.schemas.benchmarks import Notes

ROLES = ("system", "baseline")


class SubmissionRequest(Strict):
    """Outputs for a benchmark."""

    name = Name(allow_none=True)
    notes = Notes(allow_none=True)
    team = Slug(allow_none=True)
    role = fields.String(validate=validate.OneOf(ROLES))
    outputs = Mapped(Text(), required=True)


class SubmissionChanges(Strict):
    """What may be said of a submission later; its outputs and scores never change."""

    name = Name()
    notes = Notes(allow_none=True)
    chosen = Flag()
    withdrawn = Flag()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        known = ", ".join(sorted(self.fields))
        self.error_messages["unknown"] = Fault("not-changeable", f"A submission never changes but for {known}.")
