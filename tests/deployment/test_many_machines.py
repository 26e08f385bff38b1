"""The compose file's services on hosts of their own: nothing accepted is lost, whatever happens to a host."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hosts import scenes
from hosts.network import Unavailable
from hosts.topology import Topology, check_programs, topology

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(900)]
CUT = 15.0
"""Seconds without the network: longer than a worker's heartbeat counts, and than connections wait for an answer."""


@pytest.fixture(scope="module")
def hosts() -> Iterator[Topology]:
    try:
        check_programs()
    except Unavailable as missing:
        pytest.skip(str(missing))
    with tempfile.TemporaryDirectory(prefix="ts-hosts-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL runs as another user
        with topology(folder) as made:
            yield made


def judge(outcome: scenes.Outcome) -> None:
    assert outcome.whole, outcome


def test_a_host_of_workers_is_cut_off_and_joined_again(hosts: Topology) -> None:
    judge(scenes.cut_off_worker(hosts, CUT))


def test_an_api_host_is_cut_off_and_joined_again(hosts: Topology) -> None:
    judge(scenes.cut_off_api(hosts, CUT))


@pytest.mark.parametrize("ahead", [60, -60])
def test_the_clock_of_a_host_of_workers_is_wrong(hosts: Topology, ahead: int) -> None:
    try:
        judge(scenes.wrong_clock(hosts, ahead))
    except LookupError as missing:
        pytest.skip(str(missing))


def test_an_empty_redis_takes_the_place_of_the_old_one(hosts: Topology) -> None:
    judge(scenes.empty_redis(hosts))


def test_postgres_is_restarted(hosts: Topology) -> None:
    judge(scenes.restarted_postgres(hosts))


def test_every_process_is_replaced_in_turn(hosts: Topology) -> None:
    judge(scenes.rolling_restart(hosts))
