"""Rows of CoNLL-U and its kin: what their IDs say, treebanks written as rows, and the signs of such formats.

IDs are of words, ranges and empty nodes.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treescore.core.arrays import BoolArray, Int32Array, IntArray
from treescore.core.structure import head_string
from treescore.core.text import CERTAIN, LIKELY, POSSIBLE, Head, Scored, Signs, found_in_lines, share_of_lines
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


COLUMNS = 10
_LEAST = 0.8
"""Share of lines that must have the form: the others may be damaged."""
_UPOS = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X _".split()  # noqa: SIM905 - a list in a line
)
_COMMENT = re.compile(r"# ?(sent_id|text|newdoc|newpar|global\.columns)\b")
_COLUMN_NAMES = re.compile(r"#\s*global\.columns\s*=")
_CODES = re.compile(r"[*_]|[0-9]+(:[^\s;]+)?(;[0-9]+(:[^\s;]+)?)*")
_ID = re.compile(r"[0-9]+([-.][0-9]+)?")
_HEAD = re.compile(r"[0-9]+")
_SDP_HEADER = re.compile(r"#\s*SDP\s+201[45]")
_SDP_FLAGS = frozenset("+-")
_SDP_FIRST = 6
_DEPS = re.compile(r"[0-9]+(\.[0-9]+)?:\S+")


def conllu_signs(head: Head) -> Signs | None:
    """Return the signs of CoNLL-U: ten columns, IDs, universal tags, its comments."""
    rows = [row for row in head.rows if len(row) == COLUMNS and _ID.fullmatch(row[0])]
    if share_of_lines(len(rows), len(head.rows)) < _LEAST:
        return None
    why = [found_in_lines(len(rows), len(head.rows), "A number and nine more columns")]
    names = sorted({match[1] for line in head.comments if (match := _COMMENT.match(line))})
    if names:
        why.append(f"Comments of CoNLL-U: {', '.join(f'# {name}' for name in names)}.")
    special = sum(not row[0].isdigit() for row in rows)
    if special:
        why.append(f"Multiword tokens or empty nodes: {next(row[0] for row in rows if not row[0].isdigit())}.")
    tags = {row[3] for row in rows if row[0].isdigit()}
    universal = tags <= _UPOS and tags != {"_"}
    if universal:
        why.append("The fourth column holds universal tags only.")
    strength = CERTAIN if names or special else LIKELY if universal else POSSIBLE
    return Signs(strength, why, metrics=list(_dependency_metrics(head, rows)))


def cupt_signs(head: Head, name: str) -> Signs | None:
    """Return the signs of CoNLL-U with a column of codes: a first line that names this column, else codes.

    Args:
        head: of the text.
        name: of the column of codes.
    """
    names = head.first.partition("=")[2].split() if _COLUMN_NAMES.match(head.first) else []
    rows = [row for row in head.rows if len(row) == (len(names) or COLUMNS + 1) and _ID.fullmatch(row[0])]
    if share_of_lines(len(rows), len(head.rows)) < _LEAST or (names and name not in names):
        return None
    place = names.index(name) if names else COLUMNS
    why = []
    if names:
        why.append(f"The first line names the column {name}.")
    elif not all(_CODES.fullmatch(row[place]) for row in rows):
        return None
    why.append(
        found_in_lines(len(rows), len(head.rows), f"A number and {(len(names) or COLUMNS + 1) - 1} more columns")
    )
    return Signs(CERTAIN if names else POSSIBLE, why)


def conllx_signs(head: Head) -> Signs | None:
    """Return the signs of CoNLL-X: eight to ten columns, a number first and in HEAD, no comments."""
    rows = [
        row for row in head.rows
        if COLUMNS - 2 <= len(row) <= COLUMNS and row[0].isdigit() and _HEAD.fullmatch(row[6].strip())
    ]  # fmt: skip
    if share_of_lines(len(rows), len(head.rows)) < _LEAST:
        return None
    why = [
        found_in_lines(len(rows), len(head.rows), f"A number, {COLUMNS - 3} or more further columns, a number as HEAD")
    ]
    foreign = any(_COMMENT.match(line) for line in head.comments)
    tags = {row[3] for row in rows}
    if tags <= _UPOS or foreign:
        return Signs(POSSIBLE / 2 if foreign else POSSIBLE, why)
    why.append("No comments, and tags that are not the universal ones.")
    return Signs(LIKELY, why)


def sdp_signs(head: Head) -> Signs | None:
    """Return the signs of semantic dependencies: the line `#SDP 2015`, else a number, then + or - in two columns."""
    rows = [
        row for row in head.rows
        if len(row) >= _SDP_FIRST and row[0].isdigit() and {row[4], row[5]} <= _SDP_FLAGS
    ]  # fmt: skip
    if share_of_lines(len(rows), len(head.rows)) < _LEAST:
        return None
    why = [found_in_lines(len(rows), len(head.rows), "A number, and + or - in columns 5 and 6 (top, pred)")]
    if _SDP_HEADER.fullmatch(head.first):
        return Signs(CERTAIN, [f"The first line is {head.first}.", *why])
    return Signs(LIKELY, why)


def _dependency_metrics(head: Head, rows: Sequence[Sequence[str]]) -> Iterator[Scored]:
    """Yield the metrics that trees in CoNLL-U can be scored with."""
    words = [row for row in rows if row[0].isdigit()]
    heads = Counter(row[6] for row in words)
    if heads["_"] == len(words):
        yield Scored(
            {"name": "ud", "params": {"missing_heads": "wrong"}},
            "No word has a HEAD: only segmentation, tags, features and lemmas can be right.",
        )
        return
    ud: dict[str, str] = {}
    reasons = []
    if heads["_"]:
        ud["missing_heads"] = "wrong"
        reasons.append("words without HEAD count as wrong")
    if _several_roots(head):
        ud["roots"] = "any"
        reasons.append("sentences have several roots")
    why = "If parsers split raw text into words themselves: the scores of the CoNLL 2018 shared task"
    yield Scored(
        {"name": "ud", "params": ud} if ud else "ud", f"{why}; {', '.join(reasons)}." if reasons else f"{why}."
    )
    yield Scored("attachment", "If parsers are given gold's words: LAS and UAS, as in CoNLL-X.")
    enhanced = sum(any(map(_DEPS.fullmatch, row[8].split("|"))) for row in rows)
    if enhanced:
        yield Scored("enhanced", found_in_lines(enhanced, len(rows), "Enhanced dependencies in DEPS"))


def _several_roots(head: Head) -> bool:
    """Tell whether some sentence has two words with HEAD 0."""
    roots = 0
    for line in head.lines:
        if not line.strip():
            roots = 0
        fields = line.split("\t")
        roots += len(fields) == COLUMNS and fields[0].isdigit() and fields[6] == "0"
        if roots > 1:
            return True
    return False
