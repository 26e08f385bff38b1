"""The documentation on pages: the contract by tags, the guides, the problems, and a search over all.

All have in common contents at the left, a search field and one version. The script of the search page finds as the
service does, with the same index. The catalogue of problems, to which the `type` of each problem leads, is served as
JSON, and as pages. A guide of this checkout tells of the operations that it calls in an example, or names.
"""

import hashlib
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Annotated, NamedTuple

import orjson
from flask import Blueprint, Response, request
from markdown_it.token import Token
from markupsafe import Markup
from marshmallow.validate import Length

from service import errors, requests
from service.api import answers as api_answers
from service.api import calls
from service.api import status as contract
from service.api.answers import Kind, conditional
from service.contract.fields import Fault
from service.contract.service import ProblemEntry, Problems, ProblemsQuery
from service.pages import answers, contract_reading, markdown, visitors
from service.pages.markdown import Heading, Links, plain_text
from service.usecases import status as service_status
from service.usecases.runs import JSON_TYPE, Shown

FOLDER = Path(__file__).parents[2] / "docs"
PREFIX = "/docs/guides/"
SECTIONS = (
    ("Tutorials", "tutorials"),
    ("Guides", "guide"),
    ("Metrics", "metrics"),
    ("Catalogue", "reference"),
    ("Explanation", ""),
    ("Operation", "operate"),
)
"""Headings over the guides, and the folders that these stand in."""
ELSEWHERE: Mapping[str, str] = {
    "index.md": "/docs",
    "reference/index.md": "/docs",
    "reference/operations.md": "/docs",
    "reference/problems.md": "/problems",
    "../openapi.yaml": "/openapi.yaml",
}
"""Pages of the site that another page of the service stands for."""
NOT_SHOWN = ("reference/python.md", "reference/command_line.md")
"""What Sphinx makes of docstrings."""
_MAIN = "guide/"
_TUTORIAL = "Tutorial: "
_WRITTEN_BY = re.compile(r"\A<!--.*?-->\s*", re.DOTALL)


class Guide(NamedTuple):
    """A guide.

    Attributes:
        name: last part of its address.
        path: below the folder of guides.
        section: the heading under which it is listed.
        text: in Markdown.
        headings: of the text, its title first.
    """

    name: str
    path: str
    section: str
    text: str
    headings: tuple[Heading, ...]

    @property
    def title(self) -> str:
        """Its first heading."""
        return self.headings[0].text

    @property
    def sections(self) -> list[Heading]:
        """Its headings below the title."""
        return [heading for heading in self.headings if heading.level == 2]

    @property
    def label(self) -> str:
        """Its title under the heading of its section."""
        label = self.title.removeprefix(_TUTORIAL)
        return self.title if label == self.title else label[:1].upper() + label[1:]

    @property
    def address(self) -> str:
        """Where it is shown."""
        return PREFIX + self.name


@cache
def guides() -> Mapping[str, Guide]:
    """Return the guides by their names; none where the folder is not beside the service."""
    return {guide.name: guide for section, folder in SECTIONS for guide in _section(section, folder)}


def listed() -> list[tuple[str, list[Guide]]]:
    """Return the headings of sections, each with its guides."""
    sections = ((section, [each for each in guides().values() if each.section == section]) for section, _ in SECTIONS)
    return [(section, found) for section, found in sections if found]


def shown(guide: Guide) -> Markup:
    """Return a guide as HTML."""
    return markdown.render(markdown.parse(guide.text), Links(partial(target_address, guide.path), code_address))


def prose(text: str) -> Markup:
    """Return a description of the contract as paragraphs."""
    return markdown.render(markdown.parse(text), _LINKS)


def line(text: str) -> Markup:
    """Return a description of the contract for a cell: one paragraph stands without its element."""
    return markdown.line(text, _LINKS)


def code_address(quoted: str) -> str | None:
    """Return the address of what a piece of code names: an operation, a problem, a guide."""
    if quoted.startswith("docs/") and quoted.endswith(".md"):
        return _addresses().get(quoted.removeprefix("docs/"))
    return contract_reading.of_code(quoted)


def target_address(path: str, target: str) -> str | None:
    """Return the address of a link's target; None where no page of the service shows it.

    Args:
        path: of the guide that has the link.
        target: as the link has it.
    """
    if "://" in target or target.startswith("mailto:"):
        return target
    file, _, anchor = target.partition("#")
    if not file:
        return f"#{anchor}"
    at = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
    if at in ELSEWHERE:
        return contract_reading.in_reference(ELSEWHERE[at], anchor)
    address = _addresses().get(at)
    return None if address is None else address + (f"#{anchor}" if anchor else "")


def _addresses() -> dict[str, str]:
    return {guide.path: guide.address for guide in guides().values()}


def _section(section: str, folder: str) -> list[Guide]:
    found = [_guide(path, section) for path in sorted((FOLDER / folder).glob("*.md"))]
    kept = [guide for guide in found if guide.path not in ELSEWHERE and guide.path not in NOT_SHOWN]
    return sorted(kept, key=lambda guide: (not guide.name.endswith("index"), guide.title.lower()))


def _guide(path: Path, section: str) -> Guide:
    text = _WRITTEN_BY.sub("", path.read_text("utf-8"))
    below = path.relative_to(FOLDER).as_posix()
    name = below.removesuffix(".md").removeprefix(_MAIN).lower()
    return Guide(name, below, section, text, tuple(markdown.headings(markdown.parse(text))))


_LINKS = Links(lambda target: target_address("", target), code_address)


CATALOGUE = "reference/"
"""Written by a program from the same contract: it tells of every operation, so it leads to none."""
_CURL = re.compile(r"\bcurl\b")
_PATH = re.compile(r"(?:http://[\w.:]+|\$URL|\$\{URL\})?(/v1(?:/[^/\s\"'?\\]+)+)")
_NAMED = re.compile(rf"({'|'.join(contract_reading.METHODS).upper()}) ((?:/v1/|…/)[^\s?`]+)(?:\?\S*)?")
_PYTHON = re.compile(r"\bclient\.(\w+)\(")
_METHOD = re.compile(r"-X ([A-Z]+)")
_SENDS = re.compile(r"\s(?:-d|-F|--data\S*)\s")


class Mention(NamedTuple):
    """A place of a guide that tells of an operation."""

    guide: Guide
    anchor: str
    heading: str

    @property
    def address(self) -> str:
        """Where the section begins."""
        return f"{self.guide.address}#{self.anchor}"


@cache
def mentions() -> Mapping[str, list[Mention]]:
    """Return, for each operationId that guides tell of, the first place of each guide."""
    found: dict[str, dict[str, Mention]] = defaultdict(dict)
    for guide in guides().values():
        if guide.path.startswith(CATALOGUE):
            continue
        for operation, anchor, heading in _places(guide):
            found[operation.id].setdefault(guide.name, Mention(guide, anchor, heading))
    return {name: list(places.values()) for name, places in found.items()}


def calls_in(example: str) -> Iterator[contract_reading.Operation]:
    """Yield the operations that an example calls, with `curl` or with the client of the library."""
    for method in _PYTHON.findall(example):
        yield from (operation for operation in contract_reading.operations() if operation.id == method)
    for command in _CURL.split(example)[1:]:
        path = _PATH.search(command)
        if path is None:
            continue
        given = _METHOD.search(command)
        name = given[1] if given else ("POST" if _SENDS.search(command) else "GET")
        operation = contract_reading.called(name, path[1])
        if operation is not None:
            yield operation


def _places(guide: Guide) -> Iterator[tuple[contract_reading.Operation, str, str]]:
    anchor, heading = guide.headings[0].anchor, guide.title
    parsed = markdown.parse(guide.text)
    for before, token in zip([None, *parsed], parsed, strict=False):
        if before is not None and before.type == "heading_open":
            anchor, heading = str(before.attrGet("id")), plain_text(token)
        for operation in _named_by(token):
            yield operation, anchor, heading


def _named_by(token: Token) -> Iterator[contract_reading.Operation]:
    if token.type == "fence":
        yield from calls_in(token.content)
    for child in token.children or ():
        call = _NAMED.fullmatch(child.content) if child.type == "code_inline" else None
        operation = contract_reading.called(call[1], call[2]) if call else None
        if operation is not None:
            yield operation


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
        "tags": contract_reading.tags(), "sections": listed(), "operations_of": contract_reading.of_tag,
        "prose": prose, "line": line, "kind": contract_reading.kind, "members": contract_reading.members,
        "pretty": contract_reading.pretty, "resolve": contract_reading.resolve,
        "problem_types": contract_reading.problem_types, "q": "",
    }  # fmt: skip


@cache
def content_version() -> str:
    """Return what names contract, guides and catalogue of problems together."""
    texts = "\0".join(guide.path + guide.text for guide in guides().values())
    catalogue = orjson.dumps(service_status.problem_documents())
    return hashlib.blake2b(contract.written() + texts.encode() + catalogue, digest_size=8).hexdigest()


MOST_FOUND = 50


class Entry(NamedTuple):
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


def found_entries(query: str) -> list[Entry]:
    """Return the entries that hold every word of a query, the best first, all of them."""
    words = query.lower().split()
    if not words:
        return []
    whole = " ".join(words)
    fitting = [entry for entry in search_entries() if all(word in entry.words for word in words)]
    return sorted(fitting, key=lambda entry: _rank(entry.name.lower(), whole, words))


def _rank(name: str, whole: str, words: list[str]) -> int:
    """Return 0 for the name itself, then its beginning, its end, what it holds, and last what only the detail holds."""
    if name == whole:
        return 0
    if name.startswith(whole):
        return 1
    if name.endswith(whole):
        return 2
    return 3 if all(word in name for word in words) else 4


@cache
def search_entries() -> tuple[Entry, ...]:
    """Return all entries, those of operations first."""
    return tuple(_entries())


def _entries() -> Iterator[Entry]:
    for operation in contract_reading.operations():
        detail = f"{operation.id}: {operation.document['summary']}"
        yield Entry(operation.title, "operation", detail, operation.address)
    for operation in contract_reading.operations():
        for parameter in operation.parameters:
            anchor = f"{operation.address}.{parameter['name']}"
            yield Entry(parameter["name"], "parameter", operation.title, anchor)
    for parameter in contract_reading.request_headers():
        yield Entry(parameter["name"], "header", "of requests", f"/docs/schemas#request-{parameter['name']}")
    for name in contract_reading.answer_headers():
        yield Entry(name, "header", "of answers", f"/docs/schemas#answer-{name}")
    for name in contract_reading.components("schemas"):
        yield Entry(
            name, "schema", contract_reading.homes()[name] or "of several tags", contract_reading.schema_address(name)
        )
    for name in contract_reading.components("schemas"):
        page = contract_reading.schema_address(name).partition("#")[0]
        for member in contract_reading.members(name):
            yield Entry(member.path, "member", f"of {name}", f"{page}#{member.anchor}")
    for kind, table in (("problem", errors.TYPES), ("code", errors.CODES)):
        for name, entry in table.items():
            yield Entry(name, kind, entry.title, f"/problems/{name}")
    for guide in guides().values():
        yield Entry(guide.title, "guide", guide.section, guide.address)
        for heading in guide.headings[1:]:
            yield Entry(heading.text, "guide", f"in {guide.title}", f"{guide.address}#{heading.anchor}")


overview_blueprint = Blueprint("documentation", __name__)
overview_blueprint.before_request(layout_of)
FIRST = ("TreesRequest", "TreesAnswer")
"""Examples of the contract for the first call, and its answer."""


@overview_blueprint.get("/docs")
@calls.publishes(calls.answer("The page.", "text/html"))
def get_docs() -> Response:
    """Get this document as web pages.

    The first of several: one for each tag, with a search over operations, members and codes, and the guides. They load
    nothing from other addresses.
    """
    return docs_page("docs_overview.html", request.url_root, _overview_values)


def _overview_values() -> Mapping[str, object]:
    sent, answered = (contract_reading.components("examples")[name]["value"] for name in FIRST)
    quoted = contract_reading.pretty(sent).replace("'", "'\\''")
    call = f"{request.url_root}v1/jobs -d '{quoted}'"
    return {
        "info": contract.document()["info"],
        "first_call": f"curl -H 'Prefer: wait=20' -H 'Content-Type: application/json' \\\n     {call}",
        "first_answer": contract_reading.pretty(answered),
    }


reference_blueprint = answers.pages("reference", "/docs")
reference_blueprint.before_request(layout_of)


@reference_blueprint.get("/<tag>")
def show_tag(tag: str) -> Response:
    """Show the operations of a tag, and the schemas that only these use."""
    answers.query(requests.Query)
    documents = {each["name"]: each for each in contract_reading.tags()}
    if tag not in documents:
        raise errors.NotFound("Unknown page. /docs lists the pages of the documentation.")
    return docs_page("docs_tag.html", "", lambda: _tag_values(documents[tag]))


@reference_blueprint.get("/schemas")
def show_schemas() -> Response:
    """Show the schemas and headers that operations of several tags use, and where all others stand."""
    answers.query(requests.Query)
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


NO_GUIDES = "This installation has no guides: the folder `docs` of the repository is not beside the folder `service`."


@reference_blueprint.get("/guides")
def list_guides() -> Response:
    """Show which guides there are."""
    answers.query(requests.Query)
    return docs_page("docs_guides.html", "", dict)


@reference_blueprint.get("/guides/<path:name>")
def show_guide(name: str) -> Response:
    """Show a guide."""
    answers.query(requests.Query)
    guide = guides().get(name)
    if guide is None:
        raise errors.NotFound("Unknown guide. /docs/guides lists them." if guides() else NO_GUIDES)
    return docs_page("docs_guide.html", "", lambda: {"guide": guide, "html": shown(guide)})


LONGEST_QUERY = 200
TOO_LONG = Fault("bad-value", f"At most {LONGEST_QUERY} characters are searched for.")


@dataclass(frozen=True, slots=True)
class SearchQuery(requests.Query):
    """What is searched for."""

    q: Annotated[str, Length(max=LONGEST_QUERY, error=TOO_LONG)] = ""


@reference_blueprint.get("/search")
def show_search() -> Response:
    """Show what is found."""
    query, _ = answers.query(SearchQuery)
    found = found_entries(query.q)
    shown = found[:MOST_FOUND]
    return answers.page("docs_search.html", 200, **{**contents(), "q": query.q, "found": shown, "total": len(found)})


@reference_blueprint.get("/index.json")
def show_index() -> Response:
    """Show all that can be found, for the script."""
    answers.query(requests.Query)
    return answers.finished(conditional(_index(request.script_root), kind=Kind.PUBLIC))


@lru_cache(maxsize=4)
def _index(prefix: str) -> Shown[object]:
    rows = [(each.name, each.kind, each.detail, prefix + each.address) for each in search_entries()]
    return Shown({"most": MOST_FOUND, "entries": rows})


problem_blueprint = Blueprint("problems", __name__, url_prefix="/problems")
problem_blueprint.before_request(layout_of)
FORMS = {"json": JSON_TYPE, "html": answers.HTML}


@problem_blueprint.get("")
@calls.publishes(calls.answer("The catalogue.", Problems, "text/html"), query=ProblemsQuery, also="forms wrong")
def list_problems() -> Response:
    """List all problems with their causes and fixes.

    Types stand in the `type` of problems and failures, codes in `errors[]` and `warnings[]`.
    """
    if _form() == "json":
        return api_answers.conditional(_listed(), kind=Kind.PUBLIC)
    return docs_page("problems.html", "", lambda: {"problems": service_status.problem_documents()}, Kind.PAGE_OR_FORMS)


@problem_blueprint.get("/<problem>")
@calls.publishes(calls.answer("The entry.", ProblemEntry, "text/html"), query=ProblemsQuery, also="found forms wrong")
def get_problem(problem: str) -> Response:
    """Get the cause and the fix of one type or code of problems.

    The `type` of each problem is such an address. For a code, put it behind `/problems/`.
    """
    form = _form()
    document = service_status.problem_document(problem)
    if form == "json":
        return api_answers.conditional(Shown(document), kind=Kind.PUBLIC)
    return docs_page("problem_entry.html", "", lambda: _problem_values(document), Kind.PAGE_OR_FORMS)


@cache
def _listed() -> Shown[object]:
    return Shown({"problems": service_status.problem_documents()})


def _form() -> str:
    return calls.form_of(FORMS, calls.query(ProblemsQuery).format)


def _problem_values(document: dict[str, object]) -> dict[str, object]:
    status = str(document.get("status", ""))
    answering = [each for each in contract_reading.operations() if status in each.document["responses"]]
    return {"problem": document, "operations": answering}
