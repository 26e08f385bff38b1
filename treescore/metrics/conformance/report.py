"""Report missed and violated key constituents by label and local context: under-flattened keys, bad parses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treescore.core import columns
from treescore.core.arrays import BoolArray, IntArray, grouped, grouped_lists, joint_keys, offsets_of, owners_of
from treescore.core.params import Json
from treescore.core.structure import NONE, Structure, ordered_children
from treescore.core.trees import NO_TAG, ConstituentTreebank
from treescore.metrics.conformance.kernel import Constituents, KeyMatches

EXAMPLES = 3
SHOWN_CHILDREN = 20
SHOWN_WORDS = 20
"""Limits on what one entry shows; an ellipsis stands for the rest."""
ELLIPSIS = "..."


@dataclass(frozen=True, slots=True)
class KeyReport:
    """Which of the k key constituents of n sentences are matched or crossed, as items, slices and tables."""

    gold: ConstituentTreebank
    links: Structure
    key: Constituents
    usable: BoolArray
    matches: KeyMatches
    limit: int

    def items(self, start: int, stop: int) -> columns.Records:
        """Return the missed and violated key constituents of the sentences from `start` to `stop`."""
        offsets, usable = self.key.offsets[start : stop + 1], self.usable[start:stop]
        indices = np.arange(offsets[0], offsets[-1])
        chosen = {"missed": indices[~self.matches.matched[indices]], "violated": indices[self.matches.crossed[indices]]}
        return columns.Records({name: self._listed(which, offsets, usable) for name, which in chosen.items()})

    def _listed(self, indices: IntArray, offsets: IntArray, usable: BoolArray) -> columns.Some:
        """List constituents, int64 (k,), by sentences with these bounds, (n + 1,); in usable sentences only, (n,)."""
        kept = indices[usable[np.searchsorted(offsets, indices, "right") - 1]]
        lengths = np.diff(np.searchsorted(kept, offsets))[usable]
        return columns.Some(usable, columns.Lists(offsets_of(lengths), self._constituents(kept)), left_out=True)

    def slices(self) -> dict[str, columns.Documents]:
        """Return rows of key constituents by label and by depth."""
        strings = self.gold.vocabulary.strings
        compared = self.usable[owners_of(self.key.offsets)]
        return {
            "label": self._slice(self.key.labels, compared, strings),
            "depth": self._slice(self.key.depths, compared, None),
        }

    def _slice(self, groups: IntArray, compared: BoolArray, names: Sequence[str] | None) -> columns.Documents:
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
        compared = self.usable[owners_of(self.key.offsets)]
        kinds, firsts = grouped(self._contexts())
        totals = np.bincount(kinds[compared], minlength=len(firsts))
        return {
            "missed": self._table(kinds, totals, compared & ~self.matches.matched),
            "violated": self._table(kinds, totals, self.matches.crossed),
        }

    def _table(self, kinds: IntArray, totals: IntArray, mask: BoolArray) -> list[dict[str, Json]]:
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

    def _contexts(self) -> IntArray:
        """Number label, parent's label and children of each key constituent, equal ones alike: int64 (k,)."""
        gold, items = self.gold, self.key.items
        above = np.append(gold.labels, NONE)[self._parents()]
        sides = self.key.labels, self._child_lists()[items], above - NONE
        return joint_keys(sides, [side[:0] for side in sides])[0]

    def _child_lists(self) -> IntArray:
        """Number the labels and tags of the children of each node and word, equal ones alike; 0 is none: int64."""
        gold = self.gold
        children, above = ordered_children(gold, self.links)
        values = np.concatenate([gold.labels, len(gold.vocabulary) + 1 + gold.tags])[children]
        begins = np.flatnonzero(np.diff(above, prepend=NONE))
        numbers = np.zeros(len(gold.labels) + len(gold.words), np.int64)
        numbers[above[begins]] = 1 + grouped_lists(values, np.append(begins, len(above)))[0]
        return numbers

    def _parents(self) -> IntArray:
        """Return the node above each key constituent, NONE at the top: int64 (k,)."""
        return np.concatenate([self.links.parents, self.links.anchors])[self.key.items]

    def _context(self, index: int) -> dict[str, Json]:
        strings = self.gold.vocabulary.strings
        item = int(self.key.items[index])
        nodes = len(self.gold.labels)
        parent = int(self.links.parents[item] if item < nodes else self.links.anchors[item - nodes])
        return {
            "label": strings[self.key.labels[index]],
            "parent": None if parent == NONE else strings[self.gold.labels[parent]],
            "children": self._children(index, item) if item < nodes else [],
        }

    def _children(self, index: int, node: int) -> list[str | None]:
        """Return the labels of a node's children in order; None for a word without a tag."""
        gold, strings = self.gold, self.gold.vocabulary.strings
        sentence = self._sentence(index)
        last = gold.node_offsets[sentence + 1]
        first_word = gold.word_offsets[sentence] + gold.starts[node]
        words = np.arange(first_word, gold.word_offsets[sentence] + gold.ends[node])
        words = words[self.links.anchors[words] == node]
        nodes = np.arange(node + 1, last)
        nodes = nodes[self.links.parents[nodes] == node]
        entries = [(int(gold.starts[child]), 0, int(gold.labels[child])) for child in nodes.tolist()]
        entries += [(word - int(gold.word_offsets[sentence]), 1, int(gold.tags[word])) for word in words.tolist()]
        children: list[str | None] = [None if label == NO_TAG else strings[label] for _, _, label in sorted(entries)]
        return children if len(children) <= SHOWN_CHILDREN else [*children[:SHOWN_CHILDREN], ELLIPSIS]

    def _sentence(self, index: int) -> int:
        return int(np.searchsorted(self.key.offsets, index, side="right")) - 1

    def _example(self, index: int) -> dict[str, Json]:
        [constituent] = self._constituents(np.array([index])).documents(0, 1)
        return {"item": self._sentence(index) + 1, **constituent}

    def _constituents(self, indices: IntArray) -> columns.Records:
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
