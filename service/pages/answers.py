"""Answer with pages: templates, validators, the policy header, and fragments for what is live."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from service.api import answers, calls
from service.api.answers import Kind
from service.api.codings import known_tag
from service.pages import figures, static_files
from service.pages.visitors import CSRF_FIELD, Visitor, here, visitor
from service.problem_catalogue import CODES
from service.recent import LruCache
from service.schemas.base import Loaded, Strict, load
from service.usecases.runs.views import View, etag_of
from treescore.core.one_line import clean
from treescore.core.version import __version__
from treescore.render.chart_words import MISSING

HTML = "text/html; charset=utf-8"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of every page: nothing from other hosts, no script, style or event handler in the page."""
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
        "fix": fix_of, "p": figures.p_value, "time": figures.time, "whole": figures.whole, "clean": clean,
        "query": lambda members: urlencode({name: value for name, value in members.items() if value is not None}),
    }  # fmt: skip
    made.globals |= {"static": static_files.address, "CSRF_FIELD": CSRF_FIELD, "MISSING": MISSING}
    return made


def fix_of(code: str) -> str:
    """Return what to do about a problem of this code; nothing of one that this version does not know."""
    entry = CODES.get(code)
    return "" if entry is None else entry.fix


@cache
def templates_version() -> str:
    """Return what names the templates of this version: pages that are made of others have other validators."""
    digest = hashlib.blake2b(f"{__version__} {static_files.version()}".encode(), digest_size=8)
    for path in sorted(TEMPLATES.rglob("*.html")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def query(schema: Strict[Loaded], *own: str) -> tuple[Loaded, dict[str, str]]:
    """Return the query of a page's address, and the parameters that only the page knows.

    A control that is left empty counts as not given.

    Args:
        schema: of the use-case behind the page.
        own: names of parameters of the page; those that are not given are missing in the answer.

    Raises:
        BadRequest: a parameter is unknown, repeated or invalid.
    """
    given = {name: values for name, values in request.args.to_dict(flat=False).items() if values != [""]}
    pages_own = {name: given.pop(name)[0] for name in own if name in given}
    return calls.load_query(schema, given), pages_own


def loaded(schema: Strict[Loaded], given: object) -> Loaded:
    """Return the request that the fields of a form stand for.

    Raises:
        Unprocessable: with every fault.
    """
    return load(schema, given, calls.context().config.max_problems)


def page(template: str, status: int = 200, **values: object) -> Response:
    """Return a page whose validator is that of its bytes."""
    body = render(template, **values)
    if status != 200:
        return finished(Response(body, status, content_type=HTML))
    if request.method not in ("GET", "HEAD"):
        return finished(answers.unstored(Response(body, content_type=HTML)))
    return finished(answers.conditional(View(body, etag_of(body), content_type=HTML), kind=Kind.PAGE))


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


def _kept(
    template: str, tag: str, values: Callable[[], Mapping[str, object]], kind: Kind = Kind.PAGE
) -> Response:  # fmt: skip
    """Return 304, or the page that the process keeps under this validator, rendered once for all threads."""
    asked = answers.asked_of(request.environ)
    body = b""
    if known_tag(asked.known, asked.codings, tag) is None:
        body = _PAGES.get_or_make(tag, lambda: render(template, **values()))
    return answers.conditional(View(body, tag, content_type=HTML), kind=kind)


def tag_of(version: object, address: str) -> str:
    """Return the validator of what is shown at an address to this visitor."""
    depends = (templates_version(), visitor().key, address, version)
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


def known_fragment(
    template: str, version: str, *, final: bool, values: Callable[[], Mapping[str, object]]
) -> Response:  # fmt: skip
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
    """Return a template with these values, and those that every page has."""
    return _template(template).render(**values, **common(visitor())).encode()


def common(known: Visitor) -> dict[str, Any]:
    """Return what every page shows: who looks, in which colours, and where."""
    return {"visitor": known, "here": here(), "path": request.path}


@cache
def _template(name: str) -> Template:
    return environment().get_template(name)


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
    """Return a blueprint of pages: what goes wrong there is shown as a page (see service.pages.problems)."""
    return Blueprint(f"{BLUEPRINTS}{name}", __name__, url_prefix=prefix)


BLUEPRINTS = "pages_"
"""How the names of blueprints of pages begin."""
