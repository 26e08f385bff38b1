"""Measure `treescore score` on a small file beside udtools: wall time, CPU and peak memory of whole processes.

    python benchmarks/command.py [--repeats 9] [--words 10000]

The file is raw text with multiword tokens. The commands take turns; medians. udtools is measured where its command
`udeval` is installed.

The peak memory is what the kernel says of an ended process. It depends on two things that are none of the command's.
It begins with the memory of the process that starts the command: this one makes its files in a child and stays small.
And of a shared library the kernel maps whole pieces, as they lie in the page cache; right after an installation these
are large (7 MB more for numpy): the libraries are dropped from the cache, and read again as after a restart.
"""

from __future__ import annotations

import multiprocessing
import os
import site
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from table import PROCESS, Goal, Measure, machine, not_measured, options, report
from texts import raw_text, words_of

TREESCORE = [sys.executable, "-m", "treescore.cli.main"]
UDEVAL = Path(sys.executable).parent / "udeval"


class Run(NamedTuple):
    """Wall and CPU seconds of a process, and its peak memory in MB."""

    wall: float
    cpu: float
    peak: float


def run(command: Sequence[str]) -> Run:
    """Run a command to its end; its output is thrown away."""
    begun = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return Run(perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def medians(commands: dict[str, list[str]], repeats: int) -> dict[str, Run]:
    """Return the medians of each command; they take turns, after a first turn that does not count."""
    taken: dict[str, list[Run]] = {name: [] for name in commands}
    for turn in range(repeats + 1):
        for name, command in commands.items():
            found = run(command)
            if turn:
                taken[name].append(found)
    return {name: Run(*map(statistics.median, zip(*found, strict=True))) for name, found in taken.items()}


def first_words(text: bytes, words: int) -> bytes:
    """Return the first sentences of a CoNLL-U text, with so many words or a few more."""
    found, size = [], 0
    for block in text.split(b"\n\n"):
        if size >= words or not block:
            break
        found.append(block + b"\n\n")
        size += words_of(block)
    return b"".join(found)


def write_files(words: int, gold: str, system: str) -> None:
    """Write both files, with so many words of gold or a few more."""
    whole = raw_text()
    sentences = first_words(whole.gold, words).count(b"\n\n")
    for path, text in ((gold, whole.gold), (system, whole.system)):
        Path(path).write_bytes(b"\n\n".join(text.split(b"\n\n")[:sentences]) + b"\n\n")


def drop_libraries() -> None:
    """Drop the shared libraries of the installed packages from the page cache."""
    for folder in site.getsitepackages():
        for path in Path(folder).rglob("*.so*"):
            with path.open("rb") as library:
                os.fsync(library.fileno())
                os.posix_fadvise(library.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def main() -> None:
    """Measure both commands and `--help`."""
    given = options(__doc__, repeats=(9, 2, "turns of each command"), words=(10_000, 1_000, "words of gold"))
    print(machine("numpy", "udtools"))
    drop_libraries()
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as folder:
        paths = [f"{folder}/{side}.conllu" for side in ("gold", "system")]
        writer = multiprocessing.Process(target=write_files, args=(given.words, *paths))
        writer.start()
        writer.join()
        commands = {
            "score": [*TREESCORE, "score", "--format", "conllu", "--metric", "ud", *paths],
            "help": [*TREESCORE, "--help"],
            "python": [sys.executable, "-c", "import numpy"],
        }
        if UDEVAL.exists():
            commands["udtools"] = [str(UDEVAL), "--no-enhanced", "--verbose", *paths]
        found = medians(commands, given.repeats)
    mine, bare, helped = found["score"], found["python"], found["help"]
    what = f"`treescore score`, `ud`, {given.words:,} words of raw text"
    if theirs := found.get("udtools"):
        figures = f"{mine.wall:.2f} and {theirs.wall:.2f} s; CPU {mine.cpu:.2f} and {theirs.cpu:.2f} s"
        report(Measure(f"{what}, wall time", PROCESS, "udtools", mine.wall / theirs.wall, Goal(1.0), figures))
        figures = f"{mine.peak:.0f} and {theirs.peak:.0f} MB"
        report(Measure(f"{what}, peak memory", PROCESS, "udtools", mine.peak / theirs.peak, Goal(1.0), figures))
    else:
        for kind in ("wall time", "peak memory"):
            not_measured(f"{what}, {kind}", PROCESS, "udtools", "udtools is not installed", Goal(1.0))
    figures = f"{helped.wall:.2f} and {bare.wall:.2f} s"
    report(
        Measure("`treescore --help`, wall time", PROCESS, "python with numpy", helped.wall / bare.wall, None, figures)
    )


if __name__ == "__main__":
    main()
