"""The scoring of a revision: what measures its submissions, and in which columns the figures stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from treescore.core.scores import Score
from treescore.errors import InputError, ScoringError
from treescore.evaluation.report import find_score, full_address
from treescore.evaluation.spec import Entry, Spec, parse_spec

MEMBERS = ("format", "transforms", "metrics", "main_score")
"""Members of a request that make a scoring."""


@dataclass(frozen=True, slots=True)
class ScoringConfig:
    """A checked scoring.

    Attributes:
        spec: formats and metrics.
        main_score: address of the score that ranks.
        addresses: every score, metric after metric: the columns of a score record's figures.
    """

    spec: Spec
    main_score: str
    addresses: tuple[str, ...]

    @property
    def main_column(self) -> int:
        """Where the main score stands."""
        return self.addresses.index(self.main_score)

    @property
    def main(self) -> tuple[Entry, Score]:
        """Metric entry and score that rank."""
        return find_score(self.spec, self.main_score)

    def score(self, address: str) -> tuple[Entry, Score]:
        """Metric entry and score of an address. Raises InputError where there is none."""
        return find_score(self.spec, address)


def visibility_key(entry: Entry) -> str:
    """The metric by which the gate decides what an output's items tell of the output alone.

    No metric's name, and so nothing, where gold's tags decide which words go: what is missing would tell them.
    """
    return "" if entry.guided else entry.name


def check_scoring(request: Mapping[str, Any]) -> dict[str, Any]:
    """The scoring that a request asks for, as it is stored.

    Raises:
        InputError: with pointers into the request.
    """
    spec = parse_spec(request)
    wanted = request.get("main_score") or spec.entries[0].key
    try:
        address = full_address(*find_score(spec, wanted))
    except ScoringError as error:
        raise error.at("/main_score") from error
    return {
        "format": request["format"],
        "transforms": list(request.get("transforms") or ()),
        "metrics": list(request["metrics"]),
        "main_score": address,
    }


def scoring_config(stored: Mapping[str, Any]) -> ScoringConfig:
    """A stored scoring, made ready."""
    return _scoring(orjson.dumps(dict(stored), option=orjson.OPT_SORT_KEYS))


@lru_cache(maxsize=64)
def _scoring(body: bytes) -> ScoringConfig:
    stored = orjson.loads(body)
    try:
        spec = parse_spec(stored)
    except InputError as error:
        raise RuntimeError("a stored scoring cannot be read by this version") from error
    addresses = tuple(full_address(entry, score) for entry in spec.entries for score in entry.metric.table.scores)
    return ScoringConfig(spec, stored["main_score"], addresses)
