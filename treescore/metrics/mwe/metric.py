"""Score multiword expressions as in the PARSEME shared tasks, also those of one category, seen or unseen.

An expression is seen where a training text has its lemmas, and word for word. Items hold the expressions of sentences
that are not the same on both sides, slices their subsets; the report is that of PARSEME's program, byte for byte.
"""

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from treescore.core import columns, registry, text
from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by
from treescore.core.params import BOOLEAN, Json, Param
from treescore.core.scores import Score, ScoreTable, matched_scores
from treescore.core.text import Limits
from treescore.core.trees import NO_CATEGORY, ExpressionTreebank, Vocabulary
from treescore.errors import LimitError, Problem, placed
from treescore.formats.cupt import check_header, read_cupt
from treescore.metrics.mwe import kernel
from treescore.metrics.mwe.kernel import ALONE, Distinct, Pairs, Side, pairs_of, places_of
from treescore.metrics.shared.examples import EXPRESSIONS
from treescore.metrics.shared.words import AGREES, check_same_words, complete, members, no_parses

MAX_COVERED = 20_000_000
"""Limit on the words that the expressions of a text stretch over, gaps included, counted for each expression."""

_MISSING = "_"
_UNKNOWN = -1
"""Number of a string that no expression of the training text has."""


class Training(NamedTuple):
    """The expressions of a training text.

    Attributes:
        strings: number of each lemma and form.
        lemmas: the multisets of lemmas, as sorted numbers.
        spans: the forms from the first to the last word, what stands in gaps included, as numbers.
        compat: whether a missing lemma is the form here alone, as in the original program.
    """

    strings: Vocabulary
    lemmas: frozenset[bytes]
    spans: frozenset[bytes]
    compat: bool

    def seen(self, side: Side) -> BoolArray:
        """Return which expressions have the lemmas of one of the training text, bool (k,)."""
        keys = _lemma_keys(side.treebank, self._numbers(side.treebank, _lemmas(side.treebank, fill=not self.compat)))
        return np.fromiter((key in self.lemmas for key in keys), np.bool_, len(side.sets))

    def identical(self, side: Side) -> BoolArray:
        """Return which expressions stand in the training text word for word, bool (k,)."""
        keys = _span_keys(side, self._numbers(side.treebank, side.treebank.forms))
        return np.fromiter((key in self.spans for key in keys), np.bool_, len(side.sets))

    def _numbers(self, treebank: ExpressionTreebank, words: IntArray) -> IntArray:
        """Return the numbers that strings have here, _UNKNOWN where they have none: int64 (w,)."""

        def number(string: str) -> int:
            known = self.strings.get(string)
            return _UNKNOWN if known is None else known

        return treebank.vocabulary.table(words, number)[words]


def read_training(text: str, limits: Limits, *, compat: bool) -> Training:
    """Read the training text.

    Args:
        text: in the format cupt.
        limits: on texts, and `max_training_bytes` on this one.
        compat: to read it as the original program, which ignores codes at multiword tokens here.

    Raises:
        InputError: the text cannot be read, at its place below `/train`.
        LimitError: it is too large.
    """
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > limits.max_training_bytes:
        detail = (
            f"The training text has {len(data)} bytes; the limit is {limits.max_training_bytes}. Leave out sentences "
            "without expressions, or columns but ID, FORM, LEMMA and PARSEME:MWE."
        )
        raise LimitError(Problem("training-text-too-large", detail, pointer="/train"))
    with placed("/train"):
        treebank = read_cupt(data, Vocabulary(), limits, ranges=not compat, any_heads=True)
        side = check_spans(treebank)
    strings = Vocabulary()
    names = treebank.vocabulary.strings
    used = np.unique(np.concatenate([treebank.expression_words, _covered(side)]))

    def own(words: IntArray) -> IntArray:
        numbers = np.zeros(len(words), np.int64)
        numbers[used] = strings.numbers([names[number] for number in words[used].tolist()])
        return numbers

    lemmas = frozenset(_lemma_keys(treebank, own(_lemmas(treebank, fill=True))))
    return Training(strings, lemmas, frozenset(_span_keys(side, own(treebank.forms))), compat)


def check_spans(treebank: ExpressionTreebank) -> Side:
    """Check that what expressions stretch over can be compared. Raises LimitError: `too-long-expressions`."""
    side = Side(treebank, np.zeros(len(treebank.expression_ids), np.int64))
    begins, ends = side.spans
    lengths = ends - begins
    if lengths.sum() > MAX_COVERED:
        sentence = int(np.bincount(side.sentences, lengths).argmax())
        detail = (
            f"The expressions of the text stretch over {lengths.sum()} words, gaps included; {MAX_COVERED} can be "
            f"compared with the training text. Most are in sentence {sentence + 1}. Write each expression once, and "
            "only those that the sentence has."
        )
        raise LimitError(Problem("too-long-expressions", detail, sentence=sentence + 1))
    return side


def _lemmas(treebank: ExpressionTreebank, *, fill: bool) -> IntArray:
    """Return the lemma of each word, with `fill` the form where it is missing: int64 (w,)."""
    missing = treebank.lemmas == treebank.vocabulary.number(_MISSING)
    return np.where(missing, treebank.forms, treebank.lemmas) if fill else treebank.lemmas


def _covered(side: Side) -> IntArray:
    """Return the words from the first to the last of each expression, int64."""
    treebank = side.treebank
    offsets = treebank.expression_offsets
    change = np.zeros(len(treebank.forms) + 1, np.int64)
    np.add.at(change, treebank.expression_words[offsets[:-1]], 1)
    np.add.at(change, treebank.expression_words[offsets[1:] - 1] + 1, -1)
    return np.flatnonzero(np.cumsum(change)[:-1] > 0)


def _lemma_keys(treebank: ExpressionTreebank, lemmas: IntArray) -> Iterator[bytes]:
    """Yield the lemmas of each expression in one order."""
    found = lemmas[treebank.expression_words]
    data = found[np.lexsort((found, owners_of(treebank.expression_offsets)))].tobytes()
    return (data[start:end] for start, end in pairwise((treebank.expression_offsets * found.itemsize).tolist()))


def _span_keys(side: Side, forms: IntArray) -> Iterator[bytes]:
    """Yield the forms from the first to the last word of each expression, with a mark for each empty node."""
    places = places_of(side.treebank)
    line = np.full(len(forms) + len(side.treebank.empty_after), _UNKNOWN - 1)
    line[places] = forms
    data = line.tobytes()
    begins, ends = (each * line.itemsize for each in side.spans)
    return (data[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True))


UNLABELED = "<unlabeled>"
"""The category of expressions that have none, as the original program prints it."""
CATEGORY, CONTINUITY, TOKENS, SEEN, VARIANT = "category", "continuity", "tokens", "seen", "variant"

HALVES = ("seen", "unseen")
"""The values of SEEN."""
_AS_NONE = "None"
"""Where the original program sorts expressions without a category."""


class Grouping(NamedTuple):
    """A division of expressions.

    Attributes:
        values: names of the groups.
        groups: of gold's expressions and of the output's, int64 (k,) and (l,).
        chosen: which of them are in a group; None for all.
    """

    values: list[str]
    groups: tuple[IntArray, IntArray]
    chosen: tuple[BoolArray | None, BoolArray | None] = (None, None)


def groupings_of(gold: Side, system: Side, training: Training | None) -> dict[str, Grouping]:
    """Return the divisions by name; those by the training text where there is one."""
    sides = gold, system
    found = {
        CATEGORY: _categories(gold, system),
        CONTINUITY: _halves(["continuous", "discontinuous"], *(side.continuous for side in sides)),
        TOKENS: _halves(["multi-token", "single-token"], *(np.asarray(side.sizes > 1, np.bool_) for side in sides)),
    }
    if training is not None:
        seen = training.seen(gold), training.seen(system)
        variants = (~training.identical(side) for side in sides)
        found[SEEN] = _halves([*HALVES], *seen)
        found[VARIANT] = _halves(["variant", "identical"], *variants)._replace(chosen=seen)
    return found


def counts_by_group(pairs: Pairs, owners: tuple[IntArray, IntArray], size: int) -> IntArray:
    """Count right, gold's and the output's expressions, then right, gold's and the output's words.

    Args:
        pairs: of sets.
        owners: the row at which each of gold's and of the output's sets is counted.
        size: number of rows.

    Returns:
        int64 (size, 6).
    """
    golds, systems = owners
    columns = [
        sums_by(golds, size, pairs.equal),
        sums_by(golds, size),
        sums_by(systems, size),
        sums_by(golds, size, pairs.common),
        sums_by(golds, size, pairs.golds.sizes),
        sums_by(systems, size, pairs.systems.sizes),
    ]
    return np.stack(columns, axis=1)


def seen_counts(gold: Side, system: Side, training: Training, sentences: int) -> IntArray:
    """Count right, gold's and the output's expressions of each sentence, first the seen, then the unseen.

    Returns:
        int64 (sentences, 6).
    """
    pairs = pairs_of(gold, system, _halves([*HALVES], training.seen(gold), training.seen(system)).groups)
    owners = [side.sentences * len(HALVES) + side.groups for side in (pairs.golds, pairs.systems)]
    counts = counts_by_group(pairs, (owners[0], owners[1]), len(HALVES) * sentences)[:, :3]
    return np.ascontiguousarray(counts).reshape(sentences, -1)


def slices_of(gold: Side, system: Side, training: Training | None, table: ScoreTable) -> dict[str, columns.Documents]:
    """Return the rows of all groupings."""
    groupings = groupings_of(gold, system, training)
    totals = []
    for grouping in groupings.values():
        pairs = pairs_of(gold, system, grouping.groups, grouping.chosen)
        totals.append(counts_by_group(pairs, (pairs.golds.groups, pairs.systems.groups), len(grouping.values)))
    values = {name: columns.column_of(grouping.values) for name, grouping in groupings.items()}
    return columns.stacked_rows(values, *columns.counts_and_scores(table, np.concatenate(totals)))


def _categories(gold: Side, system: Side) -> Grouping:
    vocabulary = gold.treebank.vocabulary
    sides = gold.treebank.categories, system.treebank.categories
    names = {number: vocabulary.strings[number] for number in vocabulary.distinct(np.concatenate(sides)).tolist()}
    order = sorted(names, key=lambda number: _AS_NONE if number == NO_CATEGORY else names[number])
    rank = np.zeros(len(vocabulary), np.int64)
    rank[order] = np.arange(len(order))
    values = [UNLABELED if number == NO_CATEGORY else names[number] for number in order]
    return Grouping(values, (rank[sides[0]], rank[sides[1]]))


def _halves(values: list[str], gold: BoolArray, system: BoolArray) -> Grouping:
    """Divide into those that have a property, bool (k,) and (l,), and the others."""
    return Grouping(values, ((~gold).astype(np.int64), (~system).astype(np.int64)))


class ItemRows:
    """Makes the member `expressions` of the items of a range of sentences."""

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs

    @cached_property
    def _found(self) -> tuple[IntArray, IntArray]:
        """What differs, in the order of the text, and where that of each sentence begins.

        Rows: gold's sets that the output lacks, and ALONE for the output's others; the output's set or ALONE; how many
        words the two have in common.
        """
        pairs = self._pairs
        golds, alone = np.flatnonzero(~pairs.equal), np.ones(len(pairs.systems.groups), np.bool_)
        alone[pairs.partners[pairs.partners != ALONE]] = False
        extra = np.flatnonzero(alone)
        others = np.stack([np.full(len(extra), ALONE), extra, np.zeros(len(extra), np.int64)])
        rows = np.concatenate([np.stack([golds, pairs.partners[golds], pairs.common[golds]]), others], axis=1)
        firsts = np.where(rows[1] != ALONE, _firsts(pairs.systems)[rows[1]], _firsts(pairs.golds)[rows[0]])
        order = np.lexsort((rows[0], rows[1], firsts))
        return rows[:, order], np.searchsorted(firsts[order], pairs.golds.side.treebank.word_offsets)

    def __call__(self, start: int, stop: int) -> columns.Records:
        """Return the member of the items of sentences `start` to `stop`."""
        rows, offsets = self._found
        bounds = offsets[start : stop + 1]
        golds, systems, common = rows[:, bounds[0] : bounds[-1]]
        members = {
            **_members("gold", self._pairs.golds, golds),
            **_members("system", self._pairs.systems, systems),
            "common": columns.Numbers(common),
        }
        return columns.Records({"expressions": columns.Lists(bounds - bounds[0], columns.Records(members))})


def _firsts(sets: Distinct) -> IntArray:
    """Return the first word of each set, and one more number for ALONE."""
    treebank = sets.side.treebank
    return np.append(treebank.expression_words[treebank.expression_offsets[sets.expressions]], 0)


def _members(side: str, sets: Distinct, chosen: IntArray) -> dict[str, columns.Column]:
    """Return the columns of one side, null where it has nothing."""
    known = np.asarray(chosen != ALONE, np.bool_)
    own = chosen[known]
    treebank, vocabulary = sets.side.treebank, sets.side.treebank.vocabulary
    words, _ = sets.words_of(own)
    sizes = sets.sizes[own]
    offsets = offsets_of(sizes)
    begins = np.repeat(treebank.word_offsets[sets.sentences[own]], sizes)
    categories, numbers = np.unique(treebank.categories[sets.expressions[own]], return_inverse=True)
    names = [UNLABELED if each == NO_CATEGORY else vocabulary.strings[each] for each in categories.tolist()]
    found: dict[str, columns.Column] = {
        "words": columns.Lists(offsets, columns.Numbers(words - begins + 1)),
        "form": columns.Joined(columns.Lists(offsets, columns.strings_of(treebank.forms[words], vocabulary))),
        "category": columns.Strings(numbers, names),
    }
    return {f"{side}_{name}": columns.nullable(known, column) for name, column in found.items()}


Counts = Mapping[str, int]

_GLOBAL = "partition of Global"
_SECTIONS = {
    CATEGORY: f"Per-category evaluation ({_GLOBAL})",
    CONTINUITY: f"MWE continuity ({_GLOBAL})",
    TOKENS: f"Number of tokens ({_GLOBAL})",
    SEEN: f"Whether seen in train ({_GLOBAL})",
    VARIANT: "Whether identical to train (partition of Seen-in-train)",
}
_NAMES = {
    "continuous": "Continuous", "discontinuous": "Discontinuous",
    "multi-token": "Multi-token", "single-token": "Single-token",
    "seen": "Seen-in-train", "unseen": "Unseen-in-train",
    "variant": "Variant-of-train", "identical": "Identical-to-train",
}  # fmt: skip


def parseme_report(totals: Counts, slices: Mapping[str, list[dict[str, Json]]]) -> str:
    """Print the report.

    Args:
        totals: counts of the whole text.
        slices: rows of the groupings; of those by a training text where there is one.
    """
    lines = ["## Global evaluation", *_lines("", totals, words=True), ""]
    for name, title in _SECTIONS.items():
        if name not in slices:
            continue
        whole = slices[SEEN][0]["counts"] if name == VARIANT else totals
        lines.append(f"## {title}")
        for row in slices[name]:
            value = row["value"] if name == CATEGORY else _NAMES[row["value"]]
            lines.append(_proportion(f"{value}: ", row["counts"], whole))
            lines += _lines(f"{value}: ", row["counts"], words=name == CATEGORY)
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


def _lines(prefix: str, counts: Counts, *, words: bool) -> Iterator[str]:
    for title, of in (("MWE", ""), ("Tok", "token_"))[: 1 + words]:
        correct, gold, system = (counts[of + name] for name in _COUNTS)
        precision, recall = correct / (system or 1), correct / (gold or 1)
        f1 = 2 * precision * recall / (precision + recall) if precision else 0
        figures = f"P={correct}/{system}={precision:.4f} R={correct}/{gold}={recall:.4f} F={f1:.4f}"
        yield f"* {prefix}{title}-based: {figures}"


def _proportion(prefix: str, counts: Counts, whole: Counts) -> str:
    shares = (
        f"{side}={counts[count]}/{whole[count]}={counts[count] / (whole[count] or 1):.0%}"
        for side, count in (("gold", "gold"), ("pred", "system"))
    )
    return f"* {prefix}MWE-proportion: {' '.join(shares)}"


_COUNTS = ("correct", "gold", "system")
_UNDEFINED = ("no side has expressions", "the output has none", "gold has none")


_ROWS = {"": "Expressions with the right words", "token_": "Words of expressions that are paired"}
_TRAINED_ROWS = {f"{half}.": f"Expressions with the right words, {half} in the training text" for half in HALVES}


def _table(rows: Mapping[str, str]) -> ScoreTable:
    """Return F1, precision and recall for each prefix of counts and scores, with what they are of."""
    scores: list[Score] = []
    for prefix, what in rows.items():
        docs = (f"{what}: F1.", f"{what}: precision.", f"{what}: recall.")
        counts = [f"{prefix}{count}" for count in _COUNTS]
        scores += matched_scores(prefix, docs, counts, _UNDEFINED, one_sided=(True, True))
    return ScoreTable(tuple(f"{prefix}{count}" for prefix in rows for count in _COUNTS), tuple(scores))


_TABLE, _TRAINED_TABLE = _table(_ROWS), _table(_ROWS | _TRAINED_ROWS)
_GROUPINGS = (CATEGORY, CONTINUITY, TOKENS, SEEN, VARIANT)
_OWN = registry.SliceFields(("system", "correct"), ("precision",))


@registry.register
class Mwe(registry.Metric):
    """Expressions as sets of words, as the PARSEME shared tasks compare them (Savary et al. 2017; Ramisch et al. 2018).

    An expression is right where gold has one of the same words; several of the same words are one, and categories play
    no part. The words of expressions are right as far as gold's and the output's, paired one to one in each sentence so
    that the sum is greatest, have them in common. Subsets (slices) are taken on each side by its own annotation, then
    paired. Both sides must have the same words.
    """

    name: ClassVar[str] = "mwe"
    doc: ClassVar[str] = "Precision, recall and F1 of multiword expressions and of their words (PARSEME)."
    source: ClassVar[str] = "Ramisch et al. 2018, https://aclanthology.org/W18-4925; parseme_evaluate.py 2.0"
    params: ClassVar[Mapping[str, Param]] = {
        "train": Param(
            {"type": ["string", "null"]},
            None,
            "The training text, in the format cupt: seen and unseen expressions have scores of their own "
            "(unseen.f1), and with identical ones and variants slices and lines of the report.",
            text=True,
        ),
        "compat": Param(
            BOOLEAN,
            False,
            "Compare with train as parseme_evaluate.py does: a missing lemma is the form in the training text and "
            "_ elsewhere, so that such an expression is never seen; codes at multiword tokens of train are ignored.",
        ),
    }
    reads: ClassVar[tuple[type[Any], ...]] = (ExpressionTreebank,)
    reads_heads: ClassVar[bool] = False
    examples: ClassVar[tuple[registry.Example, ...]] = (
        registry.Example("cupt", EXPRESSIONS),
        registry.Example("cupt", EXPRESSIONS, {"train": EXPRESSIONS[0][0]}),
    )
    headline: ClassVar[Mapping[str, str]] = {"f1": "MWE F1", "precision": "P", "recall": "R", "token_f1": "Token F1"}
    error_filters: ClassVar[Mapping[str, registry.ErrorValues]] = {"label": members("gold_category", "system_category")}
    styles: ClassVar[tuple[str, ...]] = ("parseme",)
    disclosure: ClassVar[registry.Disclosure] = registry.Disclosure(
        fields={
            "expressions": registry.Fields(
                {name: name for name in ("system_words", "system_form", "system_category")}, required="system_words"
            )
        },
        scores=("precision",),
        counts=("correct", "system"),
        slices=dict.fromkeys(_GROUPINGS[:3], _OWN),  # without train, others may be attributes of gold's sentences,
    )

    def __init__(self, **values: Json) -> None:
        """Check that `train` is a text, or the digest by which a signature names one. Raises InputError."""
        super().__init__(**values)
        self._training: Training | None = None
        if values["train"] is not None and not text.DIGEST.fullmatch(values["train"]):
            with placed("/train"):
                check_header(values["train"])

    @property
    def table(self) -> ScoreTable:
        """Return scores over expressions, then over their words; with a training text of the seen and the unseen."""
        return _TABLE if self.values["train"] is None else _TRAINED_TABLE

    def check_params(self, limits: Limits) -> None:
        """Read the training text. Raises InputError and LimitError, at its place."""
        if self.values["train"] is not None and self._training is None:
            self._training = read_training(self.values["train"], limits, compat=self.values["compat"])

    def check_gold(self, gold: ExpressionTreebank, items: registry.ItemInfo, limits: Limits) -> None:  # noqa: ARG002 - other metrics need them
        """Check that gold keeps to the limits. Raises LimitError as `evaluate`."""
        self._check_size(gold)

    def evaluate(
        self, gold: ExpressionTreebank, system: ExpressionTreebank, items: registry.ItemInfo, limits: Limits
    ) -> registry.Outcome:
        """Compare the expressions of each sentence.

        Raises:
            InputError: `word-count-mismatch` or `word-mismatch`, or the training text cannot be read.
            LimitError: too many expressions of the output have the same words, or they are too long to be compared
                with the training text.
        """
        del items
        self.check_params(limits)
        self._check_size(system)
        system, absent, _ = complete(gold, system)
        check_same_words(gold, system, limits.max_problems)
        sides = kernel.sides_of(gold, system)
        pairs = kernel.pairs_of(*sides, (np.zeros_like(sides[0].sets), np.zeros_like(sides[1].sets)))
        owners = pairs.golds.sentences, pairs.systems.sentences
        rows = counts_by_group(pairs, owners, len(gold))
        if self._training is not None:
            rows = np.concatenate([rows, seen_counts(*sides, self._training, len(gold))], axis=1)

        @cache
        def slices() -> dict[str, columns.Documents]:
            return slices_of(*sides, self._training, _TABLE)

        problems = no_parses(system, absent, "none of gold's expressions is found")
        return registry.Outcome(
            rows=rows,
            status=np.where(absent, registry.ERROR, registry.OK).astype(np.uint8),
            unanswered=absent,
            problems=problems,
            warnings=list(problems.values())[: limits.max_problems],
            tokens={"recall": registry.TokenBits(pairs.equal, offsets_of(sums_by(owners[0], len(gold))))},
            details=ItemRows(pairs),
            slices=slices,
        )

    def _check_size(self, treebank: ExpressionTreebank) -> None:
        kernel.check_overlaps(treebank)
        if self._training is not None:
            check_spans(treebank)

    def errors_of(self, item: Mapping[str, Json], gold: ExpressionTreebank) -> Iterator[dict[str, Json]]:  # noqa: ARG002 - other metrics need it
        """Return gold's expressions that the output lacks, each with the one that is paired with it, and its others."""
        for row in item["expressions"]:
            kind = "missed" if row["system_words"] is None else "extra" if row["gold_words"] is None else "other words"
            yield {"kind": kind, **row, **{name: _listed(row[name]) for name in ("gold_words", "system_words")}}

    def beside_gold(self, item: Mapping[str, Json], gold: ExpressionTreebank) -> Iterator[dict[str, Json]]:
        """Return gold's expressions with the output's, then the output's others."""
        errors = list(self.errors_of(item, gold))
        wrong = {row["gold_words"]: row for row in errors if row["gold_words"] is not None}
        strings = gold.vocabulary.strings
        first, last = np.searchsorted(gold.expression_sentences(), [item["item"] - 1, item["item"]]).tolist()
        for expression in range(first, last):
            words = gold.expression_words[slice(*gold.expression_offsets[expression : expression + 2].tolist())]
            positions = _listed((words - gold.word_offsets[item["item"] - 1] + 1).tolist())
            form = " ".join(strings[number] for number in gold.forms[words].tolist())
            row = {"gold_words": positions, "gold_form": form, "gold_category": strings[gold.categories[expression]]}
            error = wrong.get(positions, {"system_words": AGREES, "system_form": AGREES, "kind": ""})
            yield {**row, **{name: error[name] for name in ("system_words", "system_form")}, "error": error["kind"]}
        for row in errors:
            if row["gold_words"] is None:
                left_out = ("kind", "system_category", "common")
                yield {**{name: value for name, value in row.items() if name not in left_out}, "error": row["kind"]}

    def report(self, style: str, outcome: registry.Outcome) -> str:
        """Print the report of parseme_evaluate.py."""
        if style != "parseme":
            return super().report(style, outcome)
        totals = dict(zip(self.table.count_names, outcome.totals.tolist(), strict=True))
        slices = outcome.slices()
        names = _GROUPINGS if self.values["train"] is not None else _GROUPINGS[:-2]
        return parseme_report(totals, {name: list(slices[name]) for name in names})


def _listed(words: list[int] | None) -> str | None:
    return None if words is None else " ".join(map(str, words))
