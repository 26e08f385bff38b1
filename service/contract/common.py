"""What several nouns have in common: named scalars, texts, components of requests, faults, sentences and scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypeAlias

from marshmallow import fields as plain
from typing_extensions import TypedDict

from service.contract import fields
from service.contract.derive import OVERLAPPING, Named, Says, closed, inline, more, schema_of
from service.contract.fields import OneOf, length, pattern, whole
from service.policy.gate import LEVELS
from service.requests import (
    DEFAULT_LIMIT,
    MAX_ADDRESS,
    ORDERS,
    PICKS,
    ROLES,
    SCOPES,
    SHARES,
    STATES,
    WRONG_KINDS,
    Query,
)
from service.store.packing import PackedText
from treescore.core.params import Json
from treescore.evaluation.spec import SIDES
from treescore.render.forms import ITEM_FORMATS
from treescore.shapes import METRIC_KEY

MAX_METRICS = 50
MAX_TRANSFORMS = 50
MAX_PAGE = 1000
MOST = 2**31 - 1

Address: TypeAlias = Annotated[str, fields.ADDRESS, Says(pattern=f"^{fields.ADDRESS_FORM}$", maxLength=MAX_ADDRESS)]
Notes: TypeAlias = Annotated[str, fields.NOTES]
Name: TypeAlias = Annotated[str, fields.NAME, Named("Name", "Printable characters, not only spaces.")]
Slug: TypeAlias = Annotated[str, fields.SLUG, Named("Slug", "An id of 1 to 60 letters, digits, `_`, `-` and `.`.")]
Feedback: TypeAlias = Annotated[
    str, OneOf(tuple(LEVELS)), Named("Feedback", "What teams see. Each level includes the previous one.")
]
Pick: TypeAlias = Annotated[str, OneOf(PICKS), Named("Pick", "Which submissions of a team are on the leaderboard.")]
Role: TypeAlias = Annotated[str, OneOf(ROLES), Named("Role", "Organisers submit baselines.")]
Scope: TypeAlias = Annotated[
    str, OneOf(SCOPES), Named("Scope", "What a token permits; `organise` includes the others.")
]
State: TypeAlias = Annotated[str, OneOf(STATES), Named("State", "`succeeded`, `failed` and `cancelled` are final.")]
Share: TypeAlias = Annotated[str, OneOf(SHARES)]
Moment: TypeAlias = Annotated[str, Says(format="date-time"), Named("Moment", "A time in UTC.")]
Day: TypeAlias = Annotated[str, Says(format="date")]
Ordinal: TypeAlias = Annotated[int, Says(minimum=1)]
Natural: TypeAlias = Annotated[int, Says(minimum=0)]
Chance: TypeAlias = Annotated[float, Says(minimum=0, maximum=1)]
Number: TypeAlias = Annotated[int, whole(1, MOST)]
Cursor: TypeAlias = Annotated[
    str,
    pattern(r"\A[A-Za-z0-9_=.~-]{1,512}\Z", "bad-value", "Invalid cursor. Use the `next` value of the previous page."),
]
ItemForm: TypeAlias = Annotated[str, OneOf(("json", *ITEM_FORMATS))]
Parameters: TypeAlias = Annotated[
    Mapping[str, object], fields.Parameters, Named("Parameters", "Parameters. The catalogue has their JSON Schema.")
]


@closed
class Texts(TypedDict):
    """The texts of a parallel treebank.

    Attributes:
        source: The trees of the source side.
        target: The trees of the target side.
        alignment: The links between their words.
    """

    source: Annotated[PackedText, fields.OneText]
    target: Annotated[PackedText, fields.OneText]
    alignment: Annotated[PackedText, fields.OneText]


def _text(**options: Any) -> plain.Field[object]:
    return fields.Text(schema_of(Texts), **options)


Text: TypeAlias = Annotated[
    PackedText | Mapping[str, PackedText], _text, Named("Text", "One text, or the three texts of a parallel treebank.")
]


@more
class FormatChoice(TypedDict):
    """Options are members beside the name. The catalogue has their JSON Schema."""

    name: Name


@closed
class TransformEntry(TypedDict):
    """One preprocessing step.

    Attributes:
        on: The side that it changes; the default depends on the transform.
    """

    name: Name
    params: NotRequired[Parameters]
    on: NotRequired[Annotated[str, OneOf(SIDES)]]


def name_or(kind: type) -> Any:
    """Return what makes the field of a name, or of an object of this type that has one."""

    def make(**options: Any) -> plain.Field[object]:
        return fields.NameOr(schema_of(kind), **options)

    return make


Format: TypeAlias = Annotated[
    Json, name_or(FormatChoice), Named("Format", "Name of a format, or an object with the name and options.")
]
Transform: TypeAlias = Annotated[
    Json, name_or(TransformEntry), Named("Transform", "Name of a transform, or an object with the name and parameters.")
]
Transforms: TypeAlias = Annotated[
    Sequence[Transform],
    length(None, MAX_TRANSFORMS, "transforms"),
    Says(description="Preprocessing for all metrics, in this order."),
]


@closed
class MetricEntry(TypedDict):
    """One metric, under its name or a key of its own.

    Attributes:
        key: Key of its scores. Needed if the request names the metric twice.
        transforms: Preprocessing for this metric, after that of the request.
    """

    name: Name
    key: NotRequired[
        Annotated[
            str, pattern(rf"\A{METRIC_KEY.pattern}\Z", "bad-value", "A key has 1 to 100 letters, digits, `_` and `-`.")
        ]
    ]
    params: NotRequired[Parameters]
    transforms: NotRequired[Transforms]


Metric: TypeAlias = Annotated[
    Json, name_or(MetricEntry), Named("Metric", "Name of a metric, or an object with the name, a key and parameters.")
]
Metrics: TypeAlias = Annotated[Sequence[Metric], length(1, MAX_METRICS, "metrics")]


@dataclass(frozen=True, kw_only=True)
class PageQuery(Query):
    """Which page of a list.

    Attributes:
        cursor: The `next` value of the previous page. Opaque.
        limit: Maximum number of entries.
    """

    cursor: Cursor | None = None
    limit: Annotated[int, whole(1, MAX_PAGE)] = DEFAULT_LIMIT


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


_PRINTABLE = "Write 1 to 200 printable characters."


@dataclass(frozen=True, kw_only=True)
class Choosing(Query):
    """Which sentences.

    Attributes:
        wrong: Only sentences with an error: `any`; of words a wrong `head` or a wrong relation (`label`); of
            constituents a wrong `span`, or a right one with another `label`. Below feedback level `gold` only `any`,
            from level `items` on.
        label: Only sentences with a word of this relation (subtypes included), or a constituent with this label.
            With `wrong`, the unit that is wrong must have it, in the output or, where you see gold, in gold.
        q: Only sentences with this text in their words, which are joined by spaces; the case of letters does not
            matter.
        order: `-errors`: most errors first. The default is the order of the text.
    """

    wrong: Annotated[str, OneOf(WRONG_KINDS)] | None = None
    label: Annotated[str, pattern(r"\A[^\x00-\x1f\x7f]{1,200}\Z", "bad-value", _PRINTABLE)] | None = None
    q: Annotated[str, pattern(r"\A(?=.*\S)[^\x00-\x1f\x7f]{1,200}\Z", "bad-value", _PRINTABLE)] | None = None
    order: Annotated[str, OneOf(ORDERS)] | None = None

    @property
    def choice(self) -> TreeChoice:
        """What is asked of the sentences."""
        return TreeChoice(self.wrong, self.label, self.q, self.order)


class Error(TypedDict):
    """One fault.

    Attributes:
        code: Stable name of the fault; `/problems/{code}` explains it.
        detail: What is wrong and how to correct it.
        pointer: JSON pointer into the request.
    """

    code: Annotated[str, Says(pattern="^[a-z0-9]+(-[a-z0-9]+)*$")]
    detail: str
    pointer: NotRequired[str]
    part: NotRequired[str]
    sentence: NotRequired[Ordinal]
    sent_id: NotRequired[str]
    line: NotRequired[Ordinal]
    column: NotRequired[Ordinal]


class Warning(Error, total=False):
    """A doubt.

    Attributes:
        metric: Key of the metric, if the warning is about its parameters or about a comparison with gold.
    """

    system: str
    metric: str


class Progress(TypedDict):
    """How far the work is."""

    done: int
    total: int
    step: str


class Failure(TypedDict):
    """Why the work failed; a problem document with a `kind`.

    Attributes:
        kind: `input`: correct the texts. `limit`: a limit was exceeded. `service`: the service failed.
    """

    type: str
    title: str
    status: int
    kind: Annotated[str, OneOf(("input", "limit", "service"))]
    detail: str
    errors: Sequence[Error]
    errors_total: int


class Checks(TypedDict):
    """The state of each part of the service; `unknown` where another part hides it.

    Attributes:
        store: The database. A damaged one is `away` too.
        queue: Redis. `denied`: it wants another password or rights. One that refuses to write is `away` too.
        workers: Whether a worker takes jobs and submissions.
        views: Whether the process lives that makes items, slices and trees when they are asked for.
        disk: The store's disk. `low` below 1 GiB, `full` below 64 MiB, `unknown` on a database server.
        schema: The version of the store's tables. `needed` before a migration, `newer` than this program,
            `unreleased` of a checkout before 0.1.0.
    """

    store: Annotated[str, OneOf(("ok", "away"))]
    queue: Annotated[str, OneOf(("ok", "denied", "away"))]
    workers: Annotated[str, OneOf(("ok", "none", "unknown"))]
    views: Annotated[str, OneOf(("ok", "none", "unknown"))]
    disk: Annotated[str, OneOf(("ok", "low", "full", "unknown"))]
    schema: Annotated[str, OneOf(("current", "needed", "newer", "unreleased", "unknown"))]


class WorkerCounts(TypedDict):
    """The workers that take jobs and submissions; null where the queue does not answer.

    Attributes:
        ready: Workers that take work.
        kernels: Whether machine code is kept of what scores large texts, on the host that has the least of it:
            none, some or all; null without workers. Scores are the same, and small texts need none.
    """

    ready: int | None
    kernels: Annotated[str, OneOf(("interpreted", "partly", "compiled"))] | None


class ServerLoad(TypedDict):
    """How busy the API process is that answers.

    Attributes:
        threads: Request threads.
        busy: Threads with a request.
        waiting: Requests with `Prefer: wait` that wait; each has a thread.
    """

    threads: int
    busy: int
    waiting: int


class Problem(TypedDict):
    """Why a request was refused.

    Attributes:
        type: Stable address of the problem type, which explains it: its end, from `/problems/` on, is the same in
            every service.
        detail: What is wrong and how to correct it.
        instance: `urn:request:` and the Request-Id.
        errors_total: Number of all faults; `errors` lists the first.
    """

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: NotRequired[Sequence[Error]]
    errors_total: NotRequired[int]
    checks: NotRequired[Checks]
    workers: NotRequired[WorkerCounts]
    server: NotRequired[ServerLoad]


TextsByName: TypeAlias = Annotated[Mapping[str, str], Named("TextsByName")]


class Interval(TypedDict):
    """An interval; a bound is null where the range of the score has no end there."""

    low: float | None
    high: float | None


Scores: TypeAlias = Annotated[
    Mapping[str, float | Mapping[str, float | None] | None],
    Named("Scores", "Scores by name; some are nested. A score whose denominator is 0 is null."),
]


Reasons: TypeAlias = Annotated[
    Mapping[str, str | Mapping[str, str]], Named("Reasons", "Why scores are null, by name; nested as the scores.")
]


Counts: TypeAlias = Annotated[
    Mapping[str, float | Mapping[str, float]], Named("Counts", "Counts by name; some are nested.")
]


Intervals: TypeAlias = Annotated[
    Mapping[str, Annotated[Interval | Mapping[str, Interval | None], OVERLAPPING] | None],
    Named("Intervals", "95 % intervals of scores by name; nested as the scores."),
]


class SentenceCounts(TypedDict):
    """How many sentences there are, with an error, and left out."""

    total: int
    error: int
    skip: int


@inline
class ItemProblem(TypedDict):
    """Why the sentence could not be scored."""

    code: str
    detail: NotRequired[str]


@inline
class Sentence(TypedDict, total=False):
    """What may be said of a sentence."""

    sent_id: str
    problem: ItemProblem


@more
class Item(Sentence):
    """One sentence.

    Each metric adds members that name its differences, such as `words`; the pages in `docs/metrics/` describe them.
    """

    item: Ordinal
    status: Annotated[str, OneOf(("ok", "error", "skip"))]
    scores: Scores
    counts: Counts


@inline
class ShownSentence(Sentence, total=False):
    """What the feedback level shows of a sentence."""

    status: Annotated[str, OneOf(("ok", "error", "skip"))]
    scores: Scores
    counts: Counts


@more
class SubmissionItem(ShownSentence):
    """One sentence.

    Each metric adds members that name its differences, such as `words`; the pages in `docs/metrics/` describe them.
    """

    item: Ordinal
