"""Benchmarks and their revisions: settings, gold, what changes, numbers for organisers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any, ClassVar, TypeAlias

from marshmallow import ValidationError
from typing_extensions import TypedDict

from service import requests
from service.contract import common, derive, fields, jobs
from service.contract.fields import Changes, Checked, Fault, Mapped, OneOf, Shape, component, length, wrong_type
from service.requests import MISSING, Missing, Request
from treescore.core.params import Json

MAX_LISTED = 1000
"""Scores that a benchmark may list."""


class PublishInput(Checked):
    """What of gold's text is given out."""

    shape: ClassVar[Shape] = {
        "oneOf": [
            {"type": "boolean"},
            {"type": "string", "enum": [known for known in requests.INPUTS if type(known) is str]},
        ]
    }

    def check(self, value: object) -> object:
        """A switch, or which of the two."""
        if not any(value is known or (isinstance(value, str) and value == known) for known in requests.INPUTS):
            raise ValidationError([Fault("bad-value", 'This must be true, false, "words" or "text".')])
        return value


class PartField(Checked):
    """One part, or null where a revision leaves it out."""

    shape: ClassVar[Shape] = component("PartGold")

    def check(self, value: object) -> object:
        """An object with gold."""
        if not isinstance(value, dict):
            raise wrong_type("an object with gold")
        return derive.schema_of(PartGold).load(value)


class PartNames(Checked):
    """Names of parts, each once."""

    shape: ClassVar[Shape] = {
        "type": "array", "minItems": 1, "maxItems": requests.MAX_PARTS, "uniqueItems": True,
        "items": {"type": "string"},
    }  # fmt: skip

    def check(self, value: object) -> object:
        """A list of different names."""
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise wrong_type("a list of names of parts")
        if not 1 <= len(value) <= requests.MAX_PARTS or len(set(value)) < len(value):
            raise ValidationError([Fault("bad-track", f"A track names 1 to {requests.MAX_PARTS} parts, each once.")])
        return value


class Tracks(Mapped):
    """Groups of parts by name."""

    shape: ClassVar[Shape] = {"type": "object", "maxProperties": requests.MAX_TRACKS}

    def check(self, value: object) -> object:
        """A bounded number of groups."""
        loaded = super().check(value)
        if isinstance(loaded, dict) and len(loaded) > requests.MAX_TRACKS:
            detail = f"A benchmark has at most {requests.MAX_TRACKS} tracks; the request has {len(loaded)}."
            raise ValidationError([Fault("bad-track", detail)])
        return loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class PartGold(Request):
    """The gold of one part; by multipart its text is a file."""

    gold: common.Text
    items: jobs.PartItems | None = None


Part: TypeAlias = Annotated[PartGold, PartField]
Errors: TypeAlias = Annotated[
    str,
    OneOf(requests.ERRORS),
    derive.Says(
        description="What becomes of sentences without a usable output: `zero` charges their full weight in every "
        "score, `exclude` leaves them out as far as the metrics do, and rows that lack sentences rank last. The "
        "parameter `errors` of a metric decides for that metric."
    ),
]
Limit: TypeAlias = Annotated[int, fields.bounded(0, requests.MAX_QUOTA, "bad-quota")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota(Request):
    """Limits for each team; null means no limit.

    Without them a new benchmark takes 5 scored submissions a day and 100 in all, and 20 attempts a day. Days are UTC
    days.
    """

    scored_per_day: Limit | Missing | None = MISSING
    scored_total: Limit | Missing | None = MISSING
    attempts_per_day: Limit | Missing | None = MISSING
    comparisons_per_day: Limit | Missing | None = MISSING


@derive.closed
class SplitSettings(TypedDict):
    """How the test set is split.

    Attributes:
        private: Which part of the documents or sentences is private, such as 0.5.
    """

    private: Annotated[float, fields.Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardSettings(Request):
    """How the leaderboard looks.

    Attributes:
        public: Whether everyone may see it. Of a benchmark whose leaderboard is not public only organisers, its
            teams and tokens that only read know that it exists.
        anonymous: Whether it hides the names of teams.
        scores: Addresses of the scores that the feedback levels below `gold` show, beside the main score; null
            means the main score alone at `rounded`, and all at `scores` and above.
        margin: Margin of non-inferiority in units of the score. Comparisons then also test that a submission is not
            worse than another by it; with null they do not.
        unit: What counts as one in tests and intervals: `auto`, documents where gold marks them, else sentences; or
            `sentence` always, for claims about these very documents. Intervals of submissions that were scored before a
            change, and are in no comparison, are over what counted then.
        frozen_at: From this time on, only organisers see changes of the leaderboard.
        ladder: Whether a team's scores are shown only if they beat its shown best by the paired standard error of
            the difference (Blum and Hardt 2015). Needs `pick` best, and cannot change after the first submission.
        split: A private share of the test set, drawn by a secret key within each part, by documents where gold
            marks them. Before `closes_at`, which must be set, all figures are those over the public share; afterwards
            the leaderboard is that of the private share, with submissions picked by their public scores. Needs a
            feedback level below `items`, and cannot change after the first submission. Null for none.
        accept_one_sided: Whether the board may rank by a score that the catalogue calls one-sided: an output that
            says next to nothing, or everything that can be said, gets its best value. The board then says so.
    """

    public: bool | Missing = MISSING
    anonymous: bool | Missing = MISSING
    pick: common.Pick | Missing = MISSING
    frozen_at: datetime | Missing | None = MISSING
    ladder: bool | Missing = MISSING
    scores: Annotated[Sequence[common.Name], length(None, MAX_LISTED, "scores")] | Missing | None = MISSING
    margin: Annotated[float, fields.Margin] | Missing | None = MISSING
    unit: Annotated[str, OneOf(requests.UNITS)] | Missing = MISSING
    split: SplitSettings | Missing | None = MISSING
    accept_one_sided: bool | Missing = MISSING


@derive.closed
class Link(TypedDict):
    """A page elsewhere.

    Attributes:
        url: An https address, in ASCII.
    """

    label: common.Name
    url: common.Address


@derive.closed
class AboutDate(TypedDict):
    """A date of the benchmark.

    Attributes:
        at: A time with an offset from UTC; answers have it in UTC.
        what: What happens then.
    """

    at: datetime
    what: common.Name


AboutText: TypeAlias = Annotated[str, fields.lines(requests.MAX_ABOUT)]


@dataclass(frozen=True, slots=True, kw_only=True)
class About(Request):
    """What the benchmark says of itself, for all who may see it.

    Texts are Markdown: paragraphs, headings, lists, tables, emphasis, code and links; together with the links and dates
    they have at most 20,000 bytes. Null for nothing.

    Attributes:
        description: What the benchmark is about.
        rules: What is allowed, and what is not.
        citation: What to cite.
        licence: Of the data.
        contact: Whom to ask.
        links: Pages elsewhere; null for none.
        dates: When what happens, in order of time; null for none. PATCH replaces all of them.
    """

    description: AboutText | Missing | None = MISSING
    rules: AboutText | Missing | None = MISSING
    citation: AboutText | Missing | None = MISSING
    licence: AboutText | Missing | None = MISSING
    contact: AboutText | Missing | None = MISSING
    links: Annotated[Sequence[Link], length(None, requests.MAX_LINKS, "links")] | Missing | None = MISSING
    dates: Annotated[Sequence[AboutDate], length(None, requests.MAX_DATES, "dates")] | Missing | None = MISSING


class BenchmarkChecks(Changes[Any]):
    """Gold, format and metrics change with a revision."""

    further = " To change gold, format or metrics, make a new revision."


@derive.checked_by(BenchmarkChecks)
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkChanges(Request):
    """The members of a benchmark that cannot change a score.

    Attributes:
        series: Series of benchmarks that this one belongs to.
        opens_at: A time with an offset from UTC. Earlier submissions are refused.
        closes_at: A time with an offset from UTC. Later submissions answer 409.
        feedback_after_closing: Feedback level after closing; null keeps the level.
        rounding: Rounding step of the level `rounded`; null means 0.01.
        publish_input: Whether to publish the words of gold: `words` as the tokens of gold, `text` as running text;
            true selects the form that shows no annotation.
        tracks: Groups of parts by name, such as `{"pud": ["en_pud", "de_pud"]}`: wherever `part` of a leaderboard
            is asked for, the name of a track stands for the mean of its parts. At most 100; PATCH replaces all of them.
        notice: What all who come should read first, such as that a deadline has moved: Markdown, as the texts of
            `about`. It has the time at which it was last changed. Null for none.
    """

    title: common.Name | Missing = MISSING
    series: common.Slug | Missing | None = MISSING
    opens_at: datetime | Missing | None = MISSING
    closes_at: datetime | Missing | None = MISSING
    quota: Quota | Missing = MISSING
    feedback: common.Feedback | Missing = MISSING
    feedback_after_closing: common.Feedback | Missing | None = MISSING
    rounding: Annotated[float, fields.Step] | Missing | None = MISSING
    publish_input: Annotated[bool | str, PublishInput] | Missing = MISSING
    tracks: Annotated[Mapping[str, Sequence[str]], partial(Tracks, PartNames())] | Missing = MISSING
    leaderboard: LeaderboardSettings | Missing = MISSING
    about: About | Missing = MISSING
    notice: Annotated[str, fields.lines(requests.MAX_NOTICE)] | Missing | None = MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRequest(BenchmarkChanges):
    """A benchmark with its first revision.

    Attributes:
        main_score: Address of the score that ranks; the default is the main score of the first metric.
        parts: Test files by name (1 to 64 letters, digits, `_`, `-`, `.`; not `macro` or `pooled`); at least one.
    """

    id: common.Slug
    title: common.Name
    format: common.Format
    transforms: common.Transforms = ()
    metrics: common.Metrics
    main_score: common.Name | None = None
    errors: Errors = "zero"
    parts: Mapping[str, Part]


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionRequest(Request):
    """A change of gold or metrics; what is left out stays as it is.

    Attributes:
        reason: Why gold or metrics change, for organisers (and for all who may read gold).
        public_reason: What all who may see the revision read of the change.
        main_score: Address of the score that ranks; the default is the main score of the first metric.
        parts: Parts with new gold; null removes a part.
        dry_run: Whether to compute the rank changes without activating the revision. Dry runs have numbers of their
            own, from 1000001.
        from_dry_run: Number of a dry run that is `ready`: its parts and scoring replace those of the
            active revision.
    """

    reason: common.Notes | derive.Null = None
    public_reason: common.Notes | derive.Null = None
    format: common.Format | None = None
    transforms: common.Transforms | None = None
    metrics: common.Metrics | None = None
    main_score: common.Name | None = None
    errors: Errors | None = None
    parts: Mapping[str, Part | None] | None = None
    dry_run: bool = False
    from_dry_run: Annotated[int, fields.bounded(1, requests.MOST_REVISION)] | derive.Null = None


@dataclass(frozen=True, kw_only=True)
class BenchmarksQuery(common.PageQuery):
    """Which benchmarks.

    Attributes:
        series: Only benchmarks of this series.
    """

    series: common.Slug | None = None


RevisionState: TypeAlias = Annotated[
    str, OneOf(("checking", "rescoring", "active", "superseded", "failed", "ready")), derive.Named("RevisionState")
]


@derive.inline
class PartSize(TypedDict):
    """Size and digest of one part.

    Attributes:
        gold: A keyed digest of gold; it does not confirm guesses.
    """

    sentences: int | None
    words: int | None
    gold: str | None


PartSizes: TypeAlias = Annotated[
    Mapping[str, PartSize],
    derive.Named("PartSizes", "Parts by name. Sizes are null if you may not see them, `words` of alignments always."),
]


class RankChange(TypedDict):
    """A team before and after a revision."""

    team: str | None
    submission: str | None
    submission_before: str | None
    rank_before: int | None
    rank_after: int | None
    score_before: float | None
    score_after: float | None
    difference: float | None


@derive.inline
class ShownRevision(TypedDict):
    """The revision shown here: the active one, or the first before any is active."""

    number: common.Ordinal
    state: RevisionState


@derive.inline
class Notice(TypedDict):
    """What all who come should read first.

    Attributes:
        text: Markdown.
        at: When it was last changed.
    """

    text: str
    at: common.Moment


@derive.inline
class ShownScoring(TypedDict):
    """What a benchmark and a revision have in common: the scoring, and what became of gold."""

    id: str
    format: common.Format
    transforms: common.Transforms
    metrics: common.Metrics
    main_score: str
    errors: Annotated[str, OneOf(requests.ERRORS)]
    parts: PartSizes
    state: RevisionState
    created_at: common.Moment
    failure: common.Failure | None
    warnings: Sequence[common.Warning]


class Benchmark(ShownScoring):
    """A benchmark, with its active revision.

    Attributes:
        feedback_after_closing: Feedback level after closing; null keeps the level.
        rounding: Rounding step of the level `rounded`; null means 0.01.
        publish_input: Whether the words of gold are published: `words` as the tokens of gold, `text` as running
            text; true selects the form that shows no annotation.
        tracks: Groups of parts by name. Parts that the revision does not have are left out of their mean.
        failure: Why gold cannot be used; only organisers see it.
        warnings: What the times, the scoring and the checked gold give reason to warn of, such as parts of few
            sentences; for organisers.
    """

    title: str
    series: str | None
    revision: ShownRevision
    active_revision: int | None
    pending_revision: int | None
    opens_at: common.Moment | None
    closes_at: common.Moment | None
    quota: Annotated[Mapping[str, int | None], partial(fields.Nested, derive.schema_class(Quota))]
    feedback: common.Feedback
    feedback_after_closing: common.Feedback | None
    rounding: Annotated[float, fields.Step] | None
    publish_input: bool | Annotated[str, OneOf(("words", "text"))]
    tracks: Mapping[str, Sequence[str]]
    leaderboard: Annotated[Mapping[str, Json], partial(fields.Nested, derive.schema_class(LeaderboardSettings))]
    about: Annotated[Mapping[str, Json], partial(fields.Nested, derive.schema_class(About))]
    notice: Notice | None
    updated_at: common.Moment


class Revision(ShownScoring):
    """A version of the gold and the scoring of a benchmark.

    Attributes:
        reason: For organisers, and for all who may read gold.
        moved: Rank changes, the largest first; null before scoring, or if you may not see them.
        warnings: What the scoring gives reason to warn of, parts of few sentences, and earlier revisions whose gold
            differs in few sentences; for organisers.
    """

    benchmark: str
    number: common.Ordinal
    active: bool
    dry_run: bool
    reason: str | None
    public_reason: str | None
    activated_at: common.Moment | None
    progress: common.Progress | None
    moved: Sequence[RankChange] | None


@derive.inline
class ChangedPart(TypedDict):
    """A part that a revision adds, removes or changes.

    Attributes:
        sentences_changed: Sentences that differ, in the column of gold in which most do.
    """

    name: str
    change: Annotated[str, OneOf(("added", "removed", "changed"))]
    sentences_before: int | None
    sentences_after: int | None
    sentences_changed: int | None


_Entry: TypeAlias = Annotated[Mapping[str, object], derive.Says(description="A format, a transform or a metric.")]
Asked: TypeAlias = str | _Entry | Sequence[str | _Entry]
"""A member of the scoring, as the request of a revision takes it."""


@derive.inline
class ChangedSetting(TypedDict):
    """A member of the scoring that differs.

    Attributes:
        before: As the request of a revision takes it.
        after: As the request of a revision takes it.
    """

    name: Annotated[str, OneOf(("format", "transforms", "metrics", "main_score", "errors"))]
    before: Asked | None
    after: Asked | None


class RevisionDifference(TypedDict):
    """What a revision changes, and who moves.

    Attributes:
        against: The revision that was active before.
        parts: Parts that were added, removed, or whose gold was changed. Numbers of sentences are for those who may
            read gold, and null as long as gold is not checked.
        settings: Members of the scoring that differ.
        moved: Rank changes, the largest first; null before scoring, or if you may not see them.
    """

    benchmark: str
    revision: common.Ordinal
    against: common.Ordinal
    state: RevisionState
    dry_run: bool
    parts: Sequence[ChangedPart]
    settings: Sequence[ChangedSetting]
    moved: Sequence[RankChange] | None


@derive.inline
class Jump(TypedDict):
    """The first submission whose main score came suddenly near to its best value.

    At most 0.01 from it and half as far as the best of other teams are in the median, or at most 0.1 and a quarter as
    far as the team was before (as others are, if it is the first).

    Attributes:
        before: The best main score of the team before it, null for the first.
    """

    submission: str
    score: float
    before: float | None


@derive.inline
class ClimbingStep(TypedDict):
    """A near-duplicate with a better main score.

    Attributes:
        gain: By which the main score is better, exact.
    """

    before: str
    submission: str
    changed_sentences: int
    gain: float


@derive.inline
class EqualOutputs(TypedDict):
    """Outputs that another team sent too."""

    submission: str
    other_team: str
    other_team_name: str | None
    other_submission: str
    parts: Sequence[str]


@derive.inline
class BestOfPublic(TypedDict):
    """The submission with the best score over the public share."""

    submission: str
    public: float
    private: float
    difference: float


@derive.inline
class ShareDifference(TypedDict):
    """Main scores over the public share less those over the private one; null where the test set is not split.

    Attributes:
        mean: Over all scored submissions.
    """

    mean: float | None
    best: BestOfPublic | None


class TeamFitting(TypedDict):
    """How a team fits its outputs to the test set.

    Attributes:
        submissions: All submissions, deleted ones included.
        validations: Requests with `validate_only` that were charged as attempts.
        compared_steps: Pairs of a scored submission and the next one of the team.
        repeated_outputs: Steps that changed no byte of the outputs.
        near_duplicates: Steps with other outputs that changed at most 3 sentences.
        climbs: Near-duplicates with a better main score.
        longest_climb: Climbs one after the other.
        climbing_steps: The newest climbs, at most 20.
        equal_parts: Outputs of parts that another team sent too: equal as they are read, without blanks, comments
            and MISC.
        equal_outputs: First submissions with these outputs of other teams, and the parts; at most 20.
        bits_released: Upper bound of the information about gold that the team was shown, as if the feedback level
            of now had always been set: the listed scores of each part and track that is shown, of `macro` and `pooled`
            count. null at level `gold`.
    """

    team: str
    team_name: str
    jump: Jump | None
    submissions: int
    scored: int
    validations: int
    compared_steps: int
    repeated_outputs: int
    near_duplicates: int
    climbs: int
    longest_climb: int
    climbing_steps: Sequence[ClimbingStep]
    equal_parts: int
    equal_outputs: Sequence[EqualOutputs]
    bits_released: float | None
    public_less_private: ShareDifference | None
