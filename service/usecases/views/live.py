"""Outputs that are read and compared again for what is asked of them, as they were when they were scored.

What is scored by another version of the service may have other counts now: where these differ from the stored ones,
nothing is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.context import Context
from service.contract.jobs import JobRequest
from service.errors import Gone, NotFound
from service.store import artifacts, jobs, revisions, texts
from service.store.packing import unpack_array
from service.usecases.scoring import gold
from service.usecases.scoring.config import scoring_config
from service.usecases.scoring.results import ArtifactKey
from service.usecases.views.choosing import TREES_NOT_KEPT
from service.usecases.views.documents import Document, OutputTrees
from service.usecases.views.text import Text
from service.usecases.views.questions import Output
from treescore.core.registry import Outcome
from treescore.core.scores import with_values
from treescore.core.trees import Treebank
from treescore.errors import ScoringError
from treescore.evaluation.blind import word_count
from treescore.evaluation.document import item_details
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import Entry, FormatChoice, parse_format, parse_items, parse_spec
from treescore.evaluation.tree_marks import marks_of


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

    evaluation: Evaluation
    system: Treebank
    choice: FormatChoice
    name: str
    first: Sequence[Entry]


class LiveOutput:
    """One output beside gold: compared where that is asked for, each metric when it is."""

    def __init__(self, context: Context, output: Output, kept: gold.KeptGold) -> None:
        """Read an output and its gold.

        Raises:
            NotFound: no text is stored, or this version cannot read it.
        """
        self._context, self._output = context, output
        try:
            self._read = _of_job(context, output) if output.revision is None else _of_part(context, output, kept)
        except ScoringError as error:
            raise NotFound(TREES_NOT_KEPT) from error
        self._outcomes = _Outcomes(self)

    @property
    def words(self) -> int:
        """Words of gold and of the output."""
        return word_count(self._read.evaluation.gold) + word_count(self._read.system)

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
        found = marks_of(read.first, self._outcomes, read.evaluation.gold, read.system)
        return OutputTrees(self._text, self._gold, found)

    @cached_property
    def _text(self) -> Text:
        return Text(self._read.system)

    @cached_property
    def _gold(self) -> Text:
        return Text(self._read.evaluation.gold, self._read.evaluation.items.words)

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
        name = ArtifactKey(output.at, position, revision).name("counts")
        with self._context.store.read() as db:
            stored = artifacts.get(db, output.owner, name)
        try:
            outcome = read.evaluation.compare(read.system, read.choice, "", read.name, [self._entries[position]])[key]
        except ScoringError as error:
            raise Gone(_OTHER_VERSION) from error
        if stored is None or not np.array_equal(unpack_array(stored), outcome.rows):
            raise Gone(_OTHER_VERSION)
        return outcome


_OTHER_VERSION = (
    "It was scored by another version of the service, whose counts differ from those of this one: its items, slices "
    "and trees cannot be shown. Score it again."
)


class _Outcomes(Mapping[str, Outcome]):
    """The outcomes of an output by metric key, each made when it is first looked up."""

    def __init__(self, output: LiveOutput) -> None:
        self._output = output
        self._made: dict[str, Outcome] = {}

    def __getitem__(self, key: str) -> Outcome:
        if key not in self._made:
            self._made[key] = self._output.compared(key)
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def _of_part(context: Context, output: Output, kept: gold.KeptGold) -> _Read:
    """Read a part of a submission under a revision."""
    benchmark, number = output.revision or ("", 0)
    with context.store.read() as db:
        revision = revisions.get(db, benchmark, number)
        if revision is None:
            raise NotFound(TREES_NOT_KEPT)
        part = revisions.parts_of(db, revision.id)[output.at]
        if part.gold_key is None:
            raise Gone("The gold of this revision is not kept any more, and what is made from it cannot be shown.")
        scoring = scoring_config(revision.scoring)
        choice = scoring.spec.format
        stored = texts.read_texts(db, output.owner, gold.names_of(gold.OUTPUTS, part.name, choice))
    text = gold.text_of(stored, gold.OUTPUTS, part.name, choice)
    if text is None:
        raise NotFound(TREES_NOT_KEPT)
    evaluation = gold.evaluation_against(context, revision, part, scoring.spec, kept)
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
    evaluation = Evaluation(spec, gold.sent_text(stored, "gold"), items, limits)
    read = evaluation.read(gold.sent_text(stored, f"systems/{output.at}"), choice)
    return _Read(evaluation, read, choice, system.name, spec.entries)
