"""A function runs interpreted until machine code pays, and as machine code from then on, with the same result."""

from __future__ import annotations

import importlib.util
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from treescore.core import compiling, jit

SOURCE = """
import numpy as np
from treescore.core.jit import compiled, unless_interpreted, weighing

@compiled
def doubled(number):
    return number * np.uint64(2)

@compiled
def total(values):
    found = np.uint64(0)
    for index in range(len(values)):
        found += doubled(values[index])
    return found

@compiled
def other(values):
    return values[0]

@compiled
@weighing(10)
def length(values):
    return len(values)

@compiled
def shifted(values, sums):
    for index in range(len(values)):
        sums[index] = values[index] * 10 + 6 - 2500
        values[index] += 1
    return values[0] * 10 + 6

def length_unless_interpreted(values):
    return unless_interpreted(length, values)
"""
VALUES = np.full(10, 1 << 63 | 1, np.uint64)


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> jit._Account:
    """A process that has seen nothing, whose compiler is worth loading for 20 elements and for 30 a function."""
    found = jit._Account()
    found.setting = "auto"
    monkeypatch.setattr(jit, "_ACCOUNT", found)
    monkeypatch.setattr(jit, "WORTH_LOADING", 20)
    monkeypatch.setattr(jit, "WORTH_COMPILING", 30)
    monkeypatch.setattr(jit, "compiler_loaded", lambda: False)
    monkeypatch.setattr(jit, "_ALL", [])
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    # of a source that changes within a second Python would load the bytecode of before
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return found


@pytest.fixture
def notices(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    """What a new process says from here on."""
    compiling._listen()
    made = compiling._Notice()
    made.clock = compiling._NOTICE.clock
    monkeypatch.setattr(compiling, "_NOTICE", made)
    monkeypatch.setattr(compiling.log, "disabled", False)
    with caplog.at_level(logging.WARNING, "treescore.compiling"):
        yield lambda: [record.getMessage() for record in caplog.records]


def load(folder: Path, source: str = SOURCE) -> ModuleType:
    """Load the module as another process would."""
    path = folder / "kernels_of_a_test.py"
    if not path.exists() or path.read_text() != source:
        path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled_in_all(function: Any) -> int:
    """For how many types of arguments this process has compiled a function, or loaded its machine code."""
    return len(function._dispatcher.signatures) if "_dispatcher" in vars(function) else 0


def test_below_the_cost_a_call_is_interpreted_and_from_there_on_its_chain_is_compiled_and_that_said_once(
    tmp_path: Path, notices: Callable[[], list[str]]
) -> None:
    module = load(tmp_path)
    assert jit.state() == "interpreted"
    for _ in range(5):  # 50 elements: less than two functions cost
        assert module.total(VALUES) == 20
    assert (compiled_in_all(module.total), notices()) == (0, [])
    assert module.total(VALUES) == 20
    assert (compiled_in_all(module.total), compiled_in_all(module.doubled), compiled_in_all(module.other)) == (1, 1, 0)
    assert jit.state() == "partly"
    assert module.other(VALUES) == VALUES[0]
    assert compiled_in_all(module.other) == 0  # it has seen little itself
    assert module.other(np.full(20, VALUES[0])) == VALUES[0]
    name = "kernels_of_a_test.total"
    assert notices() == [f"{compiling.NOTICE % name} {compiling.KEPT}"]
    assert compiled_in_all(module.other) == 1  # and nothing more is said
    compiling.say_compiled()
    compiling.say_compiled()
    assert len(notices()) == 2
    assert notices()[1].startswith("Compiled in ")


def test_a_single_large_call_is_decided_before_it_runs(tmp_path: Path) -> None:
    module = load(tmp_path)
    assert module.total(np.ones(60, np.uint64)) == 120
    assert compiled_in_all(module.total) == 1


@pytest.fixture
def kept(tmp_path: Path, account: jit._Account) -> Path:
    """A folder with a module whose machine code an earlier process has made."""
    account.setting = "always"
    assert load(tmp_path).total(VALUES) == 20
    account.setting, account.work = "auto", 0
    return tmp_path


def test_kept_code_is_used_once_the_compiler_is_worth_loading(kept: Path, notices: Callable[[], list[str]]) -> None:
    module = load(kept)
    assert module.total(VALUES) == 20
    assert compiled_in_all(module.total) == 0
    assert module.total(VALUES) == 20
    assert sum(module.total._dispatcher.stats.cache_hits.values()) == 1
    assert notices() == []


def test_kept_code_is_used_at_once_where_the_compiler_is_loaded(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "compiler_loaded", lambda: True)
    module = load(kept)
    module.total(VALUES)
    assert compiled_in_all(module.total) == 1


def test_code_that_is_kept_meanwhile_is_found(tmp_path: Path, account: jit._Account) -> None:
    module = load(tmp_path)
    module.total(np.ones(25, np.uint64))
    with jit.forced("always"):
        load(tmp_path).total(VALUES)
    account.work = 40
    module.total(VALUES)
    assert sum(module.total._dispatcher.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("newer", [True, False], ids=["by its time", "by the compiler"])
def test_stale_code_is_neither_used_nor_silently_made_anew(
    kept: Path, notices: Callable[[], list[str]], *, newer: bool
) -> None:
    changed = SOURCE.replace("np.uint64(2)", "np.uint64(4)")
    module = load(kept, changed)
    [index] = kept.glob("__pycache__/*.total-*.nbi")
    source = kept / "kernels_of_a_test.py"
    os.utime(source, ns=(index.stat().st_mtime_ns + (1 if newer else -1) * 10**9,) * 2)
    assert module.total.is_kept() is not newer
    assert module.total(np.ones(25, np.uint64)) == 100
    assert (compiled_in_all(module.total), notices()) == (0, [])
    assert module.total(np.ones(60, np.uint64)) == 240
    assert compiled_in_all(module.total) == 1
    assert len(notices()) == 1


@pytest.mark.parametrize("setting", ["auto", "always"])
def test_code_is_stale_where_what_it_calls_in_another_module_has_changed(
    tmp_path: Path, account: jit._Account, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    rest = SOURCE.partition("@compiled\ndef total")[2]
    caller = "from treescore.core.jit import *\nimport numpy as np\nfrom called_in_a_test import doubled\n"
    caller += "@compiled\ndef total" + rest.partition("@compiled")[0]
    called = SOURCE.partition("@compiled\ndef total")[0]
    path = tmp_path / "called_in_a_test.py"
    path.write_text(called)
    monkeypatch.syspath_prepend(tmp_path)
    with jit.forced("always"):
        assert load(tmp_path, caller).total(VALUES) == 20
    path.write_text(called.replace("np.uint64(2)", "np.uint64(40)"))
    os.utime(path, ns=(path.stat().st_mtime_ns + 10**10,) * 2)
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "called_in_a_test")
    account.work, account.setting = 0, setting
    module = load(tmp_path, caller)
    assert not module.total.is_kept()
    assert module.total(np.ones(60, np.uint64)) == 2400
    assert compiled_in_all(module.total) == 1


def test_code_of_another_compiler_is_not_used(kept: Path) -> None:
    module = load(kept)
    [index] = kept.glob("__pycache__/*.total-*.nbi")
    index.write_bytes(index.read_bytes().replace(compiling._compiler_version(), b"0" * 6, 1))
    assert not module.total.is_kept()


@pytest.mark.parametrize(("setting", "times"), [("always", 1), ("never", 0)])
def test_the_setting_forces_either_way(kept: Path, setting: str, times: int) -> None:
    module = load(kept)
    with jit.forced(setting):
        module.other(VALUES[:1])
        assert module.total(np.ones(10_000, np.uint64)) == 20_000
        assert jit.state() == ("partly" if times else "interpreted")
    assert compiled_in_all(module.total) == compiled_in_all(module.other) == times


def test_the_environment_is_asked_and_a_wrong_word_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(compiling.SETTING, raising=False)
    assert compiling.setting() == "auto"
    monkeypatch.setenv(compiling.SETTING, "never")
    assert compiling.setting() == "never"
    monkeypatch.setenv(compiling.SETTING, "maybe")
    with pytest.raises(ValueError, match=r"TREESCORE_COMPILE is 'maybe'\. Use one of: auto, always, never\."):
        compiling.setting()


def test_a_function_is_weighed_and_may_be_left_to_the_caller(tmp_path: Path, account: jit._Account) -> None:
    module = load(tmp_path)
    assert module.length(VALUES[:1]) == 1
    assert account.work == 10
    assert module.length_unless_interpreted(VALUES[:1]) is None
    assert module.length_unless_interpreted(VALUES[:2]) == 2


def test_a_folder_that_cannot_be_written_is_read(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    module = load(kept)
    module.total(np.ones(25, np.uint64))
    assert sum(module.total._dispatcher.stats.cache_hits.values()) == 1


ON_A_PROCESSOR = """
import sys
import llvmlite.binding
llvmlite.binding.get_host_cpu_name = lambda: sys.argv[1]
import numpy as np
from kernels_of_a_test import total
assert total(np.ones(3, np.uint64)) == 6
print(sum(total._dispatcher.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_code_for_any_processor_is_used_on_another_and_nothing_is_written_then(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    (tmp_path / "kernels_of_a_test.py").write_text(SOURCE)
    environment = {"NUMBA_CACHE_DIR": str(folder), "NUMBA_CPU_NAME": "generic", compiling.SETTING: "always"}

    def hits(processor: str) -> int:
        command = [sys.executable, "-c", ON_A_PROCESSOR, processor]
        path = os.pathsep.join([str(tmp_path), *sys.path])
        return int(subprocess.check_output(command, env={**os.environ, **environment, "PYTHONPATH": path}))

    assert hits("znver3") == 0
    made = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    for each in (folder, *made):
        each.chmod(0o555 if each.is_dir() else 0o444)
    assert hits("haswell") == 1
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*")} == made


def test_without_a_folder_functions_are_compiled_and_the_message_says_what_to_set(
    tmp_path: Path, notices: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "_folders", lambda _: ())
    module = load(tmp_path)
    assert module.other(np.ones(30, np.uint64)) == 1
    assert notices() == [f"{compiling.NOTICE % 'kernels_of_a_test.other'} {compiling.NOT_KEPT}"]
    assert "NUMBA_CACHE_DIR" in compiling.NOT_KEPT


@pytest.mark.parametrize("setting", ["never", "always"])
def test_narrow_integers_are_computed_in_64_bits_and_written_where_they_stood(tmp_path, account, setting):
    account.setting = setting
    module = load(tmp_path)
    values, sums = np.array([250, 255], np.uint8), np.zeros(2, np.int16)
    assert module.shifted(values, sums) == 2516
    assert (values.tolist(), sums.tolist()) == ([251, 0], [6, 56])


def test_work_that_arrays_do_not_show_is_tried_within_small_bounds_until_compiling_pays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "FIRST_ATTEMPT", 10)
    function, few = load(tmp_path).total, np.zeros(1)
    bounds = []
    for bound in jit.attempts(function, 1000):
        function(few)
        bounds.append((bound, compiled_in_all(function)))
    assert bounds == [(10, 0), (40, 0), (160, 0), (640, 1), (1000, 1)]
    assert list(jit.attempts(function, 1000)) == [1000]
    with jit.forced("never"):
        assert list(jit.attempts(function, 1000)) == [1000]
