"""The compiler, 140 MB, is loaded by no process of the service that has met nothing large."""

import json
import os
import subprocess
import sys

import pytest

API = "import service.wsgi"
SWEEPER = "import workers.sweeper; workers.sweeper.process_context()"
WORKER = """
from service.store.archive import migrate
from workers.worker import load_all, perform_warm_up_job, process_context
load_all()
context = process_context()
migrate(context.store)
perform_warm_up_job(context)
"""


@pytest.mark.parametrize("starts", [API, SWEEPER, WORKER], ids=["api", "sweeper", "worker"])
def test_an_idle_process_loads_no_compiler(tmp_path, starts):
    program = f"{starts}\nimport json, sys\nprint(json.dumps([*sys.modules]))"
    environment = {**os.environ, "TREESCORE_DATA_DIR": str(tmp_path), "TREESCORE_COMPILE": "auto"}
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True, encoding="utf-8"
    )
    loaded = json.loads(answer.stdout)
    assert "numpy" in loaded
    assert not {"numba", "llvmlite"} & set(loaded)
