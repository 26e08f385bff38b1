"""Render pages of HTML that load nothing: the contract, from openapi.yaml alone, and the catalogue of problems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources

import orjson
from jinja2 import Environment
from markupsafe import Markup, escape

from treescore.core.params import Json

Document = Mapping[str, Json]
METHODS = ("get", "post", "put", "patch", "delete")
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Content-Security-Policy of the pages."""


def page(document: Document) -> str:
    """Return the page.

    Args:
        document: an OpenAPI 3.1 document with local references only.
    """
    environment = _environment()
    environment.filters["prose"] = prose
    environment.filters["kind"] = kind
    environment.filters["pretty"] = pretty
    environment.globals["resolve"] = lambda value: resolve(document, value)
    return environment.from_string(_file("page.html")).render(
        document=document,
        groups=[(tag, list(_operations(document, tag["name"]))) for tag in document["tags"]],
    )


def problem_page(problems: Sequence[Mapping[str, object]]) -> str:
    """Return the page of one problem, or of several."""
    environment = _environment()
    environment.filters["inline"] = _inline
    heading = problems[0]["title"] if len(problems) == 1 else "Problems"
    return environment.from_string(_file("problems.html")).render(problems=problems, heading=heading)


def _environment() -> Environment:
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.globals["style"] = Markup(_file("style.css"))  # noqa: S704 - our own file
    return environment


def _file(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text("utf-8")


def resolve(document: Document, value: Document) -> Document:
    """Return what a local reference stands for, with the members beside it; any other value unchanged."""
    if "$ref" not in value:
        return value
    target: Json = document
    for step in value["$ref"].removeprefix("#/").split("/"):
        target = target[step]
    return {**resolve(document, target), **{key: member for key, member in value.items() if key != "$ref"}}


def prose(text: str) -> Markup:
    """Render paragraphs, indented code and `code` of a description."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if block.startswith("    "):
            code = "\n".join(line.removeprefix("    ") for line in block.splitlines())
            blocks.append(Markup("<pre>{}</pre>").format(code))
        else:
            blocks.append(Markup("<p>{}</p>").format(_inline(block)))
    return Markup("\n").join(blocks)


def kind(schema: Document) -> Markup:
    """Describe a schema in a few words, with links to the named ones."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Markup('<a href="#schema-{0}">{0}</a>').format(name)
    for word in ("oneOf", "anyOf"):
        if word in schema:
            return Markup(" or ").join(kind(choice) for choice in schema[word])
    if "allOf" in schema:
        return Markup(" with ").join(kind(choice) for choice in schema["allOf"])
    if "enum" in schema:
        return Markup(", ").join(Markup("<code>{}</code>").format(value) for value in schema["enum"])
    if "const" in schema:
        return Markup("<code>{}</code>").format(schema["const"])
    types = schema.get("type", "any")
    words = " or ".join(types) if isinstance(types, list) else types
    if types == "array":
        return Markup("list of {}").format(kind(schema.get("items", {})))
    if types == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return Markup("object of {}").format(kind(schema["additionalProperties"]))
    bounds = [f"{sign} {schema[name]}" for name, sign in _BOUNDS if name in schema]
    if schema.get("format"):
        bounds.append(schema["format"])
    return escape(words + (f" ({', '.join(bounds)})" if bounds else ""))


_BOUNDS = (("minimum", "at least"), ("maximum", "at most"), ("default", "default"), ("maxLength", "length at most"))


def pretty(value: Json) -> str:
    """Return a value as indented JSON."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _inline(text: str) -> Markup:
    safe = str(escape(text))
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
    return Markup(re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", safe))  # noqa: S704 - escaped above


def _operations(document: Document, tag: str) -> Iterator[Document]:
    for path, item in document["paths"].items():
        for method in METHODS:
            operation = item.get(method)
            if operation is None or tag not in operation["tags"]:
                continue
            parameters = [*item.get("parameters", ()), *operation.get("parameters", ())]
            yield {
                **operation,
                "path": path,
                "method": method.upper(),
                "parameters": [resolve(document, parameter) for parameter in parameters],
                "responses": {
                    status: resolve(document, response) for status, response in operation["responses"].items()
                },
                "public": operation.get("security") == [],
            }
