"""Build openapi.yaml: the head, the paths, and the components that these refer to.

Types and records of routes say nearly all of it. What they cannot say is written by hand: the head (general.yaml), the
examples (examples.yaml), and what operations have in common (common.py).
"""

import dataclasses
import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from apispec import APISpec
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from flask import Flask, Response
from typing_extensions import is_typeddict

from service.api.calls import OPERATIONS, Answer, Body, Operation
from service.api.status import YAML
from service.app import BLUEPRINTS
from service.contract import access, benchmarks, common, comparisons, derive, jobs, leaderboards, service, submissions
from service.contract.fields import Checked, Either, Mapped, Nested
from service.openapi.common import ANSWERS, FORMS, HEADERS, IMPLIED, PARAMETERS, TEXT, WORDS, Common, Form, Word
from service.pages.site import PAGES
from service.requests import Query, Request

Tree = dict[str, Any]


class ContractError(Exception):
    """A type or a record is wrong; the message names the place and the fault."""


def known(names: Iterable[str], allowed: Iterable[str], place: str) -> None:
    """Check that all names are allowed.

    Raises:
        ContractError: one is not.
    """
    unknown = sorted(set(names) - set(allowed))
    if unknown:
        raise ContractError(f"{place} has unknown names: {', '.join(unknown)}.")


def reference(kind: str, name: str) -> Tree:
    """Return a reference to a component."""
    return {"$ref": f"#/components/{kind}/{name}"}


NOUNS = (
    common, jobs, benchmarks, access, submissions, leaderboards, comparisons, service,
)  # fmt: skip
ORDER = ("type", "additionalProperties", "required", "description", "properties")


def noun_types() -> dict[str, type]:
    """Return the requests and answers of all nouns that openapi.yaml has names for, by these names."""
    return {
        name: kind
        for noun in NOUNS
        for name, kind in vars(noun).items()
        if isinstance(kind, type) and kind.__module__ == noun.__name__ and is_document(kind)
    }


def is_document(kind: type) -> bool:
    """Return whether openapi.yaml has a name for a type: no query, no object that stands where it is used."""
    if is_typeddict(kind):
        return not derive.mark_of(kind, "inline")
    return issubclass(kind, Request) and not issubclass(kind, Query)


def name_of(kind: Any) -> str:
    """Return the name that openapi.yaml has for a type."""
    if get_origin(kind) is derive.Page:
        return f"{get_args(kind)[0].__name__.removesuffix('Summary')}Page"
    named = [note.name for note in getattr(kind, "__metadata__", ()) if isinstance(note, derive.Named)]
    return named[0] if named else str(kind.__name__)


def words_of(kind: type) -> tuple[str, dict[str, str]]:
    """Return what the docstring of a type and of its bases says of it, and of its members.

    Raises:
        ContractError: it describes a member that the type does not have.
    """
    members: dict[str, str] = dict(derive.mark_of(kind, "words") or {})
    whole = ""
    for each in reversed(list(_with_bases(get_origin(kind) or kind))):
        whole, _, listed = inspect.cleandoc(each.__doc__ or "").partition("Attributes:")
        entries = re.split(r"\n(?=\S)", inspect.cleandoc(listed)) if listed else []
        members.update(map(_member, entries))
    known(members, derive.schema_class(kind)().fields, f"the docstring of {kind.__name__}")
    return prose(whole), members


def _member(entry: str) -> tuple[str, str]:
    name, _, words = prose(entry).partition(": ")
    return name, words


def _with_bases(kind: type) -> Iterator[type]:
    """Yield a type and its bases, of which a TypedDict remembers only those that its class statement names."""
    if not is_typeddict(kind):
        yield from (each for each in kind.__mro__ if dataclasses.is_dataclass(each))
        return
    yield kind
    for base in vars(kind)["__orig_bases__"]:
        if is_typeddict(base):
            yield from _with_bases(base)


def prose(words: str) -> str:
    """Return the words of a docstring, each paragraph in one line, but for commands, which are indented."""
    paragraphs = words.strip("\n ").split("\n\n")
    return "\n\n".join(each if each.startswith("    ") else " ".join(each.split()) for each in paragraphs)


class Generator(OpenAPIConverter):
    """Makes the schemas of openapi.yaml from those that are derived from the types of nouns.

    Attributes:
        named: the schemas of named scalars that were met.
    """

    def __init__(self) -> None:
        spec = APISpec(title="Treescore", version="0", openapi_version="3.1.0")
        super().__init__(spec.openapi_version, lambda schema: type(schema).__name__, spec)
        self.named: dict[str, Tree] = {}

    def name_scalars(self) -> None:
        """Meet the named types of all nouns, also those that no member has."""
        for noun in NOUNS:
            for kind in vars(noun).values():
                if any(isinstance(note, derive.Named) for note in getattr(kind, "__metadata__", ())):
                    self.field2property(derive.field_of(kind))

    def component(self, kind: type) -> Tree:
        """Return the schema of a request, an answer, or an object in one."""
        schema = derive.schema_class(kind)()
        words, described = words_of(kind)
        whole: Tree = {"type": "object", "description": words}
        if derive.mark_of(kind, "more") or derive.mark_of(kind, "closed") or dataclasses.is_dataclass(kind):
            whole["additionalProperties"] = bool(derive.mark_of(kind, "more"))
        required = [name for name, field in schema.fields.items() if field.required]
        if required:
            whole["required"] = required
        whole["properties"] = {
            name: {**self.field2property(field), **({"description": described[name]} if name in described else {})}
            for name, field in schema.fields.items()
        }
        return {name: whole[name] for name in ORDER if name in whole}

    def parameters(self, kind: type) -> list[Tree]:
        """Return the query parameters of a class."""
        fields = derive.schema_class(kind)().fields
        _, described = words_of(kind)
        missing = set(fields) - set(described)
        if missing:
            raise ContractError(f"{kind.__name__}: describe these parameters: {', '.join(sorted(missing))}.")
        return [
            {
                "name": name,
                "in": "query",
                **({"required": True} if field.required else {}),
                "description": described[name],
                "schema": self.field2property(field),
            }
            for name, field in fields.items()
        ]

    def field2property(self, field: derive.Field) -> Tree:
        """Return the schema of a field in OpenAPI 3.1: a named one is a component."""
        plain = copy(field)
        plain.allow_none = False
        schema = {**self._plain(plain), **field.metadata.get("says", {})}
        named = field.metadata.get("named")
        if named is not None:
            component = {**schema, "description": named.words} if named.words else schema
            if self.named.setdefault(named.name, component) != component:
                raise ContractError(f"{named.name} is the name of two types.")
            schema = reference("schemas", named.name)
        return _or_null(schema) if field.allow_none else schema

    def _plain(self, field: derive.Field) -> Tree:
        if isinstance(field, Nested):
            kind = vars(type(field.schema))["kind"]
            return self.component(kind) if derive.mark_of(kind, "inline") else reference("schemas", kind.__name__)
        if isinstance(field, Either):
            return _either(field.metadata.get("word", "oneOf"), [self.field2property(kind) for kind in field.kinds])
        schema: Tree = super().field2property(field)
        if isinstance(field, Checked):
            schema.update(field.json_schema())
        if isinstance(field, Mapped):
            schema["additionalProperties"] = self.field2property(field.inner) or True
        if "pattern" in schema:
            schema["pattern"] = str(schema["pattern"]).replace(r"\A", "^").replace(r"\Z", "$")
        return schema


def _or_null(schema: Tree) -> Tree:
    if isinstance(schema.get("type"), str | list):
        enum = schema.get("enum")
        more = {"enum": [*enum, None]} if isinstance(enum, list) else {}
        return {**schema, "type": [*_listed(schema["type"]), "null"], **more}
    word = "anyOf" if "anyOf" in schema else "oneOf"
    return {word: [*_listed(schema.get(word, schema)), {"type": "null"}]} if schema else schema


def _either(word: str, kinds: list[Tree]) -> Tree:
    """Return the schema of what one of several describes; scalars by their types."""
    if all(list(kind) == ["type"] and isinstance(kind["type"], str) for kind in kinds):
        return {"type": [kind["type"] for kind in kinds]}
    return {word: kinds}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


METHODS = ("get", "post", "put", "patch", "delete")
JSON, PROBLEM = "application/json", "application/problem+json"


@dataclass(frozen=True, slots=True)
class Route:
    """An operation, its function, and where it is."""

    operation: Operation
    view: Callable[..., Response]
    blueprint: str
    path: str
    method: str

    @property
    def place(self) -> str:
        """What messages call it."""
        return f"{self.method.upper()} {self.path}"


def routes() -> list[Route]:
    """Return what the application publishes."""
    app = Flask(__name__)
    for blueprint in (*BLUEPRINTS, *PAGES):
        app.register_blueprint(blueprint)
    return list(_routes(app))


def _routes(app: Flask) -> Iterator[Route]:
    for rule in app.url_map.iter_rules():
        view = app.view_functions[rule.endpoint]
        for method in METHODS:
            if view in OPERATIONS and method.upper() in (rule.methods or ()):
                path = re.sub(r"<(\w+)>", r"{\1}", rule.rule)
                yield Route(OPERATIONS[view], view, rule.endpoint.partition(".")[0], path, method)


def expanded_paths(found: Sequence[Route], tags: Mapping[str, str], generator: Generator) -> Tree:
    """Return the paths of the document.

    Args:
        found: the routes.
        tags: blueprint -> tag, in the order of the document.
        generator: of the schemas of queries.
    """
    order = list(tags)
    by_name = {parameter.name: name for name, parameter in PARAMETERS.items()}
    paths: Tree = {}
    for route in sorted(found, key=lambda route: order.index(route.blueprint)):
        if route.path not in paths:
            names = [by_name[name] for name in re.findall(r"\{(\w+)\}", route.path)]
            parameters = [reference("parameters", name) for name in names]
            paths[route.path] = {"parameters": parameters} if parameters else {}
        paths[route.path][route.method] = expanded(route, tags[route.blueprint], generator)
    return {path: _in_order(item) for path, item in paths.items()}


def _in_order(item: Tree) -> Tree:
    return {name: item[name] for name in ("parameters", *METHODS) if name in item}


def expanded(route: Route, tag: str, generator: Generator) -> Tree:
    """Return an operation of the document."""
    operation, words = route.operation, list(_words(route))
    parameters = [] if operation.query is None else generator.parameters(operation.query)
    parameters += [reference("parameters", name) for word in words for name in word.parameters.split()]
    summary, _, description = inspect.cleandoc(route.view.__doc__ or "").partition("\n")
    return {
        "operationId": route.view.__name__,
        "tags": [tag],
        "summary": summary,
        "description": prose(description),
        "security": _security(operation),
        **({"parameters": parameters} if parameters else {}),
        **({} if operation.body is None else {"requestBody": _body(operation.body)}),
        "responses": _answers(route, words),
    }


def _words(route: Route) -> Iterator[Word]:
    operation = route.operation
    holds = {
        "v1": route.path.startswith("/v1/"),
        "token": operation.scopes is not None,
        "scope": bool(operation.scopes),
        "read": route.method == "get",
        "body": operation.body is not None,
    }
    known(operation.words, set(WORDS) - set(IMPLIED), route.place)
    for name in (*(name for name in IMPLIED if holds[name]), *operation.words):
        yield WORDS[name]


def _security(operation: Operation) -> list[Tree]:
    if operation.scopes is None:
        return []
    if operation.anyone:
        return [{"bearer": []}, {}]
    return [{"bearer": [scope]} for scope in operation.scopes]


def _content(kind: Any, examples: Mapping[str, str]) -> Tree:
    """Return what a media type holds: JSON of a type, or text."""
    if isinstance(kind, str):
        return {kind: {"schema": {"description": "The document as YAML."} if kind == YAML else dict(TEXT)}}
    shown = {"examples": _examples(examples)} if examples else {}
    return {JSON: {"schema": reference("schemas", name_of(kind)), **shown}}


def _examples(names: Mapping[str, str]) -> Tree:
    return {name: reference("examples", example) for name, example in names.items()}


def _body(body: Body) -> Tree:
    content = _content(body.json, body.examples)
    if body.form is not None:
        content["multipart/form-data"] = {"schema": reference("schemas", body.form)}
    for media in body.texts:
        content.update(_content(media, {}))
    return {"required": True, "content": content}


def _answers(route: Route, words: Sequence[Word]) -> Tree:
    found = {str(answer.status): _answer(answer, words, route.place) for answer in route.operation.answers}
    for name in (name for word in words for name in word.answers.split()):
        status = str(ANSWERS[name].status)
        if found.setdefault(status, reference("responses", name)) != reference("responses", name):
            raise ContractError(f"{route.place}: two answers {status}.")
    return dict(sorted(found.items()))


def _answer(answer: Answer, words: Sequence[Word], place: str) -> Tree:
    wanted = {name for word in words for name in word.headers.get(answer.status, "").split()} | set(answer.headers)
    known(wanted, HEADERS, place)
    content: Tree = {}
    for kind in answer.contents:
        content.update(_content(kind, answer.examples))
    headers = {header_name(name): reference("headers", name) for name in HEADERS if name in wanted}
    return {
        "description": answer.words,
        **({"headers": headers} if headers else {}),
        **({"content": content} if content else {}),
    }


def header_name(component: str) -> str:
    """Return the HTTP name of a header component; `RetryAfterUnfinished` is an optional `Retry-After`."""
    if component == "ETag":
        return component
    return "-".join(re.findall("RateLimit|[A-Z][a-z]+", component.removesuffix("Unfinished")))


def common_components() -> Tree:
    """Return the parameters, headers and answers that operations have in common."""
    return {
        "parameters": {
            name: {
                "name": parameter.name,
                "in": parameter.place,
                **({"required": True} if parameter.place == "path" else {}),
                "description": parameter.words,
                "schema": dict(parameter.schema),
                **({} if parameter.example is None else {"example": parameter.example}),
            }
            for name, parameter in PARAMETERS.items()
        },
        "headers": {name: header.document() for name, header in HEADERS.items()},
        "responses": {name: _common(each) for name, each in ANSWERS.items()},
    }


def _common(answer: Common) -> Tree:
    """Return an answer of many operations; an error has a problem document, each has a Request-Id."""
    headers: Tree = {name: header.document() for name, header in answer.own.items()}
    headers.update({header_name(name): reference("headers", name) for name in (*answer.headers, "RequestId")})
    shown = {"examples": _examples(answer.examples)} if answer.examples else {}
    content = {"content": {PROBLEM: {"schema": reference("schemas", "Problem"), **shown}}} if answer.problem else {}
    return {"description": answer.words, "headers": headers, **content}


FOLDER = Path(__file__).parent
PUBLISHED = FOLDER.parents[1] / "openapi.yaml"
HEADING = "# Built by `python -m service.openapi` from service/contract/ and service/api/. Do not edit.\n"
MOST_LINES = 40


def contract_document(found: Sequence[Route]) -> Tree:
    """Return the document that publishes these routes."""
    head, made = _load("general.yaml"), Generator()
    tags = {blueprint: tag["name"] for tag in head["tags"] for blueprint in tag.pop("blueprints")}
    security = head.pop("securitySchemes")
    paths = expanded_paths(found, tags, made)
    return {
        **head,
        "paths": paths,
        "components": {
            "securitySchemes": security,
            **common_components(),
            "schemas": dict(sorted(_schemas(found, made).items())),
            "examples": _load("examples.yaml"),
        },
    }


def _load(name: str) -> Tree:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loaded: Tree = yaml.load((FOLDER / name).read_bytes(), loader)  # noqa: S506 - a safe loader
    return loaded


def _schemas(found: Sequence[Route], made: Generator) -> Tree:
    answered = [kind for route in found for answer in route.operation.answers for kind in answer.contents]
    pages = {name_of(kind): kind for kind in answered if not isinstance(kind, str) and name_of(kind).endswith("Page")}
    schemas = {name: made.component(kind) for name, kind in {**noun_types(), **pages}.items()}
    made.name_scalars()
    for more in (made.named, {name: _form(form) for name, form in FORMS.items()}):
        twice = set(schemas) & set(more)
        if twice:
            raise ContractError(f"{', '.join(sorted(twice))} is the name of two schemas.")
        schemas.update(more)
    return schemas


def _form(form: Form) -> Tree:
    """Return the schema of a form: JSON without the texts, and a file for each text."""
    file = {"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"}
    meta = {"type": "object", "description": form.meta} if form.schema is None else reference("schemas", form.schema)
    named = {name: {**file, "description": words} for name, words in form.named.items()}
    return {
        "type": "object",
        "required": ["meta"],
        "properties": {"meta": meta, **named},
        "additionalProperties": {**file, "description": form.others},
    }


class _Dumper(yaml.SafeDumper):
    """Writes multi-line strings as blocks, lists of scalars on one line, and no aliases."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        super().increase_indent(flow, False)


def _string(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value and "\t" not in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _list(dumper: _Dumper, value: list[object]) -> yaml.SequenceNode:
    flow = all(isinstance(each, str | int | float | None) for each in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=flow)


_Dumper.add_representer(str, _string)
_Dumper.add_representer(list, _list)


def built() -> str:
    """Return the text of the document."""
    whole = contract_document(routes())
    return HEADING + yaml.dump(whole, Dumper=_Dumper, sort_keys=False, width=118, allow_unicode=True)


def difference(published: str, wanted: str) -> str:
    """Return the first lines of the difference; an empty string where there is none."""
    lines = difflib.unified_diff(published.splitlines(), wanted.splitlines(), "openapi.yaml", "built", n=1, lineterm="")
    shown = [line for _, line in zip(range(MOST_LINES), lines, strict=False)]
    return "\n".join(shown)
