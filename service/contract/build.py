"""Build openapi.yaml from the hand-written files of this folder and the marshmallow schemas."""

from __future__ import annotations

import difflib
from pathlib import Path

import yaml

from service.contract.generated import Generator, request_classes
from service.contract.operations import expanded_paths, header_name
from service.contract.parts import FOLDER, Parts, read_parts
from service.contract.tree import ContractError, Tree, mapping, reference

PUBLISHED = Path(__file__).parents[2] / "openapi.yaml"
HEADING = """\
# Built by `python -m service.contract` from service/contract/*.yaml and service/schemas/. Do not edit.
"""
MOST_LINES = 40


def contract_document(parts: Parts) -> Tree:
    """Return the published document."""
    generator = Generator({name: parts.schemas[name] for name in parts.shared}, parts.prose)
    general = dict(parts.general)
    security = general.pop("securitySchemes")
    schemas: Tree = {name: generator.component(kind) for name, kind in request_classes().items()}
    schemas.update({name: _page(items) for name, items in parts.pages.items()})
    for name, schema in parts.schemas.items():
        if name in schemas:
            raise ContractError(f"schemas: {name} is generated. Remove the hand-written one.")
        schemas[name] = _extended(parts.schemas, mapping(schema, name))
    return {
        **general,
        "paths": expanded_paths(parts, generator),
        "components": {
            "securitySchemes": security,
            "parameters": parts.common.parameters,
            "headers": parts.common.headers,
            "responses": {name: _response(mapping(each, name)) for name, each in parts.common.responses.items()},
            "schemas": dict(sorted(schemas.items())),
            "examples": parts.examples,
        },
    }


def _page(items: str) -> Tree:
    return {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
            "items": {"type": "array", "items": reference("schemas", items)},
            "next": reference("schemas", "Next"),
        },
    }


def _extended(schemas: Tree, schema: Tree) -> Tree:
    """Return a schema with the members of the one that it extends put first."""
    if "x-extends" not in schema:
        return schema
    name = str(schema["x-extends"])
    whole = _extended(schemas, mapping(schemas[name], name))
    own = {key: value for key, value in schema.items() if key != "x-extends"}
    required = [*_listed(whole.get("required")), *_listed(own.get("required"))]
    members = {**mapping(whole["properties"], name), **mapping(own["properties"], name)}
    inherited = {key: value for key, value in whole.items() if key != "description"}
    return {**inherited, **own, "required": required, "properties": members}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _response(short: Tree) -> Tree:
    """Return a common response; an error has a problem document."""
    response: Tree = {"description": short["description"]}
    names = short.get("x-headers", [])
    own = mapping(short.get("headers", {}), "headers")
    response["headers"] = {
        **own,
        **{header_name(str(name)): reference("headers", str(name)) for name in (*_listed(names), "RequestId")},
    }
    if short.get("x-problem", True):
        content: Tree = {"schema": reference("schemas", "Problem")}
        examples = mapping(short.get("x-examples", {}), "examples")
        if examples:
            content["examples"] = {name: reference("examples", str(example)) for name, example in examples.items()}
        response["content"] = {"application/problem+json": content}
    return response


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


def built(folder: Path = FOLDER) -> str:
    """Return the text of the document that the files of a folder describe."""
    whole = contract_document(read_parts(folder))
    _check_expanded(whole, "")
    return HEADING + yaml.dump(whole, Dumper=_Dumper, sort_keys=False, width=118, allow_unicode=True)


def _check_expanded(value: object, place: str) -> None:
    """Refuse words that nothing has expanded."""
    if isinstance(value, dict):
        for name, member in value.items():
            if name.startswith("x-"):
                raise ContractError(f"{place}: unknown word {name}.")
            _check_expanded(member, f"{place}/{name}")
    elif isinstance(value, list):
        for member in value:
            _check_expanded(member, place)


def difference(published: str, wanted: str) -> str:
    """Return the first lines of the difference; an empty string where there is none."""
    lines = difflib.unified_diff(published.splitlines(), wanted.splitlines(), "openapi.yaml", "built", n=1, lineterm="")
    shown = [line for _, line in zip(range(MOST_LINES), lines, strict=False)]
    return "\n".join(shown)
