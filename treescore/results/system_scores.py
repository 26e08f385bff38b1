"""The scores of one system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from treescore.core.params import Json
from treescore.core.suggestions import did_you_mean
from treescore.core.values import value_at
from treescore.errors import InputError
from treescore.evaluation.report import find_score
from treescore.evaluation.spec import Spec


@dataclass(frozen=True, eq=False, repr=False)
class SystemScores(Mapping[str, float | None]):
    """The scores of one system, by address or as attributes.

        scores = result["A"]
        scores["ud.las_f1"]     # by address; scores["ud"] is the metric's main score
        scores.las_f1           # where only one metric of the result has a score of this name

    Attributes:
        name: of the system.
        metrics: metric key -> its document (`scores`, `counts`, `undefined`, `signature`, ...).
        spec: formats and metrics.
    """

    name: str
    metrics: Mapping[str, Mapping[str, Json]]
    spec: Spec = field(repr=False)

    @property
    def signature(self) -> dict[str, Mapping[str, Json]]:
        """Everything that the scores depend on, by metric key, with the command that repeats them."""
        return {key: document["signature"] for key, document in self.metrics.items()}

    def __getitem__(self, address: str) -> float | None:
        """Return a score; None where it is undefined.

        Raises:
            KeyError: an unknown address.
        """
        try:
            entry, score = find_score(self.spec, address)
        except InputError as error:
            raise KeyError(str(error)) from error
        return value_at(self.metrics[entry.key]["scores"], score.name)

    def __getattr__(self, name: str) -> float | None:
        """Return the score of this name.

        Raises:
            AttributeError: no metric has it, or several have.
        """
        if name.startswith("_") or name in ("name", "metrics", "spec"):
            raise AttributeError(name)
        keys = [entry.key for entry in self.spec.entries if name in entry.metric.table.by_name]
        if len(keys) == 1:
            return self[f"{keys[0]}.{name}"]
        if keys:
            raise AttributeError(f"Several metrics have a score {name!r}. Use scores[{f'{keys[0]}.{name}'!r}].")
        known = [score.name for entry in self.spec.entries for score in entry.metric.table.scores]
        raise AttributeError(f"Unknown score {name!r}.{did_you_mean(name, known)}")

    def __dir__(self) -> list[str]:
        scores = (score.name for entry in self.spec.entries for score in entry.metric.table.scores)
        return sorted({*object.__dir__(self), *filter(str.isidentifier, scores)})

    def __iter__(self) -> Iterator[str]:
        for entry in self.spec.entries:
            for score in entry.metric.table.scores:
                yield f"{entry.key}.{score.name}"

    def __len__(self) -> int:
        return sum(len(entry.metric.table.scores) for entry in self.spec.entries)

    def __repr__(self) -> str:
        from treescore.render.scores import headline_scores  # noqa: PLC0415 - scores alone are not drawn

        shown = []
        for entry in self.spec.entries:
            for score in headline_scores(entry, [{"metrics": self.metrics}]).values():
                value = value_at(self.metrics[entry.key]["scores"], score.name)
                shown.append(f"{entry.key}.{score.name}={'None' if value is None else f'{value:.4f}'}")
        return f"SystemScores({', '.join([repr(self.name), *shown])})"
