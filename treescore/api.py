"""The library's two calls, `score` and `compare`: files, texts and bytes in, a `Result` out.

The command line scores through `evaluate` here, and the service through the same `evaluate_systems` below it.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, overload

import numpy as np

from treescore.core.compiling import say_compiled
from treescore.core.params import Choice, Json, choices_of
from treescore.core.registry import FORMATS, METRICS
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.core.wording import NAME_RULE, did_you_mean, is_name
from treescore.errors import FilePath, InputError, TreescoreWarning, placed
from treescore.evaluation import report as reports
from treescore.evaluation.document import telling, warning_lines
from treescore.evaluation.spec import Spec, Suggestion, entry_of, parse_items, parse_spec, suggestions
from treescore.results import Comparison, Result
from treescore.shapes import check_format, check_request, check_significance
from treescore.sources import texts
from treescore.sources.files import shown, wrong

Progress = Callable[[int, int, str], None]
"""Called with (done, total, step) before each step."""


def silent(_done: int, _total: int, _step: str) -> None:
    """Report no progress."""


class Output(NamedTuple):
    """One system's output.

    Attributes:
        name: of the system.
        source: its text, or where it is.
        format: how to read it; None for gold's format.
        run_of: the system of which it is a further training run.
    """

    name: str
    source: texts.Source
    format: Choice | None = None
    run_of: str | None = None


class Settings(TypedDict, total=False):
    """The settings of comparisons, as `significance` of a request has them; the defaults are right for most.

    `scores` is the address of the score to compare (`"ud.las_f1"`), or a list of them; unless given, the first
    metric's main score. `baseline` names the system that each other one is tested against, all pairs unless given.
    `treescore.core.comparing.PARAMS` says what the others are.
    """

    scores: str | Sequence[str]
    baseline: str
    test: Literal["auto", "permutation", "t", "bootstrap", "mcnemar", "compare_pl"]
    unit: Literal["auto", "sentence", "block", "part", "token"]
    alternative: Literal["two-sided", "greater", "less"]
    shuffles: int | None
    resamples: int
    correction: Literal["holm", "hochberg", "bh", "by", "bonferroni", "none"]
    alpha: float
    seed: int
    interval: Literal["auto", "percentile", "bca", "none"]
    level: float | None
    clusters: Literal["separable", "greedy"]
    mcnemar: Literal["exact", "mid-p", "chi2", "chi2-corrected"]
    runs: Literal["random", "fixed"]
    margin: float | None
    power: float


class Options(Settings, total=False):
    """The keywords of `compare` beside its arguments: settings of the comparison, and options of `score`."""

    format: Choice | None
    system_format: Choice | None
    transforms: Choice | Sequence[Choice]
    items: Mapping[str, Json] | None
    limits: Limits
    progress: Progress


def score(
    gold: texts.Source,
    outputs: texts.Outputs,
    metric: Choice | Sequence[Choice] | None = None,
    *,
    format: Choice | None = None,  # noqa: A002 - as a request names it
    system_format: Choice | None = None,
    transforms: Choice | Sequence[Choice] | None = (),
    significance: Mapping[str, Json] | bool | None = None,
    items: Mapping[str, Json] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress = silent,
) -> Result:
    """Score outputs against gold, as a job of the service does.

        result = score("gold.conllu", {"A": "a.conllu", "B": "b.conllu"}, metric="ud")
        print(result)
        result["A"].las_f1

    Args:
        gold: the gold standard.
        outputs: system name -> output, or a list of its training runs (`NAME`, `NAME.2`, ...); or outputs, which are
            named by their files.
        metric: one or several; the usual one of gold's format unless given (`Format.usual_entry`).
        format: of gold and outputs; by the suffixes of the files unless given (`Format.suffixes`).
        system_format: of the outputs, where it differs.
        transforms: done before every metric.
        significance: settings of comparisons between the outputs, True for the defaults, None for no comparison.
        items: what is known of gold's sentences: `blocks`, `attributes`, `seconds`, `lengths`,
            `words`.
        limits: bounds on the texts.
        progress: called with (done, total, step) before each step.

    Raises:
        ScoringError: a file or text cannot be read or scored, or the request is wrong; each problem with its place.

    Warns:
        TreescoreWarning: something is unusual in a text or parameter.
    """
    settings = ({} if significance else None) if isinstance(significance, bool) else significance
    result = _score(
        gold, outputs, metric, settings, format=format, system_format=system_format, transforms=transforms,
        items=items, limits=limits, progress=progress,
    )  # fmt: skip
    compared = result.comparison
    _warn(dict.fromkeys([*warning_lines(result.warnings), *(compared.warnings if compared else ())]))
    return result


def _score(
    gold: texts.Source,
    outputs: texts.Outputs,
    metric: Choice | Sequence[Choice] | None,
    significance: Mapping[str, Json] | None,
    *,
    format: Choice | None = None,  # noqa: A002 - as a request names it
    system_format: Choice | None = None,
    transforms: Choice | Sequence[Choice] | None = (),
    items: Mapping[str, Json] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress = silent,
) -> Result:
    gold, outputs = texts.held(gold), texts.held(outputs)
    guessed = format is None
    read_as = texts.guessed_format(gold) if format is None else format
    check_format(read_as, "/format")
    request = {
        "format": read_as,
        "transforms": choices_of(transforms),
        "metrics": _metrics(metric, read_as),
        "significance": significance,
        "items": items,
    }
    named = [
        Output(name, source, texts.format_of(source) if guessed and system_format is None else system_format, run_of)
        for name, source, run_of in texts.named_outputs(outputs)
    ]
    if not named:
        raise wrong("too-few-systems", "No output was given. Give one, or several as {name: output}.", "/outputs")
    return evaluate(request, gold, named, limits=limits, progress=progress)


def _warn(lines: Iterable[str]) -> None:
    """Issue warnings at the call of the library."""
    for line in lines:
        warnings.warn(line, TreescoreWarning, stacklevel=3)


@overload
def compare(
    gold: Result, *, significance: Mapping[str, Json] | None = None, **settings: Unpack[Settings]
) -> Comparison: ...


@overload
def compare(
    gold: texts.Source,
    outputs: texts.Outputs,
    metric: Choice | Sequence[Choice] | None = None,
    *,
    significance: Mapping[str, Json] | None = None,
    **options: Unpack[Options],
) -> Comparison: ...


def compare(
    gold: texts.Source | Result,
    outputs: texts.Outputs = (),
    metric: Choice | Sequence[Choice] | None = None,
    *,
    significance: Mapping[str, Json] | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Tell which differences between systems are real: `compare(gold, outputs, "ud")`, or `compare(result)`.

        table = compare(result, unit="block", scores=["ud.las_f1", "ud.uas_f1"])
        print(table)

    Args:
        gold: the gold standard; or a result, whose outcomes are compared without scoring them again.
        outputs: as in `score`, of two or more systems.
        metric: as in `score`.
        significance: the settings as a mapping; a keyword outweighs its member.
        options: settings as `Settings` names them; where texts are compared, options as in `score`.

    Raises:
        TypeError: an unknown keyword, or an option of `score` beside a result.
        ScoringError: as `score`; or fewer than two systems, or unknown scores or settings.

    Warns:
        TreescoreWarning: something is unusual in a text, a parameter or the test.
    """
    outputs = texts.held(outputs)
    settings, others = _split(options, of_result=isinstance(gold, Result))
    if significance is not None:
        check_significance(significance)
        settings = {**significance, **settings}
    if len(reports.runs_by_system(gold.systems if isinstance(gold, Result) else texts.named_outputs(outputs))) < 2:
        raise wrong("too-few-systems", "A comparison needs outputs of two or more systems.", "/outputs")
    if isinstance(gold, Result):
        compared = _compared(gold, settings)
        known = set(warning_lines(gold.warnings))
        _warn(words for words in compared.warnings if words not in known)
        return compared
    result = _score(gold, outputs, metric, settings, **others)
    compared = Comparison(result)
    _warn(dict.fromkeys([*warning_lines(result.warnings), *compared.warnings]))
    return compared


def _compared(result: Result, settings: Mapping[str, Json]) -> Comparison:
    report = result.report
    settings = _addressed(report.spec, _plain(settings))
    addresses = reports.asked_scores(report.spec, settings.get("scores"))
    documents = reports.compare_outcomes(
        addresses, report.evaluation, result.systems, report.outcomes, settings, result.gold_digest,
        warnings=report.warnings, treebanks=report.treebanks,
    )  # fmt: skip
    say_compiled()
    scored = {name: value for name, value in report.document.items() if name != "across"}
    return Comparison(
        replace(result, report=report._replace(document={**scored, **reports.compared_members(documents)}))
    )


def _addressed(spec: Spec, settings: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return settings of a comparison with the addresses of its scores, which may be named as in tables (`LAS`).

    Raises:
        InputError: an unknown score.
    """
    names = settings.get("scores")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return settings
    from treescore.render.forms import chosen_scores  # noqa: PLC0415 - a main score has its name

    addresses: list[str] = []
    for index, name in enumerate(names):
        with placed(f"/significance/scores/{index}"):
            addresses += [reports.full_address(entry, score) for entry, _, score in chosen_scores(spec, [name])]
    return {**settings, "scores": addresses}


def suggest(source: texts.Source) -> list[Suggestion]:
    """Tell which formats a text may be in, by its first lines, with the metrics that fit each, and why.

        best = suggest("gold.txt")[0]
        score("gold.txt", ["mine.txt"], best.metrics[0].metric, format=best.format)

    Args:
        source: a path (of a folder or archive the first file is looked at), a string with a line break, bytes, or an
            open file.

    Returns:
        The likeliest format first; an empty list where no format fits.

    Raises:
        InputError: the text cannot be read.
    """
    with placed(FilePath(os.fspath(source)) if texts.is_path(source) else "/text"):
        return suggestions(texts.first_text(source))


def list_metrics() -> list[dict[str, Json]]:
    """Return every metric as data: `name`, `doc`, `main_score`, `scores`, `counts`, `params`, `reports`, ..."""
    return [entry_of(metric) for metric in METRICS.values()]


def list_formats() -> list[dict[str, Json]]:
    """Return every format as data: `name`, `doc`, `params`, and what else `GET /v1/scorers` has of it."""
    return [entry_of(each) for each in FORMATS.values()]


def _split(options: Options, *, of_result: bool) -> tuple[dict[str, Json], dict[str, Any]]:
    """Return the settings of a comparison, and the options of `score`.

    Raises:
        TypeError: a name is neither, or the latter stand beside a result.
    """
    settings, others = frozenset(Settings.__annotations__), Options.__annotations__.keys() - Settings.__annotations__
    for name in options:
        if name not in settings and (of_result or name not in others):
            known = settings if of_result else settings | others
            about = " beside a result, which is scored already" if name in others else ""
            raise TypeError(f"compare() takes no keyword {name!r}{about}.{did_you_mean(name, known)}")
    chosen: dict[str, Json] = {name: value for name, value in options.items() if name in settings}
    scores = chosen.get("scores")
    if isinstance(scores, Iterable):
        chosen["scores"] = [scores] if isinstance(scores, str) else list(scores)
    return chosen, {name: value for name, value in options.items() if name in others}


@telling()
def evaluate(
    request: Mapping[str, Json],
    gold: texts.Source,
    outputs: Sequence[Output],
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress = silent,
) -> Result:
    """Score outputs as a request asks.

    Args:
        request: `format`, `metrics` and perhaps `transforms`, `significance`, `agreement`, `items`.
        gold: the gold standard.
        outputs: the systems.
        limits: bounds on the texts.
        progress: as in `score`.

    Raises:
        ScoringError: as `score`. Nothing is issued as a Python warning: `Result.warnings` has them.
    """
    request = _plain(request)
    check_request(request)
    names = [output.name for output in outputs]
    for index, name in enumerate(names):
        if name in names[:index]:
            detail = f"Two outputs have the name {name!r}. Name each: {{name: output}}, or NAME=PATH in a command."
            raise wrong("duplicate-system-name", detail, f"/outputs/{index}")
    wrong_runs = reports.problems_of_runs(outputs, "/outputs")
    if wrong_runs:
        raise InputError(wrong_runs)
    spec = parse_spec(request)
    gold_text = texts.read_source(gold, spec.format, "/gold")
    gold_digest, gold_place = gold_text.digest, gold_text.place
    systems = [_system(output, spec, gold_text) for output in outputs]
    significance = request.get("significance")
    # after reading: a text without a line break is taken for a path, and then for its name
    for index, name in enumerate(names):
        if not is_name(name):
            detail = f"{shown(name)} cannot be the name of an output. {NAME_RULE} Name the output otherwise."
            raise wrong("bad-name", detail, f"/outputs/{index}")
    handed_over = [gold_text.text]
    del gold_text  # `evaluate_systems` can free a large text once it is parsed only where no caller holds it
    report = reports.evaluate_systems(
        spec,
        handed_over.pop(),
        gold_digest,
        systems,
        significance=None if significance is None else _addressed(spec, significance),
        agreement=request.get("agreement", ()),
        items=parse_items(request.get("items")),
        limits=limits,
        progress=progress,
        gold_place=gold_place,
    )
    say_compiled()
    return Result(report, tuple(system._replace(text=b"") for system in systems), gold_digest)


def _system(output: Output, spec: Spec, gold: texts.SourceText) -> reports.System:
    pointer = texts.pointer_of(output.name, output.source)
    choice = spec.format if output.format is None else texts.format_choice(output.format, "/system_format")
    read = texts.read_source(output.source, choice, pointer)
    texts.check_same_files(gold, read)
    return reports.System(output.name, read.text, read.digest, choice, read.place, output.run_of)


def _plain(value: object) -> Json:
    """Return a value of a program as JSON has it: tuples, sets and iterators are lists, NumPy's scalars numbers."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(_plain, value), key=repr)
    if isinstance(value, (list, tuple, Iterator)):
        return list(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value


def _metrics(metric: Choice | Sequence[Choice] | None, text_format: Choice) -> list[Choice]:
    """Return the metrics as a list; the usual one of a known format where none is named."""
    if metric is None:
        known = FORMATS.get(text_format if isinstance(text_format, str) else str(text_format.get("name")))
        return [known.usual_entry()] if known is not None and known.usual_metric else []
    return choices_of(metric)
