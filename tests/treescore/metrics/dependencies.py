"""Random dependency treebanks as CoNLL-U, for property tests."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

RELATIONS = ("nsubj", "obj", "det", "case", "aux:pass", "punct", "flat:name", "unknown", "conj", "cc")
FORMS = ("a", "B", "b", "the", ".", "``", "dé", "10 000")


@dataclass(frozen=True)
class Sentence:
    """A sentence as rows of CoNLL-U fields, and the ranges of its multiword tokens from 1, both ends included."""

    rows: tuple[tuple[str, ...], ...]
    ranges: tuple[tuple[int, int], ...] = ()

    def text(self) -> str:
        lines = []
        starts = dict(self.ranges)
        for number, row in enumerate(self.rows, 1):
            if number in starts:
                form = "".join(other[0] for other in self.rows[number - 1 : starts[number]])
                lines.append("\t".join((f"{number}-{starts[number]}", form, *"________")))
            lines.append("\t".join((str(number), *row)))
        return "\n".join(lines) + "\n\n"


def text_of(sentences: list[Sentence]) -> bytes:
    return "".join(sentence.text() for sentence in sentences).encode()


@st.composite
def trees(draw: st.DrawFn, forms: tuple[str, ...] = ()) -> Sentence:
    """One tree with one root, over `forms` or random ones."""
    forms = forms or tuple(draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=7)))
    order = draw(st.permutations(range(len(forms))))
    heads = [0] * len(forms)
    for place, word in enumerate(order[1:], 1):
        heads[word] = order[draw(st.integers(0, place - 1))] + 1
    rows = tuple(
        (
            form,
            draw(st.sampled_from(("_", "l", "m"))),
            draw(st.sampled_from(("X", "Y"))),
            draw(st.sampled_from(("P", "Q"))),
            draw(st.sampled_from(("_", "Case=Nom", "Foo=Bar|Case=Nom"))),
            str(head),
            draw(st.sampled_from(RELATIONS)) if head else "root",
            "_",
            "_",
        )
        for form, head in zip(forms, heads, strict=True)
    )
    return Sentence(rows)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Sentence, Sentence]:
    """Two trees over the same words."""
    gold = draw(trees())
    return gold, draw(trees(tuple(row[0] for row in gold.rows)))


@st.composite
def resegmented(draw: st.DrawFn) -> tuple[list[Sentence], list[Sentence]]:
    """The same characters twice, cut into sentences, tokens and multiword tokens each in its own way."""
    text = draw(st.text("abcé", min_size=1, max_size=14))
    return draw(_segmentations(text)), draw(_segmentations(text))


@st.composite
def _segmentations(draw: st.DrawFn, text: str) -> list[Sentence]:
    sentences = []
    for part in draw(_cuts(text, 6)):
        forms = tuple(draw(_cuts(part, 2)))
        tree = draw(trees(forms))
        ranges = []
        place = 1
        while place <= len(forms):
            end = draw(st.integers(place, min(len(forms), place + 2)))
            if draw(st.booleans()):
                ranges.append((place, end))
            place = end + 1
        sentences.append(replace(tree, ranges=tuple(ranges)))
    return sentences


@st.composite
def _cuts(draw: st.DrawFn, text: str, most: int) -> list[str]:
    parts = []
    while text:
        size = draw(st.integers(1, most))
        parts.append(text[:size])
        text = text[size:]
    return parts
