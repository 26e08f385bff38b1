"""The compose file's services, each on a host of its own: its commands and variables, without Docker.

Two API hosts behind nginx, three hosts of workers, one PostgreSQL, one Redis. The commands of our services are
`python -m service` with the arguments that docker-compose.yml gives; PostgreSQL, Redis and nginx are this machine's.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import psycopg
import redis

from hosts.network import Network, Unavailable, check_available
from service.commands import serve
from tests.deployment.container_files import ROOT, SECRETS, compose_services
from tests.fixtures.proxies import nginx_command
from tests.fixtures.servers import postgres_programs

APIS = ("api1", "api2")
WORKERS = ("work1", "work2", "work3")
PROXY, POSTGRES, REDIS, SWEEPER = "proxy", "postgres", "redis", "sweeper"
PORT = 8000
RESTARTED = ("api", "worker", "bulk-worker", "views", "sweeper")
STARTED = 600.0
"""Seconds in which everything must run after its start; the first start compiles the scoring kernels."""
PATIENCE = 120.0
"""Seconds after which something that must happen is given up."""
FAKE_TIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
UNPRIVILEGED = 65_534
"""User and group of PostgreSQL, which refuses to run as root."""


def check_programs() -> None:
    """Check that this machine has all that the hosts run.

    Raises:
        Unavailable: says what is missing.
    """
    check_available()
    if postgres_programs() is None:
        raise Unavailable("No PostgreSQL server was found. Install Debian's package postgresql.")
    if shutil.which("nginx") is None:
        raise Unavailable("nginx was not found. Install Debian's package nginx-light.")


def until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Wait until a condition gives something and return it.

    Raises:
        TimeoutError: it never does.
    """
    end = monotonic() + seconds
    pause = threading.Event()
    while monotonic() < end:
        found = condition()
        if found:
            return found
        pause.wait(0.05)
    raise TimeoutError(f"{what}: not within {seconds:.0f} s")


class Topology:
    """The running hosts.

    Attributes:
        folder: data and logs, a folder for each host.
        restarts: of the service's processes that ended by themselves.
        url: the proxy's address.
        token: the organise token.
    """

    def __init__(self, network: Network, folder: Path, workers: int, **variables: str) -> None:
        self.network = network
        self.folder = folder
        self.workers = workers
        self.url = f"http://{network[PROXY].address}:{PORT}"
        self.token = SECRETS["TREESCORE_ADMIN_TOKEN"]
        self.compose = compose_services()
        self.variables = variables
        self.restarts = 0
        self.skewed: dict[str, int] = {}
        """Seconds by which the clock of a host is ahead."""
        self._running: dict[tuple[str, str], subprocess.Popen[bytes]] = {}
        self._guard = threading.Lock()
        self._ended = threading.Event()

    def start(self) -> None:
        """Start everything in the compose file's order, and wait until it works."""
        self.start_postgres()
        self.start_redis()
        migrated = self.run("api1", "migrate").wait()
        if migrated:
            raise RuntimeError(self.log("api1").read_text()[-2000:])
        for host in APIS:
            self.run(host, "api")
        for host, service in self.placed():
            self.run(host, service)
        self.run(SWEEPER, "sweeper")
        self.run(SWEEPER, "views")
        self.start_proxy()
        until(self.ready, "the service", STARTED)

    def placed(self) -> list[tuple[str, str]]:
        """Return host and service of each worker: live ones spread over the hosts, one for bulk work on the last."""
        live = [(WORKERS[number % len(WORKERS)], f"worker {number}") for number in range(self.workers)]
        return [*live, (WORKERS[-1], "bulk-worker")]

    def ready(self) -> bool:
        """Return whether the proxy reaches an API that can work, and all workers take work."""
        try:
            answer = httpx.get(f"{self.url}/readyz", timeout=5)
            known = self.registered()
        except (httpx.TransportError, redis.RedisError):
            return False
        alive = {process.pid for process in self._running.values() if process.poll() is None}
        return answer.is_success and len(known & alive) >= len(self.placed())

    def answers(self, host: str) -> bool:
        """Return whether the API of a host can work."""
        try:
            return httpx.get(f"http://{self.network[host].address}:{PORT}/readyz", timeout=2).is_success
        except httpx.TransportError:
            return False

    def registered(self) -> set[int]:
        """Return the process ids of the workers that Redis knows; they are those of this machine."""
        with self.queue() as connection:
            return {int(connection.hget(worker, "pid") or 0) for worker in connection.smembers("rq:workers")}

    def run(self, host: str, service: str) -> subprocess.Popen[bytes]:
        """Start a service of the compose file on a host; a number behind its name tells several apart."""
        name = service.split(maxsplit=1)[0]
        words = self.compose["api-1" if name == "api" else name]
        process = self.network[host].start(
            [sys.executable, "-m", "service", *words["command"]],
            self._environment(host, words["environment"]),
            self.log(host),
            cwd=ROOT,
        )
        if words["restart"] != "no":
            self._running[host, service] = process
        return process

    def stop(self, host: str, service: str, sent: int = signal.SIGTERM) -> int:
        """Stop a service by a signal; return its exit status."""
        with self._guard:
            process = self._running.pop((host, service))
        process.send_signal(sent)
        return process.wait(PATIENCE)

    def keep_running(self) -> None:
        """Start our processes again when they end, as `restart: unless-stopped` does, until `ended` is set."""
        while not self._ended.wait(0.5):
            with self._guard:
                for (host, service), process in list(self._running.items()):
                    if service.split()[0] in RESTARTED and process.poll() is not None:
                        self.restarts += 1
                        self.run(host, service)

    def end(self) -> None:
        """Start nothing again from now on."""
        self._ended.set()

    def log(self, host: str) -> Path:
        """Return the log of a host."""
        return self.folder / f"{host}.log"

    def _environment(self, host: str, composed: Mapping[str, Any]) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TREESCORE_")}
        given = {name: str(value) for name, value in composed.items() if value not in ("", None)}
        here = {"TREESCORE_DATA_DIR": str(self.folder / host), **self.variables}
        if "TREESCORE_ADMIN_TOKEN" in given:
            here |= {"TREESCORE_PUBLIC_URL": self.url, "TREESCORE_BIND": f"0.0.0.0:{PORT}"}
        if host in self.skewed:
            here |= {"LD_PRELOAD": str(FAKE_TIME), "FAKETIME": f"{self.skewed[host]:+d}s", "DONT_FAKE_MONOTONIC": "1",
                     "FAKETIME_DONT_FAKE_MONOTONIC": "1"}  # fmt: skip
        return {**clean, **given, **here}

    def start_redis(self, *, empty: bool = False) -> None:
        """Start Redis as the compose file does, with its data of before or empty."""
        folder = self.folder / REDIS
        if empty:
            shutil.rmtree(folder)
        folder.mkdir(exist_ok=True)
        password = ["--requirepass", SECRETS["REDIS_PASSWORD"]]
        listens = ["--bind", "0.0.0.0", "--port", "6379"]  # noqa: S104 - its own network
        kept: list[str | Path] = ["--dir", folder, "--appendonly", "yes", "--save", ""]
        command = [serve.find_redis(), *password, *listens, *kept]
        self._running[REDIS, REDIS] = self.network[REDIS].start(command, os.environ, self.log(REDIS))
        until(self._redis_answers, "Redis")

    def queue(self) -> redis.Redis:
        """Return a connection to Redis."""
        return redis.Redis(self.network[REDIS].address, 6379, password=SECRETS["REDIS_PASSWORD"], socket_timeout=5)

    def _redis_answers(self) -> bool:
        try:
            with self.queue() as connection:
                return bool(connection.ping())
        except redis.RedisError:
            return False

    def start_postgres(self) -> None:
        """Start PostgreSQL, whose data are made at the first start."""
        programs = postgres_programs()
        assert programs is not None  # noqa: S101 - checked before
        data = self.folder / POSTGRES
        drop = ["setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups"]
        host = self.network[POSTGRES]
        if not data.exists():
            data.mkdir()
            os.chown(data, UNPRIVILEGED, UNPRIVILEGED)
            secret = self.folder / "password"
            secret.write_text(SECRETS["POSTGRES_PASSWORD"])
            secret.chmod(0o644)
            made: list[str | Path] = [
                *drop,
                programs / "initdb",
                "-D",
                data,
                "-U",
                "treescore",
                "-A",
                "scram-sha-256",
                f"--pwfile={secret}",
            ]
            subprocess.run(host.command(made), check=True, capture_output=True, cwd=self.folder)
            with (data / "pg_hba.conf").open("a") as rules:
                rules.write("host all all all scram-sha-256\n")
        command: list[str | Path] = [*drop, programs / "postgres", "-D", data, "-h", "*", "-k", data]
        self._running[POSTGRES, POSTGRES] = host.start(command, os.environ, self.log(POSTGRES), cwd=self.folder)
        until(self._postgres_answers, "PostgreSQL")

    def database(self) -> psycopg.Connection[Any]:
        """Connect to the database `treescore`, which is made if there is none."""
        where: dict[str, Any] = {"host": self.network[POSTGRES].address, "user": "treescore", "connect_timeout": 3}
        where["password"] = SECRETS["POSTGRES_PASSWORD"]
        with psycopg.connect(dbname="postgres", autocommit=True, **where) as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'treescore'").fetchone():
                connection.execute("CREATE DATABASE treescore")
        return psycopg.connect(dbname="treescore", autocommit=True, **where)

    def _postgres_answers(self) -> bool:
        try:
            self.database().close()
        except psycopg.OperationalError:
            return False
        return True

    def start_proxy(self) -> None:
        """Start nginx with the configuration of the documentation."""
        folder = self.folder / PROXY
        folder.mkdir(exist_ok=True)
        command = nginx_command(folder, PORT, [f"{host}:{PORT}" for host in APIS])
        self._running[PROXY, PROXY] = self.network[PROXY].start(command, os.environ, self.log(PROXY))

    def client(self, **options: Any) -> httpx.Client:
        """Return an organiser's client."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=90, **options)


@contextmanager
def topology(folder: Path, workers: int = 3, **variables: str) -> Iterator[Topology]:
    """Run everything in a folder; end it at the end."""
    check_programs()
    names: Sequence[str] = (POSTGRES, REDIS, *APIS, *WORKERS, SWEEPER, PROXY)
    with ExitStack() as stack:
        network = stack.enter_context(Network(names).up())
        made = Topology(network, folder, workers, **variables)
        made.start()
        keeper = threading.Thread(target=made.keep_running)
        keeper.start()
        try:
            yield made
        finally:
            made.end()
            keeper.join()
