"""What a format, a transform and a metric are, and the three lists of them.

A new one is one file in `formats/`, `transforms/` or `metrics/` with a class under `@register`.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from treescore.core.arrays import BoolArray, Counts, IntArray
from treescore.core.disclosure import NOTHING, Disclosure
from treescore.core.params import Json, Param, checked, schema_of
from treescore.core.trees import Treebank
from treescore.errors import InputError, Problem

if TYPE_CHECKING:
    from treescore.core.limits import Limits
    from treescore.core.scores import ScoreTable
    from treescore.core.vocabulary import Vocabulary

Text = bytes | Mapping[str, bytes]
"""A text as it was sent (UTF-8 expected); a mapping for formats of several texts (`parallel`)."""

OK, ERROR, SKIP = 0, 1, 2
STATUS_NAMES = ("ok", "error", "skip")


class Component(ABC):
    """Something that a request names, with parameters."""

    name: ClassVar[str]
    doc: ClassVar[str]
    source: ClassVar[str] = ""
    params: ClassVar[Mapping[str, Param]] = {}
    version: ClassVar[int] = 1

    def __init__(self, **values: Json) -> None:
        """Take parameters already checked and completed by `make`.

        Raises:
            InputError: values that fit the schema but make no sense; pointers are below the parameters' object.
        """
        self.values: dict[str, Json] = values

    @classmethod
    def catalogue(cls) -> dict[str, Json]:
        """What `GET /v1/scorers` says of it."""
        return {
            "name": cls.name,
            "doc": cls.doc,
            "source": cls.source,
            "version": cls.version,
            "params": schema_of(cls.params),
        }


class Format(Component):
    """A file format: text to treebank and back."""

    yields: ClassVar[type[Any]]
    fields: ClassVar[tuple[str, ...]] = ()
    """Names of its texts where one value takes several; empty for a single text."""

    @abstractmethod
    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> Treebank:
        """The treebank.

        Raises:
            InputError: what is wrong, with line, column, sentence and mend, several at once.
            LimitError: a bound is passed.
        """

    @abstractmethod
    def write(self, treebank: Any) -> str:
        """The text that reads back as `treebank`."""


class Transform(Component):
    """A preprocessing step, treebank to treebank, explicit and part of the signature."""

    reads: ClassVar[tuple[type[Any], ...]]
    default_on: ClassVar[str] = "both"

    @property
    def guided(self) -> bool:
        """Whether gold's tags decide which words of an output are deleted: what is left then tells of them."""
        return False

    def yields(self, kind: type[Any]) -> type[Any]:
        """The type it makes of a treebank of type `kind`."""
        return kind

    @abstractmethod
    def apply(self, treebank: Any, guide: Any) -> Any:
        """The treebank after this step.

        Args:
            treebank: gold or a system's.
            guide: gold as it stood before this step (the same object where gold itself is transformed). Where a
                step deletes words, the guide's tags decide, by position; in sentences whose numbers of words
                differ, the treebank's own.
        """


@dataclass(frozen=True, slots=True)
class ItemInfo:
    """What a request says of its items, each list parallel to gold's sentences.

    Attributes:
        attributes: named sentence attributes (genre).
        blocks: the document of each sentence.
        seconds: system name -> parse time of each sentence.
        lengths: words of source and target side of each pair (alignments).
        system: name of the system that is scored at the moment.
    """

    attributes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    blocks: Sequence[str] | None = None
    seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)
    lengths: Sequence[tuple[int, int]] | None = None
    system: str = ""


@dataclass(frozen=True, slots=True)
class TokenBits:
    """One bit a gold token, right or wrong, for McNemar: bits bool (w,), offsets int64 (n + 1,)."""

    bits: BoolArray
    offsets: IntArray


def _no_details(_index: int) -> dict[str, Json]:
    return {}


def _no_slices() -> dict[str, list[dict[str, Json]]]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a metric found in one pair of treebanks of n sentences.

    Attributes:
        rows: counts, one row a gold sentence, (n, len(count_names)).
        status: OK, ERROR or SKIP of each sentence, uint8 (n,).
        problems: sentence -> why its status is ERROR.
        tokens: score name -> one bit a token.
        warnings: what a user should know though it was scored.
        details: sentence number from 0 -> what its item shows beyond scores and counts (`words`, ...).
        slices: makes grouping name -> rows `{"value": ..., "counts": {...}, "scores": {...}}`.
        extra: further tables of the whole (confusions, frequent errors, diagnosis), made on demand.
    """

    rows: Counts
    status: Any
    problems: Mapping[int, Problem] = field(default_factory=dict)
    tokens: Mapping[str, TokenBits] = field(default_factory=dict)
    warnings: Sequence[Problem] = ()
    details: Callable[[int], dict[str, Json]] = _no_details
    slices: Callable[[], Mapping[str, Sequence[Mapping[str, Json]]]] = _no_slices
    extra: Callable[[], Mapping[str, Json]] = dict

    @property
    def totals(self) -> Counts:
        """Summed counts, (len(count_names),)."""
        totals: Counts = self.rows.sum(axis=0)
        return totals


def all_ok(sentences: int) -> Any:
    """Status of n sentences none of which failed, uint8 (n,)."""
    return np.zeros(sentences, np.uint8)


class Metric(Component):
    """Counts of each sentence, then scores of summed counts."""

    reads: ClassVar[tuple[type[Any], ...]]
    styles: ClassVar[tuple[str, ...]] = ()
    """Names of the report styles (`evalb`) that it prints."""
    disclosure: ClassVar[Disclosure] = NOTHING
    """What participants see at feedback level `items`."""
    own_segmentation: ClassVar[bool] = False
    """Whether a system's number of sentences may differ from gold's: it aligns characters, or names sentences."""

    @property
    @abstractmethod
    def table(self) -> ScoreTable:
        """Count names and scores under these parameters."""

    @property
    def warnings(self) -> Sequence[Problem]:
        """What is odd in these parameters though they are taken; pointers are read below the parameters."""
        return ()

    @abstractmethod
    def evaluate(self, gold: Any, system: Any, items: ItemInfo, limits: Limits) -> Outcome:
        """Compare two treebanks of the same vocabulary.

        Raises:
            InputError: they cannot be compared (other texts, unequal numbers of sentences). `detail` never
                quotes gold; `gold_detail` may.
            LimitError: the comparison would pass a bound.
        """

    def check_gold(self, gold: Any, items: ItemInfo, limits: Limits) -> None:
        """Whether a treebank can serve as gold, asked once before any system is scored.

        Raises:
            InputError: what gold must be and is not, with its places; problems stand at gold.
        """

    def report(self, style: str, outcome: Outcome) -> str:  # noqa: ARG002 - for metrics with styles
        """The original program's own layout, to the byte."""
        raise KeyError(style)

    @classmethod
    def catalogue(cls) -> dict[str, Json]:
        """What `GET /v1/scorers` says of it: with default parameters, names of scores and their direction."""
        table = make_metric(cls.name, {}).table
        scores = [
            {
                "name": score.name,
                "doc": score.doc,
                "higher_is_better": score.higher_is_better,
                "range": [score.low, score.high],
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


FORMATS: dict[str, type[Format]] = {}
TRANSFORMS: dict[str, type[Transform]] = {}
METRICS: dict[str, type[Metric]] = {}

_Kind = TypeVar("_Kind", bound=type[Component])


def register(component: _Kind) -> _Kind:
    """Class decorator: put a format, transform or metric on its list.

    Raises:
        ValueError: the name is taken.
    """
    lists: dict[type[Component], dict[str, Any]] = {Format: FORMATS, Transform: TRANSFORMS, Metric: METRICS}
    known = next(names for base, names in lists.items() if issubclass(component, base))
    holder = known.setdefault(component.name, component)
    if holder is not component:
        raise ValueError(f"{component.name!r} is taken by {holder.__module__}.{holder.__qualname__}")
    return component


def import_siblings(package: str, path: Sequence[str]) -> None:
    """Import every module of a package, so that their classes register themselves."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")


def make_format(name: str, options: Mapping[str, Json]) -> Format:
    """A format with its options. Raises InputError with pointers below the options."""
    return _make("format", FORMATS, name, options)


def make_transform(name: str, params: Mapping[str, Json]) -> Transform:
    """A transform with its parameters. Raises InputError with pointers below the parameters."""
    return _make("transform", TRANSFORMS, name, params)


def make_metric(name: str, params: Mapping[str, Json]) -> Metric:
    """A metric with its parameters. Raises InputError with pointers below the parameters."""
    return _make("metric", METRICS, name, params)


_C = TypeVar("_C", bound=Component)


def _make(kind: str, known: Mapping[str, type[_C]], name: str, params: Mapping[str, Json]) -> _C:
    found = known.get(name)
    if found is None:
        names = ", ".join(sorted(known))
        raise InputError([Problem(code=f"unknown-{kind}", detail=f"There is no {kind} {name!r}. There are: {names}.")])
    return found(**checked(f"{kind} {name}", found.params, params))
