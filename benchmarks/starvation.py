"""Measure plain requests of a quiet service, and reads while slow clients hold its connections or bodies jam it.

    .venv/bin/python benchmarks/starvation.py [--connections 500] [--seconds 20]

Starts a service of its own with the default configuration, and the nginx that is shipped in front of it. The slow
clients drip headers, bodies and chunks, or read their answers byte by byte, from many addresses of loopback; as many
connections poll an unfinished job with `Prefer: wait=60`. The bodies that jam are small and stand for much; twenty of
each kind come at once. Prints medians and ratios; asserts nothing.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import httpx
import psutil
import zstandard
from service_speed import SENTENCE, TINY, get, reads_per_second
from services import Service
from table import PROCESS, Goal, Measure, machine, report

from tests.fixtures.proxies import proxy
from tests.fixtures.slow_clients import MANNERS, SlowClients, waits

READ = "/v1/scorers"
SETTLING = 5.0
"""Seconds in which the slow clients' own requests, some 2,000 large answers, are made before reads are measured."""
LONG: dict[str, Any] = {
    "format": "conllu",
    "gold": SENTENCE * 20_000,
    "systems": [{"name": f"system-{number}", "output": SENTENCE * 20_000} for number in range(12)],
    "metrics": ["attachment"],
}


JSON_BODY = {"Content-Type": "application/json"}
PACKED = {**JSON_BODY, "Content-Encoding": "zstd"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
AT_ONCE = 20
LISTS = zstandard.ZstdCompressor().compress(b"[" + b"[]," * 21_000_000 + b"[]]")
"""5 kB that unpack to 63 MB of empty lists."""
JAMMING: dict[str, tuple[str, bytes, dict[str, str]]] = {
    "packed lists to /v1/join": ("/v1/join", LISTS, PACKED),
    "packed lists to /v1/jobs": ("/v1/jobs", LISTS, PACKED),
    "900,000 lists": ("/v1/jobs", b"[" + b"[]," * 900_000 + b"[]]", JSON_BODY),
    "60,000 unknown members": ("/v1/jobs", b"{%s}" % b",".join(b'"m%d":1' % at for at in range(60_000)), JSON_BODY),
    "10,000 wrong names": ("/v1/jobs", b'{"metrics":[%s]}' % b",".join([b'"parsevall"'] * 10_000), JSON_BODY),
    "4 million fields of a form": ("/sign-in", b"a=&" * 4_000_000, FORM),
}
"""What jams a service that counts too late: the path, the body, its headers."""


def timed(call: Any) -> tuple[float, bool]:
    """Return the milliseconds of a call, and whether it succeeded."""
    start = perf_counter()
    try:
        answered = call().is_success
    except httpx.HTTPError:
        answered = False
    return (perf_counter() - start) * 1000, answered


def fresh_read(port: int) -> tuple[float, bool]:
    """Read over a connection of its own."""
    start = perf_counter()
    answered = False
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(get(READ, "Connection: close"))
        answered = connection.makefile("rb").readline().startswith(b"HTTP/1.1 200")
    return (perf_counter() - start) * 1000, answered


def cpu_of_api() -> float:
    """Return the CPU seconds that the API processes have used."""
    used = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "gunicorn" in " ".join(process.cmdline()):
                used += sum(process.cpu_times()[:2])
    return used


def row(what: str, taken: list[tuple[float, bool]], quiet: float | None = None) -> float:
    """Print the median of answered calls, and how many failed; return the median."""
    good = sorted(time for time, answered in taken if answered)
    median = statistics.median(good) if good else float("nan")
    worst = good[int(len(good) * 0.99)] if good else float("nan")
    print(f"{what:34} median {median:8.2f} ms   p99 {worst:8.2f} ms   failed {len(taken) - len(good)}/{len(taken)}")
    if quiet is not None:
        figures = f"{median:.2f} and {quiet:.2f} ms; {len(taken) - len(good)} of {len(taken)} failed"
        report(Measure(f"{what}, median", PROCESS, "a quiet service", median / quiet, None, figures))
    return median


def plain(port: int, token: str, times: int) -> tuple[float, float]:
    """Measure a quiet service; return the medians of a read, with and without a kept connection."""
    base, headers = f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=base, headers=headers, timeout=60) as client:
        for _ in range(20):
            client.get(READ)
        kept = row("GET, kept connection", [timed(lambda: client.get(READ)) for _ in range(times)])
        row("POST a job, kept connection", [timed(lambda: client.post("/v1/jobs", json=TINY)) for _ in range(times)])
    fresh = row("GET, new connection", [fresh_read(port) for _ in range(times)])
    request = get(READ)
    used = cpu_of_api()
    rates = [reads_per_second(port, request, times * 8) for _ in range(3)]
    used = (cpu_of_api() - used) / (times * 24) * 1e6
    print(f"{'GET, 8 kept connections':34} {statistics.median(rates):8.0f} requests/s, {used:.0f} us CPU each")
    used = cpu_of_api()
    for _ in range(times * 2):
        fresh_read(port)
    print(f"{'GET, new connection':34} {(cpu_of_api() - used) / (times * 2) * 1e6:8.0f} us CPU each")
    return kept, fresh


def attacked(port: int, seconds: float, medians: tuple[float, float]) -> None:
    """Read at a steady pace, over a kept connection and over new ones."""
    base, kept, fresh = f"http://127.0.0.1:{port}", [], []
    end, pause = monotonic() + seconds, threading.Event()
    with httpx.Client(base_url=base, timeout=10) as client:
        while monotonic() < end:
            kept.append(timed(lambda: client.get(READ)))
            fresh.append(fresh_read(port))
            pause.wait(0.02)
    row("GET, kept connection, slow clients", kept, medians[0])
    row("GET, new connection, slow clients", fresh, medians[1])
    print("readyz:", httpx.get(f"{base}/readyz", timeout=10).text)


def jammed(port: int) -> None:
    """Ask whether the service lives, over new connections, while each kind of jamming body comes at once."""
    base, pause = f"http://127.0.0.1:{port}", threading.Event()
    for what, (path, body, headers) in JAMMING.items():
        lives: list[tuple[float, bool]] = []
        with ThreadPoolExecutor(AT_ONCE) as pool, httpx.Client(base_url=base, timeout=120) as client:
            sent = [pool.submit(client.post, path, content=body, headers=headers) for _ in range(AT_ONCE)]
            while not lives or not all(each.done() for each in sent):
                lives.append(timed(lambda: httpx.get(f"{base}/livez", timeout=60)))
                pause.wait(0.01)
            statuses = dict(Counter(each.result().status_code for each in sent))
        failed = sum(not answered for _, answered in lives)
        figures = f"{len(lives)} asked, {failed} failed; statuses {statuses}; largest process {largest_process()} MB"
        slowest = max(time for time, _ in lives)
        report(Measure(f"slowest /livez, {AT_ONCE} x {what}", PROCESS, "-", slowest, Goal(500), figures, "ms"))


def largest_process() -> int:
    """Return the most memory that a process of the service has had, in MB."""
    most = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess, OSError):
            status = Path(f"/proc/{process.pid}/status").read_text()
            most = max(most, int(status.partition("VmHWM:")[2].split()[0]) // 1000)
    return most


def work_survives(port: int, token: str) -> None:
    """Send jobs under the load and see that all finish."""
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {token}"}, timeout=60)
    with client, ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: client.post("/v1/jobs", json=TINY), range(40)))
        accepted = [answer.headers["Location"] for answer in made if answer.is_success]
        end = monotonic() + 120
        left = accepted
        while left and monotonic() < end:
            left = [at for at in left if client.get(at).json()["state"] != "succeeded"]
            threading.Event().wait(0.5)
        print(f"jobs sent {len(made)}, accepted {len(accepted)}, unfinished after all: {len(left)}")


def main() -> None:
    """Measure a service that is quiet, then one that is held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--reads", type=int, default=400)
    given = parser.parse_args()
    print(machine("gunicorn", "flask"))
    with tempfile.TemporaryDirectory(prefix="ts-starve-") as folder, ExitStack() as held:
        service = Service(Path(folder), TREESCORE_TRUSTED_PROXIES="1")
        service.start()
        held.callback(service.stop)
        token = service.token
        port = held.enter_context(proxy("nginx", Path(folder), [f"127.0.0.1:{service.port}"] * 2))
        print("quiet")
        medians = plain(port, token, given.reads)
        jammed(port)
        if not given.connections:
            return
        made = httpx.post(f"http://127.0.0.1:{port}/v1/jobs", json=LONG, timeout=60)
        slow = held.enter_context(SlowClients(port, given.connections, *MANNERS))
        waiting = held.enter_context(SlowClients(port, given.connections, waits(made.headers["Location"])))
        print(f"{given.connections} slow clients, {given.connections} long polls")
        threading.Event().wait(SETTLING)
        attacked(port, given.seconds, medians)
        work_survives(port, token)
        print("slow clients were answered", dict(slow.statuses), "long polls", dict(waiting.statuses))


if __name__ == "__main__":
    main()
