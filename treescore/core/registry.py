"""The base classes of formats, transforms and metrics, and the registry of each.

A new format or transform is one file in `formats/` or `transforms/`, a new metric one package in `metrics/` with a
module `metric`. Its class is registered with `@register`; nothing else names it, and it is loaded when it is asked for
by its name.

A metric says which words, constituents or links of two treebanks are wrong (`Marks`), for pictures of both, and what it
lets a participant see of gold at feedback level `items` (`Disclosure`); the default shows nothing.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from treescore.core.arrays import BoolArray, Counts, IntArray, paired_rows
from treescore.core.columns import Documents, Records
from treescore.core.params import SHARED_MODULES, Json, Param, checked, schema_of
from treescore.core.scores import ScoreTable, charged
from treescore.core.structure import Edges
from treescore.core.text import Head, Limits, Signs, joinable_lines
from treescore.core.trees import Treebank, Vocabulary
from treescore.core.wording import did_you_mean
from treescore.errors import InputError, Problem


class Named(Protocol):
    """A class that a request names."""

    name: ClassVar[str]


_Registered = TypeVar("_Registered", bound=Named)


class Classes(MutableMapping[str, type[_Registered]]):
    """The classes of one base by name. A module is loaded when its class is asked for, all when they are listed.

    A class is first looked for in the module of its name (`heads`, `tree_distance`) or in the one that it shares with
    others (`treescore.core.params.SHARED_MODULES`), then in all.
    """

    def __init__(self, base: type[Any]) -> None:
        self._base = base
        self._classes: dict[str, type[_Registered]] = {}
        self._package = ""
        self._module = ""

    def look_in(self, package: str, module: str = "") -> None:
        """Name the package whose modules register the classes; `module` is the one that does in a package inside."""
        self._package, self._module = package, module and f".{module}"

    def load_all(self) -> None:
        """Import every module of the package."""
        for name in self._names():
            self._load(name)

    def _names(self) -> Iterator[str]:
        path = importlib.import_module(self._package).__path__ if self._package else ()
        return (found.name for found in pkgutil.iter_modules(path))

    def _load(self, name: str) -> None:
        loaded = importlib.import_module(f"{self._package}.{name}")
        inner = f"{loaded.__name__}{self._module}"
        if self._module and hasattr(loaded, "__path__") and importlib.util.find_spec(inner) is not None:
            importlib.import_module(inner)

    def __getitem__(self, name: str) -> type[_Registered]:
        if name not in self._classes:
            own = SHARED_MODULES.get(name) or name.replace("-", "_")
            if own in self._names():
                self._load(own)
            if name not in self._classes:
                self.load_all()
        return self._classes[name]

    def __setitem__(self, name: str, component: type[_Registered]) -> None:
        self._classes[name] = component

    def __delitem__(self, name: str) -> None:
        del self._classes[name]

    def __iter__(self) -> Iterator[str]:
        self.load_all()
        return iter(sorted(self._classes))

    def __len__(self) -> int:
        self.load_all()
        return len(self._classes)

    def clear(self) -> None:
        """Forget the classes, without loading them first."""
        self._classes.clear()

    def takes(self, component: type[Named]) -> bool:
        """Tell whether a class is of this registry's base."""
        return issubclass(component, self._base)

    def add(self, component: type[_Registered]) -> None:
        """Register a class under its name. Raises ValueError if another class has it."""
        holder = self._classes.setdefault(component.name, component)
        if holder is not component:
            raise ValueError(f"{component.name!r} is already registered by {holder.__module__}.{holder.__qualname__}")


@dataclass(frozen=True, slots=True)
class Fields:
    """The members that are shown of an object, or of each object in a list.

    Attributes:
        shown: name of a member -> the name under which it is shown.
        perfect: name of a score -> the name under which it is shown whether that score is 1.
        required: the member without which an object is left out of its list; empty: none is left out.
    """

    shown: Mapping[str, str]
    perfect: Mapping[str, str] = field(default_factory=dict)
    required: str = ""


def fields(*names: str) -> Fields:
    """Show these members under their own names."""
    return Fields({name: name for name in names})


class SliceFields(NamedTuple):
    """The counts and scores that are shown of the rows of a grouping.

    Attributes:
        counts: the first counts what the output itself has: rows where it is 0 are not shown, and it orders the rest.
        scores: scores of the same rows.
    """

    counts: tuple[str, ...]
    scores: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What a metric shows of an output's own errors without showing gold's annotation (feedback level `items`).

    Everything here lists what is shown, so that a metric that declares nothing shows nothing.

    Attributes:
        members: members of an item that are shown whole: they describe the output alone.
        fields: members of an item that are shown in part.
        scores: scores of a sentence that say only which of the output's own words, brackets or links are wrong.
        counts: counts of a sentence, by the same rule.
        slices: groupings by properties of the output itself -> what their rows show.
        output_sentences: whether items are regrouped by the output's own sentences. A metric that scores the division
            into sentences must not show gold's. Each object of the member `words` then has a member `sentence`.
    """

    members: tuple[str, ...] = ()
    fields: Mapping[str, Fields] = field(default_factory=dict)
    scores: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    slices: Mapping[str, SliceFields] = field(default_factory=dict)
    output_sentences: bool = False


NOTHING_DISCLOSED = Disclosure()


NO_PARTNER = -1
"""Partner of a unit, or sentence of the output, where there is none."""


class MarkState(IntEnum):
    """How a unit fits the other side.

    `ALONE` is a word that the other side does not have, `SPAN` a constituent whose span it does not have, `LINK` a link
    that it does not have.
    """

    RIGHT = 0
    HEAD = 1
    LABEL = 2
    BOTH = 3
    ALONE = 4
    SPAN = 5
    LINK = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What is wrong with the units of an output: its words, constituents, edges or links as they were read.

    Attributes:
        system: `State` of each unit of the output, int64 (s,); units that a metric leaves out are right.
        gold: `State` of each unit of gold, int64 (g,).
        partners: gold's word for each of the output's, NO_PARTNER where it has none, int64 (w,). None: word i is word
            i, or words are not aligned.
        firsts: the output's word with which each sentence of gold begins, and their number: int64 (n + 1,). None:
            sentences are whole.
        sentences: the output's sentence for each of gold's, NO_PARTNER where it has none, int64 (n,). None: sentence i
            is sentence i, or `firsts` tells.
    """

    system: IntArray
    gold: IntArray
    partners: IntArray | None = None
    firsts: IntArray | None = None
    sentences: IntArray | None = None


def word_states(heads: BoolArray, labels: BoolArray) -> IntArray:
    """Return the state of words whose heads and labels are right or not, int64 (w,)."""
    return np.where(heads, 0, int(MarkState.HEAD)) + np.where(labels, 0, int(MarkState.LABEL))


def paired_states(sides: Sequence[Sequence[IntArray]], left: Sequence[IntArray], states: Sequence[IntArray]) -> None:
    """Set the states of units that are compared as multisets: RIGHT, or LABEL where only the last column differs.

    Args:
        sides: columns of the units of gold and of an output, 0 or more where they are compared, each int64 (k,).
        left: those of each side that are compared.
        states: of each side; those of units without a partner are left, int64 (k,).
    """
    left = list(left)
    for size, state in ((None, MarkState.RIGHT), (-1, MarkState.LABEL)):
        golds, systems = ([column[rows] for column in side[:size]] for side, rows in zip(sides, left, strict=True))
        for number, paired in enumerate(paired_rows(golds, systems)):
            states[number][left[number][paired]] = state
            left[number] = np.delete(left[number], paired)


Text = bytes | Mapping[str, bytes]
"""A text as it was sent (UTF-8 expected); a mapping for formats of several texts (`parallel`)."""

ErrorValues = Callable[[Mapping[str, Json]], Iterable[str]]
"""Returns the values of an error that a filter compares with what is asked."""

StatusArray = NDArray[np.uint8]
"""OK, ERROR or SKIP of each sentence."""

OK, ERROR, SKIP = 0, 1, 2
STATUS_NAMES = ("ok", "error", "skip")


class Component(ABC):
    """A format, transform or metric that a request names, with its parameters."""

    name: ClassVar[str]
    doc: ClassVar[str]
    source: ClassVar[str] = ""
    params: ClassVar[Mapping[str, Param]] = {}
    version: ClassVar[int] = 1

    def __init__(self, **values: Json) -> None:
        """Take parameters that are already checked and completed.

        Raises:
            InputError: values that fit the schema but not each other; pointers are below the parameters' object.
        """
        self.values: dict[str, Json] = values

    @classmethod
    def catalogue(cls) -> dict[str, Json]:
        """Return the entry of `GET /v1/scorers`."""
        own = {name: getattr(cls, name) for name in ("name", "doc", "source", "version")}
        return {**own, "params": schema_of(cls.params)}


class Format(Component):
    """A file format: it reads a text as a treebank and writes it back."""

    yields: ClassVar[type[Any]]
    fields: ClassVar[tuple[str, ...]] = ()
    """Names of the texts of a format that takes several; empty for a single text."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """Suffixes of files that are in this format unless the caller names another."""
    usual_metric: ClassVar[str] = ""
    """Name of the metric that scores it where the caller names none; empty: one must be named."""
    usual_params: ClassVar[Mapping[str, Json]] = {}
    """Parameters of that metric then."""
    blank_line_between: ClassVar[bool] = False
    """Whether a blank line must stand between two texts that are joined to one."""
    memory: ClassVar[int] = 100
    """Bytes of memory that a byte of a text may take to be read and scored against an equal gold, at most."""
    example: ClassVar[Text]
    """A small valid text. The tests over all formats read, write and damage it."""

    keeps_heads_outside: bool = False
    """Whether heads outside their sentences are read as they stand where the format would refuse them."""

    @property
    def lenient(self) -> bool:
        """Whether a sentence that cannot be read costs itself alone, not the text."""
        return bool(self.values.get("unreadable") == "sentence")

    @classmethod
    def usual_entry(cls) -> Json:
        """Return the usual metric as a request names it; the empty string where there is none."""
        return {"name": cls.usual_metric, "params": dict(cls.usual_params)} if cls.usual_params else cls.usual_metric

    @abstractmethod
    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> Treebank:
        """Read a text.

        Raises:
            InputError: every problem up to a cap, with line, column, sentence and what to do.
            LimitError: the text exceeds a limit.
        """

    def keeping_heads_outside(self) -> Format:
        """Return the format for metrics that score sentences with heads outside themselves."""
        made = copy(self)
        made.keeps_heads_outside = True
        return made

    @abstractmethod
    def write(self, treebank: Any) -> str:
        """Write the text that reads back as `treebank`."""

    def joinable(self, texts: Mapping[str, bytes]) -> list[bytes]:
        """Return the texts of several files, each with its place, so that no sentence runs into the next file.

        Raises:
            InputError: a text that cannot be joined with the others, at its place.
        """
        return joinable_lines(texts, blank_line=self.blank_line_between)

    @classmethod
    def signs(cls, head: Head) -> Signs | None:  # noqa: ARG003 - for formats whose first lines tell them
        """Return what speaks for this format in the first lines of a text; None where they are not in it."""
        return None

    def inner(self, field: str) -> Format:  # noqa: ARG002 - for formats of several texts
        """Return the format of one of the texts of a format that takes several."""
        return self


class Transform(Component):
    """A preprocessing step from treebank to treebank, named in the request and in the signature."""

    reads: ClassVar[tuple[type[Any], ...]]
    default_on: ClassVar[str] = "both"
    example: ClassVar[Mapping[str, Json]] = {}
    """Parameters under which it changes the formats' examples. The tests over all transforms use them."""

    @property
    def guided(self) -> bool:
        """Whether gold's tags decide which words of an output are deleted: the words that stay reveal these tags."""
        return False

    def yields(self, kind: type[Any]) -> type[Any]:
        """Return the type of the result for a treebank of type `kind`."""
        return kind

    @abstractmethod
    def apply(self, treebank: Any, guide: Any) -> Any:
        """Return the treebank after this step.

        Args:
            treebank: gold or a system's.
            guide: gold before this step (the same object where gold itself is transformed). Where a step deletes
                words, the guide's tags decide, by position; in sentences with another number of words, the
                treebank's own tags.
        """


@dataclass(frozen=True, slots=True)
class ItemInfo:
    """What a request states about its items; each list is parallel to gold's sentences.

    Attributes:
        attributes: named sentence attributes (genre).
        blocks: the document of each sentence.
        seconds: system name -> parse time of each sentence in seconds.
        lengths: words of source and target side of each pair (alignments).
        words: source and target sentence of each pair, words separated by spaces (alignments).
        system: name of the system that is being scored.
    """

    attributes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    blocks: Sequence[str] | None = None
    seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)
    lengths: Sequence[tuple[int, int]] | None = None
    words: Sequence[tuple[str, str]] | None = None
    system: str = ""


@dataclass(frozen=True, slots=True)
class TokenBits:
    """Whether each gold token is right, for McNemar's test: bits bool (w,), offsets int64 (n + 1,)."""

    bits: BoolArray
    offsets: IntArray


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a metric for one pair of treebanks of n sentences.

    Attributes:
        rows: counts, one row per gold sentence, (n, len(count_names)).
        status: OK, ERROR or SKIP of each sentence, uint8 (n,).
        unanswered: sentences in which gold has something to compare and the output nothing that could be, bool (n,);
            None: those whose status is not OK.
        problems: sentence number from 0 -> why its status is not OK.
        tokens: score name -> one bit per token.
        warnings: unusual input that was scored.
        details: computes for the sentences from one number to another the members of their items beside scores and
            counts (`words`, ...), as columns.
        slices: computes grouping name -> rows `{"value": ..., "counts": {...}, "scores": {...}}`.
        extra: computes further tables of the whole text (confusions, frequent errors, diagnosis).
        marks: computes which units of both treebanks are wrong, as the metric saw them; None where it does not say.
    """

    rows: Counts
    status: StatusArray
    unanswered: BoolArray | None = None
    problems: Mapping[int, Problem] = field(default_factory=dict)
    tokens: Mapping[str, TokenBits] = field(default_factory=dict)
    warnings: Sequence[Problem] = ()
    details: Callable[[int, int], Records] = lambda _start, _stop: Records({})
    slices: Callable[[], Mapping[str, Documents]] = dict
    extra: Callable[[], Mapping[str, Json]] = dict
    marks: Callable[[], Marks | None] = lambda: None

    @property
    def totals(self) -> Counts:
        """Return the summed counts, (len(count_names),)."""
        totals: Counts = self.rows.sum(axis=0)
        return totals

    def item(self, index: int) -> dict[str, Json]:
        """Return the members of one sentence's item beside scores and counts."""
        [members] = self.details(index, index + 1).documents(0, 1)
        document: dict[str, Json] = members
        return document

    @property
    def answered(self) -> BoolArray:
        """Return the sentences that the scores cover, bool (n,)."""
        return np.asarray(self.status == OK if self.unanswered is None else ~self.unanswered, np.bool_)


def all_ok(sentences: int) -> StatusArray:
    """Return the status OK for n sentences, uint8 (n,)."""
    return np.zeros(sentences, np.uint8)


ExampleText = str | Mapping[str, str]
"""A text of an example; a mapping for formats of several texts."""


@dataclass(frozen=True, slots=True)
class Example:
    """Sentences that warm a metric up and on which the properties that all metrics share are tested.

    Attributes:
        format: name of the format of all texts.
        sentences: gold and output of each sentence. Each is a complete text of the format; several sentences make one
            text without anything between them.
        params: of the metric.
        transforms: as in a request, applied before the metric.
        interprets_labels: why renaming labels in gold and output alike changes scores; empty where it changes nothing.
    """

    format: str
    sentences: tuple[tuple[ExampleText, ExampleText], ...]
    params: Mapping[str, Json] = field(default_factory=dict)
    transforms: tuple[Json, ...] = ()
    interprets_labels: str = ""

    def request(self, metric: str) -> dict[str, Json]:
        """Return the request that scores the example, without its texts."""
        entry = {"name": metric, "params": dict(self.params)}
        return {"format": self.format, "transforms": list(self.transforms), "metrics": [entry]}

    def gold(self, chosen: Sequence[int] | None = None) -> Text:
        """Return gold's text of these sentences (numbers from 0), of all unless given."""
        return self._text([gold for gold, _ in self.sentences], chosen)

    def output(self, chosen: Sequence[int] | None = None) -> Text:
        """Return the output's text of these sentences (numbers from 0), of all unless given."""
        return self._text([output for _, output in self.sentences], chosen)

    @staticmethod
    def _text(texts: Sequence[ExampleText], chosen: Sequence[int] | None) -> Text:
        picked = texts if chosen is None else [texts[index] for index in chosen]
        if isinstance(texts[0], str):
            return "".join(map(str, picked)).encode()
        return {name: "".join(text[name] for text in picked if not isinstance(text, str)).encode() for name in texts[0]}


class Metric(Component):
    """Counts per sentence, and scores as functions of summed counts."""

    reads: ClassVar[tuple[type[Any], ...]]
    examples: ClassVar[tuple[Example, ...]]
    """Together they reach every compiled function of the metric, and include a sentence of one word."""
    styles: ClassVar[tuple[str, ...]] = ()
    """Names of the report styles (`evalb`) that the metric prints."""
    disclosure: ClassVar[Disclosure] = NOTHING_DISCLOSED
    """What participants see at feedback level `items`."""
    headline: ClassVar[Mapping[str, str]] = {}
    """The scores that a table shows, in order: name -> the head of its column, as the field writes it."""
    headline_below_best: ClassVar[Mapping[str, str]] = {}
    """Further scores with their heads, shown only where some system has less than the best value."""
    extra_notes: ClassVar[Mapping[str, str]] = {}
    """Member of `extra` -> what stands under a table of scores where a system has it."""
    error_filters: ClassVar[Mapping[str, ErrorValues]] = {}
    """Filter of errors (`deprel`, `upos`, `label`) -> what it looks at in a row of `errors_of`."""
    annotation: ClassVar[Mapping[str, str]] = {}
    """What is compared of a word beside its head and its relation: column of the treebank -> of CoNLL-U."""
    own_segmentation: ClassVar[bool] = False
    """Whether an output may have another number of sentences than gold: it is aligned by characters or by names."""
    reads_heads: ClassVar[bool] = True
    """Whether wrong heads of dependency trees matter; if to no metric of a request, they are warnings."""
    compares_edges: ClassVar[bool] = False
    """Whether enhanced edges are compared, not the heads of trees: `edges_in` returns them, and marks are of them."""

    def __reduce__(self) -> tuple[Callable[[], Metric], tuple[()]]:
        """Pickle the parameters: the functions of a table are made of them."""
        return partial(type(self), **self.values), ()

    @property
    @abstractmethod
    def table(self) -> ScoreTable:
        """Count names and scores under these parameters, main score first."""

    @property
    def warnings(self) -> Sequence[Problem]:
        """Unusual parameters that are accepted; pointers are below the parameters' object."""
        return ()

    @abstractmethod
    def evaluate(self, gold: Any, system: Any, items: ItemInfo, limits: Limits) -> Outcome:
        """Compare two treebanks of the same vocabulary.

        Raises:
            InputError: they cannot be compared (other texts, unequal numbers of sentences). `detail` never
                quotes gold; `gold_detail` may.
            LimitError: the comparison would exceed a limit.
        """

    def absent(self, gold: Any, items: ItemInfo, limits: Limits) -> Counts:
        """Return what every sentence of gold counts against a missing output: (n, len(count_names)).

        A sentence without an output counts the same under `errors: zero`, in every count that a score uses.
        """
        return charged(self.table, self.evaluate(gold, gold, items, limits).rows)

    @property
    def scores_wrong_heads(self) -> bool:
        """Whether a sentence of an output counts whose heads lie outside, or cannot be read; else it counts nothing."""
        return not self.reads_heads

    def check_params(self, limits: Limits) -> None:
        """Check parameters that are texts, once before gold.

        Raises:
            InputError: a text cannot be read; pointers are below the parameters' object.
            LimitError: it exceeds a limit.
        """

    def check_gold(self, gold: Any, items: ItemInfo, limits: Limits) -> None:
        """Check that a treebank can serve as gold, once before any system is scored.

        Raises:
            InputError: every requirement that gold does not meet, with its place in gold's text.
        """

    def edges_in(self, treebank: Any) -> Edges:
        """Return the edges of a text that are compared, where `compares_edges`; none of sentences that are not read.

        Raises:
            LimitError: they would be too many.
        """
        raise NotImplementedError

    def errors_of(self, item: Mapping[str, Json], gold: Any) -> Iterator[dict[str, Json]]:  # noqa: ARG002 - for metrics whose items show errors
        """Return what costs the main score in one sentence, a row for each error.

        Args:
            item: of the sentence, as `item_details` makes it.
            gold: after this metric's transforms.

        Returns:
            Rows of equal members; `kind` says what is wrong.
        """
        yield from ()

    def beside_gold(self, item: Mapping[str, Json], gold: Any) -> Iterator[dict[str, Json]]:
        """Return one sentence with gold and output side by side, the member `error` not empty where it is wrong."""
        for row in self.errors_of(item, gold):
            yield {**{name: value for name, value in row.items() if name != "kind"}, "error": row["kind"]}

    @property
    def own_headline(self) -> Mapping[str, str]:
        """The scores that a table shows under the parameters; those of the metric unless it says otherwise."""
        return self.headline

    @property
    def own_styles(self) -> Sequence[str]:
        """The styles of reports that fit the parameters; all that the metric has unless it says otherwise."""
        return self.styles

    def report(self, style: str, outcome: Outcome) -> str:  # noqa: ARG002 - for metrics with styles
        """Print a result in the layout of the original program, byte for byte.

        Raises:
            KeyError: the metric does not print this style.
        """
        raise KeyError(style)

    @classmethod
    def catalogue(cls) -> dict[str, Json]:
        """Return the entry of `GET /v1/scorers`: names, ranges and direction of scores with default parameters."""
        table = make_metric(cls.name, {}).table
        scores = [
            {
                "name": score.name,
                "doc": score.doc,
                "higher_is_better": score.higher_is_better,
                "range": [score.low, score.high],
                "one_sided": score.one_sided,
            }
            for score in table.scores
        ]
        return {
            **super().catalogue(),
            "main_score": table.scores[0].name,
            "scores": scores,
            "counts": list(table.count_names),
            "reports": list(cls.styles),
            "reads": [kind.__name__ for kind in cls.reads],
        }


_Kind = TypeVar("_Kind", bound=type[Component])
_C = TypeVar("_C", bound=Component)


FORMATS: Classes[Format] = Classes(Format)
TRANSFORMS: Classes[Transform] = Classes(Transform)
METRICS: Classes[Metric] = Classes(Metric)
REGISTRIES: tuple[Classes[Any], ...] = (FORMATS, TRANSFORMS, METRICS)


def register(component: _Kind) -> _Kind:
    """Register a format, transform or metric under its name (class decorator).

    Raises:
        ValueError: another class has the name.
    """
    next(known for known in REGISTRIES if known.takes(component)).add(component)
    return component


def load_all() -> None:
    """Load every format, transform and metric now: a process that lives does it before its first request."""
    for known in REGISTRIES:
        known.load_all()


def score_head(address: str, metric: str = "") -> str:
    """Return what a metric's own tables call a score, `LAS` for `ud.las_f1`; else its address.

    Args:
        address: of the score.
        metric: its name, where the address begins with a key of the request.
    """
    key, _, name = address.partition(".")
    known = METRICS.get(metric or key)
    head = None if known is None else {**known.headline, **known.headline_below_best}.get(name)
    if head is None:
        return address
    return head if metric in ("", key) else f"{head} of {key}"


def make_format(name: str, options: Mapping[str, Json]) -> Format:
    """Make a format with its options. Raises InputError with pointers below the options."""
    return _make("format", FORMATS, name, options)


def make_transform(name: str, params: Mapping[str, Json]) -> Transform:
    """Make a transform with its parameters. Raises InputError with pointers below the parameters."""
    return _make("transform", TRANSFORMS, name, params)


def make_metric(name: str, params: Mapping[str, Json]) -> Metric:
    """Make a metric with its parameters. Raises InputError with pointers below the parameters."""
    return _make("metric", METRICS, name, params)


def _make(kind: str, known: Classes[_C], name: str, params: Mapping[str, Json]) -> _C:
    component = known.get(name)
    if component is None:
        names = ", ".join(sorted(known))
        meant = (_scored_by(name) if kind == "metric" else "") or did_you_mean(name, known)
        raise InputError(Problem(f"unknown-{kind}", f"Unknown {kind} {name!r}.{meant} Choose one of: {names}."))
    return component(**checked(f"{kind} {name}", component.params, params))


def _scored_by(name: str) -> str:
    """Say which metrics have a score of this name, or an address that is one; `""` where none has."""
    found = []
    name = "_".join(name.casefold().replace("-", " ").split())
    wanted = name.rpartition(".")[2]
    for metric in METRICS:
        scores = [score.name for score in make_metric(metric, {}).table.scores]
        own = [score for score in scores if score == wanted or score.startswith(f"{wanted}_")]
        own.sort(key=lambda score: (score != wanted, not score.endswith("_f1")))
        if own and name in (wanted, f"{metric}.{wanted}"):
            found.append((metric, f"{metric}.{own[0]}"))
    if not found:
        return ""
    metrics, addresses = (" and ".join(names) for names in zip(*found, strict=True))
    return f" {name!r} is a score of {metrics}: name the metric, and as the score {addresses.replace(' and ', ' or ')}."
