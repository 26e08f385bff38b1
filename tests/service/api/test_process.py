"""What an API process loads: its memory is the service's, twice over."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = "import sys, service.wsgi; print(*sys.modules)"


def test_an_api_process_draws_nothing_and_does_no_work(tmp_path: Path) -> None:
    environment = {"TREESCORE_DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "service.api.status" in modules
    assert not {name for name in modules if name.startswith("service.contract")}
    loaded = {name.partition(".")[0] for name in modules}
    assert {"flask", "service", "treescore"} <= loaded
    assert not loaded & {"workers", "alembic", "apispec", "pytest"}
