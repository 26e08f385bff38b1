"""What pictures of sentences are made of. What is in these may be seen; what a caller may not see stays out of them.

Words and labels are shown on one line, of bounded length, in the direction of their letters. Agreed lines are thin and
grey, errors thick and coloured, dashed where only the label is wrong. The library makes them from gold and what a
metric says of the output (`drawing_of`), the service from a document of trees.
"""

import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Final, Literal

import numpy as np

from treescore.core.params import Json
from treescore.core.registry import OK, STATUS_NAMES, Metric
from treescore.core.structure import crossing_spans
from treescore.core.text import is_punctuation
from treescore.core.trees import Alignments, ConstituentTreebank, DependencyTreebank, SemanticTreebank
from treescore.core.wording import one_line
from treescore.metrics.shared.constituents import compared_words
from treescore.render import drawing as draw

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
        note: what is left out of a drawn part; empty of a whole sentence.
    """

    title: str
    gold: DependencyHalf | None
    system: DependencyHalf | None
    links: tuple[tuple[int, int], ...] | None = None
    note: str = ""

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
        note: what is left out of a drawn part; empty of a whole sentence.
    """

    title: str
    words: tuple[str, ...]
    gold: Constituents | None
    system: Constituents | None
    note: str = ""


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
        note: what is left out of a drawn part; empty of a whole sentence.
    """

    title: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[Link, ...]
    note: str = ""


Drawable = DependencySentence | ConstituentSentence | AlignmentSentence


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


def note_of(more: Mapping[str, int], *others: str) -> str:
    """Return the sentence that says how many words, levels, ... are not drawn, and what `others` say."""
    left_out = [f"{number:,} more {what}{'s' * (number > 1)}" for what, number in more.items() if number > 0]
    said = "; ".join([*(["… and " + ", ".join(left_out)] if left_out else []), *others])
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def where_sides(names: Iterable[str], *, mirrored: bool) -> str:
    """Return the sentence that says which side stands where, and whether the words run from right to left."""
    placed = ", ".join(f"{name} {place}" for name, place in zip(names, ("above", "below"), strict=False))
    return f"{placed[:1].upper()}{placed[1:]}{', read from right to left' if mirrored else ''}."


FORM_SIZE, LABEL_SIZE, SMALL_SIZE = 16.5, 13.0, 10.5
"""Sizes of words, of labels and of numbers."""
_FORM_ROOM, _LABEL_ROOM, _NUMBER_ROOM = 200.0, 140.0, 48.0
_MOST_LETTERS = 120
"""Of a word: marks that take no room would make it endless."""
_NO_VALUE = "_"


def shown_form(form: str) -> str:
    """Return a word as it is drawn."""
    return _bounded(form, _FORM_ROOM, FORM_SIZE, draw.BOLD) or _NO_VALUE


def shown_label(label: str) -> str:
    """Return a label as it is drawn; an empty one stays empty."""
    return _bounded(label, _LABEL_ROOM, LABEL_SIZE, draw.BOLD)


def shown_number(number: str) -> str:
    """Return the number of a word as it is drawn."""
    return _bounded(number, _NUMBER_ROOM, SMALL_SIZE, draw.NORMAL)


def form_width(form: str) -> float:
    """Return the width of a word that is shown; right or wrong, it keeps its place."""
    return draw.width(form, FORM_SIZE, draw.BOLD)


def right_to_left(texts: Iterable[str]) -> bool:
    """Tell whether most of the letters with a direction run from right to left."""
    left = right = 0
    for text in texts:
        if text.isascii():
            left += sum(map(str.isalpha, text))
            continue
        for letter in text:
            kind = unicodedata.bidirectional(letter)
            left += kind == "L"
            right += kind in ("R", "AL")
    return right > left


def _bounded(text: str, room: float, size: float, weight: int) -> str:
    head = text[: 2 * _MOST_LETTERS]
    return _shown(head, room, size, weight, cut=len(head) < len(text))


@lru_cache(maxsize=4096)
def _shown(head: str, room: float, size: float, weight: int, *, cut: bool) -> str:
    kept = one_line(head).strip()
    if len(kept) > _MOST_LETTERS or cut:
        kept = kept[:_MOST_LETTERS] + "…"
    return draw.shortened(kept, room, size, weight)


@dataclass(frozen=True, slots=True)
class LineStyle:
    """The look of a line and of what belongs to it.

    Attributes:
        classes: for the sheet of a page.
        colour: of the line.
        ink: of its label.
        stroke: attributes of the line.
        halo: attributes of its label, which is drawn over lines.
    """

    classes: str
    colour: str
    ink: str
    stroke: dict[str, str]
    halo: dict[str, str]


@cache
def line_style(mark: str, kind: str) -> LineStyle:
    """Return the look of a line.

    Args:
        mark: one of those of `sentence_shapes`.
        kind: of the half: `gold` or `bad`.
    """
    halo = {"stroke": draw.PAPER, "stroke_width": "5", "stroke_linejoin": "round", "paint_order": "stroke"}
    if mark == AGREED:
        return LineStyle("ok", draw.AGREED_COLOUR, draw.SOFT, {"stroke": draw.AGREED_COLOUR, "stroke_width": "1"}, halo)
    colour = draw.GOLD if kind == "gold" else draw.WRONG_COLOUR
    stroke = {"stroke": colour, "stroke_width": "2"}
    if mark == LABEL:
        return LineStyle(
            f"{kind} lab", colour, colour, {**stroke, "stroke_dasharray": draw.DASH}, {**halo, "font_weight": "600"}
        )
    return LineStyle(kind, colour, colour, stroke, {**halo, "font_weight": "600"})


def link_style(mark: str, *, sure: bool) -> LineStyle:
    """Return the look of a link between two words; possible links are dashed, and thin where none is an error.

    Args:
        mark: one of those of links.
        sure: whether gold calls the link sure.
    """
    style = line_style(AGREED, "gold") if mark == AGREED else line_style(WRONG, "bad" if mark == WRONG else "gold")
    if sure or mark == WRONG:
        return style
    thin = {**style.stroke, "stroke_width": "1", "stroke_dasharray": draw.DASH}
    return replace(style, classes=f"{style.classes} lab", stroke=thin)


Row = Mapping[str, Json]
_DEPENDENCIES = {"word", "gold_head", "gold_deprel", "system_head", "system_deprel"}
_EDGES = {"argument", "predicate", "gold_label", "system_label"}
_BRACKETS = {"label", "start", "end", "gold", "system"}
_LINKS = {"source", "target", "link", "gold", "system"}


def drawing_of(metric: Metric, gold: Any, item: Row, rows: Sequence[Row], title: str) -> Drawable | None:
    """Return what a picture of a sentence shows; None where it cannot be drawn.

    Args:
        metric: what compared it.
        gold: the treebank, as the metric sees it.
        item: the sentence.
        rows: its `beside_gold`.
        title: of the picture.
    """
    if item["status"] != STATUS_NAMES[OK] or not rows:
        return None
    columns = set(rows[0])
    if isinstance(gold, DependencyTreebank) and columns >= _DEPENDENCIES:
        return _dependencies(metric, gold, item, rows, title)
    if isinstance(gold, ConstituentTreebank) and columns >= _BRACKETS:
        return _constituents(metric, gold, item, rows, title)
    if isinstance(gold, SemanticTreebank) and columns >= _EDGES:
        return _graph(gold, item, rows, title)
    return _alignment(rows, title) if isinstance(gold, Alignments) and columns >= _LINKS else None


def _dependencies(
    metric: Metric, gold: DependencyTreebank, item: Row, rows: Sequence[Row], title: str
) -> DependencySentence | None:
    """Return both halves over gold's words; what agrees has gold's head and relation on both sides."""
    if [row["word"] for row in rows] != list(range(1, len(rows) + 1)):
        return None
    if any(row.get("system_word", row["word"]) != row["word"] for row in metric.errors_of(item, gold)):
        return None
    words = tuple(Word(str(row["word"]), row["form"]) for row in rows)
    agreed_as_gold = [
        row if row["error"] else {**row, "system_head": row["gold_head"], "system_deprel": row["gold_deprel"]}
        for row in rows
    ]
    # What the output has of a word that is not scored is unknown.
    scored = [
        row for row in agreed_as_gold if metric.values.get("punctuation", True) or not is_punctuation(row["form"])
    ]
    gold_half = DependencyHalf(words, _arcs(agreed_as_gold, "gold", len(words)))
    return DependencySentence(title, gold_half, DependencyHalf(words, _arcs(scored, "system", len(words))))


def _arcs(rows: Iterable[Row], side: str, words: int) -> tuple[Arc, ...]:
    """Return the arcs of one side; words without a head that is a word or the root have none."""
    heads = [(row, _head(row[f"{side}_head"], words)) for row in rows]
    return tuple(
        Arc(head - 1 if head else None, row["word"] - 1, row[f"{side}_deprel"] or "", _arc_mark(row))
        for row, head in heads
        if head is not None
    )


def _head(value: Json, words: int) -> int | None:
    """Return a head that is a word or the root; None for all else that texts have in its place."""
    text = str(value)
    head = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else words + 1
    return head if head <= words else None


def _arc_mark(row: Row) -> ArcMark:
    if not row["error"]:
        return "agreed"
    return "label" if str(row["gold_head"]) == str(row["system_head"]) else "wrong"


def _graph(gold: SemanticTreebank, item: Row, rows: Sequence[Row], title: str) -> DependencySentence:
    """Return both graphs over gold's words; edges that agree have gold's role on both sides, tops are roots."""
    here = slice(*gold.word_offsets[item["item"] - 1 : item["item"] + 1].tolist())
    strings = gold.vocabulary.strings
    words = tuple(Word(str(number), strings[form]) for number, form in enumerate(gold.forms[here].tolist(), 1))

    def half(side: str) -> DependencyHalf:
        edges = [(row, row[side] if row["error"] else row["gold_label"]) for row in rows]
        return DependencyHalf(words, tuple(_edge(row, label) for row, label in edges if label is not None))

    return DependencySentence(title, half("gold_label"), half("system_label"))


def _edge(row: Row, label: str) -> Arc:
    both = row["gold_label"] is not None and row["system_label"] is not None
    mark: ArcMark = "agreed" if not row["error"] else "label" if both else "wrong"
    predicate = row["predicate"]
    return Arc(predicate - 1 if predicate else None, row["argument"] - 1, label if predicate else "", mark)


def _constituents(
    metric: Metric, gold: ConstituentTreebank, item: Row, rows: Sequence[Row], title: str
) -> ConstituentSentence | None:
    """Return both sides over the words that are compared; None where brackets count other things than words."""
    words = tuple(compared_words(gold, item["item"] - 1, set(metric.values.get("delete_labels", ()))))
    first = metric.values.get("first_word", 0)
    if first != 0 or metric.values.get("empty_constituents") == "word" or max(row["end"] for row in rows) > len(words):
        return None
    own = {side: {(row["start"], row["end"]) for row in rows if row[side]} for side in ("gold", "system")}
    systems = [row for row in rows if row["system"]]
    places = np.array([(row["start"], row["end"]) for row in systems], np.int64).reshape(-1, 2)
    golds = np.array(list(own["gold"]), np.int64).reshape(-1, 2)
    crosses = crossing_spans(places[:, 0], places[:, 1], golds).tolist()
    gold_spans = tuple(_span(row, own["system"], crossing=False) for row in rows if row["gold"])
    system_spans = tuple(
        _span(row, own["gold"], crossing=crossing) for row, crossing in zip(systems, crosses, strict=True)
    )
    return ConstituentSentence(title, words, gold_spans, system_spans)


def _span(row: Row, others: Container[tuple[int, int]], *, crossing: bool) -> Span:
    start, end = row["start"], row["end"]
    mark: SpanMark = "agreed"
    if row["error"]:
        mark = "label" if (start, end) in others else "crossing" if crossing else "wrong"
    return Span(row["label"], start, end, mark)


def _alignment(rows: Sequence[Row], title: str) -> AlignmentSentence:
    """Return the links over numbered words: alignments have no text."""
    source, target = (
        tuple(str(word) for word in range(1, max(row[side] for row in rows) + 1)) for side in ("source", "target")
    )
    return AlignmentSentence(title, source, target, tuple(map(_link, rows)))


def _link(row: Row) -> Link:
    source, target = (None if row[side] == 0 else row[side] - 1 for side in ("source", "target"))
    mark: LinkMark = "agreed" if row["gold"] and row["system"] else "missed" if row["gold"] else "wrong"
    return Link(source, target, mark, sure=row["link"] == "S")


EDGE = 8.0
"""Between words and the edges of a picture."""
_LEAST = 160.0
_NOTE = 24.0
"""Height of the note below."""


class SentencePicture:
    """What pictures of sentences share: their texts, a note below, and columns that other scripts mirror.

    Args:
        drawing: to which all is added.
        note: below it.
        widths: of its lines.
        mirrored: the words run from right to left.
    """

    def __init__(self, drawing: draw.Drawing, note: str, widths: Iterable[float], *, mirrored: bool) -> None:
        self._drawing = drawing
        self._note = note
        self._mirrored = mirrored
        self._width = max([_LEAST, draw.width(note, LABEL_SIZE) + 2 * EDGE, *widths])

    def _x(self, x: float) -> float:
        return self._width - x if self._mirrored else x

    def _text(
        self, x: float, y: float, words: str, anchor: str | None = draw.MIDDLE, *, size: float, **attributes: str | None
    ) -> None:
        if self._mirrored and anchor != draw.MIDDLE:
            anchor = draw.END if anchor == draw.START else draw.START
        self._drawing.text(self._x(x), y, words, size=size, text_anchor=anchor, **attributes)

    def _form(self, x: float, y: float, form: str, anchor: str = draw.MIDDLE, *, wrong: bool = False) -> None:
        self._text(
            x, y, form, anchor, size=FORM_SIZE, class_="form wrong" if wrong else "form", fill=draw.INK,
            font_weight="650" if wrong else None, direction="rtl" if self._mirrored else None,
        )  # fmt: skip

    def _number(self, x: float, y: float, number: str) -> None:
        self._text(x, y, number, size=SMALL_SIZE, class_="num", fill=draw.SOFT)

    def _label(self, x: float, y: float, words: str, style: LineStyle, size: float = LABEL_SIZE) -> None:
        self._text(x, y, words, size=size, class_=f"rel {style.classes}", fill=style.ink, **style.halo)

    def _finished(self, bottom: float, note_at: float, anchor: str | None = draw.START) -> str:
        """Return the picture with its note."""
        if self._note:
            self._text(EDGE, note_at, self._note, anchor, size=LABEL_SIZE, class_="note ok", fill=draw.SOFT)
            bottom += _NOTE
        return self._drawing.svg(self._width, max(bottom, _NOTE))
