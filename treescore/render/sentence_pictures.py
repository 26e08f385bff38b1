"""The picture of a sentence of any kind, and what it shows as a table; word alignments are drawn here.

An alignment is source and target as two columns with the links between them. The same in words and as a table is for
those who do not see the picture.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from treescore.core.wording import counted
from treescore.render import sentence_shapes as shapes
from treescore.render.constituents_picture import constituent_facts, constituents_svg, drawn_constituents
from treescore.render.dependencies_picture import dependencies_svg, dependency_facts, drawn_dependencies
from treescore.render.dependency_layout import agreed_first
from treescore.render.drawing import END, START, Drawing, number

MOST_ALIGNED_WORDS = 150
"""Words of a side that are drawn; the picture says if there are more."""
MOST_LINKS = 600
"""Links that are drawn, errors before others; the picture says if there are more."""
NULL = "\u2205"
"""Stands for the missing word of a link."""
_LISTED = 40
"""Links of a kind that the description names."""


def drawn_alignment(sentence: shapes.AlignmentSentence) -> shapes.AlignmentSentence:
    """Return the pair with what is drawn of it; links in the order of their words."""
    source, target = sentence.source[:MOST_ALIGNED_WORDS], sentence.target[:MOST_ALIGNED_WORDS]
    links = _between(sentence, len(source), len(target))
    words = max(len(sentence.source), len(sentence.target))
    note = sentence.note or shapes.note_of({"word": words - MOST_ALIGNED_WORDS, "link": len(links) - MOST_LINKS})
    if len(links) > MOST_LINKS:
        links = sorted(links, key=lambda link: not _error(link))[:MOST_LINKS]
    return replace(sentence, source=source, target=target, links=tuple(sorted(links, key=_link_place)), note=note)


def alignment_facts(sentence: shapes.AlignmentSentence, *, every: bool = False) -> shapes.Facts:
    """Return the wrong links and the missed sure ones.

    Args:
        sentence: what is drawn.
        every: list the others too.
    """
    sentence = drawn_alignment(sentence)
    rows = [_link_row(sentence, link) for link in sentence.links if every or _error(link)]
    return shapes.Facts(("No.", "Source", "No.", "Target", "Link", "Wrong"), tuple(rows), sentence.note)


def _alignment_described(sentence: shapes.AlignmentSentence) -> str:
    """Return the description of the drawn pair for those who cannot see it."""
    parts = ["Source on the left, target on the right.", *_listed_links(sentence, shapes.WRONG, "Not in gold")]
    parts += _listed_links(sentence, shapes.MISSED, "Missed")
    if len(parts) == 1:
        parts.append("No link is wrong.")
    return " ".join(filter(None, [*parts, sentence.note]))


def _listed_links(sentence: shapes.AlignmentSentence, mark: str, head: str) -> Iterator[str]:
    rows = [_link_row(sentence, link) for link in sentence.links if _error(link) and link.mark == mark]
    named = [" ".join(filter(None, (source, at, "-", target, to))) for at, source, to, target, *_ in rows[:_LISTED]]
    more = [f"and {counted(len(rows) - _LISTED, 'other')}"] if len(rows) > _LISTED else []
    if named:
        yield f"{head}: {'; '.join([*named, *more])}."


def _link_row(sentence: shapes.AlignmentSentence, link: shapes.Link) -> tuple[str, ...]:
    kind = "" if link.mark == shapes.WRONG else "sure" if link.sure else "possible"
    wrong = link.mark if _error(link) else ""
    return (*_word(sentence.source, link.source), *_word(sentence.target, link.target), kind, wrong)


def _word(words: Sequence[str], index: int | None) -> tuple[str, str]:
    return ("", NULL) if index is None else (str(index + 1), shapes.shown_form(words[index]))


def _error(link: shapes.Link) -> bool:
    return link.mark != shapes.AGREED and (link.sure or link.mark == shapes.WRONG)


def _link_place(link: shapes.Link) -> tuple[int, int]:
    return (-1 if link.source is None else link.source, -1 if link.target is None else link.target)


def _between(sentence: shapes.AlignmentSentence, source: int, target: int) -> list[shapes.Link]:
    """Return the links between words of the sentence that are drawn; a link needs a word on one side."""
    above, below = range(min(source, len(sentence.source))), range(min(target, len(sentence.target)))
    return [
        link
        for link in sentence.links
        if (link.source is None or link.source in above)
        and (link.target is None or link.target in below)
        and (link.source, link.target) != (None, None)
    ]


_PITCH, _MOST_PITCH = 26.0, 52.0
_LINK_PAD = 18.0
_BETWEEN_SIDES = 220.0
"""Between the columns."""
_NUMBER = 26.0
"""Room of a number beside a word."""
_STUB, _RISE, _MARK = 20.0, 9.0, 7.0
"""Length and rise of a link to no word, and from its end to the middle of its mark."""


def alignment_svg(sentence: shapes.AlignmentSentence, *, name: str = "alignment") -> str:
    """Return the picture of a pair as SVG; equal pairs give equal bytes.

    Args:
        sentence: what is drawn; of more than MOST_WORDS words the first.
        name: of the picture, for its ids: letters, digits and hyphens.
    """
    return _AlignmentPicture(drawn_alignment(sentence), name).svg()


class _AlignmentPicture(shapes.SentencePicture):
    def __init__(self, sentence: shapes.AlignmentSentence, name: str) -> None:
        self._sentence = sentence
        self._forms = [
            [shapes.shown_form(word) for word in side] for side in (self._sentence.source, self._sentence.target)
        ]
        rooms = [max((shapes.form_width(form) for form in forms), default=0.0) for forms in self._forms]
        self._left = shapes.EDGE + rooms[0] + _NUMBER
        self._right = self._left + _BETWEEN_SIDES
        drawing = Drawing(name, sentence.title, _alignment_described(sentence))
        super().__init__(drawing, sentence.note, [self._right + _NUMBER + rooms[1] + shapes.EDGE], mirrored=False)
        self._height = _PITCH * max(map(len, self._forms))
        self._ys = [self._middles(len(forms)) for forms in self._forms]

    def svg(self) -> str:
        links = self._sentence.links
        for index in agreed_first((link.mark, at) for at, link in enumerate(links)):
            self._link(links[index])
        for link in links:
            if link.source is None or link.target is None:
                self._null(link)
        self._column(self._forms[0], self._ys[0], self._left, END)
        self._column(self._forms[1], self._ys[1], self._right, START)
        height = self._height + 2 * _LINK_PAD
        return self._finished(height, height, None)

    def _middles(self, count: int) -> list[float]:
        """Return the middle of each word of a column; the shorter one is spread, so that links cross less."""
        pitch = min(_MOST_PITCH, self._height / count) if count else 0.0
        first = _LINK_PAD + (self._height - pitch * count) / 2 + pitch / 2
        return [first + pitch * index for index in range(count)]

    def _column(self, forms: Sequence[str], ys: Sequence[float], x: float, anchor: str) -> None:
        away = -1 if anchor == END else 1
        wrong = {
            link.source if anchor == END else link.target for link in self._sentence.links
            if link.mark != shapes.AGREED and (link.sure or link.mark == "wrong")
        }  # fmt: skip
        for index, (form, y) in enumerate(zip(forms, ys, strict=True)):
            self._form(x + away * _NUMBER, y + 5.5, form, anchor, wrong=index in wrong)
            if form != str(index + 1):
                self._number(x + away * _NUMBER / 2, y + 4, str(index + 1))

    def _link(self, link: shapes.Link) -> None:
        style = shapes.link_style(link.mark, sure=link.sure)
        (x, y), (other_x, other_y) = self._ends(link)
        path = f"M{number(x)} {number(y)}L{number(other_x)} {number(other_y)}"
        self._drawing.path(path, class_=f"arc {style.classes}", **style.stroke)

    def _ends(self, link: shapes.Link) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return both ends of a line; one to no word is short and rises, so that it lies on no other line."""
        left, right = self._left + 2, self._right - 2
        source = None if link.source is None else self._ys[0][link.source]
        target = None if link.target is None else self._ys[1][link.target]
        if source is not None:
            return (left, source), ((left + _STUB, source - _RISE) if target is None else (right, target))
        assert target is not None  # noqa: S101 - a drawn link has a word
        return (right - _STUB, target - _RISE), (right, target)

    def _null(self, link: shapes.Link) -> None:
        """Write at the end of a link to no word that there is none."""
        style = shapes.link_style(link.mark, sure=link.sure)
        start, end = self._ends(link)
        x, y = (end[0] + _MARK, end[1]) if link.target is None else (start[0] - _MARK, start[1])
        self._label(x, y + 3, NULL, style)


class _Kind(NamedTuple):
    """How sentences of a kind are cut to what is drawn, and shown."""

    part: Callable[[Any], shapes.Drawable]
    svg: Callable[..., str]
    facts: Callable[..., shapes.Facts]


_KINDS: Mapping[type[shapes.Drawable], _Kind] = {
    shapes.DependencySentence: _Kind(drawn_dependencies, dependencies_svg, dependency_facts),
    shapes.ConstituentSentence: _Kind(drawn_constituents, constituents_svg, constituent_facts),
    shapes.AlignmentSentence: _Kind(drawn_alignment, alignment_svg, alignment_facts),
}


def drawn_part(sentence: shapes.Drawable) -> shapes.Drawable:
    """Return a sentence with what is drawn of it only."""
    return _KINDS[type(sentence)].part(sentence)


def sentence_svg(sentence: shapes.Drawable, name: str) -> str:
    """Return the picture of a sentence as SVG; equal sentences give equal bytes.

    Args:
        sentence: what is drawn.
        name: of the picture, for its ids: letters, digits and hyphens.
    """
    return _KINDS[type(sentence)].svg(sentence, name=name)


def sentence_facts(sentence: shapes.Drawable, *, every: bool) -> shapes.Facts:
    """Return what is wrong in a sentence as a table, or `every` word, constituent or link."""
    return _KINDS[type(sentence)].facts(sentence, every=every)
