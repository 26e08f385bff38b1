"""What the picture of a sentence's dependencies shows, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treescore.core.counting import counted
from treescore.render.dependency_parts import drawn_dependencies, links_of, words_left_out
from treescore.render.sentence_shapes import AGREED, LABEL, Arc, DependencyHalf, DependencySentence, Facts
from treescore.render.sentence_text import shown_form, shown_label, shown_number

_LISTED = 40
"""Words that the description names."""


def half_names(sentence: DependencySentence) -> list[str]:
    """Return what is written beside each half: nothing for `gold` and `system`."""
    named = [(sentence.gold, sentence.upper, "gold"), (sentence.system, sentence.lower, "system")]
    return ["" if name == usual and not sentence.compared else name for half, name, usual in named if half is not None]


def dependency_facts(sentence: DependencySentence, *, every_word: bool = False) -> Facts:
    """Return the words that are not agreed, with the head and relation of each half; a head's number ends its cell.

    Args:
        sentence: what is drawn.
        every_word: show agreed words too.
    """
    note = words_left_out(sentence)
    sentence = drawn_dependencies(sentence)
    sides = _fact_sides(sentence)
    header = ["No.", "Word"]
    for side in sides:
        name = side.name.capitalize() if side.name in {"gold", "system"} else side.name
        header += [f"{name} head", f"{name} relation"]
    rows = [
        _word_cells(sides, pair)
        for pair in _paired_words(sentence, sides)
        if every_word or any(side.has_error(word) for side, word in zip(sides, pair, strict=True))
    ]
    return Facts((*header, "Wrong"), tuple(rows), note)


def dependencies_described(sentence: DependencySentence, note: str, *, mirrored: bool) -> str:
    """Return the description of the picture for those who cannot see it.

    Args:
        sentence: what is drawn, no more than that.
        note: what the picture says below.
        mirrored: the words run from right to left.
    """
    sides = _fact_sides(sentence)
    names = [f"{side.name} {place}" for side, place in zip(sides, ("above", "below"), strict=False)]
    where = ", ".join(names) + (", read from right to left" if mirrored else "")
    parts = [f"{where[:1].upper()}{where[1:]}."]
    if not sentence.same_words:
        parts.append("The halves have other words; lines join those that share characters.")
    rows = dependency_facts(sentence)
    listed = [_listed_word(sides, row) for row in rows.rows[:_LISTED]]
    more = len(rows.rows) - len(listed)
    if listed:
        rest = [f"and {counted(more, 'other word')}"] if more else []
        parts.append(f"Wrong: {'; '.join([*listed, *rest])}.")
    else:
        parts.append("No word is wrong.")
    return " ".join([*parts, note] if note else parts)


@dataclass(frozen=True, slots=True)
class _FactSide:
    name: str
    half: DependencyHalf
    arcs: dict[int, list[Arc]]

    def has_error(self, word: int | None) -> bool:
        return word is not None and any(arc.mark != AGREED for arc in self.arcs.get(word, ()))

    def head(self, word: int | None) -> str:
        return ", ".join(self._head(arc) for arc in self._of(word))

    def relation(self, word: int | None) -> str:
        return ", ".join(shown_label(arc.label) for arc in self._of(word))

    def marks(self, word: int | None) -> set[str]:
        return {arc.mark for arc in self._of(word)}

    def _of(self, word: int | None) -> list[Arc]:
        return [] if word is None else self.arcs.get(word, [])

    def _head(self, arc: Arc) -> str:
        if arc.head is None:
            return "root"
        if not 0 <= arc.head < len(self.half.words):
            return "…"
        word = self.half.words[arc.head]
        return f"{shown_form(word.form)} {shown_number(word.number)}"


def _fact_sides(sentence: DependencySentence) -> list[_FactSide]:
    sides = []
    for half, name in ((sentence.gold, sentence.upper), (sentence.system, sentence.lower)):
        if half is not None:
            arcs: dict[int, list[Arc]] = {}
            for arc in half.arcs:
                arcs.setdefault(arc.dependent, []).append(arc)
            sides.append(_FactSide(shown_label(name), half, arcs))
    return sides


def _paired_words(sentence: DependencySentence, sides: list[_FactSide]) -> Iterator[tuple[int | None, ...]]:
    """Yield the words of all halves side by side; words that have no single partner stand alone."""
    counts = [len(side.half.words) for side in sides]
    if sentence.same_words:
        yield from ((word,) * len(sides) for word in range(max(counts, default=0)))
        return
    below: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    for a, b in links_of(sentence):
        below.setdefault(a, []).append(b)
        above.setdefault(b, []).append(a)
    partner = {a: found[0] for a, found in below.items() if len(found) == 1 and len(above[found[0]]) == 1}
    taken = set(partner.values())
    yield from ((word, partner.get(word)) for word in range(counts[0]))
    yield from ((None, word) for word in range(counts[1]) if word not in taken)


def _word_cells(sides: list[_FactSide], pair: tuple[int | None, ...]) -> tuple[str, ...]:
    side, word = next((side, word) for side, word in zip(sides, pair, strict=True) if word is not None)
    shown = side.half.words[word]
    cells = [shown_number(shown.number), shown_form(shown.form)]
    for each, at in zip(sides, pair, strict=True):
        cells += [each.head(at), each.relation(at)]
    return (*cells, _word_fault(sides, pair))


def _word_fault(sides: list[_FactSide], pair: tuple[int | None, ...]) -> str:
    """Return what is wrong with a word."""
    marks = set().union(*(side.marks(word) for side, word in zip(sides, pair, strict=True)))
    if marks <= {AGREED}:
        return ""
    if None in pair:
        return "words differ"
    if marks <= {AGREED, LABEL}:
        return "label"
    if len(sides) < 2:
        return "wrong"
    return "head" if len({side.relation(word) for side, word in zip(sides, pair, strict=True)}) == 1 else "head, label"


def _listed_word(sides: list[_FactSide], row: tuple[str, ...]) -> str:
    number, form, *cells, wrong = row
    arcs = [
        f"{side.name} {relation} of {head}"
        for side, head, relation in zip(sides, cells[::2], cells[1::2], strict=True)
        if head
    ]
    return f"{form} {number} ({wrong}: {', '.join(arcs)})"
