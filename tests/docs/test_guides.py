"""The how-to guides do what they say: their commands and their Python run, and print what the pages print."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fixtures.pages import Reader, blocks
from tests.fixtures.service_process import ServiceProcess

GUIDES = ROOT / "docs" / "guide"
OFFLINE = ("paper", "training_runs", "documents", "not_worse", "tokenization", "alignment_base", "files", "errors")
LONG = ("not_worse", "client")
WITH_LIBRARIES = {"objects": ("conllu", "nltk", "spacy", "udapi"), "frames": ("pandas",)}
WITH_SERVICE = ("client", "async_client", "retries")
NOT_RUN = {
    "ci": "its commands need a benchmark with a history; tests of `treescore submit` run them",
    "feedback_and_events": "its calls need a webhook that answers; the contract's tests of printed calls send them",
    "shared_tasks": "its requests are shortened; the tutorial for organisers is run instead",
    "versioning": "its request shows headers of an operation that is not deprecated now",
    "recipes": "its gold files are those of the tasks; the contract's tests make a benchmark of each document",
    "http": "its jobs are posted by the contract's tests",
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in OFFLINE]
)
def test_a_guide(name: str, tmp_path: Path) -> None:
    assert Reader(tmp_path).follow(GUIDES / f"{name}.md") > 0


@pytest.mark.libraries
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # udapi leaves files open
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of these libraries among each other
@pytest.mark.parametrize("name", WITH_LIBRARIES)
def test_a_guide_to_other_libraries(name: str, tmp_path: Path) -> None:
    for library in WITH_LIBRARIES[name]:
        pytest.importorskip(library, reason=f"the page uses {library}")
    assert Reader(tmp_path).follow(GUIDES / f"{name}.md") > 0


@pytest.mark.e2e
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in WITH_SERVICE]
)
def test_a_guide_to_the_client(
    name: str, served: ServiceProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TREESCORE_TOKEN", served.token)
    assert Reader(tmp_path, address=f"127.0.0.1:{served.port}").follow(GUIDES / f"{name}.md") > 0


def test_every_guide_with_commands_is_run_or_says_why_not() -> None:
    known = {*OFFLINE, *WITH_LIBRARIES, *WITH_SERVICE, *NOT_RUN}
    assert {page.stem for page in GUIDES.glob("*.md") if any(blocks(page))} == known
