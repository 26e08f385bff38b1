"""The pages of the documentation: the contract by tags, the guides, the problems, and a search over all.

All have in common contents at the left, a search field and one version. The script of the search page finds as the
service does, with the same index. The catalogue of problems, to which the `type` of each problem leads, is served as
JSON, and as pages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import orjson
from flask import Blueprint, Response, request
from marshmallow.validate import Length

from service.api import answers as api_answers
from service.api import calls, status
from service.api import status as contract
from service.api.answers import Kind, conditional
from service.errors import NotFound
from service.pages import answers, visitors
from service.pages.answers import HTML
from service.pages.docs import contract_reading, guides
from service.pages.docs.contract_reading import (
    answer_headers,
    components,
    homes,
    operations,
    request_headers,
    schema_address,
)
from service.pages.docs.guides import guides as all_guides
from service.pages.docs.guides import mentions
from service.problem_catalogue import CODES, TYPES
from service.schemas import queries
from service.schemas.base import Strict
from service.schemas.fields import String
from service.usecases import status as service_status
from service.usecases.runs.views import JSON_TYPE, View, json_view


@dataclass(frozen=True, slots=True)
class NoQuery:
    """A query without parameters."""


class NoParameters(Strict[NoQuery]):
    """Refuses every parameter."""

    into = NoQuery


def docs_pages(name: str, prefix: str = "/docs") -> Blueprint:
    """Return a blueprint of pages that are the same for everyone."""
    blueprint = answers.pages(name, prefix)
    blueprint.before_request(layout_of)
    return blueprint


def layout_of() -> None:
    """Find out who reads, before anything can go wrong."""
    visitors.reader()


def docs_page(
    template: str, version: object, values: Callable[[], Mapping[str, object]], kind: Kind = Kind.PAGE
) -> Response:
    """Return a page, which each process renders once for all readers who are not signed in.

    Args:
        template: its name, of one that extends docs.html.
        version: what the content depends on, beside contract, guides and catalogue of problems.
        values: of the template.
        kind: whether its address has other forms than the page.
    """
    return answers.known_page(template, (content_version(), version), lambda: {**contents(), **values()}, kind)


def contents() -> dict[str, object]:
    """Return what the frame of each page shows, and what its macros call."""
    return {
        "tags": contract_reading.tags(), "sections": guides.listed(), "operations_of": contract_reading.of_tag,
        "prose": guides.prose, "line": guides.line, "kind": contract_reading.kind, "members": contract_reading.members,
        "pretty": contract_reading.pretty, "resolve": contract_reading.resolve,
        "problem_types": contract_reading.problem_types, "q": "",
    }  # fmt: skip


@cache
def content_version() -> str:
    """Return what names contract, guides and catalogue of problems together."""
    catalogue = orjson.dumps(service_status.problem_documents())
    return hashlib.blake2b(contract.written() + guides.version().encode() + catalogue, digest_size=8).hexdigest()


MOST_FOUND = 50


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that can be found.

    Attributes:
        name: what it is called.
        kind: what it is, in a word.
        detail: where it stands, or what it means.
        address: of the place.
    """

    name: str
    kind: str
    detail: str
    address: str

    @property
    def words(self) -> str:
        """What is searched."""
        return f"{self.name} {self.detail}".lower()


@cache
def search_entries() -> tuple[Entry, ...]:
    """Return all entries, those of operations first."""
    return (*_indexed_entries(), *_schemas(), *_problems(), *_guides())


def found_entries(query: str) -> list[Entry]:
    """Return the entries that hold every word of a query, the best first, all of them."""
    words = query.lower().split()
    if not words:
        return []
    whole = " ".join(words)
    fitting = [(_rank(entry.name.lower(), whole, words), entry) for entry in search_entries() if _fits(entry, words)]
    return [entry for _, entry in sorted(fitting, key=lambda each: each[0])]


def _fits(entry: Entry, words: list[str]) -> bool:
    return all(word in entry.words for word in words)


def _rank(name: str, whole: str, words: list[str]) -> int:
    """Return 0 for the name itself, then its beginning, its end, what it holds, and last what only the detail holds."""
    if name == whole:
        return 0
    if name.startswith(whole):
        return 1
    if name.endswith(whole):
        return 2
    return 3 if all(word in name for word in words) else 4


def _indexed_entries() -> Iterator[Entry]:
    for operation in operations():
        detail = f"{operation.id}: {operation.document['summary']}"
        yield Entry(operation.title, "operation", detail, operation.address)
    for operation in operations():
        for parameter in operation.parameters:
            anchor = f"{operation.address}.{parameter['name']}"
            yield Entry(parameter["name"], "parameter", operation.title, anchor)
    for parameter in request_headers():
        yield Entry(parameter["name"], "header", "of requests", f"/docs/schemas#request-{parameter['name']}")
    for name in answer_headers():
        yield Entry(name, "header", "of answers", f"/docs/schemas#answer-{name}")


def _schemas() -> Iterator[Entry]:
    for name in components("schemas"):
        yield Entry(name, "schema", homes()[name] or "of several tags", schema_address(name))
    for name in components("schemas"):
        page = schema_address(name).partition("#")[0]
        for member in contract_reading.members(name):
            yield Entry(member.path, "member", f"of {name}", f"{page}#{member.anchor}")


def _problems() -> Iterator[Entry]:
    for kind, table in (("problem", TYPES), ("code", CODES)):
        for name, entry in table.items():
            yield Entry(name, kind, entry.title, f"/problems/{name}")


def _guides() -> Iterator[Entry]:
    for guide in all_guides().values():
        yield Entry(guide.title, "guide", guide.section, guide.address)
        for heading in guide.headings[1:]:
            yield Entry(heading.text, "guide", f"in {guide.title}", f"{guide.address}#{heading.anchor}")


overview_blueprint = Blueprint("documentation", __name__)
overview_blueprint.before_request(layout_of)
FIRST = ("TreesRequest", "TreesAnswer")
"""Examples of the contract for the first call, and its answer."""


@overview_blueprint.get("/docs")
def get_docs() -> Response:
    """Show the contract as pages."""
    return docs_page("docs_overview.html", request.host_url, _overview_values)


def _overview_values() -> Mapping[str, object]:
    sent, answered = (contract_reading.components("examples")[name]["value"] for name in FIRST)
    return {
        "info": status.document()["info"],
        "first_call": _call(request.host_url, contract_reading.pretty(sent)),
        "first_answer": contract_reading.pretty(answered),
    }


def _call(service: str, body: str) -> str:
    quoted = body.replace("'", "'\\''")
    return (
        f"curl -H 'Prefer: wait=20' -H 'Content-Type: application/json' \\\n"
        f"     {service}v1/jobs -d '{quoted}'"
    )  # fmt: skip


reference_blueprint = docs_pages("reference")


@reference_blueprint.get("/<tag>")
def show_tag(tag: str) -> Response:
    """Show the operations of a tag, and the schemas that only these use."""
    answers.query(NoParameters())
    documents = {each["name"]: each for each in contract_reading.tags()}
    if tag not in documents:
        raise NotFound("Unknown page. /docs lists the pages of the documentation.")
    return docs_page("docs_tag.html", "", lambda: _tag_values(documents[tag]))


@reference_blueprint.get("/schemas")
def show_schemas() -> Response:
    """Show the schemas and headers that operations of several tags use, and where all others stand."""
    answers.query(NoParameters())
    return docs_page("docs_schemas.html", "", _schema_values)


def _tag_values(tag: Mapping[str, object]) -> dict[str, object]:
    name = str(tag["name"])
    return {
        "tag": tag,
        "operations": contract_reading.of_tag(name),
        "schemas": _schemas_at(name),
        "guides_of": lambda operation: mentions().get(operation.id, ()),
    }


def _schema_values() -> dict[str, object]:
    return {
        "schemas": _schemas_at(""),
        "names": {name: contract_reading.schema_address(name) for name in sorted(contract_reading.homes())},
        "request_headers": contract_reading.request_headers(),
        "answer_headers": contract_reading.answer_headers(),
    }


def _schemas_at(tag: str) -> dict[str, Mapping[str, object]]:
    schemas = contract_reading.components("schemas")
    return {name: schemas[name] for name, home in contract_reading.homes().items() if home == tag}


guide_blueprint = docs_pages("guides")
NO_GUIDES = "This installation has no guides: the folder `docs` of the repository is not beside the folder `service`."


@guide_blueprint.get("/guides")
def list_guides() -> Response:
    """Show which guides there are."""
    answers.query(NoParameters())
    return docs_page("docs_guides.html", "", dict)


@guide_blueprint.get("/guides/<path:name>")
def show_guide(name: str) -> Response:
    """Show a guide."""
    answers.query(NoParameters())
    guide = guides.guides().get(name)
    if guide is None:
        raise NotFound("Unknown guide. /docs/guides lists them." if guides.guides() else NO_GUIDES)
    return docs_page("docs_guide.html", "", lambda: {"guide": guide, "html": guides.shown(guide)})


search_blueprint = docs_pages("search")
LONGEST_QUERY = 200


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is searched for."""

    q: str = ""


class SearchParameters(Strict[SearchQuery]):
    """The query of the search page."""

    into = SearchQuery

    q = String(validate=Length(max=LONGEST_QUERY, error=f"At most {LONGEST_QUERY} characters are searched for."))


@search_blueprint.get("/search")
def show_search() -> Response:
    """Show what is found."""
    query, _ = answers.query(SearchParameters())
    found = found_entries(query.q)
    shown = found[:MOST_FOUND]
    return answers.page("docs_search.html", 200, **{**contents(), "q": query.q, "found": shown, "total": len(found)})


@search_blueprint.get("/index.json")
def show_index() -> Response:
    """Show all that can be found, for the script."""
    answers.query(NoParameters())
    return answers.finished(conditional(_index(), kind=Kind.PUBLIC))


@cache
def _index() -> View:
    return json_view({"most": MOST_FOUND, "entries": [_row(entry) for entry in search_entries()]})


def _row(entry: Entry) -> list[str]:
    return [entry.name, entry.kind, entry.detail, entry.address]


problem_blueprint = Blueprint("problems", __name__, url_prefix="/problems")
problem_blueprint.before_request(layout_of)
FORMS = {"json": JSON_TYPE, "html": HTML}


@problem_blueprint.get("")
def list_problems() -> Response:
    """List every type of problems, and every code."""
    if _form() == "json":
        return api_answers.conditional(_listed(), kind=Kind.PUBLIC)
    return docs_page("problems.html", "", lambda: {"problems": service_status.problem_documents()}, Kind.PAGE_OR_FORMS)


@problem_blueprint.get("/<problem>")
def get_problem(problem: str) -> Response:
    """Show one type or code of problems."""
    form = _form()
    document = service_status.problem_document(problem)
    if form == "json":
        return api_answers.conditional(json_view(document), kind=Kind.PUBLIC)
    return docs_page("problem_entry.html", "", lambda: _problem_values(document), Kind.PAGE_OR_FORMS)


@cache
def _listed() -> View:
    return json_view({"problems": service_status.problem_documents()})


def _form() -> str:
    return calls.form_of(FORMS, calls.query(queries.PROBLEMS).format)


def _problem_values(document: dict[str, object]) -> dict[str, object]:
    status = str(document.get("status", ""))
    answering = [each for each in contract_reading.operations() if status in each.document["responses"]]
    return {"problem": document, "operations": answering}
