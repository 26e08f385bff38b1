"""The documents of a leaderboard and of a matrix, as they are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict


class IntervalDocument(TypedDict):
    """A 95 % interval; a bound is null where the score's range has no end there."""

    low: float | None
    high: float | None


class DetectableDocument(TypedDict):
    """The true difference that a test would find with this power at the level alpha, at which the pair was judged."""

    difference: float
    power: float
    alpha: float | None


class SignificanceDocument(TypedDict):
    """How the differences between rows were tested, or why they were not."""

    pending: bool
    test: str | None
    alternative: str | None
    unit: str | None
    unit_count: int | None
    notes: Sequence[str]
    correction: str | None
    alpha: float | None
    pairs: int | None
    first_rows: int
    comparison: str | None
    selection: str | None
    reason: str | None


class RunsDocument(TypedDict):
    """The training runs of a row's system; `sd` is null where the score of one is undefined."""

    count: int
    sd: float | None


class RowDocument(TypedDict):
    """One row, best first."""

    rank: int | None
    rank_interval: Sequence[int] | None
    cluster: int | None
    role: str
    team: str | None
    team_name: str | None
    submission: str
    name: str | None
    links: Mapping[str, str | None] | None
    created_at: str | None
    score: float | None
    scores: Mapping[str, float | None]
    covered: str | None
    missing_parts: list[str] | None
    scored_parts: int | None
    ci95: IntervalDocument | None
    p_next: float | None
    detectable: DetectableDocument | None
    considered: int | None
    runs: RunsDocument | None
    tested: bool | None
    reason: str | None


class MatrixPartDocument(TypedDict):
    """A part; its size is null where the benchmark does not tell it."""

    name: str
    sentences: int | None
    words: int | None


class MatrixRowDocument(TypedDict):
    """One row of a matrix: `values` are the scores of the parts, null where undefined, missing or hidden."""

    rank: int | None
    role: str
    team: str | None
    team_name: str | None
    submission: str
    name: str | None
    score: float | None
    values: list[float | None]
    missing_parts: list[str] | None
    scored_parts: int | None


class SheetDocument(TypedDict):
    """What a leaderboard and a matrix have in common."""

    benchmark: str
    title: str
    revision: int
    active: bool
    score: str
    higher_is_better: bool
    one_sided: bool
    part: str | None
    pick: str
    split: str | None
    feedback: str
    rounding: float | None
    anonymous: bool
    frozen: bool
    as_of: str | None
    total_rows: int
    next: str | None


class MatrixDocument(SheetDocument):
    """The scores of a board's rows by part."""

    parts: list[MatrixPartDocument]
    hidden: list[str]
    rows: list[MatrixRowDocument]


class BoardDocument(SheetDocument):
    """A leaderboard."""

    parts: list[str]
    significance: SignificanceDocument
    scores: list[str]
    rows: Sequence[RowDocument]
