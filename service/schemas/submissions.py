"""Load requests for submissions and their changes."""

from __future__ import annotations

from typing import Any

from service import requests
from service.schemas.base import Strict
from service.schemas.checked_fields import Flag, Mapped, Name, Slug, Text
from service.schemas.faults import Fault
from service.schemas.people_texts import Address, Notes
from service.schemas.plain_fields import Nested, choice

ROLES = ("system", "baseline")


class SubmissionLinks(Strict[requests.LinkChanges]):
    """Where a system is described, or can be got."""

    into = requests.LinkChanges

    paper = Address(allow_none=True)
    code = Address(allow_none=True)
    model = Address(allow_none=True)


class SubmissionRequest(Strict[requests.SubmissionRequest]):
    """Outputs for a benchmark."""

    into = requests.SubmissionRequest

    name = Name(allow_none=True)
    notes = Notes(allow_none=True)
    links = Nested(SubmissionLinks, allow_none=True)
    run_of = Name(allow_none=True)
    team = Slug(allow_none=True)
    role = choice(ROLES)
    outputs = Mapped(Text(), required=True)


class SubmissionChanges(Strict[requests.SubmissionChanges]):
    """Changes of a submission; its outputs and scores never change."""

    into = requests.SubmissionChanges

    name = Name()
    notes = Notes(allow_none=True)
    links = Nested(SubmissionLinks, allow_none=True)
    chosen = Flag()
    withdrawn = Flag()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        detail = f"PATCH changes only {', '.join(self.members())} of a submission."
        self.error_messages["unknown"] = Fault("not-changeable", detail, self.members())
