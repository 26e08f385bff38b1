"""Measure how often tests make false claims, how often intervals cover, and what power promised differences have.

    python benchmarks/validity.py [--datasets 2000] [--seed 1] [--only KEY,KEY] [--processes N] [--into PAGE]

Simulates every null of docs/significance.md, under wrong and right settings on the same data, and prints the tables of
that document. A percentage is bold where it misses its goal (false claims 5 %, coverage 95 %, power 80 %) by more than
three standard errors. Where a data set is slow a row takes one in 2 to 16 of them, which its errors show. The figures
do not depend on the number of processes. With `--into docs/significance.md` the tables of the page are replaced.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the processes share the cores; numpy reads it when it is loaded

from nulls.simulate import TABLES, simulated
from nulls.tables import with_table


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(TABLES), help="tables, by comma: " + ", ".join(TABLES))
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--into", type=Path, help="a page whose tables are replaced")
    asked = parser.parse_args()
    started = time.perf_counter()
    with ProcessPoolExecutor(asked.processes) as pool:
        for key in asked.only.split(","):
            lines = []
            for line in simulated(TABLES[key], asked.datasets, asked.seed, pool):
                print(line, flush=True)
                lines.append(line)
            print(flush=True)
            if asked.into is not None:
                page = asked.into.read_text(encoding="utf-8")
                asked.into.write_text(with_table(page, lines), encoding="utf-8")
    print(f"{asked.datasets} data sets a cell, seed {asked.seed}; {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
