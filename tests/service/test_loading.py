"""The compiler, 140 MB, is loaded by no process of the service that has met nothing large."""

import json
import os
import subprocess
import sys

IDLE = """
import json, sys
import service.wsgi, workers.sweeper, workers.views
from service.store.archive import migrate
from workers.entry import process_context
from workers.worker import load_all, perform_warm_up_job
load_all()
context = process_context()
migrate(context.store)
perform_warm_up_job(context)
print(json.dumps([*sys.modules]))
"""
"""What the API loads, the sweeper, views before they are asked, and a worker that has performed its first tiny job."""


def test_idle_processes_load_no_compiler(tmp_path):
    environment = {**os.environ, "TREESCORE_DATA_DIR": str(tmp_path), "TREESCORE_COMPILE": "auto"}
    answer = subprocess.run(
        [sys.executable, "-c", IDLE], env=environment, check=True, capture_output=True, encoding="utf-8"
    )
    loaded = json.loads(answer.stdout.splitlines()[-1])
    assert "numpy" in loaded
    assert not {"numba", "llvmlite"} & set(loaded)
