"""Score one submission under one revision: each part, all parts pooled, and the mean of the parts.

What scoring one part gives is kept until all parts can be joined. What is stored of one output under one metric are
counts, token bits and reports.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from itertools import compress
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from service import errors, requests
from service.context import Context
from service.policy import documents as policy_documents
from service.store import artifacts, benchmarks, packing, revisions, score_records, texts
from service.store.revisions import Part, Revision
from service.store.score_records import ANSWERED, CHARGED, FAILED, MISSING, SCORED, ScoreRecord, ShareResult
from service.store.submissions import ANNOTATION, Submission
from service.usecases.runs import Failure
from service.usecases.scoring import config, gold
from service.usecases.scoring.shares import blocks_of_part, share_rows, split_of, stored_documents
from treescore.core import comparing, params, wording
from treescore.core.arrays import Counts, FloatArray, IntArray, smallest
from treescore.core.registry import OK, STATUS_NAMES, Outcome, Text
from treescore.core.scores import ScoreTable, count_values, nested_values, score_values, with_values
from treescore.errors import Problem, ScoringError
from treescore.evaluation import blind, evaluate
from treescore.evaluation.benchmark import PartScores, part_scores
from treescore.evaluation.document import outcome_document, signature_document
from treescore.evaluation.spec import Entry


@dataclass(frozen=True, slots=True)
class PartShare:
    """One part under one metric entry: all its counts, in few bytes, and a document for each share (None: all)."""

    rows: Counts
    documents: Mapping[str | None, dict[str, params.Json]] = field(default_factory=dict)


@dataclass(slots=True)
class PartResult:
    """One part of a submission.

    Attributes:
        covered: sentences with a scored output.
        annotation: digest of the output as it was read; empty where it was not.
        shares: by metric key.
    """

    state: str
    covered: int = 0
    shares: dict[str, PartShare] = field(default_factory=dict)
    packed: dict[str, bytes] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    warnings: list[dict[str, object]] = field(default_factory=list)
    digest: str = ""
    annotation: str = ""
    failure: Failure | None = None


Note = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Scored:
    """The result of scoring a submission.

    Attributes:
        record: to be saved; None where no part could be scored.
        packed: artifacts beside the record.
        sizes: part -> sentences and words of the output.
        failures: part -> why it could not be scored.
    """

    record: ScoreRecord | None
    packed: score_records.PackedArtifacts
    sizes: Mapping[str, Mapping[str, object]]
    failures: Mapping[str, Failure]


class Scorer:
    """Scores submissions under one revision, one after the other."""

    def __init__(self, context: Context, revision: Revision) -> None:
        self.context = context
        self.revision = revision
        self.scoring: config.ScoringConfig = config.scoring_config(revision.scoring)
        with context.store.read() as db:
            self.parts = revisions.parts_of(db, revision.id)
            benchmark = benchmarks.get(db, revision.benchmark_id)
            self._split = None if benchmark is None else split_of(db, benchmark, revision.id)
            self._unit = comparing.AUTO if benchmark is None else benchmark.leaderboard["unit"]
            self._gold = gold.stored_digests(db, revision, self.parts, self.scoring.spec)
        gold.sweep_gold_files(context)
        self._blocks: dict[str | None, list[IntArray | None]] = {}

    def score(self, submission: Submission, note: Note, *, always: bool = False) -> Scored:
        """Score all parts of a submission. Problems of an output become failures of its part.

        Args:
            submission: its outputs are read from the store.
            note: called with (done, total, step) before each part.
            always: make a record also where no part could be scored.
        """
        results: list[PartResult] = []
        for done, part in enumerate(self.parts):
            note(done, len(self.parts), f"scoring {part.name}")
            results.append(self._stored_part(submission, part))
        some = any(part.state == SCORED for part in results)
        for part, result in zip(self.parts, results, strict=True):
            if result.state != SCORED:
                self._add_absent(part, result, charge=some)
        named = list(zip([part.name for part in self.parts], results, strict=True))
        packed = {name: body for part in results for name, body in part.packed.items()}
        record = self._record(submission, results) if always or some else None
        sizes = {name: {**part.sizes, ANNOTATION: part.annotation} for name, part in named if part.sizes}
        failures = {name: part.failure for name, part in named if part.failure is not None}
        return Scored(record, packed, sizes, failures)

    def check(self, outputs: Mapping[str, Text], note: Note) -> dict[str, dict[str, object]]:
        """Return for each part its state, sizes, failure and warnings, as scoring would find them; no score."""
        checked: dict[str, dict[str, object]] = {}
        for done, part in enumerate(self.parts):
            note(done, len(self.parts), f"checking {part.name}")
            result = self._part(part, outputs.get(part.name), "", kept=False)
            if result.state == SCORED:
                checked[part.name] = {"state": "valid", **result.sizes, "warnings": result.warnings}
            elif result.failure is not None:
                checked[part.name] = {"state": FAILED, "failure": result.failure.record()}
            else:
                checked[part.name] = {"state": MISSING}
        return checked

    def _stored_part(self, submission: Submission, part: Part) -> PartResult:
        """Score one part whose output is in the store."""
        choice = self.scoring.spec.format
        with self.context.store.read() as db:
            stored = texts.read_texts(db, submission.id, gold.names_of(gold.OUTPUTS, part.name, choice))
        text = gold.text_of(stored, gold.OUTPUTS, part.name, choice)
        return self._part(
            part, text, "" if text is None else gold.digest_of_part(stored, gold.OUTPUTS, part.name, choice)
        )

    def _evaluation(self, part: Part) -> evaluate.Evaluation:
        spec = self.scoring.spec
        known = gold.known_gold(self.context, self.revision, part, spec, self._gold[part.name])
        return gold.evaluation_against(self.context, part, spec, known)

    def _blocks_of(self, share: str | None) -> list[IntArray | None]:
        """Return the documents of each part by number, where the board's tests are over these; None for sentences."""
        if share not in self._blocks:
            with self.context.store.read() as db:
                documents = stored_documents(db, self.revision.id, self.parts)
            rows = [share_rows(self._split, part, share) for part in self.parts]
            self._blocks[share] = [
                blocks_of_part(list(compress(names, of_share)), int(of_share.sum()), self._unit)
                for names, of_share in zip(documents, rows, strict=True)
            ]
        return self._blocks[share]

    def _part(self, part: Part, text: Text | None, digest: str, *, kept: bool = True) -> PartResult:
        """Score one part, if it has an output that can be scored; `kept` with what is only stored."""
        if text is None:
            return PartResult(MISSING)
        scored = PartResult(SCORED, digest=digest)
        try:
            self._score(part, text, scored, kept=kept)
        except ScoringError as error:
            failure = Failure.of(error)
            if scored.sizes and any(map(policy_documents.is_misfit, failure.problems)):
                # the text could be read, so that what failed was the comparison with gold
                failure = replace(failure, closed=Failure("input", [_closed(part)], 1))
            return PartResult(FAILED, sizes=scored.sizes, annotation=scored.annotation, failure=failure)
        return scored

    def _score(self, part: Part, text: Text, scored: PartResult, *, kept: bool) -> None:
        evaluation = self._evaluation(part)
        pointer = f"/outputs/{part.name}"
        system = evaluation.read(text, self.scoring.spec.format, pointer)
        scored.sizes = {"sentences": len(system), "words": blind.word_count(system)}
        scored.annotation = gold.annotation_digest(system)
        outcomes = evaluation.compare(system, self.scoring.spec.format, pointer)
        scored.warnings += [_warning(problem.at(pointer, part.name)) for problem in system.sentences.warnings]
        for position, entry in enumerate(self.scoring.spec.entries):
            outcome = replace(outcomes[entry.key], extra=cache(outcomes[entry.key].extra))
            documents = {share: self._document(part, entry, outcome, share) for share in self._shares}
            rows = smallest(outcome.rows) if outcome.rows.dtype.kind == "i" else outcome.rows
            scored.shares[entry.key] = PartShare(rows, documents)
            for problem in outcome.warnings:
                warning = _warning(problem.at(pointer, part.name), entry.key)
                if policy_documents.is_misfit(problem):
                    warning[policy_documents.COMPARED] = _warning(_closed(part), entry.key)
                scored.warnings.append(warning)
            key = ArtifactKey(part.position, position, self.revision.number)
            scored.packed |= pack_outcome(key, entry, outcome, tokens=True)
            if kept and entry.leaves_out and ((outcome.status != OK) | ~outcome.answered).any():
                charged = evaluation.compare(system, self.scoring.spec.format, pointer, entries=[entry.charging])
                scored.packed[key.name(CHARGED)] = packing.pack_array(charged[entry.key].rows)
                scored.packed[key.name(ANSWERED)] = packing.pack_array(outcome.answered)
        answered = np.logical_and.reduce([outcome.answered for outcome in outcomes.values()])
        scored.covered = int(answered.sum())

    @property
    def _shares(self) -> Sequence[str | None]:
        """Return the shares that have figures of their own; of a test set that is not split all sentences."""
        return (None,) if self._split is None else (requests.PUBLIC, requests.PRIVATE)

    def _document(self, part: Part, entry: Entry, outcome: Outcome, share: str | None) -> dict[str, params.Json]:
        """Return the scores and counts of one part in a share; beside them stand tables of the whole text."""
        if share is not None:
            rows = share_rows(self._split, part, share)
            counts: Counts = outcome.rows[rows]
            outcome = replace(outcome, rows=counts, status=outcome.status[rows])
        return {"undefined": {}, **outcome_document(entry, outcome)}

    def _add_absent(self, part: Part, result: PartResult, *, charge: bool) -> None:
        """Add the counts of a part without a scored output: zeros, or what it costs where its metric charges that.

        A submission none of whose parts was scored is not charged: it has no score.
        """
        entries = self.scoring.spec.entries
        for position, entry in enumerate(entries):
            rows: Counts = np.zeros((part.sentences or 0, len(entry.metric.table.count_names)), np.int64)
            if charge and self.scoring.charges(entry):
                rows = self._evaluation(part).absent(entry)
            result.shares[entry.key] = PartShare(rows)
            key = ArtifactKey(part.position, position, self.revision.number)
            result.packed[key.name("counts")] = packing.pack_array(rows)
            if charge and entry.leaves_out:
                result.packed[key.name(CHARGED)] = packing.pack_array(self._evaluation(part).absent(entry.charging))
                result.packed[key.name(ANSWERED)] = packing.pack_array(np.zeros(len(rows), np.bool_))

    def _record(self, submission: Submission, results: Sequence[PartResult]) -> ScoreRecord:
        covered = [part.covered for part in results]
        document = {
            "covered": str(coverage_of(covered, self.parts)),
            "parts": {
                part.name: {"state": each.state, "failure": None if each.failure is None else each.failure.record()}
                for part, each in zip(self.parts, results, strict=True)
            },
            "warnings": [
                *(_warning(problem, key) for key, problem in self.scoring.spec.warnings()),
                *(warning for each in results for warning in each.warnings),
            ],
        }
        shares = {share: self._result(results, share, document) for share in self._shares}
        return ScoreRecord(submission.id, self.revision.number, covered, self.context.now(), shares)

    def _result(
        self, results: Sequence[PartResult], share: str | None, document: Mapping[str, params.Json]
    ) -> ShareResult:
        """Return the result over the sentences of a share, with what documents of all shares say."""
        lacking = [part.state != SCORED for part in results]
        blocks = self._blocks_of(share)
        by_metric: list[PartScores] = []
        metrics: dict[str, dict[str, object]] = {}
        for entry in self.scoring.spec.entries:
            rows = self._rows(entry, results, share)
            scores = part_scores(entry.metric.table, rows, lacking, blocks)
            by_metric.append(scores)
            parts = [part.shares[entry.key].documents.get(share) for part in results]
            metrics[entry.key] = self._metric_document(entry, scores, rows, parts)
            metrics[entry.key]["signature"] = self._signature(entry, results, share)
        together = PartScores(
            *(np.concatenate([getattr(each, of.name) for each in by_metric], axis=-1) for of in fields(PartScores))
        )
        main = together.macro[self.scoring.addresses.index(self.scoring.main_score)]
        score = {"score": self.scoring.main_score, "value": score_records.finite(main)}
        return ShareResult({**document, "revision": self.revision.number, "metrics": metrics, "main": score}, together)

    def _rows(self, entry: Entry, results: Sequence[PartResult], share: str | None) -> list[Counts]:
        """Return the counts of each part under a metric entry, of the sentences of a share."""
        whole = [part.shares[entry.key].rows for part in results]
        if share is None:
            return whole
        return [rows[share_rows(self._split, part, share)] for part, rows in zip(self.parts, whole, strict=True)]

    def _metric_document(
        self, entry: Entry, scores: PartScores, rows: Sequence[Counts], parts: Sequence[dict[str, params.Json] | None]
    ) -> dict[str, object]:
        """Return a metric's scores; the documents of its parts are None where the part was not scored."""
        table = entry.metric.table
        names = [score.name for score in table.scores]
        sentences = [part["sentences"] for part in parts if part is not None]
        totals = np.sum([part.sum(axis=0) for part in rows], axis=0)
        pooled, undefined = score_values(table, totals)
        return {
            "scores": pooled,
            "undefined": undefined,
            "counts": count_values(table.count_names, totals),
            "sentences": {status: sum(part[status] for part in sentences) for status in ("total", "error", "skip")},
            "ci95": nested_values(zip(names, _intervals(scores.pooled_interval), strict=True)),
            "macro": nested_values(zip(names, map(score_records.finite, scores.macro.tolist()), strict=True)),
            "macro_ci95": nested_values(zip(names, _intervals(scores.macro_interval), strict=True)),
            "parts": dict(zip([part.name for part in self.parts], parts, strict=True)),
        }

    def _signature(self, entry: Entry, results: Sequence[PartResult], share: str | None) -> dict[str, object]:
        choice = self.scoring.spec.format
        gold = {part.name: part.gold_key or "" for part in self.parts}
        output = {
            part.name: each.digest for part, each in zip(self.parts, results, strict=True) if each.state == SCORED
        }
        signature = signature_document(entry, choice, choice, _together(gold), _together(output))
        missing = "worst value in macro" + (", charged in pooled" if self.scoring.charges(entry) else "")
        signature |= {"parts": len(self.parts), "missing_parts": missing}
        return signature if share is None else {**signature, "split": share}


def _together(by_part: Mapping[str, str]) -> str:
    """Return the digest of one part; several with the names of the parts."""
    if len(by_part) == 1:
        return next(iter(by_part.values()))
    return " ".join(f"{part}={digest}" for part, digest in by_part.items())


def _closed(part: Part) -> Problem:
    return policy_documents.closed_problem(f"/outputs/{part.name}", part.name)


def _intervals(bounds: FloatArray) -> list[dict[str, float] | None]:
    return [
        {"low": low, "high": high} if math.isfinite(low) and math.isfinite(high) else None
        for low, high in bounds.T.tolist()
    ]


def _warning(problem: Problem, metric: str | None = None) -> dict[str, object]:
    """Return a stored warning: of the output itself, or of a metric. Show it only through service.policy.gate."""
    return {**({} if metric is None else {"metric": metric}), **errors.error_record(problem)}


class Coverage(NamedTuple):
    """The sentences that a submission covers, of all in gold."""

    scored: int
    total: int

    def __str__(self) -> str:
        """Return it as rows of a board show it: `59/60`."""
        return f"{self.scored}/{self.total}"


def coverage_of(
    covered: Sequence[int] | None, parts: Sequence[Part], chosen: Collection[str] | None = None
) -> Coverage | None:
    """Return the coverage of some parts, or of all.

    Args:
        covered: sentences with a scored output in each part; None without a score record.
        parts: of the revision, in the same order.
        chosen: names of parts; None for all.
    """
    if covered is None:
        return None
    at = [number for number, part in enumerate(parts) if chosen is None or part.name in chosen]
    return Coverage(sum(covered[number] for number in at), sum(parts[number].sentences or 0 for number in at))


@dataclass(frozen=True, slots=True)
class ArtifactKey:
    """Names of the artifacts of one output under one metric entry, both by position.

    Attributes:
        output: system of a job, or part of a submission.
        metric: entry of the scoring configuration.
        revision: under which the submission was scored; None for a job.
    """

    output: int
    metric: int
    revision: int | None = None

    def name(self, kind: str) -> str:
        """Return the name of one kind of artifact."""
        if self.revision is None:
            return f"{kind}/{self.metric}/{self.output}"
        return score_records.artifact_name(self.revision, kind, self.output, self.metric)


STATUS = "counts/status"
"""Kind of the artifact that says of each sentence whether it was scored, where some were not."""


def scores_of(entry: Entry) -> frozenset[str]:
    """Return the names of a metric's scores, to the first dot: as they stand in items."""
    return frozenset(score.name.partition(".")[0] for score in entry.metric.table.scores)


def pack_outcome(
    key: ArtifactKey, entry: Entry, outcome: Outcome, *, tokens: bool = False, reports: bool = False
) -> score_records.PackedArtifacts:
    """Return what is stored of an outcome: name -> packed body; token bits and reports where asked for."""
    packed = {key.name("counts"): packing.pack_array(outcome.rows)}
    if (outcome.status != OK).any():
        packed[key.name(STATUS)] = packing.pack_array(outcome.status)
    if reports:
        texts = {style: entry.metric.report(style, outcome) for style in entry.metric.own_styles}
        packed[key.name("reports")] = artifacts.pack_json(texts)
    for number, (score, bits) in enumerate(sorted(outcome.tokens.items()) if tokens else ()):
        packed[key.name(f"tokens/{score}")] = packing.pack_array(bits.bits)
        if not number:
            packed[key.name("tokens")] = packing.pack_array(bits.offsets)
    return packed


def items_of_counts(
    db: Connection, owner: str, key: ArtifactKey, table: ScoreTable, start: int, limit: int
) -> list[dict[str, object]]:
    """Return items from number `start` (from 0) with what the stored counts say: no words, and no problems."""
    counts, status = artifacts.get_all(db, owner, [key.name("counts"), key.name(STATUS)])
    if counts is None:
        return []
    rows = packing.unpack_array(counts)[start : start + limit]
    states = np.full(len(rows), OK) if status is None else packing.unpack_array(status)[start : start + limit]
    numbered = enumerate(states.tolist(), start + 1)
    return with_values(table, rows, [{"item": number, "status": STATUS_NAMES[state]} for number, state in numbered])


def slices_of(names: Sequence[str], by: str | None, rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return the rows of the grouping `by`; without `by`, the names of the groupings.

    Raises:
        NotFound: `by` is none of `names`.
    """
    if by is None:
        return {"groupings": names}
    if by not in names:
        known = f"Known groupings: {', '.join(names) or 'none'}.{wording.did_you_mean(by, names)}"
        raise errors.NotFound(f"Unknown grouping {by!r}. {known}")
    return {"by": by, "slices": rows}
