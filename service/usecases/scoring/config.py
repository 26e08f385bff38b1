"""Scoring configurations: what scores the submissions of a revision, and the columns of the figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import orjson

from treescore.core.params import Json
from treescore.core.scores import Score
from treescore.errors import InputError, placed
from treescore.evaluation.report import find_score, full_address
from treescore.evaluation.spec import Entry, Spec, parse_spec

MEMBERS = ("format", "transforms", "metrics", "main_score")
"""Members of a request that make a scoring configuration."""


@dataclass(frozen=True, slots=True)
class ScoringConfig:
    """A checked scoring configuration.

    Attributes:
        spec: formats and metrics.
        main_score: address of the score that ranks.
        addresses: every score, metric by metric: the columns of a score record's figures.
    """

    spec: Spec
    main_score: str
    addresses: tuple[str, ...]

    @property
    def main(self) -> tuple[Entry, Score]:
        """Return the metric entry and the score that rank."""
        return find_score(self.spec, self.main_score)

    def score(self, address: str) -> tuple[Entry, Score]:
        """Return the metric entry and the score of an address.

        Raises:
            InputError: unknown address.
        """
        return find_score(self.spec, address)


def visibility_key(entry: Entry) -> str:
    """Return the metric by which the gate decides which members of an item describe the output alone.

    Empty, so that the gate shows none, where gold's tags decide which words are deleted: the missing words would
    reveal the tags.
    """
    return "" if entry.guided else entry.name


def check_scoring(request: Mapping[str, Json]) -> dict[str, Json]:
    """Return the scoring configuration of a request, as it is stored.

    Raises:
        InputError: the configuration is invalid, with pointers into the request.
    """
    spec = parse_spec(request)
    wanted = request.get("main_score") or spec.entries[0].key
    with placed("/main_score"):
        address = full_address(*find_score(spec, wanted))
    return {
        "format": request["format"],
        "transforms": list(request.get("transforms") or ()),
        "metrics": list(request["metrics"]),
        "main_score": address,
    }


def scoring_config(stored: Mapping[str, Json]) -> ScoringConfig:
    """Return a stored scoring configuration, ready for use."""
    spec = stored_spec(stored)
    addresses = tuple(full_address(entry, score) for entry in spec.entries for score in entry.metric.table.scores)
    return ScoringConfig(spec, stored["main_score"], addresses)


def stored_spec(stored: Mapping[str, Json]) -> Spec:
    """Return the formats and metrics of a stored scoring configuration or of a stored job."""
    kept = {name: stored[name] for name in ("format", "transforms", "metrics") if name in stored}
    return _spec(orjson.dumps(kept, option=orjson.OPT_SORT_KEYS))


@lru_cache(maxsize=64)
def _spec(body: bytes) -> Spec:
    try:
        return parse_spec(orjson.loads(body))
    except InputError as error:
        raise RuntimeError("this version cannot read a stored scoring configuration") from error
