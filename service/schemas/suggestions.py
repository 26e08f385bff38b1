"""Load requests for suggestions."""

from __future__ import annotations

from service import requests
from service.schemas.base import Strict
from service.schemas.plain_fields import String, length

MAX_TEXT = 100_000


class SuggestionRequest(Strict[requests.SuggestionRequest]):
    """The beginning of a text whose format is asked for."""

    into = requests.SuggestionRequest

    text = String(required=True, validate=length(1, MAX_TEXT, "characters: the first lines are enough"))
