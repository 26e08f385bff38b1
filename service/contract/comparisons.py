"""Comparisons: what is asked of the significance module, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NotRequired, TypeAlias

from marshmallow import ValidationError, post_load
from typing_extensions import TypedDict

from service.contract import common, fields
from service.contract.derive import APART, Named, Null, Says, checked_by, described_by, inline
from service.contract.fields import Checked, Fault, OneOf, Setting, Shape, Strict, component, wrong_type
from service.requests import LEADERBOARD, MAX_COMPARED, Query, Request
from treescore.core.comparing import PARAMS
from treescore.core.params import Json, Param
from treescore.render.forms import FORMATS


def _in_words(setting: Param) -> str:
    values = setting.schema.get("enum")
    return setting.doc if values is None else f"{setting.doc} Values: {', '.join(f'`{each}`' for each in values)}."


SETTINGS_IN_WORDS: Mapping[str, str] = {name: _in_words(setting) for name, setting in PARAMS.items()}
"""What the catalogue says of each setting."""


class Compared(Checked):
    """Ids of submissions, or all on the leaderboard."""

    shape: ClassVar[Shape] = {
        "oneOf": [
            {"type": "array", "minItems": 2, "maxItems": MAX_COMPARED, "items": {"type": "string"}},
            {"type": "string", "const": LEADERBOARD},
        ]
    }

    def check(self, value: object) -> object:
        """A list of ids, or the word."""
        if value == LEADERBOARD:
            return value
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise wrong_type(f'a list of submissions\' ids, or "{LEADERBOARD}"')
        if not 2 <= len(value) <= MAX_COMPARED:
            raise ValidationError([Fault("bad-value", f"Name 2 to {MAX_COMPARED} submissions.")])
        return value


class WithSettings(Strict[Any]):
    """The settings are beside the question. The significance module declares them and checks their values."""

    class Meta(Strict.Meta):
        """One member for each."""

        include: ClassVar = {name: Setting() for name in PARAMS}

    @post_load
    def build(self, members: dict[str, Any], **_options: object) -> Any:
        """Make the request, its settings in one member."""
        settings = {name: members.pop(name) for name in PARAMS if name in members}
        return self.into(**members, settings=settings)


@checked_by(WithSettings)
@described_by(SETTINGS_IN_WORDS)
@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRequest(Request):
    """The catalogue has the JSON Schema of the settings under `significance`.

    Teams leave them out: a setting other than the one of the benchmark answers 403.

    Attributes:
        submissions: Ids of submissions, or `leaderboard` for all on the leaderboard.
        score: Address of the score, such as `ud.las_f1`; the default is the main score.
        part: Name of a part or a track, `pooled` or `macro`.
        pick: Which submissions of a team to compare, if `submissions` is `leaderboard`; only organisers choose it.
    """

    submissions: Annotated[Sequence[str], Compared]
    score: str | Null = None
    part: str | Null = None
    revision: Annotated[int, fields.bounded(1, common.MOST)] | Null = None
    pick: common.Pick | Null = None
    settings: Mapping[str, Json] = field(metadata=APART)


@dataclass(frozen=True, kw_only=True)
class ComparisonQuery(Query):
    """In which format to show a comparison.

    Attributes:
        format: Media type of the answer; the default follows `Accept`.
    """

    format: Annotated[str, OneOf(tuple(FORMATS))] | None = None


Selection: TypeAlias = Annotated[
    str,
    OneOf(("adjusted", "none", "private")),
    Named(
        "Selection",
        "`adjusted`: p of a pair allows for the best of the k submissions of the team ahead; `none`: rows are not "
        "picked by scores; `private`: the figures are over the private share, by which no row is picked.",
    ),
]


class ComputedInterval(common.Interval, total=False):
    """An interval and how it was computed.

    Attributes:
        level: Of `ci_adjusted` null where figures are rounded.
        method: `signs`, `t`, `logit t` or `Wilson`; by request `percentile bootstrap` or `BCa bootstrap`.
    """

    level: float | None
    method: str


class Detectable(TypedDict):
    """The true difference that would be found with this power.

    Attributes:
        alpha: At which the pair was judged: divided by `divisor`. Null where figures are rounded.
    """

    difference: float
    power: float
    alpha: float | None


@inline
class TestSettings(TypedDict, total=False):
    """What settings of a test and signatures have in common.

    Attributes:
        level: Null: 1 - `alpha`.
    """

    test: str
    unit: str
    alternative: str
    shuffles: int | None
    correction: str
    runs: str
    margin: float | None
    power: float
    alpha: float
    interval: str
    level: float | None
    clusters: str


class ComparisonSettings(TestSettings, total=False):
    """The settings of the test, with the defaults.

    Attributes:
        runs_required: Whether the request named `runs` `random`.
    """

    resamples: int
    runs_required: bool
    seed: int
    mcnemar: str


class ComparisonSummary(TypedDict):
    """A stored comparison without its results.

    Attributes:
        expires_at: When it is dropped, unless a leaderboard shows it; null if comparisons are kept, or not
            finished.
        split: The share of a split test set that is compared; null where it is not split.
    """

    id: str
    benchmark: str
    revision: int
    state: common.State
    created_at: common.Moment
    finished_at: common.Moment | None
    expires_at: common.Moment | None
    score: str
    part: str | None
    split: common.Share | None
    submissions: Sequence[str]
    settings: ComparisonSettings


@inline
class RunsSpread(TypedDict, total=False):
    """Spread of the runs of the system, if there are several."""

    count: int
    scores: Sequence[float | None]
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None


class ComparedSystem(TypedDict, total=False):
    """A system of a comparison.

    Attributes:
        name: Name of the system; of a submission its id.
        rank: Equal scores share a rank.
        sentences: Of all its runs, in a job.
        cluster: Null unless the test is two-sided.
        rank_interval: Null unless the test is two-sided.
        missing_parts: Number of parts without an output.
    """

    name: str
    score: float
    rank: int
    sentences: common.SentenceCounts
    ci: ComputedInterval | None
    runs: RunsSpread
    cluster: int | None
    rank_interval: Annotated[Sequence[int], Says(minItems=2, maxItems=2)] | None
    missing_parts: int


@inline
class ChiSquared(TypedDict, total=False):
    """A statistic and its p."""

    statistic: float
    p: float


@inline
class MaltEval(TypedDict, total=False):
    """As MaltEval prints it."""

    z: float | None
    p01: bool
    p05: bool


class McNemar(TypedDict, total=False):
    """All forms of McNemar's test, with `test` `mcnemar`.

    Attributes:
        a_only: Units that only `a` has right.
        b_only: Units that only `b` has right.
    """

    a_only: int
    b_only: int
    exact: float
    mid_p: float
    chi2: ChiSquared
    chi2_corrected: ChiSquared
    malteval: MaltEval


class DirectedTest(TypedDict, total=False):
    """A test of recall or precision.

    Attributes:
        reason: Why `p` is null.
    """

    difference: float | None
    p: float | None
    p_kind: Annotated[str, OneOf(("exact", "saddlepoint", "t", "monte-carlo"))] | None
    reason: str | None


class PartTests(TypedDict, total=False):
    """On how many parts one system is better.

    Attributes:
        p: One-sided p of each part.
        bonferroni: p of 1, 2, ... parts.
        fisher: p of 1, 2, ... parts.
        k_bonferroni: On at least so many parts.
        k_fisher: On at least so many parts, if they are independent.
        holm: Positions of the parts with a difference, from 0.
    """

    p: Sequence[float]
    bonferroni: Sequence[float]
    fisher: Sequence[float]
    k_bonferroni: int
    k_fisher: int
    holm: Sequence[int]


class NotWorse(TypedDict):
    """The test that the named system is not worse by the margin.

    Attributes:
        p: One-sided.
        p_adjusted: Corrected over the ordered pairs if there are more than two systems.
    """

    p: float | None
    p_adjusted: float | None
    established: bool


@inline
class Noninferiority(TypedDict):
    """The tests of both directions, by the name of the system."""

    margin: float


@inline
class Effect(TypedDict, total=False):
    """Sizes of the difference.

    Attributes:
        relative_error_reduction: Share of the error of `b` that `a` avoids.
        d_z: Standardised mean difference of the units.
    """

    relative_error_reduction: float | None
    units_won: int
    units_tied: int
    units_lost: int
    d_z: float | None


@inline
class RunsTest(TypedDict):
    """Terms of the t over training runs and units, if both systems have several runs that are random.

    Attributes:
        v_units: Variance of the difference over units.
        v_runs: Its variance over training runs, of both systems.
        df: Degrees of freedom; null without any variance.
    """

    v_units: float
    v_runs: float
    df: float | None


@inline
class ComparePl(TypedDict, total=False):
    """The two rows of Bikel's comparator, with `test` `compare_pl`."""

    recall: DirectedTest
    precision: DirectedTest
    of: str


@inline
class PairParts(TypedDict, total=False):
    """On how many parts the one system is better (partial conjunction), if the score is a mean of parts."""

    a_better: PartTests
    b_better: PartTests


class Pair(TypedDict):
    """The test of one pair of systems.

    Attributes:
        better: Which is better in what was tested.
        se: Standard error of the difference.
        df: Its degrees of freedom.
        unit_count: Units of this pair.
        divisor: The pair was judged at `alpha` divided by this.
        ci: Of the difference, by itself.
        ci_adjusted: Of the difference, and belongs to `p_adjusted`: of a two-sided test it leaves out 0 where the
            difference is significant. Null for `bootstrap`, `mcnemar` and `compare_pl`.
        p_kind: How p was computed: over all swaps, by an approximation of their law, by Student's t, by random
            swaps; null if p comes from another distribution, or is null.
        p_error: Relative error of p, if `p_kind` is `saddlepoint`.
        p_parts: p for parts like these instead of these very parts.
        p_unselected: p without allowance for the picking of the better one; null if nothing was allowed for.
        difference_tested: What was tested, where it is not `difference`.
        detectable: Null if no difference would be.
        noninferiority: Whether each of the two is not worse than the other by the margin or more.
        how: How p was computed.
        shuffles: Null unless `p_kind` is `monte-carlo`.
        differing_sentences: Number of sentences in which the two differ.
        null_swaps_log2: Number of units in which the two differ.
        smallest_p: The smallest p that this pair could have had; null unless `permutation` was asked by name.
        reason: Why the pair was not tested.
    """

    a: str
    b: str
    score_a: NotRequired[float | None]
    score_b: NotRequired[float | None]
    difference: float | None
    better: NotRequired[Annotated[str, OneOf(("a", "b"))] | None]
    se: NotRequired[float | None]
    df: NotRequired[float | None]
    unit_count: NotRequired[int | None]
    divisor: NotRequired[float | None]
    ci: NotRequired[ComputedInterval | None]
    ci_adjusted: NotRequired[ComputedInterval | None]
    p: common.Chance | None
    p_kind: NotRequired[Annotated[str, OneOf(("exact", "saddlepoint", "t", "monte-carlo"))] | None]
    p_error: NotRequired[float | None]
    p_parts: NotRequired[float | None]
    p_unselected: NotRequired[float | None]
    difference_tested: NotRequired[float | None]
    detectable: NotRequired[Detectable | None]
    noninferiority: NotRequired[Annotated[Noninferiority, Says(additionalProperties=component("NotWorse"))] | None]
    log10_p: NotRequired[float | None]
    test: NotRequired[str | None]
    how: NotRequired[str | None]
    shuffles: NotRequired[int | None]
    differing_sentences: NotRequired[int]
    null_swaps_log2: NotRequired[int]
    smallest_p: NotRequired[float | None]
    effect: NotRequired[Effect]
    mcnemar: NotRequired[McNemar]
    runs_test: NotRequired[RunsTest]
    compare_pl: NotRequired[ComparePl]
    parts: NotRequired[PairParts]
    p_holm: NotRequired[float | None]
    p_hochberg: NotRequired[float | None]
    p_bh: NotRequired[float | None]
    p_by: NotRequired[float | None]
    p_bonferroni: NotRequired[float | None]
    p_adjusted: common.Chance | None
    significant: NotRequired[bool | None]
    reason: NotRequired[str]


class ComparisonSignature(TestSettings, total=False):
    """Everything beside the counts that the figures depend on.

    Results of jobs have here the metric, its parameters and transforms, and the formats, as asked; of submissions the
    benchmark has them.

    Attributes:
        system_formats: The formats of the outputs of each system, in the order of its training runs.
        shuffles: As `resamples` and `seed` null where nothing is drawn.
    """

    metric: str
    params: common.Parameters
    transforms: Sequence[common.TransformEntry]
    format: common.Format
    system_formats: Mapping[str, Sequence[common.Format]]
    score: str
    resamples: int | None
    seed: int | None
    mcnemar: str | None
    gold: str | None
    version: str


@inline
class ScoreTerm(TypedDict, total=False):
    """A ratio of sums of counts.

    Attributes:
        numerator: Weights of counts.
        denominator: Weights of counts.
    """

    numerator: Mapping[str, float]
    denominator: Mapping[str, float]
    one_minus: bool


@inline
class ComparisonFamily(TypedDict):
    """The tests that are corrected together."""

    size: int
    definition: str


@inline
class UntestedSystem(TypedDict, total=False):
    """A system without tests, and why."""

    name: str
    reason: str


@inline
class SmallestP(TypedDict, total=False):
    """The smallest p that any pair could have had; null unless `permutation` was asked by name."""

    p: float | None
    p_adjusted: float | None
    significance_possible: bool | None


@inline
class Clusters(TypedDict, total=False):
    """Groups of systems between which differences are significant.

    Attributes:
        cluster: In the order of `systems`.
    """

    definition: str
    kind: Annotated[str, OneOf(("separable", "greedy"))]
    cluster: Sequence[int]


@inline
class Computed(TypedDict, total=False):
    """What the significance module computes.

    Attributes:
        statistic: How the score is computed from the counts.
        numerator: Counts, if the score is one ratio.
        denominator: Counts, if the score is one ratio.
        terms: The ratios that the score consists of.
        range: The lowest and the highest value of the score; null without a limit.
        test: What was used; `mixed` where pairs differ in it.
        units: What counts as one.
        blocks: Number of blocks, if these are the units.
        documents: How many documents gold marks; null where none.
        parts: Number of parts, if the score is their mean.
        parts_by_sentence: Number of parts whose units are sentences though documents are the units.
        systems: Systems with a score, the best first.
        rank_ranges: In the order of `systems`.
        notes: What the claims are about, and how to read the figures.
        rounded: Only, and true, below the feedback level that shows exact figures.
        warnings: What must be known to read the figures. In a job also the warnings of the texts that are compared.
    """

    higher_is_better: bool
    statistic: str
    numerator: Sequence[str] | None
    denominator: Sequence[str] | None
    terms: Sequence[ScoreTerm]
    range: Annotated[Sequence[float | None], Says(minItems=2, maxItems=2)]
    test: Annotated[str, OneOf(("permutation", "t", "mixed", "bootstrap", "mcnemar", "compare_pl"))]
    alternative: str
    units: Annotated[str, OneOf(("sentence", "block", "part", "token"))]
    unit_count: int
    blocks: int | None
    documents: int | None
    parts: int | None
    parts_by_sentence: int
    gold_digest: str | None
    alpha: float
    correction: str
    family: ComparisonFamily
    systems: Sequence[ComparedSystem]
    untested: Sequence[UntestedSystem]
    smallest_p: SmallestP | None
    clusters: Clusters | None
    rank_ranges: Sequence[Annotated[Sequence[int], Says(minItems=2, maxItems=2)]] | None
    notes: Sequence[str]
    rounded: bool
    warnings: Sequence[str]
    signature: ComparisonSignature


class Comparison(Computed):
    """The tests of all pairs of systems on one score.

    Attributes:
        score: Address of the score, such as `parseval.labelled_f1`.
        command: The shell command that prints the same comparison from files: put paths in the places of the words
            in capitals. Of a job null if a name of a system has an equals sign or the runs of one have several formats;
            of submissions null without `question`.
    """

    score: str
    pairs: Sequence[Pair]
    command: NotRequired[str | None]


@inline
class RepeatableMetric(TypedDict):
    """The metric of the score."""

    name: str
    key: str
    params: common.Parameters


@inline
class RepeatablePart(TypedDict):
    """A part and the sentences of it that are compared.

    Attributes:
        sentences: That are compared.
        chosen: Their positions from 1, if the test set is split.
        gold: Digests of the texts of its gold.
        items: Digest of the attributes of its sentences, if there are any.
    """

    name: str
    sentences: int
    chosen: Sequence[int] | None
    gold: Sequence[str]
    items: str | None


@inline
class RepeatableSystem(TypedDict):
    """A submission, and what p allows for.

    Attributes:
        runs: Other training runs of its system.
        submissions: How many scored ones of its team it was picked from; 1 where p does not allow for that.
    """

    name: str
    runs: Sequence[str]
    submissions: common.Ordinal


class RepeatableQuestion(TypedDict):
    """What the comparison depends on beside its other members, at feedback level `gold`: `treescore repeat` reads it.

    Attributes:
        charged: Whether a part without a scored output costs its full weight.
        parts: The parts that the statistic is computed from.
        systems: The submissions that are compared.
        missing: Parts without a scored output by submission; null where no part was scored.
    """

    format: common.Format
    transforms: Sequence[common.TransformEntry]
    metric: RepeatableMetric
    charged: bool
    parts: Sequence[RepeatablePart]
    systems: Sequence[RepeatableSystem]
    missing: Mapping[str, Sequence[str] | None]


@inline
class ComparisonLabel(TypedDict):
    """Who sent a submission."""

    team: str | None
    team_name: str | None
    name: str | None


class StoredComparison(ComparisonSummary, Computed):
    """When finished, it holds the members of a comparison, such as `pairs`, beside the request.

    Attributes:
        score: Address of the score, such as `parseval.labelled_f1`.
        command: The shell command that prints the same comparison from files: put paths in the places of the words
            in capitals. Of a job null if a name of a system has an equals sign or the runs of one have several formats;
            of submissions null without `question`.
        part_names: Names of the parts, if the score is their mean.
        labels: Team and name of each submission by its id; null if you may not see them.
    """

    command: str | None
    pairs: NotRequired[Sequence[Pair]]
    part_names: NotRequired[Sequence[str]]
    question: NotRequired[RepeatableQuestion]
    selection: NotRequired[Selection]
    progress: common.Progress | None
    labels: Mapping[str, ComparisonLabel]
    failure: common.Failure | None


class AcrossTest(TypedDict):
    """One test of a family.

    Attributes:
        difference: Score of `a` minus score of `b`.
        p: Of the comparison on this score alone.
        p_adjusted: Corrected over the whole family.
    """

    score: str
    difference: float | None
    better: Annotated[str, OneOf(("a", "b"))] | None
    p: common.Chance | None
    p_adjusted: common.Chance | None
    significant: bool | None


class AcrossSide(TypedDict):
    """On how many of the tests the one system is better (partial conjunction), for each pair by itself.

    Lists are in the order of `tests`.

    Attributes:
        p: One-sided p of each test; 1 where it is not tested or the other system is better.
        bonferroni: p of 1, 2, ... tests, under any dependence.
        k_bonferroni: On at least so many, under any dependence.
        holm: Positions of the tests with a difference, from 0.
    """

    p: Sequence[float]
    bonferroni: Sequence[float]
    k_bonferroni: int
    holm: Sequence[int]


class AcrossPair(TypedDict):
    """The tests of one pair over all scores."""

    a: str
    b: str
    tests: Sequence[AcrossTest]
    a_better: AcrossSide
    b_better: AcrossSide


class Across(TypedDict):
    """The comparisons of two or more scores as one family, corrected once.

    Attributes:
        assumed: What the claims rest on.
    """

    family: ComparisonFamily
    correction: str
    alpha: float
    assumed: str
    pairs: Sequence[AcrossPair]
