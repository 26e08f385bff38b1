"""Specification of a request, checked before any text is read, and the catalogue of what may be asked.

A request names formats, transforms and metrics. The catalogue is what is known of each of them, and what goes with
what. A suggestion is which format a text is in, by its first lines, and what it can be scored with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import treescore.formats
import treescore.metrics
import treescore.transforms  # noqa: F401 - they tell the registries where to look
from treescore.core import registry
from treescore.core.params import Json
from treescore.core.scores import EXCLUDE, ZERO
from treescore.core.text import CERTAIN, LIKELY, Head, Scored, refuse_packed
from treescore.core.trees import ConstituentTreebank, DependencyTreebank
from treescore.errors import InputError, Problem, ProblemList, ScoringError

SIDES = ("both", "gold", "system")


class FormatChoice(NamedTuple):
    """A format with its options as the request gave them."""

    name: str
    options: Mapping[str, Json]
    format: registry.Format

    def document(self) -> Json:
        """Return the value as a request writes it."""
        return {"name": self.name, **self.options} if self.options else self.name


class Step(NamedTuple):
    """One transform, and the side it changes."""

    name: str
    params: Mapping[str, Json]
    on: str
    transform: registry.Transform

    def document(self) -> dict[str, Json]:
        """Return the step as a request writes it, with all parameters."""
        return {"name": self.name, "params": dict(self.transform.values), "on": self.on}


@dataclass(frozen=True, slots=True)
class Entry:
    """One metric of a request under its key, with the transforms before it."""

    key: str
    name: str
    params: Mapping[str, Json]
    metric: registry.Metric
    steps: tuple[Step, ...]

    @property
    def leaves_out(self) -> bool:
        """Tell whether sentences without a usable output are left out of the scores."""
        return bool(self.metric.values.get("errors") == EXCLUDE)

    @property
    def charging(self) -> Entry:
        """Return the entry as it is with `errors` zero."""
        return replace(self, metric=registry.make_metric(self.name, {**self.params, "errors": ZERO}))

    @property
    def guided(self) -> bool:
        """Tell whether gold decides what its transforms delete from an output."""
        return any(step.transform.guided and step.on != "gold" for step in self.steps)


class Spec(NamedTuple):
    """A checked request without its texts."""

    format: FormatChoice
    entries: tuple[Entry, ...]

    def entry(self, key: str) -> Entry:
        """Return the metric entry of this key. Raises KeyError."""
        for entry in self.entries:
            if entry.key == key:
                return entry
        raise KeyError(key)

    def warnings(self) -> list[tuple[str, Problem]]:
        """List warnings of the metrics' parameters with their keys, each placed in the request."""
        return [
            (entry.key, problem.at(f"/metrics/{index}/params"))
            for index, entry in enumerate(self.entries)
            for problem in entry.metric.warnings
        ]


def parse_spec(document: Mapping[str, Json]) -> Spec:
    """Resolve `format`, `transforms` and `metrics` of a request; other members are ignored.

    Raises:
        InputError: every problem found, each with its pointer into the request.
    """
    problems = ProblemList()
    choice = _collect(problems, "/format", lambda: parse_format(document["format"]))
    shared = _steps(problems, document.get("transforms", ()), "/transforms")
    entries: list[Entry] = []
    for index, item in enumerate(document["metrics"]):
        entry = _entry(problems, item, f"/metrics/{index}", shared)
        if entry is None:
            continue
        if any(entry.key == other.key for other in entries):
            detail = f'Two metrics have the key {entry.key!r}. Give one of them another "key".'
            problems.add(Problem("duplicate-metric-key", detail, pointer=f"/metrics/{index}"))
        if choice is not None:
            _collect(problems, f"/metrics/{index}", lambda entry=entry: check_fit(entry, choice, choice))
        entries.append(entry)
    if not document["metrics"]:
        problems.add(Problem("no-metric", "Name at least one metric.", pointer="/metrics"))
    problems.raise_if_any()
    assert choice is not None  # noqa: S101 - raise_if_any has raised otherwise
    return Spec(format=choice, entries=tuple(entries))


def parse_format(value: Json) -> FormatChoice:
    """Resolve a format from its name or `{"name": ..., options}`. Raises InputError, pointers below the value."""
    name, options = _named(value)
    if isinstance(value, Mapping):
        options = {key: option for key, option in value.items() if key != "name"}
    return FormatChoice(name, options, registry.make_format(name, options))


def parse_items(value: Mapping[str, Json] | None) -> registry.ItemInfo:
    """Parse the `items` of a request. How long its lists are is checked once gold is read.

    Raises:
        InputError: `alignment-words-mismatch`, the words of a pair are not as many as its lengths say.
    """
    if not value:
        return registry.ItemInfo()
    words = None if value.get("words") is None else [(source, target) for source, target in value["words"]]
    counted = None if words is None else [(len(source.split()), len(target.split())) for source, target in words]
    lengths = counted if value.get("lengths") is None else [(int(a), int(b)) for a, b in value["lengths"]]
    if counted is not None and lengths != counted:
        raise InputError(_words_mismatch(lengths or [], counted))
    given = {name: value[name] for name in ("attributes", "blocks", "seconds") if name in value}
    return registry.ItemInfo(**given, lengths=lengths, words=words)


def _words_mismatch(lengths: Sequence[tuple[int, int]], counted: Sequence[tuple[int, int]]) -> Problem:
    unequal = (pair for pair, both in enumerate(zip(lengths, counted, strict=False)) if both[0] != both[1])
    pair = next(unequal, min(len(lengths), len(counted)))
    detail = (
        f"The lengths of pair {pair + 1} are not the numbers of its words. Words are separated by spaces. Leave "
        "`lengths` out: they follow from `words`."
    )
    return Problem("alignment-words-mismatch", detail, sentence=pair + 1, pointer="/items/words")


def check_fit(entry: Entry, gold: FormatChoice, system: FormatChoice) -> None:
    """Check that the metric can read what its transforms make of these formats.

    Raises:
        InputError: `metric-format-mismatch` or `transform-format-mismatch`.
    """
    for side, choice in (("gold", gold), ("system", system)):
        kind: type[Any] = choice.format.yields
        for step in entry.steps:
            if step.on not in ("both", side):
                continue
            if not issubclass(kind, step.transform.reads):
                detail = (
                    f"The transform {step.name!r} works on {kinds_in_words(step.transform.reads)}, but here "
                    f"{side} is {kinds_in_words([kind])} (format {choice.name!r})."
                )
                raise InputError(Problem("transform-format-mismatch", detail))
            kind = step.transform.yields(kind)
        if not issubclass(kind, entry.metric.reads):
            fix = f" Formats of what it scores: {', '.join(formats_of(entry.metric.reads))}."
            if kind is ConstituentTreebank and DependencyTreebank in entry.metric.reads:
                fix = ' Add the transform "heads", which makes dependencies of constituency trees.'
            detail = (
                f"The metric {entry.name!r} scores {kinds_in_words(entry.metric.reads)}, but {side} is "
                f"{kinds_in_words([kind])} (format {choice.name!r}).{fix}"
            )
            raise InputError(Problem("metric-format-mismatch", detail))


_KINDS = {
    "ConstituentTreebank": "constituency trees",
    "DependencyTreebank": "dependency trees",
    "DiscontinuousTreebank": "discontinuous constituency trees",
    "ExpressionTreebank": "dependency trees with multiword expressions",
    "SemanticTreebank": "graphs of semantic dependencies",
    "Alignments": "word alignments",
    "ParallelTreebank": "a parallel treebank",
}


def kinds_in_words(kinds: Sequence[type[Any]]) -> str:
    """Return what treebanks of these types are called."""
    return " or ".join(_KINDS.get(kind.__name__, kind.__name__) for kind in kinds)


def _entry(problems: ProblemList, item: Json, pointer: str, shared: Sequence[Step]) -> Entry | None:
    name, params = _named(item)
    key = item.get("key", name) if isinstance(item, Mapping) else name
    own = _steps(problems, item.get("transforms", ()), pointer + "/transforms") if isinstance(item, Mapping) else []
    below = pointer + "/params" if params else pointer
    metric = _collect(problems, below, lambda: registry.make_metric(name, params))
    return None if metric is None else Entry(key, name, params, metric, (*shared, *own))


def _steps(problems: ProblemList, items: Sequence[Json], pointer: str) -> list[Step]:
    steps = []
    for index, item in enumerate(items):
        name, params = _named(item)
        here = f"{pointer}/{index}"
        below = here + "/params" if params else here
        transform = _collect(problems, below, lambda name=name, params=params: registry.make_transform(name, params))
        if transform is None:
            continue
        on = item.get("on", transform.default_on) if isinstance(item, Mapping) else transform.default_on
        steps.append(Step(name, params, on, transform))
    return steps


def _named(value: Json) -> tuple[str, Mapping[str, Json]]:
    return (value, {}) if isinstance(value, str) else (value["name"], value.get("params", {}))


def _collect(problems: ProblemList, pointer: str, make: Any) -> Any:
    try:
        return make()
    except ScoringError as error:
        problems.extend(error.at(pointer).problems)
        return None


def entry_of(component: type[registry.Component]) -> dict[str, Json]:
    """Return the entry of `GET /v1/scorers`: the component's own, and what it can be used with."""
    entry = component.catalogue()
    if issubclass(component, registry.Metric):
        return {**entry, "formats": formats_of(component.reads)}
    if issubclass(component, registry.Format):
        usual = component.usual_metric or None
        return {**entry, "suffixes": list(component.suffixes), "metrics": metrics_of(component), "usual_metric": usual}
    return entry


def formats_of(reads: Sequence[type[Any]]) -> list[str]:
    """Return the names of the formats of treebanks that something reads."""
    return [name for name in sorted(registry.FORMATS) if issubclass(registry.FORMATS[name].yields, tuple(reads))]


def metrics_of(fmt: type[registry.Format]) -> list[str]:
    """Return the names of the metrics that score a format as it is."""
    return [name for name in sorted(registry.METRICS) if issubclass(fmt.yields, registry.METRICS[name].reads)]


def transforms_before(metric: type[registry.Metric]) -> list[tuple[str, str]]:
    """Return the formats that a metric reads after a transform only, each with the transform."""
    found = []
    for name in sorted(registry.TRANSFORMS):
        transform = registry.make_transform(name, {})
        for each in sorted(registry.FORMATS):
            kind = registry.FORMATS[each].yields
            made = transform.yields(kind) if issubclass(kind, transform.reads) else kind
            if made is not kind and not issubclass(kind, metric.reads) and issubclass(made, metric.reads):
                found.append((each, name))
    return found


CERTAINTIES = ("certain", "likely", "possible")
"""How sure a suggestion is, the surest first."""


class Suggestion(NamedTuple):
    """A format that a text may be in.

    Attributes:
        name: of the format.
        options: of the format.
        certainty: one of CERTAINTIES.
        why: what was seen, in sentences.
        metrics: to score it with, the best first, each with its reason.
    """

    name: str
    options: Mapping[str, Json]
    certainty: str
    why: Sequence[str]
    metrics: Sequence[Scored]

    @property
    def format(self) -> Json:
        """The format as a request names it."""
        return {"name": self.name, **self.options} if self.options else self.name

    def document(self) -> dict[str, Json]:
        """Return the suggestion as the API shows it."""
        return {
            "format": self.format,
            "certainty": self.certainty,
            "why": list(self.why),
            "metrics": [{"metric": scored.metric, "why": scored.why} for scored in self.metrics],
        }


def suggestions(text: bytes) -> list[Suggestion]:
    """Return the formats that the first lines of a text may be in, the likeliest first; none where nothing fits.

    Raises:
        InputError: `packed-text`, `invalid-utf8`.
    """
    refuse_packed(text)
    head = Head.of(text)
    found = []
    for name in sorted(registry.FORMATS):
        signs = registry.FORMATS[name].signs(head) if head.filled else None
        if signs is not None:
            metrics = signs.metrics or _usual(registry.FORMATS[name])
            suggestion = Suggestion(name, signs.options, _certainty(signs.strength), signs.why, metrics)
            found.append((-signs.strength, suggestion))
    found.sort(key=lambda pair: pair[0])
    return [suggestion for _, suggestion in found]


def _certainty(strength: float) -> str:
    return CERTAINTIES[0 if strength >= CERTAIN else 1 if strength >= LIKELY else 2]


def _usual(format_: type[registry.Format]) -> Sequence[Scored]:
    return () if not format_.usual_metric else [Scored(format_.usual_metric, "The usual metric of this format.")]
