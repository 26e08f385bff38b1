"""What the library and its command load: nothing of the service, and nothing heavy before it is needed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SERVICE = {"alembic", "flask", "marshmallow", "redis", "rq", "sqlalchemy", "structlog", "service", "workers"}
SPARED = SERVICE | {"httpx", "jsonschema", "matplotlib", "numba", "scipy"}
PROGRAM = """
import json, sys
from click.testing import CliRunner
from treescore.cli.main import main
done = CliRunner().invoke(main, sys.argv[1:])
loaded = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps({"exit": done.exit_code, "printed": done.output, "loaded": loaded}))
"""
IMPORT = """
import json, sys
before = set(sys.modules)
import treescore
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def printed_by(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_importing_the_library_loads_three_modules_of_it_and_no_other_package() -> None:
    loaded = set(json.loads(printed_by(IMPORT)))
    assert {name for name in loaded if name.startswith("treescore")} == {
        "treescore",
        "treescore.core",
        "treescore.core.version",
    }
    assert {name.partition(".")[0] for name in loaded} <= {"treescore", *sys.stdlib_module_names}


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("no-command",)])
def test_help_loads_no_command(arguments: tuple[str, ...]) -> None:
    answer = json.loads(printed_by(PROGRAM, *arguments))
    assert not set(answer["loaded"]) & (SPARED | {"numpy", "orjson", "rich"})
    if arguments == ("--help",):
        for name in ("score", "compare", "repeat", "submit", "serve", "demo", "api", "worker", "sweeper", "migrate"):
            assert f"  {name} " in answer["printed"]


@pytest.mark.parametrize("command", ["score", "compare", "repeat", "submit"])
def test_the_help_of_a_command_loads_nothing_of_the_service(command: str) -> None:
    answer = json.loads(printed_by(PROGRAM, command, "--help"))
    assert answer["exit"] == 0
    assert not set(answer["loaded"]) & (SERVICE | {"matplotlib", "numba", "scipy"})


def test_scoring_a_file_loads_neither_the_service_nor_the_compiler(tmp_path: Path) -> None:
    gold = tmp_path / "gold.conllu"
    gold.write_text("1\ta\t_\tX\t_\t_\t2\tdet\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n")
    command = ["score", "--format", "conllu", "--metric", "attachment", "--metric", "ud", str(gold), str(gold)]
    answer = json.loads(printed_by(PROGRAM, *command))
    assert answer["exit"] == 0
    assert json.loads(answer["printed"])["results"]["systems"][0]["metrics"]["attachment"]["scores"]["las"] == 1.0
    assert {"numpy", "treescore"} <= set(answer["loaded"])
    assert not set(answer["loaded"]) & SPARED
