"""What processes count is summed in Redis: nothing twice, nothing lost while Redis is away, nothing unknown shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from service.context import Context, report_counts
from service.monitoring import BOARDS, DATABASE, DELIVERIES, REQUESTS, RUNS, Family, Meters, Summed
from service.queue import Queue
from service.usecases.boards.work import BOARD_KIND
from tests.fixtures.service_process import free_port
from tests.fixtures.tasks import spoilt


def samples(fields: dict[str, float]) -> dict[tuple[str, tuple[str, ...]], float]:
    """What Prometheus reads: name and label values -> number."""
    registry = CollectorRegistry()
    registry.register(Summed(fields))
    return {(s.name, tuple(s.labels.values())): s.value for family in registry.collect() for s in family.samples}


@given(st.lists(st.sampled_from([0.0, 0.001, 0.0011, 0.5, 59.9, 60.0, 61.0, 4000.0])))
def test_a_bucket_has_all_that_took_no_longer(durations):
    meters = Meters()
    for seconds in durations:
        meters.observe(RUNS, seconds, "job", "ud")
    read = samples(meters.take())
    if not durations:
        assert ("treescore_run_seconds_count", ("job", "ud")) not in read
        return
    for bound in RUNS.bounds:
        expected = sum(seconds <= bound for seconds in durations)
        assert read["treescore_run_seconds_bucket", ("job", "ud", str(bound))] == expected
    assert read["treescore_run_seconds_bucket", ("job", "ud", "+Inf")] == len(durations)
    assert read["treescore_run_seconds_count", ("job", "ud")] == len(durations)
    assert abs(read["treescore_run_seconds_sum", ("job", "ud")] - sum(durations)) < 1e-6


def test_processes_are_summed_and_each_hands_on_what_it_counted_once(context: Context):
    one, other = (Queue(context.config.redis_url, meters=Meters(name)) for name in ("api", "worker"))
    for queue in (one, other, one):
        queue.meters.count(DELIVERIES, "failed")
        queue.add_counts()
        queue.add_counts()
    read = samples(context.queue.counts())
    assert read["treescore_webhook_deliveries_total", ("failed",)] == 3
    # hand-overs: the second of each found what the first had cost, the next finds that of the second
    assert read["treescore_redis_round_trips_total", ("api",)] >= 2


def test_without_redis_counts_are_kept_until_it_is_back(context: Context):
    meters = Meters()
    meters.count(DELIVERIES, "delivered", number=2)
    Queue(f"redis://127.0.0.1:{free_port()}/0", meters=meters).add_counts()
    meters.count(DELIVERIES, "delivered")
    Queue(context.config.redis_url, meters=meters).add_counts()
    assert samples(context.queue.counts())["treescore_webhook_deliveries_total", ("delivered",)] == 3


def test_a_fork_begins_at_zero():
    meters = Meters()
    meters.count(DELIVERIES, "failed")
    meters.forget()
    assert meters.take() == {}


def test_fields_of_another_version_are_left_out():
    meters = Meters()
    meters.count(Family("treescore_unheard", "", ("a",)), "x")
    meters.observe(REQUESTS._replace(bounds=(0.7,)), 0.6, "/livez", "GET", "2xx")
    meters.count(DATABASE, "api", "of a newer version")
    read = samples(meters.take())
    assert not [name for name, _ in read if "unheard" in name]
    assert ("treescore_database_round_trips_total", ("api", "of a newer version")) not in read
    assert read["treescore_request_seconds_bucket", ("/livez", "GET", "2xx", "+Inf")] == 0


def test_what_may_never_happen_is_shown_at_zero():
    read = samples({})
    assert read["treescore_board_delay_seconds_count", ()] == 0
    assert read["treescore_webhook_deliveries_total", ("given_up",)] == 0


def test_statements_and_commits_are_counted_and_lookups_too(context: Context):
    context.meters.take()
    with context.store.write() as db:
        db.exec_driver_sql("SELECT 1")
    assert sum(samples(context.meters.take())[name, labels] for name, labels in [
        ("treescore_database_round_trips_total", ("api",))
    ]) == 3  # begin, the statement, commit  # fmt: skip


def test_a_pipeline_is_one_round_trip(context: Context):
    context.queue.redis.ping()
    context.meters.take()
    with context.queue.redis.pipeline() as commands:
        commands.ping().ping().ping().execute()
    assert samples(context.meters.take())["treescore_redis_round_trips_total", ("api",)] == 1


def test_a_process_that_ends_hands_on_the_rest(context: Context):
    context.meters.count(DELIVERIES, "dropped")
    report_counts(context)()
    assert samples(context.queue.counts())["treescore_webhook_deliveries_total", ("dropped",)] == 1


def test_a_board_is_late_by_the_time_since_its_last_new_score(board, context: Context):
    def delays() -> tuple[float, float]:
        context.queue.add_counts()
        read = samples(context.queue.counts())
        return read[f"{BOARDS.name}_count", ()], read[f"{BOARDS.name}_sum", ()]

    before = delays()
    board.submit(board.team(), spoilt(1))
    board.settle()
    first = delays()
    assert first[0] == before[0] + 1
    assert 0 < first[1] - before[1] < 1  # the clock of the test goes on by milliseconds
    board.patch(leaderboard={"pick": "last"})
    board.settle()
    assert delays() == first
    read = samples(context.queue.counts())
    assert read["treescore_run_seconds_count", (BOARD_KIND, "attachment")] >= 1
    assert read["treescore_run_seconds_count", ("submission", "attachment")] == 1
