"""What pictures of sentences are made of. What is in these may be seen; what a caller may not see stays out of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

AGREED: Final = "agreed"
WRONG: Final = "wrong"
LABEL: Final = "label"
CROSSING: Final = "crossing"
MISSED: Final = "missed"
ArcMark = Literal["agreed", "wrong", "label"]
SpanMark = Literal["agreed", "wrong", "label", "crossing"]
LinkMark = Literal["agreed", "wrong", "missed"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is drawn.

    Attributes:
        number: below it; `5.1` of an empty node.
        form: the word.
    """

    number: str
    form: str


@dataclass(frozen=True, slots=True)
class Arc:
    """The arc from a head to its dependent.

    Attributes:
        head: index of the word; None of a root.
        dependent: index of the word.
        label: the relation.
        mark: `agreed`, `wrong` (the head, or all that is known), `label` (the relation only).
    """

    head: int | None
    dependent: int
    label: str
    mark: ArcMark = "agreed"


@dataclass(frozen=True, slots=True)
class DependencyHalf:
    """One analysis of a sentence: its words and the arcs between them."""

    words: tuple[Word, ...]
    arcs: tuple[Arc, ...]


@dataclass(frozen=True, slots=True)
class DependencySentence:
    """The analyses of one sentence, one above the words and one below. At least one is given.

    Attributes:
        title: of the picture.
        gold: the half above.
        system: the half below; without `gold` it is drawn above.
        links: pairs of words of both halves, by index, where the halves have other words; None finds them by
            characters.
        upper: name of the half above; names other than `gold` and `system` are written into the picture.
        lower: name of the half below.
        compared: both halves are outputs, marked against a gold that is not drawn.
    """

    title: str
    gold: DependencyHalf | None
    system: DependencyHalf | None
    links: tuple[tuple[int, int], ...] | None = None
    upper: str = "gold"
    lower: str = "system"
    compared: bool = False

    @property
    def same_words(self) -> bool:
        """Whether one row of words serves all halves."""
        return self.gold is None or self.system is None or self.gold.words == self.system.words


@dataclass(frozen=True, slots=True)
class Span:
    """A constituent over the words `start` to `end`, without the last.

    Attributes:
        label: its category.
        start: index of its first word.
        end: index after its last word.
        mark: `agreed`, `wrong`, `label` (these words have another label on the other side), `crossing`.
    """

    label: str
    start: int
    end: int
    mark: SpanMark = "agreed"


@dataclass(frozen=True, slots=True)
class Branch:
    """A constituent that may have gaps.

    Attributes:
        label: its category.
        parent: position of the one above it among those of its side, which comes before; None of the root.
        words: indices of the words directly below it.
        mark: as of a `Span`.
    """

    label: str
    parent: int | None
    words: tuple[int, ...]
    mark: SpanMark = "agreed"


Constituents = tuple[Span, ...] | tuple[Branch, ...]
"""The constituents of one side of a sentence."""


@dataclass(frozen=True, slots=True)
class ConstituentSentence:
    """The constituents of a sentence on both sides of its words.

    Each side lists outer constituents before inner ones; of those with the same words the first is the outer one.

    Attributes:
        title: of the picture.
        words: of the sentence.
        gold: what grows up; None if it is not shown.
        system: what grows down; without `gold` it grows up.
        upper: name of the side above; names other than `gold` and `system` are written into the picture.
        lower: name of the side below.
        compared: both sides are outputs, marked against a gold that is not drawn.
    """

    title: str
    words: tuple[str, ...]
    gold: Constituents | None
    system: Constituents | None
    upper: str = "gold"
    lower: str = "system"
    compared: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A link between a word of the source and one of the target.

    Attributes:
        source: index of the word; None of a link to no word.
        target: the same of the target.
        mark: `agreed`, `wrong` (gold lacks it), `missed` (the output lacks it).
        sure: whether gold calls it sure; of a wrong link it says nothing.
    """

    source: int | None
    target: int | None
    mark: LinkMark = "agreed"
    sure: bool = True


@dataclass(frozen=True, slots=True)
class AlignmentSentence:
    """A pair of sentences with the links of gold and output.

    Attributes:
        title: of the picture.
        source: words of the source.
        target: words of the target.
        links: those of both sides, each once.
    """

    title: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a picture shows, as a table beside it.

    Attributes:
        header: names of the columns.
        rows: as many cells each.
        note: what is left out, as the picture says it; empty if nothing is.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
