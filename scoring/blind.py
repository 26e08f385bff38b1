"""What participants may get of a gold standard: its words, every annotation dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from scoring.trees import ConstituentTreebank, DependencyTreebank, ParallelTreebank, Treebank

if TYPE_CHECKING:
    from scoring.arrays import IntArray
    from scoring.vocabulary import Vocabulary

EMPTY_CATEGORY = "-NONE-"
"""Tag of traces and other empty elements, which are annotation and no words."""
_NO_SPACE = "SpaceAfter=No"
_COLUMNS_AFTER_FORM = "\t_\t_\t_\t_\t_\t_\t_\t"


def blind_inputs(treebank: Treebank) -> Mapping[str, str]:
    """What can be given out, by name; nothing where gold holds no words (alignments).

    `words`: dependency trees as CoNLL-U with ID and FORM only, multiword tokens and SpaceAfter kept, comments, empty
    nodes and everything else dropped; constituency trees as one sentence a line, words separated by spaces, empty
    elements dropped. `text`: running text that tells no sentence and no word boundary beyond what spaces tell;
    a blank line between documents.
    """
    if isinstance(treebank, ConstituentTreebank):
        lines = list(_constituent_lines(treebank))
        return {"words": "".join(f"{line}\n" for line in lines), "text": _running(lines, [None] * len(lines))}
    if isinstance(treebank, DependencyTreebank):
        documents = treebank.sentences.attributes.get("newdoc") or [None] * len(treebank)
        return {"words": "".join(_columns(treebank)), "text": _running(_surface(treebank), documents)}
    if isinstance(treebank, ParallelTreebank):
        sides = {"source": treebank.source, "target": treebank.target}
        return {f"{side}/{name}": text for side, half in sides.items() for name, text in blind_inputs(half).items()}
    return {}


def word_count(treebank: Treebank) -> int:
    """Words of a treebank; links of alignments; both sides of a parallel treebank."""
    if isinstance(treebank, ConstituentTreebank):
        return len(treebank.words)
    if isinstance(treebank, DependencyTreebank):
        return len(treebank.forms)
    if isinstance(treebank, ParallelTreebank):
        return word_count(treebank.source) + word_count(treebank.target)
    return len(treebank.source)


def _constituent_lines(treebank: ConstituentTreebank) -> Iterator[str]:
    strings = treebank.vocabulary.strings
    empty = treebank.vocabulary.get(EMPTY_CATEGORY)
    words, tags = treebank.words.tolist(), treebank.tags.tolist()
    offsets = treebank.word_offsets.tolist()
    for begin, end in pairwise(offsets):
        yield " ".join(strings[words[place]] for place in range(begin, end) if tags[place] != empty)


def _columns(treebank: DependencyTreebank) -> Iterator[str]:
    """Line after line of CoNLL-U, a blank one after each sentence."""
    form = _strings(treebank.vocabulary, treebank.forms)
    spaced = _spaces(treebank)
    tokens = _multiword(treebank)
    offsets = treebank.word_offsets.tolist()
    for begin, end in pairwise(offsets):
        for place in range(begin, end):
            if place in tokens:
                stop, surface = tokens[place]
                yield f"{place - begin + 1}-{stop - begin}\t{surface}{_COLUMNS_AFTER_FORM}_\n"
            misc = "_" if spaced(place) else _NO_SPACE
            yield f"{place - begin + 1}\t{form(place)}{_COLUMNS_AFTER_FORM}{misc}\n"
        yield "\n"


def _surface(treebank: DependencyTreebank) -> list[str]:
    """The text of each sentence: as its comment gives it, else its tokens with the spaces that SpaceAfter tells."""
    told = treebank.sentences.attributes.get("text")
    form = _strings(treebank.vocabulary, treebank.forms)
    spaced = _spaces(treebank)
    tokens = _multiword(treebank)
    offsets = treebank.word_offsets.tolist()
    found = []
    for sentence, (begin, end) in enumerate(pairwise(offsets)):
        comment = told[sentence] if told else None
        if comment:
            found.append(comment)
            continue
        pieces = []
        place = begin
        while place < end:
            stop, surface = tokens.get(place, (place + 1, form(place)))
            pieces += [surface, " " if spaced(stop - 1) else ""]
            place = stop
        found.append("".join(pieces).rstrip())
    return found


def _running(sentences: list[str], documents: Sequence[str | None]) -> str:
    """Sentences in one line for each document."""
    lines: list[list[str]] = []
    for place, sentence in enumerate(sentences):
        if not lines or documents[place] != documents[place - 1]:
            lines.append([])
        if sentence:
            lines[-1].append(sentence)
    return "\n".join(" ".join(line) + "\n" for line in lines)


def _strings(vocabulary: Vocabulary, numbers: IntArray) -> Callable[[int], str]:
    listed = numbers.tolist()
    return lambda place: vocabulary.strings[listed[place]]


def _spaces(treebank: DependencyTreebank) -> Callable[[int], bool]:
    misc = _strings(treebank.vocabulary, treebank.misc)
    return lambda place: _NO_SPACE not in misc(place).split("|")


def _multiword(treebank: DependencyTreebank) -> dict[int, tuple[int, str]]:
    """First word of each multiword token -> (word after its last, surface form)."""
    form = _strings(treebank.vocabulary, treebank.mwt_forms)
    return {
        begin: (end, form(number))
        for number, (begin, end) in enumerate(
            zip(treebank.mwt_starts.tolist(), treebank.mwt_ends.tolist(), strict=True)
        )
    }
