"""Network namespaces joined by a bridge: each is a host with an address and names for the others.

Needs root and Linux's `ip` (package iproute2). Nothing outside the namespaces is changed, but for one interface by
which this process reaches the hosts, and the folders `/etc/netns/…` that hold the hosts' names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

NETWORK = "10.213.77"
"""The first three numbers of all addresses; .1 is this process."""
NAMES = Path("/etc/netns")


class Unavailable(RuntimeError):
    """This machine cannot make network namespaces; the message says what is missing."""


def check_available() -> None:
    """Check that namespaces can be made.

    Raises:
        Unavailable: says what is missing.
    """
    if shutil.which("ip") is None:
        raise Unavailable("The program `ip` was not found. Install Debian's package iproute2.")
    if os.geteuid():
        raise Unavailable("Network namespaces need root here. Run as root.")
    probe = f"ts-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
    if made.returncode:
        raise Unavailable(f"Network namespaces cannot be made here: {made.stderr.strip()}")
    _ip("netns", "delete", probe)


class Host:
    """One namespace.

    Attributes:
        name: as the other hosts know it.
        address: its IPv4 address.
    """

    def __init__(self, network: Network, name: str, number: int) -> None:
        self.name = name
        self.address = f"{NETWORK}.{number}"
        self._space = network.space(name)
        self._lan = network.lan
        self._port = f"p{number}"
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(
        self, command: Sequence[str | Path], environment: Mapping[str, str], log: Path, **options: Any
    ) -> subprocess.Popen[bytes]:
        """Start a program on this host; its output goes to the end of a file."""
        with log.open("ab") as output:
            process = subprocess.Popen(
                self.command(command), env=dict(environment), stdout=output, stderr=output, **options
            )
        self.processes.append(process)
        return process

    def command(self, command: Sequence[str | Path]) -> list[str]:
        """Return the command line that runs a program on this host; it ends with this process."""
        return ["ip", "netns", "exec", self._space, "setpriv", "--pdeathsig", "KILL", *map(str, command)]

    def cut(self) -> None:
        """Let no packet in or out from now on; neither side learns of it, as when a cable is pulled."""
        _ip("-n", self._lan, "link", "set", self._port, "down")

    def join(self) -> None:
        """Connect the host again."""
        _ip("-n", self._lan, "link", "set", self._port, "up")

    def received(self) -> int:
        """Return the bytes that have come to this host from others."""
        return self._bytes("rx")

    def sent(self) -> int:
        """Return the bytes that this host has sent to others."""
        return self._bytes("tx")

    def _bytes(self, way: str) -> int:
        shown = subprocess.run(
            ["ip", "netns", "exec", self._space, "cat", f"/sys/class/net/eth0/statistics/{way}_bytes"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return int(shown.stdout)


class Network:
    """Hosts by name, on one bridge."""

    def __init__(self, names: Sequence[str]) -> None:
        self._prefix = f"ts{os.getpid()}"
        self.lan = self.space("lan")
        self.hosts = {name: Host(self, name, number) for number, name in enumerate(names, start=11)}

    def space(self, name: str) -> str:
        """Return the namespace of a host."""
        return f"{self._prefix}-{name}"

    def __getitem__(self, name: str) -> Host:
        return self.hosts[name]

    @contextmanager
    def up(self) -> Iterator[Network]:
        """Make the namespaces; end their processes and delete them at the end."""
        with ExitStack() as undo:
            _ip("netns", "add", self.lan)
            undo.callback(_ip, "netns", "delete", self.lan)
            _ip("-n", self.lan, "link", "add", "bridge", "type", "bridge")
            _ip("-n", self.lan, "link", "set", "bridge", "up")
            here = f"{self._prefix}h"
            _ip("link", "add", here, "type", "veth", "peer", "name", "here", "netns", self.lan)
            _ip("-n", self.lan, "link", "set", "here", "master", "bridge", "up")
            _ip("address", "add", f"{NETWORK}.1/24", "dev", here)
            _ip("link", "set", here, "up")
            for host in self.hosts.values():
                self._add(host, undo)
            yield self

    def _add(self, host: Host, undo: ExitStack) -> None:
        space = self.space(host.name)
        port = host._port  # noqa: SLF001 - the two classes are one thing
        _ip("netns", "add", space)
        undo.callback(_ip, "netns", "delete", space)
        names = NAMES / space
        names.mkdir(parents=True)
        undo.callback(shutil.rmtree, names, ignore_errors=True)
        known = [("127.0.0.1", "localhost"), *((each.address, each.name) for each in self.hosts.values())]
        (names / "hosts").write_text("".join(f"{address} {name}\n" for address, name in known))
        _ip("link", "add", "eth0", "netns", space, "type", "veth", "peer", "name", port, "netns", self.lan)
        _ip("-n", self.lan, "link", "set", port, "master", "bridge", "up")
        _ip("-n", space, "address", "add", f"{host.address}/24", "dev", "eth0")
        _ip("-n", space, "link", "set", "eth0", "up")
        _ip("-n", space, "link", "set", "lo", "up")
        undo.callback(_end, host)


def _end(host: Host) -> None:
    for process in host.processes:
        process.kill()
    for process in host.processes:
        process.wait()
    found = subprocess.run(["ip", "netns", "pids", host._space], capture_output=True, text=True, check=False)  # noqa: SLF001
    for pid in map(int, found.stdout.split()):
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            continue


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
