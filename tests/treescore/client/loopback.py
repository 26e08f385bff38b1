"""What tests of the client share: clients without pauses, and a server that sends scripted bytes."""

from __future__ import annotations

import asyncio
import socket
from contextlib import contextmanager, suppress
from threading import Event, Thread

from treescore import AsyncClient
from treescore.client import Backoff
from treescore.client.session import Session

FAST = Backoff(tries=4, first=0.001, most=0.002, jitter=lambda: 0.0)
CLOSE, RESET = object(), object()
"""Ends of a connection."""


def awaited(url, call, **options):
    """What an asynchronous call of a client of this server gives."""

    async def run():
        async with AsyncClient(url, backoff=FAST, **options) as client:
            return await call(client)

    return asyncio.run(run())


def noted_pauses(monkeypatch):
    """The pauses that a client that blocks makes from now on, which take no time."""
    pauses = []

    async def pause(_, seconds):
        pauses.append(seconds)

    monkeypatch.setattr(Session, "pause", pause)
    return pauses


def head(status=200, body=b"", **headers):
    """An answer in bytes; `headers` with underscores."""
    given = {"Content_Type": "application/json", "Content_Length": str(len(body)), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in given.items() if value is not None)
    return f"HTTP/1.1 {status} Word\r\n{lines}\r\n".encode() + body


@contextmanager
def raw_server(*scripts):
    """Serve one script for each connection, the last one repeated: bytes to send, and how to end.

    Yields the address and the list of what each connection sent. A script that begins with a number reads only so many
    bytes of the request; else the head and the body of the length it names.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    received = []

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            script = list(scripts[min(len(received), len(scripts) - 1)])
            with connection:
                connection.settimeout(10)
                most = script.pop(0) if script and isinstance(script[0], int) else None
                received.append(_request(connection, most))
                for step in script:
                    if step is RESET:
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    elif step is not CLOSE:
                        with suppress(OSError):
                            connection.sendall(step)

    thread = Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", received
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@contextmanager
def held_server(answer):
    """Serve one connection: send this, and hold it. Yields the address, and the event that the client has left."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(10)
    closed = Event()

    def serve():
        connection, _ = listener.accept()
        with connection:
            _request(connection, None)
            connection.sendall(answer)
            with suppress(OSError):
                connection.recv(1)
            closed.set()

    thread = Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", closed
    finally:
        thread.join(10)
        listener.close()


def _request(connection, most):
    data = b""
    with suppress(OSError):
        while (most is None or len(data) < most) and not _is_whole(data):
            piece = connection.recv(65536)
            if not piece:
                break
            data += piece
    return data


def _is_whole(data):
    headers, end, body = data.partition(b"\r\n\r\n")
    if not end:
        return False
    for line in headers.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.partition(b":")[2])
    return True
