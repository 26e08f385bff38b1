"""Report of several systems against one gold: scores, comparisons and agreement in one document.

Agreement of two metrics over the same items is correlations, and where the worst items of one stand. Outputs may be
training runs of one system.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from treescore.core.arrays import BoolArray, FloatArray, IntArray
from treescore.core.params import Json
from treescore.core.registry import ERROR, ItemInfo, Outcome, Text
from treescore.core.scores import Score
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.core.trees import Treebank
from treescore.core.wording import DIFFERENT_SENTENCES, closest, counted, did_you_mean, p_words
from treescore.errors import FilePath, InputError, Problem, placed
from treescore.evaluation import correlations
from treescore.evaluation import document as docs
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import Entry, FormatChoice, Spec

DECILES = 10


def agreement(a: FloatArray, b: FloatArray, name_a: str, name_b: str) -> dict[str, Json]:
    """Compute Pearson's r, Spearman's rho, Kendall's tau-b, and the decile tables of two scores over the same items.

    After Sampson & Babarczy (2003), who compare leaf-ancestor and bracket F: of the items in the lowest tenth
    under one metric, how many stand in the first, second, ... tenth under the other.

    Args:
        a: one score an item, (n,), NaN where undefined.
        b: the other metric's, (n,), in the same order.
        name_a: what to call `a`.
        name_b: what to call `b`.

    Returns:
        `items` used, `undefined` (left out: either score is NaN), each coefficient with its two-sided `p`
        (null where a score is constant or there are fewer than 3 items), and `deciles`: two tables.
    """
    defined = ~(np.isnan(a) | np.isnan(b))
    first, second = a[defined], b[defined]
    return {
        "a": name_a,
        "b": name_b,
        "items": len(first),
        "undefined": int((~defined).sum()),
        **_coefficients(first, second),
        "deciles": [_deciles(first, second, name_a, name_b), _deciles(second, first, name_b, name_a)],
    }


def _coefficients(a: FloatArray, b: FloatArray) -> dict[str, Json]:
    names = ("pearson", "spearman", "kendall")
    if len(a) < 3 or _is_constant(a) or _is_constant(b):
        return {name: {"value": None, "p": None, "reason": _no_coefficient(a, b)} for name in names}
    found = (measure(a, b) for measure in (correlations.pearson, correlations.spearman, correlations.kendall))
    return {name: {"value": value, "p": p} for name, (value, p) in zip(names, found, strict=True)}


def _is_constant(values: FloatArray) -> bool:
    # Scores that differ by rounding alone have no order either: a correlation of them would be noise.
    return float(np.ptp(values)) <= 1e-13 * max(1.0, float(np.abs(values).max()))


def _no_coefficient(a: FloatArray, b: FloatArray) -> str:
    if len(a) < 3:
        return "fewer than 3 items have both scores"
    return "both scores are constant" if _is_constant(a) and _is_constant(b) else "one of the scores is constant"


def _deciles(of: FloatArray, under: FloatArray, name_of: str, name_under: str) -> dict[str, Json]:
    """Count where the items of the lowest decile of `of` stand in the deciles of `under`.

    Deciles are by rank; items with one score share the lowest of their ranks, so that ties never depend on the
    order and the lowest decile is never empty.
    """
    lowest = _decile_numbers(of) == 0
    counts = np.bincount(_decile_numbers(under)[lowest], minlength=DECILES)
    return {"lowest_of": name_of, "under": name_under, "items": int(lowest.sum()), "counts": counts.tolist()}


def _decile_numbers(values: FloatArray) -> IntArray:
    if not len(values):
        return np.zeros(0, np.int64)
    ranks = np.searchsorted(np.sort(values), values) + 1  # of ties, the lowest
    numbers = np.ceil(ranks * DECILES / len(values)).astype(np.int64) - 1
    return np.asarray(np.minimum(numbers, DECILES - 1), np.int64)


class Output(Protocol):
    """An output by its name, and the name of the system of which it is a further training run."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def run_of(self) -> str | None:
        """The system of which it is a further training run."""
        ...


def runs_by_system(outputs: Sequence[Output]) -> dict[str, list[int]]:
    """Return the outputs of each system, as indices in order.

    An output belongs to the system that it names, which may be another output or a name for the runs alone.
    """
    runs: dict[str, list[int]] = {}
    for index, output in enumerate(outputs):
        runs.setdefault(output.run_of or output.name, []).append(index)
    return runs


def problems_of_runs(outputs: Sequence[Output], pointer: str) -> list[Problem]:
    """Find outputs that are runs of themselves, or of an output that is itself a run of another.

    Args:
        outputs: all of a request.
        pointer: of the list.
    """
    run_of = {output.name: output.run_of for output in outputs}
    problems = []
    for index, output in enumerate(outputs):
        system = output.run_of
        if system is None:
            continue
        at = f"{pointer}/{index}/run_of"
        if system == output.name:
            detail = (
                f"{system!r} is a run of itself. Leave out run_of, or name the system of which it is a further run."
            )
            problems.append(Problem("run-of-itself", detail, pointer=at))
        elif run_of.get(system) not in (None, system):
            detail = (
                f"{system!r}, of which this is a run, is a run of {run_of[system]!r} itself. "
                f"Write {run_of[system]!r} for both."
            )
            problems.append(Problem("run-of-a-run", detail, pointer=at))
    return problems


class System(NamedTuple):
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


class Report(NamedTuple):
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
    evaluation.check_gold_words()
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
        warnings += [{"system": system.name, **_warning(problem)} for problem in unusual]
        of_metrics = [(key, each.at(system.pointer)) for key, outcome in compared.items() for each in outcome.warnings]
        warnings += [{"system": system.name, "metric": key, **_warning(problem)} for key, problem in of_metrics]
    warnings += _same_runs(systems)
    comparisons = []
    left_out = [
        {"system": system.name, "metric": entry.key, **_warning(problem.at(system.pointer))}
        for system, compared in zip(systems, outcomes, strict=True)
        for entry in spec.entries
        for problem in _left_out(entry, compared[entry.key])
    ]
    if addresses is not None and significance is not None:
        comparisons = compare_outcomes(
            addresses, evaluation, systems, outcomes, significance, gold_digest,
            lambda done, address: progress(len(systems) + done, total, f"comparing {address}"), warnings=warnings,
            treebanks=treebanks,
        )  # fmt: skip
    document: dict[str, Json] = {
        "systems": [
            {"name": system.name, "metrics": _metrics(spec, system, compared, gold_digest)}
            for system, compared in zip(systems, outcomes, strict=True)
        ],
        **compared_members(comparisons),
    }
    warnings += left_out  # a comparison says by itself which sentences it leaves out
    if agreement:
        document["agreement"] = _agreements(spec, systems, outcomes, agreement)
    return Report(spec, evaluation.gold, outcomes, document, warnings, evaluation, treebanks)


def _left_out(entry: Entry, outcome: Outcome) -> Iterator[Problem]:
    """Yield a warning of the sentences that could not be compared, where the scores leave them out."""
    wrong: list[int] = np.flatnonzero(outcome.status == ERROR).tolist() if entry.leaves_out else []
    problem = outcome.problems.get(wrong[0]) if wrong else None
    if problem is not None:
        detail = (
            f"{len(wrong)} of {counted(len(outcome.status), 'sentence')} cannot be compared, and the scores leave them "
            f"out. The first: {problem.gold_detail or problem.detail} With `errors: zero` they count as wrong."
        )
        yield Problem("sentences-left-out", detail, sentence=wrong[0] + 1, line=problem.line, column=problem.column)


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
    treebanks: Sequence[Treebank],
) -> list[dict[str, Json]]:
    """Compare the systems on scores; outputs that are runs of one system stand for it together.

    Where a metric leaves out sentences, and not the same ones of every output, a warning has the scores as they are
    with these charged, and the test of a margin is that of the charged scores.

    Args:
        addresses: full addresses of the scores.
        evaluation: gold with what is asked.
        systems: the outputs; their texts are not read.
        outcomes: for each system, metric key -> outcome.
        significance: settings as in a request.
        gold_digest: name of the gold text in signatures.
        progress: called with (done, address) before each comparison.
        warnings: of the texts and metrics; the documents hold those that concern the compared score.
        treebanks: each output as it was read.

    Raises:
        InputError: the settings are wrong, or do not fit the texts.
    """
    from treescore.significance import Candidate, compare, parse_settings  # noqa: PLC0415 - what scores alone can spare
    from treescore.significance.notes import notes  # noqa: PLC0415

    with placed("/significance"):
        settings = parse_settings(significance)
        if settings.margin is not None and any("margin" in (system.name, system.run_of) for system in systems):
            detail = 'With a margin no system can have the name "margin". Use another name.'
            raise InputError(Problem("bad-parameter", detail, pointer="/margin"))
    members = runs_by_system(systems)
    formats = {name: [systems[run].format for run in runs] for name, runs in members.items()}
    blocks = documents_of(evaluation)

    def compared_by(address: str, entry: Entry, score: Score, scored: Sequence[Outcome]) -> dict[str, Json]:
        candidates = [
            Candidate(
                name,
                tuple(scored[run].rows for run in runs),
                scored[runs[0]].tokens.get(score.name) if len(runs) == 1 else None,
            )
            for name, runs in members.items()
        ]
        names = entry.metric.table.count_names
        with placed("/significance"):
            return compare(address, score, names, candidates, settings, blocks=blocks, gold_digest=gold_digest)

    documents = []
    for done, address in enumerate(addresses):
        progress(done, address)
        entry, score = find_score(evaluation.spec, address)
        _check_margin(address, score, settings.margin)
        scored = [outcome[entry.key] for outcome in outcomes]
        compared = compared_by(address, entry, score, scored)
        for system in compared["systems"]:
            system["sentences"] = docs.sentences_document([scored[run] for run in members[system["name"]]])
        compared["warnings"] = [
            *docs.warning_lines(docs.warnings_of_metric(warnings, entry.key)),
            *compared["warnings"],
        ]
        compared["warnings"] += margin_warnings(address, score, settings.margin)
        answered = {name: [scored[run].answered for run in runs] for name, runs in members.items()}
        left = left_out(answered) if entry.leaves_out else {}
        if left:
            charging = entry.charging
            charged = compared_by(address, charging, score, [
                evaluation.compare(treebank, system.format, system.pointer, system.name, [charging])[entry.key]
                for system, treebank in zip(systems, treebanks, strict=True)
            ])  # fmt: skip
            charge_errors(compared, charged, left, percent=score.is_share)
            compared["notes"] = notes(compared)
        compared["signature"] = {**compared["signature"], **docs.asked_document(entry, evaluation.spec.format, formats)}
        asked, has_items = {**significance, "scores": [address]}, evaluation.items != ItemInfo()
        compared["command"] = docs.comparison_command(entry, evaluation.spec.format, formats, asked, items=has_items)
        documents.append(compared)
    return documents


_NAMED = 10


def left_out(answered: Mapping[str, Sequence[BoolArray]]) -> dict[str, int]:
    """Return how many sentences the runs of each system lack; nothing where all runs of all systems lack the same.

    Args:
        answered: of each run of each system, the sentences that its score covers, bool (n,).
    """
    every = [run for runs in answered.values() for run in runs]
    if all(np.array_equal(run, every[0]) for run in every):
        return {}
    return {name: sum(int((~run).sum()) for run in runs) for name, runs in answered.items()}


def charge_errors(
    compared: dict[str, Json], charged: Mapping[str, Json], left: Mapping[str, int], *, percent: bool
) -> None:
    """Warn first of outputs that are scored on different sentences, and test a margin on the charged scores.

    The figures of the warning have no more digits than boards show.

    Args:
        compared: the comparison in which sentences are left out; changed.
        charged: the same with `errors` zero.
        left: how many sentences of each system are left out (`left_out`).
        percent: whether the score is shown in percent.
    """
    compared["warnings"].insert(0, _different_sentences(charged, left, percent=percent))
    for pair, other in zip(compared["pairs"], charged["pairs"], strict=True):
        pair["noninferiority"] = pair["noninferiority"] and other["noninferiority"]


def charged_figure(value: float | None, *, percent: bool) -> str:
    """Write a share in percent with 2 decimals, another score with 4 significant digits; – where it is undefined."""
    if value is None or math.isnan(value):
        return "–"
    return f"{100 * value:.2f}" if percent else f"{float(f'{value:.4g}'):g}"


def _different_sentences(charged: Mapping[str, Json], left: Mapping[str, int], *, percent: bool) -> str:
    shown = sorted(charged["systems"], key=lambda system: -left[system["name"]])[:_NAMED]
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    counts = ", ".join(f"{left[system['name']]} of {system['name']}" for system in shown)
    figures = ", ".join(f"{each['name']} {charged_figure(each['score'], percent=percent)}" for each in shown)
    [pair] = charged["pairs"] if len(charged["pairs"]) == 1 else [{}]
    p = "" if pair.get("p_adjusted") is None else f" (p {p_words(pair['p_adjusted'])})"
    margin = " The margin is tested on these scores." if pair.get("noninferiority") else ""
    return (
        f"{DIFFERENT_SENTENCES}: those without a usable output are left out, {counts}{more}. With the parameter "
        f"`errors: zero`, which charges them, {charged['score']} is {figures}{more}{p}.{margin} Compare with "
        "`errors: zero`."
    )


WIDE_MARGIN = 0.1
"""Above it a margin of a share may be meant in percent."""


def margin_warnings(address: str, score: Score, margin: float | None) -> list[str]:
    """Warn of a margin of a share that may be points of percent taken for units of the score."""
    if margin is None or not score.is_share or margin <= WIDE_MARGIN:
        return []
    points = f"{100 * margin:g} points of percent"
    return [f"The margin {margin:g} is {points} of {address}. For {margin:g} points of percent give {margin / 100:g}."]


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


def compared_members(comparisons: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Return the comparisons as members of results: of several scores also `across`, all of them as one family."""
    if len(comparisons) < 2:
        return {"comparisons": comparisons}
    from treescore.significance.families import across  # noqa: PLC0415 - what scores alone can spare

    first = comparisons[0]
    return {
        "comparisons": comparisons,
        "across": across(comparisons, correction=first["correction"], alpha=first["alpha"]),
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
    heads = {head: f"{entry.key}.{each}" for entry in spec.entries for each, head in entry.metric.own_headline.items()}
    near = closest(address, [*known, *heads])
    meant = did_you_mean(key, [entry.key for entry in spec.entries])
    meant = meant if near is None else f" Did you mean {heads.get(near, near)!r}?"
    unknown = "metric in score" if name else "score"
    detail = f"Unknown {unknown} {address!r}.{meant} Metrics of this request: {keys}."
    raise InputError(Problem("unknown-score", detail))


def full_address(entry: Entry, score: Score) -> str:
    """Return the address of a score, as in `parseval.labelled_f1`."""
    return f"{entry.key}.{score.name}"


def asked_scores(spec: Spec, asked: Json) -> list[str]:
    """Return the full addresses of the scores to compare; by default the first metric's main score.

    Raises:
        InputError: a score that does not exist, with its pointer.
    """
    if asked is not None and not (isinstance(asked, list) and asked and all(isinstance(each, str) for each in asked)):
        detail = 'Invalid scores. Send a list of addresses of scores, one or more, as in ["parseval.labelled_f1"].'
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
            **docs.outcome_document(entry, scored[entry.key]),
            "signature": docs.signature_document(entry, spec.format, system.format, gold_digest, system.digest),
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
            documents.append({"system": system.name, **agreement(values[0], values[1], first, second)})
    return documents


def _warning(problem: Problem) -> dict[str, Json]:
    names = ("code", "pointer", "sentence", "sent_id", "line", "column", "detail")
    members = {name: getattr(problem, name) for name in names}
    members["detail"] = problem.gold_detail or problem.detail  # gold is the caller's own
    if isinstance(problem.pointer, FilePath):
        members["pointer"] = problem.pointer.printable
    return {name: value for name, value in members.items() if value not in (None, "")}
