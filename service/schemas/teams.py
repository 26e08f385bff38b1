"""Teams."""

from __future__ import annotations

from service.schemas.base import Name, Slug, Strict


class TeamRequest(Strict):
    """A new team."""

    id = Slug(required=True)
    name = Name(required=True)
