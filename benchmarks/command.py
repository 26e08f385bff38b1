"""Measure `treescore score` on a small file, `--help` and the import: wall time, CPU and peak memory of processes.

    python benchmarks/command.py [--repeats 9] [--words 10000]

The file is the raw text of a treebank, with multiword tokens. The commands take turns; medians. Beside it stand udtools
and, as another command of the field on the same sentences, sacrebleu; each where its command is installed.

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
PROGRAMS = Path(sys.executable).parent
UDEVAL, SACREBLEU = PROGRAMS / "udeval", PROGRAMS / "sacrebleu"


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


def write_files(words: int, folder: str) -> None:
    """Write both files with so many words of gold or a few more, and their sentences as lines."""
    whole = raw_text()
    sentences = first_words(whole.gold, words).count(b"\n\n")
    for name, text in (("gold", whole.gold), ("system", whole.system)):
        blocks = text.split(b"\n\n")[:sentences]
        Path(folder, f"{name}.conllu").write_bytes(b"\n\n".join(blocks) + b"\n\n")
        Path(folder, f"{name}.txt").write_bytes(b"".join(words_as_line(block) for block in blocks))


def words_as_line(block: bytes) -> bytes:
    """Return the words of a sentence in CoNLL-U on one line."""
    fields = [line.split(b"\t") for line in block.split(b"\n")]
    return b" ".join(each[1] for each in fields if each[0].isdigit()) + b"\n"


def drop_libraries() -> None:
    """Drop the shared libraries of the installed packages from the page cache."""
    for folder in site.getsitepackages():
        for path in Path(folder).rglob("*.so*"):
            with path.open("rb") as library:
                os.fsync(library.fileno())
                os.posix_fadvise(library.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Compared(NamedTuple):
    """Two commands, what they do, and the goals of the ratios of wall time and peak memory."""

    what: str
    own: str
    beside: str
    other: str
    wall: Goal | None
    peak: Goal | None


def tell(compared: Compared, found: dict[str, Run]) -> None:
    """Report wall time and peak memory of one command beside another."""
    mine, theirs = found[compared.own], found.get(compared.other)
    for kind, goal in (("wall time", compared.wall), ("peak memory", compared.peak)):
        what = f"{compared.what}, {kind}"
        if theirs is None:
            not_measured(what, PROCESS, compared.beside, f"{compared.beside} is not installed", goal)
        elif kind == "wall time":
            figures = f"{mine.wall:.3f} and {theirs.wall:.3f} s; CPU {mine.cpu:.3f} and {theirs.cpu:.3f} s"
            report(Measure(what, PROCESS, compared.beside, mine.wall / theirs.wall, goal, figures))
        else:
            figures = f"{mine.peak:.0f} and {theirs.peak:.0f} MB"
            report(Measure(what, PROCESS, compared.beside, mine.peak / theirs.peak, goal, figures))


def main() -> None:
    """Measure the commands."""
    given = options(__doc__, repeats=(9, 2, "turns of each command"), words=(10_000, 1_000, "words of gold"))
    print(machine("numpy", "click", "udtools", "sacrebleu"))
    drop_libraries()
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as folder:
        paths = [f"{folder}/{side}.conllu" for side in ("gold", "system")]
        writer = multiprocessing.Process(target=write_files, args=(given.words, folder))
        writer.start()
        writer.join()
        commands = {
            "score": [*TREESCORE, "score", "--format", "conllu", "--metric", "ud", *paths],
            "help": [*TREESCORE, "--help"],
            "import": [sys.executable, "-c", "import treescore"],
            "click": [sys.executable, "-c", "import click"],
            "python": [sys.executable, "-c", "pass"],
        }
        if UDEVAL.exists():
            commands["udtools"] = [str(UDEVAL), "--no-enhanced", "--verbose", *paths]
        if SACREBLEU.exists():
            lines = [f"{folder}/{side}.txt" for side in ("gold", "system")]
            commands["sacrebleu"] = [str(SACREBLEU), lines[0], "--input", lines[1], "--force", "--metrics", "bleu"]
        found = medians(commands, given.repeats)
    what = f"`treescore score`, `ud`, {given.words:,} words of raw text"
    for compared in (
        Compared(what, "score", "udtools", "udtools", Goal(1.0), Goal(1.0)),
        Compared(f"{what}; BLEU of its sentences", "score", "sacrebleu", "sacrebleu", None, None),
        Compared("`treescore --help`", "help", '`python -c "import click"`', "click", Goal(2.0), None),
        Compared('`python -c "import treescore"`', "import", '`python -c "pass"`', "python", Goal(1.5), None),
    ):
        tell(compared, found)


if __name__ == "__main__":
    main()
