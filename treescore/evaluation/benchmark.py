"""Comparisons of a benchmark's submissions from their counts: the service's stored ones, or those of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple, TypedDict

import numpy as np

from treescore.core.arrays import BoolArray, Counts, IntArray
from treescore.core.params import Json
from treescore.core.registry import TokenBits
from treescore.core.scores import Score
from treescore.evaluation.report import charge_errors, find_score, left_out, margin_warnings
from treescore.evaluation.spec import Entry, FormatChoice, Spec, parse_spec
from treescore.significance import Candidate, PooledParts, Seeds, Settings, compare

MACRO, POOLED = "macro", "pooled"
"""The names that stand for all parts: the mean of their scores, and all of them as one text."""
COMMAND = "treescore repeat COMPARISON.json GOLD OUTPUTS"
"""The shell command that makes a comparison again from its own JSON and the texts."""
PRIVATE = "private"
"""The share of a split test set by which no row is picked."""
UNSELECTED = "Rows are taken as they are: p does not allow for picking among the submissions of a team."
OF_PRIVATE_SHARE = "The figures are over the private share, by which no row is picked: p needs no allowance for that."

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
    considered: list[str] | None
    """What its team picked it from, beside itself; null where p does not allow for picking."""
    unknown: int
    """How many more there were, whose counts are gone."""


class QuestionDocument(TypedDict):
    """What a comparison of submissions depends on, beside its score, part, settings and seeds."""

    format: Json
    transforms: list[Json]
    metric: dict[str, Json]
    charged: bool
    """Whether a part without a scored output costs its full weight."""
    picked: bool
    """Whether p allows for picking wherever a team had something to pick from."""
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


@dataclass(frozen=True, slots=True)
class Subject:
    """What submissions are compared on.

    Attributes:
        address: of the score.
        entry, score: the metric entry and the score of this address.
        settings: of the comparison.
        part: the name of a part or of a track, MACRO or POOLED; None where the benchmark has one part.
        parts: names and compared sentences of the parts that the statistic is computed from.
        gold_digest: names their gold texts.
        picked: whether p allows for picking.
        share: of a split test set; None where all sentences are compared.
    """

    address: str
    entry: Entry
    score: Score
    settings: Settings
    part: str | None
    parts: Sequence[tuple[str, int]]
    gold_digest: str
    picked: bool
    share: str | None

    @property
    def charging(self) -> Subject:
        """Return the subject with `errors` zero."""
        entry = self.entry.charging
        return replace(self, entry=entry, score=entry.metric.table.by_name[self.score.name])

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
        seeds: Seeds | None,
        untested: Sequence[Mapping[str, str]],
        question: QuestionDocument,
        earlier: Sequence[Mapping[str, Json]] = (),
        charged: Charged | None = None,
    ) -> dict[str, Json]:
        """Compare candidates and return the answer that the service stores.

        Args:
            candidates: the systems, in the order in which they are compared.
            documents: of each sentence; None where gold marks none.
            seeds: of each pair; None where the settings have one seed for all.
            untested: further submissions, with the reason why they are not compared.
            question: is part of the answer.
            earlier: answers about other submissions; what they have of the same pairs is not computed again.
            charged: the same candidates with errors charged, where the entry leaves them out.

        Raises:
            InputError: the data lack the unit of the question.
        """
        document = _compared(self, candidates, documents, seeds, earlier)
        if seeds is not None:
            document |= {"seed_commitment": seeds.commitment, "seed_root": seeds.root.hex()}
        document["untested"] += untested
        document["warnings"] += margin_warnings(self.address, self.score, self.settings.margin)
        left = {} if charged is None else left_out(charged.answered)
        if charged is not None and left:
            with_errors = _compared(self.charging, charged.candidates, documents, seeds)
            charge_errors(document, with_errors, left, percent=self.score.is_share)
        if not self.picked:
            picking = OF_PRIVATE_SHARE if self.share == PRIVATE else UNSELECTED
            document["assumed"] = f"{document['assumed']} {picking}"
        if self.is_mean:
            document["part_names"] = [name for name, _ in self.parts]
        document["question"] = question
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
    subject: Subject,
    candidates: Sequence[Candidate],
    documents: Sequence[str | None] | None,
    seeds: Seeds | None,
    earlier: Sequence[Mapping[str, Json]] = (),
) -> dict[str, Json]:
    return compare(
        subject.address, subject.score, subject.columns.names, candidates, subject.settings, blocks=documents,
        parts=subject.strata(candidates), gold_digest=subject.gold_digest,
        seed_of=None if seeds is None else seeds.of, earlier=earlier,
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
        The candidate, and the row with those of its submissions only whose counts are known.
    """
    missing = missing_parts([row], lacking).get(row["name"], frozenset())
    own = read(row["name"], missing)
    if own is None:
        return None
    runs = _known(row["runs"], read, lacking)
    others = _known(row["considered"] or (), read, {})
    unknown = row["unknown"] + len(row["considered"] or ()) - len(others)
    considered = None if row["considered"] is None else list(others)
    known = RowDocument(name=row["name"], runs=list(runs), considered=considered, unknown=unknown)
    of_team = () if considered is None else (own, *others.values())
    return Candidate(row["name"], (own, *runs.values()), tokens, missing, of_team, unknown), known


def _known(names: Sequence[str], read: ReadCounts, lacking: Mapping[str, frozenset[int]]) -> dict[str, Counts]:
    found = ((name, read(name, lacking.get(name, frozenset()))) for name in names)
    return {name: counts for name, counts in found if counts is not None}


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
    found = {each: frozenset.intersection(*_lacked(lacking, runs.get(each) or (each,))) for each in ids}
    return {each: missing for each, missing in found.items() if missing}


def _lacked(lacking: Mapping[str, frozenset[int]], runs: Iterable[str]) -> list[frozenset[int]]:
    return [lacking.get(run, frozenset()) for run in runs]


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
    picked: bool,
) -> QuestionDocument:
    """Return the question of an answer. What is missing is kept for the rows' own submissions only."""
    used = submissions_of(rows)
    return {
        "format": choice.document(),
        "transforms": [step.document() for step in entry.steps],
        "metric": {"name": entry.name, "key": entry.key, "params": dict(entry.params)},
        "charged": charged,
        "picked": picked,
        "parts": list(parts),
        "systems": list(rows),
        "missing": {name: of_it for name, of_it in missing.items() if name in used},
    }


def submissions_of(rows: Sequence[RowDocument]) -> list[str]:
    """Return all submissions whose counts rows depend on, each once."""
    named = (name for row in rows for name in (row["name"], *row["runs"], *(row["considered"] or ())))
    return list(dict.fromkeys(named))


def still_answered(earlier: Mapping[str, Json], rows: Sequence[RowDocument]) -> dict[str, Json]:
    """Return what an earlier answer has of rows that have the same runs.

    A pair keeps its interval, and its p where the row ahead was picked from the same since: p does not depend on what
    the other one was picked from.
    """
    before = {row["name"]: row for row in earlier["question"]["systems"]}
    now = {row["name"]: row for row in rows if before.get(row["name"], {}).get("runs") == row["runs"]}
    systems = [system for system in earlier["systems"] if system["name"] in now]
    pairs = [pair for pair in earlier["pairs"] if {pair["a"], pair["b"]} <= now.keys()]

    def with_same_p(pair: Mapping[str, Json]) -> Mapping[str, Json]:
        ahead = _ahead(pair, higher_is_better=earlier["higher_is_better"])
        same = all(before[ahead][member] == now[ahead][member] for member in ("considered", "unknown"))
        return pair if same else {**pair, "p_kind": None}

    return {**earlier, "systems": systems, "pairs": [with_same_p(pair) for pair in pairs]}


def _ahead(pair: Mapping[str, Json], *, higher_is_better: bool) -> str:
    """Return the better one of a tested pair by what was tested, the first where both are equal."""
    difference = pair["difference"] if pair.get("difference_tested") is None else pair["difference_tested"]
    behind = difference is not None and (difference < 0 if higher_is_better else difference > 0)
    return str(pair["b"] if behind else pair["a"])


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
    return spec, Subject(
        address=document["score"],
        entry=entry,
        score=score,
        settings=Settings(**document["settings"]),
        part=document["part"],
        parts=[(part["name"], part["sentences"]) for part in question["parts"]],
        gold_digest=document["gold_digest"],
        picked=question["picked"],
        share=document["split"],
    )
