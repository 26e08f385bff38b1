"""The examples of CONTRIBUTING.md run as they are printed."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import treescore.formats
import treescore.metrics
from tests.conftest import ROOT
from treescore.core.registry import FORMATS, METRICS, make_format
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.core.trees import Vocabulary
from treescore.errors import InputError, LimitError

NAMES = ("inline", "root_accuracy")
PRINTED = ("treescore.formats.inline", "treescore.metrics.root_accuracy")
FILE = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def examples() -> dict[str, str]:
    """Path -> source of each printed file."""
    return dict(FILE.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mapping[str, Path]]:
    """The printed files in a folder that the packages of formats and metrics look into."""
    known = {id(names): dict(names) for names in (FORMATS, METRICS)}
    loaded = {name: module for name, module in sys.modules.items() if name.startswith(PRINTED)}
    paths = {}
    for name, source in examples().items():
        paths[name] = tmp_path / name
        paths[name].parent.mkdir(parents=True, exist_ok=True)
        paths[name].write_text(source, encoding="utf-8")
    for package in (treescore.formats, treescore.metrics):
        folder = str(tmp_path / package.__name__.replace(".", "/"))
        monkeypatch.setattr(package, "__path__", [folder, *package.__path__])
    for name in NAMES:
        FORMATS.pop(name, None)
        METRICS.pop(name, None)
    forget()
    yield paths
    forget()
    sys.modules.update(loaded)
    for names in (FORMATS, METRICS):
        names.clear()
        names.update(known[id(names)])


def forget() -> None:
    """Unload the printed modules; a checkout in which the walk-throughs were followed has loaded its own."""
    for name in [name for name in sys.modules if name.startswith(PRINTED)]:
        del sys.modules[name]


def test_the_printed_files_are_those_of_a_metric_its_test_and_a_format():
    assert list(examples()) == [
        "treescore/metrics/root_accuracy.py",
        "tests/treescore/metrics/test_root_accuracy.py",
        "treescore/formats/inline.py",
    ]


def test_the_printed_metric_passes_its_printed_test(printed):
    importlib.import_module("treescore.metrics.root_accuracy")
    assert METRICS["root_accuracy"].catalogue()["main_score"] == "accuracy"
    names: dict[str, object] = {}
    path = printed["tests/treescore/metrics/test_root_accuracy.py"]
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), names)  # noqa: S102 - what the page prints
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert tests
    for test in tests:
        test()


def test_the_printed_format_reads_its_example_and_writes_it_back(printed):
    module = importlib.import_module("treescore.formats.inline")
    inline = make_format("inline", {})
    treebank = inline.read(module.Inline.example, Vocabulary(), DEFAULT_LIMITS)
    assert (len(treebank), treebank.heads.tolist()) == (3, [2, 3, 0, 0])
    assert inline.write(treebank).encode() == module.Inline.example


@pytest.mark.parametrize(
    ("text", "column"), [(b"dog/3/nsubj barks\n", 13), (b"a//b", 1), (b"a/1/", 1), (b"a/1/b  c/1/d", 7)]
)
def test_the_printed_format_says_where_a_word_is_wrong(printed, text, column):
    importlib.import_module("treescore.formats.inline")
    with pytest.raises(InputError) as caught:
        make_format("inline", {}).read(text, Vocabulary(), DEFAULT_LIMITS)
    assert (caught.value.problems[0].line, caught.value.problems[0].column) == (1, column)


@pytest.mark.parametrize("limits", [Limits(max_sentences=2), Limits(max_words=2)])
def test_the_printed_format_keeps_the_limits(printed, limits):
    module = importlib.import_module("treescore.formats.inline")
    with pytest.raises(LimitError):
        make_format("inline", {}).read(module.Inline.example, Vocabulary(), limits)
