"""Score the thirteen rows of the CoNLL 2018 shared task (Zeman et al. 2018), with different segmentations of one text.

Sentences of an output whose heads make no tree have each of their heads counted as wrong. Slices have LAS by groups of
words.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treescore.core import columns, registry
from treescore.core.arrays import BoolArray, IntArray, largest_first, offsets_of, owners_of, placed, sums_by, tallied
from treescore.core.params import Json, Param
from treescore.core.scores import Score, ScoreTable, harmonic, matched_scores, ratio_score
from treescore.core.structure import resolved_heads
from treescore.core.text import Limits
from treescore.core.trees import NO_HEAD, DependencyTreebank, Derived
from treescore.errors import InputError, Problem
from treescore.metrics.shared import words
from treescore.metrics.shared.attachment_slices import MAX_ROWS
from treescore.metrics.shared.examples import RESEGMENTED
from treescore.metrics.shared.groupings import GROUPINGS, OWN_GROUPINGS, WordAttributes
from treescore.metrics.shared.heads import Allowed, Shape, shape_of, shape_problems
from treescore.metrics.shared.segmentation import (
    UNALIGNED,
    Alignment,
    aligned_fields,
    alignment_of,
    spans_in,
    surface_of,
)

SPANS = ("tokens", "sentences", "words")
ALIGNED = ("upos", "xpos", "ufeats", "alltags", "lemmas", "uas", "las", "clas", "mlas", "blex")
ROWS = SPANS + ALIGNED
_OF_CONTENT = ("clas", "mlas", "blex")
"""Rows of the words that their side says are content words."""
_COLUMNS: Mapping[str, Sequence[str]] = {
    "LEMMA": ("lemmas", "blex"),
    "UPOS": ("upos", "alltags", "mlas"),
    "XPOS": ("xpos", "alltags"),
    "FEATS": ("ufeats", "alltags", "mlas"),
}
"""Column -> the rows that compare it."""
TITLES = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS", "MLAS",
           "BLEX")  # fmt: skip
_MEANINGS = {
    "las": "words with the right head and relation; subtypes of relations are ignored",
    "uas": "words with the right head",
    "clas": "LAS of content words: without function words (aux, case, cc, clf, cop, det, mark) and punctuation",
    "mlas": "CLAS where tag, universal features and the function words below the word must be right too",
    "blex": "CLAS where the lemma must be right too",
}
"""What the rows mean, after Zeman et al. 2018, section 5."""


def _table() -> ScoreTable:
    names = [f"{row}.{count}" for row in SPANS for count in ("correct", "gold", "system")]
    names += [f"{row}.{count}" for row in ALIGNED for count in ("correct", "gold", "system", "aligned")]
    scores: list[Score] = []
    for row, title in zip(ROWS, TITLES, strict=True):
        correct, gold, system = f"{row}.correct", f"{row}.gold", f"{row}.system"
        aligned: Any = f"{row}.aligned" if row in ALIGNED else {correct: 0}
        meaning = f", {_MEANINGS[row]}" if row in _MEANINGS else ""
        why = "no words are aligned" if row in ALIGNED else f"{title} have no alignment"
        scores += [
            *matched_scores(  # precision is one-sided: what is not sure may be joined to one word
                f"{row}_", (f"{title}: F1{meaning}.", f"{title}: precision.", f"{title}: recall."),
                (correct, gold, system), ("both sides have none", "the output has none", "gold has none"),
            ),
            ratio_score(
                f"{row}_aligned_accuracy", f"{title}: accuracy on aligned words.", correct, aligned, undefined=why,
                one_sided=row in ALIGNED,
            ),
        ]  # fmt: skip
    scores.sort(key=lambda score: score.name != "las_f1")
    return ScoreTable(tuple(names), tuple(scores))


TABLE = _table()


_TREE_ADVICE = "Each head of the sentence counts as wrong."


@dataclass(frozen=True, slots=True)
class Broken:
    """The broken trees of an output of w words.

    Attributes:
        treebank: the output.
        sentences: sentence of each word, from 0, int64 (w,).
        words: the words in broken trees, bool (w,).
        problems: what is wrong, in order; the first ones where there are many.
    """

    treebank: DependencyTreebank
    sentences: IntArray
    words: BoolArray
    problems: list[Problem]

    def without_heads(self) -> DependencyTreebank:
        """Return the output with HEAD `_` in broken trees."""
        return replace(self.treebank, heads=np.where(self.words, NO_HEAD, self.treebank.heads))

    def with_trees(self) -> DependencyTreebank:
        """Return the output with any trees in place of the broken ones, so that the others can be checked."""
        first = np.arange(len(self.words)) == self.treebank.word_offsets[self.sentences]
        return replace(self.treebank, heads=np.where(self.words, np.where(first, 0, 1), self.treebank.heads))

    def states(self, golds: IntArray, size: int) -> tuple[registry.StatusArray, dict[int, Problem]]:
        """Return the status of gold's n sentences, uint8 (n,), and why it is ERROR: they share words with broken trees.

        Args:
            golds: gold's sentence of each word of the output, int64 (w,).
            size: gold's number of sentences.
        """
        status = np.full(size, registry.OK, np.uint8)
        status[golds[self.words]] = registry.ERROR
        described = {problem.sentence: problem for problem in reversed(self.problems)}
        described |= {sentence + 1: problem for sentence, problem in self.treebank.sentences.unreadable.items()}
        problems: dict[int, Problem] = {}
        words = np.flatnonzero(self.words)
        for sentence, place in zip(
            *(each.tolist() for each in np.unique(golds[words], return_index=True)), strict=True
        ):
            number = int(self.sentences[words[place]]) + 1
            detail = f"Sentence {number}: its heads make no tree. {_TREE_ADVICE}"
            problems[sentence] = described.get(number) or Problem("broken-tree", detail, sentence=number)
        return status, problems


def broken_trees_of(treebank: DependencyTreebank, shape: Shape, cap: int) -> Broken:
    """Find the trees with a cycle or a head outside the sentence.

    Args:
        treebank: the output.
        shape: of its heads.
        cap: the most problems to describe.
    """
    broken = shape.cycles >= 0
    broken[shape.owners[shape.outside & (treebank.heads != NO_HEAD)]] = True
    found, _ = shape_problems(treebank, shape, cap, _TREE_ADVICE, Allowed(several_roots=True, missing_heads=True))
    problems = []
    for problem in found:
        sentence = (problem.sentence or 0) - 1
        if sentence not in treebank.sentences.unreadable:
            problems.append(problem)
        elif not problems or problems[-1].sentence != problem.sentence:
            problems.append(treebank.sentences.unreadable[sentence])
    return Broken(treebank, shape.owners, np.asarray(broken[shape.owners], np.bool_), problems)


SLICE_NAMES = ("upos", "xpos", "deprel", "udeprel", "direction", "distance", "sentence_length", "depth", "word")


def ud_slices(
    gold: WordAttributes, system: WordAttributes, gold_right: BoolArray, system_right: BoolArray
) -> dict[str, columns.Documents]:
    """Return the rows of each grouping.

    Gold's words are grouped by gold's keys (`gold`, and of them `gold_correct`, right under LAS), the system's by its
    own (`system`, `system_correct`): recall is computed from the former, precision from the latter.

    Args:
        gold: of w words.
        system: of v words.
        gold_right: which words are right under LAS, bool (w,).
        system_right: the same of the system's words, bool (v,).
    """
    kinds = np.concatenate([gold_right, 2 + system_right.astype(np.int64)])
    tables = {name: _grouping_rows(name, gold, system, kinds) for name in SLICE_NAMES}
    gold_wrong, gold_correct, system_wrong, system_correct = np.concatenate(
        [rows for _, rows in tables.values()], axis=1
    )
    of_gold, of_system = gold_wrong + gold_correct, system_wrong + system_correct
    with np.errstate(invalid="ignore"):
        f1 = harmonic([system_correct / of_system, gold_correct / of_gold])
    return columns.stacked_rows(
        {name: values for name, (values, _) in tables.items()},
        {
            "gold": columns.Numbers(of_gold),
            "system": columns.Numbers(of_system),
            "gold_correct": columns.Numbers(gold_correct),
            "system_correct": columns.Numbers(system_correct),
        },
        {
            "las_f1": columns.real_numbers(f1),
            "las_recall": columns.Quotients([gold_correct], [of_gold]),
            "las_precision": columns.Quotients([system_correct], [of_system]),
        },
    )


def _grouping_rows(
    name: str, gold: WordAttributes, system: WordAttributes, kinds: IntArray
) -> tuple[columns.Column, IntArray]:
    """Return the values of the rows of a grouping, and their words by kind: int64 (4, rows)."""
    keys, groups = placed(np.concatenate([gold.keys(name), system.keys(name)]))
    counts = tallied(groups, len(keys), kinds, 4)
    shown = largest_first(counts.sum(axis=0))[:MAX_ROWS]
    grouping = GROUPINGS[name]
    shown = np.sort(shown) if grouping.ordered else shown
    return grouping.values(keys[shown], gold.treebank), counts[:, shown]


ANY, WRONG, SENTENCE = "any", "wrong", "sentence"
_WAYS_OUT: Mapping[str, Mapping[str, Json]] = {
    "several-roots": {"roots": ANY},
    "head-missing": {"missing_heads": WRONG},
    "cycle": {"broken_trees": SENTENCE},
    "head-out-of-range": {"broken_trees": SENTENCE},
}
"""The parameter with which sentences with such a problem are scored."""

# The lists of the original program, in its order.
_CONTENT_RELATIONS = (
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod appos nummod acl amod "
    "conj fixed flat compound list parataxis orphan goeswith reparandum root dep"
)
_FUNCTIONAL_RELATIONS = "aux cop mark det clf case cc"
_UNIVERSAL_FEATURES = (
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood Tense Aspect "
    "Voice Evident Polarity Person Polite"
)
CONTENT = frozenset(_CONTENT_RELATIONS.split())
FUNCTIONAL = frozenset(_FUNCTIONAL_RELATIONS.split())
UNIVERSAL_FEATURES = frozenset(_UNIVERSAL_FEATURES.split())
_CONTENT, _FUNCTIONAL = 1, 2

ROOT, NO_PARENT = -1, -3
"""Parents of a word whose head is 0, and of one without a head, which is never right."""


@dataclass(frozen=True, slots=True)
class Compared(Derived):
    """The columns that the rows compare, one value per word: int64 (w,), classes int8."""

    upos: IntArray
    xpos: IntArray
    feats: IntArray
    lemmas: IntArray
    deprels: IntArray
    parents: IntArray
    classes: NDArray[np.int8]


@registry.register
class Ud(registry.Metric):
    """Precision, recall, F1 and aligned accuracy from raw text to trees, as conll18_ud_eval.py 1.2 counts them.

    Words are aligned by characters (`metrics.shared.segmentation`). Relations are compared without subtypes, features
    by the universal ones. Counts belong to gold's sentences: a gold word to its sentence; a token, word or sentence of
    a system to the gold sentence that contains its first character, so that all systems have the same units. Both
    sides must be trees with one root, unless the parameters allow it. After Zeman et al. 2018.
    """

    name: ClassVar[str] = "ud"
    doc: ClassVar[str] = "The CoNLL 2018 shared task's scores: segmentation, tags, features, lemmas, UAS, LAS, MLAS ..."
    source: ClassVar[str] = "Zeman et al. 2018, https://aclanthology.org/K18-2001; conll18_ud_eval.py 1.2"
    table = TABLE
    reads: ClassVar[tuple[type[Any], ...]] = (DependencyTreebank,)
    examples: ClassVar[tuple[registry.Example, ...]] = (
        registry.Example(
            "conllu", RESEGMENTED, interprets_labels="CLAS, MLAS and BLEX count content and functional relations only."
        ),
    )
    headline: ClassVar[Mapping[str, str]] = {f"{row}_f1": row.upper() for row in ("las", "uas", "clas", "mlas", "blex")}
    extra_notes: ClassVar[Mapping[str, str]] = {
        "subtypes": "Relations are compared without their subtypes (nsubj:pass as nsubj); the metric attachment "
        "compares them whole."
    }
    headline_below_best: ClassVar[Mapping[str, str]] = {
        f"{row}_f1": row.capitalize() for row in ("tokens", "words", "sentences")
    }
    error_filters: ClassVar[Mapping[str, registry.ErrorValues]] = {"deprel": words.DEPRELS, "upos": words.UPOS}
    annotation: ClassVar[Mapping[str, str]] = {"upos": "UPOS", "lemmas": "LEMMA", "feats": "FEATS"}
    styles: ClassVar[tuple[str, ...]] = ("conll18",)
    disclosure: ClassVar[registry.Disclosure] = registry.Disclosure(
        fields={"words": aligned_fields("form", "head", "deprel")},
        slices=dict.fromkeys(OWN_GROUPINGS, registry.SliceFields(("system", "system_correct"), ("las_precision",))),
        output_sentences=True,
    )
    own_segmentation: ClassVar[bool] = True
    params: ClassVar[Mapping[str, Param]] = {
        "roots": Param(
            {"enum": ["one", ANY]},
            "one",
            "Whether a sentence must have one word with HEAD 0 (one, as conll18_ud_eval.py) or may have several (any); "
            "each is then right where gold's word is a root.",
        ),
        "missing_heads": Param(
            {"enum": ["error", WRONG]}, "error", "HEAD _: an error; or a wrong head (wrong), also where gold has none."
        ),
        "broken_trees": Param(
            {"enum": ["error", SENTENCE]},
            "error",
            "A sentence of the output with a cycle or a head outside the sentence: an error; or each of its heads is "
            "wrong (sentence), with a warning, while its words, tags, lemmas and relations count.",
        ),
    }

    def __init__(self, **values: Json) -> None:
        super().__init__(**values)
        self._allowed = Allowed(values["roots"] == ANY, values["missing_heads"] == WRONG)

    @property
    def scores_wrong_heads(self) -> bool:
        """Whether broken trees count, with wrong heads."""
        return bool(self.values["broken_trees"] == SENTENCE)

    def check_gold(self, gold: DependencyTreebank, items: registry.ItemInfo, limits: Limits) -> None:
        """Check that every sentence of gold is a tree, as far as the parameters ask for it. Raises InputError."""
        del items
        self._check_trees(gold, None, limits, gold=True)
        gold.keeping(surface_of)
        gold.keeping(columns_compared)

    def evaluate(
        self, gold: DependencyTreebank, system: DependencyTreebank, items: registry.ItemInfo, limits: Limits
    ) -> registry.Outcome:
        """Align the words and compare them.

        Raises:
            InputError: the texts differ, or a sentence of the output is not a tree, unless the parameters allow it.
        """
        del items
        _check_readable(system, limits.max_problems)
        shape = shape_of(resolved_heads(system), system.word_offsets)
        broken = Broken(system, shape.owners, np.zeros(len(shape.owners), np.bool_), [])
        if self.scores_wrong_heads:
            broken = broken_trees_of(system, shape, limits.max_problems)
        self._check_trees(broken.with_trees(), None if broken.words.any() else shape, limits)
        alignment = alignment_of(gold, system)
        sides = gold.keeping(columns_compared), columns_compared(broken.without_heads())
        right = _right(alignment, *sides)
        bits = {row: np.zeros(len(gold.forms), bool) for row in ("las", "uas")}
        for row, flags in bits.items():
            flags[alignment.gold_words] = right[row]
        system_right = np.zeros(len(system.forms), bool)
        system_right[alignment.system_words] = right["las"]
        status, problems = broken.states(alignment.owners, len(gold))
        undefined = _uncounted(gold)
        return registry.Outcome(
            rows=_count_rows(alignment, sides, right) * ~undefined,
            status=status,
            unanswered=np.zeros(len(gold), np.bool_),
            problems=problems,
            warnings=[*broken.problems, *_missing_columns(gold, system)],
            tokens={f"{row}_f1": registry.TokenBits(flags, gold.word_offsets) for row, flags in bits.items()},
            details=lambda start, stop: columns.Records({"words": _wrong_words(alignment, bits["las"], start, stop)}),
            slices=lambda: ud_slices(WordAttributes(gold), WordAttributes(system, shape), bits["las"], system_right),
            extra=lambda: _subtypes((gold, system), sides),
            marks=lambda: _marks(alignment, *sides, right["uas"]),
        )

    def _check_trees(
        self, treebank: DependencyTreebank, shape: Shape | None, limits: Limits, *, gold: bool = False
    ) -> None:
        shape = shape or shape_of(resolved_heads(treebank), treebank.word_offsets)
        advice = "The metric ud scores only trees with one root."
        problems, total = shape_problems(treebank, shape, limits.max_problems, advice, self._allowed)
        if total:
            raise InputError([self._with_way_out(problem, gold=gold) for problem in problems], total)

    def _with_way_out(self, problem: Problem, *, gold: bool) -> Problem:
        """Say by which parameter a sentence that is not a tree can be scored; broken trees cannot where gold's are."""
        way = _WAYS_OUT.get(problem.code, {})
        if not way or (gold and "broken_trees" in way):
            return problem
        others = {name: value for name, value in self.values.items() if value != self.params[name].default}
        entry = json.dumps({"name": self.name, "params": {**others, **way}})
        return replace(problem, detail=f"{problem.detail} To score such sentences too, choose {entry}.")

    def errors_of(self, item: Mapping[str, Json], gold: DependencyTreebank) -> Iterator[dict[str, Json]]:
        """Return gold's words that are not aligned, or have another head or relation in the output.

        Heads are shown as each side numbers its words, so that two different numbers may mean one word: where the
        relation is wrong, it is not said whether the head is too.
        """
        for row in item["words"]:
            shown = {name: row[name] for name in _SHOWN}
            first = {"kind": _kind(row), "word": row["word"], "form": row["gold_form"]}
            yield {**first, "upos": words.upos_of(gold, item["item"], row["word"]), **shown}

    def beside_gold(self, item: Mapping[str, Json], gold: DependencyTreebank) -> Iterator[dict[str, Json]]:
        """Return gold's words of the sentence."""
        return words.words_beside(gold, item["item"], self.errors_of(item, gold))

    def report(self, style: str, outcome: registry.Outcome) -> str:
        """Print the verbose table of conll18_ud_eval.py."""
        if style != "conll18":
            return super().report(style, outcome)
        counts = dict(zip(TABLE.count_names, outcome.totals.tolist(), strict=True))
        return words.conll18_table(dict(zip(ROWS, TITLES, strict=True)), counts)


_SHOWN = ("gold_head", "gold_deprel", "system_sentence", "system_word", "system_form", "system_head", "system_deprel")


def _kind(row: Mapping[str, Json]) -> str:
    if row["system_word"] is None:
        return "not aligned"
    gold, system = (words.universal_relation(row[f"{side}_deprel"]) for side in ("gold", "system"))
    return "head" if gold == system else "relation"


def _check_readable(system: DependencyTreebank, cap: int) -> None:
    """Check that no sentence was left without words since it cannot be read: the texts are compared as a whole."""
    lengths = np.diff(system.word_offsets)
    unreadable = system.sentences.unreadable
    lost = [sentence for sentence in sorted(unreadable) if not lengths[sentence]]
    if lost:
        raise InputError([unreadable[sentence] for sentence in lost[:cap]], len(lost))


def universal_features(feats: str) -> str:
    """Return the universal features of a FEATS field, sorted, without others and layers (`Number[psor]`)."""
    universal = [feature for feature in feats.split("|") if feature.partition("=")[0] in UNIVERSAL_FEATURES]
    return "|".join(sorted(universal))


def columns_compared(side: DependencyTreebank) -> Compared:
    """Return what the rows compare of one side."""
    vocabulary = side.vocabulary
    feats = vocabulary.table(side.feats, lambda feats: vocabulary.number(universal_features(feats)))[side.feats]
    deprels = words.universal_relations(side)
    classes = vocabulary.table(
        deprels, lambda deprel: _CONTENT * (deprel in CONTENT) + _FUNCTIONAL * (deprel in FUNCTIONAL)
    ).astype(np.int8)[deprels]
    heads = resolved_heads(side)
    parents = np.where(heads == 0, ROOT, side.word_offsets[owners_of(side.word_offsets)] + heads - 1)
    parents[side.heads == NO_HEAD] = NO_PARENT
    return Compared(side.upos, side.xpos, feats, side.lemmas, deprels, parents, classes)


def _right(alignment: Alignment, gold: Compared, system: Compared) -> dict[str, BoolArray]:
    """Return the aligned pairs that are right under each row: bool (a,)."""
    golds, systems = alignment.gold_words, alignment.system_words
    upos, xpos, feats = (
        getattr(gold, name)[golds] == getattr(system, name)[systems] for name in ("upos", "xpos", "feats")
    )
    blank = alignment.gold.treebank.vocabulary.number("_")
    lemmas = (gold.lemmas[golds] == system.lemmas[systems]) | (gold.lemmas[golds] == blank)
    heads = gold.parents[golds] == _images(alignment, system.parents)[systems]
    las = heads & (gold.deprels[golds] == system.deprels[systems])
    tagged = upos & feats
    mlas = las & tagged & _same_function_words(alignment, gold, system, las & tagged)
    found = upos, xpos, feats, tagged & xpos, lemmas, heads, las, las, mlas, las & lemmas
    return dict(zip(ALIGNED, found, strict=True))


def _rows_without(lacking: Sequence[str]) -> list[str]:
    """Return the rows that compare one of the columns."""
    return [row for row in ALIGNED if any(row in _COLUMNS[name] for name in lacking)]


def _uncounted(gold: DependencyTreebank) -> BoolArray:
    """Return the counts of rows that compare a column which gold lacks: bool (k,). They are 0 for every output."""
    rows = _rows_without([name for name in _COLUMNS if name in gold.sentences.lacking])
    return np.array([name.partition(".")[0] in rows for name in TABLE.count_names], np.bool_)


def _missing_columns(gold: DependencyTreebank, system: DependencyTreebank) -> Iterator[Problem]:
    """Yield warnings that name the columns which gold lacks, and those which the output alone lacks."""
    of_gold = [name for name in _COLUMNS if name in gold.sentences.lacking]
    of_system = [name for name in _COLUMNS if name in system.sentences.lacking and name not in of_gold]
    if of_gold:
        what = f"the scores {', '.join(_rows_without(of_gold))} are undefined"
        yield Problem("column-missing", f"Gold has no column {', '.join(of_gold)}: {what}. Add it to gold for them.")
    if of_system:
        detail = f"The output has no column {', '.join(of_system)}: each word counts as if it had _ there. Add it."
        yield Problem("column-missing", detail)


def _subtypes(
    treebanks: tuple[DependencyTreebank, DependencyTreebank], sides: tuple[Compared, Compared]
) -> dict[str, Json]:
    """Return how many words of gold and of the output have a relation with a subtype; nothing where none has."""
    counts = [int((whole.deprels != cut.deprels).sum()) for whole, cut in zip(treebanks, sides, strict=True)]
    return {"subtypes": dict(zip(("gold", "system"), counts, strict=True))} if any(counts) else {}


def _marks(alignment: Alignment, gold: Compared, system: Compared, heads: BoolArray) -> registry.Marks:
    """Return the marks of aligned words; others stand alone. A word belongs to the sentence of its first character."""
    golds, systems = alignment.gold_words, alignment.system_words
    states = registry.word_states(heads, gold.deprels[golds] == system.deprels[systems])
    of_gold, of_system = (np.full(len(side.deprels), int(registry.MarkState.ALONE)) for side in (gold, system))
    of_gold[golds], of_system[systems] = states, states
    return registry.Marks(
        system=of_system,
        gold=of_gold,
        partners=np.maximum(alignment.gold_of, registry.NO_PARTNER),
        firsts=offsets_of(sums_by(alignment.owners, len(alignment.gold.treebank))),
    )


def _images(alignment: Alignment, words: IntArray) -> IntArray:
    """Return the gold partners of system words; the root is its own partner, no parent has none: int64, same shape."""
    partners = np.append(alignment.gold_of, UNALIGNED)[np.maximum(words, -1)]
    return np.where(words == ROOT, ROOT, partners)


def _same_function_words(alignment: Alignment, gold: Compared, system: Compared, right: BoolArray) -> BoolArray:
    """Return where the functional children of both words agree in order, relation, UPOS and features: bool (a,).

    The alignment keeps the order of words. Therefore the lists agree where they are equally long and every gold child
    has a partner that is right in head, relation and tags; with the same relation, this partner is functional too.
    """
    golds, systems = alignment.gold_words, alignment.system_words
    gold_children = _children(gold.classes & _FUNCTIONAL > 0, gold.parents)
    system_children = _children(system.classes & _FUNCTIONAL > 0, system.parents)
    right_words = np.zeros(len(gold.parents), bool)
    right_words[golds[right]] = True
    good_children = _children(right_words & (gold.classes & _FUNCTIONAL > 0), gold.parents)
    counts = gold_children[golds]
    return np.asarray((counts == system_children[systems]) & (counts == good_children[golds]))


def _children(mask: BoolArray, parents: IntArray) -> IntArray:
    """Count the chosen words whose parent is each word: int64 (w,)."""
    return sums_by(parents[mask & (parents >= 0)], len(parents))


def _count_rows(alignment: Alignment, sides: tuple[Compared, Compared], right: dict[str, BoolArray]) -> IntArray:
    """Return the counts of each gold sentence, in the order of the score table."""
    gold, system = alignment.gold, alignment.system
    golds, systems, sentences = owners_of(gold.treebank.word_offsets), alignment.owners, np.arange(len(gold.treebank))
    pairs, tokens = golds[alignment.gold_words], golds[gold.token_words]
    same_tokens, _ = spans_in(gold.token_starts, gold.token_ends, system.token_starts, system.token_ends)
    whole, _ = spans_in(gold.sentence_starts, gold.sentence_ends, system.sentence_starts, system.sentence_ends)
    content, system_content = (side.classes & _CONTENT > 0 for side in sides)
    of_pairs = content[alignment.gold_words]

    def sums(*owners: IntArray) -> list[IntArray]:
        return [sums_by(each, len(sentences)) for each in owners]

    found = [
        *sums(tokens[same_tokens], tokens, alignment.sentences_of(system.token_starts)),
        *sums(sentences[whole], sentences, alignment.sentences_of(system.sentence_starts)),
        *sums(pairs, golds, systems),
    ]
    whole_words, content_words = (
        sums(golds, systems, pairs),
        sums(golds[content], systems[system_content], pairs[of_pairs]),
    )
    for row in ALIGNED:
        chosen, totals = (right[row] & of_pairs, content_words) if row in _OF_CONTENT else (right[row], whole_words)
        found += [*sums(pairs[chosen]), *totals]
    return np.stack(found, axis=1)


def _wrong_words(alignment: Alignment, right: BoolArray, start: int, stop: int) -> columns.Lists:
    """Return the wrong words of each of gold's sentences from `start` to `stop`, with their partners."""
    offsets = alignment.gold.treebank.word_offsets[start : stop + 1]
    words = np.flatnonzero(~right[offsets[0] : offsets[-1]]) + offsets[0]
    partners = alignment.system_of[words]
    known = partners != UNALIGNED
    gold = _word_members(alignment.gold.treebank, words)
    system = _word_members(alignment.system.treebank, partners[known])
    members = {
        "word": gold["word"],
        **{f"gold_{name}": column for name, column in gold.items()},
        **{f"system_{name}": columns.nullable(known, column) for name, column in system.items()},
    }
    return columns.listed(words, offsets, columns.Records(members))


def _word_members(treebank: DependencyTreebank, words: IntArray) -> dict[str, columns.Column]:
    sentence, word = columns.places_of(words, treebank)
    return {
        "sentence": sentence,
        "word": word,
        "form": columns.strings_of(treebank.forms[words], treebank.vocabulary),
        "head": columns.heads_as_written(treebank.heads[words], treebank.vocabulary),
        "deprel": columns.strings_of(treebank.deprels[words], treebank.vocabulary),
    }
