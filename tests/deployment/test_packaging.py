"""The wheel holds the library alone and works by itself; a checkout's service runs from any folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.deployment.container_files import ROOT

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(600)]

SOURCES = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE", "openapi.yaml")
FOLDERS = ("treescore", "service", "workers")
GOLD = "(S (NP (DT the) (NN dog)) (VP (VBD ran)))\n"
OUTPUT = "(S (DT the) (NN dog) (VP (VBD ran)))\n"
SCORE = """
import treescore
result = treescore.score("gold.mrg", {"A": "output.mrg"})
print(result["A"]["parseval.labelled_recall"])
"""
MESSAGE = (
    "Error: The service is not part of this package. Use a checkout (pip install -e . --group service) or the image "
    "(docs/operate/deployment.md).\n"
)


class Environment:
    """A virtual environment, used without anything of the environment of the tests."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True, symlinks=True)
        self.bin = folder / "bin"

    def run(self, *command: str | Path, cwd: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TREESCORE", "COV"))
        }
        program = self.bin / str(command[0])
        done = subprocess.run(
            [program, *command[1:]], cwd=cwd, env={**kept, "PATH": f"{self.bin}:{kept['PATH']}"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, (done.stdout[-2000:], done.stderr[-2000:])
        return done

    def install(self, *what: str | Path, cwd: Path) -> None:
        """Install with the project's constraints."""
        self.run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint",
                 ROOT / "constraints.txt", *what, cwd=cwd)  # fmt: skip


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is installed: building in place would leave files behind."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in SOURCES:
        shutil.copy(ROOT / name, folder)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(checkout)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that holds the wheel and its dependencies."""
    environment = Environment(tmp_path_factory.mktemp("installed"))
    environment.install(wheel, cwd=wheel.parent)
    return environment


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder of a gold standard and an output, with a folder `service` that is not the service."""
    (tmp_path / "gold.mrg").write_text(GOLD, encoding="utf-8")
    (tmp_path / "output.mrg").write_text(OUTPUT, encoding="utf-8")
    (tmp_path / "service").mkdir()
    return tmp_path


def test_the_wheel_holds_the_library_and_its_metadata_only(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    own = {name for name in names if name.startswith("treescore/")}
    assert {name.split("/")[0].partition("-")[2] for name in names - own} == {"0.1.0.dist-info"}
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "treescore").rglob("*.py")}
    assert own == modules | {"treescore/py.typed"}


def test_the_wheel_scores_in_an_empty_environment(installed: Environment, texts: Path) -> None:
    assert float(installed.run("python", "-c", SCORE, cwd=texts).stdout) == pytest.approx(2 / 3)
    printed = installed.run(
        "treescore", "score", "--format", "bracketed", "--metric", "parseval", "gold.mrg", "output.mrg", cwd=texts
    )
    (system,) = json.loads(printed.stdout)["results"]["systems"]
    assert system["metrics"]["parseval"]["scores"]["labelled_recall"] == pytest.approx(2 / 3)
    compared = installed.run(
        "treescore", "compare", "--format", "bracketed", "--metric", "parseval", "gold.mrg", "gold.mrg", "output.mrg",
        cwd=texts,
    )  # fmt: skip
    assert "parseval.labelled_f1" in compared.stdout
    refused = installed.run(
        "treescore", "compare", "--format", "bracketed", "--metric", "parseval", "--as", "svg", "gold.mrg", "gold.mrg",
        "output.mrg", cwd=texts, status=69,
    )  # fmt: skip
    assert "treescore[plot]" in refused.stderr


def test_the_command_of_the_wheel_says_where_the_service_is(installed: Environment, texts: Path) -> None:
    assert "serve" in installed.run("treescore", "--help", cwd=texts).stdout
    assert installed.run("treescore", "--version", cwd=texts).stdout.strip().endswith("0.1.0")
    for command in ("serve", "demo", "worker"):
        assert installed.run("treescore", command, cwd=texts, status=69).stderr == MESSAGE
    installed.run("python", "-c", "import service.wsgi", cwd=texts.parent, status=1)


def test_a_checkout_runs_its_service_from_any_folder(checkout: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    environment.install("--upgrade", "pip>=25.1", cwd=checkout)
    environment.install("--editable", ".", "--group", "service", cwd=checkout)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    places = "import service, workers.process, treescore; print(service.__file__, workers.__file__, treescore.__file__)"
    for path in environment.run("python", "-c", places, cwd=elsewhere).stdout.split():
        assert Path(path).is_relative_to(checkout)
    assert "--workers" in environment.run("treescore", "serve", "--help", cwd=elsewhere).stdout
    assert "--bind" in environment.run("python", "-m", "service", "serve", "--help", cwd=elsewhere).stdout
    contract = "from service.api.contract import written; print(len(written()))"
    assert (
        int(environment.run("python", "-c", contract, cwd=elsewhere).stdout) == (ROOT / "openapi.yaml").stat().st_size
    )
