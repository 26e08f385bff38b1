"""Scores and comparisons of a benchmark's submissions from their counts: the service's stored ones, or those of files.

Scores of a benchmark with several parts are of each part, pooled, and the mean of the parts, with 95 % intervals that
are those of a comparison over the same units (`treescore.significance.intervals`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, NamedTuple, TypedDict

import numpy as np

from treescore.core.arrays import BoolArray, Counts, FloatArray, IntArray, sums_of_rows
from treescore.core.params import Json
from treescore.core.registry import TokenBits
from treescore.core.scores import Score, ScoreTable
from treescore.evaluation.report import charge_errors, find_score, left_out, margin_warnings
from treescore.evaluation.spec import Entry, FormatChoice, Spec, parse_spec
from treescore.significance import Candidate, PooledParts, Settings, compare
from treescore.significance.contributions import Contributions, KnownShares
from treescore.significance.intervals import system_intervals
from treescore.significance.notes import notes
from treescore.significance.units import sample_of

MACRO, POOLED = "macro", "pooled"
"""The names that stand for all parts: the mean of their scores, and all of them as one text."""
COMMAND = "treescore repeat COMPARISON.json GOLD OUTPUTS"
"""The shell command that makes a comparison again from its own JSON and the texts."""

ReadCounts = Callable[[str, frozenset[int]], Counts | None]
"""The counts of a submission over all parts, zeros for the given ones if these are gone; None where any other is."""


class PartDocument(TypedDict):
    """A part whose scores are compared."""

    name: str
    sentences: int
    """That are compared."""
    chosen: list[int] | None
    """Their positions from 1 in a split test set; null where all of the part are compared."""
    gold: list[str]
    """Digests of its texts, in the order of the format's fields."""
    items: str | None
    """Digest of the attributes of its sentences, if there are any."""


class RowDocument(TypedDict):
    """A submission that is compared, and those whose counts its figures depend on."""

    name: str
    runs: list[str]
    """The other training runs of its system."""
    submissions: int
    """How many scored ones of its team it was picked from; 1 where p does not allow for picking."""


class QuestionDocument(TypedDict):
    """What a comparison of submissions depends on, beside its score, part and settings."""

    format: Json
    transforms: list[Json]
    metric: dict[str, Json]
    charged: bool
    """Whether a part without a scored output costs its full weight."""
    parts: list[PartDocument]
    systems: list[RowDocument]
    missing: dict[str, list[str] | None]
    """Parts without a scored output, by submission; null where no part was scored, which costs nothing."""


class Charged(NamedTuple):
    """What is compared where sentences without a usable output are left out of the scores.

    Attributes:
        candidates: with the counts of `Subject.charging`.
        answered: of each run of each candidate the sentences that its score covers, bool (n,).
    """

    candidates: list[Candidate]
    answered: dict[str, list[BoolArray]]


class Columns(NamedTuple):
    """The counts that are compared, and their positions among the metric's."""

    names: list[str]
    positions: list[int]


class Subject(NamedTuple):
    """What submissions are compared on.

    Attributes:
        address: of the score.
        entry, score: the metric entry and the score of this address.
        settings: of the comparison.
        part: the name of a part or of a track, MACRO or POOLED; None where the benchmark has one part.
        parts: names and compared sentences of the parts that the statistic is computed from.
        gold_digest: names their gold texts.
        selection: how p allows for the picking among a team's submissions: `adjusted`; `none`; or `private`, over the
            private share of a split test set, by which no row is picked.
    """

    address: str
    entry: Entry
    score: Score
    settings: Settings
    part: str | None
    parts: Sequence[tuple[str, int]]
    gold_digest: str
    selection: str

    @property
    def charging(self) -> Subject:
        """Return the subject with `errors` zero."""
        entry = self.entry.charging
        return self._replace(entry=entry, score=entry.metric.table.by_name[self.score.name])

    @property
    def columns(self) -> Columns:
        """Return the counts of the score; the test of compare.pl also needs the others."""
        names = self.entry.metric.table.count_names
        used = {name for ratio in self.score.ratios for name in (*ratio.numerator, *ratio.denominator)}
        if self.settings.test == "compare_pl":
            used = set(names)
        positions = [position for position, name in enumerate(names) if name in used]
        return Columns([names[position] for position in positions], positions)

    @property
    def sentences(self) -> int:
        """Return the number of sentences of all parts."""
        return sum(size for _, size in self.parts)

    @property
    def is_mean(self) -> bool:
        """Return whether the score is the mean of several parts: of all of them, or of those of a track."""
        return self.part == MACRO or (self.part != POOLED and len(self.parts) > 1)

    def answer(
        self,
        candidates: Sequence[Candidate],
        documents: Sequence[str | None] | None,
        untested: Sequence[Mapping[str, str]],
        question: QuestionDocument,
        charged: Charged | None = None,
    ) -> dict[str, Json]:
        """Compare candidates and return the answer that the service stores.

        Args:
            candidates: the systems, in the order in which they are compared.
            documents: of each sentence; None where gold marks none.
            untested: further submissions, with the reason why they are not compared.
            question: is part of the answer.
            charged: the same candidates with errors charged, where the entry leaves them out.

        Raises:
            InputError: the data lack the unit of the question.
        """
        document = _compared(self, candidates, documents)
        document["untested"] += untested
        document["warnings"] += margin_warnings(self.address, self.score, self.settings.margin)
        left = {} if charged is None else left_out(charged.answered)
        if charged is not None and left:
            with_errors = _compared(self.charging, charged.candidates, documents)
            charge_errors(document, with_errors, left, percent=self.score.is_share)
        if self.is_mean:
            document["part_names"] = [name for name, _ in self.parts]
        document |= {"selection": self.selection, "question": question}
        document["notes"] = notes(document)
        return document

    def strata(self, candidates: Sequence[Candidate]) -> IntArray | PooledParts | None:
        """Return the position of each sentence's part, where the statistic is over several parts."""
        if candidates and self.sentences != len(candidates[0].runs[0]):
            raise RuntimeError("the counts and the parts differ in their number of sentences")
        if self.part != POOLED and not self.is_mean:
            return None
        strata = np.repeat(np.arange(len(self.parts), dtype=np.int64), [size for _, size in self.parts])
        return PooledParts(strata) if self.part == POOLED else strata


def _compared(
    subject: Subject, candidates: Sequence[Candidate], documents: Sequence[str | None] | None
) -> dict[str, Json]:
    return compare(
        subject.address, subject.score, subject.columns.names, candidates, subject.settings, blocks=documents,
        parts=subject.strata(candidates), gold_digest=subject.gold_digest,
    )  # fmt: skip


def candidate_of(
    row: RowDocument, read: ReadCounts, lacking: Mapping[str, frozenset[int]], tokens: TokenBits | None
) -> tuple[Candidate, RowDocument] | None:
    """Make the candidate of a row from counts; None where its own are gone.

    Args:
        row: as it is asked.
        read: returns counts.
        lacking: submission -> positions of the parts that it lacks; without those that lack none.
        tokens: right or wrong of each token, where these are the units.

    Returns:
        The candidate, and the row with those of its runs only whose counts are known.
    """
    missing = missing_parts([row], lacking).get(row["name"], frozenset())
    own = read(row["name"], missing)
    if own is None:
        return None
    known = ((run, read(run, lacking.get(run, frozenset()))) for run in row["runs"])
    runs = {run: counts for run, counts in known if counts is not None}
    candidate = Candidate(row["name"], (own, *runs.values()), tokens, missing, submissions=row["submissions"])
    return candidate, {**row, "runs": list(runs)}


def missing_parts(rows: Iterable[RowDocument], lacking: Mapping[str, frozenset[int]]) -> dict[str, frozenset[int]]:
    """Return the parts that rows lack, of a system those that all of its runs lack."""
    runs = {row["name"]: (row["name"], *row["runs"]) for row in rows}
    return lacked_by_all_runs(lacking, runs, runs)


def lacked_by_all_runs(
    lacking: Mapping[str, frozenset[int]], ids: Iterable[str], runs: Mapping[str, Sequence[str]]
) -> dict[str, frozenset[int]]:
    """Return the parts that submissions lack, of a system those that all of its runs lack.

    Args:
        lacking: submission -> positions of the parts that it lacks; without those that lack none.
        ids: of the submissions, each of which may stand for a system.
        runs: the runs of each system of several.
    """
    nothing: frozenset[int] = frozenset()
    found = {
        each: frozenset.intersection(*(lacking.get(run, nothing) for run in runs.get(each) or (each,))) for each in ids
    }
    return {each: missing for each, missing in found.items() if missing}


def chosen_tokens(tokens: TokenBits, sentences: BoolArray) -> TokenBits:
    """Return the tokens of some sentences of a part, bool (n,)."""
    lengths = np.diff(tokens.offsets)
    starts = np.concatenate([tokens.offsets[:1], np.cumsum(lengths[sentences], dtype=np.int64)])
    return TokenBits(tokens.bits[np.repeat(sentences, lengths)], starts)


def joined_tokens(parts: Sequence[TokenBits | None]) -> TokenBits | None:
    """Join the tokens of all parts; None where a part has none."""
    known = [each for each in parts if each is not None]
    if not known or len(known) < len(parts):
        return None
    offsets = [np.zeros(1, np.int64)]
    for each in known:
        offsets.append(each.offsets[1:] + offsets[-1][-1])
    return TokenBits(np.concatenate([each.bits for each in known]), np.concatenate(offsets))


def joined_documents(parts: Iterable[tuple[Sequence[str | None] | None, BoolArray]]) -> list[str | None] | None:
    """Join the documents of each part's compared sentences, bool (n,); None where no part marks any."""
    names: list[str | None] = []
    for of_part, sentences in parts:
        names += compress(of_part or [None] * len(sentences), sentences)
    return names if any(names) else None


def question_document(
    choice: FormatChoice,
    entry: Entry,
    parts: Sequence[PartDocument],
    rows: Sequence[RowDocument],
    missing: Mapping[str, list[str] | None],
    *,
    charged: bool,
) -> QuestionDocument:
    """Return the question of an answer. What is missing is kept for the rows' own submissions only."""
    used = submissions_of(rows)
    return {
        "format": choice.document(),
        "transforms": [step.document() for step in entry.steps],
        "metric": {"name": entry.name, "key": entry.key, "params": dict(entry.params)},
        "charged": charged,
        "parts": list(parts),
        "systems": list(rows),
        "missing": {name: of_it for name, of_it in missing.items() if name in used},
    }


def submissions_of(rows: Sequence[RowDocument]) -> list[str]:
    """Return all submissions whose counts rows depend on, each once."""
    return list(dict.fromkeys(name for row in rows for name in (row["name"], *row["runs"])))


def subject_of(document: Mapping[str, Json]) -> tuple[Spec, Subject]:
    """Return what the answer to a comparison is about, read from its JSON.

    Raises:
        InputError: this version does not know the format, the metric or the score.
    """
    question: QuestionDocument = document["question"]
    spec = parse_spec(
        {"format": question["format"], "transforms": question["transforms"], "metrics": [question["metric"]]}
    )
    entry, score = find_score(spec, document["score"])
    parts = [(part["name"], part["sentences"]) for part in question["parts"]]
    kept = {name: document[name] for name in ("part", "gold_digest", "selection")}
    return spec, Subject(document["score"], entry, score, Settings(**document["settings"]), parts=parts, **kept)


LEVEL = 0.95


def part_intervals(
    table: ScoreTable, units: Sequence[Counts], lacking: Sequence[bool] = ()
) -> tuple[FloatArray, FloatArray]:
    """Compute the intervals of all scores, pooled and as the mean of parts: two (2, s), NaN where there is none.

    Args:
        table: the metric's counts and scores.
        units: counts of each part, (n, k), one row a unit.
        lacking: whether each part is missing: pooled, it is one unit.
    """
    gone = lacking or [False] * len(units)
    strata = np.repeat(np.arange(len(units)), [len(part) for part in units])
    missing = np.array([gone], np.bool_) if any(gone) else None
    apart = _joined(units)
    pooled = [part.sum(axis=0, keepdims=True) if absent else part for part, absent in zip(units, gone, strict=True)]
    together = apart if missing is None else _joined(pooled)
    ends = np.full((2, 2, len(table.scores)), np.nan)
    known: tuple[list[KnownShares], list[KnownShares]] = [], []
    for at, score in enumerate(table.scores):  # one by one: the terms of all would take more memory than their counts
        whole = sample_of(score, table.count_names, [together], None, None)
        mean = whole if missing is None else sample_of(score, table.count_names, [apart], None, strata, missing)
        mean = replace(mean, parts=strata, part_count=len(units))
        for place, sample in enumerate((whole, mean)[: len(units)]):
            [interval] = system_intervals(sample, [0], LEVEL, Contributions(sample, known[place]))
            if interval is not None:
                ends[place, :, at] = interval.low, interval.high
    return ends[0], ends[1] if len(units) > 1 else ends[0]


def _joined(units: Sequence[Counts]) -> Counts:
    """Join counts (n, k); whole numbers by columns, of which a score takes few: sums of others depend on the order."""
    shape = (sum(map(len, units)), units[0].shape[1])
    made: Any = np.empty(shape, np.result_type(*units), "F" if units[0].dtype.kind == "i" else "C")
    np.concatenate(units, out=made)
    joined: Counts = made
    return joined


@dataclass(frozen=True, slots=True)
class PartScores:
    """Figures of one metric, columns in the order of its table's scores; NaN where undefined.

    Attributes:
        parts: of each part, float64 (parts, s); NaN for a part without an output.
        pooled: of all counts together, (s,).
        macro: the mean of the parts, an undefined part counting as the worst value, (s,).
        pooled_interval, macro_interval: low and high, (2, s).
    """

    parts: FloatArray
    pooled: FloatArray
    macro: FloatArray
    pooled_interval: FloatArray
    macro_interval: FloatArray


def part_scores(
    table: ScoreTable, rows: Sequence[Counts], lacking: Sequence[bool] = (), blocks: Sequence[IntArray | None] = ()
) -> PartScores:
    """Compute the figures of one metric over parts, with intervals.

    Args:
        table: the metric's counts and scores.
        rows: counts of each part, (n, k), one row a sentence, of any type of whole numbers, or float64; where the part
            is missing or failed, what this costs (`Metric.absent`), or zeros.
        lacking: whether each part is missing or failed; none is unless given.
        blocks: number of each sentence's document, int64 (n,), for parts whose documents are the units; None for those
            whose sentences are, as all are unless given.
    """
    totals = np.stack([part.sum(axis=0) for part in rows])
    by_part = table.of(totals)
    units = [
        part if of_part is None else sums_of_rows(of_part, int(of_part.max(initial=-1)) + 1, part)
        for part, of_part in zip(rows, blocks or [None] * len(rows), strict=True)
    ]
    pooled_interval, macro_interval = part_intervals(table, units, lacking)
    shown = by_part.copy()
    shown[np.flatnonzero(lacking)] = np.nan
    return PartScores(shown, table.of(totals.sum(axis=0)), macro_mean(table, by_part), pooled_interval, macro_interval)


def macro_mean(table: ScoreTable, values: FloatArray) -> FloatArray:
    """Average over parts: (..., parts, s) -> (..., s).

    An undefined part counts as the worst value of the score's range. Undefined where all parts are, and where a part
    is and the range has no worst value.
    """
    worst = [math.nan if score.worst is None else score.worst for score in table.scores]
    return mean_of_parts(values, np.array(worst, np.float64))


def mean_of_parts(values: FloatArray, worst: FloatArray) -> FloatArray:
    """Average over parts as `macro_mean`: (..., parts, s) -> (..., s); worst values (s,), NaN where there is none."""
    filled = np.where(np.isnan(values), worst, values)
    return np.where(np.isnan(values).all(axis=-2), np.nan, filled.mean(axis=-2))
