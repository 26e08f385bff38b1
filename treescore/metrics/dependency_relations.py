"""Score dependencies as sets (Lin 1998): precision over the answer's dependencies, recall over the key's.

Tables are as Lin prints them: by relation, word, genre and sentence length.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from treescore.core import columns, registry
from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, placed, sums_by, tallied
from treescore.core.params import BOOLEAN, STRINGS, Json, Param
from treescore.core.scores import ZERO, Ratio, Score, ScoreTable, errors_param, harmonic, ratio_score
from treescore.core.structure import resolved_heads
from treescore.core.text import Limits
from treescore.core.trees import NO_HEAD, DependencyTreebank, Vocabulary
from treescore.errors import InputError, Problem, ProblemList
from treescore.metrics.shared import words as shown
from treescore.metrics.shared.examples import RESEGMENTED
from treescore.metrics.shared.heads import lengths_to_offsets, shape_of
from treescore.metrics.shared.segmentation import UNALIGNED, alignment_of

COUNT_NAMES = ("answer", "key", "answer_correct", "key_found")
_DOC = "Share of the {0}'s dependencies that the {1} has."
_NONE = "the {0} has no selected dependency"
TABLE = ScoreTable(
    COUNT_NAMES,
    (
        Score(
            name="f1",
            doc="Harmonic mean of precision and recall.",
            ratios=(Ratio({"answer_correct": 1}, {"answer": 1}), Ratio({"key_found": 1}, {"key": 1})),
            join=harmonic,
            undefined="precision or recall is undefined",
        ),
        *(
            ratio_score(
                name, _DOC.format(own, other), right, own, undefined=_NONE.format(own), one_sided=own == "answer"
            )
            for name, own, other, right in (
                ("precision", "answer", "key", "answer_correct"),
                ("recall", "key", "answer", "key_found"),
            )
        ),
    ),
)


class Side(NamedTuple):
    """The dependencies of one side, at most one for each of w words.

    Attributes:
        treebank: the treebank itself.
        owners: the key's sentence at which each word counts, int64 (w,).
        dependencies: whether the word has a head, bool (w,).
        heads: the head as a word of the whole text, from 0, -1 for the root and unknown words, int64 (w,).
        labels: relations after equivalent ones are merged, int64 (w,).
    """

    treebank: DependencyTreebank
    owners: IntArray
    dependencies: BoolArray
    heads: IntArray
    labels: IntArray


@dataclass(frozen=True)
class Matches:
    """Key and answer after their dependencies were looked up in each other.

    Attributes:
        key, answer: the two sides.
        key_selected, answer_selected: the dependencies that count, bool over each side's words.
        key_right: the key's dependencies that the answer has, bool over the key's words.
        right: the answer's dependencies that the key has, bool over the answer's words.
        sentences: the sentences that count, bool (n,).
        partners: the key's word of each of the answer's, below 0 where it has none, int64 (answer words,).
    """

    key: Side
    answer: Side
    key_selected: BoolArray
    answer_selected: BoolArray
    key_right: BoolArray
    right: BoolArray
    sentences: BoolArray
    partners: IntArray

    @cached_property
    def _wrong(self) -> IntArray:
        return np.flatnonzero(self.answer_selected & ~self.right)

    @cached_property
    def _missed(self) -> IntArray:
        return np.flatnonzero(self.key_selected & ~self.key_right)

    def items(self, start: int, stop: int) -> columns.Records:
        """Return the answer's wrong dependencies with gold's of the same word, and the key's missed ones.

        They are those of the sentences of the key from `start` to `stop`.
        """
        key, answer = self.key, self.answer
        wrong, wrong_offsets = _between(self._wrong, answer.owners, start, stop)
        missed, missed_offsets = _between(self._missed, key.owners, start, stop)
        sentence, word = columns.places_of(wrong, answer.treebank)
        partners = self.partners[wrong]
        known = partners >= 0
        words: dict[str, columns.Column] = {
            "sentence": sentence,
            "word": word,
            "form": columns.strings_of(answer.treebank.forms[wrong], answer.treebank.vocabulary),
            **_arc("system", answer, wrong),
            **{name: columns.Some(known, of, left_out=True) for name, of in _arc("gold", key, partners[known]).items()},
        }
        lacking: dict[str, columns.Column] = {
            "gold_word": columns.places_of(missed, key.treebank)[1],
            "gold_form": columns.strings_of(key.treebank.forms[missed], key.treebank.vocabulary),
            **_arc("gold", key, missed),
        }
        members = {"words": (wrong_offsets, words), "missed": (missed_offsets, lacking)}
        return columns.Records({name: columns.Lists(at, columns.Records(of)) for name, (at, of) in members.items()})

    def rows(self) -> IntArray:
        """Count each sentence: int64 (n, 4), columns as COUNT_NAMES."""
        keys, answers, sentences = self.key.owners, self.answer.owners, len(self.key.treebank)
        counted = (
            *(answers[self.answer_selected], keys[self.key_selected]),
            *(answers[self.answer_selected & self.right], keys[self.key_selected & self.key_right]),
        )
        return np.stack([sums_by(owners, sentences) for owners in counted], axis=1)


def tables_of(pair: Matches, items: registry.ItemInfo) -> Mapping[str, columns.Documents]:
    """Make every table: relation (also `deprel`), word, category, each sentence attribute, sentence length.

    Rows of word groups count each side by its own annotation. Rows of sentence groups also have the number of
    sentences and words and, where parse times are known, seconds and words per second.
    """
    key, answer = pair.key, pair.answer
    relations = _by_string(pair, key.labels, answer.labels)
    gold = key.treebank
    attributes = shown.attributes_of(gold.sentences.attributes, items)
    lengths = np.diff(gold.word_offsets)
    rows = pair.rows()
    return {
        "relation": relations,
        "deprel": relations,
        "word": _by_string(pair, gold.forms, answer.treebank.forms),
        "category": _by_string(pair, gold.upos, answer.treebank.upos),
        **{name: _by_sentence(pair, rows, items, values) for name, values in attributes.items()},
        "sentence_length": _by_sentence(pair, rows, items, lengths.tolist()),
    }


def _by_string(pair: Matches, key_values: IntArray, answer_values: IntArray) -> columns.Documents:
    """Make one row per string, most frequent in the key first."""
    strings = pair.key.treebank.vocabulary.strings
    key, answer = pair.key_selected, pair.answer_selected
    used, groups = placed(np.concatenate([key_values[key], answer_values[answer]]))
    kinds = np.concatenate([pair.key_right[key], 2 + pair.right[answer].astype(np.int64)])
    tallies = tallied(groups, len(used), kinds, 4)
    listed = np.flatnonzero(tallies.any(axis=0))
    key_wrong, key_found, wrong, correct = tallies[:, listed]
    used, counts = used[listed], np.stack([wrong + correct, key_wrong + key_found, correct, key_found], axis=1)
    values = [strings[number] for number in used.tolist()]
    by_value = np.array(sorted(range(len(values)), key=values.__getitem__), np.int64)
    answers, keys = counts[by_value, :2].T
    order = by_value[np.lexsort((-answers, -keys))]
    return columns.rows_of(
        columns.strings_of(used[order], pair.key.treebank.vocabulary), *columns.counts_and_scores(TABLE, counts[order])
    )


def _by_sentence(
    pair: Matches, rows: IntArray, items: registry.ItemInfo, values: shown.SentenceValues
) -> columns.Documents:
    """Make one row per value of a sentence attribute, in order of the values."""
    used, groups = shown.numbered_values(values, pair.sentences)
    size = len(used) + 1
    words = sums_by(groups, size, np.diff(pair.key.treebank.word_offsets))[:-1]
    sentences = sums_by(groups, size)[:-1]
    more: dict[str, columns.Column] = {
        "words": columns.Numbers(words),
        "mean_length": columns.Quotients([words], [sentences]),
    }
    seconds = items.seconds.get(items.system)
    if seconds is not None:
        total = np.bincount(groups, np.array(seconds, np.float64), size)[:-1]
        timed = total > 0
        more |= {
            "seconds": columns.Numbers(total),
            "seconds_per_sentence": columns.Quotients([total], [sentences]),
            "words_per_second": columns.nullable(timed, columns.Numbers(words[timed] / total[timed])),
        }
    return shown.grouped_sentences(TABLE, rows, used, groups, more)


NO_WORD = -1
"""Head of a root, and of a dependency on something outside the sentence."""

_ARCS = ("gold_head", "gold_deprel", "system_head", "system_deprel")
_NUMBER = {"type": "integer", "minimum": 0}
_SELECT = Param(
    {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {
            "relations": STRINGS,
            "words": STRINGS,
            "categories": STRINGS,
            "attributes": {"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, STRINGS]}},
            "length": {"type": "object", "additionalProperties": False, "properties": {"min": _NUMBER, "max": _NUMBER}},
        },
    },
    None,
    "Only the dependencies with one of these relations, modifier words or modifier categories, in sentences with "
    "one of these attribute values or of this length; where several are given, all must hold.",
)


@registry.register
class DependencyRelations(registry.Metric):
    """Dependencies as sets: (modifier, head), or (modifier, head, relation) where labels count.

    Precision is the share of the answer's dependencies that the key has, recall the share of the key's that the
    answer has, over the whole text. A selection picks dependencies on each side by that side's annotation, and looks
    them up among all dependencies of the other side, so that the two numerators may differ. Each sentence of the key
    must be one connected tree; an answer may have fragments and cycles. After Lin 1995, 2003.
    """

    name: ClassVar[str] = "dependency_relations"
    doc: ClassVar[str] = "Precision, recall and F1 over dependencies, labelled or not, all or selected (Lin)."
    source: ClassVar[str] = "Lin 1995 (IJCAI); Lin 2003, Dependency-based Evaluation of MINIPAR"
    table = TABLE
    reads: ClassVar[tuple[type[Any], ...]] = (DependencyTreebank,)
    examples: ClassVar[tuple[registry.Example, ...]] = (registry.Example("conllu", RESEGMENTED, {"labelled": True}),)
    own_segmentation: ClassVar[bool] = True
    headline: ClassVar[Mapping[str, str]] = {"precision": "P", "recall": "R", "f1": "F1"}
    error_filters: ClassVar[Mapping[str, registry.ErrorValues]] = {"deprel": shown.DEPRELS}
    disclosure: ClassVar[registry.Disclosure] = registry.Disclosure(
        fields={"words": registry.fields("sentence", "word", "form", "system_head", "system_deprel")},
        slices=dict.fromkeys(
            ("relation", "deprel", "word", "category"),
            registry.SliceFields(("answer", "answer_correct"), ("precision",)),
        ),
        output_sentences=True,
    )
    params: ClassVar[Mapping[str, Param]] = {
        "labelled": Param(BOOLEAN, False, "Whether relations must agree too."),
        "equivalent_labels": Param(
            {
                "anyOf": [
                    {"type": "object", "additionalProperties": {"type": "string"}},
                    {"type": "array", "items": STRINGS},
                ]
            },
            {},
            "Relations to replace by others on both sides, {from: to}, or lists of relations that count as one.",
        ),
        "select": _SELECT,
        "errors": errors_param(
            "Sentences of the key in which the answer has no dependency", "without effect on precision"
        ),
    }

    def errors_of(self, item: Mapping[str, Json], gold: DependencyTreebank) -> Iterator[dict[str, Json]]:  # noqa: ARG002 - other metrics need it
        """Return the answer's wrong dependencies, then the key's missed ones."""
        for row in item.get("words", ()):
            blank = {"gold_head": None, "gold_deprel": None}
            named = {"word": row["word"], "form": row["form"]}
            yield {"kind": "wrong", **named, **blank, **{name: row.get(name) for name in _ARCS}}
        for row in item.get("missed", ()):
            named = {"word": row["gold_word"], "form": row["gold_form"]}
            yield {"kind": "missed", **named, **{name: row.get(name) for name in _ARCS}}

    def beside_gold(self, item: Mapping[str, Json], gold: DependencyTreebank) -> Iterator[dict[str, Json]]:
        """Return the words of the key, then the answer's wrong dependencies; of a selection the errors alone."""
        if self.values["select"]:
            yield from super().beside_gold(item, gold)
            return
        errors = list(self.errors_of(item, gold))
        yield from shown.words_beside(gold, item["item"], (row for row in errors if row["kind"] == "missed"))
        for row in errors:
            if row["kind"] == "wrong":
                arcs = {name: row[name] for name in _ARCS}
                yield {"word": row["word"], "form": row["form"], "upos": None, **arcs, "error": "wrong"}

    def check_gold(self, gold: DependencyTreebank, items: registry.ItemInfo, limits: Limits) -> None:
        """Check that every sentence of the key is one connected tree. Raises InputError."""
        _sentences(self.values["select"], gold, items)
        shape = shape_of(_heads(gold), gold.word_offsets)
        wrong = np.flatnonzero(shape.depths < 0)
        problems = ProblemList(limits.max_problems)
        for word in wrong[np.unique(shape.owners[wrong], return_index=True)[1]].tolist():
            sentence = int(shape.owners[word])
            cyclic = int(shape.cycles[sentence])
            at = word if cyclic < 0 else cyclic
            position = at - int(gold.word_offsets[sentence]) + 1
            what = (
                "is on a cycle" if cyclic >= 0 else "is not connected to the root: a head is not a word of the sentence"
            )
            detail = f"Word {position} {what}. The key must be a tree."
            problems.add(shown.problem_at(gold, "key-not-a-tree", detail, sentence, at))
        for sentence in np.flatnonzero(shape.roots > 1).tolist():
            detail = f"{int(shape.roots[sentence])} words have no head. The key must be one connected tree."
            problems.add(shown.problem_at(gold, "key-not-a-tree", detail, sentence, int(gold.word_offsets[sentence])))
        problems.raise_if_any()

    def evaluate(
        self, gold: DependencyTreebank, system: DependencyTreebank, items: registry.ItemInfo, limits: Limits
    ) -> registry.Outcome:
        """Look up each side's dependencies in the other; words are aligned by the characters that they cover.

        The answer may have other words and sentences than the key; its dependencies are counted at the key's sentence
        in which the modifier begins. A sentence that the answer leaves empty, as a bracket parser may, has none.

        Raises:
            InputError: the texts differ.
        """
        cap = limits.max_problems
        if not len(gold.forms) and not len(system.forms):
            return registry.Outcome(
                rows=np.zeros((len(gold), len(COUNT_NAMES)), np.int64), status=registry.all_ok(len(gold))
            )
        absent = shown.left_empty(gold, system) if len(gold) == len(system) else np.zeros(len(gold), np.bool_)
        present = np.flatnonzero(~absent)
        present_words = np.flatnonzero(~absent[owners_of(gold.word_offsets)])
        words = alignment_of(_only(gold, present, present_words) if absent.any() else gold, system)
        partners = np.where(words.gold_of >= 0, present_words[np.maximum(words.gold_of, 0)], UNALIGNED)
        labels = _label_map(self.values["equivalent_labels"], gold.vocabulary)
        key = _side(gold, labels, owners_of(gold.word_offsets))
        answer = _side(system, labels, present[words.owners])
        right = _right(key, answer, partners, labelled=bool(self.values["labelled"]))
        key_right = np.zeros(len(gold.forms), np.bool_)
        key_right[partners[right]] = True
        sentences = _sentences(self.values["select"], gold, items)
        key_selected = _selected(self.values["select"], key, labels) & sentences[key.owners]
        answer_selected = _selected(self.values["select"], answer, labels) & sentences[answer.owners]
        pair = Matches(key, answer, key_selected, answer_selected, key_right, right, sentences, partners)
        status = registry.all_ok(len(gold))
        status[absent] = registry.ERROR
        status[~sentences] = registry.SKIP
        rows = pair.rows()
        known, found = (sums_by(side.owners[side.dependencies], len(gold)) for side in (key, answer))
        unanswered = (known > 0) & (found == 0) & sentences
        if self.values["errors"] == ZERO:
            status[unanswered & (status == registry.OK)] = registry.SKIP
            rows[unanswered, COUNT_NAMES.index("answer")] = rows[unanswered, COUNT_NAMES.index("key")]
        problems = shown.no_parses(system, absent, "none of its dependencies is found")
        return registry.Outcome(
            rows=rows,
            status=status,
            unanswered=unanswered,
            tokens={
                "recall": registry.TokenBits(
                    key_right[key_selected], lengths_to_offsets(key_selected, key.owners, len(gold))
                )
            },
            problems=problems,
            warnings=list(problems.values())[:cap],
            details=pair.items,
            slices=lambda: tables_of(pair, items),
        )


def _only(gold: DependencyTreebank, sentences: IntArray, words: IntArray) -> DependencyTreebank:
    """Keep the columns that the alignment needs, of some sentences and their words."""
    new_index = np.searchsorted(words, np.arange(len(gold.forms) + 1))
    tokens = np.isin(gold.mwt_starts, words)
    return replace(
        DependencyTreebank.of_columns(
            gold.vocabulary,
            offsets_of(np.diff(gold.word_offsets)[sentences]),
            **{name: getattr(gold, name)[words] for name in ("forms", "heads", "deprels", "lines")},
        ),
        mwt_starts=new_index[gold.mwt_starts[tokens]],
        mwt_ends=new_index[gold.mwt_ends[tokens]],
        mwt_forms=gold.mwt_forms[tokens],
        mwt_misc=gold.mwt_misc[tokens],
    )


def _heads(treebank: DependencyTreebank) -> IntArray:
    """Return the heads, 0 for every word without a head: int64 (w,)."""
    heads = resolved_heads(treebank)
    return np.where(heads == NO_HEAD, 0, heads)


def _side(treebank: DependencyTreebank, labels: Mapping[int, int], counted_at: IntArray) -> Side:
    owners = owners_of(treebank.word_offsets)
    heads = _heads(treebank)
    inside = (heads > 0) & (heads <= np.diff(treebank.word_offsets)[owners])
    above = np.where(inside, treebank.word_offsets[:-1][owners] + heads - 1, NO_WORD)
    relations = treebank.vocabulary.map(treebank.deprels, dict(labels))
    return Side(treebank, counted_at, np.asarray(heads != 0, np.bool_), above, relations)


def _right(key: Side, answer: Side, partners: IntArray, *, labelled: bool) -> BoolArray:
    """Find the answer's dependencies that the key has, bool (answer words,)."""
    modifiers = partners
    heads = np.where(answer.heads >= 0, partners[np.maximum(answer.heads, 0)], UNALIGNED) if len(partners) else partners
    right = answer.dependencies & (modifiers >= 0) & (heads >= 0)
    right[right] = key.heads[modifiers[right]] == heads[right]
    if labelled:
        right[right] = key.labels[modifiers[right]] == answer.labels[right]
    return np.asarray(right, np.bool_)


def _label_map(option: Json, vocabulary: Vocabulary) -> dict[int, int]:
    if isinstance(option, Mapping):
        pairs = list(option.items())
    else:
        pairs = [(label, group[0]) for group in option for label in group[1:]]
    return {vocabulary.number(old): vocabulary.number(new) for old, new in pairs}


def _selected(select: Json, side: Side, labels: Mapping[int, int]) -> BoolArray:
    """Select the dependencies of a side by its own relations, words and categories, bool (w,)."""
    mask = side.dependencies.copy()
    if not select:
        return mask
    treebank = side.treebank

    def numbers(name: str) -> list[int]:
        candidates = (treebank.vocabulary.get(string) for string in select[name])
        return [number for number in candidates if number is not None]

    looked_at = {"relations": [side.labels], "words": [treebank.forms], "categories": [treebank.upos, treebank.xpos]}
    for name, members in looked_at.items():
        if name in select:
            found = numbers(name)
            if name == "relations":
                found = [labels.get(number, number) for number in found]
            mask &= np.any([np.isin(column, found) for column in members], axis=0)
    return mask


def _sentences(select: Json, gold: DependencyTreebank, items: registry.ItemInfo) -> BoolArray:
    """Select sentences, bool (n,). Raises InputError for an attribute that no sentence has."""
    mask = np.ones(len(gold), np.bool_)
    if not select:
        return mask
    lengths = np.diff(gold.word_offsets)
    bounds = select.get("length", {})
    mask &= (lengths >= bounds.get("min", 0)) & (lengths <= bounds.get("max", np.iinfo(np.int64).max))
    attributes = {**gold.sentences.attributes, **items.attributes}
    for name, values in select.get("attributes", {}).items():
        if name not in attributes:
            names = ", ".join(sorted(attributes)) or "none"
            detail = f"Unknown attribute {name!r} in `select`. Choose from: {names}."
            raise InputError(Problem("unknown-attribute", detail))
        allowed = {values} if isinstance(values, str) else set(values)
        mask &= np.array([value in allowed for value in attributes[name]], np.bool_)
    return mask


def _between(words: IntArray, owners: IntArray, start: int, stop: int) -> tuple[IntArray, IntArray]:
    """Return those of the sorted `words` that count at sentences `start` to `stop`, and the sentences' bounds."""
    bounds = np.searchsorted(words, np.searchsorted(owners, np.arange(start, stop + 1)))
    return words[bounds[0] : bounds[-1]], bounds - bounds[0]


def _arc(role: str, side: Side, words: IntArray) -> dict[str, columns.Column]:
    """Return head (0 for the root, null for a head outside the sentence) and relation of words."""
    heads = side.heads[words]
    known = (heads >= 0) | ~side.dependencies[words]
    heads = heads[known]
    positions = np.where(heads >= 0, columns.places_of(np.maximum(heads, 0), side.treebank)[1].values, 0)
    return {
        f"{role}_head": columns.nullable(known, columns.Numbers(positions)),
        f"{role}_deprel": columns.strings_of(side.treebank.deprels[words], side.treebank.vocabulary),
    }
