"""Report of several systems against one gold: scores, comparisons and agreement in one document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from treescore.core.limits import DEFAULT_LIMITS, Limits
from treescore.core.params import Json
from treescore.core.registry import ItemInfo, Outcome, Text
from treescore.core.scores import Score
from treescore.core.suggestions import did_you_mean
from treescore.core.trees import Treebank
from treescore.errors import FilePath, InputError, Problem, placed
from treescore.evaluation.agreement import agreement as agree
from treescore.evaluation.document import asked_document, comparison_command, outcome_document, signature_document
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import Entry, FormatChoice, Spec
from treescore.evaluation.training_runs import runs_by_system
from treescore.evaluation.warnings import warning_lines, warnings_of_metric


@dataclass(frozen=True, slots=True)
class System:
    """One output to score, and its place in the request.

    Attributes:
        name: for documents.
        text: the output.
        digest: of the text, for signatures.
        format: how to read it.
        pointer: its place in the request.
        run_of: the system of which this is one training run (seed); comparisons are between systems.
    """

    name: str
    text: Text
    digest: str
    format: FormatChoice
    pointer: str
    run_of: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The result of an evaluation.

    Attributes:
        spec: what was asked.
        gold: as it was read.
        outcomes: for each system, metric key -> outcome.
        document: `results` of the answer.
        warnings: for users, each with its place.
        evaluation: gold with what is asked, for further comparisons.
        treebanks: each system as it was read.
    """

    spec: Spec
    gold: Treebank
    outcomes: Sequence[Mapping[str, Outcome]]
    document: dict[str, Json]
    warnings: list[dict[str, Json]]
    evaluation: Evaluation
    treebanks: Sequence[Treebank]


def evaluate_systems(
    spec: Spec,
    gold: Text,
    gold_digest: str,
    systems: Sequence[System],
    *,
    significance: Mapping[str, Json] | None = None,
    agreement: Sequence[Sequence[str]] = (),
    items: ItemInfo | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int, int, str], None] = lambda _done, _total, _step: None,
    gold_place: str = "/gold",
) -> Report:
    """Score all systems, then compare them on the asked scores.

    Args:
        spec: formats and metrics.
        gold: the gold text.
        gold_digest: its name in signatures.
        systems: the outputs.
        significance: settings as in a request; None for no comparison.
        agreement: pairs of score addresses.
        items: what the request says of its sentences.
        limits: bounds on the texts.
        progress: called with (done, total, step) before each step.
        gold_place: where problems of gold are.

    Raises:
        ScoringError: a text cannot be read or scored, or an asked score does not exist; with its place.
    """
    addresses = None if significance is None else asked_scores(spec, significance.get("scores"))
    total = len(systems) + (0 if addresses is None else len(addresses))
    progress(0, total, "reading gold")
    evaluation = Evaluation(spec, gold, items, limits, gold_place)
    del gold  # as the text of an output in `Evaluation.score`
    outcomes = []
    treebanks = []
    warnings = [{"metric": key, **_warning(problem)} for key, problem in spec.warnings()]
    warnings += [_warning(problem.at(gold_place)) for problem in evaluation.gold.sentences.warnings]
    for done, system in enumerate(systems):
        progress(done, total, f"scoring {system.name}")
        treebank = evaluation.read(system.text, system.format, system.pointer)
        compared = evaluation.compare(treebank, system.format, system.pointer, system.name)
        outcomes.append(compared)
        treebanks.append(treebank)
        unusual = [problem.at(system.pointer) for problem in treebank.sentences.warnings]
        warnings += _warnings_of(system, compared, unusual)
    warnings += _same_runs(systems)
    comparisons = []
    if addresses is not None and significance is not None:
        comparisons = compare_outcomes(
            addresses, evaluation, systems, outcomes, significance, gold_digest,
            lambda done, address: progress(len(systems) + done, total, f"comparing {address}"), warnings=warnings,
        )  # fmt: skip
    document: dict[str, Json] = {
        "systems": [
            {"name": system.name, "metrics": _metrics(spec, system, compared, gold_digest)}
            for system, compared in zip(systems, outcomes, strict=True)
        ],
        **compared_members(comparisons),
    }
    if agreement:
        document["agreement"] = _agreements(spec, systems, outcomes, agreement)
    return Report(spec, evaluation.gold, outcomes, document, warnings, evaluation, treebanks)


def _warnings_of(system: System, scored: Mapping[str, Outcome], unusual: Sequence[Problem]) -> list[dict[str, Json]]:
    """List warnings of an output, of its text (`unusual`) and of each metric."""
    of_metrics = [(key, problem.at(system.pointer)) for key, outcome in scored.items() for problem in outcome.warnings]
    return [
        *({"system": system.name, **_warning(problem)} for problem in unusual),
        *({"system": system.name, "metric": key, **_warning(problem)} for key, problem in of_metrics),
    ]


def _same_runs(systems: Sequence[System]) -> list[dict[str, Json]]:
    """Warn of texts that are given as several training runs of one system: they show no spread that is real."""
    warnings: list[dict[str, Json]] = []
    for system, runs in runs_by_system(systems).items():
        first: dict[str, System] = {}
        for run in map(systems.__getitem__, runs):
            other = first.setdefault(run.digest, run)
            if other is not run:
                detail = (
                    f"The outputs {other.name!r} and {run.name!r} are the same text, but are given as two training "
                    f"runs of {system!r}. The spread over runs, intervals and p are wrong if one run is counted twice. "
                    "Leave out one of them, or give the output of another run."
                )
                warnings.append({"system": run.name, **_warning(Problem("same-runs", detail).at(run.pointer))})
    return warnings


def compare_outcomes(
    addresses: Sequence[str],
    evaluation: Evaluation,
    systems: Sequence[System],
    outcomes: Sequence[Mapping[str, Outcome]],
    significance: Mapping[str, Json],
    gold_digest: str,
    progress: Callable[[int, str], None] = lambda _done, _address: None,
    *,
    warnings: Sequence[Mapping[str, Json]] = (),
) -> list[dict[str, Json]]:
    """Compare the systems on scores; outputs that are runs of one system stand for it together.

    Args:
        addresses: full addresses of the scores.
        evaluation: gold with what is asked.
        systems: the outputs; their texts are not read.
        outcomes: for each system, metric key -> outcome.
        significance: settings as in a request.
        gold_digest: name of the gold text in signatures.
        progress: called with (done, address) before each comparison.
        warnings: of the texts and metrics; the documents hold those that concern the compared score.

    Raises:
        InputError: the settings are wrong, or do not fit the texts.
    """
    from treescore.significance import Candidate, compare, parse_settings  # noqa: PLC0415 - what scores alone can spare

    with placed("/significance"):
        settings = parse_settings(significance)
        if settings.margin is not None:
            _check_names(systems)
    members = runs_by_system(systems)
    formats = {name: [systems[run].format for run in runs] for name, runs in members.items()}
    documents = []
    for done, address in enumerate(addresses):
        progress(done, address)
        entry, score = find_score(evaluation.spec, address)
        _check_margin(address, score, settings.margin)
        candidates = [
            Candidate(
                name,
                tuple(outcomes[run][entry.key].rows for run in runs),
                outcomes[runs[0]][entry.key].tokens.get(score.name) if len(runs) == 1 else None,
            )
            for name, runs in members.items()
        ]
        names = entry.metric.table.count_names
        blocks = documents_of(evaluation)
        with placed("/significance"):
            compared = compare(address, score, names, candidates, settings, blocks=blocks, gold_digest=gold_digest)
        compared["warnings"] = [*warning_lines(warnings_of_metric(warnings, entry.key)), *compared["warnings"]]
        compared["signature"] = {**compared["signature"], **asked_document(entry, evaluation.spec.format, formats)}
        compared["command"] = comparison_command(
            entry,
            evaluation.spec.format,
            formats,
            {**significance, "scores": [address]},
            items=evaluation.items != ItemInfo(),
        )
        documents.append(compared)
    return documents


def _check_margin(address: str, score: Score, margin: float | None) -> None:
    """Refuse a margin that no loss can exceed: points of percent that were taken for units of the score.

    Raises:
        InputError: it is as large as the range of the score.
    """
    if margin is None or score.high is None or margin < score.high - score.low:
        return
    detail = (
        f"The margin {margin:g} is as large as the range of {address}, {score.low:g} to {score.high:g}: no output "
        "could be worse by more. A margin is in units of the score: half a point of percent is 0.005."
    )
    raise InputError(Problem("bad-parameter", detail, pointer="/significance/margin"))


def _check_names(systems: Sequence[System]) -> None:
    """Refuse a name that the test of a margin has for itself beside the names of the two systems.

    Raises:
        InputError: a system has it.
    """
    if any("margin" in (system.name, system.run_of) for system in systems):
        detail = 'With a margin no system can have the name "margin". Use another name.'
        raise InputError(Problem("bad-parameter", detail, pointer="/margin"))


def compared_members(comparisons: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Return the comparisons as members of results: of several scores also `across`, all of them as one family."""
    if len(comparisons) < 2:
        return {"comparisons": comparisons}
    from treescore.significance.across import Compared, across  # noqa: PLC0415 - what scores alone can spare

    first = comparisons[0]
    compared = [Compared(document) for document in comparisons]
    return {
        "comparisons": comparisons,
        "across": across(compared, correction=first["correction"], alpha=first["alpha"]),
    }


def documents_of(evaluation: Evaluation) -> Sequence[str | None] | None:
    """Return the document of each sentence, from the request, else from gold's `newdoc` comments.

    None stands for the sentences before the first mark.
    """
    if evaluation.items.blocks is not None:
        return evaluation.items.blocks
    named = evaluation.gold.sentences.attributes.get("newdoc", ())
    return named if any(named) else None


def percent_scores(spec: Spec, comparisons: Sequence[Mapping[str, Json]]) -> frozenset[str]:
    """Return the addresses of the compared scores that people see in percent: those whose range is 0 to 1."""
    return frozenset(each["score"] for each in comparisons if find_score(spec, each["score"])[1].is_share)


def find_score(spec: Spec, address: str) -> tuple[Entry, Score]:
    """Find the metric entry and the score of an address (`parseval.labelled_f1`; a bare key means its main score).

    Raises:
        InputError: `unknown-score`, with the known ones.
    """
    key, _, name = address.partition(".")
    for entry in spec.entries:
        if entry.key != key:
            continue
        table = entry.metric.table
        if not name:
            return entry, table.scores[0]
        if name in table.by_name:
            return entry, table.by_name[name]
        known = [f"{key}.{score.name}" for score in table.scores]
        detail = f"Unknown score {address!r}.{did_you_mean(address, known)} Allowed: {', '.join(known[:12])}"
        raise InputError(Problem("unknown-score", f"{detail}{' ...' if len(known) > 12 else '.'}"))
    known = [full_address(entry, score) for entry in spec.entries for score in entry.metric.table.scores]
    keys = ", ".join(entry.key for entry in spec.entries)
    meant = did_you_mean(address, known) or did_you_mean(key, [entry.key for entry in spec.entries])
    detail = f"Unknown metric in score {address!r}.{meant} Metrics of this request: {keys}."
    raise InputError(Problem("unknown-score", detail))


def full_address(entry: Entry, score: Score) -> str:
    """Return the address of a score, as in `parseval.labelled_f1`."""
    return f"{entry.key}.{score.name}"


def asked_scores(spec: Spec, asked: Json) -> list[str]:
    """Return the full addresses of the scores to compare; by default the first metric's main score.

    Raises:
        InputError: a score that does not exist, with its pointer.
    """
    if asked is not None and not (isinstance(asked, list) and all(isinstance(address, str) for address in asked)):
        detail = 'Invalid scores. Send a list of score addresses, as in ["parseval.labelled_f1"].'
        raise InputError(Problem("wrong-type", detail, pointer="/significance/scores"))
    if asked is None:
        first = spec.entries[0]
        return [full_address(first, first.metric.table.scores[0])]
    addresses = []
    for index, address in enumerate(asked):
        with placed(f"/significance/scores/{index}"):
            addresses.append(full_address(*find_score(spec, address)))
    return list(dict.fromkeys(addresses))


def _metrics(spec: Spec, system: System, scored: Mapping[str, Outcome], gold_digest: str) -> dict[str, Json]:
    return {
        entry.key: {
            **outcome_document(entry, scored[entry.key]),
            "signature": signature_document(entry, spec.format, system.format, gold_digest, system.digest),
        }
        for entry in spec.entries
    }


def _agreements(
    spec: Spec, systems: Sequence[System], outcomes: Sequence[Mapping[str, Outcome]], asked: Sequence[Sequence[str]]
) -> list[dict[str, Json]]:
    documents = []
    for first, second in asked:
        sides = [find_score(spec, address) for address in (first, second)]
        for system, outcome in zip(systems, outcomes, strict=True):
            values = [score.of(entry.metric.table.count_names, outcome[entry.key].rows) for entry, score in sides]
            documents.append({"system": system.name, **agree(values[0], values[1], first, second)})
    return documents


def _warning(problem: Problem) -> dict[str, Json]:
    names = ("code", "pointer", "sentence", "sent_id", "line", "column", "detail")
    members = {name: getattr(problem, name) for name in names}
    members["detail"] = problem.gold_detail or problem.detail  # gold is the caller's own
    if isinstance(problem.pointer, FilePath):
        members["pointer"] = problem.pointer.printable
    return {name: value for name, value in members.items() if value not in (None, "")}
