"""Build openapi.yaml: the head, the paths, and the components that these refer to.

Types and records of routes say nearly all of it. What they cannot say is written by hand: the head (general.yaml), the
examples (examples.yaml), and what operations have in common (common.py).
"""

import difflib
from collections.abc import Sequence
from pathlib import Path

import yaml

from service.openapi.common import FORMS, Form
from service.openapi.operations import Route, common_components, expanded_paths, routes
from service.openapi.schemas import ContractError, Generator, Tree, name_of, noun_types, reference

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
