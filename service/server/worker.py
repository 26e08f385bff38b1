"""gunicorn's threaded worker, with a stage before the threads that reads requests and one after that sends answers.

One loop does all input and output without waiting. A thread gets a request when it is whole, and is free again once
the answer is made, so that slow clients hold memory within limits and no threads. Some threads are left for probes
and for organisers.
"""

from __future__ import annotations

import errno
import re
import resource
import selectors
import socket
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import Any

from gunicorn.http import wsgi  # type: ignore[import-untyped]
from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, ThreadWorker  # type: ignore[import-untyped]

from service.config import Config, load_config
from service.errors import BadRequest, InsufficientStorage, RequestTimeout, ServiceError, TooManyRequests, Unavailable
from service.requests import BODY_AWAITED, BODY_LIMIT
from service.server import connection

RECEIVED = 65_536
"""Bytes taken from one connection before the others have their turn."""
RECEIVED_CHUNKED = 8_192
"""The same of a chunked body: decoding it can take a hundred times as long."""
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
GRACE = 1.0
"""Seconds in which a request may arrive before it counts as unfinished for its address."""
LOOK = 0.5
"""Seconds between looks at the deadlines."""
CLOSING_SECONDS = 2.0
CLOSING_RATE = 1_000_000.0
"""Bytes that give a refused sender one more second to read why."""
CLOSING_BYTES = 256 << 20
CLOSING_MOST = 256
IDLE_MOST = 1_000
SPOOLED_MOST = 4 << 30
"""Bytes of bodies that are held at once."""
ANSWERS_MOST = 256 << 20
"""Bytes of answers that are held at once."""
HEADS_KEEP = 4
"""One of so many places for unfinished requests is kept for those whose head is arriving."""
FILES = 8_192
OUT_OF_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def too_many_of(most: int) -> TooManyRequests:
    """Return the refusal of an address with too many unfinished requests."""
    return TooManyRequests(
        f"Your address has more than {most} unfinished requests. Send fewer at once, or faster.",
        slug="too-many-unfinished",
        headers={"Retry-After": "2"},
    )


def raise_file_limit() -> None:
    """Allow more open files, as far as the system lets this process have them: each connection is one."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if most == resource.RLIM_INFINITY else min(FILES, most)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def spool_folder(config: Config) -> str | None:
    """Return the folder of temporary files, made if it is missing; None, the system's, where it cannot be made."""
    folder = config.data_dir / "tmp"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder)


QUEUED = 512
"""Requests that may await a thread; more are refused."""
PROBES_QUEUED = 64
_BEARER = re.compile(r"Bearer +(\S+)", re.IGNORECASE)


class Lane:
    """Some threads and a short queue before them. Only the loop of the server changes `requests`.

    Attributes:
        requests: in the threads and in the queue.
        full: how many there may be.
    """

    def __init__(self, pool: ThreadPoolExecutor, threads: int, queued: int) -> None:
        self.pool = pool
        self.threads = threads
        self.full = threads + queued
        self.requests = 0

    @property
    def free(self) -> bool:
        """Whether a thread has nothing to do."""
        return self.requests < self.threads


class Lanes:
    """The threads for all, those for organisers, and one for each probe."""

    def __init__(self, general: ThreadPoolExecutor, state: connection.ServerState, organisers: int) -> None:
        self._state = state
        self.general = Lane(general, state.threads, QUEUED)
        self.reserved = Lane(ThreadPoolExecutor(max(1, organisers)), organisers, 0)
        self.probes = {path: Lane(ThreadPoolExecutor(1), 1, PROBES_QUEUED) for path in connection.PROBES}

    def of(self, request: Any) -> Lane:
        """Return the threads for a request. The reserved ones serve organisers while the others are all taken."""
        probe = self.probes.get(request.path)
        if probe is not None:
            return probe
        if not self.general.free and self.reserved.free and self._of_organiser(request):
            return self.reserved
        return self.general

    def shutdown(self) -> None:
        """Take no more requests. The general threads are gunicorn's to end."""
        for lane in (self.reserved, *self.probes.values()):
            lane.pool.shutdown(wait=False)

    def _of_organiser(self, request: Any) -> bool:
        given = next((value for name, value in request.headers if name == "AUTHORIZATION"), "")
        match = _BEARER.fullmatch(given.strip())
        return match is not None and self._state.organisers.knows(match[1])


class BufferingWorker(ThreadWorker):  # type: ignore[misc]
    """The worker. Everything but `work` runs in the loop's thread.

    Attributes:
        unfinished: connections whose request is arriving or whose answer is being sent, in the order of their begin.
        closing: refused connections, which are read until the client has seen the answer.
        spooled, unsent: bytes of bodies and of answers that are held.
    """

    keepalived_conns: deque[connection.Connection]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.config: Config = load_config()
        self.bounds = connection.Bounds(self.config.max_body_bytes, self.config.max_upload_bytes, None)
        self.state = connection.ServerState(self.config)
        self.lanes: Lanes | None = None
        self.unfinished: dict[connection.Connection, None] = {}
        self.closing: dict[connection.Connection, None] = {}
        self.spooled = self.unsent = 0
        self.looked = 0.0

    def run(self) -> None:
        """Serve until the worker is stopped."""
        self.state = self.wsgi.extensions[connection.EXTENSION]
        self.bounds = connection.Bounds(
            self.config.max_body_bytes, self.config.max_upload_bytes, spool_folder(self.config)
        )
        self.lanes = Lanes(self.tpool, self.state, self.config.organiser_threads)
        raise_file_limit()
        super().run()
        self.lanes.shutdown()

    def notify(self) -> None:
        """Do nothing: gunicorn's loop says at each turn that this worker lives, `murder_pending` twice a second."""

    def accept(self, listener: socket.socket) -> None:
        """Take a new connection."""
        try:
            sock, client = listener.accept()
        except OSError as error:
            if error.errno in OUT_OF_FILES:
                self._free_a_file()
            elif error.errno not in (errno.EAGAIN, errno.ECONNABORTED):
                raise
            return
        self.nr_conns += 1
        self._begin(connection.Connection(sock, client, listener.getsockname()))

    def _begin(self, conn: connection.Connection, data: bytes = b"") -> None:
        """Expect a request, of which `data` has come already."""
        conn.arrival = connection.Arrival(self.cfg, conn.client, conn.answered + 1, self.bounds)
        conn.enter(connection.Stage.HEAD, monotonic(), self.config.header_seconds)
        self.unfinished[conn] = None
        self._count()
        if len(self.unfinished) > self.config.max_unfinished:
            # the oldest: a client that drips, most likely. There is always one, the newest itself
            oldest = next(each for each in self.unfinished if each.stage is connection.Stage.HEAD)
            self._refuse(oldest, Unavailable("Too many requests are unfinished. Retry."))
        if conn.stage is connection.Stage.HEAD:
            self._watch(conn, selectors.EVENT_READ, self._readable)
            if data:
                self._arrived(conn, data)
            else:
                self._readable(conn)

    def _readable(self, conn: connection.Connection) -> None:
        try:
            chunked = conn.arrival is not None and conn.arrival.chunked
            data = conn.sock.recv(RECEIVED_CHUNKED if chunked else RECEIVED)
        except BlockingIOError:
            return
        except OSError:
            self._drop(conn)
            return
        if data:
            self._arrived(conn, data)
        elif conn.stage is connection.Stage.BODY:
            self._refuse(conn, BadRequest("The body is incomplete. Send as many bytes as Content-Length says."))
        else:
            self._drop(conn)

    def _arrived(self, conn: connection.Connection, data: bytes) -> None:
        arrival = conn.arrival
        assert arrival is not None  # noqa: S101 - set where the request begins
        before = arrival.received
        try:
            try:
                whole = arrival.feed(data)
            finally:
                self.spooled += arrival.received - before
        except ServiceError as error:
            self._refuse(conn, error)
        except OSError:
            self._refuse(conn, InsufficientStorage("The body cannot be stored now. Retry later."))
        except (ParseException, ValueError, UnicodeError, LookupError) as error:
            self.handle_error(arrival.request, conn.sock, conn.client, error)
            self._close_slowly(conn)
        else:
            if whole:
                self._dispatch(conn)
            else:
                self._await_body(conn, arrival, len(data))

    def _await_body(self, conn: connection.Connection, arrival: connection.Arrival, moved: int) -> None:
        if arrival.request is None:
            return
        now = monotonic()
        if conn.stage is connection.Stage.HEAD:
            conn.enter(connection.Stage.BODY, now, self.config.body_seconds)
            if self._crowded(conn):
                self._refuse(conn, Unavailable("Too many requests are unfinished. Retry."))
                return
        else:
            conn.extend(moved, now, self.config.body_seconds)
        if self.spooled > SPOOLED_MOST:
            oldest = next(each for each in self.unfinished if each.stage is connection.Stage.BODY)
            self._refuse(oldest, InsufficientStorage("Too much is being uploaded. Retry later."))
        elif arrival.large:
            arrival.large = False
            self._ask(conn)
        elif arrival.wants_continue:
            arrival.wants_continue = False
            self._send_now(conn, CONTINUE)

    def _ask(self, conn: connection.Connection) -> None:
        """Let the application answer by the head, or say how large a body it takes. Nothing is read until then."""
        lane = self._lane_of(conn)
        if lane is not None:
            self._unwatch(conn)
            self._submit(conn, lane, self._admission, self._asked)

    def _lane_of(self, conn: connection.Connection) -> Lane | None:
        """Return the threads for a request; None, and it is refused, where too many wait for one."""
        assert self.lanes is not None  # noqa: S101 - set before the loop
        assert conn.arrival is not None  # noqa: S101 - set where the request begins
        lane = self.lanes.of(conn.arrival.request)
        if lane.requests < lane.full:
            return lane
        self._refuse(conn, Unavailable("Too many requests wait for a thread. Retry."))
        return None

    def _submit(
        self,
        conn: connection.Connection,
        lane: Lane,
        work: Callable[[connection.Connection], Any],
        then: Callable[[connection.Connection, Future[Any]], None],
    ) -> None:
        """Let a thread of a lane do some work on a connection, and the loop what follows."""
        conn.lane = lane
        lane.requests += 1
        future = lane.pool.submit(work, conn)
        future.add_done_callback(partial(self.method_queue.defer, then, conn))

    def _admission(self, conn: connection.Connection) -> int | None:
        """Return how large a body the application takes; None where it has answered. Runs in a thread."""
        request = conn.arrival.request if conn.arrival is not None else None
        response, environ = wsgi.create(request, conn.answer, conn.client, conn.server, self.cfg)
        environ["wsgi.input"] = connection.AwaitedBody()
        environ[BODY_AWAITED] = True
        environ["wsgi.multithread"] = True
        response.force_close()
        try:
            for item in self.wsgi(environ, response.start_response):
                response.write(item)
            response.close()
        except connection.BodyWantedError:
            return int(environ.get(BODY_LIMIT, connection.LARGE))
        return None

    def _asked(self, conn: connection.Connection, future: Future[int | None]) -> None:
        assert conn.arrival is not None  # noqa: S101 - set where the request begins
        conn.lane.requests -= 1
        if conn.stage is not connection.Stage.BODY:
            return  # it has ended
        if future.cancelled() or future.exception() is not None:
            self._refuse(conn, Unavailable("The request could not be looked at. Retry."))
            return
        limit = future.result()
        if limit is None:
            self.unfinished.pop(conn, None)
            self._send(conn, keep=False)
            return
        try:
            conn.arrival.admit(limit)
        except ServiceError as error:
            self._refuse(conn, error)
            return
        conn.enter(connection.Stage.BODY, monotonic(), self.config.body_seconds)
        if conn.arrival.wants_continue:
            conn.arrival.wants_continue = False
            self._send_now(conn, CONTINUE)
        self._watch(conn, selectors.EVENT_READ, self._readable)

    def _crowded(self, conn: connection.Connection) -> bool:
        """Whether bodies and answers have taken the places that are theirs; heads always find one."""
        places = self.config.max_unfinished - self.config.max_unfinished // HEADS_KEEP
        return sum(each.stage is not connection.Stage.HEAD for each in self.unfinished if each is not conn) >= places

    def _dispatch(self, conn: connection.Connection) -> None:
        lane = self._lane_of(conn)
        if lane is None:
            return
        self._watch(conn, selectors.EVENT_READ, self._unwatch)  # should more come, it waits for the answer
        self.unfinished.pop(conn, None)
        conn.stage, conn.answer = connection.Stage.WORK, connection.Answer()
        self._submit(conn, lane, self.work, self._worked)
        self._count()

    def work(self, conn: connection.Connection) -> bool:
        """Let the application answer; return whether the connection may stay open. Runs in a thread."""
        request = conn.arrival.request if conn.arrival is not None else None
        try:
            keep = self._respond(request, conn)
        except Exception as error:  # noqa: BLE001 - as in gunicorn: this is the last place that can answer
            conn.answer = connection.Answer()
            self.handle_error(request, conn.answer, conn.client, error)
            keep = False
        conn.answer.send_to(conn.sock)
        return keep

    def _respond(self, request: Any, conn: connection.Connection) -> bool:
        response, environ = wsgi.create(request, conn.answer, conn.client, conn.server, self.cfg)
        environ["wsgi.multithread"] = True
        items = self.wsgi(environ, response.start_response)
        if not self.alive or len(self.keepalived_conns) >= IDLE_MOST:
            response.force_close()
        try:
            for item in items:
                response.write(item)
            response.close()
        finally:
            if hasattr(items, "close"):
                items.close()
        return not response.should_close()

    def _worked(self, conn: connection.Connection, future: Future[bool]) -> None:
        conn.lane.requests -= 1
        self._send(conn, keep=not future.cancelled() and future.exception() is None and future.result())

    def _send(self, conn: connection.Connection, *, keep: bool) -> None:
        """Send the answer that is made; of the body nothing is needed any more."""
        assert conn.arrival is not None  # noqa: S101 - set where the request begins
        self.spooled -= conn.arrival.received
        conn.arrival.close()
        conn.answered += 1
        conn.keep = keep
        if conn.answer.left and not conn.answer.failed:
            conn.enter(connection.Stage.ANSWER, monotonic(), self.config.body_seconds)
            self.unsent += conn.answer.left
            self.unfinished[conn] = None
            self._count()
            self._watch(conn, selectors.EVENT_WRITE, self._writable)
            self._limit_answers(conn)
        else:
            self._answered(conn)

    def _limit_answers(self, newest: connection.Connection) -> None:
        """Close the connections whose clients have been reading longest, while there are too many or too much."""
        for conn in [each for each in self.unfinished if each.stage is connection.Stage.ANSWER]:
            if self.unsent <= ANSWERS_MOST and not self._crowded(newest):
                return
            self._drop(conn)

    def _writable(self, conn: connection.Connection) -> None:
        sent = conn.answer.send_to(conn.sock)
        if conn.answer.failed:
            self._drop(conn)
            return
        self.unsent -= sent
        conn.extend(sent, monotonic(), self.config.body_seconds)
        if not conn.answer.left:
            self.unfinished.pop(conn, None)
            self._answered(conn)

    def _answered(self, conn: connection.Connection) -> None:
        """Expect the next request, some of which may be there already, or close."""
        assert conn.arrival is not None  # noqa: S101 - set where the request begins
        if conn.answer.failed or not conn.keep:
            self._shut(conn)
        elif conn.arrival.rest:
            self._begin(conn, conn.arrival.rest)
        else:
            self._rest(conn)
        self._count()

    def _rest(self, conn: connection.Connection) -> None:
        now = monotonic()
        conn.stage = connection.Stage.IDLE
        conn.timeout = now + (self.cfg.keepalive if self.alive else min(self.cfg.keepalive, STOP_KEEPALIVE_LINGER))
        self.keepalived_conns.append(conn)
        self._watch(conn, selectors.EVENT_READ, self._woken)

    def _woken(self, conn: connection.Connection) -> None:
        self.keepalived_conns.remove(conn)
        self._begin(conn)

    def _refuse(self, conn: connection.Connection, error: ServiceError) -> None:
        self._send_now(conn, connection.refusal(error))
        self._close_slowly(conn)

    def _send_now(self, conn: connection.Connection, data: bytes) -> None:
        """Send a few bytes to a client that has nothing else to read; one that cannot take them fails by itself."""
        answer = connection.Answer()
        answer.sendall(data)
        answer.send_to(conn.sock)

    def _shut(self, conn: connection.Connection) -> None:
        """Close after an answer; read on only if the client sent more: closing would take the answer from it."""
        if conn.has_more():
            self._close_slowly(conn)
        else:
            self._drop(conn)

    def _close_slowly(self, conn: connection.Connection) -> None:
        """End sending, and read on for a moment, so that the client reads the answer instead of a broken pipe."""
        self._forget(conn)
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(conn)
            return
        conn.enter(connection.Stage.CLOSING, monotonic(), CLOSING_SECONDS)
        self.closing[conn] = None
        self._watch(conn, selectors.EVENT_READ, self._discard)
        if len(self.closing) > CLOSING_MOST:
            self._drop(next(iter(self.closing)))

    def _discard(self, conn: connection.Connection) -> None:
        try:
            data = conn.sock.recv(RECEIVED)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        conn.discarded += len(data)
        conn.due += len(data) / CLOSING_RATE
        if not data or conn.discarded > CLOSING_BYTES:
            self._drop(conn)

    def _drop(self, conn: connection.Connection) -> None:
        if conn.sock.fileno() < 0:
            return
        self._forget(conn)
        self._unwatch(conn)
        conn.close()
        self.nr_conns -= 1

    def _forget(self, conn: connection.Connection) -> None:
        """Take a connection from the lists and give back what it holds."""
        if conn.stage in (connection.Stage.HEAD, connection.Stage.BODY) and conn.arrival is not None:
            self.spooled -= conn.arrival.received
            conn.arrival.close()
        elif conn.stage is connection.Stage.ANSWER:
            self.unsent -= conn.answer.left
        elif conn.stage is connection.Stage.IDLE and conn in self.keepalived_conns:
            self.keepalived_conns.remove(conn)
        conn.stage = connection.Stage.CLOSING
        self.unfinished.pop(conn, None)
        self.closing.pop(conn, None)
        self._count()

    def _free_a_file(self) -> None:
        for conns in (self.closing, self.keepalived_conns, self.unfinished):
            conn = next(iter(conns), None)
            if conn is not None:
                self._drop(conn)
                return

    def murder_pending(self) -> None:
        """End what is overdue. gunicorn calls this after each turn of its loop, also while it stops."""
        now = monotonic()
        if now - self.looked < LOOK:
            return
        self.looked = now
        super().notify()
        for conn in [*self.unfinished, *self.closing]:
            if (
                conn.stage is connection.Stage.HEAD
                and not self.alive
                and conn.arrival is not None
                and conn.arrival.silent
            ):
                self._drop(conn)
            elif now > conn.due:
                self._end_overdue(conn)
        if not self.config.trusted_proxies:
            self._cap_addresses(now)

    def _end_overdue(self, conn: connection.Connection) -> None:
        if conn.stage is connection.Stage.HEAD:
            what = f"The header did not arrive within {self.config.header_seconds} s."
            self._refuse(conn, RequestTimeout(f"{what} Send the request again."))
        elif conn.stage is connection.Stage.BODY:
            what = f"The body arrives too slowly: {self.config.body_seconds} s, and one more for each 1000 bytes."
            self._refuse(conn, RequestTimeout(f"{what} Send the request again."))
        else:
            self._drop(conn)

    def _cap_addresses(self, now: float) -> None:
        most = self.config.max_unfinished_each
        seen: Counter[str] = Counter()
        for conn in [each for each in self.unfinished if each.address and now - each.since > GRACE]:
            seen[conn.address] += 1
            if seen[conn.address] <= most:
                continue
            if conn.stage is connection.Stage.ANSWER:
                self._drop(conn)
            else:
                self._refuse(conn, too_many_of(most))

    def _count(self) -> None:
        self.state.unfinished = len(self.unfinished)
        self.state.requests = self.lanes.general.requests if self.lanes is not None else 0

    def _watch(self, conn: connection.Connection, events: int, react: Callable[[connection.Connection], None]) -> None:
        """Let a function take what happens to a connection; the system is called only where other events count."""
        conn.react = react
        if not conn.watched:
            self.poller.register(conn.sock, events, conn.take_event)
        elif conn.watched != events:
            self.poller.modify(conn.sock, events, conn.take_event)
        conn.watched = events

    def _unwatch(self, conn: connection.Connection) -> None:
        if conn.watched:
            self.poller.unregister(conn.sock)
            conn.watched = 0
