"""Results of a scored submission beside its document: items, slices and trees, as far as a caller may see them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.contract.common import TreeChoice
from service.contract.submissions import SubmissionItemsQuery, SubmissionSlicesQuery, SubmissionTreesQuery
from service.errors import SOON, Conflict, Gone, NotFound
from service.policy import documents as policy_documents
from service.policy import gate
from service.policy.documents import by_output_sentences as items_by_output
from service.policy.figures import Release, not_shown, shown_share
from service.policy.gate import Level, require
from service.store import artifacts, revisions, score_records
from service.store.revisions import Part, Revision
from service.store.runs import SUCCEEDED, UNFINISHED
from service.store.submissions import TREES, Submission
from service.usecases.access import active_revision, benchmark_of, item_number, submission_of
from service.usecases.boards.viewing import release_of_revision
from service.usecases.runs import Page, View, items_page
from service.usecases.scoring.config import scoring_config, visibility_key
from service.usecases.scoring.results import (
    ArtifactKey,
    StoredItems,
    load_output_items,
    load_slices,
    scores_of,
    slices_view,
)
from service.usecases.trees.choosing import TREES_NOT_KEPT, Asked, Window, differing, listed, tree_page, window
from service.usecases.trees.documents import Document, Outline, OutputTrees
from service.usecases.trees.stored import TreesKey, gold_key
from treescore.core.wording import did_you_mean
from treescore.evaluation.spec import Entry


class VisibleTrees:
    """Trees of a submission for a caller of some level. Below `items` only the output is read."""

    def __init__(
        self, db: Connection, submission: Submission, part: Part, revision: Revision, level: Level, release: Release
    ) -> None:
        key = TreesKey(part.position, revision.number)
        self.trees = OutputTrees(db, submission.id, key, (revision.id, gold_key(part.position)))
        self._revision, self._level, self._release = revision, level, release

    @property
    def beside_gold(self) -> bool:
        """Whether the caller sees gold beside the output; sentences are then gold's, else the output's own."""
        return self._level is Level.GOLD and self.trees.beside_gold

    @cached_property
    def marks(self) -> bool:
        """Whether the caller sees what is wrong."""
        if self._level < Level.ITEMS or self.trees.errors is None:
            return False
        by = self.trees.errors.about["metric"]
        entries = {entry.key: entry for entry in scoring_config(self._revision.scoring).spec.entries}
        listed = by is None or self._release.lists(by)
        return listed and policy_documents.marks_shown(self._level, None if by is None else visibility_key(entries[by]))

    def require_choice(self, choice: TreeChoice) -> None:
        """Check that the caller may choose sentences so.

        Raises:
            Forbidden: the level does not show the errors that are asked.
        """
        if choice.by_errors:
            require_errors(self._level, choice)
            policy_documents.require_marks(self._level, shown=self.marks or self._level is Level.GOLD)

    def document(self, sentence: int) -> Document:
        """Return one sentence, from 0, as the caller may see it."""
        if self.beside_gold:
            return policy_documents.tree_view(self._level, self.trees.both(sentence), marks=True)
        alone = self.trees.beside_expressions if self._level is Level.GOLD else self.trees.own
        return policy_documents.tree_view(self._level, alone(sentence, marks=self.marks), marks=self.marks)

    def outline(self, sentence: int) -> Outline:
        """Return what a list shows of a sentence, from 0, as far as the caller may see it."""
        marks = self.beside_gold or self.marks
        found = self.trees.outline(sentence, beside_gold=self.beside_gold, marks=marks)
        return (
            found
            if found.marks is None
            else replace(found, marks=policy_documents.marks_view(self._level, found.marks))
        )


def require_errors(level: Level, choice: TreeChoice) -> None:
    """Check that a level lets sentences be chosen by such errors, independent of what is stored.

    Raises:
        Forbidden: it does not.
    """
    if choice.by_errors:
        require(level, Level.ITEMS, "errors of single sentences")
    if choice.wrong is not None:
        policy_documents.require_kind(level, choice.wrong)


@dataclass(frozen=True, slots=True)
class _Results:
    """The results of one part of a submission under one metric entry.

    `closed` says that the caller may not know how an output differs from gold's text.
    """

    submission: Submission
    revision: Revision
    part: Part
    entry: Entry
    key: ArtifactKey
    level: Level
    release: Release
    closed: bool

    def shown(self, items: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
        """Return items as the caller may see them."""
        documents = policy_documents.closed_items(items) if self.closed else items
        return self.listed(gate.items_view(self.level, visibility_key(self.entry), documents))

    def listed(self, documents: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
        """Return items or slices with the listed ones of their scores."""
        return self.release.of_items(self.entry.key, scores_of(self.entry), documents)


def submission_items(context: Context, caller: Caller, submission_id: str, query: SubmissionItemsQuery) -> Page:
    """Return the items of one part under one metric, from after the item numbered `cursor`.

    The metric is by default the one that ranks; a benchmark of one part needs no `part`.

    Raises:
        NotFound: unknown submission, part or metric.
        Forbidden: the benchmark's feedback level shows no items.
        Conflict: there are no scores.
        Gone: items are not kept any more.
    """
    if not query.choice.everything:
        return _chosen_items(context, caller, submission_id, query)
    start = item_number(query.cursor)
    with context.store.read() as db:
        results = _results(db, context, caller, submission_id, query)
        items = load_output_items(
            db, submission_id, results.key, results.entry.metric.table, start, start + query.limit + 1
        )
    if not items and not start:
        _require_kept(results)
    page = items_page(items, start, query.limit)
    return replace(page, items=results.shown(page.items))


def _chosen_items(context: Context, caller: Caller, submission_id: str, query: SubmissionItemsQuery) -> Page:
    with context.store.read() as db:
        results = _results(db, context, caller, submission_id, query)
        seen = VisibleTrees(db, results.submission, results.part, results.revision, results.level, results.release)
        if not len(seen.trees.text):
            raise Gone(f"The trees of {submission_id}, by which items are chosen, are not kept.")
        seen.require_choice(query.choice)
        owner = (submission_id, str(results.key.output), str(results.key.metric))
        found = listed(seen.trees, Asked(owner, query.choice, query.cursor, query.limit), beside_gold=seen.beside_gold)
        items = StoredItems(db, submission_id, results.key, results.entry.metric.table)
        if seen.beside_gold:
            return found.page(results.shown(items.each(found.sentences)))
        own = {
            sentence: _of_own_sentence(results, items, sentence, seen.trees.items_of(sentence))
            for sentence in sorted(found.sentences)
        }
        return found.page([own[sentence] for sentence in found.sentences])


def _of_own_sentence(results: _Results, items: StoredItems, sentence: int, of_gold: range) -> dict[str, object]:
    """Return the item of a sentence of the output, which lies in these of gold's."""
    shown = results.shown(items.read(of_gold.start, of_gold.stop))
    if not items_by_output(visibility_key(results.entry)):
        return shown[0]
    of_it = [item for item in shown if item["item"] == sentence + 1]
    return of_it[0] if of_it else {"item": sentence + 1, "status": "ok", "words": []}


def submission_slices(context: Context, caller: Caller, submission_id: str, query: SubmissionSlicesQuery) -> View:
    """Return scores of one part by groups of sentences, words or brackets; without `by`, the names of the groupings.

    Raises:
        NotFound: unknown submission, part, metric or grouping; the part was not scored.
        Forbidden: the benchmark's feedback level does not show them.
        Conflict: there are no scores.
        Gone: slices are not kept any more.
    """
    with context.store.read() as db:
        results = _results(db, context, caller, submission_id, query)
        groupings = load_slices(db, submission_id, results.key)
    if groupings is None:
        _require_kept(results)
        raise NotFound(f"The part {results.part.name!r} of {submission_id} was not scored.")
    head = {
        "submission": submission_id,
        "revision": results.revision.number,
        "part": results.part.name,
        "metric": results.entry.key,
    }
    level, metric = results.level, visibility_key(results.entry)
    # gold's own groupings are not among the names, so that they answer as unknown ones
    names = gate.groupings_view(level, metric, sorted(groupings))

    def rows_of(by: str) -> list[dict[str, object]]:
        return results.listed(gate.slices_view(level, metric, by, groupings[by]))

    return slices_view(head, names, query.by, rows_of)


def entry_of(revision: Revision, metric: str | None) -> tuple[int, Entry]:
    """Return a metric entry by its key, and its position; by default the one that ranks.

    Raises:
        NotFound: unknown metric.
    """
    scoring = scoring_config(revision.scoring)
    keys = [entry.key for entry in scoring.spec.entries]
    key = scoring.main[0].key if metric is None else metric
    if key not in keys:
        suggestion = did_you_mean(metric, keys)
        raise NotFound(f"The benchmark has no metric {metric!r}. Its metrics: {', '.join(keys)}.{suggestion}")
    return keys.index(key), scoring.spec.entries[keys.index(key)]


def part_of(known: list[Part], asked: str | None) -> Part:
    """Return a part by its name; the only one where none is named.

    Raises:
        NotFound: unknown part, or none named among several.
    """
    names = [part.name for part in known]
    if asked is None and len(known) == 1:
        return known[0]
    if asked not in names:
        wrong = "Name the part" if asked is None else f"Unknown part {asked!r}"
        shown = ", ".join(names[:20]) + (" ..." if len(names) > 20 else "")
        raise NotFound(f"{wrong}. Known parts: {shown}.{did_you_mean(asked, names)}")
    return known[names.index(asked)]


def _results(
    db: Connection,
    context: Context,
    caller: Caller,
    submission_id: str,
    query: SubmissionItemsQuery | SubmissionSlicesQuery,
) -> _Results:
    submission = submission_of(db, caller, submission_id)
    benchmark = benchmark_of(db, submission.benchmark_id)
    level = gate.level_of(benchmark, caller, context.now())
    gate.require(level, Level.ITEMS, "items")
    if submission.state != SUCCEEDED or benchmark.active_revision is None:
        raise Conflict(
            f"The submission {submission_id} is {_words_of(submission)} and has no scores to show.",
            slug="no-results",
            headers=SOON if submission.state in UNFINISHED else None,
        )
    record = score_records.newest(db, submission_id, benchmark.active_revision)
    revision = None if record is None else revisions.get(db, benchmark.id, record.revision)
    if revision is None:
        raise Gone(f"The results of {submission_id} are not kept any more.")
    chosen = part_of(revisions.parts_of(db, revision.id), query.part)
    position, entry = entry_of(revision, query.metric)
    release = release_of_revision(db, benchmark, revision, level, shown_share(benchmark, context.now()))
    release.require_metric(entry.key)
    key = ArtifactKey(chosen.position, position, revision.number)
    return _Results(
        submission, revision, chosen, entry, key, level, release, policy_documents.hides_misfits(level, benchmark)
    )


def _require_kept(results: _Results) -> None:
    if results.submission.output_deleted_at is not None and results.part.name in results.submission.outputs:
        raise Gone(f"The items of {results.submission.id} are not kept any more; its scores are.")


_NAME = re.compile(r"r(\d+)/trees/\d+")


@dataclass(frozen=True)
class Heading:
    """What stands above the trees of a submission. Every caller that may know of the submission may know all this.

    Attributes:
        id: of the submission.
        team: that sent it; None for an organiser's.
        name: its own.
        parts: names of those that it has outputs of, in the order in which they were sent.
        benchmark: the id.
        title: of the benchmark.
        level: name of the feedback level at which the caller sees it now.
    """

    id: str
    team: str | None
    name: str
    parts: Sequence[str]
    benchmark: str
    title: str
    level: str


def heading_of(context: Context, caller: Caller, submission_id: str) -> Heading:
    """Return what stands above the trees of a submission.

    Raises:
        NotFound: it does not exist, or belongs to another team.
        Gone: it was deleted.
    """
    with context.store.read() as db:
        submission = submission_of(db, caller, submission_id)
        benchmark = benchmark_of(db, submission.benchmark_id)
    return Heading(
        submission.id, submission.team_id, submission.name, list(submission.outputs), benchmark.id, benchmark.title,
        gate.level_of(benchmark, caller, context.now()).name.lower(),
    )  # fmt: skip


def submission_trees(context: Context, caller: Caller, submission_id: str, query: SubmissionTreesQuery) -> Page:
    """Return the trees of one part, from after `cursor`; or of one item.

    Below level `gold` they are the output's own, numbered as its sentences are, also where it does not fit gold.

    Raises:
        NotFound: unknown submission, part or item; no trees are stored.
        Forbidden: the benchmark's feedback level does not show the errors that are asked.
        Conflict: the submission has not been scored yet, or no revision is active.
        Gone: the output was deleted, and its trees with it.
        Unprocessable: the cursor is invalid.
    """
    with context.store.read() as db:
        seen, asked = _seen(db, context, caller, submission_id, query)
        return tree_page(listed(seen.trees, asked, beside_gold=seen.beside_gold), seen.document)


def submission_window(
    context: Context, caller: Caller, submission_id: str, query: SubmissionTreesQuery, against: str | None = None
) -> Window:
    """Return the sentence `query.item` of one part, by default the first chosen one, among those around it.

    Args:
        context: store and clock.
        caller: who asks.
        submission_id: whose trees.
        query: which part, sentence and choice.
        against: another submission, which the caller may read: only sentences in which the two are not right and wrong
            alike are chosen. That tells of gold, so that it needs level `gold`.

    Raises:
        NotFound, Forbidden, Conflict, Gone: as `submission_trees`.
    """
    with context.store.read() as db:
        seen, asked = _seen(db, context, caller, submission_id, query)
        if against is not None:
            other, _ = _seen(db, context, caller, against, query)
            if not (seen.beside_gold and other.beside_gold):
                raise not_shown("Sentences in which two submissions differ are shown beside gold only.")
            asked = replace(asked, only=differing(seen.trees, other.trees))
        return window(seen.trees, asked, seen.document, seen.outline, beside_gold=seen.beside_gold)


def _seen(
    db: Connection, context: Context, caller: Caller, submission_id: str, query: SubmissionTreesQuery
) -> tuple[VisibleTrees, Asked]:
    """Return the trees of one part as the caller may see them, and what of them is asked."""
    submission = submission_of(db, caller, submission_id)
    benchmark = benchmark_of(db, submission.benchmark_id)
    level = gate.level_of(benchmark, caller, context.now())
    require_errors(level, query.choice)
    active = active_revision(db, benchmark)
    parts = revisions.parts_of(db, active.id)
    name = part_of(parts, query.part).name
    revision = _read_under(db, active, submission)
    if revision is not None and revision.id != active.id:
        parts = revisions.parts_of(db, revision.id)
    part = next((each for each in parts if each.name == name), None)
    if revision is None or part is None:
        raise _none_stored(submission, level)
    release = release_of_revision(db, benchmark, revision, level, shown_share(benchmark, context.now()))
    seen = VisibleTrees(db, submission, part, revision, level, release)
    if not len(seen.trees.text):
        raise _none_stored(submission, level)
    seen.require_choice(query.choice)
    # cursors of own trees do not depend on the revision under which the output was read: outputs that do not fit
    # are not read again under later ones
    owner = (submission_id, name, *((str(revision.number),) if seen.beside_gold else ()))
    return seen, Asked(owner, query.choice, query.cursor, query.limit, query.item)


def _read_under(db: Connection, active: Revision, submission: Submission) -> Revision | None:
    """Return the last revision, up to the active one, under which outputs of a submission were read."""
    names = artifacts.names_holding(db, submission.id, f"{TREES}s/")
    found = [int(match[1]) for match in map(_NAME.fullmatch, names) if match is not None]
    numbers = [number for number in found if number <= active.number]
    if active.number in numbers:
        return active
    return revisions.get(db, active.benchmark_id, max(numbers)) if numbers else None


def _words_of(submission: Submission) -> str:
    """Return the state of a submission; while it is worked on its own state does not say so."""
    return "not scored yet" if submission.state in UNFINISHED else submission.state


def _none_stored(submission: Submission, level: Level) -> Conflict | Gone | NotFound:
    """Return why there are no trees; at level `none` it does not tell whether the submission was scored."""
    if submission.output_deleted_at is not None:
        return Gone(f"The output of {submission.id} was deleted, and its trees with it.")
    if level > Level.NONE and submission.state in UNFINISHED:
        detail = f"The submission {submission.id} is {_words_of(submission)} and has no trees yet."
        return Conflict(detail, slug="no-results", headers=SOON)
    return NotFound(TREES_NOT_KEPT)
