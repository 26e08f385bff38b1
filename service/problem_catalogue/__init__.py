"""The catalogue of problems: types, which answers and failures have, and codes, which `errors[]` and warnings have."""

from __future__ import annotations

from collections.abc import Mapping

from service.problem_catalogue.codes import CODES as OWN_CODES
from service.problem_catalogue.types import TYPES, ProblemType, type_of_status
from treescore.problem_catalogue import CATALOGUE, Entry

CODES: Mapping[str, Entry] = dict(sorted({**CATALOGUE, **OWN_CODES}.items()))
"""Code -> entry: those of the library and those of the service."""

__all__ = ["CODES", "OWN_CODES", "TYPES", "Entry", "ProblemType", "type_of_status"]
