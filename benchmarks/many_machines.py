"""Run the compose file's services on hosts of their own, and do to them what happens to machines.

    .venv/bin/python benchmarks/many_machines.py [--workers 1 2 4] [--seconds 20] [--only THROUGHPUT|SCENES]

Each host is a network namespace with its own address: a PostgreSQL, a Redis, two APIs behind nginx, three hosts of
workers. Needs root, Linux, PostgreSQL and nginx (Debian: iproute2, postgresql, nginx-light; libfaketime for the
scenes with a wrong clock). Prints what the hosts did; asserts nothing. All hosts share this machine's cores, so that
jobs a second end where the cores are full: what each tier needs for a job is what carries over.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from hosts.network import Unavailable  # noqa: E402 - the line above lets it find the tests' fixtures
from hosts.scenes import SCENES, Outcome  # noqa: E402
from hosts.throughput import LARGE, SENTENCES, TIERS, rate  # noqa: E402
from hosts.topology import Topology, topology  # noqa: E402


@contextmanager
def running(workers: int) -> Iterator[Topology]:
    """Run a topology in a folder of its own, which PostgreSQL's user may enter."""
    with tempfile.TemporaryDirectory(prefix="ts-hosts-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with topology(folder, workers) as made:
            yield made


def show_throughput(numbers: list[int], seconds: float) -> None:
    """Print a line for each number of workers and size of job."""
    tiers = ", ".join(TIERS)
    print("\n| live workers | jobs | jobs a second | cores busy | commits a job | Redis commands a job "
          f"| bytes a job to {tiers} |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for workers in numbers:
        with running(workers) as made:
            for label, request in (("tiny", None), (f"{SENTENCES:,} sentences", LARGE)):
                found = rate(made, seconds, request)
                sizes = ", ".join(f"{found.received[tier]:,.0f}" for tier in TIERS)
                print(f"| {workers} | {label} | {found.per_second:.1f} | {found.cores:.2f} | {found.commits:.1f} | "
                      f"{found.commands:.1f} | {sizes} |", flush=True)  # fmt: skip


def show_scenes() -> None:
    """Print a line for each scene."""
    print("\n| what happens under load | accepted | lost | done twice | refused | repeated | begun again | slowest "
          "acceptance | last job done after the load |\n|---|---|---|---|---|---|---|---|---|")  # fmt: skip
    with running(3) as made:
        for words, act in SCENES.items():
            try:
                print(line(words, act(made)), flush=True)
            except LookupError as error:
                print(f"| {words} | not shown: {error} | | | | | | | |")


def line(words: str, found: Outcome) -> str:
    """Return the table's line of a scene."""
    repeated = ", ".join(f"{number} x {reason}" for reason, number in found.repeated.items()) or "0"
    return (f"| {words} | {found.accepted} | {found.lost} | {found.twice} | {len(found.refused)} | {repeated} | "
            f"{found.begun_again} | {found.longest:.1f} s | {found.until_done:.1f} s |")  # fmt: skip


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--only", choices=["throughput", "scenes"])
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, rq {version('rq')}, "
          f"psycopg {version('psycopg')}, gunicorn {version('gunicorn')}")  # fmt: skip
    try:
        if options.only != "scenes":
            show_throughput(options.workers, options.seconds)
        if options.only != "throughput":
            show_scenes()
    except Unavailable as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
