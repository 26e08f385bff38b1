"""Answer with pages: templates, validators, the policy header, fragments for what is live, files and problems.

The style sheet, the scripts and the fonts are served at addresses that change with their bytes. Problem documents are
shown as pages, with the same status and headers. Exports of what pages show are at the API's addresses, or at the
page's own for visitors who are signed in: the API does not know the session.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from service import errors
from service.api import answers, calls, middleware
from service.api.answers import Kind, ProblemResponse, known_tag
from service.contract import fields, leaderboards
from service.lru import LruCache
from service.pages import figures, visitors
from service.pages.markdown import first_words, strangers_html
from service.requests import LINKS
from service.usecases.runs import Shown, etag_of
from treescore.core.version import __version__
from treescore.core.wording import one_line
from treescore.errors import without_like
from treescore.render.drawing import MINUS, MISSING
from treescore.render.table import CSV, LATEX, MARKDOWN, TABLE_FORMS, TSV, Marked, Table, separated

static_blueprint = Blueprint("pages_static", __name__, url_prefix="/static")
STATIC = Path(__file__).parent / "static"
MEDIA_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
}
FOR_EVER = "public, max-age=31536000, immutable"
BRIEFLY = "public, max-age=60"
"""For a file that is asked for by the version of another release: its bytes may be newer than the address says."""


@cache
def static_files() -> Mapping[str, Shown[None]]:
    """Return every file by its path below the folder."""
    paths = sorted(path for path in STATIC.rglob("*") if path.suffix in MEDIA_TYPES)
    return {
        path.relative_to(STATIC).as_posix(): Shown(None, path.read_bytes(), content_type=MEDIA_TYPES[path.suffix])
        for path in paths
    }


@cache
def static_version() -> str:
    """Return what names these bytes of all files together."""
    tags = "".join(f"{name} {view.etag}\n" for name, view in static_files().items())
    return hashlib.blake2b(tags.encode(), digest_size=6).hexdigest()


def static_address(name: str) -> str:
    """Return the address of a file.

    Raises:
        KeyError: unknown file: a template is wrong.
    """
    _ = static_files()[name]
    return f"/static/{static_version()}/{name}"


@static_blueprint.get("/<asked>/<path:name>")
def get_static(asked: str, name: str) -> Response:
    """Show a file."""
    view = static_files().get(name)
    if view is None:
        raise errors.NotFound("Unknown file. Load the page again: it names the files that this version has.")
    response = answers.conditional(view)
    response.headers["Cache-Control"] = FOR_EVER if asked == static_version() else BRIEFLY
    return response


def drawn(svg: str) -> Markup:
    """Return a picture of `treescore.render`, which escapes every text, as it stands in a page."""
    return Markup(svg)  # noqa: S704 - written by our own code


_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def download(response: Response, name: str, how: str = "attachment") -> Response:
    """Return the response as a file of this name; characters that file systems read otherwise become `_`."""
    response.headers["Content-Disposition"] = f'{how}; filename="{file_name(name)}"'
    return response


def file_name(name: str) -> str:
    """Return a name that every header and file system takes, with other characters as `_`."""
    return (_UNSAFE.sub("_", name).strip("._") or "file")[-100:]


HTML = "text/html; charset=utf-8"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of every page: nothing from other hosts, no script, style or event handler in the page."""
FRAMED = (
    "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors *"
)
"""That of what other sites may show in a frame: no script, no form."""
UNCHANGED, FINAL = 204, 286
"""Statuses of fragments: nothing to swap, and nothing will ever change again (htmx stops polling)."""
TEMPLATES = Path(__file__).parent / "templates"
MOST_BYTES = 32 * 2**20
"""Of rendered pages that a process keeps."""
_PAGES = LruCache[bytes](MOST_BYTES, len)


@cache
def environment() -> Environment:
    """Return the templates, which escape everything that is not marked as safe."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    made.filters |= {
        "fix": fix_of, "p": figures.p_value, "time": figures.time, "deadline": figures.deadline,
        "whole": figures.whole, "clean": one_line, "prose": strangers_html, "first_words": first_words,
        "without_like": without_like,
        "query": lambda members: urlencode({name: value for name, value in members.items() if value is not None}),
    }  # fmt: skip
    made.tests["open"] = figures.is_open
    made.globals |= {"static": static_address, "CSRF_FIELD": visitors.CSRF_FIELD, "MISSING": MISSING}
    return made


_ON_PAGES: Mapping[str, str] = {
    "missing-field": "Fill in the field, or choose the files, that the line names.",
    "wrong-format": "Choose a file in the format that is asked for, or the format of the file where there is a choice.",
    "unknown-part": "Name the file after its part, or choose the part where the page asks for it.",
}
"""What to do on a page where the catalogue describes a request."""


def fix_of(code: str) -> str:
    """Return what to do about a problem of this code; nothing of one that this version does not know."""
    entry = errors.CODES.get(code)
    return _ON_PAGES.get(code, "" if entry is None else entry.fix)


@cache
def templates_version() -> str:
    """Return what names the templates of this version: pages that are made of others have other validators."""
    digest = hashlib.blake2b(f"{__version__} {static_version()}".encode(), digest_size=8)
    for path in sorted(TEMPLATES.rglob("*.html")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def query(kind: type[fields.Loaded], *own: str, file: bool = False) -> tuple[fields.Loaded, dict[str, str]]:
    """Return the query of a page's address, and the parameters that only the page knows.

    A control that is left empty counts as not given.

    Args:
        kind: of the query of the use-case behind the page.
        own: names of parameters of the page; those that are not given are missing in the answer.
        file: whether it answers with a file, in the format that is asked for.

    Raises:
        BadRequest: a parameter is unknown, repeated or invalid.
    """
    if not file and request.args.get("format"):
        detail = "format: a page has none. The links below its table lead to files."
        raise errors.BadRequest(detail, slug="invalid-query")
    given = {name: values for name, values in request.args.to_dict(flat=False).items() if values != [""]}
    pages_own = {name: given.pop(name)[0] for name in own if name in given}
    return calls.load_query(kind, given), pages_own


def root() -> str:
    """Return the address of the service as others call it, without a slash at its end."""
    return (calls.context().config.public_url or request.url_root).rstrip("/")


def page(template: str, status: int = 200, **values: object) -> Response:
    """Return a page whose validator is that of its bytes; one that answers a form is stored nowhere."""
    if status != 200:
        return finished(Response(render(template, **values), status, content_type=HTML))
    if request.method not in ("GET", "HEAD"):
        return finished(answers.unstored(Response(render(template, **values), content_type=HTML)))
    body = _rendered(template, **values)
    return finished(_sent(body, etag_of(body), Kind.PAGE))


REFUSED = (errors.Unprocessable, errors.Conflict, errors.TooManyRequests)
"""What a page with a form says above the form."""


FIELDS = {
    "/id": "Id", "/name": "Name", "/contact": "Contact", "/notes": "Notes", "/run_of": "Training run of",
    **{f"/links/{kind}": kind.capitalize() for kind in LINKS},
}  # fmt: skip
"""What forms call the fields of which the pointers of faults tell."""


def refused(template: str, error: errors.ServiceError, **values: object) -> Response:
    """Return a page that says what is wrong, with the status and headers of the error, such as when to try again."""
    problem: dict[str, Any] = answers.problem_of(error)
    for each in problem.get("errors", ()):
        each["field"] = FIELDS.get(each.get("pointer", ""))
    response = page(template, 200, **{**values, "problem": problem})
    response.status_code = error.status
    response.headers.extend(error.headers)
    return response


def known_page(
    template: str, version: object, values: Callable[[], Mapping[str, object]], kind: Kind = Kind.PAGE
) -> Response:
    """Return a page that is rendered only if neither the client nor this process has it.

    Args:
        template: its name.
        version: what the content depends on, beside visitor, address and templates: the validator of a view.
        values: of the template.
        kind: whether its address has other forms than the page.
    """
    return finished(_kept(template, tag_of(version, request.full_path), values, kind))


def _kept(template: str, tag: str, values: Callable[[], Mapping[str, object]], kind: Kind = Kind.PAGE) -> Response:
    """Return 304, or the page that the process keeps under this validator, rendered once for all threads."""
    asked = answers.asked_of(request.environ)
    body = b""
    if known_tag(asked.known, asked.codings, tag) is None:
        body = _PAGES.get_or_make(tag, lambda: _rendered(template, **values()))
    return _sent(body, tag, kind)


def _sent(body: bytes, tag: str, kind: Kind) -> Response:
    """Return 304, or a rendered page; that of a session has a weak validator: it is masked each time."""
    known = visitors.visitor()
    view = Shown[None](None, known.masked(body), tag, content_type=HTML, weak=known.signed is not None)
    return answers.conditional(view, kind=kind)


def tag_of(version: object, address: str) -> str:
    """Return the validator of what is shown at an address to this visitor."""
    depends = (templates_version(), visitors.visitor().key, request.script_root, address, version)
    return hashlib.blake2b(repr(depends).encode(), digest_size=16).hexdigest()


def fragment(template: str, version: str, *, final: bool, values: Callable[[], Mapping[str, object]]) -> Response:
    """Return a part of a page that is asked for again and again; its address carries the version that is shown.

    Args:
        template: of the part.
        version: of what there is now.
        final: whether it never changes again, so that asking can end.
        values: of the template.
    """
    if _unchanged(version, final=final):
        return unchanged()
    # htmx swaps the body of a 286 too, so that there is always one
    return finished(Response(render(template, **values()), FINAL if final else 200, content_type=HTML))


def known_fragment(template: str, version: str, *, final: bool, values: Callable[[], Mapping[str, object]]) -> Response:
    """Return a part of a page as `fragment`, of which many ask for the same: it is rendered once for all of them.

    Args:
        template: of the part.
        version: what the content depends on, beside visitor, address and templates.
        final: whether it never changes again.
        values: of the template.
    """
    if _unchanged(version, final=final):
        return unchanged()
    # what viewers have decides whether there is news for them, not what the news is
    asked = sorted((name, value) for name, value in request.args.items() if name != "version")
    response = _kept(template, tag_of((template, version, final), f"{request.path}?{urlencode(asked)}"), values)
    if final and response.status_code == 200:
        response.status_code = FINAL
    return finished(response)


def unchanged() -> Response:
    """Return what tells a page that asks again that there is nothing new."""
    return finished(Response(status=UNCHANGED))


def _unchanged(version: str, *, final: bool) -> bool:
    return request.args.get("version") == version and not final


def render(template: str, **values: object) -> bytes:
    """Return a template with these values, and those that every page has, to be sent once."""
    return visitors.visitor().masked(_rendered(template, **values))


def _rendered(template: str, **values: object) -> bytes:
    page = environment().get_template(template).render(**values, **common(visitors.visitor())).encode()
    return middleware.placed(middleware.IN_PAGE, page, request.script_root)


def common(known: visitors.Visitor) -> dict[str, Any]:
    """Return what every page shows: who looks, in which colours, where, and below which path the service is."""
    return {"visitor": known, "here": visitors.here(), "path": request.path, "prefix": request.script_root}


def finished(response: Response) -> Response:
    """Return the response with the headers of every page."""
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    return response


def go_to(address: str) -> Response:
    """Send the browser on to an address of this service, which it asks for with GET.

    The script that sends forms would put what is there into the page that sent the form, so it is sent there instead.
    """
    scripted = "HX-Request" in request.headers
    response = Response(status=204 if scripted else 303)
    response.headers["HX-Redirect" if scripted else "Location"] = address
    return finished(response)


def pages(name: str, prefix: str | None = None) -> Blueprint:
    """Return a blueprint of pages: what goes wrong there is shown as a page (see service.pages.answers)."""
    return Blueprint(f"{BLUEPRINTS}{name}", __name__, url_prefix=prefix)


BLUEPRINTS = "pages_"
"""How the names of blueprints of pages begin."""


API = "/v1"


def as_page(response: Response) -> Response:
    """Return the page of a problem where a page was asked for; any other response unchanged."""
    if not isinstance(response, ProblemResponse) or not _page_wanted():
        return response
    if response.status_code == 401:
        response.headers.pop("WWW-Authenticate", None)  # a browser would ask for a name and a password
    unknown = visitors.shown_visitor().signed is None
    body = render("problem.html", problem=response.problem, sign_in=unknown and response.status_code in (401, 403))
    response.set_data(body)
    response.content_type = HTML
    return finished(response)


def _page_wanted() -> bool:
    """Return whether the address is that of a page, or unknown and asked for by a browser."""
    if request.blueprint is not None:
        return request.blueprint.startswith(BLUEPRINTS)
    return not request.path.startswith(API) and "text/html" in request.headers.get("Accept", "")


EXPORT_NAMES = {"csv": "CSV", "tsv": "TSV", "markdown": "Markdown", "latex": "LaTeX", "svg": "SVG", "json": "JSON"}
PAGES_OWN = ("sort", "version", "order", "shade", "a", "b", "format")
"""Parameters that the API does not know."""


def export_links(
    address: str, query: Mapping[str, str], formats: Collection[str], without: Collection[str] = ("version", "format")
) -> list[tuple[str, str]]:
    """Return names and addresses of the formats of an export.

    Args:
        address: that answers with them.
        query: of the page, whose state they have.
        formats: that there are.
        without: parameters that the address does not take.
    """
    members = {name: value for name, value in query.items() if value and name not in without}
    links = {form: f"{address}?{urlencode({**members, 'format': form})}" for form in formats}
    return [(words, links[form]) for form, words in EXPORT_NAMES.items() if form in links]


def api_links(api: str, page: str, query: Mapping[str, str], formats: Collection[str]) -> list[tuple[str, str]]:
    """Return names and addresses of what the API exports, or the page for who is signed in."""
    return export_links(api if visitors.visitor().signed is None else page, query, formats, PAGES_OWN)


def sent(view: Shown[object]) -> Response:
    """Return what a use-case shows as it is, at an address of the pages."""
    return finished(answers.conditional(view, kind=Kind.PAGE))


def export(view: Shown[object], name: str) -> Response:
    """Return an export as a file of this name."""
    return download(sent(view), name, "inline")


TABLES = (CSV, TSV, MARKDOWN, LATEX)
"""Formats in which the table is exported as the page shows it; the others are the API's."""


def table_file(table: Table, form: str, name: str) -> Response:
    """Return a table as a page shows it, without its pictures, in one of TABLES, as a file of this name.

    Args:
        table: its claim is what stands with it on the page, in files for people.
        form: one of TABLES. In CSV and TSV figures are numbers as shown.
        name: of the file.
    """
    return export(Shown(None, table_bytes(table, form), content_type=leaderboards.SHEET_FORMATS[form]), name)


def table_bytes(table: Table, form: str) -> bytes:
    """Return what a file of a table holds; below it in Markdown stands its caption, too."""
    if form == MARKDOWN:
        return TABLE_FORMS[form](replace(table, caption="", claim=[table.caption, *table.claim])).encode()
    if form == LATEX:
        *head, lines = TABLE_FORMS[form](table).split("\n", 2)
        return "\n".join([*head, lines.replace("–", "--").replace(MINUS, "$-$")]).encode()
    numeric = [column.numeric for column in table.columns]
    figures = [
        [Marked(cell.replace(MINUS, "-")) if figure else cell for cell, figure in zip(line, numeric, strict=True)]
        for line in table.rows
    ]
    return separated([table.heads, *figures], form)
