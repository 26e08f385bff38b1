"""Define requests, which the schemas load and the use-cases take, and the constants of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum
from typing import Final

from treescore.core.params import Json
from treescore.errors import Problem

UNITS = ("auto", "sentence")
"""What the tests of a board are over: documents where gold marks them, or always sentences."""
PICKS = ("best", "last", "chosen", "all")
MACRO, POOLED = "macro", "pooled"
"""Names that stand for all parts: the mean of their scores, and all of them as one text."""
PUBLIC, PRIVATE = "public", "private"
SHARES = (PUBLIC, PRIVATE)
"""The shares of a split test set: boards show the public one before closing, and the private one afterwards."""
ERRORS = ("zero", "exclude")
"""What becomes of sentences without a usable output: they cost their full weight, or are left out."""
INPUTS = (False, True, "words", "text")
WRONG_KINDS = ("any", "head", "label", "span")
"""Errors by which sentences are chosen."""
ORDERS = ("-errors",)
LEADERBOARD = "leaderboard"
"""What a comparison request names instead of submissions."""
SCOPES = ("organise", "submit", "score", "read", "metrics")
EVENT_KINDS = (
    *("benchmark.created", "benchmark.changed", "benchmark.deleted"),
    *("revision.created", "revision.active", "revision.ready", "revision.failed"),
    *("team.created", "team.token_rotated", "team.erased"),
    *("invite.created", "invite.deleted"),
    *("submission.created", "submission.scored", "submission.failed", "submission.changed"),
    *("submission.cancelled", "submission.retried", "submission.deleted"),
    *("comparison.created", "comparison.done", "comparison.failed"),
    *("token.created", "token.revoked"),
    *("webhook.created", "webhook.deleted", "webhook.disabled", "webhook.rotated", "webhook.test"),
)
WEBHOOK_TEST = "webhook.test"
MAX_NOTES = 10_000
MAX_PARTS = 1000
MAX_TRACKS = 100
MAX_ABOUT = 20_000
"""Bytes of all that a benchmark says of itself, and characters of each text of it."""
MAX_LINKS = 20
LINKS = ("paper", "code", "model")
"""What a submission may link to."""
MAX_ADDRESS = 500
MAX_TEAMS = 1_000
"""Teams that are made at once, or by one invite."""
MAX_QUOTA = 1_000_000
MAX_COMPARED = 100
DEFAULT_LIMIT = 100

Text = str | bytes | Mapping[str, str]
"""A text (bytes are valid UTF-8), or the texts of a format of several by field."""


class Missing(Enum):
    """The type of MISSING."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
"""The value of a member that a request does not give, where null has a meaning of its own."""


@dataclass(frozen=True, slots=True)
class Request:
    """A checked request. A member that is not given has its default."""

    def given(self) -> dict[str, Json]:
        """Return the members that differ from their defaults."""
        values = ((field, getattr(self, field.name)) for field in fields(self))
        return {field.name: value for field, value in values if value is not field.default and value != field.default}


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEntry(Request):
    """One system of a job; `format` is JSON that the library checks."""

    name: str
    output: Text
    format: Json = None
    run_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest(Request):
    """A scoring job; formats, transforms, metrics, significance and items are JSON that the library checks."""

    format: Json
    gold: Text
    systems: Sequence[SystemEntry]
    metrics: Sequence[Json]
    transforms: Sequence[Json] = ()
    significance: bool | Mapping[str, Json] = True
    agreement: Sequence[Sequence[str]] = ()
    items: Mapping[str, Json] | None = None

    def without_texts(self) -> dict[str, Json]:
        """Return the request as a job keeps it: JSON, without gold and outputs."""
        systems = [_without(system.given(), "output") for system in self.systems]
        return {**_without(self.given(), "gold"), "systems": systems}

    @classmethod
    def stored(cls, members: Mapping[str, Json]) -> JobRequest:
        """Read back what `without_texts` returned; the texts of the result are empty."""
        systems = [SystemEntry(**system, output="") for system in members["systems"]]
        return cls(**{**members, "gold": "", "systems": systems})

    @property
    def scoring(self) -> dict[str, Json]:
        """The members that the library reads as a specification."""
        return {"format": self.format, "transforms": self.transforms, "metrics": self.metrics}


@dataclass(frozen=True, slots=True, kw_only=True)
class PartGold(Request):
    """The gold of one part, and what is said of its sentences (JSON that the library checks)."""

    gold: Text
    items: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaChanges(Request):
    """Limits of a team; None for no limit."""

    scored_per_day: int | Missing | None = MISSING
    scored_total: int | Missing | None = MISSING
    attempts_per_day: int | Missing | None = MISSING
    comparisons_per_day: int | Missing | None = MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardChanges(Request):
    """How a leaderboard looks."""

    public: bool | Missing = MISSING
    anonymous: bool | Missing = MISSING
    pick: str | Missing = MISSING
    frozen_at: datetime | Missing | None = MISSING
    ladder: bool | Missing = MISSING
    scores: Sequence[str] | Missing | None = MISSING
    margin: float | Missing | None = MISSING
    unit: str | Missing = MISSING
    split: Mapping[str, float] | Missing | None = MISSING
    accept_one_sided: bool | Missing = MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutChanges(Request):
    """What a benchmark says of itself; None for nothing. Texts are Markdown, links have `label` and `url`."""

    description: str | Missing | None = MISSING
    rules: str | Missing | None = MISSING
    citation: str | Missing | None = MISSING
    licence: str | Missing | None = MISSING
    contact: str | Missing | None = MISSING
    links: Sequence[Mapping[str, str]] | Missing | None = MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkChanges(Request):
    """The members of a benchmark that cannot change a score."""

    title: str | Missing = MISSING
    series: str | Missing | None = MISSING
    opens_at: datetime | Missing | None = MISSING
    closes_at: datetime | Missing | None = MISSING
    quota: QuotaChanges | Missing = MISSING
    feedback: str | Missing = MISSING
    feedback_after_closing: str | Missing | None = MISSING
    rounding: float | Missing | None = MISSING
    publish_input: bool | str | Missing = MISSING
    tracks: Mapping[str, Sequence[str]] | Missing = MISSING
    leaderboard: LeaderboardChanges | Missing = MISSING
    about: AboutChanges | Missing = MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRequest(BenchmarkChanges):
    """A benchmark with its first revision; format, transforms and metrics are JSON that the library checks."""

    id: str
    title: str
    format: Json
    metrics: Sequence[Json]
    parts: Mapping[str, PartGold]
    transforms: Sequence[Json] = ()
    main_score: str | None = None
    errors: str = "zero"


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionRequest(Request):
    """A change of gold or metrics. What is not given stays; a part that is None is left out."""

    reason: str | None = None
    public_reason: str | None = None
    format: Json = None
    transforms: Sequence[Json] | None = None
    metrics: Sequence[Json] | None = None
    main_score: str | None = None
    errors: str | None = None
    parts: Mapping[str, PartGold | None] | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class TeamRequest(Request):
    """A new team; its contact is for organisers."""

    id: str
    name: str
    contact: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamsRequest(Request):
    """Several new teams; `places` are line and column of their ids in a table."""

    teams: Sequence[TeamRequest]
    places: Sequence[tuple[int, int]] | None = None

    def id_fault(self, number: int, code: str, detail: str) -> Problem:
        """Return a problem of the id of one of them."""
        if self.places is None:
            return Problem(code=code, pointer=f"/teams/{number}/id", detail=detail)
        line, column = self.places[number]
        return Problem(code=code, line=line, column=column, detail=detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteRequest(Request):
    """A new invite, with its limits."""

    expires_at: datetime
    teams_at_most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest(Request):
    """A team that its own members make; `invite` is the secret."""

    invite: str
    id: str
    name: str
    contact: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest(Request):
    """A new token; one without `expires_at` does not expire."""

    scopes: Sequence[str]
    expires_at: datetime | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkChanges(Request):
    """Where a system is described, or can be got; None for nowhere."""

    paper: str | Missing | None = MISSING
    code: str | Missing | None = MISSING
    model: str | Missing | None = MISSING

    def over(self, before: Mapping[str, str]) -> dict[str, str]:
        """Return the links that are given, over those from before."""
        merged = {**before, **self.given()}
        return {name: address for name, address in merged.items() if address is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionRequest(Request):
    """Outputs for a benchmark, by part."""

    outputs: Mapping[str, Text]
    name: str | None = None
    notes: str | None = None
    links: LinkChanges | None = None
    run_of: str | None = None
    team: str | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionChanges(Request):
    """The members of a submission that its team may change."""

    name: str | Missing = MISSING
    notes: str | Missing | None = MISSING
    links: LinkChanges | Missing | None = MISSING
    chosen: bool | Missing = MISSING
    withdrawn: bool | Missing = MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRequest(Request):
    """A question to the significance module.

    Attributes:
        submissions: their ids, or LEADERBOARD.
        score, part, revision, pick: of the board; None for the benchmark's own choice.
        settings: of the significance module, which checks them.
    """

    submissions: Sequence[str]
    score: str | None = None
    part: str | None = None
    revision: int | None = None
    pick: str | None = None
    settings: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class SuggestionRequest(Request):
    """A text, or its first lines, whose format is asked for."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRequest(Request):
    """Where events are sent; without kinds all of them, without a benchmark those of all."""

    url: str
    kinds: Sequence[str] = ()
    benchmark: str | None = None


@dataclass(frozen=True, slots=True)
class NoQuery(Request):
    """A query string without parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuery(Request):
    """Which page of a list."""

    cursor: str | None = None
    limit: int = DEFAULT_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsQuery(PageQuery):
    """Which jobs."""

    state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultQuery(Request):
    """Which system under which metric."""

    system: str
    metric: str


@dataclass(frozen=True, slots=True)
class TreeChoice:
    """What is asked of sentences.

    Attributes:
        wrong: kind of error, one of `WRONG_KINDS`.
        label: relation or label of a constituent.
        q: text in the words.
        order: `-errors`; None for the order of the text.
    """

    wrong: str | None = None
    label: str | None = None
    q: str | None = None
    order: str | None = None

    @property
    def everything(self) -> bool:
        """Whether all sentences are asked for, in the order of the text."""
        return self == TreeChoice()

    @property
    def by_errors(self) -> bool:
        """Whether sentences are chosen or ordered by their errors."""
        return self.wrong is not None or self.order is not None


class Choosing:
    """Queries that choose sentences."""

    __slots__ = ()
    wrong: str | None
    label: str | None
    q: str | None
    order: str | None

    @property
    def choice(self) -> TreeChoice:
        """What is asked of the sentences."""
        return TreeChoice(self.wrong, self.label, self.q, self.order)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsQuery(Choosing, ResultQuery):
    """Which items of a job, and in which format."""

    cursor: str | None = None
    limit: int = DEFAULT_LIMIT
    wrong: str | None = None
    label: str | None = None
    q: str | None = None
    order: str | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTreesQuery(Choosing, PageQuery):
    """Which trees of a job."""

    system: str
    item: int | None = None
    differs_from: str | None = None
    wrong: str | None = None
    label: str | None = None
    q: str | None = None
    order: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlicesQuery(ResultQuery):
    """Which slices of a job."""

    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportQuery(ResultQuery):
    """Which report of a job."""

    style: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonsQuery(Request):
    """Which comparisons of a job, and in which format."""

    score: str | None = None
    format: str = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarksQuery(PageQuery):
    """Which benchmarks."""

    series: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyticsQuery(Request):
    """Of how many days."""

    days: int = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionsQuery(PageQuery):
    """Which submissions."""

    team: str | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class SubmitQuery(Request):
    """Whether outputs are only validated."""

    validate_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputQuery(Request):
    """Which part's output."""

    part: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionItemsQuery(Choosing, PageQuery):
    """Which items of a submission, and in which format."""

    part: str | None = None
    metric: str | None = None
    wrong: str | None = None
    label: str | None = None
    q: str | None = None
    order: str | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionTreesQuery(Choosing, PageQuery):
    """Which trees of a submission."""

    part: str | None = None
    item: int | None = None
    wrong: str | None = None
    label: str | None = None
    q: str | None = None
    order: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionSlicesQuery(Request):
    """Which slices of a submission."""

    part: str | None = None
    metric: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardQuery(Request):
    """Which board, and in which format."""

    score: str | None = None
    pick: str | None = None
    revision: int | None = None
    part: str | None = None
    split: str | None = None
    cursor: str | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardQuery(BoardQuery):
    """Which leaderboard, and in which format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixQuery(BoardQuery):
    """The scores of which board by part, and in which format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresQuery(BoardQuery):
    """All scores of which board, and in which format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemsQuery(Request):
    """In which format to show the catalogue of problems."""

    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonQuery(Request):
    """In which format to show a comparison."""

    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingQuery(PageQuery):
    """Which two submissions of a comparison, and in which format their differences."""

    a: str | None = None
    b: str | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesQuery(Request):
    """Which two teams on the benchmarks of a series."""

    a: str
    b: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsQuery(Request):
    """Which events."""

    after: str | None = None
    limit: int = DEFAULT_LIMIT
    benchmark: str | None = None


def _without(members: Mapping[str, Json], left_out: str) -> dict[str, Json]:
    return {name: value for name, value in members.items() if name != left_out}
