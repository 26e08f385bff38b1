"""A log that cannot be written stops nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from tests.fixtures.service_process import ROOT

WRITES = """
from service.config import load_config
from service.logs import Log, configure_logs

configure_logs(load_config({}))
for size in (1, 100_000, 1):
    Log("test").warning("line", detail="x" * size)
print("goes on", flush=True)
"""
TALKS = """
import logging, warnings
from service.config import load_config
from service.logs import Log, configure_logs

configure_logs(load_config())
log = Log("test")
log.info("began", path="a b")
log.warning("closed", path="a b")
log.error("fault", path=chr(0xe9) + "\\x1b[31m")
logging.getLogger("a.library").warning("%d left", 2)
logging.getLogger("a.library").info("nobody asks")
logging.getLogger("a.library").warning("%d left", "malformed")
try:
    raise ValueError("a secret")
except ValueError:
    logging.getLogger("a.library").exception("It failed")
warnings.warn_explicit("soon", UserWarning, "a.py", 1)
class Breaks:
    def __del__(self): raise KeyError("a secret")
Breaks()
"""
PLAIN = [
    "[warning] closed path='a b'",
    r"[error] fault path='é\x1b[31m'",
    "[warning] notice detail='2 left'",
    "[error] fault detail='It failed' kind=ValueError places=['<string>:15 <module>']",
    r"[warning] notice detail='a.py:1: UserWarning: soon\n'",
    "[error] fault kind=KeyError places=['<string>:20 __del__']",
]


@pytest.fixture(params=["full disk", "ended reader"])
def broken(request: pytest.FixtureRequest) -> int:
    """The descriptor of a standard error that takes nothing."""
    if request.param == "full disk":
        if not Path("/dev/full").exists():
            pytest.skip("this system has no full device")
        return os.open("/dev/full", os.O_WRONLY)
    read, write = os.pipe()
    os.close(read)
    return write


def test_lines_that_standard_error_does_not_take_are_lost(broken: int) -> None:
    command = [sys.executable, "-c", WRITES]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=broken, text=True, check=False)
    os.close(broken)
    assert ended.stdout == "goes on\n"


def test_lines_are_written_as_they_come() -> None:
    command = [sys.executable, "-c", WRITES]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [len(line) > 100_000 for line in ended.stderr.splitlines()] == [False, True, False]


def said(*, terminal: bool, **settings: str) -> list[str]:
    """What a process writes on its standard error, a line each, with one blank where it sets columns."""
    ours, theirs = os.openpty() if terminal else os.pipe()
    environment = {**os.environ, **{f"TREESCORE_LOG_{name.upper()}": value for name, value in settings.items()}}
    subprocess.run([sys.executable, "-c", TALKS], cwd=ROOT, env=environment, stderr=theirs, check=True)
    text = os.read(ours, 65536).decode()
    os.close(ours)
    os.close(theirs)
    return [re.sub(" +", " ", line) for line in text.splitlines()]


def without_time(line: str) -> str:
    stamp, rest = line[:19], line[20:]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", stamp)
    return rest


def test_lines_are_plain_on_a_terminal_and_of_warnings_and_faults_only() -> None:
    assert list(map(without_time, said(terminal=True))) == PLAIN


def test_lines_are_json_and_complete_where_no_terminal_is() -> None:
    lines = [orjson.loads(line) for line in said(terminal=False)]
    assert [(line["event"], line["level"], line["logger"]) for line in lines] == [
        ("began", "info", "treescore.test"),
        ("closed", "warning", "treescore.test"),
        ("fault", "error", "treescore.test"),
        ("notice", "warning", "a.library"),
        ("fault", "error", "a.library"),
        ("notice", "warning", "py.warnings"),
        ("fault", "error", "treescore.process"),
    ]
    assert all(line["timestamp"].endswith("Z") for line in lines)


def test_a_setting_decides_otherwise() -> None:
    assert [orjson.loads(line)["event"] for line in said(terminal=True, format="json", level="error")] == ["fault"] * 3
    plain = said(terminal=False, format="plain", level="info")
    assert list(map(without_time, plain)) == ["[info] began path='a b'", *PLAIN]
