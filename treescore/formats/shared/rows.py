"""Rows of CoNLL-U and its kin: what their IDs say (words, ranges, empty nodes), and treebanks written as rows."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from treescore.core.arrays import BoolArray, Int32Array, IntArray
from treescore.core.structure import head_string
from treescore.core.trees import DependencyTreebank

WORD, RANGE, EMPTY, BAD = range(4)
"""Kinds of rows."""


@dataclass(frozen=True, slots=True)
class Ids:
    """The ID column of r rows: kind, one or two numbers (at most nine digits), words before it in its sentence."""

    kinds: Int32Array
    first: Int32Array
    second: Int32Array
    before: IntArray
    inside: BoolArray
    word_offsets: IntArray


def write_rows(treebank: DependencyTreebank, *, words_only: bool = False) -> str:
    """Write a treebank, a blank line after each sentence.

    Args:
        treebank: to write.
        words_only: no comments, multiword tokens and empty nodes (CoNLL-X has none of them).
    """
    strings = treebank.vocabulary.strings
    columns = [
        [strings[number] for number in column.tolist()]
        for column in (
            treebank.forms,
            treebank.lemmas,
            treebank.upos,
            treebank.xpos,
            treebank.feats,
            treebank.deprels,
            treebank.deps,
            treebank.misc,
        )
    ]
    heads = [head_string(head, treebank.vocabulary) for head in treebank.heads.tolist()]
    extra = {} if words_only else _extra_lines(treebank)
    comments = [""] * len(treebank) if words_only else _comments(treebank)
    parts: list[str] = []
    bounds = treebank.word_offsets.tolist()
    for sentence, (start, end) in enumerate(itertools.pairwise(bounds)):
        parts.append(comments[sentence])
        for word in range(start, end):
            parts += extra.get((sentence, word), ())
            form, lemma, upos, xpos, feats, deprel, deps, misc = (column[word] for column in columns)
            row = (str(word - start + 1), form, lemma, upos, xpos, feats, heads[word], deprel, deps, misc)
            parts.append("\t".join(row) + "\n")
        parts += extra.get((sentence, end), ())
        parts.append("\n")
    return "".join(parts)


def _extra_lines(treebank: DependencyTreebank) -> dict[tuple[int, int], list[str]]:
    """Map (sentence, word or end) to the lines before it: empty nodes, then multiword tokens."""
    strings = treebank.vocabulary.strings
    lines: dict[tuple[int, int], list[str]] = {}
    empties = zip(
        treebank.empty_sentences.tolist(),
        treebank.empty_after.tolist(),
        treebank.empty_ids.tolist(),
        treebank.empty_deps.tolist(),
        strict=True,
    )
    for sentence, after, number, deps in empties:
        line = "\t".join((strings[number], *"_______", strings[deps], "_")) + "\n"
        lines.setdefault((sentence, after), []).append(line)
    bounds = treebank.word_offsets
    owners = bounds.searchsorted(treebank.mwt_starts, "right") - 1
    tokens = zip(
        owners.tolist(),
        treebank.mwt_starts.tolist(),
        treebank.mwt_ends.tolist(),
        treebank.mwt_forms.tolist(),
        treebank.mwt_misc.tolist(),
        strict=True,
    )
    for sentence, start, end, form, misc in tokens:
        first = int(bounds[sentence])
        line = "\t".join((f"{start - first + 1}-{end - first}", strings[form], *"_______", strings[misc])) + "\n"
        lines.setdefault((sentence, start), []).append(line)
    return lines


def _comments(treebank: DependencyTreebank) -> list[str]:
    sentences = treebank.sentences
    comments = [""] * len(treebank)
    for key, values in sentences.attributes.items():
        before: str | None = None
        for index, value in enumerate(values):
            if value is not None and not (key == "newdoc" and value == before):
                comments[index] += f"# {'newdoc id' if key == 'newdoc' else key} = {value}\n"
            before = value
    for index, sent_id in enumerate(sentences.sent_ids):
        if sent_id is not None:
            comments[index] += f"# sent_id = {sent_id}\n"
    return comments
