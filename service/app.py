"""Build the Flask application: blueprints, error handlers, and what happens around every request."""

from functools import partial
from types import TracebackType

from flask import Blueprint, Flask, Request, Response, current_app, request
from sqlalchemy.exc import DBAPIError
from werkzeug.exceptions import HTTPException, InternalServerError, RequestEntityTooLarge

from service.api import answers, benchmarks, boards, calls, jobs, middleware, status, submissions
from service.config import Config
from service.context import Context, open_context
from service.errors import ServiceError, Unavailable
from service.logs import fault
from service.pages.answers import as_page
from service.pages.site import PAGES
from service.queue import REDIS_ERRORS
from service.store.database import Fault, fault_of
from treescore.core.registry import load_all

BLUEPRINTS = [
    each
    for module in (jobs, benchmarks, submissions, boards, status)
    for each in vars(module).values()
    if isinstance(each, Blueprint)
]
"""Those of the API."""

_ILL = {Fault.FULL: "full", Fault.DAMAGED: "damaged", Fault.READ_ONLY: "read-only"}

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class FormRequest(Request):
    """Flask's request, whose forms are small, with few fields in both of their codings, unless a view lets in more."""

    def _load_form_data(self) -> None:
        config = current_app.extensions["treescore"].config
        if self.max_content_length is None:
            self.max_content_length = self.max_form_memory_size = config.max_small_body_bytes
        super()._load_form_data()
        if sum(map(len, self.form.listvalues())) > config.max_form_fields:
            raise RequestEntityTooLarge


class App(Flask):
    """Flask with another log of faults: where they happened, never the text that was being read."""

    request_class = FormRequest

    def log_exception(self, exc_info: ExcInfo) -> None:
        """Log the kind of a fault and the places it went through; its message may quote a text."""
        kind, _, trace = exc_info
        fault(kind or Exception, trace)


def create_app(config: Config, context: Context | None = None) -> Flask:
    """Build the application. It connects to nothing before the first request, so it can be built before a fork."""
    load_all()  # no request waits for a metric to load
    app = App("service.api", static_folder=None)
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.url_map.strict_slashes = True
    app.url_map.merge_slashes = False
    app.config["PROPAGATE_EXCEPTIONS"] = False
    app.config["MAX_FORM_PARTS"] = config.max_form_fields
    opened = app.extensions["treescore"] = context if context is not None else open_context(config)
    load = app.extensions[middleware.EXTENSION] = middleware.Load(config)
    for blueprint in (*BLUEPRINTS, *PAGES):
        app.register_blueprint(blueprint)
    doors = middleware.Doors(config)
    app.before_request(partial(_begin, doors))
    app.after_request(calls.defer_polls)
    app.after_request(as_page)
    app.teardown_request(calls.end_wait)
    app.extensions[answers.CODED] = answers.CodedBodies()
    around = middleware.Around(app.wsgi_app, calls.client_address, opened.meters, load)
    app.wsgi_app = middleware.forwarded(around, config)  # type: ignore[assignment,method-assign]
    app.register_error_handler(ServiceError, answers.of_service_error)
    app.register_error_handler(HTTPException, answers.of_http_error)
    app.register_error_handler(InternalServerError, lambda _fault: answers.of_fault())
    for error in REDIS_ERRORS:
        app.register_error_handler(error, _unavailable)
    app.register_error_handler(DBAPIError, _store_failed)
    return app


def _unavailable(error: Exception) -> Response:
    fault(type(error), error.__traceback__)
    return answers.of_service_error(Unavailable("The store or the queue does not answer. Retry."))


def _store_failed(error: DBAPIError) -> Response:
    """Answer 503 where the store itself is ill; any other error of a statement is a fault of this program."""
    ill = fault_of(error)
    if ill is Fault.AWAY:
        return _unavailable(error)
    fault(type(error), error.__traceback__, store="" if ill is None else ill)
    if ill is None:
        return answers.of_fault()
    detail = f"The store is {_ILL[ill]}. The operators of this service must act; `/readyz` shows when it works again."
    return answers.of_service_error(Unavailable(detail, slug=f"store-{ill}"))


def _begin(doors: middleware.Doors) -> None:
    middleware.note_of(request.environ).route = None if request.url_rule is None else request.url_rule.rule
    doors.check(request.environ)
