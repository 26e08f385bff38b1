"""What of gold's text a benchmark publishes, and which counts of gold follow from that."""

from __future__ import annotations

from service.policy.levels import Level
from service.store.benchmarks import Benchmark
from service.store.revisions import Revision
from service.usecases.scoring.config import scoring_config


def input_kind(benchmark: Benchmark, revision: Revision) -> str | None:
    """Return whether words or running text are published; None for neither.

    If a metric scores tokenization, words would reveal the answers: then `true` means running text.
    """
    chosen = benchmark.settings["publish_input"]
    if chosen is not True:
        return chosen or None
    spec = scoring_config(revision.scoring).spec
    return "text" if any(entry.metric.own_segmentation for entry in spec.entries) else "words"


def counts_shown(benchmark: Benchmark, revision: Revision, level: Level) -> bool:
    """Return whether a level shows how many sentences, words and units gold has.

    Published words tell it; running text does not tell how gold divides it.
    """
    return level >= Level.GOLD or input_kind(benchmark, revision) == "words"
