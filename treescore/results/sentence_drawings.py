"""Draw a sentence of any kind: make what its picture shows, from gold and what a metric says of the output."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from treescore.core.params import Json
from treescore.core.registry import OK, STATUS_NAMES, Metric
from treescore.core.structure import crossing_spans
from treescore.core.text import is_punctuation
from treescore.core.trees import Alignments, ConstituentTreebank, DependencyTreebank, SemanticTreebank
from treescore.render import sentence_shapes
from treescore.render.sentence_pictures import Drawable

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
    if isinstance(gold, Alignments) and columns >= _LINKS:
        return _alignment(rows, title)
    return None


def _dependencies(
    metric: Metric, gold: DependencyTreebank, item: Row, rows: Sequence[Row], title: str
) -> sentence_shapes.DependencySentence | None:
    """Return both halves over gold's words; what agrees has gold's head and relation on both sides."""
    if [row["word"] for row in rows] != list(range(1, len(rows) + 1)):
        return None
    if any(row.get("system_word", row["word"]) != row["word"] for row in metric.errors_of(item, gold)):
        return None
    words = tuple(sentence_shapes.Word(str(row["word"]), row["form"]) for row in rows)
    agreed_as_gold = [
        row if row["error"] else {**row, "system_head": row["gold_head"], "system_deprel": row["gold_deprel"]}
        for row in rows
    ]
    # What the output has of a word that is not scored is unknown.
    scored = [
        row for row in agreed_as_gold if metric.values.get("punctuation", True) or not is_punctuation(row["form"])
    ]
    gold_half = sentence_shapes.DependencyHalf(words, _arcs(agreed_as_gold, "gold", len(words)))
    return sentence_shapes.DependencySentence(
        title, gold_half, sentence_shapes.DependencyHalf(words, _arcs(scored, "system", len(words)))
    )


def _arcs(rows: Iterable[Row], side: str, words: int) -> tuple[sentence_shapes.Arc, ...]:
    """Return the arcs of one side; words without a head that is a word or the root have none."""
    heads = [(row, _head(row[f"{side}_head"], words)) for row in rows]
    return tuple(
        sentence_shapes.Arc(head - 1 if head else None, row["word"] - 1, row[f"{side}_deprel"] or "", _arc_mark(row))
        for row, head in heads
        if head is not None
    )


def _head(value: Json, words: int) -> int | None:
    """Return a head that is a word or the root; None for all else that texts have in its place."""
    text = str(value)
    head = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else words + 1
    return head if head <= words else None


def _arc_mark(row: Row) -> sentence_shapes.ArcMark:
    if not row["error"]:
        return "agreed"
    return "label" if str(row["gold_head"]) == str(row["system_head"]) else "wrong"


def _graph(gold: SemanticTreebank, item: Row, rows: Sequence[Row], title: str) -> sentence_shapes.DependencySentence:
    """Return both graphs over gold's words; edges that agree have gold's role on both sides, tops are roots."""
    here = slice(*gold.word_offsets[item["item"] - 1 : item["item"] + 1].tolist())
    strings = gold.vocabulary.strings
    words = tuple(
        sentence_shapes.Word(str(number), strings[form]) for number, form in enumerate(gold.forms[here].tolist(), 1)
    )

    def half(side: str) -> sentence_shapes.DependencyHalf:
        edges = [(row, row[side] if row["error"] else row["gold_label"]) for row in rows]
        return sentence_shapes.DependencyHalf(
            words, tuple(_edge(row, label) for row, label in edges if label is not None)
        )

    return sentence_shapes.DependencySentence(title, half("gold_label"), half("system_label"))


def _edge(row: Row, label: str) -> sentence_shapes.Arc:
    both = row["gold_label"] is not None and row["system_label"] is not None
    mark: sentence_shapes.ArcMark = "agreed" if not row["error"] else "label" if both else "wrong"
    predicate = row["predicate"]
    return sentence_shapes.Arc(
        predicate - 1 if predicate else None, row["argument"] - 1, label if predicate else "", mark
    )


def _constituents(
    metric: Metric, gold: ConstituentTreebank, item: Row, rows: Sequence[Row], title: str
) -> sentence_shapes.ConstituentSentence | None:
    """Return both sides over the words that are compared; None where brackets count other things than words."""
    words = _compared_words(metric, gold, item["item"] - 1)
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
    return sentence_shapes.ConstituentSentence(title, words, gold_spans, system_spans)


def _compared_words(metric: Metric, gold: ConstituentTreebank, sentence: int) -> tuple[str, ...]:
    here = slice(*gold.word_offsets[sentence : sentence + 2].tolist())
    strings = gold.vocabulary.strings
    deleted = set(metric.values.get("delete_labels", ()))
    pairs = zip(gold.words[here].tolist(), gold.tags[here].tolist(), strict=True)
    return tuple(strings[word] for word, tag in pairs if tag < 0 or strings[tag] not in deleted)


def _span(row: Row, others: Container[tuple[int, int]], *, crossing: bool) -> sentence_shapes.Span:
    start, end = row["start"], row["end"]
    mark: sentence_shapes.SpanMark = "agreed"
    if row["error"]:
        mark = "label" if (start, end) in others else "crossing" if crossing else "wrong"
    return sentence_shapes.Span(row["label"], start, end, mark)


def _alignment(rows: Sequence[Row], title: str) -> sentence_shapes.AlignmentSentence:
    """Return the links over numbered words: alignments have no text."""
    source, target = (
        tuple(str(word) for word in range(1, max(row[side] for row in rows) + 1)) for side in ("source", "target")
    )
    return sentence_shapes.AlignmentSentence(title, source, target, tuple(map(_link, rows)))


def _link(row: Row) -> sentence_shapes.Link:
    source, target = (None if row[side] == 0 else row[side] - 1 for side in ("source", "target"))
    mark: sentence_shapes.LinkMark = "agreed" if row["gold"] and row["system"] else "missed" if row["gold"] else "wrong"
    return sentence_shapes.Link(source, target, mark, sure=row["link"] == "S")
