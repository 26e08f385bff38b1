"""The catalogue of problems: types, which answers and failures have, and codes, which `errors[]` and warnings have.

The type is the last part of a problem's `type`, with its title and status. Codes are the service's own and
those of the library. The words stand in problem_types.toml and problem_codes.toml.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from treescore.problem_catalogue import CATALOGUE, Entry, read_entries


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemType(Entry):
    """One type of problems.

    Attributes:
        status: HTTP status of its answers.
    """

    status: int


TYPES: Mapping[str, ProblemType] = {
    slug: ProblemType(**members) for slug, members in read_entries("service", "problem_types.toml").items()
}
"""Slug -> type, by status."""
_OF_STATUS = {
    **dict.fromkeys(range(400, 500), "bad-request"),
    **{
        TYPES[slug].status: slug
        for slug in (
            *("unauthorized", "not-found", "method-not-allowed", "not-acceptable", "request-timeout"),
            *("payload-too-large", "uri-too-long", "unsupported-media-type", "expectation-failed"),
            *("request-header-fields-too-large", "not-implemented", "unavailable"),
        )
    },
}


def type_of_status(status: int) -> str:
    """Return the slug of an error that only a status describes, as those of the framework and of the server."""
    return _OF_STATUS.get(status, "service-fault")


OWN_CODES: Mapping[str, Entry] = {
    code: Entry(**members) for code, members in read_entries("service", "problem_codes.toml").items()
}
"""Code -> entry of the service's own codes."""
CODES: Mapping[str, Entry] = dict(sorted({**CATALOGUE, **OWN_CODES}.items()))
"""Code -> entry: those of the library and those of the service."""

__all__ = ["CODES", "OWN_CODES", "TYPES", "Entry", "ProblemType", "type_of_status"]
