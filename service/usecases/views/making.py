"""The views process's half: make the answers to questions from outputs, of which the last few are kept.

Outputs are read and compared again, as they were when they were scored. What is scored by another version of the
service may have other counts now: where these differ from the stored ones, nothing is shown.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from service.context import Context
from service.contract.common import TreeChoice
from service.contract.jobs import JobRequest
from service.errors import Gone, NotFound
from service.store import artifacts, jobs, packing, revisions, texts
from service.usecases.scoring import config, gold, part_scorer
from service.usecases.views.asking import ErrorsHidden, NotComparable, Output, Question, Sight, asked_of
from service.usecases.views.choosing import TREES_NOT_KEPT, Asked, differing, listed, tree_page, window
from service.usecases.views.documents import Document, Outline, OutputTrees
from service.usecases.views.text import Text, Words
from treescore.core.arrays import BoolArray, IntArray
from treescore.core.registry import Outcome
from treescore.core.scores import with_values
from treescore.core.trees import Treebank
from treescore.errors import ScoringError
from treescore.evaluation import blind, evaluate, tree_marks
from treescore.evaluation.document import item_details
from treescore.evaluation.spec import Entry, FormatChoice, parse_format, parse_items, parse_spec

Stated = dict[str, Any]
"""A part of a question, as JSON."""
KEPT_WORDS = 150_000
"""Words of gold and outputs that are kept: some 700 bytes each. The last one always stays."""


class Maker:
    """Makes the answers to questions."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._live: OrderedDict[Output, LiveOutput] = OrderedDict()

    def make(self, question: Question) -> object:
        """Return the answer to a question.

        Raises:
            ServiceError: nothing can be shown; it says why.
        """
        asked = dict(question.asked)
        outputs = [_output(stored) for stored in asked.pop("outputs")]
        try:
            return _MAKERS[question.kind]([self._of(output) for output in outputs], **asked)
        except (ErrorsHidden, NotComparable) as refusal:
            return type(refusal).__name__

    def forget(self, owners: Container[str] | None) -> None:
        """Drop what is kept of some submissions and jobs; None: of all."""
        for output in [each for each in self._live if owners is None or each.owner in owners]:
            del self._live[output]

    def _of(self, output: Output) -> LiveOutput:
        live = self._live.pop(output, None)
        if live is None:
            live = LiveOutput(self._context, output)
        self._live[output] = live
        while len(self._live) > 1 and sum(each.words for each in self._live.values()) > KEPT_WORDS:
            self._live.popitem(last=False)
        return live


def _output(stored: Mapping[str, Any]) -> Output:
    revision = stored["revision"]
    return Output(**{**stored, "revision": None if revision is None else tuple(revision)})


def _items(outputs: Sequence[LiveOutput], metric: int, ranges: Sequence[Sequence[Sequence[int]]]) -> object:
    return [
        [item for numbers in each for item in output.items(metric, range(*numbers))]
        for output, each in zip(outputs, ranges, strict=True)
    ]


def _slices(outputs: Sequence[LiveOutput], metric: int, by: str | None) -> object:
    groupings = outputs[0].slices(metric)
    return sorted(groupings), [] if by is None else list(groupings.get(by, ()))


class _Seen:
    """The trees of an output as a caller sees them."""

    def __init__(self, live: LiveOutput, sight: Sight) -> None:
        self.trees: OutputTrees = live.trees if sight.compared else live.own_trees
        if not len(self.trees.text):
            raise NotFound(TREES_NOT_KEPT)
        if not self.trees.beside_gold:
            wrong = partial(live.wrong_expressions, sight)
            self.trees = OutputTrees(self.trees.text, self.trees.gold, None, wrong)
        self.gold, self.words = sight.gold, sight.words
        self.beside_gold = sight.gold and self.trees.beside_gold
        self.marks = self.trees.beside_gold and self.trees.marked_by in sight.marked_by

    def require(self, choice: TreeChoice) -> None:
        """Check that sentences may be chosen so. Raises ErrorsHidden."""
        if choice.by_errors and not (self.gold or self.marks or (not self.trees.beside_gold and self.trees.errors)):
            raise ErrorsHidden

    def document(self, sentence: int) -> Document:
        """Return one sentence, from 0."""
        if self.beside_gold:
            return self.trees.both(sentence)
        alone = self.trees.beside_expressions if self.gold else partial(self.trees.own, words=self.words)
        return alone(sentence, marks=self.marks)

    def outline(self, sentence: int) -> Outline:
        """Return what a list shows of a sentence, from 0."""
        marks = self.beside_gold or self.marks
        return self.trees.outline(sentence, beside_gold=self.beside_gold, marks=marks, words=self.words)

    def differing_from(self, other: _Seen) -> BoolArray:
        """Return the sentences in which two outputs are not right and wrong alike. Raises NotComparable."""
        if not (self.beside_gold and other.beside_gold):
            raise NotComparable
        return differing(self.trees, other.trees)


def _chosen(outputs: Sequence[LiveOutput], metric: int, sight: Stated, asked: Stated) -> object:
    seen, wanted = _Seen(outputs[0], Sight(**sight)), asked_of(asked)
    seen.require(wanted.choice)
    found = listed(seen.trees, wanted, beside_gold=seen.beside_gold)
    items_of = (lambda sentence: range(sentence, sentence + 1)) if seen.beside_gold else seen.trees.items_of
    items = [outputs[0].items(metric, items_of(sentence)) for sentence in found.sentences]
    return {
        "listed": {**asdict(found), "sentences": [*found.sentences]},
        "beside_gold": seen.beside_gold,
        "items": items,
    }


def _trees(outputs: Sequence[LiveOutput], sight: Stated, asked: Stated) -> object:
    seen, wanted, only = _looked_at(outputs, sight, asked)
    found = listed(seen.trees, wanted, beside_gold=seen.beside_gold, only=only)
    page = tree_page(found, seen.document)
    return {"marks": seen.marks, "documents": page.items, "next": page.next}


def _window(outputs: Sequence[LiveOutput], sight: Stated, asked: Stated) -> object:
    seen, wanted, only = _looked_at(outputs, sight, asked)
    found = window(seen.trees, wanted, seen.document, seen.outline, beside_gold=seen.beside_gold, only=only)
    return {"marks": seen.marks, "window": asdict(found)}


def _looked_at(outputs: Sequence[LiveOutput], sight: Stated, asked: Stated) -> tuple[_Seen, Asked, BoolArray | None]:
    """Return the trees of the first output, which sentences are asked, and those in which a second one differs."""
    seen, *others = (_Seen(output, Sight(**sight)) for output in outputs)
    wanted = asked_of(asked)
    only = seen.differing_from(others[0]) if others else None
    seen.require(wanted.choice)
    return seen, wanted, only


_MAKERS: Mapping[str, Callable[..., object]] = {
    "items": _items,
    "chosen": _chosen,
    "slices": _slices,
    "trees": _trees,
    "window": _window,
}


@dataclass(frozen=True, slots=True)
class _Read:
    """An output as it was read.

    Attributes:
        evaluation: gold, and what is asked.
        system: the output.
        choice: its format.
        name: of the system of a job, "" of a submission.
        first: the metric entries in the order in which their marks are asked for.
    """

    evaluation: evaluate.Evaluation
    system: Treebank
    choice: FormatChoice
    name: str
    first: Sequence[Entry]


class LiveOutput:
    """One output beside gold: compared where that is asked for, each metric when it is."""

    def __init__(self, context: Context, output: Output) -> None:
        """Read an output and its gold.

        Raises:
            NotFound: no text is stored, or this version cannot read it.
        """
        self._context, self._output = context, output
        try:
            self._read = _of_job(context, output) if output.revision is None else _of_part(context, output)
        except ScoringError as error:
            raise NotFound(TREES_NOT_KEPT) from error
        self._outcomes = _Outcomes(self)

    @property
    def words(self) -> int:
        """Words of gold and of the output."""
        return blind.word_count(self._read.evaluation.gold) + blind.word_count(self._read.system)

    def items(self, metric: int, numbers: range) -> list[Document]:
        """Return items under a metric entry, by position; those beyond the end are left out."""
        outcome, entry = self._outcome(metric), self._entries[metric]
        start, stop = numbers.start, min(numbers.stop, len(outcome.rows))
        if start >= stop:
            return []
        details = item_details(outcome, self._read.evaluation.gold, start, stop)
        return with_values(entry.metric.table, outcome.rows[start:stop], details)

    def slices(self, metric: int) -> Mapping[str, Sequence[Document]]:
        """Return the rows of each grouping under a metric entry, by position."""
        return self._outcome(metric).slices()

    @cached_property
    def own_trees(self) -> OutputTrees:
        """The trees, not compared."""
        return OutputTrees(self._text, self._gold, None)

    @cached_property
    def trees(self) -> OutputTrees:
        """The trees, with marks where gold and output are trees of one kind over the same words."""
        read = self._read
        found = tree_marks.marks_of(read.first, self._outcomes, read.evaluation.gold, read.system)
        return OutputTrees(self._text, self._gold, found)

    def wrong_expressions(self, sight: Sight) -> IntArray | None:
        """Return how many expressions of each sentence are wrong, or missed where gold is seen; None where none is."""
        for entry in self._read.first if sight.compared else ():
            if entry.name == "mwe" and not entry.steps and (sight.gold or entry.key in sight.marked_by):
                rows = self._outcomes[entry.key].rows.T
                counts = dict(zip(entry.metric.table.count_names, rows, strict=True))
                missed = counts["gold"] - counts["correct"] if sight.gold else 0
                return np.asarray(counts["system"] - counts["correct"] + missed, np.int64)
        return None

    @cached_property
    def _text(self) -> Text:
        return self._shown(self._read.system)

    @cached_property
    def _gold(self) -> Text:
        return self._shown(self._read.evaluation.gold, self._read.evaluation.items.words)

    def _shown(self, treebank: Treebank, words: Words = None) -> Text:
        by = tree_marks.edges_by(self._read.first)
        try:
            edges = None if by is None else by.metric.edges_in(treebank)
        except ScoringError as error:
            raise NotFound(TREES_NOT_KEPT) from error
        return Text(treebank, words, self._annotation, edges)

    @property
    def _annotation(self) -> set[str]:
        """The columns of words that are compared beside heads and relations."""
        lacking = self._read.evaluation.gold.sentences.lacking
        columns = [each for entry in self._entries for each in entry.metric.annotation.items()]
        return {name for name, column in columns if column not in lacking}

    @property
    def _entries(self) -> Sequence[Entry]:
        return self._read.evaluation.spec.entries

    def _outcome(self, metric: int) -> Outcome:
        return self._outcomes[self._entries[metric].key]

    def compared(self, key: str) -> Outcome:
        """Return the outcome of a metric entry.

        Raises:
            Gone: its counts are not the stored ones.
        """
        read, output = self._read, self._output
        (position,) = (number for number, entry in enumerate(self._entries) if entry.key == key)
        revision = None if output.revision is None else output.revision[1]
        name = part_scorer.ArtifactKey(output.at, position, revision).name("counts")
        with self._context.store.read() as db:
            stored = artifacts.get(db, output.owner, name)
        try:
            outcome = read.evaluation.compare(read.system, read.choice, "", read.name, [self._entries[position]])[key]
        except ScoringError as error:
            raise Gone(_OTHER_VERSION) from error
        if stored is None or not np.array_equal(packing.unpack_array(stored), outcome.rows):
            raise Gone(_OTHER_VERSION)
        return outcome


_OTHER_VERSION = (
    "It was scored by another version of the service, whose counts differ from those of this one: its items, slices "
    "and trees cannot be shown. Score it again."
)


class _Outcomes(dict[str, Outcome]):
    """The outcomes of an output by metric key, each made when it is first looked up."""

    def __init__(self, output: LiveOutput) -> None:
        super().__init__()
        self._output = output

    def __missing__(self, key: str) -> Outcome:
        return self.setdefault(key, self._output.compared(key))


def _of_part(context: Context, output: Output) -> _Read:
    """Read a part of a submission under a revision."""
    benchmark, number = output.revision or ("", 0)
    with context.store.read() as db:
        revision = revisions.get(db, benchmark, number)
        if revision is None:
            raise NotFound(TREES_NOT_KEPT)
        part = revisions.parts_of(db, revision.id)[output.at]
        if part.gold_key is None:
            raise Gone("The gold of this revision is not kept any more, and what is made from it cannot be shown.")
        scoring = config.scoring_config(revision.scoring)
        choice = scoring.spec.format
        [digest] = gold.stored_digests(db, revision, [part], scoring.spec).values()
        stored = texts.read_texts(db, output.owner, gold.names_of(gold.OUTPUTS, part.name, choice))
    text = gold.text_of(stored, gold.OUTPUTS, part.name, choice)
    if text is None:
        raise NotFound(TREES_NOT_KEPT)
    known = gold.known_gold(context, revision, part, scoring.spec, digest)
    evaluation = gold.evaluation_against(context, part, scoring.spec, known)
    return _Read(evaluation, evaluation.read(text, choice), choice, "", scoring.main_first)


def _of_job(context: Context, output: Output) -> _Read:
    """Read a system of a job."""
    with context.store.read() as db:
        job = jobs.get(db, output.owner)
        stored = texts.read_texts(db, output.owner)
    if job is None or job.deleted_at is not None:
        raise NotFound(TREES_NOT_KEPT)
    request = JobRequest.stored(job.request)
    spec = parse_spec(request.scoring)
    system = request.systems[output.at]
    choice = spec.format if system.format is None else parse_format(system.format)
    items, limits = parse_items(request.items), context.config.limits
    evaluation = evaluate.Evaluation(spec, gold.sent_text(stored, "gold"), items, limits)
    read = evaluation.read(gold.sent_text(stored, f"systems/{output.at}"), choice)
    return _Read(evaluation, read, choice, system.name, spec.entries)
