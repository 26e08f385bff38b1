"""Scoring jobs: requests, results, items, trees and slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, NotRequired, TypeAlias

from marshmallow import ValidationError, pre_load, validates_schema
from typing_extensions import TypedDict

from service.contract import common, derive, fields
from service.contract.comparisons import SETTINGS_IN_WORDS, Across, Comparison
from service.requests import Query, Request
from service.store.packing import packed_text
from treescore.core.comparing import PARAMS
from treescore.core.params import Json
from treescore.render.forms import FORMATS

MAX_AGREEMENTS = 50
NO_TEXT = packed_text(b"")
"""What stands for the texts of a request that was stored without them."""


class Significance(fields.Checked):
    """A switch, or settings that their own JSON Schema checks."""

    shape: ClassVar[fields.Shape] = {"oneOf": [{"type": "boolean"}, fields.component("SignificanceSettings")]}

    def check(self, value: object) -> object:
        """True, false or an object."""
        if not isinstance(value, (bool, dict)):
            raise fields.wrong_type("true, false, or an object of settings")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEntry(Request):
    """One system of a job.

    Attributes:
        format: Format of the output if it differs from that of gold.
        run_of: Name of the system of which this output is one training run (seed): another output, or a name for
            the runs alone. Comparisons are between systems. Where both have two runs or more, these are taken as
            random, unless `runs` is `fixed`. Not the output itself, nor one that is a run of another.
    """

    name: common.Name
    output: common.Text
    format: common.Format | None = None
    run_of: common.Name | None = None


@derive.closed
class PartItems(TypedDict, total=False):
    """Data about the sentences of the part. Each list has one entry for each sentence.

    Attributes:
        lengths: Numbers of words of the source and of the target sentence (alignments).
        words: Source and target sentence, words separated by spaces (alignments). They also say the lengths.
        blocks: The document of each sentence.
        attributes: Attributes of the sentences by name, such as `genre`.
    """

    lengths: Annotated[Sequence[Any], fields.item_column("lengths")]
    words: Annotated[Sequence[Any], fields.item_column("words")]
    blocks: Annotated[Sequence[Any], fields.item_column("blocks")]
    attributes: Annotated[Mapping[str, Any], fields.item_column("attributes")]


@derive.closed
class Items(PartItems, total=False):
    """Data about the sentences of gold. Each list has one entry for each sentence.

    Attributes:
        seconds: Parse time of each sentence in seconds, by system.
    """

    seconds: Annotated[Mapping[str, Any], fields.item_column("seconds")]


class JobChecks(fields.Strict[Any]):
    """What concerns several systems."""

    max_systems = 200

    @pre_load
    def refuse_crowds(self, data: object, **_options: object) -> object:
        """Refuse too many systems first: a thousand faulty systems need no thousand messages."""
        systems = data.get("systems") if isinstance(data, dict) else None
        if isinstance(systems, list) and len(systems) > self.max_systems:
            detail = f"{len(systems)} systems exceed the limit of {self.max_systems} for a job. Send several jobs."
            raise ValidationError({"systems": [fields.Fault("too-many-systems", detail)]})
        return data

    @validates_schema(skip_on_field_errors=False)
    def refuse_equal_names(self, data: dict[str, Any], **_options: object) -> None:
        """Refuse two systems of one name: the result could not tell them apart."""
        seen: dict[str, int] = {}
        faults: dict[int, object] = {}
        for index, system in enumerate(data.get("systems") or ()):
            # a system with faults is not loaded; its sound members are there
            name = system.name if isinstance(system, SystemEntry) else system.get("name")
            if name is not None and seen.setdefault(name, index) != index:
                detail = f"The system /systems/{seen[name]} has the same name {name!r}. Give each system its own name."
                faults[index] = {"name": [fields.Fault("duplicate-system-name", detail)]}
        if faults:
            raise ValidationError({"systems": faults})


@derive.checked_by(JobChecks)
@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest(Request):
    """A scoring job.

    Attributes:
        format: Format of gold, and of systems that name no format.
        systems: Their names must differ. The service limits their number (default 200).
        significance: Settings of the tests between the systems. The default tests the main score of the first
            metric if there are two or more systems; `false` switches the tests off.
        agreement: Pairs of scores for which to compute the agreement over the sentences.
    """

    format: common.Format
    gold: common.Text
    systems: Annotated[Sequence[SystemEntry], fields.length(1, None, "systems")]
    transforms: common.Transforms = ()
    metrics: common.Metrics
    significance: Annotated[bool | Mapping[str, Json], Significance] = True
    agreement: Annotated[
        Sequence[Annotated[Sequence[common.Name], fields.length(2, 2, "addresses of scores")]],
        fields.length(None, MAX_AGREEMENTS, "pairs of scores"),
    ] = ()
    items: Items | None = None

    def without_texts(self) -> dict[str, Json]:
        """Return the request as a job keeps it: JSON, without gold and outputs."""
        systems = [_without(system.given(), "output") for system in self.systems]
        return {**_without(self.given(), "gold"), "systems": systems}

    @classmethod
    def stored(cls, members: Mapping[str, Json]) -> JobRequest:
        """Read back what `without_texts` returned; the texts of the result are empty."""
        systems = [SystemEntry(**system, output=NO_TEXT) for system in members["systems"]]
        return cls(**{**members, "gold": NO_TEXT, "systems": systems})

    @property
    def scoring(self) -> dict[str, Json]:
        """The members that the library reads as a specification."""
        return {"format": self.format, "transforms": self.transforms, "metrics": self.metrics}


def _without(members: Mapping[str, Json], left_out: str) -> dict[str, Json]:
    return {name: value for name, value in members.items() if name != left_out}


@cache
def job_schema(max_systems: int) -> fields.Strict[JobRequest]:
    """Return the schema for so many systems; making it takes longer than using it."""
    schema: Any = derive.schema_class(JobRequest)()
    schema.max_systems = max_systems
    checked: fields.Strict[JobRequest] = schema
    return checked


SignificanceSettings = TypedDict(
    "SignificanceSettings",
    {"scores": Sequence[object], **dict.fromkeys(PARAMS, object)},  # type: ignore[misc]
    total=False,
)
SignificanceSettings.__doc__ = """
Settings of the significance tests. The catalogue has their JSON Schema under `significance`.

Attributes:
    scores: Addresses of scores, such as `parseval.labelled_f1`.
"""
derive.described_by(SETTINGS_IN_WORDS)(SignificanceSettings)


@derive.inline
class SystemMeta(TypedDict):
    """A system whose order, format or run matters."""

    name: common.Name
    format: NotRequired[common.Format]
    run_of: NotRequired[common.Name]


class JobMeta(TypedDict):
    """A JobRequest without the texts, as JSON.

    All other members are allowed.

    Attributes:
        systems: Names the systems whose order, format or run matters. Systems of other files are added.
    """

    format: common.Format
    metrics: common.Metrics
    systems: NotRequired[Sequence[SystemMeta]]


@dataclass(frozen=True, kw_only=True)
class JobsQuery(common.PageQuery):
    """Which jobs.

    Attributes:
        state: Only jobs in this state.
    """

    state: common.State | None = None


@dataclass(frozen=True, kw_only=True)
class ResultQuery(Query):
    """Which system under which metric.

    Attributes:
        system: Name of a system in the job.
        metric: Key of a metric in the job; the name of the metric if it has no key.
    """

    system: str
    metric: str


@dataclass(frozen=True, kw_only=True)
class ItemsQuery(common.PageQuery, ResultQuery, common.Choosing):
    """Which items of a job, and in which format.

    Attributes:
        format: Media type of the answer; the default follows `Accept`.
    """

    format: common.ItemForm | None = None


@dataclass(frozen=True, kw_only=True)
class JobTreesQuery(common.PageQuery, common.Choosing):
    """Which trees of a job.

    Attributes:
        system: Name of a system in the job.
        item: Number of one sentence, from 1; the other parameters then choose nothing.
        differs_from: Name of another system; only sentences in which the two are not right and wrong alike.
    """

    system: str
    item: common.Number | None = None
    differs_from: str | None = None


@dataclass(frozen=True, kw_only=True)
class SlicesQuery(ResultQuery):
    """Which slices of a job.

    Attributes:
        by: Name of a grouping. Write `#` as `%23`.
    """

    by: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReportQuery(ResultQuery):
    """Which report of a job.

    Attributes:
        style: A style of the metric, such as `evalb`, `eval07`, `conll18` or `wa_eval`. The catalogue lists them.
    """

    style: str


@dataclass(frozen=True, kw_only=True)
class ComparisonsQuery(Query):
    """Which comparisons of a job, and in which format.

    Attributes:
        score: Only the comparison of this score, such as `parseval.labelled_f1`.
        format: Media type of the answer: `text` for a terminal, `latex` with booktabs, `svg` as a heat map.
    """

    score: str | None = None
    format: Annotated[str, fields.OneOf(tuple(FORMATS))] = "json"


class Signature(TypedDict):
    """Everything that the scores depend on, and the command that computes them without the service.

    Attributes:
        gold: Digest of gold; of a submission, of the gold of each part.
        output: Digest of the output; of a submission, of the output of each part.
        parts: Number of parts, if these are the scores of a submission.
        missing_parts: How parts without scores count in `macro` (submissions).
        split: The share of a split test set that the scores are about (submissions); `command` scores all of it.
    """

    metric: str
    params: common.Parameters
    transforms: Sequence[common.TransformEntry]
    format: NotRequired[common.Format]
    system_format: NotRequired[common.Format]
    version: str
    gold: str
    output: str
    command: str | None
    parts: NotRequired[int]
    missing_parts: NotRequired[str]
    split: NotRequired[common.Share]


class MetricResult(TypedDict):
    """Scores of a system under a metric.

    Attributes:
        extra: More tables of the metric; the pages in `docs/metrics/` describe them.
    """

    scores: common.Scores
    undefined: NotRequired[common.Reasons]
    counts: common.Counts
    sentences: common.SentenceCounts
    extra: NotRequired[Mapping[str, object]]
    signature: Signature


class Correlation(TypedDict, total=False):
    """A coefficient of correlation and its p.

    Attributes:
        p: Two-sided.
        reason: Why `value` is null.
    """

    value: float | None
    p: float | None
    reason: str


@derive.inline
class Decile(TypedDict, total=False):
    """The lowest tenth under one score, in tenths of the other.

    Attributes:
        counts: Sentences in each tenth, the lowest first.
    """

    lowest_of: str
    under: str
    items: int
    counts: Sequence[int]


class Agreement(TypedDict, total=False):
    """Correlations of two scores over the sentences, and the deciles of one score in the other.

    Attributes:
        a: Address of the first score.
        b: Address of the second score.
        items: Sentences that have both scores.
        undefined: Sentences that do not.
        deciles: Where the lowest tenth of the sentences under one score stands under the other.
    """

    system: str
    a: str
    b: str
    items: int
    undefined: int
    pearson: Correlation
    spearman: Correlation
    kendall: Correlation
    deciles: Sequence[Decile]


class Agreements(TypedDict):
    """The agreement of pairs of scores."""

    agreement: Sequence[Agreement]


class Comparisons(TypedDict):
    """The comparisons of a job."""

    items: Sequence[Comparison]
    across: NotRequired[Across]


@derive.inline
class SystemResult(TypedDict):
    """The results of one system.

    Attributes:
        metrics: Results by key of the metric.
    """

    name: str
    metrics: Mapping[str, MetricResult]


class Results(TypedDict):
    """Scores, comparisons and agreement of a job."""

    systems: Sequence[SystemResult]
    comparisons: Sequence[Comparison]
    across: NotRequired[Across]
    agreement: NotRequired[Sequence[Agreement]]


@derive.inline
class ValidatedPart(TypedDict):
    """Whether the output of a part can be scored."""

    state: Annotated[str, fields.OneOf(("valid", "failed", "missing", "received"))]
    sentences: NotRequired[int]
    words: NotRequired[int]
    warnings: NotRequired[Sequence[common.Warning]]
    failure: NotRequired[common.Failure]


class Validation(TypedDict):
    """Result of a submission with `validate_only`."""

    benchmark: str
    revision: int
    valid: bool | None
    parts: Mapping[str, ValidatedPart]


class JobSummary(TypedDict):
    """A job without its results."""

    id: str
    state: common.State
    created_at: common.Moment
    started_at: common.Moment | None
    finished_at: common.Moment | None


class Job(JobSummary):
    """A scoring job.

    Attributes:
        progress: Present while the job runs.
        results: Present if the job succeeded.
        warnings: Doubtful properties of texts that were scored.
        failure: Present if the job failed.
        key: The secret that cancels or deletes a job made without a token, as the header `Job-Key`. Only the answer
            to the request that made the job has it.
    """

    progress: common.Progress | None
    results: Results | Validation | None
    warnings: Sequence[common.Warning]
    failure: common.Failure | None
    key: NotRequired[str]


@derive.more
class Slice(TypedDict):
    """Counts and scores of one group. Some metrics add members.

    Attributes:
        value: Value of the grouping; null sums up the rarest values.
    """

    value: str | int | None
    counts: NotRequired[common.Counts]
    scores: NotRequired[common.Scores]
    sentences: NotRequired[int]


@derive.inline
class SlicesOrGroupings(TypedDict):
    """The slices of an output under a metric, or the names of the groupings.

    Attributes:
        groupings: Names of the groupings, if the query has no `by`.
    """

    metric: str
    groupings: NotRequired[Sequence[str]]
    by: NotRequired[str]
    slices: NotRequired[Sequence[Slice]]


class Slices(SlicesOrGroupings):
    """The slices of a system under a metric, or the names of the groupings."""

    system: str


TreeMark: TypeAlias = Annotated[
    str, fields.OneOf(("head", "label", "both", "word", "span", "crossing", "link", "wrong")), derive.Named("TreeMark")
]


class TreeExpression(TypedDict):
    """A multiword expression.

    Attributes:
        words: Their ids.
    """

    words: Sequence[str]
    category: str | None


class TreeAnnotation(TypedDict):
    """What metrics compare of a word beside its head and its relation. All are null of an empty node."""

    upos: NotRequired[str | None]
    lemma: NotRequired[str | None]
    feats: NotRequired[str | None]


class TreeWord(TypedDict):
    """A word.

    Attributes:
        id: Number of the word: `5`, or `5.1` of an empty node.
        form: Null where it is not known.
        tag: Part of speech (`constituents`, `discontinuous`, `graph`).
    """

    id: str | None
    form: str | None
    tag: NotRequired[str | None]


@derive.inline
class TreeLeaf(TypedDict):
    """A word directly below a constituent.

    Attributes:
        word: Position in the words from 0.
        function: Function in the constituent; empty where it has none.
    """

    word: common.Natural
    function: str


class TreeRow(TypedDict, total=False):
    """An entry of a tree.

    An arc (`head`, `deprel`), a span (`label`, `start`, `end`, `depth`), a constituent that may have gaps (`label`,
    `function`, `parent`, `depth`, `words`), an edge (`predicate`, `argument`, `label`) or a link (`source`, `target`,
    `sure`).

    Attributes:
        head: `id` of the head; `0` the root; null where there is none in the sentence.
        predicate: `id` of the predicate; `0` of a top, or of an enhanced edge from the root; null where it lies outside
            the sentence.
        argument: `id` of the argument, or of the top.
        label: Category, or role of an edge; `(top)` of a top.
        start: Words before the span; it ends before word `end`, counted from 0.
        depth: Spans or constituents above it.
        function: Function in the constituent above; empty where it has none.
        parent: The constituent above it, by its position in this list from 0; null of the root.
        words: Words directly below it; all its words are these and those of the constituents below it.
        source: Word of the source side, from 1; 0 is NULL.
    """

    head: str | None
    deprel: str | None
    predicate: str | None
    argument: str
    label: str
    start: common.Natural
    end: common.Natural
    depth: common.Natural
    function: str
    parent: common.Natural | None
    words: Sequence[TreeLeaf]
    source: common.Natural
    target: common.Natural
    sure: bool


@derive.inline
class MultiwordToken(TypedDict):
    """A multiword token."""

    first: str
    last: str
    form: str | None


class Tree(TypedDict):
    """One sentence of an output, beside gold's where you see it.

    `wrong` goes with `system`, entry by entry, and `missed` with `gold`.

    Attributes:
        item: Number of the sentence: of gold where you see gold, else of the output.
        sent_id: Name of the sentence: of gold where you see gold, else of the output.
        line: Line of the output on which the sentence begins.
        words: Words of the output. An alignment has those that the items of gold state, where you see gold, else
            null.
        tokens: Multiword tokens of the output (`dependencies`, and `graph` of enhanced edges).
        expressions: Multiword expressions of the output (`dependencies` of the format `cupt`), in the order of the
            text. Left out where they have more than 100,000 words in one sentence.
        annotation: Of each word of the output what metrics compare of it (`dependencies` under `ud`).
        target_words: Words of the target side (`alignment`); null where they are not known.
        system: The tree of the output. `dependencies`: an arc for each word. `constituents`: spans in pre-order.
            `discontinuous`: constituents, each before those below it, the root first. `graph`: edges and tops, by
            argument, then by predicate; or, where a metric that compares enhanced edges stands before those that
            compare heads, the main score's first, these edges as it compares them. `alignment`: links.
        gold_words: Words of gold where they differ from those of the output; null where `words` are gold's too.
        gold_expressions: Those of gold, of gold's words; null where you do not see gold.
        gold_annotation: That of gold's words; null where you do not see gold.
        gold_target_words: Words of gold's target side, given with `gold_words` (`alignment`).
        pairs: Words with the same characters, as positions from 0 in `words` and in `gold_words`; null where these
            are the same (`dependencies`, `graph`).
        gold: The tree of gold; null where you do not see gold, or the output was not compared with it.
        wrong: What is wrong with each entry of `system`; null: right, or not scored. Words: `head`, `label` (the
            relation only), `both`, `word` (gold lacks the word). Spans and constituents: `span` (gold lacks it),
            `crossing` (it also crosses one of gold's), `label` (gold has the span with another label). Edges: `link`
            (gold lacks it), `label` (gold has it with another role). Links: `link`. Below level `gold`: `wrong` for any
            of them but `word`. The whole list is null where you do not see errors.
        missed: The same for each entry of `gold`, which the output lacks or has otherwise.
    """

    item: common.Ordinal
    kind: Annotated[str, fields.OneOf(("dependencies", "constituents", "discontinuous", "graph", "alignment"))]
    sent_id: str | None
    line: int | None
    words: Sequence[TreeWord] | None
    tokens: NotRequired[Sequence[MultiwordToken]]
    expressions: NotRequired[Sequence[TreeExpression]]
    annotation: NotRequired[Sequence[TreeAnnotation]]
    target_words: NotRequired[Sequence[TreeWord] | None]
    system: Sequence[TreeRow]
    gold_words: Sequence[TreeWord] | None
    gold_expressions: NotRequired[Sequence[TreeExpression] | None]
    gold_annotation: NotRequired[Sequence[TreeAnnotation] | None]
    gold_target_words: NotRequired[Sequence[TreeWord] | None]
    pairs: NotRequired[Sequence[Annotated[Sequence[common.Natural], derive.Says(minItems=2, maxItems=2)]] | None]
    gold: Sequence[TreeRow] | None
    wrong: Sequence[TreeMark | None] | None
    missed: Sequence[TreeMark | None] | None
