"""Back up a service that is being used, restore into another directory, start there: nothing is lost."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from tests.fixtures.requests import DEPENDENCIES
from tests.fixtures.service_process import ROOT, ServiceProcess, until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def treescore(*arguments) -> str:
    """The command's output; it must succeed."""
    line = [sys.executable, "-m", "treescore.cli.main", *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_backup_of_a_busy_service_restores_all_that_was_acknowledged(served):
    sent: list[str] = []
    stop = threading.Event()

    def send() -> None:
        with served.client() as client:
            while not stop.is_set():
                sent.append(client.post("/v1/jobs", json=DEPENDENCIES).json()["id"])

    with tempfile.TemporaryDirectory(prefix="ts-e2e-") as name:
        folder = Path(name)
        with served.client() as client:
            done = client.post("/v1/jobs", json=DEPENDENCIES, headers={"Prefer": "wait=60"})
        sender = threading.Thread(target=send)
        sender.start()
        until(lambda: len(sent) >= 20, "20 jobs are accepted")
        acknowledged = list(sent)
        treescore("backup", folder / "one.backup", "--data-dir", served.folder / "data")
        stop.set()
        sender.join()
        treescore("restore", folder / "one.backup", "--data-dir", folder / "data")
        second = ServiceProcess(folder, workers=1)
        second.start()
        assert second.token == served.token
        with second.client() as client:
            again = client.get(f"/v1/jobs/{done.json()['id']}", headers={"Accept-Encoding": "identity"})
            assert (again.content, again.headers["ETag"]) == (done.content, done.headers["ETag"])
            for job in acknowledged:
                until(lambda job=job: client.get(f"/v1/jobs/{job}").json()["state"] == "succeeded", f"{job} is done")
        second.stop()
