"""Show an output's own errors without gold's annotation (feedback level `items`).

Each metric declares what it shows (`treescore.core.disclosure`). A metric, member or grouping without a declaration is
not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import treescore.metrics  # noqa: F401 - importing the package fills the registry
from treescore.core.disclosure import NOTHING, Disclosure, Fields
from treescore.core.registry import METRICS

Document = Mapping[str, object]

SHELL = ("item", "status")
"""Members that every item shows: the number of the sentence, and whether it could be scored."""


def disclosure_of(metric: str) -> Disclosure:
    """Return what a metric declares; nothing for an unknown name."""
    known = METRICS.get(metric)
    return NOTHING if known is None else known.disclosure


def item(metric: str, document: Document) -> dict[str, object]:
    """Return one item as a participant may see it at level `items`.

    A sentence without a scored output shows no figures and no words: they would be gold's, which are charged to it.
    """
    disclosure = disclosure_of(metric)
    shown = chosen(document, SHELL)
    if document.get("problem") is not None:
        shown["problem"] = {"code": object_of(document["problem"])["code"]}
    scored = document["status"] == "ok"
    for kind, names in (("scores", disclosure.scores), ("counts", disclosure.counts)):
        if kind in document:
            shown[kind] = chosen(object_of(document[kind]), names if scored else ())
    shown |= chosen(document, disclosure.members)
    if not scored:
        return shown
    return shown | {
        name: _in_part(fields, document[name]) for name, fields in disclosure.fields.items() if name in document
    }


def by_output_sentences(metric: str) -> bool:
    """Return whether the items of a metric are shown by the output's own sentences."""
    return disclosure_of(metric).output_sentences


def items(metric: str, documents: Sequence[Document]) -> list[dict[str, object]]:
    """Return a page of items; of metrics that score the division into sentences, by the output's own sentences."""
    shown = [item(metric, document) for document in documents]
    if not by_output_sentences(metric):
        return shown
    by_sentence: dict[int, list[Document]] = {}
    for document in shown:
        for word in objects_of(document.get("words", ())):
            sentence = word["sentence"]
            if isinstance(sentence, int):
                kept = {name: value for name, value in word.items() if name != "sentence"}
                by_sentence.setdefault(sentence, []).append(kept)
    return [{"item": sentence, "status": "ok", "words": words} for sentence, words in sorted(by_sentence.items())]


def scores(metric: str) -> tuple[str, ...]:
    """Return the scores of single sentences that a participant may see at level `items`."""
    return disclosure_of(metric).scores


def groupings(metric: str) -> tuple[str, ...]:
    """Return the groupings by which a participant may see slices at level `items`."""
    return tuple(disclosure_of(metric).slices)


def rows(metric: str, grouping: str, documents: Sequence[Document]) -> list[dict[str, object]]:
    """Return the rows of one grouping, only of what the output itself has, in an order that does not depend on gold."""
    declared = disclosure_of(metric).slices.get(grouping)
    if declared is None:
        return []
    kept: list[tuple[float, dict[str, object]]] = []
    for row in documents:
        counts, scores = object_of(row["counts"]), object_of(row["scores"])
        size = counts[declared.counts[0]]
        # The last row of a long table sums up the rarest values, and which values are rare depends on gold.
        if row["value"] is None or not isinstance(size, int | float) or not size:
            continue
        shown_scores = {name: scores.get(name) for name in declared.scores}
        shown = {"value": row["value"], "counts": chosen(counts, declared.counts), "scores": shown_scores}
        kept.append((size, shown))
    return [shown for _, shown in sorted(kept, key=lambda pair: (-pair[0], str(pair[1]["value"])))]


def chosen(document: Document, names: Iterable[str]) -> dict[str, object]:
    """Return the members of these names that the document has, in the order of the names."""
    return {name: document[name] for name in names if name in document}


def object_of(value: object) -> Document:
    """Return a JSON value that is an object.

    Raises:
        TypeError: it is not an object.
    """
    if not isinstance(value, Mapping):
        raise TypeError(f"expected a JSON object, not {type(value).__name__}")
    return value


def objects_of(value: object) -> Iterable[Document]:
    """Return the objects of a JSON list.

    Raises:
        TypeError: it is not a list of objects.
    """
    if not isinstance(value, Iterable):
        raise TypeError(f"expected a JSON list, not {type(value).__name__}")
    return [object_of(each) for each in value]


def _in_part(fields: Fields, value: object) -> object:
    """Return the declared members of an object, or of each object in a list."""
    if isinstance(value, Mapping):
        return _fields(fields, value)
    return [
        _fields(fields, each)
        for each in objects_of(value)
        if not fields.required or each.get(fields.required) is not None
    ]


def _fields(fields: Fields, document: Document) -> dict[str, object]:
    shown = {name: document[member] for member, name in fields.shown.items() if member in document}
    return shown | {name: document[score] == 1.0 for score, name in fields.perfect.items()}
