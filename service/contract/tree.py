"""Read values of unknown shape out of the hand-written files."""

from __future__ import annotations

from collections.abc import Iterable

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
