"""Scores of trees with the interface of the library `evaluate`, whether it is installed or not.

    from treescore.huggingface import Treescore
    metric = Treescore("ud", scores=["las_f1", "uas_f1"])
    metric.compute(predictions=[conllu_of_one_text], references=[gold_of_it])

Where `evaluate` is installed, this is an `evaluate.Metric`: it can be combined, gathers batches on disk, and
`evaluate.load(treescore.huggingface.__file__, "ud")` loads it too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from treescore import score
from treescore.core.params import Json
from treescore.core.registry import METRICS
from treescore.core.wording import did_you_mean
from treescore.errors import InputError, Problem, ScoringError

try:
    import datasets
    import evaluate
except ImportError:
    evaluate = None

BLANK_LINE = ("conllu", "conllx")
"""Formats in which a blank line ends a sentence; in others the end of a line does."""
INPUTS = """
Args:
    predictions: list of texts, each one sentence or more in the metric's format.
    references: their gold standards, one for each.

Returns:
    score name -> value, None where it is undefined.
"""


class _Gathering:
    """What `evaluate.Metric` does with examples, without it: gather them and compute."""

    def __init__(self) -> None:
        self._predictions: list[str] = []
        self._references: list[str] = []

    def add(self, *, prediction: str, reference: str) -> None:
        """Add one text with its gold standard."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Sequence[str], references: Sequence[str]) -> None:
        """Add texts with their gold standards.

        Raises:
            ValueError: they are not as many.
        """
        if len(predictions) != len(references):
            raise ValueError(f"{len(predictions)} predictions and {len(references)} references. Give one for each.")
        self._predictions += predictions
        self._references += references

    def compute(
        self, *, predictions: Sequence[str] | None = None, references: Sequence[str] | None = None, **options: Any
    ) -> dict[str, float | None] | None:
        """Score what was added and what is given here, and forget it; None where there is nothing.

        Raises:
            ScoringError: a text cannot be read or scored.
            ValueError: there are not as many predictions as references.
        """
        if predictions is not None or references is not None:
            self.add_batch(predictions=predictions or (), references=references or ())
        texts, self._predictions, self._references = (self._predictions, self._references), [], []
        return self._compute(*texts, **options) if texts[0] else None

    def _compute(self, predictions: Sequence[str], references: Sequence[str], **options: Any) -> dict[str, Any]:
        raise NotImplementedError


# no name for the base: `evaluate.load` takes the first metric that a module holds
class Treescore(_Gathering if evaluate is None else evaluate.Metric):  # type: ignore[misc]
    """A metric of this library as a metric of `evaluate`.

    Args:
        config_name: name of the metric.
        format: of the texts; the usual one of the metric unless given.
        scores: names of the scores to compute; all of the metric unless given.
        params: parameters of the metric.
        transforms: done before it, as in `treescore.score`.
        options: as of `evaluate.Metric`.

    Raises:
        InputError: an unknown metric; when it computes, an unknown parameter or score.
    """

    def __init__(
        self,
        config_name: str | None = None,
        *,
        format: Json = None,  # noqa: A002 - as in `treescore.score`
        scores: Sequence[str] | None = None,
        params: Mapping[str, Json] | None = None,
        transforms: Sequence[Json] = (),
        **options: Any,
    ) -> None:
        self._metric = "ud" if config_name in (None, "default") else str(config_name)
        known = METRICS.get(self._metric)
        if known is None:
            meant = did_you_mean(self._metric, METRICS)
            detail = f"Unknown metric {self._metric!r}.{meant} Metrics: {', '.join(METRICS)}."
            raise InputError(Problem("unknown-metric", detail))
        self._format = known.examples[0].format if format is None else format
        self._scores = scores
        self._params = dict(params or {})
        self._transforms = list(transforms)
        if evaluate is None:
            super().__init__()
        else:
            super().__init__(config_name=self._metric, **options)

    def _info(self) -> Any:
        """Describe the metric to `evaluate`."""
        known = METRICS[self._metric]
        features = datasets.Features(dict.fromkeys(("predictions", "references"), datasets.Value("string")))
        about = {"description": known.doc, "citation": known.source, "inputs_description": INPUTS}
        return evaluate.MetricInfo(**about, features=features)

    def _compute(
        self, predictions: Sequence[str], references: Sequence[str], scores: Sequence[str] | None = None
    ) -> dict[str, float | None]:
        """Score all texts as one."""
        sides = {"prediction": list(predictions), "reference": list(references)}
        gold, output = (self._joined(sides[side]) for side in ("reference", "prediction"))
        metric = {"name": self._metric, "key": "metric", "params": self._params}
        try:
            result = score(gold, {"prediction": output}, metric, format=self._format, transforms=self._transforms)
        except ScoringError as error:
            raise type(error)([self._placed(each, sides) for each in error.problems], error.total) from error
        own = result["prediction"]
        found = {address.partition(".")[2]: own[address] if own.defined(address) else None for address in own}
        wanted = scores or self._scores
        if wanted is None:
            return found
        unknown = [name for name in wanted if name not in found]
        if unknown:
            detail = f"Unknown score {unknown[0]!r} of {self._metric}.{did_you_mean(unknown[0], found)}"
            raise InputError(Problem("unknown-score", detail))
        return {name: found[name] for name in wanted}

    def _joined(self, texts: Sequence[str]) -> bytes:
        return "".join(self._ended(texts)).encode("utf-8", "surrogatepass")

    def _ended(self, texts: Sequence[str]) -> Iterator[str]:
        """Yield the texts so that no sentence runs into the next text."""
        name = self._format if isinstance(self._format, str) else self._format["name"]
        end = "\n\n" if name in BLANK_LINE else "\n"
        for text in texts:
            yield text.rstrip("\r\n") + end

    def _placed(self, problem: Problem, sides: Mapping[str, Sequence[str]]) -> Problem:
        """Say in which of the texts a problem is, and the line in it."""
        side = "reference" if problem.pointer.startswith("/gold") else "prediction"
        if problem.line is None or not problem.pointer.startswith(("/gold", "/outputs")):
            return problem
        lines = [text.count("\n") for text in self._ended(sides[side])]
        before = [0, *accumulate(lines)]
        index = next(number for number in range(len(lines), -1, -1) if before[number] < problem.line)
        return replace(problem, pointer=f"/{side}s/{index}", line=problem.line - before[index])
