"""The hand-written files: general.yaml, common.yaml and one file for each tag; values of unknown shape in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

Tree = dict[str, object]


class ContractError(Exception):
    """A hand-written file is wrong; the message names the place and the fault."""


def mapping(value: object, place: str) -> Tree:
    """Return the value if it is a mapping.

    Raises:
        ContractError: it is something else.
    """
    if not isinstance(value, dict):
        raise ContractError(f"{place} must be a mapping, not {type(value).__name__}.")
    return value


def strings(value: object, place: str) -> list[str]:
    """Return the value if it is a list of strings.

    Raises:
        ContractError: it is something else.
    """
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ContractError(f"{place} must be a list of strings.")
    return value


def text(value: object, place: str) -> str:
    """Return the value if it is a string.

    Raises:
        ContractError: it is something else.
    """
    if not isinstance(value, str):
        raise ContractError(f"{place} must be a string.")
    return value


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


FOLDER = Path(__file__).parent
SECTIONS = ("paths", "prose", "pages", "schemas", "examples")


@dataclass(frozen=True, slots=True)
class Word:
    """What a word under `x-answers` stands for.

    Attributes:
        parameters: names of common parameters.
        headers: status -> names of common headers.
        responses: names of common responses.
    """

    parameters: tuple[str, ...]
    headers: Mapping[str, tuple[str, ...]]
    responses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Common:
    """The parts that all resources share."""

    words: Mapping[str, Word]
    parameters: Tree
    headers: Tree
    responses: Tree
    statuses: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Parts:
    """All hand-written parts.

    Attributes:
        paths: tag -> path -> path item.
        prose: schema class -> member -> description; the description of the class itself stands under "".
        pages: name of a page's schema -> name of its items' schema.
        shared: names of the schemas that generated requests refer to where they are equal.
    """

    general: Tree
    common: Common
    paths: Mapping[str, Tree]
    prose: Mapping[str, Mapping[str, str]]
    pages: Mapping[str, str]
    schemas: Tree
    shared: Sequence[str]
    examples: Tree


def read_parts(folder: Path = FOLDER) -> Parts:
    """Read and merge the files of a folder.

    Raises:
        ContractError: a part has the wrong shape, an unknown name, or two owners.
    """
    general = _load(folder / "general.yaml")
    tags = general["tags"]
    if not isinstance(tags, list):
        raise ContractError("general.yaml: tags must be a list.")
    paths: dict[str, Tree] = {}
    merged: dict[str, Tree] = {section: {} for section in SECTIONS}
    for tag in (text(mapping(each, "a tag")["name"], "the name of a tag") for each in tags):
        resource = _load(folder / f"{tag}.yaml")
        known(resource, SECTIONS, f"{tag}.yaml")
        paths[tag] = mapping(resource["paths"], f"{tag}.yaml: paths")
        for section in SECTIONS[1:]:
            members = mapping(resource.get(section, {}), f"{tag}.yaml: {section}")
            twice = set(members) & set(merged[section])
            if twice:
                raise ContractError(f"{tag}.yaml: {section} repeats {', '.join(sorted(twice))}.")
            merged[section].update(members)
    common = _load(folder / "common.yaml")
    for section in ("prose", "schemas"):
        merged[section].update(mapping(common.get(section, {}), f"common.yaml: {section}"))
    return Parts(
        general=general,
        common=_common(common),
        paths=paths,
        prose={name: _descriptions(members, name) for name, members in merged["prose"].items()},
        pages={name: text(items, f"pages: {name}") for name, items in merged["pages"].items()},
        schemas=merged["schemas"],
        shared=strings(common["shared"], "common.yaml: shared"),
        examples=merged["examples"],
    )


def _load(path: Path) -> Tree:
    """Read a file; `{$ref: Name}` becomes a reference to that schema."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return mapping(_with_references(yaml.load(path.read_bytes(), loader)), path.name)  # noqa: S506 - a safe loader


def _with_references(value: object) -> object:
    if isinstance(value, list):
        return [_with_references(member) for member in value]
    if not isinstance(value, dict):
        return value
    expanded = {key: _with_references(member) for key, member in value.items()}
    name = expanded.get("$ref")
    return {**expanded, **reference("schemas", name)} if isinstance(name, str) and "/" not in name else expanded


def _common(part: Tree) -> Common:
    known(part, ("shared", "words", "parameters", "headers", "responses", "prose", "schemas"), "common.yaml")
    responses: Tree = {}
    statuses: dict[str, str] = {}
    for name, member in mapping(part["responses"], "responses").items():
        response = dict(mapping(member, f"responses: {name}"))
        known(response, ("x-status", "description", "headers", "x-headers", "x-problem", "x-examples"), name)
        statuses[name] = text(response.pop("x-status", None), f"responses: {name}: x-status")
        responses[name] = response
    return Common(
        words={name: _word(name, mapping(word, name)) for name, word in mapping(part["words"], "words").items()},
        parameters=mapping(part["parameters"], "parameters"),
        headers=mapping(part["headers"], "headers"),
        responses=responses,
        statuses=statuses,
    )


def _word(name: str, part: Tree) -> Word:
    place = f"words: {name}"
    known(part, ("parameters", "headers", "responses"), place)
    return Word(
        parameters=tuple(strings(part.get("parameters", []), place)),
        headers={
            status: tuple(strings(names, place)) for status, names in mapping(part.get("headers", {}), place).items()
        },
        responses=tuple(strings(part.get("responses", []), place)),
    )


def _descriptions(members: object, name: str) -> dict[str, str]:
    place = f"prose: {name}"
    return {member: text(description, place) for member, description in mapping(members, place).items()}
