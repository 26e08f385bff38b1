"""Name scores for people, and say how their figures are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.pages.figures import ScoreFigures
from service.usecases.scoring.config import stored_spec
from treescore.core.params import Json
from treescore.core.scores import Score
from treescore.errors import InputError
from treescore.evaluation.report import find_score
from treescore.evaluation.spec import Entry

_CAPITALS = frozenset(
    ("las", "uas", "clas", "mlas", "blex", "elas", "eulas", "ulas", "la", "upos", "xpos", "ufeats", "aer", "f1", "f")
)
_METRIC_NAMES: Mapping[str, str] = {
    "parseval": "PARSEVAL", "leaf_ancestor": "leaf-ancestor", "ud": "UD", "dependency_relations": "relations",
    "parallel_treebank": "parallel treebank", "mwe": "MWE", "semantic_dependencies": "semantic dependencies",
}  # fmt: skip
_KINDS: Mapping[str, str] = {
    "parseval": "Constituents", "leaf_ancestor": "Constituents", "conformance": "Constituents",
    "attachment": "Dependencies", "ud": "Dependencies from raw text", "enhanced": "Enhanced dependencies",
    "dependency_relations": "Dependency relations", "alignment": "Word alignment",
    "parallel_treebank": "Parallel treebank", "mwe": "Multiword expressions",
    "semantic_dependencies": "Semantic dependencies",
}  # fmt: skip
MOST_COLUMNS = 6


@dataclass(frozen=True, slots=True)
class NamedScore:
    """A score as pages show it.

    Attributes:
        address: such as `ud.las_f1`.
        label: such as `LAS F1`.
        head: of a column: as the metric's own tables call it, else the label without `F1`.
        doc: what the score is, in a sentence; empty where this version does not know it.
        figures: writes its figures.
    """

    address: str
    label: str
    head: str
    doc: str
    figures: ScoreFigures


class ScoreNames:
    """The scores of a benchmark or of a job.

    Args:
        scoring: a document with `format`, `transforms` and `metrics`.
        step: to which the caller's scores are rounded.
    """

    def __init__(self, scoring: Mapping[str, Json], step: float | None = None) -> None:
        self._spec = stored_spec(scoring)
        self._step = step

    def __call__(self, address: str) -> NamedScore:
        """Return a score by its address."""
        key, _, name = address.partition(".")
        entry, score = self._score(address)
        label = score_label(name or key)
        head = self._headline(entry).get(name) or label.replace(" F1", "")
        if len(self._spec.entries) > 1:
            label = f"{label} ({_METRIC_NAMES.get(key, key)})"
        share = score is not None and score.is_share
        doc = "" if score is None else score.doc
        return NamedScore(address, label, head, doc, ScoreFigures(share, self._step))

    def columns(self, ranking: str, listed: Sequence[str]) -> list[NamedScore]:
        """Return the scores beside the ranking one, at most MOST_COLUMNS.

        First those of its metric, in the order of the metric's own tables; scores that these lack come last.
        """
        metric = ranking.partition(".")[0]

        def order(address: str) -> tuple[bool, int]:
            key, _, name = address.partition(".")
            tables = list(self._headline(self._score(address)[0]))
            return key != metric, tables.index(name) if name in tables else len(tables)

        others = sorted((address for address in listed if address != ranking), key=order)
        return [self(address) for address in others[:MOST_COLUMNS]]

    @staticmethod
    def _headline(entry: Entry | None) -> Mapping[str, str]:
        """Return the scores that a metric's own tables show, and what they call them."""
        if entry is None:
            return {}
        return {**entry.metric.headline, **entry.metric.headline_below_best}

    def _score(self, address: str) -> tuple[Entry, Score] | tuple[None, None]:
        try:
            return find_score(self._spec, address)
        except InputError:  # of a revision with other metrics
            return None, None


def score_label(name: str) -> str:
    """Return the name of a score for people: `labelled_f1` as `Labelled F1`."""
    words = [word.upper() if word in _CAPITALS else word for word in name.replace(".", "_").split("_") if word]
    label = " ".join(words)
    return label[:1].upper() + label[1:]


def kind_of(metrics: Sequence[Json]) -> str:
    """Return what a benchmark scores, by the first of its metrics."""
    first = metrics[0]
    name = first if isinstance(first, str) else first["name"]
    return _KINDS.get(name, name)
