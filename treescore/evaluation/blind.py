"""Inputs for participants: the words of gold without annotation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from treescore.core import trees
from treescore.formats.sdp import without_graph, write_sdp

if TYPE_CHECKING:
    from treescore.core.arrays import IntArray
    from treescore.core.trees import Vocabulary

EMPTY_CATEGORY = "-NONE-"
"""Tag of traces and other empty elements, which are annotation, not words."""
_NO_SPACE = "SpaceAfter=No"
_COLUMNS_AFTER_FORM = "\t_\t_\t_\t_\t_\t_\t_\t"


class _Token(NamedTuple):
    """One token of the surface: the word after its last, its form, whether a space follows."""

    stop: int
    surface: str
    spaced: bool


def blind_inputs(treebank: trees.Treebank) -> Mapping[str, str]:
    """Make the texts that participants may have, by name; none where gold holds no words (alignments).

    `words`: dependency trees as CoNLL-U with ID and FORM only, multiword tokens and SpaceAfter kept, comments, empty
    nodes and everything else dropped; constituency trees as one sentence a line, words separated by spaces, empty
    elements dropped; graphs as in the format sdp, with names, ID and form only. `text`: running text that shows no
    sentence boundary, and word boundaries only by spaces; a blank line between documents.
    """
    if isinstance(treebank, trees.ConstituentTreebank | trees.DiscontinuousTreebank):
        lines = list(_constituent_lines(treebank))
        return {"words": "".join(f"{line}\n" for line in lines), "text": _running(lines, [None] * len(lines))}
    if isinstance(treebank, trees.DependencyTreebank):
        documents = treebank.sentences.attributes.get("newdoc") or [None] * len(treebank)
        return {"words": "".join(_columns(treebank)), "text": _running(_surface(treebank), documents)}
    if isinstance(treebank, trees.SemanticTreebank):
        form = _strings(treebank.vocabulary, treebank.forms)
        lines = [" ".join(map(form, range(begin, end))) for begin, end in pairwise(treebank.word_offsets.tolist())]
        return {"words": write_sdp(without_graph(treebank)), "text": _running(lines, [None] * len(lines))}
    if isinstance(treebank, trees.ParallelTreebank):
        sides = {"source": treebank.source, "target": treebank.target}
        return {f"{side}/{name}": text for side, half in sides.items() for name, text in blind_inputs(half).items()}
    return {}


def word_count(treebank: trees.Treebank) -> int:
    """Count the words of a treebank, of both sides if parallel; the links of alignments."""
    if isinstance(treebank, trees.ConstituentTreebank | trees.DiscontinuousTreebank):
        return len(treebank.words)
    if isinstance(treebank, trees.DependencyTreebank | trees.SemanticTreebank):
        return len(treebank.forms)
    if isinstance(treebank, trees.ParallelTreebank):
        return word_count(treebank.source) + word_count(treebank.target)
    return len(treebank.source)


def _constituent_lines(treebank: trees.ConstituentTreebank | trees.DiscontinuousTreebank) -> Iterator[str]:
    strings = treebank.vocabulary.strings
    empty = treebank.vocabulary.get(EMPTY_CATEGORY)
    words, tags = treebank.words.tolist(), treebank.tags.tolist()
    for begin, end in pairwise(treebank.word_offsets.tolist()):
        yield " ".join(strings[words[word]] for word in range(begin, end) if tags[word] != empty)


def _columns(treebank: trees.DependencyTreebank) -> Iterator[str]:
    """Yield lines of CoNLL-U, a blank one after each sentence."""
    form = _strings(treebank.vocabulary, treebank.forms)
    spaced = _spaces(treebank.vocabulary, treebank.misc)
    tokens = _multiword(treebank)
    for begin, end in pairwise(treebank.word_offsets.tolist()):
        for word in range(begin, end):
            if word in tokens:
                token = tokens[word]
                misc = "_" if token.spaced else _NO_SPACE
                yield f"{word - begin + 1}-{token.stop - begin}\t{token.surface}{_COLUMNS_AFTER_FORM}{misc}\n"
            misc = "_" if spaced(word) else _NO_SPACE
            yield f"{word - begin + 1}\t{form(word)}{_COLUMNS_AFTER_FORM}{misc}\n"
        yield "\n"


def _surface(treebank: trees.DependencyTreebank) -> list[str]:
    """Return the text of each sentence: its comment, else its tokens with spaces by SpaceAfter."""
    comments = treebank.sentences.attributes.get("text")
    form = _strings(treebank.vocabulary, treebank.forms)
    spaced = _spaces(treebank.vocabulary, treebank.misc)
    tokens = _multiword(treebank)
    offsets = treebank.word_offsets.tolist()
    texts = []
    for sentence, (begin, end) in enumerate(pairwise(offsets)):
        comment = comments[sentence] if comments else None
        if comment:
            texts.append(comment)
            continue
        pieces = []
        word = begin
        while word < end:
            token = tokens.get(word) or _Token(word + 1, form(word), spaced(word))
            pieces += [token.surface, " " if token.spaced else ""]
            word = token.stop
        texts.append("".join(pieces).rstrip())
    return texts


def _running(sentences: list[str], documents: Sequence[str | None]) -> str:
    """Join the sentences of each document into one line."""
    lines: list[list[str]] = []
    for index, sentence in enumerate(sentences):
        if not lines or documents[index] != documents[index - 1]:
            lines.append([])
        if sentence:
            lines[-1].append(sentence)
    return "\n".join(" ".join(line) + "\n" for line in lines)


def _strings(vocabulary: Vocabulary, numbers: IntArray) -> Callable[[int], str]:
    listed = numbers.tolist()
    return lambda index: vocabulary.strings[listed[index]]


def _spaces(vocabulary: Vocabulary, column: IntArray) -> Callable[[int], bool]:
    """Make a function that tells whether a space follows, by MISC."""
    misc = _strings(vocabulary, column)
    return lambda index: _NO_SPACE not in misc(index).split("|")


def _multiword(treebank: trees.DependencyTreebank) -> dict[int, _Token]:
    """Map the first word of each multiword token to the token. SpaceAfter of its words is ignored."""
    form = _strings(treebank.vocabulary, treebank.mwt_forms)
    spaced = _spaces(treebank.vocabulary, treebank.mwt_misc)
    return {
        begin: _Token(end, form(number), spaced(number))
        for number, (begin, end) in enumerate(
            zip(treebank.mwt_starts.tolist(), treebank.mwt_ends.tolist(), strict=True)
        )
    }
