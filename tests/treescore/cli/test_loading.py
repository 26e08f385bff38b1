"""What the library and its command load: nothing of the service, and nothing heavy before it is needed."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.__main__ import MODULES
from service.__main__ import main as service
from treescore.cli.main import COMMANDS, main

ROOT = Path(__file__).parents[3]
SERVICE = {"alembic", "flask", "marshmallow", "redis", "rq", "sqlalchemy", "service", "workers"}
MULTIWORD = "1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n1\t{0}\t_\tX\t_\t_\t2\tdet\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
SPARED = SERVICE | {"httpx", "jsonschema", "numba", "pandas", "polars", "scipy"}
KINDS = {
    kind: [path.stem for path in (ROOT / "treescore" / kind).glob("[!_]*.py")] for kind in ("formats", "transforms")
}
PROGRAM = """
import json, os, sys
from click.testing import CliRunner
from treescore.cli.main import main
done = CliRunner().invoke(main, sys.argv[1:])
loaded = sorted({name.partition(".")[0] for name in sys.modules})
own = sorted(name.removeprefix("treescore.") for name in sys.modules if name.startswith("treescore."))
threads = os.environ.get("OPENBLAS_NUM_THREADS")
print(json.dumps({"exit": done.exit_code, "printed": done.output, "loaded": loaded, "own": own, "threads": threads}))
"""
MODULES_OF_SCORING = """
import json, runpy, sys
sys.argv[0] = "treescore"
try:
    runpy.run_module("treescore.cli.main", run_name="__main__")
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
IMPORT = """
import json, sys
before = set(sys.modules)
import treescore
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def printed_by(program: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={"PYTHONPATH": str(ROOT), **environment},
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


@pytest.mark.parametrize("arguments", [("--help",), ("no-command",)])
def test_help_loads_no_command(arguments: tuple[str, ...]) -> None:
    answer = json.loads(printed_by(PROGRAM, *arguments))
    assert not set(answer["loaded"]) & (SPARED | {"numpy", "orjson", "rich"})
    if arguments == ("--help",):
        for name in ("score", "compare", "repeat", "submit", "serve", "api", "worker", "views", "sweeper", "migrate"):
            assert f"  {name} " in answer["printed"]


@pytest.mark.parametrize("command", ["score", "submit"])
def test_the_help_of_a_command_loads_nothing_of_the_service(command: str) -> None:
    answer = json.loads(printed_by(PROGRAM, command, "--help"))
    assert answer["exit"] == 0
    assert not set(answer["loaded"]) & (SERVICE | {"numba", "scipy"})
    if command == "score":
        assert not set(answer["loaded"]) & {"numpy", "rich"}


def test_the_lists_of_commands_have_the_first_sentence_of_each() -> None:
    for name, entry in COMMANDS.items():
        module = f"treescore.cli.{entry.module}" if entry.module else MODULES[name]
        command = getattr(importlib.import_module(module), name)
        assert command.get_short_help_str(limit=200) == entry.help
    assert set(MODULES) == {name for name, entry in COMMANDS.items() if not entry.module}
    for group in (main, service):
        help_text = " ".join(CliRunner().invoke(group, ["--help"]).output.split())
        assert all(f" {name} {COMMANDS[name].help}" in help_text for name in group.list_commands(None))


@pytest.mark.parametrize("form", ["--json", "--table"])
def test_scoring_small_files_loads_neither_the_compiler_nor_openssl(form: str, tmp_path: Path) -> None:
    gold = tmp_path / "gold.conllu"
    gold.write_text(MULTIWORD.format("a"))
    command = ["score", "--format", "conllu", "--metric", "ud", form, str(gold), str(gold)]
    done = subprocess.run(
        [sys.executable, "-c", MODULES_OF_SCORING, *command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stderr))
    assert "treescore.metrics.ud" in loaded
    assert not loaded & (SPARED | {"hashlib", "_hashlib", "random", "ssl", "rich"})


@pytest.mark.parametrize("given", [{}, {"OPENBLAS_NUM_THREADS": "3"}])
def test_scoring_words_that_differ_inside_tokens_loads_what_it_uses_and_one_thread(
    tmp_path: Path, given: dict[str, str]
) -> None:
    gold, output = tmp_path / "gold.conllu", tmp_path / "output.conllu"
    gold.write_text(MULTIWORD.format("a"))
    output.write_text(MULTIWORD.format("x"))
    command = ["score", "--json", "--format", "conllu", "--metric", "ud", str(gold), str(output)]
    answer = json.loads(printed_by(PROGRAM, *command, **given))
    assert answer["exit"] == 0
    scores = json.loads(answer["printed"])["results"]["systems"][0]["metrics"]["ud"]["scores"]
    assert scores["words_f1"] == 0.5
    assert {"numpy", "treescore"} <= set(answer["loaded"])
    assert not set(answer["loaded"]) & (SPARED | {"rich", "ulid"})
    assert set(answer["own"]) & {f"{kind}.{name}" for kind in KINDS for name in KINDS[kind]} == {"formats.conllu"}
    assert {name for name in answer["own"] if name.startswith("metrics.") and "shared" not in name} == {"metrics.ud"}
    assert "render" not in answer["own"]
    assert answer["threads"] == given.get("OPENBLAS_NUM_THREADS", "1")
