"""Inputs for participants: the words of gold without annotation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from treescore.core import trees
from treescore.formats.sdp import without_graph, write_sdp

if TYPE_CHECKING:
    from treescore.core.arrays import IntArray

EMPTY_CATEGORY = "-NONE-"
"""Tag of traces and other empty elements, which are annotation, not words."""
_NO_SPACE = "SpaceAfter=No"
_AFTER_FORM = ["\t_" * 7 + f"\t{misc}\n" for misc in (_NO_SPACE, "_")]
"""The rest of a line of CoNLL-U, by whether a space follows."""


def blind_inputs(treebank: trees.Treebank, pairs: Sequence[tuple[str, str]] | None = None) -> Mapping[str, str]:
    """Make the texts that participants may have, by name; none where the words of gold are not known.

    Alignments hold no words: those of their sentences are given as `pairs`, and are of a line each.

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
        return {"words": _columns(treebank), "text": _running(_surface(treebank), documents)}
    if isinstance(treebank, trees.SemanticTreebank):
        forms = [*map(treebank.vocabulary.strings.__getitem__, treebank.forms.tolist())]
        lines = [" ".join(forms[begin:end]) for begin, end in pairwise(treebank.word_offsets.tolist())]
        return {"words": write_sdp(without_graph(treebank)), "text": _running(lines, [None] * len(lines))}
    if isinstance(treebank, trees.ParallelTreebank):
        sides = {"source": treebank.source, "target": treebank.target}
        return {f"{side}/{name}": text for side, half in sides.items() for name, text in blind_inputs(half).items()}
    named = zip(("source", "target"), zip(*pairs or (), strict=True), strict=False)
    texts = [(side, "".join(f"{' '.join(line.split())}\n" for line in lines)) for side, lines in named]
    return {f"{side}/{name}": text for side, text in texts for name in ("words", "text")}


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


def _columns(treebank: trees.DependencyTreebank) -> str:
    """Return the lines of sentences in CoNLL-U, a blank one after each."""
    offsets = treebank.word_offsets
    numbers = (np.arange(1, len(treebank.forms) + 1) - np.repeat(offsets[:-1], np.diff(offsets))).tolist()
    words = zip(numbers, *_written(treebank, treebank.forms, treebank.misc), strict=True)
    lines = [f"{number}\t{form}{_AFTER_FORM[spaced]}" for number, form, spaced in words]
    for start, end, form, spaced in _multiword(treebank):
        lines[start] = f"{numbers[start]}-{numbers[end - 1]}\t{form}{_AFTER_FORM[spaced]}{lines[start]}"
    return "".join("".join(lines[begin:end]) + "\n" for begin, end in pairwise(offsets.tolist()))


def _surface(treebank: trees.DependencyTreebank) -> list[str]:
    """Return the text of each sentence: its comment, else its tokens with spaces by SpaceAfter."""
    words = zip(*_written(treebank, treebank.forms, treebank.misc), strict=True)
    tokens = [form + " " * spaced for form, spaced in words]
    for start, end, form, spaced in _multiword(treebank):
        tokens[start:end] = [form + " " * spaced, *[""] * (end - start - 1)]
    comments = treebank.sentences.attributes.get("text") or [None] * len(treebank)
    bounds = pairwise(treebank.word_offsets.tolist())
    return [
        comment or "".join(tokens[begin:end]).rstrip() for comment, (begin, end) in zip(comments, bounds, strict=True)
    ]


def _running(sentences: list[str], documents: Sequence[str | None]) -> str:
    """Join the sentences of each document into one line."""
    lines: list[list[str]] = []
    for index, sentence in enumerate(sentences):
        if not lines or documents[index] != documents[index - 1]:
            lines.append([])
        if sentence:
            lines[-1].append(sentence)
    return "\n".join(" ".join(line) + "\n" for line in lines)


def _written(treebank: trees.DependencyTreebank, forms: IntArray, misc: IntArray) -> tuple[list[str], list[bool]]:
    """Return the strings of forms, and whether a space follows each, by MISC."""
    spaced = treebank.vocabulary.table(misc, lambda each: _NO_SPACE not in each.split("|"))
    return [*map(treebank.vocabulary.strings.__getitem__, forms.tolist())], (spaced[misc] > 0).tolist()


def _multiword(treebank: trees.DependencyTreebank) -> Iterator[tuple[int, int, str, bool]]:
    """Yield each multiword token: its first word, the one after its last, its form, whether a space follows.

    SpaceAfter of its words is ignored.
    """
    written = _written(treebank, treebank.mwt_forms, treebank.mwt_misc)
    return zip(treebank.mwt_starts.tolist(), treebank.mwt_ends.tolist(), *written, strict=True)
