"""Results of a scored submission beside its document: items and slices, by policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import SOON, Conflict, Gone, NotFound
from service.policy import gate, misfits
from service.policy.figures import Release
from service.policy.gate import Level
from service.policy.items import by_output_sentences as items_by_output
from service.policy.split import shown_share
from service.requests import SubmissionItemsQuery, SubmissionSlicesQuery
from service.store import revisions, score_records
from service.store.revisions import Part, Revision
from service.store.runs import SUCCEEDED, UNFINISHED
from service.store.submissions import Submission
from service.usecases.access.access import benchmark_of, item_number, submission_of
from service.usecases.boards.released import release_of_revision
from service.usecases.runs.views import Page, View, items_page
from service.usecases.scoring.config import scoring_config, visibility_key
from service.usecases.scoring.results import (
    ArtifactKey,
    StoredItems,
    load_output_items,
    load_slices,
    scores_of,
    slices_view,
)
from service.usecases.submissions.seen_trees import VisibleTrees
from service.usecases.trees.listing import Asked, listed
from treescore.core.suggestions import did_you_mean
from treescore.evaluation.spec import Entry


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
        documents = misfits.closed_items(items) if self.closed else items
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
            f"The submission {submission_id} is {submission.state} and has no scores to show.",
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
    return _Results(submission, revision, chosen, entry, key, level, release, misfits.hidden(level, benchmark))


def _require_kept(results: _Results) -> None:
    if results.submission.output_deleted_at is not None and results.part.name in results.submission.outputs:
        raise Gone(f"The items of {results.submission.id} are not kept any more; its scores are.")
