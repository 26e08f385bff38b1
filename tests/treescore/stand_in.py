"""A server on loopback whose answers are scripted."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@contextmanager
def stand_in(answers, headers_of=None):
    """Serve scripted answers: (method, path) -> answers one after the other, the last one repeated.

    A body is a document to be sent as JSON, or bytes. `headers_of` is filled with the headers of each request.
    """
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            seen.append((self.command, self.path))
            if headers_of is not None:
                headers_of[self.command, self.path] = dict(self.headers)
            turn = answers[self.command, self.path]
            status, headers, document = turn.pop(0) if len(turn) > 1 else turn[0]
            body = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = answer  # noqa: N815 - named by the library

        def log_message(self, *_):
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
