"""Results of a scored submission beside its document: items, slices and trees, as far as a caller may see them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import cast

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.contract import submissions as contract
from service.contract.common import TreeChoice
from service.errors import SOON, Conflict, Gone, NotFound
from service.policy import documents as policy_documents
from service.policy import figures, gate
from service.policy.release import Release
from service.store import benchmarks, boards, revisions, runs, score_records, submissions
from service.usecases.access import active_revision, benchmark_of, item_number, submission_of
from service.usecases.boards.viewing import released
from service.usecases.runs import Page, Shown, items_page
from service.usecases.scoring.config import scoring_config, visibility_key
from service.usecases.scoring.part_scorer import ArtifactKey, items_of_counts, scores_of, slices_of
from service.usecases.views.asking import ErrorsHidden, NotComparable, Output, Sight, Views
from service.usecases.views.choosing import TREES_NOT_KEPT, Asked, Window
from service.usecases.views.documents import Document
from treescore.core.wording import did_you_mean
from treescore.evaluation.spec import Entry


def require_errors(level: gate.Level, choice: TreeChoice) -> None:
    """Check that a level lets sentences be chosen by such errors, independent of what is stored.

    Raises:
        Forbidden: it does not.
    """
    if choice.by_errors:
        gate.require(level, gate.Level.ITEMS, "errors of single sentences")
    if choice.wrong is not None:
        policy_documents.require_kind(level, choice.wrong)


_BESIDE_GOLD = "Sentences in which two submissions differ are shown beside gold only."


@contextmanager
def _refusals(level: gate.Level) -> Iterator[None]:
    """Refuse to choose sentences by what the caller does not see. Raises Forbidden."""
    try:
        yield
    except ErrorsHidden:
        policy_documents.require_marks(level, shown=False)
        raise
    except NotComparable as error:
        raise figures.not_shown(_BESIDE_GOLD) from error


@dataclass(frozen=True, slots=True)
class _Results:
    """The results of one part of a submission under one metric entry.

    `scored` says whether the part had an output that could be scored.
    """

    submission: submissions.Submission
    revision: revisions.Revision
    part: revisions.Part
    entry: Entry
    metric: int
    release: Release
    scored: bool

    @property
    def output(self) -> Output:
        """The output of the part."""
        return _output(self.submission, self.revision, self.part)

    @property
    def sight(self) -> Sight:
        """How the caller sees its trees."""
        return sight_of(self.revision, self.release, scored=self.scored)

    def require_kept(self) -> None:
        """Check that the output is kept. Raises Gone."""
        if self.submission.output_deleted_at is not None:
            raise Gone(
                f"The output of {self.submission.id} was deleted, and what is made from it; its scores are kept."
            )

    def page(self, items: Sequence[Mapping[str, object]], start: int, limit: int) -> Page:
        """Return the page of the first `limit` items after item `start`, as the caller may see them."""
        page = items_page(items, start, limit)
        return replace(page, items=self.shown(page.items))

    def shown(self, items: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
        """Return items as the caller may see them."""
        documents = items if self.release.fits else policy_documents.closed_items(items)
        return self.listed(gate.items_view(self.release.level, visibility_key(self.entry), documents))

    def listed(self, documents: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
        """Return items or slices with the listed ones of their scores."""
        return self.release.of_items(self.entry.key, scores_of(self.entry), documents)


def submission_items(
    context: Context, caller: Caller, submission_id: str, query: contract.SubmissionItemsQuery
) -> Page:
    """Return the items of one part under one metric, from after the item numbered `cursor`.

    The metric is by default the one that ranks; a benchmark of one part needs no `part`.

    Raises:
        NotFound: unknown submission, part or metric.
        Forbidden: the benchmark's feedback level shows no items.
        Conflict: there are no scores.
        Gone: items are not kept any more.
    """
    start = 0 if not query.choice.everything else item_number(query.cursor)
    with context.store.read() as db:
        results = _results(db, context, caller, submission_id, query)
        if results.submission.output_deleted_at is not None and query.choice.everything:
            key = ArtifactKey(results.part.position, results.metric, results.revision.number)
            table = results.entry.metric.table
            kept = items_of_counts(db, submission_id, key, table, start, query.limit + 1) if results.scored else []
            return results.page(kept, start, query.limit)
    if not results.scored:
        return Page([])
    results.require_kept()
    views = Views(context, caller)
    if not query.choice.everything:
        return _chosen_items(views, results, query)
    [found] = views.items([results.output], results.metric, [[(start, start + query.limit + 1)]])
    return results.page(found, start, query.limit)


def _chosen_items(views: Views, results: _Results, query: contract.SubmissionItemsQuery) -> Page:
    require_errors(results.release.level, query.choice)
    owner = (results.submission.id, str(results.part.position), str(results.metric))
    asked = Asked(owner, query.choice, query.cursor, query.limit)
    with _refusals(results.release.level):
        found = views.chosen(results.output, results.metric, results.sight, asked)
    if found.beside_gold:
        return found.listed.page(results.shown([item for (item,) in found.items]))
    sentences = zip(found.listed.sentences, found.items, strict=True)
    return found.listed.page([_of_own_sentence(results, sentence, items) for sentence, items in sentences])


def _of_own_sentence(results: _Results, sentence: int, items: Sequence[Document]) -> dict[str, object]:
    """Return the item of a sentence of the output, which lies in gold's sentences of these items."""
    shown = results.shown(items)
    if policy_documents.disclosure_of(visibility_key(results.entry)).output_sentences:
        shown = [item for item in shown if item["item"] == sentence + 1]
    return shown[0] if shown else {"item": sentence + 1, "status": "ok", "words": []}


def submission_slices(
    context: Context, caller: Caller, submission_id: str, query: contract.SubmissionSlicesQuery
) -> Shown[contract.SubmissionSlices]:
    """Return scores of one part by groups of sentences, words or brackets; without `by`, the names of the groupings.

    Raises:
        NotFound: unknown submission, part, metric or grouping; the part was not scored.
        Forbidden: the benchmark's feedback level does not show them.
        Conflict: there are no scores.
        Gone: slices are not kept any more.
    """
    with context.store.read() as db:
        results = _results(db, context, caller, submission_id, query)
    if not results.scored:
        raise NotFound(f"The part {results.part.name!r} of {submission_id} was not scored.")
    results.require_kept()
    groupings, rows = Views(context, caller).slices(results.output, results.metric, query.by)
    head = {"submission": submission_id, "revision": results.revision.number}
    head |= {"part": results.part.name, "metric": results.entry.key}
    level, metric = results.release.level, visibility_key(results.entry)
    # gold's own groupings are not among the names, so that they answer as unknown ones
    names = gate.groupings_view(level, metric, groupings)
    shown = results.listed(gate.slices_view(level, metric, query.by, rows)) if query.by in names else []
    return Shown(cast("contract.SubmissionSlices", head | slices_of(names, query.by, shown)))


def entry_of(revision: revisions.Revision, metric: str | None) -> tuple[int, Entry]:
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


def part_of(known: list[revisions.Part], asked: str | None) -> revisions.Part:
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
    query: contract.SubmissionItemsQuery | contract.SubmissionSlicesQuery,
) -> _Results:
    submission = submission_of(db, caller, submission_id)
    benchmark = benchmark_of(db, submission.benchmark_id)
    release = Release.of(benchmark, caller, context.now())
    release.require_level(gate.Level.ITEMS, "items")
    if submission.state != runs.SUCCEEDED or benchmark.active_revision is None:
        raise Conflict(
            f"The submission {submission_id} is {_words_of(submission)} and has no scores to show.",
            slug="no-results",
            headers=SOON if submission.state in runs.UNFINISHED else None,
        )
    record = score_records.newest(db, submission_id, benchmark.active_revision, release.share)
    revision = None if record is None else revisions.get(db, benchmark.id, record.revision)
    if record is None or revision is None:
        raise Gone(f"The results of {submission_id} are not kept any more.")
    chosen = part_of(revisions.parts_of(db, revision.id), query.part)
    position, entry = entry_of(revision, query.metric)
    release = released(db, benchmark, release, revision)
    release.require_metric(entry.key)
    return _Results(submission, revision, chosen, entry, position, release, record.scored(chosen.name))


def _output(submission: submissions.Submission, revision: revisions.Revision, part: revisions.Part) -> Output:
    return Output(submission.id, part.position, (revision.benchmark_id, revision.number))


def sight_of(revision: revisions.Revision, release: Release, *, scored: bool) -> Sight:
    """Return how a caller sees the trees of an output."""
    keys: dict[str | None, str | None] = {None: None}
    keys |= {entry.key: visibility_key(entry) for entry in scoring_config(revision.scoring).spec.entries}
    marked_by = [
        key
        for key, metric in keys.items()
        if (key is None or release.lists(key)) and policy_documents.marks_shown(release.level, metric)
    ]
    compared = scored and (release.gold or bool(marked_by))
    return Sight(compared=compared, gold=release.gold, marked_by=marked_by, words=release.fits)


@dataclass(frozen=True)
class Heading:
    """What stands above the trees of a submission. Every caller that may know of the submission may know all this.

    Attributes:
        id: of the submission.
        team: the name of that which sent it, the id of an erased one; None for an organiser's.
        name: its own.
        parts: names of those that it has outputs of, in the order in which they were sent.
        benchmark: the id.
        title: of the benchmark.
        level: name of the feedback level at which the caller sees it now.
        runs: the submissions of its system, of whose mean a row is; none where rows are of single submissions.
    """

    id: str
    team: str | None
    name: str
    parts: Sequence[str]
    benchmark: str
    title: str
    level: str
    runs: Collection[str]


def heading_of(context: Context, caller: Caller, submission_id: str) -> Heading:
    """Return what stands above the trees of a submission.

    Raises:
        NotFound: it does not exist, or belongs to another team.
        Gone: it was deleted.
    """
    with context.store.read() as db:
        submission = submission_of(db, caller, submission_id)
        benchmark = benchmark_of(db, submission.benchmark_id)
        names = benchmarks.team_names(db, benchmark.id)
        runs: list[str] = []
        if not benchmark.leaderboard["ladder"]:
            until = Release.of(benchmark, caller, context.now(), board=True).until
            runs = boards.whole_system(db, submission.id, submission.run_of or submission.id, until)
    team = submission.team_id and names.get(submission.team_id, submission.team_id)
    return Heading(
        submission.id, team, submission.name, list(submission.outputs), benchmark.id, benchmark.title,
        Release.of(benchmark, caller, context.now()).level.name.lower(), runs,
    )  # fmt: skip


def submission_trees(
    context: Context, caller: Caller, submission_id: str, query: contract.SubmissionTreesQuery
) -> Page:
    """Return the trees of one part, from after `cursor`; or of one item.

    Below level `gold` they are the output's own, numbered as its sentences are, also where it does not fit gold.

    Raises:
        NotFound: unknown submission, part or item; no trees are stored.
        Forbidden: the benchmark's feedback level does not show the errors that are asked.
        Conflict: the submission has not been scored yet, or no revision is active.
        Gone: the output was deleted, and its trees with it.
        Unprocessable: the cursor is invalid.
    """
    seen = _seen(context, caller, submission_id, query)
    with _refusals(seen.level):
        found = Views(context, caller).trees(seen.output, seen.sight, seen.asked)
    shown = [policy_documents.tree_view(seen.level, document, marks=found.marks) for document in found.documents]
    return Page(shown, found.next)


def submission_window(
    context: Context,
    caller: Caller,
    submission_id: str,
    query: contract.SubmissionTreesQuery,
    against: str | None = None,
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
    seen = _seen(context, caller, submission_id, query)
    other = None if against is None else _seen(context, caller, against, query)
    if other is not None and not (seen.sight.gold and seen.sight.compared and other.sight.compared):
        raise figures.not_shown(_BESIDE_GOLD)
    second = None if other is None else other.output
    with _refusals(seen.level):
        marks, found = Views(context, caller).window(seen.output, seen.sight, seen.asked, second)
    current, level = found.current, seen.level
    return replace(
        found,
        current=None if current is None else policy_documents.tree_view(level, current, marks=marks),
        around=[
            outline
            if outline.marks is None
            else replace(outline, marks=policy_documents.marks_view(level, outline.marks))
            for outline in found.around
        ],
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """The trees of one part as a caller of a level sees them, and what of them is asked."""

    level: gate.Level
    output: Output
    sight: Sight
    asked: Asked


def _seen(context: Context, caller: Caller, submission_id: str, query: contract.SubmissionTreesQuery) -> _Seen:
    with context.store.read() as db:
        submission = submission_of(db, caller, submission_id)
        benchmark = benchmark_of(db, submission.benchmark_id)
        release = Release.of(benchmark, caller, context.now())
        require_errors(release.level, query.choice)
        active = active_revision(db, benchmark)
        parts = revisions.parts_of(db, active.id)
        name = part_of(parts, query.part).name
        record = score_records.newest(db, submission.id, active.number, release.share)
        revision = None if record is None else revisions.get(db, benchmark.id, record.revision)
        if record is None and submission.state == runs.FAILED and submission.failure_kind == "input":
            revision = active  # it does not fit gold, or a part cannot be read
        if revision is not None and revision.id != active.id:
            parts = revisions.parts_of(db, revision.id)
        part = next((each for each in parts if each.name == name), None)
        deleted = submission.output_deleted_at is not None
        if revision is None or part is None or deleted or name not in submission.outputs:
            raise _none_stored(submission, release)
        release = released(db, benchmark, release, revision)
        scored = record is not None and record.scored(name)
    # cursors of own trees do not depend on the revision under which the output was read: outputs that do not fit
    # are not read again under later ones
    asked = Asked((submission_id, name), query.choice, query.cursor, query.limit, query.item, str(revision.number))
    sight = sight_of(revision, release, scored=scored)
    return _Seen(release.level, _output(submission, revision, part), sight, asked)


def _words_of(submission: submissions.Submission) -> str:
    """Return the state of a submission; while it is worked on its own state does not say so."""
    return "not scored yet" if submission.state in runs.UNFINISHED else submission.state


def _none_stored(submission: submissions.Submission, release: Release) -> Conflict | Gone | NotFound:
    """Return why no trees are shown; at level `none` it does not tell whether the submission was scored."""
    if submission.output_deleted_at is not None:
        return Gone(f"The output of {submission.id} was deleted, and its trees with it.")
    if not release.blind and submission.state in runs.UNFINISHED:
        detail = f"The submission {submission.id} is {_words_of(submission)} and has no trees yet."
        return Conflict(detail, slug="no-results", headers=SOON)
    return NotFound(TREES_NOT_KEPT)
