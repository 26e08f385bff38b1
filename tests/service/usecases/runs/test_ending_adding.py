"""How many runs of one principal may wait."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from service.caller import ADMIN, Caller
from service.contract.jobs import JobRequest
from service.errors import TooManyRequests
from service.store import runs
from service.usecases.access import IdempotencyKey
from service.usecases.jobs import cancel_job, submit_job
from service.usecases.status import metrics_text
from tests.fixtures.contexts import ORGANISER, SCORER, with_config
from tests.fixtures.requests import DEPENDENCIES, loaded
from tests.fixtures.tasks import RIGHT
from workers.entry import next_run

JOB = loaded(JobRequest, DEPENDENCIES)
MOST = 3
OTHER = Caller("tok_other", frozenset({"score"}))


@pytest.fixture
def limited(context):
    return with_config(context, max_queued=MOST)


def full(context, caller: Caller) -> list[str]:
    return [submit_job(context, caller, JOB)[0] for _ in range(MOST)]


def test_more_queued_jobs_than_the_limit_are_refused_until_one_begins(limited):
    full(limited, SCORER)
    with pytest.raises(TooManyRequests, match="limit of 3 queued runs") as refused:
        submit_job(limited, SCORER, JOB)
    assert refused.value.type_slug == "too-many-queued"
    assert refused.value.headers["Retry-After"].isdecimal()
    assert queued(limited) == MOST
    next_run(limited, "live", runs.NO_LIMIT)
    submit_job(limited, SCORER, JOB)


def queued(context):
    """How many jobs wait."""
    with context.store.read() as db:
        return runs.counts_by_state(db)["job", "queued"]


def test_a_cancelled_run_makes_room(limited):
    first, *_ = full(limited, SCORER)
    cancel_job(limited, SCORER, first)
    submit_job(limited, SCORER, JOB)
    assert queued(limited) == MOST


def test_a_repeated_request_is_answered_although_the_limit_is_reached(limited):
    key = IdempotencyKey("again", "digest")
    first = submit_job(limited, SCORER, JOB, key)[0]
    for _ in range(MOST - 1):
        submit_job(limited, SCORER, JOB)
    assert submit_job(limited, SCORER, JOB, key)[:2] == (first, False)


def test_zero_is_no_limit_and_organisers_have_none(context):
    assert context.config.max_queued == 20
    endless = with_config(context, max_queued=0)
    for _ in range(21):
        submit_job(endless, SCORER, JOB)
    limited = with_config(context, max_queued=1)
    for _ in range(2):
        submit_job(limited, ORGANISER, JOB)
    assert queued(context) == 23


def test_each_principal_has_its_own_limit(limited):
    anonymous = [Caller(None, frozenset({"score"}), address=each) for each in (None, "192.0.2.1", "192.0.2.2")]
    for caller in (SCORER, OTHER, *anonymous):
        full(limited, caller)
    for caller in (SCORER, *anonymous):
        with pytest.raises(TooManyRequests):
            submit_job(limited, caller, JOB)


def test_parallel_requests_do_not_exceed_the_limit(either_context):
    context = with_config(either_context, max_queued=MOST)

    def post(_: int) -> bool:
        try:
            submit_job(context, SCORER, JOB)
        except TooManyRequests:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(post, range(16))) == MOST


def test_submissions_of_a_team_count_together_whichever_token_sends_them(task):
    task.make()
    first = task.team()
    task.context = with_config(task.context, max_queued=2)
    second = Caller("tok_second", first.scopes, first.team, first.benchmark)
    for caller in (first, second):
        task.submit(caller, RIGHT)
    with pytest.raises(TooManyRequests, match="limit of 2 queued runs"):
        task.submit(first, RIGHT)
    task.submit(ORGANISER, RIGHT)


@pytest.mark.parametrize(
    ("caller", "principal"),
    [
        (Caller("tok_1", frozenset({"submit"}), "lyon", "demo"), "team:demo/lyon"),
        (Caller("tok_1", frozenset({"score"}), address="192.0.2.1"), "tok_1"),
        (Caller(ADMIN, frozenset({"organise"})), ADMIN),
        (Caller(None, frozenset()), "anonymous"),
        (Caller(None, frozenset(), address="192.0.2.1"), "anonymous:192.0.2.1"),
        (Caller(None, frozenset(), address="::ffff:192.0.2.1"), "anonymous:192.0.2.1"),
        (Caller(None, frozenset(), address="2001:db8:1:2:3:4:5:6"), "anonymous:2001:db8:1:2::"),
        (Caller(None, frozenset(), address="2001:db8:1:2::7"), "anonymous:2001:db8:1:2::"),
    ],
)
def test_whose_work_it_is(caller, principal):
    assert caller.principal == principal


def test_how_long_runs_waited_is_a_metric(limited):
    full(limited, SCORER)
    for _ in range(2):
        next_run(limited, "live", runs.NO_LIMIT)
    text = metrics_text(limited).decode()
    assert 'treescore_wait_seconds_count{kind="job"} 2.0' in text
    assert 'treescore_wait_seconds_bucket{kind="job",le="+Inf"} 2.0' in text


def test_the_waits_of_what_follows_a_success_are_not_shown(limited):
    with limited.store.write() as db:
        for kind in ("board", "comparison", "revision"):
            runs.add(db, kind, kind, "live", limited.now(), "benchmark:demo")
            runs.claim_next(db, "live", limited.now())
    assert "treescore_wait_seconds_count" not in metrics_text(limited).decode()
