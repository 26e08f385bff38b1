"""Measure how long a reader waits for the sentences of a submission while all cores score.

    .venv/bin/python benchmarks/views.py [--submissions 30]

Starts a service of its own with a worker a core, and has submissions scored, whose one part has the first 20,000 words
of English EWT, or of generated trees where it is absent. The first page of one of them is read, after which the process
of views loads machine code. Then, while jobs of the same size keep all workers busy, a team reads of each of the others
a first page of items or trees, of which nothing was made or read before, and the next page: over HTTP, through the
gate. The jobs come by HTTP too, from processes that stand back as workers do. Asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import accumulate, count
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any

import httpx
from services import Service
from table import PROCESS, Goal, Measure, machine, report
from texts import Pair, english, numbered, words_of

WORDS = 20_000
WAIT = {"Prefer": "wait=60"}
METRICS: dict[str, Any] = {"format": "conllu", "metrics": ["ud"]}
BENCHMARK: dict[str, Any] = {
    **METRICS, "id": "views", "title": "Views", "feedback": "items",
    "quota": {"scored_per_day": None, "scored_total": None, "attempts_per_day": None},
}  # fmt: skip
QUESTIONS = {"items": "items?metric=ud&limit=50", "trees": "trees?limit=50"}
JOBS = 10_000
"""The numbers of the jobs' texts follow those of the submissions': so many for each process that sends."""
PAUSE = 5.0
"""Seconds without a question, in which the process of views loads machine code."""
NICE = 10
"""Of workers."""


def sent(client: httpx.Client, path: str, meta: dict[str, Any], **texts: bytes) -> Any:
    """Send a form, and return the document of the answer once what it asks for is done."""
    files = {name: (name, text) for name, text in texts.items()}
    return client.post(path, data={"meta": json.dumps(meta)}, files=files, headers=WAIT).raise_for_status().json()


@cache
def part() -> Pair:
    """Return the sentences of the first words of English EWT, or of generated trees."""
    whole = english()
    gold, system = whole.gold.split(b"\n\n"), whole.system.split(b"\n\n")
    sentences = 1 + sum(words < WORDS for words in accumulate(map(words_of, system)))
    return Pair(whole.name, *(b"\n\n".join([*side[:sentences], b""]) for side in (gold, system)))


def send_jobs(service: Service, first: int) -> None:
    """Send jobs one after the other, numbered from `first`, without taking a core from readers."""
    os.nice(NICE)
    text = part()
    with service.client() as client:
        for number in count(first):
            sent(client, "/v1/jobs", METRICS, gold=text.gold, A=numbered(text.system, number))


@contextmanager
def scoring(service: Service, workers: int) -> Iterator[None]:
    """Have jobs sent by more processes than there are workers."""
    forked = get_context("fork")
    senders = [forked.Process(target=send_jobs, args=(service, JOBS * (1 + each))) for each in range(workers + 1)]
    for each in senders:
        each.start()
    try:
        yield
    finally:
        for each in senders:
            each.kill()
            each.join()


def measure(submissions: int, workers: int) -> None:
    """Report the waits for first and next pages."""
    text = part()
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as folder:
        service = Service(Path(folder), workers=workers)
        service.start()
        try:
            with service.client() as organiser:
                sent(organiser, "/v1/benchmarks", BENCHMARK, en=text.gold)
                made = organiser.post("/v1/benchmarks/views/teams", json={"id": "lyon", "name": "Lyon"})
            with service.client() as team:
                team.headers["Authorization"] = f"Bearer {made.raise_for_status().json()['token']}"
                path = "/v1/benchmarks/views/submissions"
                ids = [sent(team, path, {}, en=numbered(text.system, each))["id"] for each in range(1 + submissions)]
                timed(team, f"/v1/submissions/{ids.pop()}/{QUESTIONS['items']}")
                sleep(PAUSE)
                with scoring(service, workers):
                    show(team, ids, text.words)
        finally:
            service.stop()


def show(team: httpx.Client, ids: list[str], words: int) -> None:
    """Read the pages of each submission, half of them items, and report what they took."""
    for what, question in QUESTIONS.items():
        first, following = list[float](), list[float]()
        for each in ids[: len(ids) // 2] if what == "items" else ids[len(ids) // 2 :]:
            address = f"/v1/submissions/{each}/{question}"
            page, taken = timed(team, address)
            first.append(taken)
            following.append(timed(team, f"{address}&cursor={page['next']}")[1])
        for name, taken_by, bound in (("first", first, 100.0), ("next", following, None)):
            last = sorted(taken_by)[max(0, round(0.95 * len(taken_by)) - 1)]
            report(Measure(f"{name} page of {what} of {words:,} words while all cores score, 95th percentile", PROCESS,
                           "-", last, None if bound is None else Goal(bound),
                           f"median {median(taken_by):.0f} ms of {len(taken_by)}", "ms"))  # fmt: skip


def timed(client: httpx.Client, address: str) -> tuple[Any, float]:
    """Return a document, and the milliseconds until it was there."""
    begun = perf_counter()
    answer = client.get(address).raise_for_status()
    return answer.json(), 1000 * (perf_counter() - begun)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=40)
    given = parser.parse_args()
    print(machine("rq", "gunicorn", "sqlalchemy"))
    measure(given.submissions, os.cpu_count() or 1)


if __name__ == "__main__":
    main()
