"""What every benchmark hands to the table of `benchmarks/all.py`: one `Measure` a line, and how CPU time is taken."""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
INTO = "TREESCORE_BENCH_INTO"
"""Names the file to which a script adds its measures; `benchmarks/all.py` sets it."""
DATA = Path(os.environ.get("TREESCORE_BENCH_DATA", ROOT.parent / "shared" / "data"))
"""Real treebanks and outputs; benchmarks that can do without generate texts where it is absent."""

KERNEL = "kernel"
READING = "reading"
READ = "read + compare"
JOB = "job"
PROCESS = "process"
LEVELS = {
    KERNEL: "comparing treebanks that are read",
    READING: "reading texts",
    READ: "reading texts and comparing them",
    JOB: "everything a worker does, in one process",
    PROCESS: "whole commands, requests or services, with all their processes",
}


class Goal(NamedTuple):
    """A bound that a ratio keeps or does not."""

    bound: float
    at_least: bool = False

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"

    def met(self, value: float) -> bool:
        """Return whether a value keeps the bound."""
        return value >= self.bound if self.at_least else value <= self.bound


def at_least(bound: float) -> Goal:
    """Return the goal of a value that should be large."""
    return Goal(bound, at_least=True)


class Measure(NamedTuple):
    """One line of the table.

    Attributes:
        what: was run.
        level: one of `LEVELS`.
        beside: what it was compared with in the same run.
        value: the ratio to it, or where nothing stands beside, the figure; None where it was not measured.
        goal: that the value should keep.
        figures: both sides, with their units; where it was not measured, the reason.
        unit: of the value.
    """

    what: str
    level: str
    beside: str
    value: float | None
    goal: Goal | None = None
    figures: str = ""
    unit: str = "x"

    def row(self) -> str:
        """Return the line of a Markdown table."""
        if self.value is None:
            shown, met = "not measured", "-"
        else:
            shown = f"{self.value:,.{2 if self.value < 100 else 0}f} {self.unit}"
            met = "-" if self.goal is None else MET if self.goal.met(self.value) else MISSED
        cells = (self.what, self.level, self.beside, shown, str(self.goal or "-"), met, self.figures)
        return f"| {' | '.join(cells)} |"


MET, MISSED = "yes", "**no**"
HEAD = "| what | level | beside | ratio | goal | met | figures |\n|---|---|---|---|---|---|---|"


def report(measure: Measure) -> None:
    """Print a measure, and hand it to the table."""
    print(measure.row(), flush=True)
    if name := os.environ.get(INTO):
        with Path(name).open("a") as file:
            file.write(json.dumps(measure, default=float) + "\n")


def measures_of(path: Path) -> list[Measure]:
    """Return the measures that a script has added to a file."""
    found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    made = [Measure(*members) for members in found]
    return [measure._replace(goal=measure.goal and Goal(*measure.goal)) for measure in made]


def not_measured(what: str, level: str, beside: str, reason: str, goal: Goal | None = None) -> None:
    """Report a line of the table that this machine cannot give."""
    report(Measure(what, level, beside, None, goal, reason))


def machine(*packages: str) -> str:
    """Return processor, cores, load, how fast a plain loop is, the threads of linear algebra, and versions."""
    versions = [f"Python {platform.python_version()}"]
    for package in packages:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "all")
    began, total = process_time(), 0
    for number in range(1_000_000):
        total += number * number
    loop = process_time() - began
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"a million squares added in {loop:.2f} s of CPU, "
        f"threads of linear algebra: {threads}; {', '.join(versions)}"
    )


def cpu_seconds() -> float:
    """Return the user and system seconds of this process and of its ended children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def cpu_of(function: Callable[[], Any]) -> float:
    """Return the CPU seconds of one call, ended children included."""
    begun = cpu_seconds()
    function()
    return cpu_seconds() - begun


def interleaved(functions: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the median CPU seconds of each function; they take turns, after a first turn that does not count."""
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(repeats + 1):
        for name, function in functions.items():
            seconds = cpu_of(function)
            if turn:
                taken[name].append(seconds)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def options(doc: str | None, **sizes: tuple[int, int, str]) -> argparse.Namespace:
    """Return the chosen sizes of a script: name -> (usual, with --quick, what it is)."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it runs, not how fast")
    for name, (usual, quick, words) in sizes.items():
        parser.add_argument(f"--{name}", type=int, help=f"{words} ({usual}; with --quick {quick})")
    given = parser.parse_args()
    for name, (usual, quick, _) in sizes.items():
        if getattr(given, name) is None:
            setattr(given, name, quick if given.quick else usual)
    return given
