"""Conformance scores of flat keys (Gaizauskas, Hepple & Huyck 1998): whether parses are compatible with them.

The report has missed and violated key constituents by label and local context: under-flattened keys, bad parses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from treescore.core import arrays, columns
from treescore.core.params import BOOLEAN, STRINGS, Json, Param, escape
from treescore.core.registry import ERROR, OK, SKIP, ErrorValues, Example, ItemInfo, Metric, Outcome, register
from treescore.core.scores import ZERO, Score, ScoreTable, errors_param, ratio_score
from treescore.core.structure import NONE, Structure, crossing_spans, ordered_children, structure_of
from treescore.core.text import Limits
from treescore.core.trees import NO_TAG, ConstituentTreebank
from treescore.core.word_check import WordCheck, check_words
from treescore.errors import InputError, Problem
from treescore.metrics.shared.constituents import ELLIPSIS, SHOWN_WORDS, root_warnings
from treescore.metrics.shared.examples import TREES
from treescore.metrics.shared.words import members
from treescore.transforms.edits import base_label, numbered, rewritten


class Constituents(NamedTuple):
    """The k constituents of n sentences that are compared, outer before inner, left before right.

    Attributes:
        items: node of each, or number of nodes + word for a preterminal, int64 (k,).
        labels: int64 (k,).
        starts, ends: inside the sentence, start < end, int64 (k,).
        depths: 1 for the topmost that is compared, int64 (k,).
        offsets: int64 (n + 1,).
    """

    items: arrays.IntArray
    labels: arrays.IntArray
    starts: arrays.IntArray
    ends: arrays.IntArray
    depths: arrays.IntArray
    offsets: arrays.IntArray

    def where(self, mask: arrays.BoolArray) -> Constituents:
        """Return the constituents where `mask`, bool (k,), is true."""
        offsets = arrays.offsets_of(arrays.sums_by(arrays.owners_of(self.offsets)[mask], len(self.offsets) - 1))
        return Constituents._make([*(column[mask] for column in self[:5]), offsets])


class KeyMatches(NamedTuple):
    """Whether each of the k constituents of a key is matched, and whether it is crossed, bool (k,)."""

    matched: arrays.BoolArray
    crossed: arrays.BoolArray


def constituents_of(
    treebank: ConstituentTreebank, links: Structure, *, preterminals: bool, outer_bracket: bool
) -> Constituents:
    """List the constituents with words: nodes, and if wanted tags and outermost brackets without a label."""
    nodes = np.arange(len(treebank.labels), dtype=np.int64)
    outer = (links.parents == NONE) & (treebank.labels == 0)
    tops = np.maximum.accumulate(np.where(links.parents == NONE, nodes, 0)) if len(nodes) else nodes
    depths = links.depths - (0 if outer_bracket else outer[tops].astype(np.int64))
    everything = Constituents(nodes, treebank.labels, treebank.starts, treebank.ends, depths, treebank.node_offsets)
    mask = (treebank.starts < treebank.ends) & (outer_bracket | ~outer)
    if not preterminals:
        return everything.where(mask)
    tagged = np.flatnonzero(treebank.tags >= 0)
    owners = arrays.owners_of(treebank.word_offsets)[tagged]
    positions = tagged - treebank.word_offsets[owners]
    upper = everything.where(mask)
    joined = Constituents(
        items=np.concatenate([upper.items, len(nodes) + tagged]),
        labels=np.concatenate([upper.labels, treebank.tags[tagged]]),
        starts=np.concatenate([upper.starts, positions]),
        ends=np.concatenate([upper.ends, positions + 1]),
        depths=np.concatenate([upper.depths, np.append(depths, 0)[links.anchors[tagged]] + 1]),
        offsets=upper.offsets,
    )
    sentences = np.concatenate([arrays.owners_of(upper.offsets), owners])
    # A tag is below every bracket over its word: the last key sorts nodes before words.
    order = np.lexsort((joined.items, -joined.ends, joined.starts, sentences))
    offsets = arrays.offsets_of(arrays.sums_by(sentences, len(treebank)))
    return Constituents._make([*(column[order] for column in joined[:5]), offsets])


def match_constituents(
    key: Constituents, response: Constituents, words: arrays.IntArray, usable: arrays.BoolArray
) -> KeyMatches:
    """Find the key constituents that a response has too and those that one crosses.

    Constituents are multisets: of several over the same words as many are matched as the response has.

    Args:
        key: constituents of n sentences, nested in one another.
        response: constituents of the same sentences, nested in one another.
        words: words of each sentence, int64 (n,).
        usable: sentences that are compared, bool (n,).
    """
    begins = arrays.offsets_of(words + 1)[:-1]  # of the gaps between words, and before and behind them
    sides = []
    for side in (key, response):
        owners = arrays.owners_of(side.offsets)
        chosen = np.flatnonzero(usable[owners])
        shifts = begins[owners[chosen]]
        sides.append((chosen, side.starts[chosen] + shifts, side.ends[chosen] + shifts))
    (compared, *spans), (_, *others) = sides
    matches = KeyMatches(np.zeros(len(key.starts), np.bool_), np.zeros(len(key.starts), np.bool_))
    matches.matched[compared[arrays.paired_rows(spans, others)[0]]] = True
    matches.crossed[compared] = crossing_spans(spans[0], spans[1], np.stack(others, axis=1))
    return matches


def labelled_matches(key: Constituents, response: Constituents, usable: arrays.BoolArray) -> arrays.IntArray:
    """Count the constituents of each sentence that agree in span and label, as multisets: int64 (n,)."""
    sides = [(arrays.owners_of(side.offsets), side.starts, side.ends, side.labels) for side in (key, response)]
    matched, _ = arrays.paired_rows(*sides)
    return arrays.sums_by(sides[0][0][matched], len(usable)) * usable


COUNT_NAMES = (
    *("key_constituents", "response_constituents", "matched", "key_constituents_violated", "labelled_matched"),
    *("error", "skip"),
)
_KEY, _RESPONSE = COUNT_NAMES.index("key_constituents"), COUNT_NAMES.index("response_constituents")
_VIOLATED = COUNT_NAMES.index("key_constituents_violated")
_NO_SYSTEM = "the system has no constituent to compare"
_share = partial(ratio_score, denominator="key_constituents", undefined="the key has no constituent to compare")
SCORES: tuple[Score, ...] = (
    _share("recall", "share of key constituents that the system has, unlabelled", "matched"),
    _share(
        "conformance",
        "share of key constituents that no system constituent crosses",
        "key_constituents_violated",
        one_minus=True,
        one_sided=True,
    ),
    ratio_score(
        "precision",
        "share of system constituents that the key has; for reference, as a flat key leaves much unsaid",
        "matched",
        "response_constituents",
        undefined=_NO_SYSTEM,
        one_sided=True,
    ),
)
LABELLED = _share(
    "labelled_recall",
    "share of key constituents that the system has with the same category, under the map of categories",
    "labelled_matched",
)

CATEGORIES: Mapping[str, Json] = {
    "anyOf": [{"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, STRINGS]}}, {"type": "null"}]
}
SELECT: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "categories": STRINGS,
        "min_depth": {"type": "integer", "minimum": 1},
        "max_depth": {"type": "integer", "minimum": 1},
    },
    "additionalProperties": False,
}


@register
class Conformance(Metric):
    """Unlabelled recall, conformance and precision of constituents against a key.

    Conformance is the share of key constituents that no system constituent crosses. After Gaizauskas, Hepple & Huyck
    1998.
    """

    name = "conformance"
    doc = (
        "Unlabelled recall, conformance (share of key constituents that no system constituent crosses) and precision, "
        "meant for flat keys (transform flatten). Constituents are multisets: a phrase over the same words as another "
        "counts for itself. Phrases without words do not count."
    )
    source = "Gaizauskas, Hepple & Huyck 1998, Modifying Existing Annotated Corpora for General Comparative Evaluation"
    reads = (ConstituentTreebank,)
    examples: ClassVar[tuple[Example, ...]] = (Example("bracketed", TREES, {"categories": {}}, ("flatten",)),)
    # No disclosure: items and slices describe gold's constituents only.
    headline: ClassVar[Mapping[str, str]] = {
        "recall": "Recall", "conformance": "Conformance", "precision": "Precision",
        "labelled_recall": "Labelled recall",
    }  # fmt: skip
    error_filters: ClassVar[Mapping[str, ErrorValues]] = {"label": members("label")}
    params: ClassVar[Mapping[str, Param]] = {
        "preterminals": Param(BOOLEAN, False, "Whether tags are constituents over one word."),
        "outer_bracket": Param(BOOLEAN, False, "Whether an outermost bracket without a label is a constituent."),
        "select": Param(
            SELECT,
            {},
            "Key constituents that count: of these categories (label, or label without its extensions), from min_depth "
            "to max_depth (1 is the topmost). Empty: all.",
        ),
        "categories": Param(
            CATEGORIES,
            None,
            'Labels of both sides that are one category, {"VBAR": "VP"} or {"NP": ["NBAR", "N1"]}; others are '
            "categories of their own. Adds labelled_recall.",
        ),
        "errors": errors_param("Sentences with other words than gold, or without a parse"),
        "limit": Param(
            {"type": "integer", "minimum": 1, "maximum": 200},
            20,
            "How many kinds of missed and of violated key constituents are listed.",
        ),
    }

    def __init__(self, **values: Json) -> None:
        super().__init__(**values)
        self._category = _category_of(values["categories"] or {})

    @property
    def table(self) -> ScoreTable:
        """Return the counts and scores; labelled recall only where a map of categories is given."""
        if self.values["categories"] is None:
            return ScoreTable(COUNT_NAMES, SCORES)
        return ScoreTable(COUNT_NAMES, (*SCORES, LABELLED))

    def evaluate(
        self,
        gold: ConstituentTreebank,
        system: ConstituentTreebank,
        items: ItemInfo,  # noqa: ARG002 - no item changes a count
        limits: Limits,  # noqa: ARG002 - the time is linear in the text
    ) -> Outcome:
        """Compare constituents; sentences whose words differ from gold's have status ERROR."""
        check = check_words(gold, system)
        links = structure_of(gold)
        options = {name: bool(self.values[name]) for name in ("preterminals", "outer_bracket")}
        everything = constituents_of(gold, links, **options)
        key = self._selected(gold, everything)
        response = constituents_of(system, structure_of(system), **options)
        usable = np.asarray(check.status == OK)
        matches = match_constituents(key, response, np.diff(gold.word_offsets), usable)
        rows = self._rows(key, response, matches, check)
        if self.values["errors"] == ZERO:
            wrong = ~usable
            counts = np.diff(key.offsets)[wrong]
            rows[wrong, _KEY], rows[wrong, _VIOLATED] = counts, counts
            rows[wrong, _RESPONSE] = np.diff(everything.offsets)[wrong]
        if self.values["categories"] is not None:
            sides = (self._categorized(gold, key), self._categorized(gold, response))
            rows[:, COUNT_NAMES.index("labelled_matched")] = labelled_matches(*sides, usable)
        warnings = root_warnings(gold, system, () if options["outer_bracket"] else ("",))
        if len(warnings) > 1 and self.values["categories"] is None:
            warnings = []  # brackets of other labels over the same words are equal here
        report = KeyReport(gold, links, key, usable, matches, self.values["limit"])
        tables: dict[str, Any] = {"details": report.items, "slices": report.slices, "extra": report.tables}
        return Outcome(rows=rows, **check._asdict(), warnings=warnings, **tables)

    def errors_of(self, item: Mapping[str, Json], gold: ConstituentTreebank) -> Iterator[dict[str, Json]]:  # noqa: ARG002 - other metrics need it
        """Return the key constituents that the system lacks: `crossed` where one of its constituents crosses them."""
        crossed = Counter((row["label"], row["start"], row["end"]) for row in item.get("violated", ()))
        for row in item.get("missed", ()):
            name = (row["label"], row["start"], row["end"])
            kind = "crossed" if crossed[name] > 0 else "missed"
            crossed[name] -= 1
            yield {"kind": kind, **row}

    def _selected(self, gold: ConstituentTreebank, key: Constituents) -> Constituents:
        select = self.values["select"]
        mask = (key.depths >= select.get("min_depth", 1)) & (key.depths <= select.get("max_depth", np.iinfo(int).max))
        if "categories" in select:
            categories = frozenset(select["categories"])
            mask &= numbered(
                gold.vocabulary, key.labels, lambda label: label in categories or base_label(label) in categories
            )
        return key if mask.all() else key.where(mask)

    def _categorized(self, gold: ConstituentTreebank, side: Constituents) -> Constituents:
        labels = rewritten(gold.vocabulary, side.labels, lambda label: self._category.get(label, label))
        return side._replace(labels=labels)

    def _rows(
        self, key: Constituents, response: Constituents, matches: KeyMatches, check: WordCheck
    ) -> arrays.IntArray:
        usable = np.asarray(check.status == OK)
        owners = arrays.owners_of(key.offsets)
        counts = np.diff(key.offsets)
        columns: list[Any] = [
            np.where(usable, counts, 0),
            np.where(usable, np.diff(response.offsets), 0),
            arrays.sums_by(owners, len(usable), matches.matched),
            arrays.sums_by(owners, len(usable), matches.crossed),
            np.zeros(len(usable), np.int64),
            check.status == ERROR,
            check.status == SKIP,
        ]
        return np.stack(columns, axis=1).astype(np.int64)


def _category_of(categories: Mapping[str, Json]) -> dict[str, str]:
    """Return the category of each label in the map.

    Raises:
        InputError: `bad-parameter`, a label has two categories.
    """
    category_of: dict[str, str] = {}
    problems = []
    for name, value in categories.items():
        pairs = [(name, value)] if isinstance(value, str) else [(label, name) for label in value]
        for label, category in pairs:
            if category_of.setdefault(label, category) != category:
                detail = (
                    f"The label {label!r} is mapped to {category_of[label]!r} and to {category!r}. Keep one of them."
                )
                problems.append(Problem("bad-parameter", detail, pointer=f"/categories/{escape(name)}"))
    if problems:
        raise InputError(problems)
    return category_of


EXAMPLES = 3
SHOWN_CHILDREN = 20
"""Limits on what one entry shows; an ellipsis stands for the rest."""


@dataclass(frozen=True)
class KeyReport:
    """Which of the k key constituents of n sentences are matched or crossed, as items, slices and tables."""

    gold: ConstituentTreebank
    links: Structure
    key: Constituents
    usable: arrays.BoolArray
    matches: KeyMatches
    limit: int

    def items(self, start: int, stop: int) -> columns.Records:
        """Return the missed and violated key constituents of the sentences from `start` to `stop`."""
        offsets, usable = self.key.offsets[start : stop + 1], self.usable[start:stop]
        indices = np.arange(offsets[0], offsets[-1])
        chosen = {"missed": indices[~self.matches.matched[indices]], "violated": indices[self.matches.crossed[indices]]}
        return columns.Records({name: self._listed(which, offsets, usable) for name, which in chosen.items()})

    def _listed(self, indices: arrays.IntArray, offsets: arrays.IntArray, usable: arrays.BoolArray) -> columns.Some:
        """List constituents, int64 (k,), by sentences with these bounds, (n + 1,); in usable sentences only, (n,)."""
        kept = indices[usable[np.searchsorted(offsets, indices, "right") - 1]]
        lengths = np.diff(np.searchsorted(kept, offsets))[usable]
        return columns.Some(usable, columns.Lists(arrays.offsets_of(lengths), self._constituents(kept)), left_out=True)

    def slices(self) -> dict[str, columns.Documents]:
        """Return rows of key constituents by label and by depth."""
        strings = self.gold.vocabulary.strings
        compared = self.usable[arrays.owners_of(self.key.offsets)]
        return {
            "label": self._slice(self.key.labels, compared, strings),
            "depth": self._slice(self.key.depths, compared, None),
        }

    def _slice(
        self, groups: arrays.IntArray, compared: arrays.BoolArray, names: Sequence[str] | None
    ) -> columns.Documents:
        values, inverse = np.unique(groups[compared], return_inverse=True)
        total, matched, violated = (
            np.bincount(inverse, weights=weights, minlength=len(values)).astype(np.int64)
            for weights in (None, self.matches.matched[compared], self.matches.crossed[compared])
        )
        return columns.rows_of(
            columns.Numbers(values) if names is None else columns.Strings(values, names),
            {
                "key_constituents": columns.Numbers(total),
                "matched": columns.Numbers(matched),
                "key_constituents_violated": columns.Numbers(violated),
            },
            {"recall": columns.Quotients([matched], [total]), "conformance": columns.Numbers(1 - violated / total)},
        )

    def tables(self) -> dict[str, Json]:
        """Return the kinds of missed and of violated key constituents, most frequent first, with examples."""
        compared = self.usable[arrays.owners_of(self.key.offsets)]
        kinds, firsts = arrays.grouped(self._contexts())
        totals = np.bincount(kinds[compared], minlength=len(firsts))
        return {
            "missed": self._table(kinds, totals, compared & ~self.matches.matched),
            "violated": self._table(kinds, totals, self.matches.crossed),
        }

    def _table(self, kinds: arrays.IntArray, totals: arrays.IntArray, mask: arrays.BoolArray) -> list[dict[str, Json]]:
        counts = np.bincount(kinds[mask], minlength=len(totals))
        leading = np.argsort(-counts, kind="stable")[: self.limit]
        rows = []
        for kind in leading[counts[leading] > 0].tolist():
            examples = np.flatnonzero(mask & (kinds == kind))[:EXAMPLES].tolist()
            rows.append(
                {
                    **self._context(examples[0]),
                    "count": int(counts[kind]),
                    "of": int(totals[kind]),
                    "examples": [self._example(index) for index in examples],
                }
            )
        return rows

    def _contexts(self) -> arrays.IntArray:
        """Number label, parent's label and children of each key constituent, equal ones alike: int64 (k,)."""
        gold, items = self.gold, self.key.items
        above = np.append(gold.labels, NONE)[np.concatenate([self.links.parents, self.links.anchors])[items]]
        sides = self.key.labels, self._child_lists()[items], above - NONE
        return arrays.joint_keys(sides, [side[:0] for side in sides])[0]

    def _child_lists(self) -> arrays.IntArray:
        """Number the labels and tags of the children of each node and word, equal ones alike; 0 is none: int64."""
        gold = self.gold
        children, above = self._ordered
        values = np.concatenate([gold.labels, len(gold.vocabulary) + 1 + gold.tags])[children]
        begins = np.flatnonzero(np.diff(above, prepend=NONE))
        numbers = np.zeros(len(gold.labels) + len(gold.words), np.int64)
        numbers[above[begins]] = 1 + arrays.grouped_lists(values, np.append(begins, len(above)))[0]
        return numbers

    def _context(self, index: int) -> dict[str, Json]:
        strings = self.gold.vocabulary.strings
        item = int(self.key.items[index])
        nodes = len(self.gold.labels)
        parent = int(self.links.parents[item] if item < nodes else self.links.anchors[item - nodes])
        return {
            "label": strings[self.key.labels[index]],
            "parent": None if parent == NONE else strings[self.gold.labels[parent]],
            "children": self._children(item) if item < nodes else [],
        }

    def _children(self, node: int) -> list[str | None]:
        """Return the labels of a node's children in the order of the tree; None for a word without a tag."""
        children, above = self._ordered
        own = children[slice(*np.searchsorted(above, [node, node + 1]).tolist())].tolist()
        nodes, strings = len(self.gold.labels), self.gold.vocabulary.strings
        labels = (self.gold.labels[child] if child < nodes else self.gold.tags[child - nodes] for child in own)
        names = [None if label == NO_TAG else strings[label] for label in labels]
        return names if len(names) <= SHOWN_CHILDREN else [*names[:SHOWN_CHILDREN], ELLIPSIS]

    @cached_property
    def _ordered(self) -> tuple[arrays.IntArray, arrays.IntArray]:
        """The children of all nodes, and the node above each."""
        return ordered_children(self.gold, self.links)

    def _sentence(self, index: int) -> int:
        return int(np.searchsorted(self.key.offsets, index, side="right")) - 1

    def _example(self, index: int) -> dict[str, Json]:
        [constituent] = self._constituents(np.array([index])).documents(0, 1)
        return {"item": self._sentence(index) + 1, **constituent}

    def _constituents(self, indices: arrays.IntArray) -> columns.Records:
        """Describe constituents, int64 (k,): label, span and words, of many words the first ones and an ellipsis."""
        gold, strings = self.gold, self.gold.vocabulary.strings
        starts, ends = self.key.starts[indices], self.key.ends[indices]
        firsts = gold.word_offsets[np.searchsorted(self.key.offsets, indices, "right") - 1] + starts
        # an ellipsis is one word more than are shown
        words, offsets = columns.ranges_of(firsts, np.minimum(ends - starts, SHOWN_WORDS + 1))
        forms = gold.words[words]
        forms[offsets[1:][ends - starts > SHOWN_WORDS] - 1] = len(strings)
        members: dict[str, columns.Column] = {
            "label": columns.strings_of(self.key.labels[indices], gold.vocabulary),
            "start": columns.Numbers(starts),
            "end": columns.Numbers(ends),
            "text": columns.Joined(columns.Lists(offsets, columns.Strings(forms, [*strings, ELLIPSIS]))),
        }
        return columns.Records(members)
