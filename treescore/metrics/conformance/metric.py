"""Score whether parses are compatible with flat keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from treescore.core.arrays import IntArray, owners_of, sums_by
from treescore.core.params import BOOLEAN, STRINGS, Json, Param, escape
from treescore.core.registry import ERROR, OK, SKIP, ErrorValues, Example, ItemInfo, Metric, Outcome, register
from treescore.core.scores import ZERO, Score, ScoreTable, errors_param, ratio_score
from treescore.core.structure import structure_of
from treescore.core.text import Limits
from treescore.core.trees import ConstituentTreebank
from treescore.core.word_check import WordCheck, check_words
from treescore.errors import InputError, Problem
from treescore.metrics.conformance import kernel
from treescore.metrics.conformance.report import KeyReport
from treescore.metrics.shared.examples import TREES
from treescore.metrics.shared.roots import root_warnings
from treescore.metrics.shared.tables import members
from treescore.transforms.labels import base_label
from treescore.transforms.shared.tree_edit import numbered, rewritten

COUNT_NAMES = (
    "key_constituents",
    "response_constituents",
    "matched",
    "key_constituents_violated",
    "labelled_matched",
    "error",
    "skip",
)
_KEY, _RESPONSE = COUNT_NAMES.index("key_constituents"), COUNT_NAMES.index("response_constituents")
_VIOLATED = COUNT_NAMES.index("key_constituents_violated")
NO_KEY = "the key has no constituent to compare"

SCORES: tuple[Score, ...] = (
    ratio_score(
        "recall",
        "share of key constituents that the system has, unlabelled",
        "matched",
        "key_constituents",
        undefined=NO_KEY,
    ),
    ratio_score(
        "conformance",
        "share of key constituents that no system constituent crosses",
        "key_constituents_violated",
        "key_constituents",
        one_minus=True,
        undefined=NO_KEY,
        one_sided=True,
    ),
    ratio_score(
        "precision",
        "share of system constituents that the key has; for reference, as a flat key leaves much unsaid",
        "matched",
        "response_constituents",
        undefined="the system has no constituent to compare",
        one_sided=True,
    ),
)
LABELLED = ratio_score(
    "labelled_recall",
    "share of key constituents that the system has with the same category, under the map of categories",
    "labelled_matched",
    "key_constituents",
    undefined=NO_KEY,
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
        everything = kernel.constituents_of(gold, links, **options)
        key = self._selected(gold, everything)
        response = kernel.constituents_of(system, structure_of(system), **options)
        usable = np.asarray(check.status == OK)
        matches = kernel.match_constituents(key, response, np.diff(gold.word_offsets), usable)
        rows = self._rows(key, response, matches, check)
        if self.values["errors"] == ZERO:
            wrong = ~usable
            counts = np.diff(key.offsets)[wrong]
            rows[wrong, _KEY], rows[wrong, _VIOLATED] = counts, counts
            rows[wrong, _RESPONSE] = np.diff(everything.offsets)[wrong]
        if self.values["categories"] is not None:
            sides = (self._categorized(gold, key), self._categorized(gold, response))
            rows[:, COUNT_NAMES.index("labelled_matched")] = kernel.labelled_matches(*sides, usable)
        warnings = root_warnings(gold, system, () if options["outer_bracket"] else ("",))
        if len(warnings) > 1 and self.values["categories"] is None:
            warnings = []  # brackets of other labels over the same words are equal here
        report = KeyReport(gold, links, key, usable, matches, self.values["limit"])
        return Outcome(
            rows=rows,
            status=check.status,
            unanswered=check.unanswered,
            problems=check.problems,
            warnings=warnings,
            details=report.items,
            slices=report.slices,
            extra=report.tables,
        )

    def errors_of(self, item: Mapping[str, Json], gold: ConstituentTreebank) -> Iterator[dict[str, Json]]:
        """Return the key constituents that the system lacks: `crossed` where one of its constituents crosses them."""
        del gold
        crossed = Counter((row["label"], row["start"], row["end"]) for row in item.get("violated", ()))
        for row in item.get("missed", ()):
            name = (row["label"], row["start"], row["end"])
            kind = "crossed" if crossed[name] > 0 else "missed"
            crossed[name] -= 1
            yield {"kind": kind, **row}

    def _selected(self, gold: ConstituentTreebank, key: kernel.Constituents) -> kernel.Constituents:
        select = self.values["select"]
        mask = (key.depths >= select.get("min_depth", 1)) & (key.depths <= select.get("max_depth", np.iinfo(int).max))
        if "categories" in select:
            categories = frozenset(select["categories"])
            mask &= numbered(
                gold.vocabulary, key.labels, lambda label: label in categories or base_label(label) in categories
            )
        return key if mask.all() else key.where(mask)

    def _categorized(self, gold: ConstituentTreebank, side: kernel.Constituents) -> kernel.Constituents:
        labels = rewritten(gold.vocabulary, side.labels, lambda label: self._category.get(label, label))
        return side._replace(labels=labels)

    def _rows(
        self, key: kernel.Constituents, response: kernel.Constituents, matches: kernel.KeyMatches, check: WordCheck
    ) -> IntArray:
        usable = np.asarray(check.status == OK)
        owners = owners_of(key.offsets)
        counts = np.diff(key.offsets)
        columns: list[Any] = [
            np.where(usable, counts, 0),
            np.where(usable, np.diff(response.offsets), 0),
            sums_by(owners, len(usable), matches.matched),
            sums_by(owners, len(usable), matches.crossed),
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
