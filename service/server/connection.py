"""One connection of a client, and how long it may take."""

from __future__ import annotations

import socket
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

from service.caller import network_of
from service.server.answer import Answer
from service.server.arrival import Arrival

RATE = 1_000.0
"""Bytes that give a body, or an answer, one more second."""


class Stage(Enum):
    """What a connection is doing."""

    HEAD = auto()
    BODY = auto()
    WORK = auto()
    ANSWER = auto()
    IDLE = auto()
    CLOSING = auto()


class Connection:
    """A connection; gunicorn's own functions use `sock`, `timeout` and `close`.

    Attributes:
        stage: what it is doing.
        since: when this stage began, in seconds of the monotonic clock.
        due: when it ends at the latest.
        timeout: when it ends at the latest while it is idle.
        watched: events of the socket that the loop watches for; 0 for none.
        react: takes them.
        answered: requests so far.
        keep: whether it stays open after the answer.
        discarded: bytes read and dropped while it closes.
        lane: the threads that have the request.
    """

    __slots__ = (
        "answer",
        "answered",
        "arrival",
        "client",
        "discarded",
        "due",
        "keep",
        "lane",
        "react",
        "server",
        "since",
        "sock",
        "stage",
        "timeout",
        "watched",
    )

    def __init__(self, sock: socket.socket, client: Any, server: Any) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.client = client
        self.server = server
        self.stage = Stage.IDLE
        self.since = self.due = self.timeout = 0.0
        self.watched = 0
        self.keep = False
        self.answered = self.discarded = 0
        self.arrival: Arrival | None = None
        self.answer = Answer()
        self.lane: Any = None
        self.react: Callable[[Connection], None]

    def take_event(self, _sock: socket.socket) -> None:
        """Take an event of the loop, unless one before it has ended the connection."""
        if self.watched:
            self.react(self)

    def enter(self, stage: Stage, now: float, seconds: float) -> None:
        """Begin a stage that may take so many seconds."""
        self.stage, self.since, self.due = stage, now, now + seconds

    def extend(self, moved: int, now: float, seconds: float) -> None:
        """Give more time for bytes that moved: `RATE`, and never more than `seconds` ahead."""
        self.due = min(self.due + moved / RATE, now + seconds)

    @property
    def address(self) -> str:
        """The address for limits by address; empty for a socket of the file system."""
        return network_of(str(self.client[0])) if isinstance(self.client, tuple) else ""

    def has_more(self) -> bool:
        """Return whether the client has sent something that is not read yet."""
        try:
            return bool(self.sock.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def close(self) -> None:
        """Close the socket and drop what was received."""
        if self.arrival is not None:
            self.arrival.close()
        self.sock.close()
