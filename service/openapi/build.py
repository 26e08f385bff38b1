"""Build openapi.yaml: the head, the paths, and the components that these refer to.

Types and records of routes say nearly all of it. What they cannot say is written by hand: the head (general.yaml), the
examples (examples.yaml), and what operations have in common (common.py).
"""

import difflib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from flask import Flask, Response

from service.api.calls import OPERATIONS, Answer, Body, Operation
from service.api.status import YAML
from service.app import BLUEPRINTS
from service.openapi.common import ANSWERS, FORMS, HEADERS, IMPLIED, PARAMETERS, TEXT, WORDS, Common, Form, Word
from service.openapi.schemas import ContractError, Generator, Tree, known, name_of, noun_types, prose, reference
from service.pages.site import PAGES

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
