"""Documents of the service as frozen views: members are attributes, and the document stays as it came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

from treescore.client.answers import Answer, MissingMember, RateLimit, WrongAnswer
from treescore.core.params import Json
from treescore.core.version import __version__
from treescore.core.wording import did_you_mean


class Document(Mapping[str, Any]):
    """A JSON object of the service: a mapping of what came, whose members are attributes too.

    An attribute is None, a number, a text, a truth value, a tuple, or a further document; an item is as it came.

    Attributes:
        document: the object as it came.
        etag: its validator, to change it (`If-Match`); empty for a document inside another one.
        rate_limit: what is left of the caller's quota, where the answer tells it.
    """

    __slots__ = ("_answer", "_document")
    views: ClassVar[Mapping[str, type[Document]]] = {}
    """Members that are documents of a class of their own."""

    def __init__(self, document: Mapping[str, Any], answer: Answer | None = None) -> None:
        object.__setattr__(self, "_document", document)
        object.__setattr__(self, "_answer", answer)

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """Return the document of an answer."""
        return cls(answer.document(), answer)

    @property
    def document(self) -> Mapping[str, Json]:
        """The object as it came."""
        found: Mapping[str, Json] = object.__getattribute__(self, "_document")
        return found

    @property
    def answer(self) -> Answer | None:
        """The answer that brought it; None for a document inside another one."""
        found: Answer | None = object.__getattribute__(self, "_answer")
        return found

    @property
    def etag(self) -> str:
        """Its validator."""
        return "" if self.answer is None else self.answer.etag

    @property
    def rate_limit(self) -> RateLimit | None:
        """What is left of the caller's quota."""
        return None if self.answer is None else self.answer.rate_limit

    def __getattr__(self, name: str) -> Any:
        """Return a member."""
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return _view(self.document[name], type(self).views.get(name, Document))
        except KeyError:
            raise MissingMember(
                f"The service's document has no member {name!r}.{did_you_mean(name, self.document)} It has: "
                f"{', '.join(self.document)}. Check the name; or the service has another version than this client "
                f"({__version__})."
            ) from None

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: documents are frozen."""
        raise AttributeError(f"{type(self).__name__} is frozen: {name!r} cannot be set.")

    def __delattr__(self, name: str) -> None:
        """Refuse: documents are frozen."""
        raise AttributeError(f"{type(self).__name__} is frozen: {name!r} cannot be deleted.")

    def __getitem__(self, name: str) -> Any:
        """Return a member as it came."""
        return self.document[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.document)

    def __len__(self) -> int:
        return len(self.document)

    def __eq__(self, other: object) -> bool:
        return self.document == (other.document if isinstance(other, Document) else other)

    def __hash__(self) -> int:
        return hash(frozenset(self.document))  # equal documents may have their members in another order

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.document,)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.document})

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.document[name]!r}" for name in ("id", "name", "state") if name in self)
        return f"{type(self).__name__}({shown or ', '.join(self.document)})"


def _view(value: Any, kind: type[Document]) -> Any:
    if isinstance(value, Mapping):
        return kind(value)
    if isinstance(value, list):
        return tuple(_view(each, kind) for each in value)
    return value


def scores_at(nested: Mapping[str, Any], prefix: str = "") -> dict[str, float | None]:
    """Return nested scores by their addresses: `{"cutoff": {"f1": 1}}` as `cutoff.f1`."""
    found: dict[str, float | None] = {}
    for name, value in nested.items():
        if isinstance(value, Mapping):
            found |= scores_at(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


class Failure(Document):
    """Why work failed."""

    type: str
    title: str
    status: int
    kind: str
    detail: str
    errors: tuple[Document, ...]
    errors_total: int


class Warning(Document):  # noqa: A001 - as the contract calls it
    """What the service warns of."""

    code: str
    detail: str


class JobSummary(Document):
    """A job of a list."""

    id: str
    state: str
    created_at: str
    started_at: str | None
    finished_at: str | None


class Job(JobSummary):
    """A scoring job, or the validation of outputs."""

    views: ClassVar[Mapping[str, type[Document]]] = {"failure": Failure, "warnings": Warning}
    progress: Document | None
    results: Document | None
    warnings: tuple[Warning, ...]
    failure: Failure | None

    def scores_of(self, system: str) -> dict[str, float | None]:
        """Return the scores of a system by their addresses (`ud.las_f1`).

        Raises:
            KeyError: the system is unknown, or the job has no results.
        """
        results: Mapping[str, Any] = self["results"] or {}
        for each in results.get("systems", ()):
            if each["name"] == system:
                nested = {metric: found["scores"] for metric, found in each["metrics"].items()}
                return scores_at(nested)
        raise KeyError(system)


class Slices(Document):
    """Scores by groups of sentences, words or constituents."""

    system: str
    metric: str


class Item(Document):
    """One sentence of a result."""

    item: int
    status: str
    scores: Document
    counts: Document


class Benchmark(Document):
    """A benchmark."""

    views: ClassVar[Mapping[str, type[Document]]] = {"failure": Failure, "warnings": Warning}
    id: str
    title: str
    series: str | None
    metrics: tuple[Any, ...]
    main_score: str
    parts: Document
    state: str
    revision: Document
    active_revision: int | None
    pending_revision: int | None
    opens_at: str | None
    closes_at: str | None
    quota: Document
    feedback: str
    tracks: Document
    leaderboard: Document
    about: Document
    created_at: str
    updated_at: str
    failure: Failure | None
    warnings: tuple[Warning, ...]


class Revision(Document):
    """A revision of a benchmark's gold or rules."""

    views: ClassVar[Mapping[str, type[Document]]] = {"failure": Failure, "warnings": Warning}
    id: str
    benchmark: str
    number: int
    state: str
    active: bool
    dry_run: bool
    main_score: str
    created_at: str
    activated_at: str | None
    progress: Document | None
    moved: tuple[Document, ...] | None
    failure: Failure | None
    warnings: tuple[Warning, ...]


class RevisionDifference(Document):
    """What a revision changes against the one that was active before."""

    benchmark: str
    revision: int
    against: int
    state: str
    dry_run: bool
    parts: tuple[Document, ...]
    settings: tuple[Document, ...]
    moved: tuple[Document, ...] | None


class Analytics(Document):
    """Numbers of submissions, failures and waiting times of the last days."""

    benchmark: str
    first_day: str
    last_day: str
    complete: bool
    days: tuple[Document, ...]
    attempts: Document
    failures: tuple[Document, ...]
    waiting_seconds: Document
    scoring_seconds: Document
    queue: Document


class Team(Document):
    """A team of a benchmark."""

    id: str
    name: str
    contact: str | None
    created_at: str


class NewTeam(Team):
    """A team with its token, which is shown once."""

    token: str


class NewTeams(Document):
    """Teams with their tokens, which are shown once."""

    views: ClassVar[Mapping[str, type[Document]]] = {"teams": NewTeam}
    teams: tuple[NewTeam, ...]


class JoinedTeam(NewTeam):
    """A team that was made with an invite."""

    benchmark: str


class Invite(Document):
    """An invite to make teams of a benchmark."""

    id: str
    benchmark: str
    created_at: str
    expires_at: str
    teams_at_most: int
    teams: int


class NewInvite(Invite):
    """An invite with its secret, which is shown once."""

    secret: str
    address: str


class TeamFitting(Document):
    """How often a team has asked about its scores."""

    team: str
    team_name: str
    jump: Document | None
    submissions: int
    scored: int
    validations: int
    equal_parts: int


class SubmissionSummary(Document):
    """A submission of a list."""

    id: str
    benchmark: str
    team: str | None
    name: str
    run_of: str | None
    notes: str | None
    links: Document
    role: str
    state: str
    attempt: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    chosen: bool
    withdrawn_at: str | None
    output_deleted_at: str | None


class Submission(SubmissionSummary):
    """A submission; `scores` is None as long as there are none, or the feedback level shows none."""

    views: ClassVar[Mapping[str, type[Document]]] = {"failure": Failure, "warnings": Warning}
    progress: Document | None
    queue: Document | None
    quota: Document | None
    outputs: Document
    scores: Document | None
    released: bool | None
    warnings: tuple[Warning, ...]
    failure: Failure | None


class SubmissionItem(Document):
    """One sentence of a submission, as far as the feedback level shows it."""

    item: int


class Tree(Document):
    """One sentence of an output, beside gold's where the caller sees it."""

    item: int
    kind: str
    sent_id: str | None
    line: int | None


class SubmissionSlices(Document):
    """Slices of a submission."""

    submission: str
    revision: int
    part: str
    metric: str


class LeaderboardRow(Document):
    """A row of the board."""

    rank: int | None
    rank_interval: tuple[int, ...] | None
    cluster: int | None
    role: str
    team: str | None
    team_name: str | None
    submission: str
    name: str | None
    links: Document | None
    created_at: str
    score: float | None
    scores: Document
    missing_parts: tuple[str, ...] | None
    scored_parts: int | None
    ci95: Document | None
    p_next: float | None


class Leaderboard(Document):
    """The board of a benchmark; `rows` are those of its first page."""

    views: ClassVar[Mapping[str, type[Document]]] = {"rows": LeaderboardRow}
    benchmark: str
    title: str
    revision: int
    score: str
    higher_is_better: bool
    one_sided: bool
    parts: tuple[str, ...]
    feedback: str
    frozen: bool
    as_of: str | None
    significance: Document
    rows: tuple[LeaderboardRow, ...]


class MatrixRow(Document):
    """A row of the matrix; its scores in the parts are `row["values"]`."""

    rank: int | None
    role: str
    team: str | None
    team_name: str | None
    submission: str
    name: str | None
    score: float | None
    missing_parts: tuple[str, ...] | None
    scored_parts: int | None


class Matrix(Document):
    """The score of every row of the board in every part; `rows` are those of its first page."""

    views: ClassVar[Mapping[str, type[Document]]] = {"rows": MatrixRow}
    benchmark: str
    title: str
    revision: int
    score: str
    higher_is_better: bool
    one_sided: bool
    feedback: str
    frozen: bool
    as_of: str | None
    parts: tuple[Document, ...]
    hidden: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


class ScoreLine(Document):
    """One score of one part of a row of the board."""

    submission: str
    team: str | None
    team_name: str | None
    part: str
    score: str
    value: float | None


class ComparisonSummary(Document):
    """A comparison of a list."""

    id: str
    benchmark: str
    revision: int
    state: str
    created_at: str
    finished_at: str | None
    score: str
    part: str | None
    submissions: tuple[str, ...]
    settings: Document


class StoredComparison(ComparisonSummary):
    """A comparison of submissions; `pairs` and what belongs to them are there once it has succeeded."""

    views: ClassVar[Mapping[str, type[Document]]] = {"failure": Failure}
    progress: Document | None
    labels: Document
    failure: Failure | None


class Comparisons(Document):
    """The comparisons of a job."""

    @property
    def comparisons(self) -> tuple[Document, ...]:
        """Each of them."""
        return tuple(Document(each) for each in self["items"])


class DifferingItem(Document):
    """A sentence in which two submissions differ."""

    part: str
    item: int
    difference: float | None
    a: Document
    b: Document


class SeriesComparison(Document):
    """Two systems over the benchmarks of a series."""

    series: str
    correction: str
    alpha: float
    pairs: tuple[Document, ...]
    untested: tuple[Document, ...]


class Token(Document):
    """A token, without its secret."""

    id: str
    name: str | None
    scopes: tuple[str, ...]
    benchmark: str | None
    team: str | None
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None


class NewToken(Token):
    """A token with its secret, which is shown once."""

    token: str


class Webhook(Document):
    """An address to which events are sent."""

    id: str
    url: str
    kinds: tuple[str, ...]
    benchmark: str | None
    team: str | None
    created_at: str
    disabled_at: str | None
    failures: int
    old_secret_until: str | None


class NewWebhook(Webhook):
    """A webhook with its secret, which is shown once."""

    secret: str


class Delivery(Document):
    """The delivery of an event to a webhook, under way or ended."""

    id: str
    event: str
    type: str
    state: str
    attempts: int
    last_status: int | None
    at: str
    attempted_at: str | None
    next_at: str | None


class Event(Document):
    """What happened on the service."""

    id: str
    type: str
    at: str
    benchmark: str | None
    team: str | None
    subject: str | None
    actor: str | None
    data: Document


class Catalogue(Document):
    """Metrics, formats and transforms that the service has."""

    version: str
    metrics: tuple[Document, ...]
    formats: tuple[Document, ...]
    transforms: tuple[Document, ...]
    significance: Document


class Scorer(Document):
    """A metric, format or transform with its parameters."""

    name: str
    doc: str
    params: Document
    kind: str


class Suggestion(Document):
    """A format that a text may be in, with the metrics that fit it, and why."""

    certainty: str
    why: tuple[str, ...]
    metrics: tuple[Document, ...]


class Suggestions(Document):
    """The formats that a text may be in, the likeliest first."""

    views: ClassVar[Mapping[str, type[Document]]] = {"suggestions": Suggestion}
    suggestions: tuple[Suggestion, ...]


class Agreements(Document):
    """How far metrics or systems of a job agree."""

    agreement: tuple[Document, ...]


class Readiness(Document):
    """What the service can do now."""

    status: str
    checks: Document
    workers: Document


class ProblemEntry(Document):
    """Cause and fix of a kind of problem."""

    name: str
    uri: str
    kind: str
    title: str
    cause: str
    fix: str


class Problems(Document):
    """All kinds of problems."""

    views: ClassVar[Mapping[str, type[Document]]] = {"problems": ProblemEntry}
    problems: tuple[ProblemEntry, ...]


class Liveness(Document):
    """Whether the service runs."""

    status: str


def require(document: Document, *names: str) -> None:
    """Check that a document has the members that a call needs next.

    Raises:
        WrongAnswer: one is missing.
    """
    missing = [name for name in names if not isinstance(document.document.get(name), (str, int))]
    if missing:
        raise WrongAnswer(
            f"The service answers without {', '.join(map(repr, missing))}: it has another version than this client "
            f"({__version__}). Check the URL, or install the client of its version."
        )
