"""The worker's half of a revision: check gold, then let it rule, after re-scoring where there is something to score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.context import Context
from service.errors import failure_record
from service.store import artifacts, revisions, runs
from service.store.revisions import Part, Revision
from service.usecases.benchmarks.benchmarks import blocks_name, input_name
from service.usecases.benchmarks.rescore import drop_records, rescore
from service.usecases.events.record import record_event
from service.usecases.runs.progress import Progress
from service.usecases.scoring.config import ScoringConfig, scoring_config
from service.usecases.scoring.gold import keyed_digest, load_part
from treescore.errors import InputError, LimitError, Problem, ScoringError
from treescore.evaluation.blind import blind_inputs, word_count
from treescore.evaluation.evaluate import Evaluation


def check_revision(context: Context, run: runs.Run) -> None:
    """Take a revision as far as it goes. Begun again, it goes on where it was."""
    with context.store.read() as db:
        revision = revisions.by_id(db, run.id)
    if revision is None:
        return
    if revision.state == revisions.CHECKING:
        try:
            _check_gold(context, revision)
        except ScoringError as error:
            fail_revision(context, run, failure_record(error.kind, error.problems, error.total))
            return
    rescore(context, run, revision)


def fail_revision(context: Context, run: runs.Run, failure: Mapping[str, Any]) -> None:
    """Give a revision up: the one that ruled before goes on."""
    now = context.now()
    with context.store.write() as db:
        if not runs.finish(db, run.id, runs.FAILED, now):
            return
        revisions.set_state(db, run.id, revisions.FAILED, failure=failure)
        revision = revisions.by_id(db, run.id)
        if revision is not None:
            data = {"revision": revision.number, "dry_run": revision.dry_run}
            record_event(db, context, "revision.failed", revision.benchmark_id, subject=revision.id, data=data)
    context.queue.wake(run.id)
    if revision is not None:
        drop_records(context, revision)


def _check_gold(context: Context, revision: Revision) -> None:
    """Read every part once: its size, a keyed digest, what may be given out.

    Raises:
        ScoringError: the faults of all parts together.
    """
    scoring = scoring_config(revision.scoring)
    progress = Progress(context, revision.id)
    faults: list[ScoringError] = []
    with context.store.read() as db:
        parts = revisions.parts_of(db, revision.id)
    for done, part in enumerate(parts):
        progress.note(done, len(parts), f"checking gold of {part.name}")
        if part.gold_key is not None:
            continue
        try:
            _check_part(context, revision, scoring, part)
        except ScoringError as error:
            faults.append(error)
    if faults:
        kind = InputError if any(isinstance(fault, InputError) for fault in faults) else LimitError
        problems = [problem for fault in faults for problem in fault.problems]
        raise kind(problems[: context.config.max_problems], sum(fault.total for fault in faults))


def _check_part(context: Context, revision: Revision, scoring: ScoringConfig, part: Part) -> None:
    with context.store.read() as db:
        loaded = load_part(db, revision, part.name, scoring.spec)
    pointer = f"/parts/{part.name}/gold"
    gold = Evaluation(scoring.spec, loaded.text, loaded.items, context.config.limits, pointer, part.name).gold
    if not len(gold):
        detail = "Gold has no sentence. Send a text with at least one."
        raise InputError([Problem(code="no-sentences", pointer=pointer, part=part.name, detail=detail)])
    made = {
        (input_name(part.position, name), 0): artifacts.pack_json(body) for name, body in blind_inputs(gold).items()
    }
    blocks = loaded.items.blocks or gold.sentences.attributes.get("newdoc") or ()
    if blocks and None not in blocks:
        made[blocks_name(part.position), 0] = artifacts.pack_json(list(blocks))
    with context.store.write() as db:
        # the work may have been begun before, and may be done by two at once
        runs.get(db, revision.id, lock=True)
        artifacts.drop_below(db, revision.id, input_name(part.position, ""))
        artifacts.drop_below(db, revision.id, blocks_name(part.position))
        artifacts.put(db, revision.id, made)
        seen = Part(part.name, part.position, len(gold), word_count(gold), keyed_digest(db, loaded.digest))
        revisions.save_part(db, revision.id, seen)
