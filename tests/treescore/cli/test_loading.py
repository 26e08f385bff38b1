"""What `treescore score` loads: neither the service's store and queue nor the compiler."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SPARED = {
    "alembic",
    "flask",
    "httpx",
    "jsonschema",
    "matplotlib",
    "numba",
    "redis",
    "rq",
    "scipy",
    "sqlalchemy",
    "service",
    "workers",
}
PROGRAM = """
import json, sys
from click.testing import CliRunner
from treescore.cli.main import main
done = CliRunner().invoke(main, sys.argv[1:])
loaded = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps({"exit": done.exit_code, "printed": json.loads(done.output), "loaded": loaded}))
"""


def test_scoring_a_file_loads_neither_the_service_nor_the_compiler(tmp_path: Path) -> None:
    gold = tmp_path / "gold.conllu"
    gold.write_text("1\ta\t_\tX\t_\t_\t2\tdet\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n")
    command = ["score", "--format", "conllu", "--metric", "attachment", "--metric", "ud", str(gold), str(gold)]
    environment = {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command], env=environment, capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout)
    assert answer["exit"] == 0
    assert answer["printed"]["results"]["systems"][0]["metrics"]["attachment"]["scores"]["las"] == 1.0
    assert {"numpy", "treescore"} <= set(answer["loaded"])
    assert not set(answer["loaded"]) & SPARED
