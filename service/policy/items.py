"""What may be told of an output's own errors without telling gold's annotation (feedback level `items`).

Everything here is a list of what is shown. A metric, a member or a grouping that is not on a list is not shown, so
that a new metric tells nothing before somebody has thought about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = Any
Item = Mapping[str, Any]

SHELL = ("item", "status")
"""Members that every item shows: the number of the sentence, and whether it could be scored."""


@dataclass(frozen=True, slots=True)
class Own:
    """What one metric shows.

    Attributes:
        members: name of an item's member -> what is shown of it.
        scores, counts: of a sentence, those that say no more than which of the output's own words or brackets are
            wrong.
        slices: grouping (only those by properties of the output itself) -> counts and scores that are shown.
        resorted: whether items are put together anew by the output's own sentences: the metric scores the division
            into sentences, so gold's must not show.
    """

    members: Mapping[str, Callable[[Any], Json]] = field(default_factory=dict)
    slices: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)
    resorted: bool = False
    scores: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()


def item(metric: str, document: Item) -> dict[str, Json]:
    """One item as a participant may see it at level `items`."""
    own = OWN.get(metric, Own())
    shown = {name: document[name] for name in SHELL if name in document}
    problem = document.get("problem")
    if problem is not None:
        shown["problem"] = {"code": problem["code"]}
    for kind, names in (("scores", own.scores), ("counts", own.counts)):
        if kind in document:
            shown[kind] = {name: document[kind][name] for name in names if name in document[kind]}
    return shown | {name: cut(document[name]) for name, cut in own.members.items() if name in document}


def items(metric: str, documents: Sequence[Item]) -> list[dict[str, Json]]:
    """A page of items; of metrics that score the division into sentences, by the output's own sentences."""
    cut = [item(metric, document) for document in documents]
    if not OWN.get(metric, Own()).resorted:
        return cut
    by_sentence: dict[int, list[Json]] = {}
    for document in cut:
        for word in document.get("words", ()):
            own = dict(word)
            by_sentence.setdefault(own.pop("sentence"), []).append(own)
    return [{"item": sentence, "status": "ok", "words": words} for sentence, words in sorted(by_sentence.items())]


def scores(metric: str) -> tuple[str, ...]:
    """The scores of single sentences that a participant may see at level `items`."""
    return OWN.get(metric, Own()).scores


def groupings(metric: str) -> tuple[str, ...]:
    """The groupings by which a participant may see slices at level `items`."""
    return tuple(OWN.get(metric, Own()).slices)


def rows(metric: str, grouping: str, documents: Sequence[Item]) -> list[dict[str, Json]]:
    """The rows of one grouping, only of what the output itself has, in an order that says nothing of gold."""
    known = OWN.get(metric, Own()).slices.get(grouping)
    if known is None:
        return []
    counts, scores = known
    shown = [
        {
            "value": row["value"],
            "counts": {name: row["counts"][name] for name in counts},
            "scores": {name: row["scores"].get(name) for name in scores},
        }
        for row in documents
        # the last row of a long table sums up the rarest, and what is rare depends on gold
        if row["value"] is not None and row["counts"][counts[0]]
    ]
    return sorted(shown, key=lambda row: (-row["counts"][counts[0]], str(row["value"])))


def _only(*names: str) -> Callable[[Sequence[Item]], list[Json]]:
    """Of each word these members."""
    return lambda words: [{name: word[name] for name in names if name in word} for word in words]


def _aligned_words(words: Sequence[Item]) -> list[Json]:
    """Wrong words of the output where segmentations may differ; gold's words without a partner are not told."""
    columns = ("form", "head", "deprel", "deps")
    return [
        {
            "sentence": word["system_sentence"],
            "word": word["system_word"],
            **{f"system_{name}": word[f"system_{name}"] for name in columns if f"system_{name}" in word},
        }
        for word in words
        if word.get("system_word") is not None
    ]


def _lineages(words: Sequence[Item]) -> list[Json]:
    """Each word with its own lineage, and whether it is gold's."""
    return [
        {"word": word["word"], "system_lineage": word["system_lineage"], "right": word["score"] == 1.0}
        for word in words
    ]


def _as_it_is(value: Json) -> Json:
    return value


_ANSWERS = _only("sentence", "word", "form", "system_head", "system_deprel")
_WRONG_WORDS = _only("word", "form", "system_head", "system_deprel")
_ATTACHED = (
    ("system", "system_correct_head", "system_correct_label", "system_correct_both"),
    ("system_las", "system_uas", "system_label_accuracy"),
)
_ALIGNED = (("system", "system_correct"), ("las_precision",))
_ANSWERED = (("answer", "answer_correct"), ("precision",))
_GROUPINGS = ("upos", "xpos", "deprel", "direction", "distance", "depth", "word")

OWN: Mapping[str, Own] = {
    "attachment": Own(
        {"words": _WRONG_WORDS},
        dict.fromkeys(_GROUPINGS, _ATTACHED),
        scores=("las", "uas", "label_accuracy", "exact_match", "exact_match_unlabelled"),
        counts=("tokens", "correct_head", "correct_label", "correct_both"),
    ),
    "ud": Own({"words": _aligned_words}, dict.fromkeys(_GROUPINGS, _ALIGNED), resorted=True),
    "enhanced": Own({"words": _aligned_words}, resorted=True),
    "dependency_relations": Own(
        {"words": _ANSWERS}, dict.fromkeys(("relation", "deprel", "word", "category"), _ANSWERED), resorted=True
    ),
    "alignment": Own(
        {"wrong": _as_it_is},
        scores=("possible_precision", "och_ney_precision"),
        counts=("links", "links_in_possible", "sure_links"),
    ),
    "parallel_treebank": Own(
        {"source": _WRONG_WORDS, "target": _WRONG_WORDS, "alignment": lambda found: {"wrong": found["wrong"]}}
    ),
    "parseval": Own(
        {"system_tree": _as_it_is, "system_spans": _as_it_is, "system_spans_right": _as_it_is},
        {"label": (("system",), ("precision",))},
        scores=("labelled_precision",),
        counts=("matched", "system"),
    ),
    # no slices: the mean of a word that occurs once is its score, which tells how long gold's lineage is
    "leaf_ancestor": Own({"words": _lineages}),
}
"""By metric. `conformance` is not here: it speaks of gold's constituents only."""
