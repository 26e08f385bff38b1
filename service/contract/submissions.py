"""Submissions: outputs of teams, and what the feedback level shows of their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NotRequired, TypeAlias

from typing_extensions import TypedDict

from service.contract import common, derive, fields, jobs
from service.requests import MISSING, STATES, WITHDRAWN, Missing, Query, Request


class Switch(fields.Checked):
    """A boolean of a query string."""

    shape: ClassVar[fields.Shape] = {"type": "string", "enum": ["true", "false"], "default": "false"}

    def check(self, value: object) -> object:
        """One of the two words."""
        return fields.OneOf(("true", "false"))(value) == "true"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionLinks(Request):
    """Where the system is described, or can be got: https addresses, in ASCII.

    The board shows them where it shows the name of the submission. Null for nowhere.

    Attributes:
        paper: The paper.
        code: The program.
        model: The trained model.
    """

    paper: common.Address | Missing | None = MISSING
    code: common.Address | Missing | None = MISSING
    model: common.Address | Missing | None = MISSING

    def over(self, before: Mapping[str, str]) -> dict[str, str]:
        """Return the links that are given, over those from before."""
        merged = {**before, **self.given()}
        return {name: address for name, address in merged.items() if address is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionRequest(Request):
    """Outputs for a benchmark.

    Attributes:
        name: Shown on boards; the default says when it was sent.
        run_of: Name of a submission of the same team of whose system this is another training run. Boards show a
            system as one row, with the mean of its runs. It cannot be changed later.
        team: The team, if an organiser submits for it.
        outputs: Outputs by part; at least one.
    """

    name: common.Name | derive.Null = None
    notes: common.Notes | derive.Null = None
    links: SubmissionLinks | derive.Null = None
    run_of: common.Name | derive.Null = None
    team: common.Slug | derive.Null = None
    role: common.Role | None = None
    outputs: Mapping[str, common.Text]


class SubmissionChecks(fields.Changes[Any]):
    """Outputs and scores never change."""

    of = " of a submission"


@derive.checked_by(SubmissionChecks)
@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionChanges(Request):
    """The members of a submission that its team may change.

    Attributes:
        links: They are merged; null removes one of them, or all.
        chosen: Whether it is on a leaderboard of chosen submissions.
        withdrawn: Whether it is removed from the leaderboard.
        reason: Why, with `withdrawn: true` (organisers); its team sees it.
    """

    name: common.Name | Missing = MISSING
    notes: common.Notes | Missing | None = MISSING
    links: SubmissionLinks | Missing | None = MISSING
    chosen: bool | Missing = MISSING
    withdrawn: bool | Missing = MISSING
    reason: common.Notes | Missing = MISSING


@dataclass(frozen=True, kw_only=True)
class SubmissionsQuery(common.PageQuery):
    """Which submissions.

    Attributes:
        team: Only submissions of this team (organisers).
        state: Only submissions in this state, if you may see it; `withdrawn`: those that were taken off the board.
        include: `main` adds the main score to each submission.
    """

    team: common.Slug | None = None
    state: Annotated[str, fields.OneOf((*STATES, WITHDRAWN))] | None = None
    include: Annotated[str, fields.OneOf(("main",))] | None = None


@dataclass(frozen=True)
class SubmitQuery(Query):
    """Whether outputs are only validated.

    Attributes:
        validate_only: Whether only to check that the outputs can be scored.
    """

    validate_only: Annotated[bool, Switch] = False


@dataclass(frozen=True, kw_only=True)
class OutputQuery(Query):
    """Which part's output.

    Attributes:
        part: Name of a part; optional if the benchmark has one part.
    """

    part: str | None = None


@dataclass(frozen=True, kw_only=True)
class SubmissionItemsQuery(common.PageQuery, OutputQuery, common.Choosing):
    """Which items of a submission, and in which format.

    Attributes:
        metric: Key of a metric of the benchmark; the default is the metric that ranks.
        format: Media type of the answer; the default follows `Accept`.
    """

    metric: str | None = None
    format: common.ItemForm | None = None


@dataclass(frozen=True, kw_only=True)
class SubmissionTreesQuery(common.PageQuery, OutputQuery, common.Choosing):
    """Which trees of a submission.

    Attributes:
        item: Number of one sentence, from 1; the other parameters then choose nothing.
    """

    item: common.Number | None = None


@dataclass(frozen=True, kw_only=True)
class SubmissionSlicesQuery(OutputQuery):
    """Which slices of a submission.

    Attributes:
        metric: Key of a metric of the benchmark; the default is the metric that ranks.
        by: Name of a grouping. Write `#` as `%23`.
    """

    metric: str | None = None
    by: str | None = None


SubmissionState: TypeAlias = Annotated[
    str,
    fields.OneOf(("queued", "running", "succeeded", "failed", "cancelled", "received")),
    derive.Named("SubmissionState", "`received` replaces the other states if the benchmark does not show them."),
]


class Links(TypedDict):
    """Where the system is described, or can be got; null for nowhere."""

    paper: str | None
    code: str | None
    model: str | None


@derive.inline
class SubmissionHead(TypedDict):
    """A submission without its results.

    Attributes:
        run_of: Name of the submission of which it is another training run (its id if that was deleted); null for
            the first.
        withdrawn_reason: Why an organiser withdrew it; null where none said why.
    """

    id: str
    benchmark: str
    team: str | None
    name: str
    run_of: str | None
    notes: str | None
    links: Links
    role: common.Role
    state: SubmissionState
    attempt: int
    created_at: common.Moment
    started_at: common.Moment | None
    finished_at: common.Moment | None
    chosen: bool
    withdrawn_at: common.Moment | None
    withdrawn_reason: str | None
    output_deleted_at: common.Moment | None


@derive.inline
class MainScore(TypedDict):
    """The score that ranks."""

    score: str
    value: float | None


class SubmissionSummary(SubmissionHead):
    """A submission in a list.

    Attributes:
        main: The main score as the submission itself shows it; null where it shows none. Only with `include=main`.
        scored_parts: How many parts have a scored output, of all, such as `3/4`; null where `main` is.
    """

    main: NotRequired[MainScore | None]
    scored_parts: NotRequired[str | None]


class QuotaUse(TypedDict):
    """What is used of a limit.

    Attributes:
        limit: Null means no limit.
    """

    limit: int | None
    used: int
    left: int | None


@derive.inline
class ShownFigures(TypedDict):
    """What the feedback level shows of the figures of a part, or of all parts."""

    scores: common.Scores
    undefined: NotRequired[common.Reasons]
    counts: NotRequired[common.Counts]
    sentences: NotRequired[common.SentenceCounts]


class PartResult(ShownFigures):
    """Results of a part.

    Attributes:
        extra: More tables of the metric, if you may read gold; the pages in `docs/metrics/` describe them.
    """

    extra: NotRequired[Mapping[str, object]]


@derive.inline
class QueuePlace(TypedDict):
    """Position in the queue; null unless the submission waits.

    Teams, tokens and addresses take turns, so work of others that comes later may still go before yours.
    """

    ahead: common.Natural
    eta_seconds: Annotated[float, derive.Says(minimum=0)]


@derive.inline
class QuotaState(TypedDict):
    """Quota of the team, including this submission; null for submissions without a team."""

    scored_per_day: QuotaUse
    scored_total: QuotaUse
    attempts_per_day: QuotaUse
    comparisons_per_day: QuotaUse
    utc_day: common.Day
    refilled_at: common.Moment


@derive.inline
class SubmittedOutput(TypedDict):
    """The output of a part.

    Attributes:
        sentences: Present, as `words`, once a worker has read the output.
    """

    digest: str
    bytes: int
    sentences: NotRequired[int]
    words: NotRequired[int]


@derive.inline
class SubmissionMetric(ShownFigures):
    """Results under one metric.

    Attributes:
        parts: Results of each part; null if it was not scored, or has too few sentences to be shown.
    """

    ci95: NotRequired[common.Intervals]
    macro: common.Scores
    macro_ci95: NotRequired[common.Intervals]
    parts: Mapping[str, PartResult | None]
    signature: NotRequired[jobs.Signature]


@derive.inline
class PartState(TypedDict):
    """The state of a part."""

    state: str
    failure: common.Failure | None


@derive.inline
class SubmissionScores(TypedDict):
    """Scores that the feedback level shows.

    Attributes:
        covered: Sentences with a scored output under every metric, of all in gold, such as `59/60`.
        split: The share of a split test set that the scores are about; null where it is not split.
        metrics: Results by key of the metric. `scores` are pooled over the parts; `macro` is the mean of the parts.
        parts: State of each part, and why a part was not scored.
    """

    revision: int
    covered: str
    split: common.Share | None
    main: MainScore
    metrics: Mapping[str, SubmissionMetric]
    parts: Mapping[str, PartState]


class Submission(SubmissionHead):
    """A submission with what its feedback level shows.

    Attributes:
        outputs: Submitted outputs by part.
        released: Whether the benchmark's ladder released the scores. false: they do not beat the shown best of the
            team, and `scores` is null. null: the benchmark has no ladder, or there are no scores.
        failures: Failures of all attempts.
    """

    progress: common.Progress | None
    queue: QueuePlace | None
    quota: QuotaState | None
    outputs: Mapping[str, SubmittedOutput]
    scores: SubmissionScores | None
    released: bool | None
    warnings: Sequence[common.Warning]
    failure: common.Failure | None
    failures: Sequence[common.Failure]


SubmissionOrJob: TypeAlias = Annotated[Submission | jobs.Job, derive.OVERLAPPING, derive.Named("SubmissionOrJob")]


class SubmissionSlices(jobs.SlicesOrGroupings):
    """The slices of a submission, or the names of the groupings."""

    submission: str
    revision: int
    part: str
