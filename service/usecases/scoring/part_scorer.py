"""Scoring one submission under one revision: part by part, then pooled and as the mean of the parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from service.context import Context
from service.errors import error_document, failure_record
from service.requests import MACRO
from service.store import artifacts, revisions, texts
from service.store.figures import Figures, Layout
from service.store.packing import pack_array
from service.store.revisions import Part, Revision
from service.store.score_records import ScoreRecord, artifact_name
from service.store.submissions import Submission
from service.usecases.scoring.config import ScoringConfig, scoring_config
from service.usecases.scoring.gold import evaluation_of, load_part
from service.usecases.scoring.part_texts import OUTPUTS, digest_of_part, names_of, text_of
from service.usecases.scoring.results import item_pages
from treescore.core.arrays import Counts, FloatArray
from treescore.core.registry import Outcome, Text
from treescore.core.values import count_values, nested_values, score_values
from treescore.errors import Problem, ScoringError
from treescore.evaluation.blind import word_count
from treescore.evaluation.document import outcome_document, signature_document
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.parts import PartScores, part_scores
from treescore.evaluation.spec import Entry

SCORED, FAILED, MISSING = "scored", "failed", "missing"
USES = 64
"""Outputs read against one reading of gold: each leaves its words in the vocabulary."""
KEPT_WORDS = 3_000_000
"""Words of gold that are held in memory for the next submission."""

Packed = dict[tuple[str, int], bytes]
Note = Callable[[int, int, str], None]


@dataclass(slots=True)
class Scored:
    """What scoring gave.

    Attributes:
        record: to be saved; None where no part could be scored.
        made: artifacts beside the record.
        sizes: part -> sentences and words of the output.
        failures: part -> why it could not be scored (failure records).
    """

    record: ScoreRecord | None
    made: Packed
    sizes: Mapping[str, Mapping[str, int]]
    failures: Mapping[str, Mapping[str, Any]]


@dataclass(slots=True)
class _Part:
    """One part's share, reduced to what is kept."""

    state: str
    rows: dict[str, Counts]
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    digest: str | None = None


class Scorer:
    """Scores submissions under one revision, one after the other; gold is read as seldom as memory allows."""

    def __init__(self, context: Context, revision: Revision) -> None:
        self.context = context
        self.revision = revision
        self.scoring: ScoringConfig = scoring_config(revision.scoring)
        with context.store.read() as db:
            self.parts = revisions.parts_of(db, revision.id)
        self._kept: dict[str, tuple[Evaluation, int]] = {}
        self._keep = sum(part.words or 0 for part in self.parts) <= KEPT_WORDS

    def score(self, submission: Submission, note: Note, *, whatever: bool = False) -> Scored:
        """Score all parts of a submission. Faults of an output are found, not raised.

        Args:
            submission: whose outputs are read from the store.
            note: told (done, total, step) before each part.
            whatever: make a record also where no part could be scored.
        """
        found: list[_Part] = []
        made: Packed = {}
        sizes: dict[str, dict[str, int]] = {}
        failures: dict[str, dict[str, Any]] = {}
        for done, part in enumerate(self.parts):
            note(done, len(self.parts), f"scoring {part.name}")
            text, digest = self._output(submission, part)
            if text is None:
                found.append(self._nothing(part, MISSING))
                continue
            try:
                found.append(self._scored(part, text, digest, made, sizes))
            except ScoringError as error:
                failures[part.name] = failure_record(error.kind, error.problems, error.total)
                found.append(self._nothing(part, FAILED))
        record = None
        if whatever or any(part.state == SCORED for part in found):
            record = self._record(submission, found, failures, made)
        return Scored(record, made, sizes, failures)

    def check(self, outputs: Mapping[str, Text], note: Note) -> dict[str, Any]:
        """Whether outputs would be scored: for each part its state, sizes, failure and warnings; no score."""
        found: dict[str, Any] = {}
        for done, part in enumerate(self.parts):
            note(done, len(self.parts), f"checking {part.name}")
            text = outputs.get(part.name)
            if text is None:
                found[part.name] = {"state": MISSING}
                continue
            sizes: dict[str, dict[str, int]] = {}
            try:
                checked = self._scored(part, text, "", {}, sizes)
            except ScoringError as error:
                found[part.name] = {
                    "state": FAILED,
                    "failure": failure_record(error.kind, error.problems, error.total),
                }
            else:
                found[part.name] = {"state": "valid", **sizes[part.name], "warnings": checked.warnings}
        return found

    def _output(self, submission: Submission, part: Part) -> tuple[Text | None, str]:
        choice = self.scoring.spec.format
        with self.context.store.read() as db:
            stored = texts.read(db, submission.id, names_of(OUTPUTS, part.name, choice))
        text = text_of(stored, OUTPUTS, part.name, choice)
        if text is None:
            return None, ""
        digests = {name: digest for name, (digest, _) in stored.items()}
        return text, digest_of_part(digests, OUTPUTS, part.name, choice)

    def _evaluation(self, part: Part) -> Evaluation:
        kept = self._kept.get(part.name)
        if kept is not None and kept[1] < USES:
            self._kept[part.name] = (kept[0], kept[1] + 1)
            return kept[0]
        spec = self.scoring.spec
        with self.context.store.read() as db:
            gold = load_part(db, self.revision, part.name, spec)
        made = evaluation_of(spec, gold, self.revision, part.name, self.context.config.limits)
        if self._keep:
            self._kept[part.name] = (made, 1)
        return made

    def _scored(self, part: Part, text: Text, digest: str, made: Packed, sizes: dict[str, dict[str, int]]) -> _Part:
        evaluation = self._evaluation(part)
        pointer = f"/outputs/{part.name}"
        system = evaluation.read(text, self.scoring.spec.format, pointer)
        sizes[part.name] = {"sentences": len(system), "words": word_count(system)}
        outcomes = evaluation.compare(system, self.scoring.spec.format, pointer)
        share = _Part(SCORED, {}, digest=digest)
        share.warnings = [_warning(problem.at(pointer, part.name)) for problem in system.sentences.warnings]
        for place, entry in enumerate(self.scoring.spec.entries):
            outcome = outcomes[entry.key]
            share.rows[entry.key] = outcome.rows
            share.documents[entry.key] = {"undefined": {}, **outcome_document(entry, outcome)}
            share.warnings += [
                {"metric": entry.key, **_warning(problem.at(pointer, part.name))} for problem in outcome.warnings
            ]
            self._keep_artifacts(part, place, outcome, evaluation, made)
        return share

    def _keep_artifacts(self, part: Part, place: int, outcome: Outcome, evaluation: Evaluation, made: Packed) -> None:
        def name(kind: str) -> str:
            return artifact_name(self.revision.number, kind, part.position, place)

        made[name("counts"), 0] = pack_array(outcome.rows)
        made[name("slices"), 0] = artifacts.pack_json(dict(outcome.slices()))
        for page, body in enumerate(item_pages(outcome, evaluation.gold)):
            made[name("items"), page] = body
        for number, (score, bits) in enumerate(sorted(outcome.tokens.items())):
            made[name(f"tokens/{score}"), 0] = pack_array(bits.bits.astype(np.int64))
            if not number:
                made[name("tokens"), 0] = pack_array(bits.offsets)

    def _nothing(self, part: Part, state: str) -> _Part:
        """A part without an output: not one count."""
        rows: dict[str, Counts] = {
            entry.key: np.zeros((part.sentences or 0, len(entry.metric.table.count_names)), np.int64)
            for entry in self.scoring.spec.entries
        }
        return _Part(state, rows)

    def _record(
        self, submission: Submission, found: list[_Part], failures: Mapping[str, Any], made: Packed
    ) -> ScoreRecord:
        entries = self.scoring.spec.entries
        by_metric = [part_scores(entry.metric.table, [part.rows[entry.key] for part in found]) for entry in entries]
        layout = Layout([part.name for part in self.parts], self.scoring.addresses)
        figures = Figures.of_scores(layout, by_metric)
        main = figures.value(MACRO, self.scoring.main_score)
        for position, part in enumerate(found):
            if part.state != SCORED:
                for place, entry in enumerate(entries):
                    counts = artifact_name(self.revision.number, "counts", position, place)
                    made[counts, 0] = pack_array(part.rows[entry.key])
        document = {
            "revision": self.revision.number,
            "columns": len(self.scoring.addresses),
            "main_score": self.scoring.main_score,
            "metrics": {
                entry.key: self._metric_document(entry, scores, found)
                for entry, scores in zip(entries, by_metric, strict=True)
            },
            "parts": {
                part.name: {"state": share.state, "failure": failures.get(part.name)}
                for part, share in zip(self.parts, found, strict=True)
            },
            "warnings": [
                *({"metric": key, **_warning(problem)} for key, problem in self.scoring.spec.warnings()),
                *(warning for share in found for warning in share.warnings),
            ],
        }
        now = self.context.now()
        return ScoreRecord(submission.id, self.revision.number, main, figures.to_bytes(), document, now)

    def _metric_document(self, entry: Entry, scores: PartScores, found: list[_Part]) -> dict[str, Any]:
        table = entry.metric.table
        names = [score.name for score in table.scores]
        totals = np.sum([part.rows[entry.key].sum(axis=0) for part in found], axis=0)
        pooled, undefined = score_values(table, totals)
        sentences = [part.documents[entry.key]["sentences"] for part in found if part.state == SCORED]
        shares = zip(self.parts, found, strict=True)
        document: dict[str, Any] = {
            "scores": pooled,
            "undefined": undefined,
            "counts": count_values(table.count_names, totals),
            "sentences": {kind: sum(each[kind] for each in sentences) for kind in ("total", "error", "skip")},
            "ci95": nested_values(zip(names, _intervals(scores.pooled_interval), strict=True)),
            "macro": nested_values(zip(names, _numbers(scores.macro), strict=True)),
            "macro_ci95": nested_values(zip(names, _intervals(scores.macro_interval), strict=True)),
            "parts": {part.name: share.documents.get(entry.key) for part, share in shares},
            "signature": self._signature(entry, found),
        }
        return document

    def _signature(self, entry: Entry, found: list[_Part]) -> dict[str, Any]:
        choice = self.scoring.spec.format
        gold = {part.name: part.gold_key or "" for part in self.parts}
        output = {
            part.name: share.digest or ""
            for part, share in zip(self.parts, found, strict=True)
            if share.state == SCORED
        }
        signature = signature_document(entry, choice, choice, _together(gold), _together(output))
        return {**signature, "parts": len(self.parts), "missing_parts": "worst value in macro"}


def _together(by_part: Mapping[str, str]) -> str:
    """One part's digest; several with the parts' names."""
    if len(by_part) == 1:
        return next(iter(by_part.values()))
    return " ".join(f"{part}={digest}" for part, digest in by_part.items())


def _numbers(values: FloatArray) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _intervals(bounds: FloatArray) -> list[dict[str, float] | None]:
    return [
        {"low": low, "high": high} if math.isfinite(low) and math.isfinite(high) else None
        for low, high in bounds.T.tolist()
    ]


def _warning(problem: Problem) -> dict[str, Any]:
    return error_document(problem, gold_visible=False)
