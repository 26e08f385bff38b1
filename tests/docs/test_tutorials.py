"""The tutorials do what they say, from their first command to their last, against a running service."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fixtures.pages import README, Reader
from tests.fixtures.service_process import ServiceProcess

TUTORIALS = ROOT / "docs" / "tutorials"


CLOSING = "## Close it"


@pytest.mark.e2e
def test_an_organiser_opens_a_task_a_dashboard_shows_it_and_the_organiser_closes_it(
    served: ServiceProcess, tmp_path: Path
) -> None:
    ready = f"Treescore is ready at {served.address} (organise token: {served.token})"
    organiser = Reader(tmp_path, address=f"127.0.0.1:{served.port}", seen=ready)
    assert organiser.follow(TUTORIALS / "organiser.md", end=CLOSING) > 5
    (tmp_path / "dashboard").mkdir()
    dashboard = Reader(tmp_path / "dashboard", address=organiser.address, seen=ready)
    assert dashboard.follow(TUTORIALS / "dashboard.md") > 5
    assert organiser.follow(TUTORIALS / "organiser.md", begin=CLOSING) == 2


def test_a_person_with_two_parsers_follows_the_tutorial(tmp_path: Path) -> None:
    assert Reader(tmp_path).follow(TUTORIALS / "two_parsers.md") > 8


@pytest.mark.e2e
def test_the_readme_is_followed_in_the_checkout(served: ServiceProcess) -> None:
    assert Reader(ROOT, address=f"127.0.0.1:{served.port}").follow(README) == 5
