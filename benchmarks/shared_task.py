"""Measure a large shared task on one machine: speed of its board and lists, and disk space of a submission.

    .venv/bin/python benchmarks/shared_task.py [--teams 1000] [--each 10] [--sentences 2000] [--parts 1] [--reads 500]

Starts a service of its own on a temporary folder and makes a benchmark of generated dependency trees. One submission
goes the whole way over HTTP; the others are written through the store's own modules with generated counts, because
scoring ten thousand files is not what is measured here. Prints medians and 99th percentiles; asserts nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import httpx
import numpy as np
import orjson
import psutil
from service_speed import server_microseconds
from services import Service
from sqlalchemy import func, select
from table import PROCESS, Goal, Measure, machine, report

from service.caller import new_id
from service.config import load_config
from service.store import benchmarks, runs, score_records, submissions, tables
from service.store.benchmarks import Team
from service.store.database import Store
from service.store.packing import pack_array
from service.store.score_records import ScoreRecord, ShareResult, artifact_name
from service.store.submissions import Submission
from service.usecases.scoring.config import ScoringConfig, scoring_config
from treescore.core.arrays import Counts, FloatArray, IntArray
from treescore.core.scores import ScoreTable
from treescore.evaluation.benchmark import PartScores, macro_mean

SLUG = "large"
LIVE = "live"
RELATIONS = ("nsubj", "obj", "obl", "nmod", "amod", "det", "case", "advmod", "conj", "cc", "punct")
CONNECTIONS = 8
TRACK = "half"
COLD_READS = 11


@contextmanager
def service(folder: Path) -> Iterator[tuple[httpx.Client, int]]:
    """Run the service with its defaults; yield an organiser's client and the supervisor's process."""
    server = Service(folder)
    server.start()
    try:
        with server.client() as client:
            yield client, server.family()[0].pid
    finally:
        server.stop()


def trees(rng: np.random.Generator, sentences: int) -> list[list[list[str]]]:
    """Make random dependency trees in CoNLL-U's columns, words by Zipf's law, about 18 words a sentence."""
    found = []
    for _ in range(sentences):
        size = int(rng.poisson(16)) + 2
        ranks = np.minimum(rng.zipf(1.3, size), 20_000)
        heads = [0] + [int(rng.integers(max(1, word - 4), word)) for word in range(2, size + 1)]
        relations = rng.choice(RELATIONS, size)
        found.append(
            [
                [str(word + 1), f"w{ranks[word]}", f"l{ranks[word]}", "NOUN", "NN", "_", str(heads[word]),
                 "root" if heads[word] == 0 else str(relations[word]), "_", "_"]
                for word in range(size)
            ]
        )  # fmt: skip
    return found


def parsed(rng: np.random.Generator, gold: list[list[list[str]]], wrong: float) -> list[list[list[str]]]:
    """Return gold with a share of the relations changed."""
    return [
        [
            [*row[:7], str(rng.choice(RELATIONS)), *row[8:]] if row[6] != "0" and rng.random() < wrong else row
            for row in sentence
        ]
        for sentence in gold
    ]


def written(sentences: list[list[list[str]]]) -> str:
    """Return the text in CoNLL-U."""
    return "".join("".join("\t".join(row) + "\n" for row in sentence) + "\n" for sentence in sentences)


def finished(client: httpx.Client, path: str) -> dict[str, Any]:
    """Wait for a document to become final and return it."""
    while True:
        document: dict[str, Any] = client.get(path, headers={"Prefer": "wait=30"}).json()
        if document["state"] not in ("queued", "running", "checking"):
            return document


def create(client: httpx.Client, metric: str, gold: dict[str, str]) -> None:
    """Create the benchmark of these parts, the first half of them a track, and wait until its gold is checked."""
    meta = {"id": SLUG, "title": "A large shared task", "format": "conllu", "metrics": [metric],
            "quota": {"scored_per_day": None, "scored_total": None, "attempts_per_day": None},
            "parts": {name: {"gold": text} for name, text in gold.items()},
            "tracks": {TRACK: list(gold)[: (len(gold) + 1) // 2]}}  # fmt: skip
    client.post("/v1/benchmarks", json=meta, headers={"Prefer": "wait=30"}).raise_for_status()
    document = finished(client, f"/v1/benchmarks/{SLUG}")
    if document["state"] != "active":
        sys.exit(str(document["failure"]))


def submit(client: httpx.Client, team: str, outputs: dict[str, str]) -> tuple[str, float]:
    """Send one submission; return its id, and the seconds from the POST to its scores."""
    began = perf_counter()
    path = f"/v1/benchmarks/{SLUG}/submissions"
    answer = client.post(path, json={"name": "whole-way", "team": team, "outputs": outputs})
    answer.raise_for_status()
    document = finished(client, f"/v1/submissions/{answer.json()['id']}")
    if document["state"] != "succeeded":
        sys.exit(str(document["failure"]))
    return document["id"], perf_counter() - began


def board_settled(client: httpx.Client, slug: str = SLUG) -> float:
    """Return the seconds until the differences on the board are tested."""
    began = perf_counter()
    pause = threading.Event()
    while client.get(f"/v1/benchmarks/{slug}/leaderboard").json()["significance"]["pending"]:
        pause.wait(0.1)
    return perf_counter() - began


class Filler:
    """Writes copies of a scored submission, with counts drawn at other levels of quality.

    Args:
        store: of the service.
        pattern: the submission that is copied.
        slug: of its benchmark.
        parts: of the benchmark.
    """

    def __init__(self, store: Store, pattern: str, slug: str = SLUG, parts: int = 1) -> None:
        self.store = store
        with store.read() as db:
            found, record = submissions.get(db, pattern), score_records.get(db, pattern, 1, None)
            scoring = db.scalar(select(tables.revisions.c.scoring).where(tables.revisions.c.benchmark_id == slug))
            counts = score_records.counts(db, pattern, 1, list(range(parts)), 0)
        if found is None or record is None:
            sys.exit("there is nothing to go by")
        known = [part for part in counts if part is not None]
        if len(known) < parts:
            sys.exit("a part has no counts")
        self.slug, self.pattern, self.document = slug, found, record.document
        self.counts: IntArray = np.concatenate(known).astype(np.int64)
        self.offsets = np.cumsum([len(part) for part in known])[:-1]
        self.scoring: ScoringConfig = scoring_config(orjson.loads(str(scoring)))
        self.table: ScoreTable = self.scoring.spec.entries[0].metric.table
        self.began = datetime.now(UTC) - timedelta(days=30)
        self.saving: list[float] = []
        """Milliseconds of CPU in which each record was saved."""

    def team(self, number: int, each: int, rng: np.random.Generator) -> None:
        """Write one team with its submissions, in one transaction."""
        team = f"team-{number:04d}"
        quality = rng.uniform(0.5, 0.95)
        rows = [self._row(rng, min(0.99, max(0.01, quality + rng.normal(0, 0.01)))) for _ in range(each)]
        with self.store.write(durable=False) as db:
            benchmarks.add_team(db, Team(self.slug, team, f"Team {number}", None, self.began, None))
            for at, (result, made) in enumerate(rows):
                moment = self.began + timedelta(seconds=number * 60 + at)
                submission = new_id("sub", moment)
                runs.add(db, submission, "submission", LIVE, moment, f"team:{self.slug}/{team}")
                runs.finish(db, submission, runs.SUCCEEDED, moment)
                submissions.add(db, self._submission(submission, team, at, moment))
                before = process_time()
                score_records.save(db, self.record(submission, result, moment), made)
                self.saving.append(1000 * (process_time() - before))

    def record(self, submission: str, result: ShareResult, moment: datetime) -> ScoreRecord:
        """Return the record of a submission of which every sentence is scored."""
        covered = [len(part) for part in np.split(self.counts, self.offsets)]
        return ScoreRecord(submission, 1, covered, moment, {None: result})

    def _submission(self, submission: str, team: str, at: int, moment: datetime) -> Submission:
        return replace(
            self.pattern, id=submission, run_id=submission, team_id=team, name=f"run-{at}", created_at=moment,
            finished_at=moment, utc_day=moment.date().isoformat(), outputs_digest=f"sha256:{submission}",
        )  # fmt: skip

    def _row(self, rng: np.random.Generator, quality: float) -> tuple[ShareResult, dict[str, bytes]]:
        counts = drawn(rng, self.counts, self.table.count_names, quality)
        parts = np.split(counts, self.offsets)
        made = {artifact_name(1, "counts", at, 0): pack_array(part) for at, part in enumerate(parts)}
        return ShareResult(self.document, self._figures(np.stack([part.sum(axis=0) for part in parts]))), made

    def _figures(self, totals: Counts) -> PartScores:
        """Return the figures of the sums of each part, with intervals of one width."""
        scores, pooled = self._scores(totals), self._scores(totals.sum(axis=0)[None])
        macro = macro_mean(self.table, scores)
        bounds = [np.stack([each - 0.004, each + 0.004]) for each in (pooled[0], macro)]
        return PartScores(scores, pooled[0], macro, *bounds)

    def _scores(self, totals: Counts) -> FloatArray:
        return np.stack([score.of(self.table.count_names, totals) for score in self.table.scores], axis=-1)


def drawn(rng: np.random.Generator, counts: IntArray, names: tuple[str, ...], quality: float) -> IntArray:
    """Draw the right counts again, with a word more in some sentences, as from a tokenizer of its own."""
    found = counts.copy()
    more = (rng.random(len(counts)) < 0.05).astype(np.int64)
    for at, name in enumerate(names):
        row, _, kind = name.rpartition(".")
        bound = f"{row}.gold" if row else "tokens"
        if kind == "system":
            found[:, at] += more
        if (kind == "correct" or name.startswith("correct_")) and bound in names:
            found[:, at] = rng.binomial(counts[:, names.index(bound)], quality)
    return found


def timed(ask: Callable[[], httpx.Response], times: int) -> list[float]:
    """Return the milliseconds of each call."""
    found = []
    for _ in range(times):
        began = perf_counter()
        ask().read()
        found.append(1000 * (perf_counter() - began))
    return found


def show(name: str, found: list[float]) -> None:
    """Report median and 99th percentile."""
    figures = f"99th percentile {np.percentile(found, 99):.2f} ms, {len(found)} reads"
    report(Measure(name, PROCESS, "-", float(np.percentile(found, 50)), None, figures, "ms"))


def walk(client: httpx.Client, path: str) -> tuple[int, list[float]]:
    """Read all pages of a list; return the number of items, and the milliseconds of each page."""
    items, took = 0, []
    cursor = ""
    while True:
        began = perf_counter()
        page = client.get(f"{path}?limit=100{cursor}").json()
        took.append(1000 * (perf_counter() - began))
        items += len(page["items"])
        if page["next"] is None:
            return items, took
        cursor = f"&cursor={page['next']}"


def resident(pid: int, word: str) -> float:
    """Return the MB of the largest of the service's processes whose command line has a word."""
    family = psutil.Process(pid).children(recursive=True)
    return max((each.memory_info().rss / 1e6 for each in family if word in " ".join(each.cmdline())), default=0.0)


def disk(folder: Path) -> float:
    """Return the MB of the store, with its log."""
    return sum(path.stat().st_size for path in folder.glob("treescore.db*")) / 1e6


def stored_bytes(store: Store, submission: str) -> dict[str, int]:
    """Return the bytes of one scored submission in the store, by kind."""
    kinds: dict[str, int] = {}
    with store.read() as db:
        c = tables.artifacts.c
        for name, size in db.execute(select(c.name, func.length(c.body)).where(c.owner == submission)):
            kind = name.split("/")[1]
            kinds[kind] = kinds.get(kind, 0) + size
        for kind, column in (("score document", tables.results.c.document), ("scores", tables.results.c.parts)):
            size = select(func.sum(func.length(column))).where(column.table.c.submission_id == submission)
            kinds[kind] = int(db.scalar(size) or 0)
        t, o = tables.texts.c, tables.owned_texts.c
        owned = select(o.digest).where(o.owner == submission)
        kinds["output"] = int(db.scalar(select(func.sum(func.length(t.body))).where(t.digest.in_(owned))) or 0)
    return kinds


def costs(kinds: dict[str, int]) -> None:
    """Print the disk space of one scored submission, by kind."""
    sizes = ", ".join(f"{kind} {size / 1000:.0f} kB" for kind, size in sorted(kinds.items(), key=lambda each: -each[1]))
    print(f"a scored submission on disk (packed)  {sum(kinds.values()) / 1000:.0f} kB: {sizes}")


def measure_first(client: httpx.Client, store: Store, pid: int, part: str) -> None:
    """Measure the CPU of the API's processes for boards that are not kept: each is read after a change."""
    questions = {
        "leaderboard": "leaderboard", "pooled": "leaderboard?part=pooled", "one part": f"leaderboard?part={part}",
        "a track": f"leaderboard?part={TRACK}", "matrix": "matrix",
    }  # fmt: skip
    for name, question in questions.items():
        took = []
        for _ in range(COLD_READS):
            with store.write() as db:
                benchmarks.touch_board(db, SLUG)
            before = server_microseconds(pid)
            client.get(f"/v1/benchmarks/{SLUG}/{question}").raise_for_status()
            took.append((server_microseconds(pid) - before) / 1000)
        figures = f"largest {max(took):.0f} ms, {len(took)} reads"
        report(Measure(f"{name}, first after a change", PROCESS, "-", median(took), Goal(50), figures, "ms of CPU"))


def measure(client: httpx.Client, reads: int) -> None:
    """Measure the board and the lists."""
    path = f"/v1/benchmarks/{SLUG}/leaderboard"
    began = perf_counter()
    board = client.get(path)
    print(f"board: {len(board.json()['rows'])} rows, {len(board.content) / 1e6:.2f} MB, first GET after a change "
          f"{1000 * (perf_counter() - began):.0f} ms")  # fmt: skip
    timed(lambda: client.get(path), 20)
    rows = f"leaderboard of {len(board.json()['rows'])} rows"
    show(f"{rows}, warm", timed(lambda: client.get(path), reads))
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        spans = pool.map(lambda _: timed(lambda: client.get(path), reads // CONNECTIONS), range(CONNECTIONS))
        show(f"{rows}, warm, {CONNECTIONS} connections at once", [each for span in spans for each in span])
    etag = {"If-None-Match": board.headers["ETag"]}
    if client.get(path, headers=etag).status_code != 304:
        print("the board changed during the reads")
    show(f"{rows}, 304", timed(lambda: client.get(path, headers=etag), reads))
    show(f"{rows} as CSV, warm", timed(lambda: client.get(f"{path}?format=csv"), reads // 5))
    for name in ("submissions", "teams"):
        items, took = walk(client, f"/v1/benchmarks/{SLUG}/{name}")
        show(f"a page of 100 of {items:,} {name}", took)
    newest = client.get(f"/v1/benchmarks/{SLUG}/submissions?limit=1").json()["items"][0]["id"]
    show("one submission", timed(lambda: client.get(f"/v1/submissions/{newest}"), reads // 5))


def main() -> None:
    """Make a benchmark, fill it and measure it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teams", type=int, default=1000)
    parser.add_argument("--each", type=int, default=10, help="submissions of each team")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--parts", type=int, default=1, help="that share the sentences")
    parser.add_argument("--metric", default="ud")
    parser.add_argument("--reads", type=int, default=500)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    print(machine("sqlalchemy", "numpy"))
    print(f"{options.teams} teams x {options.each} submissions of {options.sentences} sentences "
          f"in {options.parts} parts, {options.metric}")  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="treescore-") as name, service(Path(name)) as (client, pid):
        gold = trees(rng, options.sentences)
        names = [f"part_{number:02d}" for number in range(options.parts)]

        def texts(sentences: list[list[list[str]]]) -> dict[str, str]:
            return {name: written(sentences[at :: options.parts]) for at, name in enumerate(names)}

        create(client, options.metric, texts(gold))
        client.post(f"/v1/benchmarks/{SLUG}/teams", json={"id": "first", "name": "First"}).raise_for_status()
        outputs = texts(parsed(rng, gold, 0.1))
        pattern, seconds = submit(client, "first", outputs)
        print(f"from POST to scores: {seconds:.2f} s for {sum(map(len, outputs.values())) / 1e6:.2f} MB")
        store = Store(load_config({"TREESCORE_DATA_DIR": f"{name}/data"}).database_url)
        costs(stored_bytes(store, pattern))
        data = Path(name) / "data"
        before, began = disk(data), perf_counter()
        empty = resident(pid, "gunicorn")
        filler = Filler(store, pattern, SLUG, options.parts)
        for number in range(options.teams):
            filler.team(number, options.each, rng)
        with store.write() as db:
            benchmarks.touch_board(db, SLUG)
        total = options.teams * options.each
        print(f"filled {total} submissions in {perf_counter() - began:.0f} s; counts and scores take "
              f"{1000 * (disk(data) - before) / total:.1f} kB each in the store")  # fmt: skip
        report(Measure("saving a record", PROCESS, "-", median(filler.saving), None, f"{total} records", "ms of CPU"))
        submit(client, "first", texts(parsed(rng, gold, 0.02)))
        print(
            f"after one more submission the differences on the board were tested within {board_settled(client):.1f} s"
        )
        measure_first(client, store, pid, names[-1])
        measure(client, options.reads)
        print(f"largest API process: {empty:.0f} MB before filling, {resident(pid, 'gunicorn'):.0f} MB afterwards; "
              f"largest worker {resident(pid, 'workers.worker'):.0f} MB")  # fmt: skip


if __name__ == "__main__":
    main()
