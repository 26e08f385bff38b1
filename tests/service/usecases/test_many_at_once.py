"""Teams, organisers and workers at the same benchmark at the same time: all get on, and nothing is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock

from service.contract.access import TeamRequest
from service.contract.benchmarks import BenchmarkChanges, RevisionRequest
from service.contract.submissions import SubmissionChanges
from service.errors import Conflict, Gone, NotFound
from service.store import boards, runs
from service.usecases.benchmarks.benchmarks import patch_benchmark
from service.usecases.benchmarks.revisions import create_revision
from service.usecases.benchmarks.teams import create_team, erase_team, rotate_token
from service.usecases.submissions.submissions import cancel_submission, delete_submission, patch_submission
from service.usecases.submissions.views import SUBMISSION_KIND
from tests.fixtures.contexts import ORGANISER, work_of
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import SLUG, WRONG, Task
from workers.entry import do

ROUNDS = 6


def test_all_get_on(either_context):
    task = Task(either_context, work_of(either_context))
    task.make(quota={"scored_per_day": 100})
    lyon = task.team("lyon")
    begun, one_by_one = set(), Lock()
    for number in range(ROUNDS):
        create_team(either_context, ORGANISER, SLUG, TeamRequest(f"team-{number}", "Short-lived"))
    task.scored(lyon)

    def team(number: int) -> None:
        kept = task.submit(lyon, WRONG.replace("sent_id = s1", f"sent_id = x{number}"))
        dropped = task.submit(lyon)
        do(either_context, kept)
        patch_submission(either_context, lyon, kept, SubmissionChanges(chosen=True, name=f"run {number}"))
        for end in (cancel_submission, delete_submission):
            try:
                end(either_context, lyon, dropped)
            except Conflict:
                continue

    def organiser(number: int) -> None:
        patch_benchmark(either_context, ORGANISER, SLUG, loaded(BenchmarkChanges, {"title": f"Title {number}"}), "*")
        rotate_token(either_context, ORGANISER, SLUG, f"team-{number}")
        erase_team(either_context, ORGANISER, SLUG, f"team-{number}")
        try:
            create_revision(either_context, ORGANISER, SLUG, loaded(RevisionRequest, {"metrics": ["attachment"]}))
        except Conflict:
            return

    def worker(_: int) -> None:
        with either_context.store.read() as db:
            unfinished = runs.unfinished(db, either_context.now())
        for run in unfinished:
            # as a queue gives it: a run that four workers begin at once would count as one that breaks off four times
            with one_by_one:
                if run.kind == SUBMISSION_KIND or run.id in begun:
                    continue
                begun.add(run.id)
            with suppress(Gone, NotFound):
                do(either_context, run.id)
            begun.remove(run.id)

    with ThreadPoolExecutor(8) as pool:
        todo = [pool.submit(job, number) for number in range(ROUNDS) for job in (team, organiser, worker)]
        for future in todo:
            future.result()
    task.work()
    with either_context.store.read() as db:
        active = task.benchmark()["active_revision"]
        rows = boards.standings(db, SLUG, active, {}, scored_only=False)
        assert rows == boards.standings(db, SLUG, active, {})
        assert len(rows) == ROUNDS + 1
        assert sum(row.chosen for row in rows) == 1
