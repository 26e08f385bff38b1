"""The short way to the answers that are asked for most: they need path, token and one look, and no framework.

It answers GET and HEAD where the answer is 200 or 304, from the functions that the framework's way calls. All else goes
on to the framework as it came: other addresses, queries and preferences, and every refusal and fault, so that one place
counts, logs and explains them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from service.api import jobs as jobs_api
from service.api import submissions as submissions_api
from service.api.answers import Answer, CodedBodies, Kind, answer_of, asked_of
from service.api.calls import caller_of
from service.api.middleware import Doors, Environ, Wsgi, note_of
from service.caller import Caller
from service.context import Context
from service.render import LEADERBOARD_FORMATS
from service.requests import LeaderboardQuery
from service.server.connection import ServerState
from service.usecases import comparison_views, jobs
from service.usecases.boards.leaderboard import leaderboard
from service.usecases.runs import View
from service.usecases.submissions import submissions

_LINES = {200: "200 OK", 304: "304 NOT MODIFIED"}
_PATH = re.compile(r"/v1/(?:(jobs|submissions|comparisons)/(\w+)|(benchmarks)/([\w.-]+)/leaderboard)", re.ASCII)
"""Paths as clients write them. Others, that mean the same or nothing, are the framework's to read."""
_ANY = ("", "*/*")
"""Values of Accept that choose nothing."""


class _Route(NamedTuple):
    """One kind of resource.

    Attributes:
        rule: its address, as in the log.
        scopes: one of which the caller needs; none for what is public.
        kind: of the answer.
        view: shows it.
    """

    rule: str
    scopes: tuple[str, ...]
    kind: Kind
    view: Callable[[Context, Caller, str, str | None], View]


_ROUTES = {
    "jobs": _Route(
        "/v1/jobs/<job_id>", jobs_api.JOB_READERS, Kind.OWN,
        lambda context, caller, name, _form: jobs.view_job(context, caller, name),
    ),
    "submissions": _Route(
        "/v1/submissions/<submission>", submissions_api.SUBMISSION_READERS, Kind.OWN,
        lambda context, caller, name, _form: submissions.view_submission(context, caller, name),
    ),
    "comparisons": _Route(
        "/v1/comparisons/<comparison>", (), Kind.PUBLIC,
        lambda context, caller, name, _form: comparison_views.view_comparison(context, caller, name),
    ),
    "benchmarks": _Route(
        "/v1/benchmarks/<benchmark>/leaderboard", (), Kind.PUBLIC,
        lambda context, caller, slug, form: leaderboard(context, caller, slug, LeaderboardQuery(format=form or "json")),
    ),
}  # fmt: skip
_QUERIES = {"": None, **{f"format={form}": form for form in LEADERBOARD_FORMATS}}
"""Queries of a board that are answered here, and the format that each asks for."""


class Finished:
    """Answers what it can; the rest is the framework's."""

    def __init__(
        self, app: Wsgi, context: Callable[[], Context], state: ServerState, coded: CodedBodies, doors: Doors
    ) -> None:
        self._app = app
        self._context = context
        self._state = state
        self._coded = coded
        self._doors = doors

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        answer = self._answer(environ)
        if answer is None:
            return self._app(environ, start_response)
        start_response(_LINES[answer.status], answer.headers)
        return () if environ["REQUEST_METHOD"] == "HEAD" or not answer.body else (answer.body,)

    def _answer(self, environ: Environ) -> Answer | None:
        """Return the answer; None where it is the framework's to give."""
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD") or environ.get("SCRIPT_NAME") or "HTTP_PREFER" in environ:
            return None
        path, query = environ["PATH_INFO"], environ.get("QUERY_STRING", "")
        match = _PATH.fullmatch(path)
        if match is None or environ.get("RAW_URI") != (f"{path}?{query}" if query else path):
            return None
        route = _ROUTES[match[1] or match[3]]
        if query not in (_QUERIES if match[3] else ("",)):
            return None
        if route.kind is Kind.PUBLIC and not query and environ.get("HTTP_ACCEPT", "") not in _ANY:
            return None
        context = self._context()
        try:
            self._doors.check(environ)
            caller = caller_of(context, self._state, environ)
            if route.scopes:
                caller.require(*route.scopes)
            view = route.view(context, caller, match[2] or match[4], _QUERIES[query])
        except Exception:  # noqa: BLE001 - also of a fault: no one but the framework's handlers could answer 500 here
            return None
        if view.next is not None:
            return None
        note_of(environ).route = route.rule
        return answer_of(self._coded, view, asked_of(environ), route.kind)
