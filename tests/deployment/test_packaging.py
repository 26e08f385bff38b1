"""Wheel and sdist hold the library alone and work by themselves; a checkout's service runs from any folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.deployment.container_files import ROOT
from tests.fixtures.checkouts import copy_checkout

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(600)]

GOLD = "(S (NP (DT the) (NN dog)) (VP (VBD ran)))\n"
OUTPUT = "(S (DT the) (NN dog) (VP (VBD ran)))\n"
SCORE = """
import sys
import treescore
loaded = {name.partition(".")[0] for name in sys.modules}
assert not loaded & {"numpy", "numba", "scipy", "click", "httpx", "rich", "flask", "sqlalchemy"}, loaded
result = treescore.score("gold.mrg", {"A": "output.mrg", "B": "gold.mrg"})
print(result["A"]["parseval.labelled_recall"])
treescore.compare(result)
with treescore.Client("http://127.0.0.1:1", "ts_x", 1):
    print("client")
"""
TYPED = """
from pathlib import Path

import treescore
from treescore import Client, Result, compare, score
from treescore.testing import NotWorse, assert_not_worse

result: Result = score("gold.conllu", {"A": Path("a.conllu"), "B": b"..."}, metric="ud", format="conllu")
value: float | None = result["A"]["ud.las_f1"]
names: list[str] = list(result)
compared = compare(result, unit="block", alpha=0.01)
latex: str = compared.to_latex()
documents = [pair["p"] for document in compared.comparisons for pair in document["pairs"]]
found: NotWorse = assert_not_worse("gold.conllu", "old.conllu", "new.conllu", score="ud.las_f1", margin=0.002)
shown: str = str(found)

def address(client: Client) -> str:
    with client as opened:
        return f"{opened}"

try:
    score("gold.conllu", ["a.conllu"], ["ud", {"name": "attachment", "params": {"punctuation": False}}])
except treescore.InputError as error:
    lines: list[str] = [problem.detail for problem in error.problems]
"""
MISTYPED = """
from treescore import Client, Result, compare, score
from treescore.testing import assert_not_worse

result = score("gold.conllu", "a.conllu")
value: str = result["A"]["ud.las_f1"]  # wrong: assignment
result.scores  # wrong: attr-defined
score("gold.conllu", "a.conllu", metrics="ud")  # wrong: call-arg
score("gold.conllu", "a.conllu", metric=3)  # wrong: arg-type
compare(result, significance="block")  # wrong: call-overload
compare(result, unit=3)  # wrong: call-overload
compare(result).to_latx()  # wrong: attr-defined
assert_not_worse("gold.conllu", "old.conllu", "new.conllu", margin="0.002")  # wrong: arg-type
result.gold_digest = "sha256:0"  # wrong: misc
"""
MESSAGE = (
    "Error: The service is not part of this package. Use a checkout (pip install -e . --group service, with pip 25.1 "
    "or newer) or the image (docs/operate/deployment.md).\n"
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
    """A copy of the project, with tests and examples, which no package should hold."""
    folder = copy_checkout(tmp_path_factory.mktemp("checkout"))
    for name in ("tests", "examples"):
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
def sdist(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    environment = Environment(tmp_path_factory.mktemp("builder"))
    environment.install("build", cwd=folder)
    environment.run("python", "-m", "build", "--sdist", "--outdir", folder, checkout, cwd=folder)
    (path,) = folder.glob("*.tar.gz")
    return path


@pytest.fixture(scope="module", params=["wheel", "sdist"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that holds a package and its dependencies."""
    package = request.getfixturevalue(request.param)
    environment = Environment(tmp_path_factory.mktemp("installed"))
    environment.install(package, cwd=package.parent)
    return environment


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder of a gold standard and an output, with a folder `service` that is not the service."""
    (tmp_path / "gold.mrg").write_text(GOLD, encoding="utf-8")
    (tmp_path / "output.mrg").write_text(OUTPUT, encoding="utf-8")
    (tmp_path / "service").mkdir()
    return tmp_path


def library_files() -> set[str]:
    """The modules of the library, and its data."""
    modules = (ROOT / "treescore").rglob("*.py")
    data = {"treescore/papers.bib", "treescore/py.typed", "treescore/problem_catalogue.toml"}
    return {str(path.relative_to(ROOT)) for path in modules} | data


def test_the_wheel_holds_the_library_and_its_metadata_only(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    own = {name for name in names if name.startswith("treescore/")}
    assert {name.split("/")[0].partition("-")[2] for name in names - own} == {"0.1.0.dist-info"}
    assert own == library_files()


def test_the_sdist_holds_what_builds_the_wheel_and_no_more(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    kept = {"CITATION.cff", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg"}
    own = {name for name in names if not name.startswith("treescore.egg-info/")}
    assert own - {"MANIFEST.in"} == kept | library_files()


def test_what_is_installed_scores_compares_and_has_a_client(installed: Environment, texts: Path) -> None:
    recall, client = installed.run("python", "-c", SCORE, cwd=texts).stdout.split()
    assert (float(recall), client) == (pytest.approx(2 / 3), "client")
    printed = installed.run(
        "treescore",
        "score",
        "--json",
        "--format",
        "bracketed",
        "--metric",
        "parseval",
        "gold.mrg",
        "output.mrg",
        cwd=texts,
    )
    (system,) = json.loads(printed.stdout)["results"]["systems"]
    assert system["metrics"]["parseval"]["scores"]["labelled_recall"] == pytest.approx(2 / 3)
    compared = installed.run(
        "treescore", "compare", "--format", "bracketed", "--metric", "parseval", "gold.mrg", "gold.mrg", "output.mrg",
        cwd=texts,
    )  # fmt: skip
    assert "parseval.labelled_f1" in compared.stdout
    assert "title = {{Treescore: " in installed.run("treescore", "cite", "parseval", cwd=texts).stdout
    drawn = installed.run(
        "treescore", "compare", "--format", "bracketed", "--metric", "parseval", "--as", "svg", "gold.mrg", "gold.mrg",
        "output.mrg", cwd=texts,
    )  # fmt: skip
    assert drawn.stdout.startswith("<svg ")


def test_pytest_and_spacy_find_their_entry_points(installed: Environment, texts: Path) -> None:
    listed = (
        "from importlib.metadata import distribution; "
        "print(*[each.name for each in distribution('treescore').entry_points if each.load()])"
    )
    installed.install("pytest", cwd=texts)
    assert set(installed.run("python", "-c", listed, cwd=texts).stdout.split()) == {"treescore", "treescore.las.v1"}


def test_a_project_that_installs_it_is_type_checked(installed: Environment, tmp_path: Path) -> None:
    (tmp_path / "typed.py").write_text(TYPED, encoding="utf-8")
    (tmp_path / "mistyped.py").write_text(MISTYPED, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", installed.bin / "python",
               "--cache-dir", tmp_path / "cache", "typed.py", "mistyped.py"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True, check=False)
    found = re.findall(r"^(\w+\.py):(\d+): error: .*\[([a-z-]+)\]$", done.stdout, re.MULTILINE)
    lines = enumerate(MISTYPED.splitlines(), 1)
    planted = [("mistyped.py", str(number), line.split("# wrong: ")[1]) for number, line in lines if "# wrong" in line]
    assert found == planted, done.stdout + done.stderr


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
    places = "import service, workers.worker, treescore; print(service.__file__, workers.__file__, treescore.__file__)"
    for path in environment.run("python", "-c", places, cwd=elsewhere).stdout.split():
        assert Path(path).is_relative_to(checkout)
    assert "--workers" in environment.run("treescore", "serve", "--help", cwd=elsewhere).stdout
    assert "--bind" in environment.run("python", "-m", "service", "serve", "--help", cwd=elsewhere).stdout
    contract = "from service.api.status import written; print(len(written()))"
    assert (
        int(environment.run("python", "-c", contract, cwd=elsewhere).stdout) == (ROOT / "openapi.yaml").stat().st_size
    )
