"""The library's two calls, `score` and `compare`: files, texts and bytes in, a `Result` out.

The command line scores through `evaluate` here, and the service through the same `evaluate_systems` below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypedDict, Unpack, overload

from treescore.core.limits import DEFAULT_LIMITS, Limits
from treescore.core.params import Json
from treescore.core.registry import FORMATS
from treescore.errors import InputError
from treescore.evaluation.report import (
    Report,
    System,
    asked_scores,
    compare_outcomes,
    compared_members,
    evaluate_systems,
    find_score,
)
from treescore.evaluation.spec import Spec, parse_items, parse_spec
from treescore.evaluation.training_runs import problems_of_runs, runs_by_system
from treescore.shapes import check_format, check_request, check_significance
from treescore.sources import (
    Choice,
    Outputs,
    Source,
    SourceText,
    check_same_files,
    format_choice,
    format_of,
    guessed_format,
    named_outputs,
    pointer_of,
    read_source,
    wrong,
)


class Output(NamedTuple):
    """One system's output.

    Attributes:
        name: of the system.
        source: its text, or where it is.
        format: how to read it; None for gold's format.
        run_of: the system of which it is a further training run.
    """

    name: str
    source: Source
    format: Choice | None = None
    run_of: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SystemScores(Mapping[str, float | None]):
    """The scores of one system by address: `scores["ud.las_f1"]`, or `scores["ud"]` for a metric's main score.

    Attributes:
        name: of the system.
        metrics: metric key -> its document (`scores`, `counts`, `undefined`, `signature`, ...).
        spec: formats and metrics.
    """

    name: str
    metrics: Mapping[str, Mapping[str, Json]]
    spec: Spec = field(repr=False)

    def __getitem__(self, address: str) -> float | None:
        """Return a score; None where it is undefined.

        Raises:
            KeyError: an unknown address.
        """
        try:
            entry, score = find_score(self.spec, address)
        except InputError as error:
            raise KeyError(str(error)) from error
        value: Json = self.metrics[entry.key]["scores"]
        for step in score.name.split("."):
            value = value[step]
        return None if value is None else float(value)

    def __iter__(self) -> Iterator[str]:
        for entry in self.spec.entries:
            for score in entry.metric.table.scores:
                yield f"{entry.key}.{score.name}"

    def __len__(self) -> int:
        return sum(len(entry.metric.table.scores) for entry in self.spec.entries)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result(Mapping[str, SystemScores]):
    """Scores and comparisons of systems: `result["A"]["ud.las_f1"]`.

    Attributes:
        report: outcomes by sentence, for further comparisons and for programs.
        systems: what was scored, without the texts.
        gold_digest: name of the gold text in signatures.
    """

    report: Report
    systems: tuple[System, ...]
    gold_digest: str

    def __repr__(self) -> str:
        return f"Result({', '.join(map(repr, self))})"

    @property
    def document(self) -> Mapping[str, Json]:
        """The `results` of a job: JSON with `systems` and `comparisons`."""
        return self.report.document

    @property
    def warnings(self) -> Sequence[Mapping[str, Json]]:
        """What is unusual in the texts or parameters, each with its place."""
        return self.report.warnings

    @property
    def comparisons(self) -> Sequence[Mapping[str, Json]]:
        """One document for each compared score; empty where nothing was compared."""
        compared: Sequence[Mapping[str, Json]] = self.report.document["comparisons"]
        return compared

    @property
    def across(self) -> Mapping[str, Json] | None:
        """The comparisons of several scores as one family; None where fewer than two scores were compared."""
        return self.report.document.get("across")

    def __getitem__(self, name: str) -> SystemScores:
        """Return the scores of one system.

        Raises:
            KeyError: an unknown name.
        """
        for document in self.document["systems"]:
            if document["name"] == name:
                return SystemScores(name, document["metrics"], self.report.spec)
        raise KeyError(f"Unknown system {name!r}. Systems: {', '.join(self)}.")

    def __iter__(self) -> Iterator[str]:
        return (system.name for system in self.systems)

    def __len__(self) -> int:
        return len(self.systems)


def score(
    gold: Source,
    outputs: Outputs,
    metric: Choice | Sequence[Choice] | None = None,
    *,
    format: Choice | None = None,  # noqa: A002 - as a request names it
    system_format: Choice | None = None,
    transforms: Choice | Sequence[Choice] = (),
    significance: Mapping[str, Json] | bool | None = None,
    items: Mapping[str, Json] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Result:
    """Score outputs against gold, as a job of the service does.

    Args:
        gold: the gold standard.
        outputs: system name -> output, or a list of its training runs (`NAME`, `NAME.2`, ...); or outputs, which are
            named by the stems of their files.
        metric: one or several; the usual one of gold's format unless given (`Format.usual_metric`).
        format: of gold and outputs; by the suffixes of the files unless given (`Format.suffixes`).
        system_format: of the outputs, where it differs.
        transforms: done before every metric.
        significance: settings of comparisons between the outputs, True for the defaults, None for no comparison.
        items: what is known of gold's sentences: `blocks`, `attributes`, `seconds`, `lengths`.
        limits: bounds on the texts.

    Raises:
        ScoringError: a file or text cannot be read or scored, or the request is wrong; each problem with its place.
    """
    guessed = format is None
    text_format = guessed_format(gold) if format is None else format
    check_format(text_format, "/format")
    request = {
        "format": text_format,
        "transforms": _listed(transforms),
        "metrics": _metrics(metric, text_format),
        "significance": {} if significance is True else None if significance is False else significance,
        "items": items,
    }
    named = [
        Output(name, source, format_of(source) if guessed and system_format is None else system_format, run_of)
        for name, source, run_of in named_outputs(outputs)
    ]
    return evaluate(request, gold, named, limits=limits)


class Options(TypedDict, total=False):
    """The options of `score` that `compare` hands on."""

    format: Choice | None
    system_format: Choice | None
    transforms: Choice | Sequence[Choice]
    items: Mapping[str, Json] | None
    limits: Limits


@overload
def compare(gold: Result, *, significance: Mapping[str, Json] | None = None) -> Result: ...


@overload
def compare(
    gold: Source,
    outputs: Outputs,
    metric: Choice | Sequence[Choice] | None = None,
    *,
    significance: Mapping[str, Json] | None = None,
    **options: Unpack[Options],
) -> Result: ...


def compare(
    gold: Source | Result,
    outputs: Outputs = (),
    metric: Choice | Sequence[Choice] | None = None,
    *,
    significance: Mapping[str, Json] | None = None,
    **options: Unpack[Options],
) -> Result:
    """Tell which differences between systems are real: `compare(gold, outputs, "ud")`, or `compare(result)`.

    Args:
        gold: the gold standard; or a result, whose outcomes are compared without scoring them again.
        outputs: as in `score`, of two or more systems.
        metric: as in `score`.
        significance: `scores` (addresses; the first metric's main score unless given), `test`, `seed`, ...
        options: as in `score`.

    Raises:
        ScoringError: as `score`; or fewer than two systems, or unknown scores or settings.
    """
    settings = significance or {}
    if len(runs_by_system(gold.systems if isinstance(gold, Result) else named_outputs(outputs))) < 2:
        raise wrong("too-few-systems", "A comparison needs outputs of two or more systems.", "/outputs")
    if not isinstance(gold, Result):
        return score(gold, outputs, metric, significance=settings, **options)
    check_significance(settings)
    report = gold.report
    addresses = asked_scores(report.spec, settings.get("scores"))
    compared = compare_outcomes(addresses, report.evaluation, gold.systems, report.outcomes, settings, gold.gold_digest)
    scored = {name: value for name, value in report.document.items() if name != "across"}
    return replace(gold, report=replace(report, document={**scored, **compared_members(compared)}))


def evaluate(
    request: Mapping[str, Json], gold: Source, outputs: Sequence[Output], *, limits: Limits = DEFAULT_LIMITS
) -> Result:
    """Score outputs as a request asks.

    Args:
        request: `format`, `metrics` and perhaps `transforms`, `significance`, `agreement`, `items`.
        gold: the gold standard.
        outputs: the systems.
        limits: bounds on the texts.

    Raises:
        ScoringError: as `score`.
    """
    check_request(request)
    names = [output.name for output in outputs]
    for index, name in enumerate(names):
        if name in names[:index]:
            detail = f"Two outputs have the name {name!r}. Name each: {{name: output}}, or NAME=PATH in a command."
            raise wrong("duplicate-system-name", detail, f"/outputs/{index}")
    wrong_runs = problems_of_runs(outputs, "/outputs")
    if wrong_runs:
        raise InputError(wrong_runs)
    spec = parse_spec(request)
    gold_text = read_source(gold, spec.format, "/gold")
    gold_digest, gold_place = gold_text.digest, gold_text.place
    systems = [_system(output, spec, gold_text) for output in outputs]
    handed_over = [gold_text.text]
    del gold_text  # `evaluate_systems` can free a large text once it is parsed only where no caller holds it
    report = evaluate_systems(
        spec,
        handed_over.pop(),
        gold_digest,
        systems,
        significance=request.get("significance"),
        agreement=request.get("agreement", ()),
        items=parse_items(request.get("items")),
        limits=limits,
        gold_place=gold_place,
    )
    return Result(report, tuple(replace(system, text=b"") for system in systems), gold_digest)


def _system(output: Output, spec: Spec, gold: SourceText) -> System:
    pointer = pointer_of(output.name, output.source)
    choice = spec.format if output.format is None else format_choice(output.format, "/system_format")
    read = read_source(output.source, choice, pointer)
    check_same_files(gold, read)
    return System(output.name, read.text, read.digest, choice, read.place, output.run_of)


def _metrics(metric: Choice | Sequence[Choice] | None, text_format: Choice) -> list[Choice]:
    """Return the metrics as a list; the usual one of a known format where none is named."""
    if metric is None:
        known = FORMATS.get(text_format if isinstance(text_format, str) else str(text_format.get("name")))
        return [known.usual_metric] if known is not None and known.usual_metric else []
    return _listed(metric)


def _listed(choices: Choice | Sequence[Choice]) -> list[Choice]:
    """Return one choice or several as a list."""
    return [choices] if isinstance(choices, (str, Mapping)) else list(choices)
