"""Score attachment on gold's words, as eval07.pl does.

CoNLL-X: Buchholz & Marsi 2006; CoNLL-07: Nilsson & Nivre 2008.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from treescore.core import columns, registry, text
from treescore.core.arrays import BoolArray, IntArray, owners_of, sums_by
from treescore.core.params import BOOLEAN, STRINGS, Json, Param
from treescore.core.scores import ScoreTable, ratio_score
from treescore.core.trees import DependencyTreebank
from treescore.errors import InputError, Problem
from treescore.metrics.shared import attachment_slices, groupings, words
from treescore.metrics.shared.examples import DEPENDENCIES
from treescore.metrics.shared.heads import lengths_to_offsets, shape_of, shape_problems

PTB = "ptb"
_PTB_TAGS = ("''", "``", ",", ".", ":")
CHECKED, WARNED = "check", "warn"
"""The choices of what words that differ are."""
_COUNTS = ("tokens", "correct_head", "correct_label", "correct_both", "sentences", "exact", "exact_unlabelled")
_share = partial(ratio_score, undefined="gold has no scoring token")
TABLE = ScoreTable(
    _COUNTS,
    (
        _share("las", "Words with the right head and relation.", "correct_both", "tokens"),
        _share("uas", "Words with the right head.", "correct_head", "tokens"),
        _share("label_accuracy", "Words with the right relation.", "correct_label", "tokens"),
        _share("exact_match", "Sentences whose every word has LAS right.", "exact", "sentences"),
        _share("exact_match_unlabelled", "Sentences whose every head is right.", "exact_unlabelled", "sentences"),
    ),
)


@registry.register
class Attachment(registry.Metric):
    """Share of words with the right head (UAS), relation (label accuracy), both (LAS).

    Relations are compared with their subtypes unless `subtypes` is false, heads as written. Outputs need not be trees:
    cycles, several roots and heads outside the sentence are scored, with a warning. Both sides must have the same words
    unless `words` is `warn`. Sentences without a scoring token do not count in exact match. After Buchholz & Marsi
    2006; Nivre et al. 2007.
    """

    name: ClassVar[str] = "attachment"
    doc: ClassVar[str] = "UAS, LAS, label accuracy and exact match on gold's own words."
    source: ClassVar[str] = "Buchholz & Marsi 2006; eval07.pl 1.4"
    params: ClassVar[dict[str, Param]] = {
        "punctuation": Param(
            BOOLEAN, True, "Score punctuation too: gold words whose every character is in Unicode category P."
        ),
        "subtypes": Param(
            BOOLEAN, True, "Compare relations whole; false: both sides' relations end at the first colon."
        ),
        "exclude_relations": Param(
            STRINGS, [], "Do not score words whose gold relation is one of these, as written, after `subtypes`."
        ),
        "exclude_tags": Param(
            STRINGS,
            None,
            "Do not score words whose tag in gold is one of these: XPOS (POSTAG), or UPOS (CPOSTAG) where that is _.",
        ),
        "preset": Param(
            {"enum": [PTB, None]},
            None,
            "ptb: exclude_tags is '' `` , . : unless tags are given, as for dependencies of the English Penn Treebank.",
        ),
        "words": Param(
            {"enum": [CHECKED, WARNED]},
            CHECKED,
            "Words that differ from gold's: an error (check); or a warning, with all words scored by position, as "
            "eval07.pl does (warn). Sentences must have gold's lengths.",
        ),
        "confusion": Param(
            BOOLEAN,
            False,
            "Add a table of the relations of gold and output, with places of words, under `extra.confusion`.",
        ),
        **attachment_slices.SLICE_PARAMS,
    }
    table = TABLE
    reads: ClassVar[tuple[type[Any], ...]] = (DependencyTreebank,)
    examples: ClassVar[tuple[registry.Example, ...]] = (
        registry.Example("conllu", DEPENDENCIES, {"punctuation": False, "groupings": ["Cpostag@-1#Wordform@0"]}),
        registry.Example(
            "conllu",
            DEPENDENCIES,
            {"subtypes": False, "exclude_relations": ["det"], "confusion": True},
            interprets_labels="Words of the relation det do not score.",
        ),
    )
    headline: ClassVar[Mapping[str, str]] = {
        "las": "LAS", "uas": "UAS", "label_accuracy": "LA", "exact_match": "EM",
    }  # fmt: skip
    error_filters: ClassVar[Mapping[str, registry.ErrorValues]] = {"deprel": words.DEPRELS, "upos": words.UPOS}
    styles: ClassVar[tuple[str, ...]] = ("eval07", "confusion")
    disclosure: ClassVar[registry.Disclosure] = registry.Disclosure(
        fields={"words": registry.fields("word", "form", "system_head", "system_deprel")},
        scores=("las", "uas", "label_accuracy", "exact_match", "exact_match_unlabelled"),
        counts=("tokens", "correct_head", "correct_label", "correct_both"),
        slices=dict.fromkeys(
            groupings.OWN_GROUPINGS,
            registry.SliceFields(
                ("system", "system_correct_head", "system_correct_label", "system_correct_both"),
                ("system_las", "system_uas", "system_label_accuracy"),
            ),
        ),
    )

    def __init__(self, **values: Json) -> None:
        """Resolve the preset, and check the names of groupings and metrics. Raises InputError."""
        if values["preset"] == PTB and values["exclude_tags"] is None:
            values = {**values, "exclude_tags": [*_PTB_TAGS]}
        super().__init__(**values)
        self._slices = attachment_slices.slice_choice(values)

    @property
    def own_styles(self) -> Sequence[str]:
        """The table of confusions is there where it is asked for."""
        return self.styles if self.values["confusion"] else ("eval07",)

    def check_gold(self, gold: DependencyTreebank, items: registry.ItemInfo, limits: text.Limits) -> None:
        """Check that gold has heads, and tags where they choose the words that score. Raises InputError."""
        del items, limits
        if len(gold.heads) and (gold.heads < 0).all():
            detail = (
                "No word of gold has a plain number as HEAD: all outputs would be right, or all wrong. Give the format "
                "that the text has, or take away what stands before its columns, as a number of each line."
            )
            raise InputError(Problem("no-heads", detail))
        if self.values["exclude_tags"] and "XPOS" in gold.sentences.lacking:
            words.check_columns(gold, "UPOS", "exclude_tags of attachment")

    def evaluate(
        self, gold: DependencyTreebank, system: DependencyTreebank, items: registry.ItemInfo, limits: text.Limits
    ) -> registry.Outcome:
        """Compare word by word.

        A sentence that the output leaves empty, as a bracket parser may, has no right word; its status is ERROR.

        Raises:
            InputError: `word-count-mismatch`, or `word-mismatch` unless `words` is `warn`.
        """
        del items
        cap = limits.max_problems
        shape = shape_of(system.heads, system.word_offsets)
        warnings = list(shape_problems(system, shape, cap, "The output is scored as it is.")[0])
        system, absent, present = words.complete(gold, system)
        warnings += self._check_words(gold, system, present, cap)
        if not self.values["subtypes"]:
            gold, system = words.without_subtypes(gold), words.without_subtypes(system)
        scoring = self._scoring(gold)
        right = {
            "uas": (gold.heads == system.heads) & present,
            "label_accuracy": (gold.deprels == system.deprels) & present,
        }
        right["las"] = right["uas"] & right["label_accuracy"]
        owners = owners_of(gold.word_offsets)
        rows = _count_rows(owners, len(gold), scoring, right)
        offsets = lengths_to_offsets(scoring, owners, len(gold))
        problems = words.no_parses(system, absent, "none of its words is right")
        return registry.Outcome(
            rows=rows,
            status=np.where(absent, registry.ERROR, registry.OK).astype(np.uint8),
            unanswered=absent,
            problems=problems,
            tokens={name: registry.TokenBits(bits[scoring], offsets) for name, bits in right.items()},
            warnings=[*warnings, *list(problems.values())[:cap]],
            slices=lambda: attachment_slices.AttachmentSlices(
                gold, system, scoring, right, present, self._slices
            ).documents(),
            details=lambda start, stop: columns.Records(
                {"words": words.wrong_words(gold, system, scoring & ~right["las"], start, stop)}
            ),
            marks=lambda: _marks(scoring, right, present),
            extra=lambda: self._extra(gold, system, scoring & present, right["uas"]),
        )

    def _check_words(
        self, gold: DependencyTreebank, system: DependencyTreebank, present: BoolArray, cap: int
    ) -> list[Problem]:
        if self.values["words"] == CHECKED:
            words.check_same_words(gold, system, cap)
            return []
        words.check_same_lengths(gold, system, cap)
        return words.other_words(gold, system, present)

    def _scoring(self, gold: DependencyTreebank) -> BoolArray:
        """Return the words that score, bool (w,)."""
        scoring = np.ones(len(gold.forms), np.bool_) if self.values["punctuation"] else ~words.punctuation_of(gold)
        excluded = frozenset(self.values["exclude_relations"])
        if excluded:
            scoring &= gold.vocabulary.table(gold.deprels, excluded.__contains__)[gold.deprels] == 0
        tags = frozenset(self.values["exclude_tags"] or ())
        if tags:
            number = gold.vocabulary.number("_")
            own = np.where(gold.xpos == number, gold.upos, gold.xpos)
            scoring &= gold.vocabulary.table(own, tags.__contains__)[own] == 0
        return scoring

    def _extra(
        self, gold: DependencyTreebank, system: DependencyTreebank, compared: BoolArray, right_heads: BoolArray
    ) -> dict[str, Json]:
        if not self.values["confusion"]:
            return {}
        return {"confusion": attachment_slices.confusion_of(gold, system, compared, right_heads)}

    def errors_of(self, item: Mapping[str, Json], gold: DependencyTreebank) -> Iterator[dict[str, Json]]:
        """Return the scoring words without the right head and relation."""
        return words.attachment_rows(item["words"], gold, item["item"])

    def beside_gold(self, item: Mapping[str, Json], gold: DependencyTreebank) -> Iterator[dict[str, Json]]:
        """Return the words of the sentence, with gold's relations as they are compared."""
        for row in words.words_beside(gold, item["item"], self.errors_of(item, gold)):
            relation = row["gold_deprel"]
            yield {**row, "gold_deprel": relation if self.values["subtypes"] else words.universal_relation(relation)}

    def report(self, style: str, outcome: registry.Outcome) -> str:
        """Print the three summary lines of eval07.pl, or the table of confusions."""
        if style not in self.own_styles:
            return super().report(style, outcome)
        if style == "confusion":
            return attachment_slices.confusion_report(outcome.extra()["confusion"])
        counts = dict(zip(_COUNTS, outcome.totals.tolist(), strict=True))
        lines = (
            ("Labeled   attachment score:", "correct_both"),
            ("Unlabeled attachment score:", "correct_head"),
            ("Label accuracy score:      ", "correct_label"),
        )
        return "".join(_summary_line(title, counts[name], counts["tokens"]) for title, name in lines)


def _marks(scoring: BoolArray, right: dict[str, BoolArray], present: BoolArray) -> registry.Marks:
    """Return the marks of the scoring words; a word of a sentence that the output leaves empty stands alone."""
    states = np.where(
        scoring, registry.word_states(right["uas"], right["label_accuracy"]), int(registry.MarkState.RIGHT)
    )
    gold = np.where(present | ~scoring, states, int(registry.MarkState.ALONE))
    return registry.Marks(
        system=states[present], gold=gold, partners=None if present.all() else np.flatnonzero(present)
    )


def _count_rows(owners: IntArray, sentences: int, scoring: Any, right: dict[str, Any]) -> IntArray:
    tokens = sums_by(owners[scoring], sentences)
    heads, labels, both = (
        sums_by(owners[scoring & right[name]], sentences) for name in ("uas", "label_accuracy", "las")
    )
    some = tokens > 0
    exact, exact_unlabelled = some & (both == tokens), some & (heads == tokens)
    return np.stack([tokens, heads, labels, both, some, exact, exact_unlabelled], axis=1).astype(np.int64)


def _summary_line(title: str, right: int, tokens: int) -> str:
    # The script subtracts the percentage of errors from 100, which can change the last digit.
    percent = f"{100 - (tokens - right) * 100 / tokens:.2f}" if tokens else "NaN"
    return f"  {title} {right} / {tokens} * 100 = {percent} %\n"
