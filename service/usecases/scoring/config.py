"""Scoring configurations: what scores the submissions of a revision, and the columns of the figures.

With it, what of gold's text a benchmark publishes, and which counts of gold follow from that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import orjson

from service.policy.release import Release
from service.store import benchmarks, revisions
from treescore.core import registry, scores
from treescore.core.params import Json
from treescore.core.trees import Alignments
from treescore.errors import InputError, Problem, placed
from treescore.evaluation.report import find_score, full_address
from treescore.evaluation.spec import Entry, Spec, parse_spec

MEMBERS = ("format", "transforms", "metrics", "main_score", "errors")
"""Members of a request that make a scoring configuration."""


@dataclass(frozen=True, slots=True)
class ScoringConfig:
    """A checked scoring configuration.

    Attributes:
        spec: formats and metrics.
        main_score: address of the score that ranks.
        addresses: every score, metric by metric.
        errors: ZERO: what an output lacks costs its full weight; EXCLUDE: as the metrics' own parameters say.
    """

    spec: Spec
    main_score: str
    addresses: tuple[str, ...]
    errors: str

    def charges(self, entry: Entry) -> bool:
        """Return whether what an output lacks costs its full weight under a metric entry."""
        return bool(entry.metric.values.get("errors", self.errors) == scores.ZERO)

    @property
    def main(self) -> tuple[Entry, scores.Score]:
        """Return the metric entry and the score that rank."""
        return find_score(self.spec, self.main_score)

    @property
    def main_first(self) -> Sequence[Entry]:
        """Return the metric entries, the one that ranks first: in this order marks of trees are asked for."""
        main = self.main[0]
        return [main, *(entry for entry in self.spec.entries if entry is not main)]

    def score(self, address: str) -> tuple[Entry, scores.Score]:
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
    errors = request.get("errors", scores.ZERO)
    spec = parse_spec({**request, "metrics": _charging(request["metrics"], errors)})
    wanted = request.get("main_score") or spec.entries[0].key
    with placed("/main_score"):
        address = full_address(*find_score(spec, wanted))
    return {
        "format": request["format"],
        "transforms": list(request.get("transforms") or ()),
        "metrics": list(request["metrics"]),
        "main_score": address,
        "errors": errors,
    }


def scoring_config(stored: Mapping[str, Json]) -> ScoringConfig:
    """Return a stored scoring configuration, ready for use."""
    errors = stored["errors"]
    spec = stored_spec({**stored, "metrics": _charging(stored["metrics"], errors)})
    addresses = tuple(full_address(entry, score) for entry in spec.entries for score in entry.metric.table.scores)
    return ScoringConfig(spec, stored["main_score"], addresses, errors)


def scoring_warnings(stored: Mapping[str, Json]) -> list[Problem]:
    """Return what organisers are warned of in a stored scoring configuration, with pointers into the request."""
    scoring = scoring_config(stored)
    problems = [_excluded("/errors", "The benchmark")] if scoring.errors == scores.EXCLUDE else []
    for index, entry in enumerate(scoring.spec.entries):
        if scoring.errors == scores.ZERO and not scoring.charges(entry):
            problems.append(_excluded(f"/metrics/{index}/params/errors", f"The metric {entry.key!r}"))
        if entry.params.get("counting") == "cross-product":
            detail = (
                f"The metric {entry.key!r} counts every pair of equal edges: an output that repeats its edges gains. "
                "On a benchmark use multiset."
            )
            problems.append(Problem("repeats-gain", detail, pointer=f"/metrics/{index}/params/counting"))
    return problems


def _excluded(pointer: str, who: str) -> Problem:
    detail = (
        f"{who} leaves out sentences without a usable output: an output of its easiest sentences can score best. Rows "
        "that do not cover every sentence rank last. Use zero unless each output is known to be complete."
    )
    return Problem("errors-excluded", detail, pointer=pointer)


def _charging(metrics: Sequence[Json], errors: str) -> list[Json]:
    """Return metric entries that charge what an output lacks, unless they say otherwise or `errors` is EXCLUDE."""
    return [_with_errors(entry) if errors == scores.ZERO else entry for entry in metrics]


def _with_errors(entry: Json) -> Json:
    given: Mapping[str, Json] = {"name": entry} if isinstance(entry, str) else entry
    metric = registry.METRICS.get(given["name"])
    if metric is None or "errors" not in metric.params:
        return entry
    return {**given, "params": {"errors": scores.ZERO, **given.get("params", {})}}


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


def input_kind(benchmark: benchmarks.Benchmark, revision: revisions.Revision) -> str | None:
    """Return whether words or running text are published; None for neither.

    If a metric scores tokenization, words would reveal the answers: then `true` means running text.
    """
    chosen = benchmark.settings["publish_input"]
    if chosen is not True:
        return chosen or None
    spec = scoring_config(revision.scoring).spec
    return "text" if any(entry.metric.own_segmentation for entry in spec.entries) else "words"


def counts_shown(benchmark: benchmarks.Benchmark, revision: revisions.Revision, release: Release) -> bool:
    """Return whether a caller sees how many sentences, words and units gold has.

    Published words tell it; running text does not tell how gold divides it.
    """
    return release.gold or input_kind(benchmark, revision) == "words"


def part_sizes(part: revisions.Part, revision: revisions.Revision, *, counts: bool) -> dict[str, int | None]:
    """Return how many sentences and words a part has; None of both without `counts`, and of the words of alignments.

    What is kept of alignments is the number of their links.
    """
    linked = counts and issubclass(stored_spec(revision.scoring).format.format.yields, Alignments)
    return {"sentences": part.sentences if counts else None, "words": part.words if counts and not linked else None}
