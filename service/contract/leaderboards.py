"""Boards: the leaderboard, its scores by part as a matrix, and all scores as lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NotRequired, TypeAlias

from typing_extensions import TypedDict

from service.contract import common, comparisons, derive, fields, submissions
from service.requests import Query
from treescore.render.table import CSV, LATEX, MARKDOWN, TSV

SHEET_FORMATS: Mapping[str, str] = {
    "json": "application/json",
    CSV: "text/csv; charset=utf-8",
    TSV: "text/tab-separated-values; charset=utf-8",
    MARKDOWN: "text/markdown; charset=utf-8",
    LATEX: "application/x-latex; charset=utf-8",
    "svg": "image/svg+xml",
}
"""Format name of a leaderboard or a matrix -> media type."""
SheetForm: TypeAlias = Annotated[str, fields.OneOf(tuple(SHEET_FORMATS))]


@dataclass(frozen=True, kw_only=True)
class BoardQuery(Query):
    """Which board, and in which format.

    Attributes:
        score: Address of the score that ranks, such as `ud.las_f1`; the default is the main score.
        pick: Which submissions of a team are on the leaderboard. The setting of the benchmark; organisers may give
            another.
        revision: Number of a revision; the default is the active one.
        part: Name of a part or a track, `pooled` or `macro`.
        split: The share of a split test set; the default is `public` before the benchmark closes, and `private`
            afterwards. Only organisers get the private share before.
        cursor: The `next` value of the previous page. Opaque.
        format: Media type of the answer; the default follows `Accept`. `latex` uses booktabs, `svg` shades the
            cells.
    """

    score: str | None = None
    pick: common.Pick | None = None
    revision: common.Number | None = None
    part: str | None = None
    split: common.Share | None = None
    cursor: common.Cursor | None = None
    format: str | None = None


@dataclass(frozen=True, kw_only=True)
class LeaderboardQuery(BoardQuery):
    """Which leaderboard, and in which format.

    Attributes:
        format: Media type of the answer; the default follows `Accept`. `latex` uses booktabs, `svg` draws the table
            with dots and intervals.
    """

    format: SheetForm | None = None


@dataclass(frozen=True, kw_only=True)
class MatrixQuery(BoardQuery):
    """The scores of which board by part, and in which format."""

    format: SheetForm | None = None


@dataclass(frozen=True, kw_only=True)
class ScoresQuery(BoardQuery):
    """All scores of which board, and in which format.

    Attributes:
        format: Media type of the answer; the default follows `Accept`.
    """

    format: common.ItemForm | None = None


@dataclass(frozen=True, kw_only=True)
class BadgeQuery(Query):
    """Whose badge.

    Attributes:
        team: Id of the team.
    """

    team: common.Slug


@dataclass(frozen=True, kw_only=True)
class HistoryQuery(common.PageQuery):
    """Whose history.

    Attributes:
        team: Id of the team.
        score: Address of a score, such as `ud.las_f1`; by default the main score.
    """

    team: common.Slug
    score: str | None = None


MissingParts: TypeAlias = Annotated[
    Sequence[str],
    derive.Named(
        "MissingParts",
        "The parts, of those that the score is about, in which nothing was scored; of training runs what any of them "
        "lacks. Parts whose figures are hidden are left out. Null for rows without scores.",
    ),
]


ScoredParts: TypeAlias = Annotated[
    int,
    derive.Says(minimum=0),
    derive.Named(
        "ScoredParts",
        "How many of the parts that the score is about have a scored output; null for rows without scores.",
    ),
]


@derive.inline
class RowRuns(TypedDict):
    """Training runs of the system, whose mean the scores are; `submission` is the first of them on the leaderboard.

    Null for a single run, and below the feedback level `scores`.

    Attributes:
        sd: Standard deviation of the runs' scores.
    """

    count: Annotated[int, derive.Says(minimum=2)]
    sd: float | None


@derive.inline
class SheetRow(TypedDict):
    """What the rows of a leaderboard and of a matrix have in common.

    Attributes:
        rank: Ties share a rank; null for baselines and rows without a score.
    """

    rank: int | None
    role: common.Role
    team: str | None
    team_name: str | None
    submission: str
    name: str | None
    score: float | None
    runs: RowRuns | None
    missing_parts: MissingParts | None
    scored_parts: ScoredParts | None


class LeaderboardRow(SheetRow):
    """A row of a leaderboard.

    Attributes:
        rank_interval: Among all rows with a rank; the intervals hold together at 95 %. Null for rows that were not
            tested.
        links: Null where the name is not shown.
        scores: The listed scores by address, such as `ud.las_f1`.
        covered: Sentences with a scored output, of all in the part or the parts, such as `59/60`; null below the
            feedback level `rounded`.
        ci95: Over the units of the tests, as in the comparison.
        detectable: To the next row with a rank; null where either was not tested.
        considered: How many submissions the team has had scored, from which the row is picked: withdrawn and
            deleted ones count. 1 for baselines; null below the feedback level `scores`. While tests are
            pending, as many as the tests that are shown allow for.
        tested: Null below the feedback level `scores`.
        reason: Why the row is not tested.
    """

    rank_interval: Annotated[Sequence[int], derive.Says(minItems=2, maxItems=2)] | None
    cluster: int | None
    links: submissions.Links | None
    created_at: common.Moment
    scores: Mapping[str, float | None]
    covered: str | None
    ci95: common.Interval | None
    p_next: common.Chance | None
    detectable: comparisons.Detectable | None
    considered: common.Ordinal | None
    tested: bool | None
    reason: NotRequired[str | None]


@derive.inline
class BoardSignificance(TypedDict):
    """How the differences between rows were tested, or why they were not.

    Attributes:
        pending: Whether a worker still computes the tests of these rows.
        as_of: While they are pending, when the newest row was scored of which the last tests are, which are shown until
            then; rows that are newer are not `tested`. Null where there are none, and once all are tested.
        test: `permutation`, `t` or `mixed`; null where nothing is tested yet.
        unit: What counts as one: `block` (a document) where gold marks documents, else `sentence`. Null where
            nothing is tested yet.
        unit_count: How many units there are; null where that would show how a secret text is divided.
        notes: What the claims are about, in plain sentences; none where nothing is tested.
        pairs: Number of tested pairs.
        first_rows: Only so many rows from the top are tested.
        comparison: Id of the stored comparison.
        selection: Null where the feedback level shows no significance.
        reason: Why the tests are missing.
    """

    pending: bool
    as_of: common.Moment | None
    test: str | None
    alternative: NotRequired[str | None]
    unit: str | None
    unit_count: int | None
    notes: Sequence[str]
    correction: str | None
    alpha: float | None
    pairs: NotRequired[int | None]
    first_rows: NotRequired[int]
    comparison: str | None
    selection: comparisons.Selection | None
    reason: str | None


@derive.inline
class Sheet(TypedDict):
    """What a leaderboard and a matrix have in common.

    Attributes:
        one_sided: Whether an output without an analysis wins the score that ranks.
        split: The share that the figures are about; null where the test set is not split.
        as_of: When the board was frozen, else when its newest row was scored; or later, when the revision became
            active.
        total_rows: Number of rows on all pages.
    """

    benchmark: str
    title: str
    revision: int
    active: bool
    score: str
    higher_is_better: bool
    one_sided: bool
    part: str | None
    pick: common.Pick
    split: common.Share | None
    feedback: common.Feedback
    rounding: float | None
    anonymous: bool
    frozen: bool
    as_of: common.Moment | None
    total_rows: int
    next: derive.Next | None


class Leaderboard(Sheet):
    """The rows of a board, and which of their differences are significant.

    Attributes:
        part: A part, a track, `macro` or `pooled`; null where there is one part.
        parts: The parts that the score is about.
        scores: Addresses of the scores in the rows.
    """

    parts: Sequence[str]
    significance: BoardSignificance
    scores: Sequence[str]
    rows: Sequence[LeaderboardRow]


class MatrixRow(SheetRow):
    """A row of a matrix.

    Attributes:
        values: The score in each of `parts`, in their order.
    """

    values: Sequence[float | None]


@derive.inline
class MatrixPart(TypedDict):
    """A column.

    Attributes:
        sentences: Null where that would show how a secret text is divided.
    """

    name: str
    sentences: int | None
    words: int | None


class Matrix(Sheet):
    """The score that ranks, of every row in every part.

    Attributes:
        score: Address of the score that ranks, which all figures are.
        part: By which the rows are ranked: a part, a track, `macro` or `pooled`.
        hidden: Parts whose figures the feedback level does not show, because they have few sentences or others
            could be computed from them.
    """

    parts: Sequence[MatrixPart]
    hidden: Sequence[str]
    rows: Sequence[MatrixRow]


class HistoryEntry(TypedDict):
    """What a team reached with one submission.

    Attributes:
        at: When it was scored.
        submission: Its id; of a system of several training runs that of the first.
        score: As the feedback level shows it.
        rank: For organisers that of the row when it was scored, for others that of the row that stands now; null where
            it was, or is, no row.
    """

    at: common.Moment
    submission: str
    score: float | None
    rank: common.Ordinal | None


class ScoreLine(TypedDict):
    """One score of one row in one part.

    Attributes:
        part: A part, a track, `macro` or `pooled`.
        score: Its address, such as `ud.las_f1`.
        value: Null where undefined or missing.
    """

    submission: str
    team: str | None
    team_name: str | None
    part: str
    score: str
    value: float | None
